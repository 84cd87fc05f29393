"""Files of which nothing is kept for review: too large, not to be read, or too many.

All there is to say of them is that they have changed, and why they cannot be reviewed. That
is said, so that nobody takes a list of changes for the whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from attrs import define

from acp_sidecar.workspace import disk
from acp_sidecar.workspace.disk import Stamp

MOST_FILES: Final = 10_000
"""Files of a session of which texts are kept."""
_MOST_UNKEPT: Final = 1_000
"""Files that are looked after besides."""


@define(eq=False)
class UnkeptFile:
    """One of them."""

    path: Path
    first: Stamp | None
    """The state of the file when it still said what it did before the agent."""
    now: Stamp | None
    why: str
    changed: bool = False
    """Whether it has changed while the agent was at work, since it was last kept."""


class Unkept:
    """The files of one session that cannot be reviewed."""

    def __init__(self) -> None:
        self._files: dict[Path, UnkeptFile] = {}
        self.more = 0
        """How many there are that nobody looks after."""

    def __iter__(self) -> Iterator[UnkeptFile]:
        return iter(tuple(self._files.values()))

    def __contains__(self, path: Path) -> bool:
        return path in self._files

    def add(self, path: Path, why: str) -> None:
        """The session hears of a file that cannot be kept, for the first time or again."""
        known = self._files.get(path)
        if known is not None:
            known.why = why
        elif len(self._files) < _MOST_UNKEPT:
            state = disk.stamp(path)
            self._files[path] = UnkeptFile(path, state, state, why)
        else:
            self.more += 1

    def release(self, path: Path) -> bool:
        """Whether it can be kept from now on: it is as it was when we first heard of it."""
        known = self._files.get(path)
        if known is not None and disk.stamp(path) != known.first:
            return False
        self._files.pop(path, None)
        return True

    def observe(self, *, by_agent: bool) -> None:
        """Look at them again."""
        for file in self._files.values():
            state = disk.stamp(file.path)
            if state != file.now:
                file.now = state
                file.changed = file.changed or by_agent

    def changed(self) -> Iterator[tuple[UnkeptFile, str]]:
        """Those that the agent has changed, and what to say of each. Where there are more
        files than are looked after the last one always is among them, and says so."""
        files = tuple(self)
        for file in files:
            if self.more and file is files[-1]:
                yield file, f"{file.why}. Of {self.more:,} more files it is not even known"
            elif file.changed and file.now != file.first:
                yield file, file.why

    def keep(self, path: Path | None) -> None:
        """What they say now is as it should be: of one, or of all."""
        for file in self:
            if path in (None, file.path):
                file.first, file.changed = file.now, False
