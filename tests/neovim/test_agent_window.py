"""The window in which the agent is followed, and what the user does meanwhile."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.neovim.harness import Editor, FakeSidecar, wait_until
from tests.neovim.messages import permission, reveal


def test_places_open_in_one_window_that_never_takes_the_focus(
    editor: Editor, sidecar: FakeSidecar, session: str, workspace: Path
) -> None:
    editor.command("edit one.txt | call cursor(7, 3)")
    mine, before = editor.window(), len(editor.windows())
    for name, line in (("two.txt", 50), ("three.txt", 90), ("two.txt", 1), ("one.txt", 20)):
        assert sidecar.request("acp/reveal", reveal(workspace, name, line)) == {"shown": True}
        (win,) = editor.marked("reveal")
        assert editor.name(win) == str(workspace / name)
        assert editor.cursor(win) == [line, 0]
        assert f"{name} line {line}" in editor.screen()
        assert editor.window() == mine
        assert editor.cursor(mine) == [7, 2], "also where it shows the user's own file"
    assert len(editor.windows()) == before + 1


def test_the_place_is_marked_and_only_there(
    editor: Editor, sidecar: FakeSidecar, session: str, workspace: Path
) -> None:
    for name, line in (("two.txt", 50), ("three.txt", 9)):
        sidecar.request("acp/reveal", reveal(workspace, name, line))
    marks = editor.lua(
        """local found = {}
           local space = vim.api.nvim_get_namespaces()['acp.reveal']
           for _, buf in ipairs(vim.api.nvim_list_bufs()) do
             for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(buf, space, 0, -1, {})) do
               table.insert(found, { vim.api.nvim_buf_get_name(buf), mark[2] + 1 })
             end
           end
           return found"""
    )
    assert marks == [[str(workspace / "three.txt"), 9]]


def test_typing_goes_on_while_places_are_shown(
    editor: Editor, sidecar: FakeSidecar, session: str, workspace: Path
) -> None:
    editor.command("edit one.txt")
    editor.type("O")
    for n in range(1, 30):
        request = sidecar.begin("acp/reveal", reveal(workspace, ["two.txt", "three.txt"][n % 2], n))
        editor.type(chr(ord("a") + n % 26))
        sidecar.answer(request)
    editor.type("<Esc>")
    typed = "".join(chr(ord("a") + n % 26) for n in range(1, 30))
    assert editor.lines(editor.window())[0] == typed
    assert (workspace / "two.txt").read_text().startswith("two.txt line 1\n")


@pytest.mark.parametrize(
    ("before", "after", "first"),
    [
        ("d", "W", "line 1"),
        ("vE", "d", " line 1"),
        ("3", "x", ".txt line 1"),
        ('"', "add", "one.txt line 2"),
        (":s/one/ONE/", "<CR>", "ONE.txt line 1"),
        ("r", "X", "Xne.txt line 1"),
    ],
)
def test_a_command_half_typed_is_finished_by_the_user(
    editor: Editor,
    sidecar: FakeSidecar,
    session: str,
    workspace: Path,
    before: str,
    after: str,
    first: str,
) -> None:
    editor.command("edit one.txt")
    mine = editor.window()
    editor.nvim.input(before)
    requests = [
        sidecar.begin("acp/reveal", reveal(workspace, "two.txt", 50)),
        sidecar.begin("acp/permission", permission("p1")),
        sidecar.begin("acp/reveal", reveal(workspace, "three.txt", 9)),
    ]
    # A command that waits for a character holds everything back until it has it.
    wait_until(lambda: sidecar.unread() == 0, "Neovim to have heard of all")
    editor.nvim.input(after)
    sidecar.answer(requests[0])
    sidecar.answer(requests[2])
    wait_until(lambda: editor.lines(mine)[0].startswith(first))
    assert editor.window() == mine
    assert not sidecar.answered(requests[1])


def test_a_line_past_the_end_and_a_missing_file(
    editor: Editor, sidecar: FakeSidecar, session: str, workspace: Path
) -> None:
    assert sidecar.request("acp/reveal", reveal(workspace, "one.txt", 10**6)) == {"shown": True}
    (win,) = editor.marked("reveal")
    assert editor.cursor(win) == [100, 0]
    answer = sidecar.request("acp/reveal", reveal(workspace, "nowhere.txt", 1))
    assert answer == {"shown": False, "reason": "missing"}
    assert editor.name(win) == str(workspace / "one.txt")


def test_a_modified_buffer_is_not_lost_by_the_next_place(
    editor: Editor, sidecar: FakeSidecar, session: str, workspace: Path
) -> None:
    editor.command("set nohidden")
    sidecar.request("acp/reveal", reveal(workspace, "one.txt", 1))
    (win,) = editor.marked("reveal")
    editor.lua(
        "vim.api.nvim_buf_set_lines(vim.api.nvim_win_get_buf(...), 0, 1, true, {'mine'})", win
    )
    assert sidecar.request("acp/reveal", reveal(workspace, "two.txt", 1)) == {"shown": True}
    code = "return vim.fn.getbufline(..., 1)"
    assert editor.lua(code, str(workspace / "one.txt")) == ["mine"]


def test_a_swap_file_asks_nothing(
    editor: Editor, sidecar: FakeSidecar, session: str, workspace: Path
) -> None:
    editor.command("set swapfile directory=.")
    (workspace / ".one.txt.swp").write_bytes(b"b0VIM 8.2\x00" + b"\x00" * 4086)
    assert sidecar.request("acp/reveal", reveal(workspace, "one.txt", 5)) == {"shown": True}
    assert not editor.nvim.api.get_mode()["blocking"]


def test_no_room_is_an_answer(
    editor: Editor, sidecar: FakeSidecar, session: str, workspace: Path
) -> None:
    editor.lua("require('acp').setup({ reveal = { position = 'below' } })")
    editor.command("only | set winminheight=1")
    editor.lua("for _ = 1, 60 do pcall(vim.cmd, 'split') end")
    answer = sidecar.request("acp/reveal", reveal(workspace, "one.txt", 5))
    assert answer["shown"] is False
    assert "room" in answer["reason"]


def test_a_window_the_user_closed_stays_closed_until_the_next_prompt(
    editor: Editor, sidecar: FakeSidecar, session: str, workspace: Path
) -> None:
    sidecar.request("acp/reveal", reveal(workspace, "one.txt", 5))
    editor.lua("vim.api.nvim_win_close(..., false)", editor.marked("reveal")[0])
    answer = sidecar.request("acp/reveal", reveal(workspace, "two.txt", 5))
    assert answer == {"shown": False, "reason": "the user closed the window"}
    editor.command("Acp prompt go on")
    assert sidecar.request("acp/reveal", reveal(workspace, "two.txt", 5)) == {"shown": True}


# --- the user takes over -------------------------------------------------------------------


def activity(sidecar: FakeSidecar) -> list[str]:
    return [params["kind"] for params in sidecar.methods("acp/userActivity")]


def test_what_the_user_does_is_told(
    editor: Editor, sidecar: FakeSidecar, session: str, workspace: Path
) -> None:
    editor.command("edit one.txt")
    mine = editor.window()
    editor.type("x")
    wait_until(lambda: activity(sidecar) == ["edit"])
    sidecar.request("acp/reveal", reveal(workspace, "two.txt", 50))
    (win,) = editor.marked("reveal")
    editor.lua("vim.api.nvim_set_current_win(...)", win)
    editor.type("j")
    wait_until(lambda: activity(sidecar) == ["edit", "select"])
    editor.type("<C-e>")
    wait_until(lambda: activity(sidecar)[2:3] == ["scroll"])
    editor.command("edit three.txt")
    wait_until(lambda: "switch" in activity(sidecar))
    assert sidecar.methods("acp/userActivity")[0]["uri"] == (workspace / "one.txt").as_uri()
    editor.lua("vim.api.nvim_set_current_win(...)", mine)


def test_what_we_do_is_not_taken_for_the_users(
    editor: Editor, sidecar: FakeSidecar, session: str, workspace: Path
) -> None:
    editor.command("edit one.txt")
    for name, line in (("two.txt", 50), ("one.txt", 90), ("one.txt", 2), ("three.txt", 70)):
        sidecar.request("acp/reveal", reveal(workspace, name, line))
        editor.screen()
    for n, name in enumerate(("one.txt", "three.txt", "two.txt")):
        start = {"line": 0, "character": 0}
        text = {"range": {"start": start, "end": start}, "newText": f"new {n}\n" * 60}
        document = {"uri": (workspace / name).as_uri(), "version": None}
        edit = {"documentChanges": [{"textDocument": document, "edits": [text]}]}
        assert sidecar.request("workspace/applyEdit", {"edit": edit})["applied"] is True
        editor.screen()
        editor.type("<Ignore>")
    editor.command("edit four.txt")
    (workspace / "four.txt").write_text("from the disk\n")
    changes = [{"uri": (workspace / "four.txt").as_uri(), "status": "created", "hunks": []}]
    sidecar.notify("acp/changes", {"sessionId": session, "changes": changes})
    wait_until(lambda: editor.lines(editor.window()) == ["from the disk"])
    editor.type("<Ignore>")
    editor.screen()
    assert activity(sidecar) == []


def test_a_clean_buffer_takes_the_disks_text_and_a_dirty_one_does_not(
    editor: Editor, sidecar: FakeSidecar, session: str, workspace: Path
) -> None:
    editor.command("edit one.txt | split two.txt")
    editor.type("Omine<Esc>")
    for name in ("one.txt", "two.txt"):
        (workspace / name).write_text("the agent's, and longer than before\n" * 200)
    changes = [
        {"uri": (workspace / name).as_uri(), "status": "modified", "hunks": []}
        for name in ("one.txt", "two.txt")
    ]
    sidecar.notify("acp/changes", {"sessionId": session, "changes": changes})
    first = "return vim.fn.getbufline(..., 1)[1]"
    wait_until(lambda: editor.lua(first, str(workspace / "one.txt")).startswith("the agent's"))
    assert editor.lua(first, str(workspace / "two.txt")) == "mine"
    assert not editor.nvim.api.get_mode()["blocking"]
