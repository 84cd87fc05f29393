"""The writes of one session that wait for the user's word (``review.mode`` ``before``).

Nothing is written before every hunk is decided, and nothing at all where that never
happens: the turn is cancelled, the request withdrawn, the agent gone, the session closed.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Final

from attrs import define, field, frozen

from acp_sidecar.workspace.positions import content_length, split_lines
from acp_sidecar.workspace.problems import FileProblem
from acp_sidecar.workspace.proposal import Proposal
from acp_sidecar.workspace.texts import FileText, Missing

_numbers: Final = itertools.count(1)
"""Of proposals, over all sessions: their ids are never used again."""


@frozen
class Decided:
    """What came of a decision: hunks, and why some are as undecided as before."""

    taken: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


@define(eq=False)
class _Waiting:
    proposal: Proposal
    word: asyncio.Future[bool]
    """True once all is decided, False where nobody will decide any more."""
    done: asyncio.Event = field(factory=asyncio.Event)
    """The agent has its answer."""
    problem: FileProblem | None = None


class Proposals:
    """All that waits in one session, oldest first."""

    def __init__(self) -> None:
        self._waiting: list[_Waiting] = []

    def __iter__(self) -> Iterator[Proposal]:
        """Those of which a hunk is undecided."""
        return iter([each.proposal for each in self._waiting if not each.word.done()])

    def make(self, path: Path, before: FileText | Missing, content: str) -> Offer:
        """A new proposal."""
        proposal = Proposal(f"proposal-{next(_numbers)}", path, before, content)
        word: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        return Offer(self._waiting, _Waiting(proposal, word))

    async def decide(self, ids: Collection[str], *, take: bool) -> Decided:
        """Take or refuse hunks that wait; of other ids nothing comes.

        Where that settles a proposal it returns once the file says so and the agent is
        answered.
        """
        chosen: list[str] = []
        settled: list[_Waiting] = []
        for each in [each for each in self._waiting if not each.word.done()]:
            chosen += each.proposal.decide(ids, take=take)
            if not each.proposal.waiting():
                each.word.set_result(True)
                settled.append(each)
        for each in settled:
            await each.done.wait()
        problems = [each.problem for each in settled if each.problem is not None]
        failed = [id_ for each in settled if each.problem for id_ in each.proposal.taken()]
        well = tuple(id_ for id_ in chosen if id_ not in failed)
        return Decided(
            well if take else (),
            () if take else well,
            tuple(failed),
            tuple(str(problem) for problem in problems),
        )

    def undo(self) -> tuple[str, ...]:
        """Take back the last decision about the newest proposal that has any."""
        for proposal in reversed(list(self)):
            if proposal.partly_decided:
                return proposal.undo()
        return ()

    def cancel(self) -> None:
        """Nobody will decide any more."""
        for each in self._waiting:
            if not each.word.done():
                each.word.set_result(False)


class Offer:
    """A proposal while its agent waits; use as a context."""

    def __init__(self, waiting: list[_Waiting], entry: _Waiting) -> None:
        self._all = waiting
        self._entry = entry
        self.proposal = entry.proposal

    def __enter__(self) -> Offer:
        self._all.append(self._entry)
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, FileProblem):
            self._entry.problem = error
        self._all.remove(self._entry)
        # Whoever still asks for a word is not to get one.
        self._entry.word.cancel()
        self._entry.done.set()

    async def word(self) -> bool:
        """Whether all was decided; False where nobody will decide any more."""
        return await self._entry.word


def described(proposal: Proposal, chosen: Sequence[str]) -> list[dict[str, object]]:
    """Hunks as an agent is told of them: 0-based lines, and both texts."""
    return [
        {
            "before": {"start": each.hunk.before_start, "lines": each.hunk.before_lines},
            "after": {"start": each.hunk.after_start, "lines": each.hunk.after_lines},
            "oldText": each.old,
            "newText": each.new,
        }
        for each in proposal.hunks()
        if each.id in chosen
    ]


def in_words(proposal: Proposal, chosen: Sequence[str], most: int = 4_000) -> str:
    """The same as text for a model, cut after ``most`` characters."""
    lines: list[str] = []
    for each in proposal.hunks():
        if each.id in chosen:
            start = each.hunk.before_start + 1
            lines.append(f"@@ line {start} @@")
            for sign, text in (("-", each.old), ("+", each.new)):
                lines += [f"{sign}{line[: content_length(line)]}" for line in split_lines(text)]
    said = "\n".join(lines)
    return said if len(said) <= most else f"{said[:most]}\n… and more"
