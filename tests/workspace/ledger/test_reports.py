"""What an agent reports of its changes, set against the files."""

from __future__ import annotations

from pathlib import Path

import pytest

from acp_sidecar.workspace.ledger import Ledger
from tests.workspace.disk import say
from tests.workspace.ledger.changes import LINES, only


async def test_a_report_after_the_fact_gives_the_baseline(ledger: Ledger, tmp_path: Path) -> None:
    path = say(tmp_path / "a", b"new\r\ntext\r\n")
    ledger.diff_reported(path, "old\ntext\n", "new\ntext\n")
    assert ledger.diff(path) == ("old\r\ntext\r\n", "new\r\ntext\r\n")
    await ledger.revert()
    assert path.read_bytes() == b"old\r\ntext\r\n"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("four\n", "FOUR\n"),
        ("four", "FOUR"),
        ("three\nfour\nfive", "three\nFOUR\nfive"),
        ("three\nfive", "three\nFOUR\nfive"),
        ("three\nfour\nand\nfive", "three\nFOUR\nfive"),
    ],
)
async def test_D03_a_report_of_a_piece_is_not_taken_for_the_file(
    ledger: Ledger, tmp_path: Path, old: str, new: str
) -> None:
    now = LINES.replace("four", "FOUR")
    path = say(tmp_path / "a", now)
    ledger.diff_reported(path, old, new)
    assert ledger.diff(path) == (now.replace(new, old), now)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("zwei\n", "two\n}\n"),
        ("old\n", "o"),
        ("one\n", "two\n"),
        ("old\n", ""),
        ("", "two\n"),
        (None, "two\n"),
        (LINES, LINES),
    ],
)
async def test_D04_a_report_the_file_does_not_bear_out_changes_nothing(
    ledger: Ledger, tmp_path: Path, old: str | None, new: str
) -> None:
    path = say(tmp_path / "a", LINES)
    ledger.diff_reported(path, old, new)
    await ledger.refresh()
    assert ledger.changes() == []
    assert path.read_text() == LINES, "a report is never applied"


@pytest.mark.parametrize("old", [None, ""])
async def test_D02_no_old_text_does_not_make_a_known_file_new(
    ledger: Ledger, tmp_path: Path, old: str | None
) -> None:
    path = say(tmp_path / "a.txt", LINES)
    ledger.diff_reported(path, old, "hi\n")
    say(path, "hi\n")
    ledger.diff_reported(path, old, "hi\n")
    await ledger.refresh()
    assert only(ledger).status == "modified"
    assert ledger.diff(path) == (LINES, "hi\n")


@pytest.mark.parametrize("old", [None, ""])
async def test_a_new_file_reported_after_the_fact_is_created(
    ledger: Ledger, tmp_path: Path, old: str | None
) -> None:
    path = say(tmp_path / "a.txt", "hi\n")
    ledger.diff_reported(path, old, "hi\n")
    assert only(ledger).status == "created"
    await ledger.revert()
    assert not path.exists()


async def test_D06_an_empty_new_text_deletes_nothing(ledger: Ledger, tmp_path: Path) -> None:
    path = say(tmp_path / "a.txt", "x")
    ledger.diff_reported(path, "x", "")
    ledger.diff_reported(path, "x", "x")
    await ledger.refresh()
    assert path.read_text() == "x"
    assert ledger.changes() == []


async def test_a_wrong_old_text_never_wins_over_what_was_seen(
    ledger: Ledger, tmp_path: Path
) -> None:
    path = say(tmp_path / "a", LINES)
    ledger.touch(path)
    say(path, "new\n")
    ledger.diff_reported(path, "something else\n", "new\n")
    await ledger.refresh()
    assert ledger.diff(path) == (LINES, "new\n")


async def test_temporary_files_of_ours_are_no_news(ledger: Ledger, tmp_path: Path) -> None:
    from acp_sidecar.workspace import disk

    path = say(tmp_path / disk._temporary("a"), "x")
    ledger.touch(path)
    assert not ledger.paths


async def test_D02_overwriting_a_file_is_shown_against_what_was_there(
    ledger: Ledger, tmp_path: Path
) -> None:
    path = say(tmp_path / "a.txt", "".join(f"{number}\n" for number in range(100)))
    old = path.read_text()
    ledger.touch(path)
    say(path, "hi\n")
    ledger.diff_reported(path, None, "hi\n")
    await ledger.refresh()
    assert only(ledger).status == "modified"
    assert ledger.diff(path) == (old, "hi\n")
    await ledger.revert()
    assert path.read_text() == old


async def test_D06_a_file_is_only_deleted_where_it_is_gone(ledger: Ledger, tmp_path: Path) -> None:
    emptied, deleted = say(tmp_path / "emptied", "x\n"), say(tmp_path / "deleted", "x\n")
    for path in (emptied, deleted):
        ledger.diff_reported(path, "x\n", "")
    say(emptied, "")
    deleted.unlink()
    await ledger.refresh()
    assert [change.status for change in ledger.changes()] == ["modified", "deleted"]
    await ledger.revert()
    assert emptied.read_text() == deleted.read_text() == "x\n"


@pytest.mark.parametrize("data", [b"caf\xe9\n", "text\n".encode("utf-16"), b"a\0b"])
async def test_F13_a_report_of_what_is_no_utf8_changes_no_byte(
    ledger: Ledger, tmp_path: Path, data: bytes
) -> None:
    path = say(tmp_path / "a", data)
    ledger.diff_reported(path, "caf\n", "cafe\n")
    await ledger.refresh()
    assert (path.read_bytes(), ledger.changes()) == (data, [])
    say(path, "caf\u00e9\n")
    ledger.diff_reported(path, "caf\ufffd\n", "caf\u00e9\n")
    await ledger.refresh()
    assert (only(ledger).status, only(ledger).binary) == ("modified", True)
    await ledger.revert()
    assert path.read_bytes() == data
    await ledger.undo()
    assert path.read_text("utf-8") == "caf\u00e9\n"


@pytest.mark.parametrize("snippet", ["}\n", "}", "", "\n"])
async def test_D04_a_piece_that_is_there_more_than_once_is_not_guessed_at(
    ledger: Ledger, tmp_path: Path, snippet: str
) -> None:
    text = "if a {\n}\n\n" * 9
    path = say(tmp_path / "a", text)
    ledger.diff_reported(path, "other\n", snippet)
    ledger.diff_reported(path, snippet, "other\n")
    await ledger.refresh()
    assert ledger.changes() == []
    assert path.read_text() == text
