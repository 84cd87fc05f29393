"""Line ends, marks and final newlines: what a write leaves of them, on disk and in a buffer."""

from __future__ import annotations

from pathlib import Path

import pytest

from acp_sidecar.workspace.documents import Documents, Habits, TextChange
from acp_sidecar.workspace.edits import DocumentEdit
from tests.workspace.disk import say
from tests.workspace.files.texts import LINES, problem
from tests.workspace.hand import Hand


@pytest.mark.parametrize(
    ("on_disk", "content", "expected"),
    [
        (b"a\r\nb\r\n", "a\nB\n", b"a\r\nB\r\n"),
        (b"a\r\nb\r\n", "a\nb\nc\n", b"a\r\nb\r\nc\r\n"),
        (b"a\nb\r\nc\r\n", "a\nb\nC\n", b"a\nb\r\nC\r\n"),
        (b"a\nb\n", "a\r\nB\r\n", b"a\nB\n"),
        (b"a\rb\r", "a\nB\n", b"a\rB\r"),
        (b"a\r\nb", "a\nb\n", b"a\r\nb\r\n"),
        (b"@echo off\r\n", "@echo off\nrem\n", b"@echo off\r\nrem\r\n"),
        (b"", "a\r\n", b"a\r\n"),
        (b"\n", "a\r\nb\r\n", b"a\nb\n"),
    ],
)
async def test_F10_an_existing_file_keeps_its_line_ends(
    hand: Hand, tmp_path: Path, on_disk: bytes, content: str, expected: bytes
) -> None:
    path = say(tmp_path / "a.cmd", on_disk)
    files = hand.files()
    await files.write(path, content, seen=on_disk.decode())
    assert path.read_bytes() == expected
    await files.write(path, content, seen=content)
    assert path.read_bytes() == expected, "the same again changes nothing"


async def test_F10_a_new_file_is_what_the_agent_sent(hand: Hand, tmp_path: Path) -> None:
    files = hand.files()
    for number, content in enumerate(["a\r\nb\n", "a\rb", "", "\ufeffa\n", "a\u2028b\x0c\n"]):
        path = tmp_path / "deep" / str(number)
        await files.write(path, content)
        assert path.read_bytes() == content.encode()


async def test_F10_a_merge_into_a_file_of_other_line_ends(hand: Hand, tmp_path: Path) -> None:
    path = say(tmp_path / "a.txt", b"one\r\ntwo\r\nthree\r\nfour\r\n")
    files = hand.files()
    await files.write(path, "zero\none\ntwo\nthree\nfour\n", seen="one\ntwo\nthree\nfour\n")
    await files.write(path, "one\ntwo\nthree\nFOUR\n", seen="one\ntwo\nthree\nfour\n")
    assert path.read_bytes() == b"zero\r\none\r\ntwo\r\nthree\r\nFOUR\r\n"


async def test_F12_the_byte_order_mark_stays_and_is_not_seen(hand: Hand, tmp_path: Path) -> None:
    mark = b"\xef\xbb\xbf"
    path = say(tmp_path / "a.py", mark + b"import os\n")
    files = hand.files()
    seen = await files.read(path)
    assert seen == "import os\n"
    await files.write(path, "import sys\n", seen=seen)
    assert path.read_bytes() == mark + b"import sys\n"
    await files.write(path, "\ufeffimport re\n")
    assert path.read_bytes() == mark + b"import re\n", "not doubled"
    await files.write(path, "x = '\ufeff'\n")
    assert path.read_bytes() == mark + b"x = '" + mark + b"'\n", "elsewhere it is text"
    say(path, mark + mark + b"x")
    assert await files.read(path) == "\ufeffx"


@pytest.mark.parametrize("in_buffer", [False, True])
async def test_F12_the_mark_of_an_open_file(hand: Hand, tmp_path: Path, in_buffer: bool) -> None:
    mark = b"\xef\xbb\xbf"
    path = say(tmp_path / "a.py", mark + b"import os\n")
    files = hand.files()
    text = "\ufeffimport os\n" if in_buffer else "import os\n"
    buffer = hand.open(path, text=text)
    hand.type(buffer, "import", "x = 1\n")
    seen = await files.read(path)
    assert seen == "x = 1\nimport os\n"
    await files.write(path, "\ufeff" + seen.replace("os", "sys"), seen=seen)
    assert buffer.text == text.replace("import", "x = 1\nimport").replace("os", "sys")


