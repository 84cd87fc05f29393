"""An editor that is a test: the sidecar as a real process, documents, dialogs, edits.

The user's hand is the test's. Everything the sidecar sends is kept in ``seen``; requests
are answered by the table ``answers``, where a test may put its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import os
import sys
import termios
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

from acp_sidecar.workspace.positions import LineRule, Position, Range, TextEdit, apply_edits
from acp_sidecar.workspace.uris import path_to_uri

BOUND = 20
"""Seconds after which a test gives up waiting."""

SIDECAR = [sys.executable, "-m", "acp_sidecar", "serve"]

NO_ANSWER = object()
"""Returned by an answer: the request stays open."""


class LspError(Exception):
    """The sidecar answered with an error."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(error["message"])
        self.code: int = error["code"]
        self.data = error.get("data")


class Refusal(Exception):
    """Raised by an answer of the editor's: it becomes a JSON-RPC error."""

    def __init__(self, code: int, message: str = "no") -> None:
        super().__init__(message)
        self.code = code


class OpenDocument:
    """A buffer of the editor's."""

    def __init__(self, uri: str, text: str) -> None:
        self.uri = uri
        self.text = text
        self.version = 1


def capabilities(**experimental: bool) -> dict[str, Any]:
    """What a usual editor can do; ``experimental`` are our own methods."""
    return {
        "general": {"positionEncodings": ["utf-16"]},
        "window": {
            "showDocument": {"support": True},
            "workDoneProgress": True,
            "showMessage": {},
        },
        "workspace": {"applyEdit": True, "workspaceEdit": {"documentChanges": True}},
        "experimental": {"acpSidecar": experimental} if experimental else {},
    }


