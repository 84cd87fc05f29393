"""JSON-RPC 2.0 over newline-delimited JSON, as bytes in and values out.

ACP, Transports: "Messages are delimited by newlines". :class:`Decoder` takes
whatever chunks a pipe delivers and gives the messages that are complete;
:func:`encode` gives one line. Nothing here knows of tasks, files or processes.

Lines are split on ``\\n`` alone, on bytes, before anything is decoded: U+2028,
form feeds and carriage returns are content. What is not JSON-RPC is never an
error of the stream: real agents print banners, progress and logs to stdout.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any, Final, TypeAlias, TypeGuard

import orjson
from attrs import define

from acp_sidecar.acp.model import UNSET, Json, Unset

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
REQUEST_CANCELLED: Final = -32800
AUTH_REQUIRED: Final = -32000
RESOURCE_NOT_FOUND: Final = -32002

DEFAULT_LINE_LIMIT: Final = 268_435_456
"""Longest line taken, in bytes, without its newline."""

_KEPT_NOISE: Final = 4096

JsonId: TypeAlias = int | float | str | bool | None
"""An id as it was received. JSON-RPC wants a string or a number; whatever other scalar
an agent sends comes back to it unchanged, value and JSON type."""


# The messages are plain `define`d classes: `frozen` doubles the cost of making one, and one
# is made for every line of a flood. Treat them as values.


@define
class Error:
    """JSON-RPC 2.0, section 5.1. ``data`` is any JSON value, ``UNSET`` without one."""

    code: int
    message: str
    data: Json | Unset = UNSET


@define
class Request:
    """A call of the peer's that waits for an answer (section 4)."""

    id: JsonId
    method: str
    params: Json | Unset = UNSET


@define
class Notification:
    """A message that must never be answered (section 4.1)."""

    method: str
    params: Json | Unset = UNSET


@define
class Response:
    """The answer to a call (section 5).

    The key ``result`` decides: ``None`` is a result of ``null``, ``UNSET`` says there was none.
    With neither ``result`` nor ``error``, or both, the peer broke the protocol; the receiver
    fails the call.
    """

    id: JsonId
    result: Json | Unset = UNSET
    error: Error | None = None


@define
class Malformed:
    """A message that was meant as JSON-RPC but is not; to be answered with ``error``.

    ``id`` is the message's own where it could be told, else ``None`` (section 5: "null").
    """

    error: Error
    id: JsonId = None


@define
class Noise:
    """A line, without its newline, that is no JSON-RPC at all: to be logged and skipped."""

    line: bytes


Message: TypeAlias = Request | Notification | Response | Malformed | Noise


class LineTooLong(Exception):
    """A line went past the limit; the stream cannot be followed any further.

    :ivar limit: the limit in bytes
    :ivar messages: what :meth:`Decoder.feed` had read before that line in the same chunk
    """

    def __init__(self, limit: int) -> None:
        super().__init__(
            f"a message is longer than {limit} bytes; the setting limits.lineBytes allows more"
        )
        self.limit = limit
        self.messages: list[Message] = []


class Decoder:
    """Turns the bytes of one direction into messages.

    The cost is linear in the bytes fed, however they are cut: the pieces of an unfinished line
    are only joined when its newline has come.
    """

    def __init__(self, line_limit: int = DEFAULT_LINE_LIMIT) -> None:
        """
        :param line_limit: longest line taken, in bytes, without its newline
        """
        self._limit = line_limit
        self._pieces: list[bytes] = []
        self._held = 0

    def messages(self, data: bytes) -> Iterator[Message]:
        """The messages completed by ``data``, in order, each read when it is asked for.

        To be run to its end before more data comes. Reading them one by one instead of into a
        list is a third faster under a flood: what was handled is freed before the next is made.

        :raises LineTooLong: a line is longer than the limit, after the messages before it. The
            decoder is of no use after it.
        """
        lines = data.split(b"\n")
        total = self._held + len(data)
        if len(lines) > 1:
            if self._pieces:
                self._pieces.append(lines[0])
                lines[0] = b"".join(self._pieces)
                self._pieces.clear()
            tail = lines.pop()
            self._held = len(tail)
        else:
            tail = lines.pop()
            self._held = total
        if tail:
            self._pieces.append(tail)
        if total <= self._limit:
            return _read_lines(lines)
        return self._read_lines_with_care(lines)

    def _read_lines_with_care(self, lines: list[bytes]) -> Iterator[Message]:
        for line in lines:
            if len(line) > self._limit:
                raise LineTooLong(self._limit)
            yield from _read_lines([line])
        if self._held > self._limit:
            raise LineTooLong(self._limit)

    def feed(self, data: bytes) -> list[Message]:
        """What :meth:`messages` gives, as a list.

        :raises LineTooLong: with what came before the line in ``messages``
        """
        messages: list[Message] = []
        try:
            messages.extend(self.messages(data))
        except LineTooLong as problem:
            problem.messages = messages
            raise
        return messages

    def eof(self) -> list[Message]:
        """The message of a last line that came without a newline, if there is one."""
        line = b"".join(self._pieces)
        self._pieces.clear()
        self._held = 0
        return list(_read_lines([line]))


