"""What an agent may do: shown whole, answered deliberately, never in the way of typing."""

from __future__ import annotations

from typing import Any

import pytest

from tests.neovim.harness import Editor, FakeSidecar, wait_until
from tests.neovim.messages import ask, permission


def test_a_question_shows_everything(editor: Editor, sidecar: FakeSidecar, session: str) -> None:
    ask(editor, sidecar, command="rm -rf build", cwd="/ws/sub")
    screen = editor.screen()
    for text in (
        "demo asks: edit",
        "wants to change files (request p1)",
        "Command: rm -rf build",
        "Folder: /ws/sub",
        "Path: /ws/one.txt",
        "1  No",
        "2  Yes",
        "3  Yes (allow_always)",
        "-old",
        "+new",
    ):
        assert text in screen
    assert "?1" in editor.lua("return require('acp').statusline()")


def test_typing_answers_nothing_and_is_not_lost(
    editor: Editor, sidecar: FakeSidecar, session: str
) -> None:
    editor.command("edit one.txt")
    editor.type("O")
    mine = editor.window()
    request = ask(editor, sidecar)
    editor.type("1 more text<CR>2<CR>yes<CR><Esc>")
    editor.type("i2<CR><CR><Esc>")
    assert editor.window() == mine
    assert editor.lines(mine)[:3] == ["1 more text", "2", "yes"]
    for _ in range(4):
        editor.type("1<CR>2<CR>y<CR><C-w>w2<CR><CR>")
    editor.lua("vim.wait(100, function() return false end)")
    assert not sidecar.answered(request)
    assert editor.marked("permission"), "it is still there"


def test_the_answer_is_given_deliberately(
    editor: Editor, sidecar: FakeSidecar, session: str
) -> None:
    editor.command("edit one.txt | call cursor(7, 3)")
    mine = editor.window()
    request = ask(editor, sidecar)
    editor.command("Acp permission")
    (win,) = editor.marked("permission")
    assert editor.window() == win
    editor.type("<CR>")
    assert not sidecar.answered(request), "nothing is preselected"
    editor.type("2<CR>")
    assert sidecar.answer(request)["result"] == {"optionId": "y"}
    assert editor.marked("permission") == []
    assert editor.window() == mine
    assert editor.cursor() == [7, 2]


def test_entering_from_insert_mode_and_leaving_again(
    editor: Editor, sidecar: FakeSidecar, session: str
) -> None:
    editor.command("edit one.txt")
    editor.command("imap <F5> <Cmd>Acp permission<CR>")
    mine = editor.window()
    request = ask(editor, sidecar)
    editor.type("Oabc<F5>")
    assert [editor.window()] == editor.marked("permission")
    assert editor.mode() == "n"
    editor.type("q")
    assert editor.window() == mine
    assert editor.lines(mine)[0] == "abc"
    assert not sidecar.answered(request)
    assert editor.marked("permission")


def test_several_wait_one_is_shown_and_each_is_entered_anew(
    editor: Editor, sidecar: FakeSidecar, session: str
) -> None:
    mine = editor.window()
    first, second = (
        ask(editor, sidecar, "p1"),
        ask(editor, sidecar, "p2", agent="other", short="other wants to change one.txt"),
    )
    screen = editor.screen()
    assert "request p1" in screen
    assert "1 more waiting:" in screen
    assert "other wants to change one.txt" in screen
    editor.command("Acp permission")
    editor.type("2<CR>2<CR>2<CR>")
    assert sidecar.answer(first)["result"] == {"optionId": "y"}
    assert not sidecar.answered(second), "keys meant for the first"
    assert editor.window() == mine
    assert "request p2" in editor.screen()
    editor.command("Acp permission No")
    assert sidecar.answer(second)["result"] == {"optionId": "n"}


@pytest.mark.parametrize("how", ["$/cancelRequest", "acp/transcript"])
def test_a_withdrawn_question_closes(
    editor: Editor, sidecar: FakeSidecar, session: str, how: str
) -> None:
    mine = editor.window()
    first, second = ask(editor, sidecar, "p1"), ask(editor, sidecar, "p2")
    editor.command("Acp permission")
    if how == "$/cancelRequest":
        sidecar.results["acp.permission.pending"] = [permission("p2")]
        sidecar.notify("$/cancelRequest", {"id": first})
    else:
        block = {"id": "b1", "kind": "permission", "requestId": "p1", "state": "cancelled"}
        sidecar.notify("acp/transcript", {"sessionId": session, "blocks": [block]})
    assert sidecar.answer(first).get("result") is None
    wait_until(lambda: "request p2" in editor.screen())
    assert editor.window() == mine, "keys meant for the first do not reach the second"
    editor.type("2<CR>")
    assert not sidecar.answered(second)


