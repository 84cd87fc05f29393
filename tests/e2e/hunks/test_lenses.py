"""Hunks as code lenses."""

from __future__ import annotations

from typing import Any

from acp_sidecar.workspace.uris import path_to_uri
from tests.e2e.editor import Refusal
from tests.e2e.hunks.table import EDITED, LINES, REFRESH, Table, can, lens_at, titles


async def test_lenses_offer_keep_revert_and_next_at_each_hunk(desk: Table) -> None:
    assert titles(await desk.lenses()) == [
        (0, "Keep all 2"),
        (0, "Revert all 2"),
        (1, "Keep −1 +1"),
        (1, "Revert −1 +1"),
        (1, "Next (1 of 2)"),
        (6, "Keep −1 +2"),
        (6, "Revert −1 +2"),
        (6, "Next (2 of 2)"),
    ]
    assert await desk.lenses(path_to_uri(str(desk.ws / "b.txt"))) == []
    assert await desk.lenses("untitled:Untitled-1") == []


async def test_a_lens_does_what_it_says(desk: Table) -> None:
    await desk.press(lens_at(await desk.lenses(), 6, "Revert"))
    assert desk.path.read_text() == LINES.replace("two", "TWO")
    assert [title for _, title in titles(await desk.lenses())] == [
        "Keep −1 +1",
        "Revert −1 +1",
        "Next (1 of 1)",
    ], "for the one change there is nothing to say twice"
    await desk.press(lens_at(await desk.lenses(), 1, "Keep"))
    assert await desk.lenses() == []
    assert desk.path.read_text() == LINES.replace("two", "TWO")


async def test_of_very_many_changes_the_rest_is_said_to_have_no_lenses(
    table: Table, settings: dict[str, Any]
) -> None:
    lines = [f"{number}\n" for number in range(2_200)]
    await table.start(settings, can(), "".join(lines))
    changed = (f"x{line}" if n % 2 else line for n, line in enumerate(lines))
    await table.agent_writes("".join(changed))
    lenses = await table.lenses()
    assert any(lens["command"]["title"] == "Revert all 1100" for lens in lenses)
    last = lenses[-1]
    assert last["command"]["title"] == "100 more changes from here on, without lenses"
    assert last["range"]["start"]["line"] == 2_001
    assert max(lens["range"]["start"]["line"] for lens in lenses[:-1]) == 1_999


async def test_the_lens_of_the_first_line_is_for_the_whole_file(desk: Table) -> None:
    other = desk.ws / "b.txt"
    await desk.agent_writes("new\n", other)
    await desk.press(lens_at(await desk.lenses(), 0, "Revert all"))
    assert desk.path.read_text() == LINES
    assert other.read_text() == "new\n"


async def test_lenses_are_where_the_hunks_are_in_the_buffer_as_it_is(desk: Table) -> None:
    editor = desk.editor
    uri = editor.open(desk.path)
    editor.type(uri, 0, 0, "first\nsecond\n")
    assert [line for line, title in titles(await desk.lenses()) if "Keep −" in title] == [3, 8]
    editor.type(uri, 3, 0, "x")
    lenses = [title for line, title in titles(await desk.lenses()) if line == 3]
    assert lenses == ["Keep −1 +1 (conflict: you changed it too)", "Next (1 of 2)"]


async def test_a_revert_that_cannot_be_is_told(desk: Table) -> None:
    editor = desk.editor
    uri = editor.open(desk.path)
    lens = lens_at(await desk.lenses(), 1, "Revert")
    editor.type(uri, 1, 0, "my ")
    answer = await desk.press(lens)
    assert answer["conflicts"] == [lens["command"]["arguments"][0]["hunkId"]]
    assert "same lines" in (await editor.nth("window/showMessage"))["message"]
    assert editor.documents[uri].text == EDITED.replace("TWO", "my TWO")


async def test_what_is_gone_at_the_end_has_its_lens_on_the_last_line(
    table: Table, settings: dict[str, Any]
) -> None:
    await table.start(settings, can(), "one\ntwo\nthree")
    await table.agent_writes("one\n")
    assert (1, "Revert −2 +0") in titles(await table.lenses())


async def test_editors_that_can_are_asked_to_refresh_lenses(desk: Table) -> None:
    await desk.editor.until(lambda: desk.editor.all(REFRESH))
    first, _ = await desk.hunks()
    before = len(desk.editor.all(REFRESH))
    await desk.editor.execute("acp.review.keep", hunkId=first["id"])
    await desk.editor.until(lambda: len(desk.editor.all(REFRESH)) > before)


async def test_an_editor_that_does_not_know_the_refresh_is_asked_once(
    table: Table, settings: dict[str, Any]
) -> None:
    def unknown(params: Any) -> Any:
        raise Refusal(-32601)

    table.editor.answers[REFRESH] = unknown
    await table.start(settings, can())
    await table.agent_writes()
    await table.editor.until(lambda: table.editor.all(REFRESH))
    for hunk in await table.hunks():
        await table.editor.execute("acp.review.keep", hunkId=hunk["id"])
    assert len(table.editor.all(REFRESH)) == 1


async def test_an_editor_without_lenses_is_never_asked(
    table: Table, settings: dict[str, Any]
) -> None:
    await table.start(settings, can(lenses=False))
    await table.agent_writes()
    for hunk in await table.hunks():
        await table.editor.execute("acp.review.keep", hunkId=hunk["id"])
    assert table.editor.all(REFRESH) == []
