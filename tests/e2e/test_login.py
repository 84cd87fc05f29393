"""Logins: offered where the agent wants one, done by their kind, tried again once."""

from __future__ import annotations

import asyncio
import json
import shlex
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.editor import Editor, LspError, Refusal, capabilities, editing
from tests.e2e.family import descendants, environment_of
from tests.e2e.puppet import Puppet

WANTED = {"code": -32000, "message": "Authentication required"}
OAUTH = {"id": "oauth", "name": "Sign in", "description": "in a browser"}
KEY = {"id": "api-key", "name": "API key", "description": None}
TTY = {
    "id": "tty",
    "name": "Terminal",
    "type": "terminal",
    "args": ["--login", "two words"],
    "env": {"LOGIN_MODE": "device"},
}
VARS = {
    "id": "vars",
    "name": "Environment",
    "type": "env_var",
    "link": "https://example.com/keys",
    "vars": [
        {"name": "PUPPET_CODE", "label": "Code"},
        {"name": "PUPPET_REGION", "optional": True, "secret": False},
    ],
}


class Login:
    """A puppet that wants a login until it has had one."""

    def __init__(self, puppet: Puppet, *methods: dict[str, Any]) -> None:
        self.puppet = puppet
        self.methods = list(methods)
        puppet.answers["initialize"] = self.initialize
        self.new_session = puppet.answers.pop("session/new")

    def initialize(self, params: dict[str, Any]) -> Any:
        return {**self.puppet._initialize(params), "authMethods": self.methods}

    async def refuse(self, method: str = "session/new") -> dict[str, Any]:
        asked = await self.puppet.incoming(method)
        self.puppet.send({"id": asked["id"], "error": WANTED})
        return asked

    async def let_in(self, method: str = "session/new") -> None:
        asked = await self.puppet.incoming(method)
        self.puppet.answer(asked, self.new_session(asked["params"]))

    def sent(self, method: str) -> int:
        return sum(message.get("method") == method for message in self.puppet.seen)


@pytest.fixture
def login(puppet: Puppet) -> Login:
    return Login(puppet, OAUTH, KEY)


async def test_S04_the_methods_are_offered_and_after_a_login_it_is_tried_once_more(
    editor: Editor, puppet: Puppet, login: Login
) -> None:
    puppet.answers["authenticate"] = lambda params: {}
    _, opening = editor.start("acp.session.new")
    await login.refuse()
    asked = await editor.dialog()
    assert "puppet needs a login: Authentication required" in asked["message"]
    assert "Sign in: in a browser" in asked["message"]
    assert editor.titles() == ["Not now", "Sign in", "API key"]
    assert login.sent("authenticate") == 0
    editor.click("API key")
    assert (await puppet.incoming("authenticate"))["params"] == {"methodId": "api-key"}
    await login.let_in()
    assert (await opening)["agentSessionId"] == "S1"
    assert puppet.connections == 1


async def test_S04_nothing_loops(editor: Editor, puppet: Puppet, login: Login) -> None:
    puppet.answers["authenticate"] = lambda params: None
    _, opening = editor.start("acp.session.new")
    await login.refuse()
    await editor.dialog()
    editor.click("Sign in")
    await login.refuse()
    with pytest.raises(LspError, match=r"Sign in \(methodId 'oauth'\).*acp\.agent\.login"):
        await opening
    assert login.sent("session/new") == 2
    assert login.sent("authenticate") == 1
    assert len(editor.all("window/showMessageRequest")) == 1


@pytest.mark.parametrize("answer", [None, {"title": "Not now"}, {"title": "Yes"}, "error"])
async def test_S04_no_answer_is_no_login(
    editor: Editor, puppet: Puppet, login: Login, answer: Any
) -> None:
    def reply(params: Any) -> Any:
        if answer == "error":
            raise Refusal(-32603)
        return answer

    editor.answers["window/showMessageRequest"] = reply
    _, opening = editor.start("acp.session.new")
    await login.refuse()
    with pytest.raises(LspError, match=r"needs a login.*in a browser.*then open the session"):
        await opening
    assert login.sent("authenticate") == 0
    assert login.sent("session/new") == 1


async def test_S04_a_login_that_fails_says_why(
    editor: Editor, puppet: Puppet, login: Login
) -> None:
    _, opening = editor.start("acp.session.new")
    await login.refuse()
    await editor.dialog()
    editor.click("Sign in")
    asked = await puppet.incoming("authenticate")
    puppet.send({"id": asked["id"], "error": {"code": -32603, "message": "no browser here"}})
    with pytest.raises(LspError, match=r"did not work.*no browser here.*in a browser"):
        await opening
    assert login.sent("session/new") == 1


