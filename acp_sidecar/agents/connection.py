"""The conversation with one agent, from the client's side (JSON-RPC 2.0, ACP Overview).

Bytes come in by :meth:`Connection.data_received` and every message in them is handled
before it returns, in order of arrival: no task a message. So a notification that came
before an answer has been handled when the call's awaiter wakes.

The ids of the two directions live in two tables: an agent that numbers its requests like
we do never answers itself.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Callable, Iterable
from typing import Final, Literal, Protocol, TypeAlias

from attrs import define

from acp_sidecar.acp import jsonrpc, wire
from acp_sidecar.acp.model import UNSET, Json, Unset
from acp_sidecar.agents.incoming import IncomingRequest
from acp_sidecar.agents.noise import SkippedLines

log = logging.getLogger(__name__)

__all__ = ["AgentError", "AgentGone", "Connection", "Handler", "IncomingRequest"]

CANCEL_REQUEST: Final = "$/cancel_request"

_LONG_LINE: Final = 65536
"""What many an agent's reader takes, unless told otherwise."""
_JUST_AFTER: Final = 2.0

Direction: TypeAlias = Literal["c2a", "a2c"]
Trace: TypeAlias = Callable[[Direction, jsonrpc.Message], None]


class AgentError(Exception):
    """The agent answered a call with an error (JSON-RPC 2.0, section 5.1).

    :ivar code: the error's code; ``-32603`` where the agent gave none
    :ivar message: the agent's own words
    :ivar data: any JSON value, ``UNSET`` without one
    """

    def __init__(self, code: int, message: str, data: Json | Unset = UNSET) -> None:
        super().__init__(f"{message} ({code})")
        self.code = code
        self.message = message
        self.data = data


class AgentGone(Exception):
    """The agent's process or pipe is no more; the message says how it ended."""


class Handler(Protocol):
    """What the agent says, as it says it.

    All three are called inline and must not block. An exception costs the message it came
    from, never the connection: a request is then answered with ``-32603``.
    """

    def request(self, request: IncomingRequest) -> None:
        """The agent calls. Answer at once, or keep the request and answer later."""

    def notification(self, method: str, params: Json) -> None:
        """The agent tells. There is nothing to answer, whatever is in it.

        :param params: as received, ``None`` for none
        """

    def lost(self, reason: AgentGone) -> None:
        """Nothing comes any more. Called once, after every pending call has failed."""


@define(eq=False)
class _Call:
    method: str
    future: asyncio.Future[Json]
    on_result: Callable[[Json], None] | None
    limit: tuple[asyncio.Timeout, float] | None = None
    """What ends it, and the seconds it is given."""


