"""Whole sessions of version 2 come to the same in the words of version 1."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from acp_sidecar.acp import model, v1, v2
from acp_sidecar.acp.convert import content_to_v1, plan_to_v1, to_v1
from acp_sidecar.acp.model import UNSET, Event
from acp_sidecar.acp.v1_to_v2 import ToV2
from acp_sidecar.acp.v2_to_v1 import ToV1
from acp_sidecar.session.snapshot import snapshot
from acp_sidecar.session.state import Session
from tests.unit.wires import read_v1, read_v2, via_v1, via_v2

from .v2_traffic import UPDATES, Json


class Back:
    """A v2 session, folded as it is and folded as v1."""

    def __init__(self) -> None:
        self.second = Session("s", "a", "/ws", ("/ws",), 2, "S")
        self.first = Session("s", "a", "/ws", ("/ws",), 1, "S")
        self.to_v1 = ToV1()
        self.reopened: set[str] = set()
        self.lost_meta: set[str] = set()
        self.known: dict[str, Json] = {}

    def take(self, update: Json) -> None:
        event = read_v2(update)
        if isinstance(event, model.ToolCallUpsert):
            self._watch(event)
        self.second.apply(event)
        for said in self.to_v1.update(event):
            if isinstance(said, model.TurnEnded):
                continue
            self.first.apply(via_v1(said))

    def _watch(self, event: model.ToolCallUpsert) -> None:
        """What v1 has no word for, see the table in docs/versions.md."""
        call = self.second.tool_call(event.tool_call_id)
        status = None if event.status is UNSET else event.status or "pending"
        if status not in (None, *model.FINAL_STATUSES) and call is not None and not call.open:
            self.reopened.add(event.tool_call_id)
        if event.meta is None:
            self.lost_meta.add(event.tool_call_id)


def _carried(content: Any) -> list[Json]:
    """Content as v1 carries it: blocks of unknown types are not read, terminals are text."""
    kept = [item for item in content if not isinstance(item, model.UnknownBlock)]
    kept = [item for item in kept if not isinstance(item, model.TerminalContent)]
    return [
        item
        for item in v1.encode(content_to_v1(kept))
        if item.get("content", {}).get("type", "text") in ("text", "image")
    ]


@settings(deadline=None, max_examples=300)
@given(st.lists(UPDATES, max_size=20))
def test_any_v2_traffic_comes_to_the_same_as_v1(updates: list[Json]) -> None:
    back = Back()
    for update in updates:
        back.take(update)
    first, second = snapshot(back.first), snapshot(back.second)
    for call in back.second.tool_calls:
        other = back.first.tool_call(call.tool_call_id)
        assert other is not None
        _same_call(back, call, other)
    shown = {(m["role"], m["messageId"].split("#")[0]): m["content"] for m in first["messages"]}
    for message in second["messages"]:
        wanted = [block for block in message["content"] if block["type"] in ("text", "image")]
        if wanted:
            got = shown[message["role"], message["messageId"]]
            assert _joined(got) == _joined(wanted)
    entries = [entry for plan in back.second.plans for entry in plan.entries]
    shown_entries = [entry for plan in back.first.plans for entry in plan.entries]
    assert tuple(shown_entries) == plan_to_v1(entries)
    compactions = {each["compactionId"]: each for each in first["compactions"]}
    for each in second["compactions"]:
        known = [block for block in each["summary"] if block["type"] in ("text", "image")]
        if known or each["compactionId"] in compactions:
            told = compactions[each["compactionId"]]
            assert _joined(told["summary"]) == _joined(known)
            assert (told["status"], told["error"]) == (each["status"], each["error"])
    for key in ("title", "updatedAt", "_meta"):
        assert first[key] == second[key]
    if second["usage"] is not None:
        assert (first["usage"]["used"], first["usage"]["size"]) == (
            second["usage"]["used"],
            second["usage"]["size"],
        )


def _joined(blocks: list[Json]) -> list[Json]:
    """Adjacent texts as one: what stood between them may be of a type that v1 does not read."""
    joined: list[Json] = []
    for block in blocks:
        if joined and block["type"] == joined[-1]["type"] == "text":
            joined[-1] = {**block, "text": joined[-1]["text"] + block["text"]}
        else:
            joined.append(dict(block))
    return joined


def _same_call(back: Back, call: Any, other: Any) -> None:
    if call.title is not None:
        assert other.title == call.title
    if call.name is not None:
        assert other.name == call.name
    assert other.kind == (call.kind if call.kind in model.TOOL_KINDS else "other")
    if call.tool_call_id not in back.reopened:
        (wanted,) = to_v1(model.ToolCallUpsert("t", status=call.status))
        assert isinstance(wanted, model.ToolCallUpsert)
        assert other.status == wanted.status
    assert other.locations == call.locations
    for name in ("raw_input", "raw_output"):
        if getattr(call, name) is not None:
            assert getattr(other, name) == getattr(call, name)
    if call.tool_call_id not in back.lost_meta:
        assert other.meta == call.meta
    texts = [t for t in call.content if isinstance(t, model.TerminalContent)]
    carried = _carried(call.content)
    if not texts:
        assert v1.encode(other.content) == carried
    else:
        assert len(other.content) == len(carried) + len(texts)


def test_content_that_grows_is_told_as_a_whole_each_time() -> None:
    bridge = ToV1()
    said = []
    for number in range(3):
        content = {"type": "content", "content": {"type": "text", "text": str(number)}}
        update = {
            "sessionUpdate": "tool_call_content_chunk",
            "toolCallId": "t",
            "content": content,
        }
        (event,) = bridge.update(read_v2(update))
        said.append([item["content"]["text"] for item in v1.encode_update(event)["content"]])
    assert said == [["0"], ["0", "1"], ["0", "1", "2"]]


def test_the_first_word_of_a_call_introduces_it() -> None:
    bridge = ToV1()
    update = {"sessionUpdate": "tool_call_update", "toolCallId": "t", "title": "Do"}
    kinds = [
        v1.encode_update(event)["sessionUpdate"]
        for _ in range(2)
        for event in bridge.update(read_v2(update))
    ]
    assert kinds == ["tool_call", "tool_call_update"]


def test_a_replaced_message_is_told_again_under_another_id() -> None:
    bridge = ToV1()

    def text(words: str) -> Json:
        return {"type": "text", "text": words}

    said = []
    for update in (
        {"sessionUpdate": "agent_message_chunk", "content": text("He")},
        {"sessionUpdate": "agent_message", "content": [text("He"), text("llo")]},
        {"sessionUpdate": "agent_message", "content": [text("Bye")]},
        {"sessionUpdate": "agent_message_chunk", "content": text("!")},
    ):
        for event in bridge.update(read_v2({**update, "messageId": "m"})):
            written = v1.encode_update(event)
            said.append((written["messageId"], written["content"]["text"]))
    assert said == [("m", "He"), ("m", "llo"), ("m#2", "Bye"), ("m#2", "!")]


def test_a_terminal_is_text_when_its_command_has_ended() -> None:
    bridge = ToV1()
    said: list[Event] = []
    for update in (
        {"sessionUpdate": "terminal_update", "terminalId": "x", "command": "make"},
        {
            "sessionUpdate": "tool_call_update",
            "toolCallId": "t",
            "title": "Run",
            "content": [{"type": "terminal", "terminalId": "x"}],
        },
        {"sessionUpdate": "terminal_output_chunk", "terminalId": "x", "data": "b2sK"},
        {"sessionUpdate": "terminal_update", "terminalId": "x", "exitStatus": {"exitCode": 2}},
    ):
        said += bridge.update(read_v2(update))
    texts = [v1.encode_update(event)["content"][0]["content"]["text"] for event in said]
    assert texts == ["$ make", "$ make\nok\n\n[exit code 2]"]


def test_only_the_end_of_work_ends_a_turn() -> None:
    """A snapshot that says idle again is no answer to a prompt."""
    bridge = ToV1()
    idle = {"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"}
    assert bridge.update(read_v2(idle)) == []
    bridge.prompted()
    assert bridge.update(read_v2(idle)) == [model.TurnEnded("end_turn")]
    assert bridge.update(read_v2(idle)) == []


def test_several_plans_are_one() -> None:
    bridge = ToV1()
    entry = {"content": "c", "priority": "low", "status": "pending"}
    for plan_id in ("a", "b"):
        plan = {"type": "items", "planId": plan_id, "entries": [{**entry, "content": plan_id}]}
        (event,) = bridge.update(read_v2({"sessionUpdate": "plan_update", "plan": plan}))
    assert [each["content"] for each in v1.encode_update(event)["entries"]] == ["a", "b"]


def test_a_v1_session_becomes_the_same_again() -> None:
    """There and back: what a v1 agent said reaches a v1 client as it was."""
    there, back = ToV2(), ToV1()
    diff = {"type": "diff", "path": "/ws/a", "oldText": "a\n", "newText": "b\n"}
    call = {"sessionUpdate": "tool_call", "toolCallId": "t", "title": "Edit", "content": [diff]}
    update = {"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "completed"}
    for said in (call, update):
        (middle,) = there.update(read_v1(said))
        (event,) = back.update(via_v2(middle))
        assert v1.encode_update(event) == said


def test_a_cancelled_turn_leaves_its_calls_cancelled() -> None:
    bridge = ToV2()
    bridge.prompted()
    bridge.update(read_v1({"sessionUpdate": "tool_call", "toolCallId": "t", "title": "x"}))
    bridge.cancelled()
    said = [v2.encode_update(event) for event in bridge.update(model.TurnEnded("cancelled"))]
    assert said[-1]["stopReason"] == "cancelled"
