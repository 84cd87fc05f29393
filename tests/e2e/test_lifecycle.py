"""Beginning and end: what is started and when, and that nothing is left, however it ends."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.editor import NO_ANSWER, SIDECAR, Editor, LspError, capabilities, editing
from tests.e2e.family import (
    STUBBORN,
    Process,
    children,
    command_of,
    descendants,
    environment_of,
    itself,
    survivors,
)
from tests.e2e.manners import Held, LikeVsCode
from tests.e2e.puppet import RELAY, Puppet

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")

DIALOG, EDIT = "window/showMessageRequest", "workspace/applyEdit"
PROMPT_END = 1.0
"""Seconds: half a second for the end itself, the rest for a busy machine."""


class Stubborn(Puppet):
    """An agent behind a wrapper that leaves a grandchild, and that outlives its input."""

    @property
    def setting(self) -> dict[str, Any]:
        relay = [sys.executable, str(RELAY), str(self.socket), "--keep-alive"]
        return {"command": "sh", "args": ["-c", STUBBORN, "sh", *relay]}


@pytest.fixture
async def puppet(tmp_path: Path) -> AsyncIterator[Puppet]:
    async with Stubborn(tmp_path) as agent:
        yield agent


@pytest.fixture(autouse=True)
def _no_litter(ws: Path) -> Any:
    yield
    assert [path for path in ws.rglob("*") if "acp-sidecar" in path.name] == []


class Run:
    """An editor's process, its sidecar and an agent with all it has started."""

    def __init__(self, editor: Editor, process: asyncio.subprocess.Process) -> None:
        self.editor = editor
        self.process = process
        self.family: set[Process] = set()

    @property
    def sidecar(self) -> int:
        return self.editor.process.pid

    def look(self) -> set[Process]:
        """Remember who is there now."""
        self.family |= descendants(self.sidecar)
        return self.family

    async def ended(self) -> tuple[int, float]:
        """The sidecar's exit code, and how long that took."""
        began = time.monotonic()
        return await self.editor.ended(), time.monotonic() - began


@pytest.fixture
async def run(idle_editor: Editor, ws: Path, settings: dict[str, Any]) -> AsyncIterator[Run]:
    """Initialised, with an editor process that can be killed; its pipes stay open then."""
    process = await asyncio.create_subprocess_exec("sleep", "600")
    try:
        await idle_editor.initialize(ws, settings=settings, processId=process.pid)
        yield Run(idle_editor, process)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


# --- ways to end ----------------------------------------------------------------------------


async def kill_editor(run: Run) -> None:
    run.process.kill()
    await run.process.wait()


async def close_input(run: Run) -> None:
    assert run.editor.process.stdin is not None
    run.editor.process.stdin.close()


async def shut_down(run: Run) -> None:
    await run.editor.call("shutdown")
    run.editor.notify("exit")


async def back_to_back(run: Run) -> None:
    """What Neovim does: nothing is waited for."""
    run.editor.begin("shutdown")
    run.editor.notify("exit")
    await close_input(run)


async def exit_only(run: Run) -> None:
    run.editor.notify("exit")


async def shut_down_and_terminate(run: Run) -> None:
    """What an impatient editor does: SIGTERM 200 ms after shutdown, without exit."""
    run.editor.begin("shutdown")
    await asyncio.sleep(0.2)
    run.editor.process.terminate()


def sends(number: signal.Signals) -> Callable[[Run], Awaitable[None]]:
    async def send(run: Run) -> None:
        run.editor.process.send_signal(number)

    send.__name__ = number.name
    return send


