"""A prompt, from the queue to the end of its turn."""

from __future__ import annotations

import asyncio

from attrs import define, field

from acp_sidecar.acp.model import ContentBlock, TextContent, TurnEnded
from acp_sidecar.client.ports import Refused


class TurnFailed(Refused):
    """The turn ended without a stop reason; the message says why and what to do."""


@define(eq=False)
class Prompt:
    """What the user sent, from the queue to the end of its turn.

    ``ended`` resolves to the stop reason, or raises :class:`TurnFailed`.
    """

    turn_id: str
    blocks: tuple[ContentBlock, ...]
    ended: asyncio.Future[str]
    mentioned: tuple[ContentBlock, ...] = ()
    cancelled: bool = False
    given_up: bool = False
    """Whether its turn counts as over though the agent has not said so."""
    offered: bool = False
    """Whether the user is being asked to end the agent for it."""
    number: int | None = None
    tasks: list[asyncio.Task[None]] = field(factory=list)
    taken: asyncio.Future[TurnEnded] | None = None
    """The end of the turn, where the answer to the prompt is not yet that (v2)."""
    worked: bool = False
    """Whether the agent was at work since the prompt was sent."""
    early: TurnEnded | None = None
    """What the agent said of the end before it answered the prompt."""
    login: asyncio.Task[bool] | None = None
    """The login that the agent wants before it answers."""

    @property
    def text(self) -> str:
        """The prompt's text blocks, joined by lines."""
        return "\n".join(block.text for block in self.blocks if isinstance(block, TextContent))

    @property
    def attached(self) -> tuple[ContentBlock, ...]:
        """What the user gave beside the text, without what the text mentions."""
        mentioned = {id(block) for block in self.mentioned}
        return tuple(
            block
            for block in self.blocks
            if not isinstance(block, TextContent) and id(block) not in mentioned
        )

    def resolve(self, stop_reason: str) -> None:
        """Its turn is over for the user, where it is not yet."""
        if not self.ended.done():
            self.ended.set_result(stop_reason)

    def fail(self, reason: str) -> None:
        """Its turn has failed, where it is not over; ``reason`` is for people."""
        if not self.ended.done():
            self.ended.set_exception(TurnFailed(reason))
