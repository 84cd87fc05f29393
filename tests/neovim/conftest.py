from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.neovim.agent import Agent
from tests.neovim.harness import Editor, FakeSidecar, wait_until


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
