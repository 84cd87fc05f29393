"""What the user has done is the user's, before, while and after the agent writes."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acp_sidecar.workspace.files import Files
from acp_sidecar.workspace.ledger import Ledger
from tests.workspace import hand as manners
from tests.workspace.disk import say
from tests.workspace.hand import Hand
from tests.workspace.ledger.changes import (
    CHANGED,
    LINES,
    WORDS,
    agent_writes,
    only,
    states,
    write,
)


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


async def test_a_saving_of_which_we_hear_after_the_agent_s_next_write_is_the_users(
    hand: Hand, files: Files, ledger: Ledger, tmp_path: Path
) -> None:
    """Editors that save by themselves do so between any two writes."""
    path = say(tmp_path / "a.txt", LINES)
    buffer = hand.open(path)
    await write(ledger, files, path, LINES.replace("two", "TWO"), LINES)
    seen = buffer.text
    hand.type(buffer, "seven", "typed ")
    say(path, buffer.text)
    await write(ledger, files, path, seen.replace("TWO", "Two"), seen)
    hand.documents.save(buffer.uri)
    await ledger.refresh()
    assert states(ledger) == ["waiting"]
    await ledger.revert()
    assert path.read_text() == LINES.replace("seven", "typed seven")


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
