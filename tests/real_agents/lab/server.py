"""The model behind HTTP, on loopback, in a thread of the test's own process."""

from __future__ import annotations

import contextlib
import gzip
import itertools
import json
import threading
import traceback
from collections.abc import Iterable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.real_agents.lab import chat, gemini
from tests.real_agents.lab.model import Model


@contextlib.contextmanager
def serving(model: Model) -> Iterator[int]:
    """Serve a model; the port."""
    server = _Server(model)
    thread = threading.Thread(target=server.serve_forever, name="model", daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, model: Model) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.model = model
        self.numbers = itertools.count(1)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        self._whole(json.dumps({"object": "list", "data": [], "models": []}))

    def do_POST(self) -> None:
        try:
            self._post(self.path.partition("?")[0], json.loads(self._body()))
        except OSError:
            self.close_connection = True  # the agent has hung up
        except Exception:  # noqa: BLE001 - boundary: the test is to hear of it, not only the agent
            self.server.model.faults.append(traceback.format_exc())
            self._whole('{"error": {"message": "see the test", "code": 400}}', 400)

    def _post(self, path: str, body: dict[str, Any]) -> None:
        model, number = self.server.model, next(self.server.numbers)
        if path.endswith("/chat/completions"):
            self._events(chat.stream(model.reply(chat.conversation(body)), number))
        elif path.endswith(":streamGenerateContent"):
            self._events(gemini.stream(model.reply(gemini.conversation(body)), number))
        elif path.endswith(":generateContent"):
            form = gemini.wanted_form(body)
            reply = model.reply(gemini.conversation(body)).say
            self._whole(gemini.whole(json.dumps(gemini.sample(form)) if form else reply, number))
        elif path.endswith(":countTokens"):
            self._whole('{"totalTokens": 100}')
        else:
            self._whole("{}")

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            data = b"".join(self._chunks())
        else:
            data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        return gzip.decompress(data) if self.headers.get("Content-Encoding") == "gzip" else data

    def _chunks(self) -> Iterator[bytes]:
        while size := int(self.rfile.readline(), 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()

    def _whole(self, text: str, status: int = 200) -> None:
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _events(self, events: Iterable[str]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        for event in events:
            self.wfile.write(f"data: {event}\n\n".encode())
            self.wfile.flush()

    def log_message(self, format: str, *arguments: Any) -> None:
        """The test tells what is worth telling."""
