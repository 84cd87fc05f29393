"""What any version 2 traffic does to a session."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_sidecar.acp import model, v2
from acp_sidecar.session.change import Change, TerminalChanged, ToolCallChanged
from acp_sidecar.session.snapshot import snapshot
from acp_sidecar.session.state import Session

from .v2_traffic import UPDATES, Expected, Json, decoded, merged

ROLES = {"user": "user_message", "agent": "agent_message", "thought": "agent_thought"}


class World:
    """A session fed with version 2's own JSON."""

    def __init__(self) -> None:
        self.session = Session("s", "agent", "/ws", ("/ws",), 2, "S")

    def update(self, kind: str, /, *, replay: bool = False, **fields: Any) -> list[Change]:
        return self.take({"sessionUpdate": kind, **fields}, replay=replay)

    def take(self, update: Json, *, replay: bool = False) -> list[Change]:
        event = v2.session_update({"sessionId": "S", "update": update})[1]
        return self.session.apply(event, replay=replay)

    def call(self, call_id: str, **fields: Any) -> list[Change]:
        return self.update("tool_call_update", toolCallId=call_id, **fields)

    def prompt(self, text: str = "go") -> None:
        self.session.begin_turn([model.TextContent(text)])

    @property
    def json(self) -> Json:
        return snapshot(self.session)

    @property
    def texts(self) -> list[tuple[str, str]]:
        return [(message.role, message.text) for message in self.session.messages]

    @property
    def only_call(self) -> Json:
        (call,) = self.json["toolCalls"]
        return call


@settings(deadline=None, max_examples=300)
@given(st.lists(UPDATES, max_size=25))
def test_any_traffic_comes_to_what_the_schema_says(updates: list[Json]) -> None:
    world, expected = World(), Expected()
    for update in updates:
        world.take(update)
        expected.take(update)
    state = world.json
    assert {
        f"{ROLES[message['role']]}:{message['messageId']}": {
            "content": message["content"],
            "_meta": message["_meta"],
        }
        for message in state["messages"]
    } == {
        key: {**message, "content": merged(message["content"])}
        for key, message in expected.messages.items()
    }
    for call_id, wanted in expected.calls.items():
        call = world.session.tool_call(call_id)
        assert call is not None
        shown = call.to_json()
        assert {key: shown[key] for key in wanted} == wanted
        listed = {"type": "tool_call", "toolCallId": call_id} in (expected.background or [])
        assert shown["background"] == listed or expected.background is None
    assert set(expected.terminals) == {each["terminalId"] for each in state["terminals"]}
    for terminal in state["terminals"]:
        wanted = dict(expected.terminals[terminal["terminalId"]])
        ended = terminal["exitStatus"] is not None
        assert terminal["output"] == decoded(wanted.pop("bytes"), ended)
        assert {key: terminal.get(key) for key in wanted} == wanted
    plans = {plan["planId"]: plan for plan in state["plans"]}
    assert set(plans) == set(expected.plans)
    for plan_id, wanted in expected.plans.items():
        assert plans[plan_id]["entries"] == wanted.get("entries", [])
        assert plans[plan_id].get("tree") == wanted.get("tree")
    assert {
        each["compactionId"]: {key: each[key] for key in ("status", "summary", "error", "_meta")}
        for each in state["compactions"]
    } == {
        key: {**each, "summary": merged(each["summary"])}
        for key, each in expected.compactions.items()
    }
    told = {**state, "title": world.session.info.title}
    assert {key: told[key] for key in expected.info} == expected.info
    assert state["usage"] == expected.usage
    assert (state["status"], state["stopReason"]) == (expected.status, expected.stop_reason)
    assert state["background"] == expected.background


@settings(deadline=None, max_examples=200)
@given(UPDATES)
def test_any_update_is_written_as_it_was_read(update: Json) -> None:
    event = v2.session_update({"sessionId": "S", "update": update})[1]
    written = v2.encode_update(event)
    again = v2.session_update({"sessionId": "S", "update": written})[1]
    assert again == event


# --- single rules, said once more in words ----------------------------------------------------


