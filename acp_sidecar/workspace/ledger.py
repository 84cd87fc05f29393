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
import re
import stat
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final

from attrs import evolve, frozen

from acp_sidecar.workspace import disk
from acp_sidecar.workspace.changes import FileChange, Reviewed, change_of, hunks_of, text_of
from acp_sidecar.workspace.disk import is_temporary
from acp_sidecar.workspace.entry import Entry, carried, same
from acp_sidecar.workspace.files import Files, FileText, Missing, WriteOutcome
from acp_sidecar.workspace.problems import FileProblem
from acp_sidecar.workspace.texts import BOM, Said
from acp_sidecar.workspace.uris import path_to_uri

_STEPS_KEPT: Final = 64
"""Keeps and reverts that can be taken back."""

_PASSING: Final = re.compile(r".+\.tmp\.[0-9]+\.[0-9a-f]+")
"""Names of files that agents write first and then put in the place of another."""


@frozen
class _Step:
    """A keep or a revert of one file, for taking it back."""

    old: Entry
    """A copy, from before the step."""
    after: Said
    """What the file said after it."""
    ids: tuple[str, ...]
    reverted: bool


class Ledger:
    """The changes of one session. As ``author`` of :meth:`Files.write` it stands for its agent.

    Paths are resolved ones inside of the session's roots
    (:meth:`acp_sidecar.workspace.roots.Roots.resolve`).
    """

    def __init__(
        self,
        files: Files,
        *,
        within: Callable[[Path], bool] = lambda path: False,
        spelled: Callable[[Path], str] = str,
    ) -> None:
        """``within``: which open files are remembered at each prompt, before the agent has
        spoken of them; the session's roots decide. ``spelled``: a path as the user has it."""
        self._files = files
        self._within = within
        self._spelled = spelled
        self._entries: dict[Path, Entry] = {}
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
        if path in self._entries or is_temporary(path.name) or _PASSING.fullmatch(path.name):
            return
        said = self._said(path)
        if said is not None:
            stamp, (number, _) = disk.stamp(path), self._files.last_save(path)
            self._entries[path] = Entry(path, said, said, said, self._turn, stamp, number)

    def wrote(self, path: Path, outcome: WriteOutcome) -> None:
        """The agent has written a file through us, after :meth:`touch`."""
        entry = self._entries.get(path)
        if entry is None:
            before = outcome.before
            number, _ = self._files.last_save(path)
            entry = Entry(path, before, before, before, self._turn, None, number)
            self._entries[path] = entry
        if outcome.where != "nowhere":
            entry.moved(outcome.before, by_agent=False)
            entry.moved(outcome.after, by_agent=True)
            entry.stamp = outcome.after.stamp or entry.stamp
        self._observe(entry, by_agent=self._in_turn)

    def diff_reported(self, path: Path, old_text: str | None, new_text: str) -> None:
        """The agent reports a change of a file.

        Some report after the fact: if the file already was as reported when the session
        first heard of it, in this turn, its baseline follows from the report. Whatever else
        the report says of the file's past does not count against what we have seen.
        """
        self.touch(path)
        entry = self._entries.get(path)
        if entry is not None and entry.heard_in_turn == self._turn:
            entry.report(old_text, new_text)

    async def refresh(self, paths: Iterable[Path] | None = None, *, patient: bool = False) -> bool:
        """Look again at what the files say: all that are known, or these.

        ``patient`` leaves files for later (a tenth of a second) of which it cannot be told
        yet who changed them; True then.
        """
        later = False
        async with self._lock:
            for path in tuple(self._entries) if paths is None else paths:
                entry = self._entries.get(path)
                if entry is not None and patient and self._files.just_loaded(path):
                    later = True
                elif entry is not None:
                    self._observe(entry, by_agent=self._in_turn)
        return later

    # --- what there is ------------------------------------------------------------------------

    def changes(self) -> list[FileChange]:
        """The changed files, in the order in which the session heard of them."""
        return [self._change(entry) for entry in self._entries.values() if entry.changed]

    def diff(self, path: Path) -> tuple[str, str] | None:
        """The texts of a file before and after the agent; None for one that is not known.

        A text that does not exist, or is none, is empty.
        """
        entry = self._entries.get(path)
        return None if entry is None else (text_of(entry.baseline), text_of(entry.now))

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
                if not entry.changed:
                    continue
                ids = _ids(entry)
                steps.append(_Step(evolve(entry), entry.now, ids, reverted=False))
                entry.settle(entry.now, entry.stamp)
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
                ids = _ids(entry)
                before = evolve(entry)
                try:
                    await self._take_back(entry)
                except FileProblem as problem:
                    conflicts += ids
                    problems.append(str(problem))
                    continue
                entry.settle(self._said(entry.path) or entry.baseline, disk.stamp(entry.path))
                steps.append(_Step(before, entry.now, ids, reverted=True))
            self._done(steps)
            return Reviewed(
                reverted=_all_ids(steps), conflicts=tuple(conflicts), problems=tuple(problems)
            )

    async def undo(self) -> Reviewed:
        """Take the last keep or revert back. What the user has done since stays.

        Files for which that cannot be done stay as they are, and can be tried again.
        """
        async with self._lock:
            if not self._undo:
                return Reviewed()
            kept: list[str] = []
            restored: list[str] = []
            conflicts: list[str] = []
            problems: list[str] = []
            failed: list[_Step] = []
            for step in self._undo.pop():
                try:
                    await self._restore(step)
                except FileProblem as problem:
                    failed.append(step)
                    conflicts += step.ids
                    problems.append(str(problem))
                    continue
                (restored if step.reverted else kept).extend(step.ids)
            self._done(failed)
            return Reviewed(tuple(kept), tuple(restored), tuple(conflicts), tuple(problems))

    # --- how --------------------------------------------------------------------------------

    def _observe(self, entry: Entry, *, by_agent: bool) -> None:
        """Take in what a file says now.

        The agent's are changes of the disk that nobody else is known to have made. A buffer
        is the user's: what an agent puts there comes through :meth:`wrote`.
        """
        if self._files.still(entry.path, entry.now):
            return
        stamp, before = disk.stamp(entry.path), entry.stamp
        entry.stamp = stamp
        said = self._said(entry.path)
        if said is None:
            return
        number, saved = self._files.last_save(entry.path)
        if number > entry.save_number:
            entry.save_number = number
            mark = isinstance(entry.now, FileText) and entry.now.bom
            text = FileText(saved.removeprefix(BOM), "buffer", mark)
            self._take_in(entry, text, by_agent=False)
        if stamp != before and isinstance(said, FileText) and said.source == "buffer":
            between = self._files.typed_on(entry.path)
            if between is not None:
                self._take_in(entry, between, by_agent=by_agent)
        self._take_in(entry, said, by_agent=by_agent and stamp != before)

    def _take_in(self, entry: Entry, said: Said, *, by_agent: bool) -> None:
        if same(said, entry.now):
            entry.moved(said, by_agent=False)
            return
        author = self._files.author_of(entry.path, said)
        if author is not None:
            # Not where it has come back to that, by the user's undoing of what they did since.
            before = entry.taken
            by_agent = author is self and (before is None or not same(before, said))
        elif isinstance(said, FileText):
            by_user = said.source == "buffer" or self._files.saved_by_user(entry.path, said.text)
            by_agent = by_agent and not by_user
        entry.moved(said, by_agent=by_agent)

    async def _take_back(self, entry: Entry) -> None:
        if entry.conflict:
            raise FileProblem("changed", entry.path, "You have changed the same lines")
        await self._become(entry, entry.baseline, "Revert")

    async def _restore(self, step: _Step) -> None:
        entry, old = self._entries[step.old.path], step.old
        self._observe(entry, by_agent=self._in_turn)
        # What has happened to the file since the step, it happens to what was before it.
        baseline = carried(step.after, old.baseline, entry.baseline)
        now = carried(step.after, old.now, entry.now) if step.reverted else entry.now
        if baseline is None or now is None:
            raise FileProblem("changed", entry.path, "The file has been changed since")
        if step.reverted:
            await self._become(entry, now, "Undo")
            now = self._said(entry.path) or now
            entry.stamp = disk.stamp(entry.path)
        entry.tangled = entry.conflict or old.conflict
        entry.baseline, entry.left, entry.now = baseline, now, now
        entry.by_agent = True

    async def _become(self, entry: Entry, said: Said, label: str) -> None:
        if same(said, entry.now):
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

    def _chosen(self, path: Path | None) -> list[Entry]:
        if path is None:
            return list(self._entries.values())
        entry = self._entries.get(path)
        return [] if entry is None else [entry]

    def _done(self, steps: list[_Step]) -> None:
        if steps:
            self._undo.append(steps)
            del self._undo[:-_STEPS_KEPT]

    def _change(self, entry: Entry) -> FileChange:
        return change_of(entry, self._uri_of(entry.path))

    def _uri_of(self, path: Path) -> str:
        return self._files.uri_of(path) or path_to_uri(self._spelled(path))


def _ids(entry: Entry) -> tuple[str, ...]:
    return tuple(hunk.id for hunk in hunks_of(entry))


def _all_ids(steps: Iterable[_Step]) -> tuple[str, ...]:
    return tuple(id_ for step in steps for id_ in step.ids)


def _mode(said: Said) -> int | None:
    stamp = None if isinstance(said, Missing) else said.stamp
    return None if stamp is None else stat.S_IMODE(stamp.mode)
