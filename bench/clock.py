"""Seconds of processor time: other work on the machine does not count."""

from __future__ import annotations

import sys
import time

if sys.platform == "win32":

    def cpu() -> float:
        """Of this process, and of those it has waited for; here just the time of day."""
        return time.perf_counter()

else:
    import resource

    def cpu() -> float:
        """Of this process, and of those it has waited for."""
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        return time.process_time() + children.ru_utime + children.ru_stime
