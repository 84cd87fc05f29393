"""What real agents were seen to do, done by the test's agent."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

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


async def test_an_agent_that_writes_the_disk_whatever_it_is_told(
    editor: Editor, session: dict[str, Any], puppet: Puppet, ws: Path
) -> None:
    """It asks for the write, hears that the user is at work on these lines, and writes."""
    file = ws / "app.py"
    file.write_text("one\ntwo\nthree\n")
    uri = editor.open(file)
    editor.type(uri, 1, 0, "my ")
    _, turn = editor.start("acp.session.prompt", text="go")
    prompt = await puppet.prompted()
    answer = await puppet.write(file, "one\nTWO\nthree\n")
    assert "unsaved" in answer["error"]["message"] or "not saved" in answer["error"]["message"]
    file.write_text("one\nTWO\nthree\n")
    puppet.tool("t1", status="completed", kind="edit", locations=[{"path": str(file)}])
    puppet.end_turn(prompt)
    assert await turn == {"stopReason": "end_turn"}
    assert editor.documents[uri].text == "one\nmy two\nthree\n"
    refused, hidden = [await editor.nth("window/showMessage", number) for number in (1, 2)]
    for warning, words in ((refused, "Yours stay"), (hidden, "compare first")):
        assert warning["type"] == 2
        assert str(file) in warning["message"]
        assert words in warning["message"]


async def test_an_agent_that_writes_the_disk_besides(
    editor: Editor, session: dict[str, Any], puppet: Puppet, ws: Path
) -> None:
    """The same write twice, through the client and by itself, under unsaved changes."""
    file = ws / "app.py"
    file.write_text("one\ntwo\nthree\nfour\n")
    uri = editor.open(file)
    editor.type(uri, 0, 0, "my ")
    _, turn = editor.start("acp.session.prompt", text="go")
    prompt = await puppet.prompted()
    assert "result" in await puppet.write(file, "one\ntwo\nthree\nFOUR\n")
    file.write_text("one\ntwo\nthree\nFOUR\n")
    old = {"type": "diff", "path": str(file), "oldText": "four\n", "newText": "FOUR\n"}
    puppet.tool("t1", status="completed", kind="edit", content=[old])
    puppet.end_turn(prompt)
    assert await turn == {"stopReason": "end_turn"}
    assert editor.documents[uri].text == "my one\ntwo\nthree\nFOUR\n"
    editor.save(uri, file)
    (change,) = await editor.execute("acp.review.list")
    assert change["hunks"][0]["before"] == {"start": 3, "lines": 1}
    await editor.execute("acp.review.revert")
    assert file.read_text() == "my one\ntwo\nthree\nfour\n"
    assert editor.all("window/showMessage") == []


async def test_an_agent_that_writes_twice_and_an_editor_that_does_not_reload(
    editor: Editor, session: dict[str, Any], puppet: Puppet, ws: Path
) -> None:
    """It writes through the client and then by itself: one change, shown and taken back once."""
    file = ws / "app.py"
    before, after = "one\ntwo\n", "one\nTWO\n"
    file.write_text(before)
    uri = editor.open(file)
    _, turn = editor.start("acp.session.prompt", text="go")
    prompt = await puppet.prompted()
    assert "result" in await puppet.write(file, after)
    file.write_text(after)
    puppet.end_turn(prompt)
    assert await turn == {"stopReason": "end_turn"}
    assert editor.documents[uri].text == after
    assert file.read_text() == after
    (change,) = await editor.execute("acp.review.list")
    assert change["status"] == "modified"
    await editor.execute("acp.review.revert")
    assert file.read_text() == editor.documents[uri].text == before


async def test_an_agent_that_writes_the_disk_alone(
    editor: Editor, session: dict[str, Any], puppet: Puppet, ws: Path
) -> None:
    """It never asks for anything; the user has unsaved changes."""
    file, other = ws / "app.py", ws / "clean.py"
    uris = []
    for each in (file, other):
        each.write_text("one\ntwo\nthree\nfour\n")
        uris.append(editor.open(each))
    editor.type(uris[0], 0, 0, "my ")
    _, turn = editor.start("acp.session.prompt", text="go")
    prompt = await puppet.prompted()
    for number, each in enumerate((file, other)):
        each.write_text("one\ntwo\nthree\nFOUR\n")
        diff = {"type": "diff", "path": str(each), "oldText": "four\n", "newText": "FOUR\n"}
        puppet.tool(f"t{number}", kind="edit", locations=[{"path": str(each)}])
        puppet.tool(f"t{number}", "tool_call_update", status="completed", content=[diff])
    editor.reload(uris[1], other)
    warning = await editor.nth("window/showMessage")
    assert str(file) in warning["message"]
    assert "compare first" in warning["message"]
    puppet.end_turn(prompt)
    assert await turn == {"stopReason": "end_turn"}
    assert editor.documents[uris[0]].text == "my one\ntwo\nthree\nfour\n"
    # What the user has seen to is not told again.
    _, turn = editor.start("acp.session.prompt", text="go")
    prompt = await puppet.prompted()
    editor.set_text(uris[0], "my one\ntwo\nthree\nFOUR\n")
    puppet.tool("t9", status="completed", kind="edit", locations=[{"path": str(file)}])
    puppet.end_turn(prompt)
    await turn
    editor.save(uris[0], file)
    await editor.execute("acp.review.list")
    assert len(editor.all("window/showMessage")) == 1


async def test_an_agent_that_writes_the_disk_faster_than_the_editor_reloads(
    editor: Editor, session: dict[str, Any], puppet: Puppet, ws: Path
) -> None:
    """The editor shows what was there a moment ago: nothing of that is the user's."""
    file = ws / "app.py"
    texts = ["one\ntwo\n", "ONE\ntwo\n", "ONE\nTWO\n"]
    file.write_text(texts[0])
    uri = editor.open(file)
    _, turn = editor.start("acp.session.prompt", text="go")
    prompt = await puppet.prompted()
    for old, new in pairwise(texts):
        file.write_text(new)
        diff = {"type": "diff", "path": str(file), "oldText": old, "newText": new}
        puppet.tool(new, status="completed", kind="edit", content=[diff])
    editor.set_text(uri, texts[1])
    # A busy editor takes its time.
    await asyncio.sleep(1)
    editor.reload(uri, file)
    puppet.end_turn(prompt)
    assert await turn == {"stopReason": "end_turn"}
    (change,) = await editor.execute("acp.review.list")
    assert change["status"] == "modified"
    assert editor.all("window/showMessage") == []


@pytest.mark.parametrize("existed", [False, True])
async def test_a_new_file_that_is_told_of_when_it_is_there(
    editor: Editor, session: dict[str, Any], puppet: Puppet, ws: Path, existed: bool
) -> None:
    """A call that comes after the fact, without a diff; its result says what was before."""
    file = ws / "new.py"
    if existed:
        file.write_text("new\n")
    _, turn = editor.start("acp.session.prompt", text="go")
    prompt = await puppet.prompted()
    file.write_text("new\n")
    arguments = {"content": "new\n", "filePath": str(file)}
    puppet.tool("t1", title="write", kind="edit", status="pending", locations=[], rawInput={})
    puppet.tool(
        "t1",
        "tool_call_update",
        status="in_progress",
        locations=[{"path": str(file)}],
        rawInput=arguments,
    )
    puppet.tool(
        "t1",
        "tool_call_update",
        status="completed",
        rawOutput={"output": "Wrote it.", "metadata": {"exists": existed}},
    )
    puppet.end_turn(prompt)
    await turn
    changes = await editor.execute("acp.review.list")
    assert [change["status"] for change in changes] == ([] if existed else ["created"])
    await editor.execute("acp.review.revert")
    assert file.exists() is existed
