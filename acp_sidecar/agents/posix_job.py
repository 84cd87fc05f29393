"""A command on POSIX: its pseudo-terminal, its group, its end.

The terminal carries output only. It is nobody's controlling terminal and input is empty, so
what would ask a person (a password, a pager) finds none and goes on. Output comes as it was
written: the terminal adds no carriage returns.

As with agents (:mod:`acp_sidecar.agents.posix`) an exited leader stays unreaped until nothing
is left of its group, so no signal can reach a stranger.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import logging
import os
import select
import signal
import struct
import subprocess
import termios
from collections.abc import Callable, Collection
from typing import Final

from acp_sidecar.agents import watchdog
from acp_sidecar.agents.child import exit_descriptor, exit_status
from acp_sidecar.agents.command import Command
from acp_sidecar.agents.exits import CannotStart, CommandExit
from acp_sidecar.agents.leash import Leash

log = logging.getLogger(__name__)

ROWS: Final = 40
COLUMNS: Final = 120
_CHUNK: Final = 65536
_READS: Final = 16
"""A terminal gives little at a time; so often it is read before others have their turn."""
_QUIET_SECONDS: Final = 0.1
_DRAIN_CHECKS: Final = 10
_PATIENCE: Final = 1.0
_URGENT: Final = 0.1
_KILLED_SECONDS: Final = 5.0
"""What a process may take to be gone after SIGKILL: on a busy machine it waits for its turn."""
_LOOK_AGAIN: Final = 0.05


class PosixJob:
    """One command, running or not. Made by :func:`acp_sidecar.agents.job.start`.

    :ivar pid: of the command; also the number of its process group and session
    :ivar exit: how it ended, ``None`` until that is known
    """

    def __init__(
        self,
        child: subprocess.Popen[bytes],
        terminal: int,
        name: str,
        leash: Leash,
        on_output: Callable[[bytes], None],
        on_exit: Callable[[CommandExit], None],
    ) -> None:
        self.pid: Final = child.pid
        self.exit: CommandExit | None = None
        self._child = child
        self._terminal = terminal
        self._name = name
        self._leash = leash
        self._on_output = on_output
        self._on_exit = on_exit
        self._loop = asyncio.get_running_loop()
        self._strays: set[watchdog.Stray] = set()
        self._open = True
        self._received = 0
        self._exited = self._killed = self._reaped = self._hurried = False
        self._reported = asyncio.Event()
        self._timers: set[asyncio.TimerHandle] = set()
        self._exit_fd = exit_descriptor(self.pid)
        os.set_blocking(terminal, False)
        self._loop.add_reader(terminal, self._read)
        self._loop.add_reader(self._exit_fd, self._see_exit)

    @property
    def gone(self) -> bool:
        """Whether nothing is left of it and of what it has started."""
        return self._reaped

    async def end(self) -> None:
        """Ends the command and all it has started; returns when nothing is left.

        SIGTERM to the whole group, SIGKILL a second later.

        To end many at once see :func:`acp_sidecar.agents.job.end_at_once`.
        """
        if self._reaped:
            return
        try:
            self._look()
            watchdog.ask_to_end(self.pid, self._strays)
            await self._empty_within(_PATIENCE)
        finally:
            self.kill_now()
        await self._see_off()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_KILLED_SECONDS):
                await self._reported.wait()
        self._report()
        self._settle()
        await self._leash.settle()

    def kill_now(self) -> None:
        """SIGKILL to all of the group, at once and without a loop: the last resort."""
        if not self._reaped:
            self._killed = True
            self._look()
            watchdog.signal_group(self.pid, signal.SIGKILL, also=self._strays)

    async def _see_off(self) -> None:
        """Waits until what was killed is gone, and kills what it had started just before that."""
        began = self._loop.time()
        while not await self._empty_within(_LOOK_AGAIN) or self._has_more():
            if self._loop.time() - began > _KILLED_SECONDS:
                log.warning("processes of the group %d cannot be ended", self.pid)
                return
            self.kill_now()

    def _has_more(self) -> bool:
        if self._reaped:
            return False
        self._look()
        return not watchdog.is_empty(self.pid, self._strays)

    def _look(self) -> None:
        """Finds what it runs elsewhere: in other sessions, or as a daemon that still writes."""
        self._strays |= watchdog.strays(self.pid)
        if self._open:
            self._strays |= watchdog.holders(self._name)

    # --- what the descriptors say ---

    def _read(self) -> None:
        pieces: list[bytes] = []
        for _ in range(_READS):
            try:
                piece = os.read(self._terminal, _CHUNK)
            except (BlockingIOError, InterruptedError):
                break
            except OSError:  # EIO: nobody has the other end open any more
                piece = b""
            if not piece:
                self._open = False
                self._loop.remove_reader(self._terminal)
                break
            pieces.append(piece)
        if pieces:
            self._received += 1
            self._on_output(b"".join(pieces))
        if not self._open and self._exited:
            self._report()
            self._settle()

    def _see_exit(self) -> None:
        self._loop.remove_reader(self._exit_fd)
        self._exited = True
        self._drain(-1, _DRAIN_CHECKS)

    def _drain(self, received: int, left: int) -> None:
        """Takes what the command still wrote. A grandchild may hold the terminal for ever."""
        if self._open and left and received != self._received:
            self._later(_QUIET_SECONDS, self._drain, self._received, left - 1)
            return
        self._report()
        self._settle()

    def _later(self, seconds: float, callback: Callable[..., None], *args: object) -> None:
        def run() -> None:
            self._timers.discard(timer)
            callback(*args)

        timer = self._loop.call_later(seconds, run)
        self._timers.add(timer)

    # --- the end ---

    def _report(self) -> None:
        if self.exit is not None:
            return
        status = exit_status(self.pid) if self._exited and watchdog.HAS_PROC else None
        if status is None:
            # Where neither the status nor the group can be looked at, the group goes first.
            self.kill_now()
            status = self._reap()
        self.exit = CommandExit.of(status)
        self._reported.set()
        try:
            self._on_exit(self.exit)
        except Exception:  # boundary: the process's end goes on whatever its listener does
            log.exception("the listener to a command's exit failed")

    def _settle(self) -> None:
        """Lets go of what is over. Something left in the background keeps its number."""
        if self._hurried:
            return  # there is no time to look
        if self._open and not self._reaped:
            self._strays |= watchdog.holders(self._name)
        if self._reaped:
            self._close()
        elif watchdog.is_empty(self.pid, self._strays):
            self._reap()
            self._close()
        elif self._killed:
            self._later(_LOOK_AGAIN, self._settle)

    async def _empty_within(self, seconds: float) -> bool:
        began = self._loop.time()
        pause = 0.005
        while not (self._reaped or watchdog.is_empty(self.pid, self._strays)):
            if self._loop.time() - began > seconds:
                return False
            await asyncio.sleep(pause)
            pause = min(2 * pause, 0.04)
        return True

    def _reap(self) -> int | None:
        """Waits for the leader, which is gone or just killed, and gives its number back."""
        if not self._reaped:
            poll = select.poll()
            poll.register(self._exit_fd, select.POLLIN)
            if not poll.poll(_URGENT * 1000):
                log.warning("the process %d does not end", self.pid)
                return None
            self._leash.release(self.pid)
            self._reaped = True
            self._child.wait()
        return self._child.returncode

    def _let_go(self) -> None:
        """After a SIGKILL to all of it."""
        self._report()
        self._reap()
        self._close()

    def _close(self) -> None:
        for timer in self._timers:
            timer.cancel()
        self._timers.clear()
        self._open = False
        for descriptor in (self._terminal, self._exit_fd):
            if descriptor >= 0:
                self._loop.remove_reader(descriptor)
                os.close(descriptor)
        self._terminal = self._exit_fd = -1


async def end_at_once(jobs: Collection[PosixJob]) -> None:
    """See :func:`acp_sidecar.agents.job.end_at_once`."""
    left = [job for job in jobs if not job.gone]
    for job in left:
        job._hurried = True
    try:
        _signal_all(left, signal.SIGTERM, signal.SIGCONT)
        await _reports(left, _URGENT)
    finally:
        _signal_all(left, signal.SIGKILL)
    await _reports(left, _KILLED_SECONDS)
    # Once more, for what was started between the look and the kill.
    _signal_all([job for job in left if not job.gone], signal.SIGKILL)
    await _emptied(left)
    for job in left:
        job._let_go()


def _signal_all(jobs: Collection[PosixJob], *numbers: int) -> None:
    processes = watchdog.census()
    writers = watchdog.holders_of([job._name for job in jobs if job._open])
    for job in jobs:
        job._strays |= watchdog.strays(job.pid, processes) | writers.get(job._name, set())
    watchdog.signal_groups({job.pid: job._strays for job in jobs}, processes, *numbers)


async def _reports(jobs: Collection[PosixJob], seconds: float) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            for job in jobs:
                await job._reported.wait()


async def _emptied(jobs: Collection[PosixJob]) -> None:
    groups = {job.pid: job._strays for job in jobs}
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_KILLED_SECONDS):
            while watchdog.are_left(groups, watchdog.census()):  # noqa: ASYNC110 - no event
                await asyncio.sleep(_LOOK_AGAIN)


def start(
    command: Command,
    leash: Leash,
    on_output: Callable[[bytes], None],
    on_exit: Callable[[CommandExit], None],
) -> PosixJob:
    """See :func:`acp_sidecar.agents.job.start`."""
    try:
        child, terminal, name = _in_terminal(command, leash)
    except (OSError, ValueError) as problem:
        raise CannotStart(_explain(problem, command)) from problem
    return PosixJob(child, terminal, name, leash, on_output, on_exit)


def _in_terminal(command: Command, leash: Leash) -> tuple[subprocess.Popen[bytes], int, str]:
    with contextlib.ExitStack() as on_error:
        terminal, theirs = os.openpty()
        on_error.callback(os.close, terminal)
        try:
            _set_up(theirs)
            name = os.ttyname(theirs)
            leash.expect(name)
            on_error.callback(leash.failed, name)
            child = _popen(command, theirs)
        finally:
            os.close(theirs)
        leash.hold(child.pid, name)
        on_error.pop_all()
    return child, terminal, name


def _set_up(terminal: int) -> None:
    settings = termios.tcgetattr(terminal)
    settings[1] &= ~termios.OPOST
    settings[3] &= ~(termios.ECHO | termios.ECHONL)
    termios.tcsetattr(terminal, termios.TCSANOW, settings)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))


def _popen(command: Command, terminal: int) -> subprocess.Popen[bytes]:
    def run(argv: tuple[str, ...]) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=terminal,
            stderr=terminal,
            env=dict(command.env),
            cwd=command.cwd,
            start_new_session=True,
        )

    try:
        return run(command.argv)
    except OSError as problem:
        if problem.errno != errno.ENOEXEC:
            raise
        # A script without a first line that names its interpreter, as every shell runs it.
        return run(("/bin/sh", *command.argv))


def _explain(problem: Exception, command: Command) -> str:
    program = command.argv[0]
    if isinstance(problem, FileNotFoundError):
        if command.cwd is not None and problem.filename == command.cwd:
            return f"cannot run {program!r}: the folder {command.cwd} does not exist"
        return f"cannot run {program!r}: it, or the interpreter its first line names, is missing"
    text = problem.strerror if isinstance(problem, OSError) else None
    return f"cannot run {program!r}: {text or problem}"
