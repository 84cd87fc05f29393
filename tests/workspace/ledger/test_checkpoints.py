"""Checkpoints: back to a prompt with all files, and the journal that keeps them."""

from __future__ import annotations

from pathlib import Path

import pytest

from acp_sidecar.workspace.files import Files
from acp_sidecar.workspace.ledger import Ledger
from tests.workspace.disk import say
from tests.workspace.hand import Hand
from tests.workspace.ledger.changes import CHANGED, LINES, agent_writes


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
