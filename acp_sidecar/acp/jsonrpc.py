"""JSON-RPC 2.0: its messages as values, and what a JSON value stands for.

Sections are those of the JSON-RPC 2.0 specification; the codes beyond it are ACP's and LSP's.
"""

from __future__ import annotations

import json
import math
from typing import Any, Final, TypeAlias, TypeGuard

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


def message_of(value: Json, line: bytes) -> Message | None:
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
