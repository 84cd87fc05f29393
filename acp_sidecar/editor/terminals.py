"""``acp/terminal``: what commands write, for editors that show it in a place of its own.

Each message is a terminal as it stands, with the end of its output. They are sent on a timer,
ten times a second at most, and an editor that does not read gets only the latest of each: a
command that floods its terminal costs a bounded rate, and the last state always arrives.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from acp_sidecar.session.change import Change, TerminalChanged

if TYPE_CHECKING:
    from acp_sidecar.client.ports import SessionView
    from acp_sidecar.editor.server import SidecarServer
    from acp_sidecar.session.terminals import Terminal

INTERVAL_SECONDS: Final = 0.1
BYTES_PER_SECOND: Final = 2_000_000
TAIL: Final = 65536
"""Bytes of output that one message carries; ``acp.terminal.output`` gives all."""


class Terminals:
    """What the editor still has to be told of each terminal."""

    def __init__(self, server: SidecarServer, *, wanted: bool) -> None:
        self._server = server
        self._wanted = wanted
        self._due: dict[tuple[str, str], Terminal] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._next_at = 0.0

    def changed(self, session: SessionView, changes: Sequence[Change]) -> None:
        """Note the terminals these changes touch; they are sent soon."""
        if not self._wanted:
            return
        for change in changes:
            if isinstance(change, TerminalChanged):
                terminal = change.terminal
                self._due[session.state.session_id, terminal.terminal_id] = terminal
        if self._due and self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_at(max(self._next_at, loop.time()), self._send)

    def flush(self) -> None:
        """Send what is due at once, so that a turn's result does not overtake it."""
        if self._timer is not None and not self._server.congested:
            self._timer.cancel()
            self._send()

    def _send(self) -> None:
        self._timer = None
        due, self._due = self._due, {}
        size = 0
        for (session_id, terminal_id), terminal in due.items():
            size += self._server.notify_json(
                "acp/terminal",
                told(session_id, terminal, TAIL),
                droppable=("acp/terminal", session_id, terminal_id),
            )
        pause = max(INTERVAL_SECONDS, size / BYTES_PER_SECOND)
        self._next_at = asyncio.get_running_loop().time() + pause


def told(session_id: str, terminal: Terminal, most: int | None = None) -> dict[str, Any]:
    """A terminal as ``acp/terminal`` and ``acp.terminal.output`` give it; ``most`` as in
    :meth:`Terminal.to_json`."""
    return {"sessionId": session_id, **terminal.to_json(most)}
