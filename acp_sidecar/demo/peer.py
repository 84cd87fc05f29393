"""JSON-RPC 2.0 over lines, seen from the agent.

Small on purpose and free of the sidecar's own wire code: the demo agent is an
independent peer, so a fault in one of the two shows.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import threading
from collections.abc import AsyncIterator, Callable
from typing import Any, TypeAlias

Json: TypeAlias = Any

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
RESOURCE_NOT_FOUND = -32002


class RpcError(Exception):
    """An error to answer with, or the error the client answered with."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


async def lines(fd: int) -> AsyncIterator[bytes]:
    """Every line that arrives on file descriptor ``fd``, of any length, without its newline.

    A last line without a newline counts. A thread reads, so that pipes, terminals and
    plain files work alike on every platform.
    """
    loop = asyncio.get_running_loop()
    chunks: asyncio.Queue[bytes] = asyncio.Queue()

    def read() -> None:
        try:
            while chunk := os.read(fd, 65536):
                loop.call_soon_threadsafe(chunks.put_nowait, chunk)
            loop.call_soon_threadsafe(chunks.put_nowait, b"")
        except RuntimeError:
            return  # the loop ended first: nobody is left to tell

    threading.Thread(target=read, name="stdin", daemon=True).start()
    pending: list[bytes] = []
    while chunk := await chunks.get():
        *complete, rest = chunk.split(b"\n")
        for line in complete:
            yield b"".join((*pending, line))
            pending.clear()
        pending.append(rest)
    if last := b"".join(pending):
        yield last


class Peer:
    """Writes messages and matches the client's answers to our calls."""

    def __init__(self, fd: int) -> None:
        """``fd``: the file descriptor to write to."""
        self._fd = fd
        self._ids = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Json]] = {}

    def notify(self, method: str, params: Json) -> None:
        self._send({"method": method, "params": params})

    def answer(self, request_id: Json, result: Json) -> None:
        self._send({"id": request_id, "result": result})

    def refuse(self, request_id: Json, error: RpcError) -> None:
        self._send({"id": request_id, "error": {"code": error.code, "message": error.message}})

    async def call(self, method: str, params: Json) -> Json:
        """The client's result for ``method``; raises :class:`RpcError` for its error.

        A caller that is cancelled withdraws the request with ``$/cancel_request``; an
        answer that still comes is dropped.
        """
        request_id = next(self._ids)
        answer = asyncio.get_running_loop().create_future()
        self._waiting[request_id] = answer
        self._send({"id": request_id, "method": method, "params": params})
        try:
            return await answer
        except asyncio.CancelledError:
            self.notify("$/cancel_request", {"requestId": request_id})
            raise
        finally:
            del self._waiting[request_id]

    def answered(self, message: dict[str, Json]) -> None:
        """Hands a response of the client to the call that waits for it."""
        request_id = message.get("id")
        # `True == 1` in Python: a Boolean is no id of ours.
        waiting = self._waiting.get(request_id) if type(request_id) is int else None
        if waiting is None or waiting.done():
            return
        error = message.get("error")
        if "result" in message and error is None:
            waiting.set_result(message["result"])
            return
        detail = error if isinstance(error, dict) else {}
        code, text = detail.get("code"), detail.get("message")
        waiting.set_exception(
            RpcError(
                code if isinstance(code, int) else INTERNAL_ERROR,
                text if isinstance(text, str) else "the client answered with an error",
            )
        )

    def _send(self, message: dict[str, Json]) -> None:
        line = memoryview(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        # Where nobody reads any more, the end of our input is what stops us.
        with contextlib.suppress(BrokenPipeError):
            while line:
                line = line[os.write(self._fd, line) :]


def parse(line: bytes) -> dict[str, Json]:
    """One message; raises :class:`RpcError` where the line holds none."""
    try:
        message = json.loads(line)
    except ValueError as error:
        raise RpcError(PARSE_ERROR, f"not JSON: {error}") from error
    if not isinstance(message, dict):
        raise RpcError(INVALID_REQUEST, "a message is a JSON object")
    return message


Method: TypeAlias = Callable[[dict[str, Json]], Json]
"""Takes the params of a request, gives its result, raises :class:`RpcError`."""
