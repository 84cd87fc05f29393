"""Mapping hunks and taking them back, against difflib and git, in the same run.

``python -m bench.ledger``: a file of 100,000 lines in which the agent has changed 500, all
over. What the user types moves the hunks; then all, and one, are taken back. difflib (with
its heuristic: without, it takes minutes) and ``git diff --no-index`` compare the two texts
once, which is the least that a review needs; the ratios are to that.
"""

from __future__ import annotations

import asyncio
import difflib
import random
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from acp_sidecar.workspace.documents import Documents
from acp_sidecar.workspace.edits import DocumentEdit
from acp_sidecar.workspace.files import Files
from acp_sidecar.workspace.ledger import Ledger

ROUNDS = 5
LINES = 100_000
CHANGES = 500


def _texts(path: Path) -> tuple[str, str]:
    text = [f"    value_{number} = compute({number})\n" for number in range(LINES)]
    old = "".join(text)
    chance = random.Random(1)
    apart = LINES // CHANGES
    for place in (number * apart + chance.randrange(apart // 2) for number in range(CHANGES)):
        text[place] = f"    other_{place} = compute({place})\n"
    path.write_text(old)
    return old, "".join(text)


async def _no_editor(edit: DocumentEdit) -> object:
    raise RuntimeError("nothing is open")


async def _seconds(work: Callable[[], Awaitable[object]]) -> float:
    started = time.perf_counter()
    await work()
    return time.perf_counter() - started


async def _round(folder: Path, taken: dict[str, list[float]]) -> None:
    path = folder / "file"
    old, new = _texts(path)
    ledger = Ledger(Files(Documents(), _no_editor))
    ledger.begin_turn()
    ledger.touch(path)

    async def note(name: str, work: Callable[[], Awaitable[object]]) -> None:
        taken.setdefault(name, []).append(await _seconds(work))

    path.write_text(new)
    await note("find 500 hunks", ledger.refresh)
    ledger.end_turn()
    path.write_text("typed\n" + new.replace("compute(50150)", "typed(50150)"))
    await note("move 500 hunks along with an edit of the user's", ledger.refresh)
    path.write_text("typed\n" + new + "typed\n")
    await note("the same, once more", ledger.refresh)
    [change] = ledger.changes()
    assert len(change.hunks) == CHANGES

    async def show() -> None:
        [change.to_json() for change in ledger.changes()]

    await note("list them", show)
    await note("revert one", lambda: ledger.revert(path, change.hunks[250].id))
    await note("undo that", ledger.undo)
    await note("keep one", lambda: ledger.keep(path, change.hunks[250].id))
    await note("revert all others", lambda: ledger.revert(path))
    await note("undo that too", ledger.undo)
    [checkpoint] = ledger.checkpoints()
    await note("restore the checkpoint", lambda: ledger.restore(checkpoint.id))
    assert path.read_text() == "typed\n" + old + "typed\n"


def _difflib(old: str, new: str) -> None:
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    difflib.SequenceMatcher(None, before, after).get_opcodes()


def _git(folder: Path, old: str, new: str) -> None:
    (folder / "old").write_text(old)
    (folder / "new").write_text(new)
    command = ["git", "diff", "--no-index", "--unified=0", "--no-color", "old", "new"]
    subprocess.run(command, cwd=folder, capture_output=True, check=False)


def main() -> None:
    taken: dict[str, list[float]] = {}
    peers: dict[str, list[float]] = {"difflib": [], "git": []}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        old, new = _texts(folder / "file")
        for _ in range(ROUNDS):
            asyncio.run(_round(folder, taken))
            started = time.perf_counter()
            _difflib(old, new)
            peers["difflib"].append(time.perf_counter() - started)
            if shutil.which("git"):
                started = time.perf_counter()
                _git(folder, old, new)
                peers["git"].append(time.perf_counter() - started)
    of = {name: statistics.median(times) for name, times in peers.items() if times}
    print("".join(f"{name:>12} {seconds * 1e3:9.1f} ms" for name, seconds in of.items()))
    for name, times in taken.items():
        ours = statistics.median(times)
        ratios = "".join(f"  × {ours / peer:6.2f} of {other}" for other, peer in of.items())
        print(f"{name:50} {ours * 1e3:9.1f} ms{ratios}")


if __name__ == "__main__":
    main()