@pytest.mark.parametrize("how", ["load", "resume", "fork"])
async def test_S04_to_open_an_old_session_too(
    editor: Editor, puppet: Puppet, login: Login, how: str
) -> None:
    puppet.capabilities = {"loadSession": True, "sessionCapabilities": {"resume": {}, "fork": {}}}
    puppet.answers["authenticate"] = lambda params: {}
    _, opening = editor.start(f"acp.session.{how}", agentSessionId="old")
    await login.refuse(f"session/{how}")
    await editor.dialog()
    editor.click("Sign in")
    again = await puppet.incoming(f"session/{how}")
    puppet.answer(again, {"sessionId": "forked"} if how == "fork" else {})
    assert (await opening)["agentSessionId"] == ("forked" if how == "fork" else "old")
    assert len((await editor.execute("acp.session.state"))["order"]) == 0


async def test_S04_in_the_middle_of_a_session_too(editor: Editor, puppet: Puppet) -> None:
    login = Login(puppet, OAUTH, KEY)
    puppet.answers["session/new"] = login.new_session
    puppet.answers["authenticate"] = lambda params: {}
    await editor.execute("acp.session.new")
    _, turn = editor.start("acp.session.prompt", text="go")
    await login.refuse("session/prompt")
    await editor.dialog()
    editor.click("Sign in")
    again = await puppet.prompted()
    assert again["params"]["prompt"] == [{"type": "text", "text": "go"}]
    puppet.say("done")
    puppet.end_turn(again)
    assert await turn == {"stopReason": "end_turn"}
    state = await editor.state()
    assert [message["role"] for message in state["messages"]] == ["user", "agent"]
    # And not for ever.
    _, turn = editor.start("acp.session.prompt", text="on")
    await login.refuse("session/prompt")
    await editor.dialog(2)
    editor.click("Sign in")
    await login.refuse("session/prompt")
    with pytest.raises(LspError, match=r"acp\.agent\.login, then send the prompt again"):
        await turn
    assert login.sent("session/prompt") == 4


async def test_two_sessions_that_lose_their_login_at_once_share_the_next(
    editor: Editor, puppet: Puppet
) -> None:
    login = Login(puppet, OAUTH)
    puppet.answers["session/new"] = login.new_session
    puppet.answers["authenticate"] = lambda params: {}
    sessions = [await editor.execute("acp.session.new") for _ in range(2)]
    turns = [
        editor.start("acp.session.prompt", sessionId=one["sessionId"], text="go")[1]
        for one in sessions
    ]
    for _ in turns:
        await login.refuse("session/prompt")
    await editor.dialog()
    editor.click("Sign in")
    for _ in turns:
        prompt = await puppet.prompted()
        puppet.say("x", prompt["params"]["sessionId"])
        puppet.end_turn(prompt)
    for turn in turns:
        assert await turn == {"stopReason": "end_turn"}
    assert len(editor.all("window/showMessageRequest")) == 1
    assert login.sent("authenticate") == 1


@pytest.mark.parametrize("at", ["dialog", "authenticate"])
async def test_a_cancel_ends_a_login_too(editor: Editor, puppet: Puppet, at: str) -> None:
    login = Login(puppet, OAUTH)
    puppet.answers["session/new"] = login.new_session
    await editor.execute("acp.session.new")
    _, turn = editor.start("acp.session.prompt", text="go")
    await login.refuse("session/prompt")
    await editor.dialog()
    if at == "authenticate":
        editor.click("Sign in")
        await puppet.incoming("authenticate")
    await editor.execute("acp.session.cancel")
    assert await turn == {"stopReason": "cancelled"}
    if at == "dialog":
        request = editor.requests("window/showMessageRequest")[0]
        assert {"id": request["id"]} in editor.all("$/cancelRequest")
    else:
        await puppet.incoming("$/cancel_request")
    _, turn = editor.start("acp.session.prompt", text="again")
    prompt = await puppet.prompted()
    puppet.say("x")
    puppet.end_turn(prompt)
    assert await turn == {"stopReason": "end_turn"}


async def test_S04_without_methods_a_terminal_is_named(editor: Editor, puppet: Puppet) -> None:
    login = Login(puppet)
    _, opening = editor.start("acp.session.new")
    await login.refuse()
    with pytest.raises(LspError, match=r"(?s)Authentication required.*terminal: .*relay\.py"):
        await opening
    assert editor.all("window/showMessageRequest") == []
    assert [one.get("method") for one in puppet.seen] == ["initialize", "session/new"]


