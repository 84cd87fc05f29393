"""Where in a document something waits for the user: for code lenses, actions and "next"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from attrs import frozen

from acp_sidecar.workspace.positions import Encoding, content_length, split_lines, units

if TYPE_CHECKING:
    from acp_sidecar.client.ports import SessionView
    from acp_sidecar.workspace.changes import FileChange
    from acp_sidecar.workspace.files import Files
    from acp_sidecar.workspace.proposal import Proposal


@frozen
class Mark:
    """One hunk in one document, as the document is now.

    ``start`` is a 0-based line, ``lines`` how many of them: the agent's, or for what it
    would like to write those that would go. ``gone`` and ``come`` are counts of lines.
    """

    session: SessionView
    id: str
    start: int
    lines: int
    gone: int
    come: int
    state: Literal["waiting", "proposed", "conflict"]
    proposed: bool
    asks: bool = False
    """Whether a revert would delete what the user has edited, and so asks first."""

    @property
    def argument(self) -> dict[str, Any]:
        """What ``acp.review.*`` take for this hunk."""
        return {"sessionId": self.session.state.session_id, "hunkId": self.id}

    @property
    def last(self) -> int:
        """Its last line; of one without lines where it would be."""
        return self.start + max(self.lines - 1, 0)

    def meets(self, first: int, last: int) -> bool:
        """Whether it is on one of these lines; one without lines is where it would be."""
        return self.start <= last and first <= self.last


def meant(found: Sequence[Mark], first: int, last: int) -> list[Mark]:
    """Of the marks in a document, from top to bottom, those that somebody means who points at
    these 0-based lines, both included.

    With several lines all that are on one of them. With one line a single one: that whose line
    it is, else what was taken out above it, else below it.
    """
    if first != last:
        return [mark for mark in found if mark.meets(first, last)]
    bare = [mark for mark in found if not mark.lines]
    return [
        *(mark for mark in found if mark.lines and mark.meets(first, last)),
        *(mark for mark in bare if mark.start == first),
        *(mark for mark in bare if mark.start == first + 1),
    ][:1]


async def marks(session: SessionView, path: Path, files: Files) -> list[Mark]:
    """The hunks of one session in one file, from top to bottom. The file is looked at anew."""
    await session.look_again(path)
    found = [mark for change in _changes(session, path) for mark in waiting(session, change)]
    now = files.glance(path)
    for proposal in session.proposals:
        if proposal.path == path:
            found += proposed(session, proposal, now)
    return sorted(found, key=lambda mark: (mark.start, mark.lines))


def _changes(session: SessionView, path: Path) -> Iterator[FileChange]:
    change = session.ledger.change(path) if session.ledger else None
    if change is not None:
        yield change


def waiting(session: SessionView, change: FileChange) -> Iterator[Mark]:
    """The hunks of a changed file."""
    for each in change.hunks:
        hunk = each.hunk
        yield Mark(
            session,
            each.id,
            hunk.after_start,
            hunk.after_lines,
            hunk.before_lines,
            hunk.after_lines,
            each.state,
            proposed=False,
            asks=change.status == "created" and each.state == "conflict",
        )


def proposed(session: SessionView, proposal: Proposal, now: str | None) -> Iterator[Mark]:
    """What waits of a write that is only proposed, in a file that says ``now``."""
    undecided = proposal.waiting()
    for each in proposal.hunks(now):
        if each.id in undecided:
            hunk = each.hunk
            yield Mark(
                session,
                each.id,
                hunk.before_start,
                hunk.before_lines,
                hunk.before_lines,
                hunk.after_lines,
                each.state,
                proposed=True,
            )


class Lines:
    """Ranges of whole lines in one text, in a client's position encoding."""

    def __init__(self, text: str, encoding: Encoding) -> None:
        self._lines = split_lines(text)
        self._encoding: Encoding = encoding
        if not self._lines or content_length(self._lines[-1]) < len(self._lines[-1]):
            self._lines.append("")  # LSP counts the empty line at the end

    def of(self, start: int, count: int) -> dict[str, Any]:
        """From the start of a line to the end of the last; brought into the text where it
        lies outside, empty where ``count`` is 0."""
        first = min(start, len(self._lines) - 1)
        if not count:
            return _range(first, 0, first, 0)
        last = min(start + count - 1, len(self._lines) - 1)
        line = self._lines[last]
        width = units(line[: content_length(line)], self._encoding)
        return _range(first, 0, last, width)


def _range(line: int, character: int, end_line: int, end_character: int) -> dict[str, Any]:
    return {
        "start": {"line": line, "character": character},
        "end": {"line": end_line, "character": end_character},
    }
