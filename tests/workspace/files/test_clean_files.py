"""A file that is open and clean is the disk's: written there, and the editor is brought along."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

import pytest

from acp_sidecar.workspace.documents import Habits
from tests.workspace.disk import say
from tests.workspace.files.texts import LINES, problem
from tests.workspace.hand import Hand


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


async def test_F05_what_is_loaded_late_is_saved_like_anything_else(
    hand: Hand, tmp_path: Path
) -> None:
    """A file changes while something is typed that is taken back; then the editor loads it."""
    path = say(tmp_path / "a.txt", "a\n")
    files = hand.files()
    buffer = hand.open(path)
    hand.type(buffer, "a", "x")
    say(path, "c\n")
    hand.replace(buffer, 0, 1, "")
    assert await files.read(path) == "c\n"
    hand.reload(buffer)
    hand.type(buffer, "c", "d")
    # It is saved, and at once somebody writes there, before the word of the saving comes.
    say(path, "e\n")
    hand.documents.save(buffer.uri)
    assert await files.read(path) == "e\n"


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


@pytest.mark.parametrize("at_once", [True, False])
async def test_what_the_user_types_into_while_it_is_written_can_still_be_saved(
    at_once: bool, hand: Hand, tmp_path: Path
) -> None:
    """An editor refuses to save over a file that is newer than the one it has read."""
    path = say(tmp_path / "a.txt", LINES)
    before = path.stat().st_mtime_ns
    hand.documents.set_habits(Habits.of("An Editor", reloads=True))
    told: list[str] = []
    files, buffer = hand.files(settle=600.0, taken_back=told.append), hand.open(path)
    typed = partial(hand.type, buffer, "two", "typed\n")
    hand.once_on_disk(path, LINES, typed if at_once else lambda: hand.later(0.1, typed))
    async with asyncio.timeout(20):
        outcome = await files.write(path, LINES.replace("four", "FOUR and more"))
    assert outcome.where == "buffer"
    assert buffer.text == LINES.replace("four", "FOUR and more").replace("two", "typed\ntwo")
    assert (path.read_text(), path.stat().st_mtime_ns) == (LINES, before)
    assert told == [buffer.uri], "a saving may have been refused meanwhile"


@pytest.mark.parametrize("reloads", [True, False])
@pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "utf-16-le", "cp1251"])
async def test_what_the_editor_reads_in_another_encoding_is_not_written(
    hand: Hand, tmp_path: Path, encoding: str, reloads: bool
) -> None:
    """To its user it would be garbled, and to whoever else reads the file so."""
    old = "one\ntwo\n" if encoding != "utf-16-le" else "一二\n"
    path = say(tmp_path / "a.txt", old.encode("ascii" if old.isascii() else "utf-8"))
    before = path.read_bytes()
    hand.documents.set_habits(Habits.of("An Editor", reloads=reloads))
    files, buffer = hand.files(), hand.open(path)

    def loads() -> None:
        hand.set(buffer, path.read_bytes().decode(encoding, "replace"))

    hand.once_on_disk(path, old, loads)
    found = await problem(files.write(path, "one\nzwö\n", seen=old))
    assert found.kind == "encoding"
    assert "UTF-8" in str(found)
    assert path.read_bytes() == before
    hand.set(buffer, old)
    assert await files.read(path) == old


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
