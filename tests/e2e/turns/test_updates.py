"""What an agent says from a prompt to its end, and around it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.editor import Editor, LspError, capabilities
from tests.e2e.puppet import OPTIONS, Puppet
from tests.e2e.turns.said import texts


async def test_S02_what_goes_over_the_wire(
    editor: Editor, puppet: Puppet, ws: Path, session: dict[str, Any]
) -> None:
    editor.start("acp.session.prompt", text="go")
    await puppet.prompted()
    initialize, new, prompt = puppet.seen
    assert initialize["params"]["protocolVersion"] == 1
    assert initialize["params"]["clientCapabilities"] == {
        "fs": {"readTextFile": True, "writeTextFile": True},
        "terminal": True,
        "session": {"configOptions": {"boolean": {}}, "notices": {}, "compaction": {}},
        "auth": {"terminal": True},
        "elicitation": {"form": {}, "url": {}},
        "_meta": {"terminal_output": True, "terminal-auth": True},
    }
    assert new["params"] == {"cwd": str(ws), "mcpServers": []}
    assert prompt["params"] == {
        "sessionId": "S1",
        "prompt": [{"type": "text", "text": "go"}],
    }
    assert session == {
        "sessionId": session["sessionId"],
        "agentSessionId": "S1",
        "agent": "puppet",
        "protocolVersion": 1,
        "modes": None,
        "configOptions": [],
        "commands": [],
    }


async def test_a_turn_ends_with_its_stop_reason(editor: Editor, puppet: Puppet) -> None:
    _, turn = editor.start("acp.session.prompt", text="go")
    prompt = await puppet.prompted()
    assert (await editor.state())["status"] == "running"
    puppet.say("done")
    puppet.end_turn(prompt, "max_tokens")
    assert await turn == {"stopReason": "max_tokens"}
    state = await editor.state()
    assert (state["status"], state["stopReason"]) == ("idle", "max_tokens")
    assert texts(state, "user") == ["go"]
    assert texts(state, "agent") == ["done"]


async def test_T12_the_last_words_come_before_the_end(editor: Editor, puppet: Puppet) -> None:
    _, turn = editor.start("acp.session.prompt", text="go")
    prompt = await puppet.prompted()
    words = [
        puppet.update_message(
            {
                "sessionUpdate": "agent_message_chunk",
                "content": {"type": "text", "text": f"{number} "},
            }
        )
        for number in range(500)
    ]
    end = {"id": prompt["id"], "result": {"stopReason": "end_turn"}}
    puppet.send(*words, end)
    await turn
    assert texts(await editor.state(), "agent") == ["".join(f"{n} " for n in range(500))]


async def test_T12_a_write_before_the_end_is_done_before_the_end(
    editor: Editor, puppet: Puppet, ws: Path
) -> None:
    _, turn = editor.start("acp.session.prompt", text="go")
    prompt = await puppet.prompted()
    params = {"sessionId": "S1", "path": f"{ws}/new", "content": "x\n"}
    puppet.send(
        {"id": "w", "method": "fs/write_text_file", "params": params},
        {"id": prompt["id"], "result": {"stopReason": "end_turn"}},
    )
    await turn
    assert (ws / "new").read_text() == "x\n"


async def test_T13_what_comes_after_the_end_is_kept(editor: Editor, puppet: Puppet) -> None:
    _, turn = editor.start("acp.session.prompt", text="go")
    prompt = await puppet.prompted()
    puppet.tool("t1", status="in_progress")
    puppet.end_turn(prompt)
    await turn
    call = (await editor.state())["toolCalls"][0]
    assert (call["status"], call["closedBy"]) == ("failed", "sidecar")
    puppet.say("tail")
    puppet.tool("t1", "tool_call_update", status="completed")

    async def completed() -> bool:
        return bool((await editor.state())["toolCalls"][0]["status"] == "completed")

    await editor.eventually(completed)
    assert texts(await editor.state(), "agent") == ["tail"]
    assert editor.all("window/showMessage") == []


async def test_T14_updates_before_the_session_s_answer_are_kept(
    editor: Editor, puppet: Puppet
) -> None:
    commands = [{"name": "init", "description": "set up"}]

    def opening(params: dict[str, Any]) -> Any:
        puppet.sessions.append("early")
        puppet.update("available_commands_update", availableCommands=commands)
        puppet.say("other", session="never-opened")
        return {"sessionId": "early"}

    puppet.answers["session/new"] = opening
    opened = await editor.execute("acp.session.new")
    assert opened["commands"] == [{"name": "init", "description": "set up", "input": None}] or (
        opened["commands"] == commands
    )
    state = await editor.state(sessionId=opened["sessionId"])
    assert texts(state, "agent") == []


async def test_T16_a_flood_of_growing_output_reaches_the_editor_in_bounds(
    editor: Editor, puppet: Puppet
) -> None:
    _, turn = editor.start("acp.session.prompt", text="go")
    prompt = await puppet.prompted()
    puppet.tool("t1", status="in_progress")
    output = ""
    for number in range(2000):
        output += f"line {number} of the output\n"
        content = [{"type": "content", "content": {"type": "text", "text": output[-30_000:]}}]
        puppet.tool("t1", "tool_call_update", content=content)
    puppet.tool("t1", "tool_call_update", status="completed")
    puppet.end_turn(prompt)
    await turn
    call = (await editor.state())["toolCalls"][0]
    assert call["status"] == "completed"
    assert call["content"][0]["content"]["text"].endswith("line 1999 of the output\n")


async def test_T08_updates_nobody_knows_cost_nothing(editor: Editor, puppet: Puppet) -> None:
    _, turn = editor.start("acp.session.prompt", text="go")
    prompt = await puppet.prompted()
    puppet.update("future_thing", more=1)
    puppet.send({"method": "session/update", "params": None})
    puppet.send({"method": "session/update", "params": {"sessionId": "S1"}})
    puppet.send({"method": "session/update", "params": {"sessionId": "S1", "update": {}}})
    puppet.update("agent_message_chunk", content={"type": "hologram", "data": 1})
    puppet.update("agent_message_chunk")
    puppet.send({"method": "_vendor/ping", "params": {}})
    puppet.say("still here")
    puppet.end_turn(prompt)
    assert await turn == {"stopReason": "end_turn"}
    assert "still here" in texts(await editor.state(), "agent")[-1]
    assert all("method" in message for message in puppet.seen)


async def test_a_notice_of_the_agent_s_is_shown_as_its_words(
    editor: Editor, puppet: Puppet
) -> None:
    puppet.update("notice", severity="warning", title="Low quota", description="5 % left")
    shown = await editor.nth("window/showMessage")
    assert shown == {"type": 2, "message": "puppet says: Low quota: 5 % left"}


async def test_T17_null_is_a_result(editor: Editor, puppet: Puppet) -> None:
    puppet.answers["session/load"] = lambda params: None
    opened = await editor.execute("acp.session.load", agentSessionId="old")
    assert opened["agentSessionId"] == "old"


async def test_S07_a_turn_without_a_word_is_said_to_be_one(editor: Editor, puppet: Puppet) -> None:
    _, turn = editor.start("acp.session.prompt", text="go")
    puppet.end_turn(await puppet.prompted(), "refusal")
    assert await turn == {"stopReason": "refusal"}
    assert "without a word" in (await editor.nth("window/showMessage"))["message"]
    assert sum(message.get("method") == "session/prompt" for message in puppet.seen) == 1


async def test_S07_a_load_that_brings_nothing_is_said_to_be_one(
    editor: Editor, puppet: Puppet
) -> None:
    puppet.answers["session/load"] = lambda params: {}
    await editor.execute("acp.session.load", agentSessionId="who knows")
    told = await editor.nth("window/showMessage")
    assert "without any history" in told["message"]
    assert "acp.session.new" in told["message"]


async def test_S06_a_history_changes_nothing(editor: Editor, puppet: Puppet, ws: Path) -> None:
    """A history with all that would edit, open, ask or tell, were it not one."""
    file = ws / "a.txt"
    file.write_text("now\n")
    uri = editor.open(file)
    _, loading = editor.start("acp.session.load", agentSessionId="old")
    asked = await puppet.incoming("session/load")
    puppet.sessions.append("old")
    puppet.update("user_message_chunk", content={"type": "text", "text": "change it"})
    diff = {"type": "diff", "path": str(file), "oldText": "then\n", "newText": "changed\n"}
    place = {"path": str(file), "line": 1}
    puppet.tool("t1", kind="edit", content=[diff], locations=[place], status="completed")
    puppet.update("notice", severity="error", title="Quota")
    puppet.update("plan", entries=[{"content": "x", "priority": "low", "status": "pending"}])
    puppet.update("available_commands_update", availableCommands=[{"name": "a", "description": ""}])
    puppet.update("usage_update", used=1, size=2)
    puppet.update("current_mode_update", currentModeId="go")
    written = puppet.request(
        "fs/write_text_file", {"sessionId": "old", "path": str(file), "content": "changed\n"}
    )
    permission = puppet.ask({"title": "rm"})
    schema = {"properties": {"sure": {"type": "boolean"}}}
    params = {"sessionId": "old", "mode": "form", "message": "?", "requestedSchema": schema}
    elicitation = puppet.request("elicitation/create", params)
    page = {"sessionId": "old", "mode": "url", "message": "?", "url": "https://x.y"}
    opened = puppet.request("elicitation/create", {**page, "elicitationId": "e"})
    assert "error" in await puppet.result(written)
    assert await puppet.outcome(permission) == "cancelled"
    assert (await puppet.result(elicitation))["result"] == {"action": "cancel"}
    assert (await puppet.result(opened))["result"] == {"action": "cancel"}
    puppet.answer(asked, None)
    loaded = await loading
    state = await editor.state(sessionId=loaded["sessionId"])
    assert [call["status"] for call in state["toolCalls"]] == ["completed"]
    assert [command["name"] for command in state["commands"]] == ["a"]
    assert state["usage"]["used"] == 1
    assert state["modes"]["currentModeId"] == "go"
    assert state["changes"] == []
    assert len(state["notices"]) == len(state["plans"]) == 1
    assert file.read_text() == "now\n"
    assert editor.documents[uri].text == "now\n"
    for method in (
        "window/showMessageRequest",
        "window/showDocument",
        "window/showMessage",
        "workspace/applyEdit",
    ):
        assert editor.all(method) == [], method


async def test_S07_an_error_ends_the_turn_with_its_message(editor: Editor, puppet: Puppet) -> None:
    _, turn = editor.start("acp.session.prompt", text="go")
    prompt = await puppet.prompted()
    puppet.send({"id": prompt["id"], "error": {"code": -32002, "message": "Session not found"}})
    with pytest.raises(LspError, match="Session not found"):
        await turn
    assert (await editor.nth("window/showMessage"))["type"] == 1
    assert (await editor.state())["status"] == "idle"


async def test_S12_an_update_for_an_unknown_call(editor: Editor, puppet: Puppet) -> None:
    _, turn = editor.start("acp.session.prompt", text="go")
    prompt = await puppet.prompted()
    puppet.tool("tX", "tool_call_update", status="in_progress")
    puppet.tool("tY", "tool_call_update", title="has something")
    puppet.end_turn(prompt)
    await turn
    calls = (await editor.state())["toolCalls"]
    assert [(call["toolCallId"], call["kind"]) for call in calls] == [("tY", "other")]


async def test_S14_an_id_used_again_in_a_later_turn_is_another_call(
    editor: Editor, puppet: Puppet
) -> None:
    for title in ("first", "second"):
        _, turn = editor.start("acp.session.prompt", text=title)
        prompt = await puppet.prompted()
        puppet.tool("t1", title=title, status="completed")
        puppet.end_turn(prompt)
        await turn
    calls = (await editor.state())["toolCalls"]
    assert [(call["title"], call["turn"]) for call in calls] == [("first", 1), ("second", 2)]


async def test_S15_the_echo_of_the_prompt_is_not_shown_twice(
    editor: Editor, puppet: Puppet
) -> None:
    _, turn = editor.start("acp.session.prompt", text="do the thing")
    prompt = await puppet.prompted()
    for part in ("do the", " thing"):
        puppet.update("user_message_chunk", content={"type": "text", "text": part})
    puppet.say("done")
    puppet.end_turn(prompt)
    await turn
    assert texts(await editor.state(), "user") == ["do the thing"]


async def test_an_agent_that_dies_fails_every_prompt_with_its_last_words(
    editor: Editor, puppet: Puppet
) -> None:
    _, first = editor.start("acp.session.prompt", text="one")
    await puppet.prompted()
    _, second = editor.start("acp.session.prompt", text="two")
    await editor.eventually(lambda: editor.execute("acp.session.queue"))
    puppet.hang_up()
    for turn in (first, second):
        with pytest.raises(LspError, match="puppet has ended"):
            await turn
    assert (await editor.state())["status"] == "dead"
    opened = await editor.execute("acp.session.new")
    assert puppet.connections == 2
    assert opened["agentSessionId"] == "S2"


class TestTranscript:
    """An editor that draws the conversation gets its blocks as upserts."""

    @pytest.fixture
    async def editor(self, idle_editor: Editor, ws: Path, settings: dict[str, Any]) -> Editor:
        can = capabilities(transcript=True)
        await idle_editor.initialize(ws, settings=settings, can=can)
        return idle_editor

    @staticmethod
    def blocks(editor: Editor) -> dict[str, Any]:
        latest: dict[str, Any] = {}
        for params in editor.all("acp/transcript"):
            for block in params["blocks"]:
                latest[block["id"]] = block
        return latest

    async def test_the_last_state_of_each_block_arrives(
        self, editor: Editor, puppet: Puppet
    ) -> None:
        _, turn = editor.start("acp.session.prompt", text="go")
        prompt = await puppet.prompted()
        puppet.update("plan", entries=[{"content": "a", "priority": "high", "status": "pending"}])
        for number in range(300):
            puppet.say(f"{number} ")
        puppet.tool("t1", status="in_progress")
        puppet.tool("t1", "tool_call_update", status="completed")
        request = puppet.ask({"toolCallId": "t2", "title": "ask"}, OPTIONS)
        await editor.dialog()
        editor.click("Allow")
        await puppet.outcome(request)
        puppet.end_turn(prompt)
        await turn

        def settled() -> Any:
            latest = self.blocks(editor)
            return latest if latest.get("status", {}).get("status") == "idle" else None

        latest = await editor.until(settled)
        by_kind: dict[str, list[Any]] = {}
        for block in latest.values():
            by_kind.setdefault(block["kind"], []).append(block)
        assert by_kind["plan"][0]["entries"][0]["content"] == "a"
        said = by_kind["message"][-1]["content"][0]["text"]
        assert said == "".join(f"{number} " for number in range(300))
        assert by_kind["toolCall"][0]["status"] == "completed"
        assert by_kind["permission"][0]["state"] == "answered"
        # A few hundred updates are a handful of messages.
        assert len(editor.all("acp/transcript")) < 60
        snapshot = await editor.call(
            "acp/transcript/snapshot", {"sessionId": editor.all("acp/transcript")[0]["sessionId"]}
        )
        assert {block["id"]: block for block in snapshot["blocks"]} == latest

    async def test_T16_long_output_is_sent_in_bounds(self, editor: Editor, puppet: Puppet) -> None:
        _, turn = editor.start("acp.session.prompt", text="go")
        prompt = await puppet.prompted()
        puppet.tool("t1", status="in_progress")
        output = "x" * 300_000
        content = [{"type": "content", "content": {"type": "text", "text": output}}]
        for _ in range(100):
            puppet.tool("t1", "tool_call_update", content=content)
        puppet.tool("t1", "tool_call_update", status="completed")
        puppet.end_turn(prompt)
        await turn
        await editor.until(lambda: self.blocks(editor).get("status", {}).get("status") == "idle")
        size = sum(len(json.dumps(params)) for params in editor.all("acp/transcript"))
        assert size < 3_000_000
        assert self.blocks(editor)["toolCall:t1"]["status"] == "completed"
