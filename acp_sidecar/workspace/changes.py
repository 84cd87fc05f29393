"""What the ledger says of changed files."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Literal, TypeAlias

from attrs import frozen

from acp_sidecar.workspace.disk import Snapshot
from acp_sidecar.workspace.entry import Entry
from acp_sidecar.workspace.positions import split_lines
from acp_sidecar.workspace.textdiff import Hunk, hunks
from acp_sidecar.workspace.texts import FileText, Missing, Said

Status: TypeAlias = Literal["modified", "created", "deleted"]


@frozen
class FileHunk:
    """Lines that differ from the baseline. ``hunk`` counts from 0."""

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

    def to_json(self) -> dict[str, object]:
        return {
            "uri": self.uri,
            "status": self.status,
            "oldUri": None,
            "binary": self.binary,
            "hunks": [hunk.to_json() for hunk in self.hunks],
        }


@frozen
class Reviewed:
    """What came of a keep, a revert or an undo: ids of hunks, and why some are in conflict."""

    kept: tuple[str, ...] = ()
    reverted: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()

    def to_json(self) -> dict[str, list[str]]:
        return {
            "kept": list(self.kept),
            "reverted": list(self.reverted),
            "conflicts": list(self.conflicts),
        }


def change_of(entry: Entry, uri: str) -> FileChange:
    """A changed file as it is shown; ``uri`` is what the editor calls it."""
    if isinstance(entry.baseline, Missing):
        status: Status = "created"
    else:
        status = "deleted" if isinstance(entry.now, Missing) else "modified"
    binary = isinstance(entry.baseline, Snapshot) or isinstance(entry.now, Snapshot)
    return FileChange(entry.path, uri, status, hunks_of(entry), binary)


def hunks_of(entry: Entry) -> tuple[FileHunk, ...]:
    """The hunks of a changed file; one without lines where there are none to be shown."""
    if isinstance(entry.baseline, Snapshot) or isinstance(entry.now, Snapshot):
        return (FileHunk(_id(entry.path, "binary", "", 0), Hunk(0, 0, 0, 0), _state(entry)),)
    before, after = text_of(entry.baseline), text_of(entry.now)
    old, new = split_lines(before), split_lines(after)
    found: list[FileHunk] = []
    times: dict[str, int] = {}
    for hunk in hunks(before, after):
        gone = "".join(old[hunk.before_start : hunk.before_start + hunk.before_lines])
        come = "".join(new[hunk.after_start : hunk.after_start + hunk.after_lines])
        first = _id(entry.path, gone, come, 0)
        number = times[first] = times.get(first, -1) + 1
        found.append(FileHunk(_id(entry.path, gone, come, number), hunk, _state(entry)))
    return tuple(found) or (FileHunk(_id(entry.path, "", "", 0), Hunk(0, 0, 0, 0), _state(entry)),)


def text_of(said: Said) -> str:
    """The text; empty where there is none."""
    return said.text if isinstance(said, FileText) else ""


def _state(entry: Entry) -> Literal["waiting", "conflict"]:
    return "conflict" if entry.conflict else "waiting"


def _id(path: Path, gone: str, come: str, number: int) -> str:
    """An id that stays while the hunk's lines do, wherever in the file they move."""
    digest = hashlib.blake2b(digest_size=9)
    for part in (str(path), gone, come, str(number)):
        digest.update(part.encode("utf-8", "surrogatepass"))
        digest.update(b"\0")
    return digest.hexdigest()
