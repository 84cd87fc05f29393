"""One answer to what a file says, and the only writer: against real files and an editor."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

import pytest

from acp_sidecar.workspace.documents import Documents, Habits, TextChange
from acp_sidecar.workspace.edits import DocumentEdit
from acp_sidecar.workspace.files import FileProblem, Files, FileText, Missing, window
from acp_sidecar.workspace.uris import path_to_uri
from tests.workspace import hand as manners
from tests.workspace.hand import ANSWER, SETTLE, Hand, Manner


def say(path: Path, text: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


async def problem(awaited: object) -> FileProblem:
    with pytest.raises(FileProblem) as caught:
        await awaited  # type: ignore[misc]
    return caught.value


LINES = "one\ntwo\nthree\nfour\nfive\n"


# --- a text that has moved on ---------------------------------------------------------------


async def test_F01_typing_since_the_read_survives_the_write(hand: Hand, tmp_path: Path) -> None:
    path = say(tmp_path / "a.py", LINES)
    files = hand.files()
    buffer = hand.open(path)
    seen = await files.read(path)
    hand.type(buffer, "one", "typed\n")
    outcome = await files.write(path, LINES.replace("four", "FOUR"), seen=seen)
    assert buffer.text == "typed\none\ntwo\nthree\nFOUR\nfive\n"
    assert outcome.merged
    assert outcome.text == buffer.text
    assert path.read_text() == LINES, "unsaved, as the user left it"
    assert hand.edits[0].version == 2
    assert hand.in_step()


async def test_F01_typing_in_the_same_lines_is_never_overwritten(
    hand: Hand, tmp_path: Path
) -> None:
    path = say(tmp_path / "a.py", LINES)
    files = hand.files()
    buffer = hand.open(path)
    seen = await files.read(path)
    hand.type(buffer, "four", "mine and ")
    typed = buffer.text
    refusal = await problem(files.write(path, LINES.replace("four", "FOUR"), seen=seen))
    assert refusal.kind == "changed"
    assert "Read it again" in str(refusal)
    assert buffer.text == typed
    assert path.read_text() == LINES
    assert hand.edits == []
    # What it is told to do works.
    seen = await files.read(path)
    assert seen == typed
    await files.write(path, seen.replace("mine", "ours"), seen=seen)
    assert buffer.text == typed.replace("mine", "ours")


async def test_F01_a_file_saved_by_somebody_else_is_merged_or_refused(
    hand: Hand, tmp_path: Path
) -> None:
    path = say(tmp_path / "a.py", LINES)
    files = hand.files()
    seen = await files.read(path)
    say(path, "typed and saved\n" + LINES)
    await files.write(path, LINES + "six\n", seen=seen)
    assert path.read_text() == "typed and saved\n" + LINES + "six\n"
    say(path, LINES.replace("two", "2"))
    refusal = await problem(files.write(path, LINES.replace("two", "zwei"), seen=LINES))
    assert refusal.kind == "changed"
    assert path.read_text() == LINES.replace("two", "2")


async def test_F01_a_second_write_from_what_the_agent_wrote_keeps_the_merge(
    hand: Hand, tmp_path: Path
) -> None:
    path = say(tmp_path / "a.py", LINES)
    files = hand.files()
    buffer = hand.open(path)
    hand.type(buffer, "one", "typed\n")
    first = LINES.replace("four", "FOUR")
    await files.write(path, first, seen=LINES)
    await files.write(path, first.replace("five", "FIVE"), seen=first)
    assert buffer.text == "typed\none\ntwo\nthree\nFOUR\nFIVE\n"


async def test_F01_who_never_read_the_file_cannot_overwrite_unsaved_text(
    hand: Hand, tmp_path: Path
) -> None:
    path = say(tmp_path / "a.py", LINES)
    files = hand.files()
    buffer = hand.open(path)
    hand.type(buffer, "one", "typed\n")
    await files.write(path, LINES.replace("four", "FOUR"))
    assert buffer.text == "typed\none\ntwo\nthree\nFOUR\nfive\n", "made from the disk"
    text = buffer.text
    assert (await problem(files.write(path, "all new\n"))).kind == "changed"
    assert buffer.text == text
    new = tmp_path / "new.py"
    other = hand.open(new, text="")
    hand.set(other, "begun\n")
    assert (await problem(files.write(new, "by the agent\n"))).kind == "changed"
    assert other.text == "begun\n"


async def test_F01_who_saw_the_unsaved_text_may_change_it(hand: Hand, tmp_path: Path) -> None:
    path = say(tmp_path / "a.py", LINES)
    files = hand.files()
    buffer = hand.open(path)
    hand.type(buffer, "one", "typed\n")
    seen = await files.read(path)
    await files.write(path, "all new\n", seen=seen)
    assert buffer.text == "all new\n"
    assert path.read_text() == LINES


# --- edits that do not come about -----------------------------------------------------------


@pytest.mark.parametrize(
    "manner",
    [
        manners.refuses,
        manners.never_answers,
        manners.says_yes_and_does_nothing,
    ],
)
async def test_F02_success_is_said_only_of_what_the_editor_shows(
    hand: Hand, tmp_path: Path, manner: Manner
) -> None:
    path = say(tmp_path / "a.py", LINES)
    files = hand.files()
    buffer = hand.open(path)
    hand.type(buffer, "one", "typed\n")
    hand.manner = manner
    seen = await files.read(path)
    started = time.perf_counter()
    refusal = await problem(files.write(path, seen.replace("four", "FOUR"), seen=seen))
    assert refusal.kind == "refused_by_editor"
    assert time.perf_counter() - started < ANSWER + 2 * SETTLE + 1
    assert "FOUR" not in buffer.text + path.read_text()
    # Nothing is left over: the next write goes through.
    hand.manner = manners.takes_it
    await files.write(path, seen.replace("four", "FOUR"), seen=seen)
    assert "FOUR" in buffer.text


@pytest.mark.parametrize(
    "manner",
    [
        manners.makes_it_and_answers_rubbish,
        manners.makes_it_and_never_answers,
        manners.shows_it_late,
    ],
)
async def test_D14_whatever_the_answer_the_text_decides(
    hand: Hand, tmp_path: Path, manner: Manner
) -> None:
    path = say(tmp_path / "a.py", LINES)
    files = hand.files()
    buffer = hand.open(path)
    hand.type(buffer, "one", "typed\n")
    hand.manner = manner
    seen = await files.read(path)
    outcome = await files.write(path, seen.replace("four", "FOUR"), seen=seen)
    assert outcome.where == "buffer"
    assert buffer.text == "typed\none\ntwo\nthree\nFOUR\nfive\n"
    assert len(hand.edits) == 1
    assert hand.in_step()


async def test_F02_an_editor_that_will_not_follow_does_not_undo_the_disk(
    hand: Hand, tmp_path: Path
) -> None:
    """A clean file is written to disk, which is then what it says; the editor only lags."""
    path = say(tmp_path / "a.py", LINES)
    files = hand.files()
    hand.open(path)
    hand.manner = manners.refuses
    await files.write(path, "new\n", seen=LINES)
    assert path.read_text() == "new\n"
    assert await files.read(path) == "new\n"


async def test_D12_typing_before_the_edit_arrives_makes_it_anew(hand: Hand, tmp_path: Path) -> None:
    path = say(tmp_path / "a.py", LINES)
    files = hand.files()
    buffer = hand.open(path)
    hand.type(buffer, "one", "typed\n")
    seen = await files.read(path)

    async def types_first(hand: Hand, edit: DocumentEdit) -> object:
        if len(hand.edits) == 1:
            hand.type(buffer, "typed", "while you were at it\n")
        hand.check_version(edit)
        hand.make(edit)
        return None

    hand.manner = types_first
    await files.write(path, seen.replace("four", "FOUR"), seen=seen)
    assert buffer.text == "while you were at it\ntyped\none\ntwo\nthree\nFOUR\nfive\n"
    assert [edit.version for edit in hand.edits] == [2, 3]


async def test_D12_an_edit_skipped_without_a_word_is_made_anew(hand: Hand, tmp_path: Path) -> None:
    """Neovim says ``applied: true`` to an edit of a stale version, and skips it."""
    path = say(tmp_path / "a.py", LINES)
    files = hand.files()
    buffer = hand.open(path)
    hand.type(buffer, "one", "typed\n")
    seen = await files.read(path)

    async def skips(hand: Hand, edit: DocumentEdit) -> object:
        if len(hand.edits) == 1:
            hand.type(buffer, "two", "one and a half\n")
        if buffer.version == edit.version:
            hand.make(edit)
        return {"applied": True}

    hand.manner = skips
    await files.write(path, seen.replace("four", "FOUR"), seen=seen)
    assert buffer.text == "typed\none\none and a half\ntwo\nthree\nFOUR\nfive\n"


async def test_D12_typing_after_the_edit_is_no_failure(hand: Hand, tmp_path: Path) -> None:
    path = say(tmp_path / "a.py", LINES)
    files = hand.files()
    buffer = hand.open(path)
    hand.type(buffer, "one", "typed\n")
    seen = await files.read(path)

    async def types_on(hand: Hand, edit: DocumentEdit) -> object:
        text = buffer.text
        hand.make(edit)
        hand.type(buffer, "FOUR", "more ")
        assert text != buffer.text
        return None

    hand.manner = types_on
    await files.write(path, seen.replace("four", "FOUR"), seen=seen)
    assert buffer.text == "typed\none\ntwo\nthree\nmore FOUR\nfive\n"
    assert len(hand.edits) == 1


async def test_D12_typing_that_arrives_together_with_the_edit(hand: Hand, tmp_path: Path) -> None:
    """Editors that gather changes send one message for both."""
    path = say(tmp_path / "a.py", LINES)
    files = hand.files()
    buffer = hand.open(path)
    hand.type(buffer, "one", "typed\n")
    seen = await files.read(path)

    async def gathers(hand: Hand, edit: DocumentEdit) -> object:
        hand.set(buffer, "more\n" + buffer.text.replace("four", "FOUR"))
        return None

    hand.manner = gathers
    await files.write(path, seen.replace("four", "FOUR"), seen=seen)
    assert buffer.text == "more\ntyped\none\ntwo\nthree\nFOUR\nfive\n"
    assert len(hand.edits) == 1


async def test_D12_an_edit_in_the_wrong_place_is_said_and_not_repaired(
    hand: Hand, tmp_path: Path
) -> None:
    """VS Code can apply a versioned edit to a newer text."""
    path = say(tmp_path / "a.py", LINES)
    files = hand.files()
    buffer = hand.open(path)
    hand.type(buffer, "one", "typed\n")
    seen = await files.read(path)

    async def misplaces(hand: Hand, edit: DocumentEdit) -> object:
        hand.type(buffer, "typed", "a line more\n")
        hand.make(edit)
        return {"applied": True}

    hand.manner = misplaces
    refusal = await problem(files.write(path, seen.replace("four\n", "FOUR\n4\n"), seen=seen))
    assert refusal.kind == "misplaced"
    assert "Undo" in str(refusal)
    assert len(hand.edits) == 1


async def test_D12_an_editor_that_never_stands_still_is_given_up_on(
    hand: Hand, tmp_path: Path
) -> None:
    path = say(tmp_path / "a.py", LINES)
    files = hand.files()
    buffer = hand.open(path)
    hand.type(buffer, "one", "typed\n")
    seen = await files.read(path)

    async def types_every_time(hand: Hand, edit: DocumentEdit) -> object:
        hand.type(buffer, "one", f"{len(hand.edits)}\n")
        hand.check_version(edit)
        return None

    hand.manner = types_every_time
    refusal = await problem(files.write(path, seen.replace("four", "FOUR"), seen=seen))
    assert refusal.kind == "changed"
    assert 2 <= len(hand.edits) <= 5
    assert "FOUR" not in buffer.text


async def test_writes_of_one_file_go_one_after_the_other(hand: Hand, tmp_path: Path) -> None:
    path = say(tmp_path / "a.py", LINES)
    files = hand.files()
    buffer = hand.open(path)
    hand.type(buffer, "one", "typed\n")
    hand.manner = manners.shows_it_late
    seen = await files.read(path)
    async with asyncio.TaskGroup() as group:
        group.create_task(files.write(path, seen.replace("two", "TWO"), seen=seen))
        group.create_task(files.write(path, seen.replace("four", "FOUR"), seen=seen))
        read = group.create_task(files.read(path))
    assert buffer.text == "typed\none\nTWO\nthree\nFOUR\nfive\n"
    assert read.result() == buffer.text, "asked after the writes, told after them"


async def test_a_file_closed_while_it_is_edited_is_looked_at_again(
    hand: Hand, tmp_path: Path
) -> None:
    path = say(tmp_path / "a.py", LINES)
    files = hand.files()
    buffer = hand.open(path)
    hand.type(buffer, "one", "typed\n")
    seen = await files.read(path)

    async def is_closed(hand: Hand, edit: DocumentEdit) -> object:
        hand.save(buffer)
        hand.close(buffer)
        return None

    hand.manner = is_closed
    outcome = await files.write(path, seen.replace("four", "FOUR"), seen=seen)
    assert outcome.where == "disk"
    assert path.read_text() == "typed\none\ntwo\nthree\nFOUR\nfive\n"


# --- clean files ----------------------------------------------------------------------------


async def test_F04_what_the_agent_wrote_itself_is_not_written_again(
    hand: Hand, tmp_path: Path
) -> None:
    path = say(tmp_path / "a.go", LINES)
    files = hand.files()
    buffer = hand.open(path)
    say(path, LINES.replace("two", "TWO"))
    stamp = path.stat().st_mtime_ns
    outcome = await files.write(path, LINES.replace("two", "TWO"), seen=LINES)
    assert outcome.where == "nowhere"
    assert hand.edits == []
    assert path.stat().st_mtime_ns == stamp
    assert buffer.text == LINES
    # The editor has loaded it meanwhile: still nothing to do.
    hand.reload(buffer)
    assert (await files.write(path, LINES.replace("two", "TWO"))).where == "nowhere"


async def test_F04_an_insertion_lands_once_whoever_made_it(hand: Hand, tmp_path: Path) -> None:
    path = say(tmp_path / "a.go", LINES)
    files = hand.files()
    buffer = hand.open(path)
    inserted = LINES.replace("three\n", "three\nnew\n")
    hand.type(buffer, "one", "typed\n")
    say(path, inserted)
    await files.write(path, inserted)
    assert buffer.text == "typed\n" + inserted
    await files.write(path, inserted)
    assert buffer.text == "typed\n" + inserted
    assert len(hand.edits) == 1


async def test_F05_a_clean_file_says_what_is_on_disk(hand: Hand, tmp_path: Path) -> None:
    path = say(tmp_path / "a.txt", "a\n")
    files = hand.files()
    buffer = hand.open(path)
    say(path, "b\n")
    assert await files.read(path) == "b\n"
    hand.reload(buffer)
    assert await files.read(path) == "b\n"
    say(path, "c\n")
    assert await files.read(path) == "c\n", "loading it did not make it the user's"
    hand.type(buffer, "b", "typed ")
    assert await files.read(path) == "typed b\n"
    hand.save(buffer)
    say(path, "d\n")
    assert await files.read(path) == "d\n"


async def test_F05_typed_and_taken_back_is_clean(hand: Hand, tmp_path: Path) -> None:
    path = say(tmp_path / "a.txt", "a\n")
    files = hand.files()
    buffer = hand.open(path)
    hand.type(buffer, "a", "x")
    assert await files.read(path) == "xa\n"
    hand.replace(buffer, 0, 1, "")
    say(path, "b\n")
    assert await files.read(path) == "b\n"


async def test_a_clean_file_is_written_to_disk_and_the_editor_follows(
    hand: Hand, tmp_path: Path
) -> None:
    path = say(tmp_path / "a.txt", LINES)
    files = hand.files()
    buffer = hand.open(path)
    outcome = await files.write(path, LINES.replace("two", "TWO"), seen=LINES)
    assert outcome.where == "disk"
    assert path.read_text() == buffer.text == LINES.replace("two", "TWO")
    document = hand.documents.get(buffer.uri)
    assert document is not None
    assert not document.dirty
    say(path, "and it stays clean\n")
    assert await files.read(path) == "and it stays clean\n"


async def test_an_editor_that_loads_the_file_itself_is_sent_no_edit(
    hand: Hand, tmp_path: Path
) -> None:
    path = say(tmp_path / "a.txt", LINES)
    files = hand.files()
    buffer = hand.open(path)
    hand.once_on_disk(path, LINES, lambda: hand.reload(buffer))
    await files.write(path, "new\n", seen=LINES)
    assert hand.edits == []
    assert buffer.text == path.read_text() == "new\n"
    document = hand.documents.get(buffer.uri)
    assert document is not None
    assert not document.dirty


async def test_an_editor_that_loads_the_file_by_opening_it_anew(hand: Hand, tmp_path: Path) -> None:
    """Neovim closes and opens a document that changed on disk."""
    path = say(tmp_path / "a.txt", LINES)
    files = hand.files()
    buffer = hand.open(path)

    def opens_anew() -> None:
        hand.close(buffer)
        hand.open(path)

    hand.once_on_disk(path, LINES, opens_anew)
    await files.write(path, "new\n", seen=LINES)
    assert hand.edits == []
    document = hand.documents.at(path)
    assert document is not None
    assert not document.dirty


async def test_typing_while_the_editor_is_brought_along_is_kept(hand: Hand, tmp_path: Path) -> None:
    path = say(tmp_path / "a.txt", LINES)
    files = hand.files()
    buffer = hand.open(path)
    hand.once_on_disk(path, LINES, lambda: hand.type(buffer, "one", "typed\n"))
    await files.write(path, LINES.replace("four", "FOUR"), seen=LINES)
    assert path.read_text() == LINES.replace("four", "FOUR")
    assert buffer.text == "typed\n" + LINES.replace("four", "FOUR")
    assert await files.read(path) == buffer.text, "what was typed is not saved"


async def test_typing_in_the_same_lines_meanwhile_takes_the_write_back(
    hand: Hand, tmp_path: Path
) -> None:
    path = say(tmp_path / "a.txt", LINES)
    files = hand.files()
    buffer = hand.open(path)
    hand.once_on_disk(path, LINES, lambda: hand.type(buffer, "four", "mine "))
    refusal = await problem(files.write(path, LINES.replace("four", "FOUR"), seen=LINES))
    assert refusal.kind == "changed"
    assert path.read_text() == LINES
    assert buffer.text == LINES.replace("four", "mine four")


async def test_a_document_opened_with_unsaved_text_is_not_clean(hand: Hand, tmp_path: Path) -> None:
    """After a restart of ours, or from the editor's own backup."""
    path = say(tmp_path / "a.txt", LINES)
    files = hand.files()
    buffer = hand.open(path, text="typed before you came\n" + LINES)
    assert await files.read(path) == buffer.text
    await files.write(path, LINES.replace("four", "FOUR"))
    assert buffer.text == "typed before you came\n" + LINES.replace("four", "FOUR")
    assert path.read_text() == LINES


