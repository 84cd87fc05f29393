"""Turns that the agent begins and ends."""

from __future__ import annotations

import pytest

from tests.e2e import shape
from tests.e2e.editor import Editor, LspError
from tests.e2e.puppet import Puppet
from tests.e2e.version_two.prompts import begun, ended, texts


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
