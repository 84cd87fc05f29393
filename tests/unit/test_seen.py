"""What one agent believes its files say."""

from __future__ import annotations

from pathlib import Path

from acp_sidecar.workspace.documents import Documents
from acp_sidecar.workspace.files import FileProblem, Files
from acp_sidecar.workspace.seen import Seen

A, B, C = Path("/ws/a"), Path("/ws/b"), Path("/ws/c")


def test_F01_the_last_text_told_or_written_counts() -> None:
    seen = Seen()
    assert seen.of(A) is None
    seen.read(A, "told")
    assert seen.of(A) == "told"
    seen.wrote(A, "written")
    assert seen.of(A) == "written"
    seen.read(A, "told again")
    assert seen.of(A) == "told again"


def test_F01_who_asks_us_has_to_ask_again() -> None:
    seen = Seen()
    seen.read(A, "told")
    seen.refused(A)
    assert seen.of(A) == "told"


def test_what_was_used_longest_ago_is_forgotten_first() -> None:
    seen = Seen(most=10)
    seen.read(A, "12345")
    seen.read(B, "12345")
    seen.read(A, "1234")
    seen.read(C, "123")
    assert (seen.of(A), seen.of(B), seen.of(C)) == ("1234", None, "123")
    seen.read(B, "longer than all together")
    assert seen.of(B) == "longer than all together"
    assert seen.of(A) is None


async def test_F01_who_reads_the_disk_itself_gets_through_on_the_second_try(
    tmp_path: Path,
) -> None:
    """It writes through us and never asks; the user has saved a change of the same line."""

    async def nobody(edit: object) -> None:
        raise AssertionError("nothing is open")

    files, seen = Files(Documents(), nobody), Seen()
    path = tmp_path / "a"

    async def write(content: str) -> None:
        try:
            await files.write(path, content, seen=seen.of(path))
        except FileProblem:
            seen.refused(path)
            raise
        seen.wrote(path, content)

    await write("one\n")
    path.write_text("the user's\n")
    refused = False
    try:
        await write("from one\n")
    except FileProblem as problem:
        refused = problem.kind == "changed"
    assert refused
    assert path.read_text() == "the user's\n"
    await write("from the user's\n")
    assert path.read_text() == "from the user's\n"
