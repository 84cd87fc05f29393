"""Agents that hang, end, or do not listen: everything has an end, and a way on."""

from __future__ import annotations

import asyncio
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.editor import Editor, LspError, capabilities
from tests.e2e.puppet import Puppet
from tests.e2e.shape import check
from tests.e2e.test_turn_oddities import begin, outcome, said, stopped, text

DIALOG = "window/showMessageRequest"


@pytest.fixture
def settings(puppet: Puppet) -> dict[str, Any]:
    return {
        "agents": {"puppet": puppet.setting},
        "defaultAgent": "puppet",
        "timeouts": {"cancel": 0.4},
    }


def told(editor: Editor) -> list[str]:
    return [params["message"] for params in editor.all("window/showMessage")]


async def checked(editor: Editor, **argument: Any) -> dict[str, Any]:
    state = await editor.state(**argument)
    check(state)
    return state


# --- a cancel that is ignored -----------------------------------------------------------


async def ignored(editor: Editor, puppet: Puppet) -> dict[str, Any]:
    """A turn whose cancel is not confirmed; the prompt as the agent has it."""
    turn, prompt = await begin(editor, puppet)
    puppet.tool("t1", status="in_progress")
    await editor.execute("acp.session.cancel")
    assert await outcome(turn) == stopped("cancelled")
    return prompt


async def test_an_ignored_cancel_ends_for_the_user_and_a_restart_is_offered(
    editor: Editor, puppet: Puppet, session: Any
) -> None:
    await ignored(editor, puppet)
    state = await checked(editor)
    assert (state["status"], state["stopReason"]) == ("idle", "cancelled")
    assert "acp.agent.restart" in told(editor)[-1]
    dialog = await editor.dialog()
    assert "puppet does not confirm the cancel" in dialog["message"]
    assert editor.titles() == ["Wait", "Restart puppet"]
    shown = [one["value"] for one in editor.all("$/progress")]
    assert {"kind": "report", "message": "cancelling"} in shown
    assert shown[-1]["kind"] == "end"
    # Nothing goes to an agent that may be working still.
    _, second = editor.start("acp.session.prompt", text="second")
    await editor.eventually(lambda: editor.execute("acp.session.queue"))
    puppet.capabilities = {"sessionCapabilities": {"resume": {}}}
    puppet.answers["session/resume"] = lambda params: {}
    editor.click("Restart puppet")
    assert "has ended" in await outcome(second)
    assert (await checked(editor))["status"] == "dead"
    # The next prompt takes the session up in a new process.
    turn, prompt = await begin(editor, puppet, text="third")
    assert puppet.connections == 2
    assert prompt["params"]["sessionId"] == "S1"
    puppet.say("here")
    puppet.end_turn(prompt)
    assert await turn == stopped("end_turn")


async def test_an_agent_may_confirm_a_cancel_as_late_as_it_likes(
    editor: Editor, puppet: Puppet, session: Any, ws: Path
) -> None:
    prompt = await ignored(editor, puppet)
    await editor.dialog()
    # It still works for the turn that was cancelled: shown, but nothing is written.
    puppet.tool("t1", "tool_call_update", status="completed")
    answer = await puppet.write(ws / "late.txt", "late")
    assert "cancelled" in answer["error"]["message"]
    _, second = editor.start("acp.session.prompt", text="second")
    puppet.end_turn(prompt, "cancelled")
    prompt = await puppet.prompted()
    (dialog,) = editor.requests(DIALOG)
    await editor.until(lambda: {"id": dialog["id"]} in editor.all("$/cancelRequest"))
    puppet.say("done")
    puppet.end_turn(prompt)
    assert await outcome(second) == stopped("end_turn")
    state = await checked(editor)
    assert state["toolCalls"][0]["status"] == "completed"

    def tokens(kind: str) -> list[str]:
        return sorted(
            one["token"] for one in editor.all("$/progress") if one["value"]["kind"] == kind
        )

    # One for the start, one for each turn that lasts; each ends once.
    await editor.until(lambda: tokens("end") == tokens("begin"))
    assert len(tokens("begin")) in (2, 3)


async def test_who_waits_is_asked_again_at_the_next_cancel(
    editor: Editor, puppet: Puppet, session: Any
) -> None:
    prompt = await ignored(editor, puppet)
    await editor.dialog()
    editor.click("Wait")
    await editor.execute("acp.session.cancel")
    await editor.dialog(2)
    editor.click("Wait")
    puppet.end_turn(prompt, "cancelled")
    turn, prompt = await begin(editor, puppet)
    puppet.say("done")
    puppet.end_turn(prompt)
    assert await turn == stopped("end_turn")
    assert puppet.connections == 1


