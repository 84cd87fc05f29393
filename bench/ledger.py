"""Mapping hunks and taking them back, against difflib and git, in the same run.

``python -m bench.ledger``: for each text the agent's changes are found, they move along with
what the user types above and below them, one is taken back, then all, then a checkpoint is
restored. difflib (with its heuristic: without, it takes minutes) and ``git diff --no-index``
compare the two texts once, which is the least that a review needs; the ratios are to that.
Times are processor time: waiting for the disk is not in them.
At the end the same for very many files.
"""

from __future__ import annotations

import asyncio
import difflib
import random
import shutil
import statistics
import subprocess
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

from acp_sidecar.workspace.baselines import Baselines
from acp_sidecar.workspace.documents import Documents
from acp_sidecar.workspace.edits import DocumentEdit
from acp_sidecar.workspace.files import Files
from acp_sidecar.workspace.ledger import Ledger
from bench.clock import cpu

ROUNDS = 3
MANY = 5_000
BEYOND_DIFFLIB = "100,000 lines, every other"
"""What takes difflib minutes, also with its heuristic."""

Taken = dict[str, list[float]]


def _scattered(lines: int, changes: int) -> tuple[str, str]:
    text = [f"    value_{number} = compute({number})\n" for number in range(lines)]
    old = "".join(text)
    chance = random.Random(1)
    apart = lines // changes
    for place in (number * apart + chance.randrange(apart // 2) for number in range(changes)):
        text[place] = f"    other_{place} = compute({place})\n"
    return old, "".join(text)


def _one_line() -> tuple[str, str]:
    old = "".join(f"word{number} " for number in range(460_000)) + "\n"
    return old, old.replace("word230000 ", "changed ")


def _every_other() -> tuple[str, str]:
    lines = [f"{number}\n" for number in range(100_000)]
    return "".join(lines), "".join(f"x{line}" if n % 2 else line for n, line in enumerate(lines))


TEXTS: dict[str, Callable[[], tuple[str, str]]] = {
    "200 lines, 1 change": lambda: _scattered(200, 1),
    "10,000 lines, 50 changes": lambda: _scattered(10_000, 50),
    "100,000 lines, 500 changes": lambda: _scattered(100_000, 500),
    BEYOND_DIFFLIB: _every_other,
    "5 MB in one line, 1 change": _one_line,
    "3,000 equal lines": lambda: ("same\n" * 3000, "same\n" * 1400 + "other\n" + "same\n" * 1700),
    "5,000 lines rewritten": lambda: (
        "".join(f"old {n}\n" for n in range(5000)),
        "".join(f"new {n}\n" for n in range(5000)),
    ),
}


async def _no_editor(edit: DocumentEdit) -> object:
    raise RuntimeError("nothing is open")


async def _seconds(work: Callable[[], Awaitable[object]]) -> float:
    started = cpu()
    await work()
    return cpu() - started


async def _round(folder: Path, old: str, new: str, taken: Taken) -> None:
    path = folder / "file"
    path.write_text(old)
    ledger = Ledger(Files(Documents(), _no_editor, limit=1 << 30))
    ledger.begin_turn()
    ledger.touch(path)

    async def note(name: str, work: Callable[[], Awaitable[object]]) -> None:
        taken.setdefault(name, []).append(await _seconds(work))

    path.write_text(new)
    await note("find the hunks", ledger.refresh)
    ledger.end_turn()
    path.write_text("typed\n" + new)
    await note("move them with a line typed above", ledger.refresh)
    path.write_text("typed\n" + new + "typed\n")
    await note("the same below", ledger.refresh)
    [change] = ledger.changes()

    async def show() -> None:
        [change.to_json() for change in ledger.changes()]

    await note("list them", show)
    one = change.hunks[len(change.hunks) // 2].id
    await note("revert one", lambda: ledger.revert(path, one))
    await note("undo that", ledger.undo)
    await note("keep one", lambda: ledger.keep(path, one))
    await note("revert all that are left", lambda: ledger.revert(path))
    await note("undo that too", ledger.undo)
    [checkpoint] = ledger.checkpoints()
    await note("restore the checkpoint", lambda: ledger.restore(checkpoint.id))
    assert path.read_text() == "typed\n" + old + "typed\n"


async def _many(folder: Path, taken: Taken) -> None:
    root = folder / "many"
    root.mkdir()
    paths = [root / f"{number}.txt" for number in range(MANY)]
    for path in paths:
        path.write_text(f"{path.name}\n" + "line\n" * 50)
    baselines = Baselines(folder / "baselines")
    ledger = Ledger(Files(Documents(), _no_editor), baselines=baselines)
    ledger.begin_turn()

    async def note(name: str, work: Callable[[], Awaitable[object]]) -> None:
        taken.setdefault(name, []).append(await _seconds(work))

    async def touch() -> None:
        for path in paths:
            ledger.touch(path)

    async def show() -> None:
        [change.to_json() for change in ledger.changes()]

    await note("hear of them", touch)
    for path in paths:
        path.write_text(f"{path.name}\nchanged\n" + "line\n" * 50)
    await note("find what has changed", ledger.refresh)
    await note("look again", ledger.refresh)
    await note("list them", show)
    await note("revert all (each is synced to the disk)", ledger.revert)
    ledger.close()
    shutil.rmtree(root)


def _difflib(old: str, new: str) -> None:
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    difflib.SequenceMatcher(None, before, after).get_opcodes()


def _git(folder: Path, old: str, new: str) -> None:
    (folder / "old").write_text(old)
    (folder / "new").write_text(new)
    command = ["git", "diff", "--no-index", "--unified=0", "--no-color", "old", "new"]
    subprocess.run(command, cwd=folder, capture_output=True, check=False)


def _measure(folder: Path, title: str, old: str, new: str) -> None:
    taken: Taken = {}
    peers: Taken = {"difflib": [], "git": []}
    for _ in range(ROUNDS):
        asyncio.run(_round(folder, old, new, taken))
        if title != BEYOND_DIFFLIB:
            started = cpu()
            _difflib(old, new)
            peers["difflib"].append(cpu() - started)
        if shutil.which("git"):
            started = cpu()
            _git(folder, old, new)
            peers["git"].append(cpu() - started)
    of = {name: statistics.median(times) for name, times in peers.items() if times}
    once = ", ".join(f"{name} {seconds * 1e3:.1f} ms" for name, seconds in of.items())
    print(f"\n{title}: compared once by {once}")
    for name, times in taken.items():
        ours = statistics.median(times)
        ratios = "".join(f"  × {ours / peer:7.2f} of {other}" for other, peer in of.items())
        print(f"  {name:36} {ours * 1e3:9.1f} ms{ratios}", flush=True)


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        for title, make in TEXTS.items():
            _measure(folder, title, *make())
        taken: Taken = {}
        asyncio.run(_many(folder, taken))
        print(f"\n{MANY:,} files that the agent has changed")
        for title, times in taken.items():
            print(f"  {title:44} {times[0] / MANY * 1e3:9.3f} ms a file")


if __name__ == "__main__":
    main()
