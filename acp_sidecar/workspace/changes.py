"""What the ledger says of changed files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal, TypeAlias

from attrs import frozen

from acp_sidecar.workspace.entry import State
from acp_sidecar.workspace.shelf import Kept
from acp_sidecar.workspace.textdiff import Hunk
from acp_sidecar.workspace.texts import FileText, Said
from acp_sidecar.workspace.unkept import UnkeptFile

Status: TypeAlias = Literal["modified", "created", "deleted", "renamed"]


@frozen
class FileHunk:
    """Lines that differ from the baseline; none where there are none to be shown (a move,
    a change of bytes, an empty file). ``hunk`` counts from 0."""

    id: str
    hunk: Hunk
    state: Literal["waiting", "conflict"] = "waiting"

    def to_json(self) -> dict[str, object]:
        lines = self.hunk
        return {
            "id": self.id,
            "before": {"start": lines.before_start, "lines": lines.before_lines},
            "after": {"start": lines.after_start, "lines": lines.after_lines},
            "state": self.state,
        }


@frozen
class FileChange:
    """One changed file."""

    path: Path
    uri: str
    status: Status
    hunks: tuple[FileHunk, ...]
    binary: bool = False
    old_uri: str | None = None
    """Where the file was, if the agent has moved it."""
    problem: str | None = None
    """Why this is not all there is to say of it."""

    def to_json(self) -> dict[str, object]:
        shown: dict[str, object] = {
            "uri": self.uri,
            "status": self.status,
            "oldUri": self.old_uri,
            "binary": self.binary,
            "hunks": [hunk.to_json() for hunk in self.hunks],
        }
        return shown if self.problem is None else {**shown, "problem": self.problem}


@frozen(eq=False)
class EditedFile:
    """A file that the agent made and the user has edited: a revert would delete it, and so
    leaves it until the user has said so."""

    id: str
    """Of the change, as a hunk."""
    path: Path
    said: Kept
    """What it says, of which the user is asked."""
    problem: str
    """Why it stays, as it stands among the problems."""


@frozen
class Reviewed:
    """What came of a keep, a revert or an undo: ids of hunks, and why some are in conflict."""

    kept: tuple[str, ...] = ()
    reverted: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    edited: tuple[EditedFile, ...] = ()
    """Of the conflicts those that the user can settle by a yes to :meth:`Ledger.delete`."""

    def to_json(self) -> dict[str, list[str]]:
        return {
            "kept": list(self.kept),
            "reverted": list(self.reverted),
            "conflicts": list(self.conflicts),
        }


def change_of(
    path: Path, state: State, uri: str, old_uri: str | None, problem: str | None = None
) -> FileChange:
    """A changed file as it is shown; ``uri`` is what the editor calls it."""
    status = _status(state)
    if problem is not None and state.now.is_missing and not state.changed:
        status = "created"
    hunks = tuple(_hunks(state))
    return FileChange(path, uri, status, hunks, _binary(state), old_uri, problem)


def unkept_change(file: UnkeptFile, uri: str, why: str) -> FileChange:
    """A changed file of which nothing is kept."""
    status: Status = "modified"
    if file.first is None or file.now is None:
        status = "created" if file.first is None else "deleted"
    return FileChange(file.path, uri, status, (), problem=why)


def text_of(said: Said) -> str:
    """The text; empty where there is none."""
    return said.text if isinstance(said, FileText) else ""


def _status(state: State) -> Status:
    if state.origin is not None and not state.now.is_missing:
        return "renamed"
    if state.whole is None:
        return "modified"
    if state.whole.baseline.is_missing:
        return "created"
    return "deleted" if state.now.is_missing else "modified"


def _binary(state: State) -> bool:
    kinds = {state.now.kind}
    if state.whole is not None:
        kinds.add(state.whole.baseline.kind)
    return "bytes" in kinds


def _hunks(state: State) -> Iterator[FileHunk]:
    if state.origin is not None:
        yield FileHunk(state.origin.id, Hunk(0, 0, 0, 0))
    if state.whole is not None:
        lines = Hunk(0, state.whole.baseline.lines, 0, state.now.lines)
        if _binary(state):
            lines = Hunk(0, 0, 0, 0)
        yield FileHunk(state.whole.id, lines, "conflict" if state.whole.conflict else "waiting")
    grown = 0
    for patch in state.patches:
        lines = Hunk(patch.start - grown, patch.before.count, patch.start, patch.count)
        yield FileHunk(patch.id, lines, "conflict" if patch.conflict else "waiting")
        grown += patch.growth
