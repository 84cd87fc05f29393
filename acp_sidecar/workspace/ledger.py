"""What an agent has changed, file by file and hunk by hunk, whoever held the pen.

Of every file a session hears of the ledger knows what it says and which of that is the
agent's doing. What the user does to such a file belongs to the user: it is neither shown as
the agent's nor lost when the agent's changes are taken back. Where the two cannot be told
apart (both changed the same lines) the hunk is in conflict, and is not taken back before a
person has looked.

What an agent reports is only believed where the file itself bears it out.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from secrets import token_hex
from typing import Final

from acp_sidecar.workspace.baselines import Baselines
from acp_sidecar.workspace.changes import EditedFile, FileChange, Reviewed
from acp_sidecar.workspace.emptied import until_whole
from acp_sidecar.workspace.entry import Entry, State, same
from acp_sidecar.workspace.files import Files, WriteOutcome
from acp_sidecar.workspace.gitpatch import PatchFile
from acp_sidecar.workspace.history import Checkpoint, History
from acp_sidecar.workspace.hunks import Who
from acp_sidecar.workspace.listing import Listing
from acp_sidecar.workspace.moves import in_order
from acp_sidecar.workspace.news import News, NewsForAgent
from acp_sidecar.workspace.problems import FileProblem
from acp_sidecar.workspace.renames import Renames
from acp_sidecar.workspace.restoring import Foreseen, foresee, restore
from acp_sidecar.workspace.shelf import Shelf
from acp_sidecar.workspace.taking import Outcome, Part, delete, keep, revert
from acp_sidecar.workspace.texts import Said
from acp_sidecar.workspace.tracked import Tracked
from acp_sidecar.workspace.undoing import Undo
from acp_sidecar.workspace.waiting import Waiting

WAITING: Final = "waiting"
"""Of a session's folder for checkpoints, what waits for review."""
_AT_ONCE: Final = 200
"""Files that are looked at before others get their turn."""


