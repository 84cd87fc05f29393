"""The session as a whole: its JSON, status, questions, and what stands beside the talk."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_sidecar.acp import model, v1
from acp_sidecar.acp.decoding import DecodeError
from acp_sidecar.session import change
from acp_sidecar.session.snapshot import snapshot
from acp_sidecar.session.state import Session
from acp_sidecar.session.transcript import block, changed_keys

from .session_world import World

CONTRACT = {
    "sessionId", "agentSessionId", "agent", "protocolVersion", "cwd", "roots", "title", "status",
    "stopReason", "order", "messages", "toolCalls", "plans", "modes", "configOptions", "commands",
    "usage", "terminals", "permissions", "elicitations", "notices", "compactions", "changes",
    "follow", "queue",
}  # fmt: skip
"""The fields of ``acp.session.state`` that every reader may rely on."""


def test_a_fresh_session_has_every_field() -> None:
    state = snapshot(Session("s1", "opencode", "/ws", ("/ws", "/lib")))
    assert set(state) >= CONTRACT
    assert (state["sessionId"], state["agentSessionId"], state["agent"]) == ("s1", None, "opencode")
    assert (state["cwd"], state["roots"], state["protocolVersion"]) == ("/ws", ["/ws", "/lib"], 1)
    assert state["status"] == "idle"
    for name in ("title", "stopReason", "modes", "usage"):
        assert state[name] is None
    for name in ("order", "messages", "toolCalls", "plans", "configOptions", "commands",
                 "terminals", "permissions", "elicitations", "notices", "compactions", "changes",
                 "queue"):  # fmt: skip
        assert state[name] == []
    assert set(state["follow"]) == {"enabled", "paused", "location", "shown", "reason"}


def test_what_others_know_stands_beside_the_state() -> None:
    world = World()
    world.session.changes = [{"uri": "file:///ws/a"}]
    world.session.queue = [{"turnId": "t"}]
    world.session.follow = {"enabled": False}
    state = world.json
    assert state["changes"] == [{"uri": "file:///ws/a"}]
    assert state["queue"] == [{"turnId": "t"}]
    assert state["follow"] == {"enabled": False}


# --- status ---------------------------------------------


def statuses(changes: list[change.Change]) -> list[str]:
    return [item.status for item in changes if isinstance(item, change.StatusChanged)]


def test_the_life_of_a_turn() -> None:
    world = World()
    assert statuses(world.prompt("go")) == ["running"]
    assert world.json["stopReason"] is None
    request_id, changes = world.ask()
    assert statuses(changes) == ["requires_action"]
    assert statuses(world.session.permission_closed(request_id, "answered", "y")) == ["running"]
    assert statuses(world.end("max_tokens")) == ["idle"]
    assert world.json["stopReason"] == "max_tokens"
    assert statuses(world.prompt("more")) == ["running"]
    assert world.json["stopReason"] is None
    assert world.session.turn == 2


def test_a_prompt_that_failed_ends_its_turn_without_a_reason() -> None:
    world = World()
    world.prompt()
    assert statuses(world.end(None)) == ["idle"]
    assert world.json["stopReason"] is None


def test_two_prompts_on_their_way_run_until_both_are_answered() -> None:
    """We do not do that ourselves, but recordings of others do."""
    world = World()
    world.prompt("one")
    world.call("t1")
    world.prompt("two")
    world.end()
    assert world.session.status == "running"
    assert world.json["toolCalls"][0]["status"] == "pending"
    world.end("cancelled")
    assert world.session.status == "idle"
    assert world.json["toolCalls"][0]["status"] == "cancelled"


def test_an_answer_too_many_does_no_harm() -> None:
    world = World()
    world.end()
    world.prompt()
    assert world.session.status == "running"


@pytest.mark.parametrize("how", ["close", "died"])
def test_the_end_is_final(how: str) -> None:
    world = World()
    world.prompt()
    request_id, _ = world.ask()
    session = world.session
    wanted = "closed" if how == "close" else "dead"
    changes = session.close() if how == "close" else session.died("exit status 3")
    assert statuses(changes)[-1] == wanted
    assert world.json["permissions"][0]["state"] == "cancelled"
    assert session.close() == session.died("again") == []
    assert session.permission_closed(request_id, "answered", "y") == []
    world.say("agent", "a last word")
    assert world.json["status"] == wanted
    assert world.json["endReason"] == (None if how == "close" else "exit status 3")


def test_version_2_says_when_it_works() -> None:
    world = World()
    assert statuses(world.session.apply(model.TurnStarted())) == ["running"]
    assert world.session.apply(model.TurnStarted()) == []
    assert statuses(world.session.apply(model.TurnEnded(None, idle=True))) == ["idle"]


def test_S07_a_turn_in_which_nothing_came_back() -> None:
    world = World()
    world.prompt("hello?")
    world.say("user", "hello?")
    world.update("usage_update", used=1, size=2)
    world.end("refusal")
    assert not world.session.said_anything(1)
    world.prompt("anybody?")
    world.say("thought", "hm")
    assert world.session.said_anything(2) and not world.session.said_anything(1)
    assert not world.session.said_anything(3)


# --- permissions ---------------------------------------------


def test_a_permission_as_the_state_gives_it() -> None:
    world = World()
    world.prompt()
    world.ask(
        toolCall={"toolCallId": "t1", "title": "Edit"},
        options=[{"optionId": "y", "name": "Yes", "kind": "allow_once"}, {"optionId": "n"}],
    )
    (permission,) = world.json["permissions"]
    assert {name: permission[name] for name in ("requestId", "toolCallId", "message", "options",
                                                "state", "optionId")} == {
        "requestId": "q1",
        "toolCallId": "t1",
        "message": "May I?",
        "options": [
            {"optionId": "y", "name": "Yes", "kind": "allow_once"},
            {"optionId": "n", "name": "n", "kind": None},
        ],
        "state": "waiting",
        "optionId": None,
    }  # fmt: skip
    world.session.permission_closed("q1", "answered", "y")
    (permission,) = world.json["permissions"]
    assert (permission["state"], permission["optionId"]) == ("answered", "y")
    assert world.order == [("message", "prompt-1"), ("toolCall", "t1"), ("permission", "q1")]


def test_R12_a_new_question_is_never_taken_for_an_answered_one() -> None:
    """The agent's ids start at 0 each turn; ours do not come again."""
    world = World()
    world.prompt()
    first, _ = world.ask(toolCall={"toolCallId": "t1", "title": "one"})
    world.session.permission_closed(first, "answered", "y")
    world.end()
    world.prompt()
    second, _ = world.ask(toolCall={"toolCallId": "t2", "title": "two"})
    assert [p["state"] for p in world.json["permissions"]] == ["answered", "waiting"]
    assert world.session.permission_closed(first, "answered", "n") == []
    assert [p["optionId"] for p in world.json["permissions"]] == ["y", None]
    assert second != first


