"""Cases from the field on changes and their review, and what a review is made of."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from acp_sidecar.workspace.baselines import Baselines
from acp_sidecar.workspace.files import Files
from acp_sidecar.workspace.ledger import FileChange, Ledger, NoSuchHunk
from acp_sidecar.workspace.uris import path_to_uri
from tests.workspace import hand as manners
from tests.workspace.hand import Hand

WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
LINES = "".join(f"{word}\n" for word in WORDS)
CHANGED = LINES.replace("two", "TWO").replace("five", "FIVE").replace("eight", "EIGHT")


def say(path: Path, text: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def only(ledger: Ledger) -> FileChange:
    [change] = ledger.changes()
    return change


def ids(ledger: Ledger) -> list[str]:
    return [hunk.id for change in ledger.changes() for hunk in change.hunks]


def states(ledger: Ledger) -> list[str]:
    return [hunk.state for change in ledger.changes() for hunk in change.hunks]


@pytest.fixture
def files(hand: Hand) -> Files:
    return hand.files()


@pytest.fixture
def ledger(files: Files) -> Ledger:
    ledger = Ledger(files, within=lambda path: True)
    ledger.begin_turn()
    return ledger


async def agent_writes(ledger: Ledger, path: Path, text: str | bytes) -> None:
    """The agent writes the disk by itself."""
    ledger.touch(path)
    say(path, text)
    await ledger.refresh()


# --- cases ------------------------------------------------------------------------------


async def test_D02_overwriting_a_file_is_shown_against_what_was_there(
    ledger: Ledger, tmp_path: Path
) -> None:
    path = say(tmp_path / "a.txt", "".join(f"{number}\n" for number in range(100)))
    old = path.read_text()
    ledger.touch(path)
    say(path, "hi\n")
    ledger.diff_reported(path, None, "hi\n")
    await ledger.refresh()
    assert only(ledger).status == "modified"
    assert ledger.diff(path) == (old, "hi\n")
    await ledger.revert()
    assert path.read_text() == old


async def test_D06_a_file_is_only_deleted_where_it_is_gone(ledger: Ledger, tmp_path: Path) -> None:
    emptied, deleted = say(tmp_path / "emptied", "x\n"), say(tmp_path / "deleted", "x\n")
    for path in (emptied, deleted):
        ledger.diff_reported(path, "x\n", "")
    say(emptied, "")
    deleted.unlink()
    await ledger.refresh()
    assert [change.status for change in ledger.changes()] == ["modified", "deleted"]
    await ledger.revert()
    assert emptied.read_text() == deleted.read_text() == "x\n"


@pytest.mark.parametrize("how", ["rename", "write"])
async def test_D07_a_move_is_one_change_and_is_taken_back(
    ledger: Ledger, tmp_path: Path, how: str
) -> None:
    old, new = say(tmp_path / "old", LINES), tmp_path / "new"
    ledger.touch(old)
    if how == "rename":
        old.rename(new)
        ledger.touch(new)
    else:
        ledger.touch(new)
        old.unlink()
        say(new, LINES)
    await ledger.refresh()
    assert only(ledger).to_json() == {
        "uri": path_to_uri(new),
        "status": "renamed",
        "oldUri": path_to_uri(old),
        "binary": False,
        "hunks": [
            {
                "id": ids(ledger)[0],
                "before": {"start": 0, "lines": 0},
                "after": {"start": 0, "lines": 0},
                "state": "waiting",
            }
        ],
    }
    await agent_writes(ledger, new, CHANGED)
    assert len(only(ledger).hunks) == 4
    await ledger.revert(new, only(ledger).hunks[1].id)
    assert new.read_text() == CHANGED.replace("TWO", "two")
    done = await ledger.revert()
    assert (len(done.reverted), done.conflicts) == (3, ())
    assert old.read_text() == LINES
    assert not new.exists()
    assert ledger.changes() == []
    await ledger.undo()
    assert new.read_text() == CHANGED.replace("TWO", "two")
    assert not old.exists()
    assert only(ledger).status == "renamed"


async def test_D07_a_move_is_not_taken_back_over_somebody_elses_file(
    ledger: Ledger, tmp_path: Path
) -> None:
    old, new = say(tmp_path / "old", LINES), tmp_path / "new"
    for path in (old, new):
        ledger.touch(path)
    old.rename(new)
    ledger.end_turn()
    say(old, "the user's\n")
    done = await ledger.revert()
    assert done.reverted == ()
    assert "old name" in done.problems[0]
    assert (old.read_text(), new.read_text()) == ("the user's\n", LINES)


async def test_D07_a_move_of_a_file_with_unsaved_changes_is_not_taken_back(
    hand: Hand, ledger: Ledger, tmp_path: Path
) -> None:
    old, new = say(tmp_path / "old", LINES), tmp_path / "new"
    for path in (old, new):
        ledger.touch(path)
    old.rename(new)
    await ledger.refresh()
    buffer = hand.open(new)
    hand.type(buffer, "four", "typed\n")
    done = await ledger.revert()
    assert (done.reverted, len(done.conflicts)) == ((), 1)
    assert "unsaved" in done.problems[0]
    hand.save(buffer)
    await ledger.revert()
    assert old.read_text() == LINES.replace("four", "typed\nfour")
    assert not new.exists()


@pytest.mark.parametrize("kind", ["link", "dangling", "folder", "pipe"])
async def test_D07_a_file_that_is_none_any_more_is_listed_and_left_alone(
    ledger: Ledger, tmp_path: Path, kind: str
) -> None:
    path, target = say(tmp_path / "ws" / "a", LINES), say(tmp_path / "outside", "secret\n")
    ledger.touch(path)
    path.unlink()
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(target if kind == "link" else tmp_path / "nowhere")
    await ledger.refresh()
    assert only(ledger).problem
    done = await ledger.revert()
    assert len(done.problems) == 1
    assert target.read_text() == "secret\n"
    assert not (tmp_path / "nowhere").exists()
    assert ledger.diff(path) == (LINES, LINES)
    # Once it is a file again it can be reviewed again.
    path.rmdir() if kind == "folder" else path.unlink()
    await agent_writes(ledger, path, CHANGED)
    assert only(ledger).problem is None
    await ledger.revert()
    assert path.read_text() == LINES


@pytest.mark.parametrize("data", [b"caf\xe9\n", "text\n".encode("utf-16"), b"a\0b"])
async def test_F13_a_report_of_what_is_no_utf8_changes_no_byte(
    ledger: Ledger, tmp_path: Path, data: bytes
) -> None:
    path = say(tmp_path / "a", data)
    ledger.diff_reported(path, "caf\n", "cafe\n")
    await ledger.refresh()
    assert (path.read_bytes(), ledger.changes()) == (data, [])
    say(path, "caf\u00e9\n")
    ledger.diff_reported(path, "caf\ufffd\n", "caf\u00e9\n")
    await ledger.refresh()
    assert (only(ledger).status, only(ledger).binary) == ("modified", True)
    await ledger.revert()
    assert path.read_bytes() == data
    await ledger.undo()
    assert path.read_text("utf-8") == "caf\u00e9\n"


@pytest.mark.parametrize("snippet", ["}\n", "}", "", "\n"])
async def test_D04_a_piece_that_is_there_more_than_once_is_not_guessed_at(
    ledger: Ledger, tmp_path: Path, snippet: str
) -> None:
    text = "if a {\n}\n\n" * 9
    path = say(tmp_path / "a", text)
    ledger.diff_reported(path, "other\n", snippet)
    ledger.diff_reported(path, snippet, "other\n")
    await ledger.refresh()
    assert ledger.changes() == []
    assert path.read_text() == text


async def test_D07_binary_files_are_changed_as_a_whole(ledger: Ledger, tmp_path: Path) -> None:
    path = say(tmp_path / "a.png", b"\x89PNG\0" * 2000)
    await agent_writes(ledger, path, b"\x89PNG\0\1")
    assert (only(ledger).status, only(ledger).binary) == ("modified", True)
    await ledger.revert(path, ids(ledger)[0])
    assert path.read_bytes() == b"\x89PNG\0" * 2000
    await ledger.undo()
    assert path.read_bytes() == b"\x89PNG\0\1"
    await ledger.keep(hunk_id=ids(ledger)[0])
    assert ledger.changes() == []


async def test_D10_a_hunk_comes_back_with_the_line_ends_of_its_file(
    ledger: Ledger, files: Files, tmp_path: Path
) -> None:
    windows = LINES.replace("\n", "\r\n")
    path = say(tmp_path / "a.bat", windows)
    ledger.touch(path)
    outcome = await files.write(path, CHANGED, seen=windows, author=ledger)
    ledger.wrote(path, outcome)
    assert len(ids(ledger)) == 3
    await ledger.revert(hunk_id=ids(ledger)[1])
    assert path.read_bytes() == CHANGED.replace("FIVE", "five").replace("\n", "\r\n").encode()
    await ledger.revert()
    assert path.read_bytes() == windows.encode()


@pytest.mark.parametrize(
    ("before", "after"),
    [("a\nb", "a\nb\nc"), ("a\nb", "a\nb\n"), ("a\nb\n", "a\nb"), ("a\nb\nc", "a\n"), ("", "c")],
)
async def test_D11_a_last_line_without_an_end_comes_and_goes(
    ledger: Ledger, tmp_path: Path, before: str, after: str
) -> None:
    path = say(tmp_path / "a", before)
    await agent_writes(ledger, path, after)
    for _ in range(2):
        await ledger.revert(hunk_id=ids(ledger)[0])
        assert path.read_bytes() == before.encode()
        await ledger.undo()
        assert path.read_bytes() == after.encode()


async def test_D11_two_last_lines_do_not_run_into_one(
    hand: Hand, ledger: Ledger, tmp_path: Path
) -> None:
    path = say(tmp_path / "a", "a\nb")
    await agent_writes(ledger, path, "a\nB\n")
    buffer = hand.open(path)
    hand.replace(buffer, len(buffer.text), 0, "typed\n")
    await ledger.refresh()
    await ledger.revert()
    assert buffer.text == "a\nb\ntyped\n"


async def test_D12_what_is_typed_while_a_revert_is_under_way_stays(
    hand: Hand, ledger: Ledger, tmp_path: Path
) -> None:
    path = say(tmp_path / "a", LINES)
    await agent_writes(ledger, path, CHANGED)
    buffer = hand.open(path)
    hand.type(buffer, "four", "typed\n")

    async def types_first(hand: Hand, edit: manners.DocumentEdit) -> object:
        hand.manner = manners.takes_it
        hand.type(buffer, "four", "more\n")
        return await manners.takes_it(hand, edit)

    hand.manner = types_first
    done = await ledger.revert()
    if done.conflicts:
        assert done.problems
        await ledger.refresh()
        done = await ledger.revert()
    assert buffer.text == LINES.replace("four", "typed\nmore\nfour")
    assert hand.in_step()
    assert ledger.changes() == []


@pytest.mark.parametrize(
    ("manner", "comes_about"),
    [
        (manners.refuses, False),
        (manners.says_yes_and_does_nothing, False),
        (manners.never_answers, False),
        (manners.makes_it_and_never_answers, True),
        (manners.makes_it_and_answers_rubbish, True),
        (manners.shows_it_late, True),
    ],
)
async def test_D14_what_the_editor_answers_to_a_revert_does_not_count(
    hand: Hand, ledger: Ledger, tmp_path: Path, manner: manners.Manner, comes_about: bool
) -> None:
    path = say(tmp_path / "a", LINES)
    await agent_writes(ledger, path, CHANGED)
    buffer = hand.open(path)
    hand.type(buffer, "four", "typed\n")
    await ledger.refresh()
    waiting = ids(ledger)
    hand.manner = manner
    done = await ledger.revert(path)
    assert list(done.reverted if comes_about else done.conflicts) == waiting
    assert bool(done.problems) is not comes_about
    assert ids(ledger) == ([] if comes_about else waiting)
    text = LINES if comes_about else CHANGED
    assert buffer.text == text.replace("four", "typed\nfour")


async def test_D15_a_file_that_comes_back_is_not_made_in_the_editor(
    hand: Hand, ledger: Ledger, tmp_path: Path
) -> None:
    path = say(tmp_path / "a", LINES)
    buffer = hand.open(path)
    ledger.touch(path)
    path.unlink()
    await ledger.refresh()
    assert only(ledger).status == "deleted"
    await ledger.revert()
    assert path.read_text() == buffer.text == LINES
    assert hand.edits == []


async def test_D18_lines_end_only_where_the_editor_ends_them(
    ledger: Ledger, tmp_path: Path
) -> None:
    old = "a\x0cb\u2028c\x85d\n\x1ce\nf\n"
    path = say(tmp_path / "a", old)
    await agent_writes(ledger, path, old.replace("f", "F"))
    hunk = only(ledger).hunks[0].hunk
    assert (hunk.before_start, hunk.before_lines, hunk.after_start) == (2, 1, 2)
    await ledger.revert()
    assert path.read_bytes() == old.encode()


async def test_D19_a_lone_carriage_return_is_not_guessed_at(tmp_path: Path) -> None:
    hand = Hand()
    files = hand.files()
    ledger = Ledger(files)
    ledger.begin_turn()
    path = say(tmp_path / "a", "a\rb\nc\nd\ne\n")
    await agent_writes(ledger, path, "a\rb\nC\nd\ne\n")
    buffer = hand.open(path)
    hand.set(buffer, buffer.text.replace("e", "typed\ne"))
    await ledger.refresh()
    done = await ledger.revert()
    assert (done.reverted, len(done.conflicts)) == ((), 1)
    assert "saved first" in done.problems[0]
    assert buffer.text == "a\rb\nC\nd\ntyped\ne\n"
    hand.save(buffer)
    await ledger.refresh()
    await ledger.revert()
    assert path.read_bytes() == b"a\rb\nc\nd\ntyped\ne\n"


async def test_D20_a_revert_in_a_buffer_touches_no_other_line(
    hand: Hand, ledger: Ledger, tmp_path: Path
) -> None:
    lines = [f"line {number}\n" for number in range(20_000)]
    path = say(tmp_path / "a", "".join(lines))
    await agent_writes(ledger, path, "".join(lines).replace("line 15000\n", "changed\n"))
    buffer = hand.open(path)
    hand.type(buffer, "line 3\n", "typed\n")
    await ledger.refresh()
    await ledger.revert(hunk_id=ids(ledger)[0])
    [edit] = hand.edits[-1].edits
    assert edit.range.start.line == 15_001
    assert len(edit.new_text) < 20


# --- one hunk at a time -----------------------------------------------------------------


async def test_one_hunk_is_kept_another_reverted_and_both_come_back(
    ledger: Ledger, tmp_path: Path
) -> None:
    path = say(tmp_path / "a", LINES)
    await agent_writes(ledger, path, CHANGED)
    one, two, three = ids(ledger)
    assert (await ledger.keep(path, one)).to_json() == {
        "kept": [one],
        "reverted": [],
        "conflicts": [],
    }
    assert ids(ledger) == [two, three]
    assert (await ledger.revert(hunk_id=three)).reverted == (three,)
    assert ids(ledger) == [two]
    assert path.read_text() == CHANGED.replace("EIGHT", "eight")
    assert ledger.diff(path) == (LINES.replace("two", "TWO"), path.read_text())
    await ledger.undo()
    assert (path.read_text(), ids(ledger)) == (CHANGED, [two, three])
    await ledger.undo()
    assert ids(ledger) == [one, two, three]
    with pytest.raises(NoSuchHunk):
        await ledger.revert(hunk_id="no such")


@pytest.mark.parametrize("saved", [True, False])
async def test_only_the_hunk_the_user_has_touched_is_in_conflict(
    hand: Hand, ledger: Ledger, tmp_path: Path, saved: bool
) -> None:
    path = say(tmp_path / "a", LINES)
    await agent_writes(ledger, path, CHANGED)
    before = ids(ledger)
    buffer = hand.open(path)
    hand.type(buffer, "FIVE", "mine ")
    hand.type(buffer, "nine", "typed\n")
    if saved:
        hand.save(buffer)
    await ledger.refresh()
    assert ids(ledger) == before
    assert states(ledger) == ["waiting", "conflict", "waiting"]
    done = await ledger.revert()
    assert done.reverted == (before[0], before[2])
    assert done.conflicts == (before[1],)
    assert len(done.problems) == 1
    text = LINES.replace("five", "mine FIVE").replace("nine", "typed\nnine")
    assert (path.read_text() if saved else buffer.text) == text
    assert ids(ledger) == [before[1]]
    assert (await ledger.revert(hunk_id=before[1])).conflicts == (before[1],)
    await ledger.undo()
    assert ids(ledger) == before


async def test_equal_hunks_keep_different_ids_when_one_goes(ledger: Ledger, tmp_path: Path) -> None:
    path = say(tmp_path / "a", LINES * 3)
    await agent_writes(ledger, path, (LINES * 3).replace("two", "TWO"))
    one, two, three = ids(ledger)
    await ledger.revert(hunk_id=one)
    assert ids(ledger) == [two, three]
    # The same change at the same place is another one.
    await agent_writes(ledger, path, (LINES * 3).replace("two", "TWO"))
    again = ids(ledger)
    assert again[1:] == [two, three]
    assert again[0] not in (one, two, three)


async def test_a_write_that_follows_one_of_the_agents_own_is_all_the_agents(
    ledger: Ledger, files: Files, tmp_path: Path
) -> None:
    path = say(tmp_path / "a", LINES)
    ledger.touch(path)
    first = say(path, LINES.replace("two", "TWO")).read_text()
    outcome = await files.write(path, CHANGED, seen=first, author=ledger)
    ledger.wrote(path, outcome)
    assert len(ids(ledger)) == 3
    await ledger.revert()
    assert path.read_text() == LINES


@pytest.mark.parametrize("new", [f"NEW\n{LINES}", LINES.replace("one", "ONE")])
async def test_a_mark_the_buffer_did_not_show_outlives_a_revert(
    hand: Hand, ledger: Ledger, files: Files, tmp_path: Path, new: str
) -> None:
    path = say(tmp_path / "a", b"\xef\xbb\xbf" + LINES.encode())
    ledger.touch(path)
    buffer = hand.open(path)
    hand.type(buffer, "nine", "typed\n")
    await ledger.refresh()
    text = new.replace("nine", "typed\nnine")
    ledger.wrote(path, await files.write(path, text, seen=buffer.text, author=ledger))
    say(path, b"\xef\xbb\xbf" + buffer.text.encode())
    hand.documents.save(buffer.uri)
    await ledger.refresh()
    assert len(ids(ledger)) == 1
    await ledger.revert()
    assert path.read_bytes() == b"\xef\xbb\xbf" + LINES.replace("nine", "typed\nnine").encode()


# --- files that the agent made and the user has edited ----------------------------------


@pytest.mark.parametrize("content", ["mine\n", b"\x89PNG\0 mine"])
async def test_a_made_file_that_the_user_has_edited_goes_by_the_user_s_word_only(
    ledger: Ledger, tmp_path: Path, content: str | bytes
) -> None:
    path, other = tmp_path / "made", tmp_path / "other"
    await agent_writes(ledger, path, b"\x89PNG\0")
    await agent_writes(ledger, other, "the agent's\n")
    ledger.end_turn()
    mine = say(path, content).read_bytes()
    done = await ledger.revert()
    assert not other.exists()
    assert path.read_bytes() == mine
    [edited] = done.edited
    assert (edited.path, edited.id) == (path, done.conflicts[0])
    say(path, "typed since\n")
    assert (await ledger.delete(done.edited)).conflicts == (edited.id,)
    assert path.read_text() == "typed since\n"
    done = await ledger.delete((await ledger.revert()).edited)
    assert done.reverted == (edited.id,)
    assert not path.exists()
    await ledger.undo()
    assert path.read_text() == "typed since\n"
    assert states(ledger) == ["conflict"]


@pytest.mark.parametrize("how", ["rename", "write"])
@pytest.mark.parametrize("made", [True, False])
async def test_what_the_user_did_to_a_file_outlives_a_move_by_the_agent(
    ledger: Ledger, tmp_path: Path, how: str, made: bool
) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    if not made:
        say(old, LINES)
    await agent_writes(ledger, old, CHANGED)
    ledger.end_turn()
    mine = say(old, CHANGED.replace("FIVE", "mine FIVE")).read_text()
    await ledger.refresh()
    ledger.begin_turn()
    ledger.touch(new)
    if how == "rename":
        old.rename(new)
    else:
        old.unlink()
        say(new, mine)
    await ledger.refresh()
    assert only(ledger).path == new
    done = await ledger.revert()
    assert len(done.conflicts) == 1
    if made:
        assert new.read_text() == mine
        assert [each.path for each in done.edited] == [new]
    else:
        assert old.read_text() == LINES.replace("five", "mine FIVE")
        assert done.edited == ()


# --- checkpoints ------------------------------------------------------------------------


@pytest.mark.parametrize("restarted", [False, True])
async def test_a_checkpoint_brings_back_all_but_what_the_user_did(
    hand: Hand, tmp_path: Path, restarted: bool
) -> None:
    files, root, folder = hand.files(), tmp_path / "ws", tmp_path / "checkpoints"

    def ledger_of() -> Ledger:
        return Ledger(files, within=lambda path: root in path.parents, checkpoints=folder)

    ledger = ledger_of()
    changed, deleted = say(root / "changed", LINES), say(root / "deleted", b"\0binary")
    ledger.begin_turn(time=1.5, label="first")
    await agent_writes(ledger, changed, LINES.replace("two", "TWO"))
    ledger.end_turn()
    ledger.begin_turn(time=2.5, label="second")
    ledger.touch(deleted)
    await agent_writes(ledger, changed, CHANGED)
    await agent_writes(ledger, root / "made" / "new", "hello\n")
    deleted.unlink()
    ledger.end_turn()
    await ledger.keep()
    say(changed, CHANGED + "the user's\n")
    await ledger.refresh()
    if restarted:
        ledger.close()
        ledger = ledger_of()
        ledger.load()
    told = [(each.turn, each.time, each.label) for each in ledger.checkpoints()]
    assert told == [(1, 1.5, "first"), (2, 2.5, "second")]
    first, second = (each.id for each in ledger.checkpoints())
    done = await ledger.restore(second)
    assert done.conflicts == done.problems == ()
    assert changed.read_text() == LINES.replace("two", "TWO") + "the user's\n"
    assert deleted.read_bytes() == b"\0binary"
    assert not (root / "made" / "new").exists()
    await ledger.restore(first)
    assert changed.read_text() == LINES + "the user's\n"
    await ledger.undo()
    await ledger.undo()
    assert changed.read_text() == CHANGED + "the user's\n"
    assert (root / "made" / "new").read_text() == "hello\n"
    assert not deleted.exists()
    with pytest.raises(LookupError):
        await ledger.restore("no such")


async def test_a_checkpoint_leaves_lines_that_both_have_changed(
    hand: Hand, ledger: Ledger, files: Files, tmp_path: Path
) -> None:
    path, made = say(tmp_path / "a", LINES), tmp_path / "made"
    await agent_writes(ledger, path, CHANGED)
    await agent_writes(ledger, made, "hello\n")
    await ledger.keep()
    for each, before in ((path, "FIVE"), (made, "hello")):
        buffer = hand.open(each)
        hand.type(buffer, before, "mine ")
        hand.save(buffer)
        await ledger.refresh()
    done = await ledger.restore(ledger.checkpoints()[0].id)
    assert len(done.conflicts) == len(done.problems) == 2
    assert path.read_text() == LINES.replace("five", "mine FIVE")
    assert made.read_text() == "mine hello\n"


async def test_a_checkpoint_after_a_move_is_not_touched_by_taking_the_move_back(
    ledger: Ledger, tmp_path: Path
) -> None:
    old, new = say(tmp_path / "old", LINES), tmp_path / "new"
    for path in (old, new):
        ledger.touch(path)
    old.rename(new)
    ledger.end_turn()
    ledger.begin_turn()
    await ledger.revert()
    assert old.exists()
    await ledger.restore(ledger.checkpoints()[1].id)
    assert not old.exists()
    assert new.read_text() == LINES
    await ledger.restore(ledger.checkpoints()[0].id)
    assert old.read_text() == LINES
    assert not new.exists()


async def test_a_journal_that_was_cut_off_costs_only_its_last_line(
    files: Files, tmp_path: Path
) -> None:
    path, folder = say(tmp_path / "ws" / "a", LINES), tmp_path / "checkpoints"
    ledger = Ledger(files, checkpoints=folder)
    ledger.begin_turn(label="it was cut")
    await agent_writes(ledger, path, CHANGED)
    with (folder / "journal.ndjson").open("ab") as journal:
        journal.write(b'{"path": "/half')
    again = Ledger(files, within=lambda path: True, checkpoints=folder)
    again.load()
    [checkpoint] = again.checkpoints()
    await again.restore(checkpoint.id)
    assert path.read_text() == LINES


async def test_old_checkpoints_go_and_the_others_stay_right(
    files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("acp_sidecar.workspace.history.MOST_CHECKPOINTS", 3)
    folder, path = tmp_path / "checkpoints", say(tmp_path / "ws" / "a", "0\n" + LINES)
    late = tmp_path / "ws" / "late"

    def new_ledger() -> Ledger:
        return Ledger(files, within=lambda path: True, checkpoints=folder)

    ledger = new_ledger()
    for number in range(1, 9):
        ledger.begin_turn(label=str(number))
        await agent_writes(ledger, path, f"{number}\n" + LINES)
        if number == 7:
            await agent_writes(ledger, late, "new\n")
        ledger.end_turn()
    for again in (False, True):
        if again:
            ledger.close()
            ledger = new_ledger()
            ledger.load()
        assert [each.label for each in ledger.checkpoints()] == ["6", "7", "8"]
        for checkpoint, said in zip(ledger.checkpoints(), ("5", "6", "7"), strict=True):
            assert (await ledger.restore(checkpoint.id)).problems == ()
            assert path.read_text() == f"{said}\n" + LINES
            assert late.exists() == (said == "7")
            await ledger.undo()
            assert path.read_text() == "8\n" + LINES
    journal = (folder / "journal.ndjson").read_text().splitlines()
    assert sum('"checkpoint"' in line for line in journal) == 3
    contents = [each for each in (folder / "contents").rglob("*") if each.is_file()]
    assert len(contents) <= 6


async def test_checkpoints_that_need_too_much_go_but_for_the_last(
    files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("acp_sidecar.workspace.history.MOST_BYTES", 100_000)
    folder, path = tmp_path / "checkpoints", say(tmp_path / "ws" / "a", LINES)
    ledger = Ledger(files, within=lambda path: True, checkpoints=folder)
    for number in range(20):
        ledger.begin_turn(label=str(number))
        await agent_writes(ledger, path, f"{number}\n" * 10_000)
        ledger.end_turn()
    labels = [each.label for each in ledger.checkpoints()]
    assert 1 <= len(labels) <= 6
    assert labels[-1] == "19"
    await ledger.restore(ledger.checkpoints()[-1].id)
    assert path.read_text() == "18\n" * 10_000


async def test_the_journal_does_not_grow_with_every_write(
    files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("acp_sidecar.workspace.history._SPARE_LINES", 20)
    folder, path = tmp_path / "checkpoints", say(tmp_path / "ws" / "a", LINES)
    ledger = Ledger(files, within=lambda path: True, checkpoints=folder)
    ledger.begin_turn(label="only")
    for number in range(200):
        await agent_writes(ledger, path, f"{number}\n" * (number + 1))
    assert len((folder / "journal.ndjson").read_text().splitlines()) < 60
    again = Ledger(files, within=lambda path: True, checkpoints=folder)
    again.load()
    await again.restore(again.checkpoints()[0].id)
    assert path.read_text() == LINES


# --- what the agent is told -------------------------------------------------------------


async def test_the_agent_learns_what_was_reverted_and_what_the_user_changed(
    hand: Hand, ledger: Ledger, tmp_path: Path
) -> None:
    path, others = say(tmp_path / "a", LINES), say(tmp_path / "b", LINES)
    ledger.touch(others)
    await agent_writes(ledger, path, CHANGED)
    ledger.end_turn()
    assert not ledger.news_for_agent()
    one, two, _ = ids(ledger)
    await ledger.revert(hunk_id=one)
    await ledger.revert(hunk_id=two)
    await ledger.undo()
    for each in (path, others):
        say(each, each.read_text().replace("nine", "typed\nnine"))
    news = ledger.news_for_agent()
    assert [(each.path, each.before, each.after) for each in news.reverted] == [
        (path, "two\n", "TWO\n")
    ]
    [edited] = news.edited
    assert edited.path == path
    assert [(each.line, each.before, each.after) for each in edited.changes] == [(8, "", "typed\n")]
    ledger.begin_turn()
    assert not ledger.news_for_agent()


# --- memory -----------------------------------------------------------------------------


async def test_large_baselines_go_to_disk_and_with_the_session(
    files: Files, tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
    baselines = Baselines(cache, memory=100_000)
    ledger = Ledger(files, baselines=baselines)
    ledger.begin_turn()
    old = {
        say(tmp_path / "ws" / str(number), f"{number}\n{'x' * 50_000}\n"): number
        for number in range(8)
    }
    for path, number in old.items():
        await agent_writes(ledger, path, f"new {number}\n{'y' * 50_000}\n")
    assert len(ids(ledger)) == 8
    assert sum(path.is_file() for path in baselines.folder.rglob("*")) >= 8
    assert not any(path.stat().st_mode & 0o077 for path in baselines.folder.rglob("*"))
    await ledger.revert()
    for path, number in old.items():
        assert path.read_text() == f"{number}\n{'x' * 50_000}\n"
    ledger.close()
    assert list(cache.iterdir()) == []


def test_what_dead_sessions_left_is_removed_and_nothing_of_living_ones(tmp_path: Path) -> None:
    mine = Baselines(tmp_path, memory=0)
    held = mine.shelf.hold("x" * 10_000)
    code = (
        "import os, sys; from pathlib import Path\n"
        "from acp_sidecar.workspace.baselines import Baselines\n"
        "its = Baselines(Path(sys.argv[1]), memory=0); held = its.shelf.hold('y' * 10_000)\n"
        "print(its.folder, flush=True); os._exit(1)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    left = Path(done.stdout.strip())
    assert left.is_dir(), done.stderr
    assert held.get() == "x" * 10_000
    another = Baselines(tmp_path, memory=0)
    assert not left.exists()
    assert held.get() == "x" * 10_000
    for each in (mine, another):
        each.close()
    assert list(tmp_path.iterdir()) == []


async def test_a_baseline_somebody_has_removed_costs_only_its_file(
    files: Files, tmp_path: Path
) -> None:
    baselines = Baselines(tmp_path / "cache", memory=0)
    ledger = Ledger(files, baselines=baselines)
    ledger.begin_turn()
    large, small = say(tmp_path / "large", "x\n" * 9000), say(tmp_path / "small", LINES)
    await agent_writes(ledger, large, "y\n" * 9000)
    await agent_writes(ledger, small, CHANGED)
    for path in baselines.folder.rglob("*"):
        if path.is_file():
            path.unlink()
    done = await ledger.revert()
    assert len(done.conflicts) == len(done.problems) == 1
    assert large.read_text() == "y\n" * 9000
    assert small.read_text() == LINES


# --- what cannot be kept ----------------------------------------------------------------


async def test_a_file_too_large_to_be_kept_is_said_to_have_changed(
    hand: Hand, tmp_path: Path
) -> None:
    ledger = Ledger(hand.files(limit=1000), within=lambda path: True)
    ledger.begin_turn()
    huge, gone, made = (tmp_path / name for name in ("huge", "gone", "made"))
    for path in (huge, gone):
        say(path, "x\n" * 1000)
    for path in (huge, gone, made):
        ledger.touch(path)
    assert ledger.changes() == []
    say(huge, "y\n" * 2000)
    gone.unlink()
    say(made, "z\n" * 2000)
    await ledger.refresh()
    told = {change.path: change for change in ledger.changes()}
    assert {path.name: told[path].status for path in told} == {
        "huge": "modified",
        "gone": "deleted",
        "made": "created",
    }
    for path in (huge, made):
        assert "limit is 1,000" in str(told[path].to_json()["problem"])
    done = await ledger.revert()
    assert any(str(huge) in problem and "limit" in problem for problem in done.problems)
    assert huge.read_text() == "y\n" * 2000
    await ledger.keep()
    assert huge not in {change.path for change in ledger.changes()}
    ledger.end_turn()
    say(huge, "the user's\n" * 2000)
    await ledger.refresh()
    assert huge not in {change.path for change in ledger.changes()}


async def test_half_a_gigabyte_is_not_read_at_each_look(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = say(tmp_path / "huge", "x")
    os.truncate(path, 500_000_000)
    read = 0
    real_read = os.read

    def counted(handle: int, size: int) -> bytes:
        nonlocal read
        data = real_read(handle, size)
        read += len(data)
        return data

    monkeypatch.setattr(os, "read", counted)
    for size in (400_000_000, 450_000_000, 500_000_000):
        ledger.touch(path)
        os.truncate(path, size)
        await ledger.refresh()
        assert ledger.diff(path) is None
    os.truncate(path, 300_000_000)
    await ledger.refresh()
    assert "limit is 10,000,000" in str(only(ledger).problem)
    assert read == 0


async def test_a_file_that_grows_too_large_is_still_listed(hand: Hand, tmp_path: Path) -> None:
    ledger = Ledger(hand.files(limit=1000), within=lambda path: True)
    ledger.begin_turn()
    path = say(tmp_path / "a", LINES)
    await agent_writes(ledger, path, "y\n" * 2000)
    assert "limit is 1,000" in str(only(ledger).to_json()["problem"])
    await agent_writes(ledger, path, CHANGED)
    assert "problem" not in only(ledger).to_json()
    await ledger.revert()
    assert path.read_text() == LINES


async def test_of_too_many_files_the_rest_is_said_not_to_be_kept(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("acp_sidecar.workspace.tracked.MOST_FILES", 3)
    monkeypatch.setattr("acp_sidecar.workspace.unkept._MOST_UNKEPT", 2)
    paths = [say(tmp_path / str(number), LINES) for number in range(9)]
    for path in paths:
        ledger.touch(path)
    for path in paths:
        say(path, CHANGED)
    await ledger.refresh()
    *kept, first, last = ledger.changes()
    assert [len(change.hunks) for change in kept] == [3, 3, 3]
    assert "Of more than 3 files" in str(first.problem)
    assert "Of 4 more files it is not even known" in str(last.problem)
    done = await ledger.revert()
    assert len(done.problems) == 2
    assert [path.read_text() for path in paths] == [LINES] * 3 + [CHANGED] * 6


async def test_a_folder_of_many_files_that_moves_is_found_file_by_file(
    ledger: Ledger, tmp_path: Path
) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    for number in range(300):
        ledger.touch(say(old / str(number), f"{number}\n"))
        ledger.touch(new / str(number))
    new.mkdir()
    for path in old.iterdir():
        text = path.read_text()
        path.unlink()
        say(new / path.name, text)
    await ledger.refresh()
    assert {change.status for change in ledger.changes()} == {"renamed"}
    assert all(Path(str(change.old_uri)).name == change.path.name for change in ledger.changes())
