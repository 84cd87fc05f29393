"""What one version says in the words of the other, an update at a time."""

from __future__ import annotations

import pytest

from acp_sidecar.acp import model, v1, v2
from acp_sidecar.acp.convert import (
    CannotSay,
    permission_to_v1,
    permission_to_v2,
    plan_to_v1,
    to_v1,
    to_v2,
)
from tests.unit.wires import read_v1, read_v2

from .v2_traffic import Json

# --- one update, v1 to v2 ---------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["tool_call", "tool_call_update"])
def test_both_variants_become_the_upsert_and_null_is_left_out(kind: str) -> None:
    update = {
        "sessionUpdate": kind,
        "toolCallId": "t",
        "title": "Edit",
        "status": None,
        "content": None,
        "locations": [],
        "rawInput": None,
        "_meta": None,
    }
    assert v2.encode_update(to_v2(read_v1(update))) == {
        "sessionUpdate": "tool_call_update",
        "toolCallId": "t",
        "title": "Edit",
        "locations": [],
    }


def test_a_diff_keeps_its_texts_as_a_patch() -> None:
    diff = {"type": "diff", "path": "/ws/a", "oldText": "a\n", "newText": "b\n"}
    update = {"sessionUpdate": "tool_call_update", "toolCallId": "t", "content": [diff]}
    (content,) = v2.encode_update(to_v2(read_v1(update)))["content"]
    assert content["changes"] == [{"operation": "modify", "path": "/ws/a"}]
    assert "-a\n+b\n" in content["patch"]["text"]
    (back,) = to_v1(to_v2(read_v1(update)))
    assert v1.encode_update(back)["content"] == [diff]


def test_what_needs_a_memory_is_refused() -> None:
    chunk = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "x"}}
    mode = {"sessionUpdate": "current_mode_update", "currentModeId": "m"}
    for update in (chunk, mode):
        with pytest.raises(CannotSay):
            to_v2(read_v1(update))


def test_the_end_of_a_turn_is_idle() -> None:
    assert v2.encode_update(to_v2(model.TurnEnded("refusal"))) == {
        "sessionUpdate": "state_update",
        "state": "idle",
        "stopReason": "refusal",
    }


def test_a_permission_request_of_v1() -> None:
    call = {"toolCallId": "t", "title": "Edit a", "kind": "edit"}
    options = [{"optionId": "y", "name": "Yes", "kind": "allow_once"}]
    asked = v1.permission_request({"sessionId": "S", "toolCall": call, "options": options})
    request = permission_to_v2(asked)
    assert v2.encode_permission_request(request) == {
        "sessionId": "S",
        "title": "Edit a",
        "options": options,
        "subject": {"type": "tool_call", "toolCall": call},
    }
    again = permission_to_v1(v2.permission_request(v2.encode_permission_request(request)))
    assert again.tool_call is not None and v1.encode_update(again.tool_call) == {
        "sessionUpdate": "tool_call_update",
        **call,
    }


# --- one update, v2 to v1 ---------------------------------------------------------------------


def test_cleared_lists_are_empty_and_other_clears_are_left_out() -> None:
    update = {
        "sessionUpdate": "tool_call_update",
        "toolCallId": "t",
        "title": None,
        "name": None,
        "kind": None,
        "status": None,
        "content": None,
        "locations": None,
        "rawInput": None,
        "rawOutput": None,
        "capabilities": {"cancel": {}},
        "_meta": None,
    }
    (event,) = to_v1(read_v2(update))
    assert v1.encode_update(event) == {
        "sessionUpdate": "tool_call_update",
        "toolCallId": "t",
        "content": [],
        "locations": [],
    }


@pytest.mark.parametrize(
    "update",
    [
        {
            "sessionUpdate": "tool_call_content_chunk",
            "toolCallId": "t",
            "content": {"type": "terminal", "terminalId": "x"},
        },
        {"sessionUpdate": "agent_message", "messageId": "m", "content": []},
        {"sessionUpdate": "terminal_update", "terminalId": "t"},
        {"sessionUpdate": "terminal_output_chunk", "terminalId": "t", "data": ""},
    ],
)
def test_what_v1_cannot_say_alone_is_refused(update: Json) -> None:
    with pytest.raises(CannotSay):
        to_v1(read_v2(update))


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("pending", "pending"),
        ("paused", "in_progress"),
        ("cancelled", "failed"),
        ("_odd", "in_progress"),
        ("completed", "completed"),
    ],
)
def test_a_status_in_the_words_of_v1(ours: str, theirs: str) -> None:
    update = {"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": ours}
    (event,) = to_v1(read_v2(update))
    assert isinstance(event, model.ToolCallUpsert) and event.status == theirs


@pytest.mark.parametrize(
    ("reason", "theirs"),
    [
        ("cancelled", "cancelled"),
        ("refusal", "refusal"),
        ("error", "end_turn"),
        ("_odd", "end_turn"),
        (None, "end_turn"),
    ],
)
def test_a_stop_reason_in_the_words_of_v1(reason: str | None, theirs: str) -> None:
    assert to_v1(model.TurnEnded(reason, idle=True)) == [model.TurnEnded(theirs)]


def test_a_cancelled_entry_of_a_plan_says_so() -> None:
    entries = [model.PlanEntry("a", "_odd", "cancelled"), model.PlanEntry("b", "low", "_odd")]
    assert plan_to_v1(entries) == (
        model.PlanEntry("Cancelled: a", "medium", "completed"),
        model.PlanEntry("b", "low", "pending"),
    )


def test_commands_of_unknown_types_are_left_out() -> None:
    commands = [
        {"type": "_odd", "name": "x", "description": "d"},
        {
            "type": "command",
            "name": "y",
            "description": "d",
            "input": {"type": "text", "hint": "h"},
        },
        {"type": "command", "name": "z", "description": "d", "input": {"type": "_odd"}},
    ]
    update = {"sessionUpdate": "available_commands_update", "availableCommands": commands}
    (event,) = to_v1(read_v2(update))
    assert v1.encode_update(event)["availableCommands"] == [
        {"name": "y", "description": "d", "input": {"hint": "h"}},
        {"name": "z", "description": "d"},
    ]


@pytest.mark.parametrize(
    ("subject", "wanted"),
    [
        (
            {"type": "command", "command": "make", "cwd": "/ws", "toolCallId": "t"},
            {
                "toolCallId": "t",
                "title": "May I?",
                "kind": "execute",
                "rawInput": {"command": "make", "cwd": "/ws"},
            },
        ),
        (None, {"toolCallId": "", "title": "May I?"}),
        ({"type": "_odd"}, {"toolCallId": "", "title": "May I?"}),
    ],
)
def test_every_question_is_about_a_tool_call_in_v1(subject: Json, wanted: Json) -> None:
    params = {"sessionId": "S", "title": "May I?", "subject": subject, "options": []}
    call = permission_to_v1(v2.permission_request(params)).tool_call
    assert call is not None
    assert v1.encode_update(call) == {"sessionUpdate": "tool_call_update", **wanted}
