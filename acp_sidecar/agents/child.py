"""A child process on POSIX: started on pipes of ours, and seen to exit without being reaped.

As long as an exited process is not waited for, its number, and that of the group it leads,
belongs to nobody else.
"""

from __future__ import annotations

import contextlib
import logging
import os
import select
import subprocess
import sys
import threading

from acp_sidecar.agents.command import Command
from acp_sidecar.agents.exits import CannotStart
from acp_sidecar.agents.leash import Leash

log = logging.getLogger(__name__)


def start_child(
    command: Command, leash: Leash
) -> tuple[subprocess.Popen[bytes], tuple[int, int, int]]:
    """Starts a program as the leader of a session and group of its own, held by the leash.

    :returns: the child, and our ends of its stdin, stdout and stderr
    :raises CannotStart: the process could not be made
    """
    try:
        return _on_pipes(command, leash)
    except (OSError, ValueError) as problem:
        raise CannotStart(_explain(problem, command)) from problem


def _on_pipes(
    command: Command, leash: Leash
) -> tuple[subprocess.Popen[bytes], tuple[int, int, int]]:
    with contextlib.ExitStack() as on_error, contextlib.ExitStack() as always:

        def pipe(we_write: bool) -> tuple[int, int]:
            theirs, ours = os.pipe() if we_write else reversed(os.pipe())
            always.callback(os.close, theirs)
            on_error.callback(os.close, ours)
            return theirs, ours

        stdin, our_stdin = pipe(True)
        stdout, our_stdout = pipe(False)
        stderr, our_stderr = pipe(False)
        mark = f"pipe:[{os.fstat(stdin).st_ino}]"
        leash.expect(mark)
        on_error.callback(leash.failed, mark)
        child = subprocess.Popen(
            command.argv,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            env=dict(command.env),
            cwd=command.cwd,
            start_new_session=True,
        )
        leash.hold(child.pid, mark)
        on_error.pop_all()
    return child, (our_stdin, our_stdout, our_stderr)


def _explain(problem: Exception, command: Command) -> str:
    program = command.argv[0]
    if isinstance(problem, FileNotFoundError):
        if command.cwd is not None and problem.filename == command.cwd:
            return f"cannot start {program}: the folder {command.cwd} does not exist"
        return f"cannot start {program}: it, or the interpreter its first line names, is missing"
    text = problem.strerror if isinstance(problem, OSError) else None
    return f"cannot start {program}: {text or problem}"


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
