"""``:Acp``: its commands, their completion, and what is sent for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.neovim.harness import Editor, FakeSidecar, wait_until
from tests.neovim.messages import ask


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


def test_what_came_of_a_step_is_told_in_the_sidecar_s_words(
    editor: Editor, sidecar: FakeSidecar, session: str
) -> None:
    editor.command("Acp keep all")
    wait_until(lambda: "acp: Done, as the sidecar says." in editor.messages())
    partial = {**sidecar.results["acp.review.undo"], "text": "Half of it.", "partial": True}
    sidecar.results["acp.review.undo"] = partial
    editor.command("Acp undo 2")
    wait_until(lambda: "acp: Half of it." in editor.messages())
    assert sidecar.commands("acp.review.undo") == [{"targets": [{"sessionId": "s1"}] * 2}]


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
