"""What a file says, as text and as bytes."""

from __future__ import annotations

import codecs
import io
from itertools import islice
from pathlib import Path
from typing import Final, Literal, TypeAlias

from attrs import frozen

from acp_sidecar.workspace.disk import Snapshot, Stamp
from acp_sidecar.workspace.problems import FileProblem

BOM: Final = "\ufeff"


@frozen
class FileText:
    """What a file says now. ``text`` is without its byte order mark."""

    text: str
    source: Literal["buffer", "disk"]
    bom: bool = False
    stamp: Stamp | None = None
    """The state of the file it was read from; None for a buffer."""

    @property
    def data(self) -> bytes:
        """The bytes of the file."""
        return encode(self.text, self.bom)


@frozen
class Missing:
    """There is no such file."""

    path: Path


Said: TypeAlias = FileText | Missing | Snapshot
"""What a file says: text, nothing, or bytes that are no text."""


def window(text: str, line: int | None = None, limit: int | None = None) -> str:
    """``limit`` lines of ``text`` from ``line`` on, each with its own terminator.

    ``line`` is 1-based (0 is taken for the first line). Without either argument the text as
    it is, past its end nothing. Lines end as LSP says. Raises ``ValueError`` for negative
    numbers.
    """
    if line is None and limit is None:
        return text
    start = max((1 if line is None else line) - 1, 0)
    if (line or 0) < 0 or (limit or 0) < 0:
        raise ValueError("line and limit cannot be negative")
    end = None if limit is None else start + limit
    lines = io.StringIO(text, newline="")
    if start > len(text):
        return ""
    return "".join(islice(lines, start, None if end is None or end > len(text) else end))


_OTHERS: Final = (
    *("windows-1252", "iso8859-1", "iso8859-15", "utf-16-le", "utf-16-be", "iso8859-2"),
    *("windows-1250", "windows-1251", "koi8-r", "cp437", "shift_jis", "euc_jp", "gb18030"),
    *("gbk", "big5", "euc_kr"),
)
"""Encodings that editors are told to read files in, other than UTF-8."""


def decode(data: bytes, path: Path) -> tuple[str, bool]:
    """The text of a file and whether a byte order mark came before it.

    Raises :class:`FileProblem` (``encoding``) for anything but UTF-8 text.
    """
    bom = data.startswith(codecs.BOM_UTF8)
    try:
        text = data[3:].decode("utf-8") if bom else data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise FileProblem("encoding", path, f"Not a UTF-8 text file ({error.reason})") from None
    if "\0" in text:
        raise FileProblem("encoding", path, "Not a UTF-8 text file (it holds null bytes)")
    return text, bom


def misread(text: str, shown: str) -> str | None:
    """The encoding in which an editor has read the bytes of ``text``, which are UTF-8, where it
    shows ``shown``; None where it has read them right, or shows something else."""
    if shown == text:
        return None
    data = text.encode("utf-8", "surrogatepass")
    for encoding in _OTHERS:
        # Most are told apart by how they begin: all of a long text takes its time.
        beginning = data[:1024].decode(encoding, "replace")[:200]
        if shown.startswith(beginning) and data.decode(encoding, "replace") == shown:
            return encoding
    return None


def encode(text: str, bom: bool) -> bytes:
    """The bytes of a text. Raises ``UnicodeEncodeError`` for lone surrogates."""
    return (codecs.BOM_UTF8 if bom else b"") + text.encode("utf-8")
