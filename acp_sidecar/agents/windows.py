"""An agent's process on Windows. Untested: written to the interface's documentation.

Threads read and write the pipes, so any event loop will do (asyncio's own subprocesses
need the Proactor loop). A job object holds the agent and all it starts; it is the counterpart
of the process group, and of the watchdog too: the system ends what is in the job when the
last handle to it closes, which happens with the sidecar however that ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import logging
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any, Final

from acp_sidecar.agents.command import Command
from acp_sidecar.agents.exits import AgentExit, CannotStart, StderrTail
from acp_sidecar.agents.leash import Leash

assert sys.platform == "win32"

log = logging.getLogger(__name__)

_CHUNK: Final = 65536
_CHUNKS_AHEAD: Final = 16
_WRITE_LIMIT: Final = 1 << 28
_MUTE_SECONDS: Final = 0.5
_QUIET_SECONDS: Final = 0.1
_URGENT: Final = 0.1
CREATE_SUSPENDED: Final = 0x4
_JOB_EXTENDED_LIMITS: Final = 9
_KILL_ON_JOB_CLOSE: Final = 0x2000


class _BasicLimits(ctypes.Structure):
    _fields_ = (
        ("per_process_user_time", ctypes.c_int64),
        ("per_job_user_time", ctypes.c_int64),
        ("limit_flags", ctypes.c_uint32),
        ("minimum_working_set", ctypes.c_size_t),
        ("maximum_working_set", ctypes.c_size_t),
        ("active_process_limit", ctypes.c_uint32),
        ("affinity", ctypes.c_size_t),
        ("priority_class", ctypes.c_uint32),
        ("scheduling_class", ctypes.c_uint32),
    )


class _ExtendedLimits(ctypes.Structure):
    _fields_ = (
        ("basic", _BasicLimits),
        ("io_counters", ctypes.c_uint64 * 6),
        ("process_memory", ctypes.c_size_t),
        ("job_memory", ctypes.c_size_t),
        ("peak_process_memory", ctypes.c_size_t),
        ("peak_job_memory", ctypes.c_size_t),
    )


class JobObject:
    """A job object whose processes end with its handle."""

    def __init__(self) -> None:
        self._kernel: Any = ctypes.WinDLL("kernel32", use_last_error=True)
        self._kernel.CreateJobObjectW.restype = ctypes.c_void_p
        handle = self._kernel.CreateJobObjectW(None, None)
        if not handle:
            raise ctypes.WinError(ctypes.get_last_error())
        self._handle: ctypes.c_void_p | None = ctypes.c_void_p(handle)
        limits = _ExtendedLimits()
        limits.basic.limit_flags = _KILL_ON_JOB_CLOSE
        size = ctypes.sizeof(limits)
        if not self._kernel.SetInformationJobObject(
            self._handle, _JOB_EXTENDED_LIMITS, ctypes.byref(limits), size
        ):
            raise ctypes.WinError(ctypes.get_last_error())

    def take(self, process: subprocess.Popen[bytes]) -> None:
        """Puts a suspended process in the job, then lets it run."""
        handle = ctypes.c_void_p(int(process._handle))  # type: ignore[attr-defined]
        if not self._kernel.AssignProcessToJobObject(self._handle, handle):
            raise ctypes.WinError(ctypes.get_last_error())
        ctypes.WinDLL("ntdll").NtResumeProcess(handle)

    def kill(self) -> None:
        if self._handle is not None:
            self._kernel.TerminateJobObject(self._handle, 1)

    def close(self) -> None:
        handle, self._handle = self._handle, None
        if handle is not None:
            self._kernel.CloseHandle(handle)


class WindowsProcess:
    """One agent, alive or dead: the same interface as on POSIX (:class:`.posix.PosixProcess`)."""

    def __init__(
        self,
        child: subprocess.Popen[bytes],
        job: JobObject,
        on_data: Callable[[bytes], None],
        on_eof: Callable[[], None],
        on_exit: Callable[[AgentExit], None],
        on_stderr: Callable[[bytes], None],
    ) -> None:
        self.pid: Final = child.pid
        self.returncode: int | None = None
        self._child = child
        self._job = job
        self._on_data = on_data
        self._on_eof = on_eof
        self._on_exit = on_exit
        self._on_stderr = on_stderr
        self._loop = asyncio.get_running_loop()
        self._tail = StderrTail()
        self._outbox: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._unsent = 0
        self._open_pipes = 2
        self._mute = self._exited = self._ending = self._wanted = False
        self._reason: str | None = None
        self._patience = 1.0
        self._stirred = asyncio.Event()
        self._closed = asyncio.Event()
        for target in (self._read_stdout, self._read_stderr, self._write_stdin, self._wait_exit):
            name = f"{target.__name__} {self.pid}"
            threading.Thread(target=target, name=name, daemon=True).start()
        self._task = asyncio.create_task(self._supervise(), name=f"agent {self.pid}")

    def stderr_tail(self) -> str:
        return self._tail.text()

    def write(self, data: bytes) -> None:
        if self._exited or self._ending:
            return
        self._unsent += len(data)
        self._outbox.put(data)
        if self._unsent > _WRITE_LIMIT:
            self.abandon("the agent was stopped: it does not read its input")

    def abandon(self, reason: str) -> None:
        if not self._ending:
            self._reason = reason
            self._end(_URGENT)

    async def stop(self, *, patience: float = 1.0, urgent: bool = False) -> None:
        self._wanted = True
        if urgent or not self._ending:
            self._end(_URGENT if urgent else patience)
        await self._closed.wait()

    async def wait_closed(self) -> None:
        await self._closed.wait()

    def kill_now(self) -> None:
        self._job.kill()

    # --- threads ---

    def _tell(self, callback: Callable[..., None], *args: object) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended before us
            self._loop.call_soon_threadsafe(callback, *args)

    def _read_stdout(self) -> None:
        assert self._child.stdout is not None
        ahead = threading.Semaphore(_CHUNKS_AHEAD)

        def take(data: bytes) -> None:
            ahead.release()
            self._on_data(data)

        with contextlib.suppress(OSError):
            while data := os.read(self._child.stdout.fileno(), _CHUNK):
                ahead.acquire()
                self._tell(take, data)
        self._tell(self._see_eof, True)

    def _read_stderr(self) -> None:
        assert self._child.stderr is not None
        with contextlib.suppress(OSError):
            while data := os.read(self._child.stderr.fileno(), _CHUNK):
                self._tell(self._see_stderr, data)
        self._tell(self._see_eof, False)

    def _write_stdin(self) -> None:
        assert self._child.stdin is not None
        with contextlib.suppress(OSError), self._child.stdin as pipe:
            while (data := self._outbox.get()) is not None:
                left = memoryview(data)
                while left:
                    left = left[pipe.write(left) :]
                self._tell(self._sent, len(data))

    def _wait_exit(self) -> None:
        self._child.wait()
        self._tell(self._see_exit)

    # --- the loop's side ---

    def _sent(self, size: int) -> None:
        self._unsent -= size

    def _see_stderr(self, data: bytes) -> None:
        self._tail.add(data)
        self._on_stderr(data)

    def _see_eof(self, stdout: bool) -> None:
        self._open_pipes -= 1
        if stdout:
            self._mute = True
            self._on_eof()
        self._stirred.set()

    def _see_exit(self) -> None:
        self._exited = True
        self._outbox.put(None)
        self._stirred.set()

    def _end(self, patience: float) -> None:
        self._ending = True
        self._patience = patience
        self._outbox.put(None)
        self._stirred.set()

    async def _supervise(self) -> None:
        try:
            await self._wait(lambda: self._exited or self._ending or self._mute)
            over = await self._wait(lambda: self._exited or self._ending, _MUTE_SECONDS)
            if not over:
                self.abandon("the agent closed its output and was stopped")
            await self._patiently()
            # There is no gentler signal for a process without a console of ours.
            self._job.kill()
            await self._wait(lambda: self._exited, self._patience)
            await self._wait(lambda: self._open_pipes == 0, _QUIET_SECONDS)
            self.returncode = self._child.poll()
            self._on_exit(AgentExit(self.returncode, self._tail.text(), self._reason, self._wanted))
        finally:
            self._job.kill()
            self._job.close()
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

    async def _patiently(self) -> None:
        began = self._loop.time()
        while not self._exited and (left := began + self._patience - self._loop.time()) > 0:
            self._stirred.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(left):
                    await self._stirred.wait()


async def spawn(
    command: Command,
    leash: Leash,
    on_data: Callable[[bytes], None],
    on_eof: Callable[[], None],
    on_exit: Callable[[AgentExit], None],
    on_stderr: Callable[[bytes], None],
) -> WindowsProcess:
    """See :func:`acp_sidecar.agents.process.spawn`. The job stands in for the leash."""
    job, child = start_child(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    return WindowsProcess(child, job, on_data, on_eof, on_exit, on_stderr)


def start_child(
    command: Command, *, stdin: int, stderr: int
) -> tuple[JobObject, subprocess.Popen[bytes]]:
    """Start a program in a job object of its own, its output in a pipe. ``stdin`` and
    ``stderr`` as :class:`subprocess.Popen` takes them.

    :raises CannotStart: the process could not be made, or not be held
    """
    try:
        job = JobObject()
        child = subprocess.Popen(
            command.command_line or list(command.argv),
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=stderr,
            bufsize=0,
            env=dict(command.env),
            cwd=command.cwd,
            creationflags=(
                subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW | CREATE_SUSPENDED
            ),
        )
    except (OSError, ValueError) as problem:
        raise CannotStart(f"cannot start {command.argv[0]}: {problem}") from problem
    try:
        job.take(child)
    except OSError as problem:
        child.kill()
        job.close()
        raise CannotStart(f"cannot hold {command.argv[0]} in a job: {problem}") from problem
    return job, child
