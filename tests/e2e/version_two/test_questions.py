"""What an agent of version 2 asks before it acts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.e2e.editor import Editor
from tests.e2e.puppet import Puppet
from tests.e2e.version_two.prompts import begun, ended, has_call


async def test_a_command_is_asked_for_in_full(editor: Editor, puppet: Puppet, ws: Path) -> None:
    await editor.execute("acp.session.new")
    turn, _ = await begun(editor, puppet)
    options = [
        {"optionId": "y", "name": "Run it", "kind": "allow_once"},
        {"optionId": "n", "name": "No", "kind": "reject_once"},
        {"optionId": "z", "name": "In a sandbox", "kind": "_sandbox"},
    ]
    subject = {"type": "command", "command": "rm -rf build", "cwd": str(ws)}
    asked = puppet.request(
        "session/request_permission",
        {
            "sessionId": puppet.session,
            "title": "Clean up?",
            "description": "The build is stale",
            "subject": subject,
            "options": options,
        },
    )
    shown = (await editor.dialog())["message"]
    for words in ("rm -rf build", str(ws), "Clean up?", "The build is stale"):
        assert words in shown
    assert set(editor.titles()) == {"Run it", "No", "In a sandbox"}
    editor.click("In a sandbox")
    assert await puppet.outcome(asked) == "z"
    await ended(puppet, turn)


def asks(puppet: Puppet, subject: Any = None, **params: Any) -> Any:
    options = [
        {"optionId": "y", "name": "Yes", "kind": "allow_once"},
        {"optionId": "n", "name": "No", "kind": "reject_once"},
    ]
    request = {"sessionId": puppet.session, "title": "May I?", "options": options, **params}
    if subject is not None:
        request["subject"] = subject
    return puppet.request("session/request_permission", request)


async def pending(editor: Editor) -> dict[str, Any]:
    (asked,) = await editor.execute("acp.permission.pending")
    assert isinstance(asked, dict)
    return asked


@pytest.mark.parametrize("subject", [None, "junk", 5, {}, {"type": None}, {"type": "tool_call"}])
async def test_R20_a_title_alone_is_a_question(
    editor: Editor, puppet: Puppet, subject: Any
) -> None:
    title = "May I?\nAllow always: yes"
    await editor.execute("acp.session.new")
    turn, _ = await begun(editor, puppet)
    asked = asks(puppet, subject, title=title, description="Because")
    shown = (await editor.dialog())["message"].splitlines()
    first, second = title.replace("\n", "\\n"), "Because"
    assert shown[1:] == [f"The agent asks: “{first}”", f"The agent explains: “{second}”"]
    told = await pending(editor)
    assert (told["title"], told["description"], told["kind"]) == (title, "Because", "other")
    assert (told["command"], told["cwd"], told["paths"], told["diffs"]) == (None, None, [], [])
    editor.click("Yes")
    assert await puppet.outcome(asked) == "y"
    assert (await editor.state())["toolCalls"] == []
    await ended(puppet, turn)


@pytest.mark.parametrize("kind", ["_x", "launch", "TOOL_CALL"])
async def test_R20_an_unknown_subject_is_shown_as_it_is(
    editor: Editor, puppet: Puppet, kind: str
) -> None:
    await editor.execute("acp.session.new")
    turn, _ = await begun(editor, puppet)
    subject = {"type": kind, "command": "rm -rf /", "toolCall": {"toolCallId": "t"}, "n": [1]}
    asked = asks(puppet, subject)
    message = (await editor.dialog())["message"]
    assert "May I?" in message and '"command":"rm -rf /"' in message
    assert "Command:" not in message, "what is not known is not taken for something known"
    state = await editor.state()
    assert state["toolCalls"] == []
    assert state["permissions"][0]["subject"] == subject
    editor.click("No")
    assert await puppet.outcome(asked) == "n"
    await ended(puppet, turn)


async def test_R20_a_question_patches_its_call_and_keeps_its_title_to_itself(
    editor: Editor, puppet: Puppet
) -> None:
    await editor.execute("acp.session.new")
    turn, _ = await begun(editor, puppet)
    puppet.tool("t", "tool_call_update", title="Edit a.py", rawInput={"a": 1}, kind="read")
    await editor.eventually(lambda: has_call(editor))
    call = {"toolCallId": "t", "kind": "edit", "rawInput": {"b": 2}, "status": "in_progress"}
    asked = asks(puppet, {"type": "tool_call", "toolCall": call})
    message = (await editor.dialog())["message"]
    for words in ("change files", "“Edit a.py”", "“May I?”", '{"b":2}'):
        assert words in message
    editor.click("Yes")
    assert await puppet.outcome(asked) == "y"
    (shown,) = (await editor.state())["toolCalls"]
    assert (shown["title"], shown["kind"], shown["rawInput"]) == ("Edit a.py", "edit", {"b": 2})
    # A title in the patch is the call's own.
    renamed = {"toolCallId": "t", "title": "Edit b.py", "rawInput": None}
    asked = asks(puppet, {"type": "tool_call", "toolCall": renamed}, title="Really?")
    message = (await editor.dialog(2))["message"]
    assert "“Edit b.py”" in message and "“Really?”" in message
    (shown,) = (await editor.state())["toolCalls"]
    assert (shown["title"], shown["kind"], shown["rawInput"]) == ("Edit b.py", "edit", None)
    editor.click("No")
    assert await puppet.outcome(asked) == "n"
    await ended(puppet, turn)


async def test_R20_a_question_alone_creates_its_call_without_the_title(
    editor: Editor, puppet: Puppet
) -> None:
    await editor.execute("acp.session.new")
    turn, _ = await begun(editor, puppet)
    call = {"toolCallId": "new", "kind": "fetch", "rawInput": {"url": "https://a.b"}}
    asked = asks(puppet, {"type": "tool_call", "toolCall": call})
    assert "fetch from outside" in (await editor.dialog())["message"]
    (shown,) = (await editor.state())["toolCalls"]
    assert (shown["toolCallId"], shown["title"]) == ("new", None)
    editor.click("Yes")
    assert await puppet.outcome(asked) == "y"
    await ended(puppet, turn)


async def test_R20_options_of_unknown_kinds_are_buttons_and_nothing_more(
    editor: Editor, puppet: Puppet
) -> None:
    await editor.execute("acp.session.new")
    turn, _ = await begun(editor, puppet)
    options = [
        {"optionId": "a", "name": "Sandboxed", "kind": "_sandbox"},
        {"optionId": "b", "name": "Later", "kind": "defer"},
        {"optionId": "c", "name": "Whatever", "kind": None},
        {"optionId": "d", "name": "No", "kind": "reject_once"},
    ]
    clicks = (("Later", "b"), ("Sandboxed", "a"), ("Whatever", "c"))
    for number, (title, option_id) in enumerate(clicks, 1):
        asked = asks(puppet, options=options, title=f"{title}?")
        assert f"“{title}?”" in (await editor.dialog(number))["message"]
        assert editor.titles() == ["No", "Sandboxed", "Later", "Whatever"]
        editor.click(title)
        assert await puppet.outcome(asked) == option_id
    await ended(puppet, turn)


async def test_no_answer_is_cancelled(editor: Editor, puppet: Puppet) -> None:
    """Not the option that rejects, as in version 1: nothing was chosen."""
    await editor.execute("acp.session.new")
    turn, _ = await begun(editor, puppet)
    params = {
        "sessionId": puppet.session,
        "title": "May I?",
        "options": [{"optionId": "n", "name": "No", "kind": "reject_once"}],
    }
    asked = puppet.request("session/request_permission", params)
    await editor.dialog()
    editor.click("")
    assert await puppet.outcome(asked) == "cancelled"
    await ended(puppet, turn)


@pytest.mark.parametrize("kind", ["phone", "_x"])
async def test_a_form_may_have_formats_that_nobody_knows(
    editor: Editor, puppet: Puppet, kind: str
) -> None:
    await editor.execute("acp.session.new")
    turn, _ = await begun(editor, puppet)
    field = {"type": "string", "title": "Call", "format": kind}
    schema = {"type": "object", "properties": {"f": field}, "required": ["f"]}
    params = {"sessionId": puppet.session, "mode": "form", "message": "Where?"}
    asked = puppet.request("elicitation/create", {**params, "requestedSchema": schema})
    (told,) = await editor.eventually(lambda: editor.execute("acp.elicitation.pending"))
    assert told["requestedSchema"] == schema
    await editor.execute(
        "acp.elicitation.answer",
        requestId=told["requestId"],
        action="accept",
        content={"f": "12 34"},
    )
    response = await puppet.result(asked)
    assert response["result"] == {"action": "accept", "content": {"f": "12 34"}}
    await ended(puppet, turn)
