"""Ends the agents of a sidecar that was killed before it could do so itself.

Run by :mod:`acp_sidecar.agents.leash` as a process of its own (``python -I -S`` on this
file, so it imports little and starts fast). Its standard input is a pipe whose other end
only the sidecar holds. Lines, in ASCII decimals:

* ``?INODE``: an agent is about to start that reads from the pipe with this inode
* ``+PID INODE``: it has started and leads a session and process group with this number
* ``!INODE``: it could not be started
* ``-PID``: it has ended and nothing is left of its group

When the pipe closes, what is still listed is asked to end (SIGTERM) and, half a second
later, made to (SIGKILL): the whole group, and on Linux also groups a member has opened
within the session. A process that has made a session of its own (a daemon) is out of
reach, on purpose: it was meant to outlive whoever started it.

The functions on groups serve the sidecar itself as well.
"""

import contextlib
import os
import signal
import sys
import time

PATIENCE = 0.5
"""Seconds between SIGTERM and SIGKILL."""

HAS_PROC = sys.platform == "linux" and os.path.exists("/proc/self/stat")  # noqa: PTH110 - starts fast
"""Whether the members of a group can be listed."""


def _places(pid: int) -> tuple[str, int, int] | None:
    """State, process group and session of a process; None when it is gone (Linux)."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123 - starts fast
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    if len(fields) < 4:
        return None
    return fields[0].decode(), int(fields[2]), int(fields[3])


def members(leader: int) -> list[int]:
    """The living processes of the group and session that ``leader`` leads or led (Linux)."""
    found = []
    for name in os.listdir("/proc"):  # noqa: PTH208 - starts fast
        if name.isdecimal():
            places = _places(int(name))
            if places and places[0] not in "ZX" and leader in places[1:]:
                found.append(int(name))
    return found


def is_empty(leader: int) -> bool:
    """Whether nothing living is left of the group.

    Without ``/proc`` a leader that nobody has waited for still counts as living.
    """
    if HAS_PROC:
        return not members(leader)
    try:
        os.killpg(leader, 0)
    except OSError:
        return True
    return False


def signal_group(leader: int, *numbers: int) -> None:
    """Sends signals to all of the group, and to what else is in its session (Linux).

    The number of a group cannot be given to another process while a member or an unreaped
    leader is left; the caller sees to it that there is one, or was a moment ago.
    """
    if leader <= 1 or leader == os.getpgrp():
        return
    with contextlib.suppress(OSError):
        for number in numbers:
            os.killpg(leader, number)
    if HAS_PROC:
        for pid in members(leader):
            _signal_stray(pid, leader, numbers)


def ask_to_end(leader: int) -> None:
    """SIGTERM to the group, which a stopped process hears only when it runs again."""
    signal_group(leader, signal.SIGTERM, signal.SIGCONT)


def _signal_stray(pid: int, leader: int, numbers: tuple[int, ...]) -> None:
    """Signals a process of the session that has left the group, and certainly no other."""
    if sys.platform == "linux":
        try:
            handle = os.pidfd_open(pid)
        except OSError:
            return
        try:
            places = _places(pid)
            if places and places[1] != leader and places[2] == leader:
                for number in numbers:
                    signal.pidfd_send_signal(handle, number)
        except OSError:
            pass
        finally:
            os.close(handle)


def _holders(inode: int) -> list[int]:
    """Processes that have the pipe with this inode open (Linux)."""
    wanted = f"pipe:[{inode}]"
    found = []
    for name in os.listdir("/proc"):  # noqa: PTH208 - starts fast
        if not name.isdecimal() or int(name) == os.getpid():
            continue
        with contextlib.suppress(OSError):
            for descriptor in os.listdir(f"/proc/{name}/fd"):  # noqa: PTH208 - starts fast
                if os.readlink(f"/proc/{name}/fd/{descriptor}") == wanted:  # noqa: PTH115
                    found.append(int(name))
                    break
    return found


def _find_started(inodes: set[int], groups: set[int]) -> None:
    """Finds agents that started but were not reported any more, by their standard input."""
    deadline = time.monotonic() + PATIENCE
    while inodes and HAS_PROC and time.monotonic() < deadline:
        for inode in list(inodes):
            holders = _holders(inode)
            leaders = {pid for pid in holders if (_places(pid) or ("", 0, 0))[2] == pid}
            groups |= leaders
            if leaders or not holders:
                inodes.discard(inode)
        if inodes:
            time.sleep(0.01)  # a child on its way to its own session


def end_groups(groups: set[int], patience: float) -> None:
    """Ends every group: SIGTERM, ``patience`` seconds, SIGKILL. Blocks until done."""
    left = {group for group in groups if not is_empty(group)}
    for group in left:
        ask_to_end(group)
    deadline = time.monotonic() + patience
    while left and time.monotonic() < deadline:
        time.sleep(0.01)
        left = {group for group in left if not is_empty(group)}
    for _ in range(100):
        if not left:
            return
        for group in left:
            signal_group(group, signal.SIGKILL)
        time.sleep(0.01)
        left = {group for group in left if not is_empty(group)}


def _read(line: bytes, groups: set[int], inodes: set[int]) -> None:
    kind, numbers = line[:1], [int(word) for word in line[1:].split()]
    if kind == b"?":
        inodes.add(numbers[0])
    elif kind == b"+" and numbers[0] > 1:
        groups.add(numbers[0])
        inodes.discard(numbers[1])
    elif kind == b"!":
        inodes.discard(numbers[0])
    elif kind == b"-":
        groups.discard(numbers[0])


def main() -> None:
    """Watches standard input until it closes, then ends what is listed."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # What is sent to everybody (a logout, a service being stopped) is sent to the
        # sidecar as well; this process goes when the pipe says that the sidecar is gone.
        signal.signal(number, signal.SIG_IGN)
    groups: set[int] = set()
    inodes: set[int] = set()
    rest = b""
    while chunk := os.read(0, 4096):
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            with contextlib.suppress(ValueError, IndexError):
                _read(line, groups, inodes)
    _find_started(inodes, groups)
    end_groups(groups, PATIENCE)
    os._exit(0)


if __name__ == "__main__":
    main()
