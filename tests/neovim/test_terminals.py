"""The agent's commands in a real Neovim with the real sidecar: seen live, ended by a key."""

from __future__ import annotations

import sys

import pytest

from tests.agents.processes import gone
from tests.neovim.desk import Desk
from tests.neovim.harness import wait_until

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a shell of POSIX")


def test_a_command_is_watched_and_ended(desk: Desk) -> None:
    agent, nvim = desk.agent, desk.nvim
    nvim.lua("require('acp.transcript').show(...)", desk.session)
    (transcript,) = nvim.marked("transcript")
    with desk.turn():
        line = "printf '\\033[32mgreen\\033[0m 1%%\\r100%%\\n'; sleep 300 & echo $!; wait"
        created = agent.call("terminal/create", command=line)
        terminal_id = created["result"]["terminalId"]
        agent.tool("run", content=[{"type": "terminal", "terminalId": terminal_id}])
        wait_until(lambda: "  100%n 1%" in nvim.lines(transcript), "what it writes, as it looks")
        assert "  running" in nvim.lines(transcript)

        nvim.command("Acp terminal")
        (win,) = nvim.marked("terminal")
        wait_until(lambda: len(nvim.lines(win)) == 2)
        assert nvim.lines(win)[0] == "100%n 1%"
        pid = int(nvim.lines(win)[1])
        assert not gone(pid)
        nvim.type("<C-c>")
        wait_until(lambda: gone(pid), "the end of all it has started")
        status = agent.call("terminal/wait_for_exit", terminalId=terminal_id)["result"]
        assert status == {"exitCode": None, "signal": "SIGTERM"}
        agent.call("terminal/release", terminalId=terminal_id)
        wait_until(lambda: "  ended by SIGTERM" in nvim.lines(transcript))
    wait_until(lambda: "(ended by SIGTERM)" in nvim.screen())
    assert nvim.lines(win)[0] == "100%n 1%", "it stays when the agent has done with it"
