"""Why a file could not be read or written."""

from __future__ import annotations

import errno
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Literal, TypeAlias

Kind: TypeAlias = Literal[
    "missing",
    "directory",
    "special",
    "encoding",
    "too_large",
    "permission",
    "changed",
    "refused_by_editor",
    "misplaced",
    "invalid",
    "io",
]

_SAYS: Final[Mapping[Kind, str]] = {
    "missing": "No such file",
    "directory": "Is a directory, not a file",
    "special": "Not a regular file",
    "permission": "Permission denied",
    "changed": "The way to this file has changed",
    "invalid": "Not a usable file name",
    "io": "The disk failed",
}

_KINDS: Final[Mapping[int, Kind]] = {
    errno.ENOENT: "missing",
    errno.EISDIR: "directory",
    errno.ENXIO: "special",
    errno.EACCES: "permission",
    errno.EPERM: "permission",
    errno.EROFS: "permission",
    errno.ELOOP: "changed",
    errno.ENOTDIR: "changed",
    errno.ENAMETOOLONG: "invalid",
    errno.EINVAL: "invalid",
}


class FileProblem(Exception):
    """A file cannot be read or written. ``kind`` for code, the message for people and agents.

    ``missing``: nothing is there. ``directory``, ``special``: no regular file. ``encoding``:
    not UTF-8 text. ``too_large``: beyond the limit for reading. ``permission``: not allowed.
    ``changed``: it says something else than this was made from. ``refused_by_editor``: the
    editor did not make the edit. ``misplaced``: it made the edit on another text than the
    one it was for. ``invalid``: the name or the text cannot be stored. ``io``: the disk.
    """

    def __init__(self, kind: Kind, path: Path, message: str | None = None) -> None:
        super().__init__(f"{message or _SAYS[kind]}: {path}")
        self.kind: Kind = kind
        self.path = path


class Moved(Exception):
    """A file is not what it was when its new text was computed."""


@contextmanager
def problems_of(path: Path) -> Iterator[None]:
    """Turn what the operating system says of ``path`` into a :class:`FileProblem`."""
    try:
        yield
    except OSError as error:
        kind = _KINDS.get(error.errno or 0, "io")
        message = None if kind != "io" else f"{error.strerror or error}"
        raise FileProblem(kind, path, message) from error
