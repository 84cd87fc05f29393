"""No editor at all: for tools that talk to an agent without a person."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from acp_sidecar.client.ports import Severity
    from acp_sidecar.client.question import Question
    from acp_sidecar.client.sessions import LiveSession
    from acp_sidecar.session.change import Change


class SilentEditor:
    """Shows nothing and answers nothing. Implements ``ports.Editor``."""

    def changed(
        self, session: LiveSession, changes: Sequence[Change], *, replay: bool = False
    ) -> None:
        """Nobody looks."""

    def turn_began(self, session: LiveSession) -> None:
        """Nobody looks."""

    def turn_ended(self, session: LiveSession) -> None:
        """Nobody looks."""

    def ask(self, question: Question) -> None:
        """Nobody answers; the question is cancelled when its agent ends."""

    def withdraw(self, request_id: str) -> None:
        """Nothing was shown."""

    def tell(self, severity: Severity, text: str) -> None:
        """Nobody listens."""

    def files_changed(self, session: LiveSession) -> None:
        """Nobody reviews."""

    def queue_changed(self, session: LiveSession) -> None:
        """Nobody looks."""
