"""When it is shown: not while the user types, not too often, not where it is switched off."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from acp_sidecar.workspace.uris import path_to_uri
from tests.e2e.editor import Editor, capabilities
from tests.e2e.follow.shown import SHOW, at, follow, not_shown
from tests.e2e.puppet import Puppet


async def test_typing_pauses_until_the_next_prompt(
    editor: Editor, puppet: Puppet, turn: Any, ws: Path, file: Path
) -> None:
    (ws / "mine.py").write_text("mine\n")
    uri = editor.open(ws / "mine.py")
    editor.type(uri, 0, 0, "x")

    async def paused() -> bool:
        puppet.tool("t1", locations=at(file, 1))
        return bool((await follow(editor))["paused"])

    await editor.eventually(paused)
    puppet.tool("t2", locations=at(file, 5))
    assert await not_shown(editor, file) == "paused"
    shown = len(editor.all(SHOW))
    puppet.end_turn(turn)
    editor.start("acp.session.prompt", text="more")
    await puppet.prompted()
    puppet.tool("t3", locations=at(file, 6))
    await editor.nth(SHOW, shown + 1)
    assert editor.revealed()[-1] == ("a.py", 5)


async def test_our_own_edit_is_no_act_of_the_user_s(
    editor: Editor, puppet: Puppet, turn: Any, file: Path
) -> None:
    editor.open(file)
    assert "result" in await puppet.read(file)
    assert "result" in await puppet.write(file, "changed\n")
    assert (await follow(editor))["paused"] is False
    uri = path_to_uri(str(file))
    assert editor.documents[uri].text == "changed\n"
    puppet.tool("t1", locations=at(file, 1))
    await editor.nth(SHOW)


async def test_a_reload_from_disk_is_no_act_of_the_user_s(
    editor: Editor, puppet: Puppet, turn: Any, file: Path
) -> None:
    uri = editor.open(file)
    file.write_text("by the agent\n")
    text = "by the agent\n"
    editor.documents[uri].text = text
    identity = {"uri": uri, "version": 2}
    editor.notify(
        "textDocument/didChange", {"textDocument": identity, "contentChanges": [{"text": text}]}
    )
    puppet.tool("t1", locations=at(file, 1))
    await editor.nth(SHOW)
    assert (await follow(editor))["paused"] is False


async def test_following_can_be_switched_off(
    editor: Editor, puppet: Puppet, turn: Any, file: Path
) -> None:
    assert await editor.execute("acp.follow.set", enabled=False) == {"enabled": False}
    puppet.tool("t1", locations=at(file, 1))
    assert await not_shown(editor, file) == "off"
    assert (await follow(editor))["enabled"] is False
    assert editor.all(SHOW) == []


async def test_switched_on_it_goes_to_where_the_agent_is(
    editor: Editor, puppet: Puppet, turn: Any, file: Path
) -> None:
    """In a pause too: whoever asks for it does not wait for the agent to move on."""
    puppet.tool("t1", locations=at(file, 1))
    await editor.nth(SHOW)
    editor.notify("acp/userActivity", {"uri": file.as_uri(), "kind": "switch"})

    async def paused() -> bool:
        return bool((await follow(editor))["paused"])

    await editor.eventually(paused)
    puppet.tool("t2", locations=at(file, 2))
    assert await not_shown(editor, file) == "paused"
    await editor.execute("acp.follow.set", enabled=True)
    await editor.nth(SHOW, 2)
    assert editor.revealed() == [("a.py", 0), ("a.py", 1)]

    async def landed() -> bool:
        return bool((await follow(editor))["shown"])

    await editor.eventually(landed)
    assert (await follow(editor))["paused"] is False


async def test_switched_on_after_the_turn_it_goes_nowhere(
    editor: Editor, puppet: Puppet, turn: Any, file: Path
) -> None:
    puppet.tool("t1", locations=at(file, 1))
    await editor.nth(SHOW)
    await editor.execute("acp.follow.set", enabled=False)
    puppet.end_turn(turn)

    async def over() -> bool:
        return bool((await editor.state())["status"] == "idle")

    await editor.eventually(over)
    await editor.execute("acp.follow.set", enabled=True)
    assert (await follow(editor))["shown"] is True
    assert len(editor.all(SHOW)) == 1


class TestRate:
    """A flood of places: few reveals, and the last one lands."""

    @pytest.fixture
    def settings(self, puppet: Puppet) -> dict[str, Any]:
        return {
            "agents": {"puppet": puppet.setting},
            "defaultAgent": "puppet",
            "follow": {"maxPerSecond": 5},
        }

    async def test_it_is_bounded_and_the_last_one_lands(
        self, editor: Editor, puppet: Puppet, turn: Any, ws: Path, file: Path
    ) -> None:
        clock = asyncio.get_running_loop().time
        began = clock()
        calls = [
            {
                "sessionUpdate": "tool_call",
                "toolCallId": f"t{line}",
                "title": f"t{line}",
                "locations": at(file, line),
            }
            for line in range(1, 11)
        ]
        puppet.send(*map(puppet.update_message, calls))
        await editor.until(lambda: editor.revealed()[-1:] == [("a.py", 9)])
        shown = len(editor.all(SHOW))
        assert shown <= 3
        # From one to the next a busy machine may take longer or shorter; for all longer only.
        assert clock() - began >= (shown - 1) / 5


class TestRicherEditor:
    """An editor with a place of its own for the agent."""

    @pytest.fixture
    async def editor(self, idle_editor: Editor, ws: Path, settings: dict[str, Any]) -> Editor:
        can = capabilities(reveal=True, userActivity=True)
        await idle_editor.initialize(ws, settings=settings, can=can)
        return idle_editor

    async def test_it_gets_acp_reveal_instead(
        self, editor: Editor, puppet: Puppet, turn: Any, session: Any, file: Path
    ) -> None:
        puppet.tool("t1", locations=at(file, 3))
        shown = await editor.nth("acp/reveal")
        assert shown["uri"] == path_to_uri(str(file))
        assert shown["selection"]["start"] == {"line": 2, "character": 0}
        assert (shown["sessionId"], shown["toolCallId"]) == (session["sessionId"], "t1")
        assert editor.all(SHOW) == []

    async def test_its_reason_is_kept(
        self, editor: Editor, puppet: Puppet, turn: Any, file: Path
    ) -> None:
        editor.answers["acp/reveal"] = lambda params: {"shown": False, "reason": "too busy"}
        puppet.tool("t1", locations=at(file, 3))
        assert await not_shown(editor, file) == "too busy"
        puppet.tool("t2", locations=at(file, 4))
        await editor.nth("acp/reveal", 2)

    async def test_it_hears_where_the_agent_is_also_when_not_shown(
        self, editor: Editor, puppet: Puppet, turn: Any
    ) -> None:
        puppet.tool("t1", locations=at("/etc/hostname", 1))

        def told() -> Any:
            return [
                params
                for params in editor.all("acp/follow")
                if params["location"] == {"path": "/etc/hostname", "line": 1}
            ]

        (params,) = await editor.until(told)
        assert (params["shown"], params["reason"]) == (False, "outside")

    async def test_its_user_takes_over(
        self, editor: Editor, puppet: Puppet, turn: Any, file: Path
    ) -> None:
        editor.notify("acp/userActivity", {"uri": path_to_uri(str(file)), "kind": "scroll"})
        puppet.tool("t1", locations=at(file, 1))
        assert await not_shown(editor, file) == "paused"
        assert editor.all("acp/reveal") == []


class TestEditorThatTellsOfEdits:
    """An editor that shows places beside the user's: typing elsewhere is in nobody's way."""

    @pytest.fixture
    async def editor(self, idle_editor: Editor, ws: Path, settings: dict[str, Any]) -> Editor:
        can = capabilities(reveal=True, userActivity=True, userEdits=True)
        await idle_editor.initialize(ws, settings=settings, can=can)
        return idle_editor

    async def test_typing_elsewhere_does_not_pause(
        self, editor: Editor, puppet: Puppet, turn: Any, ws: Path, file: Path
    ) -> None:
        (ws / "mine.py").write_text("mine\n")
        editor.type(editor.open(ws / "mine.py"), 0, 0, "x")
        puppet.tool("t1", locations=at(file, 3))
        shown = await editor.nth("acp/reveal")
        assert shown["uri"] == path_to_uri(str(file))
        assert (await follow(editor))["paused"] is False

    async def test_what_it_tells_of_pauses(
        self, editor: Editor, puppet: Puppet, turn: Any, file: Path
    ) -> None:
        editor.notify("acp/userActivity", {"uri": path_to_uri(str(file)), "kind": "edit"})
        puppet.tool("t1", locations=at(file, 1))
        assert await not_shown(editor, file) == "paused"