async def test_what_comes_beneath_a_document_opened_with_unsaved_text_is_noticed(
    hand: Hand, tmp_path: Path
) -> None:
    path = say(tmp_path / "a.txt", LINES)
    files = hand.files()
    hand.open(path, text="typed before you came\n" + LINES)
    assert files.hidden(path) is None
    say(path, "other\n")
    assert files.hidden(path) == "other\n"


async def test_a_document_closed_and_opened_as_it_was_is_as_unsaved_as_before(
    hand: Hand, tmp_path: Path
) -> None:
    path = say(tmp_path / "a.txt", LINES)
    files = hand.files()
    buffer = hand.open(path)
    await files.read(path)
    say(path, "other\n")
    await files.read(path)
    hand.reload(buffer)
    await files.read(path)
    # Undone back to what the disk once said: unsaved all the same.
    hand.set(buffer, LINES)
    assert await files.read(path) == LINES
    hand.close(buffer)
    hand.open(path, text=LINES)
    assert await files.read(path) == LINES
    assert path.read_text() == "other\n"


async def test_an_editor_that_reloads_by_itself_may_take_its_time(
    hand: Hand, tmp_path: Path
) -> None:
    path = say(tmp_path / "a.txt", LINES)
    hand.documents.set_habits(Habits.of("An Editor", reloads=True))
    files, buffer = hand.files(settle=0.05), hand.open(path)
    hand.later(0.2, lambda: hand.reload(buffer))
    await files.write(path, "the agent's\n")
    assert (buffer.text, path.read_text(), hand.edits) == ("the agent's\n", "the agent's\n", [])


