"""Whole sessions of version 1 come to the same in the words of version 2."""

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
from acp_sidecar.acp.convert import content_to_v2
from acp_sidecar.acp.decoding import DecodeError
from acp_sidecar.acp.model import Event
from acp_sidecar.acp.v1_to_v2 import ToV2
from acp_sidecar.session.snapshot import snapshot
from acp_sidecar.session.state import Session
from acp_sidecar.trace import read
from tests.unit.wires import via_v2

from .v2_traffic import Json

OURS = Path(__file__).parents[1] / "data" / "traces"


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
            self.second.apply(via_v2(event), replay=replay)

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
    assert _shared(snapshot(twice.second)) == _shared(snapshot(twice.first))
    assert _content_of(twice.second) == _content_of(twice.first)
    modes = twice.first.info.modes
    named = any(getattr(o, "category", "") == "mode" for o in twice.first.info.config_options)
    if modes is not None and not named:
        option = twice.second.info.config_options[-1]
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
    assert _shared(snapshot(twice.second)) == _shared(snapshot(twice.first))
    assert _content_of(twice.second) == _content_of(twice.first)
