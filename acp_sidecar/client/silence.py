"""Agents that say nothing where something is expected: the user is told, in a moment."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from acp_sidecar.acp.model import TurnEnded
    from acp_sidecar.client.live import LiveSession
    from acp_sidecar.client.prompt import Prompt
    from acp_sidecar.client.turns import Speaking

_SILENCE_SECONDS: Final = 30
"""After which a turn's progress says that nothing is heard of the agent."""
_LATE_WORDS_SECONDS: Final = 1.0
"""Some agents answer the prompt first and say what they have to say just after."""


def tell_where_nothing_came(session: LiveSession) -> None:
    """The session was loaded: say so where there is no history."""
    session.tasks.start(_tell_of_no_history(session), name="watch for a late history")


def tell_where_nothing_was_said(session: LiveSession, turn: int, ended: TurnEnded) -> None:
    """A turn has ended: say so where the agent has said and done nothing in it."""
    if not session.state.said_anything(turn):
        session.tasks.start(_tell_of_silence(session, turn, ended), name="watch for late words")


async def watch_silence(session: Speaking, prompt: Prompt) -> None:
    """Say in the progress of a prompt's turn for how long nothing has been heard."""
    heard, silent = session.heard, 0
    while not prompt.cancelled:
        await asyncio.sleep(_SILENCE_SECONDS)
        if session.heard == heard and session.state.status == "running":
            silent += _SILENCE_SECONDS
            session.editor.turn_says(session, f"nothing heard for {silent} s")
        elif silent:
            silent = 0
            session.editor.turn_says(session, "working")
        heard = session.heard


async def _tell_of_no_history(session: LiveSession) -> None:
    await asyncio.sleep(_LATE_WORDS_SECONDS)
    if not session.state.entries and not session.in_turn and not session.ended:
        session.editor.tell(
            "info",
            f"{session.agent_name} has opened the session again without any history. It may not "
            "know it any more; acp.session.new opens a new one.",
        )


async def _tell_of_silence(session: LiveSession, turn: int, ended: TurnEnded) -> None:
    await asyncio.sleep(_LATE_WORDS_SECONDS)
    if not session.state.said_anything(turn):
        session.editor.tell(
            "warning",
            f"{session.agent_name} ended the turn ({ended.stop_reason}) without a word. The "
            "session may be lost; acp.session.new opens a new one.",
        )
