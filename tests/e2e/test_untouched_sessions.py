"""A session in which nothing was said is opened again, also where its agent kept nothing of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.e2e.editor import Editor, LspError, capabilities, editing
from tests.e2e.puppet import Puppet
from tests.e2e.test_turn_oddities import begin, stopped

BOTH = {"loadSession": True, "sessionCapabilities": {"resume": {}, "fork": {}}}


async def killed(editor: Editor) -> None:
    editor.process.kill()
    await editor.ended()


async def opened_and_killed(puppet: Puppet, ws: Path, settings: dict[str, Any]) -> None:
    """A sidecar that is killed when a session has been opened, S1."""
    async with editing() as editor:
        await editor.initialize(ws, settings=settings)
        await editor.execute("acp.session.new")
        await killed(editor)


async def refused(editor: Editor, puppet: Puppet, how: str, code: int = -32002) -> Any:
    """The result of opening S1 again, which the agent refuses."""
    _, opening = editor.start(f"acp.session.{how}", agentSessionId="S1")
    request = await puppet.incoming(f"session/{how}")
    puppet.send({"id": request["id"], "error": {"code": code, "message": "not found"}})
    return await opening


def sent(puppet: Puppet, method: str) -> int:
    return sum(message.get("method") == method for message in puppet.seen)


@pytest.mark.parametrize("how", ["load", "resume"])
@pytest.mark.parametrize("code", [-32002, -32603])
async def test_one_that_the_agent_does_not_know_is_replaced_by_a_new_one(
    how: str, code: int, puppet: Puppet, ws: Path, settings: dict[str, Any]
) -> None:
    puppet.capabilities = BOTH
    await opened_and_killed(puppet, ws, settings)
    async with editing() as editor:
        await editor.initialize(ws, settings=settings, can=capabilities(transcript=True))
        opened = await refused(editor, puppet, how, code)
        assert (opened["new"], opened["agentSessionId"]) == (True, "S2")
        assert (opened["interrupted"], opened["unsent"]) == (False, [])
        turn, prompt = await begin(editor, puppet, text="Rename it")
        assert prompt["params"]["sessionId"] == "S2"
        puppet.say("done")
        puppet.end_turn(prompt)
        assert await turn == stopped("end_turn")
        # Nothing is left of the other one.
        (row,) = (await editor.execute("acp.session.list"))["sessions"]
        assert (row["agentSessionId"], row["title"]) == ("S2", "Rename it")
        told = {one["sessionId"] for one in editor.all("acp/transcript")}
        assert told == {opened["sessionId"]}
        assert editor.all("window/showMessage") == []
        await editor.close()


async def test_one_of_an_agent_that_opens_none_again_is_replaced_too(
    puppet: Puppet, ws: Path, settings: dict[str, Any]
) -> None:
    puppet.capabilities = {}
    await opened_and_killed(puppet, ws, settings)
    async with editing() as editor:
        await editor.initialize(ws, settings=settings)
        opened = await editor.execute("acp.session.load", agentSessionId="S1")
        assert (opened["new"], opened["agentSessionId"]) == (True, "S2")
        turn, prompt = await begin(editor, puppet)
        puppet.say("done")
        puppet.end_turn(prompt)
        await turn
        await editor.execute("acp.session.close")
        for agent_session_id in ("S1", "S2"):
            with pytest.raises(LspError, match="lacks loadSession"):
                await editor.execute("acp.session.load", agentSessionId=agent_session_id)
        await editor.close()


async def test_one_that_was_closed_by_the_user_is_not(
    puppet: Puppet, ws: Path, settings: dict[str, Any]
) -> None:
    puppet.capabilities = {}
    async with editing() as editor:
        await editor.initialize(ws, settings=settings)
        await editor.execute("acp.session.new")
        await editor.execute("acp.session.close")
        with pytest.raises(LspError, match="lacks loadSession"):
            await editor.execute("acp.session.load", agentSessionId="S1")
        await editor.close()


async def test_one_that_the_agent_knows_is_the_same_without_a_word(
    puppet: Puppet, ws: Path, settings: dict[str, Any]
) -> None:
    """And is still one in which nothing was said."""
    await opened_and_killed(puppet, ws, settings)
    puppet.answers["session/load"] = lambda params: {}
    async with editing() as editor:
        await editor.initialize(ws, settings=settings)
        opened = await editor.execute("acp.session.load", agentSessionId="S1")
        assert ("new" in opened, opened["agentSessionId"]) == (False, "S1")
        await puppet.incoming("session/load")
        await killed(editor)
    del puppet.answers["session/load"]
    async with editing() as editor:
        await editor.initialize(ws, settings=settings)
        assert (await refused(editor, puppet, "load"))["new"] is True
        assert editor.all("window/showMessage") == []
        await editor.close()


async def test_one_that_had_a_prompt_is_not_replaced_however_early_the_sidecar_was_killed(
    puppet: Puppet, ws: Path, settings: dict[str, Any], tmp_path: Path
) -> None:
    # What runs is not kept yet: that takes a moment.
    unfinished = tmp_path / "state" / "acp-sidecar" / "unfinished"
    unfinished.parent.mkdir(parents=True)
    unfinished.write_text("in the way")
    async with editing() as editor:
        await editor.initialize(ws, settings=settings)
        await editor.execute("acp.session.new")
        await begin(editor, puppet, text="Rename it")
        await killed(editor)
    async with editing() as editor:
        await editor.initialize(ws, settings=settings, can=capabilities(transcript=True))
        with pytest.raises(LspError, match="not found"):
            await refused(editor, puppet, "load")
        assert sent(puppet, "session/new") == 1
        # No session that never was is left in the editor.
        assert editor.all("acp/transcript") == []
        await editor.close()


async def test_one_of_which_nothing_is_known_is_not_replaced(
    idle_editor: Editor, puppet: Puppet, ws: Path, settings: dict[str, Any]
) -> None:
    puppet.capabilities = BOTH
    await idle_editor.initialize(ws, settings=settings)
    for how in ("load", "resume", "fork"):
        with pytest.raises(LspError, match="not found"):
            await refused(idle_editor, puppet, how)
    assert sent(puppet, "session/new") == 0


async def test_a_fork_is_never_taken_for_one_in_which_nothing_was_said(
    puppet: Puppet, ws: Path, settings: dict[str, Any]
) -> None:
    """It has all that was said in the one it was made of."""
    puppet.capabilities = BOTH
    puppet.answers["session/fork"] = lambda params: {"sessionId": "F1"}
    async with editing() as editor:
        await editor.initialize(ws, settings=settings)
        await editor.execute("acp.session.fork", agentSessionId="S1")
        await killed(editor)
    async with editing() as editor:
        await editor.initialize(ws, settings=settings)
        _, opening = editor.start("acp.session.load", agentSessionId="F1")
        request = await puppet.incoming("session/load")
        puppet.send({"id": request["id"], "error": {"code": -32002, "message": "not found"}})
        with pytest.raises(LspError, match="not found"):
            await opening
        await editor.close()
