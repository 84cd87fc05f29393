"""What a command has written, kept as bytes within a limit and read as text.

ACP, "Terminals": output beyond the limit is cut from the front, at a character boundary.
Bytes are kept, not text: a character may come in two pieces, and what is no UTF-8 is
somebody else's encoding.
"""

from __future__ import annotations

import codecs
from collections import deque
from typing import Final

_BLOCK: Final = 1 << 16
_LONGEST_CHARACTER: Final = 4


class Output:
    """The last ``limit`` bytes of what a command wrote. Takes pieces of any size.

    :ivar size: bytes kept
    :ivar truncated: whether anything was cut
    """

    def __init__(self, limit: int) -> None:
        self.limit: Final = limit
        self.size = 0
        self.truncated = False
        self._blocks: deque[bytearray] = deque()

    def add(self, data: bytes) -> None:
        """More of it."""
        if not data:
            return
        if len(data) > self.limit:
            # Of one piece beyond the limit only the end can be kept.
            self._blocks.clear()
            self.size = 0
            self.truncated = True
            data = data[len(data) - self.limit :]
        for start in range(0, len(data), _BLOCK):
            piece = data[start : start + _BLOCK]
            if self._blocks and len(self._blocks[-1]) + len(piece) <= _BLOCK:
                self._blocks[-1] += piece
            else:
                self._blocks.append(bytearray(piece))
        self.size += len(data)
        self.shrink(self.limit)

    def shrink(self, size: int) -> None:
        """Cut from the front until no more than ``size`` bytes are left."""
        excess = self.size - size
        if excess <= 0:
            return
        self.truncated = True
        self.size -= excess
        while excess:
            first = self._blocks[0]
            if len(first) <= excess:
                excess -= len(first)
                self._blocks.popleft()
            else:
                del first[:excess]
                excess = 0

    def clear(self) -> None:
        """Forget all of it, as if nothing had been written."""
        self._blocks.clear()
        self.size = 0
        self.truncated = False

    def text(self, *, whole: bool, fallback: str | None = None) -> str:
        """All that is kept, as text whose UTF-8 is no longer than the limit.

        :param whole: nothing more will come. Else the beginning of a character at the end is
            left for later.
        :param fallback: how to read it where it is no UTF-8 (the code page of a Windows
            console); without one what is no UTF-8 becomes U+FFFD
        """
        text = _decoded(b"".join(self._blocks), self.truncated, whole, fallback)
        # What could not be read takes three bytes as U+FFFD, and other code pages' letters two.
        if len(text) * 3 <= self.limit:
            return text
        kept = _within(text, self.limit)
        self.truncated = self.truncated or len(kept) < len(text)
        return kept

    def tail(self, size: int, *, whole: bool, fallback: str | None = None) -> tuple[str, bool]:
        """The last ``size`` bytes as text, from the beginning of a line where one is near; and
        whether anything before them was left out."""
        if self.size <= size:
            return self.text(whole=whole, fallback=fallback), self.truncated
        parts: list[bytes] = []
        missing = size
        for block in reversed(self._blocks):
            parts.append(bytes(block[-missing:]))
            missing -= len(parts[-1])
            if not missing:
                break
        data = b"".join(reversed(parts))
        line = data.find(b"\n", 0, size // 4)
        return _decoded(data[line + 1 :], True, whole, fallback), True


def _decoded(data: bytes, cut: bool, whole: bool, fallback: str | None) -> str:
    if cut:
        data = data[_partial_start(data) :]
    if fallback is not None:
        try:
            return codecs.getincrementaldecoder("utf-8")().decode(data, whole)
        except UnicodeDecodeError:
            return codecs.getincrementaldecoder(fallback)("replace").decode(data, whole)
    return codecs.getincrementaldecoder("utf-8")("replace").decode(data, whole)


def _partial_start(data: bytes) -> int:
    """Bytes at the front that end a character whose beginning was cut off."""
    for index, byte in enumerate(data[:_LONGEST_CHARACTER]):
        if byte & 0xC0 != 0x80:
            return index
    return len(data) if len(data) < _LONGEST_CHARACTER else 0


def _within(text: str, limit: int) -> str:
    encoded = text.encode()
    if len(encoded) <= limit:
        return text
    kept = encoded[len(encoded) - limit :]
    return kept[_partial_start(kept) :].decode("utf-8", "ignore")
