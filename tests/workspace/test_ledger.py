"""What an agent has changed, whoever held the pen, and taking it back."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acp_sidecar.workspace.files import Files
from acp_sidecar.workspace.ledger import FileChange, Ledger
from acp_sidecar.workspace.uris import path_to_uri
from tests.workspace import hand as manners
from tests.workspace.hand import Hand

WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
LINES = "".join(f"{word}\n" for word in WORDS)


def say(path: Path, text: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def only(ledger: Ledger) -> FileChange:
    [change] = ledger.changes()
    return change


@pytest.fixture
def files(hand: Hand) -> Files:
    return hand.files()


@pytest.fixture
def ledger(files: Files) -> Ledger:
    ledger = Ledger(files, within=lambda path: True)
    ledger.begin_turn()
    return ledger


async def write(ledger: Ledger, files: Files, path: Path, text: str, seen: str | None) -> None:
    """The agent writes through us."""
    ledger.touch(path)
    ledger.wrote(path, await files.write(path, text, seen=seen))


# --- every writer ---------------------------------------------------------------------------


@pytest.mark.parametrize("by", ["us", "itself", "both"])
async def test_a_change_is_seen_and_taken_back_whoever_made_it(
    ledger: Ledger, files: Files, tmp_path: Path, by: str
) -> None:
    path = say(tmp_path / "a.py", LINES)
    ledger.touch(path)
    new = LINES.replace("two", "TWO").replace("eight\n", "")
    if by != "us":
        say(path, new)
    if by != "itself":
        await write(ledger, files, path, new, LINES)
    await ledger.refresh()
    change = only(ledger)
    assert change.uri == path_to_uri(path)
    assert (change.status, change.binary) == ("modified", False)
    assert [hunk.to_json() | {"id": ""} for hunk in change.hunks] == [
        {
            "id": "",
            "before": {"start": 1, "lines": 1},
            "after": {"start": 1, "lines": 1},
            "state": "waiting",
        },
        {
            "id": "",
            "before": {"start": 7, "lines": 1},
            "after": {"start": 7, "lines": 0},
            "state": "waiting",
        },
    ]
    assert ledger.diff(path) == (LINES, new)
    done = await ledger.revert(path)
    assert done.to_json() == {
        "kept": [],
        "reverted": [hunk.id for hunk in change.hunks],
        "conflicts": [],
    }
    assert path.read_text() == LINES
    assert ledger.changes() == []


async def test_a_file_that_was_only_looked_at_is_no_change(ledger: Ledger, tmp_path: Path) -> None:
    for path in (say(tmp_path / "a", LINES), tmp_path / "none", tmp_path):
        ledger.touch(path)
    await ledger.refresh()
    assert ledger.changes() == []
    assert ledger.diff(tmp_path / "never heard of") is None
    assert (await ledger.revert()).to_json() == {"kept": [], "reverted": [], "conflicts": []}
    assert (await ledger.undo()).to_json() == {"kept": [], "reverted": [], "conflicts": []}


async def test_an_open_file_is_known_at_the_prompt(
    hand: Hand, files: Files, tmp_path: Path
) -> None:
    path, outside = say(tmp_path / "ws" / "a", LINES), say(tmp_path / "b", LINES)
    hand.open(path)
    hand.open(outside)
    ledger = Ledger(files, within=lambda path: "ws" in path.parts)
    ledger.begin_turn()
    say(path, "all new\n")
    say(outside, "all new\n")
    await ledger.refresh()
    assert ledger.diff(path) == (LINES, "all new\n")
    assert ledger.diff(outside) is None


async def test_a_created_file_is_removed_by_a_revert(
    ledger: Ledger, files: Files, tmp_path: Path
) -> None:
    mine, its = tmp_path / "new" / "a.txt", tmp_path / "other" / "b.txt"
    ledger.touch(its)
    await write(ledger, files, mine, "", None)
    say(its, "hello\n")
    await ledger.refresh()
    assert [(change.path, change.status) for change in ledger.changes()] == [
        (its, "created"),
        (mine, "created"),
    ]
    assert all(change.hunks for change in ledger.changes()), "there is something to take back"
    await ledger.revert()
    assert not mine.exists()
    assert not its.exists()
    done = await ledger.undo()
    assert len(done.reverted) == 2
    assert (its.read_text(), mine.read_text()) == ("hello\n", "")
    assert [change.status for change in ledger.changes()] == ["created", "created"]


async def test_a_created_file_the_user_has_edited_is_not_removed(
    hand: Hand, ledger: Ledger, files: Files, tmp_path: Path
) -> None:
    path = tmp_path / "a.txt"
    await write(ledger, files, path, "by the agent\n", None)
    buffer = hand.open(path)
    hand.type(buffer, "by", "typed ")
    done = await ledger.revert()
    assert done.reverted == ()
    assert len(done.conflicts) == 1
    assert done.problems
    assert path.exists()
    assert only(ledger).hunks[0].state == "conflict"
    hand.save(buffer)
    assert (await ledger.revert()).reverted == ()
    assert path.read_text() == "typed by the agent\n"


async def test_a_deleted_file_comes_back_as_it_was(ledger: Ledger, tmp_path: Path) -> None:
    path = say(tmp_path / "run.sh", b"\xef\xbb\xbf#!/bin/sh\r\n")
    path.chmod(0o750)
    ledger.touch(path)
    path.unlink()
    await ledger.refresh()
    assert only(ledger).status == "deleted"
    await ledger.revert()
    assert path.read_bytes() == b"\xef\xbb\xbf#!/bin/sh\r\n"
    assert path.stat().st_mode & 0o777 == 0o750
    await ledger.undo()
    assert not path.exists()


async def test_bytes_come_back_exactly(ledger: Ledger, tmp_path: Path) -> None:
    """Line ends, the byte order mark, the final newline: also where only they changed."""
    kinds: dict[str, tuple[bytes, bytes]] = {
        "crlf": (b"a\r\nb\r\n", b"a\nb\n"),
        "bom": (b"\xef\xbb\xbfa\n", b"a\n"),
        "final": (b"a\nb", b"a\nb\n"),
        "mixed": (b"a\nb\r\nc\rd", b"a\r\nb\r\nX\r\n"),
        "png": (b"\x89PNG\0\1", b"\x89PNG\0\2"),
        "latin": (b"caf\xe9\n", b"cafe\n"),
        "to binary": (b"text\n", b"\0\0"),
        "empty": (b"", b"x"),
    }
    for name, (old, _) in kinds.items():
        ledger.touch(say(tmp_path / name, old))
    for name, (_, new) in kinds.items():
        say(tmp_path / name, new)
    await ledger.refresh()
    assert {change.path.name for change in ledger.changes()} == set(kinds)
    binary = {change.path.name for change in ledger.changes() if change.binary}
    assert binary == {"png", "latin", "to binary"}
    done = await ledger.revert()
    assert done.conflicts == ()
    for name, (old, _) in kinds.items():
        assert (tmp_path / name).read_bytes() == old
    await ledger.undo()
    for name, (_, new) in kinds.items():
        assert (tmp_path / name).read_bytes() == new


async def test_a_file_behind_a_failing_disk_is_a_conflict_for_itself(
    ledger: Ledger, tmp_path: Path
) -> None:
    good, bad = say(tmp_path / "good", "a\n"), say(tmp_path / "bad", "a\n")
    for path in (bad, good):
        ledger.touch(path)
        say(path, "b\n")
    await ledger.refresh()
    bad.chmod(0o444)
    done = await ledger.revert()
    assert len(done.reverted) == len(done.conflicts) == 1
    assert "read-only" in done.problems[0]
    assert good.read_text() == "a\n"
    assert only(ledger).path == bad


# --- what the agent reports ---------------------------------------------------------------


async def test_a_report_after_the_fact_gives_the_baseline(ledger: Ledger, tmp_path: Path) -> None:
    path = say(tmp_path / "a", b"new\r\ntext\r\n")
    ledger.diff_reported(path, "old\ntext\n", "new\ntext\n")
    assert ledger.diff(path) == ("old\r\ntext\r\n", "new\r\ntext\r\n")
    await ledger.revert()
    assert path.read_bytes() == b"old\r\ntext\r\n"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("four\n", "FOUR\n"),
        ("four", "FOUR"),
        ("three\nfour\nfive", "three\nFOUR\nfive"),
        ("three\nfive", "three\nFOUR\nfive"),
        ("three\nfour\nand\nfive", "three\nFOUR\nfive"),
    ],
)
async def test_D03_a_report_of_a_piece_is_not_taken_for_the_file(
    ledger: Ledger, tmp_path: Path, old: str, new: str
) -> None:
    now = LINES.replace("four", "FOUR")
    path = say(tmp_path / "a", now)
    ledger.diff_reported(path, old, new)
    assert ledger.diff(path) == (now.replace(new, old), now)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("zwei\n", "two\n}\n"),
        ("old\n", "o"),
        ("one\n", "two\n"),
        ("old\n", ""),
        ("", "two\n"),
        (None, "two\n"),
        (LINES, LINES),
    ],
)
async def test_D04_a_report_the_file_does_not_bear_out_changes_nothing(
    ledger: Ledger, tmp_path: Path, old: str | None, new: str
) -> None:
    path = say(tmp_path / "a", LINES)
    ledger.diff_reported(path, old, new)
    await ledger.refresh()
    assert ledger.changes() == []
    assert path.read_text() == LINES, "a report is never applied"


@pytest.mark.parametrize("old", [None, ""])
async def test_D02_no_old_text_does_not_make_a_known_file_new(
    ledger: Ledger, tmp_path: Path, old: str | None
) -> None:
    path = say(tmp_path / "a.txt", LINES)
    ledger.diff_reported(path, old, "hi\n")
    say(path, "hi\n")
    ledger.diff_reported(path, old, "hi\n")
    await ledger.refresh()
    assert only(ledger).status == "modified"
    assert ledger.diff(path) == (LINES, "hi\n")


@pytest.mark.parametrize("old", [None, ""])
async def test_a_new_file_reported_after_the_fact_is_created(
    ledger: Ledger, tmp_path: Path, old: str | None
) -> None:
    path = say(tmp_path / "a.txt", "hi\n")
    ledger.diff_reported(path, old, "hi\n")
    assert only(ledger).status == "created"
    await ledger.revert()
    assert not path.exists()


async def test_D06_an_empty_new_text_deletes_nothing(ledger: Ledger, tmp_path: Path) -> None:
    path = say(tmp_path / "a.txt", "x")
    ledger.diff_reported(path, "x", "")
    ledger.diff_reported(path, "x", "x")
    await ledger.refresh()
    assert path.read_text() == "x"
    assert ledger.changes() == []


async def test_a_wrong_old_text_never_wins_over_what_was_seen(
    ledger: Ledger, tmp_path: Path
) -> None:
    path = say(tmp_path / "a", LINES)
    ledger.touch(path)
    say(path, "new\n")
    ledger.diff_reported(path, "something else\n", "new\n")
    await ledger.refresh()
    assert ledger.diff(path) == (LINES, "new\n")


async def test_temporary_files_of_ours_are_no_news(ledger: Ledger, tmp_path: Path) -> None:
    from acp_sidecar.workspace import disk

    path = say(tmp_path / disk._temporary("a"), "x")
    ledger.touch(path)
    assert not ledger.paths


# --- the user's own -----------------------------------------------------------------------


async def test_typing_elsewhere_survives_a_revert_unsaved(
    hand: Hand, ledger: Ledger, files: Files, tmp_path: Path
) -> None:
    path = say(tmp_path / "a", LINES)
    buffer = hand.open(path)
    await write(ledger, files, path, LINES.replace("two", "TWO"), LINES)
    hand.type(buffer, "eight", "typed\n")
    await ledger.refresh()
    [hunk] = only(ledger).hunks
    assert hunk.hunk.after_start == 1, "what the user typed is not the agent's"
    done = await ledger.revert()
    assert done.reverted == (hunk.id,)
    assert buffer.text == LINES.replace("eight", "typed\neight")
    assert path.read_text() == LINES.replace("two", "TWO"), "saving is the user's"
    assert ledger.changes() == []
    hand.save(buffer)
    await ledger.refresh()
    assert ledger.changes() == []


async def test_typing_before_the_agent_wrote_survives_too(
    hand: Hand, ledger: Ledger, files: Files, tmp_path: Path
) -> None:
    path = say(tmp_path / "a", LINES)
    ledger.touch(path)
    buffer = hand.open(path)
    hand.type(buffer, "eight", "typed\n")
    await write(ledger, files, path, LINES.replace("two", "TWO"), LINES)
    assert ledger.diff(path) == (
        LINES.replace("eight", "typed\neight"),
        LINES.replace("eight", "typed\neight").replace("two", "TWO"),
    )
    await ledger.revert()
    assert buffer.text == LINES.replace("eight", "typed\neight")


async def test_typing_between_two_writes_survives_too(
    hand: Hand, ledger: Ledger, files: Files, tmp_path: Path
) -> None:
    path = say(tmp_path / "a", LINES)
    buffer = hand.open(path)
    first = LINES.replace("two", "TWO")
    await write(ledger, files, path, first, LINES)
    hand.type(buffer, "eight", "typed\n")
    await write(ledger, files, path, first.replace("four", "FOUR"), first)
    assert "typed" in buffer.text
    assert len(only(ledger).hunks) == 2
    await ledger.revert()
    assert buffer.text == LINES.replace("eight", "typed\neight")


async def test_a_saved_edit_of_the_user_during_the_turn_is_the_users(
    hand: Hand, ledger: Ledger, tmp_path: Path
) -> None:
    path = say(tmp_path / "a", LINES)
    ledger.touch(path)
    say(path, LINES.replace("two", "TWO"))
    await ledger.refresh()
    buffer = hand.open(path)
    hand.type(buffer, "eight", "typed\n")
    hand.save(buffer)
    await ledger.refresh()
    assert len(only(ledger).hunks) == 1
    await ledger.revert()
    assert path.read_text() == LINES.replace("eight", "typed\neight")


async def test_changes_after_the_turn_are_not_the_agents(ledger: Ledger, tmp_path: Path) -> None:
    path, other = say(tmp_path / "a", LINES), say(tmp_path / "b", LINES)
    ledger.touch(path)
    ledger.touch(other)
    say(path, LINES.replace("two", "TWO"))
    ledger.end_turn()
    say(path, LINES.replace("two", "TWO") + "by another program\n")
    say(other, "by another program\n")
    await ledger.refresh()
    assert only(ledger).path == path
    await ledger.revert()
    assert path.read_text() == LINES + "by another program\n"
    assert other.read_text() == "by another program\n"


async def test_typing_in_the_same_lines_is_a_conflict_and_nothing_changes(
    hand: Hand, ledger: Ledger, files: Files, tmp_path: Path
) -> None:
    path = say(tmp_path / "a", LINES)
    buffer = hand.open(path)
    await write(ledger, files, path, LINES.replace("two", "TWO"), LINES)
    hand.type(buffer, "TWO", "mine ")
    text = buffer.text
    await ledger.refresh()
    ids = [hunk.id for hunk in only(ledger).hunks]
    assert [hunk.state for hunk in only(ledger).hunks] == ["conflict"]
    done = await ledger.revert()
    assert done.to_json() == {"kept": [], "reverted": [], "conflicts": ids}
    assert buffer.text == text
    # Nor after the agent has gone on in that file; what it did elsewhere is not concerned.
    hand.save(buffer)
    await write(ledger, files, path, text.replace("five", "FIVE"), text)
    done = await ledger.revert()
    assert (len(done.reverted), done.conflicts) == (1, tuple(ids))
    assert buffer.text == text
    # What the user keeps is no conflict any more.
    done = await ledger.keep()
    assert done.kept == tuple(ids)
    assert ledger.changes() == []


async def test_a_conflict_the_user_undoes_is_none(
    hand: Hand, ledger: Ledger, files: Files, tmp_path: Path
) -> None:
    path = say(tmp_path / "a", LINES)
    buffer = hand.open(path)
    await write(ledger, files, path, LINES.replace("two", "TWO"), LINES)
    hand.type(buffer, "TWO", "mine ")
    await ledger.refresh()
    hand.replace(buffer, buffer.text.index("mine "), len("mine "), "")
    await ledger.refresh()
    assert [hunk.state for hunk in only(ledger).hunks] == ["waiting"]
    await ledger.revert()
    assert buffer.text == LINES


async def test_what_the_user_undoes_of_their_own_is_nobodys_change(
    hand: Hand, ledger: Ledger, files: Files, tmp_path: Path
) -> None:
    path = say(tmp_path / "a", LINES)
    buffer = hand.open(path)
    new = LINES.replace("two", "TWO")
    ledger.touch(path)
    ledger.wrote(path, await files.write(path, new, seen=LINES, author=ledger))
    ids = [hunk.id for hunk in only(ledger).hunks]
    for before in ("eight", "TWO"):  # beside the agent's change, and within
        place = new.index(before)
        hand.replace(buffer, place, 0, "typed ")
        await ledger.refresh()
        hand.replace(buffer, place, len("typed "), "")
        await ledger.refresh()
        assert [(hunk.id, hunk.state) for hunk in only(ledger).hunks] == [(ids[0], "waiting")]
    await ledger.revert()
    assert path.read_text() == buffer.text == LINES


async def test_typed_and_saved_in_one_breath_is_the_users(
    hand: Hand, ledger: Ledger, files: Files, tmp_path: Path
) -> None:
    path = say(tmp_path / "a", LINES)
    buffer = hand.open(path)
    new = LINES.replace("two", "TWO")
    await write(ledger, files, path, new, LINES)
    # The file is written before the word of the typing comes, that of the saving after it.
    say(path, new.replace("six", "six typed"))
    hand.type(buffer, "\nseven", " typed")
    assert await ledger.refresh(patient=True), "nobody can tell yet"
    hand.save(buffer)
    assert not await ledger.refresh(patient=True)
    assert len(only(ledger).hunks) == 1
    await ledger.revert()
    assert path.read_text() == LINES.replace("six", "six typed")


async def test_saved_and_then_written_by_the_agent_itself(
    hand: Hand, ledger: Ledger, tmp_path: Path
) -> None:
    path = say(tmp_path / "a", LINES)
    buffer = hand.open(path)
    ledger.touch(path)
    hand.type(buffer, "eight", "typed\n")
    hand.save(buffer)
    say(path, buffer.text.replace("two", "TWO"))
    hand.reload(buffer)
    await ledger.refresh()
    assert len(only(ledger).hunks) == 1
    await ledger.revert()
    assert path.read_text() == buffer.text == LINES.replace("eight", "typed\neight")


async def test_the_mark_of_a_file_that_was_typed_in_and_saved_comes_back(
    hand: Hand, ledger: Ledger, tmp_path: Path
) -> None:
    mark = "\ufeff".encode()
    path = say(tmp_path / "a", mark + LINES.encode())
    buffer = hand.open(path)
    ledger.touch(path)
    hand.type(buffer, "eight", "typed\n")
    await ledger.refresh()
    saved = say(path, mark + buffer.text.encode())
    hand.documents.save(buffer.uri)
    await ledger.refresh()
    say(path, "the agent's\n")
    hand.reload(buffer)
    await ledger.refresh()
    await ledger.revert()
    assert saved.read_bytes() == mark + LINES.replace("eight", "typed\neight").encode()


async def test_typing_on_what_the_agent_has_written_itself_is_told_apart(
    hand: Hand, ledger: Ledger, files: Files, tmp_path: Path
) -> None:
    path = say(tmp_path / "a", LINES)
    buffer = hand.open(path)
    ledger.touch(path)
    say(path, LINES.replace("two", "TWO"))
    hand.reload(buffer)
    await ledger.refresh(patient=True)
    hand.type(buffer, "eight", "typed\n")
    await ledger.refresh(patient=True)
    [hunk] = only(ledger).hunks
    assert (hunk.hunk.after_start, hunk.state) == (1, "waiting")
    await ledger.revert()
    assert buffer.text == LINES.replace("eight", "typed\neight")


async def test_files_that_agents_write_on_their_way_are_no_news(
    ledger: Ledger, tmp_path: Path
) -> None:
    passing = say(tmp_path / "a.py.tmp.4711.1a2b3c", LINES)
    ledger.touch(passing)
    passing.unlink()
    await ledger.refresh()
    assert ledger.changes() == []


async def test_a_file_the_user_deleted_is_not_brought_back(
    hand: Hand, ledger: Ledger, files: Files, tmp_path: Path
) -> None:
    created, modified = tmp_path / "new", say(tmp_path / "a", LINES)
    await write(ledger, files, created, "x\n", None)
    await write(ledger, files, modified, LINES.replace("two", "TWO"), LINES)
    ledger.end_turn()
    created.unlink()
    modified.unlink()
    await ledger.refresh()
    assert [change.path for change in ledger.changes()] == [modified]
    assert (await ledger.revert()).reverted == ()
    assert not modified.exists()


async def test_an_editor_that_refuses_the_revert_keeps_it_waiting(
    hand: Hand, ledger: Ledger, files: Files, tmp_path: Path
) -> None:
    path = say(tmp_path / "a", LINES)
    buffer = hand.open(path)
    await write(ledger, files, path, LINES.replace("two", "TWO"), LINES)
    hand.type(buffer, "eight", "typed\n")
    hand.manner = manners.refuses
    done = await ledger.revert()
    assert done.reverted == ()
    assert len(done.conflicts) == 1
    assert len(ledger.changes()) == 1
    hand.manner = manners.takes_it
    assert len((await ledger.revert()).reverted) == 1
    assert buffer.text == LINES.replace("eight", "typed\neight")


async def test_a_reverted_clean_file_is_on_disk_and_in_the_editor(
    hand: Hand, ledger: Ledger, files: Files, tmp_path: Path
) -> None:
    path = say(tmp_path / "a", LINES)
    buffer = hand.open(path)
    await write(ledger, files, path, LINES.replace("two", "TWO"), LINES)
    assert only(ledger).uri == buffer.uri
    await ledger.revert(path)
    assert path.read_text() == buffer.text == LINES


# --- keeping, undoing, turns ------------------------------------------------------------------


async def test_what_is_kept_is_where_the_next_change_starts(
    ledger: Ledger, files: Files, tmp_path: Path
) -> None:
    a, b = say(tmp_path / "a", LINES), say(tmp_path / "b", LINES)
    first = LINES.replace("two", "TWO")
    await write(ledger, files, a, first, LINES)
    await write(ledger, files, b, first, LINES)
    done = await ledger.keep(a)
    assert len(done.kept) == 1
    assert only(ledger).path == b
    await write(ledger, files, a, first.replace("four", "FOUR"), first)
    await ledger.revert()
    assert a.read_text() == first
    assert b.read_text() == LINES


async def test_a_keep_can_be_taken_back_also_after_more_changes(
    hand: Hand, ledger: Ledger, files: Files, tmp_path: Path
) -> None:
    path = say(tmp_path / "a", LINES)
    first = LINES.replace("two", "TWO")
    await write(ledger, files, path, first, LINES)
    await ledger.keep()
    second = first.replace("four", "FOUR")
    await write(ledger, files, path, second, first)
    buffer = hand.open(path)
    hand.type(buffer, "eight", "typed\n")
    done = await ledger.undo()
    assert len(done.kept) == 1
    assert len(only(ledger).hunks) == 2
    await ledger.revert()
    assert buffer.text == LINES.replace("eight", "typed\neight")


async def test_a_revert_can_be_taken_back_with_what_was_typed_since(
    hand: Hand, ledger: Ledger, files: Files, tmp_path: Path
) -> None:
    a, b = say(tmp_path / "a", LINES), say(tmp_path / "b", LINES)
    new = LINES.replace("two", "TWO")
    await write(ledger, files, a, new, LINES)
    await write(ledger, files, b, new, LINES)
    ids = {hunk.id for change in ledger.changes() for hunk in change.hunks}
    await ledger.revert()
    assert a.read_text() == b.read_text() == LINES
    buffer = hand.open(a)
    hand.type(buffer, "eight", "typed\n")
    done = await ledger.undo()
    assert set(done.reverted) == ids
    assert buffer.text == new.replace("eight", "typed\neight")
    assert b.read_text() == new
    assert {hunk.id for change in ledger.changes() for hunk in change.hunks} == ids
    await ledger.revert()
    assert buffer.text == LINES.replace("eight", "typed\neight")
    assert b.read_text() == LINES


async def test_an_undo_that_would_cost_the_user_something_is_not_done(
    hand: Hand, ledger: Ledger, files: Files, tmp_path: Path
) -> None:
    path = say(tmp_path / "a", LINES)
    await write(ledger, files, path, LINES.replace("two", "TWO"), LINES)
    await ledger.revert()
    buffer = hand.open(path)
    hand.type(buffer, "two", "mine ")
    done = await ledger.undo()
    assert done.reverted == ()
    assert len(done.conflicts) == 1
    assert buffer.text == LINES.replace("two", "mine two")


async def test_pending_changes_outlive_the_next_prompt(
    ledger: Ledger, files: Files, tmp_path: Path
) -> None:
    path = say(tmp_path / "a", LINES)
    first = LINES.replace("two", "TWO")
    await write(ledger, files, path, first, LINES)
    ledger.end_turn()
    ledger.begin_turn()
    await write(ledger, files, path, first.replace("four", "FOUR"), first)
    assert len(only(ledger).hunks) == 2
    await ledger.revert()
    assert path.read_text() == LINES


async def test_what_changed_between_two_prompts_is_where_the_second_starts(
    ledger: Ledger, tmp_path: Path
) -> None:
    path = say(tmp_path / "a", LINES)
    ledger.touch(path)
    ledger.end_turn()
    say(path, "between\n")
    ledger.begin_turn()
    say(path, "between\nand the agent\n")
    await ledger.refresh()
    assert ledger.diff(path) == ("between\n", "between\nand the agent\n")


async def test_hunks_keep_their_ids_while_others_come_and_go(
    hand: Hand, ledger: Ledger, files: Files, tmp_path: Path
) -> None:
    path = say(tmp_path / "a", LINES + LINES)
    buffer = hand.open(path)
    new = (LINES + LINES).replace("two", "TWO")
    await write(ledger, files, path, new, None)
    ids = [hunk.id for hunk in only(ledger).hunks]
    assert len(set(ids)) == 2, "equal changes in two places are two"
    hand.type(buffer, "one", "typed\n")
    await ledger.refresh()
    assert [hunk.id for hunk in only(ledger).hunks] == ids
    await write(ledger, files, path, new.replace("nine\n", "", 1), new)
    assert set(ids) < {hunk.id for hunk in only(ledger).hunks}


async def test_nothing_is_read_again_that_has_not_moved(
    ledger: Ledger, files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [say(tmp_path / str(number), LINES) for number in range(50)]
    for path in paths:
        ledger.touch(path)
    reads: list[Path] = []
    peek = files.peek
    monkeypatch.setattr(files, "peek", lambda path: (reads.append(path), peek(path))[1])
    await ledger.refresh()
    assert reads == []
    say(paths[7], "new\n")
    await ledger.refresh()
    assert reads == [paths[7]]


# --- any order of things ---------------------------------------------------------------------

steps = st.lists(
    st.sampled_from(
        ["agent through us", "agent itself", "type", "save", "keep", "revert", "undo", "refresh"]
    ),
    max_size=14,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps, st.randoms(use_true_random=False))
async def test_no_line_of_the_users_is_lost_in_any_order_of_things(order, chance) -> None:  # type: ignore[no-untyped-def]
    """Everybody adds lines of their own at places of their own choice."""
    with tempfile.TemporaryDirectory() as folder:
        path = say(Path(os.path.realpath(folder)) / "a", LINES)
        hand = Hand()
        files = hand.files(settle=0.0, answer=1.0)
        ledger = Ledger(files)
        ledger.begin_turn()
        ledger.touch(path)
        buffer = hand.open(path)
        users: set[str] = set()
        seen = LINES
        for number, step in enumerate((*order, "refresh")):
            line = f"{'user' if step == 'type' else 'agent'} {number}\n"
            place = chance.choice(WORDS)
            if step == "agent through us":
                seen = await files.read(path)
                await write(ledger, files, path, _with(seen, place, line), seen)
            elif step == "agent itself":
                if buffer.text == path.read_text():
                    say(path, _with(buffer.text, place, line))
                    hand.reload(buffer)
                    await ledger.refresh()
            elif step == "type":
                if f"{place}\n" in buffer.text:
                    hand.type(buffer, f"{place}\n", line)
                    users.add(line)
            elif step == "save":
                hand.save(buffer)
            elif step == "refresh":
                await ledger.refresh()
            else:
                await {"keep": ledger.keep, "revert": ledger.revert, "undo": ledger.undo}[step]()
            assert hand.in_step()
            assert users <= set(buffer.text.splitlines(keepends=True)), (number, step)
        if not users and not {"keep", "undo"} & set(order):
            await ledger.revert()
            assert buffer.text == LINES


def _with(text: str, place: str, line: str) -> str:
    return text.replace(f"{place}\n", line + f"{place}\n", 1)