async def test_names_that_look_alike_are_told_apart(editor: Editor, puppet: Puppet) -> None:
    methods = [{"id": "a", "name": "Not now"}, {"id": "b", "name": "Log in\u202e"}]
    login = Login(puppet, *methods, {"id": "c", "name": "log  in\u202e"})
    puppet.answers["authenticate"] = lambda params: {}
    _, opening = editor.start("acp.session.new")
    await login.refuse()
    await editor.dialog()
    titles = editor.titles()
    assert len({title.casefold() for title in titles}) == 4
    assert titles[0] == "Not now"
    assert not any("\u202e" in title for title in titles)
    editor.click(titles[1])
    assert (await puppet.incoming("authenticate"))["params"] == {"methodId": "a"}
    await login.let_in()
    await opening


async def test_a_login_by_the_command_answers_the_dialog(
    editor: Editor, puppet: Puppet, login: Login
) -> None:
    puppet.answers["authenticate"] = lambda params: {}
    _, opening = editor.start("acp.session.new")
    await login.refuse()
    await editor.dialog()
    await editor.execute("acp.agent.login", agent="puppet", methodId="api-key")
    await login.let_in()
    assert (await opening)["agentSessionId"] == "S1"
    dialog = editor.requests("window/showMessageRequest")[0]
    await editor.until(lambda: {"id": dialog["id"]} in editor.all("$/cancelRequest"))
    assert login.sent("authenticate") == 1


async def test_a_method_cannot_pass_for_the_user_s_no(editor: Editor, puppet: Puppet) -> None:
    login = Login(puppet, {"id": "not-now", "name": "Not now"})
    _, opening = editor.start("acp.session.new")
    await login.refuse()
    await editor.dialog()
    editor.click("Not now")
    with pytest.raises(LspError, match="needs a login"):
        await opening
    assert login.sent("authenticate") == 0


async def test_two_that_want_the_same_login_share_it(
    editor: Editor, puppet: Puppet, login: Login
) -> None:
    puppet.answers["authenticate"] = lambda params: {}
    _, one = editor.start("acp.session.new")
    _, other = editor.start("acp.session.new")
    await login.refuse()
    await login.refuse()
    await editor.dialog()
    editor.click("Sign in")
    await login.let_in()
    await login.let_in()
    opened = {(await one)["agentSessionId"], (await other)["agentSessionId"]}
    assert opened == {"S1", "S2"}
    assert login.sent("authenticate") == 1
    assert len(editor.all("window/showMessageRequest")) == 1


async def test_the_question_can_be_answered_by_a_command(
    editor: Editor, puppet: Puppet, login: Login
) -> None:
    puppet.answers["authenticate"] = lambda params: {}
    _, opening = editor.start("acp.session.new")
    await login.refuse()
    await editor.dialog()
    (pending,) = await editor.execute("acp.permission.pending")
    assert pending["kind"] == "login"
    offered = [option["optionId"] for option in pending["options"]]
    assert offered == ["not-now", "oauth", "api-key"]
    with pytest.raises(LspError, match="was not offered"):
        await editor.execute(
            "acp.permission.answer", requestId=pending["requestId"], optionId="nope"
        )
    await editor.execute("acp.permission.answer", requestId=pending["requestId"], optionId="oauth")
    await login.let_in()
    await opening
    assert await editor.execute("acp.permission.pending") == []


async def test_an_editor_with_its_own_dialogs_gets_one(
    idle_editor: Editor, puppet: Puppet, ws: Path, settings: dict[str, Any], login: Login
) -> None:
    editor = idle_editor
    await editor.initialize(ws, settings=settings, can=capabilities(permission=True))
    puppet.answers["authenticate"] = lambda params: {}
    editor.answers["acp/permission"] = lambda params: {"optionId": "oauth"}
    _, opening = editor.start("acp.session.new")
    await login.refuse()
    await login.let_in()
    await opening
    (asked,) = editor.all("acp/permission")
    assert (asked["kind"], asked["sessionId"], asked["agent"]) == ("login", None, "puppet")
    assert login.sent("authenticate") == 1


# --- in a terminal --------------------------------------------------------------------------------


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


# --- by variables ---------------------------------------------------------------------------------


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


# --- what is not known, and what is not told ------------------------------------------------------


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
