"""Agents as processes: what they get, how they end, and that nothing outlives them."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from acp_sidecar.agents import process, watchdog
from acp_sidecar.agents.process import AgentExit, CannotStart, Command, resolve, spawn
from tests.agents.processes import (
    PATIENCE,
    STUBBORN,
    WRAPPER,
    eventually,
    gone,
    running,
    shell,
    skip_unless_found,
    state,
    table,
)

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="process groups are POSIX")


# --- the end an agent makes itself --------------------------------------------------------


async def test_the_end_tells_status_and_last_words() -> None:
    async with running(*shell("echo out; echo wrong key >&2; exit 3")) as run:
        exit_ = await run.end()
        assert (exit_.returncode, exit_.stderr, exit_.wanted) == (3, "wrong key", False)
        assert run.agent.returncode == 3
        assert run.output == b"out\n"
        assert "status 3" in str(exit_)
        assert "wrong key" in str(exit_)


async def test_the_end_tells_the_signal() -> None:
    async with running(*shell("kill -SEGV $$")) as run:
        exit_ = await run.end()
        assert exit_.returncode == -signal.SIGSEGV
        assert "SIGSEGV" in str(exit_)


async def test_everything_an_agent_wrote_is_delivered_before_its_end() -> None:
    script = "import os; os.write(1, b'x' * 65536); os.write(2, b'bye'); os._exit(0)"
    async with running(sys.executable, "-I", "-c", script) as run:
        exit_ = await run.end()
        assert run.output == b"x" * 65536
        assert exit_.stderr == "bye"


async def test_only_the_end_of_stderr_is_kept_and_it_is_readable() -> None:
    script = (
        "import os; os.write(2, b'first line\\n' + b'm' * 300_000 + b'\\n'"
        " + b'\\x1b[31mcaf\\xe9 \\xe4\\xb8\\xad\\x1b[0m\\n')"
    )
    async with running(sys.executable, "-I", "-c", script) as run:
        exit_ = await run.end()
        assert exit_.stderr.endswith("caf\ufffd 中")
        assert "first line" not in exit_.stderr
        assert "\x1b" not in exit_.stderr
        assert len(exit_.stderr) <= 8192


async def test_X06_a_grandchild_that_holds_the_pipes_does_not_delay_the_end() -> None:
    async with running(*shell("sleep 600 & echo $!; echo done >&2; exit 4")) as run:
        exit_ = await run.end()
        assert (exit_.returncode, exit_.stderr) == (4, "done")
        (grandchild,) = await run.lines(1)
        await run.agent.wait_closed()
        assert gone(int(grandchild))


async def test_X06_a_grandchild_that_keeps_writing_does_not_delay_the_end() -> None:
    async with running(*shell("(while :; do echo more; done) & exit 4")) as run:
        assert (await run.end()).returncode == 4
        await run.agent.wait_closed()


async def test_X05_what_an_agent_leaves_behind_ends_with_it() -> None:
    script = "trap '' TERM; sleep 600 </dev/null >/dev/null 2>&1 & echo $!; exit 0"
    async with running(*shell(script)) as run:
        await run.end()
        (grandchild,) = await run.lines(1)
        await run.agent.wait_closed()
        assert gone(int(grandchild))


async def test_the_number_of_a_group_is_not_given_back_while_the_group_lives() -> None:
    """So that no signal can reach a process that got the number after the agent."""
    script = "trap '' TERM; sleep 600 </dev/null >/dev/null 2>&1 & echo $!; read line; exit 0"
    async with running(*shell(script)) as run:
        (grandchild,) = await run.lines(1)
        patient = asyncio.create_task(run.agent.stop(patience=600))
        await run.end()
        assert not gone(int(grandchild))
        assert state(run.agent.pid) == "Z"
        await run.agent.stop(urgent=True)
        await patient
        assert state(run.agent.pid) == "-"


@pytest.mark.parametrize("closing", ["exec >&-", "exec <&-"])
async def test_an_agent_that_closes_a_pipe_but_stays_is_ended_with_a_reason(closing: str) -> None:
    async with running(*shell(f"trap '' TERM; {closing}; exec sleep 600")) as run:
        exit_ = await run.end()
        assert "closed its" in str(exit_)
        assert not exit_.wanted


# --- the end we make -----------------------------------------------------------------------


async def test_an_agent_that_ends_with_its_input_ends_by_itself() -> None:
    async with running(*shell("cat; echo saved")) as run:
        run.agent.write(b"hello\n")
        assert await run.lines(1) == ["hello"]
        await run.agent.stop(patience=PATIENCE)
        assert run.output == b"hello\nsaved\n"
        assert (run.exits[0].returncode, run.exits[0].wanted) == (0, True)


async def test_an_agent_that_stays_at_the_end_of_input_gets_sigterm() -> None:
    script = "trap 'echo asked; exit 5' TERM; echo ready; while :; do sleep 0.01; done"
    async with running(*shell(script)) as run:
        await run.lines(1)
        stopping = asyncio.create_task(run.agent.stop(patience=PATIENCE))
        await asyncio.sleep(0)
        # Of its end of input it makes nothing, which need not be waited for.
        run.agent._patience = (0.0, PATIENCE)
        run.agent._stirred.set()
        await stopping
        assert run.output == b"ready\nasked\n"
        assert run.exits[0].returncode == 5


@pytest.mark.parametrize("script", STUBBORN.values(), ids=STUBBORN.keys())
@pytest.mark.parametrize("urgent", [False, True])
async def test_X05_the_whole_group_ends(script: str, urgent: bool) -> None:
    """An urgent end does not wait out the patience, which would not be over in this test."""
    skip_unless_found(script)
    async with running(*shell(script)) as run:
        grandchild = int((await run.lines(1))[0])
        assert not gone(grandchild)
        async with asyncio.timeout(PATIENCE):
            await run.agent.stop(patience=600 if urgent else 0.2, urgent=urgent)
        assert gone(run.agent.pid, grandchild)
        assert state(run.agent.pid) == "-"


@pytest.mark.parametrize(
    "script",
    [
        "setsid sleep 600 >/dev/null 2>&1 & echo $!; echo; wait",
        "(setsid sleep 600 & echo $!); echo; sleep 600",
    ],
    ids=["browser", "daemon"],
)
async def test_what_an_agent_started_to_stay_stays(script: str) -> None:
    skip_unless_found(script)
    async with running(*shell(script)) as run:
        grandchild = int((await run.lines(2))[0])
        try:
            assert eventually(lambda: os.getsid(grandchild) == grandchild)
            await run.agent.stop(urgent=True)
            assert gone(run.agent.pid)
            assert not gone(grandchild)
        finally:
            os.kill(grandchild, signal.SIGKILL)


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """A system that shows neither a process's exit nor the members of a group."""

    def missing(*_: Any) -> int:
        raise OSError("not here")

    monkeypatch.setattr(os, "pidfd_open", missing, raising=False)
    monkeypatch.setattr(watchdog, "HAS_PROC", False)


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize("urgent", [False, True])
async def test_X05_the_whole_group_ends_on_a_system_without_proc_and_pidfd(urgent: bool) -> None:
    for script in (WRAPPER, STUBBORN["deaf wrapper"], STUBBORN["deaf grandchild"]):
        async with running(*shell(script)) as run:
            grandchild = int((await run.lines(1))[0])
            async with asyncio.timeout(PATIENCE):
                await run.agent.stop(patience=600 if urgent else 0.2, urgent=urgent)
            assert gone(run.agent.pid, grandchild)
            assert run.agent.returncode in (-signal.SIGTERM, -signal.SIGKILL)
    async with running(*shell("trap '' TERM; sleep 600 & echo $!; exit 3")) as run:
        grandchild = int((await run.lines(1))[0])
        assert (await run.end()).returncode == 3
        await run.agent.wait_closed()
        assert gone(grandchild)


