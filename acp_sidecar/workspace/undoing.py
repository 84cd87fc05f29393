"""The steps of a review, and taking the last one back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from attrs import evolve

from acp_sidecar.workspace.entry import Entry, State, carried, lines_of, same
from acp_sidecar.workspace.files import FileText
from acp_sidecar.workspace.hunks import Patch, inverse, moved
from acp_sidecar.workspace.problems import FileProblem
from acp_sidecar.workspace.shelf import Kept, Piece
from acp_sidecar.workspace.taking import Outcome, Part
from acp_sidecar.workspace.tracked import Tracked

_STEPS_KEPT: Final = 64


class Undo:
    """The last keeps, reverts and restores."""

    def __init__(self, tracked: Tracked) -> None:
        self._tracked = tracked
        self._steps: list[list[Part]] = []

    def done(self, parts: Sequence[Part]) -> None:
        """A step was taken."""
        if parts:
            self._steps.append(list(parts))
            del self._steps[:-_STEPS_KEPT]

    async def undo(self) -> Outcome:
        """Take the last step back. What the user has done since stays.

        Files for which that cannot be done stay as they are, and can be tried again.
        """
        outcome = Outcome()
        if not self._steps:
            return outcome
        failed: dict[Part, None] = {}
        step = self._steps.pop()
        for part in reversed(step):
            try:
                await self._restore(part)
            except FileProblem as problem:
                failed[part] = None
                outcome.failed(part.ids, problem)
                continue
        outcome.parts = [part for part in step if part not in failed]
        self.done([part for part in step if part in failed])
        return outcome

    async def _restore(self, part: Part) -> None:
        entry, pre, post = part.entry, part.pre, part.post
        self._tracked.observe(entry, by_agent=self._tracked.in_turn)
        now = entry.state
        said, after = now.now.get(), post.now.get()
        if same(said, after) and _alike(now, post):
            await self._tracked.become(entry, pre, "Undo", "agent")
        elif not part.reverted and now.now.kind == post.now.kind and _alike(now, post, moved=True):
            # Nothing of the agent's has come: what the user did, it does to what was before.
            entry.state = self._tracked.changer.moved(
                entry.path, evolve(pre, now=post.now), said, "user"
            )
        elif part.reverted:
            target = carried(after, pre.now.get(), said)
            await self._tracked.become(entry, self._again(entry, pre, target), "Undo", "agent")
        else:
            entry.state = self._unkept(entry, pre, post)

    def _again(self, entry: Entry, pre: State, target: object) -> State:
        """The state of a file in which reverted hunks are back."""
        now = entry.state
        if not isinstance(target, FileText) or pre.whole or now.whole or pre.origin or now.origin:
            raise _changed(entry)
        said = now.now.get()
        assert isinstance(said, FileText)
        patches = moved(
            lines_of(said),
            lines_of(target),
            now.patches,
            "agent",
            self._tracked.changer.namer(entry.path),
        )
        return State(Kept.of(target), tuple(_as_before(patches, now.patches, pre)))

    def _unkept(self, entry: Entry, pre: State, post: State) -> State:
        """The state of a file in which kept hunks wait again, and newer ones of the agent's."""
        now = entry.state
        said, baseline = now.now.get(), now.baseline()
        before = carried(post.baseline(), pre.baseline(), baseline)
        odd = pre.whole or now.whole or pre.origin or now.origin
        if odd or not (
            isinstance(said, FileText)
            and isinstance(before, FileText)
            and isinstance(baseline, FileText)
        ):
            raise _changed(entry)
        # Seen from the baseline the text is what changes, and the hunks lead there.
        lines, turned = inverse(lines_of(said), now.patches)
        name = self._tracked.changer.namer(entry.path)
        turned = moved(
            lines, lines_of(before), turned, "agent", lambda gone, come: name(come, gone)
        )
        _, patches = inverse(lines_of(before), turned)
        return State(now.now, tuple(_as_before(patches, now.patches, pre)))


def _alike(a: State, b: State, *, moved: bool = False) -> bool:
    """Whether two states wait for the same things in the same (or ``moved``) places."""
    if a is b:
        return True
    if a.ids() != b.ids() or (a.whole is None) != (b.whole is None):
        return False
    pairs = zip(a.patches, b.patches, strict=True)
    if moved:
        return all(one.count == two.count for one, two in pairs)
    return all(
        (one.start, one.count, one.conflict) == (two.start, two.count, two.conflict)
        for one, two in pairs
    )


def _as_before(patches: Iterable[Patch], now: Sequence[Patch], pre: State) -> Iterable[Patch]:
    """Hunks with the ids and conflicts they had: those that stayed, and those that came back."""
    there = {patch.id: patch for patch in now}
    known: dict[tuple[int, tuple[str, ...]], list[Patch]] = {}
    for patch in reversed(pre.patches):
        if patch.id not in there:
            known.setdefault((patch.count, patch.before.lines()), []).append(patch)
    for patch in patches:
        stayed = there.get(patch.id)
        if stayed is not None:
            yield evolve(stayed, start=patch.start)
            continue
        back = known.get((patch.count, patch.before.lines()))
        if back:
            yield evolve(back.pop(), start=patch.start)
        else:
            yield evolve(patch, before=Piece.of(patch.before.lines()))


def _changed(entry: Entry) -> FileProblem:
    return FileProblem("changed", entry.path, "The file has been changed since")
