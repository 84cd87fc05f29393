"""What one version says in the words of the other."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_sidecar.acp import model, v1, v2
from acp_sidecar.acp.bridge import ToV1, ToV2
from acp_sidecar.acp.convert import (
    CannotSay,
    content_to_v1,
    content_to_v2,
    permission_to_v1,
    permission_to_v2,
    plan_to_v1,
    to_v1,
    to_v2,
)
from acp_sidecar.acp.decoding import DecodeError
from acp_sidecar.acp.model import UNSET, Event
from acp_sidecar.session.state import Session
from acp_sidecar.trace import read

from .v2_traffic import UPDATES, Json

OURS = Path(__file__).parents[1] / "data" / "traces"


def _first(update: Json) -> Event:
    return v1.session_update({"sessionId": "S", "update": update})[1]


def _second(update: Json) -> Event:
    return v2.session_update({"sessionId": "S", "update": update})[1]


def _via_v2(event: Event) -> Event:
    """The event as it arrives over a v2 wire."""
    return _second(json.loads(json.dumps(v2.encode_update(event))))


def _via_v1(event: Event) -> Event:
    return _first(json.loads(json.dumps(v1.encode_update(event))))


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
    assert v2.encode_update(to_v2(_first(update))) == {
        "sessionUpdate": "tool_call_update",
        "toolCallId": "t",
        "title": "Edit",
        "locations": [],
    }


def test_a_diff_keeps_its_texts_as_a_patch() -> None:
    diff = {"type": "diff", "path": "/ws/a", "oldText": "a\n", "newText": "b\n"}
    update = {"sessionUpdate": "tool_call_update", "toolCallId": "t", "content": [diff]}
    (content,) = v2.encode_update(to_v2(_first(update)))["content"]
    assert content["changes"] == [{"operation": "modify", "path": "/ws/a"}]
    assert "-a\n+b\n" in content["patch"]["text"]
    (back,) = to_v1(to_v2(_first(update)))
    assert v1.encode_update(back)["content"] == [diff]


def test_what_needs_a_memory_is_refused() -> None:
    chunk = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "x"}}
    mode = {"sessionUpdate": "current_mode_update", "currentModeId": "m"}
    for update in (chunk, mode):
        with pytest.raises(CannotSay):
            to_v2(_first(update))


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
    (event,) = to_v1(_second(update))
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
        to_v1(_second(update))


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
    (event,) = to_v1(_second(update))
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
    (event,) = to_v1(_second(update))
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


# --- whole sessions, v1 to v2 -----------------------------------------------------------------


def _recordings() -> list[Path]:
    named = os.environ.get("ACP_SIDECAR_TRACES")
    folder = Path(named) if named else OURS.parent / "recordings"
    return sorted([*OURS.glob("*.ndjson"), *folder.glob("*.ndjson")])


_OPENING = {"session/new", "session/load", "session/resume", "session/fork"}


class Twice:
    """A v1 recording, folded as it is and folded as v2."""

    def __init__(self) -> None:
        self.first = Session("s", "a", "/ws", ("/ws",), 1, "S")
        self.second = Session("s", "a", "/ws", ("/ws",), 2, "S")
        self.to_v2 = ToV2()
        self.events = 0
        self._calls: dict[str, tuple[str, Json]] = {}
        self._asked: dict[str, str] = {}
        self._loading = False

    def play(self, path: Path) -> None:
        for record in read(path):
            message = record.get("msg")
            if not isinstance(message, dict):
                continue
            # As in a live run, what is malformed costs itself.
            with contextlib.suppress(DecodeError):
                if record["dir"] == "c2a":
                    self._client(message)
                elif record["dir"] == "a2c":
                    self._agent(message)

    def _say(self, events: list[Event], replay: bool = False) -> None:
        for event in events:
            self.second.apply(_via_v2(event), replay=replay)

    def _client(self, message: Json) -> None:
        key, method, params = repr(message.get("id")), message.get("method"), message.get("params")
        if method is None:
            if key in self._asked:
                outcome = message.get("result", {}).get("outcome", {})
                chosen = outcome.get("optionId")
                for session in (self.first, self.second):
                    state = "answered" if chosen else "cancelled"
                    session.permission_closed(self._asked[key], state, chosen)
            return
        if "id" in message:
            self._calls[key] = method, params
        self._loading = self._loading or method == "session/load"
        if method == "session/prompt":
            blocks = [v1.decode_block(b) for b in params["prompt"] if b.get("type") == "text"]
            self._say(self.to_v2.prompted())
            for session in (self.first, self.second):
                session.begin_turn(blocks)
        elif method == "session/cancel":
            self.to_v2.cancelled()
            for session in (self.first, self.second):
                session.cancel_turn()

    def _agent(self, message: Json) -> None:
        method, params = message.get("method"), message.get("params")
        if method is None:
            self._answer(message)
        elif method == "session/update":
            event = v1.session_update(params)[1]
            self.events += 1
            self.first.apply(event, replay=self._loading)
            self._say(self.to_v2.update(event, replay=self._loading), self._loading)
        elif method == "session/request_permission":
            request = v1.permission_request(params)
            number = f"q{len(self._asked)}"
            self._asked[repr(message["id"])] = number
            self.first.permission_asked(number, request, "?", "?")
            events, question = self.to_v2.asked(request)
            self._say(events)
            asked = v2.encode_permission_request(question)
            self.second.permission_asked(number, v2.permission_request(asked), "?", "?")

    def _answer(self, message: Json) -> None:
        method, params = self._calls.pop(repr(message["id"]), (None, None))
        result = message.get("result")
        if method in _OPENING and "result" in message:
            known = params.get("sessionId") if method != "session/new" else None
            opened = v1.session_opened(result, None if method == "session/fork" else known)
            self.first.opened(opened)
            self._say(self.to_v2.settled())
            written = json.loads(json.dumps(v2.encode(self.to_v2.opened(opened))))
            self.second.opened(v2.session_opened(written))
            self._loading = False
        elif method == "session/prompt":
            ended = v1.stop_reason(result) if "result" in message else model.TurnEnded(None)
            self.first.apply(ended)
            self._say(self.to_v2.update(ended))


def _content_of(session: Session) -> list[Json]:
    return [tuple(map(content_to_v2, call.content)) for call in session.tool_calls]


def _shared(state: Json) -> Json:
    """What both versions can say of a session."""
    return {
        "messages": [(m["role"], m["content"], m["turn"]) for m in state["messages"]],
        "toolCalls": [
            {key: call[key] for key in _CALL_FIELDS} | {"id": call["toolCallId"].split("#")[0]}
            for call in state["toolCalls"]
        ],
        "plans": state["plans"],
        "commands": state["commands"],
        "usage": state["usage"],
        "configOptions": [each for each in state["configOptions"] if each["id"] != "mode"],
        "permissions": [
            {key: each[key] for key in ("options", "state", "optionId", "turn")}
            for each in state["permissions"]
        ],
        "notices": state["notices"],
        "compactions": state["compactions"],
        "order": [(each["type"], each.get("role")) for each in state["order"]],
        **{key: state[key] for key in ("title", "updatedAt", "status", "stopReason", "turn")},
    }


_CALL_FIELDS = (
    "title",
    "name",
    "kind",
    "status",
    "locations",
    "rawInput",
    "rawOutput",
    "_meta",
)


@pytest.mark.parametrize("path", _recordings(), ids=lambda path: path.stem)
def test_a_recording_of_v1_comes_to_the_same_as_v2(path: Path) -> None:
    twice = Twice()
    twice.play(path)
    assert _shared(twice.second.to_json()) == _shared(twice.first.to_json())
    assert _content_of(twice.second) == _content_of(twice.first)
    modes = twice.first.modes
    named = any(getattr(o, "category", "") == "mode" for o in twice.first.config_options)
    if modes is not None and not named:
        option = twice.second.config_options[-1]
        assert isinstance(option, model.SelectOption)
        assert option.current_value == modes.current_mode_id


def test_recordings_of_real_agents_are_here() -> None:
    told = []
    for path in _recordings():
        twice = Twice()
        twice.play(path)
        told.append(twice.events)
    assert len(told) > 12 and sum(told) > 200


def _v1_updates() -> st.SearchStrategy[Json]:
    text = st.sampled_from(["a", "b "]).map(lambda t: {"type": "text", "text": t})
    ids = st.sampled_from(["m1", "message-1", "message-2"])
    chunks = st.fixed_dictionaries(
        {
            "sessionUpdate": st.sampled_from(["agent_message_chunk", "agent_thought_chunk"]),
            "content": text,
        },
        optional={"messageId": ids | st.none()},
    )
    diff = st.builds(
        lambda old, new: {"type": "diff", "path": "/ws/a", "oldText": old, "newText": new},
        st.sampled_from([None, "", "a\nb"]),
        st.sampled_from(["", "c\n"]),
    )
    pieces = text.map(lambda block: {"type": "content", "content": block}) | diff
    fields = {
        "kind": st.sampled_from(["edit", "odd"]) | st.none(),
        "status": st.sampled_from(["pending", "in_progress", "completed", "failed", "odd"]),
        "content": st.lists(pieces, max_size=2) | st.none(),
        "locations": st.lists(st.just({"path": "/ws/a", "line": 1}), max_size=1) | st.none(),
        "rawInput": st.sampled_from([None, {}, {"k": 1}, 0, ""]),
        "rawOutput": st.sampled_from([None, "out"]),
        "_meta": st.dictionaries(st.sampled_from("pq"), st.sampled_from([None, 1])) | st.none(),
    }
    calls = st.fixed_dictionaries(
        {
            "sessionUpdate": st.just("tool_call"),
            "toolCallId": st.sampled_from(["t", "u"]),
            "title": st.sampled_from(["", "Do"]),
        },
        optional=fields,
    )
    updates = st.fixed_dictionaries(
        {"sessionUpdate": st.just("tool_call_update"), "toolCallId": st.sampled_from(["t", "u"])},
        optional={**fields, "title": st.sampled_from([None, "", "Did"])},
    )
    plans = st.just(
        {
            "sessionUpdate": "plan",
            "entries": [{"content": "c", "priority": "low", "status": "pending"}],
        }
    )
    others = st.sampled_from(
        [
            {"sessionUpdate": "current_mode_update", "currentModeId": "m"},
            {"sessionUpdate": "usage_update", "used": 1, "size": 2},
            {"sessionUpdate": "notice", "severity": "info", "title": "t"},
            {"sessionUpdate": "compaction_update", "compactionId": "c", "status": "completed"},
            {"sessionUpdate": "session_info_update", "title": None, "_meta": {"a": 1}},
        ]
    )
    return st.one_of(chunks, calls, updates, plans, others)


ACTS = st.sampled_from(["prompt", "end", "cancel"])
QUESTIONS = st.fixed_dictionaries(
    {"toolCallId": st.sampled_from(["t", "u"])},
    optional={"title": st.sampled_from(["", "Ask"]), "rawInput": st.sampled_from([{}, {"q": 1}])},
).map(lambda call: ("ask", call))


@settings(deadline=None, max_examples=300)
@given(st.lists(_v1_updates() | ACTS | QUESTIONS, max_size=20))
def test_any_v1_traffic_comes_to_the_same_as_v2(acts: list[Any]) -> None:
    twice = Twice()
    for number, act in enumerate(acts):
        if act == "prompt":
            if twice.first.status == "running" or twice._calls:
                continue  # a prompt during a turn waits for its end
            twice._client({"id": number, "method": "session/prompt", "params": {"prompt": []}})
        elif act == "end":
            asked = next((key for key in twice._calls), None)
            if asked is not None:
                twice._answer({"id": int(asked), "result": {"stopReason": "end_turn"}})
        elif act == "cancel":
            twice._client({"method": "session/cancel", "params": {}})
        elif isinstance(act, tuple):
            params = {"sessionId": "S", "toolCall": act[1], "options": []}
            request = {"id": f"a{number}", "method": "session/request_permission"}
            twice._agent({**request, "params": params})
        else:
            params = {"sessionId": "S", "update": act}
            twice._agent({"method": "session/update", "params": params})
    assert _shared(twice.second.to_json()) == _shared(twice.first.to_json())
    assert _content_of(twice.second) == _content_of(twice.first)


# --- whole sessions, v2 to v1 -----------------------------------------------------------------


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
        event = _second(update)
        if isinstance(event, model.ToolCallUpsert):
            self._watch(event)
        self.second.apply(event)
        for said in self.to_v1.update(event):
            if isinstance(said, model.TurnEnded):
                continue
            self.first.apply(_via_v1(said))

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
    first, second = back.first.to_json(), back.second.to_json()
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
        (event,) = bridge.update(_second(update))
        said.append([item["content"]["text"] for item in v1.encode_update(event)["content"]])
    assert said == [["0"], ["0", "1"], ["0", "1", "2"]]


def test_the_first_word_of_a_call_introduces_it() -> None:
    bridge = ToV1()
    update = {"sessionUpdate": "tool_call_update", "toolCallId": "t", "title": "Do"}
    kinds = [
        v1.encode_update(event)["sessionUpdate"]
        for _ in range(2)
        for event in bridge.update(_second(update))
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
        for event in bridge.update(_second({**update, "messageId": "m"})):
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
        said += bridge.update(_second(update))
    texts = [v1.encode_update(event)["content"][0]["content"]["text"] for event in said]
    assert texts == ["$ make", "$ make\nok\n\n[exit code 2]"]


def test_only_the_end_of_work_ends_a_turn() -> None:
    """A snapshot that says idle again is no answer to a prompt."""
    bridge = ToV1()
    idle = {"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"}
    assert bridge.update(_second(idle)) == []
    bridge.prompted()
    assert bridge.update(_second(idle)) == [model.TurnEnded("end_turn")]
    assert bridge.update(_second(idle)) == []


def test_several_plans_are_one() -> None:
    bridge = ToV1()
    entry = {"content": "c", "priority": "low", "status": "pending"}
    for plan_id in ("a", "b"):
        plan = {"type": "items", "planId": plan_id, "entries": [{**entry, "content": plan_id}]}
        (event,) = bridge.update(_second({"sessionUpdate": "plan_update", "plan": plan}))
    assert [each["content"] for each in v1.encode_update(event)["entries"]] == ["a", "b"]


def test_a_v1_session_becomes_the_same_again() -> None:
    """There and back: what a v1 agent said reaches a v1 client as it was."""
    there, back = ToV2(), ToV1()
    diff = {"type": "diff", "path": "/ws/a", "oldText": "a\n", "newText": "b\n"}
    call = {"sessionUpdate": "tool_call", "toolCallId": "t", "title": "Edit", "content": [diff]}
    update = {"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "completed"}
    for said in (call, update):
        (middle,) = there.update(_first(said))
        (event,) = back.update(_via_v2(middle))
        assert v1.encode_update(event) == said


def test_a_cancelled_turn_leaves_its_calls_cancelled() -> None:
    bridge = ToV2()
    bridge.prompted()
    bridge.update(_first({"sessionUpdate": "tool_call", "toolCallId": "t", "title": "x"}))
    bridge.cancelled()
    said = [v2.encode_update(event) for event in bridge.update(model.TurnEnded("cancelled"))]
    assert said[-1]["stopReason"] == "cancelled"
