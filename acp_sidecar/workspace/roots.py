"""What an agent may have opened, read, written and run in: the roots of its session.

ACP, "File System", "Session Root Scope". Paths come from the agent and are not trusted.
They are resolved the way the kernel does it, one component after the other, and the
result is compared with the resolved roots by components.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal, TypeAlias

from attrs import frozen

from acp_sidecar.workspace import uris

Reason: TypeAlias = Literal[
    "outside", "relative", "missing", "directory", "special", "invalid", "permission", "file"
]
Wanted: TypeAlias = Literal["file", "directory", "any", "new"]

_REASONS: Final = {
    "outside": "is outside of the session's folders",
    "relative": "is not an absolute path",
    "missing": "No such file or directory",
    "directory": "is a directory",
    "special": "is not a regular file",
    "invalid": "is not a usable path",
    "permission": "Permission denied",
    "file": "is not a directory",
}
_SUFFIXES: Final = (
    re.compile(r"(?P<path>.+):(?P<line>[0-9]{1,10})(?:-[0-9]{1,10})?"),
    re.compile(r"(?P<path>.+):(?P<line>[0-9]{1,10}):[0-9]{1,10}"),
)
_MOST_LINKS: Final = 40


class PathRefused(ValueError):
    """A path that must not, or cannot, be used. ``path`` is as it came."""

    def __init__(self, path: str, reason: Reason) -> None:
        super().__init__(f"{_REASONS[reason]}: {path!r}")
        self.path = path
        self.reason: Reason = reason


@frozen
class Place:
    """A file of the session's and a line in it (1-based, as ACP counts; may be absent)."""

    path: Path
    line: int | None


@frozen
class Roots:
    """The folders of one session. None at all: everything is outside."""

    paths: tuple[str, ...]
    """As the user gave them, absolute."""
    real: tuple[Path, ...]
    """The same resolved, once: a link that is turned elsewhere later widens nothing."""

    @classmethod
    def of(cls, cwd: str | None, additional: Iterable[str] = ()) -> Roots:
        """The roots of a session with this working directory and these folders.

        Raises :class:`PathRefused` for one that is not an absolute path.
        """
        paths: list[str] = []
        for path in (*(() if cwd is None else (cwd,)), *additional):
            _check(path)
            if not Path(path).is_absolute():
                raise PathRefused(path, "relative")
            if path not in paths:
                paths.append(path)
        return cls(tuple(paths), tuple(walk(path) for path in paths))

    def resolve(self, path: str, *, relative_to: str | None = None, must: Wanted = "file") -> Path:
        """The real path of ``path``: no symlink, ``.`` or ``..`` is left in it.

        ``must`` says what has to be there: a regular ``file``, a ``directory``, ``any`` thing,
        or for ``new`` a regular file or nothing at all. ``relative_to`` (absolute) makes
        relative paths good, for display only. ``~`` is a name like any other. Raises
        :class:`PathRefused`.
        """
        _check(path)
        if not Path(path).is_absolute():
            if relative_to is None:
                raise PathRefused(path, "relative")
            located = f"{relative_to.rstrip('/')}/{path}"
        else:
            located = path
        try:
            real = walk(located)
        except PathRefused as refused:
            raise PathRefused(path, refused.reason) from None
        if not self.contains(real):
            raise PathRefused(path, "outside")
        reason = _unfit(real, must)
        if reason is not None:
            raise PathRefused(path, reason)
        return real

    def place(self, path: str, line: int | None, *, relative_to: str | None = None) -> Place:
        """Where a location of the agent's is, for showing it: an existing regular file.

        A path that does not exist and ends in a line, a range of lines, or a line and a
        column (``/ws/a.md:1-20``) stands for the file before the colon, if that exists.
        Raises :class:`PathRefused`.
        """
        try:
            return Place(self.resolve(path, relative_to=relative_to), line)
        except PathRefused as refused:
            suffixes = [pattern.fullmatch(path) for pattern in _SUFFIXES]
            for suffix in suffixes if refused.reason == "missing" else ():
                if suffix is not None:
                    with suppress(PathRefused):
                        real = self.resolve(suffix["path"], relative_to=relative_to)
                        return Place(real, int(suffix["line"]) if line is None else line)
            raise

    def contains(self, path: Path) -> bool:
        """Whether ``path``, resolved already, is a root or inside of one."""
        return any(_is_inside(path, root) for root in self.real)

    def intersect(self, folders: Iterable[str]) -> Roots:
        """What lies both in these roots and in ``folders``; without folders these roots."""
        folders = tuple(folders)
        if not folders:
            return self
        others: list[tuple[str, Path]] = []
        for folder in folders:
            with suppress(PathRefused):
                others.append((folder, walk(folder)))
        both: dict[Path, str] = {}
        for mine, my_real in zip(self.paths, self.real, strict=True):
            for other, other_real in others:
                if _is_inside(my_real, other_real):
                    both.setdefault(my_real, mine)
                elif _is_inside(other_real, my_real):
                    both.setdefault(other_real, other)
        return Roots(tuple(both.values()), tuple(both))

    def as_given(self, path: Path) -> str:
        """A real path below a root, spelled the way the user spelled that root.

        An editor that opened ``/link`` should be sent to ``/link/a.py``, not to what the
        link leads to.
        """
        for given, real in zip(self.paths, self.real, strict=True):
            if _is_inside(path, real):
                return str(Path(given, *path.parts[len(real.parts) :]))
        return str(path)


