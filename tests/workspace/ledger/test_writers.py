"""What an agent has changed, whoever held the pen, and taking it back."""

from __future__ import annotations

from pathlib import Path

import pytest

from acp_sidecar.workspace.files import Files
from acp_sidecar.workspace.ledger import Ledger
from acp_sidecar.workspace.uris import path_to_uri
from tests.workspace.disk import say
from tests.workspace.hand import Hand
from tests.workspace.ledger.changes import LINES, only, write


@pytest.mark.parametrize("by", ["us", "itself", "both"])
async def test_a_change_is_seen_and_taken_back_whoever_made_it(
    ledger: Ledger, files: Files, tmp_path: Path, by: str
) -> None:
    path = say(tmp_path / "a.py", LINES)
    ledger.touch(path)
    new = LINES.replace("two", "TWO").replace("eight\n", "")
    if by != "us":
        say(path, new)
    if by != "itself":
        await write(ledger, files, path, new, LINES)
    await ledger.refresh()
    change = only(ledger)
    assert change.uri == path_to_uri(path)
    assert (change.status, change.binary) == ("modified", False)
    assert [hunk.to_json() | {"id": ""} for hunk in change.hunks] == [
        {
            "id": "",
            "before": {"start": 1, "lines": 1},
            "after": {"start": 1, "lines": 1},
            "state": "waiting",
        },
        {
            "id": "",
            "before": {"start": 7, "lines": 1},
            "after": {"start": 7, "lines": 0},
            "state": "waiting",
        },
    ]
    assert ledger.diff(path) == (LINES, new)
    done = await ledger.revert(path)
    assert done.to_json() == {
        "kept": [],
        "reverted": [hunk.id for hunk in change.hunks],
        "conflicts": [],
    }
    assert path.read_text() == LINES
    assert ledger.changes() == []


async def test_a_file_that_was_only_looked_at_is_no_change(ledger: Ledger, tmp_path: Path) -> None:
    for path in (say(tmp_path / "a", LINES), tmp_path / "none", tmp_path):
        ledger.touch(path)
    await ledger.refresh()
    assert ledger.changes() == []
    assert ledger.diff(tmp_path / "never heard of") is None
    assert (await ledger.revert()).to_json() == {"kept": [], "reverted": [], "conflicts": []}
    assert (await ledger.undo()).to_json() == {"kept": [], "reverted": [], "conflicts": []}


async def test_an_open_file_is_known_at_the_prompt(
    hand: Hand, files: Files, tmp_path: Path
) -> None:
    path, outside = say(tmp_path / "ws" / "a", LINES), say(tmp_path / "b", LINES)
    hand.open(path)
    hand.open(outside)
    ledger = Ledger(files, within=lambda path: "ws" in path.parts)
    ledger.begin_turn()
    say(path, "all new\n")
    say(outside, "all new\n")
    await ledger.refresh()
    assert ledger.diff(path) == (LINES, "all new\n")
    assert ledger.diff(outside) is None


async def test_a_created_file_is_removed_by_a_revert(
    ledger: Ledger, files: Files, tmp_path: Path
) -> None:
    mine, its = tmp_path / "new" / "a.txt", tmp_path / "other" / "b.txt"
    ledger.touch(its)
    await write(ledger, files, mine, "", None)
    say(its, "hello\n")
    await ledger.refresh()
    assert [(change.path, change.status) for change in ledger.changes()] == [
        (its, "created"),
        (mine, "created"),
    ]
    assert all(change.hunks for change in ledger.changes()), "there is something to take back"
    await ledger.revert()
    assert not mine.exists()
    assert not its.exists()
    done = await ledger.undo()
    assert len(done.reverted) == 2
    assert (its.read_text(), mine.read_text()) == ("hello\n", "")
    assert [change.status for change in ledger.changes()] == ["created", "created"]


async def test_a_created_file_the_user_has_edited_is_not_removed(
    hand: Hand, ledger: Ledger, files: Files, tmp_path: Path
) -> None:
    path = tmp_path / "a.txt"
    await write(ledger, files, path, "by the agent\n", None)
    buffer = hand.open(path)
    hand.type(buffer, "by", "typed ")
    done = await ledger.revert()
    assert done.reverted == ()
    assert len(done.conflicts) == 1
    assert done.problems
    assert path.exists()
    assert only(ledger).hunks[0].state == "conflict"
    hand.save(buffer)
    assert (await ledger.revert()).reverted == ()
    assert path.read_text() == "typed by the agent\n"


async def test_a_deleted_file_comes_back_as_it_was(ledger: Ledger, tmp_path: Path) -> None:
    path = say(tmp_path / "run.sh", b"\xef\xbb\xbf#!/bin/sh\r\n")
    path.chmod(0o750)
    ledger.touch(path)
    path.unlink()
    await ledger.refresh()
    assert only(ledger).status == "deleted"
    await ledger.revert()
    assert path.read_bytes() == b"\xef\xbb\xbf#!/bin/sh\r\n"
    assert path.stat().st_mode & 0o777 == 0o750
    await ledger.undo()
    assert not path.exists()


async def test_bytes_come_back_exactly(ledger: Ledger, tmp_path: Path) -> None:
    """Line ends, the byte order mark, the final newline: also where only they changed."""
    kinds: dict[str, tuple[bytes, bytes]] = {
        "crlf": (b"a\r\nb\r\n", b"a\nb\n"),
        "bom": (b"\xef\xbb\xbfa\n", b"a\n"),
        "final": (b"a\nb", b"a\nb\n"),
        "mixed": (b"a\nb\r\nc\rd", b"a\r\nb\r\nX\r\n"),
        "png": (b"\x89PNG\0\1", b"\x89PNG\0\2"),
        "latin": (b"caf\xe9\n", b"cafe\n"),
        "to binary": (b"text\n", b"\0\0"),
        "empty": (b"", b"x"),
    }
    for name, (old, _) in kinds.items():
        ledger.touch(say(tmp_path / name, old))
    for name, (_, new) in kinds.items():
        say(tmp_path / name, new)
    await ledger.refresh()
    assert {change.path.name for change in ledger.changes()} == set(kinds)
    binary = {change.path.name for change in ledger.changes() if change.binary}
    assert binary == {"png", "latin", "to binary"}
    done = await ledger.revert()
    assert done.conflicts == ()
    for name, (old, _) in kinds.items():
        assert (tmp_path / name).read_bytes() == old
    await ledger.undo()
    for name, (_, new) in kinds.items():
        assert (tmp_path / name).read_bytes() == new


async def test_a_file_behind_a_failing_disk_is_a_conflict_for_itself(
    ledger: Ledger, tmp_path: Path
) -> None:
    good, bad = say(tmp_path / "good", "a\n"), say(tmp_path / "bad", "a\n")
    for path in (bad, good):
        ledger.touch(path)
        say(path, "b\n")
    await ledger.refresh()
    bad.chmod(0o444)
    done = await ledger.revert()
    assert len(done.reverted) == len(done.conflicts) == 1
    assert "read-only" in done.problems[0]
    assert good.read_text() == "a\n"
    assert only(ledger).path == bad
