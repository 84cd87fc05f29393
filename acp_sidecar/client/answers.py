"""Answers to an agent's requests that take their time, each in a task of its session's."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from acp_sidecar.acp import jsonrpc
from acp_sidecar.agents.connection import IncomingRequest
from acp_sidecar.tasks import Tasks


class Answers(Tasks):
    """What an agent waits for. Each request gets an answer, whatever becomes of its task."""

    def give(
        self,
        work: Coroutine[Any, Any, object],
        request: IncomingRequest,
        *,
        cancellable: bool = True,
    ) -> None:
        """Answer ``request`` by ``work``, which ends where the agent cancels the request; where it
        is not ``cancellable``, with the session only."""
        task = self.start(
            work,
            name=f"answer to {request.method}",
            failed=lambda error: _failed(request, error),
        )
        if cancellable:
            request.on_cancel(lambda: _cancel(task))
        task.add_done_callback(lambda done: _cancelled(request, done))


def _cancel(task: asyncio.Task[None]) -> None:
    task.cancel()


def _failed(request: IncomingRequest, error: Exception) -> None:
    request.error(jsonrpc.INTERNAL_ERROR, f"{request.method} failed here: {error}")


def _cancelled(request: IncomingRequest, task: asyncio.Task[None]) -> None:
    if task.cancelled():
        request.error(jsonrpc.REQUEST_CANCELLED, f"{request.method} was cancelled")
