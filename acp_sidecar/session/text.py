"""Text that grows by small pieces, in time linear in its length."""

from __future__ import annotations


class GrowingText:
    """Collects pieces and joins them when somebody looks."""

    __slots__ = ("_parts",)

    def __init__(self, text: str = "") -> None:
        self._parts = [text] if text else []

    def append(self, piece: str) -> None:
        self._parts.append(piece)

    def __str__(self) -> str:
        if len(self._parts) > 1:
            self._parts = ["".join(self._parts)]
        return self._parts[0] if self._parts else ""
