"""The LSP side against stock pygls, each as a process over pipes: ``python -m bench.lsp``.

Prints, for both, the median over some interleaved runs of: start (spawn to the answer of
``initialize``), a request's round trip, document changes taken and notifications sent a
second, and resident memory at the end.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

RUNS: Final = 3
REQUESTS: Final = 2_000
CHANGES: Final = 10_000
NOTIFICATIONS: Final = 20_000
URI: Final = "file:///ws/a.py"
BLOCK: Final = {"sessionId": "S", "blocks": [{"id": "b1", "kind": "message", "text": "x" * 100}]}


def serve_ours() -> int:
    from acp_sidecar.editor.server import ContentChange, SidecarServer
    from acp_sidecar.workspace.documents import Documents, TextChange
    from acp_sidecar.workspace.positions import Position, Range

    server = SidecarServer()
    documents = Documents()

    def change(uri: str, version: int | None, changes: Sequence[ContentChange]) -> None:
        # pygls keeps a mirror too; without ours this would be no comparison.
        taken = []
        for one in changes:
            edges = one.range and Range(Position(*one.range[0]), Position(*one.range[1]))
            taken.append(TextChange(edges, one.text))
        documents.change(uri, version, taken)

    server.on_open = documents.open
    server.on_change = change
    server.handle("bench/echo", lambda params: params)

    def send(params: Any) -> None:
        for _ in range(params["count"]):
            server.notify_json("acp/transcript", BLOCK)

    server.handle("bench/send", send)
    return server.run()


def serve_hanging() -> int:
    from acp_sidecar.editor.server import SidecarServer

    server = SidecarServer()
    server.on_stop = asyncio.Event().wait
    return server.run()


def serve_stock() -> int:
    from pygls.lsp.server import LanguageServer

    server = LanguageServer("stock", "1")
    server.feature("bench/echo")(lambda params: params)

    def send(params: Any) -> None:
        for _ in range(params.count):
            server.protocol.notify("acp/transcript", BLOCK)

    server.feature("bench/send")(send)
    server.start_io()
    return 0


class Client:
    """Blocking pipes: the client's own cost is small and the same for both."""

    def __init__(self, kind: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "bench.lsp", kind],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(frame(message))
        self.process.stdin.flush()

    def read(self) -> bytes:
        assert self.process.stdout is not None
        length = 0
        while (line := self.process.stdout.readline()) != b"\r\n":
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        return self.process.stdout.read(length)

    def call(self, method: str, params: Any) -> Any:
        self.send({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        while True:
            message = json.loads(self.read())
            if message.get("id") == 1:
                return message.get("result")

    def resident(self) -> float:
        status = Path(f"/proc/{self.process.pid}/status")
        if not status.exists():
            return float("nan")
        lines = status.read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024

    def stop(self) -> None:
        self.call("shutdown", None)
        self.send({"jsonrpc": "2.0", "method": "exit"})
        self.process.wait()


def frame(message: dict[str, Any]) -> bytes:
    body = json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


def measure(kind: str) -> dict[str, float]:
    began = time.perf_counter()
    client = Client(kind)
    client.call("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
    figures = {"start, ms": (time.perf_counter() - began) * 1000}
    client.send({"jsonrpc": "2.0", "method": "initialized", "params": {}})

    times = []
    for _ in range(REQUESTS):
        began = time.perf_counter()
        client.call("bench/echo", {"a": 1})
        times.append(time.perf_counter() - began)
    figures["round trip, µs"] = statistics.median(times) * 1e6

    document = {"uri": URI, "languageId": "python", "version": 1, "text": "pass\n"}
    opened = {"textDocument": document}
    client.send({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": opened})
    figures["changes in a second"] = CHANGES / timed(lambda: change(client))
    figures["notifications out a second"] = NOTIFICATIONS / timed(
        lambda: client.call("bench/send", {"count": NOTIFICATIONS})
    )
    figures["memory, MB"] = client.resident()
    client.stop()
    return figures


def change(client: Client) -> None:
    where = {"line": 0, "character": 0}
    params = {
        "textDocument": {"uri": URI, "version": 2},
        "contentChanges": [{"range": {"start": where, "end": where}, "text": ""}],
    }
    message = {"jsonrpc": "2.0", "method": "textDocument/didChange", "params": params}
    assert client.process.stdin is not None
    client.process.stdin.write(frame(message) * CHANGES)
    client.call("bench/echo", {"a": 1})


def timed(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def main() -> None:
    """Measure both and print a table."""
    results: dict[str, list[dict[str, float]]] = {"stock": [], "ours": []}
    for _ in range(RUNS):
        for kind, runs in results.items():
            runs.append(measure(kind))
    print(f"{'LSP side':28}{'stock pygls':>12}{'ours':>12}{'ratio':>8}")
    for name in results["ours"][0]:
        stock, ours = (
            statistics.median(run[name] for run in results[kind]) for kind in ("stock", "ours")
        )
        print(f"{name:28}{stock:12,.0f}{ours:12,.0f}{ours / stock:8.2f}")


if __name__ == "__main__":
    servers = {"ours": serve_ours, "stock": serve_stock, "hanging": serve_hanging}
    if len(sys.argv) > 1:
        sys.exit(servers[sys.argv[1]]())
    main()
