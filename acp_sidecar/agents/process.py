"""Starts agents and ends them, with everything they have started.

Every agent leads a session and process group of its own. It ends by :meth:`stop` (stdin
closed, then SIGTERM, then SIGKILL, always to the whole group), and whatever happens to the
sidecar, SIGKILL included, by the watchdog. Commands that an agent runs in sessions of their
own are its own to end as long as it ends by itself, and are ended with it where it is made
to (Linux). A daemon is out of reach.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Final

from acp_sidecar.agents.command import Command, CommandNotFound, resolve
from acp_sidecar.agents.exits import AgentExit, CannotStart
from acp_sidecar.agents.leash import Leash

if sys.platform == "win32":
    from acp_sidecar.agents import windows as _platform
    from acp_sidecar.agents.windows import WindowsProcess as AgentProcess
else:
    from acp_sidecar.agents import posix as _platform
    from acp_sidecar.agents.posix import PosixProcess as AgentProcess

__all__ = [
    "AgentExit",
    "AgentProcess",
    "CannotStart",
    "Command",
    "CommandNotFound",
    "resolve",
    "spawn",
]

LEASH: Final = Leash()
"""One for the whole sidecar: the watchdog is there once."""


async def spawn(
    command: Command,
    *,
    on_data: Callable[[bytes], None],
    on_exit: Callable[[AgentExit], None],
    on_eof: Callable[[], None] = lambda: None,
    on_stderr: Callable[[bytes], None] = lambda data: None,
) -> AgentProcess:
    """Starts an agent.

    :param on_data: takes each chunk of its stdout, in order; never called before this returns
    :param on_exit: called once, when the agent has exited and everything it wrote has been
        delivered; what is left of its group is ended after that
    :param on_eof: called once if its stdout closes
    :param on_stderr: takes each chunk of its stderr; all of them come before ``on_exit``
    :raises CannotStart: the process could not be made
    """
    return await _platform.spawn(command, LEASH, on_data, on_eof, on_exit, on_stderr)
