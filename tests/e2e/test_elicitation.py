"""What an agent wants to know: forms and pages, in plain and in rich editors."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.e2e.editor import Editor, LspError, Refusal, capabilities, editing
from tests.e2e.puppet import Puppet
from tests.e2e.shape import check

COLOURS = [
    {"const": "r", "title": "Red", "description": "like fire"},
    {"const": "g", "title": "Green"},
]
COLOUR = {"type": "string", "title": "Colour", "oneOf": COLOURS}
URL = "https://example.com/auth?code=1"


def form(*required: str, **fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "required": list(required)}


def ask(puppet: Puppet, schema: dict[str, Any], **more: Any) -> Any:
    params = {
        "sessionId": puppet.session,
        "mode": "form",
        "message": "Which one?",
        "requestedSchema": schema,
        **more,
    }
    return puppet.request("elicitation/create", params)


def ask_page(puppet: Puppet, url: str = URL, **more: Any) -> Any:
    params = {
        "sessionId": puppet.session,
        "mode": "url",
        "message": "Sign in there",
        "url": url,
        "elicitationId": "e1",
        **more,
    }
    return puppet.request("elicitation/create", params)


async def answer(puppet: Puppet, request: Any) -> Any:
    response = await puppet.result(request)
    return response.get("result", response.get("error"))


@pytest.fixture
async def rich(idle_editor: Editor, puppet: Puppet, ws: Path, settings: dict[str, Any]) -> Editor:
    """An editor with forms of its own, and a session."""
    await idle_editor.initialize(ws, settings=settings, can=capabilities(elicitation=True))
    idle_editor.answers["acp/elicitation"] = lambda params: None
    await idle_editor.execute("acp.session.new")
    return idle_editor


# --- a plain editor -------------------------------------------------------------------------------


async def test_both_modes_are_announced(
    editor: Editor, puppet: Puppet, session: dict[str, Any]
) -> None:
    told = puppet.seen[0]["params"]["clientCapabilities"]
    assert told["elicitation"] == {"form": {}, "url": {}}


async def test_fields_are_asked_one_by_one(
    editor: Editor, puppet: Puppet, session: dict[str, Any]
) -> None:
    many = {
        "type": "array",
        "title": "Parts",
        "items": {"type": "string", "enum": ["a", "b"]},
        "minItems": 1,
    }
    schema = form("sure", "parts", sure={"type": "boolean"}, colour=COLOUR, parts=many)
    request = ask(puppet, schema)
    asked = await editor.dialog()
    assert "puppet wants to know something" in asked["message"]
    assert "It says: Which one?" in asked["message"]
    assert editor.titles() == ["Decline", "Yes", "No"]
    state = await editor.state()
    check(state)
    assert state["status"] == "requires_action"
    (waiting,) = state["elicitations"]
    assert (waiting["state"], waiting["mode"], waiting["action"]) == ("waiting", "form", None)
    assert waiting["requestedSchema"] == schema
    editor.click("No")
    asked = await editor.dialog(2)
    assert "Colour (optional)" in asked["message"]
    assert "Red: like fire" in asked["message"]
    assert editor.titles() == ["Decline", "Leave it out", "Red", "Green"]
    editor.click("Green")
    asked = await editor.dialog(3)
    assert editor.titles() == ["Decline", "+ a", "+ b"]
    editor.click("+ b")
    await editor.dialog(4)
    assert editor.titles() == ["Decline", "That is all", "+ a", "− b"]
    editor.click("+ a")
    await editor.dialog(5)
    editor.click("That is all")
    content = {"sure": False, "colour": "g", "parts": ["a", "b"]}
    assert await answer(puppet, request) == {"action": "accept", "content": content}
    state = await editor.state()
    check(state)
    assert state["status"] == "idle"
    (done,) = state["elicitations"]
    assert (done["state"], done["action"]) == ("answered", "accept")
    assert len({dialog["message"] for dialog in editor.all("window/showMessageRequest")}) == 5


async def test_a_field_that_is_left_out_is_not_sent(
    editor: Editor, puppet: Puppet, session: dict[str, Any]
) -> None:
    request = ask(puppet, form(colour=COLOUR))
    await editor.dialog()
    editor.click("Leave it out")
    assert await answer(puppet, request) == {"action": "accept", "content": {}}


@pytest.mark.parametrize(
    ("click", "action"),
    [
        ({"title": "Decline"}, "decline"),
        (None, "cancel"),
        ({"title": "x"}, "cancel"),
        (5, "cancel"),
    ],
)
@pytest.mark.parametrize("mode", ["form", "url"])
async def test_decline_and_cancel_are_different_words(
    editor: Editor, puppet: Puppet, session: dict[str, Any], click: Any, action: str, mode: str
) -> None:
    editor.answers["window/showMessageRequest"] = lambda params: click
    request = ask(puppet, form(colour=COLOUR)) if mode == "form" else ask_page(puppet)
    assert await answer(puppet, request) == {"action": action}
    (done,) = (await editor.state())["elicitations"]
    assert done["action"] == action
    assert editor.all("window/showDocument") == []


async def test_a_text_comes_by_a_command_that_the_dialog_names(
    editor: Editor, puppet: Puppet, session: dict[str, Any]
) -> None:
    name = {"type": "string", "title": "Your name", "minLength": 2}
    age = {"type": "integer", "minimum": 18}
    request = ask(puppet, form("name", "colour", name=name, colour=COLOUR, age=age))
    await editor.dialog()
    editor.click("Red")
    asked = await editor.dialog(2)
    assert editor.titles() == ["Decline"]
    for words in (
        "Your name [name] (at least 2 characters)",
        "age (optional, a whole number, at least 18)",
        'Chosen so far, sent with it: {"colour": "r"}',
    ):
        assert words in asked["message"]
    call = json.loads(asked["message"].partition("acp.elicitation.answer ")[2].split("\n")[0])
    assert call["action"] == "accept"
    for content, said in (
        ({}, "name is required"),
        ({"name": "A"}, "name must have at least 2 characters"),
        ({"name": "Ada", "age": "20"}, "age must be a whole number"),
        ({"name": "Ada", "age": 3, "x": 1}, "x is no field of this form; age must be at least 18"),
    ):
        with pytest.raises(LspError, match=said):
            await editor.execute("acp.elicitation.answer", **{**call, "content": content})
    (pending,) = await editor.execute("acp.elicitation.pending")
    assert pending["requestId"] == call["requestId"]
    call["content"] = {"name": "Ada", "age": 20}
    assert await editor.execute("acp.elicitation.answer", **call) == {}
    content = {"name": "Ada", "age": 20, "colour": "r"}
    assert await answer(puppet, request) == {"action": "accept", "content": content}
    dialog = editor.requests("window/showMessageRequest")[1]
    await editor.until(lambda: {"id": dialog["id"]} in editor.all("$/cancelRequest"))
    assert await editor.execute("acp.elicitation.pending") == []
    with pytest.raises(LspError, match="No elicitation"):
        await editor.execute("acp.elicitation.answer", **call)


async def test_what_is_proposed_can_be_sent_as_it_is(
    editor: Editor, puppet: Puppet, session: dict[str, Any]
) -> None:
    fields = {"name": {"type": "string", "default": "main"}, "n": {"type": "number"}}
    request = ask(puppet, form("name", **fields))
    asked = await editor.dialog()
    assert editor.titles() == ["Decline", "Send"]
    assert 'as it is proposed: {"name": "main"}' in asked["message"]
    editor.click("Send")
    assert await answer(puppet, request) == {"action": "accept", "content": {"name": "main"}}


async def test_a_page_is_shown_in_full_and_opened_after_consent_alone(
    editor: Editor, puppet: Puppet, session: dict[str, Any]
) -> None:
    url = "https://good.com@evil.com/" + "x" * 500
    request = ask_page(puppet, url)
    asked = await editor.dialog()
    assert "Host: evil.com\n" in asked["message"]
    assert f"Address: {url}\n" in asked["message"]
    assert "It says: Sign in there" in asked["message"]
    assert editor.titles() == ["Decline", "Open the page"]
    assert editor.all("window/showDocument") == []
    editor.click("Open the page")
    assert await answer(puppet, request) == {"action": "accept"}
    shown = await editor.nth("window/showDocument")
    assert shown == {"uri": url, "external": True, "takeFocus": True}
    (opened,) = (await editor.state())["elicitations"]
    assert (opened["action"], opened["completed"]) == ("accept", False)
    for unknown in ({"elicitationId": "nobody"}, {}, None):
        puppet.send({"method": "elicitation/complete", "params": unknown})
    puppet.send({"method": "elicitation/complete", "params": {"elicitationId": "e1"}})
    await editor.until(lambda: "evil.com" in str(editor.all("window/showMessage")))
    (done,) = (await editor.state())["elicitations"]
    assert done["completed"] is True


@pytest.mark.parametrize("how", ["false", "error", "cannot"])
async def test_a_page_that_cannot_be_opened_is_named(
    idle_editor: Editor, puppet: Puppet, ws: Path, settings: dict[str, Any], how: str
) -> None:
    editor, can = idle_editor, capabilities()
    if how == "cannot":
        del can["window"]["showDocument"]
    await editor.initialize(ws, settings=settings, can=can)
    await editor.execute("acp.session.new")

    def refuse(params: Any) -> Any:
        if how == "error":
            raise Refusal(-32603)
        return {"success": False}

    editor.answers["window/showDocument"] = refuse
    request = ask_page(puppet)
    await editor.dialog()
    editor.click("Open the page")
    assert await answer(puppet, request) == {"action": "accept"}
    await editor.until(lambda: f"in your browser: {URL}" in str(editor.all("window/showMessage")))


@pytest.mark.parametrize("url", ["file:///etc/passwd", "javascript:x", "https://a\\@b", "nope"])
async def test_an_address_that_must_not_be_opened_is_refused(
    editor: Editor, puppet: Puppet, session: dict[str, Any], url: str
) -> None:
    refused = await answer(puppet, ask_page(puppet, url))
    assert refused["code"] == -32602
    assert "url" in refused["message"]
    assert editor.all("window/showMessageRequest") == []


async def test_what_the_agent_says_cannot_fake_a_line(
    editor: Editor, puppet: Puppet, session: dict[str, Any]
) -> None:
    ask_page(puppet, message="ok\nHost: good.com")
    told = (await editor.dialog())["message"]
    assert [line for line in told.split("\n") if line.startswith("Host: ")] == ["Host: example.com"]


# --- its ends -------------------------------------------------------------------------------------


@pytest.mark.parametrize("by", ["cancel", "end", "withdraw", "close", "restart"])
@pytest.mark.parametrize("kind", ["plain", "rich"])
async def test_what_is_left_open_is_cancelled(
    puppet: Puppet, ws: Path, settings: dict[str, Any], by: str, kind: str
) -> None:
    method = "acp/elicitation" if kind == "rich" else "window/showMessageRequest"
    async with editing() as editor:
        can = capabilities(elicitation=True) if kind == "rich" else None
        await editor.initialize(ws, settings=settings, can=can)
        never = editor.answers["window/showMessageRequest"]
        editor.answers["acp/elicitation"] = never
        await editor.execute("acp.session.new")
        editor.start("acp.session.prompt", text="go")
        prompt = await puppet.prompted()
        request = ask(puppet, form(colour=COLOUR))
        await editor.nth(method)
        if by == "cancel":
            await editor.execute("acp.session.cancel")
        elif by == "end":
            puppet.end_turn(prompt)
        elif by == "withdraw":
            puppet.send({"method": "$/cancel_request", "params": {"requestId": request}})
        elif by == "close":
            await editor.execute("acp.session.close")
        else:
            await editor.execute("acp.agent.restart", agent="puppet")
        assert await answer(puppet, request) == {"action": "cancel"}
        asked = editor.requests(method)[0]
        await editor.until(lambda: {"id": asked["id"]} in editor.all("$/cancelRequest"))
        assert await editor.execute("acp.elicitation.pending") == []


async def test_the_editor_s_end_cancels_too(puppet: Puppet, ws: Path, settings: Any) -> None:
    async with editing() as editor:
        await editor.initialize(ws, settings=settings)
        await editor.execute("acp.session.new")
        request = ask_page(puppet)
        await editor.dialog()
        await editor.close()
        assert await answer(puppet, request) == {"action": "cancel"}


async def test_a_cancelled_turn_asks_nothing_more(
    editor: Editor, puppet: Puppet, session: dict[str, Any]
) -> None:
    editor.start("acp.session.prompt", text="go")
    await puppet.prompted()
    await editor.execute("acp.session.cancel")
    assert await answer(puppet, ask(puppet, form(colour=COLOUR))) == {"action": "cancel"}
    assert editor.all("window/showMessageRequest") == []


async def test_one_that_waits_blocks_no_other_session(
    editor: Editor, puppet: Puppet, session: dict[str, Any]
) -> None:
    first = ask(puppet, form(colour=COLOUR))
    await editor.dialog()
    other = await editor.execute("acp.session.new")
    _, turn = editor.start("acp.session.prompt", sessionId=other["sessionId"], text="go")
    prompt = await puppet.prompted()
    second = ask(puppet, form(colour=COLOUR), message="The other one?")

    async def both() -> Any:
        pending = await editor.execute("acp.elicitation.pending")
        return pending if len(pending) == 2 else None

    pending = await editor.eventually(both)
    assert [one["message"] for one in pending] == ["Which one?", "The other one?"]
    content = {"colour": "r"}
    await editor.execute(
        "acp.elicitation.answer",
        requestId=pending[1]["requestId"],
        action="accept",
        content=content,
    )
    assert await answer(puppet, second) == {"action": "accept", "content": content}
    puppet.say("x")
    puppet.end_turn(prompt)
    assert await turn == {"stopReason": "end_turn"}
    editor.click("Green", 0)
    assert await answer(puppet, first) == {"action": "accept", "content": {"colour": "g"}}


async def test_one_that_belongs_to_a_request_ends_with_it(
    editor: Editor, puppet: Puppet, session: dict[str, Any]
) -> None:
    del puppet.answers["session/new"]
    _, opening = editor.start("acp.session.new")
    asked = await puppet.incoming("session/new")
    while asked["id"] == 1:  # the one of the fixture
        asked = await puppet.incoming("session/new")
    params = {"requestId": asked["id"], "mode": "form", "message": "Region?"}
    region = form(colour=COLOUR)
    request = puppet.request("elicitation/create", {**params, "requestedSchema": region})
    await editor.dialog()
    editor.click("Red")
    assert await answer(puppet, request) == {"action": "accept", "content": {"colour": "r"}}
    request = puppet.request("elicitation/create", {**params, "requestedSchema": region})
    await editor.dialog(2)
    puppet.answer(asked, {"sessionId": "S9"})
    assert await answer(puppet, request) == {"action": "cancel"}
    await opening


async def test_an_agent_that_waits_for_the_user_is_waited_for(
    puppet: Puppet, ws: Path, settings: dict[str, Any]
) -> None:
    settings["agents"]["silent"] = {"command": "sleep", "args": ["600"]}
    async with editing() as editor:
        await editor.initialize(ws, settings=settings)
        # This one has time to start, and has a second from now on.
        await editor.execute("acp.session.new")
        await puppet.incoming("session/new")
        editor.configure(timeouts={"initialize": 1})
        new_session = puppet.answers.pop("session/new")
        _, opening = editor.start("acp.session.new")
        asked = await puppet.incoming("session/new")
        params = {"requestId": asked["id"], "mode": "form", "message": "Region?"}
        schema = form(colour=COLOUR)
        request = puppet.request("elicitation/create", {**params, "requestedSchema": schema})
        await editor.dialog()
        # Of another agent the same time is over, though it began later.
        with pytest.raises(LspError, match="did not answer initialize within 1 s"):
            await editor.execute("acp.session.new", agent="silent")
        assert not opening.done()
        editor.click("Red")
        await answer(puppet, request)
        puppet.answer(asked, new_session({}))
        assert (await opening)["agentSessionId"] == "S2"
        # And no longer than it waits for the user.
        _, opening = editor.start("acp.session.new")
        asked = await puppet.incoming("session/new")
        params["requestId"] = asked["id"]
        request = puppet.request("elicitation/create", {**params, "requestedSchema": schema})
        await editor.dialog(2)
        editor.click("Red")
        with pytest.raises(LspError, match="did not answer session/new within 1 s"):
            await opening


async def test_R02_a_session_nobody_knows_is_asked_about_and_a_closed_one_is_not(
    editor: Editor, puppet: Puppet, session: dict[str, Any]
) -> None:
    request = ask(puppet, form(colour=COLOUR), sessionId="child-9")
    await editor.dialog()
    (pending,) = await editor.execute("acp.elicitation.pending")
    assert pending["sessionId"] is None
    editor.click("Decline")
    assert await answer(puppet, request) == {"action": "decline"}
    other = await editor.execute("acp.session.new")
    await editor.execute("acp.session.close", sessionId=other["sessionId"])
    assert await answer(puppet, ask(puppet, form(colour=COLOUR))) == {"action": "cancel"}
    assert len(editor.all("window/showMessageRequest")) == 1


async def test_bad_requests_get_an_error_and_nobody_is_asked(
    editor: Editor, puppet: Puppet, session: dict[str, Any]
) -> None:
    for params in (
        None,
        {},
        {"sessionId": "S1", "mode": "form", "message": "?"},
        {"sessionId": "S1", "mode": "_vendor", "message": "?"},
        {"mode": "form", "message": "?", "requestedSchema": {}},
        {"sessionId": "S1", "mode": "form", "message": "?", "requestedSchema": {"properties": []}},
    ):
        refused = await answer(puppet, puppet.request("elicitation/create", params))
        assert refused["code"] == -32602, params
    unknown = form("f", f={"type": "_vendor"})
    assert await answer(puppet, ask(puppet, unknown)) == {"action": "cancel"}
    await editor.until(lambda: "_vendor" in str(editor.all("window/showMessage")))
    assert editor.all("window/showMessageRequest") == []


# --- a rich editor --------------------------------------------------------------------------------


async def test_a_rich_editor_gets_the_whole_form(rich: Editor, puppet: Puppet) -> None:
    name = {"type": "string", "pattern": "^[a-z]+$"}
    schema = form("name", name=name, colour=COLOUR, n={"type": "integer"})
    tries = [{"name": "Ada"}, {"name": "ada", "colour": "r", "n": 3.0, "left": None}]

    rich.answers["acp/elicitation"] = lambda params: {
        "action": "accept",
        "content": tries.pop(0),
    }
    request = ask(puppet, schema, toolCallId="t1", message="Which\none\u202e?")
    content = {"name": "ada", "colour": "r", "n": 3}
    assert await answer(puppet, request) == {"action": "accept", "content": content}
    assert b'"n":3}' in orjson.dumps((await puppet.result(request))["result"])
    first, second = rich.all("acp/elicitation")
    assert first["requestedSchema"] == schema
    assert first["message"] == "Which\none\\u202e?"
    assert (first["mode"], first["toolCallId"], first["problems"]) == ("form", "t1", [])
    assert second["requestId"] == first["requestId"]
    assert second["content"] == {"name": "Ada"}
    assert second["problems"] == [{"field": "name", "message": "must match ^[a-z]+$"}]
    assert rich.all("window/showMessageRequest") == []


@pytest.mark.parametrize(
    ("result", "action"),
    [
        ({"action": "decline", "content": {"a": 1}}, "decline"),
        ({"action": "cancel"}, "cancel"),
        ({"action": "yes"}, "cancel"),
        ({}, "cancel"),
        (None, "cancel"),
        ([], "cancel"),
        ("error", "cancel"),
        ({"action": "accept", "content": {"never": "fits"}}, "cancel"),
    ],
)
async def test_what_a_rich_editor_may_answer(
    rich: Editor, puppet: Puppet, result: Any, action: str
) -> None:
    def reply(params: Any) -> Any:
        if result == "error":
            raise Refusal(-32601)
        return result

    rich.answers["acp/elicitation"] = reply
    assert await answer(puppet, ask(puppet, form(colour=COLOUR))) == {"action": action}
    assert len(rich.all("acp/elicitation")) <= 5


async def test_a_rich_editor_agrees_to_a_page_and_it_is_opened_for_it(
    rich: Editor, puppet: Puppet
) -> None:
    rich.answers["acp/elicitation"] = lambda params: {"action": "accept"}
    assert await answer(puppet, ask_page(puppet)) == {"action": "accept"}
    (asked,) = rich.all("acp/elicitation")
    assert (asked["mode"], asked["url"], asked["host"]) == ("url", URL, "example.com")
    assert asked["headline"] == "puppet wants to open a page in your browser"
    assert asked["short"] == "puppet wants to open a page of example.com"
    assert [(fact["kind"], fact["text"], fact["value"]) for fact in asked["facts"]] == [
        ("host", "Host: example.com", "example.com"),
        ("address", f"Address: {URL}", URL),
        ("message", "It says: Sign in there", "Sign in there"),
    ]
    assert (await rich.nth("window/showDocument"))["uri"] == URL


async def test_an_editor_is_told_of_a_page_that_is_not_encrypted(
    rich: Editor, puppet: Puppet
) -> None:
    rich.answers["acp/elicitation"] = lambda params: {"action": "decline"}
    await answer(puppet, ask_page(puppet, "HTTP://example.com/a"))
    (asked,) = rich.all("acp/elicitation")
    warned = [fact["text"] for fact in asked["facts"] if fact["kind"] == "warning"]
    assert warned == ["It is not encrypted (http)"]


async def test_an_editor_is_told_what_the_agent_calls_its_form(
    rich: Editor, puppet: Puppet
) -> None:
    rich.answers["acp/elicitation"] = lambda params: {"action": "decline"}
    schema = {**form(colour=COLOUR), "title": "Paint", "description": "For the door"}
    await answer(puppet, ask(puppet, schema))
    (asked,) = rich.all("acp/elicitation")
    assert asked["headline"] == "puppet wants to know something"
    assert asked["short"] == "puppet wants to know: Which one?"
    assert [fact["text"] for fact in asked["facts"]] == [
        "It says: Which one?",
        "Form: Paint",
        "For the door",
    ]


@pytest.fixture
async def drawing(idle_editor: Editor, ws: Path, settings: dict[str, Any]) -> AsyncIterator[Editor]:
    can = capabilities(elicitation=True, transcript=True)
    await idle_editor.initialize(ws, settings=settings, can=can)
    await idle_editor.execute("acp.session.new")
    yield idle_editor


async def test_the_conversation_shows_it(drawing: Editor, puppet: Puppet) -> None:
    drawing.answers["acp/elicitation"] = lambda params: {"action": "decline"}
    assert await answer(puppet, ask(puppet, form(colour=COLOUR))) == {"action": "decline"}

    def blocks() -> list[dict[str, Any]]:
        every = [block for one in drawing.all("acp/transcript") for block in one["blocks"]]
        return [block for block in every if block["kind"] == "elicitation"]

    await drawing.until(lambda: blocks() and blocks()[-1]["state"] == "answered")
    assert blocks()[-1]["action"] == "decline"
    order = (await drawing.state())["order"]
    assert [entry["type"] for entry in order] == ["elicitation"]
