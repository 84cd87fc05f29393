"""The agent's changes as they are drawn in a real Neovim, over the real sidecar."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.neovim.agent import Agent
from tests.neovim.drawing.drawn import (
    DRAWN,
    EDITED,
    LINES,
    NAMES,
    OLD,
    mine,
    setup,
    signs,
    text,
    virtual,
    writes,
)
from tests.neovim.harness import Editor, wait_until


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = (tmp_path / "ws").resolve()
    folder.mkdir()
    for name in NAMES:
        (folder / name).write_text(text(LINES))
    return folder


@pytest.fixture
def nvim(tmp_path: Path, folder: Path, agent: Agent) -> Iterator[Editor]:
    editor = Editor(tmp_path)
    editor.command(f"cd {folder}")
    editor.command("let mapleader = ' '")
    setup(editor, agent, keymaps=True)
    editor.events("Session", "Changes", "Reviewed", "TurnEnded", "Error", "Proposed")
    editor.command("edit one.txt")
    yield editor
    editor.close()


@pytest.fixture
def reviewed(nvim: Editor, agent: Agent, folder: Path) -> Editor:
    """The agent has changed `one.txt` in three places, and the user is in it."""
    writes(nvim, agent, {folder / "one.txt": text(EDITED)})
    nvim.lua("vim.api.nvim_set_current_win(...)", mine(nvim))
    wait_until(lambda: signs(nvim) == DRAWN and virtual(nvim) == OLD, "the drawing")
    return nvim
