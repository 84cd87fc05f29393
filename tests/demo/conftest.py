"""The demo agent, seen from the other end of its pipe."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from acp import schema

from tests.demo.driver import Driver, agent
from tests.demo.greeting import GREETING


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "greeting.py").write_text(GREETING)
    return tmp_path


@pytest.fixture
async def demo() -> AsyncIterator[Driver]:
    async with agent() as driver:
        yield driver
        for message in driver.seen:
            if message.get("method") == "session/update":
                schema.SessionNotification.model_validate(message["params"])
            elif message.get("method") == "session/request_permission":
                schema.RequestPermissionRequest.model_validate(message["params"])
