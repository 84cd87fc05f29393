"""pygls' protocol class, with the parts replaced that lose messages, order or time.

What pygls 2.1.1 does and we do not: rebuild every nested object that has a ``jsonrpc`` key,
turn parameters into named tuples, run handlers without order or owner, keep a future for
every notification, log bodies, show errors of ours to the user. Messages are plain JSON
here; lsprotocol's classes appear only for handlers registered with ``feature`` and for
pygls' typed senders (``window_show_message`` and its like), which go on working.
"""

from __future__ import annotations

import asyncio
import enum
import inspect
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Hashable, Mapping
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, TypeAlias

import attrs
from cattrs import Converter
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.protocol import LanguageServerProtocol

from acp_sidecar.editor.calls import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    REQUEST_CANCELLED,
    REQUEST_FAILED,
    SERVER_NOT_INITIALIZED,
    ClientGone,
    CommandError,
    Json,
    Outgoing,
    Work,
)
from acp_sidecar.editor.framing import BadFrame, FrameDecoder, decode_json, encode_json, frame
from acp_sidecar.editor.stdio import Outbox

if TYPE_CHECKING:
    from pygls.lsp.server import LanguageServer

log = logging.getLogger(__name__)

Handler: TypeAlias = Callable[[Any], Json | Awaitable[Json]]
"""Gets the parameters as plain JSON (``{}`` where there are none)."""


class Phase(enum.Enum):
    """Where the conversation stands (LSP 3.17 "Lifecycle Messages")."""

    NEW = enum.auto()
    READY = enum.auto()
    STOPPING = enum.auto()


def _nothing() -> None:
    """Until the server says what to do."""


