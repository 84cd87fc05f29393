"""Time in which nobody waits, so that a test of moments does not depend on the machine."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast
from unittest import mock


class Clock:
    """Both clocks of a process. They stand still but for :meth:`go_on`."""

    def __init__(self) -> None:
        self._monotonic = time.monotonic()
        self._time = time.time()

    def monotonic(self) -> float:
        return self._monotonic

    def time(self) -> float:
        return self._time

    def go_on(self, seconds: float) -> None:
        self._monotonic += seconds
        self._time += seconds


@contextmanager
def virtual_time() -> Iterator[None]:
    """In here the clocks go on only where everybody waits, and then at once to the next moment
    that somebody waits for. For what waits for no file, thread or process."""
    clock = Clock()
    selector = cast(Any, asyncio.get_running_loop())._selector
    select = selector.select

    def look(timeout: float | None = None) -> Any:
        found = select(0)
        if not found and timeout is not None:
            clock.go_on(timeout)
        return found

    with (
        mock.patch.object(time, "monotonic", clock.monotonic),
        mock.patch.object(time, "time", clock.time),
        mock.patch.object(selector, "select", look),
    ):
        yield


def just_now(path: Path) -> None:
    """Say of a file or a folder that it was changed at this moment of the time that is played."""
    os.utime(path, (time.time(), time.time()))
