"""What is kept and shown of the output, and that no flood of it costs more than it may."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import pytest

from tests.agents.processes import gone
from tests.e2e.editor import BOUND, Editor, LspError, capabilities, editing
from tests.e2e.puppet import Puppet
from tests.e2e.terminals.commands import EXITED, GRANDCHILD, create, output, refused, wait, written
from tests.e2e.test_protocol_page import differences, example

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="shells and signals of POSIX")


# --- what is kept --------------------


async def test_C04_the_agent_s_limit_cuts_from_the_front(puppet: Puppet) -> None:
    line = "printf 'abc中def'"
    for limit, text in ((9, "abc中def"), (6, "中def"), (5, "def"), (3, "def"), (1, "f"), (0, "")):
        terminal_id = await create(puppet, line, outputByteLimit=limit)
        await wait(puppet, terminal_id)
        said = await output(puppet, terminal_id)
        assert (said["output"], said["truncated"]) == (text, limit < 9)
    for limit in (None, 10**12, 2**64 - 1, 10**30):
        terminal_id = await create(puppet, line, outputByteLimit=limit)
        await wait(puppet, terminal_id)
        assert await output(puppet, terminal_id) == {
            "output": "abc中def",
            "truncated": False,
            "exitStatus": EXITED,
        }
    for limit in (-1, 1.5, "10", True, []):
        assert (await refused(puppet, command=line, outputByteLimit=limit))["code"] == -32602


# --- C04, G05: floods --------------------


def memory_kib(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    assert found
    return int(found[1])


@pytest.mark.skipif(sys.platform != "linux", reason="memory is looked up in /proc")
async def test_C04_a_flood_costs_a_bounded_memory_and_rate(
    ws: Path, puppet: Puppet, settings: Any
) -> None:
    """Output is always taken, whatever the limit is, and others are answered meanwhile."""
    settings["terminals"] = {"maxOutputBytes": 1 << 20}
    async with editing() as editor:
        can = capabilities(terminals=True, transcript=True)
        await editor.initialize(ws, settings=settings, can=can)
        await editor.execute("acp.session.new")
        before = memory_kib(editor.process.pid)
        loop = asyncio.get_running_loop()
        began = loop.time()
        floods = [await create(puppet, "yes", outputByteLimit=limit) for limit in (10**12, 0, None)]
        content = [{"type": "terminal", "terminalId": one} for one in floods]
        puppet.tool("t1", content=content)
        said = await output(puppet, floods[0])
        methods = ("acp/terminal", "acp/transcript")
        while not said["truncated"] or any(len(editor.all(method)) < 2 for method in methods):
            await editor.state()
            said = await output(puppet, floods[0])
        assert len(said["output"]) <= 1 << 20
        assert (await output(puppet, floods[1]))["output"] == ""
        for one in floods:
            await puppet.call("terminal/release", terminalId=one)
        seconds = loop.time() - began
        # Three of a MiB each, and what goes through the pipes.
        assert memory_kib(editor.process.pid) - before < 60_000
        for method, most in (("acp/terminal", 3 * 10), ("acp/transcript", 30)):
            sent = editor.all(method)
            assert len(sent) <= most * (seconds + 1), method
        last = {params["terminalId"]: params for params in editor.all("acp/terminal")}
        await editor.until(
            lambda: all(
                {p["terminalId"]: p for p in editor.all("acp/terminal")}[one]["exitStatus"]
                for one in floods
            )
        )
        assert len(last[floods[0]]["output"]) <= 65536


async def test_G05_an_editor_that_does_not_read_holds_up_no_command(
    ws: Path, puppet: Puppet, settings: Any
) -> None:
    async with editing() as editor:
        can = capabilities(terminals=True, transcript=True)
        await editor.initialize(ws, settings=settings, can=can)
        await editor.execute("acp.session.new")
        editor.stop_reading()
        terminal_id = await create(puppet, "seq 1 2000000; exit 5")
        assert await wait(puppet, terminal_id) == {"exitCode": 5, "signal": None}
        said = await output(puppet, terminal_id)
        assert said["truncated"] and said["output"].endswith("\n2000000\n")
        editor.read_again()
        shown = await editor.until(
            lambda: [p for p in editor.all("acp/terminal") if p["exitStatus"] is not None]
        )
        assert shown[-1]["output"].endswith("\n2000000\n")
        assert len(editor.all("acp/terminal")) < 100


# --- what is shown --------------------


def blocks(editor: Editor, call: str) -> list[dict[str, Any]]:
    """Every state in which a tool call was shown."""
    return [
        block
        for params in editor.all("acp/transcript")
        for block in params["blocks"]
        if block["id"] == f"toolCall:{call}"
    ]


@pytest.fixture
async def rich(ws: Path, puppet: Puppet, settings: Any) -> Any:
    async with editing() as editor:
        await editor.initialize(
            ws, settings=settings, can=capabilities(terminals=True, transcript=True)
        )
        await editor.execute("acp.session.new")
        yield editor


async def test_output_is_shown_as_it_comes_in_its_tool_call(
    rich: Editor, puppet: Puppet, ws: Path
) -> None:
    fifo = ws / "fifo"
    os.mkfifo(fifo)
    line = "printf '\\033[1mone\\033[0m\\n'; cat fifo; exit 3"
    terminal_id = await create(puppet, line)
    puppet.tool("t1", content=[{"type": "terminal", "terminalId": terminal_id}])

    def seen() -> dict[str, Any]:
        shown = blocks(rich, "t1")
        return (shown[-1]["content"][0].get("terminal") or {}) if shown else {}

    await rich.until(lambda: seen().get("output") == "one\n")
    assert seen() == {
        "terminalId": terminal_id,
        "command": line,
        "cwd": str(ws),
        "output": "one\n",
        "truncated": False,
        "exitStatus": None,
    }
    fifo.write_text("two\n")
    await rich.until(lambda: seen()["exitStatus"] == {"exitCode": 3, "signal": None})
    assert seen()["output"] == "one\ntwo\n"
    session_id = (await rich.state())["sessionId"]
    await rich.until(lambda: rich.all("acp/terminal")[-1]["exitStatus"] is not None)
    assert rich.all("acp/terminal")[-1] == {"sessionId": session_id, **seen()}
    # The agent has what was written, the person what is to be seen of it.
    assert (await output(puppet, terminal_id))["output"] == "\x1b[1mone\x1b[0m\ntwo\n"
    told = await rich.execute("acp.terminal.output", terminalId=terminal_id)
    assert told == {"sessionId": session_id, **seen()}
    assert differences(told, example("Commands of the agent's")) == []
    assert (await rich.state())["terminals"] == [seen()]


@pytest.mark.parametrize("early", [True, False], ids=["before it is shown", "just after"])
async def test_C08_output_stays_when_the_terminal_is_released(
    rich: Editor, puppet: Puppet, early: bool
) -> None:
    terminal_id = await create(puppet, "echo kept")
    await wait(puppet, terminal_id)
    content = [{"type": "terminal", "terminalId": terminal_id}]
    if not early:
        puppet.tool("t1", content=content)
    assert (await puppet.call("terminal/release", terminalId=terminal_id))["result"] == {}
    if early:
        puppet.tool("t1", content=content)
    puppet.tool("t1", "tool_call_update", status="completed")
    await rich.until(lambda: blocks(rich, "t1")[-1:] and blocks(rich, "t1")[-1]["status"][0] == "c")
    shown = blocks(rich, "t1")[-1]["content"][0]["terminal"]
    assert (shown["output"], shown["exitStatus"]) == ("kept\n", EXITED)
    assert (await rich.execute("acp.terminal.output", terminalId=terminal_id))["output"] == "kept\n"
    snapshot = await rich.call("acp/transcript/snapshot", {})
    (call,) = [b for b in snapshot["sessions"][0]["blocks"] if b["kind"] == "toolCall"]
    assert call["content"][0]["terminal"] == shown
    assert (await refused(puppet, "terminal/output", terminalId=terminal_id))["code"] == -32002


async def test_C08_output_stays_when_the_agent_is_gone(editor: Editor, puppet: Puppet) -> None:
    terminal_id = await create(puppet, "echo kept; sleep 300")
    await written(puppet, terminal_id, "(kept)")
    puppet.hang_up()

    async def ended() -> Any:
        return (await editor.state())["terminals"][0]["exitStatus"]

    assert await editor.eventually(ended) == {"exitCode": None, "signal": "SIGTERM"}
    assert (await editor.state())["terminals"][0]["output"] == "kept\n"


async def test_the_user_ends_a_command(editor: Editor, puppet: Puppet) -> None:
    terminal_id = await create(puppet, GRANDCHILD)
    pid = int(await written(puppet, terminal_id))
    waiting = puppet.request(
        "terminal/wait_for_exit", {"sessionId": puppet.session, "terminalId": terminal_id}
    )
    assert await editor.execute("acp.terminal.kill", terminalId=terminal_id) == {}
    assert gone(pid)
    assert (await puppet.result(waiting))["result"] == {"exitCode": None, "signal": "SIGTERM"}
    with pytest.raises(LspError, match="it is over"):
        await editor.execute("acp.terminal.kill", terminalId=terminal_id)
    for command in ("acp.terminal.kill", "acp.terminal.output"):
        with pytest.raises(LspError, match="no terminal 'nope'"):
            await editor.execute(command, terminalId="nope")


async def test_what_an_agent_runs_by_itself_is_shown_alike(rich: Editor, puppet: Puppet) -> None:
    content = [{"type": "terminal", "terminalId": "t1"}]
    about = {"terminal_info": {"terminal_id": "t1", "cwd": "/ws"}}
    puppet.tool("t1", content=content, _meta=about)
    for data in ("one\n", "\x1b[32mtwo\x1b[0m\n"):
        about = {"terminal_output": {"terminal_id": "t1", "data": data}}
        puppet.tool("t1", "tool_call_update", _meta=about)
    about = {"terminal_exit": {"terminal_id": "t1", "exit_code": 1, "signal": None}}
    puppet.tool("t1", "tool_call_update", status="failed", _meta=about)
    await rich.until(lambda: [b for b in blocks(rich, "t1") if b["status"] == "failed"])
    shown = blocks(rich, "t1")[-1]["content"][0]["terminal"]
    assert (shown["output"], shown["cwd"]) == ("one\ntwo\n", "/ws")
    assert shown["exitStatus"] == {"exitCode": 1, "signal": None}
    await rich.until(lambda: rich.all("acp/terminal")[-1:] == [{**shown, "sessionId": ANY}])
    with pytest.raises(LspError, match="the agent runs it"):
        await rich.execute("acp.terminal.kill", terminalId="t1")


async def test_C09_broken_characters_never_break_an_answer(puppet: Puppet, ws: Path) -> None:
    fifo = ws / "fifo"
    os.mkfifo(fifo)
    terminal_id = await create(puppet, "printf '\\344\\270'; cat fifo; printf '\\255|\\377|\\303'")
    async with asyncio.timeout(BOUND):
        while (await output(puppet, terminal_id))["output"] == "never":
            await asyncio.sleep(0.01)
    assert (await output(puppet, terminal_id))["output"] == ""
    fifo.write_text("")
    await wait(puppet, terminal_id)
    assert (await output(puppet, terminal_id))["output"] == "中|\ufffd|\ufffd"
