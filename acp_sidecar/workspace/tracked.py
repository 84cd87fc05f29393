"""The files a session has heard of, and whose hand is behind each change of them."""

from __future__ import annotations

import logging
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TypeAlias

from attrs import evolve

from acp_sidecar.workspace import disk
from acp_sidecar.workspace.disk import Stamp, is_temporary
from acp_sidecar.workspace.doubts import Doubts, Step
from acp_sidecar.workspace.entry import (
    Changer,
    Entry,
    State,
    before_patch,
    before_report,
    same,
)
from acp_sidecar.workspace.files import Files, FileText, Missing, WriteOutcome
from acp_sidecar.workspace.gitpatch import PatchFile
from acp_sidecar.workspace.hunks import Who
from acp_sidecar.workspace.moves import inode, is_moved, join
from acp_sidecar.workspace.problems import FileProblem
from acp_sidecar.workspace.shelf import Kept, Shelf
from acp_sidecar.workspace.texts import Said
from acp_sidecar.workspace.unkept import MOST_FILES, Unkept
from acp_sidecar.workspace.unsaved import Sighting

log = logging.getLogger(__name__)

_PASSING: Final = re.compile(r".+\.tmp\.[0-9]+\.[0-9a-f]+")
"""Names of files that agents write first and then put in the place of another."""

_NO_FILES: Final = frozenset({"directory", "special", "invalid"})
"""Kinds of problems of what is no file at all."""

_WORD_SECONDS: Final = 1.0
"""Within which an editor that is behind tells of a saving, after it has told of the typing."""

Listener: TypeAlias = Callable[[Entry, State, Who], None]
"""Told that a file has come to say something else, what it was before, and by whose hand."""