def test_R13_news_of_the_call_does_not_close_the_question() -> None:
    world = World()
    world.prompt()
    world.call("t1")
    world.ask(toolCall={"toolCallId": "t1"})
    for status in ("in_progress", "completed", "failed"):
        world.patch("t1", status=status)
        assert world.json["permissions"][0]["state"] == "waiting"
        assert world.json["status"] == "requires_action"


def test_R14_a_question_may_be_the_only_sign_of_a_call() -> None:
    world = World()
    world.prompt()
    _, changes = world.ask(
        toolCall={
            "toolCallId": "t9",
            "title": "Write a",
            "kind": "edit",
            "rawInput": {"path": "/ws/a"},
            "content": [{"type": "diff", "path": "/ws/a", "oldText": "", "newText": "x"}],
            "locations": [{"path": "/ws/a"}],
        }
    )
    (call,) = world.json["toolCalls"]
    assert (call["title"], call["kind"], call["status"]) == ("Write a", "edit", "pending")
    assert call["rawInput"] == {"path": "/ws/a"}
    assert [type(item) for item in changes] == [
        change.ToolCallChanged,
        change.PermissionChanged,
        change.StatusChanged,
    ]


def test_R14_a_question_does_not_blank_what_is_known() -> None:
    world = World()
    world.call(
        "t1",
        title="Edit a",
        name="edit",
        kind="edit",
        content=[{"type": "diff", "path": "/ws/a", "newText": "x"}],
        locations=[{"path": "/ws/a", "line": 4}],
        rawInput={"path": "/ws/a"},
        rawOutput="out",
    )
    before = world.json["toolCalls"]
    world.ask(
        toolCall={
            "toolCallId": "t1",
            "title": "",
            "name": "",
            "content": [],
            "locations": [],
            "rawInput": {},
            "rawOutput": "",
        }
    )
    assert world.json["toolCalls"] == before
    world.ask(toolCall={"toolCallId": "t1", "title": "Edit a, really"})
    assert world.json["toolCalls"][0]["title"] == "Edit a, really"
    assert world.json["toolCalls"][0]["rawInput"] == {"path": "/ws/a"}