async def test_an_editor_that_reloads_by_itself_is_not_waited_for_once_the_user_types(
    hand: Hand, tmp_path: Path
) -> None:
    path = say(tmp_path / "a.txt", LINES)
    hand.documents.set_habits(Habits.of("An Editor", reloads=True))
    files, buffer = hand.files(settle=1.0), hand.open(path)
    hand.later(1.1, lambda: hand.type(buffer, "two", "typed\n"))
    async with asyncio.timeout(6):
        await files.write(path, LINES.replace("four", "FOUR"))
    assert buffer.text == LINES.replace("four", "FOUR").replace("two", "typed\ntwo")


async def test_what_the_user_types_into_while_it_is_written_can_still_be_saved(
    hand: Hand, tmp_path: Path
) -> None:
    """An editor refuses to save over a file that is newer than the one it has read."""
    path = say(tmp_path / "a.txt", LINES)
    before = path.stat().st_mtime_ns
    hand.documents.set_habits(Habits.of("An Editor", reloads=True))
    files, buffer = hand.files(settle=1.0), hand.open(path)
    hand.later(0.1, lambda: hand.type(buffer, "two", "typed\n"))
    async with asyncio.timeout(0.8):
        outcome = await files.write(path, LINES.replace("four", "FOUR and more"))
    assert outcome.where == "buffer"
    assert buffer.text == LINES.replace("four", "FOUR and more").replace("two", "typed\ntwo")
    assert (path.read_text(), path.stat().st_mtime_ns) == (LINES, before)


