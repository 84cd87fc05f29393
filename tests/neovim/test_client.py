"""The client against a scripted sidecar: what it draws, where, and what it sends."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.neovim.harness import PLUGIN, Editor, FakeSidecar, nvim_path, wait_until


def message(role: str, text: str, id: str = "m1") -> dict[str, Any]:
    return {"id": id, "kind": "message", "role": role, "content": [{"type": "text", "text": text}]}


def transcript(editor: Editor) -> list[str]:
    (win,) = editor.marked("transcript")
    return editor.lines(win)


def test_declares_what_it_can(editor: Editor, sidecar: FakeSidecar, session: str) -> None:
    (params,) = sidecar.methods("initialize")
    assert params["capabilities"]["experimental"]["acpSidecar"] == {
        "transcript": True,
        "reveal": True,
        "permission": True,
        "elicitation": True,
        "openTerminal": True,
        "selection": True,
        "save": True,
        "changes": True,
        "proposals": True,
        "userActivity": True,
        "terminals": True,
    }
    assert sidecar.commands("acp.session.new") == [{}]


def test_settings_become_initialization_options(editor: Editor, sidecar: FakeSidecar) -> None:
    editor.lua(
        """require('acp').setup({ cmd = vim.lsp.rpc.connect(...), default_agent = 'mine',
           agents = { mine = { command = 'mine', args = { 'acp' }, env = {} } },
           settings = { follow = { maxPerSecond = 2 } } })""",
        sidecar.path,
    )
    editor.command("Acp new other")
    wait_until(lambda: sidecar.commands("acp.session.new"))
    (params,) = sidecar.methods("initialize")
    assert params["initializationOptions"] == {
        "agents": {"mine": {"command": "mine", "args": ["acp"]}},
        "defaultAgent": "mine",
        "follow": {"maxPerSecond": 2},
    }
    assert sidecar.commands("acp.session.new") == [{"agent": "other"}]


@pytest.mark.parametrize(
    "options",
    [
        "{ cmdd = {} }",
        "{ cmd = 7 }",
        "{ reveal = { position = 'top' } }",
        "{ agents = { a = {} } }",
    ],
)
def test_wrong_options_are_refused(editor: Editor, options: str) -> None:
    assert not editor.lua(f"return (pcall(require('acp').setup, {options}))")


def test_attaches_every_file_buffer_and_only_those(
    editor: Editor, sidecar: FakeSidecar, session: str, workspace: Path
) -> None:
    wait_until(lambda: sidecar.methods("initialized"))
    editor.command("edit one.txt")
    editor.command("new")
    editor.command("setlocal buftype=nofile")
    editor.command("split two.txt")
    wanted = {(workspace / name).as_uri() for name in ("one.txt", "two.txt")}
    wait_until(lambda: sidecar.open_uris() == wanted, "both files to be open")


def test_reattaches_all_buffers_when_the_server_died(
    editor: Editor, sidecar: FakeSidecar, session: str, workspace: Path
) -> None:
    editor.command("edit one.txt | split two.txt | new")
    wanted = {(workspace / name).as_uri() for name in ("one.txt", "two.txt")}
    wait_until(lambda: sidecar.open_uris() == wanted)
    question = sidecar.begin("acp/permission", permission("p1"))
    wait_until(lambda: editor.seen("PermissionAsked"))
    sidecar.received.clear()
    sidecar.drop()
    wait_until(lambda: sidecar.open_uris() == wanted, "the buffers to be attached again")
    assert not sidecar.answered(question)
    assert editor.marked("permission") == [], "its question went with it"
    assert "this session with it" in "\n".join(transcript(editor))
    assert "dead" in editor.lua("return require('acp').statusline()")


def test_gives_up_on_a_server_that_keeps_dying(
    editor: Editor, sidecar: FakeSidecar, session: str
) -> None:
    for n in range(1, 5):
        wait_until(lambda n=n: len(sidecar.methods("initialize")) == n)
        wait_until(lambda n=n: len(sidecar.methods("initialized")) == n)
        sidecar.drop()
    wait_until(lambda: "see :Acp log" in editor.messages())
    assert len(sidecar.methods("initialize")) == 4


def test_stop_ends_it_for_good(editor: Editor, sidecar: FakeSidecar, session: str) -> None:
    editor.command("Acp stop")
    wait_until(lambda: sidecar.methods("exit"))
    editor.lua("vim.wait(200, function() return false end)")
    assert len(sidecar.methods("initialize")) == 1
    editor.command("Acp new")
    wait_until(lambda: len(sidecar.methods("initialize")) == 2)


# --- the conversation ----------------------------------------------------------------------


def test_the_conversation_opens_beside_and_leaves_the_cursor(
    editor: Editor, sidecar: FakeSidecar, workspace: Path
) -> None:
    editor.command("edit one.txt | call cursor(7, 3)")
    mine = editor.window()
    editor.command("Acp new")
    wait_until(lambda: editor.marked("transcript"))
    assert editor.window() == mine
    assert editor.cursor() == [7, 2]
    assert len(editor.windows()) == 2


def test_an_empty_neovim_gives_its_window_and_gets_it_back(
    editor: Editor, sidecar: FakeSidecar, workspace: Path
) -> None:
    editor.command("Acp new")
    wait_until(lambda: editor.name(editor.window()) == "acp://s1")
    assert len(editor.windows()) == 1
    editor.command("edit one.txt")
    mine = editor.window()
    assert editor.eval("&foldmethod") == "manual"
    editor.command("Acp transcript")
    assert len(editor.windows()) == 2
    assert editor.name(mine) == str(workspace / "one.txt")
    sidecar.request("acp/reveal", reveal(workspace, "two.txt", 5))
    assert editor.name(mine) == str(workspace / "one.txt")


def test_blocks_are_drawn_in_order_and_redrawn_in_place(
    editor: Editor, sidecar: FakeSidecar, session: str, workspace: Path
) -> None:
    call = {
        "id": "t1",
        "kind": "toolCall",
        "toolKind": "edit",
        "title": "Edit one.txt",
        "status": "pending",
        "content": [],
        "locations": [{"path": str(workspace / "one.txt"), "line": 3}],
    }
    plan = {"id": "p", "kind": "plan", "entries": [{"content": "Read", "status": "pending"}]}
    blocks = [message("user", "Hi\nthere", "u1"), plan, message("agent", "On it."), call]
    sidecar.notify("acp/transcript", {"sessionId": session, "blocks": blocks})
    drawn = ["❯ You", "Hi", "there", "", "Plan", "  ○ Read", "", "● demo", "On it.", ""]
    wait_until(lambda: transcript(editor) == [*drawn, "○ Edit one.txt  one.txt:3", "", ""])

    call["status"] = "completed"
    call["content"] = [
        {"type": "diff", "path": str(workspace / "one.txt"), "oldText": "a\n", "newText": "b\n"}
    ]
    plan["entries"] = [{"content": "Read", "status": "completed"}]
    sidecar.notify("acp/transcript", {"sessionId": session, "blocks": [call, plan]})
    drawn[5] = "  ✓ Read"
    end = ["✓ Edit one.txt  one.txt:3", "  one.txt", "  @@ -1 +1 @@", "  -a", "  +b", "", ""]
    wait_until(lambda: transcript(editor) == [*drawn, *end], "the blocks in their old places")


def test_changed_files_of_version_2_are_drawn(
    editor: Editor, sidecar: FakeSidecar, session: str, workspace: Path
) -> None:
    one, two, three = (workspace / name for name in ("one.txt", "two.txt", "three.txt"))
    text = (
        f"diff --git {one} {one}\n--- {one}\n+++ {one}\n@@ -1,9 +1,9 @@\n"
        " 1\n 2\n 3\n--- 4\n++ 4\n 5\n 6\n 7\n 8\n 9\n"
        f"diff --git {two} {three}\nrename from {two}\nrename to {three}\n"
    )
    changes = [
        {"operation": "move", "path": str(three), "oldPath": str(two)},
        {"operation": "modify", "path": str(one), "fileType": "text"},
        {"operation": "delete", "path": "/else/where", "fileType": "symlink"},
        {"operation": "_of_the_future"},
    ]
    content = [
        {"type": "diff", "changes": changes, "patch": {"format": "git_patch", "text": text}},
        {"type": "diff", "changes": changes[1:2], "patch": {"format": "_x", "text": "words\n"}},
    ]
    call = {"id": "t", "kind": "toolCall", "title": "Edit", "status": "completed"}
    blocks = [{**call, "content": content}]
    sidecar.notify("acp/transcript", {"sessionId": session, "blocks": blocks})
    drawn = [
        *("✓ Edit", "  two.txt → three.txt (moved)", "  one.txt", "  @@ -1,9 +1,9 @@"),
        *("   2", "   3", "  --- 4", "  ++ 4", "   5", "   6"),
        *("  /else/where (deleted), symlink", "  a change (_of_the_future)"),
        *("  one.txt", "  words", "", ""),
    ]
    wait_until(lambda: transcript(editor) == drawn, f"{drawn}")


def test_a_growing_message_is_appended_and_the_view_follows(
    editor: Editor, sidecar: FakeSidecar, session: str
) -> None:
    (win,) = editor.marked("transcript")
    for n in range(1, 200):
        text = "".join(f"line {m}\n" for m in range(n))
        sidecar.notify("acp/transcript", {"sessionId": session, "blocks": [message("agent", text)]})
    wait_until(lambda: "line 198" in transcript(editor))
    assert transcript(editor)[1:200] == [f"line {n}" for n in range(199)]
    assert editor.cursor(win)[0] == len(transcript(editor)), "the end stays in view"

    editor.lua("vim.api.nvim_win_set_cursor(..., {5, 0})", win)
    sidecar.notify(
        "acp/transcript", {"sessionId": session, "blocks": [message("agent", "more", "m2")]}
    )
    wait_until(lambda: "more" in transcript(editor))
    assert editor.cursor(win) == [5, 0], "a reader who went up is left there"


def test_a_wiped_out_conversation_is_drawn_again(
    editor: Editor, sidecar: FakeSidecar, session: str
) -> None:
    blocks = [message("user", "Hi", "u1"), message("agent", "On it.")]
    sidecar.notify("acp/transcript", {"sessionId": session, "blocks": blocks})
    wait_until(lambda: "On it." in transcript(editor))
    editor.command("bwipeout acp://s1")
    assert editor.marked("transcript") == []
    blocks = [message("agent", "Done.", "m2")]
    sidecar.notify("acp/transcript", {"sessionId": session, "blocks": blocks})
    editor.command("Acp transcript")
    wait_until(lambda: "Done." in transcript(editor))
    drawn = ["❯ You", "Hi", "", "● demo", "On it.", "", "● demo", "Done.", "", ""]
    assert transcript(editor) == drawn


def test_thoughts_are_folded_and_can_be_opened(
    editor: Editor, sidecar: FakeSidecar, session: str
) -> None:
    blocks = [message("thought", "first\nsecond", "h1"), message("agent", "Said.")]
    sidecar.notify("acp/transcript", {"sessionId": session, "blocks": blocks})
    wait_until(lambda: "Said." in transcript(editor))
    (win,) = editor.marked("transcript")
    closed = "return vim.api.nvim_win_call(..., function() return vim.fn.foldclosedend(1) end)"
    wait_until(lambda: editor.lua(closed, win) == 3, "the thought's fold")
    assert "… Thought (2 lines)" in editor.screen()
    editor.lua("vim.api.nvim_set_current_win(...)", win)
    editor.type("ggzo")
    assert editor.lua(closed, win) == -1
    assert "second" in editor.screen()


def test_long_output_shows_its_end(editor: Editor, sidecar: FakeSidecar, session: str) -> None:
    text = "".join(f"{n}\n" for n in range(5000))
    call = {
        "id": "t",
        "kind": "toolCall",
        "title": "Run",
        "status": "in_progress",
        "content": [{"type": "content", "content": {"type": "text", "text": text}}],
    }
    sidecar.notify("acp/transcript", {"sessionId": session, "blocks": [call]})
    wait_until(lambda: "  4999" in transcript(editor))
    assert len(transcript(editor)) < 220
    assert "  … 4800 lines before" in transcript(editor)


def test_a_command_is_drawn_with_its_output_and_its_end(
    editor: Editor, sidecar: FakeSidecar, session: str
) -> None:
    terminal: dict[str, Any] = {
        "terminalId": "term",
        "command": "make test\nmake run",
        "cwd": "/ws",
        "output": "",
        "truncated": False,
        "exitStatus": None,
    }
    item = {"type": "terminal", "terminalId": "term", "terminal": terminal}
    call = {"id": "t", "kind": "toolCall", "title": "Run", "status": "in_progress"}
    call["content"] = [item, {"type": "terminal", "terminalId": "unknown"}]

    def drawn(*lines: str) -> None:
        sidecar.notify("acp/transcript", {"sessionId": session, "blocks": [call]})
        indented = [f"  {line}" for line in lines]
        wait_until(
            lambda: transcript(editor) == ["◐ Run", *indented, "  terminal unknown", "", ""],
            f"{lines} in {transcript(editor)}",
        )

    drawn("$ make test", "  make run", "running")
    terminal["output"] = "one\ntwo\n"
    drawn("$ make test", "  make run", "one", "two", "running")
    terminal |= {"truncated": True, "exitStatus": {"exitCode": 3, "signal": None}}
    left_out = "… earlier output is left out"
    drawn("$ make test", "  make run", left_out, "one", "two", "exit 3")
    terminal |= {"command": None, "exitStatus": {"exitCode": None, "signal": "SIGTERM"}}
    drawn(left_out, "one", "two", "ended by SIGTERM")


def test_the_output_of_a_command_in_a_buffer(
    editor: Editor, sidecar: FakeSidecar, session: str
) -> None:
    editor.fails("Acp terminal", "no command has run yet")
    first = {
        "sessionId": session,
        "terminalId": "t1",
        "command": "make",
        "cwd": "/ws",
        "output": "one\n",
        "truncated": False,
        "exitStatus": {"exitCode": 0, "signal": None},
    }
    second = {**first, "terminalId": "t2", "command": "watch", "exitStatus": None}
    third = {**first, "terminalId": "t3"}
    for terminal in (first, second, third):
        sidecar.notify("acp/terminal", terminal)
    wait_until(lambda: editor.lua("return #require('acp.terminal').ids()") == 3)
    assert editor.marked("terminal") == [], "nothing opens by itself"

    editor.command("Acp terminal")
    (win,) = editor.marked("terminal")
    assert editor.name(win) == "acp-terminal://t2", "the one that runs"
    assert editor.window() == win
    assert editor.lines(win) == ["one"]
    assert "$ watch  (running)" in editor.screen()
    output = "".join(f"{number}\n" for number in range(200))
    sidecar.notify("acp/terminal", {**second, "output": output})
    wait_until(lambda: editor.lines(win)[-1] == "199")
    assert editor.cursor(win) == [200, 0], "it follows the end"
    editor.command("call cursor(5, 1)")
    sidecar.notify("acp/terminal", {**second, "output": output + "more\n"})
    wait_until(lambda: editor.lines(win)[-1] == "more")
    assert editor.cursor(win) == [5, 0], "unless the user looks elsewhere"

    editor.type("<C-c>")
    wait_until(lambda: sidecar.commands("acp.terminal.kill"))
    assert sidecar.commands("acp.terminal.kill") == [{"terminalId": "t2", "sessionId": session}]
    # What is told is only the end of it; when it is over all of it is asked for.
    ended = {**second, "exitStatus": {"exitCode": None, "signal": "SIGTERM"}}
    sidecar.results["acp.terminal.output"] = {**ended, "output": "zero\none\n"}
    sidecar.notify("acp/terminal", {**ended, "output": "one\n", "truncated": True})
    wait_until(lambda: editor.lines(win) == ["zero", "one"])
    wait_until(lambda: "$ watch  (ended by SIGTERM)" in editor.screen())

    editor.command("Acp terminal t1")
    assert editor.name(editor.window()) == "acp-terminal://t1"
    editor.type("q")
    wait_until(lambda: len(editor.marked("terminal")) == 1)
    editor.command("Acp! terminal t3")
    wait_until(lambda: sidecar.commands("acp.terminal.kill")[-1]["terminalId"] == "t3")


def test_a_tool_call_is_ended_alone(editor: Editor, sidecar: FakeSidecar, session: str) -> None:
    def call(name: str, **fields: Any) -> dict[str, Any]:
        known = {"id": f"toolCall:{name}", "toolCallId": name, "title": name}
        return {**known, "kind": "toolCall", "status": "in_progress", "content": [], **fields}

    running = {"terminalId": "t1", "output": "", "truncated": False, "exitStatus": None}
    shown = [{"type": "terminal", "terminalId": "t1", "terminal": running}]
    blocks = [
        message("agent", "Working"),
        call("watch", capabilities={"cancel": {}}),
        call("build", content=shown, capabilities={"cancel": None}),
        call("edit"),
        call("done", status="completed", capabilities={"cancel": {}}),
    ]
    sidecar.notify("acp/transcript", {"sessionId": session, "blocks": blocks})
    (win,) = editor.marked("transcript")
    wait_until(lambda: "✓ done" in editor.lines(win))
    editor.command(f"call win_gotoid({win})")

    def end(line: str) -> None:
        editor.command(f"call cursor({editor.lines(win).index(line) + 1}, 1)")
        editor.type("<C-c>")

    end("Working")
    wait_until(lambda: "no tool call here" in editor.messages())
    end("◐ watch")
    wanted = {"sessionId": session, "toolCallId": "watch"}
    wait_until(lambda: sidecar.commands("acp.toolCall.cancel") == [wanted])
    end("  running")
    wait_until(lambda: sidecar.commands("acp.terminal.kill"))
    assert sidecar.commands("acp.terminal.kill")[0]["terminalId"] == "t1"
    end("◐ edit")
    wait_until(lambda: len(sidecar.commands("acp.toolCall.cancel")) == 2)
    assert editor.eval("getcompletion('Acp cancel ', 'cmdline')") == ["watch"]
    editor.command("Acp cancel watch")
    wait_until(lambda: len(sidecar.commands("acp.toolCall.cancel")) == 3)
    assert sidecar.commands("acp.session.cancel") == []


def test_odd_text_is_drawn(editor: Editor, sidecar: FakeSidecar, session: str) -> None:
    blocks = [
        message("agent", "a\r\nb\x00c\x1b[31m" + "ü" * 9000, "m1"),
        {"id": "x", "kind": "of the future"},
        {"id": "t", "kind": "toolCall", "title": "two\nlines", "content": [{"type": "?"}]},
        {"id": "n", "kind": "notice", "title": "Careful", "description": "a\nb"},
    ]
    sidecar.notify("acp/transcript", {"sessionId": session, "blocks": blocks})
    wait_until(lambda: "! Careful" in transcript(editor))
    drawn = transcript(editor)
    assert drawn[1] == "a"
    assert max(map(len, drawn)) <= 4000
    assert sum(line.count("ü") for line in drawn) == 9000


def test_enter_goes_to_the_place_in_the_users_window(
    editor: Editor, sidecar: FakeSidecar, session: str, workspace: Path
) -> None:
    mine = editor.window()
    call = {
        "id": "t",
        "kind": "toolCall",
        "title": "Read",
        "status": "completed",
        "locations": [{"path": str(workspace / "two.txt"), "line": 42}],
    }
    sidecar.notify("acp/transcript", {"sessionId": session, "blocks": [message("user", "x"), call]})
    wait_until(lambda: "✓ Read  two.txt:42" in transcript(editor))
    editor.lua("vim.api.nvim_set_current_win(...)", editor.marked("transcript")[0])
    editor.type("gg]]<CR>")
    assert editor.window() == mine
    assert editor.name(mine).endswith("two.txt")
    assert editor.cursor() == [42, 0]


# --- the agent's window --------------------------------------------------------------------


def reveal(workspace: Path, name: str, line: int) -> dict[str, Any]:
    place = {"line": line - 1, "character": 0}
    return {
        "sessionId": "s1",
        "toolCallId": "t1",
        "uri": (workspace / name).as_uri(),
        "selection": {"start": place, "end": place},
        "kind": "read",
    }


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
    time.sleep(0.2)
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


# --- questions -----------------------------------------------------------------------------


def permission(request_id: str, *, agent: str = "demo", **fields: Any) -> dict[str, Any]:
    return {
        "requestId": request_id,
        "sessionId": "s1",
        "agent": agent,
        "kind": "edit",
        "title": "Edit one.txt",
        "message": f"{agent} wants to change files (request {request_id})",
        "command": None,
        "cwd": None,
        "paths": ["/ws/one.txt"],
        "diffs": [{"path": "/ws/one.txt", "oldText": "old\n", "newText": "new\n"}],
        "options": [
            {"optionId": "n", "name": "No", "kind": "reject_once", "title": "No"},
            {"optionId": "y", "name": "Yes", "kind": "allow_once", "title": "Yes"},
            {"optionId": "a", "name": "Yes", "kind": "allow_always", "title": "Yes (allow_always)"},
        ],
        "state": "waiting",
        **fields,
    }


def ask(editor: Editor, sidecar: FakeSidecar, request_id: str = "p1", **fields: Any) -> int:
    request = sidecar.begin("acp/permission", permission(request_id, **fields))
    wait_until(
        lambda: request_id in [event["requestId"] for event in editor.seen("PermissionAsked")]
    )
    return request


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
    first, second = ask(editor, sidecar, "p1"), ask(editor, sidecar, "p2", agent="other")
    screen = editor.screen()
    assert "request p1" in screen
    assert "1 more waiting:" in screen
    assert "other asks: edit" in screen
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


# --- commands ------------------------------------------------------------------------------


def complete(editor: Editor, line: str) -> list[str]:
    return list(editor.lua("return vim.fn.getcompletion(..., 'cmdline')", line))


def test_completion(editor: Editor, sidecar: FakeSidecar, session: str, workspace: Path) -> None:
    assert "prompt" in complete(editor, "Acp ")
    assert complete(editor, "Acp per") == ["permission"]
    assert complete(editor, "Acp follow o") == ["on", "off"]
    assert "opencode" in complete(editor, "Acp new ")
    assert complete(editor, "Acp mode g") == ["go"]
    assert complete(editor, "Acp config m") == ["model small", "model big"]
    assert complete(editor, "Acp config think ") == ["true", "false"]
    ask(editor, sidecar)
    assert complete(editor, "Acp permission ") == ["No", "Yes", "Yes (allow_always)"]
    assert complete(editor, "Acp permission Yes (") == ["(allow_always)"]
    uri = (workspace / "two.txt").as_uri()
    changes = [{"uri": uri, "status": "modified", "hunks": []}]
    sidecar.notify("acp/changes", {"sessionId": session, "changes": changes})
    wait_until(lambda: complete(editor, "Acp revert ") == ["hunk", "file", "all", "two.txt"])
    assert complete(editor, "Acp keep file ") == ["two.txt"]
    assert complete(editor, "Acp undo ") == ["all"]


def test_a_prompt_with_a_range_takes_the_lines_along(
    editor: Editor, sidecar: FakeSidecar, session: str, workspace: Path
) -> None:
    editor.command("edit one.txt")
    editor.command("3,5Acp prompt  what is  this?")
    wait_until(lambda: sidecar.commands("acp.session.prompt"))
    assert sidecar.commands("acp.session.prompt") == [
        {
            "sessionId": "s1",
            "text": "what is  this?",
            "context": [
                {
                    "uri": (workspace / "one.txt").as_uri(),
                    "range": {
                        "start": {"line": 2, "character": 0},
                        "end": {"line": 5, "character": 0},
                    },
                }
            ],
        }
    ]


@pytest.mark.parametrize("send", ["<Esc><CR>", "<C-s>", "<Esc>:w<CR>"])
def test_the_prompts_buffer(editor: Editor, sidecar: FakeSidecar, session: str, send: str) -> None:
    mine = editor.window()
    editor.command("Acp prompt")
    assert [editor.window()] == editor.marked("prompt")
    editor.type("first<CR>second" + send)
    wait_until(lambda: sidecar.commands("acp.session.prompt"))
    assert sidecar.commands("acp.session.prompt")[0]["text"] == "first\nsecond"
    assert editor.marked("prompt") == []
    assert editor.window() == mine
    assert editor.mode() == "n"


def test_the_agents_own_commands_are_completed(
    editor: Editor, sidecar: FakeSidecar, session: str
) -> None:
    item = {"label": "/edit", "text": "/edit ", "detail": "edit a file", "kind": "command"}
    sidecar.results["acp.prompt.complete"] = {"items": [{**item, "start": 0, "end": 2}]}
    editor.command("Acp prompt")
    wait_until(lambda: editor.mode() == "i")
    editor.type("/e<C-x><C-o> a.txt<C-s>")
    wait_until(lambda: sidecar.commands("acp.session.prompt"))
    assert sidecar.commands("acp.session.prompt")[0]["text"] == "/edit a.txt"


def test_a_session_is_picked_from_the_agents_list(
    editor: Editor, sidecar: FakeSidecar, session: str
) -> None:
    rows = [{"agentSessionId": f"a{n}", "title": f"Title {n}", "cwd": "/ws"} for n in (1, 2)]
    sidecar.results["acp.session.list"] = {"sessions": rows, "nextCursor": None}
    editor.lua("vim.ui.select = function(items, opts, choice) choice(items[2]) end")
    editor.command("Acp load demo")
    wait_until(lambda: sidecar.commands("acp.session.load"))
    assert sidecar.commands("acp.session.load") == [{"agent": "demo", "agentSessionId": "a2"}]


def test_what_was_not_sent_of_a_session_that_was_cut_off_is_in_the_prompt(
    editor: Editor, sidecar: FakeSidecar, session: str
) -> None:
    picture = {"type": "image", "mimeType": "image/png", "data": "iVBORw=="}
    unsent = [
        {"text": "then run\nthe tests", "content": [picture]},
        {"text": "and commit", "content": []},
    ]
    opened = {**sidecar.results["acp.session.new"], "interrupted": True, "unsent": unsent}
    sidecar.results["acp.session.load"] = opened
    editor.command("Acp load demo a1")
    (prompt,) = wait_until(lambda: editor.marked("prompt"))
    assert editor.lines(prompt) == ["then run", "the tests", "", "and commit"]
    assert "with 1 attached" in editor.screen()
    assert not sidecar.commands("acp.session.prompt")
    editor.type("<CR>")
    wait_until(lambda: sidecar.commands("acp.session.prompt"))
    (sent,) = sidecar.commands("acp.session.prompt")
    assert sent["text"] == "then run\nthe tests\n\nand commit"
    assert sent["content"] == [picture]
    editor.command("Acp prompt")
    editor.type("more<C-s>")
    wait_until(lambda: len(sidecar.commands("acp.session.prompt")) == 2)
    assert "content" not in sidecar.commands("acp.session.prompt")[1]


def test_a_first_prompt_opens_the_session(editor: Editor, sidecar: FakeSidecar) -> None:
    editor.command("Acp prompt hello")
    wait_until(lambda: sidecar.commands("acp.session.prompt"))
    assert sidecar.commands("acp.session.new") == [{}]


def test_a_failure_is_shown_with_its_message(editor: Editor, sidecar: FakeSidecar) -> None:
    sidecar.results["acp.session.new"] = "No folder is open: name one."
    editor.command("Acp new")
    wait_until(lambda: "No folder is open: name one." in editor.messages())
    editor.fails("Acp cancel", ":Acp new opens one")
    editor.fails("Acp nonsense", '"nonsense" is none of')


@pytest.mark.parametrize(
    ("line", "command", "argument"),
    [
        ("cancel", "acp.session.cancel", {}),
        ("config model big", "acp.session.setConfigOption", {"configId": "model", "value": "big"}),
        ("config think true", "acp.session.setConfigOption", {"configId": "think", "value": True}),
        ("mode go", "acp.session.setMode", {"modeId": "go"}),
        ("keep one.txt", "acp.review.keep", {"uri": "one.txt"}),
        ("revert", "acp.review.revert", {"uri": "two.txt"}),
        ("undo", "acp.review.undo", {}),
        ("close", "acp.session.close", {}),
    ],
)
def test_commands_of_the_session(
    editor: Editor,
    sidecar: FakeSidecar,
    session: str,
    workspace: Path,
    line: str,
    command: str,
    argument: dict[str, Any],
) -> None:
    editor.command("edit two.txt")
    editor.command(f"Acp {line}")
    wait_until(lambda: sidecar.commands(command))
    if "uri" in argument:
        argument = {"uri": (workspace / argument["uri"]).as_uri()}
    assert sidecar.commands(command) == [{"sessionId": "s1", **argument}]


def test_following_is_switched(editor: Editor, sidecar: FakeSidecar, session: str) -> None:
    sidecar.results["acp.follow.set"] = {"enabled": False}
    editor.command("Acp follow")
    wait_until(lambda: sidecar.commands("acp.follow.set") == [{"enabled": False}])
    follow = {"sessionId": session, "enabled": False, "paused": False, "shown": False}
    sidecar.notify("acp/follow", follow)
    wait_until(lambda: "not following" in editor.lua("return require('acp').statusline()"))
    editor.command("Acp follow")
    wait_until(lambda: sidecar.commands("acp.follow.set")[-1] == {"enabled": True})


def test_the_list_of_changed_files(
    editor: Editor, sidecar: FakeSidecar, session: str, workspace: Path
) -> None:
    def change(name: str, start: int) -> dict[str, Any]:
        span = {"start": start, "lines": 1}
        hunk = {"id": name, "before": span, "after": span, "state": "waiting"}
        return {"uri": (workspace / name).as_uri(), "status": "modified", "hunks": [hunk]}

    both = [change("one.txt", 4), change("two.txt", 8)]
    sidecar.notify("acp/changes", {"sessionId": session, "changes": both})
    wait_until(lambda: "±2 (2)" in editor.lua("return require('acp').statusline()"))
    editor.command("Acp review")
    wait_until(lambda: editor.eval("&buftype") == "quickfix")
    items = editor.eval("getqflist()")
    assert [(item["lnum"], item["text"]) for item in items] == [
        (5, "modified, 1 place"),
        (9, "modified, 1 place"),
    ]
    editor.command("normal! 2G")
    editor.command("Acp revert")
    wait_until(lambda: sidecar.commands("acp.review.revert"))
    assert sidecar.commands("acp.review.revert")[0]["uri"] == (workspace / "two.txt").as_uri()
    sidecar.notify("acp/changes", {"sessionId": session, "changes": [change("one.txt", 4)]})
    wait_until(lambda: len(editor.eval("getqflist()")) == 1)


def test_a_changed_file_side_by_side(
    editor: Editor, sidecar: FakeSidecar, session: str, workspace: Path
) -> None:
    sidecar.results["acp.review.diff"] = {"before": "was\n", "after": "irrelevant"}
    editor.command("edit one.txt | Acp diff")
    wait_until(lambda: editor.eval("tabpagenr('$')") == 2)
    left, right = editor.windows()
    assert editor.lines(left) == ["was"]
    assert editor.name(right) == str(workspace / "one.txt")
    assert editor.lua("return vim.wo[...].diff", left)
    assert editor.lua("return vim.wo[...].diff", right)


# --- statusline, health, help ----------------------------------------------------------------


def test_the_statusline(editor: Editor, sidecar: FakeSidecar) -> None:
    line = "return require('acp').statusline()"
    assert editor.lua(line) == ""
    sidecar.held.add("acp.session.prompt")
    editor.command("Acp prompt hello")
    wait_until(lambda: editor.lua(line) == "demo · running · ask")


def test_no_message_needs_a_key(editor: Editor, sidecar: FakeSidecar, session: str) -> None:
    """After a longer message Neovim asks for <Enter>, and the user's next key is gone."""
    editor.command("edit one.txt")
    editor.type("O")
    for n in range(5):
        text = f"number {n}\n" + "a long line " * 40 + "\nand another\nand one more"
        sidecar.notify("window/showMessage", {"type": 1 + n % 3, "message": text})
        editor.type(f"{n}")
    sidecar.results["acp.session.prompt"] = "It failed.\n" + "because " * 60
    editor.lua("require('acp').prompt('x')")
    wait_until(lambda: "It failed." in editor.messages())
    sidecar.drop()
    editor.type("typed<Esc>")
    assert not editor.nvim.api.get_mode()["blocking"]
    assert editor.lines(editor.window())[0] == "01234typed"
    editor.command("Acp messages")
    assert editor.lines(editor.window()).count("and one more") == 5


