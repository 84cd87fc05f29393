"""The watchdog: no agent outlives a sidecar, however that ends."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from acp_sidecar.agents import process, watchdog
from tests.agents.link import PEERS
from tests.agents.processes import (
    PATIENCE,
    STUBBORN,
    WRAPPER,
    eventually,
    gone,
    running,
    shell,
    skip_unless_found,
    started_watchdog,
)

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="process groups are POSIX")


class Keeper:
    """A sidecar in a process and group of its own, with one agent."""

    def __init__(self, how: str, script: str) -> None:
        self.popen = subprocess.Popen(
            [sys.executable, str(PEERS / "keeper.py"), how, *shell(script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            text=True,
        )
        assert self.popen.stdout is not None
        words = self.popen.stdout.readline().split()
        self.agent, self.grandchild, self.watchdog = map(int, words)

    def all_gone(self) -> bool:
        return eventually(lambda: gone(self.agent, self.grandchild, self.watchdog))

    def end(self) -> None:
        self.popen.kill()
        self.popen.wait()
        for pipe in (self.popen.stdin, self.popen.stdout):
            pipe.close()
        for pid in (self.agent, self.grandchild):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


@contextlib.contextmanager
def keeper(how: str, script: str) -> Any:
    kept = Keeper(how, script)
    try:
        yield kept
    finally:
        kept.end()


@pytest.mark.parametrize("script", STUBBORN.values(), ids=STUBBORN.keys())
def test_X05_no_agent_outlives_a_sidecar_that_is_killed(script: str) -> None:
    skip_unless_found(script)
    with keeper("wait", script) as kept:
        assert not gone(kept.agent, kept.grandchild, kept.watchdog)
        kept.popen.kill()
        assert kept.all_gone()


def test_X05_an_agent_may_end_what_it_runs_when_the_sidecar_is_killed() -> None:
    script = "setsid sleep 600 >/dev/null 2>&1 & echo $!; cat; sleep 0.1; kill $!"
    skip_unless_found(script)
    with keeper("wait", script) as kept:
        kept.popen.kill()
        assert kept.all_gone()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT])
def test_X05_no_agent_outlives_a_signal_to_the_group_of_the_sidecar(number: int) -> None:
    with keeper("wait", WRAPPER) as kept:
        os.killpg(kept.popen.pid, number)
        assert kept.all_gone()


@pytest.mark.parametrize("how", ["return", "raise"])
def test_X05_no_agent_outlives_a_loop_that_ends_without_stopping_it(how: str) -> None:
    with keeper(how, WRAPPER) as kept:
        assert kept.all_gone()
        assert eventually(lambda: kept.popen.poll() is not None)


def test_X05_no_agent_outlives_the_sidecars_own_stop() -> None:
    with keeper("wait", WRAPPER) as kept:
        kept.popen.stdin.close()
        assert kept.popen.wait(PATIENCE) == 0
        assert gone(kept.agent, kept.grandchild, kept.watchdog)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_the_watchdog_stays_when_everybody_is_asked_to_end(number: int) -> None:
    with keeper("wait", WRAPPER) as kept:
        # It may still be starting; from when on it ignores signals is to be seen in its status.
        if sys.platform == "linux":
            assert eventually(lambda: ignores(kept.watchdog, number))
        os.kill(kept.watchdog, number)
        kept.popen.kill()
        assert kept.all_gone()


def ignores(pid: int, number: int) -> bool:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("SigIgn:"):
            return bool(int(line.split()[1], 16) >> (number - 1) & 1)
    return False


async def test_a_watchdog_that_was_killed_is_replaced_with_the_next_agent() -> None:
    async with running(*shell("cat")):
        first = process.LEASH.pid
        assert first is not None
        os.kill(first, signal.SIGKILL)
        assert eventually(lambda: gone(first))
        async with running(*shell("cat")):
            second = process.LEASH.pid
            assert second not in (None, first)
            assert not gone(second)


def test_an_agent_that_was_not_reported_any_more_is_found_by_its_input() -> None:
    """The sidecar is killed between starting an agent and saying so."""
    if sys.platform != "linux":
        pytest.skip("found by /proc, which is Linux's")
    readable, writable = os.pipe()
    inode = os.fstat(readable).st_ino
    agent = subprocess.Popen(
        shell("trap '' HUP; sleep 600"), stdin=readable, start_new_session=True
    )
    os.close(readable)
    dog = started_watchdog()
    assert dog.stdin is not None
    dog.stdin.write(f"?pipe:[{inode}]\n".encode())
    dog.stdin.close()
    os.close(writable)
    assert agent.wait(PATIENCE) != 0
    assert dog.wait(PATIENCE) == 0


def test_a_group_that_was_given_back_is_left_alone() -> None:
    bystander = subprocess.Popen(["sleep", "600"], start_new_session=True)
    dog = started_watchdog()
    assert dog.stdin is not None
    dog.stdin.write(f"?1\n+{bystander.pid} 1\n-{bystander.pid}\nnonsense\n+\n+1 1\n+0 0\n".encode())
    dog.stdin.close()
    assert dog.wait(PATIENCE) == 0
    assert bystander.poll() is None
    bystander.kill()
    bystander.wait()


def test_the_watchdog_imports_nothing_slow() -> None:
    answer = subprocess.run(
        [sys.executable, "-I", "-S", "-X", "importtime", watchdog.__file__],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = {line.rpartition("|")[2].strip() for line in answer.stderr.splitlines()}
    assert not loaded & {"asyncio", "subprocess", "re", "json", "logging", "typing", "pathlib"}
