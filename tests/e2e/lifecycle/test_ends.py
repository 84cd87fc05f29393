"""Nothing is left, and nothing is half written, however it ends."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.editor import BOUND, Editor, LspError, capabilities, editing
from tests.e2e.family import children, command_of, descendants, itself, survivors
from tests.e2e.lifecycle.runs import CANCELLED, Run, hold_back
from tests.e2e.lifecycle.ways_to_end import ENDS, back_to_back, kill_editor, sends
from tests.e2e.manners import Held, LikeVsCode
from tests.e2e.puppet import RELAY, Puppet

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")

DIALOG, EDIT = "window/showMessageRequest", "workspace/applyEdit"


@pytest.mark.parametrize(("end", "code"), ENDS, ids=[end.__name__ for end, _ in ENDS])
async def test_X05_X08_G09_nothing_is_left_however_it_ends(
    run: Run, puppet: Puppet, ws: Path, end: Callable[[Run], Awaitable[None]], code: int
) -> None:
    """In the middle of everything: a turn, a command, a dialog, an edit the editor holds."""
    editor, file, other = run.editor, ws / "a.py", ws / "b.py"
    for path in (file, other):
        path.write_text("one\ntwo\n")
    await editor.execute("acp.session.new")
    uri = editor.open(file)
    editor.type(uri, 0, 3, "!")
    held = editor.answers[EDIT] = Held(LikeVsCode(editor))
    editor.start("acp.session.prompt", text="go")
    await puppet.prompted()
    puppet.tool("t1", status="in_progress")
    request = puppet.ask({"title": "rm -rf build"})
    await editor.dialog()
    puppet.request("fs/write_text_file", _write(file, "one\nTWO\n"))
    await held.asked()
    assert (await puppet.write(other, "new\n")).get("result") == {}
    assert len(run.look()) >= 4  # a watchdog, a shell, the agent, its sibling
    unread = await hold_back(run.sidecar)
    await end(run)
    assert await editor.ended() == code
    assert await survivors(run.family) == set()
    if code != -9:
        told = [message for message in unread() if message.get("id") == request]
        assert [message["result"] for message in told] == [CANCELLED]
    assert file.read_text() == "one\ntwo\n"
    assert other.read_text() == "new\n"
    assert sorted(os.listdir(ws)) == ["a.py", "b.py"]
    assert len(editor.stderr) < 2000, editor.stderr.decode()
    assert b"Traceback" not in editor.stderr


def _write(path: Path, content: str) -> dict[str, Any]:
    return {"sessionId": "S1", "path": str(path), "content": content}


@pytest.mark.parametrize(
    "end", [kill_editor, back_to_back, sends(signal.SIGTERM), sends(signal.SIGKILL)]
)
async def test_X05_an_agent_that_has_not_greeted_yet_ends_too(
    run: Run, puppet: Puppet, end: Callable[[Run], Awaitable[None]]
) -> None:
    del puppet.answers["initialize"]
    _, opening = run.editor.start("acp.session.new")
    async with asyncio.timeout(20):
        await puppet.connected.wait()
    assert len(run.look()) >= 4
    await end(run)
    await run.editor.ended()
    assert await survivors(run.family) == set()
    with pytest.raises((ConnectionError, LspError)):
        await opening


@pytest.mark.parametrize("delay", [0.0, 0.01, 0.03])
async def test_X05_the_sidecar_is_killed_while_it_starts_an_agent(
    run: Run, puppet: Puppet, delay: float
) -> None:
    run.editor.start("acp.session.new")
    log = "window/logMessage"
    await run.editor.until(lambda: any("Starting" in one["message"] for one in run.editor.all(log)))
    run.look()
    await asyncio.sleep(delay)
    run.look()
    run.editor.process.kill()
    await run.editor.ended()
    assert await survivors(run.family) == set()
    # One that came to be after the last look has not got far either.
    if puppet._writer is not None:
        async with asyncio.timeout(BOUND):
            while puppet._writer is not None and not puppet._writer.is_closing():
                puppet._writer.write(b" ")
                await asyncio.sleep(0.05)


async def test_the_agent_is_killed_at_any_point(run: Run, puppet: Puppet, ws: Path) -> None:
    editor, file = run.editor, ws / "a.py"
    file.write_text("one\ntwo\n")
    # Before it has answered initialize.
    greet = puppet.answers.pop("initialize")
    _, opening = editor.start("acp.session.new")
    async with asyncio.timeout(20):
        await puppet.connected.wait()
    family = descendants(run.sidecar)
    os.kill(_agent(run), signal.SIGKILL)
    with pytest.raises(LspError, match="SIGKILL"):
        await opening
    assert await survivors(family) == set()
    puppet.answers["initialize"] = greet
    # In a turn, with a dialog open, in the middle of a write.
    await editor.execute("acp.session.new")
    uri = editor.open(file)
    editor.type(uri, 0, 3, "!")
    held = editor.answers[EDIT] = Held(LikeVsCode(editor))
    _, turn = editor.start("acp.session.prompt", text="go")
    await puppet.prompted()
    puppet.tool("t1", status="in_progress")
    puppet.ask({"title": "one"})
    await editor.dialog()
    puppet.request("fs/write_text_file", _write(file, "one\nTWO\n"))
    await held.asked()
    family = descendants(run.sidecar)
    os.kill(_agent(run), signal.SIGKILL)
    # What the agent's grandchild holds open is not waited for: that would be ten minutes.
    with pytest.raises(LspError, match="SIGKILL"):
        await turn
    assert await survivors(family) == set()
    state = await editor.state()
    assert state["status"] == "dead"
    assert state["permissions"][0]["state"] == "cancelled"
    dialog = editor.requests(DIALOG)[0]["id"]
    await editor.until(lambda: {"id": dialog} in editor.all("$/cancelRequest"))
    held.go.set()
    assert file.read_text() == "one\ntwo\n"
    assert "SIGKILL" in (await editor.nth("window/showMessage"))["message"]
    assert os.listdir(ws) == ["a.py"]
    # The sidecar goes on, and so does the user.
    await editor.execute("acp.session.new")
    assert puppet.connections == 3
    run.look()
    assert await editor.close() == 0
    assert await survivors(run.family) == set()


def _agent(run: Run) -> int:
    """The process the sidecar has started for the agent: the wrapper."""
    (agent,) = [pid for pid in children(run.sidecar) if Path(command_of(pid)[0]).name == "sh"]
    return agent


@pytest.mark.parametrize("victim", ["sidecar", "agent", "editor"])
async def test_a_file_is_the_old_or_the_new_one(
    run: Run, puppet: Puppet, ws: Path, victim: str
) -> None:
    """Killed in the middle of large writes."""
    file = ws / "big.txt"
    contents = [f"{letter * 99}\n" * 40_000 for letter in "ab"]
    file.write_text(contents[0])
    await run.editor.execute("acp.session.new")
    run.look()
    first = puppet.request("fs/write_text_file", _write(file, contents[1]))
    for number in range(6):
        puppet.request("fs/write_text_file", _write(file, contents[number % 2]))
    await puppet.result(first)
    await asyncio.sleep(0.02)
    if victim == "sidecar":
        run.editor.process.kill()
    elif victim == "editor":
        await kill_editor(run)
    else:
        os.kill(_agent(run), signal.SIGKILL)
    if victim == "agent":
        assert await survivors(run.family) == set()
        assert await run.editor.close() == 0
    else:
        await run.editor.ended()
    assert await survivors(run.family) == set()
    assert file.read_text() in contents
    assert os.listdir(ws) == ["big.txt"]


async def test_X05_X08_every_agent_ends(run: Run, puppet: Puppet, tmp_path: Path, ws: Path) -> None:
    """Several sessions and folders, each with a process of its own."""
    for name in ("one", "two", "three"):
        (ws / name).mkdir()
        await run.editor.execute("acp.session.new", cwd=str(ws / name))
    assert puppet.connections == 3
    assert len(run.look()) >= 10
    assert await run.editor.close() == 0
    assert await survivors(run.family) == set()


async def test_a_closed_session_ends_its_agent(run: Run, puppet: Puppet) -> None:
    before = descendants(run.sidecar)
    first = await run.editor.execute("acp.session.new")
    second = await run.editor.execute("acp.session.new")
    family = descendants(run.sidecar)
    assert puppet.connections == 1
    await run.editor.execute("acp.session.close", sessionId=first["sessionId"])
    assert family <= descendants(run.sidecar)
    await run.editor.execute("acp.session.close", sessionId=second["sessionId"])
    assert await survivors(family - before) == set()
    # Also by a restart, which gives the next session a new process.
    await run.editor.execute("acp.session.new")
    family = descendants(run.sidecar)
    assert await run.editor.execute("acp.agent.restart", agent="puppet") == {"ended": 1}
    assert await survivors(family - before) == set()
    await run.editor.execute("acp.session.new")
    assert puppet.connections == 3


async def test_X06_an_agent_s_exit_counts_not_its_pipes(
    idle_editor: Editor, puppet: Puppet, ws: Path
) -> None:
    relay = [sys.executable, str(RELAY), str(puppet.socket)]
    script = '(trap "" TERM HUP; exec sleep 600) & exec "$@"'
    agent = {"command": "sh", "args": ["-c", script, "sh", *relay]}
    settings = {"agents": {"puppet": agent}, "defaultAgent": "puppet"}
    await idle_editor.initialize(ws, settings=settings)
    await idle_editor.execute("acp.session.new")
    family = descendants(idle_editor.process.pid)
    _, turn = idle_editor.start("acp.session.prompt", text="go")
    await puppet.prompted()
    puppet.hang_up()
    # Its pipes are held for ten minutes.
    with pytest.raises(LspError, match="status 0"):
        await turn
    assert await survivors(family) == set()


async def test_X09_the_sidecar_stays_until_exit(run: Run, puppet: Puppet) -> None:
    await run.editor.execute("acp.session.new")
    run.look()
    sidecar = run.sidecar

    async def given_up() -> bool:
        return b"the clean-up took too long" in run.editor.stderr

    assert await run.editor.call("shutdown") is None
    # The agents are gone when the answer comes, or were given up; the sidecar is not.
    if await survivors(run.family, 0):
        await run.editor.eventually(given_up)
    assert await survivors(run.family) == set()
    assert run.editor.process.returncode is None
    assert os.path.exists(f"/proc/{sidecar}")
    with pytest.raises(LspError) as caught:
        await run.editor.execute("acp.session.new")
    assert caught.value.code == -32600
    run.editor.notify("exit")
    assert await run.editor.ended() == 0


async def test_G02_requests_that_wait_do_not_hold_up_the_end(run: Run, puppet: Puppet) -> None:
    del puppet.answers["session/new"]
    waiting = [run.editor.start("acp.session.new")[1] for _ in range(5)]
    await puppet.incoming("session/new")
    run.look()
    assert await run.editor.call("shutdown") is None
    run.editor.notify("exit")
    assert await run.editor.ended() == 0
    for request in waiting:
        with pytest.raises((LspError, ConnectionError)):
            await request
    assert len(run.editor.stderr) < 2000, run.editor.stderr.decode()
    assert await survivors(run.family) == set()


FLOOD = """
import json, os, signal, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for result in ({"protocolVersion": 1}, {"sessionId": "S1"}):
    request = json.loads(sys.stdin.readline())
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
content = {"type": "text", "text": "x" * 1000}
update = {"sessionUpdate": "agent_message_chunk", "content": content}
params = {"sessionId": "S1", "update": update}
line = json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": params}).encode()
ask = {"jsonrpc": "2.0", "id": 1, "method": "fs/read_text_file"}
ask["params"] = {"sessionId": "S1", "path": sys.argv[1]}
os.write(1, json.dumps(ask).encode() + b"\\n")
while True:
    os.write(1, line + b"\\n")
