"""The conversation of a session: what is drawn of it, where, and where its lines lead."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.neovim.harness import Editor, FakeSidecar, wait_until
from tests.neovim.messages import message, reveal, transcript


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


def test_how_a_turn_ended_is_shown_once_where_it_did_not_just_end(
    editor: Editor, sidecar: FakeSidecar, session: str
) -> None:
    def turn(text: str, stop_text: str | None) -> None:
        for status, said in (("running", None), ("idle", stop_text), ("idle", stop_text)):
            block = {"id": "status", "kind": "status", "status": status, "stopText": said}
            blocks = [block] if status == "idle" else [block, message("user", text, text)]
            sidecar.notify("acp/transcript", {"sessionId": session, "blocks": blocks})

    turn("One", "The agent refused to go on")
    turn("Two", None)
    turn("Three", "Cancelled")
    wait_until(lambda: any("Cancelled" in line for line in transcript(editor)))
    shown = [line.strip() for line in transcript(editor) if line.strip() not in ("", "❯ You")]
    assert [line.lstrip("! ·•") for line in shown] == [
        "One",
        "The agent refused to go on",
        "Two",
        "Three",
        "Cancelled",
    ]


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
        call("watch", capabilities={"cancel": {}}, cancellable=True),
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
