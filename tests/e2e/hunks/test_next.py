"""From hunk to hunk."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.editor import LspError
from tests.e2e.hunks.table import EDITED, LINES, SHOW, Table, can, lens_at


async def test_next_opens_one_hunk_after_the_other_over_all_files(desk: Table) -> None:
    other = desk.ws / "b.txt"
    await desk.agent_writes("new\n", other)
    seen = []
    place = await desk.press(lens_at(await desk.lenses(), 1, "Next"))
    for _ in range(3):
        shown = desk.editor.all(SHOW)[-1]
        assert (shown["takeFocus"], shown["external"]) == (True, False)
        seen.append((shown["uri"].rpartition("/")[2], shown["selection"]["start"]["line"]))
        place = await desk.editor.execute("acp.review.next", hunkId=place["hunkId"])
    assert seen == [("a.txt", 6), ("b.txt", 0), ("a.txt", 1)]


async def test_next_from_a_line_passes_no_file_over(desk: Table) -> None:
    """And goes through them as a tree shows them, whichever the agent has changed first."""
    for name in ("c.txt", "b.txt"):
        await desk.agent_writes("new\n", desk.ws / name)
    uri, line, seen = desk.uri, 100, []
    for _ in range(4):
        place = await desk.editor.execute("acp.review.next", uri=uri, line=line)
        uri, line = place["uri"], 100
        seen.append(uri.rpartition("/")[2])
    assert seen == ["b.txt", "c.txt", "a.txt", "b.txt"]


async def test_next_goes_on_from_a_line_and_selects_in_the_editor_s_units(
    table: Table, settings: dict[str, Any]
) -> None:
    await table.start(settings, can())
    await table.agent_writes(LINES.replace("seven", "s😀"))
    place = await table.editor.execute("acp.review.next", uri=table.uri, line=2)
    assert place["range"] == {
        "start": {"line": 6, "character": 0},
        "end": {"line": 6, "character": 3},
    }
    assert table.editor.all(SHOW)[-1]["selection"] == place["range"]


async def test_the_way_back_goes_over_all_files_and_says_which_of_how_many(desk: Table) -> None:
    other = desk.ws / "b.txt"
    await desk.agent_writes("new\n", other)
    seen: list[tuple[Any, ...]] = []
    place: Any = None
    for _ in range(4):
        place = await desk.editor.execute(
            "acp.review.next", hunkId=place and place["hunkId"], direction="previous"
        )
        name = place["uri"].rpartition("/")[2]
        seen.append((name, place["range"]["start"]["line"], place["number"], place["of"]))
    assert seen == [("b.txt", 0, 3, 3), ("a.txt", 6, 2, 3), ("a.txt", 1, 1, 3), ("b.txt", 0, 3, 3)]
    assert len(desk.editor.all(SHOW)) == 4


async def test_a_hunk_is_told_without_being_opened(desk: Table) -> None:
    place = await desk.editor.execute(
        "acp.review.next", uri=desk.uri, line=6, direction="previous", open=False
    )
    assert (place["range"]["start"]["line"], place["number"], place["of"]) == (1, 1, 2)
    assert desk.editor.all(SHOW) == []


async def test_the_way_follows_what_the_user_has_just_typed(desk: Table) -> None:
    uri = desk.editor.open(desk.path)
    desk.editor.type(uri, 0, 0, "mine\n" * 10)
    place = await desk.editor.execute("acp.review.next", uri=uri, line=11)
    assert (place["range"]["start"]["line"], place["number"]) == (16, 2)
    back = await desk.editor.execute("acp.review.next", uri=uri, line=16, direction="previous")
    assert (back["range"]["start"]["line"], back["number"]) == (11, 1)


async def test_a_file_that_is_as_it_was_by_now_is_passed_over(desk: Table) -> None:
    other = desk.ws / "b.txt"
    other.write_text("old\n")
    await desk.agent_writes("new\n", other)
    await desk.agent_writes("new\n", desk.ws / "c.txt")
    other.write_text("old\n")
    place = await desk.editor.execute("acp.review.next", uri=desk.uri, line=100)
    assert (place["uri"].rpartition("/")[2], place["number"], place["of"]) == ("c.txt", 3, 3)


async def test_a_file_that_two_sessions_have_changed_is_walked_through_once(desk: Table) -> None:
    await desk.agent_writes("new\n", desk.ws / "b.txt")
    second = await desk.editor.execute("acp.session.new")
    _, turn = desk.editor.start("acp.session.prompt", sessionId=second["sessionId"], text="go")
    prompt = await desk.puppet.prompted()
    assert "error" not in await desk.puppet.write(desk.path, EDITED.replace("four", "FOUR"))
    desk.puppet.say("done")
    desk.puppet.end_turn(prompt)
    await turn
    line, seen = 0, []
    for _ in range(3):
        place = await desk.editor.execute("acp.review.next", uri=desk.uri, line=line)
        line = place["range"]["start"]["line"]
        seen.append((line, place["number"], place["of"]))
    assert seen == [(1, 1, 4), (3, 2, 4), (6, 3, 4)]


async def test_from_a_text_that_is_no_file_the_way_begins_at_the_first_or_the_last(
    desk: Table,
) -> None:
    elsewhere = {"uri": "untitled:Untitled-1", "line": 3}
    first = await desk.editor.execute("acp.review.next", **elsewhere)
    last = await desk.editor.execute("acp.review.next", direction="previous", **elsewhere)
    assert (first["number"], last["number"]) == (1, 2)
    with pytest.raises(LspError, match="'direction' must be"):
        await desk.editor.execute("acp.review.next", direction="back")


async def test_next_without_anything_that_waits_opens_nothing(
    table: Table, settings: dict[str, Any]
) -> None:
    await table.start(settings, can())
    assert await table.editor.execute("acp.review.next") is None
    assert table.editor.all(SHOW) == []