"""


@pytest.mark.parametrize("reads", [True, False])
async def test_X08_an_agent_that_floods_us_and_reads_nothing(
    idle_editor: Editor, ws: Path, reads: bool
) -> None:
    (ws / "big.txt").write_text("x" * 5_000_000)
    flood = {"command": sys.executable, "args": ["-c", FLOOD, str(ws / "big.txt")]}
    settings = {"agents": {"flood": flood}, "defaultAgent": "flood"}
    can = capabilities(transcript=True)
    await idle_editor.initialize(ws, settings=settings, can=can)
    await idle_editor.execute("acp.session.new")
    if not reads:
        idle_editor.stop_reading()

    async def unread() -> bool:
        return idle_editor.unread_bytes() > 1 << 15

    if reads:
        # The user is served all the same.
        for number in range(1, 6):
            await idle_editor.nth("acp/transcript", number)
            assert await idle_editor.execute("acp.session.queue") == []
    else:
        await idle_editor.eventually(unread)
    sidecar = itself(idle_editor.process.pid)
    family = descendants(idle_editor.process.pid)
    idle_editor.begin("shutdown")
    idle_editor.notify("exit")
    assert await survivors([sidecar]) == set()
    assert await survivors(family) == set()
    if not reads:
        idle_editor.read_again()
    assert await idle_editor.ended() == 0, idle_editor.stderr.decode()


async def test_an_editor_that_goes_before_it_has_begun(ws: Path) -> None:
    async with editing() as editor:
        assert editor.process.stdin is not None
        editor.process.stdin.close()
        assert await editor.ended() == 1
        assert editor.stderr == b""
    async with editing("--stdio") as editor:
        editor.notify("exit")
        assert await editor.ended() == 1
