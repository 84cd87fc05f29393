"""What the files below some folders say at one time, to know later what they said.

Agents run programs, and programs change files that nobody speaks of. What such a file said
before can only be known by having looked before. What git would ignore is not looked at, nor
what is large; and there is an end to how much is looked at. All of this waits for the disk.
"""

from __future__ import annotations

import os
import stat
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from attrs import field, frozen

from acp_sidecar.workspace import disk
from acp_sidecar.workspace.disk import Snapshot, Stamp
from acp_sidecar.workspace.problems import FileProblem
from acp_sidecar.workspace.texts import FileText, Missing, Said, decode

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

_NEVER: Final = frozenset({".git", ".hg", ".svn", ".jj", "node_modules", "__pycache__"})
"""Folders that are not the user's own files, wherever they are."""
_MARKS: Final = frozenset({"pyvenv.cfg", "CACHEDIR.TAG"})
"""Files that say the same of the folder they are in."""
_IGNORE: Final = ".gitignore"


@frozen
class Limits:
    """How much is looked at."""

    files: int = 10_000
    folders: int = 3_000
    bytes: int = 32 * 1024 * 1024
    """Of all files together."""
    file_bytes: int = 1024 * 1024
    """Of one file."""


@frozen
class Seen:
    """One file: its state on disk, when that last changed, and its bytes if they were read."""

    stamp: Stamp
    changed_ns: int
    """Since 1970; unlike the time of the last writing no program sets it at will."""
    data: bytes | None = None


@frozen
class Picture:
    """What there was below the folders."""

    files: Mapping[str, Seen] = field(factory=dict)
    """By path: there are many, and texts cost a fifth of what ``Path`` does."""
    folders: Collection[str] = frozenset()
    """Those of which every name is known."""
    others: Collection[str] = frozenset()
    """What else was there: ignored, no regular file, or beyond the limits."""

    def said(self, path: Path) -> Said | None:
        """What a file said; None where that is not known."""
        seen = self.files.get(str(path))
        if seen is not None:
            return None if seen.data is None else _said(path, seen.data, seen.stamp)
        below = path
        while below.parent != below and str(below.parent) not in self.folders:
            below = below.parent
        known = str(below.parent) in self.folders
        return Missing(path) if known and str(below) not in self.others else None


def look(
    roots: Sequence[Path], before: Picture | None = None, limits: Limits | None = None
) -> Picture:
    """Look at all files below resolved folders. Those that have not changed since ``before``
    are not read again."""
    limits = limits or Limits()
    walk = _Walk(limits)
    files: dict[str, Seen] = {}
    room = limits.bytes
    for path, status in walk.files(roots):
        seen = Seen(Stamp.of(status), _changed_ns(status))
        known = before.files.get(path) if before else None
        if known is not None and known.data is not None and known.stamp == seen.stamp:
            seen = known
        elif seen.stamp.size <= min(limits.file_bytes, room):
            seen = _read(path, seen, limits.file_bytes)
        room -= len(seen.data or b"")
        files[path] = seen if room >= 0 else Seen(seen.stamp, seen.changed_ns)
    return Picture(files, walk.folders, walk.others)


def differences(roots: Sequence[Path], picture: Picture) -> dict[Path, int | None]:
    """The files that are not as they were, and when (nanoseconds since 1970) each changed;
    None for those that are gone."""
    walk = _Walk(Limits())
    found: dict[Path, int | None] = {}
    there: set[str] = set()
    for path, status in walk.files(roots):
        there.add(path)
        seen = picture.files.get(path)
        if (seen is None and path not in picture.others) or (
            seen is not None and seen.stamp != Stamp.of(status)
        ):
            found[Path(path)] = _changed_ns(status)
    for path in picture.files:
        if path not in there and not os.path.lexists(path):
            found[Path(path)] = None
    return found


def change_of(path: Path, picture: Picture) -> int | None:
    """When a file has changed since (nanoseconds since 1970); None where it has not. Of one
    that is gone its folder tells when something in it last came or went."""
    seen = picture.files.get(str(path))
    try:
        status = path.lstat()
    except FileNotFoundError:
        return None if seen is None else _emptied_ns(path.parent)
    except OSError:
        return None
    return None if seen is not None and seen.stamp == Stamp.of(status) else _changed_ns(status)