async def test_an_editor_that_says_it_reloads_and_does_not_is_brought_along(
    hand: Hand, tmp_path: Path
) -> None:
    path = say(tmp_path / "a.txt", LINES)
    hand.documents.set_habits(Habits.of("An Editor", reloads=True))
    files, buffer = hand.files(settle=0.02), hand.open(path)
    await files.write(path, "the agent's\n")
    assert buffer.text == path.read_text() == "the agent's\n"


async def test_a_document_that_was_reloaded_late_is_clean(hand: Hand, tmp_path: Path) -> None:
    path = say(tmp_path / "a.txt", LINES)
    files = hand.files()
    buffer = hand.open(path)
    say(path, "first\n")
    assert await files.read(path) == "first\n"
    say(path, "second\n")
    hand.close(buffer)
    hand.open(path, text="first\n")
    assert await files.read(path) == "second\n"


async def test_a_new_file_that_is_open_already(hand: Hand, tmp_path: Path) -> None:
    path = tmp_path / "new.txt"
    files = hand.files()
    buffer = hand.open(path, text="")
    assert (await problem(files.read(path))).kind == "missing"
    outcome = await files.write(path, "hello\n")
    assert outcome.created
    assert path.read_text() == buffer.text == "hello\n"
    other = hand.open(tmp_path / "typed.txt", text="")
    hand.set(other, "not saved yet\n")
    assert await files.read(tmp_path / "typed.txt") == "not saved yet\n"


