"""Sessions of an earlier day: listed, and opened again after the editor was restarted."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.editor import Editor, LspError, capabilities, editing
from tests.e2e.puppet import Puppet
from tests.e2e.test_turn_oddities import begin, stopped

ONLY_LOAD = {"loadSession": True}
ONLY_RESUME = {"sessionCapabilities": {"resume": {}}}


async def day(puppet: Puppet, ws: Path, settings: dict[str, Any], *words: str) -> None:
    """An editor in which a session is opened and prompts are sent; then it is closed."""
    async with editing() as editor:
        await editor.initialize(ws, settings=settings)
        await editor.execute("acp.session.new")
        for text in words:
            turn, prompt = await begin(editor, puppet, text=text)
            puppet.say("done")
            puppet.end_turn(prompt)
            assert await turn == stopped("end_turn")
        await editor.close()


async def test_a_session_is_found_and_opened_after_a_restart_of_the_editor(
    puppet: Puppet, ws: Path, settings: dict[str, Any]
) -> None:
    """An agent that can load sessions, and lists none."""
    puppet.capabilities = ONLY_LOAD
    await day(puppet, ws, settings, "Rename the\nfunction", "and more")
    await day(puppet, ws, settings)
    async with editing() as editor:
        await editor.initialize(ws, settings=settings)
        page = await editor.execute("acp.session.list")
        assert page["nextCursor"] is None
        rows = page["sessions"]
        assert [(row["agentSessionId"], row["title"]) for row in rows] == [
            ("S2", None),
            ("S1", "Rename the function"),
        ]
        assert {row["cwd"] for row in rows} == {str(ws)}
        assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT.*\+00:00", row["updatedAt"]) for row in rows)

        def loaded(params: dict[str, Any]) -> Any:
            puppet.update("session_info_update", params["sessionId"], title="The agent's title")
            return None

        puppet.answers["session/load"] = loaded
        opened = await editor.execute("acp.session.load", agentSessionId="S1")
        assert opened["agentSessionId"] == "S1"
        rows = (await editor.execute("acp.session.list"))["sessions"]
        assert [(row["agentSessionId"], row["title"]) for row in rows] == [
            ("S1", "The agent's title"),
            ("S2", None),
        ]
        await editor.close()


async def test_the_agent_s_own_list_comes_first_and_what_it_leaves_out_last(
    puppet: Puppet, ws: Path, settings: dict[str, Any]
) -> None:
    puppet.capabilities = {"loadSession": True, "sessionCapabilities": {"list": {}}}
    for words in ("first", "second", "third"):
        await day(puppet, ws, settings, words)
    other = {"sessionId": "elsewhere", "cwd": str(ws), "title": "Of another client"}
    pages = {
        None: {"sessions": [{"sessionId": "S2", "cwd": str(ws)}], "nextCursor": "more"},
        "more": {"sessions": [other, {"sessionId": "S1", "cwd": str(ws), "title": "Own"}]},
    }
    puppet.answers["session/list"] = lambda params: pages[params.get("cursor")]
    async with editing() as editor:
        await editor.initialize(ws, settings=settings)
        for _ in range(2):
            first = await editor.execute("acp.session.list")
            # A title that the agent does not give is the first prompt.
            assert [(row["agentSessionId"], row["title"]) for row in first["sessions"]] == [
                ("S2", "second")
            ]
            last = await editor.execute("acp.session.list", cursor=first["nextCursor"])
            assert [(row["agentSessionId"], row["title"]) for row in last["sessions"]] == [
                ("elsewhere", "Of another client"),
                ("S1", "Own"),
                ("S3", "third"),
            ]
            assert last["nextCursor"] is None
        await editor.close()


@pytest.mark.parametrize(
    ("able", "asked", "sent"),
    [
        (ONLY_LOAD, "resume", "session/load"),
        (ONLY_RESUME, "load", "session/resume"),
        ({**ONLY_LOAD, **ONLY_RESUME}, "load", "session/load"),
        ({**ONLY_LOAD, **ONLY_RESUME}, "resume", "session/resume"),
    ],
)
async def test_a_session_is_opened_in_the_way_the_agent_offers(
    able: dict[str, Any], asked: str, sent: str, editor: Editor, puppet: Puppet
) -> None:
    puppet.capabilities = able
    puppet.answers[sent] = lambda params: {}
    await editor.execute(f"acp.session.{asked}", agentSessionId="S9")
    methods = [message.get("method") for message in puppet.seen]
    assert [method for method in methods if method.startswith("session/")] == [sent]
    told = [one["message"] for one in editor.all("window/showMessage")]
    hidden = (asked, sent) == ("load", "session/resume")
    assert any("conversation so far is not shown" in text for text in told) == hidden


@pytest.mark.parametrize(
    ("command", "capability"),
    [
        ("load", "loadSession"),
        ("resume", "sessionCapabilities.resume"),
        ("fork", "sessionCapabilities.fork"),
        ("list", "sessionCapabilities.list"),
    ],
)
async def test_an_agent_that_keeps_no_sessions_says_what_it_lacks(
    command: str, capability: str, editor: Editor, puppet: Puppet
) -> None:
    puppet.capabilities = {}
    with pytest.raises(LspError, match=f"lacks {capability}"):
        await editor.execute(f"acp.session.{command}", agentSessionId="S9")


async def test_a_session_knows_its_folder(
    puppet: Puppet, ws: Path, tmp_path: Path, settings: dict[str, Any]
) -> None:
    """It is opened there, whatever folder the editor shows; a folder that is named wins."""
    await day(puppet, ws, settings, "hello")
    puppet.answers["session/load"] = lambda params: {}
    other = tmp_path / "other"
    other.mkdir()
    async with editing() as editor:
        await editor.initialize(other, settings=settings)
        opened = await editor.execute("acp.session.load", agentSessionId="S1")
        assert (await editor.state())["cwd"] == str(ws)
        await editor.execute("acp.session.close", sessionId=opened["sessionId"])
        await editor.execute("acp.session.load", agentSessionId="S1", cwd=str(other))
        assert (await editor.state())["cwd"] == str(other)
        await editor.close()


@pytest.mark.parametrize("known", [True, False])
async def test_a_session_without_a_history_is_called_as_it_was(
    known: bool, puppet: Puppet, ws: Path, settings: dict[str, Any], tmp_path: Path
) -> None:
    """Also by a file of an earlier version, which may know no title."""
    puppet.capabilities = ONLY_RESUME
    puppet.answers["session/resume"] = lambda params: {}
    await day(puppet, ws, settings, "Rename the function")
    if not known:
        (file,) = (tmp_path / "state").glob("**/sessions/*.json")
        values = json.loads(file.read_bytes())
        file.write_text(json.dumps({key: values[key] for key in values if key != "title"}))
    async with editing() as editor:
        await editor.initialize(ws, settings=settings, can=capabilities(transcript=True))
        await editor.execute("acp.session.resume", agentSessionId="S1")
        before = "Rename the function" if known else None
        assert (await editor.state())["title"] == before

        def told() -> list[str | None]:
            blocks = [one for params in editor.all("acp/transcript") for one in params["blocks"]]
            return [one["title"] for one in blocks if one["kind"] == "status"]

        if known:
            await editor.until(lambda: told()[-1:] == ["Rename the function"])
        turn, prompt = await begin(editor, puppet, text="Go on")
        puppet.end_turn(prompt)
        await turn
        after = before or "Go on"
        assert told()[-1] == after
        (row,) = (await editor.execute("acp.session.list"))["sessions"]
        assert row["title"] == after
        (session,) = await editor.execute("acp.session.opened")
        assert session["title"] == after
        await editor.close()


async def test_what_the_agent_has_no_more_is_forgotten(
    puppet: Puppet, ws: Path, settings: dict[str, Any]
) -> None:
    puppet.capabilities = {"loadSession": True, "sessionCapabilities": {"delete": {}}}
    for words in ("first", "second", "third"):
        await day(puppet, ws, settings, words)
    puppet.answers["session/delete"] = lambda params: {}
    async with editing() as editor:
        await editor.initialize(ws, settings=settings)
        await editor.execute("acp.session.delete", agentSessionId="S3")
        _, opening = editor.start("acp.session.load", agentSessionId="S1")
        request = await puppet.incoming("session/load")
        puppet.send({"id": request["id"], "error": {"code": -32002, "message": "not found"}})
        with pytest.raises(LspError, match="not found"):
            await opening
        rows = (await editor.execute("acp.session.list"))["sessions"]
        assert [row["agentSessionId"] for row in rows] == ["S2"]
        await editor.close()


@pytest.mark.parametrize("deletes", [True, False])
async def test_the_list_says_which_sessions_can_be_deleted(
    deletes: bool, puppet: Puppet, ws: Path, settings: dict[str, Any]
) -> None:
    """Those the agent deletes, and of them not the one that is open."""
    offered = {"delete": {}} if deletes else {}
    puppet.capabilities = {"loadSession": True, "sessionCapabilities": offered}
    for words in ("first", "second"):
        await day(puppet, ws, settings, words)
    puppet.answers["session/load"] = lambda params: {}
    puppet.answers["session/delete"] = lambda params: {}
    async with editing() as editor:
        await editor.initialize(ws, settings=settings)

        async def deletable() -> dict[str, bool]:
            rows = (await editor.execute("acp.session.list"))["sessions"]
            return {row["agentSessionId"]: row["deletable"] for row in rows}

        assert await deletable() == {"S1": deletes, "S2": deletes}
        opened = await editor.execute("acp.session.load", agentSessionId="S1")
        assert await deletable() == {"S1": False, "S2": deletes}
        await editor.execute("acp.session.close", sessionId=opened["sessionId"])
        assert await deletable() == {"S1": deletes, "S2": deletes}
        if deletes:
            await editor.execute("acp.session.delete", agentSessionId="S1")
            assert await deletable() == {"S2": True}
        await editor.close()


async def test_a_flood_of_titles_is_remembered_by_its_last(
    puppet: Puppet, ws: Path, settings: dict[str, Any]
) -> None:
    async with editing() as editor:
        await editor.initialize(ws, settings=settings)
        opened = await editor.execute("acp.session.new")
        for number in range(500):
            puppet.update("session_info_update", title=f"Title {number}")
        puppet.say("done")

        async def heard() -> bool:
            return bool((await editor.state())["messages"])

        await editor.eventually(heard)
        await editor.execute("acp.session.close", sessionId=opened["sessionId"])
        (row,) = (await editor.execute("acp.session.list"))["sessions"]
        assert row["title"] == "Title 499"
        await editor.close()
