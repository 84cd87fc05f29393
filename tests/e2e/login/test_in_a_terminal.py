"""Logins that are a command in a terminal."""

from __future__ import annotations

import asyncio
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.editor import Editor, LspError, Refusal, capabilities
from tests.e2e.login.methods import TTY, Login
from tests.e2e.puppet import Puppet


async def test_a_plain_editor_is_told_the_exact_command(
    editor: Editor, puppet: Puppet, ws: Path
) -> None:
    login = Login(puppet, TTY)
    _, opening = editor.start("acp.session.new")
    await login.refuse()
    assert puppet.seen[0]["params"]["clientCapabilities"]["auth"] == {"terminal": True}
    await editor.dialog()
    editor.click("Terminal")
    told = await editor.dialog(2)
    line = told["message"].partition(" in a terminal: ")[2].partition(" (login")[0]
    relay = puppet.setting["args"]
    assert shlex.split(line) == [
        "LOGIN_MODE=device",
        sys.executable,
        *relay,
        "--login",
        "two words",
    ]
    assert f"Folder: {ws}" in told["message"]
    assert editor.titles() == ["Not now", "I have logged in"]
    editor.click("I have logged in")
    await login.let_in()
    await opening
    assert login.sent("authenticate") == 0


async def test_a_rich_editor_runs_it_where_the_user_can_type(
    idle_editor: Editor, puppet: Puppet, ws: Path, settings: dict[str, Any]
) -> None:
    editor, login = idle_editor, Login(puppet, TTY)
    settings["agents"]["puppet"]["env"] = {"HERE": "1", "LOGIN_MODE": "other"}
    await editor.initialize(ws, settings=settings, can=capabilities(openTerminal=True))
    ended = asyncio.get_running_loop().create_future()

    async def run(params: Any) -> Any:
        return await ended

    editor.answers["acp/openTerminal"] = run
    _, opening = editor.start("acp.session.new")
    await login.refuse()
    await editor.dialog()
    editor.click("Terminal")
    asked = await editor.nth("acp/openTerminal")
    assert asked == {
        "title": "Log in to puppet",
        "command": sys.executable,
        "args": [*puppet.setting["args"], "--login", "two words"],
        "env": {"HERE": "1", "LOGIN_MODE": "device"},
        "cwd": str(ws),
    }
    assert login.sent("session/new") == 1
    ended.set_result({"exitCode": 0})
    await login.let_in()
    await opening
    assert login.sent("authenticate") == 0


@pytest.mark.parametrize("kind", [{}, {"type": "terminal"}])
async def test_a_command_of_the_method_s_own_is_run_in_place_of_the_agent_s(
    idle_editor: Editor, puppet: Puppet, ws: Path, settings: dict[str, Any], kind: dict[str, str]
) -> None:
    """What some agents send, whatever type they call it, where the client says it can."""
    command = {"label": "Log in", "command": "claude", "args": ["/login"], "env": {"A": "b"}}
    method = {"id": "cli", "name": "Log in", **kind, "_meta": {"terminal-auth": command}}
    editor, login = idle_editor, Login(puppet, method)
    await editor.initialize(ws, settings=settings, can=capabilities(openTerminal=True))
    editor.answers["acp/openTerminal"] = lambda params: {"exitCode": 0}
    _, opening = editor.start("acp.session.new")
    await login.refuse()
    assert puppet.seen[0]["params"]["clientCapabilities"]["_meta"]["terminal-auth"] is True
    assert "Log in: in a terminal: claude /login" in (await editor.dialog())["message"]
    editor.click("Log in")
    await login.let_in()
    await opening
    (asked,) = editor.all("acp/openTerminal")
    assert (asked["command"], asked["args"], asked["env"]) == ("claude", ["/login"], {"A": "b"})
    assert login.sent("authenticate") == 0


@pytest.mark.parametrize("code", [1, -15])
async def test_a_terminal_that_ends_badly_is_no_login(
    idle_editor: Editor, puppet: Puppet, ws: Path, settings: dict[str, Any], code: int
) -> None:
    editor, login = idle_editor, Login(puppet, TTY)
    await editor.initialize(ws, settings=settings, can=capabilities(openTerminal=True))
    editor.answers["acp/openTerminal"] = lambda params: {"exitCode": code}
    _, opening = editor.start("acp.session.new")
    await login.refuse()
    await editor.dialog()
    editor.click("Terminal")
    with pytest.raises(LspError, match=f"did not work.*ended with {code}"):
        await opening
    assert login.sent("session/new") == 1


@pytest.mark.parametrize("answer", [None, {}, {"exitCode": True}, "error"])
async def test_an_editor_that_does_not_tell_how_it_ended_has_the_user_say_so(
    idle_editor: Editor, puppet: Puppet, ws: Path, settings: dict[str, Any], answer: Any
) -> None:
    editor, login = idle_editor, Login(puppet, TTY)
    await editor.initialize(ws, settings=settings, can=capabilities(openTerminal=True))

    def reply(params: Any) -> Any:
        if answer == "error":
            raise Refusal(-32601)
        return answer

    editor.answers["acp/openTerminal"] = reply
    _, opening = editor.start("acp.session.new")
    await login.refuse()
    await editor.dialog()
    editor.click("Terminal")
    assert "--login" in (await editor.dialog(2))["message"]
    editor.click("I have logged in")
    await login.let_in()
    await opening
