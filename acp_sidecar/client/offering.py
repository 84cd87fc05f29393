"""Questions of our own to the user, in the form of an agent's: the same dialogs show them."""

from __future__ import annotations

from typing import Final

from acp_sidecar.client.choices import Choice
from acp_sidecar.client.ports import SessionView
from acp_sidecar.client.question import Question
from acp_sidecar.client.visible import visible

RESTART: Final = "restart"


def ignored_cancel(session: SessionView, request_id: str) -> Question:
    """Whether to end an agent that does not confirm a cancel."""
    name = visible(session.agent_name)
    return Question(
        request_id=request_id,
        session_id=session.state.session_id,
        agent=session.agent_name,
        kind="other",
        headline=f"{name} does not confirm the cancel and may still be working",
        mark=request_id,
        facts=(
            "Until it does, no other prompt is sent to it. A restart ends it with all its "
            "sessions in this folder; they go on with their next prompt.",
        ),
        choices=(
            Choice("wait", "Wait", None, "Wait"),
            Choice(RESTART, f"Restart {name}", None, f"Restart {name}"),
        ),
    )
