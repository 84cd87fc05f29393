"""Our mirror of the documents an editor has open.

LSP, "Text Document Synchronization". A document is known by the URI the editor gave it
and is always spoken of in exactly that URI; it is found by any other spelling of it, and
by the real path of its file. What a client sends malformed costs at most that message.
"""

from __future__ import annotations

import logging
import os
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal, TypeAlias

from attrs import define, evolve, field, frozen

from acp_sidecar.workspace.positions import (
    Encoding,
    LineRule,
    Position,
    Range,
    content_length,
    split_lines,
    to_index,
)
from acp_sidecar.workspace.textdiff import line_end
from acp_sidecar.workspace.uris import CASELESS, path_key, uri_key, uri_to_path

log = logging.getLogger(__name__)

Happening: TypeAlias = Literal["open", "change", "save", "close"]
_PAST_KEPT: Final = 64
"""Changes of a document that are remembered since it and its file last agreed."""
_PAST_SIZE: Final = 4_000_000
"""Characters that they may have taken away."""
EVERY_HAPPENING: Final[frozenset[Happening]] = frozenset({"open", "change", "save", "close"})


@frozen
class TextChange:
    """One content change of ``textDocument/didChange``; without a range the whole text."""

    range: Range | None
    text: str


@frozen
class Habits:
    """What an editor does with text where LSP leaves room, or where it strays from it."""

    lone_cr_ends_line: bool = True
    """LSP says so; Vim's and Emacs' descendants take a lone ``\\r`` for a character."""

    edits_final_newline: bool = True
    """Whether the final newline is a part of the text. Neovim keeps it as an option of the
    buffer: without it, its changes count the last line as terminated all the same, and an
    edit that adds one leaves an empty line."""

    reloads: bool = False
    """A document without unsaved changes is loaded anew when its file changes, if not at
    once. An edit instead would leave it unsaved, at odds with a file that says the same."""

    @classmethod
    def of(cls, client_name: str | None, *, reloads: bool = False) -> Habits:
        """Habits by ``clientInfo.name`` of the editor's ``initialize`` request."""
        return evolve(_HABITS.get((client_name or "").lower(), cls()), reloads=reloads)


_HABITS: Final[Mapping[str, Habits]] = {
    "neovim": Habits(lone_cr_ends_line=False, edits_final_newline=False),
    "emacs": Habits(lone_cr_ends_line=False),
    "eglot": Habits(lone_cr_ends_line=False),
    "gnu emacs": Habits(lone_cr_ends_line=False),
}


@frozen
class _Taken:
    """What one content change has taken away, and how many lines stand there instead."""

    first: int
    lines: list[str]
    instead: int
    end: str
    """The line end that the editor counted at the end of the text until then."""

    @property
    def size(self) -> int:
        return sum(map(len, self.lines))


