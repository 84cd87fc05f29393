"""Changes of a file that were taken for the agent's, until the editor says that they were saved.

What is found on disk while the agent is at work is the agent's, unless somebody has saved it. The
word of a saving may come late: after the file was looked at, after the user has typed on, after
the agent has written there again. So that it still counts, it is remembered what has become of
the file since the change in doubt.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from attrs import define, evolve, field, frozen

from acp_sidecar.workspace.disk import Stamp
from acp_sidecar.workspace.shelf import Kept

if TYPE_CHECKING:
    from acp_sidecar.workspace.entry import State
    from acp_sidecar.workspace.hunks import Who

_STEPS_KEPT: Final = 64
_SECONDS: Final = 10
"""After which the word of a saving does not come any more."""


@frozen(eq=False)
class Step:
    """A file came to say something else."""

    before: State
    after: Kept
    who: Who
    doubtful: bool = False
    stamp: Stamp | None = None
    """The state of the file on disk in which that was found."""
    settled: float | None = None
    """From when on, by the monotonic clock, a saving of just this text was another one, since an
    editor had loaded it; None where none has."""

    joined: bool = False
    """It goes with the step before: unsaved changes were given up for it."""
    since: float = field(factory=time.monotonic)

    def was_loaded(self) -> bool:
        return self.settled is not None and self.settled < time.monotonic()


@define(eq=False)
class Doubts:
    """What has become of one file since the first change in doubt."""

    state: State
    """What all of it has led to."""
    steps: list[Step] = field(factory=list)

    def add(self, step: Step, state: State) -> None:
        """Another step; ``state`` is where it leads."""
        old = time.monotonic() - _SECONDS
        steps = self.steps
        while steps and (
            not steps[0].doubtful or steps[0].since < old or len(steps) >= _STEPS_KEPT
        ):
            del steps[0]
        steps.append(step)
        self.state = state

    def in_doubt(self, stamp: Stamp | None, *, joined: bool = False) -> None:
        """So is the last step, in which the file was found in this state on disk."""
        self.steps[-1] = evolve(self.steps[-1], doubtful=True, stamp=stamp, joined=joined)

    def loaded(self, settled: float) -> None:
        """An editor has loaded what the file says now; see :attr:`Step.settled`."""
        if self.steps:
            self.steps[-1] = evolve(self.steps[-1], settled=settled)

    def beginning(self, number: int) -> int:
        """Where what ends with a step in doubt has begun: with giving up what was unsaved, or with
        the file being emptied, or taken away, to be written anew."""
        while number:
            before = self.steps[number - 1]
            size = 0 if before.after.is_missing else before.stamp and before.stamp.size
            if not (before.doubtful and size == 0) and not self.steps[number].joined:
                break
            number -= 1
        return number