async def test_the_offer_can_be_taken_by_command(
    editor: Editor, puppet: Puppet, session: Any
) -> None:
    await ignored(editor, puppet)
    await editor.dialog()
    (asked,) = await editor.execute("acp.permission.pending")
    assert [option["optionId"] for option in asked["options"]] == ["wait", "restart"]
    await editor.execute("acp.permission.answer", requestId=asked["requestId"], optionId="restart")
    await editor.eventually(lambda: _is_dead(editor, asked["sessionId"]))
    (dialog,) = editor.requests(DIALOG)
    await editor.until(lambda: {"id": dialog["id"]} in editor.all("$/cancelRequest"))


class TestTimer:
    @pytest.fixture
    def settings(self, puppet: Puppet) -> dict[str, Any]:
        return {
            "agents": {"puppet": puppet.setting},
            "defaultAgent": "puppet",
            "timeouts": {"cancel": 600},
        }

    async def test_a_cancel_that_is_not_confirmed_shows_for_how_long(
        self, editor: Editor, puppet: Puppet, session: Any
    ) -> None:
        turn, prompt = await begin(editor, puppet)
        await editor.execute("acp.session.cancel")

        def seconds() -> list[int]:
            said = (one["value"].get("message") or "" for one in editor.all("$/progress"))
            found = (re.fullmatch("cancelling, not confirmed for ([0-9]+) s", one) for one in said)
            return [int(one[1]) for one in found if one]

        await editor.until(lambda: len(set(seconds())) >= 2)
        assert seconds() == sorted(seconds())
        puppet.end_turn(prompt, "cancelled")
        assert await outcome(turn) == stopped("cancelled")


async def test_S18_an_ignored_cancel_in_one_session_holds_up_no_other(
    editor: Editor, puppet: Puppet, session: dict[str, Any]
) -> None:
    other = (await editor.execute("acp.session.new"))["sessionId"]
    _, turn = editor.start("acp.session.prompt", text="a", sessionId=session["sessionId"])
    await puppet.prompted()
    await editor.execute("acp.session.cancel", sessionId=session["sessionId"])
    assert await outcome(turn) == stopped("cancelled")
    await editor.dialog()
    turn, prompt = await begin(editor, puppet, sessionId=other)
    assert prompt["params"]["sessionId"] == "S2"
    puppet.say("done", "S2")
    puppet.end_turn(prompt)
    assert await turn == stopped("end_turn")


# --- an agent that has ended --------------------------------------------------------------


HISTORY = [
    {"sessionUpdate": "user_message_chunk", "content": text("first")},
    {"sessionUpdate": "agent_message_chunk", "content": text("answer")},
    {"sessionUpdate": "tool_call", "toolCallId": "old", "title": "Old", "status": "completed"},
    {"sessionUpdate": "plan", "entries": []},
    {"sessionUpdate": "current_mode_update", "currentModeId": "plan"},
]


async def crash(editor: Editor, puppet: Puppet) -> None:
    """A turn that goes well, and one in which the agent ends."""
    turn, prompt = await begin(editor, puppet, text="first")
    puppet.say("answer")
    puppet.end_turn(prompt)
    await turn
    turn, _ = await begin(editor, puppet, text="lost")
    puppet.hang_up()
    assert "puppet has ended" in await outcome(turn)
    assert (await checked(editor))["status"] == "dead"


def prompts(puppet: Puppet) -> list[str]:
    return [
        message["params"]["prompt"][0]["text"]
        for message in puppet.seen
        if message.get("method") == "session/prompt"
    ]


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("how", ["resume", "load"])
async def test_an_agent_that_ended_is_started_with_the_next_prompt(
    how: str, late: bool, editor: Editor, puppet: Puppet, session: Any
) -> None:
    """By resume where it can, else by load. What it tells again is not shown twice, also where
    it tells it after its answer."""
    await crash(editor, puppet)
    able = {"sessionCapabilities": {"resume": {}}} if how == "resume" else {}
    puppet.capabilities = {"loadSession": True, **able}
    history = [puppet.update_message(update) for update in HISTORY]

    def restored(params: dict[str, Any]) -> Any:
        assert params["sessionId"] == "S1"
        if how == "load" and not late:
            puppet.send(*history)
        elif how == "load":
            asyncio.get_running_loop().call_later(0.1, puppet.send, *history)
        return {"modes": {"currentModeId": "ask", "availableModes": []}}

    puppet.answers[f"session/{how}"] = restored
    turn, prompt = await begin(editor, puppet, text="next")
    assert prompt["params"]["sessionId"] == "S1"
    puppet.say("here")
    puppet.end_turn(prompt)
    assert await turn == stopped("end_turn")
    assert (puppet.connections, puppet.sessions) == (2, ["S1"])
    assert prompts(puppet) == ["first", "lost", "next"]
    state = await checked(editor)
    assert (state["status"], state["endReason"]) == ("idle", None)
    assert said(state, "user") == ["first", "lost", "next"]
    assert said(state, "agent") == ["answer", "here"]
    assert state["toolCalls"] == []
    # What stands beside the conversation counts.
    mode = "plan" if how == "load" else "ask"
    if not (how == "load" and not late):
        assert state["modes"]["currentModeId"] == mode
    assert "has taken up this session where it was" in told(editor)[-1]
    assert "was not sent again" in told(editor)[-1]


