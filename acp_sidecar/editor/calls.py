"""What is under way between us and the client, in each direction.

:class:`Outgoing` holds the requests we sent and wait for; :class:`Work` the tasks that
handle the client's requests and everything else that runs in the background.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeAlias

log = logging.getLogger(__name__)

Json: TypeAlias = Any

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
SERVER_NOT_INITIALIZED: Final = -32002
REQUEST_CANCELLED: Final = -32800
REQUEST_FAILED: Final = -32803
UNKNOWN_ERROR: Final = -32001

_TURNS: Final = 20


class CommandError(Exception):
    """Raised by a handler: the client gets an error with exactly this message.

    ``code`` is a JSON-RPC or LSP error code (LSP 3.17 "ErrorCodes"), ``data`` any JSON.
    """

    def __init__(self, message: str, code: int = REQUEST_FAILED, data: Json = None) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.data = data


class ClientError(Exception):
    """The client answered a request of ours with an error."""

    def __init__(self, code: int, message: str, data: Json = None) -> None:
        super().__init__(f"{message} ({code})")
        self.code = code
        self.message = message
        self.data = data


class ClientGone(Exception):
    """The client is gone, or shutting us down: there will be no answer."""


class Outgoing:
    """Requests of ours that the client has not answered yet."""

    def __init__(self, send: Callable[[dict[str, Json]], object]) -> None:
        self._send = send
        self._waiting: dict[Json, asyncio.Future[Json]] = {}
        self._last_id = 0
        self._gone: str | None = None

    def __len__(self) -> int:
        return len(self._waiting)

    def begin(
        self, method: str, params: Json, request_id: int | str | None = None
    ) -> asyncio.Future[Json]:
        """Send a request; it is on its way when this returns.

        The future's result is the client's, as plain JSON. Cancelling it withdraws the
        request: the client gets ``$/cancelRequest`` and its late answer is dropped.

        Raises :class:`ClientGone`; the future raises it too, and :class:`ClientError`.
        """
        if self._gone is not None:
            raise ClientGone(self._gone)
        if request_id is None:
            self._last_id += 1
            request_id = self._last_id
        message = {"jsonrpc": "2.0", "id": request_id, "method": method}
        if params is not None:
            message["params"] = params
        self._send(message)
        future: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        self._waiting[request_id] = future
        future.add_done_callback(lambda done: self._settled(request_id, done))
        return future

    def answered(self, request_id: Json, *, result: Json = None, error: Json = None) -> None:
        """Take the client's answer, whose id is a string or a number. One that nobody waits
        for is dropped."""
        future = self._waiting.get(request_id)
        if future is None or future.done():
            log.debug("dropped an answer nobody waits for")
        elif error is None:
            future.set_result(result)
        else:
            future.set_exception(_client_error(error))

    def fail_all(self, reason: str) -> None:
        """Fail every open request, and each that is made from now on, with ClientGone."""
        self._gone = reason
        for future in list(self._waiting.values()):
            if not future.done():
                future.set_exception(ClientGone(reason))
                # Whoever waited may be gone as well; that is nobody's error.
                future.exception()

    def _settled(self, request_id: int | str, future: asyncio.Future[Json]) -> None:
        self._waiting.pop(request_id, None)
        if future.cancelled() and self._gone is None:
            self._send(
                {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": request_id}}
            )


def _client_error(error: Json) -> ClientError:
    if not isinstance(error, dict):
        return ClientError(UNKNOWN_ERROR, str(error)[:500])
    code, message = error.get("code"), error.get("message")
    return ClientError(
        int(code) if isinstance(code, int | float) else UNKNOWN_ERROR,
        message if isinstance(message, str) else "the client gave no reason",
        error.get("data"),
    )


class Work:
    """Tasks that run for the client. Each owns its errors: they are logged, never lost."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()
        self._by_request: dict[Json, asyncio.Task[None]] = {}
        self._kept: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        return len(self._tasks)

    def start(
        self,
        coroutine: Coroutine[Any, Any, None],
        name: str,
        *,
        request_id: Json = None,
        keep: bool = False,
    ) -> asyncio.Task[None]:
        """Run ``coroutine``. With ``keep`` it is not cancelled when we stop."""
        task = asyncio.get_running_loop().create_task(coroutine, name=name)
        self._tasks.add(task)
        if keep:
            self._kept.add(task)
        elif request_id is not None:
            self._by_request[request_id] = task
        task.add_done_callback(lambda done: self._done(done, request_id))
        return task

    def cancel(self, request_id: Json) -> bool:
        """Cancel the task of a request of the client's; False if there is none."""
        task = self._by_request.get(request_id)
        return task is not None and task.cancel()

    async def finish(self, patience: float, *, cancel: bool) -> None:
        """Wait until all has ended, for ``patience`` seconds at most and a few turns of the loop at
        least; cancel it first."""
        tasks = self._tasks - self._kept if cancel else set(self._tasks)
        if cancel:
            for task in tasks:
                task.cancel()
        if not tasks:
            return
        await asyncio.wait(tasks, timeout=patience)
        # On a busy machine the time may be over before each has had its turns.
        for _ in range(_TURNS):
            if all(task.done() for task in tasks):
                return
            await asyncio.sleep(0)

    def _done(self, task: asyncio.Task[None], request_id: Json) -> None:
        self._tasks.discard(task)
        self._kept.discard(task)
        if request_id is not None and self._by_request.get(request_id) is task:
            del self._by_request[request_id]
        error = None if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, ClientGone):
            log.error("%s failed", task.get_name(), exc_info=error)
