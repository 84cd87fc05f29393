"""The terminals of a session: what runs or ran in them, and what it wrote.

Some are ours: an agent had us run a command. Of others the agent only tells, with its tool
calls; it has no say about ours. What was written stays to be looked at when the agent has
done with a terminal. ACP, "Terminals".
"""

from __future__ import annotations

from typing import Any, Final

from attrs import define, field

from acp_sidecar.acp.model import (
    UNSET,
    JsonObject,
    TerminalBytes,
    TerminalOutput,
    TerminalUpdate,
)
from acp_sidecar.session.display import shown
from acp_sidecar.session.meta import patched_meta
from acp_sidecar.session.output import Output

LIMIT: Final = 8 * 1024 * 1024
"""Bytes kept of a terminal's output where nobody says how many."""
IN_STATE: Final = 1024 * 1024
"""Bytes of each terminal's output that the state of a session holds, its end."""
TOTAL: Final = 4
"""All terminals of a session together keep this many times what a single one may."""


@define(eq=False)
class Terminal:
    """A command and its output."""

    terminal_id: str
    output: Output
    command: str | None = None
    """The whole command line, for people."""
    cwd: str | None = None
    exit_status: JsonObject | None = None
    """``{exitCode, signal}`` once the command has ended, one of them null."""
    ours: bool = False
    """Whether it runs here, and not in the agent."""
    fallback: str | None = None
    """The encoding of what is no UTF-8."""
    size: JsonObject | None = None
    """``{cols, rows}`` of the terminal it runs in, where the agent tells."""
    capabilities: JsonObject | None = None
    """What the agent lets a client do to it."""
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)
    shown_in: dict[str, None] = field(factory=dict)
    """The keys of the tool calls that show it."""

    @property
    def ended(self) -> bool:
        return self.exit_status is not None

    def text(self) -> str:
        """The output as the agent gets it."""
        return self.output.text(whole=self.ended, fallback=self.fallback)

    def to_json(self, most: int | None = None) -> dict[str, Any]:
        """The terminal as editors get it, its output as a person sees it.

        :param most: about how many bytes of the output are given, its end; None: all
        """
        if most is None:
            output, truncated = self.text(), self.output.truncated
        else:
            output, truncated = self.output.tail(most, whole=self.ended, fallback=self.fallback)
        told = {"size": self.size, "capabilities": self.capabilities, "_meta": self.meta}
        return {
            **self.unknown,
            "terminalId": self.terminal_id,
            "command": self.command,
            "cwd": self.cwd,
            "output": shown(output),
            "truncated": truncated,
            "exitStatus": self.exit_status,
            **{key: value for key, value in told.items() if value is not None},
        }


class Terminals:
    """All of them, within a limit for each and one for all together."""

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._total = TOTAL * limit
        self._size = 0
        self._all: dict[str, Terminal] = {}
        self._awaited: dict[str, dict[str, None]] = {}

    def all(self) -> list[Terminal]:
        """In order of first sight."""
        return list(self._all.values())

    def get(self, terminal_id: str) -> Terminal | None:
        return self._all.get(terminal_id)

    def begin(
        self,
        terminal_id: str,
        command: str,
        cwd: str,
        limit: int | None = None,
        fallback: str | None = None,
    ) -> Terminal:
        """A command begins to run here, under an id that is new.

        :param limit: the agent's, in bytes; ours is the most
        """
        kept = self._limit if limit is None else min(limit, self._limit)
        terminal = self._named(terminal_id, Output(kept))
        terminal.command, terminal.cwd = command, cwd
        terminal.ours, terminal.fallback = True, fallback
        return terminal

    def wrote(self, terminal: Terminal, data: bytes) -> None:
        """Its command has written this.

        Where all terminals together keep too much, the oldest loses what is oldest.
        """
        before = terminal.output.size
        terminal.output.add(data)
        self._size += terminal.output.size - before
        if self._size > self._total:
            self._shrink()

    def told(self, event: TerminalUpdate | TerminalOutput | TerminalBytes) -> Terminal | None:
        """The agent tells of a terminal of its own. None where it is one of ours."""
        known = self._all.get(event.terminal_id)
        if known is not None and known.ours:
            return None
        terminal = known or self._named(event.terminal_id, Output(self._limit))
        if isinstance(event, TerminalOutput | TerminalBytes):
            told = event.text if isinstance(event, TerminalOutput) else event.data
            self.wrote(terminal, _bytes(told))
            return terminal
        if event.command is not UNSET:
            terminal.command = event.command
        if event.cwd is not UNSET:
            terminal.cwd = event.cwd
        if event.output is not UNSET:
            self._size -= terminal.output.size
            terminal.output.clear()
            self.wrote(terminal, _bytes(event.output or b""))
        if event.truncated is not UNSET:
            terminal.output.truncated = bool(event.truncated)
        if event.exit_status is not UNSET:
            terminal.exit_status = event.exit_status
        if event.size is not UNSET:
            terminal.size = event.size
        if event.capabilities is not UNSET:
            terminal.capabilities = event.capabilities
        if event.meta is not UNSET:
            terminal.meta = patched_meta(terminal.meta, event.meta)
        if event.unknown:
            terminal.unknown = {**terminal.unknown, **event.unknown}
        return terminal

    def show_in(self, terminal_id: str, key: str) -> None:
        """A tool call shows this terminal, which may come later."""
        terminal = self._all.get(terminal_id)
        if terminal is not None:
            terminal.shown_in[key] = None
        else:
            self._awaited.setdefault(terminal_id, {})[key] = None

    def _named(self, terminal_id: str, output: Output) -> Terminal:
        terminal = self._all[terminal_id] = Terminal(terminal_id, output)
        terminal.shown_in.update(self._awaited.pop(terminal_id, {}))
        return terminal

    def _shrink(self) -> None:
        for terminal in self._all.values():
            excess = self._size - self._total
            if excess <= 0:
                return
            before = terminal.output.size
            terminal.output.shrink(max(0, before - excess))
            self._size += terminal.output.size - before


def _bytes(output: str | bytes) -> bytes:
    return output.encode() if isinstance(output, str) else output