@pytest.mark.parametrize(
    "data",
    [
        b"caf\xe9\n",
        "日本語\n".encode("shift_jis"),
        "中文\n".encode("gbk"),
        "text\n".encode("utf-16"),
        "text\n".encode("utf-16-le"),
        "text\n".encode("utf-16-be"),
        "text\n".encode("utf-32"),
        b"\x89PNG\r\n\x1a\n\0\0",
        b"\xff",
        b"ok\n\xed\xa0\x80\n",
    ],
)
async def test_F13_what_is_not_utf8_is_left_alone(hand: Hand, tmp_path: Path, data: bytes) -> None:
    path = say(tmp_path / "a", data)
    files = hand.files()
    assert (await problem(files.read(path))).kind == "encoding"
    assert (await problem(files.write(path, "cafe\n"))).kind == "encoding"
    assert path.read_bytes() == data
    # Open in an editor that knows how to read it.
    hand.open(path, text="as the editor decodes it\n")
    assert (await problem(files.write(path, "cafe\n"))).kind == "encoding"
    assert path.read_bytes() == data


@pytest.mark.parametrize(
    ("before", "content"),
    [
        ("a\nb", "a\nb\n"),
        ("a\nb\n", "a\nb"),
        ("a\nb", "a\nb\nc"),
        ("a\nb\n", "a\nb\nc\n"),
        ("", "a"),
        ("a", ""),
        ("\n", ""),
        ("a\n\n\n", "a\n"),
    ],
)
@pytest.mark.parametrize("dirty", [False, True])
async def test_F14_the_final_newline_is_exact(
    hand: Hand, tmp_path: Path, before: str, content: str, dirty: bool
) -> None:
    path = say(tmp_path / "a", "not this" if dirty else before)
    files = hand.files()
    buffer = hand.open(path)
    if dirty:
        hand.set(buffer, before)
    await files.write(path, content, seen=before)
    assert buffer.text == content
    assert path.read_text() == ("not this" if dirty else content)
    lines = before.split("\n")
    for edit in (one for request in hand.edits for one in request.edits):
        assert edit.range.end.line < len(lines)
        assert edit.range.end.character <= len(lines[edit.range.end.line])


async def test_F14_an_editor_that_keeps_the_final_newline_to_itself(tmp_path: Path) -> None:
    """Neovim: an edit that adds one leaves an empty line, one that takes it does nothing."""
    hand = Hand(Documents(Habits.of("Neovim")))
    files = hand.files()
    path = say(tmp_path / "a", "a\nb")
    buffer = hand.open(path)
    hand.set(buffer, "a\nB")
    await files.write(path, "a\nB\nc\n", seen="a\nB")
    assert buffer.text == "a\nB\nc", "the buffer's option says that there is no newline"
    hand.set(buffer, "a\nB\n")
    await files.write(path, "x\nB", seen="a\nB\n")
    assert buffer.text == "x\nB\n"
    edits_so_far = len(hand.edits)
    await files.write(path, "x\nB", seen="x\nB\n")
    assert len(hand.edits) == edits_so_far, "nothing an edit could do"


async def test_F14_an_empty_buffer_of_neovim_is_an_empty_file(tmp_path: Path) -> None:
    hand = Hand(Documents(Habits.of("Neovim")))
    files = hand.files()
    path = say(tmp_path / "a", "")
    buffer = hand.open(path, text="\n")
    await files.write(path, "a\n", seen="")
    assert path.read_text() == "a\n"
    assert buffer.text == "a\n"


@pytest.mark.parametrize("dos", [True, False])
async def test_G11_edits_end_lines_as_the_buffer_does(
    hand: Hand, tmp_path: Path, dos: bool
) -> None:
    """Decision: edits carry the document's own line ends. An editor that owns them (Neovim,
    VS Code) makes them its own again, one that takes edits literally is served right."""
    path = say(tmp_path / "a.cmd", b"a\r\nb\r\nc\r\n")
    files = hand.files()
    buffer = hand.open(path)
    buffer.dos = dos
    hand.type(buffer, "a", "typed\r\n")
    await files.write(path, "typed\na\nB\nb2\nc\n", seen="typed\na\nb\nc\n")
    assert buffer.text == "typed\r\na\r\nB\r\nb2\r\nc\r\n"
    for edit in (one for request in hand.edits for one in request.edits):
        assert edit.new_text.count("\n") == edit.new_text.count("\r\n")


