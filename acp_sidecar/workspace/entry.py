"""One file in the ledger: what it says, and which of it is the agent's doing.

A text that was one before the agent too has hunks. Any other change (a file created,
deleted, or that is no text on one side) is one thing as a whole. A file that the agent
has moved brings along what it was, and where from.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, Final, Literal

from attrs import define, evolve, field, frozen

from acp_sidecar.workspace.disk import Snapshot, Stamp
from acp_sidecar.workspace.doubts import Doubts
from acp_sidecar.workspace.gitpatch import PatchError, PatchFile
from acp_sidecar.workspace.hunks import (
    Namer,
    Patch,
    Who,
    differences,
    marked,
    moved,
    without,
)
from acp_sidecar.workspace.patchtext import apply
from acp_sidecar.workspace.positions import split_lines
from acp_sidecar.workspace.shelf import Kept, Shelf
from acp_sidecar.workspace.textdiff import fit, merge3, same_text
from acp_sidecar.workspace.texts import BOM, FileText, Missing, Said

_LOST_KEPT: Final = 16


@frozen(eq=False)
class Whole:
    """A change that has no hunks. The agent's changes lead from ``baseline`` to ``left``."""

    id: str
    baseline: Kept
    left: Kept
    conflict: bool = False
    """Whether the user has changed what the agent left."""
    tangled: bool = False
    """Whether the agent went on from there."""


@frozen
class Origin:
    """Where the agent has moved a file from. ``id`` is that of the move, as a hunk."""

    id: str
    path: Path


@frozen(eq=False)
class State:
    """What a file says, and what of it waits for review. Never both hunks and a whole."""

    now: Kept
    patches: tuple[Patch, ...] = ()
    whole: Whole | None = None
    origin: Origin | None = None

    @property
    def changed(self) -> bool:
        return bool(self.patches or self.whole or self.origin)

    @property
    def conflict(self) -> bool:
        if self.whole is not None:
            return self.whole.conflict
        return any(patch.conflict for patch in self.patches)

    @property
    def created(self) -> bool:
        return self.whole is not None and self.whole.baseline.is_missing

    def ids(self) -> tuple[str, ...]:
        """The ids of all that waits for review."""
        whole = (self.whole.id,) if self.whole else ()
        origin = (self.origin.id,) if self.origin else ()
        return (*origin, *whole, *(patch.id for patch in self.patches))

    def baseline(self) -> Said:
        """What the file would say without the agent's changes.

        Raises :class:`FileProblem` where a text is lost.
        """
        if self.whole is not None:
            return self.whole.baseline.get()
        now = self.now.get()
        if not self.patches or not isinstance(now, FileText):
            return now
        return text_of_lines(without(lines_of(now), self.patches, lambda patch: True)[0], now)


@define(eq=False)
class Entry:
    """One file the session has heard of."""

    path: Path
    state: State
    heard_in_turn: int
    """The turn in which it may have been changed just before the session heard of it; -1
    once it is known what it said."""
    stamp: Stamp | None
    """The state of the file on disk when it was last looked at."""
    by_agent: bool = False
    """Whether the agent has ever changed it, as far as we know."""
    last_sighting: int = 0
    """The last of what an editor was seen to load or save that was taken in."""
    beneath: Stamp | Literal["gone"] | None = None
    """The state of the file on disk that came about while the agent was at work, and that an
    editor with unsaved changes has not shown yet."""
    last_write: int = 0
    """The last write through us that has been seen here."""
    reported: State | None = None
    """What it was after the last report of a change that had been made before the session heard
    of the file."""
    doubts: Doubts | None = None
    """What has become of it since something was found on disk of which nobody has said yet whether
    it is the agent's or was saved by the user."""
    lost: list[tuple[int, State]] = field(factory=list)
    """States in which hunks waited that the user has changed or taken out since, by a hash of
    the text; to be found again when the user undoes that."""
    lost_since: State | None = None
    """What has become of those; once it is something else they are of no use any more."""
    problem: str | None = None
    """Why it cannot be told what it says now."""
    uri: str | None = None
    """What it is called while it is not open."""
    shown: tuple[object, Any] | None = None
    """What was last shown of it, and from what that was made."""
    busy: bool = False
    """Whether we are at work on it: it is looked at again after that."""
    vanished: tuple[int, State, Stamp | None] | None = None
    """The turn in which the agent took the file away, and what it was."""
    appeared: int = -1
    """The turn in which the agent made the file."""

    def remember(self, state: State, key: int) -> None:
        """Find this state again when the user brings its text back. ``key``: a hash of that."""
        self.lost.append((key, state))
        del self.lost[:-_LOST_KEPT]

    def forget(self, kept: Collection[str], before: State) -> None:
        """These hunks of ``before`` are kept: no text of the user's brings them back."""
        if self.lost_since is not before:
            self.lost.clear()
        self.lost = [
            (key, evolve(old, patches=tuple(each for each in old.patches if each.id not in kept)))
            for key, old in self.lost
            if old.whole is None or old.whole.id not in kept
        ]
        self.lost_since = self.state


