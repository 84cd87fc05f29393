"""Version 2 of the protocol, where it is switched on: which version is spoken, and turns in it."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from tests.e2e import shape
from tests.e2e.editor import Editor, LspError
from tests.e2e.puppet import Puppet

CAPABILITIES = {"session": {"prompt": {"embeddedContext": {}}, "delete": {}}}


@pytest.fixture
def settings(puppet: Puppet) -> dict[str, Any]:
    puppet.answers["initialize"] = lambda params: {
        "protocolVersion": 2,
        "info": puppet.info,
        "capabilities": CAPABILITIES,
    }
    return {
        "agents": {"puppet": puppet.setting},
        "defaultAgent": "puppet",
        "protocolVersions": [1, 2],
    }


def texts(state: dict[str, Any], role: str) -> list[str]:
    return [
        "".join(block.get("text", "") for block in message["content"])
        for message in state["messages"]
        if message["role"] == role
    ]


async def begun(editor: Editor, puppet: Puppet, text: str = "go") -> tuple[Any, dict[str, Any]]:
    """A prompt that the agent has taken and works on."""
    _, turn = editor.start("acp.session.prompt", text=text)
    prompt = await puppet.prompted()
    puppet.answer(prompt, {"messageId": "u1"})
    puppet.update("state_update", state="running")
    return turn, prompt


async def ended(puppet: Puppet, turn: Any, reason: str = "end_turn") -> Any:
    puppet.update("state_update", state="idle", stopReason=reason)
    return await turn


# --- which version --------------------------------------------------------------------------------


async def test_what_goes_over_the_wire(editor: Editor, puppet: Puppet, ws: Path) -> None:
    opened = await editor.execute("acp.session.new")
    assert opened["protocolVersion"] == 2
    initialize, new = puppet.seen
    told = initialize["params"]
    assert told["protocolVersion"] == 2 and told["info"]["name"] == "acp-sidecar"
    assert told["capabilities"] == {
        "auth": {"terminal": {}},
        "elicitation": {"form": {}, "url": {}},
    }
    assert new["params"] == {"cwd": str(ws), "mcpServers": []}


@pytest.mark.parametrize("how", ["answers 1", "refuses", "dies"])
async def test_an_agent_of_version_1_is_started_again_and_loses_nothing(
    editor: Editor, puppet: Puppet, how: str
) -> None:
    def initialize(params: dict[str, Any]) -> Any:
        if params["protocolVersion"] == 2 and how == "dies":
            puppet.hang_up()
        return {"protocolVersion": 1, "agentCapabilities": {}, "agentInfo": puppet.info}

    puppet.answers["initialize"] = initialize
    if how == "refuses":
        take = puppet._take

        def refusing(message: dict[str, Any]) -> None:
            if message.get("params", {}).get("protocolVersion") == 2:
                puppet.seen.append(message)
                error = {"code": -32602, "message": "what is info?"}
                puppet.send({"id": message["id"], "error": error})
            else:
                take(message)

        puppet._take = refusing  # type: ignore[method-assign]
    opened = await editor.execute("acp.session.new")
    assert (opened["protocolVersion"], puppet.connections) == (1, 2)
    asked = [each["params"] for each in puppet.seen if each["method"] == "initialize"]
    assert [each["protocolVersion"] for each in asked] == [2, 1]
    assert asked[1]["clientCapabilities"]["fs"] == {"readTextFile": True, "writeTextFile": True}
    _, turn = editor.start("acp.session.prompt", text="go")
    puppet.end_turn(await puppet.prompted())
    assert await turn == {"stopReason": "end_turn"}


async def test_version_2_alone_refuses_an_agent_of_version_1(
    idle_editor: Editor, puppet: Puppet, ws: Path, settings: dict[str, Any]
) -> None:
    puppet.answers["initialize"] = lambda params: {"protocolVersion": 1}
    await idle_editor.initialize(ws, settings={**settings, "protocolVersions": [2]})
    with pytest.raises(LspError, match="speaks protocol version 1"):
        await idle_editor.execute("acp.session.new")


async def test_without_the_setting_version_1_is_offered(
    idle_editor: Editor, puppet: Puppet, ws: Path
) -> None:
    puppet.answers["initialize"] = puppet._initialize
    settings = {"agents": {"puppet": puppet.setting}, "defaultAgent": "puppet"}
    await idle_editor.initialize(ws, settings=settings)
    opened = await idle_editor.execute("acp.session.new")
    assert opened["protocolVersion"] == puppet.seen[0]["params"]["protocolVersion"] == 1


async def test_files_and_terminals_are_not_the_clients(
    editor: Editor, puppet: Puppet, ws: Path
) -> None:
    (ws / "a").write_text("x")
    await editor.execute("acp.session.new")
    for method in ("fs/read_text_file", "fs/write_text_file", "terminal/create"):
        response = await puppet.call(method, path=str(ws / "a"), content="y", command="ls")
        assert response["error"]["code"] == -32601
    assert (ws / "a").read_text() == "x"


# --- turns ----------------------------------------------------------------------------------------


async def test_the_answer_to_a_prompt_does_not_end_its_turn(editor: Editor, puppet: Puppet) -> None:
    await editor.execute("acp.session.new")
    turn, _ = await begun(editor, puppet)
    puppet.update("user_message", messageId="u1", content=[{"type": "text", "text": "go"}])
    text = {"type": "text", "text": "done"}
    puppet.update("agent_message_chunk", messageId="a1", content=text)
    await editor.eventually(lambda: _says(editor, ["done"]))
    assert (await editor.state())["status"] == "running" and not turn.done()
    assert await ended(puppet, turn, "max_tokens") == {"stopReason": "max_tokens"}
    state = await editor.state()
    shape.check(state)
    assert (state["status"], state["stopReason"]) == ("idle", "max_tokens")
    assert (texts(state, "user"), texts(state, "agent")) == (["go"], ["done"])


async def _says(editor: Editor, words: list[str]) -> bool:
    return texts(await editor.state(), "agent") == words


async def test_a_turn_may_be_over_before_the_prompt_is_answered(
    editor: Editor, puppet: Puppet
) -> None:
    await editor.execute("acp.session.new")
    _, turn = editor.start("acp.session.prompt", text="go")
    prompt = await puppet.prompted()
    puppet.update("state_update", state="running")
    puppet.update("state_update", state="idle", stopReason="end_turn")
    puppet.answer(prompt, {"messageId": "u1"})
    assert await turn == {"stopReason": "end_turn"}


async def test_idle_before_the_agent_began_is_about_something_else(
    editor: Editor, puppet: Puppet
) -> None:
    await editor.execute("acp.session.new")
    _, turn = editor.start("acp.session.prompt", text="go")
    prompt = await puppet.prompted()
    puppet.update("state_update", state="idle", background=[])
    puppet.answer(prompt, {"messageId": "u1"})
    puppet.update("state_update", state="idle", background=[])
    puppet.update("state_update", state="running")
    text = {"type": "text", "text": "working"}
    puppet.update("agent_message_chunk", messageId="a1", content=text)
    await editor.eventually(lambda: _says(editor, ["working"]))
    assert not turn.done()
    assert await ended(puppet, turn) == {"stopReason": "end_turn"}


async def test_a_prompt_waits_for_the_end_of_the_turn(editor: Editor, puppet: Puppet) -> None:
    await editor.execute("acp.session.new")
    turn, _ = await begun(editor, puppet, "one")
    _, second = editor.start("acp.session.prompt", text="two")
    await editor.eventually(lambda: _queued(editor, ["two"]))
    await ended(puppet, turn)
    prompt = await puppet.prompted()
    assert prompt["params"]["prompt"] == [{"type": "text", "text": "two"}]
    puppet.answer(prompt, {"messageId": "u2"})
    puppet.update("state_update", state="running")
    assert await ended(puppet, second) == {"stopReason": "end_turn"}


async def _queued(editor: Editor, wanted: list[str]) -> bool:
    return [each["text"] for each in (await editor.state())["queue"]] == wanted


async def test_a_cancel_ends_with_the_agents_idle(editor: Editor, puppet: Puppet) -> None:
    await editor.execute("acp.session.new")
    turn, _ = await begun(editor, puppet)
    puppet.tool("t", "tool_call_update", title="Work", status="in_progress")
    await editor.execute("acp.session.cancel")
    await puppet.incoming("session/cancel")
    assert not turn.done()
    assert await ended(puppet, turn, "cancelled") == {"stopReason": "cancelled"}
    (call,) = (await editor.state())["toolCalls"]
    assert (call["status"], call["closedBy"]) == ("cancelled", "sidecar")


async def test_work_in_the_background_goes_on(editor: Editor, puppet: Puppet) -> None:
    await editor.execute("acp.session.new")
    turn, _ = await begun(editor, puppet)
    puppet.tool("t", "tool_call_update", title="Watch", status="in_progress")
    work = [{"type": "tool_call", "toolCallId": "t"}]
    puppet.update("state_update", state="idle", stopReason="end_turn", background=work)
    await turn
    (call,) = (await editor.state())["toolCalls"]
    assert (call["status"], call["background"]) == ("in_progress", True)
    turn, _ = await begun(editor, puppet, "next")
    assert (await editor.state())["toolCalls"][0]["status"] == "in_progress"
    await ended(puppet, turn)


async def test_a_turn_that_failed_says_why(editor: Editor, puppet: Puppet) -> None:
    await editor.execute("acp.session.new")
    turn, _ = await begun(editor, puppet)
    error = {"code": -32000, "message": "The quota is used up"}
    puppet.update("state_update", state="idle", stopReason="error", error=error)
    with pytest.raises(LspError, match="The quota is used up"):
        await turn
    assert (await editor.state())["stopError"] == error
    turn, _ = await begun(editor, puppet, "again")
    assert await ended(puppet, turn) == {"stopReason": "end_turn"}


async def test_an_agent_that_dies_at_work_ends_the_turn(editor: Editor, puppet: Puppet) -> None:
    await editor.execute("acp.session.new")
    turn, _ = await begun(editor, puppet)
    await editor.eventually(lambda: _running(editor))
    puppet.hang_up()
    with pytest.raises(LspError):
        await turn


async def _running(editor: Editor) -> bool:
    return bool((await editor.state())["status"] == "running")


async def test_a_prompt_that_was_refused_leaves_the_session_usable(
    editor: Editor, puppet: Puppet
) -> None:
    await editor.execute("acp.session.new")
    _, turn = editor.start("acp.session.prompt", text="go")
    prompt = await puppet.prompted()
    puppet.send({"id": prompt["id"], "error": {"code": -32602, "message": "not now"}})
    with pytest.raises(LspError, match="not now"):
        await turn
    turn, _ = await begun(editor, puppet, "now")
    assert await ended(puppet, turn) == {"stopReason": "end_turn"}


# --- what is shown --------------------------------------------------------------------------------


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
    await editor.eventually(lambda: _has_call(editor))
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


async def test_a_report_of_changes_seeds_the_review(
    editor: Editor, puppet: Puppet, ws: Path
) -> None:
    path = ws / "a.py"
    path.write_text("one\ntwo\n")
    await editor.execute("acp.session.new")
    turn, _ = await begun(editor, puppet)
    patch = f"diff --git {path} {path}\n--- {path}\n+++ {path}\n@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n"
    diff = {
        "type": "diff",
        "changes": [{"operation": "modify", "path": str(path)}],
        "patch": {"format": "git_patch", "text": patch},
    }
    puppet.tool("t", "tool_call_update", title="Edit", kind="edit", content=[diff])
    await editor.eventually(lambda: _has_call(editor))
    path.write_text("one\nTWO\n")
    puppet.tool("t", "tool_call_update", status="completed")
    await ended(puppet, turn)
    changes = await editor.eventually(lambda: editor.execute("acp.review.list"))
    assert [(each["uri"], len(each["hunks"])) for each in changes] == [(path.as_uri(), 1)]
    await editor.execute("acp.review.revert")
    assert path.read_text() == "one\ntwo\n"
    assert (await editor.state())["toolCalls"][0]["content"] == [diff]


async def _has_call(editor: Editor) -> bool:
    return bool((await editor.state())["toolCalls"])


async def test_a_terminal_of_the_agents_own(editor: Editor, puppet: Puppet, ws: Path) -> None:
    await editor.execute("acp.session.new")
    turn, _ = await begun(editor, puppet)
    puppet.update("terminal_update", terminalId="x", command="make", cwd=str(ws))
    for piece in (b"caf\xc3", b"\xa9\n"):
        data = base64.b64encode(piece).decode()
        puppet.update("terminal_output_chunk", terminalId="x", data=data)
    content = [{"type": "terminal", "terminalId": "x"}]
    puppet.tool("t", "tool_call_update", title="Build", content=content)
    puppet.update("terminal_update", terminalId="x", exitStatus={"exitCode": 0})
    await ended(puppet, turn)
    (terminal,) = (await editor.state())["terminals"]
    assert (terminal["command"], terminal["output"]) == ("make", "café\n")
    assert terminal["exitStatus"]["exitCode"] == 0


async def _shows_terminal(editor: Editor) -> bool:
    return bool((await editor.state())["terminals"])


async def test_a_tool_call_is_cancelled_alone(editor: Editor, puppet: Puppet) -> None:
    """The answer is not the end of it, and the turn goes on."""
    puppet.answers["tool_call/cancel"] = lambda params: {}
    await editor.execute("acp.session.new")
    turn, _ = await begun(editor, puppet)
    offered = {"cancel": {}}
    puppet.tool("t", "tool_call_update", title="Watch", capabilities=offered, status="in_progress")
    await editor.eventually(lambda: _has_call(editor))
    assert await editor.execute("acp.toolCall.cancel", toolCallId="t") == {}
    asked = await puppet.incoming("tool_call/cancel")
    assert asked["params"] == {"sessionId": puppet.session, "toolCallId": "t"}
    state = await editor.state()
    assert (state["status"], state["toolCalls"][0]["status"]) == ("running", "in_progress")
    puppet.tool("t", "tool_call_update", status="cancelled", capabilities=None)
    await editor.eventually(lambda: _call_is(editor, "cancelled"))
    assert not turn.done()
    with pytest.raises(LspError, match="'Watch' is over: it is cancelled"):
        await editor.execute("acp.toolCall.cancel", toolCallId="t")
    assert await ended(puppet, turn) == {"stopReason": "end_turn"}


async def _call_is(editor: Editor, status: str) -> bool:
    (call,) = (await editor.state())["toolCalls"]
    return bool(call["status"] == status)


async def test_work_in_the_background_can_be_cancelled_after_its_turn(
    editor: Editor, puppet: Puppet
) -> None:
    puppet.answers["tool_call/cancel"] = lambda params: {"_meta": {"x": 1}}
    await editor.execute("acp.session.new")
    turn, _ = await begun(editor, puppet)
    puppet.tool("t", "tool_call_update", status="in_progress", capabilities={"cancel": {}})
    work = [{"type": "tool_call", "toolCallId": "t"}]
    puppet.update("state_update", state="idle", stopReason="end_turn", background=work)
    await turn
    assert await editor.execute("acp.toolCall.cancel", toolCallId="t") == {}
    puppet.tool("t", "tool_call_update", title="Watch", status="cancelled")
    await editor.eventually(lambda: _call_is(editor, "cancelled"))


@pytest.mark.parametrize(
    "capabilities", [None, {}, {"cancel": None}, {"cancel": True}, "junk", {"_meta": {"a": 1}}]
)
async def test_what_is_not_offered_is_not_asked_for(
    editor: Editor, puppet: Puppet, capabilities: Any
) -> None:
    await editor.execute("acp.session.new")
    turn, _ = await begun(editor, puppet)
    puppet.update("terminal_update", terminalId="x", command="make", capabilities=capabilities)
    puppet.tool("t", "tool_call_update", title="Build", capabilities=capabilities)
    await editor.eventually(lambda: _has_call(editor))
    with pytest.raises(LspError, match=r"does not let 'Build' be cancelled alone.*ends the turn"):
        await editor.execute("acp.toolCall.cancel", toolCallId="t")
    with pytest.raises(LspError, match=r"runs 'make' by itself.*ends the turn"):
        await editor.execute("acp.terminal.kill", terminalId="x")
    with pytest.raises(LspError, match="no tool call 'other'"):
        await editor.execute("acp.toolCall.cancel", toolCallId="other")
    assert not [each for each in puppet.seen if each["method"].endswith("l/cancel")]
    await ended(puppet, turn)


async def test_what_was_offered_and_is_no_longer(editor: Editor, puppet: Puppet) -> None:
    await editor.execute("acp.session.new")
    turn, _ = await begun(editor, puppet)
    puppet.tool("t", "tool_call_update", title="Build", capabilities={"cancel": {}})
    puppet.tool("t", "tool_call_update", capabilities=None, status="in_progress")
    await editor.eventually(lambda: _has_call(editor))
    await editor.eventually(lambda: _call_is(editor, "in_progress"))
    with pytest.raises(LspError, match="does not let 'Build' be cancelled alone"):
        await editor.execute("acp.toolCall.cancel", toolCallId="t")
    await ended(puppet, turn)


async def test_an_agent_that_refuses_to_cancel_is_told(editor: Editor, puppet: Puppet) -> None:
    """It was over before the request came."""
    await editor.execute("acp.session.new")
    turn, _ = await begun(editor, puppet)
    puppet.tool("t", "tool_call_update", title="Build", capabilities={"cancel": {}})
    await editor.eventually(lambda: _has_call(editor))
    _, refused = editor.start("acp.toolCall.cancel", toolCallId="t")
    asked = await puppet.incoming("tool_call/cancel")
    puppet.send({"id": asked["id"], "error": {"code": -32602, "message": "already final"}})
    with pytest.raises(LspError, match="already final"):
        await refused
    await ended(puppet, turn)


async def test_a_terminal_of_the_agents_own_is_ended(editor: Editor, puppet: Puppet) -> None:
    puppet.answers["terminal/cancel"] = lambda params: {}
    await editor.execute("acp.session.new")
    turn, _ = await begun(editor, puppet)
    offered = {"cancel": {"_meta": {"signal": "TERM"}}}
    puppet.update("terminal_update", terminalId="x", command="make", capabilities=offered)
    await editor.eventually(lambda: _shows_terminal(editor))
    assert await editor.execute("acp.terminal.kill", terminalId="x") == {}
    asked = await puppet.incoming("terminal/cancel")
    assert asked["params"] == {"sessionId": puppet.session, "terminalId": "x"}
    (terminal,) = (await editor.state())["terminals"]
    assert terminal["exitStatus"] is None
    killed = {"exitCode": None, "signal": "SIGTERM"}
    puppet.update("terminal_update", terminalId="x", exitStatus=killed)
    await ended(puppet, turn)
    (terminal,) = (await editor.state())["terminals"]
    assert terminal["exitStatus"]["signal"] == "SIGTERM"
    with pytest.raises(LspError, match=r"the agent runs it by itself, and it is over"):
        await editor.execute("acp.terminal.kill", terminalId="x")


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


async def test_settings_have_ids_of_their_own(editor: Editor, puppet: Puppet) -> None:
    def option(value: str) -> dict[str, Any]:
        return {
            "configId": "model",
            "name": "Model",
            "type": "select",
            "currentValue": value,
            "options": [{"value": "s", "name": "Small"}, {"value": "b", "name": "Big"}],
        }

    puppet.answers["session/new"] = lambda params: {
        **puppet._new_session(params),
        "configOptions": [option("s")],
        "availableCommands": [{"type": "command", "name": "plan", "description": "d"}],
    }
    puppet.answers["session/set_config_option"] = lambda params: {"configOptions": [option("b")]}
    opened = await editor.execute("acp.session.new")
    assert [each["id"] for each in opened["configOptions"]] == ["model"]
    assert [each["name"] for each in opened["commands"]] == ["plan"]
    await editor.execute("acp.session.setConfigOption", configId="model", value="b")
    asked = await puppet.incoming("session/set_config_option")
    assert asked["params"] == {
        "sessionId": "S1",
        "configId": "model",
        "type": "id",
        "value": "b",
    }
    assert (await editor.state())["configOptions"][0]["currentValue"] == "b"


async def test_loading_is_resuming_with_a_replay(editor: Editor, puppet: Puppet) -> None:
    def resume(params: dict[str, Any]) -> Any:
        puppet.sessions.append(params["sessionId"])
        for kind, message_id, text in (
            ("user_message", "u", "hello"),
            ("agent_message", "a", "hi"),
        ):
            content = [{"type": "text", "text": text}]
            puppet.update(kind, messageId=message_id, content=content)
        puppet.update("state_update", state="idle")
        return {}

    puppet.answers["session/resume"] = resume
    opened = await editor.execute("acp.session.load", agentSessionId="old")
    asked = await puppet.incoming("session/resume")
    assert asked["params"]["replayFrom"] == {"type": "start"}
    state = await editor.state(sessionId=opened["sessionId"])
    assert (texts(state, "user"), texts(state, "agent")) == (["hello"], ["hi"])
    assert state["status"] == "idle"