def listed(roots: Sequence[Path], limits: Limits | None = None) -> Iterator[str]:
    """The paths of all files below resolved folders, those nearest to the roots first."""
    return (path for path, _ in _Walk(limits or Limits()).files(roots))


class _Walk:
    """Through folders, those nearest to the roots first."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self.folders: set[str] = set()
        self.others: set[str] = set()

    def files(self, roots: Sequence[Path]) -> Iterator[tuple[str, os.stat_result]]:
        count = 0
        tops = {str(root) for root in roots}
        waiting = deque((str(root), _above(root)) for root in roots)
        while waiting:
            folder, rules = waiting.popleft()
            if folder in self.folders:
                continue
            if len(self.folders) >= self._limits.folders:
                return
            try:
                with os.scandir(folder) as listed:
                    entries = sorted(listed, key=lambda each: each.name)
            except OSError:
                continue
            if any(each.name in _MARKS for each in entries) and folder not in tops:
                # Its names are not to be taken for new ones later.
                self.others.add(folder)
                continue
            if any(each.name == _IGNORE for each in entries):
                rules = (*rules, (len(folder.rstrip(os.sep)) + 1, _rules(Path(folder))))
            complete = True
            for entry in entries:
                path = os.path.join(folder, entry.name)  # noqa: PTH118
                try:
                    status = entry.stat(follow_symlinks=False)
                except OSError:
                    self.others.add(path)
                    continue
                is_folder = stat.S_ISDIR(status.st_mode)
                if entry.name in _NEVER or _ignored(path, is_folder, rules):
                    self.others.add(path)
                elif is_folder:
                    waiting.append((path, rules))
                elif not stat.S_ISREG(status.st_mode) or disk.is_temporary(entry.name):
                    self.others.add(path)
                elif count >= self._limits.files:
                    complete = False
                else:
                    count += 1
                    yield path, status
            if complete:
                self.folders.add(folder)


def _changed_ns(status: os.stat_result) -> int:
    # Windows gives the time of creation there.
    return status.st_mtime_ns if os.name == "nt" else status.st_ctime_ns


def _emptied_ns(folder: Path) -> int | None:
    try:
        return folder.stat().st_mtime_ns
    except OSError:
        return None


def _read(path: str, seen: Seen, limit: int) -> Seen:
    try:
        handle = os.open(path, os.O_RDONLY | disk.CAREFUL)
    except OSError:
        return seen
    try:
        before = os.fstat(handle)
        if not stat.S_ISREG(before.st_mode) or before.st_size > limit:
            return seen
        data = os.read(handle, before.st_size + 1)
        after = os.fstat(handle)
    except OSError:
        return seen
    finally:
        os.close(handle)
    stamp = Stamp.of(before)
    complete = len(data) == before.st_size and stamp == Stamp.of(after)
    return Seen(stamp, _changed_ns(before), data) if complete else seen


def _said(path: Path, data: bytes, stamp: Stamp) -> Said:
    try:
        text, bom = decode(data, path)
    except FileProblem:
        return Snapshot(data, stamp)
    return FileText(text, "disk", bom, stamp)


Rules: TypeAlias = tuple[tuple[int, "GitIgnoreSpec"], ...]
"""What each ``.gitignore`` says, and where in a path the names begin that it speaks of."""


def _rules(folder: Path) -> GitIgnoreSpec:
    # Its import costs a good part of our start; this is long after it, in another thread.
    from pathspec import GitIgnoreSpec

    try:
        lines = (folder / _IGNORE).read_text("utf-8", "replace").splitlines()
        return GitIgnoreSpec.from_lines(lines)
    except (OSError, ValueError):
        return GitIgnoreSpec.from_lines([])


def _above(root: Path) -> Rules:
    """What the folders above a root say of it, up to the top of its repository."""
    if (root / ".git").exists():
        return ()
    above: list[Path] = []
    for folder in root.parents:
        above.append(folder)
        if (folder / ".git").exists():
            return tuple((len(str(each)) + 1, _rules(each)) for each in reversed(above))
    return ()


def _ignored(path: str, is_folder: bool, rules: Rules) -> bool:
    for start, spec in reversed(rules):
        include = spec.check_file(path[start:] + ("/" if is_folder else "")).include
        if include is not None:
            return include
    return False
