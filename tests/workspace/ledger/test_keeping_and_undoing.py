"""Keeping, reverting and undoing, by turns and by hunks, and what the agent is told of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from acp_sidecar.workspace.files import Files
from acp_sidecar.workspace.ledger import Ledger, NoSuchHunk
from tests.workspace.disk import say
from tests.workspace.hand import Hand
from tests.workspace.ledger.changes import CHANGED, LINES, agent_writes, ids, only, states, write


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
