"""``terminal/*`` from wire to wire: the agent is held by the test, the commands are real."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture(autouse=True)
async def _open(session: dict[str, Any]) -> None:
    """Every test here speaks in an open session."""
