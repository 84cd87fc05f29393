"""Files that have just become empty, or are gone: most often somebody is about to write them.

Many programs empty a file before they write it, or take it away and make it anew. What it says in
between is nobody's change.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from acp_sidecar.workspace import disk
from acp_sidecar.workspace.disk import Stamp
from acp_sidecar.workspace.uris import path_key

_LATELY_SECONDS: Final = 0.1
_AT_MOST_SECONDS: Final = 0.2
_LOOK_SECONDS: Final = 0.01


class Emptied:
    """Remembers when files were first seen so."""

    def __init__(self) -> None:
        self._first: dict[str, tuple[Stamp | None, float]] = {}

    def lately(self, path: Path) -> bool:
        """Whether a file that is known to have said something has become empty, or is gone, since
        a tenth of a second."""
        key, stamp = path_key(str(path)), disk.stamp(path)
        if stamp is not None and stamp.size:
            self._first.pop(key, None)
            return False
        try:
            since = (path if stamp is not None else path.parent).stat().st_mtime
        except OSError:
            return False
        # What happens beside a file that is gone makes its folder look new.
        now = time.monotonic()
        found, first = self._first.setdefault(key, (stamp, now))
        if found != stamp:
            self._first[key], first = (stamp, now), now
        return abs(time.time() - since) < _LATELY_SECONDS and now - first < _LATELY_SECONDS


async def until_whole(half_written: Callable[[], bool]) -> None:
    """Wait until that is so no more, 0.2 seconds at most."""
    end = time.monotonic() + _AT_MOST_SECONDS
    while half_written() and time.monotonic() < end:  # noqa: ASYNC110 - nobody tells
        await asyncio.sleep(_LOOK_SECONDS)