def test_the_first_update_creates_a_call_with_defaults() -> None:
    world = World()
    world.call("t", title="Look")
    assert world.only_call == {
        "toolCallId": "t",
        "title": "Look",
        "name": None,
        "kind": "other",
        "status": "pending",
        "content": [],
        "locations": [],
        "command": None,
        "rawInput": None,
        "rawOutput": None,
        "_meta": None,
        "turn": 0,
        "closedBy": None,
        "background": False,
        "capabilities": None,
        "cancellable": False,
    }


def test_a_chunk_of_a_call_nobody_has_heard_of_creates_it() -> None:
    world = World()
    content = {"type": "content", "content": {"type": "text", "text": "hi"}}
    (change,) = world.update("tool_call_content_chunk", toolCallId="t", content=content)
    assert isinstance(change, ToolCallChanged) and change.created
    assert world.only_call["content"] == [content]


def test_chunks_are_in_order_of_arrival_and_content_replaces_them() -> None:
    world = World()

    def piece(text: str) -> Json:
        return {"type": "content", "content": {"type": "text", "text": text}}

    world.call("t", content=[piece("1")])
    for text in ("2", "3"):
        world.update("tool_call_content_chunk", toolCallId="t", content=piece(text))
    assert world.only_call["content"] == [piece("1"), piece("2"), piece("3")]
    world.call("t", status="in_progress")
    assert len(world.only_call["content"]) == 3
    world.call("t", content=[piece("new")])
    world.update("tool_call_content_chunk", toolCallId="t", content=piece("more"))
    assert world.only_call["content"] == [piece("new"), piece("more")]


@pytest.mark.parametrize("empty", [[], None])
def test_both_an_empty_list_and_null_clear(empty: Any) -> None:
    world = World()
    world.call("t", title="x", content=[{"type": "_odd"}], locations=[{"path": "/ws/a"}])
    world.call("t", content=empty, locations=empty)
    assert (world.only_call["content"], world.only_call["locations"]) == ([], [])


def test_null_resets_kind_and_status() -> None:
    world = World()
    world.call("t", title="x", kind="edit", status="in_progress", name="n", rawInput=1)
    world.call("t", title=None, kind=None, status=None, name=None, rawInput=None)
    call = world.session.tool_call("t")
    assert call is not None
    assert (call.title, call.kind, call.status, call.name, call.raw_input) == (
        None,
        "other",
        "pending",
        None,
        None,
    )


def test_an_unknown_status_is_work_that_goes_on() -> None:
    world = World()
    world.call("t", title="x", status="_dreaming")
    world.prompt()
    world.session.cancel_turn()
    assert (world.only_call["status"], world.only_call["closedBy"]) == ("cancelled", "sidecar")


def test_the_end_of_a_turn_closes_no_call_but_a_cancel_does() -> None:
    world = World()
    world.prompt()
    world.call("t", title="x", status="in_progress")
    world.update("state_update", state="idle", stopReason="end_turn")
    assert world.only_call["status"] == "in_progress"
    world.prompt()
    world.call("u", title="y", status="in_progress")
    world.session.cancel_turn()
    assert world.json["toolCalls"][1]["status"] == "cancelled"
    world.call("u", status="in_progress")
    assert world.json["toolCalls"][1]["status"] == "cancelled"
    world.call("u", status="completed")
    assert world.json["toolCalls"][1]["status"] == "completed"


def test_a_call_in_the_background_survives_a_cancel() -> None:
    world = World()
    world.prompt()
    world.call("t", title="watch", status="in_progress")
    listed = [{"type": "tool_call", "toolCallId": "t"}]
    world.update("state_update", state="running", background=listed)
    assert world.only_call["background"] is True
    world.session.cancel_turn()
    assert world.only_call["status"] == "in_progress"
    world.update("state_update", state="idle", stopReason="cancelled", background=[])
    assert world.only_call["background"] is False


def test_an_agent_may_take_up_a_call_again() -> None:
    world = World()
    world.call("t", title="x", status="completed")
    world.call("t", status="in_progress")
    assert world.only_call["status"] == "in_progress"
    world.prompt()
    world.session.cancel_turn()
    assert world.only_call["status"] == "cancelled"


# --- the life of a prompt ---------------------------------------------------------------------


