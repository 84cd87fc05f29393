"""How long the ends take, against stock pygls: ``python -m bench.ends``.

From the last word of the editor to the end of the process, and for agents that do not want to
end from our word to the last of their processes.
"""

from __future__ import annotations

import asyncio
import signal
import statistics
import sys
import time
from collections.abc import Callable
from typing import Final

from acp_sidecar.agents.process import resolve, spawn
from acp_sidecar.editor.server import STOP_SECONDS
from bench.lsp import Client

RUNS: Final = 3
AGENTS: Final = 8
SCRIPTS: Final = {
    "that end with their input": "cat",
    "behind a wrapper": "sleep 600 & wait",
    "deaf to SIGTERM": "trap '' TERM; sleep 600 & wait; sleep 600",
}


def _exit(client: Client) -> None:
    client.send({"jsonrpc": "2.0", "method": "exit"})


def _shut_down(client: Client) -> None:
    client.call("shutdown", None)
    _exit(client)


def _close(client: Client) -> None:
    assert client.process.stdin is not None
    client.process.stdin.close()


def _terminate(client: Client) -> None:
    client.process.send_signal(signal.SIGTERM)


WAYS: Final[dict[str, tuple[str, Callable[[Client], None]]]] = {
    "stock pygls, shutdown and exit": ("stock", _shut_down),
    "shutdown and exit": ("ours", _shut_down),
    "exit alone": ("ours", _exit),
    "end of input": ("ours", _close),
    "SIGTERM": ("ours", _terminate),
    "exit, the clean-up hangs": ("hanging", _exit),
}


def _end(kind: str, way: Callable[[Client], None]) -> float:
    client = Client(kind)
    client.call("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
    client.send({"jsonrpc": "2.0", "method": "initialized", "params": {}})
    began = time.perf_counter()
    way(client)
    client.process.wait()
    return time.perf_counter() - began


async def _agents(script: str) -> float:
    command = resolve("sh", ["-c", f"echo ready; {script}"])
    ready = asyncio.Semaphore(0)
    agents = [
        await spawn(command, on_data=lambda data: ready.release(), on_exit=lambda exit_: None)
        for _ in range(AGENTS)
    ]
    for _ in agents:
        await ready.acquire()
    began = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for agent in agents:
            group.create_task(agent.stop(urgent=True))
    return time.perf_counter() - began


def main() -> None:
    """Measure all of them and print the ratios."""
    if sys.platform == "win32":
        print("ends by signals and process groups are POSIX")
        return
    times: dict[str, list[float]] = {name: [] for name in WAYS}
    for _ in range(RUNS):
        for name, (kind, way) in WAYS.items():
            times[name].append(_end(kind, way))
    medians = {name: statistics.median(taken) for name, taken in times.items()}
    stock = medians["stock pygls, shutdown and exit"]
    for name, taken in medians.items():
        print(f"{name:34}{taken * 1e3:8.0f} ms   {taken / stock:5.2f} × stock pygls")
    for name, script in SCRIPTS.items():
        taken = statistics.median(asyncio.run(_agents(script)) for _ in range(RUNS))
        title = f"{AGENTS} agents {name}"
        print(
            f"{title:34}{taken * 1e3:8.0f} ms   {taken / STOP_SECONDS:5.2f} × what they are given"
        )


if __name__ == "__main__":
    main()