def test_R14_a_question_about_an_old_id_is_about_another_call() -> None:
    world = World()
    world.prompt()
    world.call("t1", title="first", status="completed")
    world.end()
    world.prompt()
    world.ask(toolCall={"toolCallId": "t1", "title": "second"})
    assert [(c["title"], c["status"]) for c in world.json["toolCalls"]] == [
        ("first", "completed"),
        ("second", "pending"),
    ]


@pytest.mark.parametrize("tool_call", [None, {}, {"toolCallId": 5, "title": "x"}, "t1"])
def test_a_question_of_no_call_is_a_question(tool_call: Any) -> None:
    world = World()
    world.ask(toolCall=tool_call)
    assert world.json["toolCalls"] == []
    assert world.json["permissions"][0]["toolCallId"] is None
    assert world.json["status"] == "requires_action"


def test_a_cancel_closes_what_is_still_asked() -> None:
    world = World()
    world.prompt()
    world.ask()
    world.ask()
    changes = world.session.cancel_turn()
    assert [p["state"] for p in world.json["permissions"]] == ["cancelled", "cancelled"]
    assert statuses(changes) == ["running"]


# --- plan, modes, settings, commands, usage ---------------------------------------------


def test_a_plan_is_replaced_whole_and_keeps_its_place() -> None:
    world = World()
    world.say("agent", "I plan")
    entry = {"content": "a", "priority": "high", "status": "pending"}
    world.update("plan", entries=[entry, {**entry, "content": "b"}])
    world.say("agent", "and do")
    world.update("plan", entries=[{**entry, "status": "completed", "_meta": {"k": 1}}])
    assert world.json["plans"] == [
        {
            "planId": "plan",
            "entries": [{**entry, "status": "completed", "_meta": {"k": 1}}],
            "_meta": None,
        }
    ]
    assert [kind for kind, _ in world.order] == ["message", "plan", "message"]
    world.update("plan", entries=[])
    assert world.json["plans"][0]["entries"] == []


MODES = {
    "currentModeId": "ask",
    "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code", "x": 1}],
}
OPTION = {
    "id": "model",
    "name": "Model",
    "type": "select",
    "currentValue": "a",
    "options": [{"value": "a", "name": "A"}, {"value": "b", "name": "B"}],
}


def test_what_a_session_opens_with() -> None:
    world = World()
    changes = world.session.opened(
        v1.session_opened({"sessionId": "S", "modes": MODES, "configOptions": [OPTION]})
    )
    assert [type(item) for item in changes] == [change.ModesChanged, change.ConfigChanged]
    assert world.json["agentSessionId"] == "S"
    assert world.json["modes"] == MODES
    assert world.json["configOptions"] == [OPTION]
    world.update("current_mode_update", currentModeId="code")
    assert world.json["modes"] == {**MODES, "currentModeId": "code"}
    world.session.mode_set("ask")
    assert world.json["modes"] == MODES
    world.update("config_option_update", configOptions=[{**OPTION, "currentValue": "b"}])
    assert world.json["configOptions"][0]["currentValue"] == "b"


def test_a_mode_without_a_list_of_modes() -> None:
    world = World()
    world.update("current_mode_update", currentModeId="code")
    assert world.json["modes"] == {"currentModeId": "code", "availableModes": []}


def test_an_answer_that_says_nothing_keeps_what_the_replay_told() -> None:
    """A load may answer null after the history has set the mode."""
    world = World()
    world.update("current_mode_update", currentModeId="code", replay=True)
    world.update("config_option_update", configOptions=[OPTION], replay=True)
    world.session.opened(v1.session_opened(None, "S"))
    assert world.json["modes"]["currentModeId"] == "code"
    assert world.json["configOptions"] == [OPTION]


