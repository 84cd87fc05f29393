"""A real Neovim with the plugin in it, and a scripted sidecar to play against it."""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import json
import os
import queue
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pynvim
import pytest

PLUGIN = Path(__file__).parents[2] / "editor-clients" / "neovim"
BOUND = 20.0
"""Seconds after which a test gives up waiting."""

INIT = """
set runtimepath^={plugin}
set noswapfile hidden autoread
set shada=
filetype plugin indent on
syntax on
"""


def nvim_path() -> str:
    beside = Path(sys.executable).with_name("nvim")
    found = str(beside) if beside.exists() else shutil.which("nvim")
    assert found, "no Neovim: install the extra nvim"
    return found


def wait_until(check: Callable[[], Any], what: str = "", bound: float = BOUND) -> Any:
    """Polls until ``check`` gives something true, and gives it back."""
    end = time.monotonic() + bound
    while True:
        value = check()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"timed out waiting for {what or check}")
        time.sleep(0.01)


class Editor:
    """Neovim over msgpack-RPC, with a screen attached so that it draws and scrolls."""

    def __init__(self, folder: Path, *, columns: int = 160, lines: int = 45, **env: str) -> None:
        init = folder / "init.vim"
        init.write_text(INIT.format(plugin=PLUGIN))
        # Nothing of the user's own is read or written, by Neovim or by what it starts.
        for name in ("CONFIG", "DATA", "STATE", "CACHE"):
            env[f"XDG_{name}_HOME"] = str(folder / name.lower())
        settings = [f"{name}={value}" for name, value in env.items()]
        argv = ["env", *settings, nvim_path(), "--embed", "--clean", "-n", "-u", str(init)]
        self.nvim = pynvim.attach("child", argv=argv)
        self.nvim.ui_attach(columns, lines, rgb=True)
        self.pid = self.nvim.funcs.getpid()
        self.closed = False

    def lua(self, code: str, *args: Any) -> Any:
        return self.nvim.exec_lua(code, *args)

    def command(self, line: str) -> None:
        self.nvim.command(line)

    def fails(self, line: str, message: str) -> None:
        """Runs a command that shows an error with ``message`` in it."""
        with pytest.raises(pynvim.NvimError, match=re.escape(message)):
            self.nvim.command(line)

    def eval(self, expression: str) -> Any:
        return self.nvim.eval(expression)

    def type(self, keys: str) -> None:
        """Types ``keys`` and returns when Neovim has worked them off."""
        self.nvim.input(keys)
        wait_until(lambda: not self.nvim.api.get_mode()["blocking"], "Neovim to take keys")
        self.lua("vim.wait(20, function() return false end, 5)")

    def mode(self) -> str:
        return str(self.nvim.api.get_mode()["mode"])

    def window(self) -> int:
        return int(self.lua("return vim.api.nvim_get_current_win()"))

    def windows(self) -> list[int]:
        return list(self.lua("return vim.api.nvim_tabpage_list_wins(0)"))

    def marked(self, name: str) -> list[int]:
        """The windows of the tab page that the plugin opened for ``name``."""
        code = """
            local name = ...
            return vim.tbl_filter(function(win) return vim.w[win].acp == name end,
              vim.api.nvim_tabpage_list_wins(0))
        """
        return list(self.lua(code, name))

    def lines(self, win: int) -> list[str]:
        code = "return vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(...), 0, -1, false)"
        return list(self.lua(code, win))

    def name(self, win: int) -> str:
        code = "return vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(...))"
        return str(self.lua(code, win))

    def cursor(self, win: int = 0) -> list[int]:
        return list(self.lua("return vim.api.nvim_win_get_cursor(...)", win))

    def messages(self) -> str:
        return str(self.lua("return vim.api.nvim_exec2('messages', {output = true}).output"))

    def screen(self) -> str:
        """The text on the screen."""
        code = """
            vim.cmd.redraw()
            local rows = {}
            for row = 1, vim.o.lines do
              local cells = {}
              for column = 1, vim.o.columns do cells[column] = vim.fn.screenstring(row, column) end
              rows[row] = table.concat(cells)
            end
            return table.concat(rows, '\\n')
        """
        return str(self.lua(code))

    def events(self, *names: str) -> None:
        """Records these `User Acp…` events in `_G.seen`."""
        code = """
            _G.seen = {}
            for _, name in ipairs({...}) do
              local function record(args)
                table.insert(_G.seen, { name = name, data = args.data })
              end
              vim.api.nvim_create_autocmd('User', { pattern = 'Acp' .. name, callback = record })
            end
        """
        self.lua(code, *names)

    def seen(self, name: str) -> list[dict[str, Any]]:
        found = self.lua("return _G.seen")
        return [event["data"] for event in found if event["name"] == name]

    def close(self) -> None:
        """Quits Neovim, kills it where it does not."""
        if self.closed:
            return
        self.closed = True
        with contextlib.suppress(OSError, EOFError):
            self.nvim.command("qall!", async_=True)
        end = time.monotonic() + 5
        while running(self.pid) and time.monotonic() < end:
            time.sleep(0.01)
        with contextlib.suppress(OSError):
            os.kill(self.pid, signal.SIGKILL)
        self.nvim.close()


def running(pid: int) -> bool:
    """Whether the process is there and no zombie."""
    run = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return run.stdout.strip() not in ("", "Z") and not run.stdout.startswith("Z")


