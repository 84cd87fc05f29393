"""From an agent's pipe to values: what an update costs us and others.

A process sends updates as fast as they are taken. Each way of taking them runs in the same
process and loop, interleaved; the ratios are what counts. ``python -m bench.wire``
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import json
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any, Final

from attrs import frozen

from acp_sidecar.acp.jsonrpc import Notification
from acp_sidecar.acp.model import Json
from acp_sidecar.acp.wire import Decoder, encode
from acp_sidecar.agents.connection import AgentGone, Connection, IncomingRequest
from acp_sidecar.agents.process import AgentProcess, resolve, spawn

RUNS: Final = 5
ROUND_TRIPS: Final = 3_000
LONG_LINE: Final = 64 << 20

AGENT: Final = """
import json, os, sys
count, line = int(sys.argv[1]), sys.argv[2].encode() + b"\\n"
flood = line * count
for number, request in enumerate(map(json.loads, sys.stdin.buffer)):
    answer = json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": {}}).encode() + b"\\n"
    data = memoryview(flood + answer if number == 1 else answer)
    while data:
        data = data[os.write(1, data):]
"""
"""Answers every request; before the answer to the second come the updates."""


@frozen
class Load:
    """So many updates of one kind."""

    title: str
    count: int
    update: dict[str, Any]

    @property
    def line(self) -> str:
        params = {"sessionId": "sess_0123456789abcdef", "update": self.update}
        return json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": params})

    @property
    def arguments(self) -> list[str]:
        return ["-I", "-c", AGENT, str(self.count), self.line]


TEXT: Final = {"type": "text", "text": "a few words of a long answer "}
LOADS: Final = (
    Load(
        "chunks of text",
        40_000,
        {"sessionUpdate": "agent_message_chunk", "messageId": "msg_1", "content": TEXT},
    ),
    Load(
        "tool calls",
        10_000,
        {
            "sessionUpdate": "tool_call_update",
            "toolCallId": "call_1",
            "status": "in_progress",
            "kind": "edit",
            "title": "Edit main.py",
            "locations": [{"path": "/ws/src/main.py", "line": 12}],
            "content": [
                {"type": "content", "content": {"type": "text", "text": "line of output\n" * 60}},
                {"type": "diff", "path": "/ws/a.py", "oldText": "b = 1\n" * 90, "newText": "c\n"},
            ],
            "rawInput": {"path": "/ws/src/main.py", "edits": [{"old": "a", "new": "b"}] * 10},
        },
    ),
)


class Counter:
    """A handler that counts."""

    def __init__(self) -> None:
        self.updates = 0

    def notification(self, method: str, params: Json) -> None:
        self.updates += 1

    def request(self, request: IncomingRequest) -> None:
        request.result(None)

    def lost(self, reason: AgentGone) -> None:
        pass


async def _no_parsing(load: Load) -> float:
    ready, done = asyncio.Event(), asyncio.Event()
    left = load.count * (len(load.line) + 1)

    def take(data: bytes) -> None:
        nonlocal left
        if not ready.is_set():
            ready.set()
            return
        left -= len(data)
        if left <= 0:
            done.set()

    agent = await _start(load, take)
    try:
        agent.write(b'{"id":0}\n')
        await ready.wait()
        began = time.perf_counter()
        agent.write(b'{"id":1}\n')
        await done.wait()
        return time.perf_counter() - began
    finally:
        await agent.stop(urgent=True)


async def _ours(load: Load) -> float:
    counter = Counter()
    connection = Connection(lambda data: agent.write(data), counter)
    agent = await _start(load, connection.data_received)
    try:
        await connection.call("ready", {})
        began = time.perf_counter()
        await connection.call("go", {})
        assert counter.updates == load.count
        return time.perf_counter() - began
    finally:
        await agent.stop(urgent=True)


async def _start(load: Load, on_data: Callable[[bytes], None]) -> AgentProcess:
    command = resolve(sys.executable, load.arguments)
    return await spawn(command, on_data=on_data, on_exit=lambda exit_: None)


async def _readline(load: Load) -> float:
    agent = await asyncio.create_subprocess_exec(
        sys.executable,
        *load.arguments,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert agent.stdin is not None
    assert agent.stdout is not None
    try:
        agent.stdin.write(b'{"id":0}\n')
        await agent.stdout.readline()
        began = time.perf_counter()
        agent.stdin.write(b'{"id":1}\n')
        while "id" not in json.loads(await agent.stdout.readline()):
            pass
        return time.perf_counter() - began
    finally:
        agent.kill()
        await agent.wait()


async def _sdk(load: Load) -> float:
    import acp

    done = asyncio.Event()

    class Client:
        updates = 0

        async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
            self.updates += 1
            if self.updates == load.count:
                done.set()

    client: Any = Client()
    async with acp.spawn_agent_process(client, sys.executable, *load.arguments) as (link, agent):
        await link.ext_method("ready", {})
        began = time.perf_counter()
        await link.ext_method("go", {})
        await done.wait()
        taken = time.perf_counter() - began
        with contextlib.suppress(ProcessLookupError):
            agent.kill()
        return taken


WAYS: Final[dict[str, Callable[[Load], Awaitable[float]]]] = {
    "the pipe, nothing parsed": _no_parsing,
    "ours": _ours,
    "asyncio readline + json": _readline,
}


async def _throughput(load: Load, ways: dict[str, Callable[[Load], Awaitable[float]]]) -> None:
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(RUNS):
        for name, way in ways.items():
            taken[name].append(await way(load) / load.count * 1e6)
    costs = {name: statistics.median(times) for name, times in taken.items()}
    print(f"{load.title}, {len(load.line) + 1} bytes a line, µs each")
    for name, cost in costs.items():
        print(f"  {name:28} {cost:8.2f}   ours is {cost / costs['ours']:5.1f} × as fast")


async def _round_trips() -> None:
    load = Load("", 0, {})
    connection = Connection(lambda data: agent.write(data), Counter())
    agent = await _start(load, connection.data_received)
    times = []
    try:
        for _ in range(ROUND_TRIPS):
            began = time.perf_counter()
            await connection.call("go", {})
            times.append((time.perf_counter() - began) * 1e6)
    finally:
        await agent.stop(urgent=True)
    p50, p99 = statistics.median(times), statistics.quantiles(times, n=100)[98]
    print(f"a call and its answer: p50 {p50:.0f} µs, p99 {p99:.0f} µs")


def _long_line() -> None:
    times: dict[int, list[float]] = {LONG_LINE: [], LONG_LINE // 16: []}
    for _ in range(RUNS):
        for size, taken in times.items():
            line = encode(Notification("session/update", {"text": "x" * size}))
            chunks = [line[start : start + 65536] for start in range(0, len(line), 65536)]
            decoder = Decoder()
            began = time.perf_counter()
            for chunk in chunks:
                decoder.feed(chunk)
            taken.append((time.perf_counter() - began) * 1e3)
    long, short = (statistics.median(taken) for taken in times.values())
    print(
        f"a line of {LONG_LINE >> 20} MiB in chunks of 64 KiB: {long:.0f} ms, "
        f"{long / short / 16:.1f} × 16 lines of a sixteenth"
    )


def main() -> None:
    """Measure all of it and print the ratios."""
    ways = dict(WAYS)
    if importlib.util.find_spec("acp") is not None:
        ways["the Python SDK"] = _sdk

    async def run() -> None:
        for load in LOADS:
            await _throughput(load, ways)
        await _round_trips()

    asyncio.run(run())
    _long_line()


if __name__ == "__main__":
    main()
