"""Files that an agent's commands change without a word are reviewed like any others."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.editor import Editor
from tests.e2e.hunks.table import EDITED, LINES, Table, can
from tests.e2e.puppet import Puppet


@pytest.fixture
async def table(idle_editor: Editor, puppet: Puppet, ws: Path, settings: dict[str, Any]) -> Table:
    table = Table(idle_editor, puppet, ws)
    (ws / "old.txt").write_bytes(b"old\r\n")
    (ws / "image.png").write_bytes(b"\x89PNG\0")
    (ws / ".gitignore").write_text("*.log\n")
    (ws / "a.log").write_text("one\n")
    await table.start(settings, can())
    return table


@asynccontextmanager
async def turn(table: Table) -> AsyncIterator[None]:
    _, over = table.editor.start("acp.session.prompt", text="go")
    prompt = await table.puppet.prompted()
    yield
    table.puppet.say("done")
    table.puppet.end_turn(prompt)
    await over


@asynccontextmanager
async def command(table: Table, call_id: str = "run", **fields: Any) -> AsyncIterator[None]:
    """A tool call that says nothing of the files it works on."""
    table.puppet.tool(call_id, title="make it so", kind="execute", status="in_progress")

    async def known() -> bool:
        calls = (await table.editor.state())["toolCalls"]
        return any(call["toolCallId"] == call_id for call in calls)

    await table.editor.eventually(known)
    yield
    table.puppet.tool(call_id, "tool_call_update", status="completed", **fields)


async def listed(table: Table) -> dict[str, str]:
    entries = await table.editor.execute("acp.review.list")
    return {Path(entry["uri"]).name: entry["status"] for entry in entries}


async def test_what_a_command_has_changed_is_listed_and_reverted(table: Table) -> None:
    ws = table.ws
    async with turn(table), command(table):
        table.path.write_bytes(EDITED.encode())
        (ws / "old.txt").unlink()
        (ws / "new").mkdir()
        (ws / "new" / "file.txt").write_text("new\n")
        (ws / "image.png").write_bytes(b"\x89PNG\xff")
        (ws / "a.log").write_text("two\n")
        (ws / "b.log").write_text("three\n")
        (ws / "target.txt.tmp.123.abcd").write_text("passing\n")
    assert await listed(table) == {
        "a.txt": "modified",
        "old.txt": "deleted",
        "file.txt": "created",
        "image.png": "modified",
    }
    entries = await table.editor.execute("acp.review.list")
    first, _ = next(entry["hunks"] for entry in entries if entry["uri"] == table.uri)
    await table.editor.execute("acp.review.keep", hunkId=first["id"])
    outcome = await table.editor.execute("acp.review.revert")
    assert outcome["conflicts"] == outcome["problems"] == []
    assert table.path.read_text() == LINES.replace("two", "TWO")
    assert (ws / "old.txt").read_bytes() == b"old\r\n"
    assert (ws / "image.png").read_bytes() == b"\x89PNG\0"
    assert not (ws / "new" / "file.txt").exists()
    assert (ws / "a.log").read_text() == "two\n"
    assert (ws / "b.log").read_text() == "three\n"
    assert await listed(table) == {}


async def test_the_whole_text_from_before_is_known_though_the_report_comes_late(
    table: Table,
) -> None:
    """Some agents write first, and report only a piece, or nothing that is true."""
    async with turn(table):
        table.path.write_bytes(EDITED.encode())
        diff = {"type": "diff", "path": str(table.path), "oldText": None, "newText": "more\n"}
        table.puppet.tool("edit", kind="edit", status="completed", content=[diff])
    assert await listed(table) == {"a.txt": "modified"}
    shown = await table.editor.execute("acp.review.diff", uri=table.uri)
    assert shown == {"before": LINES, "after": EDITED}


async def test_a_change_while_the_agent_only_reads_is_the_users(table: Table) -> None:
    async with turn(table):
        table.puppet.tool("read", kind="read", status="in_progress")
        table.path.write_bytes(EDITED.encode())
        table.puppet.tool("read", "tool_call_update", status="completed")
    assert await listed(table) == {}


async def test_what_the_user_saves_meanwhile_stays_theirs(table: Table) -> None:
    other = table.ws / "old.txt"
    async with turn(table), command(table):
        uri = table.editor.open(other)
        table.editor.type(uri, 0, 0, "my ")
        table.editor.save(uri, other)
        table.path.write_bytes(EDITED.encode())
    assert await listed(table) == {"a.txt": "modified"}
    await table.editor.execute("acp.review.revert")
    assert table.path.read_text() == LINES
    assert other.read_bytes() == b"my old\r\n"


async def test_a_checkpoint_brings_back_what_a_command_has_done(table: Table) -> None:
    async with turn(table), command(table):
        (table.ws / "old.txt").unlink()
    (checkpoint,) = await table.editor.execute("acp.checkpoint.list")
    await table.editor.execute("acp.review.keep")
    await table.editor.execute("acp.checkpoint.restore", checkpointId=checkpoint["checkpointId"])
    assert (table.ws / "old.txt").read_bytes() == b"old\r\n"


async def test_the_user_may_not_want_the_folders_to_be_looked_at(
    idle_editor: Editor, puppet: Puppet, ws: Path, settings: dict[str, Any]
) -> None:
    table = Table(idle_editor, puppet, ws)
    await table.start({**settings, "review": {"unannounced": False}}, can())
    async with turn(table), command(table):
        table.path.write_bytes(EDITED.encode())
    assert await listed(table) == {}
