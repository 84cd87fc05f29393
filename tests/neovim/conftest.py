from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.neovim.agent import Agent
from tests.neovim.desk import Desk
from tests.neovim.harness import Editor, FakeSidecar, wait_until

RELOADS = """
    _G.reloads = vim.uv.new_timer()
    _G.reloads:start(10, 10, vim.schedule_wrap(function()
      if vim.g.reloads ~= 1 then return end
      for _, buf in ipairs(vim.api.nvim_list_bufs()) do
        if vim.api.nvim_buf_is_loaded(buf) and vim.bo[buf].buftype == ''
          and vim.api.nvim_buf_get_name(buf) ~= '' and not vim.bo[buf].modified
          and vim.fn.filereadable(vim.api.nvim_buf_get_name(buf)) == 1
          and vim.api.nvim_buf_line_count(buf) > 1 then
          vim.cmd('silent! checktime ' .. buf)
        end
      end
    end))
"""
"""An editor that reloads at once, as one does whose window gets the focus."""


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    desk = Desk(tmp_path_factory.mktemp("desk"))
    desk.nvim.lua(RELOADS)
    yield desk
    desk.close()


@pytest.fixture
def desk(shared: Desk) -> Iterator[Desk]:
    """The one desk, with nothing open and nothing waiting."""
    shared.nvim.command("let g:reloads = 1 | set autoread nofixendofline | messages clear")
    yield shared
    shared.quiet()
    shared.execute("acp.review.keep")
    shared.nvim.command("silent! only! | silent! %bwipeout!")


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "ws"
    folder.mkdir()
    for name in ("one.txt", "two.txt", "three.txt"):
        lines = [f"{name} line {n}" for n in range(1, 101)]
        (folder / name).write_text("\n".join(lines) + "\n")
    return folder


@pytest.fixture
def editor(tmp_path: Path, workspace: Path) -> Iterator[Editor]:
    editor = Editor(tmp_path)
    editor.command(f"cd {workspace}")
    yield editor
    editor.close()


@pytest.fixture
def sidecar(editor: Editor) -> Iterator[FakeSidecar]:
    """A scripted sidecar; the editor connects to it in place of starting one."""
    fake = FakeSidecar()
    editor.lua("require('acp').setup({ cmd = vim.lsp.rpc.connect(...) })", fake.path)
    yield fake
    fake.close()


@pytest.fixture
def session(editor: Editor, sidecar: FakeSidecar) -> str:
    """An open session, its conversation on the screen."""
    editor.events("Session", "Reveal", "PermissionAsked", "PermissionAnswered", "UserActivity")
    editor.command("call setline(1, 'notes of the user')")
    editor.command("Acp new")
    wait_until(lambda: editor.marked("transcript"), "the conversation's window")
    return "s1"


@pytest.fixture
def agent() -> Iterator[Agent]:
    """An agent held by the test, for the real sidecar to start."""
    held = Agent()
    yield held
    held.close()
