"""A file that is held by a living process, and let go of with it, however that ends."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def hold(path: Path, *, make: bool = True) -> int | None:
    """Take the lock at ``path``, a file that is made where ``make`` allows it.

    The descriptor that holds it until it is closed; None where somebody else holds it, or has
    just removed the file. Raises :class:`OSError` where the file cannot be opened.
    """
    flags = os.O_RDWR | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
    while True:
        try:
            handle = os.open(path, flags | (os.O_CREAT if make else 0), 0o600)
        except FileNotFoundError:
            return None
        if not _take(handle):
            os.close(handle)
            return None
        # Between opening and locking a sweep may have removed it.
        try:
            if os.path.samestat(os.fstat(handle), path.stat()):
                return handle
        except FileNotFoundError:
            pass
        os.close(handle)
        if not make:
            return None


if sys.platform == "win32":
    import msvcrt

    def _take(handle: int) -> bool:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _take(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True
