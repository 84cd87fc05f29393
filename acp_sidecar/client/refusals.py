"""Writes that the user has refused, of an agent that does not wait for the answer.

Some agents ask to write a file and at the same time write it by themselves. What the user
refuses is then on disk all the same, and is taken back as a revert would.
"""

from __future__ import annotations

from pathlib import Path

from acp_sidecar.workspace.files import Files
from acp_sidecar.workspace.ledger import Ledger
from acp_sidecar.workspace.proposal import Proposal
from acp_sidecar.workspace.textdiff import Hunk, same_text


class Refusals:
    """The last refusal of each file, until the next prompt."""

    def __init__(self, files: Files, ledger: Ledger) -> None:
        self._files = files
        self._ledger = ledger
        self._refused: dict[Path, Proposal] = {}

    def add(self, proposal: Proposal) -> None:
        """Hunks of this proposal were refused, all are decided."""
        self._refused[proposal.path] = proposal

    def drop(self, path: Path) -> None:
        """A later write of the file was taken as it is."""
        self._refused.pop(path, None)

    def clear(self) -> None:
        """From now on the agent may write this again."""
        self._refused.clear()

    async def take_back(self) -> list[Path]:
        """Revert what was refused and is in a file by the agent's doing, keep what was taken
        along with it; the files where that was so.
        """
        done = []
        for path, proposal in list(self._refused.items()):
            now = self._files.glance(path)
            if now is None or not same_text(now, proposal.content):
                continue
            await self._ledger.refresh([path])
            if await self._settle(path, proposal):
                self._refused.pop(path, None)
                done.append(path)
        return done

    async def _settle(self, path: Path, proposal: Proposal) -> bool:
        change = self._ledger.change(path)
        refused = [each.hunk for each in proposal.hunks() if each.id in proposal.refused()]
        taken_back = False
        for hunk in change.hunks if change is not None else ():
            if any(_meet(hunk.hunk, other) for other in refused):
                outcome = await self._ledger.revert(path, hunk.id)
                taken_back = taken_back or bool(outcome.reverted)
            else:
                await self._ledger.keep(path, hunk.id)
        return taken_back


def _meet(one: Hunk, other: Hunk) -> bool:
    """Whether two hunks that lead to the same text are about the same lines of it."""
    one_end = one.after_start + one.after_lines
    other_end = other.after_start + other.after_lines
    return one.after_start <= other_end and other.after_start <= one_end