async def test_ours_tells_our_changes_and_reloads_from_the_users(
    hand: Hand, tmp_path: Path
) -> None:
    path = say(tmp_path / "a.txt", LINES)
    files = hand.files()
    buffer = hand.open(path)
    seen: list[tuple[str, bool]] = []
    hand.documents.subscribe(
        lambda document: seen.append((document.text, files.ours(document))), to=("change",)
    )
    hand.type(buffer, "one", "typed\n")
    typed = buffer.text
    await files.write(path, typed.replace("four", "FOUR"), seen=typed)
    hand.type(buffer, "typed", "again ")
    hand.save(buffer)
    say(path, "by a command\n")
    hand.reload(buffer)
    hand.type(buffer, "by", "typed ")
    assert [ours for _, ours in seen] == [False, True, False, True, False]


# --- reading ---------------------------------------------------------------------------------


async def test_F06_a_missing_file_is_said_to_be_missing(hand: Hand, tmp_path: Path) -> None:
    files = hand.files()
    for path in (tmp_path / "new.txt", tmp_path / "no" / "folder" / "new.txt"):
        refusal = await problem(files.read(path))
        assert refusal.kind == "missing"
        assert "No such file" in str(refusal)
        assert str(path) in str(refusal)
        assert isinstance(await files.current(path), Missing)
        assert files.glance(path) is None
    say(tmp_path / "empty.txt", "")
    assert await files.read(tmp_path / "empty.txt") == ""


@pytest.mark.parametrize(
    ("line", "limit", "expected"),
    [
        (None, None, "a\r\nb\u2028c\nd"),
        (1, 1, "a\r\n"),
        (None, 2, "a\r\nb\u2028c\n"),
        (3, None, "d"),
        (2, 1, "b\u2028c\n"),
        (2, 99, "b\u2028c\nd"),
        (1, None, "a\r\nb\u2028c\nd"),
    ],
)
def test_F08_lines_are_counted_from_one_and_keep_their_ends(
    line: int | None, limit: int | None, expected: str
) -> None:
    assert window("a\r\nb\u2028c\nd", line, limit) == expected


@pytest.mark.parametrize(
    ("line", "limit", "expected"),
    [
        (0, None, "a\nb\n"),
        (0, 1, "a\n"),
        (1, 0, ""),
        (3, None, ""),
        (3, 5, ""),
        (4294967295, None, ""),
        (2**70, 2**70, ""),
        (2, 2**70, "b\n"),
    ],
)
def test_F09_odd_windows_have_an_answer(line: int | None, limit: int | None, expected: str) -> None:
    assert window("a\nb\n", line, limit) == expected


@pytest.mark.parametrize(("line", "limit"), [(-3, None), (None, -1), (1, -5), (-1, 2)])
def test_F09_negative_windows_have_none(line: int | None, limit: int | None) -> None:
    with pytest.raises(ValueError, match="negative"):
        window("a\nb\n", line, limit)


async def test_F16_what_is_no_file_is_not_waited_for(hand: Hand, tmp_path: Path) -> None:
    files = hand.files()
    os.mkfifo(tmp_path / "p")
    kinds = {
        tmp_path / "p": "special",
        tmp_path: "directory",
        Path("/dev/zero"): "special",
        Path("/dev/tty"): "special",
    }
    async with asyncio.timeout(2):
        for path, kind in kinds.items():
            assert (await problem(files.read(path))).kind == kind
            assert (await problem(files.write(path, "x"))).kind == kind
    assert (tmp_path / "p").is_fifo()


async def test_F16_a_link_put_in_the_way_leads_nowhere(hand: Hand, tmp_path: Path) -> None:
    """P01: what was checked is what is opened."""
    files = hand.files()
    say(tmp_path / "home" / "secret", "secret")
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws" / "link").symlink_to(tmp_path / "home")
    (tmp_path / "ws" / "zero").symlink_to("/dev/zero")
    (tmp_path / "ws" / "file").symlink_to(tmp_path / "home" / "secret")
    for name in ("link/secret", "zero", "file", "link/new", "link/new/deeper"):
        path = tmp_path / "ws" / name
        assert (await problem(files.write(path, "x"))).kind == "changed"
        assert (await problem(files.read(path))).kind in ("changed", "missing")
    assert (tmp_path / "home" / "secret").read_text() == "secret"
    assert os.listdir(tmp_path / "home") == ["secret"]


async def test_F17_more_than_the_limit_is_not_read(hand: Hand, tmp_path: Path) -> None:
    files = Files(hand.documents, hand.apply, limit=100)
    path = say(tmp_path / "big", "x" * 101)
    refusal = await problem(files.read(path))
    assert refusal.kind == "too_large"
    assert "101" in str(refusal)
    assert "100" in str(refusal)
    assert (await problem(files.write(path, "small"))).kind == "too_large"
    assert await files.read(say(tmp_path / "fits", "x" * 100)) == "x" * 100
    # A file that claims to be empty and is not.
    assert (await problem(files.read(Path(f"/proc/{os.getpid()}/smaps")))).kind == "too_large"