def test_status_follows_the_agents_words() -> None:
    world = World()
    seen = []
    world.prompt()
    for fields in (
        {"state": "running"},
        {"state": "requires_action"},
        {"state": "_pondering"},
        {"state": "idle", "stopReason": "end_turn"},
        {"state": "running"},
        {"state": "idle"},
    ):
        world.update("state_update", **fields)
        seen.append((world.json["status"], world.json["stopReason"]))
    assert seen == [
        ("running", None),
        ("requires_action", None),
        ("running", None),
        ("idle", "end_turn"),
        ("running", None),
        ("idle", None),
    ]


def test_a_turn_that_failed_says_how() -> None:
    world = World()
    world.prompt()
    error = {"code": -32000, "message": "Quota", "data": {"left": 0}}
    world.update("state_update", state="idle", stopReason="error", error=error)
    assert (world.json["stopReason"], world.json["stopError"]) == ("error", error)
    world.prompt()
    assert world.json["stopError"] is None


def test_updates_while_idle_are_taken() -> None:
    world = World()
    world.update("state_update", state="idle")
    world.call("t", title="late")
    assert (world.json["status"], world.only_call["title"]) == ("idle", "late")


def _user(world: World, message_id: str, text: str) -> None:
    content = [{"type": "text", "text": text}]
    world.update("user_message", messageId=message_id, content=content)


@pytest.mark.parametrize("answered", ["before", "after", "never"])
@pytest.mark.parametrize("how", ["whole", "chunks", "chunk"])
def test_a_prompt_that_is_repeated_is_one_message(answered: str, how: str) -> None:
    world = World()
    world.prompt("fix the bug")
    if answered == "before":
        world.session.prompt_accepted("u1")
    if how == "whole":
        _user(world, "u1", "fix the bug")
    else:
        for text in {"chunks": ("fix ", "the bug"), "chunk": ("fix the bug",)}[how]:
            content = {"type": "text", "text": text}
            world.update("user_message_chunk", messageId="u1", content=content)
    if answered == "after":
        world.session.prompt_accepted("u1")
    world.update("agent_message_chunk", messageId="a", content={"type": "text", "text": "ok"})
    assert world.texts == [("user", "fix the bug"), ("agent", "ok")]
    _user(world, "u1", "fix the bug, please")
    assert world.texts[0] == ("user", "fix the bug, please")
    assert len(world.texts) == 2


def test_what_the_agent_makes_of_a_prompt_replaces_it() -> None:
    """It was taken as this message, so this is how it stands in the conversation."""
    world = World()
    world.prompt("/fix it")
    world.session.prompt_accepted("u1")
    for text in ("Fix ", "the bug"):
        content = {"type": "text", "text": text}
        world.update("user_message_chunk", messageId="u1", content=content)
    assert world.texts == [("user", "Fix the bug")]


def test_other_words_in_the_users_name_are_shown() -> None:
    world = World()
    world.prompt("fix the bug")
    _user(world, "x", "background task done")
    world.session.prompt_accepted("u1")
    assert world.texts == [("user", "fix the bug"), ("user", "background task done")]


def test_each_prompt_is_its_own_message() -> None:
    world = World()
    for message_id in ("u1", "u2"):
        world.prompt("again")
        world.session.prompt_accepted(message_id)
        _user(world, message_id, "again")
        world.update("state_update", state="idle", stopReason="end_turn")
    assert world.texts == [("user", "again"), ("user", "again")]


def test_a_replay_counts_turns() -> None:
    world = World()
    for turn in ("1", "2"):
        content = [{"type": "text", "text": f"q{turn}"}]
        world.update("user_message", messageId=f"u{turn}", content=content, replay=True)
        content = [{"type": "text", "text": f"a{turn}"}]
        world.update("agent_message", messageId=f"a{turn}", content=content, replay=True)
    assert [message["turn"] for message in world.json["messages"]] == [1, 1, 2, 2]


def test_what_a_chunk_says_of_itself_is_not_the_messages() -> None:
    world = World()
    text = {"type": "text", "text": "x"}
    world.update("agent_message", messageId="m", content=[text], _meta={"a": 1})
    world.update("agent_message_chunk", messageId="m", content=text, _meta={"b": 1})
    assert world.json["messages"][0]["_meta"] == {"a": 1}


