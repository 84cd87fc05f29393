"""Why and how the process ends: reasons, exit codes, signals, and the loop around it all."""

from __future__ import annotations

import asyncio
import contextlib
import enum
import os
import signal
import sys
from collections.abc import Callable, Coroutine, Iterator
from typing import Any, Final, NoReturn, TypeVar

T = TypeVar("T")

LEFTOVER_SECONDS: Final = 0.05


class End(enum.Enum):
    """Why the server ends."""

    EXIT = "the client said exit"
    INPUT = "standard input ended"
    OUTPUT = "standard output was closed"
    PARENT = "the client's process ended"
    TERMINATED = "SIGTERM"
    INTERRUPTED = "SIGINT"
    HANGUP = "SIGHUP"


# An orderly end on request is no failure: Neovim warns of any other code than 0.
_SIGNAL_CODES: Final = {End.TERMINATED: 0, End.HANGUP: 0, End.INTERRUPTED: 130}


def exit_code(reason: End, *, asked_to_shut_down: bool) -> int:
    """The process's exit code (LSP 3.17 "exit": 0 if ``shutdown`` came before, else 1)."""
    return _SIGNAL_CODES.get(reason, 0 if asked_to_shut_down else 1)


@contextlib.contextmanager
def on_signals(loop: asyncio.AbstractEventLoop, finish: Callable[[End], None]) -> Iterator[None]:
    """Call ``finish`` in the loop for the signals that end a process.

    Does nothing outside of the main thread, where no signal can be had.
    """
    restore = contextlib.ExitStack()
    for reason in (End.TERMINATED, End.INTERRUPTED, End.HANGUP):
        number = getattr(signal, reason.value, None)
        if number is not None:
            with contextlib.suppress(ValueError, RuntimeError):
                restore.callback(_catch(loop, number, finish, reason))
    with restore:
        yield


def _catch(
    loop: asyncio.AbstractEventLoop, number: int, finish: Callable[[End], None], reason: End
) -> Callable[[], Any]:
    try:
        loop.add_signal_handler(number, finish, reason)
    except NotImplementedError:  # Windows; untested
        before = signal.signal(number, lambda *_: loop.call_soon_threadsafe(finish, reason))
        return lambda: signal.signal(number, before)
    return lambda: loop.remove_signal_handler(number)


def run_alone(main: Coroutine[Any, Any, T]) -> T:
    """Run ``main`` in an event loop of its own, and wait for nothing else at the end.

    Unlike :func:`asyncio.run` it does not wait for worker threads or for tasks that refuse
    to be cancelled, and it picks the kind of loop that can start processes, whatever policy
    a library has set.
    """
    if sys.platform == "win32":
        loop: asyncio.AbstractEventLoop = asyncio.ProactorEventLoop()
    else:
        loop = asyncio.SelectorEventLoop()
    try:
        asyncio.set_event_loop(loop)
        return loop.run_until_complete(main)
    finally:
        leftovers = asyncio.all_tasks(loop)
        for task in leftovers:
            task.cancel()
        if leftovers:
            loop.run_until_complete(asyncio.wait(leftovers, timeout=LEFTOVER_SECONDS))
        asyncio.set_event_loop(None)
        loop.close()


def leave(code: int) -> NoReturn:
    """End the process now.

    A plain return from the program would wait for every worker thread, one that sits in a
    read from a dead network drive included.
    """
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(code)