class Changer:
    """Carries the state of files from one text to the next."""

    def __init__(self, shelf: Shelf) -> None:
        self.shelf = shelf
        self._issued: Counter[str] = Counter()
        self.taken: set[str] = set()
        """Ids that an earlier process has given."""

    def clean(self, said: Said) -> State:
        """A file in which nothing is the agent's."""
        return State(Kept.of(said, self.shelf))

    def moved(
        self, path: Path, state: State, said: Said, who: Who, *, loosely: bool = False
    ) -> State:
        """What becomes of a file that says ``said`` now, by ``who``'s hand.

        ``loosely``: how its lines end is no difference. Raises :class:`FileProblem` where
        what it said before is lost.
        """
        old = state.now.get()
        now = Kept.of(said, self.shelf)
        if _shows_mark(old, said):
            state = evolve(state, patches=marked(_lines(old), state.patches))
        if same(said, old) and now.lines == state.now.lines:
            return evolve(state, now=now)
        if state.whole is not None:
            return self._whole_moved(path, state, state.whole, said, now, who)
        if isinstance(old, FileText) and isinstance(said, FileText):
            patches = moved(
                lines_of(old),
                lines_of(said),
                state.patches,
                who,
                self.namer(path),
                loosely=loosely or old.source != said.source,
            )
            return self._laid_down(evolve(state, now=now, patches=patches))
        if who == "agent":
            baseline = state.baseline()
            return self._compared(path, state, baseline, said, now, tangled=state.conflict)
        if who == "review" or not state.changed:
            return State(now)
        whole = Whole(
            state.patches[0].id if state.patches else self._name(str(path), "", _token(said)),
            Kept.of(state.baseline(), self.shelf),
            state.now,
            conflict=True,
            tangled=any(patch.tangled for patch in state.patches),
        )
        return State(now, (), whole, state.origin)

    def reported(self, path: Path, state: State, before: Said) -> State:
        """A file as it is, now that it is known what it said before the agent changed it."""
        return self._compared(path, state, before, state.now.get(), state.now, tangled=False)

    def namer(self, path: Path) -> Namer:
        """Gives ids to hunks of a file."""
        return lambda gone, come: self._name(str(path), "".join(gone), "".join(come))

    def origin(self, path: Path, old: Path) -> Origin:
        """A move of a file, to be reviewed."""
        return Origin(self._name(str(path), str(old), "moved"), old)

    def _laid_down(self, state: State) -> State:
        patches = tuple(
            evolve(
                patch,
                before=patch.before.on(self.shelf),
                left=None if patch.left is None else patch.left.on(self.shelf),
            )
            for patch in state.patches
        )
        return evolve(state, patches=patches)

    def _whole_moved(
        self, path: Path, state: State, whole: Whole, said: Said, now: Kept, who: Who
    ) -> State:
        baseline = whole.baseline.get()
        if same(said, baseline):
            return State(now, origin=state.origin)
        if who == "agent":
            return self._compared(path, state, baseline, said, now, tangled=whole.conflict)
        if who == "review":
            return evolve(state, now=now)
        conflict = whole.tangled or not same(whole.left.get(), said)
        return evolve(state, now=now, whole=evolve(whole, conflict=conflict))

    def _compared(
        self, path: Path, state: State, baseline: Said, said: Said, now: Kept, *, tangled: bool
    ) -> State:
        """Between these two everything is the agent's."""
        if same(baseline, said):
            return State(now, origin=state.origin)
        if isinstance(baseline, FileText) and isinstance(said, FileText):
            found = differences(lines_of(baseline), lines_of(said), self.namer(path))
            patches = tuple(evolve(patch, tangled=tangled) for patch in found)
            return self._laid_down(State(now, patches, None, state.origin))
        id_ = self._name(str(path), _token(baseline), _token(said))
        kept = Kept.of(baseline, self.shelf)
        return State(now, (), Whole(id_, kept, now, tangled, tangled), state.origin)

    def _name(self, *parts: str) -> str:
        first = _digest((*parts, ""))
        while True:
            number = self._issued[first]
            self._issued[first] += 1
            name = _digest((*parts, str(number))) if number else first
            if name not in self.taken:
                return name


