"""LSP's base protocol on bytes (LSP 3.17 "Base Protocol"), without any I/O.

:class:`FrameDecoder` turns what comes out of a pipe, in pieces of any size, into message
bodies; :func:`frame` does the reverse. :func:`decode_json` and :func:`encode_json` are the
JSON of a body: orjson where it can, with a slower path for the JSON it refuses.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from typing import Any, Final

import orjson
from attrs import frozen

BODY_LIMIT: Final = 1 << 30
"""Bytes of the largest body taken; a larger one is read past without being kept."""

_HEADER_LIMIT: Final = 1 << 16
# Searched for, not matched: after a body shorter than its length said, or a stray print of
# a wrapper, the next header stands at the end of a line of rubbish.
_CONTENT_LENGTH: Final = re.compile(
    rb"(?:^|[^a-z0-9-])content-length[ \t]*:[ \t]*(\d{1,18})[ \t]*$", re.IGNORECASE
)
_MENTIONS_LENGTH: Final = re.compile(rb"(?:^|[^a-z0-9-])content-length[ \t]*:", re.IGNORECASE)

# orjson turns whole numbers beyond 64 bits into floats. Finding such runs of digits this
# way costs a tenth of what a regular expression does.
_DIGITS: Final = bytes.maketrans(b"0123456789", b"0000000000")
_LONG_NUMBER: Final = b"0" * 19


@frozen
class BadFrame:
    """Bytes that are no message. ``reason`` is for people and holds no content."""

    reason: str


class FrameDecoder:
    """Takes a stream apart into bodies.

    Header names in any case, further headers, bare ``\\n`` as line end and blank lines
    before a header are all taken. What is no header is skipped up to the next one that is.
    """

    def __init__(self, body_limit: int = BODY_LIMIT) -> None:
        self._buffer = bytearray()
        self._body_limit = body_limit
        self._length: int | None = None
        self._in_header = True
        self._header_seen = False
        self._skip = 0

    def feed(self, data: bytes) -> list[bytes | BadFrame]:
        """Take the next bytes; return the bodies they complete, in order."""
        self._buffer += data
        frames: list[bytes | BadFrame] = []
        while self._step(frames):
            pass
        return frames

    @property
    def incomplete(self) -> bool:
        """Whether the stream, ending now, would end inside a message."""
        return bool(self._buffer) or self._skip > 0 or not self._in_header

    def _step(self, frames: list[bytes | BadFrame]) -> bool:
        if self._skip:
            skipped = min(self._skip, len(self._buffer))
            del self._buffer[:skipped]
            self._skip -= skipped
            return skipped > 0
        if self._in_header:
            return self._header_line(frames)
        return self._body(frames)

    def _header_line(self, frames: list[bytes | BadFrame]) -> bool:
        end = self._buffer.find(b"\n")
        if end < 0:
            if len(self._buffer) > _HEADER_LIMIT:
                # Its last bytes may be the start of a header.
                del self._buffer[:-64]
                frames.append(BadFrame("no header within 64 KiB"))
            return False
        line = bytes(self._buffer[:end]).strip()
        del self._buffer[: end + 1]
        if line:
            self._header_seen = True
            if match := _CONTENT_LENGTH.search(line):
                self._length = int(match[1])
            elif _MENTIONS_LENGTH.search(line):
                frames.append(BadFrame("the Content-Length is no number"))
                self._header_seen = False
            return True
        length, self._length = self._length, None
        seen, self._header_seen = self._header_seen, False
        if length is None:
            if seen:
                frames.append(BadFrame("a header without Content-Length"))
        elif length > self._body_limit:
            frames.append(BadFrame(f"a message of {length} bytes is too large"))
            self._skip = length
        else:
            self._length = length
            self._in_header = False
        return True

    def _body(self, frames: list[bytes | BadFrame]) -> bool:
        length = self._length
        if length is None or len(self._buffer) < length:
            return False
        frames.append(bytes(self._buffer[:length]))
        del self._buffer[:length]
        self._length = None
        self._in_header = True
        return True


def frame(body: bytes) -> bytes:
    """Put LSP's header before a body."""
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


def decode_json(body: bytes) -> Any:
    """Decode a body as JSON.

    Takes what orjson refuses or rounds and :mod:`json` takes: whole numbers of any size,
    ``NaN`` (as None), half surrogate pairs and bytes that are not UTF-8. Half a pair becomes
    U+FFFD, which is as long as it was in each of LSP's position encodings.

    Raises :class:`ValueError` if it is no JSON at all.
    """
    if _LONG_NUMBER not in body.translate(_DIGITS):
        try:
            return orjson.loads(body)
        except orjson.JSONDecodeError:
            pass
    try:
        return _plain(json.loads(body.decode("utf-8", "replace")))
    except RecursionError:
        raise ValueError("nested too deeply") from None


def encode_json(value: Any, default: Callable[[Any], Any] | None = None) -> bytes:
    """Encode as JSON in UTF-8.

    ``default`` turns a value that is no JSON into one. Half surrogate pairs become U+FFFD,
    numbers that are not finite ``null``.

    Raises :class:`TypeError` for what cannot be expressed in JSON.
    """
    try:
        return orjson.dumps(value, default=default)
    except TypeError:
        pass
    try:
        return json.dumps(
            _plain(value, default), ensure_ascii=False, separators=(",", ":")
        ).encode()
    except (ValueError, RecursionError) as error:
        raise TypeError(f"not expressible in JSON: {error}") from None


def _plain(value: Any, default: Callable[[Any], Any] | None = None) -> Any:
    """The same value with only what strict JSON can hold."""
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if value is None or isinstance(value, int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {_plain(str(key)): _plain(item, default) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, default) for item in value]
    if default is None:
        raise TypeError(f"a {type(value).__name__} is no JSON value")
    return _plain(default(value), default)
