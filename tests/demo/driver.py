"""Drives the demo agent as a process, with raw JSON lines."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

AGENT = [sys.executable, "-m", "acp_sidecar.demo.agent", "--pace", "0"]
BOUND = 20
"""Seconds after which a test gives up waiting."""


class Driver:
    """The client's end of the pipe. Every message of the agent is kept in ``seen``."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.seen: list[dict[str, Any]] = []
        self._ids = iter(range(1, 1000))

    def send(self, message: dict[str, Any]) -> None:
        self.raw(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def raw(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)

    def request(self, method: str, params: Any) -> int:
        request_id = next(self._ids)
        self.send({"id": request_id, "method": method, "params": params})
        return request_id

    async def next(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        async with asyncio.timeout(BOUND):
            line = await self.process.stdout.readline()
        assert line, "the agent closed its output"
        message = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        self.seen.append(message)
        return message

    async def until(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        while not wanted(message := await self.next()):
            pass
        return message

    async def response(self, request_id: Any) -> dict[str, Any]:
        return await self.until(lambda m: "method" not in m and m["id"] == request_id)

    async def call(self, method: str, params: Any) -> Any:
        response = await self.response(self.request(method, params))
        assert "error" not in response, response
        return response["result"]

    async def asked(self) -> dict[str, Any]:
        """The next permission request."""
        return await self.until(lambda m: m.get("method") == "session/request_permission")

    def select(self, request: dict[str, Any], option_id: str) -> None:
        outcome = {"outcome": "selected", "optionId": option_id}
        self.send({"id": request["id"], "result": {"outcome": outcome}})

    async def open(self, cwd: Path, *, fs: bool = False, **params: Any) -> str:
        capabilities = {"fs": {"readTextFile": fs, "writeTextFile": fs}}
        await self.call("initialize", {"protocolVersion": 1, "clientCapabilities": capabilities})
        opened = await self.call("session/new", {"cwd": str(cwd), "mcpServers": [], **params})
        return opened["sessionId"]

    def prompt(self, session_id: str, text: str, *more: Any) -> int:
        blocks = [{"type": "text", "text": text}, *more]
        return self.request("session/prompt", {"sessionId": session_id, "prompt": blocks})

    def updates(self, kind: str | None = None) -> list[dict[str, Any]]:
        updates = [m["params"]["update"] for m in self.seen if m.get("method") == "session/update"]
        return [u for u in updates if kind in (None, u["sessionUpdate"])]

    def said(self) -> str:
        return "".join(u["content"]["text"] for u in self.updates("agent_message_chunk"))

    def calls(self) -> dict[str, dict[str, Any]]:
        """The tool calls by id, every update laid over the first report."""
        calls: dict[str, dict[str, Any]] = {}
        for update in self.updates():
            if "toolCallId" in update:
                calls.setdefault(update["toolCallId"], {}).update(update)
        return calls

    def call_titled(self, title: str) -> dict[str, Any]:
        (call,) = [call for call in self.calls().values() if call["title"] == title]
        return call

    async def end(self) -> int:
        assert self.process.stdin is not None
        self.process.stdin.close()
        async with asyncio.timeout(BOUND):
            return await self.process.wait()


@contextlib.asynccontextmanager
async def agent(*argv: str) -> AsyncIterator[Driver]:
    process = await asyncio.create_subprocess_exec(
        *(argv or AGENT),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        limit=2**26,
    )
    try:
        yield Driver(process)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
