"""Whose doing a change is that nobody has spoken of: by when it happened."""

from __future__ import annotations

from pathlib import Path

import pytest

from acp_sidecar.client.survey import Survey
from acp_sidecar.session.toolcall import ToolCall

SECOND = 1_000_000_000


class Clock:
    """Goes by hand, from the time at which a file was last changed."""

    def __init__(self) -> None:
        self.now = 0

    def __call__(self) -> int:
        return self.now


@pytest.mark.parametrize(
    ("begins", "ends", "found"),
    [(-5, -3, False), (3, 5, False), (-2, 2, True), (0.1, 2, True), (-2, -0.1, True)],
)
@pytest.mark.parametrize("kind", ["execute", "edit", "read"])
async def test_only_what_happens_during_a_call_is_the_agents(
    tmp_path: Path, begins: float, ends: float, found: bool, kind: str
) -> None:
    clock = Clock()
    survey = Survey([tmp_path], clock)
    await survey.begin_turn()
    file = tmp_path / "a.txt"
    file.write_text("made\n")
    changed = file.stat().st_ctime_ns
    call = ToolCall("t", 1, "t", kind=kind)
    clock.now = changed + int(begins * SECOND)
    assert not survey.note(call)
    clock.now = changed + int(ends * SECOND)
    call.status = "completed"
    assert survey.note(call) == (kind == "execute")
    # A command may change anything, an edit what it names, and a read nothing.
    unnamed = [file] if found and kind == "execute" else []
    assert [path for path, _ in await survey.changed()] == unnamed
    assert (survey.before(file) is not None) == (found and kind != "read")


async def test_nothing_of_an_earlier_turn_is_found_in_the_next(tmp_path: Path) -> None:
    survey = Survey([tmp_path])
    await survey.begin_turn()
    call = ToolCall("t", 1, "t", kind="execute", status="in_progress")
    survey.note(call)
    (tmp_path / "a.txt").write_text("made\n")
    call.status = "completed"
    survey.note(call)
    assert len(await survey.changed()) == 1
    await survey.begin_turn()
    assert await survey.changed() == []
