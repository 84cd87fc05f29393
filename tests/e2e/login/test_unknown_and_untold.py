"""Methods that are not known, logins without being asked, and what nobody is told."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.editor import Editor, LspError, capabilities, editing
from tests.e2e.login.methods import OAUTH, VARS, Login
from tests.e2e.puppet import Puppet


async def test_a_login_of_an_unknown_type_is_shown_with_its_description(
    editor: Editor, puppet: Puppet
) -> None:
    carrier = {"id": "c", "name": "Pigeon", "type": "carrier", "description": "Feed it."}
    login = Login(puppet, OAUTH, carrier)
    _, opening = editor.start("acp.session.new")
    await login.refuse()
    assert "Pigeon: Feed it.; a login of type carrier" in (await editor.dialog())["message"]
    assert editor.titles() == ["Not now", "Sign in"]
    editor.click("Not now")
    with pytest.raises(LspError, match="Feed it"):
        await opening
    with pytest.raises(LspError, match=r"type carrier.*outside of the editor: Feed it\."):
        await editor.execute("acp.agent.login", agent="puppet", methodId="c")
    assert login.sent("authenticate") == 0


async def test_the_command_lets_the_user_choose(
    editor: Editor, puppet: Puppet, login: Login
) -> None:
    puppet.answers["authenticate"] = lambda params: {}
    _, done = editor.start("acp.agent.login", agent="puppet")
    assert "Log in to puppet" in (await editor.dialog())["message"]
    editor.click("API key")
    assert await done == {}
    assert (await puppet.incoming("authenticate"))["params"] == {"methodId": "api-key"}
    _, done = editor.start("acp.agent.login", agent="puppet")
    await editor.dialog(2)
    editor.click("Not now")
    with pytest.raises(LspError, match="There was no login to puppet"):
        await done


async def test_logout_only_where_it_is_offered(editor: Editor, puppet: Puppet) -> None:
    with pytest.raises(LspError, match=r"auth\.logout"):
        await editor.execute("acp.agent.logout", agent="puppet")
    await editor.execute("acp.agent.restart", agent="puppet")
    puppet.capabilities = {"auth": {"logout": {}}}
    puppet.answers["logout"] = lambda params: {}
    assert await editor.execute("acp.agent.logout", agent="puppet") == {}
    assert (await puppet.incoming("logout"))["params"] == {}


async def test_S04_a_look_at_an_agent_logs_nobody_in(
    puppet: Puppet, login: Login, tmp_path: Path
) -> None:
    config = tmp_path / "config" / "acp-sidecar"
    config.mkdir(parents=True)
    args = json.dumps(puppet.setting["args"])
    command = f'[agents.puppet]\ncommand = "{sys.executable}"\nargs = {args}\n'
    (config / "config.toml").write_text(command)
    looking = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "acp_sidecar", "doctor", "puppet", stdout=asyncio.subprocess.PIPE
    )
    await login.refuse()
    said, _ = await looking.communicate()
    assert looking.returncode == 1
    assert b"Sign in: in a browser" in said
    assert b"needs a login" in said
    assert [one["method"] for one in puppet.seen] == ["initialize", "session/new"]


@pytest.fixture
async def recorded(tmp_path: Path) -> AsyncIterator[tuple[Editor, Path]]:
    folder = tmp_path / "traces"
    folder.mkdir()
    log = ("--log-file", str(folder / "log.txt"), "--log-level", "debug")
    async with editing("--trace", str(folder), *log) as editor:
        yield editor, folder


async def test_S04_what_is_secret_is_neither_recorded_nor_logged(
    recorded: tuple[Editor, Path], puppet: Puppet, ws: Path, settings: dict[str, Any]
) -> None:
    editor, folder = recorded
    login = Login(puppet, VARS, OAUTH)
    settings["agents"]["puppet"]["env"] = {"SOME_API_KEY": "hush-1"}
    await editor.initialize(ws, settings=settings, can=capabilities(elicitation=True))
    form = {"action": "accept", "content": {"PUPPET_CODE": "hush-2"}}
    editor.answers["acp/elicitation"] = lambda params: form
    puppet.answers["authenticate"] = lambda params: {"_meta": {"accessToken": "hush-3"}}
    _, opening = editor.start(
        "acp.session.new",
        mcpServers=[{"command": "x", "env": {"GH_TOKEN": "hush-4", "PLAIN": "seen"}}],
    )
    await login.refuse()
    await editor.dialog()
    editor.click("Environment")
    await login.let_in()
    await opening
    await editor.execute("acp.agent.login", agent="puppet", methodId="oauth")
    await editor.execute(
        "acp.agent.login", agent="puppet", methodId="vars", env={"PUPPET_CODE": "hush-5"}
    )
    await editor.close()
    files = {path.name: path.read_text() for path in folder.iterdir()}
    assert {"editor-1.ndjson", "puppet-1.ndjson", "log.txt"} <= set(files)
    for name, text in files.items():
        assert "hush" not in text, name
    assert "seen" in files["puppet-1.ndjson"]
    for line in files["editor-1.ndjson"].splitlines():
        json.loads(line)
