"""What ended a turn, in words for a person.

ACP, "Prompt Turn", stop reasons. What an agent says beyond those is made visible.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from acp_sidecar.client.visible import visible
from acp_sidecar.session.snapshot import snapshot
from acp_sidecar.session.state import Session

_JUST_ENDED: Final = "end_turn"
_SENTENCES: Final[Mapping[str, str]] = {
    "cancelled": "Cancelled",
    "max_tokens": "The agent stopped: its limit of tokens is reached",
    "max_turn_requests": "The agent stopped: its limit of requests in a turn is reached",
    "refusal": "The agent refused to go on",
}


def stop_text(stop_reason: str | None) -> str | None:
    """What is to be said of a turn that ended so; None where it just ended, or has not."""
    if stop_reason is None or stop_reason == _JUST_ENDED:
        return None
    return _SENTENCES.get(stop_reason) or f"The turn ended: {visible(stop_reason)}"


def whole_state(session: Session) -> dict[str, Any]:
    """A session as ``acp.session.state`` gives it: its snapshot, and what is to be said of how its
    last turn ended."""
    return {**snapshot(session), "stopText": stop_text(session.turns.stop_reason)}
