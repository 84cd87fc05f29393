"""The sidecar's end of the watchdog's pipe.

One watchdog for all agents and commands of a sidecar: it starts with the first and ends with
the last.
See :mod:`acp_sidecar.agents.watchdog` for what it does and what is said over the pipe.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

log = logging.getLogger(__name__)

_PROGRAM: Final = Path(__file__).with_name("watchdog.py")
_END_CHECKS: Final = 200


class Leash:
    """Tells the watchdog which process groups are to end with the sidecar.

    Without a watchdog (no interpreter to run it, no process left to be had) agents still run;
    they end by every way but a SIGKILL of the sidecar. A watchdog that was killed is replaced
    when the next agent starts.
    """

    def __init__(self) -> None:
        self._watchdog: subprocess.Popen[bytes] | None = None
        self._retired: list[subprocess.Popen[bytes]] = []
        self._pipe = -1
        self._groups: dict[int, str] = {}
        self._expected: set[str] = set()

    @property
    def pid(self) -> int | None:
        """The watchdog's process id, ``None`` while there is none."""
        return None if self._watchdog is None else self._watchdog.pid

    def expect(self, mark: str) -> None:
        """A process is about to start.

        :param mark: what it will have open and nobody else: ``pipe:[INODE]`` or a terminal's path
        """
        if self._watchdog is None or self._watchdog.poll() is not None:
            self._start()
        self._expected.add(mark)
        self._say(f"?{mark}")

    def failed(self, mark: str) -> None:
        """The expected process could not be started."""
        self._expected.discard(mark)
        self._say(f"!{mark}")
        self._retire_if_idle()

    def hold(self, leader: int, mark: str) -> None:
        """The expected process has started.

        :param leader: its process id, which is also the number of its group and session
        """
        self._expected.discard(mark)
        self._groups[leader] = mark
        self._say(f"+{leader} {mark}")

    def release(self, leader: int) -> None:
        """Nothing is left of this group. To be called before its number can be used again."""
        self._groups.pop(leader, None)
        self._say(f"-{leader}")
        self._retire_if_idle()

    async def settle(self) -> None:
        """Waits until a watchdog that has nothing left to watch has ended."""
        for _ in range(_END_CHECKS):
            self._retired = [watchdog for watchdog in self._retired if watchdog.poll() is None]
            if not self._retired:
                return
            await asyncio.sleep(0.005)
        log.warning("the watchdog does not end")

    def _retire_if_idle(self) -> None:
        if self._watchdog is not None and not self._groups and not self._expected:
            self._retired.append(self._watchdog)
            self._watchdog = None
            self._close()

    def _start(self) -> None:
        self._close()
        self._watchdog = None
        theirs, ours = os.pipe()
        try:
            self._watchdog = subprocess.Popen(
                [sys.executable, "-I", "-S", str(_PROGRAM)],
                stdin=theirs,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                start_new_session=True,
            )
        except OSError as problem:
            os.close(ours)
            log.warning("no watchdog: agents would outlive a kill -9 (%s)", problem)
            return
        finally:
            os.close(theirs)
        os.set_blocking(ours, False)
        self._pipe = ours
        for leader, mark in self._groups.items():
            self._say(f"+{leader} {mark}")

    def _say(self, line: str) -> None:
        if self._pipe >= 0:
            # A watchdog that is gone is replaced later.
            with contextlib.suppress(BrokenPipeError, BlockingIOError):
                os.write(self._pipe, f"{line}\n".encode())

    def _close(self) -> None:
        if self._pipe >= 0:
            os.close(self._pipe)
            self._pipe = -1
