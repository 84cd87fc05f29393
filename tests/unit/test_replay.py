"""Recordings, ours and those of real agents: played again they end as their messages say."""

from __future__ import annotations

import copy
import json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from acp_sidecar import trace
from acp_sidecar.acp import jsonrpc
from acp_sidecar.playback import Player
from acp_sidecar.session.snapshot import snapshot
from acp_sidecar.session.state import Session
from acp_sidecar.trace import Recorder, TraceError, read, render, replay, show

OURS = Path(__file__).parents[1] / "data" / "traces"


# --- traces written for this test ---------------------------------------------------------------


def texts(session: Session) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in session.messages]


def calls(session: Session) -> list[tuple[Any, ...]]:
    return [(c.tool_call_id, c.title, c.status, c.closed_by, c.turn) for c in session.tool_calls]


def test_a_turn_from_beginning_to_end() -> None:
    session = replay(OURS / "rename.ndjson")
    state = snapshot(session)
    assert (state["agent"], state["agentSessionId"]) == ("weaver", "w1")
    assert (state["cwd"], state["roots"]) == ("/ws", ["/ws", "/lib"])
    assert (state["status"], state["stopReason"], state["title"]) == (
        "idle",
        "end_turn",
        "Rename greet",
    )
    assert texts(session) == [
        ("user", "rename greet to hello"),
        ("thought", "Where is it used?"),
        ("agent", "I rename it now."),
    ]
    assert calls(session) == [
        ("c1", "Read greet.py", "completed", None, 1),
        ("c2", "Edit greet.py", "completed", None, 1),
    ]
    assert state["toolCalls"][1]["content"][0]["newText"] == "def hello(): ...\n"
    assert [entry["status"] for entry in state["plans"][0]["entries"]] == ["completed"] * 2
    assert state["modes"]["currentModeId"] == "code"
    assert state["configOptions"][0]["currentValue"] == "big"
    assert state["commands"][0]["input"] == {"hint": "what for"}
    assert state["usage"]["used"] == 1200
    assert [(p["toolCallId"], p["state"], p["optionId"]) for p in state["permissions"]] == [
        ("c2", "answered", "once")
    ]
    assert [entry["type"] for entry in state["order"]] == [
        "message",
        "message",
        "plan",
        "toolCall",
        "message",
        "toolCall",
        "permission",
    ]


def test_questions_rejections_and_a_cancel() -> None:
    """The request ids are the same in both turns, and one call shows up only as a question."""
    session = replay(OURS / "ask-and-cancel.ndjson")
    assert (session.status, session.turns.stop_reason, session.turn) == ("idle", "cancelled", 2)
    assert calls(session) == [
        ("sh-1", "rm -rf build", "failed", "sidecar", 1),
        ("sh-2", "sleep 60 (stopping)", "cancelled", "sidecar", 2),
    ]
    assert [(p.state, p.option_id) for p in session.permissions] == [
        ("answered", "cancel"),
        ("cancelled", None),
    ]
    assert texts(session)[-1] == ("agent", "Stopped.")


def test_a_loaded_session_tells_its_history() -> None:
    """A refused load before it and a refused fork after it are not what the trace is about."""
    session = replay(OURS / "load.ndjson")
    assert (session.agent_session_id, session.status, session.turn) == ("k1", "idle", 3)
    assert texts(session) == [
        ("user", "what is this?"),
        ("agent", "A library."),
        ("user", "and that?"),
        ("agent", "An application."),
        ("user", "thanks"),
        ("agent", "Welcome."),
    ]
    assert calls(session) == [
        ("r", "Read README", "completed", None, 1),
        ("r", "Read that", "completed", None, 2),
    ]
    sessions = trace.play(OURS / "load.ndjson").sessions
    assert [(s.status, s.turns.end_reason) for s in sessions] == [
        ("dead", "no such session"),
        ("idle", None),
        ("dead", "not offered"),
    ]


