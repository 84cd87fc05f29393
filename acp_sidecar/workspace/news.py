"""What an agent cannot know at its next prompt: what has become of its changes."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from attrs import frozen

from acp_sidecar.workspace.entry import Entry, State, lines_of
from acp_sidecar.workspace.hunks import Who
from acp_sidecar.workspace.problems import FileProblem
from acp_sidecar.workspace.sequences import changed_blocks
from acp_sidecar.workspace.shelf import Kept
from acp_sidecar.workspace.taking import Part
from acp_sidecar.workspace.texts import FileText


@frozen
class TextChange:
    """Lines ``before`` that became lines ``after``, from the 0-based ``line`` on."""

    line: int
    before: str
    after: str


@frozen
class Reverted:
    """A change of the agent's that was taken back: what it had made of what."""

    path: Path
    before: str
    after: str


@frozen
class Edited:
    """A file of the agent's that the user has changed since the last prompt. Without
    ``changes`` it was made, deleted, or is no text."""

    path: Path
    exists: bool
    changes: tuple[TextChange, ...]


@frozen
class NewsForAgent:
    """What has happened since the last prompt."""

    reverted: tuple[Reverted, ...] = ()
    edited: tuple[Edited, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.reverted or self.edited)


class News:
    """Collects what there is to tell an agent."""

    def __init__(self) -> None:
        self._reverted: dict[str, Reverted] = {}
        self._edits: dict[Path, list[tuple[Kept, Kept]]] = {}

    def clear(self) -> None:
        """The agent has been told."""
        self._reverted.clear()
        self._edits.clear()

    def happened(self, entry: Entry, old: State, who: Who) -> None:
        """A file has come to say something else."""
        if entry.by_agent and who == "user":
            self.edited(entry.path, old.now, entry.state.now)

    def edited(self, path: Path, before: Kept, after: Kept) -> None:
        """A file was changed on behalf of the user."""
        edits = self._edits.setdefault(path, [])
        if edits and (edits[-1][1] is before or _same(edits[-1][1], before)):
            before = edits.pop()[0]
        edits.append((before, after))

    def taken_back(self, part: Part) -> None:
        """Hunks were reverted."""
        for id_, before, after in _texts(part.pre, set(part.ids)):
            self._reverted[id_] = Reverted(part.entry.path, before, after)

    def undone(self, part: Part) -> None:
        """A revert was taken back."""
        for id_ in part.ids:
            self._reverted.pop(id_, None)

    def all(self) -> NewsForAgent:
        """Everything since the last :meth:`clear`."""
        edited = [
            Edited(path, not edits[-1][1].is_missing, tuple(_changes(edits)))
            for path, edits in self._edits.items()
            if len(edits) > 1 or not _same(*edits[0])
        ]
        return NewsForAgent(tuple(self._reverted.values()), tuple(edited))


def _same(before: Kept, after: Kept) -> bool:
    return _text(before) == _text(after) and before.kind == after.kind != "bytes"


def _changes(edits: list[tuple[Kept, Kept]]) -> list[TextChange]:
    found: list[TextChange] = []
    for before, after in edits:
        if not (before.is_text and after.is_text):
            continue
        old, new = _lines(before), _lines(after)
        found += [
            TextChange(b0, "".join(old[a0:a1]), "".join(new[b0:b1]))
            for a0, a1, b0, b1 in changed_blocks(old, new)
        ]
    return found


def _texts(state: State, ids: Collection[str]) -> Iterator[tuple[str, str, str]]:
    """The hunks of these ids, what they had replaced, and by what."""
    now = _lines(state.now) if state.patches else []
    for patch in state.patches:
        if patch.id in ids:
            after = now[patch.start : patch.end]
            yield patch.id, "".join(patch.before.lines()), "".join(after)
    if state.whole is not None and state.whole.id in ids:
        yield state.whole.id, _text(state.whole.baseline), _text(state.now)


def _lines(kept: Kept) -> list[str]:
    try:
        said = kept.get()
    except FileProblem:
        return []
    return lines_of(said) if isinstance(said, FileText) else []


def _text(kept: Kept) -> str:
    return "".join(_lines(kept))
