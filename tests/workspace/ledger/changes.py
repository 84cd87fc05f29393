"""The text that most files here begin with, how an agent changes it, and what the ledger lists."""

from __future__ import annotations

from pathlib import Path

from acp_sidecar.workspace.files import Files
from acp_sidecar.workspace.ledger import FileChange, Ledger
from tests.workspace.disk import say

WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
LINES = "".join(f"{word}\n" for word in WORDS)
CHANGED = LINES.replace("two", "TWO").replace("five", "FIVE").replace("eight", "EIGHT")


def only(ledger: Ledger) -> FileChange:
    [change] = ledger.changes()
    return change


def ids(ledger: Ledger) -> list[str]:
    return [hunk.id for change in ledger.changes() for hunk in change.hunks]


def states(ledger: Ledger) -> list[str]:
    return [hunk.state for change in ledger.changes() for hunk in change.hunks]


async def write(ledger: Ledger, files: Files, path: Path, text: str, seen: str | None) -> None:
    """The agent writes through us."""
    ledger.touch(path)
    ledger.wrote(path, await files.write(path, text, seen=seen))


async def agent_writes(ledger: Ledger, path: Path, text: str | bytes) -> None:
    """The agent writes the disk by itself."""
    ledger.touch(path)
    say(path, text)
    await ledger.refresh()