def lines_of(said: FileText) -> list[str]:
    """The lines of a text; a byte order mark belongs to the first one."""
    return split_lines((BOM if said.bom else "") + said.text)


def _lines(said: Said) -> list[str]:
    return lines_of(said) if isinstance(said, FileText) else []


def _shows_mark(old: Said, said: Said) -> bool:
    """Whether a byte order mark comes to light that a buffer did not show."""
    if not isinstance(old, FileText) or not isinstance(said, FileText):
        return False
    return old.source == "buffer" and not old.bom and said.source == "disk" and said.bom


def text_of_lines(lines: Sequence[str], like: FileText) -> FileText:
    """The text of such lines, of the same file."""
    text = "".join(lines)
    return evolve(like, text=text.removeprefix(BOM), bom=text.startswith(BOM))


def same(a: Said, b: Said) -> bool:
    """Whether a file that said ``a`` and says ``b`` has not changed."""
    if isinstance(a, FileText) and isinstance(b, FileText):
        # A buffer does not say how its lines will end on disk.
        same = a.text == b.text if a.source == b.source else same_text(a.text, b.text)
        return same and (a.bom == b.bom or a.source != b.source)
    if isinstance(a, Snapshot) and isinstance(b, Snapshot):
        return a.data == b.data
    return isinstance(a, Missing) and isinstance(b, Missing)


def carried(base: Said, ours: Said, theirs: Said) -> Said | None:
    """``ours`` with what led from ``base`` to ``theirs``; None where that is not clear."""
    if same(base, theirs):
        return ours
    if same(base, ours):
        return theirs
    if not (
        isinstance(base, FileText) and isinstance(ours, FileText) and isinstance(theirs, FileText)
    ):
        return None
    both = merge3(fit(base.text, ours.text), ours.text, fit(theirs.text, ours.text))
    return None if both is None else evolve(ours, text=both)


def before_report(
    path: Path, now: FileText, old_text: str | None, new_text: str
) -> FileText | Missing | None:
    """What a file said before a reported change that it shows already; None where it does
    not show it, or not in one place only."""
    if same_text(now.text, new_text):
        if not old_text:
            return Missing(path) if new_text else None
        return None if same_text(old_text, new_text) else evolve(now, text=fit(old_text, now.text))
    old, new = fit(old_text or "", now.text), fit(new_text, now.text)
    if not old or not new or now.text.count(new) != 1:
        return None
    if old in now.text and old not in new:
        return None
    return evolve(now, text=now.text.replace(new, old))


def before_patch(path: Path, now: FileText, patch: PatchFile) -> FileText | Missing | None:
    """What a file said before a patch that it shows already; None where it does not."""
    if not patch.is_text or not patch.hunks or patch.operation in ("delete", "move"):
        return None
    made = patch.operation in ("add", "copy")
    try:
        before = apply(patch.reversed(), now.text)
    except PatchError:
        return None
    return Missing(path) if made else evolve(now, text=before)


def _token(said: Said) -> str:
    if isinstance(said, Missing):
        return "missing"
    if isinstance(said, FileText):
        return "text " + said.text
    return "bytes " + hashlib.blake2b(said.data, digest_size=16).hexdigest()


def _digest(parts: Sequence[str]) -> str:
    digest = hashlib.blake2b(digest_size=9)
    for part in parts:
        digest.update(part.encode("utf-8", "surrogatepass"))
        digest.update(b"\0")
    return digest.hexdigest()
