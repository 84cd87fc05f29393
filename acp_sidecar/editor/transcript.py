"""``acp/transcript``: the conversation's blocks as upserts, for editors that draw it.

Blocks that changed are collected by key and sent on a timer: at most 30 times a second,
and slower for big ones, so that an agent which resends its whole output costs the editor
a bounded rate. The last state of a block always arrives.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from acp_sidecar.client.ports import stop_text
from acp_sidecar.session.change import (
    Change,
    CommandsChanged,
    ConfigChanged,
    InfoChanged,
    ModesChanged,
    StatusChanged,
    UsageChanged,
)
from acp_sidecar.session.snapshot import offered, usage
from acp_sidecar.session.transcript import block, changed_keys

if TYPE_CHECKING:
    from acp_sidecar.client.ports import SessionView
    from acp_sidecar.editor.server import SidecarServer

INTERVAL_SECONDS: Final = 1 / 30
BYTES_PER_SECOND: Final = 2_000_000
STATUS: Final = "status"
"""Key and kind of the one block that is no entry: what stands beside the conversation."""

_IN_STATUS: Final = (
    StatusChanged,
    InfoChanged,
    UsageChanged,
    ModesChanged,
    ConfigChanged,
    CommandsChanged,
)


class Transcript:
    """What the editor still has to be told of each session's conversation."""

    def __init__(self, server: SidecarServer, *, wanted: bool) -> None:
        self._server = server
        self._wanted = wanted
        self._due: dict[str, tuple[SessionView, dict[str, None]]] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._next_at = 0.0

    def changed(self, session: SessionView, changes: Sequence[Change]) -> None:
        """Note the blocks these changes touch; they are sent soon."""
        keys = changed_keys(list(changes))
        if any(isinstance(change, _IN_STATUS) for change in changes):
            keys.append(STATUS)
        self._note(session, keys)

    def queue_changed(self, session: SessionView) -> None:
        """The prompts that wait are others now."""
        self._note(session, [STATUS])

    def flush(self) -> None:
        """Send what is due at once, so that a turn's result does not overtake its last blocks.

        Towards an editor that does not keep up nothing is hurried.
        """
        if self._timer is not None and not self._server.congested:
            self._timer.cancel()
            self._send()

    def snapshot(self, session: SessionView) -> dict[str, Any]:
        """All blocks of a session (``acp/transcript/snapshot``)."""
        keys = [entry.key for entry in session.state.entries]
        return {
            "sessionId": session.state.session_id,
            "blocks": [one for key in (*keys, STATUS) if (one := _block(session, key))],
        }

    def _note(self, session: SessionView, keys: Sequence[str]) -> None:
        if not self._wanted or not keys:
            return
        _, due = self._due.setdefault(session.state.session_id, (session, {}))
        due.update(dict.fromkeys(keys))
        self._schedule()

    def _schedule(self) -> None:
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_at(max(self._next_at, loop.time()), self._send)

    def _send(self) -> None:
        self._timer = None
        loop = asyncio.get_running_loop()
        if self._server.congested:
            self._next_at = loop.time() + 4 * INTERVAL_SECONDS
            self._schedule()
            return
        due, self._due = self._due, {}
        size = 0
        for session_id, (session, keys) in due.items():
            found = [one for key in keys if (one := _block(session, key))]
            params = {"sessionId": session_id, "blocks": found}
            size += self._server.notify_json("acp/transcript", params)
        self._next_at = loop.time() + max(INTERVAL_SECONDS, size / BYTES_PER_SECOND)


def _block(session: SessionView, key: str) -> dict[str, Any] | None:
    state = session.state
    if key == STATUS:
        return {
            "id": STATUS,
            "kind": STATUS,
            "agent": state.agent,
            "agentSessionId": state.agent_session_id,
            "cwd": state.cwd,
            "status": state.status,
            "stopReason": state.turns.stop_reason,
            "stopText": stop_text(state.turns.stop_reason),
            "queue": session.queue(),
            "title": state.title,
            "usage": usage(state),
            **offered(state),
        }
    entry = state.entry(key)
    return block(state, entry) if entry else None