def walk(path: str) -> Path:
    """Resolve an absolute path as the kernel would, component by component.

    What does not exist yet may follow the last thing that does, but not be left by
    ``..``: the kernel would not go there either. Raises :class:`PathRefused`.
    """
    _check(path)
    if not Path(path).is_absolute():
        raise PathRefused(path, "relative")
    if os.name == "nt":
        return Path(os.path.realpath(path))
    rest = path.split("/")[::-1]
    real = "/"
    links = 0
    gone = False
    while rest:
        name = rest.pop()
        if name in ("", "."):
            continue
        if name == "..":
            if gone:
                raise PathRefused(path, "missing")
            real = os.path.dirname(real)  # noqa: PTH120
            continue
        step = real + name if real == "/" else f"{real}/{name}"
        if gone:
            real = step
            continue
        try:
            mode = os.lstat(step).st_mode
        except FileNotFoundError:
            gone = True
            real = step
            continue
        except OSError as error:
            raise PathRefused(path, _reason(error)) from None
        if stat.S_ISLNK(mode):
            links += 1
            if links > _MOST_LINKS:
                raise PathRefused(path, "invalid")
            target = os.readlink(step)  # noqa: PTH115
            if target.startswith("/"):
                real = "/"
            rest += target.split("/")[::-1]
            continue
        if not stat.S_ISDIR(mode) and rest:
            raise PathRefused(path, "missing")
        real = step
    return Path(real)


def _check(path: str) -> None:
    if not path or "\0" in path:
        raise PathRefused(path, "invalid")
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        raise PathRefused(path, "invalid") from None


def _reason(error: OSError) -> Reason:
    if error.errno in (errno.EACCES, errno.EPERM):
        return "permission"
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return "missing"
    return "invalid"


def _unfit(path: Path, must: Wanted) -> Reason | None:
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return None if must == "new" else "missing"
    except OSError as error:
        return _reason(error)
    if must == "any":
        return None
    if stat.S_ISDIR(mode):
        return None if must == "directory" else "directory"
    if must == "directory":
        return "file"
    return None if stat.S_ISREG(mode) else "special"


def _is_inside(path: Path, root: Path) -> bool:
    if path == root or root in path.parents:
        return True
    if not uris.CASELESS:
        return False
    above = Path(*path.parts[: len(root.parts)])
    if uris.path_key(str(above)) != uris.path_key(str(root)):
        return False
    # Written in another case; whether it is the same the disk has to say.
    try:
        return above.samefile(root)
    except OSError:
        return False