def test_commands_usage_and_title() -> None:
    world = World()
    world.update(
        "available_commands_update",
        availableCommands=[{"name": "init", "description": "d", "input": {"hint": "h"}}, 5],
    )
    world.update("usage_update", used=10, size=200, cost={"amount": 0.5, "currency": "USD"}, x=1)
    world.update("session_info_update", title="A title", updatedAt="2026-01-01T00:00:00Z")
    state = world.json
    assert state["commands"] == [{"name": "init", "description": "d", "input": {"hint": "h"}}]
    assert state["usage"] == {
        "used": 10,
        "size": 200,
        "cost": {"amount": 0.5, "currency": "USD"},
        "x": 1,
    }
    assert state["title"] == "A title"
    world.update("usage_update", used=11, size=200)
    world.update("session_info_update", updatedAt="2026-01-02T00:00:00Z")
    assert world.json["usage"] == {"used": 11, "size": 200, "cost": None}
    assert world.json["title"] == "A title"
    world.update("session_info_update", title=None)
    assert world.json["title"] is None


def test_notices_and_compactions() -> None:
    world = World()
    world.update("notice", severity="warning", title="Low on tokens", description="soon out")
    world.update("compaction_update", compactionId="c1", status="in_progress")
    world.update(
        "compaction_summary_chunk", compactionId="c1", content={"type": "text", "text": "We "}
    )
    world.update(
        "compaction_summary_chunk", compactionId="c1", content={"type": "text", "text": "did."}
    )
    world.update("compaction_update", compactionId="c1", status="completed")
    state = world.json
    assert [(n["severity"], n["title"], n["description"]) for n in state["notices"]] == [
        ("warning", "Low on tokens", "soon out")
    ]
    (compaction,) = state["compactions"]
    assert compaction["status"] == "completed"
    assert compaction["summary"] == [{"type": "text", "text": "We did."}]
    assert [kind for kind, _ in world.order] == ["notice", "compaction"]
    world.update("compaction_update", compactionId="c1", status="failed", summary=None, error="e")
    assert world.json["compactions"][0]["summary"] == []
    assert world.json["compactions"][0]["error"] == "e"


def test_terminals() -> None:
    world = World()
    session = world.session
    session.apply(model.TerminalUpdate("term", command="make", cwd="/ws"))
    session.apply(model.TerminalOutput("term", "one\n"))
    session.apply(model.TerminalOutput("term", "two\n"))
    session.apply(model.TerminalUpdate("term", exit_status={"exitCode": 0}))
    assert world.json["terminals"] == [
        {
            "terminalId": "term",
            "command": "make",
            "cwd": "/ws",
            "output": "one\ntwo\n",
            "truncated": False,
            "exitStatus": {"exitCode": 0},
        }
    ]
    session.apply(model.TerminalUpdate("term", output="all of it", truncated=True))
    assert world.json["terminals"][0]["output"] == "all of it"


# --- T08, F18: whatever comes ---------------------------------------------


def test_T08_unknown_updates_change_nothing_and_keep_the_order() -> None:
    world = World()
    world.say("agent", "a")
    before = world.json
    assert world.update("future_thing", x=1) == []
    assert world.json == before
    world.say("agent", "b")
    assert world.texts == [("agent", "ab")]


def test_F18_the_state_can_always_be_sent() -> None:
    world = World()
    bad = "x\ud800y"
    world.prompt()
    world.say("agent", bad)
    world.call("t\ud800", title=bad, rawInput={bad: [bad]}, _meta={bad: bad}, extra=bad)
    world.update("plan", entries=[{"content": bad, "priority": "high", "status": "pending"}])
    world.ask(options=[{"optionId": bad, "name": bad}], toolCall={"toolCallId": "q", "title": bad})
    world.end(v1.stop_reason({"stopReason": bad}).stop_reason)
    text = orjson.dumps(world.json).decode()
    assert "x\ufffdy" in text


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.sampled_from(["", "t", "completed", "edit"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["type", "text", "content", "path", "title"]), inner)
    ),
    max_leaves=6,
)
updates = st.fixed_dictionaries(
    {"sessionUpdate": st.sampled_from(sorted(v1._UPDATES))},
    optional={
        "toolCallId": st.sampled_from(["t", "u"]),
        "title": st.sampled_from(["", "x", None]),
        "status": st.sampled_from(["pending", "in_progress", "completed", "failed", None, "odd"]),
        "content": json_values | st.just({"type": "text", "text": "x"}),
        "messageId": st.sampled_from(["m", None]),
        "entries": json_values,
        "locations": json_values,
        "rawInput": json_values,
    },
)
steps = st.lists(
    updates | st.sampled_from(["prompt", "end", "cancel", "ask", "answer", "close"]), max_size=25
)


