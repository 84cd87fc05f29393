"""What real agents were seen to do, done by the test's agent."""

from __future__ import annotations

from tests.e2e.editor import Editor
from tests.e2e.puppet import Puppet


async def test_a_list_while_a_session_is_being_closed(editor: Editor, puppet: Puppet) -> None:
    """An agent takes its time over ``session/close``; other questions reach it meanwhile."""
    puppet.capabilities = {"sessionCapabilities": {"close": {}, "list": {}}}
    await editor.execute("acp.session.new")
    await editor.execute("acp.session.close")
    closing = await puppet.incoming("session/close")
    _, listing = editor.start("acp.session.list")
    listed = await puppet.incoming("session/list")
    puppet.answer(closing, {})
    for _ in range(3):  # what follows from the closing has begun
        assert "error" in await puppet.read("/ws/a")
    puppet.answer(listed, {"sessions": [{"sessionId": "S1", "cwd": "/ws"}]})
    rows = (await listing)["sessions"]
    assert [row["agentSessionId"] for row in rows] == ["S1"]
    assert puppet.connections == 1
