"""Editors of two kinds with an open session, and no file of ours left behind."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.editor import Editor
from tests.e2e.files.answers import EDIT
from tests.e2e.manners import LikeNeovim, LikeVsCode


@pytest.fixture(autouse=True)
def _no_litter(ws: Path) -> Any:
    """Whatever happens, no file of ours is left beside the user's."""
    yield
    assert [path for path in ws.rglob("*") if "acp-sidecar" in path.name] == []


@pytest.fixture
async def vscode(session: dict[str, Any], editor: Editor) -> AsyncIterator[LikeVsCode]:
    """The editor, with an open session, takes edits as VS Code does."""
    manner = editor.answers[EDIT] = LikeVsCode(editor)
    yield manner
    assert manner.faults == []


@pytest.fixture
async def neovim(
    idle_editor: Editor, ws: Path, settings: dict[str, Any]
) -> AsyncIterator[LikeNeovim]:
    """An editor like Neovim, with an open session."""
    manner = await LikeNeovim.start(idle_editor, ws, settings=settings)
    await idle_editor.execute("acp.session.new")
    yield manner
