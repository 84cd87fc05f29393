"""A text that has moved on since the agent's read is merged or refused, never overwritten."""

from __future__ import annotations

from pathlib import Path

from tests.workspace.disk import say
from tests.workspace.files.texts import LINES, problem
from tests.workspace.hand import Hand


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
