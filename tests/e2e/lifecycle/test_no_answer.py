"""An agent that never answers holds up nobody, and our own questions are answered too."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.editor import NO_ANSWER, LspError, capabilities, editing
from tests.e2e.family import descendants, survivors
from tests.e2e.lifecycle.runs import CANCELLED, Run, hold_back
from tests.e2e.puppet import Puppet

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")


async def test_S03_an_agent_that_never_answers(
    puppet: Puppet, ws: Path, settings: dict[str, Any]
) -> None:
    silent = {"command": "sh", "args": ["-c", "echo npm WARN still downloading >&2; sleep 600"]}
    settings["agents"]["silent"] = silent
    async with editing() as editor:
        await editor.initialize(ws, settings=settings)
        # This one has time to start, and has a second from now on.
        await editor.execute("acp.session.new")
        before = descendants(editor.process.pid)
        editor.configure(timeouts={"initialize": 1})
        given_up = r"(?s)initialize within 1 s.*still downloading"
        with pytest.raises(LspError, match=given_up):
            await editor.execute("acp.session.new", agent="silent")
        assert await survivors(descendants(editor.process.pid) - before) == set()
        # The same of session/new.
        del puppet.answers["session/new"]
        with pytest.raises(LspError, match="session/new"):
            await editor.execute("acp.session.new")
        await editor.close()


@pytest.mark.parametrize("by", ["request", "progress"])
async def test_S03_starting_can_be_cancelled(run: Run, puppet: Puppet, by: str) -> None:
    del puppet.answers["initialize"]
    request, opening = run.editor.start("acp.session.new")
    async with asyncio.timeout(20):
        await puppet.connected.wait()
    run.look()
    if by == "request":
        run.editor.cancel(request)
    else:
        shown = [
            one
            for one in run.editor.all("$/progress")
            if one["value"]["kind"] == "begin" and one["value"]["cancellable"]
        ]
        run.editor.notify("window/workDoneProgress/cancel", {"token": shown[-1]["token"]})
    # Cancelled, and not given up after its time to start.
    with pytest.raises(LspError, match=r"(?i)cancel"):
        await opening
    assert await survivors(run.family) == set()
    # And tried again.
    puppet.answers["initialize"] = puppet._initialize
    await run.editor.execute("acp.session.new")


async def test_S08_an_unanswered_close_blocks_nothing(run: Run, puppet: Puppet) -> None:
    puppet.capabilities = {"sessionCapabilities": {"close": {}}}
    opened = await run.editor.execute("acp.session.new")
    request = puppet.ask({"title": "one"})
    await run.editor.dialog()
    assert await run.editor.execute("acp.session.close", sessionId=opened["sessionId"]) == {}
    assert await puppet.outcome(request) == "cancelled"
    closing = await puppet.incoming("session/close")
    assert closing["params"] == {"sessionId": "S1"}
    again = await run.editor.execute("acp.session.new")
    # The agent has not answered the end of the first one yet.
    assert again["agentSessionId"] == "S2"
    _, turn = run.editor.start("acp.session.prompt", text="go")
    prompt = await puppet.prompted()
    puppet.say("here")
    puppet.end_turn(prompt)
    assert await turn == {"stopReason": "end_turn"}
    puppet.answer(closing, {})
    run.look()
    assert await run.editor.close() == 0
    assert await survivors(run.family) == set()


async def test_G09_an_own_dialog_is_answered_too(
    puppet: Puppet, ws: Path, settings: dict[str, Any]
) -> None:
    """A client that draws its own question, and is gone before it is answered."""
    async with editing() as editor:
        await editor.initialize(ws, settings=settings, can=capabilities(permission=True))
        await editor.execute("acp.session.new")
        editor.answers["acp/permission"] = lambda params: NO_ANSWER
        _, turn = editor.start("acp.session.prompt", text="go")
        await puppet.prompted()
        requests = [puppet.ask({"toolCallId": f"t{n}", "title": f"{n}"}) for n in range(3)]
        await editor.nth("acp/permission")
        unread = await hold_back(editor.process.pid)
        assert await editor.call("shutdown") is None
        told = {message["id"]: message["result"] for message in unread() if "id" in message}
        assert [told[request] for request in requests] == [CANCELLED] * 3
        assert await turn == {"stopReason": "cancelled"}
        editor.notify("exit")
        assert await editor.ended() == 0
