"""One after the other, file by file."""

from __future__ import annotations

import asyncio
from pathlib import Path
from weakref import WeakValueDictionary

from acp_sidecar.workspace.uris import path_key


class FileLocks:
    """A lock a file, which is there as long as it is held or waited for."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def at(self, path: Path) -> asyncio.Lock:
        """The lock of a file. Who comes first gets it first."""
        key = path_key(str(path))
        lock = self._locks.get(key)
        if lock is None:
            lock = self._locks[key] = asyncio.Lock()
        return lock

    def held(self, path: Path) -> bool:
        """Whether somebody holds the lock of a file."""
        lock = self._locks.get(path_key(str(path)))
        return lock is not None and lock.locked()