class SidecarProtocol(LanguageServerProtocol):
    """Takes the client's messages in order and sees that each request is answered once."""

    def __init__(self, server: LanguageServer, converter: Converter) -> None:
        super().__init__(server, converter)
        self.phase = Phase.NEW
        self.outbox = Outbox()
        self.calls = Outgoing(self.send)
        self.work = Work()
        self.handlers: dict[str, Handler] = {}
        self.telling_none_apart: set[str] = set()
        """Methods whose handlers get None for params that are null or missing."""
        self.record: Callable[[str, Json], None] | None = None
        self._frames = FrameDecoder()
        self._inbox: deque[bytes | BadFrame | None] = deque()
        self._resuming = False
        # What only the server can handle; it fills these in.
        self.built_in_requests: dict[str, Handler] = {}
        self.built_in_notifications: dict[str, Handler] = {
            types.CANCEL_REQUEST: self._cancelled,
            types.SET_TRACE: lambda params: None,
        }
        self.on_input_ended: Callable[[], None] = _nothing
        self.on_exit: Callable[[], None] = _nothing

    # --- incoming ----------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        """Take bytes from the client."""
        self._inbox.extend(self._frames.feed(data))
        if not self._resuming:
            self._drain()

    def eof_received(self) -> None:
        """The client closed its end; what it sent before is handled first."""
        self._inbox.append(None)
        if not self._resuming:
            self._drain()

    def _drain(self) -> None:
        self._resuming = False
        while self._inbox:
            item = self._inbox.popleft()
            if item is None:
                self.on_input_ended()
            elif isinstance(item, BadFrame):
                self._malformed(item.reason)
            elif self._body(item):
                # A task was started. Let it take its first step, so that handlers begin
                # in the order of their messages, before the next message is looked at, also
                # one that has not come yet: a task cancelled before it begins answers nothing.
                self._resuming = True
                asyncio.get_running_loop().call_soon(self._drain)
                return

    def _body(self, body: bytes) -> bool:
        try:
            message = decode_json(body)
        except ValueError:
            self._malformed(f"a body of {len(body)} bytes is no JSON")
            return False
        return self.handle_message(message)

    def _malformed(self, reason: str) -> None:
        log.warning("malformed message from the client: %s", reason)
        self._respond_error(None, PARSE_ERROR, reason)

    def structure_message(self, data: dict[str, Any]) -> Any:
        """Leave every object as it is (pygls calls this for nested ones too)."""
        return data

    def handle_message(self, message: Any) -> bool:
        """Handle one message, as decoded from JSON. True if it started a task."""
        self._note("c2s", message)
        if not isinstance(message, dict):
            self._respond_error(None, INVALID_REQUEST, "a message must be an object")
            return False
        method, message_id = message.get("method"), message.get("id")
        if isinstance(message_id, dict | list | bool):
            self._respond_error(None, INVALID_REQUEST, "an id must be a string or a number")
        elif isinstance(method, str):
            params = message.get("params")
            # Lua's empty table arrives as an empty array.
            if params == [] or (params is None and method not in self.telling_none_apart):
                params = {}
            if message_id is None:
                return self._notified(method, params)
            return self._requested(message_id, method, params)
        elif "method" in message:
            self._respond_error(message_id, INVALID_REQUEST, "a method must be a string")
        elif message_id is not None:
            self.calls.answered(
                message_id, result=message.get("result"), error=message.get("error")
            )
        else:
            log.warning("a message with neither method nor id: %s", message.get("error"))
        return False

    def _requested(self, message_id: Json, method: str, params: Json) -> bool:
        if method == types.EXIT:
            # A notification, but some clients give it an id.
            self._respond(message_id, method, None)
            self.on_exit()
            return False
        if self.phase is Phase.STOPPING:
            self._respond_error(message_id, INVALID_REQUEST, "the server is shutting down")
            return False
        if self.phase is Phase.NEW and method != types.INITIALIZE:
            self._respond_error(message_id, SERVER_NOT_INITIALIZED, "initialize comes first")
            return False
        handler = self.built_in_requests.get(method) or self._handler(method)
        if handler is None:
            self._respond_error(message_id, METHOD_NOT_FOUND, f"unknown method {method!r}")
            return False
        try:
            outcome = handler(params)
        except Exception as error:  # noqa: BLE001 - a handler's failure is its request's answer
            self._failed(message_id, method, error)
            return False
        if not inspect.isawaitable(outcome):
            self._respond(message_id, method, outcome)
            return False
        self.work.start(
            self._answer(message_id, method, outcome),
            method,
            request_id=message_id,
            keep=method == types.SHUTDOWN,
        )
        return True

    async def _answer(self, message_id: Json, method: str, outcome: Awaitable[Json]) -> None:
        try:
            result = await outcome
        except asyncio.CancelledError:
            self._respond_error(message_id, REQUEST_CANCELLED, "cancelled")
            raise
        except Exception as error:  # noqa: BLE001 - a handler's failure is its request's answer
            self._failed(message_id, method, error)
        else:
            self._respond(message_id, method, result)

    def _notified(self, method: str, params: Json) -> bool:
        if method == types.EXIT:
            self.on_exit()
            return False
        if self.phase is not Phase.READY:
            return False
        started = False
        for handler in (self.built_in_notifications.get(method), self._handler(method)):
            if handler is not None and self._notify_handler(handler, method, params):
                started = True
        return started

    def _notify_handler(self, handler: Handler, method: str, params: Json) -> bool:
        try:
            outcome = handler(params)
        except Exception:
            log.exception("the notification %s failed", method)
            return False
        if not inspect.isawaitable(outcome):
            return False
        self.work.start(_await(outcome), method)
        return True

    def _cancelled(self, params: Json) -> None:
        request_id = params.get("id") if isinstance(params, dict) else None
        if isinstance(request_id, str | int | float) and not self.work.cancel(request_id):
            log.debug("nothing to cancel: the request has ended")

    def _handler(self, method: str) -> Handler | None:
        if (handler := self.handlers.get(method)) is not None:
            return handler
        if (feature := self.fm.features.get(method)) is not None:
            return lambda params: feature(self._typed_params(method, params))
        return None

    def _typed_params(self, method: str, params: Json) -> Any:
        message_type = self.get_message_type(method)
        if message_type is None:
            return params
        fields = {item.name for item in attrs.fields(message_type)}
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        if "id" in fields:
            message["id"] = 0
        try:
            return self._converter.structure(message, message_type).params
        except Exception as error:
            # cattrs raises what the classes raise, which is anything.
            raise CommandError(f"unfit parameters for {method}", INVALID_PARAMS) from error

    def _note(self, direction: str, message: Json) -> None:
        if self.record is None:
            return
        try:
            self.record(direction, message)
        except Exception:
            # A full disk must not cost the user the session.
            log.exception("recording has failed and ends here")
            self.record = None

    # --- outgoing ----------------------------------------------------------------

    def send(
        self,
        message: Mapping[str, Json],
        *,
        droppable: Hashable | None = None,
        expendable: bool = False,
    ) -> int:
        """Send one message; its size in bytes. Raises :class:`TypeError` for what is no JSON."""
        body = encode_json(message, self._unstructured)
        if self.record is not None:
            self._note("s2c", decode_json(body))
        self.outbox.send(frame(body), droppable=droppable, expendable=expendable)
        return len(body)

    def _unstructured(self, value: Any) -> Any:
        return value.value if isinstance(value, enum.Enum) else self._attrs_to_json(value)

    def _attrs_to_json(self, value: Any) -> Any:
        if attrs.has(type(value)):
            return self._converter.unstructure(value)
        raise TypeError(f"a {type(value).__name__} is no JSON value")

    def _respond(self, message_id: Json, method: str, result: Json) -> None:
        try:
            self.send({"jsonrpc": "2.0", "id": message_id, "result": result})
        except TypeError as error:
            self._failed(message_id, method, error)

    def _failed(self, message_id: Json, method: str, error: Exception) -> None:
        if isinstance(error, CommandError | JsonRpcException):
            self._respond_error(message_id, error.code, error.message, error.data)
            return
        if isinstance(error, ClientGone):
            # Nobody's fault, and likely nobody's to read.
            self._respond_error(message_id, REQUEST_FAILED, str(error))
            return
        log.error("the request %s failed", method, exc_info=error)
        text = f"{method} failed: {type(error).__name__}: {error}"
        self._respond_error(message_id, INTERNAL_ERROR, text)

    def _respond_error(self, message_id: Json, code: int, message: str, data: Json = None) -> None:
        error = {"code": code, "message": message}
        try:
            if data is not None:
                error["data"] = data
            self.send({"jsonrpc": "2.0", "id": message_id, "error": error})
        except TypeError:
            del error["data"]
            self.send({"jsonrpc": "2.0", "id": message_id, "error": error})

    # --- what pygls' own senders end in ---------------------------------------------

    def _send_data(self, data: Any) -> None:
        self.send(self._converter.unstructure(data), expendable=True)

    def send_request(
        self,
        method: str,
        params: Any | None = None,
        callback: Callable[[Any], None] | None = None,
        msg_id: str | int | None = None,
    ) -> Future[Any]:
        """pygls' typed request; the result is what lsprotocol makes of the client's."""
        typed: Future[Any] = Future()
        plain = self.calls.begin(method, self._converter.unstructure(params), msg_id)

        def settle(answered: asyncio.Future[Json]) -> None:
            if answered.cancelled() or not typed.set_running_or_notify_cancel():
                return
            if (error := answered.exception()) is not None:
                typed.set_exception(error)
                return
            try:
                typed.set_result(self._typed_result(method, answered.result()))
            except Exception as unfit:  # noqa: BLE001 - cattrs raises what the classes raise
                typed.set_exception(unfit)

        plain.add_done_callback(settle)
        typed.add_done_callback(lambda done: plain.cancel() if done.cancelled() else None)
        if callback is not None:
            typed.add_done_callback(lambda done: None if _failed(done) else callback(done.result()))
        return typed

    def _typed_result(self, method: str, result: Json) -> Any:
        response_type = self.get_result_type(method)
        if response_type is None:
            return result
        message = {"jsonrpc": "2.0", "id": 0, "result": result}
        return self._converter.structure(message, response_type).result


def _failed(done: Future[Any]) -> bool:
    return done.cancelled() or done.exception() is not None


async def _await(outcome: Awaitable[Json]) -> None:
    await outcome
