"""A write that waits: what is taken of it is written, what is refused is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_sidecar.workspace.positions import split_lines
from acp_sidecar.workspace.proposal import Proposal
from acp_sidecar.workspace.textdiff import merge3
from acp_sidecar.workspace.texts import FileText, Missing

PATH = Path("/ws/a")
TEXTS = st.lists(st.sampled_from(["a\n", "b\n", "c\r\n", "\n", "d", "é😀\n"]), max_size=12).map(
    lambda lines: "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)
)
ENDS = st.sampled_from(["", "end", "end\n"])


def proposal(old: str, new: str) -> Proposal:
    return Proposal("p", PATH, FileText(old, "disk"), new)


@settings(max_examples=300)
@given(TEXTS, ENDS, TEXTS, ENDS, st.randoms())
def test_any_choice_lies_between_the_two_texts(old, old_end, new, new_end, random) -> None:  # type: ignore[no-untyped-def]
    old, new = old + old_end, new + new_end
    every = proposal(old, new)
    assert every.text() == (old if old != new else new)
    every.decide(every.ids(), take=True)
    assert every.text() == new
    some = proposal(old, new)
    chosen = [id_ for id_ in some.ids() if random.random() < 0.5]
    some.decide(chosen, take=True)
    some.decide(some.ids(), take=False)
    assert (some.taken(), some.waiting()) == (tuple(chosen), ())
    # What was refused is as before, what was taken as proposed: the rest leads to the new text.
    rest = proposal(some.text(), new)
    if chosen:
        assert sum(rest.counts) <= sum(every.counts) + 2
    else:
        assert some.text() == old


@settings(max_examples=300)
@given(TEXTS, TEXTS, TEXTS)
def test_hunks_are_where_their_lines_are_now(old: str, new: str, now: str) -> None:
    every = proposal(old, new)
    lines = split_lines(now)
    for hunk in every.hunks(now):
        place = hunk.hunk
        if hunk.state == "proposed" and merge3(old, now, new) is not None and old != now:
            assert 0 <= place.before_start <= len(lines)
    for hunk in every.hunks(old):
        place = hunk.hunk
        start, end = place.before_start, place.before_start + place.before_lines
        assert (hunk.state, "".join(split_lines(old)[start:end])) == ("proposed", hunk.old)


def test_lines_above_move_a_hunk_and_changes_within_are_a_conflict() -> None:
    waiting = proposal("a\nb\nc\nd\n", "a\nB\nc\nD\n")
    first, second = waiting.hunks("new\na\nb\nc\nd\n")
    assert (first.hunk.before_start, second.hunk.before_start) == (2, 4)
    first, second = waiting.hunks("a\nmine\nc\nd\n")
    assert (first.state, second.state) == ("conflict", "proposed")
    first, _ = waiting.hunks("a\nB\nc\nd\n")
    assert first.state == "proposed"


@pytest.mark.parametrize(("before", "after"), [("", "a\nb\n"), ("a\nb\n", ""), (None, "")])
def test_what_is_all_or_nothing_is_one_hunk(before: str | None, after: str) -> None:
    was = Missing(PATH) if before is None else FileText(before, "disk")
    waiting = Proposal("p", PATH, was, after)
    assert waiting.ids() == ("p.1",)
    assert waiting.text() == (before or "")
    waiting.decide(["p.1"], take=True)
    assert waiting.text() == after


def test_a_decision_is_taken_back_step_by_step() -> None:
    waiting = proposal("a\nb\nc\n", "A\nb\nC\n")
    first, second = waiting.ids()
    assert waiting.decide([first, "nope"], take=True) == (first,)
    assert waiting.decide([first, second], take=False) == (second,)
    assert waiting.undo() == (second,)
    assert (waiting.taken(), waiting.refused(), waiting.waiting()) == ((first,), (), (second,))
    assert waiting.undo() == (first,)
    assert waiting.undo() == ()
