"""What differs between two sequences, in bounded time.

Patience first (elements that occur once on either side and in the same order hold the
alignment), then Myers' greedy search on what lies between, until its budget is spent;
what is left then counts as changed in whole. The result is always right, it is only
longer than need be where the budget ran out.

Bounds: time grows with the length of the sequences plus the budget, never with their
product.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any, Final, TypeAlias, TypeVar

Block: TypeAlias = tuple[int, int, int, int]
"""``a[a0:a1]`` became ``b[b0:b1]``; one of the two may be empty, never both."""

_MYERS_DEPTH: Final = 400
"""Most insertions and deletions searched for in one stretch without anchors."""

_MYERS_STEPS: Final = 400_000
"""Steps of that search in one comparison, over all stretches."""

_PASSES: Final = 24
"""How often, in all, as many elements as both sequences have may be looked at."""

S = TypeVar("S", str, Sequence[Any])


def common_prefix(a: S, b: S) -> int:
    """How many elements ``a`` and ``b`` have in common at their start."""
    low, high = 0, min(len(a), len(b))
    if a[:high] == b[:high]:
        return high
    while high - low > 1:
        middle = (low + high) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle
    return low


def common_suffix(a: S, b: S) -> int:
    """How many elements ``a`` and ``b`` have in common at their end."""
    low, high = 0, min(len(a), len(b))
    ends = len(a), len(b)
    if a[ends[0] - high :] == b[ends[1] - high :]:
        return high
    while high - low > 1:
        middle = (low + high) // 2
        if a[ends[0] - middle : ends[0] - low] == b[ends[1] - middle : ends[1] - low]:
            low = middle
        else:
            high = middle
    return low


class Steps:
    """What searches may still spend that have one budget for all of them."""

    def __init__(self) -> None:
        self.left = _MYERS_STEPS


def changed_blocks(
    a: Sequence[Hashable], b: Sequence[Hashable], steps: Steps | None = None
) -> list[Block]:
    """The stretches in which ``a`` and ``b`` differ: sorted, apart from one another.

    ``steps`` is shared by the comparisons that are part of one; by default each has its own.
    """
    work = _Work((len(a) + len(b) + 64) * _PASSES, steps or Steps())
    blocks: list[Block] = []
    waiting: list[Block] = [(0, len(a), 0, len(b))]
    while waiting:
        a0, a1, b0, b1 = waiting.pop()
        while a0 < a1 and b0 < b1 and a[a0] == b[b0]:
            a0 += 1
            b0 += 1
        while a0 < a1 and b0 < b1 and a[a1 - 1] == b[b1 - 1]:
            a1 -= 1
            b1 -= 1
        if a0 == a1 or b0 == b1:
            if a0 < a1 or b0 < b1:
                blocks.append((a0, a1, b0, b1))
            continue
        work.looked -= a1 - a0 + b1 - b0
        anchors = _anchors(a, b, a0, a1, b0, b1) if work.looked > 0 else []
        if anchors:
            waiting += _between(anchors, a0, a1, b0, b1)
        else:
            blocks += _myers(a, b, a0, a1, b0, b1, work)
    return _joined(sorted(blocks))


class _Work:
    """What a comparison may still spend."""

    def __init__(self, looked: int, steps: Steps) -> None:
        self.looked = looked
        self.steps = steps


def _between(anchors: list[tuple[int, int]], a0: int, a1: int, b0: int, b1: int) -> list[Block]:
    gaps: list[Block] = []
    for i, j in anchors:
        if a0 < i or b0 < j:
            gaps.append((a0, i, b0, j))
        a0, b0 = i + 1, j + 1
    if a0 < a1 or b0 < b1:
        gaps.append((a0, a1, b0, b1))
    return gaps


def _joined(blocks: list[Block]) -> list[Block]:
    joined: list[Block] = []
    for block in blocks:
        if joined and joined[-1][1] == block[0] and joined[-1][3] == block[2]:
            a0, _, b0, _ = joined[-1]
            joined[-1] = (a0, block[1], b0, block[3])
        else:
            joined.append(block)
    return joined


def _anchors(
    a: Sequence[Hashable], b: Sequence[Hashable], a0: int, a1: int, b0: int, b1: int
) -> list[tuple[int, int]]:
    """Pairs of equal elements, each once on its side, in the same order on both."""
    mine, yours = a[a0:a1], b[b0:b1]
    times_in_a, times_in_b = Counter(mine), Counter(yours)
    place_in_a = dict(zip(mine, range(a0, a1), strict=True))
    place_in_b = dict(zip(yours, range(b0, b1), strict=True))
    # A counter keeps the order of first appearance, so the pairs rise in their first place.
    pairs = [
        (place_in_a[element], place_in_b[element])
        for element, times in times_in_a.items()
        if times == 1 and times_in_b.get(element) == 1
    ]
    return _longest_rising(pairs)


def _longest_rising(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest run of ``pairs``, which rise in the first place, rising in the second."""
    places = [j for _, j in pairs]
    if places == sorted(places):
        return pairs
    tails: list[int] = []
    last_of: list[int] = []
    before: list[int] = []
    for number, (_, j) in enumerate(pairs):
        length = bisect_left(tails, j)
        before.append(last_of[length - 1] if length else -1)
        if length == len(tails):
            tails.append(j)
            last_of.append(number)
        else:
            tails[length] = j
            last_of[length] = number
    run: list[tuple[int, int]] = []
    at = last_of[-1] if last_of else -1
    while at >= 0:
        run.append(pairs[at])
        at = before[at]
    run.reverse()
    return run


def _myers(
    a: Sequence[Hashable],
    b: Sequence[Hashable],
    a0: int,
    a1: int,
    b0: int,
    b1: int,
    work: _Work,
) -> list[Block]:
    """Myers, "An O(ND) Difference Algorithm" (1986), greedy, with a limit on D."""
    n, m = a1 - a0, b1 - b0
    furthest = {1: 0}
    history: list[dict[int, int]] = []
    for depth in range(min(n + m, _MYERS_DEPTH) + 1):
        if work.steps.left < 0:
            break
        history.append(dict(furthest))
        for k in range(-depth, depth + 1, 2):
            if k == -depth or (k != depth and furthest[k - 1] < furthest[k + 1]):
                x = furthest[k + 1]
            else:
                x = furthest[k - 1] + 1
            y = x - k
            start = x
            while x < n and y < m and a[a0 + x] == b[b0 + y]:
                x += 1
                y += 1
            furthest[k] = x
            work.steps.left -= 1 + x - start
            if x >= n and y >= m:
                return _trace(history, a0, n, b0, m)
    return [(a0, a1, b0, b1)]


def _trace(history: list[dict[int, int]], a0: int, n: int, b0: int, m: int) -> list[Block]:
    blocks: list[Block] = []
    x, y = n, m
    for depth in range(len(history) - 1, 0, -1):
        furthest = history[depth]
        k = x - y
        down = k == -depth or (k != depth and furthest[k - 1] < furthest[k + 1])
        before = k + 1 if down else k - 1
        from_x = furthest[before]
        from_y = from_x - before
        to_x = from_x if down else from_x + 1
        to_y = to_x - k
        blocks.append((a0 + from_x, a0 + to_x, b0 + from_y, b0 + to_y))
        x, y = from_x, from_y
    blocks.reverse()
    return _joined(blocks)
