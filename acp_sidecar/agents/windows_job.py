"""A command on Windows: its pipe, its job object, its end. Untested, like
:mod:`acp_sidecar.agents.windows`.

A thread reads the pipe, another waits for the exit.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Collection
from typing import Final

from acp_sidecar.agents.command import Command
from acp_sidecar.agents.exits import CommandExit
from acp_sidecar.agents.leash import Leash

assert sys.platform == "win32"

from acp_sidecar.agents.windows import JobObject, start_child  # noqa: E402 - not elsewhere

log = logging.getLogger(__name__)

_CHUNK: Final = 65536
_CHUNKS_AHEAD: Final = 16
_QUIET_SECONDS: Final = 0.1
_KILLED_SECONDS: Final = 1.0


class WindowsJob:
    """One command: the same interface as on POSIX (:class:`.posix_job.PosixJob`)."""

    def __init__(
        self,
        child: subprocess.Popen[bytes],
        job: JobObject,
        on_output: Callable[[bytes], None],
        on_exit: Callable[[CommandExit], None],
    ) -> None:
        self.pid: Final = child.pid
        self.exit: CommandExit | None = None
        self.gone = False
        self._child = child
        self._job = job
        self._on_output = on_output
        self._on_exit = on_exit
        self._loop = asyncio.get_running_loop()
        self._open = True
        self._exited = False
        self._reported = asyncio.Event()
        for target in (self._read_pipe, self._wait_exit):
            name = f"{target.__name__} {self.pid}"
            threading.Thread(target=target, name=name, daemon=True).start()

    async def end(self) -> None:
        await self._end(_KILLED_SECONDS)

    async def _end(self, seconds: float) -> None:
        # There is no gentler signal for a process without a console of ours.
        self.kill_now()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._reported.wait()
        self._report()
        self._job.close()
        self.gone = True

    def kill_now(self) -> None:
        self._job.kill()

    # --- threads ---

    def _tell(self, callback: Callable[..., None], *args: object) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended before us
            self._loop.call_soon_threadsafe(callback, *args)

    def _read_pipe(self) -> None:
        assert self._child.stdout is not None
        ahead = threading.Semaphore(_CHUNKS_AHEAD)

        def take(data: bytes) -> None:
            ahead.release()
            self._on_output(data)

        with contextlib.suppress(OSError):
            while data := os.read(self._child.stdout.fileno(), _CHUNK):
                ahead.acquire()
                self._tell(take, data)
        self._tell(self._see_eof)

    def _wait_exit(self) -> None:
        self._child.wait()
        self._tell(self._see_exit)

    # --- the loop's side ---

    def _see_eof(self) -> None:
        self._open = False
        if self._exited:
            self._report()

    def _see_exit(self) -> None:
        self._exited = True
        if self._open:
            self._loop.call_later(_QUIET_SECONDS, self._report)
        else:
            self._report()

    def _report(self) -> None:
        if self.exit is not None:
            return
        self.exit = CommandExit.of(self._child.poll())
        self._reported.set()
        try:
            self._on_exit(self.exit)
        except Exception:  # boundary: the process's end goes on whatever its listener does
            log.exception("the listener to a command's exit failed")


async def end_at_once(jobs: Collection[WindowsJob]) -> None:
    """See :func:`acp_sidecar.agents.job.end_at_once`."""
    for job in jobs:
        job.kill_now()
    for job in jobs:
        await job._end(_QUIET_SECONDS)


def start(
    command: Command,
    leash: Leash,
    on_output: Callable[[bytes], None],
    on_exit: Callable[[CommandExit], None],
) -> WindowsJob:
    """See :func:`acp_sidecar.agents.job.start`. The job object stands in for the leash."""
    job, child = start_child(command, stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT)
    return WindowsJob(child, job, on_output, on_exit)