ENDS: list[tuple[Callable[[Run], Awaitable[None]], int]] = [
    (kill_editor, 1),
    (close_input, 1),
    (shut_down, 0),
    (back_to_back, 0),
    (exit_only, 1),
    (shut_down_and_terminate, 0),
    (sends(signal.SIGTERM), 0),
    (sends(signal.SIGINT), 130),
    (sends(signal.SIGKILL), -9),
]


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
    await end(run)
    exit_code, seconds = await run.ended()
    assert exit_code == code
    if code == -9:
        assert await survivors(run.family, 3) == set()
    else:
        assert seconds < PROMPT_END
        assert await survivors(run.family, 0.3) == set()
        assert await puppet.outcome(request) == "cancelled"
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
    code, seconds = await run.ended()
    assert seconds < PROMPT_END
    assert await survivors(run.family, 3 if code == -9 else 0.3) == set()
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
    await run.ended()
    assert await survivors(run.family, 3) == set()
    # One that came to be after the last look has not got far either.
    if puppet._writer is not None:
        async with asyncio.timeout(5):
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
    assert await survivors(family, 3) == set()
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
    began = time.monotonic()
    os.kill(_agent(run), signal.SIGKILL)
    with pytest.raises(LspError, match="SIGKILL"):
        await turn
    # What the agent's grandchild holds open is not waited for.
    assert time.monotonic() - began < 2
    assert await survivors(family, 3) == set()
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
    assert await survivors(run.family, 0.3) == set()


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
        # Two seconds are for what it has said and for what does not want to end; the rest is
        # for a busy machine.
        assert await survivors(run.family, 8) == set()
        assert await run.editor.close() == 0
    else:
        _, seconds = await run.ended()
        assert seconds < PROMPT_END
    assert await survivors(run.family, 3) == set()
    assert file.read_text() in contents
    assert os.listdir(ws) == ["big.txt"]


async def test_X05_X08_every_agent_ends(run: Run, puppet: Puppet, tmp_path: Path, ws: Path) -> None:
    """Several sessions and folders, each with a process of its own."""
    for name in ("one", "two", "three"):
        (ws / name).mkdir()
        await run.editor.execute("acp.session.new", cwd=str(ws / name))
    assert puppet.connections == 3
    assert len(run.look()) >= 10
    began = time.monotonic()
    assert await run.editor.close() == 0
    assert time.monotonic() - began < PROMPT_END
    assert await survivors(run.family, 0.3) == set()


async def test_a_closed_session_ends_its_agent(run: Run, puppet: Puppet) -> None:
    before = descendants(run.sidecar)
    first = await run.editor.execute("acp.session.new")
    second = await run.editor.execute("acp.session.new")
    family = descendants(run.sidecar)
    assert puppet.connections == 1
    await run.editor.execute("acp.session.close", sessionId=first["sessionId"])
    assert family <= descendants(run.sidecar)
    await run.editor.execute("acp.session.close", sessionId=second["sessionId"])
    assert await survivors(family - before, 5) == set()
    # Also by a restart, which gives the next session a new process.
    await run.editor.execute("acp.session.new")
    family = descendants(run.sidecar)
    assert await run.editor.execute("acp.agent.restart", agent="puppet") == {"ended": 1}
    assert await survivors(family - before, 5) == set()
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
    began = time.monotonic()
    puppet.hang_up()
    with pytest.raises(LspError, match="status 0"):
        await turn
    assert time.monotonic() - began < 1.5
    assert await survivors(family, 3) == set()


async def test_X09_the_sidecar_stays_until_exit(run: Run, puppet: Puppet) -> None:
    await run.editor.execute("acp.session.new")
    run.look()
    sidecar = run.sidecar
    assert await run.editor.call("shutdown") is None
    # The agents are gone when the answer comes, the sidecar is not.
    assert await survivors(run.family, 0) == set()
    await asyncio.sleep(0.3)
    assert run.editor.process.returncode is None
    assert os.path.exists(f"/proc/{sidecar}")
    with pytest.raises(LspError) as caught:
        await run.editor.execute("acp.session.new")
    assert caught.value.code == -32600
    run.editor.notify("exit")
    assert (await run.ended())[0] == 0


async def test_G02_requests_that_wait_do_not_hold_up_the_end(run: Run, puppet: Puppet) -> None:
    del puppet.answers["session/new"]
    waiting = [run.editor.start("acp.session.new")[1] for _ in range(5)]
    await puppet.incoming("session/new")
    run.look()
    began = time.monotonic()
    assert await run.editor.call("shutdown") is None
    run.editor.notify("exit")
    assert (await run.ended())[0] == 0
    assert time.monotonic() - began < PROMPT_END
    for request in waiting:
        with pytest.raises((LspError, ConnectionError)):
            await request
    assert len(run.editor.stderr) < 2000, run.editor.stderr.decode()
    assert await survivors(run.family, 0.3) == set()


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
    # The user is served all the same.
    for _ in range(5):
        await asyncio.sleep(0.1)
        if reads:
            assert await idle_editor.execute("acp.session.queue") == []
    sidecar = itself(idle_editor.process.pid)
    family = descendants(idle_editor.process.pid)
    idle_editor.begin("shutdown")
    idle_editor.notify("exit")
    assert await survivors([sidecar], PROMPT_END) == set()
    assert await survivors(family, 0.3) == set()
    if not reads:
        idle_editor.read_again()
    assert await idle_editor.ended() == 0


