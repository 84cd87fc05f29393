"""Hunks as code actions."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.hunks.table import EDITED, LINES, Table, can


async def test_actions_are_for_the_hunk_at_the_cursor_the_file_and_all(desk: Table) -> None:
    found = await desk.actions(7)
    assert [(action["kind"], action["title"]) for action in found] == [
        ("quickfix", "Keep this change"),
        ("quickfix", "Revert this change"),
        ("source.acp.review.keep.file", "Keep all 2"),
        ("source.acp.review.revert.file", "Revert all 2"),
        ("source.acp.review.keep.all", "Keep all changes in all files"),
        ("source.acp.review.revert.all", "Revert all changes in all files"),
    ]
    assert not any("isPreferred" in action for action in found)
    await desk.press(found[1])
    assert desk.path.read_text() == LINES.replace("two", "TWO")
    await desk.press(found[5])
    assert desk.path.read_text() == LINES


async def test_actions_elsewhere_are_for_the_file_only(desk: Table) -> None:
    assert {action["kind"].partition(".")[0] for action in await desk.actions(4)} == {"source"}


@pytest.mark.parametrize(
    ("only", "count"),
    [
        (["quickfix"], 2),
        (["source"], 4),
        (["source.acp.review.revert"], 2),
        (["source.fixAll"], 0),
        (["source.organizeImports"], 0),
        (["refactor"], 0),
        ([""], 6),
    ],
)
async def test_only_the_kinds_that_are_asked_for(desk: Table, only: list[str], count: int) -> None:
    assert len(await desk.actions(1, only)) == count


async def test_an_editor_without_literals_gets_commands(
    table: Table, settings: dict[str, Any]
) -> None:
    await table.start(settings, can(literals=False))
    await table.agent_writes()
    found = await table.actions(1, ["quickfix"])
    assert [action["command"] for action in found] == ["acp.review.keep", "acp.review.revert"]
    await table.press({"command": found[1]})
    assert table.path.read_text() == EDITED.replace("TWO", "two")


@pytest.mark.parametrize("params", [None, {}, {"textDocument": None}, {"textDocument": {}}, []])
async def test_odd_requests_find_nothing(desk: Table, params: Any) -> None:
    assert await desk.editor.call("textDocument/codeLens", params) == []
    assert isinstance(await desk.editor.call("textDocument/codeAction", params), list)
