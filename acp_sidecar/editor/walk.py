"""From hunk to hunk, through all files and round: which one comes next.

The files of a session are in the order of their URIs, as in a tree of them, and those of
several sessions one after the other; a file that several have changed is walked through once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import frozen

from acp_sidecar.editor.marks import Mark, proposed, waiting

if TYPE_CHECKING:
    from acp_sidecar.client.ports import SessionView
    from acp_sidecar.workspace.files import Files


@frozen
class Stop:
    """A hunk to go to. ``uri`` is what the editor calls its file, or would."""

    path: Path
    uri: str
    mark: Mark


def stops(
    sessions: Iterable[SessionView], files: Files, uri_of: Callable[[SessionView, Path], str]
) -> list[Stop]:
    """All hunks of these sessions in files that can be opened, as they are known now."""
    found: dict[Path, tuple[str, list[Mark]]] = {}
    for session in sessions:
        own: dict[Path, tuple[str, list[Mark]]] = {}
        gone: set[Path] = set()
        for change in session.ledger.changes() if session.ledger else ():
            if change.status == "deleted":
                gone.add(change.path)
                continue
            _, marks = own.setdefault(change.path, (change.uri, []))
            marks += waiting(session, change)
        for proposal in session.proposals:
            path = proposal.path
            if path not in gone:
                _, marks = own.setdefault(path, (uri_of(session, path), []))
                marks += proposed(session, proposal, files.glance(path))
        for path, (uri, marks) in sorted(own.items(), key=lambda file: file[1][0]):
            found.setdefault(path, (uri, []))[1].extend(marks)
    return [
        Stop(path, uri, mark)
        for path, (uri, marks) in found.items()
        for mark in sorted(marks, key=lambda mark: (mark.start, mark.lines))
    ]


def onward(
    order: Sequence[Stop], hunk_id: str | None, path: Path | None, line: int | None, *, back: bool
) -> int:
    """The index of the one after (``back``: before) a hunk, else a 0-based line of a file.

    Round at the ends. From a hunk or a file that is not among them it is the first (the
    last). Whoever stands within a hunk goes back to the one before it. ``order`` is not
    empty.
    """
    step = -1 if back else 1
    for at, stop in enumerate(order):
        if stop.mark.id == hunk_id:
            return (at + step) % len(order)
    here = [at for at, stop in enumerate(order) if stop.path == path]
    if line is None or not here:
        return len(order) - 1 if back else 0
    if back:
        before = [at for at in here if order[at].mark.last < line]
        return before[-1] if before else (here[0] - 1) % len(order)
    beyond = [at for at in here if order[at].mark.start > line]
    return beyond[0] if beyond else (here[-1] + 1) % len(order)
