"""A text that an agent would like a file to have, to be decided hunk by hunk.

Nothing of it is in the file. The text of what was taken is made from what the file said
when the proposal came; who writes it merges it with what the user has done since
(:meth:`acp_sidecar.workspace.files.Files.write`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Literal

from attrs import frozen

from acp_sidecar.workspace.hunks import Patch, differences, without
from acp_sidecar.workspace.positions import split_lines
from acp_sidecar.workspace.sequences import Block, changed_blocks
from acp_sidecar.workspace.shelf import Piece
from acp_sidecar.workspace.textdiff import Hunk, fit, merge3
from acp_sidecar.workspace.texts import FileText, Missing


@frozen
class ProposedHunk:
    """Lines that would be put in the place of others. ``hunk`` counts from 0: *before* in
    the text of the file now, *after* in the proposed one."""

    id: str
    hunk: Hunk
    old: str
    new: str
    state: Literal["proposed", "conflict"] = "proposed"
    """``conflict``: the user has changed the same lines since."""

    def to_json(self) -> dict[str, object]:
        lines = self.hunk
        return {
            "id": self.id,
            "before": {"start": lines.before_start, "lines": lines.before_lines},
            "after": {"start": lines.after_start, "lines": lines.after_lines},
            "text": self.new,
            "state": self.state,
        }


class Proposal:
    """One write that waits. ``id`` is never used again, and begins those of its hunks."""

    def __init__(self, id_: str, path: Path, before: FileText | Missing, content: str) -> None:
        self.id = id_
        self.path = path
        self.before = before
        self.content = content
        self.old = before.text if isinstance(before, FileText) else ""
        self._old = split_lines(self.old)
        self._new = split_lines(content)
        self._patches = self._compare()
        self._decided: dict[str, bool] = {}
        self._steps: list[tuple[str, ...]] = []

    def _compare(self) -> Sequence[Patch]:
        if self.creates or not (self._old and self._new):
            # A file made, emptied or filled is one thing, also where it has no lines.
            return (Patch(f"{self.id}.1", 0, len(self._new), Piece.of(self._old)),)
        named = iter(range(1, len(self._old) + len(self._new) + 2))
        return differences(self._old, self._new, lambda gone, come: f"{self.id}.{next(named)}")

    @property
    def creates(self) -> bool:
        """Whether there is no such file."""
        return isinstance(self.before, Missing)

    @property
    def counts(self) -> tuple[int, int]:
        """Lines that would go, and lines that would come."""
        gone = sum(patch.before.count for patch in self._patches)
        return gone, sum(patch.count for patch in self._patches)

    # --- what is decided ------------------------------------------------------------------

    def ids(self) -> tuple[str, ...]:
        return tuple(patch.id for patch in self._patches)

    def waiting(self) -> tuple[str, ...]:
        """The hunks nobody has decided."""
        return tuple(id_ for id_ in self.ids() if id_ not in self._decided)

    def taken(self) -> tuple[str, ...]:
        return tuple(id_ for id_ in self.ids() if self._decided.get(id_) is True)

    def refused(self) -> tuple[str, ...]:
        return tuple(id_ for id_ in self.ids() if self._decided.get(id_) is False)

    @property
    def partly_decided(self) -> bool:
        return bool(self._steps)

    def decide(self, ids: Collection[str], *, take: bool) -> tuple[str, ...]:
        """Take or refuse hunks that wait; which of ``ids`` those were."""
        chosen = tuple(id_ for id_ in self.waiting() if id_ in ids)
        self._decided.update(dict.fromkeys(chosen, take))
        if chosen:
            self._steps.append(chosen)
        return chosen

    def undo(self) -> tuple[str, ...]:
        """Let the hunks of the last :meth:`decide` wait again."""
        ids = self._steps.pop() if self._steps else ()
        for id_ in ids:
            del self._decided[id_]
        return ids

    def text(self) -> str:
        """What the file would say with the hunks that were taken, and no others."""
        taken = self.taken()
        if len(taken) == len(self._patches):
            return self.content
        return "".join(without(self._new, self._patches, lambda patch: patch.id not in taken)[0])

    # --- how it is shown ------------------------------------------------------------------

    def hunks(self, now: str | None = None) -> list[ProposedHunk]:
        """All hunks, where they are in a file that says ``now``; without it, as they came."""
        now = self.old if now is None else fit(now, self.old)
        moves = changed_blocks(self._old, split_lines(now))
        result: list[ProposedHunk] = []
        grown = 0
        for patch in self._patches:
            start = patch.start - grown
            grown += patch.growth
            end = start + patch.before.count
            hit = [move for move in moves if _meet(start, end, move)]
            place = start + sum((b1 - b0) - (a1 - a0) for a0, a1, b0, b1 in moves if a1 <= start)
            for a0, a1, b0, b1 in moves:
                if a0 < start < a1:
                    place = min(b0 + start - a0, b1)
            result.append(
                ProposedHunk(
                    patch.id,
                    Hunk(place, patch.before.count, patch.start, patch.count),
                    "".join(patch.before.lines()),
                    "".join(self._new[patch.start : patch.end]),
                    "conflict" if hit and self._clashes(patch, now) else "proposed",
                )
            )
        return result

    def _clashes(self, patch: Patch, now: str) -> bool:
        """Whether a hunk and what the user has done since cannot both be."""
        alone = "".join(without(self._new, self._patches, lambda other: other is not patch)[0])
        return merge3(self.old, now, alone) is None


def _meet(start: int, end: int, move: Block) -> bool:
    """Whether a change of the lines ``start`` up to ``end`` and another are one place."""
    a0, a1 = move[:2]
    if start == end or a0 == a1:
        return a0 <= end and start <= a1
    return a0 < end and start < a1