async def test_an_editor_that_goes_before_it_has_begun(ws: Path) -> None:
    async with editing() as editor:
        assert editor.process.stdin is not None
        editor.process.stdin.close()
        assert await editor.ended() == 1
        assert editor.stderr == b""
    async with editing("--stdio") as editor:
        editor.notify("exit")
        assert await editor.ended() == 1


# --- while it runs -------------------------------------------------------------------------------


async def test_G05_an_editor_that_does_not_read_stops_no_agent(
    idle_editor: Editor, puppet: Puppet, ws: Path, settings: dict[str, Any]
) -> None:
    editor, file = idle_editor, ws / "a.py"
    file.write_text("one\n")
    can = capabilities(transcript=True, changes=True)
    await editor.initialize(ws, settings=settings, can=can)
    session = await editor.execute("acp.session.new")
    _, turn = editor.start("acp.session.prompt", text="go")
    prompt = await puppet.prompted()
    editor.stop_reading()
    chunk = "x" * 1000
    for number in range(10_000):
        puppet.say(chunk)
        if number % 100 == 0:
            puppet.tool(f"t{number}", status="completed", locations=[{"path": str(file)}])
    # The agent's pipe is drained, and its requests are answered.
    began = time.monotonic()
    assert puppet._writer is not None
    async with asyncio.timeout(15):
        await puppet._writer.drain()
    assert (await puppet.read(file))["result"]["content"] == "one\n"
    assert (await puppet.write(file, "two\n"))["result"] == {}
    assert time.monotonic() - began < 15
    _, state = editor.start("acp.session.state")
    puppet.end_turn(prompt)
    assert not turn.done()
    editor.read_again()
    assert await turn == {"stopReason": "end_turn"}
    said = [message for message in (await state)["messages"] if message["role"] == "agent"]
    assert sum(len(message["content"][0]["text"]) for message in said) == 10_000_000
    # What was dropped on the way was out of date; the last word of each block is there.

    def last() -> Any:
        blocks = {
            block["id"]: block
            for params in editor.all("acp/transcript")
            for block in params["blocks"]
        }
        return blocks if blocks.get("status", {}).get("status") == "idle" else None

    blocks = await editor.until(last)
    assert sum(block["kind"] == "toolCall" for block in blocks.values()) == 100
    snapshot = await editor.call("acp/transcript/snapshot", {"sessionId": session["sessionId"]})
    assert {block["id"] for block in snapshot["blocks"]} == set(blocks)
    assert await editor.close() == 0


async def test_X12_stray_output_does_not_reach_the_editor(
    puppet: Puppet, ws: Path, tmp_path: Path, settings: dict[str, Any]
) -> None:
    go, site = tmp_path / "go", tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(
        "import os, subprocess, sys, threading, time\n"
        "def stray():\n"
        f"    while not os.path.exists({str(go)!r}):\n"
        "        time.sleep(0.01)\n"
        "    for number in range(20):\n"
        "        print('printed', number, flush=True)\n"
        "        os.write(1, b'written\\n')\n"
        "    subprocess.run(['echo', 'by a child'])\n"
        "    print('the last', flush=True)\n"
        "if 'serve' in sys.orig_argv:\n"
        "    threading.Thread(target=stray, daemon=True).start()\n"
    )
    path = os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])
    async with editing(env={**os.environ, "PYTHONPATH": path}) as editor:
        await editor.initialize(ws, settings=settings)
        await editor.execute("acp.session.new")
        go.touch()
        for _ in range(20):
            await editor.state()

        async def all_of_it() -> bool:
            return b"the last" in editor.stderr

        await editor.eventually(all_of_it)
        assert b"by a child" in editor.stderr
        assert editor.stderr.count(b"written") == 20
        assert (await editor.state())["status"] == "idle"
        assert await editor.close() == 0


# --- starting ---------------------------------------------------------------------------------


