"""What the user is told in passing: ``window/showMessage``, or the log.

LSP 3.17, "ShowMessage Notification". Some editors stop at every message until a key is
pressed, so repeats are told once and a flood of them goes to the log.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from acp_sidecar.client.ports import Severity
    from acp_sidecar.editor.server import SidecarServer

_TYPES: Final[Mapping[Severity, int]] = {"error": 1, "warning": 2, "info": 3, "log": 3}
SECONDS: Final = 10.0
"""Within which a text is told once, and of each severity ``MOST`` texts."""
MOST: Final = 6


class Messages:
    """Tells one user things. ``clock`` gives seconds that only grow."""

    def __init__(self, server: SidecarServer, clock: Callable[[], float] = time.monotonic) -> None:
        self._server = server
        self._clock = clock
        self._told: dict[str, float] = {}
        self._times: dict[Severity, deque[float]] = {}

    def tell(self, severity: Severity, text: str) -> None:
        """Show ``text``, unless it was shown just now or too much was; ``log``: only log it."""
        if severity == "log":
            self._send("window/logMessage", severity, text)
            return
        now = self._clock()
        self._told = {old: at for old, at in self._told.items() if now - at < SECONDS}
        if text in self._told:
            return
        self._told[text] = now
        times = self._times.setdefault(severity, deque())
        while times and now - times[0] >= SECONDS:
            times.popleft()
        if len(times) < MOST:
            self._send("window/showMessage", severity, text)
        else:
            self._send("window/logMessage", severity, text)
        if len(times) == MOST:
            self._send("window/showMessage", severity, "There is more of this kind in the log.")
        if len(times) <= MOST:
            times.append(now)

    def _send(self, method: str, severity: Severity, text: str) -> None:
        self._server.notify_json(method, {"type": _TYPES[severity], "message": text})