@define(eq=False)
class Document:
    """One open document.

    ``path`` is the file it shows as the editor spells it, ``real`` that path resolved;
    both None for a document that is no file (``untitled:``, ``git:``, ``vscode-remote:``).
    """

    uri: str
    language_id: str
    version: int
    path: str | None
    real: Path | None
    saved_text: str | None
    """What the document said when it and its file last agreed; None where that is unknown."""
    last_saved: str | None = None
    """What it said when the user last saved it; None before that."""
    agreed_before: str | None = None
    """What :attr:`saved_text` was before that."""
    closed: bool = False
    rule: LineRule = "lsp"
    _past: deque[list[_Taken]] = field(factory=deque)
    """By message, oldest first."""
    _past_size: int = 0
    _lines: list[str] = field(factory=list)
    _end: str = ""
    """The line end that the editor counts at the end of the text and that is not there."""
    _text: str | None = None
    _dirty: bool | None = None

    @property
    def text(self) -> str:
        if self._text is None:
            self._text = "".join(self._lines).removesuffix(self._end)
        return self._text

    @property
    def lines(self) -> Sequence[str]:
        """The lines as the editor counts them, with their terminators. Not to be changed."""
        return self._lines

    @property
    def line_count(self) -> int:
        """Lines as LSP counts them: the empty one after a final terminator is one."""
        if self._end:
            return len(self._lines)
        last = self._lines[-1] if self._lines else ""
        return len(self._lines) + (not last or content_length(last, self.rule) < len(last))

    @property
    def dirty(self) -> bool:
        """Whether it differs from what was last opened, saved, or brought in by us."""
        if self._dirty is None:
            self._dirty = self.saved_text is None or self.text != self.saved_text
        return self._dirty

    @property
    def past(self) -> Sequence[str]:
        """What it has said since it and its file last agreed, oldest first, as far as that is
        remembered; not what it says now."""
        lines, end, said = list(self._lines), self._end, deque[str]()
        for message in reversed(self._past):
            for taken in reversed(message):
                lines[taken.first : taken.first + taken.instead] = taken.lines
                end = taken.end
            said.appendleft("".join(lines).removesuffix(end))
        return said

    @property
    def uncertain(self) -> bool:
        """Whether its ranges can be misread: a lone ``\\r`` ends a line for LSP, but not
        for every editor that takes part in it."""
        return self.rule == "lsp" and "\r" in self.text.replace("\r\n", "\n")

    def mark_clean(self, text: str | None = None) -> None:
        """Document and file agree on ``text``; without it, on what the document says."""
        self.saved_text = self.text if text is None else text
        self._dirty = False if text is None else None

    def mark_saved(self, text: str) -> None:
        """The user has saved it when it said ``text``, and has typed on since."""
        past = self.past
        if text in past:
            for _ in range(past.index(text) + 1):
                self._forget_oldest()
        self.last_saved = text
        self.mark_clean(text)

    def mark_dirty(self, saved_text: str | None = None) -> None:
        """It has unsaved changes; ``saved_text`` where it is known what its file said before
        them."""
        self.saved_text = saved_text
        self._dirty = None

    def remember(self) -> None:
        """It is about to change: what is taken away until the next call is kept for
        :attr:`past`."""
        if self._dirty is False:
            self._past.clear()
            self._past_size = 0
            return
        self._past.append([])
        while len(self._past) > _PAST_KEPT or (
            self._past_size > _PAST_SIZE and len(self._past) > 2
        ):
            self._forget_oldest()

    def _forget_oldest(self) -> None:
        self._past_size -= sum(taken.size for taken in self._past.popleft())

    def replace(self, text: str, rule: LineRule, end: str = "") -> None:
        """Take in a whole text. ``end`` is the line end that the editor counts after it."""
        lines = split_lines(text + end, rule)
        self._take_away(_Taken(0, self._lines, len(lines), self._end))
        self.rule = rule
        self._end = end
        self._lines = lines
        self._text, self._dirty = text, None

    def splice(self, range_: Range, text: str, encoding: Encoding) -> None:
        """Replace a range. Positions outside of the text are brought into it."""
        start, end = sorted((range_.start, range_.end))
        first, head = self._cut(start, encoding)
        last, tail = self._cut(end, encoding)
        middle = self._slice(first, 0, head) + text + self._slice(last, tail, None)
        # A \r and a \n that have come together are one terminator.
        if middle.startswith("\n") and first and self._lines[first - 1].endswith("\r"):
            first -= 1
            middle = self._lines[first] + middle
        if middle.endswith("\r") and self._slice(last + 1, 0, 1) == "\n":
            last += 1
            middle += self._lines[last]
        if not middle or content_length(middle, self.rule) == len(middle):
            # Without a terminator of its own it runs into the next line.
            middle += self._slice(last + 1, 0, None)
            last += 1
        lines = split_lines(middle, self.rule)
        self._take_away(_Taken(first, self._lines[first : last + 1], len(lines), self._end))
        self._lines[first : last + 1] = lines
        self._text = self._dirty = None

    def _take_away(self, taken: _Taken) -> None:
        if self._past:
            self._past[-1].append(taken)
            self._past_size += taken.size

    def _slice(self, line: int, start: int, end: int | None) -> str:
        return self._lines[line][start:end] if line < len(self._lines) else ""

    def _cut(self, position: Position, encoding: Encoding) -> tuple[int, int]:
        if position.line < 0:
            return 0, 0
        if position.line >= len(self._lines):
            last = self._lines[-1] if self._lines else ""
            if content_length(last, self.rule) < len(last) or not last:
                return len(self._lines), 0
            return len(self._lines) - 1, len(last)
        line = self._lines[position.line]
        content = line[: content_length(line, self.rule)]
        return position.line, to_index(content, position.character, encoding)