@pytest.mark.parametrize(
    ("able", "because"),
    [
        ({}, "cannot take up a session"),
        ({"loadSession": True}, "could not take up this session"),
    ],
)
async def test_an_agent_that_cannot_restore_begins_anew_and_that_is_said(
    able: dict[str, Any], because: str, editor: Editor, puppet: Puppet, session: dict[str, Any]
) -> None:
    await crash(editor, puppet)
    puppet.capabilities = able
    if able:
        asyncio.get_running_loop().create_task(_refuse(puppet, "session/load"))
    turn, prompt = await begin(editor, puppet, text="next")
    assert prompt["params"]["sessionId"] == "S2"
    puppet.say("who are you?")
    puppet.end_turn(prompt)
    assert await turn == stopped("end_turn")
    state = await checked(editor)
    assert state["sessionId"] == session["sessionId"]
    assert state["agentSessionId"] == "S2"
    assert said(state, "agent") == ["answer", "who are you?"]
    assert because in told(editor)[-1]
    assert editor.all("window/showMessage")[-1]["type"] == 2  # a warning
    assert "knows nothing of the conversation so far" in told(editor)[-1]
    assert prompts(puppet) == ["first", "lost", "next"]


async def _refuse(puppet: Puppet, method: str) -> None:
    request = await puppet.incoming(method)
    error = {"code": -32002, "message": "Resource not found"}
    puppet.send({"id": request["id"], "error": error})


async def test_two_prompts_at_once_start_one_process(
    editor: Editor, puppet: Puppet, session: Any
) -> None:
    await crash(editor, puppet)
    puppet.capabilities = {"sessionCapabilities": {"resume": {}}}
    puppet.answers["session/resume"] = lambda params: {}
    turns = [editor.start("acp.session.prompt", text=str(number))[1] for number in range(2)]
    for turn in turns:
        prompt = await puppet.prompted()
        puppet.say("here")
        puppet.end_turn(prompt)
        assert await outcome(turn) == stopped("end_turn")
    assert puppet.connections == 2


async def test_every_session_of_a_process_that_ended_is_taken_up_by_one_new_one(
    editor: Editor, puppet: Puppet, session: dict[str, Any]
) -> None:
    other = (await editor.execute("acp.session.new"))["sessionId"]
    puppet.hang_up()
    here = {"sessionId": session["sessionId"]}
    await editor.eventually(lambda: _is_dead(editor, session["sessionId"]))
    puppet.capabilities = {"sessionCapabilities": {"resume": {}}}
    puppet.answers["session/resume"] = lambda params: {}
    for argument, agent_session in (({"sessionId": other}, "S2"), (here, "S1")):
        turn, prompt = await begin(editor, puppet, **argument)
        assert prompt["params"]["sessionId"] == agent_session
        puppet.say("here", agent_session)
        puppet.end_turn(prompt)
        assert await turn == stopped("end_turn")
    assert puppet.connections == 2
    # It ended while it was idle: no prompt was lost.
    assert "was not sent again" not in told(editor)[-1]


async def test_a_session_that_was_opened_anew_meanwhile_is_not_taken_up_twice(
    editor: Editor, puppet: Puppet, session: dict[str, Any]
) -> None:
    await crash(editor, puppet)
    assert any("The next prompt starts it again" in text for text in told(editor))
    puppet.answers["session/load"] = lambda params: {}
    opened = await editor.execute("acp.session.load", agentSessionId="S1")
    with pytest.raises(LspError, match=opened["sessionId"]):
        await editor.execute("acp.session.prompt", text="x", sessionId=session["sessionId"])
    turn, prompt = await begin(editor, puppet, sessionId=opened["sessionId"])
    puppet.say("here")
    puppet.end_turn(prompt)
    assert await turn == stopped("end_turn")


