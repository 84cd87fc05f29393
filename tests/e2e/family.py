"""The processes a sidecar has started, found by their numbers and never by their names."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable

STUBBORN = 'exec 3<&0; (trap "" TERM HUP INT; exec sleep 600) & "$@" <&3 & wait'
"""A wrapper (``sh -c STUBBORN sh COMMAND…``) like many in the field: the agent is a child of
a shell, beside something that hears neither the end of its input nor SIGTERM, and holds the
pipes."""

Process = tuple[int, int]
"""A process id and when that process began, since ids are used again."""


def _table() -> dict[Process, int]:
    """Every living process and its parent's id."""
    table: dict[Process, int] = {}
    for name in os.listdir("/proc"):
        if name.isdecimal():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    fields = file.read().rpartition(b")")[2].split()
            except OSError:
                continue
            if fields[0] not in b"ZX":
                table[int(name), int(fields[19])] = int(fields[1])
    return table


def everyone() -> set[Process]:
    """Every living process there is."""
    return set(_table())


def descendants(pid: int) -> set[Process]:
    """Every living process below this one."""
    table = _table()
    found: set[Process] = set()
    above = {pid}
    while below := {one for one, parent in table.items() if parent in above} - found:
        found |= below
        above = {number for number, _ in below}
    return found


def itself(pid: int) -> Process:
    """The living process of this id."""
    return next(one for one in _table() if one[0] == pid)


def children(pid: int) -> list[int]:
    """The living processes that this one has started, oldest first."""
    below = [one for one, parent in _table().items() if parent == pid]
    return [number for number, _ in sorted(below, key=lambda one: (one[1], one[0]))]


def command_of(pid: int) -> list[str]:
    with open(f"/proc/{pid}/cmdline", "rb") as file:
        return file.read().decode().rstrip("\0").split("\0")


def environment_of(pid: int) -> dict[str, str]:
    with open(f"/proc/{pid}/environ", "rb") as file:
        entries = file.read().decode().rstrip("\0").split("\0")
    return dict(entry.split("=", 1) for entry in entries)


BOUND = 20
"""Seconds after which a test gives up waiting."""


async def survivors(family: Iterable[Process], seconds: float = BOUND) -> set[Process]:
    """Who of them does not end; with 0 seconds, who lives now."""
    family = set(family)
    deadline = asyncio.get_running_loop().time() + seconds
    while left := family & set(_table()):
        if asyncio.get_running_loop().time() > deadline:
            break
        await asyncio.sleep(0.01)
    return left