async def test_P06_nothing_starts_by_itself_or_by_a_workspace_s_word(
    idle_editor: Editor, puppet: Puppet, ws: Path, tmp_path: Path, settings: dict[str, Any]
) -> None:
    mark = tmp_path / "ran"
    evil = {"command": "touch", "args": [str(mark)]}
    (ws / ".vscode").mkdir()
    (ws / ".vscode" / "settings.json").write_text(
        '{"acp.agents": {"puppet": {"command": "./evil.sh"}}}'
    )
    (ws / "config.toml").write_text(f'[agents.puppet]\ncommand = "touch"\nargs = ["{mark}"]\n')
    editor = idle_editor
    can = capabilities()
    can["workspace"]["configuration"] = True
    can["workspace"]["didChangeConfiguration"] = {"dynamicRegistration": True}
    section = {"agents": {"puppet": evil, "evil": evil}, "defaultAgent": "evil"}
    editor.answers["workspace/configuration"] = lambda params: [section]
    await editor.initialize(ws, settings=settings, can=can)
    await editor.nth("workspace/configuration")
    editor.notify("workspace/didChangeConfiguration", {"settings": {"acp": section}})
    await editor.nth("workspace/configuration", 2)
    editor.open(ws / "config.toml")
    with pytest.raises(LspError):
        await editor.state()
    assert puppet.connections == 0
    assert children(editor.process.pid) == []
    with pytest.raises(LspError, match="evil"):
        await editor.execute("acp.session.new", agent="evil")
    opened = await editor.execute("acp.session.new", agent="puppet")
    assert opened["agent"] == "puppet"
    assert puppet.connections == 1
    assert not mark.exists()
    # What is started can be read.
    started = [one["message"] for one in editor.all("window/logMessage")]
    assert any(str(puppet.socket) in message for message in started)


