"""Hunks kept and reverted one by one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from acp_sidecar.workspace.uris import path_to_uri
from tests.e2e.editor import LspError
from tests.e2e.hunks.table import EDITED, LINES, Table, can


async def test_one_hunk_is_kept_another_reverted_and_both_taken_back(desk: Table) -> None:
    first, second = await desk.hunks()
    kept = await desk.editor.execute("acp.review.keep", hunkId=first["id"])
    assert (kept["kept"], kept["reverted"]) == ([first["id"]], [])
    assert (kept["conflicts"], kept["problems"]) == ([], [])
    assert [hunk["id"] for hunk in await desk.hunks()] == [second["id"]]
    await desk.editor.execute("acp.review.revert", hunkId=second["id"])
    assert desk.path.read_text() == LINES.replace("two", "TWO")
    assert await desk.hunks() == []
    assert (await desk.editor.execute("acp.review.undo"))["reverted"] == [second["id"]]
    assert desk.path.read_text() == EDITED
    await desk.editor.execute("acp.review.undo")
    assert [hunk["id"] for hunk in await desk.hunks()] == [first["id"], second["id"]]


async def test_several_targets_are_one_step_told_and_taken_back_as_one(desk: Table) -> None:
    first, second = await desk.hunks()
    other = desk.ws / "b.txt"
    other.write_text(LINES)
    await desk.editor.execute("acp.session.new")
    sessions = [one["sessionId"] for one in await desk.editor.execute("acp.session.opened")]
    _, turn = desk.editor.start("acp.session.prompt", sessionId=sessions[1], text="go")
    prompt = await desk.puppet.prompted()
    assert (await desk.puppet.write(other, EDITED)).get("result") == {}
    desk.puppet.end_turn(prompt)
    await turn
    targets = [
        {"sessionId": sessions[0], "hunkId": first["id"]},
        {"sessionId": sessions[0], "hunkId": "nope"},
        {"sessionId": sessions[0], "hunkId": second["id"]},
        {"sessionId": sessions[1], "uri": path_to_uri(str(other))},
    ]
    done = await desk.editor.execute("acp.review.revert", targets=targets)
    assert len(done["reverted"]) == 4
    (problem,) = done["problems"]
    assert done["partial"]
    assert done["text"] == f"Reverted 4 changes. {problem}"
    assert (desk.path.read_text(), other.read_text()) == (LINES, LINES)
    back = await desk.editor.execute("acp.review.undo", targets=done["undo"])
    assert (back["text"], back["partial"]) == ("Brought 4 changes back.", False)
    assert (desk.path.read_text(), other.read_text()) == (EDITED, EDITED)
    assert (await desk.editor.execute("acp.review.keep", targets=[]))["kept"] == []


def span(first: int, last: int, character: int = 0) -> dict[str, Any]:
    """An LSP range from the beginning of a line into another."""
    end = {"line": last, "character": character}
    return {"start": {"line": first, "character": 0}, "end": end}


async def test_the_hunk_at_a_cursor_is_decided_where_the_text_is_now(desk: Table) -> None:
    """The user has just typed above it."""
    editor = desk.editor
    first, second = await desk.hunks()
    editor.open(desk.path)
    editor.type(desk.uri, 0, 0, "mine\n")
    there = {"uri": desk.uri, "range": span(1, 1)}
    none = await editor.execute("acp.review.keep", **there)
    assert (none["kept"], none["undo"], none["partial"]) == ([], [], False)
    assert none["text"] == "There is nothing to keep here."
    kept = await editor.execute("acp.review.keep", uri=desk.uri, range=span(2, 2))
    assert (kept["kept"], kept["text"]) == ([first["id"]], "Kept 1 change.")
    reverted = await editor.execute("acp.review.revert", uri=desk.uri, range=span(8, 8))
    assert reverted["reverted"] == [second["id"]]
    assert editor.documents[desk.uri].text == "mine\n" + LINES.replace("two", "TWO")


async def test_a_selection_takes_its_hunks_and_all_of_a_file_in_one_step(desk: Table) -> None:
    first, second = await desk.hunks()
    # It ends at the beginning of the second one's line, which is not part of it.
    kept = await desk.editor.execute("acp.review.keep", uri=desk.uri, range=span(0, 6))
    assert kept["kept"] == [first["id"]]
    await desk.editor.execute("acp.review.undo", targets=kept["undo"])
    kept = await desk.editor.execute("acp.review.keep", uri=desk.uri, range=span(0, 6, 1))
    assert (kept["kept"], len(kept["undo"])) == ([first["id"], second["id"]], 1)
    await desk.editor.execute("acp.review.undo")
    assert len(await desk.hunks()) == 2


@pytest.mark.parametrize(
    "argument",
    [
        {"range": span(0, 0)},
        {"range": span(1, 0), "uri": "file:///ws/a.txt"},
        {"range": span(0, 0), "uri": "file:///ws/a.txt", "hunkId": "h"},
    ],
)
async def test_an_odd_place_decides_nothing(desk: Table, argument: dict[str, Any]) -> None:
    with pytest.raises(LspError, match="'range'") as caught:
        await desk.editor.execute("acp.review.revert", **argument)
    assert caught.value.code == -32602
    assert len(await desk.hunks()) == 2


async def test_an_undo_goes_no_further_where_a_step_cannot_be_taken_back(desk: Table) -> None:
    first, second = await desk.hunks()
    (session,) = await desk.editor.execute("acp.session.opened")
    here = {"sessionId": session["sessionId"]}
    await desk.editor.execute("acp.review.keep", hunkId=first["id"])
    await desk.editor.execute("acp.review.keep", hunkId=second["id"])
    done = await desk.editor.execute("acp.review.undo", targets=[here] * 5)
    assert (done["text"], done["undo"]) == ("2 changes wait again.", [])
    assert len(await desk.hunks()) == 2


async def test_a_hunk_is_reverted_in_a_dirty_buffer_and_the_user_s_text_stays(
    desk: Table,
) -> None:
    editor = desk.editor
    uri = editor.open(desk.path)
    editor.type(uri, 4, 0, "mine ")
    first, _ = await desk.hunks()
    await editor.execute("acp.review.revert", hunkId=first["id"], uri=uri)
    expected = EDITED.replace("TWO", "two").replace("five", "mine five")
    assert editor.documents[uri].text == expected
    assert desk.path.read_text() == EDITED


async def test_a_revert_that_is_given_up_unsaved_waits_again(desk: Table) -> None:
    """What was kept meanwhile does not come back with it."""
    editor = desk.editor
    first, second = await desk.hunks()
    editor.open(desk.path)
    editor.type(desk.uri, 3, 0, "mine ")
    await editor.execute("acp.review.keep", hunkId=first["id"])
    done = await editor.execute("acp.review.revert", hunkId=second["id"])
    assert done["reverted"] == [second["id"]]
    assert desk.path.read_text() == EDITED
    editor.close_document(desk.uri)
    assert await desk.hunks() == [second]
    await editor.execute("acp.review.revert")
    assert desk.path.read_text() == EDITED.replace("SEVEN\nmore\n", "seven\n")


async def test_what_the_agent_edited_unsaved_goes_with_the_buffer(desk: Table) -> None:
    """Its changes of the same lines that are on disk can be reverted as before."""
    hunks = await desk.hunks()
    desk.editor.open(desk.path)
    desk.editor.type(desk.uri, 3, 0, "mine ")
    _, turn = desk.editor.start("acp.session.prompt", text="go")
    prompt = await desk.puppet.prompted()
    text = (await desk.puppet.read(desk.path))["result"]["content"]
    assert (await desk.puppet.write(desk.path, text.replace("one", "ONE")))["result"] == {}
    desk.puppet.say("done")
    desk.puppet.end_turn(prompt)
    await turn
    assert desk.editor.documents[desk.uri].text == EDITED.replace("one", "ONE").replace(
        "four", "mine four"
    )
    desk.editor.close_document(desk.uri)
    assert await desk.hunks() == hunks
    await desk.editor.execute("acp.review.revert")
    assert desk.path.read_text() == LINES


async def test_a_revert_that_the_user_undoes_in_the_editor_waits_again(desk: Table) -> None:
    editor = desk.editor
    hunks = await desk.hunks()
    editor.open(desk.path)
    editor.type(desk.uri, 3, 0, "mine ")
    before = editor.documents[desk.uri].text
    await editor.execute("acp.review.revert")
    assert await desk.hunks() == []
    editor.set_text(desk.uri, before)
    assert await desk.hunks() == hunks
    done = await editor.execute("acp.review.revert")
    assert done["reverted"] == [hunk["id"] for hunk in hunks]
    assert editor.documents[desk.uri].text == LINES.replace("four", "mine four")


async def test_a_file_that_the_user_makes_anew_after_a_revert_is_the_user_s(desk: Table) -> None:
    path = desk.ws / "new.txt"
    uri = path_to_uri(str(path))
    await desk.agent_writes("made\n", path)
    desk.editor.open(path)
    assert len((await desk.editor.execute("acp.review.revert", uri=uri))["reverted"]) == 1
    assert not path.exists()
    desk.editor.save(uri, path)
    assert uri not in [entry["uri"] for entry in await desk.editor.execute("acp.review.list")]
    await desk.editor.execute("acp.review.revert")
    assert path.read_text() == "made\n"


async def test_P01_a_link_in_the_place_of_a_changed_file_is_not_followed(
    desk: Table, tmp_path: Path
) -> None:
    """What is listed can be named, and whoever tries to take it back hears why not."""
    outside = tmp_path / "outside.txt"
    outside.write_text("secret\n")
    ids = [hunk["id"] for hunk in await desk.hunks()]
    desk.path.unlink()
    desk.path.symlink_to(outside)
    done = await desk.editor.execute("acp.review.revert", uri=desk.uri)
    assert (done["reverted"], done["conflicts"]) == ([], ids)
    assert "The way to this file has changed" in done["problems"][0]
    assert outside.read_text() == "secret\n"
    texts = await desk.editor.execute("acp.review.diff", uri=desk.uri)
    assert texts == {"before": LINES, "after": EDITED}
    done = await desk.editor.execute("acp.review.keep", uri=desk.uri)
    assert done["kept"] == ids


async def test_a_hunk_of_another_file_or_none_is_refused(desk: Table) -> None:
    first, _ = await desk.hunks()
    other = path_to_uri(str(desk.ws / "b.txt"))
    for argument in ({"hunkId": "nope"}, {"hunkId": first["id"], "uri": other}):
        with pytest.raises(LspError, match="waits for review") as caught:
            await desk.editor.execute("acp.review.keep", **argument)
        assert caught.value.code == -32602
    assert len(await desk.hunks()) == 2


async def test_changes_are_told_hunk_by_hunk(table: Table, settings: dict[str, Any]) -> None:
    await table.start(settings, can(changes=True))
    await table.agent_writes()
    first, second = await table.hunks()
    await table.editor.execute("acp.review.keep", hunkId=first["id"])
    last = table.editor.all("acp/changes")[-1]
    assert [hunk["id"] for hunk in last["changes"][0]["hunks"]] == [second["id"]]
    assert second["after"] == {"start": 6, "lines": 2}
    assert second["before"] == {"start": 6, "lines": 1}