async def test_F18_half_a_character_is_not_written(hand: Hand, tmp_path: Path) -> None:
    path = say(tmp_path / "a", "x\n")
    files = hand.files()
    for target in (path, tmp_path / "new"):
        assert (await problem(files.write(target, "x\ud800y"))).kind == "invalid"
    assert path.read_text() == "x\n"
    assert os.listdir(tmp_path) == ["a"]
    await files.write(path, "\U0001f600\n")
    assert path.read_bytes() == "😀\n".encode()


# --- bytes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("on_disk", "content", "expected"),
    [
        (b"a\r\nb\r\n", "a\nB\n", b"a\r\nB\r\n"),
        (b"a\r\nb\r\n", "a\nb\nc\n", b"a\r\nb\r\nc\r\n"),
        (b"a\nb\r\nc\r\n", "a\nb\nC\n", b"a\nb\r\nC\r\n"),
        (b"a\nb\n", "a\r\nB\r\n", b"a\nB\n"),
        (b"a\rb\r", "a\nB\n", b"a\rB\r"),
        (b"a\r\nb", "a\nb\n", b"a\r\nb\r\n"),
        (b"@echo off\r\n", "@echo off\nrem\n", b"@echo off\r\nrem\r\n"),
        (b"", "a\r\n", b"a\r\n"),
        (b"\n", "a\r\nb\r\n", b"a\nb\n"),
    ],
)
async def test_F10_an_existing_file_keeps_its_line_ends(
    hand: Hand, tmp_path: Path, on_disk: bytes, content: str, expected: bytes
) -> None:
    path = say(tmp_path / "a.cmd", on_disk)
    files = hand.files()
    await files.write(path, content, seen=on_disk.decode())
    assert path.read_bytes() == expected
    await files.write(path, content, seen=content)
    assert path.read_bytes() == expected, "the same again changes nothing"


async def test_F10_a_new_file_is_what_the_agent_sent(hand: Hand, tmp_path: Path) -> None:
    files = hand.files()
    for number, content in enumerate(["a\r\nb\n", "a\rb", "", "\ufeffa\n", "a\u2028b\x0c\n"]):
        path = tmp_path / "deep" / str(number)
        await files.write(path, content)
        assert path.read_bytes() == content.encode()


async def test_F10_a_merge_into_a_file_of_other_line_ends(hand: Hand, tmp_path: Path) -> None:
    path = say(tmp_path / "a.txt", b"one\r\ntwo\r\nthree\r\nfour\r\n")
    files = hand.files()
    await files.write(path, "zero\none\ntwo\nthree\nfour\n", seen="one\ntwo\nthree\nfour\n")
    await files.write(path, "one\ntwo\nthree\nFOUR\n", seen="one\ntwo\nthree\nfour\n")
    assert path.read_bytes() == b"zero\r\none\r\ntwo\r\nthree\r\nFOUR\r\n"


async def test_F12_the_byte_order_mark_stays_and_is_not_seen(hand: Hand, tmp_path: Path) -> None:
    mark = b"\xef\xbb\xbf"
    path = say(tmp_path / "a.py", mark + b"import os\n")
    files = hand.files()
    seen = await files.read(path)
    assert seen == "import os\n"
    await files.write(path, "import sys\n", seen=seen)
    assert path.read_bytes() == mark + b"import sys\n"
    await files.write(path, "\ufeffimport re\n")
    assert path.read_bytes() == mark + b"import re\n", "not doubled"
    await files.write(path, "x = '\ufeff'\n")
    assert path.read_bytes() == mark + b"x = '" + mark + b"'\n", "elsewhere it is text"
    say(path, mark + mark + b"x")
    assert await files.read(path) == "\ufeffx"


@pytest.mark.parametrize("in_buffer", [False, True])
async def test_F12_the_mark_of_an_open_file(hand: Hand, tmp_path: Path, in_buffer: bool) -> None:
    mark = b"\xef\xbb\xbf"
    path = say(tmp_path / "a.py", mark + b"import os\n")
    files = hand.files()
    text = "\ufeffimport os\n" if in_buffer else "import os\n"
    buffer = hand.open(path, text=text)
    hand.type(buffer, "import", "x = 1\n")
    seen = await files.read(path)
    assert seen == "x = 1\nimport os\n"
    await files.write(path, "\ufeff" + seen.replace("os", "sys"), seen=seen)
    assert buffer.text == text.replace("import", "x = 1\nimport").replace("os", "sys")


@pytest.mark.parametrize(
    "data",
    [
        b"caf\xe9\n",
        "日本語\n".encode("shift_jis"),
        "中文\n".encode("gbk"),
        "text\n".encode("utf-16"),
        "text\n".encode("utf-16-le"),
        "text\n".encode("utf-16-be"),
        "text\n".encode("utf-32"),
        b"\x89PNG\r\n\x1a\n\0\0",
        b"\xff",
        b"ok\n\xed\xa0\x80\n",
    ],
)
async def test_F13_what_is_not_utf8_is_left_alone(hand: Hand, tmp_path: Path, data: bytes) -> None:
    path = say(tmp_path / "a", data)
    files = hand.files()
    assert (await problem(files.read(path))).kind == "encoding"
    assert (await problem(files.write(path, "cafe\n"))).kind == "encoding"
    assert path.read_bytes() == data
    # Open in an editor that knows how to read it.
    hand.open(path, text="as the editor decodes it\n")
    assert (await problem(files.write(path, "cafe\n"))).kind == "encoding"
    assert path.read_bytes() == data