async def _is_dead(editor: Editor, session_id: str) -> bool:
    return bool((await editor.state(sessionId=session_id))["status"] == "dead")


async def test_an_agent_that_ends_again_and_again_is_not_started_for_ever(
    editor: Editor, puppet: Puppet, session: Any
) -> None:
    puppet.capabilities = {"sessionCapabilities": {"resume": {}}}
    puppet.answers["session/resume"] = lambda params: {}
    for _ in range(3):
        turn, _ = await begin(editor, puppet)
        puppet.hang_up()
        assert "puppet has ended" in await outcome(turn)
    for _ in range(5):
        with pytest.raises(LspError, match=r"3 times.*acp\.session\.new"):
            await editor.execute("acp.session.prompt", text="again")
    assert puppet.connections == 3
    # Who says so gets it started.
    assert await editor.execute("acp.agent.restart", agent="puppet") == {"ended": 0}
    turn, prompt = await begin(editor, puppet)
    puppet.say("here")
    puppet.end_turn(prompt)
    assert await turn == stopped("end_turn")


async def test_an_agent_that_ends_while_it_takes_a_session_up_leaves_it_dead(
    editor: Editor, puppet: Puppet, session: Any
) -> None:
    await crash(editor, puppet)
    puppet.capabilities = {"sessionCapabilities": {"resume": {}}}
    puppet.answers["session/resume"] = lambda params: puppet.hang_up()
    assert "session/resume" in await outcome(editor.start("acp.session.prompt", text="a")[1])
    assert (await checked(editor))["status"] == "dead"
    puppet.answers["session/resume"] = lambda params: {}
    turn, prompt = await begin(editor, puppet)
    puppet.say("here")
    puppet.end_turn(prompt)
    assert await turn == stopped("end_turn")


async def test_a_start_for_a_prompt_can_be_cancelled(
    editor: Editor, puppet: Puppet, session: Any
) -> None:
    await crash(editor, puppet)
    greet = puppet.answers.pop("initialize")
    _, turn = editor.start("acp.session.prompt", text="next")
    title = {"kind": "begin", "title": "Starting puppet again", "cancellable": True}
    await editor.until(lambda: [one for one in editor.all("$/progress") if one["value"] == title])
    (shown,) = [one for one in editor.all("$/progress") if one["value"] == title]
    editor.notify("window/workDoneProgress/cancel", {"token": shown["token"]})
    assert "cancelled" in (await outcome(turn)).lower()
    assert (await checked(editor))["status"] == "dead"
    puppet.answers["initialize"] = greet
    puppet.capabilities = {}
    turn, prompt = await begin(editor, puppet)
    puppet.say("here")
    puppet.end_turn(prompt)
    assert await turn == stopped("end_turn")


# --- an agent that starts for a long time ------------------------------------------------------


async def test_S03_a_long_start_says_what_it_does(idle_editor: Editor, ws: Path) -> None:
    """The last line of its stderr, while it downloads; and it can be cancelled."""
    script = (
        "import sys,time\nfor n in range(600):\n print('fetch', n, file=sys.stderr, flush=True)"
    )
    script += "\n time.sleep(0.1)"
    settings = {"agents": {"slow": {"command": sys.executable, "args": ["-c", script]}}}
    editor = idle_editor
    await editor.initialize(ws, settings=settings)
    request, opening = editor.start("acp.session.new", agent="slow")

    def reports() -> list[str]:
        return [
            one["value"]["message"]
            for one in editor.all("$/progress")
            if one["value"]["kind"] == "report"
        ]

    await editor.until(lambda: len(set(reports())) >= 2)
    assert all(message.startswith("fetch ") for message in reports())
    editor.cancel(request)
    # Cancelled, and not given up after its time to start.
    with pytest.raises(LspError, match=r"(?i)cancel"):
        await opening


async def test_an_editor_with_its_own_questions_is_offered_the_restart_in_its_way(
    idle_editor: Editor, puppet: Puppet, ws: Path, settings: dict[str, Any]
) -> None:
    editor = idle_editor
    answered: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    editor.answers["acp/permission"] = lambda params: answered
    await editor.initialize(ws, settings=settings, can=capabilities(permission=True))
    await editor.execute("acp.session.new")
    await ignored(editor, puppet)
    asked = await editor.nth("acp/permission")
    assert [option["optionId"] for option in asked["options"]] == ["wait", "restart"]
    answered.set_result({"optionId": "restart"})
    await editor.eventually(lambda: _is_dead(editor, asked["sessionId"]))