async def test_G11_an_agent_that_sends_crlf_leaves_no_cr_in_a_unix_buffer(
    hand: Hand, tmp_path: Path
) -> None:
    path = say(tmp_path / "a.txt", LINES)
    files = hand.files()
    buffer = hand.open(path)
    hand.type(buffer, "one", "typed\n")
    seen = await files.read(path)
    await files.write(path, (seen + "six\n").replace("\n", "\r\n"), seen=seen)
    assert buffer.text == "typed\n" + LINES + "six\n"


async def test_F10_an_editor_that_shows_mixed_line_ends_as_one(hand: Hand, tmp_path: Path) -> None:
    """VS Code has one kind of line end a document; the file on disk keeps both."""
    path = say(tmp_path / "a.txt", b"a\nb\r\nc\r\n")
    files = hand.files()
    buffer = hand.open(path, text="a\r\nb\r\nc\r\n")
    buffer.dos = True
    assert await files.read(path) == "a\nb\r\nc\r\n", "clean: what the disk says"
    await files.write(path, "a\nb\nC\n")
    assert path.read_bytes() == b"a\nb\r\nC\r\n"
    assert buffer.text == "a\r\nb\r\nC\r\n"
    document = hand.documents.get(buffer.uri)
    assert document is not None
    assert not document.dirty


async def test_D19_unsaved_text_with_a_lone_cr_is_not_edited_by_guess(
    hand: Hand, tmp_path: Path
) -> None:
    path = say(tmp_path / "a", b"a\rb\nc\nd\n")
    files = hand.files()
    buffer = hand.open(path)
    hand.type(buffer, "d", "typed ")
    seen = await files.read(path)
    refusal = await problem(files.write(path, seen.replace("c", "C"), seen=seen))
    assert refusal.kind == "refused_by_editor"
    assert hand.edits == []
    hand.save(buffer)
    await files.write(path, seen.replace("c", "C"), seen=seen)
    assert path.read_bytes() == b"a\rb\nC\ntyped d\n"


async def test_D19_an_editor_known_to_take_a_lone_cr_for_a_character(tmp_path: Path) -> None:
    hand = Hand(Documents(Habits.of("Neovim")))
    files = hand.files()
    path = say(tmp_path / "a", b"a\rb\nc\nd\n")
    buffer = hand.open(path)
    hand.documents.change(buffer.uri, 2, [TextChange(None, "a\rb\nc\ntyped d\n")])
    buffer.text, buffer.version = "a\rb\nc\ntyped d\n", 2

    async def counts_like_neovim(hand: Hand, edit: DocumentEdit) -> object:
        assert [one.range.start.line for one in edit.edits] == [1]
        hand.set(buffer, buffer.text.replace("c", "C"))
        return None

    hand.manner = counts_like_neovim
    seen = await files.read(path)
    await files.write(path, seen.replace("c", "C"), seen=seen)
    assert buffer.text == "a\rb\nC\ntyped d\n"
    edits = len(hand.edits)
    refusal = await problem(files.write(path, "a\rb\nx\ry\n", seen=buffer.text))
    assert refusal.kind == "refused_by_editor"
    assert len(hand.edits) == edits


async def test_D20_a_small_change_of_a_big_buffer_is_a_small_edit(
    hand: Hand, tmp_path: Path
) -> None:
    lines = [f"line {number}\n" for number in range(20_000)]
    path = say(tmp_path / "a", "".join(lines))
    files = hand.files()
    buffer = hand.open(path)
    hand.type(buffer, "line 0", "typed\n")
    seen = await files.read(path)
    await files.write(path, seen.replace("line 12345\n", "line 12345!\n"), seen=seen)
    [request] = hand.edits
    [edit] = request.edits
    assert edit.new_text == "!"
    assert edit.range.start == edit.range.end
    assert buffer.text == seen.replace("line 12345\n", "line 12345!\n")
