"""Logins are offered where the agent wants one, and then it is tried again, once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.e2e.editor import Editor, LspError, Refusal, capabilities
from tests.e2e.login.methods import KEY, OAUTH, Login
from tests.e2e.puppet import Puppet


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
