"""Permission requests through a plain editor's message dialog, from wire to wire."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.editor import NO_ANSWER, Editor, LspError, Refusal, capabilities
from tests.e2e.puppet import OPTIONS, Puppet

DIALOG = "window/showMessageRequest"


@pytest.fixture(autouse=True)
async def _open(session: dict[str, Any]) -> None:
    """Every test here speaks in an open session."""


async def test_the_dialog_offers_each_option_rejecting_ones_first(
    editor: Editor, puppet: Puppet, ws: Path
) -> None:
    request = puppet.ask({"title": "Edit it", "kind": "edit", "locations": [{"path": f"{ws}/a"}]})
    dialog = await editor.dialog()
    assert editor.titles() == ["Reject", "Allow", "Always"]
    assert f"{ws}/a" in dialog["message"]
    assert "Edit it" in dialog["message"]
    editor.click("Always")
    assert await puppet.outcome(request) == "always"
    state = await editor.state()
    assert state["permissions"][0]["state"] == "answered"
    assert state["permissions"][0]["optionId"] == "always"


async def test_R01_a_cancel_answers_every_open_request(editor: Editor, puppet: Puppet) -> None:
    _, turn = editor.start("acp.session.prompt", text="go")
    prompt = await puppet.prompted()
    first, second = puppet.ask({"title": "one"}), puppet.ask({"title": "two"})
    await editor.dialog()
    await editor.execute("acp.session.cancel")
    await puppet.incoming("session/cancel")
    assert await puppet.outcome(first) == "cancelled"
    assert await puppet.outcome(second) == "cancelled"
    puppet.end_turn(prompt, "cancelled")
    assert await turn == {"stopReason": "cancelled"}
    # The late click belongs to nobody.
    editor.click("Allow", 0)
    assert (await editor.state())["permissions"][0]["state"] == "cancelled"
    assert sum("method" not in message for message in puppet.seen) == 2


async def test_R01_a_request_within_a_cancelled_turn_is_not_asked(
    editor: Editor, puppet: Puppet
) -> None:
    editor.start("acp.session.prompt", text="go")
    await puppet.prompted()
    await editor.execute("acp.session.cancel")
    assert await puppet.outcome(puppet.ask({"title": "late"})) == "cancelled"
    assert editor.all(DIALOG) == []


async def test_R01_the_agent_s_end_closes_its_dialogs(editor: Editor, puppet: Puppet) -> None:
    puppet.ask({"title": "one"})
    await editor.dialog()
    puppet.hang_up()
    shown = editor.requests(DIALOG)[0]["id"]
    await editor.until(lambda: {"id": shown} in editor.all("$/cancelRequest"))
    state = await editor.state()
    assert state["permissions"][0]["state"] == "cancelled"
    assert state["status"] == "dead"


async def test_R01_a_withdrawn_request_is_answered_cancelled(
    editor: Editor, puppet: Puppet
) -> None:
    request = puppet.ask({"title": "one"})
    await editor.dialog()
    puppet.send({"method": "$/cancel_request", "params": {"requestId": request}})
    assert await puppet.outcome(request) == "cancelled"


async def test_R01_closing_the_session_answers_cancelled(editor: Editor, puppet: Puppet) -> None:
    request = puppet.ask({"title": "one"})
    await editor.dialog()
    await editor.execute("acp.session.close")
    assert await puppet.outcome(request) == "cancelled"


async def test_R02_a_session_nobody_opened_is_asked_about_all_the_same(
    editor: Editor, puppet: Puppet
) -> None:
    params = {
        "sessionId": "child-9",
        "toolCall": {"toolCallId": "t", "title": "deploy"},
        "options": OPTIONS,
    }
    request = puppet.request("session/request_permission", params)
    assert "child-9" in (await editor.dialog())["message"]
    editor.click("Allow")
    assert await puppet.outcome(request) == "yes"


@pytest.mark.parametrize(
    "result", [None, {"title": "Yes please"}, {}, {"title": None}, [], "Allow", 1, True]
)
async def test_R04_what_is_no_answer_never_approves(
    editor: Editor, puppet: Puppet, result: Any
) -> None:
    editor.answers[DIALOG] = lambda params: result
    assert await puppet.outcome(puppet.ask({"title": "one"})) == "no"
    without = [option for option in OPTIONS if option["kind"] != "reject_once"]
    assert await puppet.outcome(puppet.ask({"title": "two"}, without)) == "cancelled"


@pytest.mark.parametrize("code", [-32601, -32603, -32800])
async def test_R04_an_error_never_approves(editor: Editor, puppet: Puppet, code: int) -> None:
    def refuse(params: Any) -> Any:
        raise Refusal(code)

    editor.answers[DIALOG] = refuse
    assert await puppet.outcome(puppet.ask({"title": "one"})) == "no"


async def test_R05_texts_without_actions_are_plain_messages(editor: Editor, puppet: Puppet) -> None:
    for _ in range(20):
        assert await puppet.outcome(puppet.ask({"title": "odd"}, [])) == "cancelled"
    await editor.nth("window/showMessage")
    assert editor.all(DIALOG) == []


async def test_R06_the_clicked_option_is_answered_with_its_own_id(
    editor: Editor, puppet: Puppet
) -> None:
    names = ["Alpha", "Beta", "Gamma", "Delta"]
    options = [{"optionId": f"deny_{name}", "name": name, "kind": "allow_once"} for name in names]
    request = puppet.ask({"title": "one"}, options)
    await editor.dialog()
    assert editor.titles() == names
    editor.click("Gamma")
    assert await puppet.outcome(request) == "deny_Gamma"


@pytest.mark.parametrize(
    "options",
    [[], None, {}, "Allow", [{"name": "Allow", "kind": "allow_once"}], [None, 5], [[]]],
)
async def test_R09_without_a_usable_option_nothing_is_approved(
    editor: Editor, puppet: Puppet, options: Any
) -> None:
    params = {
        "sessionId": puppet.session,
        "toolCall": {"toolCallId": "t", "title": "one"},
        "options": options,
    }
    assert await puppet.outcome(puppet.request("session/request_permission", params)) == (
        "cancelled"
    )
    assert (await editor.nth("window/showMessage"))["type"] == 2


async def test_R09_an_option_without_a_name_still_is_one(editor: Editor, puppet: Puppet) -> None:
    options = [{"optionId": "go", "name": "", "kind": "allow_once"}, OPTIONS[2]]
    request = puppet.ask({"title": "one"}, options)
    await editor.dialog()
    assert editor.titles() == ["Reject", "go"]
    editor.click("go")
    assert await puppet.outcome(request) == "go"


async def test_R10_like_names_are_told_apart(editor: Editor, puppet: Puppet) -> None:
    options = [
        {"optionId": "a", "name": "Allow", "kind": "allow_once"},
        {"optionId": "b", "name": "Allow", "kind": "allow_always"},
        {"optionId": "a", "name": "Allow", "kind": "allow_always"},
    ]
    request = puppet.ask({"title": "one"}, options)
    await editor.dialog()
    assert editor.titles() == ["Allow (allow_once)", "Allow (allow_always)"]
    editor.click("Allow (allow_always)")
    assert await puppet.outcome(request) == "b"


async def test_R12_an_agent_may_use_its_ids_again(editor: Editor, puppet: Puppet) -> None:
    for number, (title, answer) in enumerate([("Allow", "yes"), ("Reject", "no")], 1):
        params = {
            "sessionId": puppet.session,
            "toolCall": {"toolCallId": f"t{number}", "title": f"command {number}"},
            "options": OPTIONS,
        }
        request = puppet.request("session/request_permission", params, 0)
        assert f"command {number}" in (await editor.dialog(number))["message"]
        editor.click(title)
        assert await puppet.outcome(request) == answer
    texts = [dialog["message"] for dialog in editor.all(DIALOG)]
    assert len(set(texts)) == 2


async def test_R13_an_update_of_the_call_leaves_the_dialog_open(
    editor: Editor, puppet: Puppet
) -> None:
    puppet.tool("t1", title="x", status="pending")
    request = puppet.ask({"title": "one"})
    await editor.dialog()
    puppet.tool("t1", "tool_call_update", status="in_progress")
    puppet.tool("t1", "tool_call_update", status="completed")
    state = await editor.eventually(lambda: _completed(editor))
    assert state["permissions"][0]["state"] == "waiting"
    editor.click("Allow")
    assert await puppet.outcome(request) == "yes"


async def _completed(editor: Editor) -> Any:
    state = await editor.state()
    return state if state["toolCalls"][0]["status"] == "completed" else None


async def test_R14_a_request_alone_makes_the_tool_call(editor: Editor, puppet: Puppet) -> None:
    raw_input = {"command": "make"}
    puppet.ask({"toolCallId": "t9", "title": "Build", "kind": "execute", "rawInput": raw_input})
    assert "Command: make" in (await editor.dialog())["message"]
    call = (await editor.state())["toolCalls"][0]
    assert (call["toolCallId"], call["title"], call["rawInput"]) == ("t9", "Build", raw_input)


async def test_R14_a_request_does_not_blank_what_is_stored(
    editor: Editor, puppet: Puppet, ws: Path
) -> None:
    content = [{"type": "content", "content": {"type": "text", "text": "why"}}]
    puppet.tool("t1", title="Build", kind="execute", rawInput={"command": "make"}, content=content)
    puppet.ask({"toolCallId": "t1", "content": [], "rawInput": None})
    message = (await editor.dialog())["message"]
    assert "Command: make" in message
    assert "Build" in message
    call = (await editor.state())["toolCalls"][0]
    assert call["content"] == content
    assert call["rawInput"] == {"command": "make"}


async def test_R16_a_command_is_shown_whole_or_said_to_be_missing(
    editor: Editor, puppet: Puppet
) -> None:
    long = "echo " + "x" * 3000 + " && rm -rf build"
    puppet.ask({"toolCallId": "a", "title": "bash", "rawInput": {"command": long}})
    assert long in (await editor.dialog())["message"]
    editor.click("Reject")
    puppet.ask({"toolCallId": "b", "title": "bash", "kind": "execute"})
    assert "the agent gave none" in (await editor.dialog(2))["message"]


@pytest.mark.parametrize("kind", ["read", "search", "fetch", "think", "switch_mode", "other", "_x"])
async def test_R17_no_kind_is_approved_without_the_user(
    editor: Editor, puppet: Puppet, kind: str
) -> None:
    request = puppet.ask({"toolCallId": "elicitation-1", "title": "x", "kind": kind})
    await editor.dialog()
    editor.click("Reject")
    assert await puppet.outcome(request) == "no"


async def test_R18_one_dialog_at_a_time_with_a_pause_between(
    editor: Editor, puppet: Puppet
) -> None:
    first, second = puppet.ask({"title": "one"}), puppet.ask({"title": "two"})
    await editor.dialog()
    await editor.state()
    assert len(editor.all(DIALOG)) == 1
    answered = time.monotonic()
    editor.click("Allow")
    assert await puppet.outcome(first) == "yes"
    await editor.dialog(2)
    assert time.monotonic() - answered > 0.3
    assert editor.titles()[0] == "Reject"
    editor.click("Reject")
    assert await puppet.outcome(second) == "no"


async def test_a_question_can_be_answered_by_command(editor: Editor, puppet: Puppet) -> None:
    request = puppet.ask({"title": "one"})
    await editor.dialog()
    (pending,) = await editor.execute("acp.permission.pending")
    assert [option["optionId"] for option in pending["options"]] == ["no", "yes", "always"]
    with pytest.raises(LspError, match="was not offered"):
        await editor.execute(
            "acp.permission.answer", requestId=pending["requestId"], optionId="sudo"
        )
    await editor.execute("acp.permission.answer", requestId=pending["requestId"], optionId="yes")
    assert await puppet.outcome(request) == "yes"
    with pytest.raises(LspError, match="is waiting"):
        await editor.execute("acp.permission.answer", requestId=pending["requestId"], optionId="no")
    shown = editor.requests(DIALOG)[0]["id"]
    await editor.until(lambda: {"id": shown} in editor.all("$/cancelRequest"))


async def test_a_null_answer_by_command_is_cancelled(editor: Editor, puppet: Puppet) -> None:
    request = puppet.ask({"title": "one"})
    await editor.dialog()
    (pending,) = await editor.execute("acp.permission.pending")
    await editor.execute("acp.permission.answer", requestId=pending["requestId"], optionId=None)
    assert await puppet.outcome(request) == "cancelled"


async def test_a_waiting_question_shows_in_the_status(editor: Editor, puppet: Puppet) -> None:
    editor.start("acp.session.prompt", text="go")
    await puppet.prompted()
    request = puppet.ask({"title": "one"})
    await editor.dialog()
    assert (await editor.state())["status"] == "requires_action"
    editor.click("Allow")
    await puppet.outcome(request)
    assert (await editor.state())["status"] == "running"


async def test_hidden_characters_of_the_agent_are_shown(editor: Editor, puppet: Puppet) -> None:
    puppet.ask(
        {"title": "safe\u202eevil\nCommand: ls", "rawInput": {"command": "a\u200bb\x1b[2K"}},
        [{"optionId": "x", "name": "Al\u200blow", "kind": "allow_once"}],
    )
    message = (await editor.dialog())["message"]
    assert "a\\u200bb\\u001b[2K" in message
    assert "\\u202e" in message
    assert "Command: ls" not in message.split("\n")
    assert editor.titles() == ["Al\\u200blow"]


class TestReminder:
    """A dialog nobody answers makes room for the next one."""

    @pytest.fixture
    def settings(self, puppet: Puppet) -> dict[str, Any]:
        return {
            "agents": {"puppet": puppet.setting},
            "defaultAgent": "puppet",
            "timeouts": {"dialogReminder": 0.3},
        }

    async def test_it_steps_aside_and_comes_again(self, editor: Editor, puppet: Puppet) -> None:
        first, second = puppet.ask({"title": "one"}), puppet.ask({"title": "two"})
        assert "one" in (await editor.dialog(1))["message"]
        assert "two" in (await editor.dialog(2))["message"]
        editor.click("Allow", 1)
        assert await puppet.outcome(second) == "yes"
        assert "one" in (await editor.dialog(3))["message"]
        texts = [dialog["message"] for dialog in editor.all(DIALOG)]
        assert len(set(texts)) == 3
        editor.click("Reject", 2)
        assert await puppet.outcome(first) == "no"

    async def test_the_one_that_stepped_aside_may_still_be_answered(
        self, editor: Editor, puppet: Puppet
    ) -> None:
        first = puppet.ask({"title": "one"})
        puppet.ask({"title": "two"})
        await editor.dialog(2)
        editor.click("Allow", 0)
        assert await puppet.outcome(first) == "yes"


class TestRicherEditor:
    """An editor that declares ``permission`` gets everything, at once."""

    @pytest.fixture
    async def editor(self, idle_editor: Editor, ws: Path, settings: dict[str, Any]) -> Editor:
        can = capabilities(permission=True)
        await idle_editor.initialize(ws, settings=settings, can=can)
        return idle_editor

    async def test_all_of_it_and_all_at_once(
        self, editor: Editor, puppet: Puppet, ws: Path
    ) -> None:
        (ws / "a.py").write_text("a\n")
        diff = {"type": "diff", "path": f"{ws}/a.py", "oldText": "a\n", "newText": "b\n"}
        puppet.ask({"toolCallId": "t1", "title": "one", "kind": "edit", "content": [diff]})
        puppet.ask({"toolCallId": "t2", "title": "two", "rawInput": {"command": "ls"}})
        asked = await editor.nth("acp/permission", 2)
        assert asked["command"] == "ls"
        first = editor.all("acp/permission")[0]
        assert first["diffs"][0]["oldText"] == "a\n"
        assert first["paths"] == [f"{ws}/a.py"]
        assert first["toolCallId"] == "t1"
        assert editor.all(DIALOG) == []

    @pytest.mark.parametrize(
        ("result", "answered"),
        [
            ({"optionId": "always"}, "always"),
            ({"optionId": "sudo"}, "no"),
            ({"optionId": None}, "no"),
            ({}, "no"),
            (None, "no"),
            ("yes", "no"),
        ],
    )
    async def test_only_an_offered_option_counts(
        self, editor: Editor, puppet: Puppet, result: Any, answered: str
    ) -> None:
        editor.answers["acp/permission"] = lambda params: result
        assert await puppet.outcome(puppet.ask({"title": "one"})) == answered

    async def test_a_cancel_closes_the_request(self, editor: Editor, puppet: Puppet) -> None:
        editor.answers["acp/permission"] = lambda params: NO_ANSWER
        request = puppet.ask({"title": "one"})
        await editor.nth("acp/permission")
        puppet.send({"method": "$/cancel_request", "params": {"requestId": request}})
        assert await puppet.outcome(request) == "cancelled"
        shown = editor.requests("acp/permission")[0]["id"]
        await editor.until(lambda: {"id": shown} in editor.all("$/cancelRequest"))


async def test_S18_a_question_in_one_session_does_not_hold_up_another(
    editor: Editor, puppet: Puppet
) -> None:
    waiting = puppet.ask({"title": "one"})
    await editor.dialog()
    second = await editor.execute("acp.session.new")
    _, turn = editor.start("acp.session.prompt", sessionId=second["sessionId"], text="go")
    puppet.end_turn(await puppet.prompted())
    assert await asyncio.wait_for(turn, 10) == {"stopReason": "end_turn"}
    editor.click("Reject")
    assert await puppet.outcome(waiting) == "no"
