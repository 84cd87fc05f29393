"""What some agents tell in a way of their own, as what the protocol has for it.

Agents are known by the name they give themselves in ``initialize``.
"""

from __future__ import annotations

import re
from typing import Final

from acp_sidecar.acp.model import Event, MessageChunk, ModeUpdate, SessionModes, TextContent

_GEMINI: Final = "gemini-cli"
_CLAUDE: Final = "@agentclientprotocol/claude-agent-acp"
_NEW_MODE: Final = re.compile(r"\[MODE_UPDATE\] (\S+)")
"""How it tells of another mode, which it goes into when the user allows something for the whole
session. It sends no ``current_mode_update``."""
_NOT_OF_THE_USER: Final = {
    _GEMINI: re.compile(
        r"\s*(?:<session_context>.*</session_context>|(?:\[Function Response: [^\]]*\]\s*)+)\s*",
        re.DOTALL,
    ),
    _CLAUDE: re.compile(r"\s*\[Request interrupted by user(?: for tool use)?\]\s*"),
}
"""What their histories tell as words of the user: what they have told their model."""


def meant(event: Event, agent: str | None, modes: SessionModes | None) -> Event | None:
    """The event that is meant by what an agent has sent: nearly always that itself, None where
    it means nothing to the user.

    :param agent: the agent's own name
    :param modes: those of the session
    """
    if agent not in _NOT_OF_THE_USER or not isinstance(event, MessageChunk):
        return event
    if not isinstance(event.content, TextContent):
        return event
    text = event.content.text
    if event.role == "user":
        return None if _NOT_OF_THE_USER[agent].fullmatch(text) else event
    if agent != _GEMINI:
        return event
    words = _NEW_MODE.fullmatch(text)
    known = modes.available_modes if modes is not None else ()
    if event.role == "agent" and words and any(mode.id == words[1] for mode in known):
        return ModeUpdate(words[1])
    return event
