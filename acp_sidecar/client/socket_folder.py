"""A folder of our own for a socket, that only the user may enter, with a path short enough."""

from __future__ import annotations

import contextlib
import os
import socket
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from attrs import frozen

_PREFIX: Final = "acp-sidecar-"
_NAME: Final = "tools"
_LONGEST: Final = 100
"""Bytes of a socket's path. Linux takes 107, macOS 103."""
_YOUNG_SECONDS: Final = 60


@frozen
class SocketFolder:
    """The folder at ``path``, to hold nothing but ``socket``."""

    path: Path

    @classmethod
    def make(cls) -> SocketFolder:
        """Make a fresh one, and remove what sidecars have left that were killed.

        :raises OSError: there is no place for it
        """
        problem: OSError | None = None
        for place in _places():
            _sweep(place)
            try:
                made = cls(Path(tempfile.mkdtemp(prefix=_PREFIX, dir=place)))
            except OSError as error:
                problem = error
                continue
            if len(os.fsencode(made.socket)) <= _LONGEST:
                return made
            made.remove()
            problem = OSError(f"the path of the folder for temporary files is too long: {place}")
        raise problem or OSError("there is no folder for temporary files")

    @property
    def socket(self) -> Path:
        return self.path / _NAME

    def remove(self) -> None:
        """Remove it with its socket; what cannot be removed stays."""
        with contextlib.suppress(OSError):
            self.socket.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            self.path.rmdir()


def _places() -> Iterator[Path]:
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    candidates = (runtime, tempfile.gettempdir(), "/tmp")
    for place in dict.fromkeys(Path(each) for each in candidates if each):
        if place.is_dir():
            yield place


def _sweep(place: Path) -> None:
    """Remove folders of ours at whose socket nobody listens any more."""
    with contextlib.suppress(OSError):
        for folder in place.glob(f"{_PREFIX}*"):
            with contextlib.suppress(OSError):
                if _is_left_over(folder):
                    SocketFolder(folder).remove()


def _is_left_over(folder: Path) -> bool:
    about = folder.lstat()
    if not stat.S_ISDIR(about.st_mode) or about.st_uid != os.getuid():
        return False
    # Another sidecar may be just between making and listening.
    if time.time() - about.st_mtime < _YOUNG_SECONDS:
        return False
    path = folder / _NAME
    if not stat.S_ISSOCK(path.lstat().st_mode):
        return False
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.setblocking(False)
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            return True
    return False
