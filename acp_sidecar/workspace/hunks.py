"""The agent's changes of one text as a list of hunks, and what becomes of them.

A hunk says which lines the agent has put in the place of which. All else in the text is
the user's, or was there before, so that what the text would say without the agent's changes
(the baseline) follows from the text and its hunks. When the text changes the hunks go along:
what the agent does makes hunks or joins those it touches, what the user does elsewhere moves
them, and where the user changes lines of a hunk that hunk is in conflict.

Lines have their terminators and end as LSP says. Starts are 0-based. Everything here is
a function of its arguments, in time that grows with the length of the text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal, TypeAlias

from attrs import evolve, frozen

from acp_sidecar.workspace.sequences import Block, changed_blocks, common_prefix, common_suffix
from acp_sidecar.workspace.shelf import Piece
from acp_sidecar.workspace.texts import BOM

Who: TypeAlias = Literal["agent", "user", "review"]
"""Whose change it is; ``review``: something was taken back, on behalf of the user."""

Namer: TypeAlias = Callable[[Sequence[str], Sequence[str]], str]
"""Gives a new id to a hunk that has replaced the first lines by the second ones."""


@frozen
class Patch:
    """One hunk: ``count`` lines of the text, from ``start`` on, stand for those in ``before``."""

    id: str
    start: int
    count: int
    before: Piece
    left: Piece | None = None
    """What the agent left there, where the user has changed it since."""
    tangled: bool = False
    """Whether the agent went on where the user had changed its lines."""

    @property
    def conflict(self) -> bool:
        return self.tangled or self.left is not None

    @property
    def end(self) -> int:
        return self.start + self.count

    @property
    def growth(self) -> int:
        """Lines that the text has more than the baseline because of it."""
        return self.count - self.before.count


def differences(before: Sequence[str], after: Sequence[str], name: Namer) -> tuple[Patch, ...]:
    """The hunks of a text that said ``before`` as a whole and was changed by the agent."""
    return tuple(
        Patch(name(before[a0:a1], after[b0:b1]), b0, b1 - b0, Piece.of(before[a0:a1]))
        for a0, a1, b0, b1 in changed_blocks(before, after)
    )


def without(
    lines: Sequence[str], patches: Sequence[Patch], chosen: Callable[[Patch], bool]
) -> tuple[list[str], tuple[Patch, ...]]:
    """The text with the chosen hunks taken back, and the hunks that are left in it."""
    result: list[str] = []
    left: list[Patch] = []
    done = 0
    for patch in patches:
        result += lines[done : patch.start]
        if chosen(patch):
            result += patch.before.lines()
        else:
            left.append(evolve(patch, start=len(result)))
            result += lines[patch.start : patch.end]
        done = patch.end
    result += lines[done:]
    _terminate(result)
    return result, tuple(left)


def inverse(lines: Sequence[str], patches: Sequence[Patch]) -> tuple[list[str], tuple[Patch, ...]]:
    """The baseline, and the hunks that lead from there to the text: the same ids."""
    before, _ = without(lines, patches, lambda patch: True)
    turned: list[Patch] = []
    grown = 0
    for patch in patches:
        now = Piece.of(lines[patch.start : patch.end])
        start = patch.start - grown
        turned.append(Patch(patch.id, start, patch.before.count, now, tangled=patch.conflict))
        grown += patch.growth
    return before, tuple(turned)


def marked(lines: Sequence[str], patches: tuple[Patch, ...]) -> tuple[Patch, ...]:
    """The hunks of a text, now that it turns out to begin with a byte order mark: its
    baseline does so too."""
    if not patches or patches[0].start:
        return patches
    first, *others = patches
    before = first.before.lines()
    if before:
        if before[0].startswith(BOM):
            return patches
        return (evolve(first, before=Piece.of((BOM + before[0], *before[1:]))), *others)
    below = lines[first.end : first.end + 1]
    if others and others[0].start == first.end:
        return patches
    before = (BOM + "".join(below),)
    return (evolve(first, before=Piece.of(before), count=first.count + len(below)), *others)


def moved(
    old: Sequence[str],
    new: Sequence[str],
    patches: Sequence[Patch],
    who: Who,
    name: Namer,
    *,
    loosely: bool = False,
) -> tuple[Patch, ...]:
    """The hunks of a text that said ``old``, now that it says ``new``.

    ``loosely``: how lines end is no difference, since the text comes from elsewhere than
    before (from a buffer instead of the disk).
    """
    step = _Step(old, new, who, name, loosely)
    touching = who == "agent"
    blocks = changed_blocks(step.key(old), step.key(new))
    result: list[Patch] = []
    for hit, moves in _groups(patches, blocks, touching):
        if hit and not moves:
            result += [evolve(patch, start=patch.start + step.grown) for patch in hit]
        elif moves and not hit:
            result += step.alone(moves[0])
        else:
            result += step.together(hit, moves)
    return tuple(result)


class _Step:
    """One change of a text, on its way through it from the top."""

    def __init__(
        self, old: Sequence[str], new: Sequence[str], who: Who, name: Namer, loosely: bool
    ) -> None:
        self.grown = 0
        """Lines that the new text has more, up to here."""
        self._old = old
        self._new = new
        self._who = who
        self._name = name
        self._loosely = loosely

    def key(self, lines: Sequence[str]) -> Sequence[str]:
        if not self._loosely:
            return lines
        keys = [line.rstrip("\r\n") for line in lines]
        if keys:
            keys[0] = keys[0].removeprefix(BOM)
        return keys

    def alone(self, block: Block) -> list[Patch]:
        """A change apart from all hunks: one more, if it is the agent's."""
        a0, a1, b0, b1 = block
        self.grown += (b1 - b0) - (a1 - a0)
        if self._who != "agent":
            return []
        gone, come = self._old[a0:a1], self._new[b0:b1]
        return [Patch(self._name(gone, come), b0, b1 - b0, Piece.of(gone))]

    def together(self, hit: Sequence[Patch], moves: Sequence[Block]) -> list[Patch]:
        """Changes that meet hunks: all of them become one stretch of lines."""
        low = min(hit[0].start, moves[0][0])
        high = max(hit[-1].end, moves[-1][1])
        start = low + self.grown
        self.grown += sum((b1 - b0) - (a1 - a0) for a0, a1, b0, b1 in moves)
        before, left = self._histories(hit, low, high)
        after = self._new[start : high + self.grown]
        tangled = any(patch.tangled for patch in hit)
        if self._who == "user":
            if list(self.key(before)) == list(self.key(after)):
                return []
            if tangled or list(self.key(left)) != list(self.key(after)):
                return [_conflict(hit[0].id, start, before, left, after, tangled)]
        elif any(patch.conflict for patch in hit):
            if before == list(after):
                return []
            if self._who == "agent" or tangled:
                return [_conflict(hit[0].id, start, before, list(after), after, True)]
            return [_conflict(hit[0].id, start, before, left, after, False)]
        return self._anew(hit, start, before, after)

    def _histories(self, hit: Sequence[Patch], low: int, high: int) -> tuple[list[str], list[str]]:
        """What the stretch said before the agent, and what the agent has left there."""
        before: list[str] = []
        left: list[str] = []
        done = low
        for patch in hit:
            between = self._old[done : patch.start]
            before += between
            before += patch.before.lines()
            left += between
            now = self._old[patch.start : patch.end]
            left += now if patch.left is None else patch.left.lines()
            done = patch.end
        return before + list(self._old[done:high]), left + list(self._old[done:high])

    def _anew(
        self, hit: Sequence[Patch], start: int, before: Sequence[str], after: Sequence[str]
    ) -> list[Patch]:
        """Compare a stretch anew. A hunk that comes out as it was keeps its id."""
        known = [(patch, tuple(self._old[patch.start : patch.end])) for patch in hit]
        ids: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
        for patch, now in reversed(known):
            said = now if patch.left is None else patch.left.lines()
            ids.setdefault((patch.before.lines(), said), []).append(patch.id)
        result: list[Patch] = []
        for a0, a1, b0, b1 in changed_blocks(before, after):
            gone, come = tuple(before[a0:a1]), tuple(after[b0:b1])
            same = ids.get((gone, come))
            id_ = same.pop() if same else self._name(gone, come)
            result.append(Patch(id_, start + b0, b1 - b0, Piece.of(gone)))
        return result


