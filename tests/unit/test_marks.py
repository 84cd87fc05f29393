"""Which hunks somebody means who points at lines."""

from __future__ import annotations

from typing import Any, cast

from acp_sidecar.editor.marks import Mark, meant


def mark(name: str, start: int, lines: int) -> Mark:
    return Mark(cast("Any", None), name, start, lines, 1, lines, "waiting", False)


FOUND = [mark("a1", 2, 1), mark("a2", 9, 0)]


def ids(first: int, last: int, found: list[Mark] = FOUND) -> list[str]:
    return [mark.id for mark in meant(found, first, last)]


def test_a_line_means_its_hunk_or_what_was_taken_out_beside_it() -> None:
    assert [ids(line, line) for line in (1, 2, 3, 8, 9, 10)] == [
        [], ["a1"], [], ["a2"], ["a2"], []
    ]  # fmt: skip


def test_a_hunk_that_has_lines_wins_over_what_was_taken_out_beside_it() -> None:
    close = [mark("gone", 3, 0), mark("here", 4, 1), mark("below", 5, 0)]
    assert ids(4, 4, close) == ["here"]
    assert ids(3, 3, close) == ["gone"]


def test_several_lines_mean_every_hunk_on_one_of_them() -> None:
    assert ids(0, 20) == ["a1", "a2"]
    assert ids(3, 8) == []
    assert ids(0, 2) == ["a1"]