def test_a_command_typed_for_another_question_answers_nothing(
    editor: Editor, sidecar: FakeSidecar, session: str
) -> None:
    ask(editor, sidecar, "p1")
    second = ask(editor, sidecar, "p2")
    editor.nvim.input(":Acp permission Yes")
    wait_until(lambda: editor.nvim.api.get_mode()["mode"] == "c")
    block = {"id": "b1", "kind": "permission", "requestId": "p1", "state": "cancelled"}
    sidecar.notify("acp/transcript", {"sessionId": session, "blocks": [block]})
    wait_until(lambda: "request p2" in editor.screen())
    editor.type("<CR>")
    assert "has changed meanwhile" in editor.messages()
    assert not sidecar.answered(second)
    editor.type(":Acp permission Yes<CR>")
    assert sidecar.answer(second)["result"] == {"optionId": "y"}


@pytest.mark.parametrize(
    ("command", "result"),
    [
        ("Acp permission Yes (allow_always)", {"optionId": "a"}),
        ("Acp permission 1", {"optionId": "n"}),
        ("Acp! permission", None),
    ],
)
def test_answers_from_the_command_line(
    editor: Editor, sidecar: FakeSidecar, session: str, command: str, result: Any
) -> None:
    request = ask(editor, sidecar)
    editor.fails("Acp permission Maybe", "the answers are: No, Yes, Yes")
    assert not sidecar.answered(request)
    editor.command(command)
    assert sidecar.answer(request).get("result") == result


def test_hidden_characters_are_shown(editor: Editor, sidecar: FakeSidecar, session: str) -> None:
    ask(
        editor,
        sidecar,
        message="rm \u202egpj.exe\u200b\u2066",
        diffs=[{"path": "/ws/a", "oldText": None, "newText": "é\x1b[2J\u202ey\u3164\U000e0041\n"}],
    )
    screen = editor.screen()
    assert "rm <202e>gpj.exe<200b><2066>" in screen
    assert "+é<001b>[2J<202e>y<3164><e0041>" in screen


def test_the_proposed_change_side_by_side(
    editor: Editor, sidecar: FakeSidecar, session: str
) -> None:
    request = ask(editor, sidecar)
    editor.command("Acp permission")
    editor.type("D")
    texts = [
        editor.lines(win) for win in editor.windows() if win not in editor.marked("permission")
    ]
    assert texts == [["old"], ["new"]]
    assert editor.eval("tabpagenr('$')") == 2
    editor.command("tabclose")
    assert not sidecar.answered(request)


@pytest.mark.parametrize("end", ["answer", "withdrawal"])
def test_the_change_side_by_side_goes_with_its_question(
    editor: Editor, sidecar: FakeSidecar, session: str, end: str
) -> None:
    user = editor.window()
    ask(editor, sidecar)
    editor.command("Acp permission")
    editor.type("D")
    assert editor.eval("tabpagenr('$')") == 2
    if end == "answer":
        editor.command("Acp permission Yes")
    else:
        block = {"id": "p1", "kind": "permission", "requestId": "p1", "state": "cancelled"}
        sidecar.notify("acp/transcript", {"sessionId": session, "blocks": [block]})
    wait_until(lambda: editor.eval("tabpagenr('$')") == 1, "the tab page to close")
    assert editor.window() == user
    assert True not in editor.lua(
        "return vim.tbl_map(function(win) return vim.wo[win].diff end, vim.api.nvim_list_wins())"
    )


def test_other_messages_of_the_sidecar_wait_in_the_same_way(
    editor: Editor, sidecar: FakeSidecar, session: str
) -> None:
    editor.type("i")
    params = {"type": 3, "message": "Log in?", "actions": [{"title": "Not now"}, {"title": "Yes"}]}
    request = sidecar.begin("window/showMessageRequest", params)
    wait_until(lambda: editor.marked("permission"))
    editor.type("1<CR><Esc>")
    assert not sidecar.answered(request)
    editor.command("Acp permission Not now")
    assert sidecar.answer(request)["result"] == {"title": "Not now"}
