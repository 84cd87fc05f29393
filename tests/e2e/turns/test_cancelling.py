"""A turn that the user cancels, and what the agent does all the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.e2e.editor import Editor
from tests.e2e.puppet import Puppet


async def test_S10_a_cancel_closes_open_calls_at_once(editor: Editor, puppet: Puppet) -> None:
    _, turn = editor.start("acp.session.prompt", text="go")
    prompt = await puppet.prompted()
    puppet.tool("t1", status="in_progress")
    puppet.tool("t2", status="completed")

    async def both() -> bool:
        return len((await editor.state())["toolCalls"]) == 2

    await editor.eventually(both)
    await editor.execute("acp.session.cancel")
    calls = (await editor.state())["toolCalls"]
    assert [call["status"] for call in calls] == ["cancelled", "completed"]
    assert calls[0]["closedBy"] == "sidecar"
    puppet.tool("t1", "tool_call_update", status="in_progress")
    puppet.tool("t1", "tool_call_update", title="later")

    async def titled() -> bool:
        return bool((await editor.state())["toolCalls"][0]["title"] == "later")

    await editor.eventually(titled)
    assert (await editor.state())["toolCalls"][0]["status"] == "cancelled"
    puppet.tool("t1", "tool_call_update", status="completed")
    puppet.end_turn(prompt, "cancelled")
    assert await turn == {"stopReason": "cancelled"}
    assert (await editor.state())["toolCalls"][0]["status"] == "completed"


async def test_S11_after_a_cancel_nothing_is_written(
    editor: Editor, puppet: Puppet, ws: Path
) -> None:
    file = ws / "a.txt"
    file.write_text("before\n")
    editor.open(file)
    _, turn = editor.start("acp.session.prompt", text="go")
    prompt = await puppet.prompted()
    await editor.execute("acp.session.cancel")
    diff = {"type": "diff", "path": str(file), "oldText": "before\n", "newText": "after\n"}
    puppet.tool("t1", status="pending", content=[diff])
    refused = await puppet.write(file, "after\n")
    assert "cancelled" in refused["error"]["message"]
    puppet.end_turn(prompt, "cancelled")
    await turn
    # Nor by an agent that is late.
    assert "error" in await puppet.write(file, "after\n")
    assert file.read_text() == "before\n"
    assert editor.all("workspace/applyEdit") == []
    # The next prompt is a new word of the user's.
    editor.start("acp.session.prompt", text="do it")
    await puppet.prompted()
    assert "result" in await puppet.write(file, "after\n")
    assert file.read_text() == "after\n"


async def test_cancelling_the_command_cancels_the_turn(editor: Editor, puppet: Puppet) -> None:
    request, turn = editor.start("acp.session.prompt", text="go")
    prompt = await puppet.prompted()
    editor.cancel(request)
    await puppet.incoming("session/cancel")
    puppet.end_turn(prompt, "cancelled")
    assert await turn == {"stopReason": "cancelled"}


@pytest.mark.parametrize("end", ["end_turn", "error"])
async def test_a_cancelled_turn_is_cancelled_whatever_the_agent_calls_it(
    editor: Editor, puppet: Puppet, end: str
) -> None:
    _, turn = editor.start("acp.session.prompt", text="go")
    prompt = await puppet.prompted()
    await editor.execute("acp.session.cancel")
    if end == "error":
        puppet.send({"id": prompt["id"], "error": {"code": -32603, "message": "aborted"}})
    else:
        puppet.end_turn(prompt)
    assert await turn == {"stopReason": "cancelled"}
    assert editor.all("window/showMessage") == []


async def test_a_turn_shows_progress_whose_button_cancels_it(
    editor: Editor, puppet: Puppet
) -> None:
    _, turn = editor.start("acp.session.prompt", text="go")
    prompt = await puppet.prompted()

    def begun() -> Any:
        return [
            params
            for params in editor.all("$/progress")
            if params["value"]["kind"] == "begin" and "working" in params["value"]["title"]
        ]

    (progress,) = await editor.until(begun)
    assert progress["value"]["cancellable"] is True
    editor.notify("window/workDoneProgress/cancel", {"token": progress["token"]})
    await puppet.incoming("session/cancel")
    puppet.end_turn(prompt, "cancelled")
    await turn
    await editor.until(
        lambda: {"token": progress["token"], "value": {"kind": "end"}} in editor.all("$/progress")
    )