def test_checkhealth(editor: Editor, sidecar: FakeSidecar, session: str) -> None:
    editor.command("checkhealth acp")
    report = "\n".join(editor.lines(editor.window()))
    assert "LuaJIT" in report
    assert "runs as client" in report
    assert "ERROR" not in report
    assert "signs show in the sign column" in report
    assert "0 hunks in 0 files wait" in report
    assert "mapped to something else" not in report
    editor.lua("require('acp').setup({ keymaps = true })")
    editor.command("nnoremap ]h x | set signcolumn=no | checkhealth acp")
    report = "\n".join(editor.lines(editor.window()))
    assert "mapped to something else: ]h" in report
    assert "'signcolumn' is \"no\"" in report


def test_checkhealth_names_what_is_missing(editor: Editor) -> None:
    editor.lua(
        """require('acp').setup({ cmd = { 'no-such-sidecar', 'serve' },
           agents = { lost = { command = 'no-such-agent' } } })"""
    )
    editor.command("checkhealth acp")
    report = "\n".join(editor.lines(editor.window()))
    assert '"no-such-sidecar" is not found' in report
    assert '"no-such-agent" is not found' in report
    editor.fails("Acp new", ":checkhealth acp")


def test_works_as_a_plain_package(editor: Editor, tmp_path: Path) -> None:
    packages = tmp_path / "data" / "nvim" / "site" / "pack" / "acp" / "start"
    packages.mkdir(parents=True)
    (packages / "acp").symlink_to(PLUGIN)
    run = subprocess.run(
        [nvim_path(), "--headless", "-u", "NORC", "+exe 'Acp nonsense'", "+qall!"],
        env={**os.environ, "XDG_DATA_HOME": str(tmp_path / "data")},
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    assert '"nonsense" is none of: cancel, changes' in run.stderr


def test_help(editor: Editor, tmp_path: Path) -> None:
    doc = Path(__file__).parents[2] / "editor-clients" / "neovim" / "doc" / "acp.txt"
    copy = tmp_path / "help" / "doc"
    copy.mkdir(parents=True)
    (copy / "acp.txt").write_text(doc.read_text())
    editor.command(f"helptags {copy}")
    editor.command(f"set runtimepath^={copy.parent}")
    topics = (":Acp-permission", ":Acp-keep", "acp-options", "acp-events", "acp-keymaps")
    for topic in ("acp", *topics, "<Plug>(acp-next-hunk)"):
        editor.command(f"help {topic}")
        assert editor.eval("&filetype") == "help"
    names = editor.lua(
        """local found = {}
           for name in vim.fs.dir(...) do table.insert(found, (name:gsub('%.lua$', ''))) end
           return found""",
        str(doc.parents[1] / "lua" / "acp"),
    )
    for name in names:
        assert editor.lua("return (pcall(require, ...))", f"acp.{name}") or name == "init"


def test_nothing_is_loaded_before_it_is_used(editor: Editor) -> None:
    loaded = editor.lua(
        """return vim.tbl_filter(function(name) return name:match('^acp') end,
           vim.tbl_keys(package.loaded))"""
    )
    assert loaded == []
    assert editor.eval("exists(':Acp')") == 2
