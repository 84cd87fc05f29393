"""Whose change it is, where the user and the agent are at one file within a moment."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from acp_sidecar.workspace.edits import DocumentEdit
from acp_sidecar.workspace.files import Files
from acp_sidecar.workspace.ledger import Ledger
from tests.workspace.hand import Buffer, Hand

LINES = "".join(f"{number}\n" for number in range(1, 21))
AGENTS = LINES.replace("\n3\n", "\nTHREE\n").replace("\n15\n", "\nFIFTEEN\n")
MINE = "\n9\n", "\n9 mine\n"


def say(path: Path, text: str) -> Path:
    path.write_bytes(text.encode())
    # Clocks of file systems tick slower than this test.
    path.stat()
    say.number += 1  # type: ignore[attr-defined]
    os.utime(path, ns=(0, 10**18 + say.number * 10**9))  # type: ignore[attr-defined]
    return path


say.number = 0  # type: ignore[attr-defined]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return say(tmp_path / "a.txt", LINES)


@pytest.fixture
def ledger(files: Files, path: Path) -> Ledger:
    ledger = Ledger(files, within=lambda path: True)
    ledger.begin_turn()
    ledger.touch(path)
    return ledger


def loads(hand: Hand, path: Path) -> Buffer:
    """The editor loads a file anew as Neovim does, by closing and opening it."""
    for buffer in [each for each in hand.buffers.values() if each.path == path]:
        hand.close(buffer)
    return hand.open(path)


def waiting(ledger: Ledger) -> list[str]:
    return [hunk.state for change in ledger.changes() for hunk in change.hunks]


async def test_the_user_saves_before_anybody_has_looked_at_what_the_agent_wrote(
    hand: Hand, ledger: Ledger, path: Path
) -> None:
    hand.open(path)
    say(path, AGENTS)
    buffer = loads(hand, path)
    hand.type(buffer, "\n10\n", " mine")
    hand.save(buffer)
    await ledger.refresh()
    assert waiting(ledger) == ["waiting", "waiting"]
    await ledger.revert()
    assert path.read_text() == LINES.replace(*MINE)


async def test_what_the_editor_loaded_is_on_disk_no_more_when_it_says_so(
    hand: Hand, ledger: Ledger, path: Path
) -> None:
    buffer = hand.open(path)
    saved = AGENTS.replace(*MINE)
    say(path, saved)
    hand.close(buffer)
    buffer = hand.open(path, text=AGENTS)
    hand.type(buffer, "\n10\n", " mine")
    hand.documents.save(buffer.uri)
    await ledger.refresh()
    assert waiting(ledger) == ["waiting", "waiting"]
    await ledger.revert()
    assert path.read_text() == LINES.replace(*MINE)


async def test_a_saving_that_is_found_on_disk_first_is_the_user_s(
    hand: Hand, ledger: Ledger, path: Path
) -> None:
    buffer = hand.open(path)
    say(path, LINES.replace(*MINE))
    await ledger.refresh()
    hand.type(buffer, "\n10\n", " mine")
    hand.documents.save(buffer.uri)
    await ledger.refresh()
    assert waiting(ledger) == []
    await ledger.revert()
    assert path.read_text() == LINES.replace(*MINE)


async def test_the_agent_s_new_file_is_opened_edited_and_saved_at_once(
    hand: Hand, ledger: Ledger, tmp_path: Path
) -> None:
    path = tmp_path / "new.txt"
    ledger.touch(path)
    say(path, LINES)
    await ledger.refresh()
    say(path, LINES.replace(*MINE))
    buffer = hand.open(path, text=LINES)
    hand.type(buffer, "\n10\n", " mine")
    hand.documents.save(buffer.uri)
    await ledger.refresh()
    assert waiting(ledger) == ["conflict"], "it is the agent's file, and the user has edited it"


async def test_the_agent_writes_between_a_saving_and_the_word_of_it(
    hand: Hand, ledger: Ledger, path: Path
) -> None:
    buffer = hand.open(path)
    say(path, LINES.replace(*MINE))
    hand.type(buffer, "\n10\n", " mine")
    say(path, AGENTS.replace(*MINE))
    hand.documents.save(buffer.uri)
    await ledger.refresh()
    assert waiting(ledger) == ["waiting", "waiting"]
    await ledger.revert()
    assert path.read_text() == LINES.replace(*MINE)


@pytest.mark.parametrize("gone", [True, False])
async def test_a_file_in_the_middle_of_a_saving(
    hand: Hand, ledger: Ledger, path: Path, gone: bool
) -> None:
    """Some editors empty a file, or take it away, before they write it."""
    hand.open(path)
    say(path, AGENTS)
    buffer = loads(hand, path)
    await ledger.refresh()
    if gone:
        path.unlink()
    else:
        path.write_bytes(b"")
    await ledger.refresh()
    hand.type(buffer, "\n10\n", " mine")
    hand.save(buffer)
    await ledger.refresh()
    assert waiting(ledger) == ["waiting", "waiting"]
    await ledger.revert()
    assert path.read_text() == LINES.replace(*MINE)


@pytest.mark.parametrize("late", [False, True])
async def test_unsaved_changes_are_given_up_for_what_the_agent_wrote(
    hand: Hand, ledger: Ledger, path: Path, late: bool
) -> None:
    buffer = hand.open(path)
    hand.type(buffer, "\n10\n", " mine")
    await ledger.refresh()
    say(path, AGENTS)
    await ledger.refresh()
    assert waiting(ledger) == [], "the buffer does not show it"
    if late:
        ledger.end_turn()
    loads(hand, path)
    await ledger.refresh()
    assert waiting(ledger) == ["waiting", "waiting"]
    await ledger.revert()
    assert path.read_text() == LINES


async def test_typing_that_arrives_with_the_agent_s_edit_is_told_apart_from_it(
    hand: Hand, ledger: Ledger, files: Files, path: Path
) -> None:
    buffer = hand.open(path)
    hand.type(buffer, "\n10\n", " mine")
    looked = asyncio.Event()

    async def slowly(hand: Hand, edit: DocumentEdit) -> object:
        hand.make(edit)
        if not looked.is_set():
            hand.type(buffer, "\n10\n", "!")
        await ledger.refresh()
        looked.set()
        return {"applied": True}

    hand.manner = slowly
    outcome = await files.write(path, AGENTS, seen=LINES, author=ledger)
    ledger.wrote(path, outcome)
    assert looked.is_set()
    assert waiting(ledger) == ["waiting", "waiting"]
    await ledger.revert()
    assert buffer.text == LINES.replace("\n9\n", "\n9 mine!\n")


async def test_hunks_come_back_with_the_text_when_the_user_undoes(
    hand: Hand, ledger: Ledger, path: Path
) -> None:
    say(path, AGENTS)
    await ledger.refresh()
    before = [hunk.id for change in ledger.changes() for hunk in change.hunks]
    buffer = hand.open(path)
    for text, states in (
        (LINES, []),
        (AGENTS, ["waiting", "waiting"]),
        (AGENTS.replace("THREE", "three"), ["conflict", "waiting"]),
        (AGENTS, ["waiting", "waiting"]),
    ):
        hand.set(buffer, text)
        await ledger.refresh()
        assert waiting(ledger) == states
    assert [hunk.id for change in ledger.changes() for hunk in change.hunks] == before


async def test_what_was_kept_does_not_come_back_so(hand: Hand, ledger: Ledger, path: Path) -> None:
    say(path, AGENTS)
    await ledger.refresh()
    buffer = hand.open(path)
    hand.set(buffer, LINES)
    await ledger.refresh()
    hand.set(buffer, AGENTS)
    await ledger.refresh()
    await ledger.keep()
    for text in (LINES, AGENTS):
        hand.set(buffer, text)
        await ledger.refresh()
    assert waiting(ledger) == []


async def test_a_report_of_several_places_after_the_fact(tmp_path: Path, files: Files) -> None:
    path = say(tmp_path / "unknown.txt", AGENTS)
    ledger = Ledger(files, within=lambda path: True)
    ledger.begin_turn()
    ledger.diff_reported(path, "2\n3\n4", "2\nTHREE\n4")
    ledger.diff_reported(path, "15\n", "FIFTEEN\n")
    assert ledger.diff(path) == (LINES, AGENTS)
    ledger.diff_reported(path, "15\n", "FIFTEEN\n")
    assert ledger.diff(path) == (LINES, AGENTS)
    await ledger.keep()
    ledger.diff_reported(path, "15\n", "FIFTEEN\n")
    assert waiting(ledger) == [], "what was kept is not reported back"