def test_commands_that_the_client_ran() -> None:
    """What it told the agent of them is all that a recording holds of their output."""
    player = Player()
    numbers = iter(range(100))

    def asks(method: str, result: Any, **params: Any) -> None:
        number = next(numbers)
        params = {"sessionId": "S", **params}
        player.play(
            {"dir": "a2c", "msg": {"id": number, "method": f"terminal/{method}", "params": params}}
        )
        answer = {"error": {"code": 1}} if result is None else {"result": result}
        player.play({"dir": "c2a", "msg": {"id": number, **answer}})

    asks("create", {"terminalId": "t"}, command="make", args=["all", "a b"])
    asks("create", None, command="nope")
    asks("output", {"output": "one\n", "truncated": False}, terminalId="t")
    asks("wait_for_exit", {"exitCode": 2, "signal": None}, terminalId="t")
    asks("output", {"output": "\x1b[1mtwo\x1b[m\n", "truncated": True}, terminalId="t")
    asks("output", {"output": 5}, terminalId="t")
    asks("output", {"output": "x"}, terminalId=5)
    asks("release", {}, terminalId="t")
    asks("create", {"terminalId": "u"}, command=7)
    assert player.session is not None
    assert snapshot(player.session)["terminals"] == [
        {
            "terminalId": "t",
            "command": "make all 'a b'",
            "cwd": "/",
            "output": "two\n",
            "truncated": True,
            "exitStatus": {"exitCode": 2, "signal": None},
        }
    ]
    assert player.problems == ["an answer: command: expected a string, got an integer"]


def test_an_agent_that_stumbles_and_dies() -> None:
    player = trace.play(OURS / "stumble.ndjson")
    session = player.session
    assert session is not None
    assert (session.status, session.turns.end_reason) == ("dead", "exit")
    assert texts(session) == [("user", "stumble"), ("agent", "So far "), ("agent", "so good")]
    assert calls(session) == [("c1", "Try", "failed", "sidecar", 1)]
    assert session.tool_calls[0].kind == "other" and len(session.tool_calls[0].content) == 1
    assert [command.name for command in session.info.commands] == ["early"]
    assert len(player.problems) == 5
    assert "hologram_update" in player.problems[0]


@pytest.mark.parametrize("path", sorted(OURS.glob("*.ndjson")), ids=lambda path: path.stem)
def test_the_same_trace_ends_in_the_same_state(path: Path) -> None:
    assert snapshot(replay(path)) == snapshot(replay(path))


JUNK = [None, 5, -1, "", "x", [], {}, True, [None], {"type": "text"}, "\ud800", 2**80, 1.5]


def _broken(records: list[Any], rng: random.Random) -> list[Any]:
    """A copy in which fields are missing, or hold something else, and lines are astray."""
    broken = copy.deepcopy(records)
    for _ in range(30):
        target: Any = rng.choice(broken)
        while isinstance(target, dict | list) and target:
            key = rng.choice(list(target) if isinstance(target, dict) else range(len(target)))
            if rng.random() < 0.3 or not isinstance(target[key], dict | list):
                target[key] = copy.deepcopy(rng.choice(JUNK))
                break
            target = target[key]
    if rng.random() < 0.3:
        rng.shuffle(broken)
    return broken


@pytest.mark.parametrize("path", sorted(OURS.glob("*.ndjson")), ids=lambda path: path.stem)
def test_a_damaged_trace_is_played_as_far_as_it_goes(path: Path) -> None:
    """Nothing an agent sends can break the state, or make it something that cannot be sent."""
    records = [dict(record) for record in read(path)]
    rng = random.Random(path.name)
    for _ in range(40):
        player = Player()
        for record in _broken(records, rng):
            player.play(record)
        for session in player.sessions:
            json.dumps(snapshot(session), ensure_ascii=False).encode()
        for line in render(iter(_broken(records, rng))):
            assert line.isprintable()


def test_a_trace_without_a_session(tmp_path: Path) -> None:
    path = tmp_path / "empty.ndjson"
    path.write_text('{"t": 0, "dir": "note", "ev": "spawn", "argv": ["x"]}\n')
    with pytest.raises(TraceError, match="no session"):
        replay(path)
    path.write_text("this is no trace\n\n[]\n{}\n")
    with pytest.raises(TraceError, match="no trace"):
        show(path)


# --- telling --------------------------------------------------------------------------------


def test_show_tells_a_line_for_each_thing_that_happened(capsys: Any) -> None:
    assert show(OURS / "ask-and-cancel.ndjson") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[5] == '    0.060 → session/prompt "clean up"'
    assert lines[6] == "    0.070 ← agent: I would like to clean up."
    assert any("session/request_permission: " in line and "cancelled" in line for line in lines)
    assert lines[-1].endswith("agent: Stopped.")


