"""Files that the user gives other names: what waits for review in them goes along."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from acp_sidecar.workspace.entry import Entry, State
from acp_sidecar.workspace.history import History
from acp_sidecar.workspace.tracked import Tracked


class Renames:
    """The renames of one session's files, each from its announcement to its end."""

    def __init__(self, tracked: Tracked, history: History, within: Callable[[Path], bool]) -> None:
        """``within``: whether a path is one of the session's."""
        self._tracked = tracked
        self._history = history
        self._within = within
        self._leaving: dict[Path, State] = {}
        """What files say that the user is about to rename."""

    def will(self, paths: Iterable[Path]) -> None:
        """The user is about to give files, or folders, other names."""
        self._leaving = {}
        for path in paths:
            for entry in self._below(path):
                self._tracked.observe(entry, by_agent=self._tracked.in_turn)
                self._leaving[entry.path] = entry.state

    def done(self, old: Path, new: Path) -> None:
        """A file, or a folder, has got another name. One that is moved out of the session's
        folders is gone for us."""
        for entry in self._below(old):
            state = self._leaving.pop(entry.path, None)
            to = new / entry.path.relative_to(old)
            other = self._tracked.entries.get(to)
            if state is None or entry.busy or not self._within(to):
                continue
            if other is not None and (other.busy or other.state.changed):
                # What the agent has done to the file that was there is not lost.
                continue
            self._history.renamed(entry.path, to)
            self._tracked.renamed(entry, to, state)

    def _below(self, path: Path) -> list[Entry]:
        entries = self._tracked.entries.values()
        return [entry for entry in entries if entry.path.is_relative_to(path)]
