"""What an agent has changed, file by file, whoever held the pen.

Of every file a session hears of the ledger keeps the baseline: what it said before the
agent changed it. A change is the difference between the baseline and what the file says
now. What the user does to such a file belongs to the user: it is carried over into the
baseline as soon as it is seen, so that it is neither shown as the agent's nor lost when
the agent's changes are taken back. Where the two cannot be told apart (both changed the
same lines) the file is in conflict, and nothing is taken back before a person has looked.

What an agent reports is only believed where the file itself bears it out.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import stat
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final, Literal, TypeAlias

from attrs import define, evolve, frozen

from acp_sidecar.workspace.disk import Snapshot, is_temporary
from acp_sidecar.workspace.files import Files, FileText, Missing, WriteOutcome
from acp_sidecar.workspace.positions import split_lines
from acp_sidecar.workspace.problems import FileProblem
from acp_sidecar.workspace.textdiff import Hunk, fit, hunks, merge3, same_text
from acp_sidecar.workspace.texts import Said
from acp_sidecar.workspace.uris import path_to_uri

log = logging.getLogger(__name__)

Status: TypeAlias = Literal["modified", "created", "deleted"]

_STEPS_KEPT: Final = 64
"""Keeps and reverts that can be taken back."""


@frozen
class FileHunk:
    """Lines that differ from the baseline. ``hunk`` counts from 0."""

    id: str
    hunk: Hunk
    state: Literal["waiting", "conflict"] = "waiting"

    def to_json(self) -> dict[str, object]:
        lines = self.hunk
        return {
            "id": self.id,
            "before": {"start": lines.before_start, "lines": lines.before_lines},
            "after": {"start": lines.after_start, "lines": lines.after_lines},
            "state": self.state,
        }


@frozen
class FileChange:
    """One changed file."""

    path: Path
    uri: str
    status: Status
    hunks: tuple[FileHunk, ...]
    binary: bool = False

    def to_json(self) -> dict[str, object]:
        return {
            "uri": self.uri,
            "status": self.status,
            "oldUri": None,
            "binary": self.binary,
            "hunks": [hunk.to_json() for hunk in self.hunks],
        }


@frozen
class Reviewed:
    """What came of a keep, a revert or an undo: ids of hunks, and why some are in conflict."""

    kept: tuple[str, ...] = ()
    reverted: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()

    def to_json(self) -> dict[str, list[str]]:
        return {
            "kept": list(self.kept),
            "reverted": list(self.reverted),
            "conflicts": list(self.conflicts),
        }


@define
class _Entry:
    """One file. The agent's changes lead from ``baseline`` to ``left``, the user's since
    then from ``left`` to ``now``; as long as nothing is in conflict the latter are in the
    baseline too, and ``left`` is ``now``."""

    path: Path
    baseline: Said
    left: Said
    now: Said
    heard_in_turn: int
    by_agent: bool = False
    """Whether the agent has changed it, as far as we know."""
    tangled: bool = False
    """Whether the agent went on where the user had changed its lines."""

    @property
    def conflict(self) -> bool:
        return self.tangled or not _same(self.left, self.now)

    @property
    def changed(self) -> bool:
        return not _same(self.baseline, self.now)


@frozen
class _Step:
    """A keep or a revert of one file, for taking it back."""

    old: _Entry
    """A copy, from before the step."""
    after: Said
    """What the file said after it."""
    ids: tuple[str, ...]
    reverted: bool


class Ledger:
    """The changes of one session.

    Paths are resolved ones inside of the session's roots
    (:meth:`acp_sidecar.workspace.roots.Roots.resolve`).
    """

    def __init__(
        self, files: Files, *, within: Callable[[Path], bool] = lambda path: False
    ) -> None:
        """``within``: which open files are remembered at each prompt, before the agent has
        spoken of them; the session's roots decide."""
        self._files = files
        self._within = within
        self._entries: dict[Path, _Entry] = {}
        self._turn = 0
        self._in_turn = False
        self._undo: list[list[_Step]] = []
        self._lock = asyncio.Lock()

    # --- what happens ------------------------------------------------------------------------

    def begin_turn(self) -> None:
        """A prompt goes out. What was changed up to now, other than by the agent, is what it
        starts from; so is what the files say that are open."""
        for entry in self._entries.values():
            self._observe(entry, by_agent=self._in_turn)
        self._turn += 1
        self._in_turn = True
        for path in self._files.open_paths():
            if self._within(path):
                self.touch(path)

    def end_turn(self) -> None:
        """The agent is idle. What changes from now on is not the agent's doing."""
        for entry in self._entries.values():
            self._observe(entry, by_agent=True)
        self._in_turn = False

    def touch(self, path: Path) -> None:
        """The session hears of a file: remember what it says, should that not be known."""
        if path in self._entries or is_temporary(path.name):
            return
        said = self._said(path)
        if said is not None:
            self._entries[path] = _Entry(path, said, said, said, self._turn)

    def wrote(self, path: Path, outcome: WriteOutcome) -> None:
        """The agent has written a file through us, after :meth:`touch`."""
        entry = self._entries.get(path)
        if entry is None:
            entry = _Entry(path, outcome.before, outcome.before, outcome.before, self._turn)
            self._entries[path] = entry
        if outcome.where == "nowhere":
            self._observe(entry, by_agent=self._in_turn)
            return
        self._moved(entry, outcome.before, by_agent=False)
        now = self._said(path)
        if now is not None:
            self._moved(entry, now, by_agent=True)

    def diff_reported(self, path: Path, old_text: str | None, new_text: str) -> None:
        """The agent reports a change of a file.

        Some report after the fact: if the file already was as reported when the session
        first heard of it, in this turn, its baseline follows from the report. Whatever else
        the report says of the file's past does not count against what we have seen.
        """
        self.touch(path)
        entry = self._entries.get(path)
        if entry is None or entry.by_agent or entry.heard_in_turn != self._turn:
            return
        if not isinstance(entry.baseline, FileText) or entry.changed:
            return
        before = _before(path, entry.baseline, old_text, new_text)
        if before is not None:
            entry.baseline = before
            entry.by_agent = True

    async def refresh(self, paths: Iterable[Path] | None = None) -> None:
        """Look again at what the files say: all that are known, or these."""
        async with self._lock:
            for path in tuple(self._entries) if paths is None else paths:
                entry = self._entries.get(path)
                if entry is not None:
                    self._observe(entry, by_agent=self._in_turn)

    # --- what there is ------------------------------------------------------------------------

    def changes(self) -> list[FileChange]:
        """The changed files, in the order in which the session heard of them."""
        return [self._change(entry) for entry in self._entries.values() if entry.changed]

    def diff(self, path: Path) -> tuple[str, str] | None:
        """The texts of a file before and after the agent; None for one that is not known.

        A text that does not exist, or is none, is empty.
        """
        entry = self._entries.get(path)
        return None if entry is None else (_text(entry.baseline), _text(entry.now))

    @property
    def paths(self) -> Sequence[Path]:
        """Every file the session has heard of."""
        return tuple(self._entries)

    # --- what is decided ----------------------------------------------------------------------

    async def keep(self, path: Path | None = None) -> Reviewed:
        """Take the changes of a file, or of all, for good."""
        async with self._lock:
            steps: list[_Step] = []
            for entry in self._chosen(path):
                self._observe(entry, by_agent=self._in_turn)
                ids = self._ids(entry)
                steps.append(_Step(evolve(entry), entry.now, ids, reverted=False))
                self._settle(entry, entry.now)
            self._done(steps)
            return Reviewed(kept=_all_ids(steps))

    async def revert(self, path: Path | None = None) -> Reviewed:
        """Take the agent's changes of a file, or of all, back.

        The user's own changes stay. A file in which the two cannot be told apart, or that the
        agent created and the user has changed, stays as it is and is reported.
        """
        async with self._lock:
            steps: list[_Step] = []
            conflicts: list[str] = []
            problems: list[str] = []
            for entry in self._chosen(path):
                self._observe(entry, by_agent=self._in_turn)
                if not entry.changed:
                    continue
                ids = self._ids(entry)
                before = evolve(entry)
                try:
                    await self._take_back(entry)
                except FileProblem as problem:
                    conflicts += ids
                    problems.append(str(problem))
                    continue
                self._settle(entry, self._said(entry.path) or entry.baseline)
                steps.append(_Step(before, entry.now, ids, reverted=True))
            self._done(steps)
            return Reviewed(
                reverted=_all_ids(steps), conflicts=tuple(conflicts), problems=tuple(problems)
            )

    async def undo(self) -> Reviewed:
        """Take the last keep or revert back. What the user has done since stays."""
        async with self._lock:
            if not self._undo:
                return Reviewed()
            kept: list[str] = []
            restored: list[str] = []
            conflicts: list[str] = []
            problems: list[str] = []
            for step in self._undo.pop():
                try:
                    await self._restore(step)
                except FileProblem as problem:
                    conflicts += step.ids
                    problems.append(str(problem))
                    continue
                (restored if step.reverted else kept).extend(step.ids)
            return Reviewed(tuple(kept), tuple(restored), tuple(conflicts), tuple(problems))

    # --- how --------------------------------------------------------------------------------

    def _observe(self, entry: _Entry, *, by_agent: bool) -> None:
        """Take in what a file says now. A buffer is the user's: what an agent puts there comes
        through :meth:`wrote`."""
        if self._files.still(entry.path, entry.now):
            return
        said = self._said(entry.path)
        if said is None or _same(said, entry.now):
            return
        in_buffer = isinstance(said, FileText) and said.source == "buffer"
        saved = isinstance(said, FileText) and self._files.saved_by_user(entry.path, said.text)
        self._moved(entry, said, by_agent=by_agent and not in_buffer and not saved)

    def _moved(self, entry: _Entry, said: Said, *, by_agent: bool) -> None:
        if _same(said, entry.now):
            entry.now = said
            return
        if by_agent:
            entry.by_agent = True
            if entry.conflict:
                entry.tangled = True
            entry.left = entry.now = said
            return
        entry.now = said
        if not entry.by_agent:
            entry.baseline = entry.left = said
            return
        both = None if entry.tangled else _carried(entry.left, entry.baseline, said)
        if both is not None:
            entry.baseline, entry.left = both, said

    async def _take_back(self, entry: _Entry) -> None:
        if entry.conflict:
            raise FileProblem("changed", entry.path, "You have changed the same lines")
        await self._become(entry, entry.baseline, "Revert")

    async def _restore(self, step: _Step) -> None:
        entry, old = self._entries[step.old.path], step.old
        self._observe(entry, by_agent=self._in_turn)
        # What has happened to the file since the step, it happens to what was before it.
        baseline = _carried(step.after, old.baseline, entry.baseline)
        now = _carried(step.after, old.now, entry.now) if step.reverted else entry.now
        if baseline is None or now is None:
            raise FileProblem("changed", entry.path, "The file has been changed since")
        if step.reverted:
            await self._become(entry, now, "Undo")
            now = self._said(entry.path) or now
        entry.baseline, entry.now = baseline, now
        entry.left = now
        entry.by_agent = True
        entry.tangled = entry.tangled or old.conflict

    async def _become(self, entry: _Entry, said: Said, label: str) -> None:
        if _same(said, entry.now):
            return
        if isinstance(said, Missing):
            if not isinstance(entry.now, Missing):
                await self._files.remove(entry.path, expected=entry.now)
            return
        await self._files.put(
            entry.path,
            said.text if isinstance(said, FileText) else said.data,
            expected=entry.now,
            label=label,
            bom=isinstance(said, FileText) and said.bom,
            mode=_mode(said),
        )

    def _said(self, path: Path) -> Said | None:
        """What a file says now; None where that is neither text nor bytes to be had."""
        try:
            return self._files.peek(path)
        except FileProblem as problem:
            if problem.kind != "encoding":
                return None
        try:
            return self._files.raw(path) or Missing(path)
        except FileProblem:
            return None

    def _settle(self, entry: _Entry, said: Said) -> None:
        entry.baseline = entry.left = entry.now = said
        entry.by_agent = entry.tangled = False
        entry.heard_in_turn = -1

    def _chosen(self, path: Path | None) -> list[_Entry]:
        if path is None:
            return list(self._entries.values())
        entry = self._entries.get(path)
        return [] if entry is None else [entry]

    def _done(self, steps: list[_Step]) -> None:
        if steps:
            self._undo.append(steps)
            del self._undo[:-_STEPS_KEPT]

    def _change(self, entry: _Entry) -> FileChange:
        if isinstance(entry.baseline, Missing):
            status: Status = "created"
        else:
            status = "deleted" if isinstance(entry.now, Missing) else "modified"
        return FileChange(
            entry.path,
            self._files.uri_of(entry.path) or path_to_uri(entry.path),
            status,
            self._hunks(entry),
            isinstance(entry.baseline, Snapshot) or isinstance(entry.now, Snapshot),
        )

    def _hunks(self, entry: _Entry) -> tuple[FileHunk, ...]:
        if isinstance(entry.baseline, Snapshot) or isinstance(entry.now, Snapshot):
            return (FileHunk(_id(entry.path, "binary", "", 0), Hunk(0, 0, 0, 0), _state(entry)),)
        before, after = _text(entry.baseline), _text(entry.now)
        old, new = split_lines(before), split_lines(after)
        found: list[FileHunk] = []
        times: dict[str, int] = {}
        for hunk in hunks(before, after):
            gone = "".join(old[hunk.before_start : hunk.before_start + hunk.before_lines])
            come = "".join(new[hunk.after_start : hunk.after_start + hunk.after_lines])
            first = _id(entry.path, gone, come, 0)
            number = times[first] = times.get(first, -1) + 1
            found.append(FileHunk(_id(entry.path, gone, come, number), hunk, _state(entry)))
        return tuple(found) or (
            FileHunk(_id(entry.path, "", "", 0), Hunk(0, 0, 0, 0), _state(entry)),
        )

    def _ids(self, entry: _Entry) -> tuple[str, ...]:
        return tuple(hunk.id for hunk in self._hunks(entry)) if entry.changed else ()