def test_show_gives_the_state_as_json(capsys: Any) -> None:
    assert show(OURS / "rename.ndjson", state=True) == 0
    state = json.loads(capsys.readouterr().out)
    assert state == {**snapshot(replay(OURS / "rename.ndjson")), "stopText": None}


def test_nothing_an_agent_says_is_a_command_to_the_terminal(tmp_path: Path) -> None:
    evil = "\x1b[2J\u202e\u2028\r\n\x07" + "x" * 5000
    records = [
        {"t": 0, "dir": "stderr", "text": evil},
        {"t": "soon", "dir": "note", "ev": evil, "more": evil},
        {"t": 1, "dir": "a2c", "msg": {"method": evil, "params": evil}},
        {"t": 1, "dir": "a2c", "msg": {"id": 1, "error": {"message": evil}}},
        {"t": 1, "dir": "sideways", "noise": evil},
        {
            "t": 1,
            "dir": "a2c",
            "msg": {
                "method": "session/update",
                "params": {
                    "sessionId": "S",
                    "update": {
                        "sessionUpdate": "agent_message_chunk",
                        "content": {"type": "text", "text": evil},
                    },
                },
            },
        },
    ]
    lines = list(render(iter(records)))
    assert len(lines) == len(records)
    for line in lines:
        assert line.isprintable() and len(line) < 200


# --- recording --------------------------------------------------------------------------------


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_what_was_recorded_can_be_replayed(tmp_path: Path) -> None:
    """The messages of a trace, recorded anew by us, give the same session."""
    clock = Clock()
    recorder = Recorder(tmp_path / "deep" / "traces", clock=clock)
    recording = recorder.agent("weaver")
    for record in read(OURS / "rename.ndjson"):
        clock.now += 0.25
        if "msg" in record:
            recording(record["dir"], record["msg"])
    recorder.close()
    (path,) = (tmp_path / "deep" / "traces").iterdir()
    assert path.name == "weaver-1.ndjson"
    assert snapshot(replay(path)) == snapshot(replay(OURS / "rename.ndjson"))
    first, second, *_ = read(path)
    assert first == {"t": 0.0, "dir": "note", "ev": "spawn", "agent": "weaver"}
    assert (second["t"], second["dir"]) == (0.5, "c2a")


def test_messages_of_the_wire_are_recorded_as_they_go_over_it(tmp_path: Path) -> None:
    recording = Recorder(tmp_path).agent("../odd name")
    recording("c2a", jsonrpc.Request(0, "m", {"a": 2**70}))
    recording("a2c", jsonrpc.Response("0", result=None))
    recording("a2c", jsonrpc.Notification("n"))
    recording("a2c", jsonrpc.Response(1, error=jsonrpc.Error(-32000, "no", {"d": "\ud800"})))
    recording("a2c", jsonrpc.Noise(b"Hello \xff"))
    recording("s2c", {"jsonrpc": "2.0", "method": "window/showMessage", "params": {"x": "\ud800"}})
    recording.stderr("warning: \ud800")
    recording.note("exit", code=3)
    (path,) = tmp_path.iterdir()
    assert path.name == ".._odd_name-1.ndjson"
    records = [{k: v for k, v in record.items() if k != "t"} for record in read(path)]
    assert records[1:] == [
        {"dir": "c2a", "msg": {"jsonrpc": "2.0", "id": 0, "method": "m", "params": {"a": 2**70}}},
        {"dir": "a2c", "msg": {"jsonrpc": "2.0", "id": "0", "result": None}},
        {"dir": "a2c", "msg": {"jsonrpc": "2.0", "method": "n"}},
        {
            "dir": "a2c",
            "msg": {
                "jsonrpc": "2.0",
                "id": 1,
                "error": {"code": -32000, "message": "no", "data": {"d": "\ufffd"}},
            },
        },
        {"dir": "a2c", "noise": "Hello \ufffd"},
        {
            "dir": "s2c",
            "msg": {"jsonrpc": "2.0", "method": "window/showMessage", "params": {"x": "\ufffd"}},
        },
        {"dir": "stderr", "text": "warning: \ufffd"},
        {"dir": "note", "ev": "exit", "code": 3},
    ]


def test_recordings_are_their_owners_and_never_overwritten(tmp_path: Path) -> None:
    for _ in range(2):
        recorder = Recorder(tmp_path)
        recorder.agent("a")
        recorder.editor()("c2s", {"jsonrpc": "2.0", "method": "initialized"})
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["a-1.ndjson", "a-2.ndjson", "editor-1.ndjson", "editor-2.ndjson"]
    for path in tmp_path.iterdir():
        assert path.stat().st_mode & 0o077 == 0


