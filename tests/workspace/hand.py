"""The user's hand on an editor: open documents, typing, saving, and edits taken or not.

It keeps its own texts and speaks to the mirror the way an editor does, in ranges or in
whole texts, at once or late. What it does with an edit of ours is its ``manner``.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from attrs import define, field

from acp_sidecar.workspace.documents import Documents, TextChange
from acp_sidecar.workspace.edits import DocumentEdit
from acp_sidecar.workspace.files import Files
from acp_sidecar.workspace.positions import Position, Range
from acp_sidecar.workspace.uris import path_to_uri

SETTLE = 0.15
ANSWER = 0.4

Manner = Callable[["Hand", DocumentEdit], Awaitable[object]]


class Refused(Exception):
    """The editor answered ``applied: false``, or with an error."""


@define
class Buffer:
    uri: str
    path: Path | None
    text: str
    version: int = 1
    dos: bool = False
    """Lines end in CRLF, whatever is put in."""


async def takes_it(hand: Hand, edit: DocumentEdit) -> object:
    """Like VS Code: the version must be the document's, and the change shows first."""
    hand.check_version(edit)
    hand.make(edit)
    return {"applied": True}


async def shows_it_late(hand: Hand, edit: DocumentEdit) -> object:
    """Like Neovim: the answer comes, and only then the change."""
    hand.check_version(edit)
    hand.later(SETTLE / 3, lambda: hand.make(edit))
    return {"applied": True}


async def refuses(hand: Hand, edit: DocumentEdit) -> object:
    raise Refused("version")


async def says_yes_and_does_nothing(hand: Hand, edit: DocumentEdit) -> object:
    return {"applied": True}


async def never_answers(hand: Hand, edit: DocumentEdit) -> object:
    await asyncio.Event().wait()
    return None


async def makes_it_and_never_answers(hand: Hand, edit: DocumentEdit) -> object:
    hand.make(edit)
    await asyncio.Event().wait()
    return None


async def makes_it_and_answers_rubbish(hand: Hand, edit: DocumentEdit) -> object:
    hand.check_version(edit)
    hand.make(edit)
    raise ValueError("the result is true, not an object")


@define
class Hand:
    """One editor and who sits before it."""

    documents: Documents = field(factory=Documents)
    manner: Manner = takes_it
    buffers: dict[str, Buffer] = field(factory=dict)
    edits: list[DocumentEdit] = field(factory=list)
    _timers: list[asyncio.TimerHandle] = field(factory=list)

    def files(self, **settings: Any) -> Files:
        return Files(self.documents, self.apply, **{"settle": SETTLE, "answer": ANSWER, **settings})

    async def apply(self, edit: DocumentEdit) -> object:
        self.edits.append(edit)
        return await self.manner(self, edit)

    # --- what the user does -----------------------------------------------------------------

    def open(self, path: Path, *, uri: str | None = None, text: str | None = None) -> Buffer:
        """Open a file the way editors do: without its byte order mark."""
        said = path.read_bytes().decode("utf-8-sig") if text is None else text
        buffer = Buffer(uri or path_to_uri(path), path, said, dos="\r\n" in said)
        self.buffers[buffer.uri] = buffer
        self.documents.open(buffer.uri, "plaintext", 1, said)
        return buffer

    def type(self, buffer: Buffer, before: str, text: str) -> None:
        """Insert ``text`` before the first ``before``, in a ranged change."""
        self.replace(buffer, buffer.text.index(before), 0, text)

    def replace(self, buffer: Buffer, start: int, length: int, text: str) -> None:
        range_ = Range(_position(buffer.text, start), _position(buffer.text, start + length))
        buffer.text = buffer.text[:start] + text + buffer.text[start + length :]
        buffer.version += 1
        self.documents.change(buffer.uri, buffer.version, [TextChange(range_, text)])

    def save(self, buffer: Buffer) -> None:
        assert buffer.path is not None
        buffer.path.write_bytes(buffer.text.encode())
        self.documents.save(buffer.uri)

    def reload(self, buffer: Buffer) -> None:
        """The editor sees that the file has changed, and loads it."""
        assert buffer.path is not None
        self.set(buffer, buffer.path.read_bytes().decode("utf-8-sig"))

    def set(self, buffer: Buffer, text: str) -> None:
        buffer.text = text
        buffer.version += 1
        self.documents.change(buffer.uri, buffer.version, [TextChange(None, text)])

    def close(self, buffer: Buffer) -> None:
        del self.buffers[buffer.uri]
        self.documents.close(buffer.uri)

    def later(self, seconds: float, what: Callable[[], object]) -> None:
        self._timers.append(asyncio.get_running_loop().call_later(seconds, what))

    def once_on_disk(self, path: Path, text: str, what: Callable[[], object]) -> None:
        """Do something as soon as a file says something else than ``text``."""
        if path.read_text() != text:
            what()
        else:
            self.later(0.002, lambda: self.once_on_disk(path, text, what))

    # --- what the editor does ------------------------------------------------------------------

    def check_version(self, edit: DocumentEdit) -> None:
        if self.buffers[edit.uri].version != edit.version:
            raise Refused("the document has changed")

    def make(self, edit: DocumentEdit) -> None:
        """Make an edit whatever the version, as positions in the text there is."""
        buffer = self.buffers[edit.uri]
        text = buffer.text
        changes: list[TextChange] = []
        for one in sorted(edit.edits, key=lambda one: one.range.start, reverse=True):
            new = one.new_text
            if buffer.dos:
                new = re.sub(r"\r\n?|\n", "\r\n", new)
            start, end = _offset(text, one.range.start), _offset(text, one.range.end)
            text = text[:start] + new + text[end:]
            changes.append(TextChange(one.range, new))
        buffer.text = text
        buffer.version += 1
        self.documents.change(buffer.uri, buffer.version, changes)

    def in_step(self) -> bool:
        """Whether the mirror shows what the editor has."""
        return all(
            (document := self.documents.get(uri)) is not None and document.text == buffer.text
            for uri, buffer in self.buffers.items()
        )


def _offset(text: str, position: Position) -> int:
    """UTF-16, as VS Code counts."""
    lines = re.split(r"(?<=\n)|(?<=\r)(?!\n)", text)
    if position.line >= len(lines):
        return len(text)
    before = sum(map(len, lines[: position.line]))
    line = lines[position.line].rstrip("\r\n")
    return before + len(line.encode("utf-16-le")[: position.character * 2].decode("utf-16-le"))


def _position(text: str, offset: int) -> Position:
    lines = re.split(r"(?<=\n)|(?<=\r)(?!\n)", text[:offset])
    return Position(len(lines) - 1, len(lines[-1].encode("utf-16-le")) // 2)
