"""``acp/transcript``: the conversation's blocks as upserts, for editors that draw it.

Blocks that changed are collected by id and sent on a timer: at most 30 times a second,
and slower for big ones, so that an agent which resends its whole output costs the editor
a bounded rate. The last state of a block always arrives.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import orjson

from acp_sidecar.session.transcript import block, blocks, changed_entries

if TYPE_CHECKING:
    from acp_sidecar.client.sessions import LiveSession
    from acp_sidecar.editor.server import SidecarServer
    from acp_sidecar.session.change import Change

INTERVAL_SECONDS: Final = 1 / 30
BYTES_PER_SECOND: Final = 2_000_000
TEXT_CHARACTERS: Final = 200_000
"""Longest text of a block that is sent; its end is what a person looks at."""


class Transcript:
    """What the editor still has to be told of each session's conversation."""

    def __init__(self, server: SidecarServer, *, wanted: bool) -> None:
        self._server = server
        self._wanted = wanted
        self._due: dict[str, tuple[LiveSession, dict[str, Any]]] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._next_at = 0.0

    def changed(self, session: LiveSession, changes: Sequence[Change]) -> None:
        """Note the blocks these changes touch; they are sent soon."""
        if not self._wanted:
            return
        entries = changed_entries(changes)
        if not entries:
            return
        _, due = self._due.setdefault(session.state.session_id, (session, {}))
        for entry in entries:
            due[entry["id"]] = entry
        self._schedule()

    def snapshot(self, session: LiveSession) -> dict[str, Any]:
        """All blocks of a session (``acp/transcript/snapshot``)."""
        return {
            "sessionId": session.state.session_id,
            "blocks": [_capped(one) for one in blocks(session.state)],
        }

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
        for session_id, (session, entries) in due.items():
            found = [block(session.state, entry) for entry in entries.values()]
            params = {"sessionId": session_id, "blocks": [_capped(one) for one in found if one]}
            size += len(orjson.dumps(params, default=str))
            self._server.notify_json("acp/transcript", params)
        self._next_at = loop.time() + max(INTERVAL_SECONDS, size / BYTES_PER_SECOND)


def _capped(value: Any) -> Any:
    """The block with every very long text cut at its front."""
    if isinstance(value, str):
        if len(value) <= TEXT_CHARACTERS:
            return value
        return f"[… {len(value) - TEXT_CHARACTERS} characters before]\n{value[-TEXT_CHARACTERS:]}"
    if isinstance(value, dict):
        return {name: _capped(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_capped(item) for item in value]
    return value
