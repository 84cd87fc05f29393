"""Turns that end oddly, are cancelled at odd moments, or are told of in odd ways."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from acp_sidecar.workspace.uris import path_to_uri
from tests.e2e.editor import Editor, LspError, capabilities
from tests.e2e.findings import Findings
from tests.e2e.puppet import OPTIONS, Puppet
from tests.e2e.shape import check


@pytest.fixture
def settings(puppet: Puppet) -> dict[str, Any]:
    return {"agents": {"puppet": puppet.setting}, "defaultAgent": "puppet"}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def said(state: dict[str, Any], role: str) -> list[str]:
    return [
        "".join(block.get("text", "") for block in message["content"])
        for message in state["messages"]
        if message["role"] == role
    ]


async def begin(editor: Editor, puppet: Puppet, **argument: Any) -> tuple[Any, dict[str, Any]]:
    """The future of a prompt's command, and the prompt as the agent has it."""
    _, turn = editor.start("acp.session.prompt", **{"text": "go", **argument})
    return turn, await puppet.prompted()


async def checked(editor: Editor, **argument: Any) -> dict[str, Any]:
    state = await editor.state(**argument)
    check(state)
    return state


async def outcome(command: asyncio.Future[Any]) -> Any:
    """A command's result; its message where it failed."""
    async with asyncio.timeout(10):
        try:
            return await command
        except LspError as error:
            return str(error)


async def known(editor: Editor, call_id: str) -> None:
    async def there() -> bool:
        calls = (await editor.state())["toolCalls"]
        return any(call["toolCallId"] == call_id for call in calls)

    await editor.eventually(there)


def stopped(reason: str) -> dict[str, str]:
    return {"stopReason": reason}


async def test_S07_a_turn_ends_whatever_the_answer_is(
    editor: Editor, puppet: Puppet, session: Any
) -> None:
    details = {"code": -32603, "message": "Internal error", "data": {"details": "key expired"}}
    ends: list[tuple[dict[str, Any], Any]] = [
        ({"result": stopped("max_turn_requests")}, stopped("max_turn_requests")),
        ({"result": stopped("cancelled")}, stopped("cancelled")),
        ({"result": stopped("_odd")}, stopped("_odd")),
        ({"result": {"stopReason": None}}, stopped("end_turn")),
        ({"result": {"stopReason": 5}}, stopped("end_turn")),
        ({"result": {}}, stopped("end_turn")),
        ({"result": None}, stopped("end_turn")),
        ({"result": []}, stopped("end_turn")),
        ({"result": stopped("end_turn"), "error": None}, stopped("end_turn")),
        ({"error": details}, "key expired"),
        ({"error": {"code": -1, "message": "boom", "data": "a text"}}, "a text"),
        ({"error": {"code": -32000, "message": "log in"}}, "needs a login"),
        ({"error": {"code": -32002, "message": "lost"}}, "acp.session.new"),
        ({"error": "only text"}, "only text"),
        ({"error": {}}, "with an error"),
        ({"result": stopped("end_turn"), "error": {"code": 1, "message": "both"}}, "both"),
        ({}, "neither"),
    ]
    findings = Findings()
    for number, (end, wanted) in enumerate(ends):
        turn, prompt = await begin(editor, puppet)
        puppet.tool(f"t{number}", status="in_progress")
        puppet.send({"id": prompt["id"], **end})
        found = await outcome(turn)
        if isinstance(wanted, str):
            findings.expect(wanted in found, end, found)
        else:
            findings.equal(found, wanted, end)
        state = await checked(editor)
        findings.equal(state["status"], "idle", end)
        reason = wanted["stopReason"] if isinstance(wanted, dict) else None
        findings.equal(state["stopReason"], reason, end)
        status = "cancelled" if reason == "cancelled" else "failed"
        call = state["toolCalls"][-1]
        findings.equal((call["status"], call["closedBy"]), (status, "sidecar"), end)
    findings.close()


