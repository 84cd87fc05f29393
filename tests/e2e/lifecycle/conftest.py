"""An agent that is hard to end, and a sidecar whose editor can be killed."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.editor import Editor
from tests.e2e.family import STUBBORN
from tests.e2e.lifecycle.runs import Run
from tests.e2e.puppet import RELAY, Puppet


class Stubborn(Puppet):
    """An agent behind a wrapper that leaves a grandchild, and that outlives its input."""

    @property
    def setting(self) -> dict[str, Any]:
        relay = [sys.executable, str(RELAY), str(self.socket), "--keep-alive"]
        return {"command": "sh", "args": ["-c", STUBBORN, "sh", *relay]}


@pytest.fixture
async def puppet(tmp_path: Path) -> AsyncIterator[Puppet]:
    async with Stubborn(tmp_path) as agent:
        yield agent


@pytest.fixture(autouse=True)
def _no_litter(ws: Path) -> Any:
    yield
    assert [path for path in ws.rglob("*") if "acp-sidecar" in path.name] == []


@pytest.fixture
async def run(idle_editor: Editor, ws: Path, settings: dict[str, Any]) -> AsyncIterator[Run]:
    """Initialised, with an editor process that can be killed; its pipes stay open then."""
    process = await asyncio.create_subprocess_exec("sleep", "600")
    try:
        await idle_editor.initialize(ws, settings=settings, processId=process.pid)
        yield Run(idle_editor, process)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
