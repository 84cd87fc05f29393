"""What came of a step of the review, in words."""

from __future__ import annotations

import pytest

from acp_sidecar.editor.outcome import Done, Step, outcome
from acp_sidecar.workspace.changes import Reviewed


def told(step: Step, *parts: Reviewed) -> tuple[str, bool]:
    answer = outcome(step, [Done("s", part) for part in parts])
    return answer["text"], answer["partial"]


@pytest.mark.parametrize(
    ("step", "came", "text"),
    [
        ("keep", Reviewed(kept=("a",)), "Kept 1 change."),
        ("revert", Reviewed(reverted=("a",) * 1000), "Reverted 1,000 changes."),
        ("restore", Reviewed(reverted=("a",)), "Restored 1 change."),
        ("undo", Reviewed(kept=("a", "b")), "2 changes wait again."),
        ("undo", Reviewed(reverted=("a",)), "Brought 1 change back."),
    ],
)
def test_what_was_done_is_told_in_a_sentence(step: Step, came: Reviewed, text: str) -> None:
    assert told(step, came) == (text, False)


@pytest.mark.parametrize("step", ["keep", "revert", "undo", "restore"])
def test_that_nothing_was_done_is_told_as_well(step: Step) -> None:
    text, partial = told(step, Reviewed())
    assert text.endswith(".")
    assert "0" not in text
    assert not partial


def test_several_parts_are_told_as_one() -> None:
    assert told("keep", Reviewed(kept=("a",)), Reviewed(kept=("b", "c"))) == (
        "Kept 3 changes.",
        False,
    )


def test_conflicts_and_problems_are_told_as_what_was_not_done() -> None:
    came = Reviewed(reverted=("a",), conflicts=("b",), problems=("b.py: no\u202e room",))
    text, partial = told("revert", came)
    assert partial
    assert text == (
        "Reverted 1 change. You have edited the same lines as 1 change: it stays as it is. "
        "b.py: no\\u202e room."
    )


def test_what_takes_a_step_back_is_what_was_done_the_last_part_first() -> None:
    done = [
        Done("one", Reviewed(kept=("a",))),
        Done("none", Reviewed(conflicts=("b",))),
        Done("two", Reviewed(kept=("c",))),
    ]
    assert outcome("keep", done)["undo"] == [{"sessionId": "two"}, {"sessionId": "one"}]
    assert outcome("undo", done)["undo"] == []