@settings(deadline=None)
@given(steps, st.booleans())
def test_whatever_happens_the_state_holds_together(steps: list[Any], replay: bool) -> None:
    """No order of events breaks it: every entry stands for something that is there, keys are
    unique, nothing is open in a session that has ended, and all of it can be sent.
    """
    world = World()
    for step in steps:
        if isinstance(step, dict):
            params = {"sessionId": "S", "update": step}
            try:
                changes = world.session.apply(v1.session_update(params)[1], replay=replay)
            except DecodeError:
                continue
            known = {entry.key for entry in world.session.entries}
            assert set(changed_keys(changes)) <= known
        elif step == "prompt":
            world.prompt("x")
        elif step == "end":
            world.end()
        elif step == "cancel":
            world.session.cancel_turn()
        elif step == "ask":
            world.ask(toolCall={"toolCallId": "t"})
        elif step == "answer":
            world.session.permission_closed(f"q{world.asked}", "answered", "y")
        else:
            world.session.close()
    state = world.json
    orjson.dumps(state)
    if state["status"] == "closed":
        assert not any(call.open for call in world.session.tool_calls)
    keys = [entry["key"] for entry in state["order"]]
    assert len(keys) == len(set(keys))
    per_type = {kind: [i for t, i in world.order if t == kind] for kind in ("message", "toolCall")}
    assert per_type["message"] == [message["messageId"] for message in state["messages"]]
    assert per_type["toolCall"] == [call["toolCallId"] for call in state["toolCalls"]]
    for entry in world.session.entries:
        assert block(world.session, entry)["id"] == entry.key


# --- the transcript ---------------------------------------------


def test_a_block_has_the_names_of_the_state() -> None:
    world = World()
    world.prompt("go")
    world.call("t1", kind="edit")
    world.update("plan", entries=[])
    world.ask()
    blocks = [block(world.session, entry) for entry in world.session.entries]
    assert [item["kind"] for item in blocks] == ["message", "toolCall", "plan", "permission"]
    assert [item["id"] for item in blocks] == [entry["key"] for entry in world.json["order"]]
    assert blocks[0]["role"] == "user" and blocks[0]["content"][0]["text"] == "go"
    assert blocks[1]["toolCallId"] == "t1" and blocks[1]["toolKind"] == "edit"
    assert blocks[3]["requestId"] == "q1"


def test_T16_a_block_is_cut_to_its_end_and_the_state_is_not() -> None:
    world = World()
    world.call("t1", content=[
        {"type": "content", "content": {"type": "text", "text": "a" * 100 + "the end"}}
    ])  # fmt: skip
    (entry,) = world.session.entries
    cut = block(world.session, entry, cut=20)
    assert cut["truncated"] is True
    assert cut["content"][0]["content"]["text"] == "a" * 13 + "the end"
    assert "truncated" not in block(world.session, entry)
    assert len(world.json["toolCalls"][0]["content"][0]["content"]["text"]) == 107


def test_changes_name_the_blocks_to_draw_again() -> None:
    world = World()
    world.prompt()
    world.call("t1")
    keys = [entry.key for entry in world.session.entries]
    changes = [*world.patch("t1", status="completed"), *world.say("agent", "x"), *world.end()]
    assert changed_keys(changes) == [keys[1], "message:agent:message-1"]


def test_what_is_still_asked_of_a_session_that_died_leaves_no_call_open() -> None:
    world = World()
    world.prompt()
    world.session.died("exit status 3")
    request_id, _ = world.ask(toolCall={"toolCallId": "late", "title": "Late"})
    world.session.permission_closed(request_id, "cancelled")
    (call,) = world.json["toolCalls"]
    assert (call["toolCallId"], call["status"], call["closedBy"]) == ("late", "failed", "sidecar")
    assert world.json["status"] == "dead"


def test_a_session_goes_on_with_another_process_of_its_agent() -> None:
    world = World()
    world.prompt("one")
    world.session.died("exit status 3")
    (moved,) = world.session.revived()
    assert isinstance(moved, change.StatusChanged)
    assert (world.json["status"], world.json["endReason"]) == ("idle", None)
    assert world.session.revived() == []
    world.prompt("two")
    assert world.json["status"] == "running"
    world.end()
    assert world.json["status"] == "idle"
    # A session that was closed is closed.
    world.session.close()
    assert world.session.revived() == []
    assert world.json["status"] == "closed"
