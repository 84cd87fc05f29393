"""Where a file is written and removed: closed, behind a link, open twice, or no file at all."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from acp_sidecar.workspace.files import FileText, Missing
from acp_sidecar.workspace.uris import path_to_uri
from tests.workspace import hand as manners
from tests.workspace.disk import say
from tests.workspace.files.texts import LINES, problem
from tests.workspace.hand import Hand


async def test_G10_a_file_that_is_not_open_is_written_to_disk(hand: Hand, tmp_path: Path) -> None:
    path = say(tmp_path / "a", LINES)
    say(tmp_path / ".a.swp", b"somebody else's")
    await hand.files().write(path, "new\n", seen=LINES)
    await hand.files().write(tmp_path / "new" / "folder" / "b", "b\n")
    assert path.read_text() == "new\n"
    assert (tmp_path / "new" / "folder" / "b").read_text() == "b\n"
    assert hand.edits == []


async def test_P13_a_file_opened_through_a_link_is_edited_where_it_is_open(
    hand: Hand, tmp_path: Path
) -> None:
    real = say(tmp_path / "real" / "a.py", LINES)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    files = hand.files()
    buffer = hand.open(tmp_path / "link" / "a.py")
    assert "link" in buffer.uri
    hand.type(buffer, "one", "typed\n")
    seen = await files.read(real)
    assert seen.startswith("typed")
    await files.write(real, seen.replace("four", "FOUR"), seen=seen)
    assert hand.edits[0].uri == buffer.uri
    assert "FOUR" in buffer.text
    assert files.uri_of(real) == buffer.uri


async def test_P13_one_file_open_twice(hand: Hand, tmp_path: Path) -> None:
    real = say(tmp_path / "real" / "a.py", LINES)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    files = hand.files()
    one = hand.open(real)
    two = hand.open(tmp_path / "link" / "a.py")
    await files.write(real, LINES.replace("two", "TWO"), seen=LINES)
    assert one.text == two.text == real.read_text() == LINES.replace("two", "TWO")
    hand.type(one, "one", "here ")
    assert (await files.read(real)) == one.text
    hand.type(two, "one", "there ")
    assert (await problem(files.read(real))).kind == "changed"
    assert (await problem(files.write(real, "x"))).kind == "changed"


async def test_P19_documents_that_are_no_files_are_never_written(
    hand: Hand, tmp_path: Path
) -> None:
    files = hand.files()
    hand.documents.open("untitled:Untitled-1", "plaintext", 1, "draft")
    hand.documents.open(f"vscode-remote://h{tmp_path}/a", "plaintext", 1, "remote")
    await files.write(tmp_path / "a", "here\n")
    assert (tmp_path / "a").read_text() == "here\n"
    assert files.open_paths() == []


async def test_a_write_that_is_called_off_leaves_all_or_nothing(hand: Hand, tmp_path: Path) -> None:
    path = say(tmp_path / "a", LINES)
    files = hand.files()
    buffer = hand.open(path)
    hand.type(buffer, "one", "typed\n")
    hand.manner = manners.never_answers
    seen = await files.read(path)
    task = asyncio.create_task(files.write(path, "new\n", seen=seen))
    while not hand.edits:
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    hand.manner = manners.takes_it
    await files.write(path, "new\n", seen=seen)
    assert buffer.text == "new\n"


async def test_put_and_remove_only_touch_what_is_as_expected(hand: Hand, tmp_path: Path) -> None:
    path = say(tmp_path / "a", b"a\r\n")
    files = hand.files()
    said = await files.current(path)
    assert isinstance(said, FileText)
    say(path, "b\n")
    assert (await problem(files.put(path, "x", expected=said))).kind == "changed"
    assert (await problem(files.remove(path, expected=said))).kind == "changed"
    assert (await problem(files.put(path, "x", expected=Missing(path)))).kind == "changed"
    assert path.read_text() == "b\n"
    now = await files.current(path)
    await files.put(path, "a\r\n", expected=now, bom=True)
    assert path.read_bytes() == b"\xef\xbb\xbfa\r\n", "exactly, line ends too"
    now = await files.current(path)
    assert isinstance(now, FileText)
    await files.remove(path, expected=now)
    assert not path.exists()
    await files.put(path, b"\xff\0", expected=Missing(path), mode=0o640)
    assert path.read_bytes() == b"\xff\0"
    assert path.stat().st_mode & 0o777 == 0o640


async def test_a_file_with_unsaved_changes_is_not_removed(hand: Hand, tmp_path: Path) -> None:
    path = say(tmp_path / "a", "a\n")
    files = hand.files()
    buffer = hand.open(path)
    hand.type(buffer, "a", "typed ")
    now = await files.current(path)
    assert isinstance(now, FileText)
    assert (await problem(files.remove(path, expected=now))).kind == "changed"
    assert path.exists()


def test_the_uri_of_a_file_that_is_not_open(hand: Hand, tmp_path: Path) -> None:
    assert hand.files().uri_of(tmp_path / "a") is None
    buffer = hand.open(say(tmp_path / "a b", ""))
    assert buffer.uri == path_to_uri(tmp_path / "a b")