def _read_lines(lines: list[bytes]) -> Iterator[Message]:
    loads = orjson.loads
    for line in lines:
        if not line:
            continue
        try:
            value = loads(line)
        except orjson.JSONDecodeError:
            yield from _read_odd_line(line)
            continue
        if type(value) is dict and "id" not in value:
            method = value.get("method")
            if type(method) is str and value.get("jsonrpc") == "2.0":
                yield Notification(method, value.get("params", UNSET))
                continue
        yield from _read_value(value, line)


def _read_value(value: Json, line: bytes) -> Iterator[Message]:
    """One line that is JSON; what is not a message in it becomes one piece of noise."""
    if type(value) is list:
        # ACP v1 has no batches, but what is in one is understood well enough.
        found = [_message(entry, line) for entry in value]
        if any(message is not None for message in found):
            for entry, message in zip(value, found, strict=True):
                yield Noise(_dumps(entry)[:_KEPT_NOISE]) if message is None else message
            return
    else:
        message = _message(value, line)
        if message is not None:
            yield message
            return
    yield Noise(line)


def _message(value: Json, line: bytes) -> Message | None:
    """The message a JSON value stands for; ``None`` for one that is no JSON-RPC.

    A missing ``jsonrpc`` is forgiven where the rest leaves no doubt.
    """
    if type(value) is not dict:
        return None
    version = value.get("jsonrpc", UNSET)
    has_id = "id" in value
    request_id = _exact_id(value["id"], line) if has_id else None
    if "method" in value:
        return _call(value, version, has_id, request_id)
    if "result" in value or "error" in value:
        if not has_id and version is UNSET:
            return None
        if not _is_id(request_id):
            return None if version is UNSET else Response(None, UNSET, _error(value.get("error")))
        return _response(value, request_id)
    if version is UNSET:
        return None
    if has_id and _is_id(request_id):
        return Response(request_id)
    return Malformed(Error(INVALID_REQUEST, "neither a method nor a result nor an error"))


def _call(value: dict[str, Any], version: Json, has_id: bool, request_id: Json) -> Message | None:
    method = value["method"]
    params = value.get("params", UNSET)
    known_id = request_id if has_id and _is_id(request_id) else None
    if type(method) is not str:
        if version is UNSET:
            return None
        return Malformed(Error(INVALID_REQUEST, "method must be a string"), known_id)
    if version not in ("2.0", UNSET):
        if not has_id:
            return None
        return Malformed(Error(INVALID_REQUEST, 'jsonrpc must be "2.0"'), known_id)
    if not has_id:
        return Notification(method, params)
    if not _is_id(request_id):
        return Malformed(Error(INVALID_REQUEST, "id must be a string, a number or null"))
    if params is not None and params is not UNSET and type(params) not in (dict, list):
        return Malformed(Error(INVALID_PARAMS, "params must be an object or an array"), known_id)
    return Request(request_id, method, params)


def _response(value: dict[str, Any], request_id: JsonId) -> Response:
    result = value.get("result", UNSET)
    error = value.get("error")
    if error is None:
        # JSON-RPC 1.0 peers send `"error": null` beside a result: that is no error.
        return Response(request_id, result)
    return Response(request_id, result, _error(error))


def _error(value: Json) -> Error:
    """The error object of a response, made whole where the agent left something out."""
    if type(value) is not dict:
        text = value if type(value) is str else "the agent answered with an error"
        return Error(INTERNAL_ERROR, text, UNSET if type(value) is str else value)
    code = value.get("code")
    message = value.get("message")
    if type(code) is float and code.is_integer():
        code = int(code)
    return Error(
        code if type(code) is int else INTERNAL_ERROR,
        message if type(message) is str else "the agent answered with an error",
        value.get("data", UNSET),
    )


def _is_id(value: Json) -> TypeGuard[JsonId]:
    if type(value) is float:
        return math.isfinite(value)
    return value is None or type(value) in (int, str, bool)


