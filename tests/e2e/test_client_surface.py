"""What a rich client asks for beside the conversation: sessions, agents, its user's settings."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.editor import Editor, LspError, capabilities, editing
from tests.e2e.puppet import Puppet
from tests.e2e.test_turn_oddities import begin, stopped


def told(editor: Editor) -> list[str]:
    return [one["message"] for one in editor.all("window/showMessage")]


def program(path: Path, text: str = "exit 0\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}")
    path.chmod(0o755)
    return path


# --- the sessions that are open -----------------------------------------------------------


async def test_the_open_sessions_are_told_in_the_order_of_their_opening(
    editor: Editor, puppet: Puppet, ws: Path
) -> None:
    assert await editor.execute("acp.session.opened") == []
    first = await editor.execute("acp.session.new")
    second = await editor.execute("acp.session.new")
    puppet.update("session_info_update", "S1", title="The first")

    async def titled() -> Any:
        rows = await editor.execute("acp.session.opened")
        return rows if rows[0]["title"] else None

    common = {"agent": "puppet", "cwd": str(ws), "protocolVersion": 1, "status": "idle"}
    assert await editor.eventually(titled) == [
        {
            **common,
            "sessionId": first["sessionId"],
            "agentSessionId": "S1",
            "title": "The first",
        },
        {**common, "sessionId": second["sessionId"], "agentSessionId": "S2", "title": None},
    ]
    turn, prompt = await begin(editor, puppet, sessionId=second["sessionId"])
    rows = await editor.execute("acp.session.opened")
    assert [row["status"] for row in rows] == ["idle", "running"]
    puppet.end_turn(prompt)
    assert await turn == stopped("end_turn")
    await editor.execute("acp.session.close", sessionId=first["sessionId"])
    puppet.hang_up()

    async def dead() -> Any:
        rows = await editor.execute("acp.session.opened")
        return rows if rows[0]["status"] == "dead" else None

    (left,) = await editor.eventually(dead)
    assert left["sessionId"] == second["sessionId"]


async def test_the_status_block_says_which_session_it_is_of_and_its_commands(
    idle_editor: Editor, puppet: Puppet, ws: Path, settings: dict[str, Any]
) -> None:
    can = capabilities(transcript=True)
    await idle_editor.initialize(ws, settings=settings, can=can)
    await idle_editor.execute("acp.session.new")
    command = {"name": "plan", "description": "make a plan", "input": {"hint": "WHAT"}}
    puppet.update("available_commands_update", availableCommands=[command])

    def statuses() -> list[dict[str, Any]]:
        sent = idle_editor.all("acp/transcript")
        return [one for params in sent for one in params["blocks"] if one["kind"] == "status"]

    await idle_editor.until(lambda: any(one["commands"] for one in statuses()))
    block = statuses()[-1]
    assert (block["agent"], block["agentSessionId"], block["cwd"]) == ("puppet", "S1", str(ws))
    (shown,) = block["commands"]
    assert (shown["name"], shown["input"]["hint"]) == ("plan", "WHAT")
    snapshot = await idle_editor.call("acp/transcript/snapshot", {})
    assert snapshot["sessions"][0]["blocks"][-1] == block


async def test_how_a_turn_ended_is_told_in_words(
    idle_editor: Editor, puppet: Puppet, ws: Path, settings: dict[str, Any]
) -> None:
    await idle_editor.initialize(ws, settings=settings, can=capabilities(transcript=True))
    await idle_editor.execute("acp.session.new")

    async def told(reason: str) -> Any:
        _, turn = idle_editor.start("acp.session.prompt", text="go")
        puppet.end_turn(await puppet.prompted(), reason)
        await turn
        blocks = [one for params in idle_editor.all("acp/transcript") for one in params["blocks"]]
        status = next(one for one in reversed(blocks) if one["kind"] == "status")
        state = await idle_editor.state()
        assert status["stopText"] == state["stopText"]
        return status["stopText"]

    assert await told("refusal") == "The agent refused to go on"
    assert await told("end_turn") is None


# --- the agents there are -----------------------------------------------------------------


async def test_the_agents_that_can_be_started_come_first(
    tmp_path: Path, ws: Path, puppet: Puppet, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = program(tmp_path / "bin" / "gemini")
    monkeypatch.setenv("PATH", f"{found.parent}:/usr/bin:/bin")
    monkeypatch.setenv("SHELL", "/bin/false")
    registry = tmp_path / "registry.json"
    program(tmp_path / "bin" / "npx")
    entry = {
        "id": "fetched",
        "name": "Fetched One",
        "description": "Fetches itself.",
        "distribution": {"npx": {"package": "fetched-acp"}},
    }
    registry.write_text(json.dumps({"agents": [entry]}))
    settings = {
        "agents": {"puppet": puppet.setting, "mine": {"command": "/nowhere/mine"}},
        "defaultAgent": "puppet",
        "registry": {"source": str(registry)},
    }
    async with editing() as editor:
        await editor.initialize(ws, settings=settings)
        rows = await editor.execute("acp.agent.list")
        named = {row["name"]: row for row in rows}
        assert [row["name"] for row in rows][:3] == ["puppet", "demo", "gemini"]
        able = ["problem" not in row for row in rows]
        assert able == sorted(able, reverse=True)
        assert [row["name"] for row in rows if row["default"]] == ["puppet"]
        assert named["puppet"]["source"] == "settings"
        assert named["puppet"]["command"] == sys.executable
        assert named["gemini"] == {
            "name": "gemini",
            "source": "built-in",
            "command": str(found),
            "default": False,
            "offered": True,
        }
        assert named["mine"]["command"] is None
        assert "/nowhere/mine" in named["mine"]["problem"]
        assert "npm install -g opencode-ai" in named["opencode"]["problem"]
        fetched = named["fetched"]
        assert (fetched["title"], fetched["description"]) == ("Fetched One", "Fetches itself.")
        assert fetched["source"] == "registry"
        assert "registry.allow" in fetched["problem"]
        assert [row["offered"] for row in rows] == able
        await editor.close()


async def test_the_default_agent_comes_first_and_is_offered_also_where_it_is_missing(
    ws: Path, puppet: Puppet
) -> None:
    settings = {
        "agents": {"puppet": puppet.setting, "wanted": {"command": "/nowhere/wanted"}},
        "defaultAgent": "wanted",
    }
    async with editing() as editor:
        await editor.initialize(ws, settings=settings)
        rows = await editor.execute("acp.agent.list")
        assert rows[0]["name"] == "wanted" and "/nowhere/wanted" in rows[0]["problem"]
        offered = [row["name"] for row in rows if row["offered"]]
        assert offered == ["wanted", "demo", "puppet"]
        await editor.close()


async def test_a_running_agent_names_its_logins_in_the_list(editor: Editor, puppet: Puppet) -> None:
    puppet.answers["initialize"] = lambda params: {
        **puppet._initialize(params),
        "authMethods": [{"id": "web", "name": "By browser", "description": "Opens a page"}],
    }
    await editor.execute("acp.session.new")
    rows = await editor.execute("acp.agent.list")
    assert [row["login"] for row in rows if "login" in row] == [
        [{"methodId": "web", "name": "By browser", "type": "agent", "description": "Opens a page"}]
    ]


async def test_a_slow_login_shell_holds_up_nothing_but_the_list(
    tmp_path: Path, ws: Path, puppet: Puppet, monkeypatch: pytest.MonkeyPatch
) -> None:
    fifo = tmp_path / "word"
    shell = program(tmp_path / "sh", f"read word <'{fifo}'; exit 1\n")
    os.mkfifo(fifo)
    monkeypatch.setenv("SHELL", str(shell))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    settings = {"agents": {"puppet": puppet.setting}, "defaultAgent": "puppet"}
    async with editing() as editor:
        await editor.initialize(ws, settings=settings)
        _, first = editor.start("acp.agent.list")
        _, second = editor.start("acp.agent.list")
        await editor.execute("acp.session.new")
        assert not first.done()
        async with asyncio.timeout(15):
            rows, same = await asyncio.gather(first, second)
        assert rows == same
        assert "not on PATH" in {row["name"]: row for row in rows}["opencode"]["problem"]
        await editor.close()


# --- the user's settings, again -----------------------------------------------------------


async def test_the_user_s_settings_are_replaced_while_the_sidecar_runs(
    tmp_path: Path, ws: Path, puppet: Puppet, settings: dict[str, Any]
) -> None:
    config = tmp_path / "config" / "acp-sidecar" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('defaultAgent = "of-the-file"\n')
    async with Puppet(tmp_path, "second") as other, editing() as editor:
        await editor.initialize(ws, settings=settings)
        old = await editor.execute("acp.session.new")
        changed = {
            "agents": {"second": other.setting},
            "defaultAgent": "second",
            "review": {"mode": "off"},
        }
        editor.notify("acp/userSettings", changed)
        opened = await editor.execute("acp.session.new")
        assert opened["agent"] == "second"
        # What runs goes on, and its agent is known no more to a next start.
        turn, prompt = await begin(editor, puppet, sessionId=old["sessionId"])
        puppet.end_turn(prompt)
        assert await turn == stopped("end_turn")
        names = [row["name"] for row in await editor.execute("acp.agent.list")]
        assert "second" in names and "puppet" not in names
        # A key that is gone falls back to the file's.
        editor.notify("acp/userSettings", {"agents": {"second": other.setting}})
        with pytest.raises(LspError, match="No agent 'of-the-file' is known"):
            await editor.execute("acp.session.new")
        await editor.close()


@pytest.mark.parametrize("params", [None, 5, "text", ["agents"], True])
async def test_odd_settings_leave_everything_as_it_was(
    params: Any, editor: Editor, puppet: Puppet
) -> None:
    editor.notify("acp/userSettings", params)
    await editor.until(lambda: any("acp/userSettings" in text for text in told(editor)))
    assert (await editor.execute("acp.session.new"))["agent"] == "puppet"


async def test_a_setting_that_does_not_fit_costs_itself_only(
    editor: Editor, settings: dict[str, Any]
) -> None:
    odd = {**settings, "follow": {"enabled": "maybe"}, "nonsense": 1}
    editor.notify("acp/userSettings", odd)
    await editor.until(lambda: any("nonsense" in text for text in told(editor)))
    assert any("follow.enabled" in text for text in told(editor))
    assert (await editor.execute("acp.session.new"))["agent"] == "puppet"


async def test_a_workspace_cannot_choose_a_command_after_the_user_s_settings_came_again(
    idle_editor: Editor, tmp_path: Path, ws: Path, puppet: Puppet, settings: dict[str, Any]
) -> None:
    editor = idle_editor
    marker = tmp_path / "ran"
    evil = program(tmp_path / "evil", f"touch '{marker}'\n")
    wanted = {"agents": {"puppet": {"command": str(evil)}}, "follow": {"enabled": False}}
    editor.answers["workspace/configuration"] = lambda params: [wanted]
    can = capabilities(transcript=True)
    can["workspace"]["configuration"] = True
    await editor.initialize(ws, settings=settings, can=can)
    editor.notify("acp/userSettings", {**settings, "follow": {"enabled": True}})
    await editor.execute("acp.session.new")
    assert not marker.exists()
    # What a workspace may say, it still says.
    assert (await editor.state())["follow"]["enabled"] is False
    editor.notify("workspace/didChangeConfiguration", {"settings": None})
    await editor.execute("acp.session.new")
    assert not marker.exists()
    assert puppet.connections == 1
