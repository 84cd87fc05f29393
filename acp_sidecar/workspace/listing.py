"""The changed files of a session as they are listed, each under the name an editor has for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from acp_sidecar.workspace.changes import FileChange, change_of, text_of, unkept_change
from acp_sidecar.workspace.entry import Entry
from acp_sidecar.workspace.files import Files
from acp_sidecar.workspace.problems import FileProblem
from acp_sidecar.workspace.tracked import Tracked
from acp_sidecar.workspace.uris import path_to_uri


class Listing:
    """What there is to review."""

    def __init__(self, tracked: Tracked, files: Files, spelled: Callable[[Path], str]) -> None:
        """``spelled``: a path as the user has it."""
        self._tracked = tracked
        self._files = files
        self._spelled = spelled

    def changes(self) -> list[FileChange]:
        """The changed files, in the order in which the session heard of them; last those of
        which nothing is kept, with the reason."""
        found = [
            self._change(entry)
            for entry in self._tracked.entries.values()
            if entry.state.changed or entry.problem is not None
        ]
        unkept = [
            unkept_change(file, self._uri_of(file.path), why)
            for file, why in self._tracked.unkept.changed()
        ]
        return found + unkept

    def change(self, path: Path) -> FileChange | None:
        """What has changed in one file; None where nothing has."""
        entry = self._tracked.entries.get(path)
        return self._change(entry) if entry is not None and entry.state.changed else None

    def diff(self, path: Path) -> tuple[str, str] | None:
        """The texts of a file before and after the agent; None for one that is not known.

        A text that does not exist, or is none, or is lost, is empty.
        """
        entry = self._tracked.entries.get(path)
        if entry is None:
            return None
        try:
            return text_of(entry.state.baseline()), text_of(entry.state.now.get())
        except FileProblem:
            return "", ""

    def _change(self, entry: Entry) -> FileChange:
        uri = self._files.uri_of(entry.path)
        if uri is None:
            uri = entry.uri = entry.uri or path_to_uri(self._spelled(entry.path))
        origin = entry.state.origin
        old = None if origin is None else self._uri_of(origin.path)
        if entry.shown is None or entry.shown[0] != (entry.state, uri, old, entry.problem):
            change = change_of(entry.path, entry.state, uri, old, entry.problem)
            entry.shown = (entry.state, uri, old, entry.problem), change
        return entry.shown[1]

    def _uri_of(self, path: Path) -> str:
        return self._files.uri_of(path) or path_to_uri(self._spelled(path))
