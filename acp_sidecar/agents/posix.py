"""An agent's process on POSIX: its pipes, its group, its end.

The child is spawned and waited for here, not through asyncio's child watcher, for one
reason: asyncio reaps at once, and from then on the number of the process and its group may
belong to somebody else. Here an exited leader stays unreaped until nothing is left of its
group, so no signal can reach a stranger.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import select
import signal
import subprocess
from collections.abc import Callable
from typing import Final

from acp_sidecar.agents import watchdog
from acp_sidecar.agents.child import exit_descriptor, exit_status, start_child
from acp_sidecar.agents.command import Command
from acp_sidecar.agents.exits import AgentExit, CannotStart, StderrTail
from acp_sidecar.agents.leash import Leash

log = logging.getLogger(__name__)

_CHUNK: Final = 65536
_WRITE_LIMIT: Final = 1 << 28
_MUTE_SECONDS: Final = 0.5
"""How long an agent that has closed a pipe may take to exit."""
_URGENT: Final = (0.08, 0.12)
_QUIET_SECONDS: Final = 0.1
_KILLED_SECONDS: Final = 5.0
"""What a process may take to be gone after SIGKILL: on a busy machine it waits for its turn. One
that is left before is never reaped, and its number never given back."""
_LAST_SECONDS: Final = 0.1
"""The same where the loop ends and nothing can be awaited any more."""
_DRAIN_CHECKS: Final = 10


class PosixProcess:
    """One agent, alive or dead. Made by :func:`acp_sidecar.agents.process.spawn`.

    :ivar pid: of the agent; also the number of its process group and session
    :ivar returncode: exit status, negative for a signal, ``None`` until it is known
    """

    def __init__(
        self,
        child: subprocess.Popen[bytes],
        pipes: tuple[int, int, int],
        leash: Leash,
        on_data: Callable[[bytes], None],
        on_eof: Callable[[], None],
        on_exit: Callable[[AgentExit], None],
        on_stderr: Callable[[bytes], None],
    ) -> None:
        self.pid: Final = child.pid
        self.returncode: int | None = None
        self._child = child
        self._leash = leash
        self._on_data = on_data
        self._on_eof = on_eof
        self._on_exit = on_exit
        self._on_stderr = on_stderr
        self._loop = asyncio.get_running_loop()
        self._stdin_fd, self._stdout, self._stderr = pipes
        self._stdin: asyncio.WriteTransport | None = None
        self._tail = StderrTail()
        self._received = 0
        self._stdout_open = self._stderr_open = True
        self._exited = self._reaped = False
        self._mute: str | None = None
        self._reason: str | None = None
        self._ending = self._wanted = self._urgent = False
        self._strays: set[watchdog.Stray] = set()
        self._patience: tuple[float, float] = (1.0, 1.0)
        self._stirred = asyncio.Event()
        self._closed = asyncio.Event()
        self._exit_fd = -1
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Connects the pipes. Nothing is delivered before this returns."""
        self._exit_fd = exit_descriptor(self.pid)
        pipe = os.fdopen(self._stdin_fd, "wb", buffering=0)
        try:
            self._stdin, _ = await self._loop.connect_write_pipe(lambda: _Stdin(self._deaf), pipe)
        except BaseException:
            pipe.close()
            raise
        self._stdin.set_write_buffer_limits(high=_WRITE_LIMIT)
        for descriptor in (self._stdout, self._stderr):
            os.set_blocking(descriptor, False)
        self._loop.add_reader(self._stdout, self._read_stdout)
        self._loop.add_reader(self._stderr, self._read_stderr)
        self._loop.add_reader(self._exit_fd, self._see_exit)
        self._task = asyncio.create_task(self._supervise(), name=f"agent {self.pid}")

    def stderr_tail(self) -> str:
        """The last few KiB of stderr, decoded with replacement, terminal codes removed."""
        return self._tail.text()

    def write(self, data: bytes) -> None:
        """Sends bytes to the agent's stdin. Never blocks; dropped when nobody reads any more.

        An agent that lets 256 MiB pile up unread is ended.
        """
        if self._stdin is None or self._stdin.is_closing():
            return
        self._stdin.write(data)
        if self._stdin.get_write_buffer_size() > _WRITE_LIMIT:
            self.abandon("the agent was stopped: it does not read its input")

    def abandon(self, reason: str) -> None:
        """Ends an agent that cannot be worked with. Returns at once; ``on_exit`` follows."""
        if not self._ending:
            self._reason = reason
            self._hurry()

    async def stop(self, *, patience: float = 1.0, urgent: bool = False) -> None:
        """Ends the agent and all of its group, and returns when nothing is left.

        Closes stdin, then SIGTERM, then SIGKILL.

        :param patience: seconds to wait after each of the first two
        :param urgent: come to SIGKILL within 0.2 seconds whatever the agent does; may be asked
            for while another stop is still being patient
        """
        self._wanted = True
        if urgent:
            self._hurry()
        elif not self._ending:
            self._patience = (patience, patience)
            self._ending = True
            self._stirred.set()
        await self._closed.wait()

    async def wait_closed(self) -> None:
        """Waits until the process and its group are gone and every pipe is closed."""
        await self._closed.wait()

    def kill_now(self) -> None:
        """SIGKILL to all of the group, at once and without a loop: the last resort."""
        if not self._reaped:
            self._strays |= watchdog.strays(self.pid)
            watchdog.signal_group(self.pid, signal.SIGKILL, also=self._strays)

    # --- what the descriptors say ---

    def _read_stdout(self) -> None:
        data = self._read(self._stdout)
        if data is None:
            return
        if data:
            self._received += 1
            self._on_data(data)
            return
        self._loop.remove_reader(self._stdout)
        self._stdout_open = False
        self._silent("closed its output")
        self._on_eof()

    def _read_stderr(self) -> None:
        data = self._read(self._stderr)
        if data:
            self._tail.add(data)
            self._on_stderr(data)
        elif data is not None:
            self._loop.remove_reader(self._stderr)
            self._stderr_open = False
            self._stirred.set()

    def _read(self, descriptor: int) -> bytes | None:
        try:
            return os.read(descriptor, _CHUNK)
        except (BlockingIOError, InterruptedError):
            return None
        except OSError:
            return b""

    def _see_exit(self) -> None:
        self._loop.remove_reader(self._exit_fd)
        self._exited = True
        self._stirred.set()

    def _deaf(self) -> None:
        self._stdin = None
        self._silent("closed its input")

    def _silent(self, what: str) -> None:
        self._mute = self._mute or f"the agent {what} and was stopped"
        self._stirred.set()

    # --- the end ---

    def _hurry(self) -> None:
        self._urgent = self._ending = True
        self._patience = _URGENT
        self._stirred.set()

    async def _supervise(self) -> None:
        try:
            try:
                await self._wait(lambda: bool(self._exited or self._ending or self._mute))
                if await self._lingers():
                    self.abandon(self._mute or "")
                if not self._exited:
                    await self._end()
                await self._drain()
                self._report()
                await self._clear()
            finally:
                # Also when the loop ends under us: then this is the last moment to act.
                self.kill_now()
                self._close()
            await self._leash.settle()
        finally:
            self._closed.set()

    async def _wait(self, done: Callable[[], bool], seconds: float | None = None) -> bool:
        deadline = None if seconds is None else self._loop.time() + seconds
        while not done():
            self._stirred.clear()
            try:
                async with asyncio.timeout_at(deadline):
                    await self._stirred.wait()
            except TimeoutError:
                return done()
        return True

    async def _lingers(self) -> bool:
        """Whether an agent that closed a pipe is still there after its time."""
        if self._exited or self._ending:
            return False
        return not await self._wait(lambda: self._exited or self._ending, _MUTE_SECONDS)

    async def _end(self) -> None:
        if self._stdin is not None:
            self._stdin.close()
        if await self._patiently(0):
            return
        self._drop_stdin()
        # Now or never: what it runs in other sessions is found by its parent.
        self._strays |= watchdog.strays(self.pid)
        watchdog.ask_to_end(self.pid, self._strays)
        if await self._patiently(1):
            return
        self.kill_now()
        await self._wait(lambda: self._exited, _KILLED_SECONDS)

    def _drop_stdin(self) -> None:
        stdin = self._stdin
        # A pipe that is about to close and has nothing left to say is aborted once too often:
        # asyncio then fails in a callback of its own.
        if stdin is not None and not (stdin.is_closing() and not stdin.get_write_buffer_size()):
            stdin.abort()

    async def _patiently(self, stage: int) -> bool:
        """Waits for the exit as long as the present patience allows; it may shrink meanwhile."""
        began = self._loop.time()
        while not self._exited:
            left = began + self._patience[stage] - self._loop.time()
            if left <= 0:
                return False
            self._stirred.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(left):
                    await self._stirred.wait()
        return True

    async def _drain(self) -> None:
        """Takes what the agent still wrote. A grandchild may hold the pipes open for ever."""
        for _ in range(_DRAIN_CHECKS):
            before = self._received
            seconds = _QUIET_SECONDS / 5 if self._urgent else _QUIET_SECONDS
            if await self._wait(lambda: not (self._stdout_open or self._stderr_open), seconds):
                return
            if self._urgent or (self._received == before and not self._readable()):
                return

    def _readable(self) -> bool:
        return self._stdout_open and _is_readable(self._stdout, 0)

    def _report(self) -> None:
        if self._exited and watchdog.HAS_PROC:
            self.returncode = exit_status(self.pid)
        if self._exited and self.returncode is None:
            # Where neither the status nor the group can be looked at, the group goes first.
            self.kill_now()
            self._reap()
        try:
            self._on_exit(AgentExit(self.returncode, self._tail.text(), self._reason, self._wanted))
        except Exception:  # boundary: the process's end goes on whatever its listener does
            log.exception("the listener to an agent's exit failed")

    async def _clear(self) -> None:
        """Ends what the agent has left behind."""
        if self._reaped:
            # All of it was killed before: it is only looked at from now on.
            await self._empty_within(lambda: _KILLED_SECONDS)
            return
        if watchdog.is_empty(self.pid, self._strays):
            return
        watchdog.ask_to_end(self.pid, self._strays)
        if not await self._empty_within(lambda: self._patience[1]):
            self.kill_now()
            if not await self._empty_within(lambda: _KILLED_SECONDS):
                log.warning("processes of the group %d cannot be ended", self.pid)

    async def _empty_within(self, seconds: Callable[[], float]) -> bool:
        began = self._loop.time()
        pause = 0.005
        while not watchdog.is_empty(self.pid, self._strays):
            if self._loop.time() - began > seconds():
                return False
            await asyncio.sleep(pause)
            pause = min(2 * pause, 0.04)
        return True

    def _close(self) -> None:
        self._reap()
        for descriptor in (self._stdout, self._stderr, self._exit_fd):
            if descriptor >= 0:
                self._loop.remove_reader(descriptor)
                os.close(descriptor)
        self._drop_stdin()

    def _reap(self) -> None:
        """Waits for the leader, just killed if not gone before, and gives its number back."""
        if self._reaped:
            return
        if self._exit_fd >= 0 and not _is_readable(self._exit_fd, _LAST_SECONDS):
            log.warning("the process %d does not end", self.pid)
            return
        self._leash.release(self.pid)
        self._reaped = True
        status = self._child.wait()
        if self.returncode is None:
            self.returncode = status


def _is_readable(descriptor: int, seconds: float) -> bool:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(seconds * 1000))


class _Stdin(asyncio.BaseProtocol):
    def __init__(self, on_lost: Callable[[], None]) -> None:
        self._on_lost = on_lost

    def connection_lost(self, exc: Exception | None) -> None:
        self._on_lost()


async def spawn(
    command: Command,
    leash: Leash,
    on_data: Callable[[bytes], None],
    on_eof: Callable[[], None],
    on_exit: Callable[[AgentExit], None],
    on_stderr: Callable[[bytes], None],
) -> PosixProcess:
    """See :func:`acp_sidecar.agents.process.spawn`."""
    try:
        child, pipes = start_child(command, leash)
    except CannotStart:
        await leash.settle()
        raise
    process = PosixProcess(child, pipes, leash, on_data, on_eof, on_exit, on_stderr)
    try:
        await process.start()
    except BaseException:
        process.kill_now()
        process._close()
        raise
    return process