async def test_cancels_at_odd_moments(editor: Editor, puppet: Puppet, session: Any) -> None:
    assert await editor.execute("acp.session.cancel") == {}
    assert (await checked(editor))["status"] == "idle"
    # In one breath with the prompt.
    for by_command in (True, False):
        request, turn = editor.start("acp.session.prompt", text="never mind")
        if by_command:
            editor.start("acp.session.cancel")
        else:
            editor.cancel(request)
        prompted = asyncio.ensure_future(puppet.prompted())
        await asyncio.wait({turn, prompted}, return_when=asyncio.FIRST_COMPLETED)
        if prompted.done():
            puppet.end_turn(prompted.result(), "cancelled")
        prompted.cancel()
        assert await outcome(turn) == stopped("cancelled")
    # Twice, and whatever the agent calls it.
    for end in ({"error": {"code": -32800, "message": "x"}}, {"result": None}):
        turn, prompt = await begin(editor, puppet)
        puppet.tool("open", status="in_progress")
        await known(editor, "open")
        before = sum(message.get("method") == "session/cancel" for message in puppet.seen)
        await editor.execute("acp.session.cancel")
        await editor.execute("acp.session.cancel")
        puppet.send({"id": prompt["id"], **end})
        assert await outcome(turn) == stopped("cancelled")
        # An answer that was written after the cancel: all before it has been read.
        await puppet.read("/none")
        after = sum(message.get("method") == "session/cancel" for message in puppet.seen)
        assert after == before + 1
        state = await checked(editor)
        assert (state["status"], state["stopReason"]) == ("idle", "cancelled")
        assert state["toolCalls"][-1]["status"] == "cancelled"
    assert editor.all("window/showMessage") == []


async def test_a_cancel_that_is_never_confirmed(editor: Editor, puppet: Puppet) -> None:
    editor.configure(timeouts={"cancel": 0.3})
    await editor.execute("acp.session.new")
    turn, prompt = await begin(editor, puppet)
    await editor.execute("acp.session.cancel")
    assert await outcome(turn) == stopped("cancelled")
    assert "acp.agent.restart" in (await editor.nth("window/showMessage"))["message"]
    # The next prompt is not sent into a turn that may be running still.
    _, second = editor.start("acp.session.prompt", text="second")
    await editor.eventually(lambda: editor.execute("acp.session.queue"))
    puppet.end_turn(prompt, "cancelled")
    prompt = await puppet.prompted()
    puppet.say("done")
    puppet.end_turn(prompt)
    assert await outcome(second) == stopped("end_turn")
    turn, _ = await begin(editor, puppet)
    _, waiting = editor.start("acp.session.prompt", text="third")
    await editor.execute("acp.session.cancel")
    assert await editor.execute("acp.agent.restart", agent="puppet") == {"ended": 1}
    assert await outcome(turn) == stopped("cancelled")
    assert "has ended" in await outcome(waiting)
    assert (await checked(editor))["status"] == "dead"


async def test_prompts_and_the_close_of_their_session_in_one_breath(
    editor: Editor, puppet: Puppet, session: dict[str, Any]
) -> None:
    await editor.execute("acp.session.new")
    for _ in range(4):
        opened = await editor.execute("acp.session.new")
        here = {"sessionId": opened["sessionId"]}
        prompts = [editor.start("acp.session.prompt", text="x", **here)[1] for _ in range(2)]
        _, closed = editor.start("acp.session.close", **here)
        for prompt in prompts:
            assert await outcome(prompt) == stopped("cancelled")
        assert await closed == {}


async def test_T12_what_comes_right_behind_the_end_is_not_of_the_turn(
    editor: Editor, puppet: Puppet, session: Any
) -> None:
    turn, prompt = await begin(editor, puppet)
    puppet.say("a")
    late = {"sessionUpdate": "tool_call", "toolCallId": "late", "title": "l", "status": "pending"}
    end = {"id": prompt["id"], "result": stopped("end_turn")}
    puppet.send(end, puppet.update_message(late))
    await turn
    await known(editor, "late")
    assert (await checked(editor))["toolCalls"][0]["status"] == "pending"
    turn, prompt = await begin(editor, puppet)
    call = (await checked(editor))["toolCalls"][0]
    assert (call["status"], call["closedBy"]) == ("failed", "sidecar")
    # An agent that answers first and speaks just after has not been silent.
    words = {"sessionUpdate": "agent_message_chunk", "content": text("tail")}
    puppet.send({"id": prompt["id"], "result": stopped("end_turn")}, puppet.update_message(words))
    await turn
    turn, prompt = await begin(editor, puppet)
    puppet.end_turn(prompt)
    await turn
    told = await editor.nth("window/showMessage")
    assert "without a word" in told["message"]
    assert len(editor.all("window/showMessage")) == 1


