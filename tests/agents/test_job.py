"""Commands as processes: what they get, what is read of them, and that nothing outlives them."""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from acp_sidecar.agents import job, posix_job, process
from acp_sidecar.agents.exits import CannotStart, CommandExit
from acp_sidecar.agents.job import Job, ProgramNotFound, command_line, end_at_once, start, to_run
from acp_sidecar.agents.leash import Leash
from tests.agents.processes import PATIENCE, eventually, gone, started_watchdog, state

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="process groups are POSIX")

GRANDCHILD = "sleep 600 & echo $!; wait"
DAEMON = "setsid sh -c 'trap \"\" TERM; echo $$; while :; do sleep 1; done'"
"""Leaves the session and its parent, and goes on to write to the terminal."""


class Run:
    """A command, what it wrote and how it ended."""

    def __init__(self) -> None:
        self.output = b""
        self.exits: list[CommandExit] = []
        self.ended = asyncio.Event()
        self.job: Job

    def wrote(self, data: bytes) -> None:
        self.output += data

    def exited(self, exit_: CommandExit) -> None:
        self.exits.append(exit_)
        self.ended.set()

    async def until(self, text: bytes) -> None:
        async with asyncio.timeout(PATIENCE):
            while text not in self.output:
                await asyncio.sleep(0.005)

    async def number(self) -> int:
        """The number in its first line."""
        await self.until(b"\n")
        return int(self.output.split(b"\n")[0])


@contextlib.asynccontextmanager
async def running(line: str, *args: str) -> AsyncIterator[Run]:
    run = Run()
    command = to_run(line, args, {}, "/")
    run.job = start(command, on_output=run.wrote, on_exit=run.exited)
    try:
        yield run
    finally:
        await end_at_once([run.job])


async def finished(line: str, *args: str) -> Run:
    async with running(line, *args) as run, asyncio.timeout(PATIENCE):
        await run.ended.wait()
    return run


def descriptors() -> set[str]:
    folder = "/proc/self/fd" if sys.platform == "linux" else "/dev/fd"
    return set(os.listdir(folder))


# --- one that ends by itself -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "code", "signal"),
    [
        ("exit 0", 0, None),
        ("exit 255", 255, None),
        ("kill -TERM $$", None, "SIGTERM"),
        ("kill -KILL $$", None, "SIGKILL"),
        ("kill -ABRT $$", None, "SIGABRT"),
    ],
)
async def test_how_a_command_ended(line: str, code: int | None, signal: str | None) -> None:
    run = await finished(line)
    assert run.exits == [CommandExit(code, signal)]
    assert run.job.gone


async def test_nothing_is_left_open_or_unreaped() -> None:
    await finished("true")
    before = descriptors()
    pids = []
    for line in ("true", "echo x; exit 3", "sleep 600 & true", "exec >/dev/null 2>&1; true"):
        run = await finished(line)
        pids.append(run.job.pid)
    for line in ("sleep 600", GRANDCHILD, "trap '' TERM; while :; do sleep 1; done"):
        async with running(line) as run:
            pids.append(run.job.pid)
    for broken in ("no-such-program", "/etc/passwd"):
        with pytest.raises(CannotStart):
            await finished(broken)
    assert descriptors() == before
    assert [state(pid) for pid in pids] == ["-"] * len(pids)
    assert process.LEASH.pid is None, "and nobody is watched any more"


async def test_output_is_what_was_written() -> None:
    """The terminal changes nothing: no carriage returns, no echo, no signals of its own."""
    everything = bytes(range(256)) * 100
    code = "import sys; sys.stdout.buffer.write(bytes(range(256)) * 100)"
    run = await finished(sys.executable, "-c", code)
    assert run.output == everything


async def test_a_listener_that_fails_costs_only_itself(caplog: pytest.LogCaptureFixture) -> None:
    ended = asyncio.Event()

    def fail(exit_: CommandExit) -> None:
        ended.set()
        raise ValueError("a bug")

    one = start(to_run("true", [], {}, "/"), on_output=lambda data: None, on_exit=fail)
    async with asyncio.timeout(PATIENCE):
        await ended.wait()
    await one.end()
    assert one.gone
    assert "the listener to a command's exit failed" in caplog.text


