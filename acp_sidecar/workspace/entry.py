"""One file in the ledger: what it said, and whose changes led to what it says."""

from __future__ import annotations

from pathlib import Path

from attrs import define, evolve

from acp_sidecar.workspace.disk import Snapshot, Stamp
from acp_sidecar.workspace.textdiff import fit, merge3, same_text
from acp_sidecar.workspace.texts import FileText, Missing, Said


@define
class Entry:
    """One file. The agent's changes lead from ``baseline`` to ``left``, the user's since
    then from ``left`` to ``now``; as long as nothing is in conflict the latter are in the
    baseline too, and ``left`` is ``now``."""

    path: Path
    baseline: Said
    left: Said
    now: Said
    heard_in_turn: int
    """The turn in which it may have been changed just before the session heard of it; -1
    once it is known what it said."""
    stamp: Stamp | None
    """The state of the file on disk when it was last looked at."""
    save_number: int = 0
    """Of the last saving by the user that was taken in."""
    by_agent: bool = False
    """Whether the agent has changed it, as far as we know."""
    tangled: bool = False
    """Whether the agent went on where the user had changed its lines."""
    taken: Said | None = None
    """What the file said when the agent last changed it."""

    @property
    def conflict(self) -> bool:
        return self.tangled or not same(self.left, self.now)

    @property
    def changed(self) -> bool:
        return not same(self.baseline, self.now)

    def moved(self, said: Said, *, by_agent: bool) -> None:
        """Take in what the file says now, and who made it say so."""
        if same(said, self.now):
            self.now = said
            if isinstance(said, FileText) and said.source == "disk":
                # A buffer did not say all of it: its mark, how its lines end.
                self.baseline = said if same(said, self.baseline) else self.baseline
                self.left = said if same(said, self.left) else self.left
            return
        if same(said, self.left):
            # The user's conflicting change is gone again.
            self.now = said
        elif by_agent:
            self.by_agent = True
            self.heard_in_turn = -1
            if self.conflict:
                self.tangled = True
            self.left = self.now = self.taken = said
        else:
            self.now = said
            if not self.by_agent:
                self.baseline = self.left = said
            elif not self.tangled:
                both = carried(self.left, self.baseline, said)
                if both is not None:
                    self.baseline, self.left = both, said
        if not self.changed:
            # Whatever there was, nothing of it is left.
            self.left = said
            self.by_agent = self.tangled = False

    def settle(self, said: Said, stamp: Stamp | None) -> None:
        """From here on it starts anew."""
        self.baseline = self.left = self.now = said
        self.stamp = stamp
        self.taken = None
        self.by_agent = self.tangled = False
        self.heard_in_turn = -1

    def report(self, old_text: str | None, new_text: str) -> None:
        """The agent says that it has changed ``old_text``, of the file or a piece of it, to
        ``new_text``, and the file may have said so before we looked."""
        if self.by_agent or self.changed or not isinstance(self.baseline, FileText):
            return
        before = _before(self.path, self.baseline, old_text, new_text)
        if before is not None:
            self.baseline = before
            self.by_agent = True


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


def _before(
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
