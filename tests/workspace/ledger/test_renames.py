"""Files that the user renames in the editor while changes wait in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from acp_sidecar.workspace.files import Files
from acp_sidecar.workspace.ledger import Ledger
from acp_sidecar.workspace.uris import path_to_uri
from tests.workspace.disk import say
from tests.workspace.hand import Hand
from tests.workspace.ledger.changes import CHANGED, LINES, agent_writes, ids, only, states, write

WITHOUT_TWO = CHANGED.replace("TWO", "two")


async def rename(ledger: Ledger, old: Path, new: Path, *, looked: bool = False) -> None:
    """As an editor does it; ``looked``: somebody has looked at the disk in between."""
    ledger.will_rename([old])
    new.parent.mkdir(parents=True, exist_ok=True)
    old.rename(new)
    if looked:
        await ledger.refresh()
    await ledger.renamed(old, new)
    await ledger.refresh()


@pytest.mark.parametrize("looked", [False, True])
@pytest.mark.parametrize("in_turn", [False, True])
async def test_what_waits_in_a_file_goes_along(
    ledger: Ledger, tmp_path: Path, looked: bool, in_turn: bool
) -> None:
    old, new = say(tmp_path / "old", LINES), tmp_path / "sub" / "new"
    await agent_writes(ledger, old, CHANGED)
    if not in_turn:
        ledger.end_turn()
    waiting = ids(ledger)
    await rename(ledger, old, new, looked=looked)
    assert (only(ledger).uri, only(ledger).status) == (path_to_uri(new), "modified")
    assert ids(ledger) == waiting
    await ledger.revert(new, waiting[0])
    assert new.read_text() == WITHOUT_TWO
    await ledger.keep(new, ids(ledger)[0])
    assert len(ids(ledger)) == 1
    await ledger.undo()
    await ledger.undo()
    assert new.read_text() == CHANGED
    assert states(ledger) == ["waiting"] * 3
    await ledger.revert()
    assert new.read_text() == LINES
    assert ledger.changes() == []
    assert not old.exists()


@pytest.mark.parametrize("looked", [False, True])
async def test_a_file_that_the_agent_made_is_deleted_under_its_new_name(
    ledger: Ledger, tmp_path: Path, looked: bool
) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    await agent_writes(ledger, old, LINES)
    ledger.end_turn()
    await rename(ledger, old, new, looked=looked)
    assert (only(ledger).uri, only(ledger).status) == (path_to_uri(new), "created")
    assert (await ledger.revert()).reverted
    assert not new.exists()
    assert not old.exists()


async def test_the_files_of_a_folder_go_along_and_so_does_what_is_unsaved(
    hand: Hand, files: Files, ledger: Ledger, tmp_path: Path
) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    one, other = say(old / "one", LINES), say(old / "deep" / "other", LINES)
    await agent_writes(ledger, one, CHANGED)
    buffer = hand.open(other)
    hand.set(buffer, LINES + "the user's\n")
    await write(ledger, files, other, CHANGED + "the user's\n", LINES + "the user's\n")
    ledger.end_turn()
    ledger.will_rename([old])
    hand.close(buffer)
    old.rename(new)
    await ledger.refresh()
    await ledger.renamed(old, new)
    buffer = hand.open(new / "deep" / "other", text=CHANGED + "the user's\n")
    await ledger.refresh()
    assert {each.uri for each in ledger.changes()} == {
        path_to_uri(new / "one"),
        path_to_uri(new / "deep" / "other"),
    }
    await ledger.revert()
    assert (new / "one").read_text() == LINES
    assert buffer.text == LINES + "the user's\n"


@pytest.mark.parametrize("restarted", [False, True])
@pytest.mark.parametrize("looked", [False, True])
async def test_a_checkpoint_is_of_the_file_whatever_it_is_called(
    hand: Hand, tmp_path: Path, looked: bool, restarted: bool
) -> None:
    folder, root = tmp_path / "checkpoints", tmp_path / "ws"

    def ledger_of() -> Ledger:
        return Ledger(hand.files(), within=lambda path: root in path.parents, checkpoints=folder)

    ledger = ledger_of()
    old, new = say(root / "old", LINES), root / "new"
    ledger.begin_turn()
    await agent_writes(ledger, old, CHANGED)
    ledger.end_turn()
    await rename(ledger, old, new, looked=looked)
    if restarted:
        ledger.close()
        ledger = ledger_of()
        ledger.load()
        assert states(ledger) == ["waiting"] * 3
    [checkpoint] = ledger.checkpoints()
    done = await ledger.restore(checkpoint.id)
    assert done.conflicts == done.problems == ()
    assert new.read_text() == LINES
    assert not old.exists()


async def test_a_file_that_leaves_the_folders_is_gone(hand: Hand, tmp_path: Path) -> None:
    root = tmp_path / "ws"
    ledger = Ledger(hand.files(), within=lambda path: root in path.parents)
    ledger.begin_turn()
    old, outside = say(root / "old", LINES), tmp_path / "elsewhere"
    await agent_writes(ledger, old, CHANGED)
    ledger.end_turn()
    await rename(ledger, old, outside)
    assert states(ledger) == ["conflict"]
    done = await ledger.revert()
    assert done.reverted == ()
    assert "deleted this file" in done.problems[0]
    assert outside.read_text() == CHANGED


async def test_what_waits_in_the_file_that_is_written_over_stays(
    ledger: Ledger, tmp_path: Path
) -> None:
    old, new = say(tmp_path / "old", LINES), say(tmp_path / "new", LINES)
    await agent_writes(ledger, old, CHANGED)
    await agent_writes(ledger, new, CHANGED.replace("nine", "NINE"))
    ledger.end_turn()
    await rename(ledger, old, new)
    assert {each.uri for each in ledger.changes()} == {path_to_uri(old), path_to_uri(new)}
