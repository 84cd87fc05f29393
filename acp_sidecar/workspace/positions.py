"""Lines, columns and the three ways LSP counts them.

LSP 3.17/3.18, "Text Documents": a line ends at ``\\n``, ``\\r\\n`` or ``\\r`` and at nothing
else; a character offset counts code units of the negotiated position encoding. Lines
and characters are 0-based. A column past the end of its line means the end of the
line, a line past the end of the text means the end of the text.
"""

from __future__ import annotations

import io
import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Any, Final, Literal, TypeAlias

from attrs import frozen

Encoding: TypeAlias = Literal["utf-8", "utf-16", "utf-32"]

LineRule: TypeAlias = Literal["lsp", "lf"]
"""What ends a line.

``lsp``: ``\\n``, ``\\r\\n`` and ``\\r``, as the specification has it. ``lf``: ``\\n`` alone; a
``\\r`` is a character like any other, which is how Neovim and Emacs count.
"""


_SURROGATE: Final = re.compile("[\ud800-\udfff]")


@frozen(order=True)
class Position:
    """A 0-based line and a 0-based offset in code units of the encoding in use."""

    line: int
    character: int

    def to_json(self) -> dict[str, int]:
        return {"line": self.line, "character": self.character}


@frozen(order=True)
class Range:
    """From ``start`` up to, not including, ``end``."""

    start: Position
    end: Position

    def to_json(self) -> dict[str, Any]:
        return {"start": self.start.to_json(), "end": self.end.to_json()}


@frozen
class TextEdit:
    """Replaces a range of a text."""

    range: Range
    new_text: str

    def to_json(self) -> dict[str, Any]:
        return {"range": self.range.to_json(), "newText": self.new_text}


def split_lines(text: str, rule: LineRule = "lsp") -> list[str]:
    """Lines of ``text``, each with its terminator; ``''`` has none.

    A text that ends with a terminator has one line less than LSP counts: the empty line
    after it is not in the list.
    """
    return list(io.StringIO(text, newline="" if rule == "lsp" else "\n"))


def content_length(line: str, rule: LineRule = "lsp") -> int:
    """Length of a line, in code points, without its terminator."""
    length = len(line)
    if line.endswith("\n"):
        length -= 1
        if rule != "lf" and length and line[length - 1] == "\r":
            length -= 1
    elif rule == "lsp" and line.endswith("\r"):
        length -= 1
    return length


def units(text: str, encoding: Encoding) -> int:
    """How many code units ``text`` has."""
    if encoding == "utf-32" or text.isascii():
        return len(text)
    if encoding == "utf-8":
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def to_index(line: str, character: int, encoding: Encoding) -> int:
    """Code points before the column ``character`` of ``line``.

    A column inside of a character means the place before it, one past the end the end.
    """
    if character <= 0:
        return 0
    if encoding == "utf-32" or line.isascii():
        return min(character, len(line))
    if encoding == "utf-8":
        head = line.encode("utf-8", "surrogatepass")[:character]
        # A cut inside of a character leaves a tail that does not count.
        return sum((byte & 0xC0) != 0x80 for byte in head) - _cut(line, head)
    if _SURROGATE.search(line):
        wide = [2 if each > "\uffff" else 1 for each in line]
        return bisect_right(list(accumulate(wide)), character)
    head = line.encode("utf-16-le")[: 2 * character]
    if head and 0xD8 <= head[-1] < 0xDC:
        head = head[:-2]
    return len(head.decode("utf-16-le"))


def _cut(line: str, head: bytes) -> int:
    whole = line.encode("utf-8", "surrogatepass")
    inside = len(head) < len(whole) and (whole[len(head)] & 0xC0) == 0x80
    return 1 if inside else 0


class LineIndex:
    """Offsets of a text (code points) as LSP positions, and back."""

    def __init__(self, lines: Sequence[str], encoding: Encoding, rule: LineRule = "lsp") -> None:
        """``lines`` as :func:`split_lines` gives them, by the same rule."""
        self._lines = lines
        self._encoding: Encoding = encoding
        self._rule: LineRule = rule
        self._starts = [0, *accumulate(map(len, lines))]
        self._known = (0, 0, 0)
        """The line asked for last, a column of it in code points, and in code units: in a long
        line the next place mostly is a little further on."""

    @classmethod
    def of(cls, text: str, encoding: Encoding, rule: LineRule = "lsp") -> LineIndex:
        return cls(split_lines(text, rule), encoding, rule)

    def position(self, offset: int) -> Position:
        """The position of ``offset``, which is not inside of a line's terminator."""
        line = bisect_right(self._starts, offset) - 1
        if line >= len(self._lines):
            if line and not _terminated(self._lines[-1], self._rule):
                line = len(self._lines) - 1
            else:
                return Position(len(self._lines), 0)
        column = offset - self._starts[line]
        known_line, known_column, known_units = self._known
        if known_line != line or known_column > column:
            known_column = known_units = 0
        between = self._lines[line][known_column:column]
        character = known_units + units(between, self._encoding)
        self._known = (line, column, character)
        return Position(line, character)

    def offset(self, position: Position) -> int:
        """The offset of a position, brought into the text where it lies outside."""
        if position.line < 0:
            return 0
        if position.line >= len(self._lines):
            return self._starts[-1]
        text = self._lines[position.line]
        content = text[: content_length(text, self._rule)]
        return self._starts[position.line] + to_index(content, position.character, self._encoding)


def _terminated(line: str, rule: LineRule) -> bool:
    return line.endswith("\n") or (rule == "lsp" and line.endswith("\r"))


def apply_edits(
    text: str, edits: Sequence[TextEdit], encoding: Encoding, rule: LineRule = "lsp"
) -> str:
    """``text`` after ``edits``, as a client applies them: all refer to ``text`` itself.

    Raises ``ValueError`` where two of them overlap.
    """
    index = LineIndex.of(text, encoding, rule)
    parts: list[str] = []
    done = 0
    for edit in sorted(edits, key=lambda edit: edit.range.start):
        start, end = index.offset(edit.range.start), index.offset(edit.range.end)
        if start < done or end < start:
            raise ValueError("edits overlap")
        parts += (text[done:start], edit.new_text)
        done = end
    return "".join((*parts, text[done:]))
