"""Runs a command for an agent: in a terminal of its own, and with an end.

As agents do, every command leads a session and process group of its own, ends with all it
has started by :meth:`end`, and whatever happens to the sidecar by the watchdog. It reads
nothing: its standard input is empty, and there is no terminal to ask a person at. What it
writes goes to a terminal (on Windows to a pipe) that is always read.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection

from acp_sidecar.agents.command import Command
from acp_sidecar.agents.exits import CannotStart, CommandExit
from acp_sidecar.agents.process import LEASH
from acp_sidecar.agents.shell import ProgramNotFound, command_line, to_run

if sys.platform == "win32":
    from acp_sidecar.agents import windows_job as _platform
    from acp_sidecar.agents.windows_job import WindowsJob as Job

    CODE_PAGE: str | None = "oem"
else:
    from acp_sidecar.agents import posix_job as _platform
    from acp_sidecar.agents.posix_job import PosixJob as Job

    CODE_PAGE: str | None = None

__all__ = [
    "CODE_PAGE",
    "CannotStart",
    "Command",
    "CommandExit",
    "Job",
    "ProgramNotFound",
    "command_line",
    "end_at_once",
    "start",
    "to_run",
]


def start(
    command: Command,
    *,
    on_output: Callable[[bytes], None],
    on_exit: Callable[[CommandExit], None],
) -> Job:
    """Starts a command.

    :param on_output: takes each piece of what it writes, in order; never called before this
        returns. What it leaves running may write after its end
    :param on_exit: called once when the command itself has ended, a moment after at most
        though something it has started goes on and may write
    :raises CannotStart: the process could not be made
    """
    return _platform.start(command, LEASH, on_output, on_exit)


async def end_at_once(jobs: Collection[Job]) -> None:
    """Ends commands and all they have started, however many they are; also while an end of one
    is still being patient. They have 0.1 seconds; then they are killed."""
    await _platform.end_at_once(jobs)
