"""Many programs empty a file before they write it, or take it away: what is seen between is
nobody's change."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from acp_sidecar.workspace.ledger import Ledger
from tests.virtual_time import just_now, virtual_time
from tests.workspace.disk import say
from tests.workspace.ledger.changes import LINES, agent_writes, only

NEW = LINES.replace("two", "TWO")
LATER = "later\n"


@pytest.fixture(autouse=True)
async def _moments() -> AsyncIterator[None]:
    with virtual_time():
        yield


def _empty(path: Path) -> None:
    path.write_bytes(b"")
    just_now(path)


def _take_away(path: Path) -> None:
    path.unlink()
    just_now(path.parent)


async def _changed(ledger: Ledger, folder: Path) -> Path:
    """A file with a hunk of the agent's, after its turn."""
    path = say(folder / "a", LINES)
    await agent_writes(ledger, path, NEW)
    ledger.end_turn()
    return path


async def _written_during(work: Coroutine[Any, Any, object], path: Path) -> None:
    """The other program goes on when this has begun."""
    async with asyncio.TaskGroup() as group:
        group.create_task(work)
        await asyncio.sleep(0)
        say(path, LATER + NEW)


BEGINNINGS = pytest.mark.parametrize("begin", [_empty, _take_away], ids=["emptied", "taken away"])


@BEGINNINGS
async def test_what_the_user_has_another_program_write_stays_theirs(
    ledger: Ledger, tmp_path: Path, begin: Callable[[Path], None]
) -> None:
    path = await _changed(ledger, tmp_path)
    begin(path)
    assert await ledger.refresh(patient=True), "it has to be looked at again"
    assert ledger.diff(path) == (LINES, NEW)
    say(path, LATER + NEW)
    assert not await ledger.refresh(patient=True)
    assert ledger.diff(path) == (LATER + LINES, LATER + NEW)
    assert [hunk.state for hunk in only(ledger).hunks] == ["waiting"]


@BEGINNINGS
@pytest.mark.parametrize("step", ["refresh", "revert", "keep"])
async def test_what_is_decided_meanwhile_waits_for_it(
    ledger: Ledger, tmp_path: Path, begin: Callable[[Path], None], step: str
) -> None:
    path = await _changed(ledger, tmp_path)
    begin(path)
    await _written_during(getattr(ledger, step)(), path)
    before, after = {
        "refresh": (LATER + LINES, LATER + NEW),
        "revert": (LATER + LINES, LATER + LINES),
        "keep": (LATER + NEW, LATER + NEW),
    }[step]
    assert path.read_text() == after
    assert ledger.diff(path) == (before, after)


@BEGINNINGS
async def test_the_agent_changes_what_was_whole_at_the_prompt(
    ledger: Ledger, tmp_path: Path, begin: Callable[[Path], None]
) -> None:
    path = await _changed(ledger, tmp_path)
    begin(path)
    await _written_during(ledger.until_whole(), path)
    ledger.begin_turn()
    await agent_writes(ledger, path, LATER + NEW + "more\n")
    assert ledger.diff(path) == (LATER + LINES, LATER + NEW + "more\n")


@BEGINNINGS
async def test_what_stays_so_is_told_after_a_moment(
    ledger: Ledger, tmp_path: Path, begin: Callable[[Path], None]
) -> None:
    path = await _changed(ledger, tmp_path)
    begin(path)
    before = time.monotonic()
    while await ledger.refresh(patient=True):
        # Its folder goes on changing.
        just_now(tmp_path)
        await asyncio.sleep(0.01)
    assert 0 < time.monotonic() - before < 0.2
    [hunk] = only(ledger).hunks
    assert hunk.state == "conflict"


async def test_a_file_that_is_found_under_another_name_is_moved_at_once(
    ledger: Ledger, tmp_path: Path
) -> None:
    old, new = say(tmp_path / "old", LINES), tmp_path / "new"
    for path in (old, new):
        ledger.touch(path)
    old.rename(new)
    assert not await ledger.refresh(patient=True)
    assert only(ledger).status == "renamed"