def _state(entry: _Entry) -> Literal["waiting", "conflict"]:
    return "conflict" if entry.conflict else "waiting"


def _id(path: Path, gone: str, come: str, number: int) -> str:
    """An id that stays while the hunk's lines do, wherever in the file they move."""
    digest = hashlib.blake2b(digest_size=9)
    for part in (str(path), gone, come, str(number)):
        digest.update(part.encode("utf-8", "surrogatepass"))
        digest.update(b"\0")
    return digest.hexdigest()


def _all_ids(steps: Iterable[_Step]) -> tuple[str, ...]:
    return tuple(id_ for step in steps for id_ in step.ids)


def _same(a: Said, b: Said) -> bool:
    if isinstance(a, FileText) and isinstance(b, FileText):
        # A buffer does not say how its lines will end on disk.
        same = a.text == b.text if a.source == b.source else same_text(a.text, b.text)
        return same and (a.bom == b.bom or a.source != b.source)
    if isinstance(a, Snapshot) and isinstance(b, Snapshot):
        return a.data == b.data
    return isinstance(a, Missing) and isinstance(b, Missing)


def _text(said: Said) -> str:
    return said.text if isinstance(said, FileText) else ""


def _mode(said: Said) -> int | None:
    stamp = None if isinstance(said, Missing) else said.stamp
    return None if stamp is None else stat.S_IMODE(stamp.mode)


def _carried(base: Said, ours: Said, theirs: Said) -> Said | None:
    """``ours`` with what led from ``base`` to ``theirs``; None where that is not clear."""
    if _same(base, theirs):
        return ours
    if _same(base, ours):
        return theirs
    if not (
        isinstance(base, FileText) and isinstance(ours, FileText) and isinstance(theirs, FileText)
    ):
        return None
    both = merge3(fit(base.text, ours.text), ours.text, fit(theirs.text, ours.text))
    return None if both is None else evolve(ours, text=both)


def _before(
    path: Path, now: FileText, old_text: str | None, new_text: str
) -> FileText | Missing | None:
    """What a file said before a reported change that it shows already; None where it does
    not show it, or not in one place only."""
    if same_text(now.text, new_text):
        if not old_text:
            return Missing(path)
        return None if same_text(old_text, new_text) else evolve(now, text=fit(old_text, now.text))
    old, new = fit(old_text or "", now.text), fit(new_text, now.text)
    if not old or not new or now.text.count(new) != 1:
        return None
    if old in now.text and old not in new:
        return None
    return evolve(now, text=now.text.replace(new, old))
