"""What files said before the agent came: where it is kept, for how long, and what is too much."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from acp_sidecar.workspace.baselines import Baselines
from acp_sidecar.workspace.files import Files
from acp_sidecar.workspace.ledger import Ledger
from tests.workspace.disk import say
from tests.workspace.hand import Hand
from tests.workspace.ledger.changes import CHANGED, LINES, agent_writes, ids, only


async def test_large_baselines_go_to_disk_and_with_the_session(
    files: Files, tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
    baselines = Baselines(cache, memory=100_000)
    ledger = Ledger(files, baselines=baselines)
    ledger.begin_turn()
    old = {
        say(tmp_path / "ws" / str(number), f"{number}\n{'x' * 50_000}\n"): number
        for number in range(8)
    }
    for path, number in old.items():
        await agent_writes(ledger, path, f"new {number}\n{'y' * 50_000}\n")
    assert len(ids(ledger)) == 8
    assert sum(path.is_file() for path in baselines.folder.rglob("*")) >= 8
    assert not any(path.stat().st_mode & 0o077 for path in baselines.folder.rglob("*"))
    await ledger.revert()
    for path, number in old.items():
        assert path.read_text() == f"{number}\n{'x' * 50_000}\n"
    ledger.close()
    assert list(cache.iterdir()) == []


def test_what_dead_sessions_left_is_removed_and_nothing_of_living_ones(tmp_path: Path) -> None:
    mine = Baselines(tmp_path, memory=0)
    held = mine.shelf.hold("x" * 10_000)
    code = (
        "import os, sys; from pathlib import Path\n"
        "from acp_sidecar.workspace.baselines import Baselines\n"
        "its = Baselines(Path(sys.argv[1]), memory=0); held = its.shelf.hold('y' * 10_000)\n"
        "print(its.folder, flush=True); os._exit(1)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    left = Path(done.stdout.strip())
    assert left.is_dir(), done.stderr
    assert held.get() == "x" * 10_000
    another = Baselines(tmp_path, memory=0)
    assert not left.exists()
    assert held.get() == "x" * 10_000
    for each in (mine, another):
        each.close()
    assert list(tmp_path.iterdir()) == []


async def test_a_baseline_somebody_has_removed_costs_only_its_file(
    files: Files, tmp_path: Path
) -> None:
    baselines = Baselines(tmp_path / "cache", memory=0)
    ledger = Ledger(files, baselines=baselines)
    ledger.begin_turn()
    large, small = say(tmp_path / "large", "x\n" * 9000), say(tmp_path / "small", LINES)
    await agent_writes(ledger, large, "y\n" * 9000)
    await agent_writes(ledger, small, CHANGED)
    for path in baselines.folder.rglob("*"):
        if path.is_file():
            path.unlink()
    done = await ledger.revert()
    assert len(done.conflicts) == len(done.problems) == 1
    assert large.read_text() == "y\n" * 9000
    assert small.read_text() == LINES


async def test_a_file_too_large_to_be_kept_is_said_to_have_changed(
    hand: Hand, tmp_path: Path
) -> None:
    ledger = Ledger(hand.files(limit=1000), within=lambda path: True)
    ledger.begin_turn()
    huge, gone, made = (tmp_path / name for name in ("huge", "gone", "made"))
    for path in (huge, gone):
        say(path, "x\n" * 1000)
    for path in (huge, gone, made):
        ledger.touch(path)
    assert ledger.changes() == []
    say(huge, "y\n" * 2000)
    gone.unlink()
    say(made, "z\n" * 2000)
    await ledger.refresh()
    told = {change.path: change for change in ledger.changes()}
    assert {path.name: told[path].status for path in told} == {
        "huge": "modified",
        "gone": "deleted",
        "made": "created",
    }
    for path in (huge, made):
        assert "limit is 1,000" in str(told[path].to_json()["problem"])
    done = await ledger.revert()
    assert any(str(huge) in problem and "limit" in problem for problem in done.problems)
    assert huge.read_text() == "y\n" * 2000
    await ledger.keep()
    assert huge not in {change.path for change in ledger.changes()}
    ledger.end_turn()
    say(huge, "the user's\n" * 2000)
    await ledger.refresh()
    assert huge not in {change.path for change in ledger.changes()}


async def test_half_a_gigabyte_is_not_read_at_each_look(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = say(tmp_path / "huge", "x")
    os.truncate(path, 500_000_000)
    read = 0
    real_read = os.read

    def counted(handle: int, size: int) -> bytes:
        nonlocal read
        data = real_read(handle, size)
        read += len(data)
        return data

    monkeypatch.setattr(os, "read", counted)
    for size in (400_000_000, 450_000_000, 500_000_000):
        ledger.touch(path)
        os.truncate(path, size)
        await ledger.refresh()
        assert ledger.diff(path) is None
    os.truncate(path, 300_000_000)
    await ledger.refresh()
    assert "limit is 10,000,000" in str(only(ledger).problem)
    assert read == 0


async def test_a_file_that_grows_too_large_is_still_listed(hand: Hand, tmp_path: Path) -> None:
    ledger = Ledger(hand.files(limit=1000), within=lambda path: True)
    ledger.begin_turn()
    path = say(tmp_path / "a", LINES)
    await agent_writes(ledger, path, "y\n" * 2000)
    assert "limit is 1,000" in str(only(ledger).to_json()["problem"])
    await agent_writes(ledger, path, CHANGED)
    assert "problem" not in only(ledger).to_json()
    await ledger.revert()
    assert path.read_text() == LINES


async def test_of_too_many_files_the_rest_is_said_not_to_be_kept(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("acp_sidecar.workspace.tracked.MOST_FILES", 3)
    monkeypatch.setattr("acp_sidecar.workspace.unkept._MOST_UNKEPT", 2)
    paths = [say(tmp_path / str(number), LINES) for number in range(9)]
    for path in paths:
        ledger.touch(path)
    for path in paths:
        say(path, CHANGED)
    await ledger.refresh()
    *kept, first, last = ledger.changes()
    assert [len(change.hunks) for change in kept] == [3, 3, 3]
    assert "Of more than 3 files" in str(first.problem)
    assert "Of 4 more files it is not even known" in str(last.problem)
    done = await ledger.revert()
    assert len(done.problems) == 2
    assert [path.read_text() for path in paths] == [LINES] * 3 + [CHANGED] * 6


async def test_a_folder_of_many_files_that_moves_is_found_file_by_file(
    ledger: Ledger, tmp_path: Path
) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    for number in range(300):
        ledger.touch(say(old / str(number), f"{number}\n"))
        ledger.touch(new / str(number))
    new.mkdir()
    for path in old.iterdir():
        text = path.read_text()
        path.unlink()
        say(new / path.name, text)
    await ledger.refresh()
    assert {change.status for change in ledger.changes()} == {"renamed"}
    assert all(Path(str(change.old_uri)).name == change.path.name for change in ledger.changes())
