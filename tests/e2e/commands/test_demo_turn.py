"""The demo agent's scripted turn, as a person at a usual editor lives through it."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from tests.agents.processes import gone
from tests.e2e.commands.demo_file import GREETED, GREETING
from tests.e2e.lsp_client import Client, Refused, demo

pytestmark = pytest.mark.filterwarnings("error::pytest_lsp.LspSpecificationWarning")

SETTINGS = {"agents": {"demo": demo(pace=0.02)}, "follow": {"maxPerSecond": 1000}}
"""Steps far enough apart to be seen one by one, and a rate that holds none back."""

BUTTONS = ["No", "No, change nothing", "Yes", "Yes to all edits"]


@pytest.fixture
async def client(bare: Client, ws: Path, greeting: Path) -> Client:
    """A usual editor with an open session."""
    await bare.begin(ws, settings=SETTINGS)
    await bare.new()
    return bare


def said(state: dict[str, Any]) -> str:
    """What the agent has said to the user."""
    return "\n".join(
        block["text"]
        for message in state["messages"]
        if message["role"] == "agent"
        for block in message["content"]
    )


async def test_the_whole_turn_in_a_plain_editor(client: Client, ws: Path, greeting: Path) -> None:
    turn = client.start("acp.session.prompt", text="Show me what you can do")
    dialog = await client.dialog()
    first, *rest = dialog.text.splitlines()
    assert re.fullmatch(r"demo wants to change files \(.*request 1\)", first)
    assert rest == [
        f"It changes {greeting} (−2 +2 lines)",
        "@@ line 3 @@",
        '-PEOPLE = ("Ada", "Grace", "Linus")',
        '+PEOPLE = ("Ada", "Barbara", "Grace", "Linus")',
        "@@ line 7 @@",
        '-    return "Hello " + name',
        '+    return f"Good morning, {name}!"',
        "The agent calls it: “Edit greeting.py”",
    ]
    assert dialog.titles == BUTTONS
    # Nothing happens before the answer.
    assert (await client.state())["status"] == "requires_action"
    assert greeting.read_text() == GREETING
    dialog.click("Yes")
    assert await turn == {"stopReason": "end_turn"}

    # The edit and the new file, both on disk: nothing is open in the editor.
    assert greeting.read_text() == GREETED
    note = ws / "demo-notes" / "note-1.md"
    assert note.read_text().startswith("# A note\n")
    assert client.edits == []
    changes = await client.execute("acp.review.list")
    assert [(change["uri"], change["status"]) for change in changes] == [
        (greeting.as_uri(), "modified"),
        (note.as_uri(), "created"),
    ]

    # Every place in the workspace, in order; the one outside not at all.
    await client.until(lambda: ("note-1.md", 0) in client.revealed())
    assert client.revealed() == [
        ("greeting.py", None),
        ("greeting.py", 2),
        ("greeting.py", None),
        ("greeting.py", 2),
        ("note-1.md", 0),
    ]
    for shown in client.shown_documents:
        assert (shown.external, shown.take_focus) == (False, False)

    state = await client.state()
    output = state["toolCalls"][-1]
    first, second, last = output["content"][0]["content"]["text"].splitlines()
    assert re.fullmatch(r" +7 lines .*greeting\.py", first)
    assert re.fullmatch(r" +3 lines .*note-1\.md", second)
    assert last == "done"
    assert output["rawOutput"] == {"exitCode": 0}
    assert said(state).splitlines()[-1].startswith("That is all.")
    assert client.messages == []
    assert len(client.dialogs) == 1


async def test_a_place_outside_is_not_shown_and_the_state_says_why(client: Client) -> None:
    await client.prompt("/read greeting.py:3")
    await client.until(lambda: ("greeting.py", 2) in client.revealed())
    shown = len(client.shown_documents)
    await client.prompt("/outside")
    follow = (await client.state())["follow"]
    assert follow["location"]["path"].endswith("os.py")
    assert (follow["shown"], follow["reason"]) == (False, "outside")
    assert len(client.shown_documents) == shown


async def test_an_open_file_is_written_and_the_editor_brought_along(
    client: Client, greeting: Path
) -> None:
    uri = client.open(greeting)
    turn = client.start("acp.session.prompt", text="/edit")
    (await client.dialog()).click("Yes")
    await turn
    assert greeting.read_text() == GREETED
    await client.until(lambda: client.buffers[uri] == GREETED)
    (edit,) = client.edits
    assert edit.label == "demo edits greeting.py"
    (change,) = edit.edit.document_changes or ()
    assert isinstance(change, types.TextDocumentEdit)
    # Smallest edits, each within its line, for the version the editor has.
    assert [one.range.start.line for one in change.edits] == [2, 6]
    assert all(one.range.start.line == one.range.end.line for one in change.edits)


async def test_unsaved_text_is_edited_where_it_is_and_stays_unsaved(
    client: Client, greeting: Path
) -> None:
    uri = client.open(greeting)
    client.type(uri, 0, 0, "# not saved\n")
    turn = client.start("acp.session.prompt", text="/edit")
    (await client.dialog()).click("Yes")
    await turn
    assert client.buffers[uri] == "# not saved\n" + GREETED
    assert greeting.read_text() == GREETING


async def test_a_file_the_user_changes_while_asked_is_asked_for_again(
    client: Client, greeting: Path
) -> None:
    uri = client.open(greeting)
    turn = client.start("acp.session.prompt", text="/edit")
    dialog = await client.dialog()
    client.type(uri, 7, 0, "\n# typed during the question\n")
    dialog.click("Yes")
    again = await client.dialog(2)
    assert again.text != dialog.text
    again.click("Yes")
    await turn
    assert client.buffers[uri] == GREETED + "\n# typed during the question\n"


@pytest.mark.parametrize("answer", ["No", "dismissed", "a title nobody offered"])
async def test_a_no_is_a_no(client: Client, greeting: Path, answer: str) -> None:
    turn = client.start("acp.session.prompt", text="Show me")
    dialog = await client.dialog()
    if answer == "dismissed":
        dialog.dismiss()
    else:
        dialog.click(answer)
    assert await turn == {"stopReason": "end_turn"}
    assert greeting.read_text() == GREETING
    state = await client.state()
    permission = state["permissions"][0]
    assert (permission["state"], permission["optionId"]) == ("answered", "skip-once")
    edit = state["toolCalls"][2]
    assert (edit["title"], edit["status"], edit["closedBy"]) == (
        "Edit greeting.py",
        "failed",
        None,
    )
    assert "go on without the edit" in said(state)
    # The rest of the turn went on: it was one edit that was refused.
    assert [change["status"] for change in await client.execute("acp.review.list")] == ["created"]


async def test_a_no_for_good_and_a_yes_for_good_are_the_agent_s_to_remember(
    client: Client, ws: Path, greeting: Path
) -> None:
    turn = client.start("acp.session.prompt", text="/edit")
    (await client.dialog()).click("No, change nothing")
    await turn
    assert (await client.state())["modes"]["currentModeId"] == "read-only"
    await client.prompt("Show me")
    assert len(client.dialogs) == 1
    assert (greeting.read_text(), (ws / "demo-notes").exists()) == (GREETING, False)

    await client.execute("acp.session.setMode", modeId="ask")
    turn = client.start("acp.session.prompt", text="/edit")
    (await client.dialog(2)).click("Yes to all edits")
    await turn
    assert (await client.state())["modes"]["currentModeId"] == "accept-edits"
    await client.prompt("/edit")
    assert len(client.dialogs) == 2
    # Editing twice gives the first text back.
    assert greeting.read_text() == GREETING


@pytest.mark.parametrize("way", ["request", "command"])
async def test_a_cancel_closes_the_dialog_and_a_late_click_does_nothing(
    client: Client, ws: Path, greeting: Path, way: str
) -> None:
    turn = client.start("acp.session.prompt", text="Show me")
    dialog = await client.dialog()
    (question,) = await client.execute("acp.permission.pending")
    if way == "request":
        turn.cancel()
    else:
        await client.execute("acp.session.cancel")
    assert await turn == {"stopReason": "cancelled"}
    await client.until(lambda: dialog.withdrawn)
    state = await client.state()
    assert (state["status"], state["stopReason"]) == ("idle", "cancelled")
    assert [permission["state"] for permission in state["permissions"]] == ["cancelled"]
    assert state["toolCalls"][-1]["status"] in ("cancelled", "failed")
    with pytest.raises(Refused, match="it was answered, cancelled or withdrawn"):
        await client.execute(
            "acp.permission.answer", requestId=question["requestId"], optionId="go-once"
        )
    assert await client.execute("acp.permission.pending") == []
    assert await client.execute("acp.review.list") == []
    assert (greeting.read_text(), (ws / "demo-notes").exists()) == (GREETING, False)


async def test_questions_come_one_at_a_time_each_with_its_own_text(client: Client) -> None:
    turn = client.start("acp.session.prompt", text="/ask 3")
    first = await client.dialog()
    assert len(await client.execute("acp.permission.pending")) == 3
    assert len(client.dialogs) == 1
    first.click("Yes")
    second = await client.dialog(2)
    second.click("No")
    third = await client.dialog(3)
    third.click("Yes")
    await turn
    assert len({dialog.text for dialog in client.dialogs}) == 3
    assert 'Arguments: {"question":1,"of":3}' in first.text.splitlines()
    assert "The answers: yes, no, yes." in said(await client.state())


async def test_a_question_the_agent_withdraws_is_closed(client: Client) -> None:
    turn = client.start("acp.session.prompt", text="/withdraw")
    dialog = await client.dialog()
    assert await turn == {"stopReason": "end_turn"}
    await client.until(lambda: dialog.withdrawn)
    state = await client.state()
    assert [permission["state"] for permission in state["permissions"]] == ["cancelled"]
    assert "I have withdrawn the question." in said(state)


async def test_a_command_is_shown_in_full_before_it_runs(client: Client, ws: Path) -> None:
    command = "touch 'a file' made-by-the-agent"
    turn = client.start("acp.session.prompt", text=f"/run {command}")
    dialog = await client.dialog()
    first, *rest = dialog.text.splitlines()
    assert re.fullmatch(r"demo wants to run a command \(.*request 1\)", first)
    assert rest == [
        f"Command: {command}",
        f"Folder: {ws}",
        "The agent calls it: “Run touch”",
    ]
    assert dialog.titles == ["No", "Yes"]
    assert not (ws / "a file").exists()
    dialog.click("Yes")
    await turn
    assert (ws / "a file").exists()
    assert (ws / "made-by-the-agent").exists()
    state = await client.state()
    (item,) = state["toolCalls"][-1]["content"]
    (terminal,) = state["terminals"]
    assert item == {"type": "terminal", "terminalId": terminal["terminalId"]}
    assert (terminal["command"], terminal["cwd"]) == (command, str(ws))
    assert terminal["exitStatus"] == {"exitCode": 0, "signal": None}


async def test_a_cancel_ends_a_command_in_its_terminal(client: Client, ws: Path) -> None:
    turn = client.start("acp.session.prompt", text="/run sh -c 'echo $$; exec sleep 600'")
    (await client.dialog()).click("Yes")

    def wrote(state: Any) -> Any:
        return state["terminals"] and state["terminals"][0]["output"].strip()

    pid = int(wrote(await client.eventually(wrote, "acp.session.state")))
    assert not gone(pid)
    await client.execute("acp.session.cancel")
    assert await turn == {"stopReason": "cancelled"}
    assert gone(pid)
    ended = await client.state()
    assert ended["terminals"][0]["exitStatus"] == {"exitCode": None, "signal": "SIGTERM"}
    assert ended["toolCalls"][-1]["status"] == "cancelled"


# --- a client that draws for itself ----------------------------------------------------------

RICH = {"transcript": True, "reveal": True, "permission": True, "changes": True}


async def test_the_whole_turn_in_an_editor_with_means_of_its_own(
    bare: Client, ws: Path, greeting: Path
) -> None:
    await bare.begin(ws, settings=SETTINGS, sidecar=RICH)
    session = await bare.new()
    answers: list[asyncio.Future[Any]] = []

    def permission(params: Any) -> Any:
        answers.append(asyncio.get_running_loop().create_future())
        return answers[-1]

    bare.own_answers["acp/permission"] = permission
    turn = bare.start("acp.session.prompt", text="Show me")
    asked = await bare.nth("acp/permission")
    assert [asked] == await bare.execute("acp.permission.pending")
    await bare.until(lambda: answers)
    answers[0].set_result({"optionId": "go-once"})
    assert await turn == {"stopReason": "end_turn"}
    assert greeting.read_text() == GREETED
    note = ws / "demo-notes" / "note-1.md"

    # The standard ways are not used beside the editor's own.
    await bare.until(lambda: bare.all("acp/reveal")[-1]["uri"] == note.as_uri())
    assert (bare.shown_documents, bare.dialogs) == ([], [])
    state = await bare.state()
    edit = state["toolCalls"][2]
    assert bare.all("acp/reveal")[2] == {
        "sessionId": session["sessionId"],
        "toolCallId": edit["toolCallId"],
        "uri": greeting.as_uri(),
        "selection": None,
        "kind": "edit",
    }
    assert bare.all("acp/reveal")[1]["selection"] == {
        "start": {"line": 2, "character": 0},
        "end": {"line": 2, "character": 0},
    }

    # Where the agent is, also where that was not shown.
    outside = next(follow for follow in bare.all("acp/follow") if follow["reason"] == "outside")
    assert (outside["sessionId"], outside["shown"]) == (session["sessionId"], False)
    assert outside["location"]["path"].endswith("os.py")

    # What waits for review, whenever it changes.
    review = await bare.execute("acp.review.list")
    await bare.until(lambda: bare.all("acp/changes")[-1]["changes"] == review)
    assert bare.all("acp/changes")[-1]["sessionId"] == session["sessionId"]

    # The conversation, block by block.
    def drawn() -> dict[str, Any]:
        latest: dict[str, Any] = {}
        for params in bare.all("acp/transcript"):
            assert params["sessionId"] == session["sessionId"]
            latest |= {block["id"]: block for block in params["blocks"]}
        return latest

    await bare.until(lambda: drawn()["status"].get("stopReason") == "end_turn")
    snapshot = await bare.protocol.send_request_async(
        "acp/transcript/snapshot", {"sessionId": session["sessionId"]}
    )
    assert {block["id"]: block for block in snapshot["blocks"]} == drawn()
    assert [block["id"] for block in snapshot["blocks"]] == [
        *(entry["key"] for entry in state["order"]),
        "status",
    ]
    kinds = [block["kind"] for block in snapshot["blocks"]]
    assert set(kinds) == {"message", "plan", "toolCall", "permission", "status"}
    block = next(block for block in snapshot["blocks"] if block.get("title") == edit["title"])
    assert {**edit, "toolKind": "edit", "kind": "toolCall", "id": block["id"]} == block


async def test_an_editor_s_own_dialog_is_never_an_approval_by_default(
    bare: Client, ws: Path, greeting: Path
) -> None:
    await bare.begin(ws, settings=SETTINGS, sidecar={"permission": True})
    await bare.new()
    for answer in (None, {}, {"optionId": "yes"}, {"optionId": None}, "go-once", True):
        bare.own_answers["acp/permission"] = lambda params, answer=answer: answer
        assert await bare.prompt("/edit") == "end_turn"
    assert greeting.read_text() == GREETING
    state = await bare.state()
    assert [permission["optionId"] for permission in state["permissions"]] == ["skip-once"] * 6


async def test_the_user_s_own_acts_pause_following_until_the_next_prompt(
    bare: Client, ws: Path, greeting: Path
) -> None:
    await bare.begin(ws, settings=SETTINGS, sidecar={"userActivity": True})
    await bare.new()
    turn = bare.start("acp.session.prompt", text="/edit")
    dialog = await bare.dialog()
    await bare.until(bare.revealed)
    bare.protocol.notify("acp/userActivity", {"uri": greeting.as_uri(), "kind": "scroll"})
    paused = await bare.until(lambda: [f for f in bare.all("acp/follow") if f["paused"]])
    assert paused[-1]["location"]["path"] == str(greeting)
    dialog.click("Yes")
    await turn
    shown = len(bare.revealed())
    state = await bare.state()
    assert state["follow"]["paused"] is True
    await bare.prompt("/read greeting.py:3")
    await bare.until(lambda: len(bare.revealed()) > shown)
    assert (await bare.state())["follow"]["paused"] is False
