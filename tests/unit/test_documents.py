"""The mirror of open documents, against a plain reference and against what editors send."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_sidecar.workspace.documents import Document, Documents, Habits, TextChange
from acp_sidecar.workspace.positions import Encoding, Position, Range

URI = "file:///ws/a.txt"


def at(line: int, character: int, to_line: int | None = None, to: int | None = None) -> Range:
    end = Position(line if to_line is None else to_line, character if to is None else to)
    return Range(Position(line, character), end)


def opened(text: str, *, habits: Habits | None = None, uri: str = URI) -> Documents:
    documents = Documents(habits)
    documents.open(uri, "plaintext", 1, text)
    return documents


def changed(documents: Documents, range_: Range | None, text: str) -> str:
    document = documents.get(URI)
    assert document is not None
    documents.change(URI, document.version + 1, [TextChange(range_, text)])
    return document.text


def _offset(text: str, position: Position, encoding: str) -> int:
    """The specification, read slowly."""
    ends = [match.end() for match in re.finditer(r"\r\n|\n|\r", text)]
    starts = [0, *ends]
    if position.line >= len(starts):
        return len(text)
    start = starts[position.line]
    line = re.match(r"[^\r\n]*", text[start:])
    assert line is not None
    codec, unit = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}[
        encoding
    ]
    done = 0
    for index, character in enumerate(line.group()):
        width = len(character.encode(codec)) // unit
        if done + width > position.character:
            return start + index
        done += width
    return start + len(line.group())


texts = st.lists(
    st.sampled_from(["a", "é", "日", "😀", "\n", "\r", "\r\n", "\u2028", "\x0c", "\x85", "word "]),
    max_size=25,
).map("".join)
positions = st.builds(Position, st.integers(0, 8), st.integers(0, 9))


@given(
    texts,
    st.lists(st.tuples(positions, positions, texts), max_size=6),
    st.sampled_from(get_args(Encoding)),
)
def test_D18_changes_are_those_of_the_specification(
    text: str, changes: list[tuple[Position, Position, str]], encoding: Encoding
) -> None:
    documents = opened(text)
    documents.set_encoding(encoding)
    document = documents.get(URI)
    assert document is not None
    for version, (one, two, new) in enumerate(changes, 2):
        start, end = sorted((one, two))
        # A position between the halves of a character, or past its line, is brought in.
        from_, to = _offset(text, start, encoding), _offset(text, end, encoding)
        text = text[:from_] + new + text[to:]
        documents.change(URI, version, [TextChange(Range(one, two), new)])
        assert document.text == text
        assert document.line_count == len(re.findall(r"\r\n|\n|\r", text)) + 1
        assert "".join(document.lines) == text


@pytest.mark.parametrize(
    "inside", ["\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"]
)
def test_D18_only_three_things_end_a_line(inside: str) -> None:
    documents = opened(f"a{inside}b\nc\n")
    assert changed(documents, at(1, 0, 1, 1), "Z") == f"a{inside}b\nZ\n"


def test_D18_crlf_comes_together_and_apart() -> None:
    documents = opened("a\rb")
    assert changed(documents, at(1, 0), "\n") == "a\r\nb"
    assert changed(documents, at(1, 0), "x") == "a\r\nxb"
    documents = opened("a\n\nb\n")
    assert changed(documents, at(0, 1, 1, 0), "\r") == "a\r\nb\n"
    assert changed(documents, at(1, 0, 1, 1), "c") == "a\r\nc\n"


def test_D19_a_lone_cr_is_a_line_end_for_those_who_follow_the_specification() -> None:
    documents = opened("a\rb\nc\n")
    assert changed(documents, at(1, 0), "X") == "a\rXb\nc\n"
    document = documents.get(URI)
    assert document is not None
    assert document.uncertain
    assert changed(documents, None, "a\nb\n") == "a\nb\n"
    assert not document.uncertain


@pytest.mark.parametrize("name", ["Neovim", "Emacs", "eglot"])
def test_D19_a_lone_cr_is_a_character_for_others(name: str) -> None:
    documents = opened("a\rb\nc\n", habits=Habits.of(name))
    assert changed(documents, at(1, 0), "X") == "a\rb\nXc\n"
    assert changed(documents, at(0, 2, 0, 3), "B") == "a\rB\nXc\n"
    document = documents.get(URI)
    assert document is not None
    assert not document.uncertain
    assert document.line_count == 3
    # Typed in, not only opened with.
    assert changed(documents, at(1, 1), "\r") == "a\rB\nX\rc\n"
    assert changed(documents, at(2, 0), "end") == "a\rB\nX\rc\nend"
    # A file of mixed line ends shows the \r at the end of its line, and can be typed behind.
    documents = opened("a\r\nb\n", habits=Habits.of(name))
    assert changed(documents, at(0, 2), "x") == "a\rx\nb\n"
    # Of a Macintosh buffer all lines end in one.
    documents = opened("a\rb\r", habits=Habits.of(name))
    assert changed(documents, at(1, 0), "X") == "a\rXb\r"


def test_D19_other_clients_keep_the_specification() -> None:
    assert Habits.of("Visual Studio Code") == Habits.of(None) == Habits()


@pytest.mark.parametrize(
    ("range_", "result"),
    [
        (at(0, 99), "ab!\ncd"),
        (at(9, 0), "ab\ncd!"),
        (at(9, 9, 99, 99), "ab\ncd!"),
        (at(1, 2, 0, 1), "a!"),
        (at(0, 1, 9, 9), "a!"),
        (at(-1, 0), "!ab\ncd"),
        (at(0, -5), "!ab\ncd"),
        (at(1, 2**40), "ab\ncd!"),
    ],
)
def test_ranges_that_do_not_fit_are_brought_in(range_: Range, result: str) -> None:
    assert changed(opened("ab\ncd"), range_, "!") == result


def test_F14_past_a_final_newline_is_the_empty_last_line() -> None:
    assert changed(opened("ab\n"), at(1, 0), "!") == "ab\n!"
    assert changed(opened("ab\n"), at(2, 0), "!") == "ab\n!"
    assert changed(opened(""), at(5, 5), "!\n") == "!\n"


def test_F14_neovim_counts_a_last_line_as_ended_that_is_not() -> None:
    """Without ``endofline`` its full text lacks the newline, its changes count it."""
    documents = opened("one\ntwo", habits=Habits.of("Neovim"))
    document = documents.get(URI)
    assert document is not None
    assert document.text == "one\ntwo"
    assert document.line_count == 2
    assert changed(documents, at(1, 3, 2, 0), "\n\n") == "one\ntwo\n"
    assert changed(documents, at(2, 0), "end") == "one\ntwo\nend"
    assert changed(documents, at(2, 0, 3, 0), "") == "one\ntwo"
    documents.save(URI, "one\ntwo\n")
    assert document.text == "one\ntwo\n"
    assert document.line_count == 3
    assert changed(documents, None, "one\r\ntwo") == "one\r\ntwo"
    assert changed(documents, at(1, 3, 2, 0), "\r\n\r\n") == "one\r\ntwo\r\n"


def test_malformed_messages_cost_themselves_only() -> None:
    documents = opened("a\n")
    document = documents.get(URI)
    assert document is not None
    assert documents.change("file:///ws/other", 3, [TextChange(None, "x")]) is None
    assert documents.save("file:///ws/other") is None
    documents.close("file:///ws/other")
    documents.change(URI, 7, [TextChange(None, "b\n")])
    documents.change(URI, 2, [TextChange(None, "c\n")])
    assert (document.version, document.text) == (2, "c\n"), "what the editor says last counts"
    documents.change(URI, None, [])
    assert (document.version, document.text) == (2, "c\n")
    documents.open(URI, "plaintext", 1, "anew\n")
    assert document.closed
    again = documents.get(URI)
    assert again is not None
    assert again.text == "anew\n"
    assert len(documents.all()) == 1
    documents.close(URI)
    documents.close(URI)
    assert documents.all() == []


def test_F05_dirty_is_what_differs_from_the_last_open_or_save() -> None:
    documents = opened("a\n")
    document = documents.get(URI)
    assert document is not None
    assert not document.dirty
    changed(documents, at(0, 0), "b")
    assert document.dirty
    changed(documents, at(0, 0, 0, 1), "")
    assert not document.dirty, "undone is as good as saved"
    changed(documents, at(0, 0), "c")
    documents.save(URI)
    assert not document.dirty
    assert document.last_saved == document.saved_text == "ca\n"
    changed(documents, at(0, 0), "d")
    document.mark_clean()
    assert not document.dirty
    document.mark_dirty()
    assert document.dirty


def test_F05_a_save_that_says_the_text_mends_the_mirror() -> None:
    documents = opened("a\n")
    documents.save(URI, "as the editor has it\n")
    document = documents.get(URI)
    assert document is not None
    assert document.text == "as the editor has it\n"
    assert not document.dirty


def test_P13_a_document_is_found_by_every_way_to_its_file(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir()
    (real / "a.py").write_text("x\n")
    (tmp_path / "link").symlink_to(real)
    (tmp_path / "b.py").symlink_to(real / "a.py")
    documents = Documents()
    linked = documents.open(f"file://{tmp_path}/link/a.py", "python", 1, "x\n")
    assert documents.at(real / "a.py") is linked
    assert documents.at(tmp_path / "link" / "a.py") is linked
    assert documents.at(tmp_path / "b.py") is linked
    assert linked.uri == f"file://{tmp_path}/link/a.py", "spoken of as the editor does"
    twin = documents.open(f"file://{tmp_path}/b.py", "python", 1, "x\n")
    assert set(documents.all_at(real / "a.py")) == {linked, twin}
    documents.change(linked.uri, 2, [TextChange(None, "dirty\n")])
    assert documents.at(real / "a.py") is linked, "the one with unsaved text first"
    documents.close(linked.uri)
    assert documents.at(real / "a.py") is twin


def test_P14_a_document_is_found_by_every_spelling_of_its_uri() -> None:
    documents = opened("a\n", uri="file:///c%3A/ws/a.py")
    document = documents.change("file:///C:/ws/a.py", 2, [TextChange(None, "b\n")])
    assert document is not None
    assert document.text == "b\n"
    assert document.uri == "file:///c%3A/ws/a.py"
    assert documents.at("C:\\ws\\a.py") is document
    documents.close("file:///c:/ws/a.py")
    assert documents.all() == []


@pytest.mark.parametrize("uri", ["untitled:Untitled-1", "git:/ws/a.py", "vscode-remote://h/ws/a"])
def test_P19_documents_that_are_no_files_have_no_path(uri: str) -> None:
    documents = Documents()
    document = documents.open(uri, "plaintext", 1, "x")
    assert document.path is None
    assert document.real is None
    assert documents.get(uri) is document
    assert documents.at("/ws/a.py") is None
    documents.change(uri, 2, [TextChange(at(0, 0), "y")])
    assert document.text == "yx"


def test_callbacks_come_for_what_they_asked_for() -> None:
    documents = Documents()
    seen: list[tuple[str, str]] = []

    def note(kind: str, document: Document) -> None:
        seen.append((kind, document.text))

    stop = documents.subscribe(lambda document: note("any", document))
    documents.subscribe(lambda document: note("saved", document), to=("save",))
    documents.open(URI, "plaintext", 1, "a")
    changed(documents, None, "b")
    documents.save(URI)
    stop()
    stop()
    documents.close(URI)
    assert seen == [("any", "a"), ("any", "b"), ("any", "b"), ("saved", "b")]


def test_many_small_changes_in_a_long_document() -> None:
    documents = opened(
        "".join(f"line {number} of a hundred thousand\n" for number in range(100_000))
    )
    for number in range(5_000):
        line = number * 19 % 100_000
        documents.change(URI, number + 2, [TextChange(at(line, 4, line, 5), "_")])
    document = documents.get(URI)
    assert document is not None
    assert document.text.count("line_") == 5_000


@given(
    texts,
    st.lists(
        st.lists(
            st.builds(
                TextChange,
                st.none() | st.tuples(positions, positions).map(lambda two: Range(*sorted(two))),
                texts,
            ),
            max_size=3,
        ),
        max_size=6,
    ),
    st.sampled_from([Habits(), Habits.of("Neovim")]),
    st.data(),
)
def test_what_a_document_said_since_it_was_last_saved_is_known(
    text: str, messages: list[list[TextChange]], habits: Habits, data: st.DataObject
) -> None:
    documents = opened(text, habits=habits)
    document = documents.get(URI)
    assert document is not None
    document.mark_dirty()
    said = []
    for version, changes in enumerate(messages, 2):
        said.append(document.text)
        documents.change(URI, version, changes)
    assert list(document.past) == said
    if said:
        saved = data.draw(st.sampled_from(said))
        document.mark_saved(saved)
        assert list(document.past) == said[said.index(saved) + 1 :]
    document.mark_clean()
    documents.change(URI, 99, [TextChange(at(0, 0), "typed")])
    documents.change(URI, 100, [TextChange(at(0, 0), "more")])
    assert list(document.past) == ["typed" + (document.saved_text or "")]
