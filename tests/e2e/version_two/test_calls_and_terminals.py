"""Tool calls and terminals that may outlive their turn, and how each is ended alone."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.editor import Editor, LspError, capabilities
from tests.e2e.puppet import Puppet
from tests.e2e.version_two.prompts import begun, call_is, ended, has_call


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
    await editor.eventually(lambda: has_call(editor))
    path.write_text("one\nTWO\n")
    puppet.tool("t", "tool_call_update", status="completed")
    await ended(puppet, turn)
    changes = await editor.eventually(lambda: editor.execute("acp.review.list"))
    assert [(each["uri"], len(each["hunks"])) for each in changes] == [(path.as_uri(), 1)]
    await editor.execute("acp.review.revert")
    assert path.read_text() == "one\ntwo\n"
    assert (await editor.state())["toolCalls"][0]["content"] == [diff]


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
    await editor.eventually(lambda: has_call(editor))
    assert await editor.execute("acp.toolCall.cancel", toolCallId="t") == {}
    asked = await puppet.incoming("tool_call/cancel")
    assert asked["params"] == {"sessionId": puppet.session, "toolCallId": "t"}
    state = await editor.state()
    assert (state["status"], state["toolCalls"][0]["status"]) == ("running", "in_progress")
    puppet.tool("t", "tool_call_update", status="cancelled", capabilities=None)
    await editor.eventually(lambda: call_is(editor, "cancelled"))
    assert not turn.done()
    with pytest.raises(LspError, match="'Watch' is over: it is cancelled"):
        await editor.execute("acp.toolCall.cancel", toolCallId="t")
    assert await ended(puppet, turn) == {"stopReason": "end_turn"}


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
    await editor.eventually(lambda: call_is(editor, "cancelled"))


async def test_what_a_cancelled_call_has_changed_shows_at_once(
    idle_editor: Editor, puppet: Puppet, ws: Path, settings: dict[str, Any]
) -> None:
    """Nothing is looked for here that no call has told of."""
    settings["review"] = {"unannounced": False}
    await idle_editor.initialize(ws, settings=settings, can=capabilities(changes=True))
    path = ws / "a.py"
    path.write_text("one\n")
    await idle_editor.execute("acp.session.new")
    turn, _ = await begun(idle_editor, puppet)
    puppet.tool("t", "tool_call_update", title="Edit", locations=[{"path": str(path)}])
    await idle_editor.eventually(lambda: has_call(idle_editor))
    path.write_text("two\n")
    puppet.tool("t", "tool_call_update", status="cancelled")
    changes = (await idle_editor.nth("acp/changes"))["changes"]
    assert [each["uri"] for each in changes] == [path.as_uri()]
    assert not turn.done()
    await ended(puppet, turn)


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
    await editor.eventually(lambda: has_call(editor))
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
    await editor.eventually(lambda: has_call(editor))
    await editor.eventually(lambda: call_is(editor, "in_progress"))
    with pytest.raises(LspError, match="does not let 'Build' be cancelled alone"):
        await editor.execute("acp.toolCall.cancel", toolCallId="t")
    await ended(puppet, turn)


async def test_an_agent_that_refuses_to_cancel_is_told(editor: Editor, puppet: Puppet) -> None:
    """It was over before the request came."""
    await editor.execute("acp.session.new")
    turn, _ = await begun(editor, puppet)
    puppet.tool("t", "tool_call_update", title="Build", capabilities={"cancel": {}})
    await editor.eventually(lambda: has_call(editor))
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
