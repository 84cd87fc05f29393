"""Whether the agent is at work: turns begin and end, questions wait, the session ends.

A v1 agent answers a prompt at the end of its turn, so several may be at work at a time; a v2
agent says itself that it works, waits for the user, or is idle (ACP v2, "Prompt Lifecycle").
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

from acp_sidecar.acp.model import JsonObject, TurnEnded
from acp_sidecar.session.change import Change, StatusChanged

End: TypeAlias = Literal["closed", "dead"]
"""How a session ends: in good order, or with its agent."""


class Turns:
    """The turns of one session and its end, as far as they make its status."""

    def __init__(self, waits: Callable[[], bool]) -> None:
        """``waits``: whether a question waits for the user."""
        self.stop_reason: str | None = None
        self.stop_error: JsonObject | None = None
        """The JSON-RPC error that ended the last turn, where the agent told of one."""
        self.ended: End | None = None
        self.end_reason: str | None = None
        """Why the agent is gone, for people."""
        self.cancelled = False
        """Whether the user has cancelled the latest turn."""
        self._waits = waits
        self._prompts = 0
        self._needs_action = False
        self._told = "idle"

    @property
    def status(self) -> str:
        """``idle``, ``running``, ``requires_action``, ``closed`` or ``dead``."""
        if self.ended:
            return self.ended
        if self._needs_action or self._waits():
            return "requires_action"
        return "running" if self._prompts else "idle"

    @property
    def in_turn(self) -> bool:
        """Whether a turn has begun and not ended."""
        return bool(self._prompts)

    def moved(self) -> list[Change]:
        """The status, where it is another than was told last."""
        return [] if self.status == self._told else [self.told()]

    def told(self) -> Change:
        """The status, to be told now."""
        self._told = self.status
        return StatusChanged(self._told, self.stop_reason)

    def prompted(self) -> None:
        """A prompt goes out."""
        self._prompts += 1
        self.cancelled = False
        self.stop_reason = self.stop_error = None

    def began(self, *, needs_action: bool = False) -> None:
        """The agent says that it works, or that it waits for the user."""
        if not self._prompts:
            self._prompts, self.stop_reason, self.stop_error = 1, None, None
        self._needs_action = needs_action

    def stopped(self, event: TurnEnded) -> None:
        """A turn has ended; with an idle agent all of them."""
        self._needs_action = False
        self.stop_reason, self.stop_error = event.stop_reason, event.error
        self._prompts = 0 if event.idle else max(0, self._prompts - 1)

    def cancel(self) -> None:
        """The user has cancelled the turn."""
        self.cancelled = True
        self._needs_action = False

    def end(self, how: End) -> None:
        """The session has ended."""
        self.ended, self._prompts, self._needs_action = how, 0, False

    def revive(self) -> None:
        """Where the agent was gone, the session goes on with another process of it."""
        if self.ended == "dead":
            self.ended = self.end_reason = None