async def test_T08_broken_fields_cost_themselves_and_no_more(
    editor: Editor, puppet: Puppet, session: Any
) -> None:
    update = puppet.update
    turn, prompt = await begin(editor, puppet)
    for role in ("user_message_chunk", "agent_message_chunk", "agent_thought_chunk"):
        for broken in (None, [], {"type": "text"}, text(5), {"type": "hologram"}):
            update(role, content=broken)
        update(role, content=text("ok"), messageId=5, _meta="odd")
        update(role, content={"type": "resource_link", "uri": "u", "name": "n", "size": "big"})
    update("tool_call", toolCallId="no title")
    update("tool_call", toolCallId=5, title="x")
    update("tool_call", toolCallId="b", title="b", kind="odd", status="odd", content=1, name=5)
    places = [{"path": "/y", "line": -4}, {"line": 3}, None, {"path": "/z", "line": "7"}]
    parts = [{"type": "diff", "path": "/x"}, {"type": "terminal", "terminalId": "t"}, 5]
    update("tool_call", toolCallId="c", title="c", content=parts, locations=places)
    update("tool_call_update", toolCallId="c", title=None, rawInput=0, rawOutput=False)
    update("plan", entries="x")
    entry = {"content": "a", "priority": "high", "status": "pending"}
    update("plan", entries=[entry, {**entry, "priority": "urgent"}, 5])
    command = {"name": "x", "description": "y"}
    update("available_commands_update", availableCommands=[command, {"name": "z"}])
    option = {"id": "a", "name": "A", "type": "boolean", "currentValue": True}
    update("config_option_update", configOptions=[option, {**option, "type": "dial"}, {}])
    update("session_info_update", title="T")
    update("session_info_update", title=5)
    update("usage_update", used=1, size=2, cost="x")
    update("usage_update", used=-1, size=2)
    update("notice", severity="odd", title="n", description=5)
    update("notice", severity="info", title="")
    update("compaction_update", compactionId="c", status="odd", summary=[text("s"), 5])
    for kind in (5, None, [], "future_thing"):
        puppet.send(puppet.update_message({"sessionUpdate": kind}))
    puppet.say("end")
    puppet.end_turn(prompt)
    assert await turn == stopped("end_turn")
    state = await checked(editor)
    assert said(state, "agent")[0] == "ok"
    calls = {call["toolCallId"]: call for call in state["toolCalls"]}
    assert sorted(calls) == ["b", "c"]
    assert calls["b"]["kind"] == "other"
    assert [place["path"] for place in calls["c"]["locations"]] == ["/y", "/z"]
    assert [place["line"] for place in calls["c"]["locations"]] == [None, None]
    assert [part["type"] for part in calls["c"]["content"]] == ["terminal"]
    assert json.dumps([calls["c"]["rawInput"], calls["c"]["rawOutput"]]) == "[0, false]"
    assert state["plans"][0]["entries"] == [entry]
    assert [one["name"] for one in state["commands"]] == ["x"]
    assert [one["id"] for one in state["configOptions"]] == ["a"]
    assert (state["title"], state["usage"]["used"]) == ("T", 1)
    assert [one["severity"] for one in state["notices"]] == ["odd"]


async def test_a_folder_that_cannot_be_is_refused(
    editor: Editor, puppet: Puppet, session: Any
) -> None:
    for folder in ("/" + "x" * 300, "/a\0b", "~nobody-of-this-name/x", "relative", "\ud800"):
        for command in ("acp.session.new", "acp.session.load"):
            with pytest.raises(LspError, match="session's folder"):
                await editor.execute(command, cwd=folder, agentSessionId="old")
    assert puppet.connections == 1


async def test_answers_that_cannot_be_read_are_said_to_be_so(
    editor: Editor, puppet: Puppet, session: Any
) -> None:
    option = {"id": "o", "name": "O", "type": "boolean", "currentValue": True}
    puppet.update("config_option_update", configOptions=[option])
    puppet.answers["session/set_config_option"] = lambda params: None
    await editor.eventually(lambda: _options(editor))
    with pytest.raises(LspError, match="cannot be read"):
        await editor.execute("acp.session.setConfigOption", configId="o", value=False)
    assert len((await checked(editor))["configOptions"]) == 1


async def _options(editor: Editor) -> Any:
    return (await editor.state())["configOptions"]


async def test_S06_a_load_in_one_write_with_a_question(
    editor: Editor, puppet: Puppet, session: Any
) -> None:
    _, loading = editor.start("acp.session.load", agentSessionId="old")
    request = await puppet.incoming("session/load")
    call = {"toolCallId": "q", "title": "q"}
    asked = {"sessionId": "old", "toolCall": call, "options": OPTIONS}
    # What belongs to the history is not asked again.
    assert await puppet.outcome(puppet.request("session/request_permission", asked)) == "cancelled"
    puppet.expect("now")
    words = {"sessionUpdate": "user_message_chunk", "content": text("old words")}
    puppet.send(
        puppet.update_message(words, "old"),
        {"id": request["id"], "result": {"modes": {"currentModeId": "m", "availableModes": []}}},
        {"id": "now", "method": "session/request_permission", "params": asked},
    )
    opened = await loading
    await editor.dialog()
    editor.click("Allow")
    assert await puppet.outcome("now") == "yes"
    state = await checked(editor, sessionId=opened["sessionId"])
    assert said(state, "user") == ["old words"]
    assert state["modes"]["currentModeId"] == "m"