def _exact_id(value: Json, line: bytes) -> Json:
    """orjson reads an integer beyond 64 bits as a float; an id must come back as it was."""
    if type(value) is not float or value.is_integer() is False or abs(value) < 2**63:
        return value
    try:
        again = json.loads(line)
    except (ValueError, RecursionError):
        return value
    entries = again if type(again) is list else [again]
    ids = [entry["id"] for entry in entries if type(entry) is dict and "id" in entry]
    return next((exact for exact in ids if type(exact) is int and float(exact) == value), value)


_TERMINAL_CODES: Final = re.compile(
    rb"(?:\x1b\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor, clear line
    rb"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"  # OSC: window title, links
    rb"|\x1b[ -/]*[0-Z\\^-~]|\xef\xbb\xbf|[\x00-\x20\x7f])++"
)


def _read_odd_line(line: bytes) -> Iterator[Message]:
    """A line orjson refuses: odd but readable JSON, a broken message, or noise."""
    if not line.strip():
        return
    # A spinner clears its line just before a message. Such codes are skipped, words never:
    # a log line may quote a message that was not sent to us.
    codes = _TERMINAL_CODES.match(line)
    body = line if codes is None else line[codes.end() :]
    if body[:1] not in (b"{", b"["):
        yield Noise(line)
        return
    try:
        values = _json_values(body)
    except (ValueError, RecursionError):
        if b'"jsonrpc"' in body[:4096]:
            yield Malformed(Error(PARSE_ERROR, "the line is not valid JSON"))
        else:
            yield Noise(line)
        return
    if not values:
        yield Noise(line)
    for value in values:
        yield from _read_value(value, body)


def _json_values(body: bytes) -> list[Json]:
    """The JSON value a line holds, or several messages that lack the newline between them.

    Empty where something else than messages follows the first value.
    """
    # Bytes that are no UTF-8 become lone surrogates: shown as U+FFFD, and refused where they
    # would be written into a file.
    text = body.decode("utf-8", "surrogateescape")
    decoder = json.JSONDecoder()
    values: list[Json] = []
    end = 0
    while True:
        value, end = decoder.raw_decode(text, end)
        values.append(value)
        rest = text[end : end + 4096].encode("utf-8", "surrogateescape")
        codes = _TERMINAL_CODES.match(rest)
        if not rest or (codes is not None and codes.end() == len(rest)):
            return values
        end += 0 if codes is None else len(codes[0].decode())
        if not text.startswith("{", end) or type(value) is not dict or "jsonrpc" not in value:
            return []


# --- writing ----------------------------------------------------------------


def to_json(message: Message) -> Json:
    """The JSON value of a message, for the wire and for recordings.

    A :class:`Malformed` gives the response it asks for; :class:`Noise` its text.
    """
    match message:
        case Request(request_id, method, params):
            value: dict[str, Json] = {"jsonrpc": "2.0", "id": request_id, "method": method}
            if params is not UNSET:
                value["params"] = params
            return value
        case Notification(method, params):
            value = {"jsonrpc": "2.0", "method": method}
            if params is not UNSET:
                value["params"] = params
            return value
        case Response(request_id, result, error):
            value = {"jsonrpc": "2.0", "id": request_id}
            if result is not UNSET:
                value["result"] = result
            if error is not None:
                value["error"] = _error_json(error)
            return value
        case Malformed(error, request_id):
            return {"jsonrpc": "2.0", "id": request_id, "error": _error_json(error)}
        case Noise(line):
            return line.decode("utf-8", "replace")


def _error_json(error: Error) -> dict[str, Json]:
    value: dict[str, Json] = {"code": error.code, "message": error.message}
    if error.data is not UNSET:
        value["data"] = error.data
    return value


def encode(message: Message) -> bytes:
    """One line of UTF-8 JSON that ends with ``\\n``.

    Lone surrogates become U+FFFD, NaN and the infinities ``null``; integers of any size stay.

    :raises TypeError: the message holds something that is no JSON value
    :raises RecursionError: it is nested deeper than the interpreter can follow
    """
    return _dumps(to_json(message), orjson.OPT_APPEND_NEWLINE)


def _dumps(value: Json, option: int = 0) -> bytes:
    try:
        return orjson.dumps(value, option=option)
    except TypeError:
        # orjson refuses lone surrogates, integers beyond 64 bits and more than 254 levels.
        text = json.dumps(_writable(value), ensure_ascii=False, separators=(",", ":"))
        return text.encode() + (b"\n" if option else b"")


def _writable(value: Json) -> Json:
    match value:
        case str():
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case float():
            return value if math.isfinite(value) else None
        case dict():
            return {_writable(key): _writable(item) for key, item in value.items()}
        case list() | tuple():
            return [_writable(item) for item in value]
    return value
