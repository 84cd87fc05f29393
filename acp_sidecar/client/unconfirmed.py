"""An agent that does not confirm a cancel: it is waited for, then the user is offered to end it.

ACP, "Prompt Turn", Cancellation: the agent answers the prompt when it has stopped.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from acp_sidecar.acp.model import TurnEnded
from acp_sidecar.client.choices import Choice
from acp_sidecar.client.question import Question
from acp_sidecar.client.visible import visible

if TYPE_CHECKING:
    from acp_sidecar.client.prompt import Prompt
    from acp_sidecar.client.turns import Speaking

logger = logging.getLogger(__name__)

_RESTART: Final = "restart"


class Unconfirmed:
    """The cancelled turns of one session whose end the agent has not said."""

    def __init__(self, session: Speaking, runs: Callable[[Prompt], bool]) -> None:
        """``runs``: whether nothing else is sent because of this prompt."""
        self._session = session
        self._runs = runs

    async def watch(self, prompt: Prompt) -> None:
        """Give up waiting for an agent that does not confirm a cancel; offer to end it."""
        session, loop = self._session, asyncio.get_running_loop()
        timeout, began = session.settings.cancel_timeout, loop.time()
        session.editor.turn_says(session, "cancelling")
        while (left := began + timeout - loop.time()) > 0:
            await asyncio.sleep(min(1.0, left))
            waited = loop.time() - began
            session.editor.turn_says(session, f"cancelling, not confirmed for {waited:.0f} s")
        self._give_up(prompt, timeout)

    def _give_up(self, prompt: Prompt, seconds: float) -> None:
        """For the user the turn is over. Nothing else is sent as long as the agent's is not."""
        session = self._session
        prompt.given_up = True
        session.publish(session.state.apply(TurnEnded("cancelled")))
        session.editor.turn_ended(session)
        logger.info("%s does not confirm a cancel", session.agent_name)
        prompt.resolve("cancelled")
        session.editor.tell(
            "warning",
            f"{session.agent_name} has not confirmed the cancel for {seconds:g} s; it may "
            "still be working. The command acp.agent.restart ends it.",
        )
        self.offer_restart(prompt)

    def offer_restart(self, prompt: Prompt) -> None:
        """Ask the user whether to end the agent, where it is not asked already."""
        if not prompt.offered:
            prompt.offered = True
            asked = _question(self._session, prompt.turn_id)
            self._session.editor.offer(asked, lambda choice: self._answered(prompt, choice))

    def _answered(self, prompt: Prompt, choice: str | None) -> None:
        prompt.offered = False
        if choice == _RESTART and self._runs(prompt):
            agent = self._session.agent
            self._session.tasks.start(agent.stop(), name=f"end of {agent.name}")


def _question(session: Speaking, request_id: str) -> Question:
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
            Choice(_RESTART, f"Restart {name}", None, f"Restart {name}"),
        ),
    )