class Tracked:
    """Every file a session has heard of. ``author`` is what its agent's writes are known by."""

    def __init__(self, files: Files, shelf: Shelf, author: object) -> None:
        self.files = files
        self.changer = Changer(shelf)
        self.entries: dict[Path, Entry] = {}
        self.turn = 0
        self.in_turn = False
        self._author = author
        self.unkept = Unkept()
        self.places: set[Path] = set()
        """The files, and the folders above them."""
        self.place_names: set[str] = set()
        self._by_inode: dict[tuple[int, int], dict[Path, Entry]] = {}
        """The files by what they last were on disk."""
        self._late: list[tuple[Path, WriteOutcome]] = []
        self._listeners: list[Listener] = []
        self._followers: list[Callable[[Path, Path], None]] = []

    def listen(self, listener: Listener) -> None:
        """Hear of every change."""
        self._listeners.append(listener)

    def listen_to_moves(self, follower: Callable[[Path, Path], None]) -> None:
        """Hear, just before, of every file that gets another name: the new one, the old one."""
        self._followers.append(follower)

    def moves(self, new: Path, old: Path) -> None:
        """A file is about to get another name from us."""
        for follower in self._followers:
            follower(new, old)

    # --- hearing of files -----------------------------------------------------------------

    def touch(self, path: Path) -> Entry | None:
        """The session hears of a file: what it says is remembered, should it not be known."""
        entry = self.entries.get(path)
        if entry is not None or is_temporary(path.name) or _PASSING.fullmatch(path.name):
            return entry
        if len(self.entries) >= MOST_FILES:
            self.unkept.add(path, f"Of more than {MOST_FILES:,} files nothing is kept for review")
            return None
        said = self.said(path)
        if isinstance(said, FileProblem):
            if said.kind not in _NO_FILES:
                self.unkept.add(path, f"It cannot be kept for review: {said}")
            return None
        if not self.unkept.release(path):
            return None
        entry = Entry(path, self.changer.clean(said), self.turn, None)
        self._stamped(entry, disk.stamp(path))
        self._seen_so_far(entry)
        old = self._moved_here(entry)
        self._enter(entry)
        if old is not None:
            self.observe(old, by_agent=True)
            entry.appeared = self.turn
            self.put(entry, self.changer.reported(path, entry.state, Missing(path)), "agent")
        return entry

    def found(self, path: Path, before: Said) -> None:
        """A file that nobody has spoken of said ``before`` until the agent changed it."""
        if path in self.entries or is_temporary(path.name) or _PASSING.fullmatch(path.name):
            return
        stamp = None if isinstance(before, Missing) else before.stamp
        entry = Entry(path, self.changer.clean(before), self.turn, stamp)
        self.entries[path] = entry
        self.observe(entry, by_agent=True)
        if entry.state.now.is_missing and not entry.state.changed:
            # It has come and gone: nothing of it is worth a word.
            del self.entries[path]

    def wrote(self, path: Path, outcome: WriteOutcome) -> None:
        """The agent has written a file through us."""
        entry = self.entries.get(path)
        if entry is None:
            before = outcome.before
            entry = Entry(path, self.changer.clean(before), self.turn, None)
            self._seen_so_far(entry)
            self._enter(entry)
        if entry.busy:
            self._late.append((path, outcome))
            return
        if outcome.where != "nowhere":
            # It may have written the disk by itself just before.
            self._take_sightings(entry, by_agent=self.in_turn, before=outcome)
            before = outcome.before
            its = self.in_turn and isinstance(before, FileText) and self._is_agents(entry, before)
            if self.move(entry, before, "agent" if its else "user") and its:
                self._doubt(entry, before)
            self.move(entry, outcome.after, "agent")
            entry.last_write = self.files.last_write(path)
            self._stamped(entry, outcome.after.stamp or entry.stamp)
        self.observe(entry, by_agent=self.in_turn)

    def reported(self, path: Path, old_text: str | None, new_text: str) -> None:
        """The agent says that it has changed ``old_text``, of the file or a piece of it, to
        ``new_text``, and the file may have said so before we looked."""
        self._borne_out(path, lambda now: before_report(path, now, old_text, new_text))

    def patch_reported(self, path: Path, patch: PatchFile) -> None:
        """The same, told as a patch."""
        self._borne_out(path, lambda now: before_patch(path, now, patch))

    def _borne_out(
        self, path: Path, before_it: Callable[[FileText], FileText | Missing | None]
    ) -> None:
        entry = self.touch(path)
        if entry is None or entry.heard_in_turn != self.turn:
            return
        # Of several places in a file each may be told on its own.
        again = entry.state is entry.reported
        if not again and (entry.reported is not None or entry.state.changed):
            return
        now = entry.state.baseline() if again else entry.state.now.get()
        before = before_it(now) if isinstance(now, FileText) else None
        if before is not None:
            self.put(entry, self.changer.reported(path, entry.state, before), "agent")
            entry.heard_in_turn, entry.reported = self.turn, entry.state

    def observe_all(self, *, by_agent: bool) -> None:
        """Look at every file again."""
        for entry in tuple(self.entries.values()):
            self.observe(entry, by_agent=by_agent)
        self.unkept.observe(by_agent=by_agent)

    def observe(self, entry: Entry, *, by_agent: bool, patient: bool = False) -> bool:
        """Take in what a file says now.

        The agent's are changes of the disk that nobody else is known to have made. A buffer
        is the user's: what an agent puts there comes through :meth:`wrote`. Not where it cannot
        be told yet what it says or, if we are ``patient``, by whose hand: True then.
        """
        files, now = self.files, entry.state.now
        if files.at_work(entry.path):
            return True
        if entry.busy:
            return False
        fresh = any(True for _ in files.sightings(entry.path, entry.last_sighting))
        if not fresh and files.still(entry.path, now.stamp, missing=now.is_missing):
            entry.problem = None
            return False
        if patient and files.just_loaded(entry.path):
            return True
        if (patient or not (by_agent or fresh)) and self.half_written(entry):
            return True
        stamp, before = disk.stamp(entry.path), entry.stamp
        self._stamped(entry, stamp)
        said = self.said(entry.path)
        if isinstance(said, FileProblem):
            entry.problem = f"It cannot be reviewed as it is: {said}"
            return False
        entry.problem = None
        if by_agent and stamp != before and isinstance(said, FileText) and said.source == "buffer":
            entry.beneath = "gone" if stamp is None else stamp
        self._take_sightings(entry, by_agent=by_agent)
        its = (by_agent and stamp != before) or self._came_to_light(entry, said)
        self._take_in(entry, said, before, by_agent=its)
        if not isinstance(said, FileText) or said.source == "disk":
            entry.beneath = None
        return False

    def half_written(self, entry: Entry) -> bool:
        """Whether somebody may be in the middle of writing a file."""
        known = entry.stamp is not None and entry.stamp.size > 0
        half = self.files.half_written(entry.path, known=known)
        return half and not self._is_elsewhere(entry)

    def _is_elsewhere(self, entry: Entry) -> bool:
        """Whether a file that is gone is found under another name."""
        if entry.stamp is None or disk.stamp(entry.path) is not None:
            return False
        found = self._by_inode.get(inode(entry.stamp), {}).values()
        return any(each is not entry and is_moved(entry.stamp, each.stamp) for each in found)

    def _seen_so_far(self, entry: Entry) -> None:
        for sighting in self.files.sightings(entry.path):
            entry.last_sighting = sighting.number

    def _take_sightings(
        self, entry: Entry, *, by_agent: bool, before: WriteOutcome | None = None
    ) -> None:
        """What editors have loaded and saved since the file was last looked at, in order.

        What the user has saved is theirs, also where it has been written over; what an editor
        has loaded came from somebody else, also where the user has typed on since. ``before``:
        only those before this write; of what was seen while it was made, what the file said until
        then.
        """
        for sighting in self.files.sightings(entry.path, entry.last_sighting):
            if (
                before is not None
                and sighting.number > before.last_sighting
                and not same(sighting.said, before.before)
            ):
                break
            entry.last_sighting = sighting.number
            if sighting.saved:
                entry.beneath = None
                self._clear_up(entry, sighting)
                if not sighting.typed_on:
                    self._take_in(entry, sighting.said, entry.stamp, by_agent=False)
                continue
            if sighting.perhaps:
                if same(sighting.said, entry.state.now.get()):
                    entry.doubts = None
                continue
            if sighting.beyond is not None and sighting.beyond == entry.stamp:
                continue
            gave_up = sighting.given_up is not None and self.move(entry, sighting.given_up, "user")
            if gave_up:
                self._doubt(entry, sighting.given_up)
            its = by_agent or self._came_to_light(entry, sighting.said)
            new = self._take_in(entry, sighting.said, entry.stamp, by_agent=its, joined=gave_up)
            if entry.doubts is not None and entry.doubts.state is entry.state:
                settled = sighting.settled + _WORD_SECONDS
                if not sighting.typed:
                    settled = 0.0 if new else sighting.settled
                entry.doubts.loaded(settled)

    def _came_to_light(self, entry: Entry, said: Said) -> bool:
        """Whether a file says what came to be on disk while the agent was at work, and was
        hidden by unsaved changes."""
        if isinstance(said, Missing):
            return entry.beneath == "gone"
        return said.stamp is not None and said.stamp == entry.beneath

    def _take_in(
        self,
        entry: Entry,
        said: Said,
        stamp: Stamp | None,
        *,
        by_agent: bool,
        joined: bool = False,
    ) -> bool:
        """The file says this now, as far as is known by the agent's hand or not. Whether that is
        something else than before."""
        author, number = self.files.author_of(entry.path, said) or (None, 0)
        if number > entry.last_write:
            entry.last_write = number
            by_agent = author is self._author
        elif isinstance(said, FileText):
            by_agent = by_agent and self._is_agents(entry, said)
        changed = self.move(entry, said, "agent" if by_agent else "user", stamp=stamp)
        if changed and by_agent and not number:
            self._doubt(entry, said, joined=joined)
        return changed

    def _doubt(self, entry: Entry, said: Said | None, *, joined: bool = False) -> None:
        """What the file has just come to say may turn out to be the user's."""
        if entry.doubts is not None and said is not None:
            stamp = None if isinstance(said, Missing) else said.stamp
            entry.doubts.in_doubt(stamp, joined=joined)

    def _clear_up(self, entry: Entry, saved: Sighting) -> None:
        """The user is heard to have saved a file: what was taken for the agent's, and is just
        that, or was found in the middle of the saving, or before it, was not the agent's."""
        doubts, now = entry.doubts, disk.stamp(entry.path)
        if doubts is None or doubts.state is not entry.state:
            entry.doubts = None
            return
        for number, step in enumerate(doubts.steps):
            later = doubts.steps[number + 1 :]
            still = step.stamp is not None and step.stamp == now
            if not step.doubtful or (step.was_loaded() and not saved.typed_on and not still):
                continue
            try:
                if same(step.after.get(), saved.said):
                    self._go_again(entry, number, saved.said, later)
                elif still:
                    self._go_again(entry, number, saved.said, (step, *later))
                elif not later and step.settled is None:
                    self._go_again(entry, number, saved.said, ())
                else:
                    continue
            except FileProblem as problem:
                log.warning("%s: whose change it was is not told any more: %s", entry.path, problem)
            return

    def _go_again(self, entry: Entry, number: int, saved: Said, then: Sequence[Step]) -> None:
        """Take the steps from this one on back, and do these instead after the user's."""
        doubts = entry.doubts
        assert doubts is not None
        texts = [step.after.get() for step in then]
        number = doubts.beginning(number)
        entry.doubts = None
        for step in reversed(doubts.steps[number:]):
            self.put(entry, step.before, step.who)
        entry.doubts = Doubts(entry.state, doubts.steps[:number])
        self.move(entry, saved, "user")
        for step, text in zip(then, texts, strict=True):
            if self.move(entry, text, step.who) and step.doubtful:
                self._doubt(entry, text)

    def _is_agents(self, entry: Entry, said: FileText) -> bool:
        """Whether a text that a file has come to say can be the agent's."""
        return said.source == "disk" and not self.files.saved_by_user(entry.path, said.text)

    def said(self, path: Path) -> Said | FileProblem:
        """What a file says now, or why that cannot be had."""
        try:
            return self.files.peek(path)
        except FileProblem as problem:
            if problem.kind != "encoding":
                return problem
        try:
            return self.files.raw(path) or Missing(path)
        except FileProblem as problem:
            return problem

    def unkept_problems(self, path: Path | None) -> list[str]:
        """Why files that have changed, this one or all, cannot be taken back."""
        lost = [
            (entry.path, entry.problem)
            for entry in self.entries.values()
            if entry.problem is not None and not entry.state.changed
        ]
        unkept = [(file.path, why) for file, why in self.unkept.changed()]
        return [f"{each}: {why}" for each, why in (*lost, *unkept) if path in (None, each)]

    def let_go(self, path: Path | None) -> None:
        """What such files say now, this one or all, is as it should be."""
        for entry in tuple(self.entries.values()):
            if entry.problem is not None and not entry.state.changed and path in (None, entry.path):
                del self.entries[entry.path]
                self.unkept.add(entry.path, entry.problem)
        self.unkept.keep(path)

    # --- what becomes of them --------------------------------------------------------------

    def move(self, entry: Entry, said: Said, who: Who, *, stamp: Stamp | None = None) -> bool:
        """A file says ``said`` now, by ``who``'s hand; whether that is something else than
        before. ``stamp``: of the file before."""
        old = entry.state
        if entry.lost_since is not old:
            entry.lost.clear()
        elif who != "user":
            # Of what is edited unsaved the disk still says what it said.
            unsaved = isinstance(said, FileText) and said.source == "buffer"
            entry.lost = [each for each in entry.lost if unsaved and each[1].now.source == "disk"]
        try:
            undone = self._as_it_was(entry, said) if who == "user" else None
            state = undone or self.changer.moved(entry.path, old, said, who)
            entry.lost_since = state
            if same(said, old.now.get()):
                entry.state = state
                if entry.doubts is not None and entry.doubts.state is old:
                    entry.doubts.state = state
                return False
            if who == "user" and (_loses(old, state) or _goes_unsaved(old.now.get(), said)):
                entry.remember(old, _hash(old.now.get()))
        except FileProblem as problem:
            log.warning("%s: its changes so far are forgotten", problem)
            state = self.changer.clean(said)
        if who == "agent":
            if state.now.is_missing and not old.now.is_missing:
                entry.vanished = self.turn, old, stamp or entry.stamp
            elif old.now.is_missing:
                entry.appeared = self.turn
        self.put(entry, state, who)
        if entry.doubts is None or entry.doubts.state is not old:
            entry.doubts = Doubts(old)
        entry.doubts.add(Step(old, state.now, who), state)
        return True

    def _as_it_was(self, entry: Entry, said: Said) -> State | None:
        """The state in which a file said this, where the user has undone what they did to it."""
        if not entry.lost:
            return None
        wanted = _hash(said)
        for key, state in reversed(entry.lost):
            if key == wanted and same(state.now.get(), said):
                return evolve(state, now=Kept.of(said, self.changer.shelf))
        return None

    def put(self, entry: Entry, state: State, who: Who) -> None:
        """A file is in another state now, by ``who``'s hand."""
        old, entry.state = entry.state, state
        if who == "agent":
            entry.by_agent = True
        entry.heard_in_turn = -1 if who == "agent" else entry.heard_in_turn
        for listener in self._listeners:
            listener(entry, old, who)

    # --- changing them -----------------------------------------------------------------------

    @contextmanager
    def at_work(self, entry: Entry) -> Iterator[None]:
        """Nobody else looks at a file while we change it; what they did shows afterwards."""
        entry.busy = True
        try:
            yield
        finally:
            entry.busy = False
            late = [outcome for path, outcome in self._late if path == entry.path]
            self._late = [each for each in self._late if each[0] != entry.path]
            for outcome in late:
                self.wrote(entry.path, outcome)
            self.observe(entry, by_agent=self.in_turn)

    async def become(self, entry: Entry, state: State, label: str, who: Who = "review") -> None:
        """Make a file say what it says in a state, and put it into that state.

        Raises :class:`FileProblem`; then nothing has changed.
        """
        before, old = entry.state, entry.state.now.get()
        said = state.now.get()
        with self.at_work(entry):
            if same(said, old):
                entry.lost.clear()
                self.put(entry, evolve(state, now=entry.state.now), who)
                return
            await self._write(entry, old, said, label)
            actual = self.said(entry.path)
            self._stamped(entry, disk.stamp(entry.path))
            entry.last_write = self.files.last_write(entry.path)
            entry.doubts = None
            self._seen_so_far(entry)
            if before.whole is None:
                # The user may take that back in the editor, or give it up unsaved. A file
                # that they make anew is theirs.
                entry.remember(before, _hash(old))
            if isinstance(actual, FileProblem):
                self.put(entry, state, who)
                return
            if not same(said, actual):
                # An editor keeps to its own line ends; and the user types on.
                self.put(entry, state, who)
                who = "user"
            state = self.changer.moved(entry.path, state, actual, "user", loosely=True)
            self.put(entry, state, who)
            entry.lost_since = entry.state

    async def _write(self, entry: Entry, old: Said, said: Said, label: str) -> None:
        if isinstance(said, Missing):
            if not isinstance(old, Missing):
                await self.files.remove(entry.path, expected=old)
            return
        await self.files.put(
            entry.path,
            said.text if isinstance(said, FileText) else said.data,
            expected=old,
            label=label,
            bom=isinstance(said, FileText) and said.bom,
            mode=None if said.stamp is None else stat.S_IMODE(said.stamp.mode),
        )

    # --- files that move ---------------------------------------------------------------------

    def join_moves(self) -> None:
        """Find the files that the agent has moved in this turn: the old path is gone, and the
        new one has come with the same content."""
        join(self.entries.values(), self.turn, self.changer)

    def renamed(self, entry: Entry, new: Path, state: State) -> None:
        """The user has given a file another name; it said ``state`` under the old one. It is
        the same file still, with all that waits in it."""
        del self.entries[entry.path]
        self._stamped(entry, None)
        entry.path, entry.state = new, state
        entry.uri = entry.shown = entry.vanished = entry.doubts = entry.beneath = None
        entry.last_write = self.files.last_write(new)
        self._stamped(entry, disk.stamp(new))
        self._enter(entry)
        self.observe(entry, by_agent=False)

    def _moved_here(self, entry: Entry) -> Entry | None:
        """The known file that has been moved to where the session now hears of one."""
        if not self.in_turn or entry.stamp is None:
            return None
        for old in tuple(self._by_inode.get(inode(entry.stamp), {}).values()):
            if is_moved(old.stamp, entry.stamp) and disk.stamp(old.path) is None:
                return old
        return None

    def _enter(self, entry: Entry) -> None:
        self.entries[entry.path] = entry
        self.places.update((entry.path, *entry.path.parents))
        self.place_names.update((entry.path.name, *(each.name for each in entry.path.parents)))

    def _stamped(self, entry: Entry, stamp: Stamp | None) -> None:
        """The file is in this state on disk."""
        if entry.stamp is not None:
            self._by_inode.get(inode(entry.stamp), {}).pop(entry.path, None)
        if stamp is not None:
            self._by_inode.setdefault(inode(stamp), {})[entry.path] = entry
        entry.stamp = stamp


def _loses(old: State, new: State) -> bool:
    """Whether hunks of one state are gone from the next, or in conflict there."""
    return {(patch.id, patch.conflict) for patch in old.patches} != {
        (patch.id, patch.conflict) for patch in new.patches
    }


def _goes_unsaved(old: Said, new: Said) -> bool:
    """Whether a file that said what is on disk has unsaved changes now: they may be given up."""
    return (
        isinstance(old, FileText)
        and isinstance(new, FileText)
        and (old.source, new.source) == ("disk", "buffer")
    )


def _hash(said: Said) -> int:
    return hash(re.sub(r"\r\n?", "\n", said.text)) if isinstance(said, FileText) else 0
