"""Ends the agents and commands of a sidecar that was killed before it could do so itself.

Run by :mod:`acp_sidecar.agents.leash` as a process of its own (``python -I -S`` on this
file, so it imports little and starts fast). Its standard input is a pipe whose other end
only the sidecar holds. Lines of words, process ids in ASCII decimals:

* ``?MARK``: a process is about to start that has this open: ``pipe:[INODE]``, or a terminal
  such as ``/dev/pts/7``
* ``+PID MARK``: it has started and leads a session and process group with this number
* ``!MARK``: it could not be started
* ``-PID``: it has ended and nothing is left of its group

When the pipe closes, so does the standard input of every agent, and the other end of every
command's terminal. What is still there a
moment later is asked to end (SIGTERM) and, half a second later, made to (SIGKILL): the
whole group, and on Linux also groups a member has opened within the session, and the
sessions in which it runs its commands (see :func:`strays`), and whatever writes to a
command's terminal. Any other daemon is out of reach, on purpose: it was meant to outlive
whoever started it.

The functions on groups serve the sidecar itself as well.
"""

import contextlib
import os
import signal
import sys
import time

GRACE = 0.25
"""Seconds for an agent to end by itself, and what it runs, when its input has ended."""
CLOSING = 0.05
"""Seconds for the system to close all that a dead sidecar had open."""
PATIENCE = 0.5
"""Seconds between SIGTERM and SIGKILL."""

Stray = tuple[int, int]
"""A process id, and when that process began, since ids are used again."""
Census = dict[int, list[bytes]]
"""The fields of each process's ``stat`` from its state on."""

HAS_PROC = sys.platform == "linux" and os.path.exists("/proc/self/stat")  # noqa: PTH110 - starts fast
"""Whether the members of a group can be listed."""


