"""What has come to be on disk beneath the user's unsaved changes.

Most agents write files by themselves. One that does so while the user types in the same
file changes what the next saving replaces, and nobody would notice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Container, Mapping
from pathlib import Path
from typing import Final

from acp_sidecar.tasks import Tasks
from acp_sidecar.workspace.files import Files

_SETTLE: Final = 2.0
"""Seconds within which an editor says that it has saved a file, or loaded it; one that is busy
needs more than a moment, and nothing is lost meanwhile."""


class Beneath:
    """Tells of it, once for each text that is hidden so."""

    def __init__(self, files: Files, tasks: Tasks, tell: Callable[[Path], None]) -> None:
        self._files = files
        self._tasks = tasks
        self._tell = tell
        self._told: dict[Path, str] = {}

    def look(self, among: Container[Path]) -> None:
        """Look now at the open files ``among`` these, and again before a word is said."""
        suspects = {
            path: text
            for path in self._files.open_paths()
            if path in among
            and (text := self._files.hidden(path)) is not None
            and self._told.get(path) != text
        }
        if suspects:
            self._tasks.start(self._confirm(suspects), name="look beneath unsaved changes")

    async def _confirm(self, suspects: Mapping[Path, str]) -> None:
        await asyncio.sleep(_SETTLE)
        for path, text in suspects.items():
            if self._files.hidden(path) == text and self._told.get(path) != text:
                self._told[path] = text
                self._tell(path)
