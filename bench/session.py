"""What it costs to decode a ``session/update`` and fold it into the state.

Ratios within one run say more than times: machines differ. ``python -m bench.session``
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import orjson

from acp_sidecar.acp import model, v1
from acp_sidecar.session.state import Session

UPDATES = 20_000
ROUNDS = 5


def _update(update: dict[str, Any]) -> bytes:
    params = {"sessionId": "sess_0123456789abcdef", "update": update}
    return orjson.dumps({"jsonrpc": "2.0", "method": "session/update", "params": params})


def small_chunks() -> list[bytes]:
    """Text by the word, about 200 bytes a line."""
    return [
        _update(
            {
                "sessionUpdate": "agent_message_chunk",
                "content": {"type": "text", "text": f"word {number % 1000} of a long answer "},
                "messageId": f"msg_{number // 500}",
            }
        )
        for number in range(UPDATES)
    ]


def tool_calls() -> list[bytes]:
    """Tool calls with a diff and a location, about 2.8 KB a line."""
    text = "".join(f"    value_{n} = compute({n})  # a line of code\n" for n in range(28))
    return [
        _update(
            {
                "sessionUpdate": "tool_call" if number % 4 == 0 else "tool_call_update",
                "toolCallId": f"call_{number // 4}",
                "title": "Edit src/app.py",
                "kind": "edit",
                "status": ("pending", "in_progress", "in_progress", "completed")[number % 4],
                "content": [
                    {"type": "diff", "path": "/ws/src/app.py", "oldText": text, "newText": text}
                ],
                "locations": [{"path": "/ws/src/app.py", "line": 12}],
                "rawInput": {"file_path": "/ws/src/app.py", "old": "a", "new": "b"},
            }
        )
        for number in range(UPDATES // 4)
    ]


def _json(lines: Sequence[bytes]) -> None:
    for line in lines:
        json.loads(line)


def _orjson(lines: Sequence[bytes]) -> None:
    for line in lines:
        orjson.loads(line)


def _decode(lines: Sequence[bytes]) -> None:
    for line in lines:
        v1.session_update(orjson.loads(line)["params"])


def _decode_and_fold(lines: Sequence[bytes]) -> None:
    session = Session("s", "agent", "/ws", ("/ws",))
    for line in lines:
        session.apply(v1.session_update(orjson.loads(line)["params"])[1])


def _pydantic(lines: Sequence[bytes]) -> None:
    from acp.schema import SessionNotification

    for line in lines:
        SessionNotification.model_validate(orjson.loads(line)["params"])


WAYS: dict[str, Callable[[Sequence[bytes]], None]] = {
    "json.loads": _json,
    "orjson.loads": _orjson,
    "orjson + decode": _decode,
    "orjson + decode + fold": _decode_and_fold,
    "orjson + the Python SDK's pydantic": _pydantic,
}


def measure(lines: Sequence[bytes]) -> dict[str, float]:
    """Median µs a line for each way, the ways interleaved."""
    taken: dict[str, list[float]] = {name: [] for name in WAYS}
    for _ in range(ROUNDS):
        for name, way in WAYS.items():
            start = time.perf_counter()
            way(lines)
            taken[name].append((time.perf_counter() - start) / len(lines) * 1e6)
    return {name: statistics.median(times) for name, times in taken.items()}


def _letters(count: int) -> None:
    """An answer by the letter, looked at now and then as a transcript does."""
    session = Session("s", "agent", "/ws", ("/ws",))
    letter = model.MessageChunk("agent", model.TextContent("x"), "m")
    for number in range(count):
        session.apply(letter)
        if number % (count // 20) == 0:
            assert session.messages[0].text


def growth(work: Callable[[int], None], count: int) -> float:
    """How many times as long 16 times as much takes, to 16: 1 where the time is in proportion."""
    taken: dict[int, list[float]] = {count: [], 16 * count: []}
    for _ in range(ROUNDS):
        for size, times in taken.items():
            start = time.perf_counter()
            work(size)
            times.append(time.perf_counter() - start)
    less, more = (statistics.median(times) for times in taken.values())
    return more / less / 16


def main() -> None:
    for title, lines in (("chunks", small_chunks()), ("tool calls", tool_calls())):
        size = sum(map(len, lines)) / len(lines)
        costs = measure(lines)
        base = costs["json.loads"]
        print(f"{title}, {size:.0f} bytes a line")
        for name, cost in costs.items():
            print(f"  {name:36} {cost:7.2f} µs   {cost / base:5.2f} × json.loads")
    print(f"160,000 letters: {growth(_letters, 10_000):.1f} × 16 answers of 10,000")


if __name__ == "__main__":
    main()
