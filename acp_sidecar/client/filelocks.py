"""One after the other, file by file."""

from __future__ import annotations

import asyncio
from pathlib import Path
from weakref import WeakValueDictionary


class FileLocks:
    """A lock a file, which is there as long as it is held or waited for."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[Path, asyncio.Lock] = WeakValueDictionary()

    def at(self, path: Path) -> asyncio.Lock:
        """The lock of a file. Who comes first gets it first."""
        lock = self._locks.get(path)
        if lock is None:
            lock = self._locks[path] = asyncio.Lock()
        return lock