def _fields(pid: int) -> list[bytes]:
    """The fields of a process's ``stat`` from its state on; none when it is gone (Linux)."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123 - starts fast
            return file.read().rpartition(b")")[2].split()
    except OSError:
        return []


def _places(pid: int) -> tuple[str, int, int] | None:
    """State, process group and session of a process; None when it is gone (Linux)."""
    fields = _fields(pid)
    if len(fields) < 4:
        return None
    return fields[0].decode(), int(fields[2]), int(fields[3])


def _pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdecimal()]  # noqa: PTH208 - fast


def members(leader: int) -> list[int]:
    """The living processes of the group and session that ``leader`` leads or led (Linux)."""
    found = []
    for pid in _pids():
        places = _places(pid)
        if places and places[0] not in "ZX" and leader in places[1:]:
            found.append(pid)
    return found


def census() -> Census:
    """Every process (Linux); to be taken once where several groups are looked at."""
    return {pid: found for pid in (_pids() if HAS_PROC else ()) if len(found := _fields(pid)) > 19}


def strays(leader: int, processes: Census | None = None) -> set[Stray]:
    """What the members of a group run in sessions of their own (Linux).

    Many agents give each command a session. They are found by their parents, so only as long
    as these live: a daemon has lost its own. What lets nobody hear of it (a browser for a
    login, a server that writes a log) is left alone as well.
    """
    fields = census() if processes is None else processes
    inside = {pid for pid, found in fields.items() if str(leader).encode() in found[2:4]}
    family, fresh = set(inside), inside
    outside: set[Stray] = set()
    while fresh:
        parents, fresh = fresh, set()
        for pid, found in fields.items():
            if pid in family or int(found[1]) not in parents or found[0] in b"ZX":
                continue
            if int(found[3]) != pid or _is_heard(pid):
                fresh.add(pid)
                outside.add((pid, int(found[19])))
        family |= fresh
    return outside


def _is_heard(pid: int) -> bool:
    """Whether what a process writes goes to somebody (Linux)."""
    for descriptor in (1, 2):
        with contextlib.suppress(OSError):
            target = os.readlink(f"/proc/{pid}/fd/{descriptor}")  # noqa: PTH115 - starts fast
            if target.startswith(("pipe:", "socket:", "/dev/pts/")):
                return True
    return False


def _lives(stray: Stray) -> bool:
    fields = _fields(stray[0])
    return len(fields) > 19 and int(fields[19]) == stray[1] and fields[0] not in b"ZX"


def is_empty(leader: int, also: set[Stray] | tuple[()] = ()) -> bool:
    """Whether nothing living is left of the group, and of ``also``.

    Without ``/proc`` a leader that nobody has waited for still counts as living.
    """
    if HAS_PROC:
        return not members(leader) and not any(map(_lives, also))
    try:
        os.killpg(leader, 0)
    except OSError:
        return True
    return False


def are_left(groups: dict[int, set[Stray]], processes: Census) -> bool:
    """Whether anything living is left of any of these groups, in one look (Linux)."""
    leaders = {str(leader).encode() for leader in groups}
    also = {stray for found in groups.values() for stray in found}
    return any(
        fields[0] not in b"ZX"
        and (not leaders.isdisjoint(fields[2:4]) or (pid, int(fields[19])) in also)
        for pid, fields in processes.items()
    )


def signal_group(leader: int, *numbers: int, also: set[Stray] | tuple[()] = ()) -> None:
    """Sends signals to all of the group, to what else is in its session (Linux), to ``also``.

    The number of a group cannot be given to another process while a member or an unreaped
    leader is left; the caller sees to it that there is one, or was a moment ago.
    """
    if leader <= 1 or leader == os.getpgrp():
        return
    with contextlib.suppress(OSError):
        for number in numbers:
            os.killpg(leader, number)
    if HAS_PROC:
        for stray in {*_out_of_group(leader), *also}:
            _signal_stray(stray, numbers)


def signal_groups(groups: dict[int, set[Stray]], processes: Census, *numbers: int) -> None:
    """:func:`signal_group` for several, each with what else is to hear it, in one look."""
    for leader, also in groups.items():
        if leader <= 1 or leader == os.getpgrp():
            continue
        with contextlib.suppress(OSError):
            for number in numbers:
                os.killpg(leader, number)
        name = str(leader).encode()
        left = {
            (pid, int(fields[19]))
            for pid, fields in processes.items()
            if fields[3] == name != fields[2] and fields[0] not in b"ZX"
        }
        for stray in left | also:
            _signal_stray(stray, numbers)


def ask_to_end(leader: int, also: set[Stray] | tuple[()] = ()) -> None:
    """SIGTERM to the group, which a stopped process hears only when it runs again."""
    signal_group(leader, signal.SIGTERM, signal.SIGCONT, also=also)


def _out_of_group(leader: int) -> list[Stray]:
    """Processes of the session that have left the group."""
    found = []
    for pid in members(leader):
        fields = _fields(pid)
        if len(fields) > 19 and int(fields[2]) != leader and int(fields[3]) == leader:
            found.append((pid, int(fields[19])))
    return found


def _signal_stray(stray: Stray, numbers: tuple[int, ...]) -> None:
    """Signals this process, and certainly no other."""
    if sys.platform == "linux":
        try:
            handle = os.pidfd_open(stray[0])
        except OSError:
            return
        try:
            if _lives(stray):
                for number in numbers:
                    signal.pidfd_send_signal(handle, number)
        except OSError:
            pass
        finally:
            os.close(handle)


def holders(target: str) -> set[Stray]:
    """The processes that have this pipe or terminal open, as ``/proc`` names it (Linux)."""
    return holders_of([target])[target]


def holders_of(targets: list[str]) -> dict[str, set[Stray]]:
    """:func:`holders` of each of several, in one look."""
    found: dict[str, set[Stray]] = {target: set() for target in targets}
    for pid in _pids() if HAS_PROC and targets else ():
        if pid == os.getpid():
            continue
        with contextlib.suppress(OSError):
            for descriptor in os.listdir(f"/proc/{pid}/fd"):  # noqa: PTH208 - starts fast
                target = os.readlink(f"/proc/{pid}/fd/{descriptor}")  # noqa: PTH115
                if target in found and len(fields := _fields(pid)) > 19:
                    found[target].add((pid, int(fields[19])))
    return found


def _is_terminal(mark: str) -> bool:
    return mark.startswith("/")


def _orphaned(mark: str) -> str:
    """How ``/proc`` names what was marked when the sidecar is gone. The name of a terminal
    without its other end may be given to somebody else's."""
    return f"{mark} (deleted)" if _is_terminal(mark) else mark


