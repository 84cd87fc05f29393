"""A new session in the place of one that can never be opened again: what that has left goes on.

The conversation is lost. What waits for review and the checkpoints are not, and neither is
what the user had typed: it is handed out.
"""

from __future__ import annotations

from typing import Final

from acp_sidecar.acp.model import Notice
from acp_sidecar.client.cutoff import CutOff, take_up
from acp_sidecar.client.live import LiveSession

_LOST: Final = "The agent knows nothing of the conversation so far, and it is not shown."
_REVIEWS: Final = "What it has changed in files still waits for review."


def go_on(session: LiveSession, cut_off: CutOff | None, *, reviews: bool, untouched: bool) -> None:
    """See what the other one has left; ``reviews``: something waits for review. ``untouched``:
    no conversation is missed in it."""
    session.quiet = True
    session.review_soon()
    if cut_off is not None:
        take_up(session, cut_off)
    if untouched:
        return
    title = f"{session.agent_name} cannot open the session again: this is a new one."
    lost = f"{_LOST} {_REVIEWS}" if reviews else _LOST
    session.publish(session.state.apply(Notice("info", title, lost), replay=True))
    session.editor.tell("info", f"{title} {lost}")
