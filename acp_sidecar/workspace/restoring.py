"""Bringing every file back to what it said at a checkpoint, but for what the user did since."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypeAlias

from attrs import evolve, frozen

from acp_sidecar.workspace.entry import Changer, Entry, State, same
from acp_sidecar.workspace.history import Version
from acp_sidecar.workspace.hunks import Who
from acp_sidecar.workspace.problems import FileProblem
from acp_sidecar.workspace.shelf import Shelf
from acp_sidecar.workspace.taking import Outcome, Part, conflicts_of, taken_back
from acp_sidecar.workspace.texts import Missing, Said
from acp_sidecar.workspace.tracked import Tracked

_Change: TypeAlias = Literal["modified", "created", "deleted"]


@frozen
class Foreseen:
    """What a restore would do to a file."""

    path: Path
    change: _Change
    """``created``: the file is not there now, and would be."""


@frozen
class _Plan:
    entry: Entry
    target: Said
    ids: tuple[str, ...]


async def restore(
    tracked: Tracked, files: Sequence[tuple[Path, list[Version]]], outcome: Outcome
) -> None:
    """Take back all that was the agent's in the versions of these files, first to last.

    What the user has changed too stays, and is told in ``outcome``.
    """
    plans = _plans(tracked, files, outcome)
    # What returns goes first, lest a file that has moved be nowhere.
    for plan in sorted(plans, key=lambda plan: plan.entry.state.now.is_missing, reverse=True):
        entry, pre = plan.entry, plan.entry.state
        try:
            state = tracked.changer.moved(entry.path, pre, plan.target, "review")
            await tracked.become(entry, state, "Restore")
        except FileProblem as problem:
            outcome.failed(plan.ids, problem)
            continue
        outcome.parts.append(Part(entry, pre, entry.state, plan.ids, reverted=True))
    for part in outcome.parts:
        # Where the old file is back, nothing has moved.
        origin = part.entry.state.origin
        old = None if origin is None else tracked.entries.get(origin.path)
        if old is not None and not old.state.now.is_missing:
            part.entry.state = part.post = evolve(part.entry.state, origin=None)


def foresee(
    tracked: Tracked, files: Sequence[tuple[Path, list[Version]]], outcome: Outcome
) -> list[Foreseen]:
    """What :func:`restore` would do now; what would stay is told in ``outcome``."""
    found: list[Foreseen] = []
    for plan in _plans(tracked, files, outcome):
        now = plan.entry.state.now
        if not same(plan.target, now.get()):
            change: _Change = "modified"
            if now.is_missing:
                change = "created"
            elif isinstance(plan.target, Missing):
                change = "deleted"
            found.append(Foreseen(plan.entry.path, change))
    return found


def _plans(
    tracked: Tracked, files: Sequence[tuple[Path, list[Version]]], outcome: Outcome
) -> list[_Plan]:
    plans: list[_Plan] = []
    for path, versions in files:
        entry = tracked.touch(path)
        if entry is None:
            outcome.problems += tracked.unkept_problems(path)
            continue
        try:
            plan = _plan(entry, versions, outcome)
        except FileProblem as problem:
            outcome.failed((), problem)
            continue
        if plan is not None:
            plans.append(plan)
    return plans


def _plan(entry: Entry, versions: Sequence[Version], outcome: Outcome) -> _Plan | None:
    state = _replayed(entry.path, versions)
    now = entry.state.now.get()
    if not same(state.now.get(), now):
        state = Changer(Shelf()).moved(entry.path, state, now, "user")
    stuck = conflicts_of(state, set(state.ids()))
    if stuck:
        outcome.stuck(entry, state, stuck)
    left = set(stuck)
    ids = tuple(id_ for id_ in state.ids() if id_ not in left)
    if not ids:
        return None
    return _Plan(entry, taken_back(state, set(ids)).now.get(), ids)


def _replayed(path: Path, versions: Sequence[Version]) -> State:
    changer = Changer(Shelf())
    state = changer.clean(versions[0].kept.get())
    for version in versions[1:]:
        # What was taken back since is brought back, like what the agent did is taken back.
        who: Who = "user" if version.who == "user" else "agent"
        state = changer.moved(path, state, version.kept.get(), who)
    return state