class Editor:
    """One editor and its sidecar."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.seen: list[dict[str, Any]] = []
        self.stderr = b""
        self.documents: dict[str, OpenDocument] = {}
        self.encoding = "utf-16"
        self.rule: LineRule = "lsp"
        """Whether a lone carriage return ends a line here."""
        self.debounce = 0.0
        """Seconds for which changes are kept back, as Neovim does."""
        self.answers: dict[str, Callable[[dict[str, Any]], Any]] = {
            "window/showDocument": lambda params: {"success": True},
            "window/workDoneProgress/create": lambda params: None,
            "window/showMessageRequest": lambda params: NO_ANSWER,
            "workspace/applyEdit": self.apply_edit,
            "client/registerCapability": lambda params: None,
            "acp/reveal": lambda params: {"shown": True},
            "acp/permission": lambda params: NO_ANSWER,
        }
        self._ids = iter(range(1, 1_000_000))
        self._results: dict[int, asyncio.Future[Any]] = {}
        self._news = asyncio.Condition()
        self._reading = asyncio.create_task(self._read())
        self._draining = asyncio.create_task(self._drain_stderr())
        self._answering: set[asyncio.Task[None]] = set()
        self._kept_back: list[dict[str, Any]] = []

    # --- the wire -------------------------------------------------------------------

    def send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def notify(self, method: str, params: Any = None) -> None:
        self.send({"method": method, "params": params})

    def begin(self, method: str, params: Any = None) -> tuple[int, asyncio.Future[Any]]:
        self.flush()
        request_id = next(self._ids)
        future = asyncio.get_running_loop().create_future()
        self._results[request_id] = future
        self.send({"id": request_id, "method": method, "params": params})
        return request_id, future

    async def call(self, method: str, params: Any = None) -> Any:
        _, future = self.begin(method, params)
        async with asyncio.timeout(BOUND):
            return await future

    def cancel(self, request_id: int) -> None:
        self.notify("$/cancelRequest", {"id": request_id})

    async def _read(self) -> None:
        stdout = self.process.stdout
        assert stdout is not None
        with contextlib.suppress(asyncio.IncompleteReadError):
            while True:
                header = await stdout.readuntil(b"\r\n\r\n")
                length = int(header.split(b":")[1])
                await self._take(json.loads(await stdout.readexactly(length)))
        for future in self._results.values():
            if not future.done():
                last_words = self.stderr.decode(errors="replace")[-2000:]
                future.set_exception(ConnectionError(f"the sidecar has ended: {last_words}"))
                future.exception()
        async with self._news:
            self._news.notify_all()

    async def _take(self, message: dict[str, Any]) -> None:
        self.seen.append(message)
        if "method" not in message:
            future = self._results.get(message["id"])
            if future is not None and not future.done():
                if "error" in message:
                    future.set_exception(LspError(message["error"]))
                    future.exception()
                else:
                    future.set_result(message["result"])
        elif "id" in message:
            task = asyncio.create_task(self._answer(message))
            self._answering.add(task)
            task.add_done_callback(self._answering.discard)
        async with self._news:
            self._news.notify_all()

    async def _answer(self, message: dict[str, Any]) -> None:
        answer = self.answers.get(message["method"])
        if answer is None:
            error = {"code": -32601, "message": "Method not found"}
            self.send({"id": message["id"], "error": error})
            return
        try:
            result = answer(message.get("params"))
            if isinstance(result, Awaitable):
                result = await result
        except Refusal as refusal:
            error = {"code": refusal.code, "message": str(refusal)}
            self.send({"id": message["id"], "error": error})
            return
        if result is not NO_ANSWER:
            self.send({"id": message["id"], "result": result})

    async def _drain_stderr(self) -> None:
        assert self.process.stderr is not None
        while data := await self.process.stderr.read(65536):
            self.stderr += data

    # --- looking -----------------------------------------------------------------------

    def all(self, method: str) -> list[dict[str, Any]]:
        """The parameters of every message of this method so far."""
        return [message.get("params") for message in self.seen if message.get("method") == method]

    def requests(self, method: str) -> list[dict[str, Any]]:
        """The whole requests of this method so far."""
        return [message for message in self.seen if message.get("method") == method]

    async def until(self, met: Callable[[], Any]) -> Any:
        """Wait until something the sidecar said makes ``met()`` true."""
        async with asyncio.timeout(BOUND), self._news:
            while not (value := met()):
                await self._news.wait()
            return value

    async def nth(self, method: str, number: int = 1) -> dict[str, Any]:
        """The parameters of the ``number``-th message of this method."""
        await self.until(lambda: len(self.all(method)) >= number)
        return self.all(method)[number - 1]

    async def eventually(self, met: Callable[[], Awaitable[Any]]) -> Any:
        """Ask again and again until ``met()`` gives something true."""
        async with asyncio.timeout(BOUND):
            while not (value := await met()):
                await asyncio.sleep(0.02)
            return value

    # --- a person's means -----------------------------------------------------------------

    async def initialize(
        self,
        *folders: Path | str,
        settings: dict[str, Any] | None = None,
        client: str = "test",
        can: dict[str, Any] | None = None,
        **params: Any,
    ) -> dict[str, Any]:
        given = {
            "processId": os.getpid(),
            "clientInfo": {"name": client},
            "rootUri": path_to_uri(str(folders[0])) if folders else None,
            "workspaceFolders": [
                {"uri": path_to_uri(str(folder)), "name": Path(folder).name} for folder in folders
            ]
            or None,
            "capabilities": capabilities() if can is None else can,
            "initializationOptions": settings or {},
            **params,
        }
        result = await self.call("initialize", given)
        self.encoding = result["capabilities"]["positionEncoding"]
        self.notify("initialized", {})
        return result

    def configure(self, **section: Any) -> None:
        """Tell of settings of the workspace that have changed."""
        self.notify("workspace/didChangeConfiguration", {"settings": {"acp": section}})

    async def execute(self, command: str, **argument: Any) -> Any:
        params = {"command": command, "arguments": [argument]}
        return await self.call("workspace/executeCommand", params)

    def start(self, command: str, **argument: Any) -> tuple[int, asyncio.Future[Any]]:
        params = {"command": command, "arguments": [argument]}
        return self.begin("workspace/executeCommand", params)

    async def state(self, **argument: Any) -> dict[str, Any]:
        return await self.execute("acp.session.state", **argument)

    def open(self, path: Path | str, text: str | None = None, uri: str | None = None) -> str:
        """Open a file, with the text on disk where none is given."""
        if text is None:
            text = Path(path).read_bytes().decode()
        uri = uri or path_to_uri(str(path))
        document = self.documents[uri] = OpenDocument(uri, text)
        item = {"uri": uri, "languageId": "text", "version": document.version, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": item})
        return uri

    def type(self, uri: str, line: int, character: int, text: str, *, delete: int = 0) -> None:
        """Replace ``delete`` characters of a line by ``text``."""
        start = Position(line, character)
        self.change(uri, [TextEdit(Range(start, Position(line, character + delete)), text)])

    def change(self, uri: str, edits: list[TextEdit]) -> None:
        document = self.documents[uri]
        document.text = apply_edits(document.text, edits, self.encoding, self.rule)
        document.version += 1
        # Positions all refer to the text before; the last one first keeps them right.
        changes = [
            {"range": edit.range.to_json(), "text": edit.new_text} for edit in reversed(edits)
        ]
        self._changed(document, changes)

    def set_text(self, uri: str, text: str) -> None:
        """Replace all of a document."""
        document = self.documents[uri]
        document.text = text
        document.version += 1
        self._changed(document, [{"text": text}])

    def reload(self, uri: str, path: Path) -> None:
        """Load a file anew, as editors do that watch the disk."""
        self.set_text(uri, path.read_bytes().decode("utf-8-sig"))

    def close_document(self, uri: str) -> None:
        self.flush()
        del self.documents[uri]
        self.notify("textDocument/didClose", {"textDocument": {"uri": uri}})

    def _changed(self, document: OpenDocument, changes: list[dict[str, Any]]) -> None:
        identity = {"uri": document.uri, "version": document.version}
        params = {"textDocument": identity, "contentChanges": changes}
        self._kept_back.append({"method": "textDocument/didChange", "params": params})
        if not self.debounce:
            self.flush()
        elif len(self._kept_back) == 1:
            asyncio.get_running_loop().call_later(self.debounce, self.flush)

    def flush(self) -> None:
        """Tell of the changes that were kept back."""
        kept_back, self._kept_back = self._kept_back, []
        for message in kept_back:
            self.send(message)

    def save(self, uri: str, path: Path) -> None:
        self.flush()
        document = self.documents[uri]
        path.write_bytes(document.text.encode())
        identity = {"uri": uri}
        self.notify("textDocument/didSave", {"textDocument": identity, "text": document.text})

    def apply_edit(self, params: dict[str, Any]) -> Any:
        """Apply an edit to open documents as VS Code does: only at the exact version."""
        for change in params["edit"].get("documentChanges", []):
            identity = change["textDocument"]
            document = self.documents.get(identity["uri"])
            if document is None or identity["version"] not in (None, document.version):
                return {"applied": False}
            edits = [_edit(one) for one in change["edits"]]
            self.change(identity["uri"], edits)
        return {"applied": True}

    def click(self, title: str, number: int = -1) -> None:
        """Press a button of the ``number``-th message dialog."""
        request = self.requests("window/showMessageRequest")[number]
        self.send({"id": request["id"], "result": {"title": title}})

    async def dialog(self, number: int = 1) -> dict[str, Any]:
        return await self.nth("window/showMessageRequest", number)

    def titles(self, number: int = -1) -> list[str]:
        dialog = self.all("window/showMessageRequest")[number]
        return [action["title"] for action in dialog["actions"]]

    def revealed(self) -> list[tuple[str, int | None]]:
        """Name and 0-based line of every place shown so far."""
        shown = self.all("window/showDocument") + self.all("acp/reveal")
        return [
            (
                params["uri"].rpartition("/")[2],
                params["selection"]["start"]["line"] if params.get("selection") else None,
            )
            for params in shown
        ]

    # --- the end ---------------------------------------------------------------------------

    def stop_reading(self) -> None:
        """Leave in the pipe what the sidecar writes, as an editor in a modal prompt does."""
        self._stdout_transport.pause_reading()

    def read_again(self) -> None:
        self._stdout_transport.resume_reading()

    def unread_bytes(self) -> int:
        """How much waits in the pipe."""
        pipe = self._stdout_transport.get_extra_info("pipe")
        answer = fcntl.ioctl(pipe, termios.FIONREAD, b"\0" * 4)
        return int.from_bytes(answer, sys.byteorder)

    @property
    def _stdout_transport(self) -> asyncio.ReadTransport:
        transport = self.process._transport.get_pipe_transport(1)  # type: ignore[attr-defined]
        assert isinstance(transport, asyncio.ReadTransport)
        return transport

    async def close(self) -> int:
        """The proper way: shutdown, exit."""
        await self.call("shutdown")
        self.notify("exit")
        return await self.ended()

    async def ended(self) -> int:
        async with asyncio.timeout(BOUND):
            code = await self.process.wait()
            await self._draining
        return code


def _edit(edit: dict[str, Any]) -> TextEdit:
    start, end = edit["range"]["start"], edit["range"]["end"]
    return TextEdit(
        Range(Position(start["line"], start["character"]), Position(end["line"], end["character"])),
        edit["newText"],
    )


@contextlib.asynccontextmanager
async def editing(
    *arguments: str,
    env: dict[str, str] | None = None,
    cwd: Path | None = None,
    before_exec: Callable[[], None] | None = None,
) -> AsyncIterator[Editor]:
    """An editor with a running sidecar, not yet initialised; ended with the block."""
    process = await asyncio.create_subprocess_exec(
        *SIDECAR,
        *arguments,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=env,
        cwd=cwd,
        preexec_fn=before_exec,
        limit=1 << 26,
    )
    editor = Editor(process)
    try:
        yield editor
    finally:
        assert process.stdin is not None
        with contextlib.suppress(ConnectionError):
            process.stdin.close()
        try:
            async with asyncio.timeout(5):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()
        for task in (editor._reading, editor._draining):
            task.cancel()
