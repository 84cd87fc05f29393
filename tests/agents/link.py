"""What tests of this room share: a handler that remembers, and an agent over real pipes."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from acp_sidecar.agents.connection import AgentGone, Connection, IncomingRequest
from acp_sidecar.agents.process import AgentExit, AgentProcess, Command, resolve, spawn

PEERS = Path(__file__).with_name("peers")


class Memory:
    """A handler that keeps all it is told; ``on_request`` may answer."""

    def __init__(self, on_request: Callable[[IncomingRequest], None] | None = None) -> None:
        self.said: list[tuple[str, Any]] = []
        self.requests: list[IncomingRequest] = []
        self.reasons: list[AgentGone] = []
        self.on_request = on_request
        self.gone = asyncio.Event()

    def request(self, request: IncomingRequest) -> None:
        self.requests.append(request)
        if self.on_request is not None:
            self.on_request(request)

    def notification(self, method: str, params: Any) -> None:
        self.said.append((method, params))

    def lost(self, reason: AgentGone) -> None:
        self.reasons.append(reason)
        self.gone.set()


class Loop:
    """A connection without a process: ``agent_says`` goes in, ``sent`` is what came out."""

    def __init__(self, handler: Memory | None = None, **options: Any) -> None:
        self.handler = handler or Memory()
        self.lines: list[bytes] = []
        self.connection = Connection(self.lines.append, self.handler, **options)

    @property
    def sent(self) -> list[Any]:
        return [json.loads(line) for line in self.lines]

    def agent_says(self, *messages: Any) -> None:
        """Each a message's members, or raw text; all in one chunk."""
        lines = [m if isinstance(m, str) else json.dumps({"jsonrpc": "2.0", **m}) for m in messages]
        self.connection.data_received("".join(line + "\n" for line in lines).encode())


class Agent:
    """A connection to a real process."""

    def __init__(self, handler: Memory, **options: Any) -> None:
        self.handler = handler
        self.exits: list[AgentExit] = []
        self.process: AgentProcess
        self.connection = Connection(
            lambda data: self.process.write(data),
            handler,
            on_broken=lambda reason: self.process.abandon(str(reason)),
            **options,
        )

    async def start(self, command: Command) -> None:
        self.process = await spawn(
            command,
            on_data=self.connection.data_received,
            on_eof=self.connection.eof_received,
            on_exit=self._exited,
        )

    def _exited(self, exit_: AgentExit) -> None:
        self.exits.append(exit_)
        self.connection.connection_lost(AgentGone(str(exit_)))


def peer(name: str) -> Command:
    return resolve(sys.executable, ["-I", str(PEERS / name)])


@contextlib.asynccontextmanager
async def agent(
    command: Command | None = None, handler: Memory | None = None, **options: Any
) -> AsyncIterator[Agent]:
    running = Agent(handler or Memory(), **options)
    await running.start(command or peer("plain.py"))
    try:
        yield running
    finally:
        await running.process.stop(urgent=True)
