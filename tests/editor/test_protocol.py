"""Whatever a client says: every request is answered once, and nothing escapes."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from acp_sidecar.editor.framing import FrameDecoder, frame
from acp_sidecar.editor.server import CommandError, SidecarServer

METHODS = [
    "initialize",
    "initialized",
    "shutdown",
    "$/cancelRequest",
    "$/setTrace",
    "workspace/executeCommand",
    "workspace/didChangeConfiguration",
    "workspace/didChangeWatchedFiles",
    "workspace/didChangeWorkspaceFolders",
    "textDocument/didOpen",
    "textDocument/didChange",
    "textDocument/didSave",
    "textDocument/didClose",
    "acp/later",
    "acp/fail",
    "acp/unknown",
]
KEYS = [
    "arguments",
    "capabilities",
    "changes",
    "command",
    "contentChanges",
    "end",
    "event",
    "id",
    "line",
    "processId",
    "range",
    "start",
    "text",
    "textDocument",
    "uri",
    "version",
    "workspaceFolders",
]
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.sampled_from(["later", "file:///a", "\ud800", "x"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5)
    ),
    max_leaves=12,
)
ids = st.integers(-3, 2**65) | st.text(max_size=3)
messages = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0"),
        "id": ids | values,
        "method": st.sampled_from(METHODS) | values,
        "params": values,
        "result": values,
        "error": values,
    },
)


class Pipe:
    def __init__(self) -> None:
        self.data = b""

    def write(self, data: bytes, /) -> None:
        self.data += data

    def close(self) -> None:
        pass

    def abort(self) -> None:
        pass


async def later(params: Any) -> Any:
    await asyncio.sleep(0)
    return params


async def fail(params: Any) -> Any:
    await asyncio.sleep(0)
    raise CommandError("no", data=params)


async def converse(sent: list[Any]) -> list[Any]:
    server = SidecarServer()
    server.command("later", later)
    server.handle("acp/later", later)
    server.handle("acp/fail", fail)
    pipe = Pipe()
    server.protocol.outbox.attach(pipe)
    failures: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: failures.append(context))
    for message in sent:
        server.protocol.data_received(frame(json.dumps(message).encode()))
        await asyncio.sleep(0)
    await server._stop()
    await server.protocol.work.finish(1, cancel=False)
    if server._watch is not None:
        server._watch.cancel()
    assert failures == []
    return [json.loads(body) for body in FrameDecoder().feed(pipe.data) if isinstance(body, bytes)]


@settings(deadline=None, max_examples=150)
@given(st.lists(messages, max_size=8), st.booleans())
def test_every_request_is_answered_exactly_once(sent: list[Any], initialized: bool) -> None:
    if initialized:
        sent = [{"id": "init", "method": "initialize", "params": {"capabilities": {}}}, *sent]
    answers = asyncio.run(converse(sent))
    assert all("method" not in answer for answer in answers)
    assert all(("result" in answer) != ("error" in answer) for answer in answers)
    requests = [
        message
        for message in sent
        if isinstance(message.get("method"), str)
        and isinstance(message.get("id"), str | int)
        and not isinstance(message["id"], bool)
    ]
    answered = Counter(_key(answer["id"]) for answer in answers)
    asked = Counter(_key(message["id"]) for message in requests)
    for key, count in asked.items():
        assert answered[key] >= count
    refused = len(answers) - len(requests)
    assert refused == sum(_is_refused(message) for message in sent)


def _key(value: Any) -> str:
    text = json.dumps(value)
    return json.dumps(json.loads(text), ensure_ascii=True).replace("\\ud800", "\\ufffd")


def _is_refused(message: Any) -> bool:
    """Whether a message that is no proper request is answered with an error."""
    message_id = message.get("id")
    if isinstance(message_id, dict | list | bool):
        return True
    if isinstance(message.get("method"), str):
        # A number with a fraction is an id as good as any; one that is not finite is none.
        return isinstance(message_id, float) and message_id - message_id == 0
    return "method" in message


async def test_both_directions_are_recorded_and_a_failing_recorder_harms_nobody() -> None:
    server = SidecarServer()
    pipe = Pipe()
    server.protocol.outbox.attach(pipe)
    recorded: list[tuple[str, Any]] = []

    def record(direction: str, message: Any) -> None:
        recorded.append((direction, message))
        if len(recorded) == 3:
            raise OSError("no space left on device")

    server.protocol.record = record
    for request_id in (1, 2, 3):
        message = {"jsonrpc": "2.0", "id": request_id, "method": "acp/unknown"}
        server.protocol.data_received(frame(json.dumps(message).encode()))
    assert [direction for direction, _ in recorded] == ["c2s", "s2c", "c2s"]
    assert recorded[0][1]["method"] == "acp/unknown"
    assert recorded[1][1]["error"]["code"] == -32002
    assert len(FrameDecoder().feed(pipe.data)) == 3


async def test_a_request_cancelled_in_the_same_breath_is_answered() -> None:
    server = SidecarServer()
    pipe = Pipe()
    server.protocol.outbox.attach(pipe)
    server.handle("acp/later", later)
    sent: list[Any] = [
        {"id": 1, "method": "initialize", "params": {"capabilities": {}}},
        {"id": 2, "method": "acp/later", "params": {}},
        {"method": "$/cancelRequest", "params": {"id": 2}},
    ]
    for message in sent:
        server.protocol.data_received(frame(json.dumps(message).encode()))
    for _ in range(5):
        await asyncio.sleep(0)
    await server._stop()
    if server._watch is not None:
        server._watch.cancel()
    answers = [json.loads(body) for body in FrameDecoder().feed(pipe.data)]
    assert [answer["id"] for answer in answers] == [1, 2]
    assert answers[1]["error"]["code"] == -32800