async def test_an_agent_whose_start_is_cancelled_is_gone() -> None:
    before = len(os.listdir("/dev/fd"))
    exits: list[AgentExit] = []
    start = spawn(resolve("sleep", ["600"]), on_data=print, on_exit=exits.append)
    task = asyncio.create_task(start)
    await asyncio.sleep(0)
    mine = [pid for pid, (parent, _) in table().items() if parent == os.getpid()]
    children = [pid for pid in mine if pid != process.LEASH.pid and state(pid) != "Z"]
    assert len(children) == 1
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert state(children[0]) == "-"
    await process.LEASH.settle()
    assert len(os.listdir("/dev/fd")) == before


async def test_an_urgent_stop_overtakes_a_patient_one() -> None:
    async with running(*shell("trap '' TERM; echo ready; exec sleep 600")) as run:
        await run.lines(1)
        patient = asyncio.create_task(run.agent.stop(patience=600))
        await asyncio.sleep(0)
        async with asyncio.timeout(PATIENCE):
            await run.agent.stop(urgent=True)
            await patient


async def test_a_stop_whose_awaiter_is_cancelled_goes_on() -> None:
    async with running(*shell(WRAPPER)) as run:
        grandchild = int((await run.lines(1))[0])
        task = asyncio.create_task(run.agent.stop(patience=0.1))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        async with asyncio.timeout(PATIENCE):
            await run.agent.wait_closed()
        assert gone(run.agent.pid, grandchild)


