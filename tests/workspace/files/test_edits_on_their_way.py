"""Edits of a buffer that do not come about, come late, or meet the user's typing."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from acp_sidecar.workspace.edits import DocumentEdit
from tests.virtual_time import virtual_time
from tests.workspace import hand as manners
from tests.workspace.disk import say
from tests.workspace.files.texts import LINES, problem
from tests.workspace.hand import Hand, Manner


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
    refusal = await problem(files.write(path, seen.replace("four", "FOUR"), seen=seen))
    assert refusal.kind == "refused_by_editor"
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


async def test_D12_an_edit_waits_for_a_pause_in_fast_typing(hand: Hand, tmp_path: Path) -> None:
    path = say(tmp_path / "a.py", LINES)
    files = hand.files()
    buffer = hand.open(path)
    hand.type(buffer, "one", "typed\n")
    seen = await files.read(path)

    async def type_on() -> None:
        for _ in range(20):
            hand.type(buffer, "one", "x")
            await asyncio.sleep(0.02)

    async def is_behind(hand: Hand, edit: DocumentEdit) -> object:
        if not typing.done():
            hand.type(buffer, "one", "y")
        hand.check_version(edit)
        hand.make(edit)
        return None

    hand.manner = is_behind
    with virtual_time():
        typing = asyncio.create_task(type_on())
        await files.write(path, seen.replace("four", "FOUR"), seen=seen)
    assert buffer.text.count("x") == 20
    assert "FOUR" in buffer.text
    assert len(hand.edits) == 3


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