class Connection:
    """Calls, ids, order, timeouts and cancellation over one agent's pipe.

    :ivar messages_received: JSON-RPC messages so far
    :ivar noise_received: lines so far that were none
    """

    def __init__(
        self,
        write: Callable[[bytes], None],
        handler: Handler,
        *,
        line_limit: int = wire.DEFAULT_LINE_LIMIT,
        trace: Trace | None = None,
        on_broken: Callable[[AgentGone], None] | None = None,
    ) -> None:
        """
        :param write: takes whole lines of bytes; must neither block nor raise
        :param line_limit: longest line taken from the agent, in bytes
        :param trace: sees every message of both directions, in order
        :param on_broken: called when the agent's stream cannot be followed any further, after
            the connection has been lost with that reason; whoever owns the process ends it
        """
        self._write = write
        self._handler = handler
        self._decoder = wire.Decoder(line_limit)
        self._trace = trace
        self._on_broken = on_broken
        self._calls: dict[int, _Call] = {}
        self._withdrawn: set[int] = set()
        """Ids of our calls whose answers nobody waits for any more."""
        self._next_id = 0
        self._open: set[IncomingRequest] = set()
        self._lost: AgentGone | None = None
        self._skipped = SkippedLines()
        self._long_line = (-math.inf, 0)
        self.messages_received = 0

    @property
    def lost(self) -> AgentGone | None:
        """Why the connection ended, ``None`` while it lives."""
        return self._lost

    @property
    def noise_received(self) -> int:
        return self._skipped.count

    # --- calls of ours ---

    async def call(
        self,
        method: str,
        params: Json | Unset = UNSET,
        *,
        timeout: float | None = None,
        on_result: Callable[[Json], None] | None = None,
    ) -> Json:
        """Calls the agent and waits for its result.

        :param params: an object, or ``UNSET`` for none
        :param timeout: seconds, ``None`` to wait for ever
        :param on_result: see :meth:`begin`
        :raises AgentError: the agent answered with an error, or with no proper answer
        :raises AgentGone: the agent is gone, or goes before it answers
        :raises TimeoutError: it did not answer in time

        A call whose awaiting task is cancelled, or that runs out of time, is withdrawn
        with ``$/cancel_request``; an answer that still comes is dropped.
        """
        future = self.begin(method, params, on_result=on_result)
        if timeout is None:
            return await future
        try:
            async with asyncio.timeout(timeout) as limit:
                call = next((each for each in self._calls.values() if each.future is future), None)
                if call is not None:
                    call.limit = (limit, timeout)
                return await future
        except TimeoutError:
            raise TimeoutError(self._timeout_text(method, timeout)) from None

    def begin(
        self,
        method: str,
        params: Json | Unset = UNSET,
        *,
        on_result: Callable[[Json], None] | None = None,
    ) -> asyncio.Future[Json]:
        """Like :meth:`call`, but the request is on the wire when this returns.

        :param on_result: called with the result at its place in the order of arrival: after
            every message before it and before any after it, which an awaiter is not. If it
            raises, the call fails with what it raised.
        :returns: a future; cancelling it withdraws the call
        """
        future: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        if self._lost is not None:
            future.set_exception(_again(self._lost))
            return future
        request_id = self._next_id
        self._next_id += 1
        self._send(jsonrpc.Request(request_id, method, params))
        self._calls[request_id] = _Call(method, future, on_result)
        future.add_done_callback(lambda done: self._withdraw(request_id, done))
        return future

    def when_answered(self, request_id: Json, callback: Callable[[], None]) -> bool:
        """Calls back once our call of this id is over; False where none is pending."""
        call = self._calls.get(request_id) if type(request_id) is int else None
        if call is None:
            return False
        call.future.add_done_callback(lambda done: callback())
        return True

    def hold(self, request_id: Json, held: bool) -> None:
        """While it is ``held``, our call of this id is given all the time it takes: the agent
        waits for somebody. After that it has its whole time anew."""
        call = self._calls.get(request_id) if type(request_id) is int else None
        if call is None or call.limit is None or call.future.done():
            return
        limit, seconds = call.limit
        if not limit.expired():
            now = asyncio.get_running_loop().time()
            limit.reschedule(None if held else now + seconds)

    def notify(self, method: str, params: Json | Unset = UNSET) -> None:
        """Tells the agent something. Dropped when the agent is gone."""
        if self._lost is None:
            self._send(jsonrpc.Notification(method, params))

    # --- what the pipe says ---

    def data_received(self, data: bytes) -> None:
        """Takes a chunk of the agent's output and handles every message completed by it."""
        if self._lost is not None:
            return
        try:
            self._handle(self._decoder.messages(data))
        except wire.LineTooLong as problem:
            self._break(AgentGone(f"the agent was stopped: {problem}"))

    def eof_received(self) -> None:
        """The agent has closed its output: a last line without newline counts as one."""
        if self._lost is None:
            self._handle(self._decoder.eof())

    def connection_lost(self, reason: AgentGone) -> None:
        """Fails every pending call with ``reason`` and withdraws the agent's open requests.

        Only the first reason counts. What is left in the decoder is handled before.
        """
        self.eof_received()
        if self._lost is not None:
            return
        reason = self._with_cause(reason)
        self._lost = reason
        calls, self._calls = self._calls, {}
        for call in calls.values():
            if not call.future.done():
                call.future.set_exception(_again(reason))
        requests, self._open = self._open, set()
        for request in requests:
            request.answered = True
            request.withdraw()
        try:
            self._handler.lost(reason)
        except Exception:  # boundary: the pipe's owner has its own work to do
            log.exception("the handler failed on the loss of the agent")

    # --- inside ---

    def _handle(self, messages: Iterable[jsonrpc.Message]) -> None:
        trace = self._trace
        notification = self._handler.notification
        for message in messages:
            if trace is not None:
                self._record("a2c", message)
            if type(message) is jsonrpc.Notification and message.method != CANCEL_REQUEST:
                self.messages_received += 1
                params = message.params
                try:
                    notification(message.method, None if params is UNSET else params)
                except Exception:  # boundary: costs this message, not the agent
                    log.exception("the handler failed on the notification %s", message.method)
            else:
                self._handle_other(message)
            if self._lost is not None:
                return

    def _handle_other(self, message: jsonrpc.Message) -> None:
        match message:
            case jsonrpc.Noise(line):
                self._skipped.add(line)
                return
            case jsonrpc.Response():
                self._handle_response(message)
            case jsonrpc.Request():
                self._handle_request(message)
            case jsonrpc.Notification(_, params):
                self._handle_cancel(params)
            case jsonrpc.Malformed(error, request_id):
                log.warning("malformed message from the agent: %s", error.message)
                self._send(jsonrpc.Response(request_id, UNSET, error))
        self.messages_received += 1

    def _handle_request(self, message: jsonrpc.Request) -> None:
        params = None if message.params is UNSET else message.params
        request = IncomingRequest(message.id, message.method, params, self._answer)
        self._open.add(request)
        try:
            self._handler.request(request)
        except Exception:  # boundary: costs this request, not the agent
            log.exception("the handler failed on the request %s", message.method)
            request.error(jsonrpc.INTERNAL_ERROR, f"internal error in {message.method}")

    def _handle_response(self, response: jsonrpc.Response) -> None:
        # A bool equals a number in Python, not in JSON.
        usable = type(response.id) in (int, float)
        call = self._calls.pop(response.id, None) if usable else None  # type: ignore[arg-type]
        if call is None and usable and response.id in self._withdrawn:
            self._withdrawn.discard(response.id)
            log.debug("dropped the answer to a withdrawn call (id %r)", response.id)
            return
        if call is None:
            text = "" if response.error is None else f": {response.error.message}"
            log.warning("dropped an answer to no pending call (id %r)%s", response.id, text)
            return
        if call.future.done():
            return
        if response.error is not None:
            error = response.error
            call.future.set_exception(AgentError(error.code, error.message, error.data))
        elif response.result is UNSET:
            text = f"the answer to {call.method} has neither a result nor an error"
            call.future.set_exception(AgentError(jsonrpc.INTERNAL_ERROR, text))
        else:
            self._settle(call, response.result)

    def _settle(self, call: _Call, result: Json) -> None:
        if call.on_result is not None:
            try:
                call.on_result(result)
            except Exception as problem:  # noqa: BLE001 - boundary: handed to the awaiter
                call.future.set_exception(problem)
                return
        call.future.set_result(result)

    def _handle_cancel(self, params: Json | Unset) -> None:
        if type(params) is not dict or "requestId" not in params:
            log.warning("%s without a requestId", CANCEL_REQUEST)
            return
        wanted = params["requestId"]
        for request in [r for r in self._open if _same_id(r.id, wanted)]:
            request.withdraw()

    def _answer(self, request: IncomingRequest, response: jsonrpc.Response) -> None:
        self._open.discard(request)
        if self._lost is not None:
            return
        try:
            self._send(response)
        except (TypeError, RecursionError):
            log.exception("the answer to %s is no JSON", request.method)
            text = f"internal error in {request.method}"
            self._send(
                jsonrpc.Response(request.id, UNSET, jsonrpc.Error(jsonrpc.INTERNAL_ERROR, text))
            )

    def _withdraw(self, request_id: int, future: asyncio.Future[Json]) -> None:
        if not future.cancelled():
            future.exception()  # a caller who uses on_result alone need not look at it
        elif self._calls.pop(request_id, None) is not None:
            self._withdrawn.add(request_id)
            self.notify(CANCEL_REQUEST, {"requestId": request_id})

    def _send(self, message: jsonrpc.Message) -> None:
        line = wire.encode(message)
        if len(line) > _LONG_LINE:
            self._long_line = (time.monotonic(), len(line))
        self._write(line)
        self._record("c2a", message)

    def _record(self, direction: Direction, message: jsonrpc.Message) -> None:
        if self._trace is None:
            return
        try:
            self._trace(direction, message)
        except Exception:  # boundary: a full disk must not cost the conversation
            log.exception("recording has stopped")
            self._trace = None

    def _break(self, reason: AgentGone) -> None:
        self.connection_lost(reason)
        if self._on_broken is not None:
            self._on_broken(reason)

    def _with_cause(self, reason: AgentGone) -> AgentGone:
        when, size = self._long_line
        if time.monotonic() - when > _JUST_AFTER:
            return reason
        return AgentGone(
            f"{reason}\nThat was just after it had been sent a message of {size} bytes;"
            " an agent may fail on long lines."
        )

    def _timeout_text(self, method: str, seconds: float) -> str:
        text = f"no answer to {method} within {seconds:g} s"
        if self.messages_received == 0 and self._skipped.count:
            text += (
                f"; the agent wrote {self._skipped.count} lines, none of them a message"
                f" (the last: {self._skipped.last})"
            )
        return text


def _again(reason: AgentGone) -> AgentGone:
    """A copy: an exception raised in several tasks would collect all their tracebacks."""
    return AgentGone(*reason.args)


def _same_id(one: jsonrpc.JsonId, other: Json) -> bool:
    return one == other and isinstance(one, bool) == isinstance(other, bool)