async def test_kill_now_needs_no_loop() -> None:
    async with running(*shell(WRAPPER)) as run:
        grandchild = int((await run.lines(1))[0])
        run.agent.kill_now()
        assert eventually(lambda: gone(run.agent.pid, grandchild))
        assert (await run.end()).returncode == -signal.SIGKILL
        run.agent.kill_now()


async def test_writing_to_a_dead_agent_does_nothing() -> None:
    async with running(*shell("exit 0")) as run:
        await run.end()
        run.agent.write(b"hello\n")
        await run.agent.wait_closed()
        run.agent.write(b"hello\n")
        run.agent.kill_now()


async def test_an_agent_that_does_not_read_holds_nobody_up() -> None:
    async with running(*shell("exec sleep 600")) as run:
        # A write that waited for the agent would never return.
        for _ in range(100):
            run.agent.write(b"x" * 1_000_000)
        async with asyncio.timeout(PATIENCE):
            await run.agent.stop(urgent=True)


async def test_an_agent_that_lets_too_much_pile_up_is_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("acp_sidecar.agents.posix._WRITE_LIMIT", 1_000_000)
    async with running(*shell("exec sleep 600")) as run:
        for _ in range(20):
            run.agent.write(b"x" * 100_000)
        assert "does not read its input" in str(await run.end())


async def test_many_agents_leave_neither_descriptors_nor_children() -> None:
    async def once(script: str) -> None:
        async with running(*shell(script)):
            pass

    await once("exit 0")
    before = len(os.listdir("/dev/fd"))
    await asyncio.gather(*(once(script) for script in ("exit 0", WRAPPER, "cat") * 4))
    assert len(os.listdir("/dev/fd")) == before
    assert process.LEASH.pid is None
    with contextlib.suppress(ChildProcessError):
        assert os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None


# --- what an agent gets ------------------------------------------------------------------------


async def test_an_agent_leads_a_session_of_its_own_and_holds_no_descriptor_of_ours() -> None:
    script = (
        "import os; print(os.getpid() == os.getpgrp() == os.getsid(0),"
        " sorted(map(int, os.listdir('/dev/fd')))[:4])"
    )
    readable, writable = os.pipe()
    os.set_inheritable(writable, True)
    try:
        async with running(sys.executable, "-I", "-c", script) as run:
            # The fourth is that of the listing.
            assert await run.lines(1) == ["True [0, 1, 2, 3]"]
    finally:
        os.close(readable)
        os.close(writable)


async def test_X04_variables_of_the_editor_and_of_our_venv_stay_behind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ours = str(Path(process.__file__).parents[2])
    for name, value in {
        "ELECTRON_RUN_AS_NODE": "1",
        "NODE_OPTIONS": "--require /opt/code/bootloader.js",
        "VSCODE_IPC_HOOK": "/run/x.sock",
        "VSCODE_ESM_ENTRYPOINT": "vs/x",
        "VIRTUAL_ENV": sys.prefix,
        "PYTHONPATH": ours,
        "THE_USERS_OWN": "kept",
    }.items():
        monkeypatch.setenv(name, value)
    async with running("env", env={"VSCODE_PID": "7", "HOME": None}) as run:
        await run.end()
        given = dict(line.partition("=")[::2] for line in run.output.decode().splitlines())
    assert given["THE_USERS_OWN"] == "kept"
    assert given["VSCODE_PID"] == "7", "what the user sets is given"
    left = {"ELECTRON_RUN_AS_NODE", "NODE_OPTIONS", "VSCODE_IPC_HOOK", "VSCODE_ESM_ENTRYPOINT"}
    assert not (left | {"VIRTUAL_ENV", "PYTHONPATH", "HOME"}) & given.keys()


# --- what cannot be started ----------------------------------------------------------------------


async def cannot_start(command: Command) -> str:
    with pytest.raises(CannotStart) as caught:
        await spawn(command, on_data=lambda data: None, on_exit=lambda exit_: None)
    assert process.LEASH.pid is None
    return str(caught.value)


async def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    text = await cannot_start(resolve("sh", cwd=str(tmp_path / "nope")))
    assert str(tmp_path / "nope") in text


async def test_a_missing_interpreter_is_named_as_the_cause(tmp_path: Path) -> None:
    script = tmp_path / "agent"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    text = await cannot_start(resolve(str(script)))
    assert str(script) in text
    assert "interpreter" in text


async def test_what_is_no_program_is_refused(tmp_path: Path) -> None:
    script = tmp_path / "agent"
    script.write_bytes(b"\0\1\2\3")
    script.chmod(0o755)
    assert str(script) in await cannot_start(resolve(str(script)))
