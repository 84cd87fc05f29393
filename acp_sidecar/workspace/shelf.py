"""Where the ledger lays its texts down: in memory up to a measure, then on disk.

What was used longest ago goes to disk first. Nothing is laid down twice, and what nobody
holds any more is gone from the disk too.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal
from weakref import ref

from attrs import evolve, frozen

from acp_sidecar.workspace.blobs import Blobs
from acp_sidecar.workspace.disk import Snapshot, Stamp
from acp_sidecar.workspace.positions import split_lines
from acp_sidecar.workspace.problems import FileProblem
from acp_sidecar.workspace.texts import FileText, Missing, Said

log = logging.getLogger(__name__)

_SMALL: Final = 4096
"""Characters or bytes not worth a place on the shelf."""
DEFAULT_MEMORY: Final = 64_000_000
"""Characters or bytes that stay in memory."""


class Held:
    """One text, or the bytes of a file; in memory or laid down."""

    def __init__(self, shelf: Shelf, data: str | bytes) -> None:
        self._shelf = shelf
        self._data: str | bytes | None = data
        self._is_text = isinstance(data, str)
        self._digest: str | None = None
        self._blobs: Blobs | None = None
        self._ours = False
        self.size = len(data)

    @classmethod
    def at(cls, shelf: Shelf, blobs: Blobs, digest: str, *, is_text: bool) -> Held:
        """What somebody else has laid down, and will remove."""
        held = cls(shelf, "" if is_text else b"")
        held._data, held._digest, held._blobs = None, digest, blobs
        return held

    def get(self) -> str | bytes:
        """Raises :class:`FileProblem` (``io``) where it was laid down and is gone."""
        if self._data is not None:
            self._shelf.used(self)
            return self._data
        blobs, digest = self._blobs, self._digest
        data = None if blobs is None or digest is None else blobs.get(digest)
        if data is None:
            raise FileProblem("io", Path(self._digest or ""), "A remembered text is lost")
        return data.decode("utf-8", "surrogatepass") if self._is_text else data

    def lay_down(self, blobs: Blobs) -> bool:
        """Let go of the memory. Whether that was possible."""
        if self._data is None:
            return True
        data = self._data
        raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
        digest = blobs.put(raw)
        if digest is None:
            return False
        self._digest, self._data, self._blobs, self._ours = digest, None, blobs, True
        return True

    def __del__(self) -> None:
        self._shelf.forget(self)
        if self._ours and self._blobs is not None and self._digest is not None:
            self._blobs.drop(self._digest)


class Shelf:
    """Texts in memory, and on disk what goes beyond ``memory`` characters."""

    def __init__(
        self, blobs: Blobs | None = None, *, memory: int = DEFAULT_MEMORY, small: int = _SMALL
    ) -> None:
        """Without ``blobs`` everything stays in memory; so does what has less than ``small``
        characters or bytes."""
        self.blobs = blobs
        self.small = small
        self._memory = memory
        self._in_memory: OrderedDict[int, ref[Held]] = OrderedDict()
        self._size = 0

    def hold(self, data: str | bytes) -> Held:
        """Take a text, or bytes."""
        held = Held(self, data)
        self._in_memory[id(held)] = ref(held)
        self._size += held.size
        self._make_room()
        return held

    def used(self, held: Held) -> None:
        """It was asked for: it goes last."""
        if id(held) in self._in_memory:
            self._in_memory.move_to_end(id(held))

    def forget(self, held: Held) -> None:
        """Nobody needs it any more."""
        if self._in_memory.pop(id(held), None) is not None:
            self._size -= held.size

    def _make_room(self) -> None:
        if self.blobs is None:
            return
        while self._size > self._memory and self._in_memory:
            key, reference = next(iter(self._in_memory.items()))
            held = reference()
            if held is not None and not held.lay_down(self.blobs):
                log.warning("texts stay in memory: they cannot be laid down")
                self.blobs = None
                return
            if self._in_memory.pop(key, None) is not None and held is not None:
                self._size -= held.size


@frozen(eq=False)
class Piece:
    """Some lines of a text, with their terminators."""

    count: int
    _lines: tuple[str, ...] | None
    _held: Held | None = None

    @classmethod
    def of(cls, lines: Sequence[str]) -> Piece:
        return cls(len(lines), tuple(lines))

    def lines(self) -> tuple[str, ...]:
        """Raises :class:`FileProblem` where they are lost."""
        if self._lines is not None:
            return self._lines
        assert self._held is not None
        text = self._held.get()
        assert isinstance(text, str)
        return tuple(split_lines(text))

    def on(self, shelf: Shelf) -> Piece:
        """The same on a shelf, if it is worth it."""
        if self._lines is None or sum(map(len, self._lines)) < shelf.small:
            return self
        text = "".join(self._lines)
        # Lines that were no neighbours may run into one another.
        if len(split_lines(text)) != self.count:
            return self
        return Piece(self.count, None, shelf.hold(text))


@frozen(eq=False)
class Kept:
    """What a file said, on a shelf."""

    kind: Literal["text", "bytes", "missing"]
    stamp: Stamp | None
    lines: int
    """How many lines its text has; -1 where nobody will ask."""
    source: Literal["buffer", "disk"]
    _said: Said
    """All of it, or with nothing in place of its content."""
    _held: Held | None = None

    @classmethod
    def of(cls, said: Said, shelf: Shelf | None = None) -> Kept:
        if isinstance(said, Missing):
            return cls("missing", None, 0, "disk", said)
        if isinstance(said, Snapshot):
            if shelf is None or len(said.data) < shelf.small:
                return cls("bytes", said.stamp, 0, "disk", said)
            return cls(
                "bytes", said.stamp, 0, "disk", evolve(said, data=b""), shelf.hold(said.data)
            )
        lines = _count(said.text)
        if shelf is None or len(said.text) < shelf.small:
            return cls("text", said.stamp, lines, said.source, said)
        held = shelf.hold(said.text)
        return cls("text", said.stamp, lines, said.source, evolve(said, text=""), held)

    @classmethod
    def laid_down(cls, bare: Said, shelf: Shelf, blobs: Blobs, digest: str) -> Kept:
        """What a file said, of which the content is laid down already."""
        if isinstance(bare, Missing):
            return cls.of(bare)
        is_text = isinstance(bare, FileText)
        held = Held.at(shelf, blobs, digest, is_text=is_text)
        source = bare.source if isinstance(bare, FileText) else "disk"
        return cls("text" if is_text else "bytes", bare.stamp, -1, source, bare, held)

    def get(self) -> Said:
        """Raises :class:`FileProblem` where it is lost."""
        said = self._said
        if self._held is None or isinstance(said, Missing):
            return said
        content = self._held.get()
        if isinstance(said, FileText):
            assert isinstance(content, str)
            return evolve(said, text=content)
        assert isinstance(content, bytes)
        return evolve(said, data=content)

    @property
    def bare(self) -> Said:
        """All but, where that is on the shelf, the content."""
        return self._said

    @property
    def is_text(self) -> bool:
        return self.kind == "text"

    @property
    def is_missing(self) -> bool:
        return self.kind == "missing"


def _count(text: str) -> int:
    """How many lines :func:`split_lines` makes of a text."""
    ends = text.count("\n")
    if "\r" in text:
        ends += text.count("\r") - text.count("\r\n")
    return ends + (text != "" and not text.endswith(("\n", "\r")))