# --- terminals --------------------------------------------------------------------------------


def _output(world: World, data: bytes) -> list[Change]:
    encoded = base64.b64encode(data).decode()
    return world.update("terminal_output_chunk", terminalId="t", data=encoded)


def test_a_character_may_be_cut_in_two() -> None:
    world = World()
    first, second = "é".encode()[:1], "é".encode()[1:]
    (change,) = _output(world, b"caf" + first)
    assert isinstance(change, TerminalChanged) and change.terminal.text() == "caf"
    _output(world, second + b"!")
    assert world.json["terminals"][0]["output"] == "café!"


def test_a_snapshot_forgets_half_a_character() -> None:
    world = World()
    _output(world, "é".encode()[:1])
    whole = {"data": base64.b64encode(b"all").decode()}
    world.update("terminal_update", terminalId="t", output=whole)
    _output(world, b" new")
    assert world.json["terminals"][0]["output"] == "all new"
    world.update("terminal_update", terminalId="t", output=None)
    assert world.json["terminals"][0]["output"] == ""


def test_an_empty_exit_status_is_an_exit() -> None:
    world = World()
    _output(world, "é".encode()[:1])
    world.update("terminal_update", terminalId="t", exitStatus={})
    terminal = world.json["terminals"][0]
    assert (terminal["exitStatus"], terminal["output"]) == ({}, "\ufffd")


# --- permissions ------------------------------------------------------------------------------


def _ask(world: World, **params: Any) -> Json:
    options = [{"optionId": "y", "name": "Yes", "kind": "_odd"}]
    params = {"sessionId": "S", "title": "May I?", "options": options, **params}
    request = v2.permission_request(params)
    world.session.permission_asked("q", request, "headline", "message")
    return world.json["permissions"][-1]


def test_a_question_updates_its_call_like_any_update_but_keeps_its_title_to_itself() -> None:
    world = World()
    world.call("t", title="Edit a", rawInput={"a": 1}, content=[{"type": "_odd"}])
    call = {"toolCallId": "t", "rawInput": None, "content": [], "kind": "edit"}
    asked = _ask(world, subject={"type": "tool_call", "toolCall": call})
    assert (asked["title"], asked["toolCallId"]) == ("May I?", "t")
    assert asked["subject"]["type"] == "tool_call"
    shown = world.only_call
    assert (shown["title"], shown["kind"]) == ("Edit a", "edit")
    assert (shown["rawInput"], shown["content"]) == (None, [])


def test_a_question_about_a_command_names_its_call() -> None:
    world = World()
    subject = {"type": "command", "command": "make", "cwd": "/ws", "toolCallId": "t"}
    asked = _ask(world, subject=subject, description="to build")
    assert (asked["toolCallId"], asked["description"]) == ("t", "to build")
    assert asked["subject"]["command"] == "make"
    assert world.json["toolCalls"] == []


@pytest.mark.parametrize("subject", [None, {"type": "_odd", "x": 1}])
def test_a_question_about_nothing_known_is_a_question_still(subject: Any) -> None:
    asked = _ask(World(), subject=subject)
    assert asked["options"] == [{"optionId": "y", "name": "Yes", "kind": "_odd"}]
    assert asked["toolCallId"] is None


# --- sessions ---------------------------------------------------------------------------------


def test_an_answer_that_opens_a_session_brings_commands_and_settings() -> None:
    world = World()
    command = {"type": "command", "name": "plan", "description": "d"}
    option = {
        "configId": "c",
        "name": "C",
        "type": "boolean",
        "currentValue": True,
    }
    opened = v2.session_opened(
        {"sessionId": "S", "availableCommands": [command], "configOptions": [option]}
    )
    world.session.opened(opened)
    assert [each["name"] for each in world.json["commands"]] == ["plan"]
    assert world.json["configOptions"] == [
        {"id": "c", "name": "C", "type": "boolean", "currentValue": True}
    ]


def test_opening_a_session_closes_nothing_that_was_told_before() -> None:
    world = World()
    world.call("t", title="x", status="in_progress")
    world.session.opened(v2.session_opened(None, "S"))
    assert world.only_call["status"] == "in_progress"