class NoSuchHunk(LookupError):
    """No hunk with this id waits for review; or it has changed since it was shown."""


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
        baselines: Baselines | None = None,
        checkpoints: Path | None = None,
    ) -> None:
        """``within``: which open files are remembered at each prompt, before the agent has
        spoken of them, and which of an earlier process's are looked at again; the session's
        roots decide. ``spelled``: a path as the user has it. ``baselines``: where texts are
        laid down, without it they stay in memory. ``checkpoints``: a folder for those of this
        session alone; without it they end with us."""
        self._files = files
        self._within = within
        self._baselines = baselines
        shelf = Shelf() if baselines is None else baselines.shelf
        self._tracked = Tracked(files, shelf, self)
        self._undo = Undo(self._tracked)
        self._history = History(checkpoints, shelf)
        self._waiting = Waiting(None if checkpoints is None else checkpoints / WAITING)
        self._shelf = shelf
        self._news = News()
        self._tracked.listen(self._history.happened)
        self._tracked.listen(self._news.happened)
        self._tracked.listen_to_moves(self._history.follow)
        self._lock = asyncio.Lock()
        self._renames = Renames(self._tracked, self._history, within)
        self._listing = Listing(self._tracked, files, spelled)

    def load(self) -> None:
        """Read back the checkpoints of an earlier process, and what waited for review when it
        ended, before the first prompt.

        What has happened to the files since counts as the user's doing, unless that process
        ended while the agent was at work.
        """
        history, tracked = self._history, self._tracked
        history.load()
        tracked.turn = history.checkpoints[-1].turn if history.checkpoints else 0
        waiting = self._waiting.restore(history.versions, tracked.changer, self._shelf)
        who: Who = "agent" if history.turn_open else "user"
        for path, versions in tuple(history.versions.items()):
            entry = tracked.touch(path) if self._within(path) else None
            if entry is None:
                del history.versions[path]
                continue
            entry.by_agent = any(version.who == "agent" for version in versions)
            try:
                if path in waiting:
                    now = entry.state.now.get()
                    entry.state = tracked.changer.moved(path, waiting[path], now, who)
                moved = not same(versions[-1].kept.get(), entry.state.now.get())
            except FileProblem:
                moved = True
            if moved:
                history.happened(entry, State(versions[-1].kept), who)

    def close(self) -> None:
        """The session is over: its baselines go, its checkpoints stay, and what waits."""
        self._flush()
        self._waiting.close()
        if self._baselines is not None:
            self._baselines.close()

    # --- what happens ------------------------------------------------------------------------

    def begin_turn(self, *, time: float = 0.0, label: str = "") -> None:
        """A prompt goes out. What was changed up to now, other than by the agent, is what it
        starts from; so is what the files say that are open.

        ``time`` (seconds since 1970) and ``label`` are for the checkpoint of this prompt.
        What there was to tell the agent (:meth:`news_for_agent`) counts as told.
        """
        tracked = self._tracked
        tracked.observe_all(by_agent=tracked.in_turn)
        tracked.join_moves()
        tracked.turn += 1
        tracked.in_turn = True
        self._history.checkpoint(Checkpoint(token_hex(6), tracked.turn, time, label))
        self._waiting.write(tracked.entries.values())
        self._news.clear()
        for path in self._files.open_paths():
            if self._within(path):
                tracked.touch(path)

    def end_turn(self) -> None:
        """The agent is idle. What changes from now on is not the agent's doing."""
        self._tracked.observe_all(by_agent=True)
        self._tracked.join_moves()
        self._tracked.in_turn = False
        self._history.turn_over()
        self._waiting.write(self._tracked.entries.values())

    def touch(self, path: Path) -> None:
        """The session hears of a file: remember what it says, should that not be known."""
        self._tracked.touch(path)

    def found(self, path: Path, before: Said) -> None:
        """A file has been changed by the agent, in this turn, and said ``before`` until then.
        Of one that is known already nothing new is learnt."""
        self._tracked.found(path, before)

    def wrote(self, path: Path, outcome: WriteOutcome) -> None:
        """The agent has written a file through us, after :meth:`touch`."""
        self._tracked.wrote(path, outcome)

    async def approved(self, path: Path, outcome: WriteOutcome) -> None:
        """:meth:`wrote`, of what the user had agreed to before: it does not wait any more.

        Where it touches what still waits, all of that goes on waiting.
        """
        async with self._lock:
            tracked = self._tracked
            known = tracked.entries.get(path)
            waited = set(known.state.ids()) if known else set()
            tracked.wrote(path, outcome)
            entry = tracked.entries[path]
            ids = entry.state.ids()
            if waited <= set(ids) and (
                part := keep(entry, [id_ for id_ in ids if id_ not in waited])
            ):
                self._undo.done([part])
                self._flush()

    def diff_reported(self, path: Path, old_text: str | None, new_text: str) -> None:
        """The agent reports a change of a file.

        Some report after the fact: if the file already was as reported when the session
        first heard of it, in this turn, its baseline follows from the report. Whatever else
        the report says of the file's past does not count against what we have seen.
        """
        self._tracked.reported(path, old_text, new_text)

    def patch_reported(self, path: Path, patch: PatchFile) -> None:
        """:meth:`diff_reported`, where the agent reports a patch. ``path``: of the file it is
        about, as :func:`acp_sidecar.workspace.patchnames.authorise` has found it."""
        self._tracked.patch_reported(path, patch)

    def will_rename(self, paths: Iterable[Path]) -> None:
        """The user is about to give files, or folders, other names. Whoever looks at the old
        ones before :meth:`renamed` finds them gone."""
        self._renames.will(paths)

    async def renamed(self, old: Path, new: Path) -> None:
        """The user has given a file, or a folder, another name: what waits for review in it
        goes along. One that is moved out of the session's folders is gone for us."""
        async with self._lock:
            self._renames.done(old, new)
            self._flush()

    async def refresh(self, paths: Iterable[Path] | None = None, *, patient: bool = False) -> bool:
        """Look again at what the files say: all that are known, or these.

        ``patient`` leaves files for later (a tenth of a second) of which it cannot be told
        yet who changed them; True then. Otherwise those that are half written are waited for.
        """
        paths = None if paths is None else tuple(paths)
        async with self._lock if patient else self._undisturbed(paths):
            tracked = self._tracked
            unclear = []
            for number, entry in enumerate(self._entries(paths), 1):
                if number % _AT_ONCE == 0:
                    await asyncio.sleep(0)
                if tracked.observe(entry, by_agent=tracked.in_turn, patient=patient):
                    unclear.append(entry)
            # One that is gone may have been found under another name.
            left = [
                tracked.observe(entry, by_agent=tracked.in_turn, patient=patient)
                for entry in unclear
            ]
            tracked.unkept.observe(by_agent=tracked.in_turn)
            tracked.join_moves()
            self._flush(urgent=True)
        return any(left)

    async def until_whole(self) -> None:
        """Wait for files that somebody is just writing, for a moment at most."""
        async with self._undisturbed():
            pass

    @asynccontextmanager
    async def _undisturbed(self, paths: Collection[Path] | None = None) -> AsyncIterator[None]:
        """Nobody else is at work here, and no file, or none of these, is half written."""
        async with self._lock:
            entries = self._entries(paths)
            await until_whole(lambda: any(map(self._tracked.half_written, entries)))
            yield

    def _entries(self, paths: Collection[Path] | None) -> list[Entry]:
        entries = self._tracked.entries
        if paths is None:
            return list(entries.values())
        return [entries[path] for path in paths if path in entries]

    # --- what there is ------------------------------------------------------------------------

    def changes(self) -> list[FileChange]:
        """The changed files, in the order in which the session heard of them; last those of
        which nothing is kept, with the reason."""
        return self._listing.changes()

    def change(self, path: Path) -> FileChange | None:
        """What has changed in one file; None where nothing has."""
        return self._listing.change(path)

    def diff(self, path: Path) -> tuple[str, str] | None:
        """The texts of a file before and after the agent; None for one that is not known.

        A text that does not exist, or is none, or is lost, is empty.
        """
        return self._listing.diff(path)

    @property
    def paths(self) -> Collection[Path]:
        """Every file the session has heard of."""
        return self._tracked.entries.keys()

    def concerns(self, path: Path) -> bool:
        """Whether a path, which need not be resolved, is that of a known file or of a folder
        above one."""
        # A checkout brings thousands of events: names are compared before links are followed.
        if path.name not in self._tracked.place_names:
            return False
        try:
            return path.parent.resolve() / path.name in self._tracked.places
        except (OSError, RuntimeError):
            return path in self._tracked.places

    def checkpoints(self) -> list[Checkpoint]:
        """The prompts so far, oldest first; those of earlier processes after :meth:`load`."""
        return list(self._history.checkpoints)

    def news_for_agent(self) -> NewsForAgent:
        """Which of the agent's changes were reverted, and which of its files the user has
        changed, since the last prompt. To be asked before the next :meth:`begin_turn`."""
        self._tracked.observe_all(by_agent=self._tracked.in_turn)
        return self._news.all()

    # --- what is decided ----------------------------------------------------------------------

    async def keep(self, path: Path | None = None, hunk_id: str | None = None) -> Reviewed:
        """Take a hunk, the changes of a file, or all for good, those in conflict too.

        Raises :class:`NoSuchHunk`.
        """
        async with self._undisturbed():
            chosen, entries = self._chosen(path, hunk_id)
            parts = [part for entry in entries if (part := keep(entry, chosen))]
            if hunk_id is None:
                self._tracked.let_go(path)
            self._undo.done(parts)
            self._flush()
            return Reviewed(kept=_ids(parts))

    async def revert(self, path: Path | None = None, hunk_id: str | None = None) -> Reviewed:
        """Take a hunk of the agent's, its changes of a file, or all of them back.

        The user's own changes stay. A hunk in which the two cannot be told apart, and a file
        that the agent made and the user has changed, stay as they are and are reported; such
        a file goes by :meth:`delete`, after the user was asked.
        Raises :class:`NoSuchHunk`.
        """
        async with self._undisturbed():
            outcome = Outcome()
            chosen, entries = self._chosen(path, hunk_id)
            for entry in in_order(entries, self._tracked.entries):
                await revert(self._tracked, entry, chosen, outcome, "Revert")
            if hunk_id is None:
                outcome.problems += self._tracked.unkept_problems(path)
            self._undo.done(outcome.parts)
            for part in outcome.parts:
                self._news.taken_back(part)
            self._flush()
            return _reviewed(outcome)

    async def delete(self, files: Iterable[EditedFile]) -> Reviewed:
        """Delete files of :attr:`Reviewed.edited`, now that the user has agreed to just that.

        Those that say something else than they did when a revert left them stay, and are
        reported. :meth:`undo` brings back what was deleted.
        """
        async with self._undisturbed():
            outcome = Outcome()
            for file in files:
                await delete(self._tracked, file, outcome)
            self._undo.done(outcome.parts)
            for part in outcome.parts:
                self._news.taken_back(part)
            self._flush()
            return _reviewed(outcome)

    async def undo(self) -> Reviewed:
        """Take the last keep, revert or restore back. What the user has done since stays.

        Files for which that cannot be done stay as they are, and can be tried again.
        """
        async with self._undisturbed():
            outcome = await self._undo.undo()
            for part in outcome.parts:
                self._news.undone(part)
            self._flush()
            return _reviewed(outcome)

    async def restore(self, checkpoint_id: str) -> Reviewed:
        """Bring every file back to what it said at a checkpoint: those made since go, those
        deleted return. What the user has changed since stays, and where that was in the same
        lines the agent's stays too and is told as a conflict.

        Kept changes are taken back too; :meth:`undo` takes back the restore. Raises
        ``LookupError`` where there is no such checkpoint.
        """
        async with self._undisturbed():
            tracked = self._tracked
            tracked.observe_all(by_agent=tracked.in_turn)
            tracked.join_moves()
            outcome = Outcome()
            await restore(tracked, list(self._history.since(checkpoint_id)), outcome)
            self._undo.done(outcome.parts)
            for part in outcome.parts:
                self._news.edited(part.entry.path, part.pre.now, part.entry.state.now)
            self._flush()
            return _reviewed(outcome)

    async def foresee(self, checkpoint_id: str) -> tuple[list[Foreseen], Reviewed]:
        """What :meth:`restore` would do now, and what would be in its way.

        Raises ``LookupError`` where there is no such checkpoint.
        """
        async with self._undisturbed():
            tracked = self._tracked
            tracked.observe_all(by_agent=tracked.in_turn)
            tracked.join_moves()
            outcome = Outcome()
            found = foresee(tracked, list(self._history.since(checkpoint_id)), outcome)
            return found, _reviewed(outcome)

    # --- how --------------------------------------------------------------------------------

    def _flush(self, *, urgent: bool = False) -> None:
        """Write down what outlives us; ``urgent``: only if something of the agent's is new."""
        if self._history.flush(urgent=urgent):
            self._waiting.write(self._tracked.entries.values())

    def _chosen(
        self, path: Path | None, hunk_id: str | None
    ) -> tuple[Collection[str] | None, list[Entry]]:
        """The ids chosen, None for all, and the changed files that may have them."""
        tracked = self._tracked
        entries = [
            entry for entry in tracked.entries.values() if path is None or entry.path == path
        ]
        for entry in entries:
            tracked.observe(entry, by_agent=tracked.in_turn)
        tracked.join_moves()
        entries = [entry for entry in entries if entry.state.changed]
        if hunk_id is None:
            return None, entries
        entries = [entry for entry in entries if hunk_id in entry.state.ids()]
        if not entries:
            raise NoSuchHunk(f"No hunk {hunk_id!r} waits for review")
        return (hunk_id,), entries


def _reviewed(outcome: Outcome) -> Reviewed:
    return Reviewed(
        _ids(part for part in outcome.parts if not part.reverted),
        _ids(part for part in outcome.parts if part.reverted),
        tuple(outcome.conflicts),
        tuple(outcome.problems),
        tuple(outcome.edited),
    )


def _ids(parts: Iterable[Part]) -> tuple[str, ...]:
    return tuple(id_ for part in parts for id_ in part.ids)
