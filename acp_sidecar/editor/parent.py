"""The watch over the process that started us (``processId`` of LSP ``initialize``)."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Any, Final

POLL_SECONDS: Final = 0.25


async def wait_for_end(pid: Any) -> bool:
    """Return True once the process has ended.

    Returns False at once when there is nothing to watch: ``pid`` is no process id, or no
    such process is known here (an editor outside of our container or machine).
    """
    if not isinstance(pid, int) or isinstance(pid, bool) or not 0 < pid < 1 << 31:
        return False
    if sys.platform == "win32":
        return await _poll_windows(pid)
    if hasattr(os, "pidfd_open"):
        try:
            descriptor = os.pidfd_open(pid)
        except ProcessLookupError:
            return False
        except OSError:
            # An old kernel, or a sandbox without the call.
            return await _poll(pid)
        return await _readable(descriptor)
    return await _poll(pid)


async def _readable(descriptor: int) -> bool:
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    try:
        loop.add_reader(descriptor, ended.set)
        await ended.wait()
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)
    return True


async def _poll(pid: int) -> bool:
    known = False
    while True:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return known
        except PermissionError:
            pass
        known = True
        await asyncio.sleep(POLL_SECONDS)


async def _poll_windows(pid: int) -> bool:  # untested: no Windows machine at hand
    import ctypes

    synchronize, signalled = 0x00100000, 0
    kernel: Any = vars(ctypes)["windll"].kernel32
    handle = kernel.OpenProcess(synchronize, False, pid)
    if not handle:
        return False
    try:
        while kernel.WaitForSingleObject(handle, 0) != signalled:  # noqa: ASYNC110 - no event
            await asyncio.sleep(POLL_SECONDS)
    finally:
        kernel.CloseHandle(handle)
    return True