DONE = {
    **dict.fromkeys(("kept", "reverted", "conflicts", "problems", "undo"), ()),
    "text": "Done, as the sidecar says.",
    "partial": False,
}
"""What a keep, a revert or an undo answers."""


class FakeSidecar:
    """Speaks LSP on a socket, answers from a table, sends what a test tells it to."""

    def __init__(self) -> None:
        # A short path: a socket's has about a hundred characters.
        self.folder = tempfile.mkdtemp(prefix="acp-")
        self.path = f"{self.folder}/socket"
        self.received: list[dict[str, Any]] = []
        self.results: dict[str, Any] = {
            "acp.session.new": {
                "sessionId": "s1",
                "agentSessionId": "a1",
                "agent": "demo",
                "protocolVersion": 1,
                "modes": {
                    "currentModeId": "ask",
                    "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "go", "name": "Go"}],
                },
                "configOptions": [
                    {
                        "id": "model",
                        "name": "Model",
                        "type": "select",
                        "currentValue": "small",
                        "options": [
                            {"value": "small", "name": "Small"},
                            {"group": "g", "name": "G", "options": [{"value": "big", "name": "B"}]},
                        ],
                    },
                    {"id": "think", "name": "Think", "type": "boolean", "currentValue": False},
                ],
                "commands": [{"name": "read", "description": "read a file"}],
            },
            "acp.session.prompt": {"stopReason": "end_turn"},
            **dict.fromkeys(("acp.review.keep", "acp.review.revert", "acp.review.undo"), DONE),
            "acp.permission.pending": [],
            "acp.elicitation.pending": [],
        }
        self.held: set[str] = set()
        """Commands that are not answered."""
        self._answers: dict[int, queue.Queue[dict[str, Any]]] = {}
        self._ids = itertools.count(1)
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(self.path)
        self._listener.listen()
        self._connection: socket.socket | None = None
        self._lock = threading.Lock()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self._connection = connection
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        stream = connection.makefile("rb")
        while True:
            length = 0
            try:
                while (line := stream.readline()).strip():
                    if line.lower().startswith(b"content-length:"):
                        length = int(line.split(b":")[1])
            except OSError:
                return
            if not line:
                return
            body = stream.read(length)
            if len(body) < length:
                return
            with contextlib.suppress(OSError):  # the editor is gone
                self._receive(json.loads(body))

    def _receive(self, message: dict[str, Any]) -> None:
        method = message.get("method")
        if method is None:
            self._answers[message["id"]].put(message)
            return
        self.received.append(message)
        if "id" not in message:
            return
        if method == "initialize":
            sync = {"openClose": True, "change": 2, "save": {"includeText": True}}
            commands = {"commands": list(self.results)}
            capabilities = {"textDocumentSync": sync, "executeCommandProvider": commands}
            self._send({"id": message["id"], "result": {"capabilities": capabilities}})
        elif method == "workspace/executeCommand":
            command = message["params"]["command"]
            if command in self.held:
                return
            result = self.results.get(command, {})
            if isinstance(result, str):
                error = {"code": -32803, "message": result}
                self._send({"id": message["id"], "error": error})
            else:
                self._send({"id": message["id"], "result": result})
        else:
            self._send({"id": message["id"], "result": None})

    def _send(self, message: dict[str, Any]) -> None:
        assert self._connection is not None
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        with self._lock:
            self._connection.sendall(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def notify(self, method: str, params: Any) -> None:
        self._send({"method": method, "params": params})

    def begin(self, method: str, params: Any) -> int:
        """Sends a request; ``answer`` waits for what comes back."""
        request_id = next(self._ids)
        self._answers[request_id] = queue.Queue()
        self._send({"id": request_id, "method": method, "params": params})
        return request_id

    def answer(self, request_id: int) -> dict[str, Any]:
        return self._answers[request_id].get(timeout=BOUND)

    def answered(self, request_id: int) -> bool:
        return not self._answers[request_id].empty()

    def request(self, method: str, params: Any) -> Any:
        return self.answer(self.begin(method, params)).get("result")

    def methods(self, method: str) -> list[Any]:
        return [m.get("params") for m in list(self.received) if m.get("method") == method]

    def commands(self, command: str) -> list[Any]:
        """The arguments of every call of ``command``."""
        return [
            params["arguments"][0]
            for params in self.methods("workspace/executeCommand")
            if params["command"] == command
        ]

    def open_uris(self) -> set[str]:
        uris: set[str] = set()
        for message in list(self.received):
            document = (message.get("params") or {}).get("textDocument", {})
            if message.get("method") == "textDocument/didOpen":
                uris.add(document["uri"])
            elif message.get("method") == "textDocument/didClose":
                uris.discard(document["uri"])
        return uris

    def unread(self) -> int:
        """How much of what was sent the editor has not taken from the socket."""
        assert self._connection is not None
        answer = fcntl.ioctl(self._connection, termios.TIOCOUTQ, b"\0" * 4)
        return int.from_bytes(answer, sys.byteorder)

    def drop(self) -> None:
        """Ends the connection, as a server that dies does."""
        assert self._connection is not None
        self._connection.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._listener.close()
        shutil.rmtree(self.folder)
        if self._connection is not None:
            self._connection.close()
