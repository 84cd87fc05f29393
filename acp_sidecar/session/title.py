"""What a session is called, decided once for everybody who shows it."""

from __future__ import annotations

from typing import Final

from acp_sidecar.acp.model import TextContent
from acp_sidecar.session.message import Message

LENGTH: Final = 60
"""Characters of a title that is made of a prompt."""


class Title:
    """A session is called as its agent calls it, else as it was called on an earlier day, else
    by the first words of the first prompt that has any."""

    def __init__(self) -> None:
        self.earlier: str | None = None
        """What it was called when it was open last, where it is opened again."""
        self._words = ""
        self._first: Message | None = None
        self._whole = False

    def now(self, told: str | None) -> str | None:
        """The title, where the agent has told ``told``; None as long as there is none."""
        return told or self.earlier or self._words or None

    def hear(self, message: Message) -> None:
        """The user has said this, or more of it."""
        if self._whole:
            return
        if self._first is not None and message is not self._first:
            self._whole = True
            return
        words = _words(message)
        if words:
            self._first = message
            # Of a long prompt that is told in many pieces the rest is not looked at.
            self._whole = len(words) > LENGTH
            self._words = f"{words[: LENGTH - 1]}…" if self._whole else words


def _words(message: Message) -> str:
    texts = [block.text for block in message.content if isinstance(block, TextContent)]
    return " ".join(" ".join(texts).split())