def test_each_line_is_whole_at_once(tmp_path: Path) -> None:
    """A crash loses nothing: the line is in the file when the call returns."""
    recording = Recorder(tmp_path).agent("a")
    for number in range(3):
        recording("a2c", {"n": number})
        (path,) = tmp_path.iterdir()
        assert orjson.loads(path.read_bytes().splitlines()[-1])["msg"] == {"n": number}


def test_a_full_disk_ends_the_recording_and_nothing_else(caplog: Any) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("no /dev/full on this platform")
    recording = trace.Wire(full.open("wb"), lambda: 0.0)
    for _ in range(3):
        recording("a2c", {"jsonrpc": "2.0"})
    assert [record.levelname for record in caplog.records].count("WARNING") <= 2
    assert "The recording has stopped" in caplog.text


def test_a_message_too_deep_to_record_is_noted(tmp_path: Path) -> None:
    deep: Any = "bottom"
    for _ in range(5000):
        deep = [deep]
    recording = Recorder(tmp_path).agent("a")
    recording("a2c", jsonrpc.Notification("n", deep))
    recording("a2c", deep)
    recording("a2c", jsonrpc.Notification("after"))
    (path,) = tmp_path.iterdir()
    assert len(list(read(path))) == 4


# --- recordings of real agents -------------------------------------------------------------------


def _folder() -> Path:
    named = os.environ.get("ACP_SIDECAR_TRACES")
    return Path(named) if named else Path(__file__).parents[1] / "data" / "recordings"


REAL = sorted(_folder().glob("*.ndjson"))
FINAL = ("completed", "failed")
TURNED = {"session/new", "session/load", "session/resume", "session/fork"}


class Raw:
    """What a trace's messages say, read without any of the code under test.

    Each of these traces is about one session.
    """

    def __init__(self, path: Path) -> None:
        self.records = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        asked = {
            message["id"]: message
            for direction, message in self.messages()
            if direction == "c2a" and "method" in message and "id" in message
        }
        self.asked: dict[Any, dict[str, Any]] = asked
        self.answers = [
            (asked[message["id"]], message)
            for direction, message in self.messages()
            if direction == "a2c" and "method" not in message
        ]

    def messages(self) -> Iterator[tuple[str, dict[str, Any]]]:
        for record in self.records:
            if record["dir"] in ("c2a", "a2c"):
                yield record["dir"], record["msg"]

    def updates(self, *kinds: str) -> list[dict[str, Any]]:
        return [
            message["params"]["update"]
            for direction, message in self.messages()
            if direction == "a2c"
            and message.get("method") == "session/update"
            and message["params"]["update"]["sessionUpdate"] in kinds
        ]

    def results(self, *methods: str) -> list[Any]:
        return [
            answer["result"]
            for question, answer in self.answers
            if question["method"] in methods and "result" in answer
        ]

    def call_news(self) -> dict[str, list[dict[str, Any]]]:
        """All that is said of each tool call, from all three sources, in order."""
        news: dict[str, list[dict[str, Any]]] = {}
        for direction, message in self.messages():
            if direction != "a2c":
                continue
            if message.get("method") == "session/request_permission":
                said = {**message["params"]["toolCall"], "asked": True}
            elif message.get("method") == "session/update":
                said = message["params"]["update"]
                if said["sessionUpdate"] not in ("tool_call", "tool_call_update"):
                    continue
            else:
                continue
            news.setdefault(said["toolCallId"], []).append(said)
        return news

    def last(self, news: list[dict[str, Any]], key: str) -> Any:
        """The last thing said of a field; null says nothing, nor does an empty question."""
        said = [
            item[key]
            for item in news
            if item.get(key) is not None and not (item.get("asked") and not item[key])
        ]
        return said[-1] if said else None

    def text(self, kind: str) -> str:
        return "".join(u["content"].get("text", "") for u in self.updates(kind))

    def users_text(self) -> str:
        said = []
        for direction, message in self.messages():
            if direction == "c2a" and message.get("method") == "session/prompt":
                said += [block.get("text", "") for block in message["params"]["prompt"]]
            elif message.get("method") == "session/update":
                update = message["params"]["update"]
                if update["sessionUpdate"] == "user_message_chunk":
                    said.append(update["content"]["text"])
        return "".join(said)

    def outcomes(self) -> list[str | None]:
        ids = {
            message["id"]
            for direction, message in self.messages()
            if direction == "a2c" and message.get("method") == "session/request_permission"
        }
        return [
            message["result"]["outcome"].get("optionId")
            for direction, message in self.messages()
            if direction == "c2a" and "method" not in message and message.get("id") in ids
            and "outcome" in message.get("result", {})
        ]  # fmt: skip


