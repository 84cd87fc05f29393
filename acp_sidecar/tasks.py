"""Tasks with an owner: none outlives it, and none takes its siblings down."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any, TypeAlias

logger = logging.getLogger(__name__)

Spawn: TypeAlias = Callable[[Coroutine[Any, Any, None], str], "asyncio.Task[None]"]
"""Starts a named task that the program waits for, or cancels, before it ends."""


class Tasks:
    """The tasks of one owner (a session, an agent) among the program's.

    Ending the owner ends its tasks; ending the program ends all. An error in one is logged
    and handed to ``failed``: one failing child must not cancel its siblings.
    """

    def __init__(self, spawn: Spawn) -> None:
        self._spawn = spawn
        self._tasks: set[asyncio.Task[None]] = set()

    def start(
        self,
        work: Coroutine[Any, Any, object],
        *,
        name: str,
        failed: Callable[[Exception], None] | None = None,
    ) -> asyncio.Task[None]:
        """Begin ``work``; cancelling the returned task is fine at any time."""
        task = self._spawn(_guarded(work, name, failed), name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        # Cancelled before its first step it would never have been awaited.
        task.add_done_callback(lambda done: work.close())
        return task

    @property
    def busy(self) -> bool:
        """Whether any of them is not done."""
        return bool(self._tasks)

    async def settle(self, timeout: float) -> bool:
        """Wait until all tasks begun so far are done; False where ``timeout`` seconds passed."""
        tasks = set(self._tasks)
        if not tasks:
            return True
        _, pending = await asyncio.wait(tasks, timeout=timeout)
        return not pending

    def cancel(self) -> None:
        """Cancel all of them; they end in the loop's next rounds."""
        for task in list(self._tasks):
            task.cancel()


def not_awaited(future: asyncio.Future[Any]) -> None:
    """Have it that a future may fail though nobody waits for it."""
    future.add_done_callback(_retrieve)


def _retrieve(future: asyncio.Future[Any]) -> None:
    if not future.cancelled():
        future.exception()


async def _guarded(
    work: Coroutine[Any, Any, object],
    name: str,
    failed: Callable[[Exception], None] | None,
) -> None:
    try:
        await work
    except Exception as error:
        # The boundary of a task: its error is its own, logged and reported.
        logger.exception("%s failed", name)
        if failed is not None:
            failed(error)
