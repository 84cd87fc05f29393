"""A sidecar between the processes of an editor and of an agent, and how long its end may take."""

from __future__ import annotations

import asyncio
import time

from tests.e2e.editor import Editor
from tests.e2e.family import Process, descendants

PROMPT_END = 1.0
"""Seconds: half a second for the end itself, the rest for a busy machine."""


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

    async def ended(self) -> tuple[int, float]:
        """The sidecar's exit code, and how long that took."""
        began = time.monotonic()
        return await self.editor.ended(), time.monotonic() - began