def test_recordings_are_here() -> None:
    assert REAL, f"no recordings in {_folder()}"


@pytest.mark.parametrize("path", REAL, ids=lambda path: path.stem)
def test_a_real_trace_ends_as_its_last_messages_say(path: Path) -> None:
    raw = Raw(path)
    session = replay(path)
    state = snapshot(session)
    orjson.dumps(state)
    opened = raw.results("session/new", "session/load", "session/resume", "session/fork")
    if not opened:
        assert state["status"] == "dead" and state["endReason"]
        return

    # The conversation.
    by_role = {
        role: "".join(message.text for message in session.messages if message.role == role)
        for role in ("user", "agent", "thought")
    }
    assert by_role["agent"] == raw.text("agent_message_chunk")
    assert by_role["thought"] == raw.text("agent_thought_chunk")
    assert by_role["user"] == raw.users_text()
    chunks = raw.updates("agent_message_chunk", "agent_thought_chunk", "user_message_chunk")
    ids = {(u["sessionUpdate"], u["messageId"]) for u in chunks if "messageId" in u}
    ours = {(f"{m.role}", m.message_id) for m in session.messages}
    assert {message_id for _, message_id in ids} <= {message_id for _, message_id in ours}

    # Tool calls.
    news = raw.call_news()
    assert [call["toolCallId"] for call in state["toolCalls"]] == list(news)
    cancelled = any(m.get("method") == "session/cancel" for _, m in raw.messages())
    for call in state["toolCalls"]:
        said = news[call["toolCallId"]]
        final = [item["status"] for item in said if item.get("status") in FINAL]
        if final:
            assert (call["status"], call["closedBy"]) == (final[-1], None)
        else:
            left = "cancelled" if cancelled else "failed"
            assert (call["status"], call["closedBy"]) == (left, "sidecar")
        assert call["title"] == raw.last(said, "title")
        assert call["kind"] == (raw.last(said, "kind") or "other")
        assert call["rawInput"] == raw.last(said, "rawInput")
        assert call["rawOutput"] == raw.last(said, "rawOutput")
        locations = raw.last(said, "locations") or []
        assert [loc["path"] for loc in call["locations"]] == [loc["path"] for loc in locations]
        content = raw.last(said, "content") or []
        assert _bare(call["content"]) == _bare(content)

    # Plans, settings, and what stands beside.
    plans = raw.updates("plan")
    assert [plan["entries"] for plan in state["plans"]] == [plan["entries"] for plan in plans[-1:]]
    commands = raw.updates("available_commands_update")
    names = [command["name"] for command in commands[-1]["availableCommands"]] if commands else []
    assert [command["name"] for command in state["commands"]] == names
    usage = raw.updates("usage_update")
    if usage:
        assert state["usage"]["used"] == usage[-1]["used"]
        assert state["usage"]["size"] == usage[-1]["size"]
    else:
        assert state["usage"] is None
    modes = [result["modes"] for result in opened if result.get("modes")]
    mode = modes[-1]["currentModeId"] if modes else None
    for question, answer in raw.answers:
        if question["method"] == "session/set_mode" and "result" in answer:
            mode = question["params"]["modeId"]
    assert (state["modes"] or {}).get("currentModeId") == mode
    options = [result["configOptions"] for result in opened if result.get("configOptions")]
    assert state["configOptions"] == (options[-1] if options else [])

    # Questions, and how it ended.
    assert [p["optionId"] for p in state["permissions"]] == raw.outcomes()
    reasons = [
        answer.get("result", {}).get("stopReason")
        for question, answer in raw.answers
        if question["method"] == "session/prompt"
    ]
    assert state["stopReason"] == (reasons[-1] if reasons else None)
    closed = bool(raw.results("session/close"))
    assert state["status"] == ("closed" if closed else "idle")


def _bare(value: Any) -> Any:
    """Without nulls: an absent field and a null one say the same."""
    if isinstance(value, dict):
        return {key: _bare(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_bare(item) for item in value]
    return value
