"""A revert puts back the bytes that were there, through editors of every kind."""

from __future__ import annotations

from pathlib import Path

import pytest

from acp_sidecar.workspace.files import Files
from acp_sidecar.workspace.ledger import Ledger
from tests.workspace import hand as manners
from tests.workspace.disk import say
from tests.workspace.hand import Hand
from tests.workspace.ledger.changes import CHANGED, LINES, agent_writes, ids, only


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
