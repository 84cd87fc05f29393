"""Logins that are variables of the agent's environment."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.e2e.editor import Editor, LspError, capabilities
from tests.e2e.family import descendants, environment_of
from tests.e2e.login.methods import VARS, Login
from tests.e2e.puppet import Puppet


async def test_variables_are_named_and_taken_by_the_command(
    editor: Editor, puppet: Puppet, ws: Path
) -> None:
    login = Login(puppet, VARS)
    _, opening = editor.start("acp.session.new")
    await login.refuse()
    assert "by PUPPET_CODE, PUPPET_REGION" in (await editor.dialog())["message"]
    editor.click("Environment")
    with pytest.raises(LspError) as refused:
        await opening
    told = str(refused.value)
    for words in (
        "PUPPET_CODE (Code)",
        "PUPPET_REGION (optional)",
        "https://example.com/keys",
        '"methodId": "vars", "env": {"PUPPET_CODE": "…"}',
        "agents.puppet.env",
    ):
        assert words in told
    with pytest.raises(LspError, match="PUPPET_CODE"):
        await editor.execute("acp.agent.login", agent="puppet", env={"PUPPET_REGION": "eu"})
    with pytest.raises(LspError, match="OTHER is not a variable of this login"):
        await editor.execute(
            "acp.agent.login", agent="puppet", env={"PUPPET_CODE": "x", "OTHER": "y"}
        )
    assert puppet.connections == 1
    given = {"PUPPET_CODE": "hush"}
    assert await editor.execute("acp.agent.login", agent="puppet", env=given) == {}
    puppet.answers["session/new"] = login.new_session
    await editor.execute("acp.session.new")
    assert puppet.connections == 2
    assert login.sent("authenticate") == 0
    pids = [pid for pid, _ in descendants(editor.process.pid)]
    assert any(environment_of(pid).get("PUPPET_CODE") == "hush" for pid in pids)


async def test_variables_are_a_form_where_the_editor_has_forms(
    idle_editor: Editor, puppet: Puppet, ws: Path, settings: dict[str, Any]
) -> None:
    editor, login = idle_editor, Login(puppet, VARS)
    await editor.initialize(ws, settings=settings, can=capabilities(elicitation=True))
    editor.answers["acp/elicitation"] = lambda params: {
        "action": "accept",
        "content": {"PUPPET_CODE": "hush", "PUPPET_REGION": "", "LD_PRELOAD": "x"},
    }
    _, opening = editor.start("acp.session.new")
    await login.refuse()
    await editor.dialog()
    editor.click("Environment")
    await login.let_in()
    await opening
    (asked,) = editor.all("acp/elicitation")
    assert list(asked["requestedSchema"]["properties"]) == ["PUPPET_CODE", "PUPPET_REGION"]
    assert asked["requestedSchema"]["required"] == ["PUPPET_CODE"]
    assert "https://example.com/keys" in asked["message"]
    assert puppet.connections == 2
    found = [environment_of(pid) for pid, _ in descendants(editor.process.pid)]
    assert any(one.get("PUPPET_CODE") == "hush" for one in found)
    assert not any("LD_PRELOAD" in one or "PUPPET_REGION" in one for one in found)


async def test_the_older_form_of_variables_is_known_too(editor: Editor, puppet: Puppet) -> None:
    Login(puppet, {"id": "v", "name": "Key", "type": "env_var", "varName": "OLD_KEY"})
    with pytest.raises(LspError, match=r'OLD_KEY.*"env": {"OLD_KEY": "…"}'):
        await editor.execute("acp.agent.login", agent="puppet")
    assert await editor.execute("acp.agent.login", agent="puppet", env={"OLD_KEY": "x"}) == {}


async def test_variables_in_the_middle_of_a_session(
    idle_editor: Editor, puppet: Puppet, ws: Path, settings: dict[str, Any]
) -> None:
    """The agent is started anew, and the next prompt takes the session up again."""
    editor, login = idle_editor, Login(puppet, VARS)
    puppet.answers["session/new"] = login.new_session
    puppet.answers["session/load"] = lambda params: {}
    await editor.initialize(ws, settings=settings, can=capabilities(elicitation=True))
    form = {"action": "accept", "content": {"PUPPET_CODE": "hush"}}
    editor.answers["acp/elicitation"] = lambda params: form
    await editor.execute("acp.session.new")
    _, turn = editor.start("acp.session.prompt", text="go")
    await login.refuse("session/prompt")
    await editor.dialog()
    editor.click("Environment")
    with pytest.raises(LspError, match="send this one again"):
        await turn
    _, turn = editor.start("acp.session.prompt", text="go")
    prompt = await puppet.prompted()
    assert puppet.connections == 2
    assert prompt["params"]["sessionId"] == "S1"
    found = [environment_of(pid) for pid, _ in descendants(editor.process.pid)]
    assert any(one.get("PUPPET_CODE") == "hush" for one in found)
    puppet.say("done")
    puppet.end_turn(prompt)
    assert await turn == {"stopReason": "end_turn"}
