"""What an agent wants to know, and logins, in Neovim: drawn, answered, never in the way."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.neovim.desk import Desk
from tests.neovim.harness import BOUND, Editor, FakeSidecar, wait_until

SCHEMA = {
    "type": "object",
    "required": ["name", "sure"],
    "properties": {
        "name": {"type": "string", "title": "Name", "default": "Ada"},
        "sure": {"type": "boolean", "title": "Sure?"},
        "size": {"type": "integer"},
        "colour": {"type": "string", "oneOf": [{"const": "r", "title": "Red"}]},
        "parts": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}},
    },
}


def fact(kind: str, text: str, value: str | None = None) -> dict[str, Any]:
    return {"kind": kind, "text": text, "value": value, "note": ""}


def form(**more: Any) -> dict[str, Any]:
    return {
        "requestId": "elicitation-1",
        "sessionId": "s1",
        "agent": "demo",
        "toolCallId": None,
        "kind": "elicitation",
        "mode": "form",
        "headline": "demo wants to know something",
        "facts": [fact("message", "It says: Tell me", "Tell me")],
        "message": "Tell me",
        "requestedSchema": SCHEMA,
        "fields": ["name", "sure", "size", "colour", "parts"],
        "url": None,
        "host": None,
        "content": None,
        "problems": [],
        **more,
    }


PAGE = form(
    mode="url",
    headline="demo wants to open a page in your browser",
    facts=[
        fact("host", "Host: evil.com", "evil.com"),
        fact("address", "Address: http://good.com@evil.com/x", "http://good.com@evil.com/x"),
        fact("warning", "It is not encrypted (http)"),
        fact("message", "It says: Tell me", "Tell me"),
    ],
    url="http://good.com@evil.com/x",
    host="evil.com",
    requestedSchema=None,
    fields=[],
)


HAND = """
_G.hand, _G.asked = {}, {}
vim.ui.select = function(items, opts, done)
  local titles = vim.tbl_map(opts.format_item or tostring, items)
  table.insert(_G.asked, { prompt = opts.prompt, titles = titles })
  local want = table.remove(_G.hand, 1)
  for index, title in ipairs(titles) do
    if title == want then return done(items[index], index) end
  end
  done(nil)
end
vim.ui.input = function(opts, done)
  table.insert(_G.asked, { prompt = opts.prompt, default = opts.default })
  local want = table.remove(_G.hand, 1)
  if want == false then want = nil end
  done(want)
