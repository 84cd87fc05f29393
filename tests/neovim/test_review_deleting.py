"""A file that the agent made and the user has edited: Neovim asks before it goes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.neovim.desk import Desk
from tests.neovim.harness import wait_until


@pytest.mark.parametrize("deleted", [True, False])
def test_the_question_is_shown_and_its_answer_counts(tmp_path: Path, deleted: bool) -> None:
    desk = Desk(tmp_path)
    try:
        desk.nvim.events("PermissionAsked", "PermissionAnswered")
        text, image = desk.ws / "made.txt", desk.ws / "made.bin"
        with desk.turn() as agent:
            agent.tool("t", status="pending", locations=[{"path": str(image)}])
            desk.execute("acp.review.list")
            agent.write(text, "one\ntwo\n")
            image.write_bytes(b"\0agent's")
        desk.open(text)
        desk.nvim.command("call setline(1, 'mine') | silent write")
        image.write_bytes(b"\0the user's")
        desk.nvim.command("Acp revert all")
        wait_until(lambda: desk.nvim.seen("PermissionAsked") or None, "the question")
        screen = desk.nvim.screen()
        for part in ("made.txt", "made.bin", "1  Keep all 2", "2  Delete all 2 all the same"):
            assert part in screen
        assert text.read_text() == "mine\ntwo\n"
        desk.nvim.command("Acp permission")
        desk.nvim.type("2<CR>" if deleted else "1<CR>")
        wait_until(lambda: desk.nvim.seen("PermissionAnswered") or None, "the answer")
        if deleted:
            wait_until(lambda: not (text.exists() or image.exists()) or None, "both to go")
            desk.undo()
        assert text.read_text() == "mine\ntwo\n"
        assert image.read_bytes() == b"\0the user's"
        assert desk.change(text) is not None
        assert desk.buffer(text) == "mine\ntwo\n"
        desk.quiet()
    finally:
        desk.close()
