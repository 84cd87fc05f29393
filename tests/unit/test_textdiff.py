"""Two texts to edits, to hunks, and three to one."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import pairwise
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_sidecar.workspace import sequences, textdiff
from acp_sidecar.workspace.positions import (
    Encoding,
    LineRule,
    Position,
    Range,
    TextEdit,
    apply_edits,
    split_lines,
)
from acp_sidecar.workspace.textdiff import edits, fit, hunks, line_end, merge3, same_text

pieces = st.sampled_from(
    ["a", "b", "é", "日", "😀", "😁", " ", "\n", "\r", "\r\n", "\u2028", "\x0c", "foo\n", "bar\r\n"]
)
texts = st.one_of(
    st.lists(pieces, max_size=30).map("".join),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=40),
)
encodings = st.sampled_from(get_args(Encoding))
rules = st.sampled_from(get_args(LineRule))


def _size(some: list[TextEdit]) -> int:
    return sum(len(edit.new_text) for edit in some)


@given(texts, texts, encodings, rules)
def test_edits_turn_the_one_text_into_the_other(
    old: str, new: str, encoding: Encoding, rule: LineRule
) -> None:
    found = edits(old, new, encoding, rule)
    assert apply_edits(old, found, encoding, rule) == new
    assert (not found) == (old == new)
    for one, two in pairwise(found):
        assert one.range.end < two.range.start, "apart from one another, in order"


@given(st.data(), encodings)
def test_edits_of_long_texts_with_scattered_changes(
    data: st.DataObject, encoding: Encoding
) -> None:
    numbers = random.Random(data.draw(st.integers(0, 2**32)))
    lines = [numbers.choice(["}\n", "\n", f"line {n} é😀\r\n", "x = 1\r"]) for n in range(300)]
    old = "".join(lines)
    for _ in range(data.draw(st.integers(1, 12))):
        place = numbers.randrange(len(lines))
        lines[place : place + numbers.randrange(4)] = [
            numbers.choice(["}\n", "new 😀\n", "\r\n", "y"]) for _ in range(numbers.randrange(4))
        ]
    new = "".join(lines)
    assert apply_edits(old, edits(old, new, encoding), encoding) == new


@given(texts, texts)
def test_edits_fall_into_no_character_and_no_line_end(old: str, new: str) -> None:
    lines = split_lines(old)
    for edit in edits(old, new, "utf-16"):
        for position in (edit.range.start, edit.range.end):
            if position.line == len(lines):
                assert position.character == 0
                continue
            units = lines[position.line].encode("utf-16-le")
            before, after = units[: position.character * 2], units[position.character * 2 :]
            assert before.decode("utf-16-le") + after.decode("utf-16-le") == lines[position.line]
            assert not (before.endswith(b"\r\0") and after.startswith(b"\n\0"))


def test_D20_one_changed_word_is_one_small_edit() -> None:
    lines = [f"def function_{number}(argument):\n" for number in range(20_000)]
    old = "".join(lines)
    lines[12_345] = lines[12_345].replace("argument", "value")
    assert edits(old, "".join(lines), "utf-16") == [
        TextEdit(Range(Position(12_345, 19), Position(12_345, 27)), "value")
    ]


def test_D20_changes_far_apart_are_edits_of_their_own() -> None:
    lines = [f"line {number}\n" for number in range(1000)]
    old = "".join(lines)
    lines[10] = "line ten\n"
    del lines[500]
    lines.insert(900, "added\n")
    found = edits(old, "".join(lines), "utf-8")
    assert len(found) == 3
    assert _size(found) < 20


def test_D20_two_words_of_a_line_leave_what_is_between() -> None:
    old = "call(first, " + ", ".join(f"argument_{number}" for number in range(50)) + ", last)\n"
    found = edits(old, old.replace("first", "one").replace("last", "two"), "utf-16")
    assert [edit.new_text for edit in found] == ["one", "two"]


def test_D20_what_has_nothing_in_common_is_one_edit() -> None:
    assert len(edits("alpha beta\n" * 3, "gamma\ndelta\n", "utf-16")) == 1


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("a\nb", "a\nb\n", [TextEdit(Range(Position(1, 1), Position(1, 1)), "\n")]),
        ("a\nb\n", "a\nb", [TextEdit(Range(Position(1, 1), Position(2, 0)), "")]),
        ("a\nb\n", "a\nb\nc\n", [TextEdit(Range(Position(1, 1), Position(1, 1)), "\nc")]),
        ("a\r\n", "a\r\nb\r\n", [TextEdit(Range(Position(0, 1), Position(0, 1)), "\r\nb")]),
        ("a\nb\n", "a\n", [TextEdit(Range(Position(0, 1), Position(1, 1)), "")]),
        ("a\nb", "a\nb\nc", [TextEdit(Range(Position(1, 1), Position(1, 1)), "\nc")]),
        ("", "a\n", [TextEdit(Range(Position(0, 0), Position(0, 0)), "a\n")]),
        ("a\n", "", [TextEdit(Range(Position(0, 0), Position(1, 0)), "")]),
        ("a\r\n", "a\n", [TextEdit(Range(Position(0, 1), Position(1, 0)), "\n")]),
        ("a\r", "a\r\n", [TextEdit(Range(Position(0, 1), Position(1, 0)), "\r\n")]),
    ],
)
def test_F14_the_end_of_the_text_is_where_it_is(
    old: str, new: str, expected: list[TextEdit]
) -> None:
    assert edits(old, new, "utf-16") == expected


@pytest.mark.parametrize(("encoding", "column"), [("utf-8", 4), ("utf-16", 2), ("utf-32", 1)])
def test_columns_count_in_the_encoding_in_use(encoding: Encoding, column: int) -> None:
    assert edits("😀x\n", "😀y\n", encoding) == [
        TextEdit(Range(Position(0, column), Position(0, column + 1)), "y")
    ]


def test_half_a_surrogate_pair_in_a_buffer_does_no_harm() -> None:
    old, new = "a\ud83d\nb\n", "a\ud83d\nc\n"
    for encoding in get_args(Encoding):
        assert apply_edits(old, edits(old, new, encoding), encoding) == new


# --- in bounded time -----------------------------------------------------------------------


def _scattered() -> tuple[str, str]:
    lines = [f"line {number} of the text\n" for number in range(100_000)]
    old = "".join(lines)
    for place in random.Random(1).sample(range(100_000), 500):
        lines[place] = f"changed {place}\n"
    return old, "".join(lines)


def _one_long_line() -> tuple[str, str]:
    old = "".join(f"word{number} " for number in range(500_000))
    return old, old.replace("word7 ", "x ").replace("word499990 ", "y ")


def _same_lines() -> tuple[str, str]:
    return "same\n" * 30_000, "same\n" * 14_000 + "other\n" + "same\n" * 16_000 + "end\n"


def _rewritten() -> tuple[str, str]:
    return (
        "".join(f"{'}' if n % 3 else n}\n" for n in range(20_000)),
        "".join(f"{'}' if n % 2 else -n}\n" for n in range(20_000)),
    )


def _few_kinds() -> tuple[str, str]:
    numbers = random.Random(2)
    return (
        "".join(numbers.choice("ab") + "\n" for _ in range(50_000)),
        "".join(numbers.choice("ab") + "\n" for _ in range(50_000)),
    )


def _carriage_returns() -> tuple[str, str]:
    old = "".join(f"{number}%\r" for number in range(100_000))
    return old, old.replace("77%", "77 %")


@pytest.mark.parametrize(
    "make",
    [_scattered, _one_long_line, _same_lines, _rewritten, _few_kinds, _carriage_returns],
)
def test_what_would_be_quadratic_work_ends_with_its_budget(
    make: Callable[[], tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    budgets: list[sequences.Steps] = []

    class Counted(sequences.Steps):
        def __init__(self) -> None:
            super().__init__()
            budgets.append(self)

    for module in (sequences, textdiff):
        monkeypatch.setattr(module, "Steps", Counted)
    old, new = make()
    found = edits(old, new, "utf-16")
    assert apply_edits(old, found, "utf-16") == new
    (least,) = sorted(budget.left for budget in budgets)[:1]
    assert least > -2_000, "what was begun is ended, and no more"
    assert len(budgets) <= 3


def test_scattered_changes_of_a_long_text_stay_small() -> None:
    old, new = _scattered()
    found = edits(old, new, "utf-8")
    assert 450 <= len(found) <= 500, "a line each, neighbours together"
    assert _size(found) < 15_000


# --- hunks ----------------------------------------------------------------------------------


@given(texts, texts)
def test_hunks_are_what_differs_between_lines(old: str, new: str) -> None:
    before, after = split_lines(old), split_lines(new)
    rebuilt: list[str] = []
    done = 0
    for hunk in hunks(old, new):
        assert before[done : hunk.before_start] == after[len(rebuilt) : hunk.after_start]
        rebuilt += before[done : hunk.before_start]
        rebuilt += after[hunk.after_start : hunk.after_start + hunk.after_lines]
        done = hunk.before_start + hunk.before_lines
        assert hunk.before_lines or hunk.after_lines
    assert rebuilt + before[done:] == after


# --- three texts ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "merged"),
    [
        ("1\n2\n3\n", "0\n1\n2\n3\n", "1\n2\nthree\n", "0\n1\n2\nthree\n"),
        ("1\n2\n3\n", "1\n2\n3\n", "x\n", "x\n"),
        ("1\n2\n3\n", "x\n", "1\n2\n3\n", "x\n"),
        ("1\n2\n", "1\ntwo\n", "1\ntwo\n", "1\ntwo\n"),
        ("1\n2\n3\n4\n", "1\ntwo\n3\n4\n", "1\ntwo\n3\nfour\n", "1\ntwo\n3\nfour\n"),
        ("1\n2\n3\n", "1\ntwo\n3\n", "1\n2\nthree\n", "1\ntwo\nthree\n"),
        ("1\n2\n", "1\n", "1\n2\n3\n", "1\n3\n"),
        ("1\n2\n", "1\ntwo\n", "1\nzwei\n", None),
        ("1\n2\n", "1\na\n2\n", "1\nb\n2\n", None),
        ("1\n2\n3\n", "1\n3\n", "1\n2x\n3\n", None),
        ("1\n2\n3\n4\n", "1\nx\n4\n", "1\n2\nnew\n3\n4\n", None),
        ("", "a\n", "b\n", None),
        # Neither may run into the other's line.
        ("a\nb\n", "a\nb", "a\nb\nc\n", None),
        ("a\nb", "A\nb", "a\nb\nc", "A\nb\nc"),
    ],
)
def test_F01_two_changes_become_one_text_only_where_that_is_clear(
    base: str, ours: str, theirs: str, merged: str | None
) -> None:
    assert merge3(base, ours, theirs) == merged
    assert merge3(base, theirs, ours) == merged, "it does not matter who was first"


lines_of_letters = st.lists(st.sampled_from("abcdef"), max_size=12).map(
    lambda letters: "".join(f"{letter}\n" for letter in letters)
)


@given(lines_of_letters, lines_of_letters, lines_of_letters)
def test_F01_a_merge_holds_what_either_added(base: str, ours: str, theirs: str) -> None:
    merged = merge3(base, ours, theirs)
    assert merged == merge3(base, theirs, ours)
    if merged is not None:
        # What was not in the base came from one of the two and is still there.
        for side in (ours, theirs):
            for line in set(split_lines(side)) - set(split_lines(base)):
                assert line in split_lines(merged)


@given(texts, texts)
def test_F01_a_merge_with_no_change_is_the_other_text(base: str, other: str) -> None:
    assert merge3(base, base, other) == other
    assert merge3(base, other, base) == other
    assert merge3(base, other, other) == other


# --- line ends --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "like", "result"),
    [
        ("a\nB\n", "a\r\nb\r\n", "a\r\nB\r\n"),
        ("a\r\nB\r\n", "a\nb\n", "a\nB\n"),
        ("a\nB\nc\n", "a\nb\r\nc\r\n", "a\nB\r\nc\r\n"),
        ("a\nX\nb\nc\n", "a\r\nb\nc\n", "a\r\nX\nb\nc\n"),
        ("a\r\nb\n", "a\r\nb\n", "a\r\nb\n"),
        ("a\nB\n", "a\rb\r", "a\rB\r"),
        ("10%\r20%\r30%\nend\n", "10%\r20%\nend\n", "10%\r20%\r30%\nend\n"),
        ("a\r\nb\n", "no line end", "a\r\nb\n"),
        ("a\r\n", "", "a\r\n"),
        ("a\nb", "a\r\nb\r\n", "a\r\nb"),
        ("a\n\n\nb\n", "a\r\nb\r\n", "a\r\n\r\n\r\nb\r\n"),
    ],
)
def test_F10_line_ends_are_the_files_own(content: str, like: str, result: str) -> None:
    assert fit(content, like) == result


@given(texts, texts)
def test_F10_only_line_ends_change(content: str, like: str) -> None:
    fitted = fit(content, like)
    assert fitted.replace("\r", "").replace("\n", "") == content.replace("\r", "").replace("\n", "")
    assert fit(fitted, like) == fitted
    assert fit(like, like) == like


def test_F10_the_end_of_most_lines() -> None:
    assert line_end("a\nb\r\nc\r\n") == "\r\n"
    assert line_end("a\r\nb\n") == "\r\n"
    assert line_end("a\nb\r\n") == "\n"
    assert line_end("a\rb") == "\r"
    assert line_end("a") is None
    assert same_text("a\r\nb\r", "a\nb\n")
    assert not same_text("a\r\nb", "a\nb\n")


@pytest.mark.parametrize("many", [300_000])
def test_a_file_of_nothing_but_carriage_returns_does_not_hang(many: int) -> None:
    old, new = "\r" * many, "\r" * (many - 7)
    assert fit(new, old) == new
    assert apply_edits(old, edits(old, new, "utf-16"), "utf-16") == new
    assert merge3(old, "x" + old, new) is None or merge3(old, "x" + old, new) == "x" + new


def test_lines_in_another_order_do_not_hang() -> None:
    lines = [f"{number} {number % 7}\n" for number in range(60_000)]
    old = "".join(lines)
    random.Random(1).shuffle(lines)
    new = "".join(lines)
    assert apply_edits(old, edits(old, new, "utf-8"), "utf-8") == new


@pytest.mark.parametrize("encoding", get_args(Encoding))
@pytest.mark.parametrize("around", [0, 60_000])
def test_many_changes_in_one_long_line_do_not_hang(encoding: Encoding, around: int) -> None:
    words = [f"\N{GRINNING FACE}w{number}" for number in range(6_000)]
    changed = [word if number % 4 else f"x{word}" for number, word in enumerate(words)]
    beside = "\N{GRINNING FACE} word " * around
    old, new = (f"{beside}{' '.join(some)}{beside}" for some in (words, changed))
    made = edits(old, new, encoding)
    assert len(made) <= 256
    assert apply_edits(old, made, encoding) == new


def test_a_few_words_of_a_long_line_are_edits_of_their_own() -> None:
    words = [f"\N{GRINNING FACE}w{number}" for number in range(3_000)]
    old = " ".join(words)
    new = old.replace("w10 ", "changed ").replace("w2900 ", "changed ")
    made = edits(old, new, "utf-16")
    assert (len(made), _size(made)) == (2, 14)
    assert apply_edits(old, made, "utf-16") == new