end
"""


@pytest.fixture
def hand(editor: Editor) -> Editor:
    """Answers every prompt with the next of ``_G.hand``, and notes what was asked."""
    editor.lua(HAND)
    return editor


def will(editor: Editor, *answers: Any) -> None:
    editor.lua("_G.hand = {...}", *answers)


def asked(editor: Editor) -> list[dict[str, Any]]:
    return list(editor.lua("return _G.asked"))


def question(editor: Editor) -> list[str]:
    wait_until(lambda: editor.marked("permission"), "the question")
    (win,) = editor.marked("permission")
    return editor.lines(win)


def choose(editor: Editor, title: str) -> None:
    question(editor)
    editor.command("Acp permission")
    editor.lua("vim.fn.search(...)", title)
    editor.type("<CR>")


def test_a_form_waits_until_the_user_goes_to_it(
    hand: Editor, sidecar: FakeSidecar, session: str
) -> None:
    hand.type("i")
    request = sidecar.begin("acp/elicitation", form())
    drawn = "\n".join(question(hand))
    for words in ("Tell me", "Name", "Sure?", "size [optional]", "Decline", "Fill it in"):
        assert words in drawn
    hand.type("typed")
    assert hand.mode() == "i"
    assert asked(hand) == []
    assert not sidecar.answered(request)
    hand.type("<Esc>")
    will(hand, "Ada L.", "Yes", "7", "Red", "[ ] b", "(that is all)", "Send")
    choose(hand, "Fill it in")
    assert sidecar.answer(request)["result"] == {
        "action": "accept",
        "content": {"name": "Ada L.", "sure": True, "size": 7, "colour": "r", "parts": ["b"]},
    }
    prompts = asked(hand)
    assert (prompts[0]["prompt"], prompts[0]["default"]) == ("Name: ", "Ada")
    assert prompts[1]["titles"] == ["Yes", "No"]
    assert prompts[3]["titles"] == ["Red", "(leave it out)"]
    assert "Name: Ada L. | Sure?: true" in prompts[-1]["prompt"]
    assert hand.marked("permission") == []


def test_what_is_optional_can_be_left_out(hand: Editor, sidecar: FakeSidecar, session: str) -> None:
    request = sidecar.begin("acp/elicitation", form())
    will(hand, "", "No", "", "(leave it out)", "(leave it out)", "Send")
    choose(hand, "Fill it in")
    assert sidecar.answer(request)["result"] == {
        "action": "accept",
        "content": {"name": "", "sure": False},
    }


def test_giving_up_half_way_leaves_the_question(
    hand: Editor, sidecar: FakeSidecar, session: str
) -> None:
    request = sidecar.begin("acp/elicitation", form())
    will(hand, "Ada")
    choose(hand, "Fill it in")
    wait_until(lambda: len(asked(hand)) == 2)
    assert "Fill it in" in "\n".join(question(hand))
    assert not sidecar.answered(request)
    choose(hand, "Decline")
    assert sidecar.answer(request)["result"] == {"action": "decline"}


def test_put_away_is_no_answer(hand: Editor, sidecar: FakeSidecar, session: str) -> None:
    request = sidecar.begin("acp/elicitation", form())
    question(hand)
    hand.command("Acp! permission")
    assert sidecar.answer(request)["result"] is None


def test_what_does_not_fit_is_said_and_comes_again(
    hand: Editor, sidecar: FakeSidecar, session: str
) -> None:
    problems = [{"field": "name", "message": "must have at least 2 characters"}]
    again = form(content={"name": "x"}, problems=problems)
    request = sidecar.begin("acp/elicitation", again)
    assert "name must have at least 2 characters" in question(hand)
    will(hand, "Ada")
    choose(hand, "Fill it in")
    wait_until(lambda: asked(hand))
    assert asked(hand)[0]["default"] == "x"
    assert not sidecar.answered(request)


def test_a_page_is_shown_in_full_and_agreed_to(
    hand: Editor, sidecar: FakeSidecar, session: str
) -> None:
    request = sidecar.begin("acp/elicitation", PAGE)
    lines = question(hand)
    assert "Host: evil.com" in lines
    assert "Address: http://good.com@evil.com/x" in lines
    assert "It is not encrypted (http)" in lines
    assert lines.count("It says: Tell me") == 1
    assert PAGE["headline"] in hand.screen()
    choose(hand, "Open the page")
    assert sidecar.answer(request)["result"] == {"action": "accept"}


def test_a_withdrawn_form_goes_away(hand: Editor, sidecar: FakeSidecar, session: str) -> None:
    request = sidecar.begin("acp/elicitation", form())
    question(hand)
    sidecar.results["acp.elicitation.pending"] = [form()]
    sidecar.notify("$/cancelRequest", {"id": 77})
    wait_until(lambda: sidecar.commands("acp.elicitation.pending"))
    hand.lua("vim.wait(100, function() return false end)")
    assert hand.marked("permission") != []
    sidecar.results["acp.elicitation.pending"] = []
    sidecar.notify("$/cancelRequest", {"id": request})
    wait_until(lambda: hand.marked("permission") == [], "the question to close")
    assert sidecar.answer(request)["result"] is None


def test_the_conversation_draws_it(hand: Editor, sidecar: FakeSidecar, session: str) -> None:
    block = {
        "id": "elicitation:elicitation-1",
        "kind": "elicitation",
        "requestId": "elicitation-1",
        "mode": "url",
        "message": "Sign in",
        "url": "https://example.com",
        "state": "answered",
        "action": "decline",
    }
    sidecar.notify("acp/transcript", {"sessionId": "s1", "blocks": [block]})
    (win,) = hand.marked("transcript")
    wait_until(lambda: "? Sign in → decline" in hand.lines(win))
    assert "  https://example.com" in hand.lines(win)


# --- logins ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", [0, 3])
def test_a_login_runs_where_the_user_can_type(
    editor: Editor, sidecar: FakeSidecar, session: str, workspace: Path, code: int
) -> None:
    script = f'read line; echo "got $line $WHO $PWD" > out.txt; exit {code}'
    request = sidecar.begin(
        "acp/openTerminal",
        {
            "title": "Log in to demo",
            "command": "/bin/sh",
            "args": ["-c", script],
            "env": {"WHO": "me"},
            "cwd": str(workspace),
        },
    )
    wait_until(lambda: editor.mode() == "t", "the terminal to take keys")
    (win,) = editor.marked("login")
    assert editor.window() == win
    editor.type("hello<CR>")
    assert sidecar.answer(request)["result"] == {"exitCode": code}
    assert (workspace / "out.txt").read_text() == f"got hello me {workspace}\n"
    # What went wrong stays to be read.
    wait_until(lambda: bool(editor.marked("login")) is (code != 0))


def test_a_program_that_cannot_be_run_is_an_error(
    editor: Editor, sidecar: FakeSidecar, session: str
) -> None:
    params = {"title": "x", "command": "/no/such/program", "args": [], "env": {}, "cwd": "/"}
    request = sidecar.begin("acp/openTerminal", params)
    assert "/no/such/program" in sidecar.answer(request)["error"]["message"]
    assert editor.marked("login") == []


def test_login_and_logout(editor: Editor, sidecar: FakeSidecar, session: str) -> None:
    editor.command("Acp login other key")
    editor.command("Acp logout")
    wait_until(lambda: sidecar.commands("acp.agent.logout"))
    assert sidecar.commands("acp.agent.login") == [{"agent": "other", "methodId": "key"}]
    assert sidecar.commands("acp.agent.logout") == [{"agent": "demo"}]


# --- prompts --------------------------------------------------------------------------------------


def test_a_prompt_is_completed_by_the_sidecar(
    editor: Editor, sidecar: FakeSidecar, session: str
) -> None:
    item = {"label": "src/a b.py", "text": '@"src/a b.py"', "detail": None, "kind": "file"}
    sidecar.results["acp.prompt.complete"] = {"items": [{**item, "start": 5, "end": 7}]}
    editor.command("Acp prompt")
    wait_until(lambda: editor.mode() == "i")
    editor.type("éx<CR>z @a<C-x><C-o>")
    (argument,) = sidecar.commands("acp.prompt.complete")
    assert argument == {"sessionId": "s1", "text": "éx\nz @a"}
    wait_until(lambda: editor.eval("getline('.')") == 'z @"src/a b.py"')


def test_what_waits_can_be_changed_and_taken_out(
    hand: Editor, sidecar: FakeSidecar, session: str
) -> None:
    waiting = [{"turnId": "t1", "text": "one\ntwo"}, {"turnId": "t2", "text": "three"}]
    sidecar.results["acp.session.queue"] = waiting
    will(hand, "three", "Take it out")
    hand.command("Acp queue")
    wait_until(lambda: {"sessionId": "s1", "drop": "t2"} in sidecar.commands("acp.session.queue"))
    will(hand, "one | two", "Change it")
    hand.command("Acp queue")
    wait_until(lambda: hand.eval("getline(1, '$')") == ["one", "two"])
    hand.type("<Esc>Gothree<Esc><CR>")
    edit = {"sessionId": "s1", "edit": {"turnId": "t1", "text": "one\ntwo\nthree"}}
    wait_until(lambda: edit in sidecar.commands("acp.session.queue"))
    assert sidecar.commands("acp.session.prompt") == []
    hand.command("Acp prompt")
    hand.type("new<Esc><CR>")
    wait_until(lambda: sidecar.commands("acp.session.prompt"))


def test_the_selection_is_told(
    editor: Editor, sidecar: FakeSidecar, session: str, workspace: Path
) -> None:
    editor.command("edit one.txt")
    editor.type("2GVj<Esc>")
    answer = sidecar.request("acp/selection", {})
    assert answer["uri"] == (workspace / "one.txt").as_uri()
    assert answer["selection"] == {
        "start": {"line": 1, "character": 0},
        "end": {"line": 3, "character": 0},
    }
    assert answer["visibleRange"]["start"] == {"line": 0, "character": 0}


def test_a_buffer_is_saved_when_the_user_has_agreed(
    editor: Editor, sidecar: FakeSidecar, session: str, workspace: Path
) -> None:
    editor.command("edit one.txt | call setline(1, 'changed') | split two.txt")
    uri = (workspace / "one.txt").as_uri()
    assert sidecar.request("acp/save", {"uri": uri}) == {"saved": True}
    assert (workspace / "one.txt").read_text().startswith("changed\n")
    (workspace / "three.txt").chmod(0o444)
    assert sidecar.request("acp/save", {"uri": "file:///no/such/file"}) == {"saved": False}


def test_what_stands_beside_the_conversation_is_in_the_statusline(
    editor: Editor, sidecar: FakeSidecar, session: str
) -> None:
    status = {
        "id": "status",
        "kind": "status",
        "status": "running",
        "stopReason": None,
        "queue": [],
        "title": "Rename it",
        "usage": {"used": 30, "size": 120, "cost": None},
        "modes": {"currentModeId": "go", "availableModes": [{"id": "go", "name": "Go"}]},
        "configOptions": [],
    }
    sidecar.notify("acp/transcript", {"sessionId": "s1", "blocks": [status]})
    wait_until(lambda: "go · 25%" in editor.lua("return require('acp').statusline()"))
    assert "Rename it" in editor.screen()


# --- with the real sidecar ------------------------------------------------------------------------


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path)
    desk.nvim.lua(HAND)
    yield desk
    desk.close()


def test_a_form_of_an_agent_s_all_the_way(desk: Desk) -> None:
    nvim = desk.nvim
    fields = {
        "name": {"type": "string", "minLength": 2},
        "colour": {"type": "string", "enum": ["red", "green"]},
    }
    schema = {"type": "object", "properties": fields, "required": ["name", "colour"]}
    answer = desk.agent.begin(
        "elicitation/create", mode="form", message="Which one?", requestedSchema=schema
    )
    will(nvim, "A", "green", "Send")
    choose(nvim, "Fill it in")
    wait_until(lambda: "at least 2 characters" in "\n".join(question(nvim)))
    will(nvim, "Ada", "red", "Send")
    choose(nvim, "Fill it in")
    content = {"name": "Ada", "colour": "red"}
    assert answer.result(BOUND)["result"] == {"action": "accept", "content": content}
    wait_until(lambda: nvim.marked("permission") == [])
    assert asked(nvim)[3]["default"] == "A", "what was typed is still there"


def test_a_form_that_a_cancel_ends_leaves_the_screen(desk: Desk) -> None:
    nvim = desk.nvim
    schema = {"type": "object", "properties": {"sure": {"type": "boolean"}}}
    nvim.command("Acp prompt go")
    prompt = desk.agent.prompted()
    answer = desk.agent.begin(
        "elicitation/create", mode="form", message="Sure?", requestedSchema=schema
    )
    question(nvim)
    nvim.command("Acp cancel")
    assert answer.result(BOUND)["result"] == {"action": "cancel"}
    wait_until(lambda: nvim.marked("permission") == [], "the question to close")
    desk.agent.end_turn(prompt, "cancelled")


def test_files_are_completed_and_sent(desk: Desk) -> None:
    nvim = desk.nvim
    (desk.ws / "my notes.md").write_text("words\n")
    nvim.command("Acp new")
    wait_until(lambda: nvim.lua("return require('acp.session').current() ~= nil"), "the session")
    nvim.command("Acp prompt")
    wait_until(lambda: nvim.mode() == "i")
    nvim.type("é read @my<C-x><C-o>")
    wait_until(lambda: nvim.eval("getline('.')") == 'é read @"my notes.md"')
    nvim.type("<C-s>")
    prompt = desk.agent.prompted()
    text, link = prompt["params"]["prompt"]
    assert text["text"] == 'é read @"my notes.md"'
    assert (link["type"], link["name"]) == ("resource_link", "my notes.md")
    desk.agent.end_turn(prompt)
