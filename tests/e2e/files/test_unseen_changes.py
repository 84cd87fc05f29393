"""What the user or others have changed since the agent's read is never overwritten."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.editor import Editor
from tests.e2e.files.answers import EDIT, INVALID, NOT_FOUND, done, in_step, refusal, text
from tests.e2e.manners import LikeNeovim, LikeVsCode
from tests.e2e.puppet import Puppet


async def test_F01_typing_since_the_read_is_never_overwritten(
    vscode: LikeVsCode, editor: Editor, puppet: Puppet, ws: Path
) -> None:
    file = ws / "a.py"
    file.write_text("one\ntwo\nthree\nfour\n")
    uri = editor.open(file)
    text(await puppet.read(file))
    editor.type(uri, 0, 3, " by the user")
    assert done(await puppet.write(file, "one\ntwo\nthree\nFOUR\n"))
    assert editor.documents[uri].text == "one by the user\ntwo\nthree\nFOUR\n"
    assert file.read_text() == "one\ntwo\nthree\nfour\n"
    assert (
        editor.documents[uri].version
        == editor.all(EDIT)[0]["edit"]["documentChanges"][0]["textDocument"]["version"] + 1
    )
    # It goes on from what it wrote itself: the user's line is still there.
    assert done(await puppet.write(file, "one\ntwo\nTHREE\nFOUR\n"))
    assert editor.documents[uri].text == "one by the user\ntwo\nTHREE\nFOUR\n"
    # The same line: nothing is written, and the agent is told what to do.
    edits = len(editor.all(EDIT))
    code, message = refusal(await puppet.write(file, "ONE\ntwo\nTHREE\nFOUR\n"))
    assert "ead it again" in message
    assert code not in (INVALID, NOT_FOUND)
    assert editor.documents[uri].text == "one by the user\ntwo\nTHREE\nFOUR\n"
    assert len(editor.all(EDIT)) == edits
    # Which it does, and then knows what it changes.
    seen = text(await puppet.read(file))
    assert seen == editor.documents[uri].text
    assert done(await puppet.write(file, seen.replace("one by", "ONE by")))
    assert editor.documents[uri].text == "ONE by the user\ntwo\nTHREE\nFOUR\n"
    assert file.read_text() == "one\ntwo\nthree\nfour\n"


async def test_F01_a_writer_that_never_read(
    vscode: LikeVsCode, editor: Editor, puppet: Puppet, ws: Path
) -> None:
    file = ws / "a.py"
    file.write_text("one\ntwo\nthree\n")
    uri = editor.open(file)
    editor.type(uri, 0, 0, "typed\n")
    assert done(await puppet.write(file, "one\ntwo\nTHREE\n"))
    assert editor.documents[uri].text == "typed\none\ntwo\nTHREE\n"
    other = ws / "b.py"
    other.write_text("one\ntwo\n")
    uri = editor.open(other)
    editor.type(uri, 0, 0, "ONE", delete=3)
    assert "ead it again" in refusal(await puppet.write(other, "uno\ntwo\n"))[1]
    assert editor.documents[uri].text == "ONE\ntwo\n"
    # A file that is only in the editor so far.
    new = ws / "new.py"
    uri = editor.open(new, "typed\n")
    assert "error" in await puppet.write(new, "written\n")
    assert text(await puppet.read(new)) == "typed\n"
    assert not new.exists()
    assert editor.documents[uri].text == "typed\n"


async def test_F01_what_others_have_saved_is_not_overwritten(
    vscode: LikeVsCode, editor: Editor, puppet: Puppet, ws: Path
) -> None:
    file = ws / "a.py"
    file.write_text("one\ntwo\nthree\n")
    uri = editor.open(file)
    text(await puppet.read(file))
    editor.type(uri, 0, 0, "ONE", delete=3)
    editor.save(uri, file)
    assert done(await puppet.write(file, "one\ntwo\nTHREE\n"))
    assert file.read_text() == "ONE\ntwo\nTHREE\n"
    assert editor.documents[uri].text == "ONE\ntwo\nTHREE\n"
    editor.save(uri, file)
    file.write_text("ONE\nTWO\nTHREE\n")
    assert "ead it again" in refusal(await puppet.write(file, "one\n2\nTHREE\n"))[1]
    assert file.read_text() == "ONE\nTWO\nTHREE\n"
    # A window shows a part; it counts as having seen the file.
    assert text(await puppet.read(file, line=2, limit=1)) == "TWO\n"
    assert done(await puppet.write(file, "ONE\n2\nTHREE\n"))
    assert file.read_text() == "ONE\n2\nTHREE\n"
    # A file that is gone is made again, one that has come is not simply replaced.
    file.unlink()
    assert done(await puppet.write(file, "again\n"))
    assert file.read_text() == "again\n"


async def test_F01_each_session_knows_what_it_has_read_itself(
    vscode: LikeVsCode, editor: Editor, puppet: Puppet, ws: Path
) -> None:
    await editor.execute("acp.session.new")
    file = ws / "a.txt"
    file.write_text("one\ntwo\nthree\n")
    for session in ("S1", "S2"):
        text(await puppet.read(file, sessionId=session))
    params = {"path": str(file), "content": "ONE\ntwo\nthree\n", "sessionId": "S1"}
    assert done(await puppet.call("fs/write_text_file", **params))
    params = {"path": str(file), "content": "one\ntwo\nTHREE\n", "sessionId": "S2"}
    assert done(await puppet.call("fs/write_text_file", **params))
    assert file.read_text() == "ONE\ntwo\nTHREE\n"
    params = {"path": str(file), "content": "uno\ntwo\nthree\n", "sessionId": "S2"}
    assert "error" in await puppet.call("fs/write_text_file", **params)
    assert file.read_text() == "ONE\ntwo\nTHREE\n"


@pytest.mark.parametrize("kind", ["vscode", "neovim"])
async def test_F01_no_line_is_lost_while_both_write(
    idle_editor: Editor, puppet: Puppet, ws: Path, settings: dict[str, Any], kind: str
) -> None:
    """The user types and saves while the agent reads and writes: what was typed is there
    once, and so is what the agent was told it has written."""
    editor, file, chance = idle_editor, ws / "a.txt", random.Random(kind)
    file.write_text("".join(f"base {number}\n" for number in range(30)))
    if kind == "neovim":
        await LikeNeovim.start(editor, ws, settings=settings)
    else:
        await editor.initialize(ws, settings=settings)
        editor.answers[EDIT] = LikeVsCode(editor)
    await editor.execute("acp.session.new")
    uri = editor.open(file)
    typed: list[str] = []
    written: list[str] = []
    refused: list[str] = []

    async def agent() -> None:
        for number in range(5):
            lines = text(await puppet.read(file)).splitlines(keepends=True)
            mine = f"agent {number}\n"
            lines.insert(chance.randrange(len(lines)), mine)
            await asyncio.sleep(chance.choice([0, 0.05]))
            answer = await puppet.write(file, "".join(lines))
            (written if "result" in answer else refused).append(mine)

    writing = asyncio.create_task(agent())
    while not writing.done():
        typed.append(f"user {len(typed)}\n")
        editor.type(uri, chance.randrange(30), 0, typed[-1])
        if chance.random() < 0.3:
            editor.save(uri, file)
        await asyncio.wait([writing], timeout=chance.choice([0.02, 0.1, 0.3]))
    await writing
    assert written
    after = await in_step(editor, puppet, file, uri)
    assert [after.count(line) for line in typed + written] == [1] * (len(typed) + len(written))
    assert [line for line in refused if after.count(line) > 1] == []
    await editor.execute("acp.review.revert")
    after = await in_step(editor, puppet, file, uri)
    assert [after.count(line) for line in typed] == [1] * len(typed)
