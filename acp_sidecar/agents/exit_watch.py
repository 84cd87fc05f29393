"""Sees a child exit without reaping it (POSIX).

As long as an exited process is not waited for, its number, and that of the group it leads,
belongs to nobody else.
"""

from __future__ import annotations

import contextlib
import logging
import os
import select
import sys
import threading

log = logging.getLogger(__name__)


def exit_descriptor(pid: int) -> int:
    """A descriptor that becomes readable when a child exits. It leaves the child unreaped."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            return os.pidfd_open(pid)
    else:  # macOS and BSD: untested here
        queue = select.kqueue()
        event = select.kevent(pid, select.KQ_FILTER_PROC, select.KQ_EV_ADD, select.KQ_NOTE_EXIT)
        with contextlib.suppress(ProcessLookupError):
            queue.control([event], 0)
            return os.dup(queue.fileno())
    return _watch_in_thread(pid)


def _watch_in_thread(pid: int) -> int:
    readable, writable = os.pipe()

    def wait() -> None:
        try:
            if sys.platform != "darwin":
                os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        except OSError:
            log.debug("child %d was reaped by somebody else", pid)
        finally:
            os.close(writable)

    threading.Thread(target=wait, name=f"exit of {pid}", daemon=True).start()
    return readable


def exit_status(pid: int) -> int | None:
    """The status of an exited child that stays unreaped: negative for a signal.

    ``None`` where the system cannot tell without reaping.
    """
    if sys.platform != "darwin":
        with contextlib.suppress(OSError):
            found = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG)
            if found is not None:
                return found.si_status if found.si_code == os.CLD_EXITED else -found.si_status
    return None
