"""Two texts to edits, against difflib and git, in the same run: ``python -m bench.textdiff``.

For each text the median processor time of a few interleaved rounds, the size of what would be sent
to the editor, and the ratios. difflib compares lines and replaces whole ones; what it
cannot do in a few seconds is left out. Also what the mirror of a long document and the
writing of a file cost.
"""

from __future__ import annotations

import difflib
import random
import shutil
import statistics
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from acp_sidecar.workspace import disk
from acp_sidecar.workspace.documents import Documents, TextChange
from acp_sidecar.workspace.positions import Position, Range
from acp_sidecar.workspace.textdiff import edits, hunks, merge3
from bench.clock import cpu

ROUNDS = 5
BEYOND_DIFFLIB = "100,000 lines shuffled"
"""What takes difflib minutes, also with its heuristic."""


def _scattered(lines: int, changes: int) -> tuple[str, str]:
    text = [f"    value_{number} = compute({number})\n" for number in range(lines)]
    old = "".join(text)
    for place in random.Random(1).sample(range(lines), changes):
        text[place] = f"    other_{place} = compute({place})\n"
    return old, "".join(text)


def _one_line() -> tuple[str, str]:
    old = "".join(f"word{number} " for number in range(460_000))
    return old, old.replace("word230000 ", "changed ")


def _same_lines() -> tuple[str, str]:
    return "same\n" * 3000, "same\n" * 1400 + "other\n" + "same\n" * 1700


def _rewritten() -> tuple[str, str]:
    return "".join(f"old {n}\n" for n in range(5000)), "".join(f"new {n}\n" for n in range(5000))


def _shuffled() -> tuple[str, str]:
    lines = [f"{number}\n" for number in range(100_000)]
    old = "".join(lines)
    random.Random(1).shuffle(lines)
    return old, "".join(lines)


def _one_line_thrice() -> tuple[str, str]:
    old, new = _one_line()
    return old, new.replace("word23 ", "changed ").replace("word450000 ", "changed ")


TEXTS: dict[str, Callable[[], tuple[str, str]]] = {
    "200 lines, 1 change": lambda: _scattered(200, 1),
    "10,000 lines, 50 changes": lambda: _scattered(10_000, 50),
    "100,000 lines, 500 changes": lambda: _scattered(100_000, 500),
    "5 MB in one line, 1 change": _one_line,
    "5 MB in one line, 3 changes": _one_line_thrice,
    "3,000 equal lines": _same_lines,
    "5,000 lines rewritten": _rewritten,
    BEYOND_DIFFLIB: _shuffled,
    "two lines in turn, 100,000": lambda: ("a\nb\n" * 50_000, "b\na\n" * 50_000 + "a\n"),
    "200,000 empty lines": lambda: ("\n" * 200_000, "x\n\n" * 100_000),
    "1 MB of nothing but \\r": lambda: ("\r" * 1_000_000, "\r" * 500_000 + "x" + "\r" * 500_000),
}


def _ours(old: str, new: str) -> int:
    return sum(len(edit.new_text) for edit in edits(old, new, "utf-16"))


def _difflib(old: str, new: str) -> int:
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    matcher = difflib.SequenceMatcher(None, before, after)
    changed = (op for op in matcher.get_opcodes() if op[0] != "equal")
    return sum(len("".join(after[b0:b1])) for _, _, _, b0, b1 in changed)


def _git(folder: Path) -> Callable[[str, str], int]:
    def run(old: str, new: str) -> int:
        command = ["git", "diff", "--no-index", "--unified=0", "--no-color", "old", "new"]
        done = subprocess.run(command, cwd=folder, capture_output=True)
        lines = done.stdout.split(b"\n")
        return sum(len(line) for line in lines if line.startswith(b"+"))

    return run


def _seconds(work: Callable[[], object]) -> float:
    started = cpu()
    work()
    return cpu() - started


def _row(title: str, old: str, new: str, folder: Path) -> str:
    (folder / "old").write_bytes(old.encode())
    (folder / "new").write_bytes(new.encode())
    ways: dict[str, Callable[[str, str], int]] = {"ours": _ours}
    if title != BEYOND_DIFFLIB:
        ways["difflib"] = _difflib
    if shutil.which("git"):
        ways["git"] = _git(folder)
    taken: dict[str, list[float]] = {name: [] for name in ways}
    sizes: dict[str, int] = {}
    for _ in range(ROUNDS):
        for name, way in ways.items():
            started = cpu()
            sizes[name] = way(old, new)
            taken[name].append(cpu() - started)
    medians = {name: statistics.median(times) for name, times in taken.items()}
    cells = [f"{medians['ours'] * 1e3:9.2f} ms {sizes['ours']:>9,} B"]
    for name in ("difflib", "git"):
        if name in medians:
            ratio = medians["ours"] / medians[name]
            cells.append(f"{medians[name] * 1e3:9.2f} ms {sizes[name]:>9,} B  × {ratio:6.2f}")
        else:
            cells.append(" " * 36)
    return f"{title:28} | " + " | ".join(cells)


def _others(folder: Path) -> Iterator[str]:
    old, new = _scattered(100_000, 500)
    yield f"hunks of the 100,000 lines: {_seconds(lambda: hunks(old, new)) * 1e3:.1f} ms"
    ours = "typed\n" + old
    yield f"merge with a typed line:    {_seconds(lambda: merge3(old, ours, new)) * 1e3:.1f} ms"
    long, short = (_a_change(text) for text in (old, _scattered(100, 1)[0]))
    yield (
        f"a change in the mirror:     {long * 1e6:.1f} µs in 100,000 lines, "
        f"{short * 1e6:.1f} µs in 100  × {long / short:.2f}"
    )
    path = folder / "written"
    state = disk.write(path, b"", None)
    times = []
    for number in range(50):
        data = f"{number}\n".encode() * 1000
        started = cpu()
        state = disk.write(path, data, state)
        times.append(cpu() - started)
    yield f"an atomic, synced write:    {statistics.median(times) * 1e3:.2f} ms"


def _a_change(text: str) -> float:
    """Seconds for a change of a document that says ``text``, as when somebody types."""
    documents = Documents()
    documents.open("file:///a", "text", 1, text)
    lines = text.count("\n")

    def type_all_over() -> None:
        for number in range(2000):
            position = Position(number * 47 % lines, 4)
            change = TextChange(Range(position, position), "x")
            documents.change("file:///a", number + 2, [change])

    return _seconds(type_all_over) / 2000


def main() -> None:
    print(f"{'':28} | {'ours':>24} | {'difflib':>36} | {'git diff --no-index':>36}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        for title, make in TEXTS.items():
            print(_row(title, *make(), folder))
        for line in _others(folder):
            print(line)


if __name__ == "__main__":
    main()
