"""A folder for a session's baselines that goes with the session, however that ends.

Below one root every session has a folder, and beside it a file that it keeps locked. The
lock goes with the process, so that a folder whose lock is free has been left behind.
"""

from __future__ import annotations

import logging
import os
import secrets
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Final

from acp_sidecar.workspace.blobs import Blobs
from acp_sidecar.workspace.lockfile import hold
from acp_sidecar.workspace.shelf import DEFAULT_MEMORY, Shelf

log = logging.getLogger(__name__)

_LOCK: Final = ".lock"


class Baselines:
    """The folder of one session below ``root``, and a shelf that lays texts down in it."""

    def __init__(self, root: Path, *, memory: int = DEFAULT_MEMORY) -> None:
        """``memory``: characters that stay in memory. Where ``root`` cannot be used they all
        do. Removes what dead processes have left there."""
        self._handle: int | None = None
        self.folder = root / secrets.token_hex(8)
        blobs: Blobs | None = None
        try:
            root.mkdir(mode=0o700, parents=True, exist_ok=True)
            sweep(root)
            self._handle = hold(_lock_of(self.folder))
            blobs = Blobs(self.folder) if self._handle is not None else None
        except OSError as error:
            log.warning("baselines stay in memory: %s", error)
        self.shelf = Shelf(blobs, memory=memory)

    def close(self) -> None:
        """Remove the folder: the session is over. What was laid down is lost."""
        if self._handle is None:
            return
        _remove(self.folder)
        os.close(self._handle)
        self._handle = None


def sweep(root: Path) -> None:
    """Remove the folders below ``root`` that no living process holds."""
    for lock in root.glob(f"*{_LOCK}"):
        try:
            handle = hold(lock, make=False)
        except OSError as error:
            log.info("%s: %s", lock, error)
            continue
        if handle is not None:
            _remove(lock.with_name(lock.name.removesuffix(_LOCK)))
            os.close(handle)


def _lock_of(folder: Path) -> Path:
    return folder.with_name(folder.name + _LOCK)


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    with suppress(OSError):
        _lock_of(folder).unlink()
