"""A session that can never be opened again: what its agent has changed still waits for review."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.e2e.editor import Editor, LspError, editing
from tests.e2e.hunks.table import EDITED, LINES, Table, can
from tests.e2e.puppet import Puppet

KEEPS_NONE: dict[str, Any] = {}
KEEPS_SOME = {"loadSession": True, "sessionCapabilities": {"list": {}}}


@pytest.fixture
def table(idle_editor: Editor, puppet: Puppet, ws: Path) -> Table:
    puppet.capabilities = KEEPS_NONE
    return Table(idle_editor, puppet, ws)


async def worked(table: Table, settings: dict[str, Any], *, killed: bool = False) -> list[str]:
    """A session in which the agent has changed a file, S1; then the sidecar ends. The hunks."""
    await table.start(settings, can())
    await table.agent_writes()
    ids = [hunk["id"] for hunk in await table.hunks()]
    assert len(ids) == 2
    if killed:
        table.editor.process.kill()
        await table.editor.ended()
    else:
        await table.editor.close()
    return ids


def hunks(listed: list[dict[str, Any]]) -> list[str]:
    return [hunk["id"] for entry in listed for hunk in entry["hunks"]]


async def listed(editor: Editor, **which: Any) -> list[str]:
    return hunks(await editor.execute("acp.review.list", **which))


async def earlier(editor: Editor) -> list[tuple[str, str | None]]:
    rows = (await editor.execute("acp.session.list"))["sessions"]
    return [(row["agentSessionId"], row["title"]) for row in rows]


def told(editor: Editor) -> str:
    return "\n".join(each["message"] for each in editor.all("window/showMessage"))


@pytest.mark.parametrize("killed", [True, False])
@pytest.mark.parametrize("gives_ids_anew", [True, False])
@pytest.mark.parametrize("how", ["load", "resume"])
async def test_what_waits_goes_on_in_a_new_session(
    how: str, killed: bool, gives_ids_anew: bool, table: Table, settings: dict[str, Any]
) -> None:
    before = await worked(table, settings, killed=killed)
    if gives_ids_anew:
        table.puppet.sessions.clear()
    async with editing() as again:
        await again.initialize(table.ws, settings=settings, can=can(changes=True))
        opened = await again.execute(f"acp.session.{how}", agentSessionId="S1")
        name = "S1" if gives_ids_anew else "S2"
        assert (opened["new"], opened["agentSessionId"]) == (True, name)
        (change,) = (await again.nth("acp/changes"))["changes"]
        assert (change["uri"], hunks([change])) == (table.uri, before)
        assert "cannot open the session again" in told(again)
        await again.execute("acp.review.keep", hunkId=before[0])
        await again.execute("acp.review.revert", hunkId=before[1])
        assert table.path.read_text() == LINES.replace("two", "TWO")
        assert await listed(again) == []
        # And it is a session like any other.
        table.editor = again
        await table.agent_writes()
        assert table.path.read_text() == EDITED
        assert len(await again.execute("acp.checkpoint.list")) == 2
        await again.close()


async def test_one_that_the_agent_does_not_know_any_more_goes_on_too(
    table: Table, settings: dict[str, Any]
) -> None:
    table.puppet.capabilities = KEEPS_SOME
    before = await worked(table, settings)
    async with editing() as again:
        await again.initialize(table.ws, settings=settings, can=can(changes=True))
        _, opening = again.start("acp.session.load", agentSessionId="S1")
        request = await table.puppet.incoming("session/load")
        table.puppet.send({"id": request["id"], "error": {"code": -32002, "message": "gone"}})
        opened = await opening
        assert (opened["new"], opened["agentSessionId"]) == (True, "S2")
        assert await listed(again) == before
        table.puppet.answers["session/list"] = lambda params: {"sessions": []}
        assert [name for name, _ in await earlier(again)] == ["S2"]
        await again.close()


async def test_one_that_the_agent_only_fails_to_open_is_tried_again(
    table: Table, settings: dict[str, Any]
) -> None:
    table.puppet.capabilities = KEEPS_SOME
    before = await worked(table, settings)
    async with editing() as again:
        await again.initialize(table.ws, settings=settings, can=can(changes=True))
        _, opening = again.start("acp.session.load", agentSessionId="S1")
        request = await table.puppet.incoming("session/load")
        table.puppet.send({"id": request["id"], "error": {"code": -32603, "message": "busy"}})
        with pytest.raises(LspError, match="busy"):
            await opening
        table.puppet.answers["session/load"] = lambda params: {}
        opened = await again.execute("acp.session.load", agentSessionId="S1")
        assert ("new" in opened, opened["agentSessionId"]) == (False, "S1")
        assert await listed(again) == before
        await again.close()


async def test_it_is_among_the_earlier_sessions_until_all_is_decided(
    table: Table, settings: dict[str, Any]
) -> None:
    await worked(table, settings)
    async with editing() as again:
        await again.initialize(table.ws, settings=settings)
        assert await earlier(again) == [("S1", "go")]
        await again.execute("acp.session.load", agentSessionId="S1")
        await again.execute("acp.session.close")
        # What waits stays, also when the session is closed.
        assert [name for name, _ in await earlier(again)] == ["S2"]
        await again.execute("acp.session.load", agentSessionId="S2")
        await again.execute("acp.review.keep")
        await again.execute("acp.session.close")
        with pytest.raises(LspError, match=r"lacks sessionCapabilities\.list"):
            await again.execute("acp.session.list")
        for name in ("S1", "S2", "S3"):
            with pytest.raises(LspError, match="lacks loadSession"):
                await again.execute("acp.session.load", agentSessionId=name)
        await again.close()


async def test_a_reload_after_a_reload_loses_nothing(
    table: Table, settings: dict[str, Any]
) -> None:
    before = await worked(table, settings)
    for name, following in (("S1", "S2"), ("S2", "S3"), ("S3", "S4")):
        async with editing() as again:
            await again.initialize(table.ws, settings=settings)
            opened = await again.execute("acp.session.load", agentSessionId=name)
            assert opened["agentSessionId"] == following
            assert await listed(again) == before
            assert ("cannot open" in told(again)) == (name == "S1")
            again.process.kill()
            await again.ended()


async def test_another_session_of_the_same_id_takes_nothing_from_it(
    table: Table, settings: dict[str, Any]
) -> None:
    before = await worked(table, settings)
    table.puppet.sessions.clear()
    async with editing() as again:
        await again.initialize(table.ws, settings=settings)
        fresh = await again.execute("acp.session.new")
        assert fresh["agentSessionId"] == "S1"
        assert await listed(again) == []
        assert await again.execute("acp.checkpoint.list") == []
        ((name, title),) = await earlier(again)
        assert (name != "S1", title) == (True, "go")
        other = await again.execute("acp.session.load", agentSessionId=name)
        assert other["agentSessionId"] == "S2"
        assert await listed(again, sessionId=other["sessionId"]) == before
        assert await listed(again, sessionId=fresh["sessionId"]) == []
        await again.close()


async def test_one_that_is_open_in_another_window_is_not_taken_from_it(
    table: Table, settings: dict[str, Any]
) -> None:
    await table.start(settings, can())
    await table.agent_writes()
    before = await listed(table.editor)
    async with editing() as other:
        await other.initialize(table.ws, settings=settings)
        with pytest.raises(LspError, match="lacks loadSession"):
            await other.execute("acp.session.load", agentSessionId="S1")
        with pytest.raises(LspError, match=r"lacks sessionCapabilities\.list"):
            await other.execute("acp.session.list")
        await other.close()
    with pytest.raises(LspError, match="lacks loadSession"):
        await table.editor.execute("acp.session.load", agentSessionId="S1")
    assert await listed(table.editor) == before


async def test_one_that_was_revived_under_another_id_keeps_what_waits(
    table: Table, settings: dict[str, Any]
) -> None:
    await table.start(settings, can())
    await table.agent_writes()
    before = await listed(table.editor)
    await table.editor.execute("acp.agent.restart", agent="puppet")
    _, turn = table.editor.start("acp.session.prompt", text="on")
    prompt = await table.puppet.prompted()
    assert prompt["params"]["sessionId"] == "S2"
    table.editor.process.kill()
    await table.editor.ended()
    turn.cancel()
    async with editing() as again:
        await again.initialize(table.ws, settings=settings)
        opened = await again.execute("acp.session.load", agentSessionId="S2")
        assert opened["agentSessionId"] == "S3"
        assert await listed(again) == before
        await again.close()
