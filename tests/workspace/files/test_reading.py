"""Reading: windows of lines, and what is not read at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from acp_sidecar.workspace.files import Files, Missing, window
from tests.workspace.disk import say
from tests.workspace.files.texts import problem
from tests.workspace.hand import Hand


async def test_F06_a_missing_file_is_said_to_be_missing(hand: Hand, tmp_path: Path) -> None:
    files = hand.files()
    for path in (tmp_path / "new.txt", tmp_path / "no" / "folder" / "new.txt"):
        refusal = await problem(files.read(path))
        assert refusal.kind == "missing"
        assert "No such file" in str(refusal)
        assert str(path) in str(refusal)
        assert isinstance(await files.current(path), Missing)
        assert files.glance(path) is None
    say(tmp_path / "empty.txt", "")
    assert await files.read(tmp_path / "empty.txt") == ""


@pytest.mark.parametrize(
    ("line", "limit", "expected"),
    [
        (None, None, "a\r\nb\u2028c\nd"),
        (1, 1, "a\r\n"),
        (None, 2, "a\r\nb\u2028c\n"),
        (3, None, "d"),
        (2, 1, "b\u2028c\n"),
        (2, 99, "b\u2028c\nd"),
        (1, None, "a\r\nb\u2028c\nd"),
    ],
)
def test_F08_lines_are_counted_from_one_and_keep_their_ends(
    line: int | None, limit: int | None, expected: str
) -> None:
    assert window("a\r\nb\u2028c\nd", line, limit) == expected


@pytest.mark.parametrize(
    ("line", "limit", "expected"),
    [
        (0, None, "a\nb\n"),
        (0, 1, "a\n"),
        (1, 0, ""),
        (3, None, ""),
        (3, 5, ""),
        (4294967295, None, ""),
        (2**70, 2**70, ""),
        (2, 2**70, "b\n"),
    ],
)
def test_F09_odd_windows_have_an_answer(line: int | None, limit: int | None, expected: str) -> None:
    assert window("a\nb\n", line, limit) == expected


@pytest.mark.parametrize(("line", "limit"), [(-3, None), (None, -1), (1, -5), (-1, 2)])
def test_F09_negative_windows_have_none(line: int | None, limit: int | None) -> None:
    with pytest.raises(ValueError, match="negative"):
        window("a\nb\n", line, limit)


async def test_F16_what_is_no_file_is_not_waited_for(hand: Hand, tmp_path: Path) -> None:
    files = hand.files()
    os.mkfifo(tmp_path / "p")
    kinds = {
        tmp_path / "p": "special",
        tmp_path: "directory",
        Path("/dev/zero"): "special",
        Path("/dev/tty"): "special",
    }
    # To wait for what such a thing says would be for ever.
    for path, kind in kinds.items():
        assert (await problem(files.read(path))).kind == kind
        assert (await problem(files.write(path, "x"))).kind == kind
    assert (tmp_path / "p").is_fifo()


async def test_F16_a_link_put_in_the_way_leads_nowhere(hand: Hand, tmp_path: Path) -> None:
    """P01: what was checked is what is opened."""
    files = hand.files()
    say(tmp_path / "home" / "secret", "secret")
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws" / "link").symlink_to(tmp_path / "home")
    (tmp_path / "ws" / "zero").symlink_to("/dev/zero")
    (tmp_path / "ws" / "file").symlink_to(tmp_path / "home" / "secret")
    for name in ("link/secret", "zero", "file", "link/new", "link/new/deeper"):
        path = tmp_path / "ws" / name
        assert (await problem(files.write(path, "x"))).kind == "changed"
        assert (await problem(files.read(path))).kind in ("changed", "missing")
    assert (tmp_path / "home" / "secret").read_text() == "secret"
    assert os.listdir(tmp_path / "home") == ["secret"]


async def test_F17_more_than_the_limit_is_not_read(hand: Hand, tmp_path: Path) -> None:
    files = Files(hand.documents, hand.apply, limit=100)
    path = say(tmp_path / "big", "x" * 101)
    refusal = await problem(files.read(path))
    assert refusal.kind == "too_large"
    assert "101" in str(refusal)
    assert "100" in str(refusal)
    assert (await problem(files.write(path, "small"))).kind == "too_large"
    assert await files.read(say(tmp_path / "fits", "x" * 100)) == "x" * 100
    # A file that claims to be empty and is not.
    assert (await problem(files.read(Path(f"/proc/{os.getpid()}/smaps")))).kind == "too_large"


async def test_F18_half_a_character_is_not_written(hand: Hand, tmp_path: Path) -> None:
    path = say(tmp_path / "a", "x\n")
    files = hand.files()
    for target in (path, tmp_path / "new"):
        assert (await problem(files.write(target, "x\ud800y"))).kind == "invalid"
    assert path.read_text() == "x\n"
    assert os.listdir(tmp_path) == ["a"]
    await files.write(path, "\U0001f600\n")
    assert path.read_bytes() == "😀\n".encode()
