"""The agent's side, held by the test: a real process in between, every message by hand."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

RELAY = Path(__file__).with_name("relay.py")
BOUND = 20
"""Seconds after which a test gives up waiting."""

OPTIONS = [
    {"optionId": "yes", "name": "Allow", "kind": "allow_once"},
    {"optionId": "always", "name": "Always", "kind": "allow_always"},
    {"optionId": "no", "name": "Reject", "kind": "reject_once"},
]


class Puppet:
    """One agent. Greets and opens sessions by itself; the rest is the test's."""

    def __init__(self, folder: Path, name: str = "puppet", *flags: str) -> None:
        self.name = name
        self.socket = folder / f"{name}.sock"
        self.flags = flags
        self.capabilities: dict[str, Any] = {"loadSession": True}
        self.answers: dict[str, Callable[[dict[str, Any]], Any]] = {
            "initialize": self._initialize,
            "session/new": self._new_session,
        }
        self.seen: list[dict[str, Any]] = []
        self.sessions: list[str] = []
        self.connections = 0
        self.info: dict[str, Any] = {"name": name, "version": "1"}
        self._inbox: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._results: dict[Any, asyncio.Future[dict[str, Any]]] = {}
        self._ids = iter(range(1_000_000))
        self._writer: asyncio.StreamWriter | None = None
        self._server: asyncio.Server | None = None
        self.connected = asyncio.Event()

    @property
    def setting(self) -> dict[str, Any]:
        """The ``agents`` entry that starts it."""
        return {"command": sys.executable, "args": [str(RELAY), str(self.socket), *self.flags]}

    async def __aenter__(self) -> Puppet:
        self._server = await asyncio.start_unix_server(
            self._connected, str(self.socket), limit=1 << 28
        )
        return self

    async def __aexit__(self, *exc: object) -> None:
        assert self._server is not None
        if self._writer is not None:
            self._writer.close()
        self._server.close()

    # --- sending ------------------------------------------------------------------

    def raw(self, data: bytes) -> None:
        assert self._writer is not None, "the agent was not started"
        self._writer.write(data)

    def send(self, *messages: dict[str, Any]) -> None:
        """Several messages leave in one write."""
        lines = [json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in messages]
        self.raw("".join(lines).encode())

    def update_message(self, update: dict[str, Any], session: str | None = None) -> dict[str, Any]:
        params = {"sessionId": session or self.session, "update": update}
        return {"method": "session/update", "params": params}

    def update(self, kind: str, /, session: str | None = None, **fields: Any) -> None:
        self.send(self.update_message({"sessionUpdate": kind, **fields}, session))

    def say(self, text: str, session: str | None = None) -> None:
        self.update("agent_message_chunk", session, content={"type": "text", "text": text})

    def tool(self, call_id: str, update: str = "tool_call", /, **fields: Any) -> None:
        known = {"title": call_id} if update == "tool_call" else {}
        self.update(update, toolCallId=call_id, **{**known, **fields})

    def request(self, method: str, params: Any, request_id: Any = None) -> Any:
        """Send a request; the answer comes by :meth:`result`."""
        request_id = f"agent-{next(self._ids)}" if request_id is None else request_id
        future = asyncio.get_running_loop().create_future()
        self._results[json.dumps(request_id)] = future
        self.send({"id": request_id, "method": method, "params": params})
        return request_id

    def expect(self, request_id: Any) -> None:
        """Keep the response to a request that is sent by other means; see :meth:`result`."""
        future = asyncio.get_running_loop().create_future()
        self._results[json.dumps(request_id)] = future

    async def result(self, request_id: Any) -> dict[str, Any]:
        """The whole response to a request."""
        async with asyncio.timeout(BOUND):
            return await self._results[json.dumps(request_id)]

    async def call(self, method: str, **params: Any) -> dict[str, Any]:
        params.setdefault("sessionId", self.session)
        return await self.result(self.request(method, params))

    async def read(self, path: Path | str, **window: Any) -> dict[str, Any]:
        return await self.call("fs/read_text_file", path=str(path), **window)

    async def write(self, path: Path | str, content: str) -> dict[str, Any]:
        return await self.call("fs/write_text_file", path=str(path), content=content)

    def ask(self, call: dict[str, Any], options: Any = None, **params: Any) -> Any:
        """Send a permission request; returns its id."""
        request = {
            "sessionId": self.session,
            "toolCall": {"toolCallId": "t1", **call},
            "options": OPTIONS if options is None else options,
            **params,
        }
        return self.request("session/request_permission", request, params.pop("id", None))

    async def outcome(self, request_id: Any) -> Any:
        """What a permission request was answered with: the option's id, or ``cancelled``."""
        response = await self.result(request_id)
        outcome = response["result"]["outcome"]
        return outcome.get("optionId") or outcome["outcome"]

    # --- receiving ----------------------------------------------------------------

    @property
    def session(self) -> str:
        return self.sessions[-1]

    async def incoming(self, method: str) -> dict[str, Any]:
        """The next message of this method; others before it are left out."""
        async with asyncio.timeout(BOUND):
            while True:
                message = await self._inbox.get()
                if message.get("method") == method:
                    return message

    async def prompted(self) -> dict[str, Any]:
        return await self.incoming("session/prompt")

    def end_turn(self, prompt: dict[str, Any], reason: str = "end_turn") -> None:
        self.send({"id": prompt["id"], "result": {"stopReason": reason}})

    def answer(self, request: dict[str, Any], result: Any) -> None:
        self.send({"id": request["id"], "result": result})

    def hang_up(self) -> None:
        """End the process."""
        assert self._writer is not None
        self._writer.close()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self.connections += 1
        self.connected.set()
        try:
            while line := await reader.readline():
                self._take(json.loads(line))
        except ConnectionError:
            pass

    def _take(self, message: dict[str, Any]) -> None:
        self.seen.append(message)
        if "method" not in message:
            future = self._results.get(json.dumps(message["id"]))
            if future is not None and not future.done():
                future.set_result(message)
            return
        answer = self.answers.get(message["method"])
        if answer is not None and "id" in message:
            self.answer(message, answer(message["params"]))
        self._inbox.put_nowait(message)

    def _initialize(self, params: dict[str, Any]) -> Any:
        return {
            "protocolVersion": 1,
            "agentCapabilities": self.capabilities,
            "agentInfo": self.info,
        }

    def _new_session(self, params: dict[str, Any]) -> Any:
        self.sessions.append(f"S{len(self.sessions) + 1}")
        return {"sessionId": self.session}