async def test_what_an_agent_does_not_take_is_not_sent(
    editor: Editor, puppet: Puppet, session: Any
) -> None:
    resource = {"type": "resource", "resource": {"uri": "file:///x", "text": "t"}}
    for block, capability in (
        ({"type": "image", "data": "aGk=", "mimeType": "image/png"}, "image"),
        ({"type": "audio", "data": "aGk=", "mimeType": "audio/wav"}, "audio"),
        (resource, "embeddedContext"),
    ):
        with pytest.raises(LspError, match=f"promptCapabilities.{capability}"):
            await editor.execute("acp.session.prompt", text="x", content=[block])
    for kind in ("http", "sse"):
        with pytest.raises(LspError, match=f"mcpCapabilities.{kind}"):
            server = {"type": kind, "url": "http://x.test"}
            await editor.execute("acp.session.new", mcpServers=[server])
    link = {"type": "resource_link", "uri": "file:///x", "name": "x"}
    _, prompt = await begin(editor, puppet, content=[link])
    assert prompt["params"]["prompt"] == [text("go"), link]


class TestEmbeddedContext:
    @pytest.fixture
    def settings(self, puppet: Puppet) -> dict[str, Any]:
        puppet.capabilities = {"promptCapabilities": {"embeddedContext": True}}
        return {"agents": {"puppet": puppet.setting}, "defaultAgent": "puppet"}

    async def test_what_has_no_text_goes_as_a_link(
        self, editor: Editor, puppet: Puppet, session: Any, ws: Path
    ) -> None:
        (ws / "picture").write_bytes(b"\x89PNG\0\xff")
        uris = [path_to_uri(str(ws)), path_to_uri(f"{ws}/picture"), "https://x.test/page"]
        _, prompt = await begin(editor, puppet, context=[{"uri": uri} for uri in uris])
        links = prompt["params"]["prompt"][1:]
        assert [(link["type"], link["uri"]) for link in links] == [
            ("resource_link", uri) for uri in uris
        ]
        for gone in (f"file://{ws}/gone", "untitled:gone"):
            with pytest.raises(LspError, match="No such file"):
                await editor.execute("acp.session.prompt", text="x", context=[{"uri": gone}])


async def test_a_start_can_be_cancelled_from_its_progress(
    editor: Editor, puppet: Puppet, session: Any
) -> None:
    del puppet.answers["session/new"]
    _, opening = editor.start("acp.session.new")
    await puppet.incoming("session/new")
    request = await puppet.incoming("session/new")

    def begun() -> Any:
        values = [(one["token"], one["value"]["kind"]) for one in editor.all("$/progress")]
        return [token for token, kind in values if kind == "begin"][1:]

    (token,) = await editor.until(begun)
    editor.notify("window/workDoneProgress/cancel", {"token": token})
    with pytest.raises(LspError, match="cancelled"):
        await opening
    withdrawn = await puppet.incoming("$/cancel_request")
    assert withdrawn["params"] == {"requestId": request["id"]}
    puppet.send({"id": request["id"], "result": {"sessionId": "orphan"}})
    await checked(editor)


async def test_G05_a_flood_towards_an_editor_that_does_not_read(
    idle_editor: Editor, puppet: Puppet, ws: Path, settings: dict[str, Any]
) -> None:
    editor = idle_editor
    can = capabilities(transcript=True, reveal=True, permission=True, changes=True)
    await editor.initialize(ws, settings=settings, can=can)
    await editor.execute("acp.session.new")
    turn, prompt = await begin(editor, puppet)
    word = {"sessionUpdate": "agent_message_chunk", "content": text("word ")}
    line = json.dumps({"jsonrpc": "2.0", **puppet.update_message(word)}).encode() + b"\n"
    editor.stop_reading()
    for _ in range(40):
        puppet.raw(line * 1000)
    for number in range(200):
        puppet.tool(f"t{number}", locations=[{"path": f"{ws}/{number}"}])
    assert "error" in await puppet.read(ws / "none")
    puppet.end_turn(prompt)
    assert not turn.done()
    editor.read_again()
    assert await turn == stopped("end_turn")
    state = await checked(editor)
    assert sum(map(len, said(state, "agent"))) == 5 * 40_000
    assert len(state["toolCalls"]) == 200
