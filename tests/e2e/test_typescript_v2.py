"""An agent written with the TypeScript SDK's draft of version 2: a peer nobody here wrote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from acp_sidecar.session.snapshot import snapshot
from acp_sidecar.trace import replay
from tests.e2e import shape, typescript
from tests.e2e.editor import Editor, editing


@pytest.fixture
def settings() -> dict[str, Any]:
    agent = typescript.setting(agent=typescript.AGENT_V2)
    return {"agents": {"ts": agent}, "defaultAgent": "ts", "protocolVersions": [1, 2]}


def texts(state: dict[str, Any], role: str) -> list[str]:
    return [
        "".join(block.get("text", "") for block in message["content"])
        for message in state["messages"]
        if message["role"] == role
    ]


async def test_a_turn_of_everything(editor: Editor, ws: Path) -> None:
    opened = await editor.execute("acp.session.new")
    assert opened["protocolVersion"] == 2
    assert [each["name"] for each in opened["commands"]] == ["plan"]
    _, turn = editor.start("acp.session.prompt", text="go")
    assert "Make it?" in (await editor.dialog())["message"]
    (ws / "made.txt").write_text("made\n")
    editor.click("Make it")
    assert await turn == {"stopReason": "end_turn"}
    state = await editor.state()
    shape.check(state)
    assert texts(state, "user") == ["go"]
    assert texts(state, "thought") == ["Hm"]
    (said,) = texts(state, "agent")
    assert json.loads(said.removeprefix("answered ")) == {"outcome": "selected", "optionId": "y"}
    (call,) = state["toolCalls"]
    assert (call["status"], call["title"], call["kind"]) == ("completed", None, "edit")
    assert [item["type"] for item in call["content"]] == ["terminal", "diff"]
    (terminal,) = state["terminals"]
    assert (terminal["output"], terminal["command"]) == ("café", "touch made.txt")
    assert [plan["entries"][0]["status"] for plan in state["plans"]] == ["cancelled"]
    assert state["usage"]["cost"] == {"amount": 1, "currency": "USD"}
    assert (state["usage"]["used"], state["title"]) == (6, "Made")
    assert [each["title"] for each in state["notices"]] == ["Made it"]
    (compaction,) = state["compactions"]
    assert (compaction["status"], compaction["summary"][0]["text"]) == ("completed", "short")
    changes = await editor.eventually(lambda: editor.execute("acp.review.list"))
    assert [(each["uri"], each["status"]) for each in changes] == [
        ((ws / "made.txt").as_uri(), "created")
    ]


async def test_a_cancel(editor: Editor) -> None:
    await editor.execute("acp.session.new")
    _, turn = editor.start("acp.session.prompt", text="wait")

    async def waits() -> bool:
        return bool((await editor.state())["toolCalls"])

    await editor.eventually(waits)
    await editor.execute("acp.session.cancel")
    assert await turn == {"stopReason": "cancelled"}
    assert (await editor.state())["toolCalls"][0]["status"] == "cancelled"


async def test_the_sdk_takes_every_request(editor: Editor, ws: Path) -> None:
    """What we send is held against the SDK's own schema; a misfit would be an error."""
    await editor.execute("acp.session.new")
    await editor.execute("acp.session.setConfigOption", configId="model", value="big")
    assert (await editor.state())["configOptions"][0]["currentValue"] == "big"
    listed = await editor.execute("acp.session.list")
    assert "old" in [each["agentSessionId"] for each in listed["sessions"]]
    await editor.execute("acp.agent.login", agent="ts", methodId="key")
    loaded = await editor.execute("acp.session.load", agentSessionId="old")
    state = await editor.state(sessionId=loaded["sessionId"])
    assert (texts(state, "user"), texts(state, "agent")) == (["the question"], ["the answer"])
    await editor.execute("acp.session.delete", agentSessionId="other")
    prompt = {"sessionId": loaded["sessionId"], "text": "seen"}
    assert await editor.execute("acp.session.prompt", **prompt) == {"stopReason": "end_turn"}
    state = await editor.state(sessionId=loaded["sessionId"])
    seen = [each["method"] for each in json.loads(texts(state, "agent")[-1])]
    assert seen == [
        "initialize",
        "session/new",
        "session/set_config_option",
        "session/list",
        "auth/login",
        "session/resume",
        "session/delete",
        "session/prompt",
    ]
    await editor.execute("acp.session.close", sessionId=loaded["sessionId"])


async def test_a_recording_comes_to_the_same_state(
    ws: Path, tmp_path: Path, settings: dict[str, Any]
) -> None:
    async with editing("--trace", str(tmp_path / "traces")) as editor:
        await editor.initialize(ws, settings=settings)
        await editor.execute("acp.session.new")
        _, turn = editor.start("acp.session.prompt", text="go")
        await editor.dialog()
        editor.click("Make it")
        await turn
        state = await editor.state()
    replayed = snapshot(replay(tmp_path / "traces" / "ts-1.ndjson"))
    for key in (
        "agentSessionId",
        "protocolVersion",
        "messages",
        "toolCalls",
        "plans",
        "usage",
        "terminals",
        "configOptions",
        "commands",
        "stopReason",
        "status",
        "compactions",
        "title",
    ):
        assert replayed[key] == state[key], key
