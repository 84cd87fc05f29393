"""Processes as they are found from outside, and an agent as a process of ours."""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from acp_sidecar.agents import watchdog
from acp_sidecar.agents.process import AgentExit, AgentProcess, resolve, spawn

PATIENCE = 10.0
WRAPPER = "sleep 600 & echo $!; wait"
"""Like npx and its kind: ends at no end of input, and the work is done by a grandchild."""


def table() -> dict[int, tuple[int, str]]:
    """Of every process its parent, and its state as ps shows it: R, S, Z and so on."""
    if sys.platform == "linux":
        found = {}
        for pid in filter(str.isdecimal, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                found[int(pid)] = (int(fields[1]), fields[0])
        return found
    answer = subprocess.run(
        ["ps", "-axo", "pid=,ppid=,stat="], capture_output=True, text=True, check=True
    )
    rows = [line.split() for line in answer.stdout.splitlines()]
    return {int(pid): (int(parent), stat[0]) for pid, parent, stat in rows}


def state(pid: int) -> str:
    """The state of a process; "-" for one that is no more."""
    return table().get(pid, (0, "-"))[1]


def gone(*pids: int) -> bool:
    processes = table()
    return all(processes.get(pid, (0, "-"))[1] in "-ZX" for pid in pids)


def eventually(done: Callable[[], bool], seconds: float = PATIENCE) -> bool:
    deadline = time.monotonic() + seconds
    while not done():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


class Run:
    """An agent, what it wrote and how it ended."""

    def __init__(self) -> None:
        self.output = b""
        self.exits: list[AgentExit] = []
        self.agent: AgentProcess
        self.ended = asyncio.Event()
        self._stirred = asyncio.Event()

    def on_data(self, data: bytes) -> None:
        assert not self.exits, "nothing comes after the end"
        self.output += data
        self._stirred.set()

    def on_exit(self, exit_: AgentExit) -> None:
        self.exits.append(exit_)
        self.ended.set()

    async def lines(self, count: int) -> list[str]:
        """The first so many lines."""
        async with asyncio.timeout(PATIENCE):
            while self.output.count(b"\n") < count:
                self._stirred.clear()
                await self._stirred.wait()
        return self.output.decode().splitlines()[:count]

    async def end(self) -> AgentExit:
        """The agent's own end."""
        async with asyncio.timeout(PATIENCE):
            await self.ended.wait()
        return self.exits[0]


@contextlib.asynccontextmanager
async def running(*argv: str, **options: Any) -> AsyncIterator[Run]:
    run = Run()
    command = resolve(argv[0], argv[1:], **options)
    run.agent = await spawn(command, on_data=run.on_data, on_exit=run.on_exit)
    try:
        yield run
    finally:
        await run.agent.stop(urgent=True)
        assert len(run.exits) == 1


def shell(script: str) -> tuple[str, str, str]:
    return ("sh", "-c", script)


STUBBORN = {
    "wrapper": WRAPPER,
    "deaf wrapper": "trap '' TERM; sleep 600 & echo $!; wait; sleep 600",
    "stopped": "sleep 600 & echo $!; kill -STOP $! $$; wait",
    "job control": "set -m; sleep 600 & echo $!; wait",
    "deaf grandchild": "(trap '' TERM; exec sleep 600) & echo $!; wait",
    "group of its own in the group": "sh -c 'set -m; sleep 600 & echo $!; wait' & wait",
    "session of its own": "setsid sh -c 'echo $$; sleep 600 >/dev/null' & wait",
    "session in a session": "setsid sh -c \"setsid sh -c 'echo \\$\\$; sleep 9' & wait\" & wait",
    "endless output": "sleep 600 & echo $!; while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxx; done",
}


def skip_unless_found(script: str) -> None:
    if ("set -m" in script or "setsid" in script) and sys.platform != "linux":
        pytest.skip("groups and sessions that an agent has opened are found on Linux only")


def started_watchdog() -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-I", "-S", watchdog.__file__], stdin=subprocess.PIPE, bufsize=0
    )
