"""Prompts by command: waited for, cancelled, queued; and following them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from tests.e2e.lsp_client import Client, Refused

pytestmark = pytest.mark.filterwarnings("error::pytest_lsp.LspSpecificationWarning")


async def test_a_prompt_waits_for_the_end_of_its_turn_and_shows_progress(
    client: Client, session: dict[str, Any]
) -> None:
    turn = client.start("acp.session.prompt", text="/ask")
    (await client.dialog()).click("Yes")
    assert await turn == {"stopReason": "end_turn"}
    (said,) = [
        message["content"]
        for message in (await client.state())["messages"]
        if message["role"] == "agent"
    ]
    assert said == [{"type": "text", "text": "The answers: yes."}]

    def reports() -> Any:
        latest = list(client.progress_reports.values())[-1]
        return latest if isinstance(latest[-1], types.WorkDoneProgressEnd) else None

    begin, *between, _ = await client.until(reports)
    assert (begin.title, begin.cancellable) == ("demo is working", True)
    assert [report.message for report in between] == ["Question 1 of 1"]


async def test_a_prompt_that_does_not_wait_gives_the_turn_s_id(
    client: Client, session: dict[str, Any]
) -> None:
    begun = await client.execute("acp.session.prompt", text="/wait 600", wait=False)
    assert set(begun) == {"turnId"}
    await client.eventually(lambda state: state["status"] == "running", "acp.session.state")
    assert await client.execute("acp.session.cancel") == {}
    state = await client.eventually(lambda state: state["stopReason"], "acp.session.state")
    assert (state["status"], state["stopReason"]) == ("idle", "cancelled")


@pytest.mark.parametrize("way", ["request", "command", "progress"])
async def test_a_turn_is_cancelled(client: Client, session: dict[str, Any], way: str) -> None:
    turn = client.start("acp.session.prompt", text="/wait 600")

    def works(state: dict[str, Any]) -> bool:
        return any(call["content"] for call in state["toolCalls"])

    await client.eventually(works, "acp.session.state")
    if way == "request":
        turn.cancel()
    elif way == "command":
        await client.execute("acp.session.cancel")
    else:
        token = list(client.progress_reports)[-1]
        client.window_work_done_progress_cancel(types.WorkDoneProgressCancelParams(token))
    assert await turn == {"stopReason": "cancelled"}
    call = (await client.state())["toolCalls"][0]
    assert (call["status"], call["closedBy"]) == ("cancelled", "sidecar")
    # The session goes on.
    assert await client.prompt("/refuse") == "refusal"


async def test_prompts_queue_and_the_queue_can_be_changed(
    client: Client, session: dict[str, Any]
) -> None:
    assert await client.execute("acp.session.queue") == []
    first = client.start("acp.session.prompt", text="/ask")
    dialog = await client.dialog()
    second = client.start("acp.session.prompt", text="/flood 3")
    third = client.start("acp.session.prompt", text="never sent")
    waiting = await client.eventually(lambda queue: len(queue) == 2, "acp.session.queue")
    assert [entry["text"] for entry in waiting] == ["/flood 3", "never sent"]
    assert (await client.state())["queue"] == waiting
    left = await client.execute(
        "acp.session.queue",
        edit={"turnId": waiting[0]["turnId"], "text": "/flood 4"},
        drop=waiting[1]["turnId"],
    )
    assert left == [{"turnId": waiting[0]["turnId"], "text": "/flood 4"}]
    assert await third == {"stopReason": "cancelled"}
    with pytest.raises(Refused, match=r"No prompt .* is waiting; it may have been sent already"):
        await client.execute("acp.session.queue", drop=waiting[1]["turnId"])
    with pytest.raises(Refused, match="Nothing would be left to send: drop the prompt instead"):
        await client.execute("acp.session.queue", edit={"turnId": waiting[0]["turnId"], "text": ""})
    dialog.click("Yes")
    assert [await first, await second] == [{"stopReason": "end_turn"}] * 2
    said = [
        message["content"][0]["text"]
        for message in (await client.state())["messages"]
        if message["role"] == "agent"
    ]
    assert said == ["The answers: yes.", "0 1 2 3 "]


async def test_a_turn_that_fails_says_so(client: Client, session: dict[str, Any]) -> None:
    with pytest.raises(Refused, match="demo answered the prompt with an error: failed, as"):
        await client.prompt("/fail")
    shown = await client.until(lambda: client.messages)
    assert [message.type for message in shown] == [types.MessageType.Error]
    state = await client.state()
    assert state["status"] == "idle"
    # The message goes by; the conversation keeps what has become of the prompt.
    assert [entry["type"] for entry in state["order"]] == ["message", "notice"]
    (notice,) = state["notices"]
    assert notice["severity"] == "error"
    assert f"{notice['title']}: {notice['description']}" == shown[0].message
    with pytest.raises(Refused, match=r"(?s)exit.*3.*crashed, as the prompt asked"):
        await client.prompt("/crash")
    assert (await client.state())["status"] == "dead"
    # It is started again; the one of the demo has forgotten everything, which is said.
    assert await client.prompt("/refuse") == "refusal"
    assert "knows nothing of the conversation" in client.messages[-1].message
    assert (await client.state())["status"] == "idle"


async def test_a_prompt_carries_context_and_content(
    client: Client, session: dict[str, Any], ws: Path
) -> None:
    other = ws / "other.py"
    other.write_text("one\ntwo\n")
    uri = client.open(other)
    client.type(uri, 1, 0, "unsaved ")
    lines = {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 3}}
    link = {"type": "resource_link", "uri": "https://example.org/", "name": "the web"}
    await client.prompt("/read", content=[link], context=[{"uri": uri, "range": lines}])
    text, linked, embedded = (await client.state())["messages"][0]["content"]
    assert (text, linked) == ({"type": "text", "text": "/read"}, link)
    assert (embedded["type"], embedded["resource"]["uri"]) == ("resource", uri)
    assert embedded["resource"]["text"] == "unsaved two\n"


# --- following -----------------------------------------------------------------------------


async def test_following_is_switched_off_and_on(client: Client, session: dict[str, Any]) -> None:
    assert await client.execute("acp.follow.set", enabled=False) == {"enabled": False}
    await client.prompt("/read greeting.py:3")
    follow = (await client.state())["follow"]
    assert client.revealed() == []
    assert (follow["enabled"], follow["shown"], follow["reason"]) == (False, False, "off")
    assert follow["location"]["line"] == 3
    assert await client.execute("acp.follow.set", enabled=True) == {"enabled": True}
    await client.prompt("/read greeting.py:3")
    await client.until(lambda: ("greeting.py", 2) in client.revealed())
    state = await client.eventually(lambda state: state["follow"]["shown"], "acp.session.state")
    assert state["follow"]["reason"] is None