# --- one that is ended -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        GRANDCHILD,
        f"trap '' TERM HUP INT; {GRANDCHILD}",
        "setsid sleep 600 & echo $!; wait",
        DAEMON,
        "sleep 600 & echo $!; kill -STOP $! $$",
        "sh -c 'sleep 600 & echo $!; kill -STOP $$' & wait",
    ],
)
async def test_C05_an_end_leaves_nothing(line: str) -> None:
    async with running(line) as run:
        pid = await run.number()
        assert not gone(pid)
        await run.job.end()
        assert gone(pid, run.job.pid)
        assert len(run.exits) == 1
        assert run.job.gone


async def test_C05_many_are_ended_at_once_also_while_one_is_patient(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(posix_job, "_PATIENCE", 600.0)
    async with contextlib.AsyncExitStack() as stack:
        lines = [DAEMON, f"trap '' TERM HUP; {GRANDCHILD}", "setsid sleep 600 & echo $!; wait"] * 4
        runs = [await stack.enter_async_context(running(line)) for line in lines]
        pids = [await run.number() for run in runs]
        assert not any(map(gone, pids))
        patient = asyncio.create_task(runs[1].job.end())
        await asyncio.sleep(0)
        async with asyncio.timeout(PATIENCE):
            await end_at_once([run.job for run in runs])
        assert gone(*pids, *(run.job.pid for run in runs))
        assert all(run.job.gone and len(run.exits) == 1 for run in runs)
        await patient


async def test_C05_an_end_that_is_cancelled_is_an_end() -> None:
    deaf = (
        "trap 'echo asked' TERM; (trap '' TERM; exec sleep 600) & echo $!; while :; do wait; done"
    )
    async with running(deaf) as run:
        pid = await run.number()
        ending = asyncio.create_task(run.job.end())
        await run.until(b"asked")
        ending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await ending
        assert eventually(lambda: gone(pid, run.job.pid))
        async with asyncio.timeout(PATIENCE):
            await run.ended.wait()


async def test_C06_what_is_left_in_the_background_is_heard_and_ended() -> None:
    async with running("(while :; do echo on; sleep 0.05; done) & exit 3") as run:
        async with asyncio.timeout(PATIENCE):
            await run.ended.wait()
        assert run.exits == [CommandExit(3, None)]
        heard = run.output.count(b"on")
        await run.until(b"on\n" * (heard + 3))
        assert not run.job.gone
        await run.job.end()
        assert run.job.gone
    assert run.exits == [CommandExit(3, None)]


# --- the sidecar's end ------------------------------------------------------------------------

KEEPER = """
import asyncio, sys
from acp_sidecar.agents.job import start, to_run
from acp_sidecar.agents.process import LEASH

async def main():
    wrote = asyncio.Queue()
    job = start(to_run(sys.argv[1], [], {}, "/"), on_output=wrote.put_nowait, on_exit=print)
    grandchild = (await wrote.get()).split(b"\\n")[0].decode()
    print(job.pid, grandchild, LEASH.pid, flush=True)
    if sys.argv[2] == "wait":
        await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.mark.parametrize("how", ["kill", "leave"])
@pytest.mark.parametrize("line", [GRANDCHILD, f"trap '' TERM HUP; {GRANDCHILD}", DAEMON])
def test_C05_no_command_outlives_the_sidecar(how: str, line: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", KEEPER, line, "wait" if how == "kill" else "leave"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    ) as keeper:
        assert keeper.stdout is not None
        pids = [int(word) for word in keeper.stdout.readline().split()]
        if how == "kill":
            assert not gone(pids[1])
            keeper.kill()
        keeper.wait(PATIENCE)
        assert eventually(lambda: gone(*pids))


@pytest.mark.skipif(sys.platform != "linux", reason="found by /proc, which is Linux's")
def test_C05_a_command_that_was_not_reported_any_more_is_found_by_its_terminal() -> None:
    """The sidecar is killed between starting a command and saying so."""

    class Recorded(Leash):
        def __init__(self) -> None:
            super().__init__()
            self.marks: list[str] = []

        def expect(self, mark: str) -> None:
            self.marks.append(mark)

        def hold(self, leader: int, mark: str) -> None: ...

    leash = Recorded()
    child, terminal, _ = posix_job._in_terminal(
        to_run("trap '' HUP; sleep 600", [], {}, "/"), leash
    )
    (mark,) = leash.marks
    dog = started_watchdog()
    assert dog.stdin is not None
    dog.stdin.write(f"?{mark}\n".encode())
    os.close(terminal)
    dog.stdin.close()
    assert child.wait(PATIENCE) != 0
    assert dog.wait(PATIENCE) == 0


# --- from what the agent says to a program -----------------------------------------------------


def test_C01_what_is_run(tmp_path: Path) -> None:
    tool = tmp_path / "a tool"
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    (tmp_path / "notes").write_text("")
    environ = {"PATH": f"relative:{tmp_path}:/bin:/usr/bin", "SHELL": "/bin/sh"}

    def run(command: str, *args: str, **more: Any) -> tuple[str, ...]:
        return to_run(command, args, {}, str(tmp_path), environ={**environ, **more}).argv

    assert run(str(tool)) == (str(tool),)
    assert run("a tool") == (str(tool),)
    assert run("./a tool", "x") == (str(tool.parent / "./a tool"), "x")
    assert run("sh", "-c", "a b") in [("/bin/sh", "-c", "a b"), ("/usr/bin/sh", "-c", "a b")]
    for line in (
        "a tool --flag",
        "sh -c 'a'",
        "umask",
        ":",
        "x=1",
        "~/x",
        "a|b",
        "a;b",
        "$X",
        "(a)",
    ):
        assert run(line) == ("/bin/sh", "-c", line)
    assert run("a b", SHELL="/usr/bin/fish") == ("/bin/sh", "-c", "a b")
    assert run("a b", SHELL="bash") == ("/bin/sh", "-c", "a b"), "not looked for on PATH"
    for command, args in (
        ("nope", []),
        ("./nope", []),
        ("notes", []),
        ("a b", ["x"]),
        (".", ["x"]),
    ):
        with pytest.raises(ProgramNotFound) as problem:
            run(command, *args)
        assert repr(command) in str(problem.value)
        assert environ["PATH"] in str(problem.value)


def test_C01_windows_runs_a_line_by_its_own_shell(tmp_path: Path) -> None:
    environ = {"PATH": str(tmp_path), "SystemRoot": "C:\\Windows"}
    line = 'dir "C:\\My Files" | findstr a%b'
    command = to_run(line, [], {}, str(tmp_path), environ=environ, windows=True)
    assert command.command_line is not None
    assert command.command_line.endswith(f'cmd.exe" /d /s /c "{line}"')
    with pytest.raises(ProgramNotFound):
        to_run("nope", ["x"], {}, str(tmp_path), environ=environ, windows=True)


def test_X04_the_environment_of_a_command() -> None:
    environ = {"PATH": "/bin", "VSCODE_PID": "1", "COLUMNS": "7", "PAGER": "less", "HOME": "/h"}
    env = to_run("sh", [], {"GIT_PAGER": "mine"}, "/", environ=environ).env
    assert (env["PAGER"], env["GIT_PAGER"], env["HOME"], env["PWD"]) == ("cat", "mine", "/h", "/")
    assert not {"VSCODE_PID", "COLUMNS"} & env.keys()


def test_a_command_line_for_people() -> None:
    assert command_line("git status && x", []) == "git status && x"
    assert command_line("echo", ["a b", "c'd"]) == "echo 'a b' 'c'\"'\"'d'"


def test_an_exit_that_cannot_be_learned() -> None:
    assert CommandExit.of(None) == CommandExit(None, None)
    assert CommandExit.of(-99) == CommandExit(None, "SIG99")
    assert job.CODE_PAGE is None
