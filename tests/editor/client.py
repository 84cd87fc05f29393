"""A bare LSP client: a server process, its pipes, and JSON-RPC by hand."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import shlex
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any

SERVERS = Path(__file__).parent / "servers"
BOUND = 20
"""Seconds after which a test gives up waiting."""


def frame(message: Any) -> bytes:
    body = json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


class Client:
    """The editor's end of the pipes. Every message of the server is kept in ``seen``."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.seen: list[dict[str, Any]] = []
        self.stderr = b""
        self._ids = iter(range(1, 1_000_000))
        self._drainer = asyncio.create_task(self._drain_stderr())

    @property
    def pid(self) -> int:
        return self.process.pid

    # --- sending

    def raw(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)

    def send(self, message: Any) -> None:
        self.raw(frame(message))

    def notify(self, method: str, params: Any = None) -> None:
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def request(self, method: str, params: Any = None, request_id: Any = None) -> Any:
        request_id = next(self._ids) if request_id is None else request_id
        self.send({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})
        return request_id

    def command(self, name: str, *arguments: Any) -> Any:
        return self.request(
            "workspace/executeCommand", {"command": name, "arguments": list(arguments)}
        )

    def answer(self, request: dict[str, Any], result: Any) -> None:
        self.send({"jsonrpc": "2.0", "id": request["id"], "result": result})

    def close_stdin(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    # --- receiving

    async def read(self) -> dict[str, Any]:
        stdout = self.process.stdout
        assert stdout is not None
        async with asyncio.timeout(BOUND):
            header = await stdout.readuntil(b"\r\n\r\n")
            match = re.fullmatch(rb"Content-Length: (\d+)\r\n\r\n", header)
            assert match, header
            body = await stdout.readexactly(int(match[1]))
        message: dict[str, Any] = json.loads(body)
        assert message["jsonrpc"] == "2.0"
        self.seen.append(message)
        return message

    async def until(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        while not wanted(message := await self.read()):
            pass
        return message

    async def response(self, request_id: Any) -> dict[str, Any]:
        return await self.until(
            lambda m: (
                "method" not in m and m["id"] == request_id and type(m["id"]) is type(request_id)
            )
        )

    async def incoming(self, method: str) -> dict[str, Any]:
        return await self.until(lambda m: m.get("method") == method)

    async def call(self, method: str, params: Any = None) -> Any:
        response = await self.response(self.request(method, params))
        assert "error" not in response, response
        return response["result"]

    async def execute(self, name: str, *arguments: Any) -> Any:
        response = await self.response(self.command(name, *arguments))
        assert "error" not in response, response
        return response["result"]

    async def initialize(self, **params: Any) -> dict[str, Any]:
        result = await self.call(
            "initialize", {"processId": None, "rootUri": None, "capabilities": {}, **params}
        )
        self.notify("initialized", {})
        return result  # type: ignore[no-any-return]

    async def rest(self) -> list[dict[str, Any]]:
        """Everything the server says until it closes its output."""
        messages: list[dict[str, Any]] = []
        with contextlib.suppress(asyncio.IncompleteReadError):
            while True:
                messages.append(await self.read())
        return messages

    async def ended(self) -> int:
        async with asyncio.timeout(BOUND):
            code = await self.process.wait()
            await self._drainer
        return code

    async def stop(self) -> int:
        await self.call("shutdown")
        self.notify("exit")
        return await self.ended()

    async def _drain_stderr(self) -> None:
        assert self.process.stderr is not None
        while data := await self.process.stderr.read(65536):
            self.stderr += data


def serving(script: str, *arguments: str | Path) -> contextlib.AbstractAsyncContextManager[Client]:
    """One of the servers beside this file as a process, ended with the block."""
    command = [sys.executable, str(SERVERS / script), *map(str, arguments)]
    return _started(asyncio.create_subprocess_exec(*command, **_PIPES))


def serving_by_shell(
    redirect: str, *arguments: str | Path
) -> contextlib.AbstractAsyncContextManager[Client]:
    """``basic.py`` with something done to its standard streams by the shell."""
    command = shlex.join([sys.executable, str(SERVERS / "basic.py"), *map(str, arguments)])
    return _started(asyncio.create_subprocess_shell(f"exec {command} {redirect}", **_PIPES))


_PIPES: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), asyncio.subprocess.PIPE)


@contextlib.asynccontextmanager
async def _started(
    starting: Coroutine[Any, Any, asyncio.subprocess.Process],
) -> AsyncIterator[Client]:
    process = await starting
    client = Client(process)
    try:
        yield client
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
        # asyncio sees the end of a process only after the end of its pipes.
        if process.stdout is not None:
            await process.stdout.read()
        await process.wait()
        await client._drainer
        process._transport.close()  # type: ignore[attr-defined]


async def line_in(path: Path, wanted: str) -> None:
    """Wait until a line has been written to a file."""
    async with asyncio.timeout(BOUND):
        while not path.exists() or wanted not in path.read_text().splitlines():
            await asyncio.sleep(0.005)


def lines(path: Path) -> list[str]:
    """The lines of a file that may not be there yet."""
    return path.read_text().splitlines() if path.exists() else []