class Documents:
    """All open documents of one editor."""

    def __init__(self, habits: Habits | None = None) -> None:
        self.habits = habits or Habits()
        self.encoding: Encoding = "utf-16"
        self._by_key: dict[str, Document] = {}
        self._by_real: dict[str, list[Document]] = {}
        self._callbacks: list[tuple[Callable[[Document], None], frozenset[Happening]]] = []

    def set_encoding(self, encoding: Encoding) -> None:
        """The position encoding negotiated in ``initialize``; before any document opens."""
        self.encoding = encoding

    def set_habits(self, habits: Habits) -> None:
        """How this editor treats text; before any document opens."""
        self.habits = habits

    def subscribe(
        self,
        callback: Callable[[Document], None],
        *,
        to: Iterable[Happening] = EVERY_HAPPENING,
    ) -> Callable[[], None]:
        """Call back after each of these happenings. Returns what ends the subscription."""
        entry = (callback, frozenset(to))
        self._callbacks.append(entry)

        def unsubscribe() -> None:
            if entry in self._callbacks:
                self._callbacks.remove(entry)

        return unsubscribe

    def open(self, uri: str, language_id: str, version: int, text: str) -> Document:
        """``textDocument/didOpen``. A document that is open already is replaced."""
        key = uri_key(uri)
        self._forget(key)
        path = uri_to_path(uri)
        real = _real(path)
        document = Document(uri, language_id, version, path, real, saved_text=None)
        self._take(document, text)
        document.mark_clean()
        self._by_key[key] = document
        if real is not None:
            self._by_real.setdefault(path_key(str(real)), []).append(document)
        self._tell("open", document)
        return document

    def change(
        self, uri: str, version: int | None, changes: Sequence[TextChange]
    ) -> Document | None:
        """``textDocument/didChange``: ``changes`` one after the other.

        The version is taken as it comes, also one that goes back: it is the one the
        editor will compare ours with. Returns None for a document that is not open.
        """
        document = self.get(uri)
        if document is None:
            log.warning("didChange for a document that is not open")
            return None
        if version is not None:
            if version <= document.version:
                log.info("didChange with version %s after %s", version, document.version)
            document.version = version
        document.remember()
        for change in changes:
            if change.range is None:
                self._take(document, change.text)
            else:
                document.splice(change.range, change.text, self.encoding)
        self._tell("change", document)
        return document

    def save(self, uri: str, text: str | None = None) -> Document | None:
        """``textDocument/didSave``; ``text`` where the editor includes it.

        It counts as saved as it is. Who knows what its file says knows better, and hears of it:
        an editor that tells of a saving says what the document says by then.
        """
        document = self.get(uri)
        if document is None:
            return None
        if text is not None and text != document.text:
            self._take(document, text)
        document.last_saved, document.agreed_before = document.text, document.saved_text
        document.mark_clean()
        self._tell("save", document)
        return document

    def close(self, uri: str) -> None:
        """``textDocument/didClose``; unsaved text is gone with it."""
        document = self._forget(uri_key(uri))
        if document is not None:
            self._tell("close", document)

    def get(self, uri: str) -> Document | None:
        """The open document of this URI, in any of its spellings."""
        return self._by_key.get(uri_key(uri))

    def all_at(self, path: str | os.PathLike[str]) -> list[Document]:
        """The open documents that show the file at ``path`` (mostly none or one)."""
        found = self.all_at_real(path)
        if found or (real := _real(os.fspath(path))) is None:
            return found
        return self.all_at_real(real)

    def all_at_real(self, path: str | os.PathLike[str]) -> list[Document]:
        """:meth:`all_at` for a path that is resolved already: without a look at the disk."""
        path = os.fspath(path)
        found = self._by_real.get(path_key(path), ())
        return [document for document in found if _is_one(document.real, path)]

    def at(self, path: str | os.PathLike[str]) -> Document | None:
        """The open document that shows the file at ``path``: a dirty one before others."""
        documents = self.all_at(path)
        return next(
            (document for document in documents if document.dirty),
            documents[-1] if documents else None,
        )

    def all(self) -> list[Document]:
        """Every open document, in order of opening."""
        return list(self._by_key.values())

    def _forget(self, key: str) -> Document | None:
        document = self._by_key.pop(key, None)
        if document is None:
            return None
        document.closed = True
        if document.real is not None:
            real = path_key(str(document.real))
            rest = [each for each in self._by_real.get(real, ()) if each is not document]
            if rest:
                self._by_real[real] = rest
            else:
                self._by_real.pop(real, None)
        return document

    def _take(self, document: Document, text: str) -> None:
        rule: LineRule = "lsp"
        # All lines of a Macintosh buffer end in \r, and its text therefore does.
        macintosh = "\n" not in text and text.endswith("\r")
        if not self.habits.lone_cr_ends_line and not macintosh:
            rule = "lf"
        end = ""
        if not self.habits.edits_final_newline and not text.endswith(("\n", "\r")):
            end = "\r\n" if line_end(text) == "\r\n" else "\n"
        document.replace(text, rule, end)

    def _tell(self, happening: Happening, document: Document) -> None:
        for callback, wanted in tuple(self._callbacks):
            if happening in wanted:
                callback(document)


def _real(path: str | None) -> Path | None:
    if path is None or "\0" in path:
        return None
    try:
        return Path(os.path.realpath(path))
    except (OSError, ValueError):
        return None


def _is_one(real: Path | None, path: str) -> bool:
    """Whether two paths of one key are one file: where case does not count it may be two."""
    if not CASELESS or real is None or str(real) == path:
        return True
    try:
        return real.samefile(path)
    except OSError:
        return True
