"""Commands that the agent runs: their start, their output and their end."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import Any

from tests.e2e.editor import BOUND
from tests.e2e.puppet import Puppet


async def create(puppet: Puppet, command: str, *args: str, **params: Any) -> str:
    """The id of a terminal in which a command runs."""
    given = {"args": list(args)} if args else {}
    answer = await puppet.call("terminal/create", command=command, **given, **params)
    assert "result" in answer, answer
    terminal_id: str = answer["result"]["terminalId"]
    return terminal_id


async def wait(puppet: Puppet, terminal_id: str) -> Any:
    return (await puppet.call("terminal/wait_for_exit", terminalId=terminal_id))["result"]


async def output(puppet: Puppet, terminal_id: str) -> Any:
    return (await puppet.call("terminal/output", terminalId=terminal_id))["result"]


async def run(puppet: Puppet, command: str, *args: str, **params: Any) -> tuple[Any, str]:
    """How a command ended and what it wrote."""
    terminal_id = await create(puppet, command, *args, **params)
    status = await wait(puppet, terminal_id)
    said = await output(puppet, terminal_id)
    assert said["exitStatus"] == status
    return status, said["output"]


async def refused(puppet: Puppet, method: str = "terminal/create", **params: Any) -> Any:
    answer = await puppet.call(method, **params)
    assert "error" in answer, answer
    return answer["error"]


async def until(met: Callable[[], Any]) -> None:
    async with asyncio.timeout(BOUND):
        while not met():
            await asyncio.sleep(0.01)


async def written(puppet: Puppet, terminal_id: str, pattern: str = r"(\d+)\n") -> str:
    """The first group of what a command has written, once it has."""
    async with asyncio.timeout(BOUND):
        while True:
            found = re.search(pattern, (await output(puppet, terminal_id))["output"])
            if found is not None:
                return found[1]
            await asyncio.sleep(0.01)


EXITED = {"exitCode": 0, "signal": None}

GRANDCHILD = "sleep 300 & echo $!; wait"