@pytest.mark.parametrize(
    ("before", "content"),
    [
        ("a\nb", "a\nb\n"),
        ("a\nb\n", "a\nb"),
        ("a\nb", "a\nb\nc"),
        ("a\nb\n", "a\nb\nc\n"),
        ("", "a"),
        ("a", ""),
        ("\n", ""),
        ("a\n\n\n", "a\n"),
    ],
)
@pytest.mark.parametrize("dirty", [False, True])
async def test_F14_the_final_newline_is_exact(
    hand: Hand, tmp_path: Path, before: str, content: str, dirty: bool
) -> None:
    path = say(tmp_path / "a", "not this" if dirty else before)
    files = hand.files()
    buffer = hand.open(path)
    if dirty:
        hand.set(buffer, before)
    await files.write(path, content, seen=before)
    assert buffer.text == content
    assert path.read_text() == ("not this" if dirty else content)
    lines = before.split("\n")
    for edit in (one for request in hand.edits for one in request.edits):
        assert edit.range.end.line < len(lines)
        assert edit.range.end.character <= len(lines[edit.range.end.line])


async def test_F14_an_editor_that_keeps_the_final_newline_to_itself(tmp_path: Path) -> None:
    """Neovim: an edit that adds one leaves an empty line, one that takes it does nothing."""
    hand = Hand(Documents(Habits.of("Neovim")))
    files = hand.files()
    path = say(tmp_path / "a", "a\nb")
    buffer = hand.open(path)
    hand.set(buffer, "a\nB")
    await files.write(path, "a\nB\nc\n", seen="a\nB")
    assert buffer.text == "a\nB\nc", "the buffer's option says that there is no newline"
    hand.set(buffer, "a\nB\n")
    await files.write(path, "x\nB", seen="a\nB\n")
    assert buffer.text == "x\nB\n"
    edits_so_far = len(hand.edits)
    await files.write(path, "x\nB", seen="x\nB\n")
    assert len(hand.edits) == edits_so_far, "nothing an edit could do"


async def test_F14_an_empty_buffer_of_neovim_is_an_empty_file(tmp_path: Path) -> None:
    hand = Hand(Documents(Habits.of("Neovim")))
    files = hand.files()
    path = say(tmp_path / "a", "")
    buffer = hand.open(path, text="\n")
    await files.write(path, "a\n", seen="")
    assert path.read_text() == "a\n"
    assert buffer.text == "a\n"


@pytest.mark.parametrize("dos", [True, False])
async def test_G11_edits_end_lines_as_the_buffer_does(
    hand: Hand, tmp_path: Path, dos: bool
) -> None:
    """Decision: edits carry the document's own line ends. An editor that owns them (Neovim,
    VS Code) makes them its own again, one that takes edits literally is served right."""
    path = say(tmp_path / "a.cmd", b"a\r\nb\r\nc\r\n")
    files = hand.files()
    buffer = hand.open(path)
    buffer.dos = dos
    hand.type(buffer, "a", "typed\r\n")
    await files.write(path, "typed\na\nB\nb2\nc\n", seen="typed\na\nb\nc\n")
    assert buffer.text == "typed\r\na\r\nB\r\nb2\r\nc\r\n"
    for edit in (one for request in hand.edits for one in request.edits):
        assert edit.new_text.count("\n") == edit.new_text.count("\r\n")


async def test_G11_an_agent_that_sends_crlf_leaves_no_cr_in_a_unix_buffer(
    hand: Hand, tmp_path: Path
) -> None:
    path = say(tmp_path / "a.txt", LINES)
    files = hand.files()
    buffer = hand.open(path)
    hand.type(buffer, "one", "typed\n")
    seen = await files.read(path)
    await files.write(path, (seen + "six\n").replace("\n", "\r\n"), seen=seen)
    assert buffer.text == "typed\n" + LINES + "six\n"


async def test_F10_an_editor_that_shows_mixed_line_ends_as_one(hand: Hand, tmp_path: Path) -> None:
    """VS Code has one kind of line end a document; the file on disk keeps both."""
    path = say(tmp_path / "a.txt", b"a\nb\r\nc\r\n")
    files = hand.files()
    buffer = hand.open(path, text="a\r\nb\r\nc\r\n")
    buffer.dos = True
    assert await files.read(path) == "a\nb\r\nc\r\n", "clean: what the disk says"
    await files.write(path, "a\nb\nC\n")
    assert path.read_bytes() == b"a\nb\r\nC\r\n"
    assert buffer.text == "a\r\nb\r\nC\r\n"
    document = hand.documents.get(buffer.uri)
    assert document is not None
    assert not document.dirty


async def test_D19_unsaved_text_with_a_lone_cr_is_not_edited_by_guess(
    hand: Hand, tmp_path: Path
) -> None:
    path = say(tmp_path / "a", b"a\rb\nc\nd\n")
    files = hand.files()
    buffer = hand.open(path)
    hand.type(buffer, "d", "typed ")
    seen = await files.read(path)
    refusal = await problem(files.write(path, seen.replace("c", "C"), seen=seen))
    assert refusal.kind == "refused_by_editor"
    assert hand.edits == []
    hand.save(buffer)
    await files.write(path, seen.replace("c", "C"), seen=seen)
    assert path.read_bytes() == b"a\rb\nC\ntyped d\n"


async def test_D19_an_editor_known_to_take_a_lone_cr_for_a_character(tmp_path: Path) -> None:
    hand = Hand(Documents(Habits.of("Neovim")))
    files = hand.files()
    path = say(tmp_path / "a", b"a\rb\nc\nd\n")
    buffer = hand.open(path)
    hand.documents.change(buffer.uri, 2, [TextChange(None, "a\rb\nc\ntyped d\n")])
    buffer.text, buffer.version = "a\rb\nc\ntyped d\n", 2

    async def counts_like_neovim(hand: Hand, edit: DocumentEdit) -> object:
        assert [one.range.start.line for one in edit.edits] == [1]
        hand.set(buffer, buffer.text.replace("c", "C"))
        return None

    hand.manner = counts_like_neovim
    seen = await files.read(path)
    await files.write(path, seen.replace("c", "C"), seen=seen)
    assert buffer.text == "a\rb\nC\ntyped d\n"
    edits = len(hand.edits)
    refusal = await problem(files.write(path, "a\rb\nx\ry\n", seen=buffer.text))
    assert refusal.kind == "refused_by_editor"
    assert len(hand.edits) == edits


