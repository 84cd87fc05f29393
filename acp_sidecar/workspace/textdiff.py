"""Two texts to the smallest edits between them, their hunks, and three-way merges.

Edits: equal characters at both ends go first, then the lines between are aligned
(:mod:`acp_sidecar.workspace.sequences`), then words within a changed stretch where that
leaves most of it standing.

Where that would take too long the edits get longer, never wrong. A stretch longer than
``_WORDS_UP_TO`` characters, one in a line longer than that, and one of more than
``_WORDS_OF_LINES`` lines or ``_WORD_EDITS`` words that differ, is only trimmed: one edit from
its first to its last difference. Lines in which the
search has spent its budget (:mod:`acp_sidecar.workspace.sequences`) are replaced as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from attrs import frozen

from acp_sidecar.workspace.positions import (
    Encoding,
    LineIndex,
    LineRule,
    Range,
    TextEdit,
    split_lines,
)
from acp_sidecar.workspace.sequences import (
    Block,
    Steps,
    changed_blocks,
    common_prefix,
    common_suffix,
)

_WORDS_UP_TO: Final = 1 << 17
"""Characters of a changed stretch that is compared word by word."""
_WORDS_OF_LINES: Final = 400
"""More changed lines in a row have been written anew."""
_WORD_EDITS: Final = 256
"""More changed words in a stretch are replaced together with what is between them."""
_EDIT_IS_WORTH: Final = 16
"""Characters that an edit more has to leave alone."""
# From the first \r on only: else a text of nothing but those is gone through again at each.
_ENDS: Final = re.compile(r"(?<!\r)\r+\n")
_WORD: Final = re.compile(r"\r\n|\w+|[^\w]")


@frozen
class Hunk:
    """Lines that differ; 0-based starts and counts, as LSP counts lines."""

    before_start: int
    before_lines: int
    after_start: int
    after_lines: int


def edits(old: str, new: str, encoding: Encoding, rule: LineRule = "lsp") -> list[TextEdit]:
    """The edits that turn ``old`` into ``new``, byte for byte.

    All positions refer to ``old`` and count in ``encoding``. They are sorted, do not
    touch one another, and never fall inside of a ``\\r\\n`` or a character. Where both
    texts end in the same line end none lies behind it: editors that do not take it for a
    part of the text leave an empty line there. Of equal texts there are none.
    """
    if old == new:
        return []
    index = LineIndex.of(old, encoding, rule)
    final = _common_line_end(old, new)
    old, new = old[: len(old) - final], new[: len(new) - final]
    head, old_tail, new_tail = _trim(old, new)
    old_middle, new_middle = old[head:old_tail], new[head:new_tail]
    # Words are compared stretch by stretch, and there may be very many stretches.
    steps = Steps()
    if "\n" not in old_middle and "\r" not in old_middle:
        # A change within one line: no lines to align. In a long one each edit is dear, since
        # all before it has to be gone through to say where it is, and by the editor to find it.
        if _line_length(old, head) > _WORDS_UP_TO:
            spans = [(head, old_tail, new_middle)]
        else:
            spans = list(_within(old_middle, new_middle, head, steps))
    else:
        spans = list(_spans(old, new, head, old_tail, new_tail, steps))
    return [
        TextEdit(Range(index.position(start), index.position(end)), text)
        for start, end, text in spans
    ]


def hunks(old: str, new: str) -> list[Hunk]:
    """The stretches of lines in which two texts differ, in order."""
    return [
        Hunk(a0, a1 - a0, b0, b1 - b0)
        for a0, a1, b0, b1 in changed_blocks(split_lines(old), split_lines(new))
    ]


def merge3(base: str, ours: str, theirs: str) -> str | None:
    """``ours`` with the changes that lead from ``base`` to ``theirs``, line by line.

    None where the two sides changed the same lines in different ways, or put different
    lines at the same place: nobody but a person can decide that.
    """
    if ours == theirs or base == theirs:
        return ours
    if base == ours:
        return theirs
    lines = split_lines(base), split_lines(ours), split_lines(theirs)
    pieces = _merged(*lines, changed_blocks(lines[0], lines[1]), changed_blocks(lines[0], lines[2]))
    if pieces is None:
        return None
    whole = "".join(pieces)
    # Lines that lost their terminator to one side must not run into the other's.
    return whole if split_lines(whole) == pieces else None


def fit(text: str, like: str) -> str:
    """``text`` with the line ends of ``like``.

    Lines that both have stay as they are in ``like``, byte for byte; all others end the
    way most lines of ``like`` do. Only line ends change, and only where ``like`` has any.
    A ``\\r`` alone is a line end only in a text without ``\\n``; those before a ``\\n`` belong
    to its line end.
    """
    if text == like or ("\r" not in text and "\r" not in like):
        return text
    most = line_end(like)
    if most is None:
        return text
    plain = _ENDS.sub("\n", text)
    if most == "\r":
        return plain.replace("\n", "\r")
    if "\r\r\n" not in like and like.count("\r\n") in (0, like.count("\n")):
        return plain if most == "\n" else plain.replace("\n", "\r\n")
    theirs = split_lines(like, "lf")
    ours = split_lines(plain, "lf")
    result = [line[:-1] + most if line.endswith("\n") else line for line in ours]
    for a, b, length in _kept([_ENDS.sub("\n", line) for line in theirs], ours):
        result[b : b + length] = theirs[a : a + length]
    return "".join(result)


def line_end(text: str) -> str | None:
    """How most lines of ``text`` end; None where no line does."""
    windows = text.count("\r\n")
    unix = text.count("\n") - windows
    if windows or unix:
        if windows == unix:
            return "\r\n" if text[text.index("\n") - 1 : text.index("\n")] == "\r" else "\n"
        return "\r\n" if windows > unix else "\n"
    return "\r" if "\r" in text else None


def same_text(a: str, b: str) -> bool:
    """Whether two texts are equal but for how their lines end."""
    if a == b:
        return True
    if "\r" not in a and "\r" not in b:
        return False
    return _unix(a) == _unix(b)


def _unix(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _kept(a: Sequence[str], b: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """What two sequences share, as (place in ``a``, place in ``b``, length)."""
    i = j = 0
    for a0, a1, _, b1 in (*changed_blocks(a, b), (len(a), len(a), len(b), len(b))):
        if a0 > i:
            yield i, j, a0 - i
        i, j = a1, b1


def _merged(
    base: list[str],
    ours: list[str],
    theirs: list[str],
    our_blocks: list[Block],
    their_blocks: list[Block],
) -> list[str] | None:
    pieces: list[str] = []
    done = i = j = 0
    while i < len(our_blocks) or j < len(their_blocks):
        mine = our_blocks[i] if i < len(our_blocks) else None
        other = their_blocks[j] if j < len(their_blocks) else None
        if mine and other and _collide(mine, other):
            same = ours[mine[2] : mine[3]] == theirs[other[2] : other[3]]
            if mine[:2] != other[:2] or not same:
                return None
            j += 1
            other = None
        # Of two that start at one place the insertion comes first.
        if mine and (other is None or mine[:2] < other[:2]):
            block, source = mine, ours
            i += 1
        else:
            assert other is not None
            block, source = other, theirs
            j += 1
        pieces += base[done : block[0]]
        pieces += source[block[2] : block[3]]
        done = block[1]
    return pieces + base[done:]


def _collide(one: Block, two: Block) -> bool:
    if one[:2] == two[:2]:
        return True
    return one[0] < two[1] and two[0] < one[1]


def _common_line_end(old: str, new: str) -> int:
    """The length of the line end in which both texts end; 0 where it is not the same."""
    for end in ("\r\n", "\n", "\r"):
        if old.endswith(end) or new.endswith(end):
            return len(end) if old.endswith(end) and new.endswith(end) else 0
    return 0


def _trim(old: str, new: str) -> tuple[int, int, int]:
    """Where the difference starts, and where it ends in either text."""
    head = common_prefix(old, new)
    if head and old[head - 1] == "\r" and "\n" in (old[head : head + 1], new[head : head + 1]):
        head -= 1
    tail = common_suffix(old[head:], new[head:])
    old_tail, new_tail = len(old) - tail, len(new) - tail
    if tail and old[old_tail] == "\n" and "\r" in (_before(old, old_tail), _before(new, new_tail)):
        old_tail += 1
        new_tail += 1
    return head, old_tail, new_tail


def _before(text: str, offset: int) -> str:
    return text[offset - 1 : offset]


def _spans(
    old: str, new: str, head: int, old_tail: int, new_tail: int, steps: Steps
) -> Iterator[tuple[int, int, str]]:
    """Replacements as (start, end, text), offsets in ``old``; lines first, then words."""
    start = _line_start(old, head)
    old_end, new_end = _line_ends(old, new, old_tail, new_tail)
    old_lines = split_lines(old[start:old_end])
    new_lines = split_lines(new[start:new_end])
    offset, done = start, 0
    for a0, a1, b0, b1 in changed_blocks(old_lines, new_lines):
        offset += sum(map(len, old_lines[done:a0]))
        before = "".join(old_lines[a0:a1])
        yield from _within(before, "".join(new_lines[b0:b1]), offset, steps)
        offset += len(before)
        done = a1


def _line_start(text: str, offset: int) -> int:
    return text.rfind("\n", 0, offset) + 1


def _line_length(text: str, offset: int) -> int:
    """Of the line, or of those that end in a ``\\r`` alone, around an offset."""
    end = text.find("\n", offset)
    return (len(text) if end < 0 else end) - _line_start(text, offset)


def _line_ends(old: str, new: str, old_tail: int, new_tail: int) -> tuple[int, int]:
    """The end of the line the difference ends in, on either side."""
    newline = old.find("\n", old_tail)
    if newline < 0:
        return len(old), len(new)
    return newline + 1, new_tail + (newline + 1 - old_tail)


def _within(old: str, new: str, offset: int, steps: Steps) -> Iterator[tuple[int, int, str]]:
    """Replacements inside of a changed stretch that starts at ``offset``."""
    head, old_tail, new_tail = _trim(old, new)
    old, new = old[head:old_tail], new[head:new_tail]
    offset += head
    worth_it = max(len(old), len(new)) <= _WORDS_UP_TO and old.count("\n") <= _WORDS_OF_LINES
    if old and new and worth_it:
        before, after = _WORD.findall(old), _WORD.findall(new)
        blocks = changed_blocks(before, after, steps)
        put_in = sum(len(word) for _, _, b0, b1 in blocks for word in after[b0:b1])
        worth_it = len(new) - put_in > _EDIT_IS_WORTH * (len(blocks) - 1) > 0
        if worth_it and len(blocks) <= _WORD_EDITS:
            done = 0
            for a0, a1, b0, b1 in blocks:
                offset += sum(map(len, before[done:a0]))
                taken = "".join(before[a0:a1])
                put = "".join(after[b0:b1])
                inner, taken_end, put_end = _trim(taken, put)
                yield offset + inner, offset + taken_end, put[inner:put_end]
                offset += len(taken)
                done = a1
            return
    if old or new:
        yield offset, offset + len(old), new
