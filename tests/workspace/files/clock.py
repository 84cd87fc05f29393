"""A clock for an editor and us in one process: it does not count what the machine withholds."""

from __future__ import annotations

import asyncio
import selectors
import time
from typing import Any

LONGEST = 0.002
"""Seconds that the callbacks of one turn count for, however long they had to wait."""


class Clocked(selectors.DefaultSelector):
    """Counts the time in which the loop waits, and no longer than it has asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self._left = time.monotonic()

    def select(self, timeout: float | None = None) -> list[Any]:
        began = time.monotonic()
        self.now += min(began - self._left, LONGEST)
        events = super().select(timeout)
        self._left = time.monotonic()
        waited = self._left - began
        self.now += waited if timeout is None else min(waited, max(timeout, 0.0))
        return events


class Loop(asyncio.SelectorEventLoop):
    """A loop in which nobody's time runs out while all are kept from running.

    Timers of the hand and of what is tested stay in the order and at the distance in which
    they were meant, on a busy machine too.
    """

    def __init__(self) -> None:
        self._clock = Clocked()
        super().__init__(self._clock)

    def time(self) -> float:
        return self._clock.now
