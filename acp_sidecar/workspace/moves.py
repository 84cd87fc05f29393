"""Files that an agent moves: which one that has appeared is one that has vanished."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from attrs import evolve

from acp_sidecar.workspace.disk import Stamp
from acp_sidecar.workspace.entry import Changer, Entry, Origin, State, same
from acp_sidecar.workspace.problems import FileProblem
from acp_sidecar.workspace.texts import FileText, Missing


def join(entries: Collection[Entry], turn: int, changer: Changer) -> None:
    """Find the files that the agent has moved in this turn: the old path is gone, and the
    new one has come with the same content."""
    gone = _Gone(entry for entry in entries if _has_vanished(entry, turn))
    if not gone:
        return
    for entry in tuple(entries):
        whole = entry.state.whole
        if entry.appeared != turn or whole is None or whole.conflict:
            continue
        if not entry.state.created or entry.state.origin is not None:
            continue
        old = gone.find(entry)
        if old is not None:
            _join(old, entry, changer)


def in_order(entries: Sequence[Entry], known: Mapping[Path, Entry]) -> list[Entry]:
    """The entries, of all that are known, those that have moved after what has taken their old
    place."""
    order: dict[Path, Entry] = {}
    chosen = set(entries)
    for entry in entries:
        chain: dict[Path, Entry] = {}
        while entry.path not in order and entry.path not in chain:
            chain[entry.path] = entry
            origin = entry.state.origin
            before = None if origin is None else known.get(origin.path)
            if before is None or before not in chosen:
                break
            entry = before
        order |= dict(reversed(chain.items()))
    return list(order.values())


def _has_vanished(entry: Entry, turn: int) -> bool:
    vanished = entry.vanished
    return vanished is not None and vanished[0] == turn and entry.state.now.is_missing


def _join(old: Entry, new: Entry, changer: Changer) -> None:
    assert old.vanished is not None
    was = old.vanished[1]
    old.vanished = None
    if was.created:
        # It has only ever been the agent's, but for what the user has done to it.
        old.state = changer.clean(Missing(old.path))
        if was.whole is not None and was.whole.conflict and new.state.whole is not None:
            whole = evolve(was.whole, id=new.state.whole.id)
            new.state = evolve(new.state, whole=whole)
        return
    origin: Origin | None = was.origin or changer.origin(new.path, old.path)
    if origin is not None and origin.path == new.path:
        origin = None
    said = new.state.now.get()
    state = changer.moved(new.path, evolve(was, origin=None), said, "agent")
    old.state = changer.clean(Missing(old.path))
    new.state = evolve(state, origin=origin)


class _Gone:
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
