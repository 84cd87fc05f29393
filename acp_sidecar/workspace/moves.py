"""Which file that has appeared is one that has vanished, under another name."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from acp_sidecar.workspace.disk import Stamp
from acp_sidecar.workspace.entry import Entry, State, same
from acp_sidecar.workspace.problems import FileProblem
from acp_sidecar.workspace.texts import FileText, Missing


class Gone:
    """The files that have vanished, to be found by what has appeared."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._by_stamp: dict[Stamp, list[Entry]] = {}
        self._by_content: dict[int, list[Entry]] = {}
        self._left: dict[Path, Entry] = {}
        for entry in entries:
            if entry.vanished is None:
                continue
            _, state, stamp = entry.vanished
            self._left[entry.path] = entry
            if stamp is not None:
                self._by_stamp.setdefault(stamp, []).append(entry)
            content = _content(state)
            if content is not None:
                self._by_content.setdefault(content, []).append(entry)

    def __bool__(self) -> bool:
        return bool(self._left)

    def find(self, new: Entry) -> Entry | None:
        """The file that is now called so; it is found once."""
        content = _content(new.state)
        some = [] if new.stamp is None else self._by_stamp.get(new.stamp, [])
        others = [] if content is None else self._by_content.get(content, [])
        for old in (*some, *others):
            if old.path in self._left and _is_same_file(old, new):
                del self._left[old.path]
                return old
        return None


def _content(state: State) -> int | None:
    """What tells one content from most others; None for an empty one, or none."""
    try:
        said = state.now.get()
    except FileProblem:
        return None
    if isinstance(said, FileText):
        return hash(said.text.replace("\r\n", "\n").replace("\r", "\n")) if said.text else None
    return None if isinstance(said, Missing) else hash(said.data)


def _is_same_file(old: Entry, new: Entry) -> bool:
    if old.vanished is None or old.path == new.path:
        return False
    _, state, stamp = old.vanished
    if is_moved(stamp, new.stamp):
        return True
    try:
        before, after = state.now.get(), new.state.now.get()
    except FileProblem:
        return False
    empty = isinstance(after, FileText) and not after.text
    return not empty and same(before, after)


def inode(stamp: Stamp) -> tuple[int, int]:
    """What the names of one file have in common."""
    return stamp.device, stamp.inode


def is_moved(old: Stamp | None, new: Stamp | None) -> bool:
    """Whether two paths have been, one after the other, the one name of a file. The inode
    alone does not tell: it is given to the next file as soon as it is free."""
    if old is None or new is None or old.links != 1 or new.links != 1:
        return False
    return old == new