async def test_X02_P09_where_a_command_is_looked_for(
    puppet: Puppet, ws: Path, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    (home / "bin").mkdir(parents=True)
    script = home / "bin" / "my-agent"
    script.write_text(f'#!/bin/sh\nexec {sys.executable} {RELAY} "$@"\n')
    script.chmod(0o755)
    (ws / "my-agent").write_text("#!/bin/sh\ntouch ran\n")
    (ws / "my-agent").chmod(0o755)
    socket = str(puppet.socket)
    agents = {
        "bare": {"command": "my-agent", "args": [socket]},
        "own path": {"command": "my-agent", "args": [socket], "env": {"PATH": str(home / "bin")}},
        "home": {"command": "~/bin/my-agent", "args": [socket]},
        "nowhere": {"command": "/no/such/agent"},
        "folder": {"command": str(home)},
    }
    env = {**os.environ, "HOME": str(home), "PATH": "/usr/bin:/bin"}
    async with editing(env=env, cwd=ws) as editor:
        await editor.initialize(ws, settings={"agents": agents})
        for name, says in [
            ("bare", "my-agent.*/usr/bin:/bin"),
            ("nowhere", "/no/such/agent"),
            ("folder", "home"),
            ("unheard of", "bare"),
        ]:
            with pytest.raises(LspError, match=says):
                await editor.execute("acp.session.new", agent=name)
        assert puppet.connections == 0
        assert (await editor.execute("acp.session.new", agent="own path"))["agentSessionId"] == "S1"
        assert (await editor.execute("acp.session.new", agent="home"))["agentSessionId"] == "S2"
        assert not (ws / "ran").exists()
        # An agent that ends at once has its say.
        await editor.close()


async def test_X02_an_editor_that_was_not_started_from_a_terminal(
    puppet: Puppet, ws: Path, tmp_path: Path
) -> None:
    """What only the startup files of the login shell add to PATH is found, and the agent and
    its own programs run with it."""
    home = tmp_path / "home"
    nvm = home / ".nvm" / "bin"
    nvm.mkdir(parents=True)
    (nvm / "test-node").symlink_to("/bin/sh")
    script = nvm / "my-agent"
    script.write_text(f'#!/usr/bin/env test-node\nexec {sys.executable} {RELAY} "$@"\n')
    script.chmod(0o755)
    shell = tmp_path / "shell"
    shell.write_text(
        f"#!/bin/sh\necho asked >> {tmp_path}/log\necho 'Welcome back!'\n"
        f'export PATH="{nvm}:$PATH"\nfor last; do :; done\nexec sh -c "$last"\n'
    )
    shell.chmod(0o755)
    socket = str(puppet.socket)
    agents = {
        "by name": {"command": "my-agent", "args": [socket]},
        # Found at once; what its first line names is not.
        "by path": {"command": str(script), "args": [socket]},
        "own path": {"command": str(script), "args": [socket], "env": {"PATH": "/usr/bin:/bin"}},
        "none": {"command": "no-such-agent"},
    }
    env = {**os.environ, "HOME": str(home), "PATH": "/usr/bin:/bin", "SHELL": str(shell)}
    async with editing(env=env) as editor:
        await editor.initialize(ws, settings={"agents": agents})
        assert (await editor.execute("acp.session.new", agent="by path"))["agentSessionId"] == "S1"
        assert (await editor.execute("acp.session.new", agent="by name"))["agentSessionId"] == "S2"
        paths = {
            environment_of(pid)["PATH"]
            for pid, _ in descendants(editor.process.pid)
            if socket in command_of(pid)
        }
        assert paths == {f"{nvm}:/usr/bin:/bin"}
        with pytest.raises(LspError, match=r"test-node"):
            await editor.execute("acp.session.new", agent="own path")
        with pytest.raises(LspError) as missing:
            await editor.execute("acp.session.new", agent="none")
        for words in ("'no-such-agent'", "Searched PATH: /usr/bin:/bin.", f"{shell}: {nvm}:"):
            assert words in str(missing.value)
        assert (tmp_path / "log").read_text() == "asked\n"
        await editor.close()


async def test_X02_a_login_shell_that_hangs_ends_with_the_sidecar(ws: Path, tmp_path: Path) -> None:
    shell = tmp_path / "shell"
    shell.write_text("#!/bin/sh\ntrap '' TERM HUP\nsleep 600 & sleep 600\n")
    shell.chmod(0o755)
    settings = {"agents": {"none": {"command": "no-such-agent"}}}
    async with editing(env={**os.environ, "SHELL": str(shell)}) as editor:
        await editor.initialize(ws, settings=settings)
        editor.start("acp.session.new", agent="none")

        async def asks() -> bool:
            return any(str(shell) in command_of(pid) for pid in children(editor.process.pid))

        await editor.eventually(asks)
        family = descendants(editor.process.pid)
        await editor.close()
        assert await survivors(family, 2) == set()


async def test_X10_a_library_s_wish_for_a_kind_of_loop_is_not_followed(
    puppet: Puppet, ws: Path, tmp_path: Path, settings: dict[str, Any]
) -> None:
    """Some set a policy whose loops cannot start processes. Ours is made without asking it."""
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(
        "import asyncio\n"
        "class Policy(asyncio.DefaultEventLoopPolicy):\n"
        "    def new_event_loop(self):\n"
        "        raise NotImplementedError('this loop starts no processes')\n"
        "asyncio.set_event_loop_policy(Policy())\n"
    )
    path = os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    env = {**os.environ, "PYTHONPATH": path}
    async with editing(env=env) as editor:
        await editor.initialize(ws, settings=settings)
        assert (await editor.execute("acp.session.new"))["agentSessionId"] == "S1"
        assert await editor.close() == 0
    command = [*SIDECAR[:-1], "agents", "--json"]
    listed = await asyncio.create_subprocess_exec(
        *command, env=env, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    out, err = await listed.communicate()
    assert (listed.returncode, err) == (0, b"")
    assert b'"demo"' in out


async def test_X04_what_an_agent_inherits(
    puppet: Puppet, ws: Path, tmp_path: Path, settings: dict[str, Any]
) -> None:
    user_s = str(tmp_path / "user's packages")
    ours = os.environ.get("PYTHONPATH", "").split(os.pathsep)[0] or os.getcwd()
    env = {
        **os.environ,
        "ELECTRON_RUN_AS_NODE": "1",
        "VSCODE_IPC_HOOK": "/run/x",
        "VSCODE_ESM_ENTRYPOINT": "x",
        "VSCODE_PID": "1",
        "NODE_OPTIONS": "--inspect",
        "VIRTUAL_ENV": sys.prefix,
        "PATH": f"{sys.prefix}/bin{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join([ours, user_s]),
        "API_KEY": "secret",
    }
    settings["agents"]["puppet"]["env"] = {"VSCODE_PID": "wanted", "MORE": "yes"}
    async with editing(env=env) as editor:
        await editor.initialize(ws, settings=settings)
        await editor.execute("acp.session.new")
        agent = next(
            pid
            for pid, _ in descendants(editor.process.pid)
            if str(puppet.socket) in command_of(pid) and "-c" not in command_of(pid)
        )
        inherited = environment_of(agent)
        assert inherited["API_KEY"] == "secret"
        assert inherited["MORE"] == "yes"
        assert inherited["VSCODE_PID"] == "wanted"
        assert inherited["HOME"] == os.environ["HOME"]
        assert inherited["PYTHONPATH"] == user_s
        for name in ("ELECTRON_RUN_AS_NODE", "VSCODE_IPC_HOOK", "NODE_OPTIONS"):
            assert name not in inherited
        if sys.prefix != sys.base_prefix:
            assert "VIRTUAL_ENV" not in inherited
            assert f"{sys.prefix}/bin" not in inherited["PATH"].split(os.pathsep)
        assert os.path.realpath(f"/proc/{agent}/cwd") == str(ws)
        # A process group of its own, and no descriptor of the editor's.
        assert os.getsid(agent) != os.getsid(editor.process.pid)
        await editor.close()


async def test_S03_an_agent_that_never_answers(
    puppet: Puppet, ws: Path, settings: dict[str, Any]
) -> None:
    silent = {"command": "sh", "args": ["-c", "echo npm WARN still downloading >&2; sleep 600"]}
    settings["agents"]["silent"] = silent
    settings["timeouts"] = {"initialize": 1}
    async with editing() as editor:
        await editor.initialize(ws, settings=settings)
        began = time.monotonic()
        with pytest.raises(LspError, match=r"(?s)initialize.*still downloading"):
            await editor.execute("acp.session.new", agent="silent")
        assert 0.9 < time.monotonic() - began < 5
        nobody = descendants(editor.process.pid)
        assert await survivors(nobody, 3) == set()
        # The same of session/new.
        del puppet.answers["session/new"]
        with pytest.raises(LspError, match="session/new"):
            await editor.execute("acp.session.new")
        await editor.close()


@pytest.mark.parametrize("by", ["request", "progress"])
async def test_S03_starting_can_be_cancelled(run: Run, puppet: Puppet, by: str) -> None:
    del puppet.answers["initialize"]
    request, opening = run.editor.start("acp.session.new")
    async with asyncio.timeout(20):
        await puppet.connected.wait()
    run.look()
    if by == "request":
        run.editor.cancel(request)
    else:
        shown = [
            one
            for one in run.editor.all("$/progress")
            if one["value"]["kind"] == "begin" and one["value"]["cancellable"]
        ]
        run.editor.notify("window/workDoneProgress/cancel", {"token": shown[-1]["token"]})
    began = time.monotonic()
    with pytest.raises(LspError):
        await opening
    assert time.monotonic() - began < 5
    assert await survivors(run.family, 5) == set()
    # And tried again.
    puppet.answers["initialize"] = puppet._initialize
    await run.editor.execute("acp.session.new")


async def test_S08_an_unanswered_close_blocks_nothing(run: Run, puppet: Puppet) -> None:
    puppet.capabilities = {"sessionCapabilities": {"close": {}}}
    opened = await run.editor.execute("acp.session.new")
    request = puppet.ask({"title": "one"})
    await run.editor.dialog()
    began = time.monotonic()
    assert await run.editor.execute("acp.session.close", sessionId=opened["sessionId"]) == {}
    assert await puppet.outcome(request) == "cancelled"
    closing = await puppet.incoming("session/close")
    assert closing["params"] == {"sessionId": "S1"}
    again = await run.editor.execute("acp.session.new")
    assert time.monotonic() - began < 3
    assert again["agentSessionId"] == "S2"
    _, turn = run.editor.start("acp.session.prompt", text="go")
    prompt = await puppet.prompted()
    puppet.say("here")
    puppet.end_turn(prompt)
    assert await turn == {"stopReason": "end_turn"}
    puppet.answer(closing, {})
    run.look()
    assert await run.editor.close() == 0
    assert await survivors(run.family, 0.3) == set()


async def test_G09_an_own_dialog_is_answered_too(
    puppet: Puppet, ws: Path, settings: dict[str, Any]
) -> None:
    """A client that draws its own question, and is gone before it is answered."""
    async with editing() as editor:
        await editor.initialize(ws, settings=settings, can=capabilities(permission=True))
        await editor.execute("acp.session.new")
        editor.answers["acp/permission"] = lambda params: NO_ANSWER
        _, turn = editor.start("acp.session.prompt", text="go")
        await puppet.prompted()
        requests = [puppet.ask({"toolCallId": f"t{n}", "title": f"{n}"}) for n in range(3)]
        await editor.nth("acp/permission")
        assert await editor.call("shutdown") is None
        for request in requests:
            assert await puppet.outcome(request) == "cancelled"
        assert await turn == {"stopReason": "cancelled"}
        editor.notify("exit")
        assert await editor.ended() == 0
