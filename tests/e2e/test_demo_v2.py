"""The demo in version 2: the same turn, the same file in the end."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.e2e import shape
from tests.e2e.commands.demo_file import GREETED, GREETING
from tests.e2e.editor import Editor


@pytest.fixture
def settings() -> dict[str, Any]:
    args = ["-m", "acp_sidecar", "demo-agent", "--protocol", "2", "--pace", "0"]
    return {
        "agents": {"demo": {"command": sys.executable, "args": args}},
        "protocolVersions": [1, 2],
    }


def said(state: dict[str, Any], role: str) -> str:
    return "\n".join(
        block["text"]
        for message in state["messages"]
        if message["role"] == role
        for block in message["content"]
    )


async def test_the_whole_turn(editor: Editor, ws: Path) -> None:
    (ws / "greeting.py").write_text(GREETING)
    opened = await editor.execute("acp.session.new")
    assert opened["protocolVersion"] == 2
    assert [each["id"] for each in opened["configOptions"]] == ["mode", "pace"]
    _, turn = editor.start("acp.session.prompt", text="Show me")
    dialog = await editor.dialog()
    assert "greeting.py" in dialog["message"] and "−" in dialog["message"]
    editor.click("Yes")
    assert await turn == {"stopReason": "end_turn"}
    assert (ws / "greeting.py").read_text() == GREETED
    state = await editor.state()
    shape.check(state)
    assert said(state, "user") == "Show me" and said(state, "agent")
    assert state["status"] == "idle"
    assert {call["status"] for call in state["toolCalls"]} <= {"completed", "failed"}
    assert [entry["status"] for entry in state["plans"][0]["entries"]] == ["completed"] * len(
        state["plans"][0]["entries"]
    )
    uris = [each["uri"] for each in await editor.execute("acp.review.list")]
    assert (ws / "greeting.py").as_uri() in uris


async def test_yes_to_all_edits_is_a_setting(editor: Editor, ws: Path) -> None:
    (ws / "greeting.py").write_text(GREETING)
    await editor.execute("acp.session.new")
    _, turn = editor.start("acp.session.prompt", text="/edit")
    await editor.dialog()
    editor.click("Yes to all edits")
    await turn
    options = {each["id"]: each for each in (await editor.state())["configOptions"]}
    assert options["mode"]["currentValue"] == "accept-edits"
    assert "pace" in options


async def test_a_loaded_session_says_what_was_said(editor: Editor, ws: Path) -> None:
    (ws / "greeting.py").write_text(GREETING)
    opened = await editor.execute("acp.session.new")
    await editor.execute("acp.session.prompt", text="/refuse please")
    before = await editor.state()
    # A session of another folder keeps the agent alive while this one is closed.
    other = await editor.execute("acp.session.new")
    await editor.execute("acp.session.close", sessionId=opened["sessionId"])
    loaded = await editor.execute("acp.session.load", agentSessionId=opened["agentSessionId"])
    after = await editor.state(sessionId=loaded["sessionId"])
    assert other["sessionId"] != loaded["sessionId"]
    for role in ("user", "agent"):
        assert said(after, role) == said(before, role) != ""
    assert after["status"] == "idle"
