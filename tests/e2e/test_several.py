"""Several sessions and several agents at once: each with its own state, none waits for another."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.editor import Editor, LspError
from tests.e2e.puppet import Puppet
from tests.e2e.shape import check
from tests.e2e.test_turn_oddities import begin, outcome, said, stopped


@pytest.fixture
async def other(tmp_path: Path) -> AsyncIterator[Puppet]:
    async with Puppet(tmp_path, "other") as agent:
        yield agent


@pytest.fixture
async def mute(tmp_path: Path) -> AsyncIterator[Puppet]:
    """An agent that never answers ``initialize``."""
    async with Puppet(tmp_path, "mute") as agent:
        del agent.answers["initialize"]
        yield agent


@pytest.fixture
def settings(puppet: Puppet, other: Puppet, mute: Puppet) -> dict[str, Any]:
    agents = {agent.name: agent.setting for agent in (puppet, other, mute)}
    return {"agents": agents, "defaultAgent": "puppet"}


async def opened(editor: Editor, agent: str = "puppet") -> str:
    return str((await editor.execute("acp.session.new", agent=agent))["sessionId"])


async def test_two_agents_may_use_the_same_ids(
    editor: Editor, puppet: Puppet, other: Puppet
) -> None:
    """S14: session ids and tool call ids are an agent's own."""
    mine, theirs = await opened(editor), await opened(editor, "other")
    assert mine != theirs
    assert puppet.session == other.session == "S1"
    turns = [await begin(editor, puppet, sessionId=mine)]
    turns.append(await begin(editor, other, sessionId=theirs))
    for agent, (_, prompt) in zip((puppet, other), turns, strict=True):
        agent.tool("t1", title=f"of {agent.name}", status="completed")
        agent.say(f"from {agent.name}")
        agent.end_turn(prompt)
    for turn, _ in turns:
        assert await turn == stopped("end_turn")
    for session, name in ((mine, "puppet"), (theirs, "other")):
        state = await editor.state(sessionId=session)
        check(state)
        assert (state["agent"], state["agentSessionId"]) == (name, "S1")
        assert said(state, "agent") == [f"from {name}"]
        assert [call["title"] for call in state["toolCalls"]] == [f"of {name}"]


async def test_sessions_of_an_agent_and_folder_share_its_process_and_others_do_not(
    editor: Editor, puppet: Puppet, other: Puppet, tmp_path: Path
) -> None:
    first, second = await opened(editor), await opened(editor)
    await opened(editor, "other")
    assert (puppet.connections, other.connections) == (1, 1)
    (tmp_path / "elsewhere").mkdir()
    await editor.execute("acp.session.new", cwd=str(tmp_path / "elsewhere"))
    assert puppet.connections == 2
    states = [await editor.state(sessionId=session) for session in (first, second)]
    assert [state["agentSessionId"] for state in states] == ["S1", "S2"]


async def test_S18_nothing_that_waits_in_one_session_holds_up_another(
    editor: Editor, puppet: Puppet, other: Puppet, mute: Puppet, ws: Path
) -> None:
    """A question to the user, an agent that does not start, one that does not open a session."""
    first, second = await opened(editor), await opened(editor)
    asking, _ = await begin(editor, puppet, sessionId=first)
    question = puppet.ask({"title": "Wait for me"}, sessionId="S1")
    await editor.dialog()
    _, starting = editor.start("acp.session.new", agent="mute")
    async with asyncio.timeout(20):
        await mute.connected.wait()
    # The same agent in the same folder.
    turn, prompt = await begin(editor, puppet, sessionId=second)
    assert "error" not in await puppet.write(ws / "b.txt", "b\n")
    puppet.say("done", "S2")
    puppet.end_turn(prompt)
    assert await turn == stopped("end_turn")
    assert (ws / "b.txt").read_text() == "b\n"
    # A new session with it, while another is being opened and not answered.
    answer = puppet.answers.pop("session/new")
    _, hanging = editor.start("acp.session.new")
    await puppet.incoming("session/new")
    puppet.answers["session/new"] = answer
    third = await opened(editor)
    # Another agent.
    fourth = await opened(editor, "other")
    turn, prompt = await begin(editor, other, sessionId=fourth)
    other.say("done")
    other.end_turn(prompt)
    assert await turn == stopped("end_turn")
    waiting = {
        session: (await editor.state(sessionId=session))["status"]
        for session in (first, second, third, fourth)
    }
    assert waiting == {
        first: "requires_action",
        second: "idle",
        third: "idle",
        fourth: "idle",
    }
    (pending,) = await editor.execute("acp.permission.pending")
    assert pending["sessionId"] == first
    editor.click("Allow")
    assert await puppet.outcome(question) == "yes"
    assert not asking.done()
    assert not hanging.done()
    assert not starting.done()


async def test_the_end_of_one_agent_is_not_that_of_another(
    editor: Editor, puppet: Puppet, other: Puppet
) -> None:
    mine, second, theirs = await opened(editor), await opened(editor), await opened(editor, "other")
    turn, _ = await begin(editor, puppet, sessionId=mine)
    running, prompt = await begin(editor, other, sessionId=theirs)
    puppet.hang_up()
    assert "puppet has ended" in await outcome(turn)
    statuses = [
        (await editor.state(sessionId=session))["status"] for session in (mine, second, theirs)
    ]
    assert statuses == ["dead", "dead", "running"]
    other.say("still here")
    other.end_turn(prompt)
    assert await running == stopped("end_turn")


async def test_with_several_sessions_each_command_names_one(editor: Editor) -> None:
    first, second = await opened(editor), await opened(editor)
    with pytest.raises(LspError) as refused:
        await editor.execute("acp.session.prompt", text="to whom?")
    assert first in str(refused.value)
    assert second in str(refused.value)
    await editor.execute("acp.session.close", sessionId=first)
    assert (await editor.state())["sessionId"] == second
