"""The whole session as ``acp.session.state`` gives it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from acp_sidecar.acp.encoding import encode
from acp_sidecar.session.state import Session
from acp_sidecar.session.terminals import IN_STATE


def snapshot(session: Session) -> dict[str, Any]:
    """A session as plain JSON, with ACP's names; no field is missing."""
    info, turns = session.info, session.turns
    return {
        "sessionId": session.session_id,
        "agentSessionId": session.agent_session_id,
        "agent": session.agent,
        "protocolVersion": session.protocol_version,
        "cwd": session.cwd,
        "roots": list(session.roots),
        "title": session.title,
        "updatedAt": info.updated_at,
        "status": session.status,
        "stopReason": turns.stop_reason,
        "stopError": turns.stop_error,
        "endReason": turns.end_reason,
        "turn": session.turn,
        "order": _all(session.entries),
        "messages": _all(session.messages),
        "toolCalls": _all(session.tool_calls),
        "plans": _all(session.plans),
        **offered(session),
        "usage": usage(session),
        "terminals": [each.to_json(IN_STATE) for each in session.terminals],
        "background": encode(session.background),
        "permissions": _all(session.permissions),
        "elicitations": _all(session.elicitations),
        "notices": _all(session.notices),
        "compactions": _all(session.compactions),
        "changes": session.changes,
        "follow": session.follow,
        "queue": session.queue,
        "_meta": info.meta,
    }


def offered(session: Session) -> dict[str, Any]:
    """What the agent offers in it, as it is now: ``modes``, ``configOptions``, ``commands``."""
    info = session.info
    return {
        "modes": encode(info.modes),
        "configOptions": encode(info.config_options),
        "commands": encode(info.commands),
    }


def usage(session: Session) -> dict[str, Any] | None:
    """The usage, with its cost."""
    told = session.info.usage
    return None if told is None else {"cost": None, **encode(told)}


def _all(items: Iterable[Any]) -> list[dict[str, Any]]:
    return [item.to_json() for item in items]
