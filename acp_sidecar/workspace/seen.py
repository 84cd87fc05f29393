"""What one agent believes its files say."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path
from typing import Final

_MOST: Final = 100_000_000
"""Characters remembered in all; then the text that was used longest ago is forgotten."""


class Seen:
    """The texts an agent was last told or wrote itself, by real path."""

    def __init__(self, most: int = _MOST) -> None:
        self._texts: OrderedDict[Path, str] = OrderedDict()
        self._asked: set[Path] = set()
        self._most = most
        self._size = 0

    def of(self, path: Path) -> str | None:
        """What it believes; None where that is not known."""
        return self._texts.get(path)

    def read(self, path: Path, text: str) -> None:
        """It asked us, and was told this."""
        self._asked.add(path)
        self._put(path, text)

    def wrote(self, path: Path, text: str) -> None:
        """It wrote this; also where that was merged with the changes of others."""
        self._put(path, text)

    def refused(self, path: Path) -> None:
        """It was told that a file has changed, and to read it again.

        An agent that asks us will do so. One that never has reads the disk by itself: what it
        comes back with is made from there, and must not be refused for ever.
        """
        if path not in self._asked:
            self._size -= len(self._texts.pop(path, ""))

    def _put(self, path: Path, text: str) -> None:
        self._size += len(text) - len(self._texts.pop(path, ""))
        self._texts[path] = text
        while self._size > self._most and len(self._texts) > 1:
            self._size -= len(self._texts.popitem(last=False)[1])
