"""Files that an agent moves."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from acp_sidecar.workspace.ledger import Ledger
from acp_sidecar.workspace.uris import path_to_uri
from tests.workspace.disk import say
from tests.workspace.hand import Hand
from tests.workspace.ledger.changes import CHANGED, LINES, agent_writes, ids, only


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
