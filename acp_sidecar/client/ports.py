"""What the ACP client role needs of an editor.

``app.py`` hands an implementation in; nothing in ``client/`` knows LSP. All of it is
called from the event loop and returns at once: a slow editor never holds up an agent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from acp_sidecar.client.question import Question
    from acp_sidecar.client.sessions import LiveSession
    from acp_sidecar.session.change import Change

Severity = Literal["error", "warning", "info", "log"]


class Editor(Protocol):
    """The person's side. What it answers comes back through the client's operations."""

    def changed(
        self, session: LiveSession, changes: Sequence[Change], *, replay: bool = False
    ) -> None:
        """The session's state moved. In a ``replay`` nothing is revealed, asked or edited."""

    def turn_began(self, session: LiveSession) -> None:
        """A prompt went out to the agent."""

    def turn_ended(self, session: LiveSession) -> None:
        """The agent is idle again."""

    def ask(self, question: Question) -> None:
        """Put a question to the user; its answer comes through ``Permissions``."""

    def withdraw(self, request_id: str) -> None:
        """The question is settled without this editor: close it, drop a late click."""

    def tell(self, severity: Severity, text: str) -> None:
        """Say something to the user; ``log`` is for who looks, not for a pop-up."""

    def files_changed(self, session: LiveSession) -> None:
        """What waits for review in this session may have moved."""

    def queue_changed(self, session: LiveSession) -> None:
        """The prompts that wait in this session are others now."""
