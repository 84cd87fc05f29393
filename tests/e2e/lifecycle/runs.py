"""A sidecar between the processes of an editor and of an agent."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.e2e.editor import BOUND, Editor
from tests.e2e.family import Process, command_of, descendants
from tests.e2e.puppet import RELAY

CANCELLED = {"outcome": {"outcome": "cancelled"}}
"""What a permission request is answered with where nobody has decided."""


class Run:
    """An editor's process, its sidecar and an agent with all it has started."""

    def __init__(self, editor: Editor, process: asyncio.subprocess.Process) -> None:
        self.editor = editor
        self.process = process
        self.family: set[Process] = set()

    @property
    def sidecar(self) -> int:
        return self.editor.process.pid

    def look(self) -> set[Process]:
        """Remember who is there now."""
        self.family |= descendants(self.sidecar)
        return self.family


async def hold_back(sidecar: int) -> Callable[[], list[dict[str, Any]]]:
    """Have the agent read no more; gives what looks at the messages that it was sent since.

    Whether a process gets to read what it was sent before it is killed is up to the machine.
    """
    (relay,) = [pid for pid, _ in descendants(sidecar) if str(RELAY) in command_of(pid)[1:2]]
    # Another reader of the same pipe: what is in it stays as long as there is one.
    descriptor = os.open(f"/proc/{relay}/fd/0", os.O_RDONLY | os.O_NONBLOCK)
    held = Path(command_of(relay)[2] + ".held")
    os.kill(relay, signal.SIGUSR1)
    async with asyncio.timeout(BOUND):
        while not held.exists():
            await asyncio.sleep(0.005)

    def unread() -> list[dict[str, Any]]:
        with open(descriptor, "rb", buffering=0) as pipe:
            return [json.loads(line) for line in (pipe.read() or b"").splitlines()]

    return unread
