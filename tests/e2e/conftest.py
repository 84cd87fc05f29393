"""An editor, a workspace and an agent held by the test, joined by a real sidecar."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.editor import Editor, editing
from tests.e2e.puppet import Puppet


@pytest.fixture(autouse=True)
def no_settings_of_the_user_s(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def ws(tmp_path: Path) -> Path:
    folder = tmp_path / "ws"
    folder.mkdir()
    return Path(os.path.realpath(folder))


@pytest.fixture
async def puppet(tmp_path: Path) -> AsyncIterator[Puppet]:
    async with Puppet(tmp_path) as agent:
        yield agent


@pytest.fixture
async def idle_editor() -> AsyncIterator[Editor]:
    """A sidecar that has not been initialised."""
    async with editing() as editor:
        yield editor


@pytest.fixture
def settings(puppet: Puppet) -> dict[str, Any]:
    return {"agents": {"puppet": puppet.setting}, "defaultAgent": "puppet"}


@pytest.fixture
async def editor(idle_editor: Editor, ws: Path, settings: dict[str, Any]) -> Editor:
    """A plain LSP editor with the workspace open and the test's agent as default."""
    await idle_editor.initialize(ws, settings=settings)
    return idle_editor


@pytest.fixture
async def session(editor: Editor) -> dict[str, Any]:
    """An open session with the test's agent."""
    opened: dict[str, Any] = await editor.execute("acp.session.new")
    return opened