def _groups(
    patches: Sequence[Patch], blocks: Sequence[Block], touching: bool
) -> Iterator[tuple[list[Patch], list[Block]]]:
    """Hunks and changes in order, together where they meet (directly or over others)."""
    i = j = 0
    while i < len(patches) or j < len(blocks):
        if i == len(patches):
            yield [], [blocks[j]]
            j += 1
        elif j == len(blocks):
            yield [patches[i]], []
            i += 1
        elif _meet(patches[i], blocks[j], touching):
            hit, moves = [patches[i]], [blocks[j]]
            i += 1
            j += 1
            while True:
                if i < len(patches) and _meet(patches[i], moves[-1], touching):
                    hit.append(patches[i])
                    i += 1
                elif j < len(blocks) and _meet(hit[-1], blocks[j], touching):
                    moves.append(blocks[j])
                    j += 1
                else:
                    break
            yield hit, moves
        elif patches[i].end <= blocks[j][0]:
            yield [patches[i]], []
            i += 1
        else:
            yield [], [blocks[j]]
            j += 1


def _meet(patch: Patch, block: Block, touching: bool) -> bool:
    a0, a1 = block[:2]
    if touching and not patch.conflict:
        return a0 <= patch.end and patch.start <= a1
    if (a0, a1) == (patch.start, patch.end):
        return True
    return a0 < patch.end and patch.start < a1


def _conflict(
    id_: str,
    start: int,
    before: Sequence[str],
    left: Sequence[str],
    after: Sequence[str],
    tangled: bool,
) -> Patch:
    """A hunk in conflict, without the lines that all sides have in common at its ends."""
    head = min(common_prefix(list(before), list(after)), common_prefix(list(left), list(after)))
    before, left, after = before[head:], left[head:], after[head:]
    tail = min(common_suffix(list(before), list(after)), common_suffix(list(left), list(after)))
    before = before[: len(before) - tail]
    left = left[: len(left) - tail]
    count = len(after) - tail
    still = None if tangled else Piece.of(left)
    return Patch(id_, start + head, count, Piece.of(before), still, tangled)


def _terminate(lines: list[str]) -> None:
    """Give a line end to lines that were the last one and are not any more."""
    for number, line in enumerate(lines[:-1]):
        if not line.endswith(("\n", "\r")):
            around = (lines[number - 1] if number else "", lines[number + 1])
            windows = any(other.endswith("\r\n") for other in around)
            lines[number] = line + ("\r\n" if windows else "\n")
