"""Sessions of real agents that outlive the sidecar: listed, loaded, resumed."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.lsp_client import Refused
from tests.real_agents.desk import Desk, desk
from tests.real_agents.lab.model import Model
from tests.real_agents.lab.script import Answer, Read, doing
from tests.real_agents.test_turns import read_edit_run

pytestmark = pytest.mark.timeout(300)


def said(state: dict[str, Any]) -> list[tuple[str, str]]:
    """Who said what to whom, thoughts aside."""
    return [
        (message["role"], "".join(block.get("text", "") for block in message["content"]))
        for message in state["messages"]
        if message["role"] != "thought"
    ]


async def goes_on(seat: Desk, session: dict[str, Any]) -> None:
    """The session can be worked in, and the model hears what was said before."""
    seat.model.on("And now?", doing(Read(seat.path("README.md"))), Answer("Read it."))
    session_id = session["sessionId"]
    result = await seat.client.execute("acp.session.prompt", text="And now?", sessionId=session_id)
    assert result == {"stopReason": "end_turn"}
    prompts = seat.model.heard[-1].texts("user")
    assert any("Improve it." in text for text in prompts)
    assert "And now?" in prompts[-1]
    state = await seat.client.state(sessionId=session_id)
    assert said(state)[-1] == ("agent", "Read it.")


async def test_list_load_resume(agent: str, model: Model, port: int, tmp_path: Path) -> None:
    folder = tmp_path / "desk"
    folder.mkdir()
    async with desk(agent, folder, port, model) as seat:
        await seat.begin()
        await seat.open_session()
        await seat.turn("Improve it.", *read_edit_run(seat))
        before = await seat.state()
        made = seat.disk()
    if agent == "gemini":
        # It names the files of sessions by the minute, and empties one it is to load
        # within its first.
        await asyncio.sleep(61 - time.time() % 60)
    known = {"agent": agent, "agentSessionId": before["agentSessionId"]}
    async with desk(agent, folder, port, model) as seat:
        await seat.begin()
        loaded = await seat.client.execute("acp.session.load", **known)
        assert loaded["agentSessionId"] == known["agentSessionId"]
        # The history may come after the answer.
        state = await seat.client.eventually(
            lambda state: said(state)[-1:] == [("agent", "All done.")],
            "acp.session.state",
            sessionId=loaded["sessionId"],
        )
        # One of them tells its own context as words of the user's.
        assert "Improve it." in next(text for role, text in said(state) if role == "user")
        kinds = [call["kind"] for call in state["toolCalls"]]
        assert kinds == [call["kind"] for call in before["toolCalls"]]
        assert state["status"] == "idle"
        # It was told, not done again.
        assert (seat.asked, seat.client.revealed(), seat.client.edits) == ([], [], [])
        assert seat.disk() == made
        await goes_on(seat, loaded)
        await seat.client.execute("acp.session.close", sessionId=loaded["sessionId"])
        listed = await seat.client.execute("acp.session.list", agent=agent)
        assert [row["agentSessionId"] for row in listed["sessions"]] == [known["agentSessionId"]]
        if agent == "gemini":
            # It knows only loading, and not twice in a minute.
            return
        resumed = await seat.client.execute("acp.session.resume", **known)
        state = await seat.client.state(sessionId=resumed["sessionId"])
        assert (state["messages"], state["toolCalls"]) == ([], [])
        await goes_on(seat, resumed)
        forked = await seat.client.execute("acp.session.fork", **known)
        assert forked["agentSessionId"] != known["agentSessionId"]
        await goes_on(seat, forked)
        with pytest.raises(Refused, match=r"it lacks sessionCapabilities\.delete"):
            await seat.client.execute("acp.session.delete", **known)
