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
from typing import Final

import orjson

from acp_sidecar.acp.jsonrpc import (
    PARSE_ERROR,
    Error,
    Malformed,
    Message,
    Noise,
    Notification,
    message_of,
    to_json,
)
from acp_sidecar.acp.model import UNSET, Json

DEFAULT_LINE_LIMIT: Final = 268_435_456
"""Longest line taken, in bytes, without its newline."""

_KEPT_NOISE: Final = 4096


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
        found = [message_of(entry, line) for entry in value]
        if any(message is not None for message in found):
            for entry, message in zip(value, found, strict=True):
                yield Noise(_dumps(entry)[:_KEPT_NOISE]) if message is None else message
            return
    else:
        message = message_of(value, line)
        if message is not None:
            yield message
            return
    yield Noise(line)


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
