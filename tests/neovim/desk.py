"""A real Neovim and the real sidecar at which a user and an agent, both held by a test, work."""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from acp_sidecar.workspace.uris import path_to_uri
from tests.neovim.agent import Agent
from tests.neovim.harness import Editor, wait_until

START = """
    local command, argument = ...
    _G.calls = _G.calls or {}
    local call = { done = false }
    table.insert(_G.calls, call)
    local function done(err, result) call.done, call.err, call.result = true, err, result end
    if not _G.plain then
      require('acp.client').execute(command, argument, done)
    else
      _G.plain:request('workspace/executeCommand', {
        command = command,
        arguments = { next(argument) and argument or vim.empty_dict() },
      }, function(err, result) done(err and err.message, result) end)
    end
    return #_G.calls
"""


class CommandFailed(Exception):
    """A command of the sidecar answered with an error."""


class Desk:
    """The user at Neovim, the agent, a folder of files."""

    def __init__(self, folder: Path, *, plugin: bool = True, **settings: Any) -> None:
        self.ws = (folder / "ws").resolve()
        self.ws.mkdir(parents=True)
        self.agent = Agent()
        self.nvim = Editor(folder)
        self.nvim.command(f"cd {self.ws}")
        self.nvim.events("Edit", "Changes", "Reviewed", "TurnEnded", "Error")
        self._calls = 0
        self._setup(plugin, settings)

    def _setup(self, plugin: bool, settings: dict[str, Any]) -> None:
        command = [sys.executable, "-m", "acp_sidecar", "serve"]
        agents = {"puppet": self.agent.setting}
        if plugin:
            options = {"cmd": command, "agents": agents, "default_agent": "puppet"}
            options["settings"] = settings or {"follow": {"enabled": False}}
            self.nvim.lua("require('acp').setup(...)", options)
            self.nvim.lua("require('acp.client').start()")
        else:
            self.nvim.lua(PLAIN, command, {"agents": agents, "defaultAgent": "puppet", **settings})
        self.session = self.execute("acp.session.new")["sessionId"]

    def restart(self) -> None:
        """Kill the sidecar; the plugin starts another one, which loads the session again."""
        self.nvim.events("Exit")
        children = Path(f"/proc/{self.nvim.pid}/task/{self.nvim.pid}/children").read_text()
        for pid in map(int, children.split()):
            if b"acp_sidecar" in Path(f"/proc/{pid}/cmdline").read_bytes():
                os.kill(pid, signal.SIGKILL)
        wait_until(lambda: self.nvim.seen("Exit"), "the end of the sidecar")
        agent_session = self.agent.puppet.session
        self.agent.puppet.answers["session/load"] = lambda params: {}
        self.execute("acp.session.load", agentSessionId=agent_session)

    # --- commands -------------------------------------------------------------------------

    def start(self, command: str, **argument: Any) -> int:
        return int(self.nvim.lua(START, command, argument))

    def finish(self, call: int) -> Any:
        code = "local call = _G.calls[...]; return call.done and call or nil"
        done = wait_until(lambda: self.nvim.lua(code, call), f"the end of command {call}")
        if done.get("err"):
            raise CommandFailed(done["err"])
        return done.get("result")

    def execute(self, command: str, **argument: Any) -> Any:
        return self.finish(self.start(command, **argument))

    @contextmanager
    def turn(self) -> Iterator[Agent]:
        """A turn of the agent's; done when the editor has heard of its end."""
        call = self.start("acp.session.prompt", text="go")
        prompt = self.agent.prompted()
        yield self.agent
        self.agent.say("done")
        self.agent.end_turn(prompt)
        self.finish(call)

    # --- files ----------------------------------------------------------------------------

    def file(self, name: str, data: bytes) -> Path:
        path = self.ws / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def open(self, path: Path) -> None:
        self.nvim.command(f"edit {path}")

    def buffer(self, path: Path) -> str | None:
        """What Neovim would write of the file's buffer; None where it has none."""
        code = """
            local buf = vim.fn.bufnr('^' .. vim.fn.fnameescape(...) .. '$')
            if buf < 0 or not vim.api.nvim_buf_is_loaded(buf) then return nil end
            local eol = vim.bo[buf].fileformat == 'dos' and '\\r\\n' or '\\n'
            local text = table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), eol)
            local last = vim.bo[buf].eol or (vim.bo[buf].fixeol and not vim.bo[buf].binary)
            return text .. (last and eol or '')
        """
        found = self.nvim.lua(code, str(path))
        return None if found is None else str(found)

    def lines(self, path: Path) -> list[str]:
        code = """
            local buf = vim.fn.bufnr('^' .. vim.fn.fnameescape(...) .. '$')
            return vim.api.nvim_buf_get_lines(buf, 0, -1, false)
        """
        return list(self.nvim.lua(code, str(path)))

    def modified(self, path: Path) -> bool:
        code = "return vim.bo[vim.fn.bufnr('^' .. vim.fn.fnameescape(...) .. '$')].modified"
        return bool(self.nvim.lua(code, str(path)))

    def uri(self, path: Path) -> str:
        return path_to_uri(str(path))

    # --- review ---------------------------------------------------------------------------

    def change(self, path: Path) -> dict[str, Any] | None:
        for entry in self.execute("acp.review.list"):
            if entry["uri"] == self.uri(path):
                return dict(entry)
        return None

    def hunks(self, path: Path) -> list[dict[str, Any]]:
        entry = self.change(path)
        return [] if entry is None else list(entry["hunks"])

    def keep(self, path: Path, hunk: dict[str, Any] | None = None) -> Any:
        return self._step("keep", path, hunk)

    def revert(self, path: Path, hunk: dict[str, Any] | None = None) -> Any:
        return self._step("revert", path, hunk)

    def undo(self) -> Any:
        return self.execute("acp.review.undo")

    def _step(self, what: str, path: Path, hunk: dict[str, Any] | None) -> Any:
        argument = {"uri": self.uri(path)}
        if hunk is not None:
            argument["hunkId"] = hunk["id"]
        return self.execute(f"acp.review.{what}", **argument)

    # --- what must never be ---------------------------------------------------------------

    def quiet(self) -> None:
        """Neovim waits for no key, and shows no error."""
        mode = self.nvim.nvim.api.get_mode()
        assert not mode["blocking"], mode
        if mode["mode"] in ("r", "rm", "r?"):
            raise AssertionError(f"Neovim asks:\n{self.nvim.screen()}")
        errors = re.findall(r"^.*\b[EW]\d+:.*$", self.nvim.messages(), re.MULTILINE)
        assert errors == []

    def close(self) -> None:
        self.nvim.close()
        self.agent.close()


PLAIN = """
    local command, options = ...
    local id = assert(vim.lsp.start({
      name = 'plain', cmd = command, root_dir = vim.fn.getcwd(), init_options = options,
      workspace_folders = { { uri = vim.uri_from_fname(vim.fn.getcwd()), name = 'ws' } },
    }, { attach = false }))
    _G.plain = vim.lsp.get_client_by_id(id)
    vim.wait(10000, function() return _G.plain.initialized end, 10)
    vim.api.nvim_create_autocmd({ 'BufReadPost', 'BufNewFile' }, {
      callback = function(event) vim.lsp.buf_attach_client(event.buf, id) end,
    })
"""


def replace_by_rename(path: Path, data: bytes) -> None:
    """Write a file as some agents do: a draft beside it, then in its place."""
    draft = path.with_name(f"{path.name}.tmp.{os.getpid()}.1a2b3c4d5e")
    draft.write_bytes(data)
    draft.replace(path)
