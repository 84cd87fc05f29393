"""Which hunk comes next."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from acp_sidecar.editor.marks import Mark
from acp_sidecar.editor.walk import Stop, onward

A, B, C = Path("/ws/a"), Path("/ws/b"), Path("/ws/c")


def stop(path: Path, name: str, start: int, lines: int) -> Stop:
    nobody = cast("Any", None)
    return Stop(path, path.as_uri(), Mark(nobody, name, start, lines, 1, lines, "waiting", False))


ORDER = [stop(A, "a1", 2, 1), stop(A, "a2", 9, 3), stop(B, "b1", 0, 4)]


def go(
    path: Path | None = None,
    line: int | None = None,
    hunk: str | None = None,
    *,
    back: bool = False,
    order: list[Stop] = ORDER,
) -> str:
    return order[onward(order, hunk, path, line, back=back)].mark.id


def test_forward_it_goes_through_the_file_over_to_the_next_and_round() -> None:
    assert [go(A, line) for line in (0, 2, 8, 9, 50)] == ["a1", "a2", "a2", "b1", "b1"]
    assert go(B, 0) == "a1"


def test_back_it_goes_to_the_last_of_the_file_before_and_round() -> None:
    assert [go(A, line, back=True) for line in (50, 9, 3, 2)] == ["a2", "a1", "a1", "b1"]
    assert go(B, 2, back=True) == "a2"


def test_whoever_is_within_a_hunk_goes_back_to_the_one_before_it() -> None:
    assert go(A, 11, back=True) == "a1"
    assert go(A, 12, back=True) == "a2"


def test_where_lines_were_removed_is_a_place_too() -> None:
    order = [stop(A, "a1", 2, 0), stop(A, "a2", 5, 0)]
    assert go(A, 2, order=order) == "a2"
    assert go(A, 5, back=True, order=order) == "a1"


def test_a_hunk_counts_before_a_line_and_one_that_is_no_more_not_at_all() -> None:
    assert go(A, 0, hunk="a2") == "b1"
    assert go(A, 50, hunk="a2", back=True) == "a1"
    assert go(A, 2, hunk="decided") == "a2"


def test_from_nowhere_it_is_the_first_or_the_last() -> None:
    for path, line in ((None, None), (None, 5), (C, 5), (A, None)):
        assert (go(path, line), go(path, line, back=True)) == ("a1", "b1")


def test_the_only_one_is_gone_to_again() -> None:
    only = ORDER[2:]
    assert go(B, 0, order=only) == go(B, 0, back=True, order=only) == "b1"