async def test_D20_a_small_change_of_a_big_buffer_is_a_small_edit(
    hand: Hand, tmp_path: Path
) -> None:
    lines = [f"line {number}\n" for number in range(20_000)]
    path = say(tmp_path / "a", "".join(lines))
    files = hand.files()
    buffer = hand.open(path)
    hand.type(buffer, "line 0", "typed\n")
    seen = await files.read(path)
    await files.write(path, seen.replace("line 12345\n", "line 12345!\n"), seen=seen)
    [request] = hand.edits
    [edit] = request.edits
    assert edit.new_text == "!"
    assert edit.range.start == edit.range.end
    assert buffer.text == seen.replace("line 12345\n", "line 12345!\n")


# --- where files are ------------------------------------------------------------------------


async def test_G10_a_file_that_is_not_open_is_written_to_disk(hand: Hand, tmp_path: Path) -> None:
    path = say(tmp_path / "a", LINES)
    say(tmp_path / ".a.swp", b"somebody else's")
    await hand.files().write(path, "new\n", seen=LINES)
    await hand.files().write(tmp_path / "new" / "folder" / "b", "b\n")
    assert path.read_text() == "new\n"
    assert (tmp_path / "new" / "folder" / "b").read_text() == "b\n"
    assert hand.edits == []


async def test_P13_a_file_opened_through_a_link_is_edited_where_it_is_open(
    hand: Hand, tmp_path: Path
) -> None:
    real = say(tmp_path / "real" / "a.py", LINES)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    files = hand.files()
    buffer = hand.open(tmp_path / "link" / "a.py")
    assert "link" in buffer.uri
    hand.type(buffer, "one", "typed\n")
    seen = await files.read(real)
    assert seen.startswith("typed")
    await files.write(real, seen.replace("four", "FOUR"), seen=seen)
    assert hand.edits[0].uri == buffer.uri
    assert "FOUR" in buffer.text
    assert files.uri_of(real) == buffer.uri


async def test_P13_one_file_open_twice(hand: Hand, tmp_path: Path) -> None:
    real = say(tmp_path / "real" / "a.py", LINES)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    files = hand.files()
    one = hand.open(real)
    two = hand.open(tmp_path / "link" / "a.py")
    await files.write(real, LINES.replace("two", "TWO"), seen=LINES)
    assert one.text == two.text == real.read_text() == LINES.replace("two", "TWO")
    hand.type(one, "one", "here ")
    assert (await files.read(real)) == one.text
    hand.type(two, "one", "there ")
    assert (await problem(files.read(real))).kind == "changed"
    assert (await problem(files.write(real, "x"))).kind == "changed"


async def test_P19_documents_that_are_no_files_are_never_written(
    hand: Hand, tmp_path: Path
) -> None:
    files = hand.files()
    hand.documents.open("untitled:Untitled-1", "plaintext", 1, "draft")
    hand.documents.open(f"vscode-remote://h{tmp_path}/a", "plaintext", 1, "remote")
    await files.write(tmp_path / "a", "here\n")
    assert (tmp_path / "a").read_text() == "here\n"
    assert files.open_paths() == []


async def test_a_write_that_is_called_off_leaves_all_or_nothing(hand: Hand, tmp_path: Path) -> None:
    path = say(tmp_path / "a", LINES)
    files = hand.files()
    buffer = hand.open(path)
    hand.type(buffer, "one", "typed\n")
    hand.manner = manners.never_answers
    seen = await files.read(path)
    task = asyncio.create_task(files.write(path, "new\n", seen=seen))
    while not hand.edits:
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    hand.manner = manners.takes_it
    await files.write(path, "new\n", seen=seen)
    assert buffer.text == "new\n"


async def test_put_and_remove_only_touch_what_is_as_expected(hand: Hand, tmp_path: Path) -> None:
    path = say(tmp_path / "a", b"a\r\n")
    files = hand.files()
    said = await files.current(path)
    assert isinstance(said, FileText)
    say(path, "b\n")
    assert (await problem(files.put(path, "x", expected=said))).kind == "changed"
    assert (await problem(files.remove(path, expected=said))).kind == "changed"
    assert (await problem(files.put(path, "x", expected=Missing(path)))).kind == "changed"
    assert path.read_text() == "b\n"
    now = await files.current(path)
    await files.put(path, "a\r\n", expected=now, bom=True)
    assert path.read_bytes() == b"\xef\xbb\xbfa\r\n", "exactly, line ends too"
    now = await files.current(path)
    assert isinstance(now, FileText)
    await files.remove(path, expected=now)
    assert not path.exists()
    await files.put(path, b"\xff\0", expected=Missing(path), mode=0o640)
    assert path.read_bytes() == b"\xff\0"
    assert path.stat().st_mode & 0o777 == 0o640


async def test_a_file_with_unsaved_changes_is_not_removed(hand: Hand, tmp_path: Path) -> None:
    path = say(tmp_path / "a", "a\n")
    files = hand.files()
    buffer = hand.open(path)
    hand.type(buffer, "a", "typed ")
    now = await files.current(path)
    assert isinstance(now, FileText)
    assert (await problem(files.remove(path, expected=now))).kind == "changed"
    assert path.exists()


def test_the_uri_of_a_file_that_is_not_open(hand: Hand, tmp_path: Path) -> None:
    assert hand.files().uri_of(tmp_path / "a") is None
    buffer = hand.open(say(tmp_path / "a b", ""))
    assert buffer.uri == path_to_uri(tmp_path / "a b")
