"""Reviews and permissions, decided by command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.e2e.commands.demo_file import GREETED, GREETING
from tests.e2e.lsp_client import Client, Refused

pytestmark = pytest.mark.filterwarnings("error::pytest_lsp.LspSpecificationWarning")


async def changed(client: Client) -> list[dict[str, Any]]:
    """Let the agent edit one file and make another; the review."""
    await client.execute("acp.session.setMode", modeId="accept-edits")
    await client.prompt("/edit")
    await client.prompt("/create")
    changes: list[dict[str, Any]] = await client.execute("acp.review.list")
    return changes


async def test_a_review_lists_diffs_keeps_and_takes_that_back(
    client: Client, session: dict[str, Any], greeting: Path, ws: Path
) -> None:
    edited, created = await changed(client)
    note = ws / "demo-notes" / "note-1.md"
    assert (edited["uri"], edited["status"]) == (greeting.as_uri(), "modified")
    assert (created["uri"], created["status"]) == (note.as_uri(), "created")
    places = [(hunk["before"], hunk["after"]) for hunk in edited["hunks"]]
    assert places == [({"start": n, "lines": 1}, {"start": n, "lines": 1}) for n in (2, 6)]
    assert {hunk["state"] for hunk in edited["hunks"]} == {"waiting"}
    assert await client.execute("acp.review.diff", uri=greeting.as_uri()) == {
        "before": GREETING,
        "after": GREETED,
    }
    assert await client.execute("acp.review.diff", uri=note.as_uri()) == {
        "before": "",
        "after": note.read_text(),
    }
    hunks = [hunk["id"] for hunk in edited["hunks"]]
    kept = await client.execute("acp.review.keep", uri=greeting.as_uri())
    assert (kept["kept"], kept["reverted"], kept["conflicts"]) == (hunks, [], [])
    assert await client.execute("acp.review.list") == [created]
    undone = await client.execute("acp.review.undo")
    assert undone["kept"] == hunks
    assert await client.execute("acp.review.list") == [edited, created]
    assert greeting.read_text() == GREETED
    everything = await client.execute("acp.review.keep")
    assert everything["kept"] == [*hunks, *(hunk["id"] for hunk in created["hunks"])]
    assert await client.execute("acp.review.list") == []
    assert note.exists()


async def test_a_review_reverts_files_on_disk_and_in_the_editor(
    client: Client, session: dict[str, Any], greeting: Path, ws: Path
) -> None:
    _, created = await changed(client)
    uri, note = greeting.as_uri(), ws / "demo-notes" / "note-1.md"
    client.open(greeting)
    reverted = await client.execute("acp.review.revert", uri=uri)
    assert len(reverted["reverted"]) == 2
    assert greeting.read_text() == GREETING
    # The editor has the file open and has not read it again by itself.
    await client.until(lambda: client.buffers[uri] == GREETING)
    (hunk,) = created["hunks"]
    done = await client.execute("acp.review.revert", hunkId=hunk["id"])
    assert (done["kept"], done["reverted"]) == ([], [hunk["id"]])
    assert (done["conflicts"], done["problems"]) == ([], [])
    assert not note.exists()
    await client.execute("acp.review.undo")
    assert note.exists()
    await client.execute("acp.review.undo")
    assert greeting.read_text() == GREETED
    assert len(await client.execute("acp.review.list")) == 2
    everything = await client.execute("acp.review.revert")
    assert len(everything["reverted"]) == 3
    assert (greeting.read_text(), note.exists()) == (GREETING, False)


async def test_a_review_keeps_what_the_user_typed(
    client: Client, session: dict[str, Any], greeting: Path
) -> None:
    uri = client.open(greeting)
    await client.execute("acp.session.setMode", modeId="accept-edits")
    await client.prompt("/edit")
    await client.until(lambda: client.buffers[uri] == GREETED)
    client.type(uri, 0, 0, "# mine\n")
    await client.execute("acp.review.revert", uri=uri)
    await client.until(lambda: client.buffers[uri] == "# mine\n" + GREETING)


# --- permissions ---------------------------------------------------------------------------


async def test_a_question_is_listed_and_answered_by_command(
    client: Client, session: dict[str, Any], greeting: Path
) -> None:
    assert await client.execute("acp.permission.pending") == []
    turn = client.start("acp.session.prompt", text="/edit")
    dialog = await client.dialog()
    (question,) = await client.execute("acp.permission.pending")
    call = (await client.state())["toolCalls"][0]
    # The dialog says all of it, and for the diffs, which are apart here, their lines.
    assert set(question["message"].split("\n")) <= set(dialog.text.split("\n"))
    assert '+PEOPLE = ("Ada", "Barbara", "Grace", "Linus")' in dialog.text
    assert question["sessionId"] == session["sessionId"]
    assert question["toolCallId"] == call["toolCallId"]
    assert (question["agent"], question["kind"]) == ("demo", "edit")
    assert question["paths"] == [str(greeting)]
    (diff,) = question["diffs"]
    assert (diff["path"], diff["oldText"], diff["newText"]) == (str(greeting), GREETING, GREETED)
    assert [option["title"] for option in question["options"]] == dialog.titles
    assert (question["state"], question["optionId"]) == ("waiting", None)
    answer = {"requestId": question["requestId"]}
    with pytest.raises(Refused, match="Give 'optionId', or null for cancelled"):
        await client.execute("acp.permission.answer", **answer)
    with pytest.raises(Refused, match="'allow' was not offered; choose one of: skip-once"):
        await client.execute("acp.permission.answer", **answer, optionId="allow")
    with pytest.raises(Refused, match="No permission request 'other' is waiting"):
        await client.execute("acp.permission.answer", requestId="other", optionId="go-once")
    assert await client.execute("acp.permission.answer", **answer, optionId="go-once") == {}
    assert await turn == {"stopReason": "end_turn"}
    assert greeting.read_text() == GREETED
    await client.until(lambda: dialog.withdrawn)
    with pytest.raises(Refused, match="it was answered, cancelled or withdrawn"):
        await client.execute("acp.permission.answer", **answer, optionId="skip-once")


async def test_a_question_is_cancelled_by_command(
    client: Client, session: dict[str, Any], greeting: Path
) -> None:
    turn = client.start("acp.session.prompt", text="/edit")
    await client.dialog()
    (question,) = await client.execute("acp.permission.pending")
    await client.execute("acp.permission.answer", requestId=question["requestId"], optionId=None)
    assert await turn == {"stopReason": "end_turn"}
    assert greeting.read_text() == GREETING
    permission = (await client.state())["permissions"][0]
    assert (permission["state"], permission["optionId"]) == ("cancelled", None)