def _find_started(marks: set[str], groups: set[int]) -> None:
    """Finds processes that started but were not reported any more, by what they have open."""
    deadline = time.monotonic() + PATIENCE
    while marks and HAS_PROC and time.monotonic() < deadline:
        for mark in list(marks):
            found = [pid for pid, _ in holders(_orphaned(mark))]
            leaders = {pid for pid in found if (_places(pid) or ("", 0, 0))[2] == pid}
            groups |= leaders
            if leaders or not found:
                marks.discard(mark)
        if marks:
            time.sleep(0.01)  # a child on its way to its own session


def end_groups(groups: set[int], terminals: dict[int, str], grace: float, patience: float) -> None:
    """Ends every group, its commands and what writes to its terminal with it. Blocks until done.

    ``grace`` seconds for those that end by themselves, SIGTERM, ``patience`` seconds, SIGKILL.
    """
    writers = {group: holders(_orphaned(terminal)) for group, terminal in terminals.items()}
    left = _left({group: writers.get(group, set()) for group in groups}, grace)
    for group, found in left.items():
        found |= strays(group)
        ask_to_end(group, found)
    left = _left(left, patience)
    for _ in range(100):
        if not left:
            return
        for group, found in left.items():
            found |= strays(group)
            signal_group(group, signal.SIGKILL, also=found)
        left = _left(left, 0.01)


def _left(groups: dict[int, set[Stray]], seconds: float) -> dict[int, set[Stray]]:
    """The groups that are not empty after ``seconds``; at once where none is left."""
    deadline = time.monotonic() + seconds
    while True:
        groups = {group: found for group, found in groups.items() if not is_empty(group, found)}
        if not groups or time.monotonic() > deadline:
            return groups
        time.sleep(0.01)


def _read(line: bytes, groups: set[int], marks: set[str], terminals: dict[int, str]) -> None:
    kind, words = line[:1], line[1:].decode("ascii", "replace").split()
    if kind == b"?":
        marks.add(words[0])
    elif kind == b"+" and int(words[0]) > 1:
        groups.add(int(words[0]))
        marks.discard(words[1])
        if _is_terminal(words[1]):
            terminals[int(words[0])] = words[1]
    elif kind == b"!":
        marks.discard(words[0])
    elif kind == b"-":
        groups.discard(int(words[0]))
        terminals.pop(int(words[0]), None)


def main() -> None:
    """Watches standard input until it closes, then ends what is listed."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # What is sent to everybody (a logout, a service being stopped) is sent to the
        # sidecar as well; this process goes when the pipe says that the sidecar is gone.
        signal.signal(number, signal.SIG_IGN)
    groups: set[int] = set()
    marks: set[str] = set()
    terminals: dict[int, str] = {}
    rest = b""
    while chunk := os.read(0, 4096):
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            with contextlib.suppress(ValueError, IndexError):
                _read(line, groups, marks, terminals)
    if terminals or any(map(_is_terminal, marks)):
        time.sleep(CLOSING)
    _find_started(marks, groups)
    end_groups(groups, terminals, GRACE, PATIENCE)
    os._exit(0)


if __name__ == "__main__":
    main()
