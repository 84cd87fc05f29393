"""What an agent prints on stdout beside the protocol: counted, and a little of it logged."""

from __future__ import annotations

import logging
import re
from typing import Final

log = logging.getLogger(__name__)

_SECRET: Final = re.compile(r"[A-Za-z0-9_-]{20,}")
_LOGGED_LINES: Final = 20
_LOGGED_CHARACTERS: Final = 120


class SkippedLines:
    """The lines of one agent that are no messages.

    :ivar count: how many there were
    :ivar last: the last of them, cut, escaped, and with what may be a secret left out
    """

    def __init__(self) -> None:
        self.count = 0
        self.last = ""

    def add(self, line: bytes) -> None:
        self.count += 1
        text = line[: 4 * _LOGGED_CHARACTERS].decode("utf-8", "replace")[:_LOGGED_CHARACTERS]
        self.last = ascii(_SECRET.sub("…", text)).replace("\\u2026", "…")
        if self.count < _LOGGED_LINES:
            log.info("skipped %d bytes that are no message: %s", len(line), self.last)
        elif self.count == _LOGGED_LINES:
            log.info("the agent prints much beside the protocol; no more of it is logged")
