"""Keeping the agent's changes of one file, and taking them back."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from attrs import define, evolve, field

from acp_sidecar.workspace.changes import EditedFile
from acp_sidecar.workspace.entry import Entry, State, lines_of, same, text_of_lines
from acp_sidecar.workspace.files import FileText, Missing
from acp_sidecar.workspace.hunks import without
from acp_sidecar.workspace.problems import FileProblem
from acp_sidecar.workspace.shelf import Kept
from acp_sidecar.workspace.tracked import Tracked


@define(eq=False)
class Part:
    """What a step did to one file: its state before and after, and the hunks it was about."""

    entry: Entry
    pre: State
    post: State
    ids: tuple[str, ...]
    reverted: bool


@define
class Outcome:
    """What came of a step, file by file."""

    parts: list[Part] = field(factory=list)
    conflicts: list[str] = field(factory=list)
    problems: list[str] = field(factory=list)
    edited: list[EditedFile] = field(factory=list)

    def stuck(self, entry: Entry, state: State, ids: Collection[str]) -> None:
        """These are in conflict. ``state``: that of the file, or the one it is judged by."""
        problem = why_not(entry.path, state, unsaved=entry.state.now.source == "buffer")
        self.failed(ids, problem)
        if state.created and entry.state.now.source == "disk":
            self.edited += [
                EditedFile(id_, entry.path, entry.state.now, str(problem)) for id_ in ids
            ]

    def failed(self, ids: Collection[str], problem: object) -> None:
        self.conflicts += ids
        self.problems.append(str(problem))


def keep(entry: Entry, chosen: Collection[str] | None) -> Part | None:
    """Take changes of a file for good: those with the chosen ids, or all."""
    pre = entry.state
    ids = tuple(id_ for id_ in pre.ids() if chosen is None or id_ in chosen)
    if not ids:
        return None
    taken = set(ids)
    entry.state = State(
        pre.now,
        tuple(patch for patch in pre.patches if patch.id not in taken),
        None if pre.whole is None or pre.whole.id in ids else pre.whole,
        None if pre.origin is None or pre.origin.id in ids else pre.origin,
    )
    entry.forget(taken, pre)
    return Part(entry, pre, entry.state, ids, reverted=False)


async def revert(
    tracked: Tracked, entry: Entry, chosen: Collection[str] | None, outcome: Outcome, label: str
) -> None:
    """Take changes of a file back: those with the chosen ids, or all.

    What is in conflict stays, and so does what the disk or the editor does not take; both
    are told in ``outcome``.
    """
    state = entry.state
    ids = [id_ for id_ in state.ids() if chosen is None or id_ in chosen]
    if state.origin is not None:
        ids = [id_ for id_ in ids if state.origin is None or id_ != state.origin.id]
    stuck = conflicts_of(state, set(ids))
    if stuck:
        outcome.stuck(entry, state, stuck)
        left = set(stuck)
        ids = [id_ for id_ in ids if id_ not in left]
    if ids:
        try:
            await tracked.become(entry, taken_back(state, set(ids)), label)
        except FileProblem as problem:
            outcome.failed(ids, problem)
            return
        outcome.parts.append(Part(entry, state, entry.state, tuple(ids), reverted=True))
    origin = entry.state.origin
    if origin is not None and (chosen is None or origin.id in chosen):
        try:
            outcome.parts += await _move_back(tracked, entry, origin.path, label)
        except FileProblem as problem:
            outcome.failed([origin.id], problem)


def conflicts_of(state: State, ids: Collection[str]) -> list[str]:
    """Those of the ids that are in conflict."""
    stuck = [patch.id for patch in state.patches if patch.conflict and patch.id in ids]
    if state.whole is not None and state.whole.conflict and state.whole.id in ids:
        stuck.append(state.whole.id)
    return stuck


async def delete(tracked: Tracked, file: EditedFile, outcome: Outcome) -> None:
    """Delete a file that the user has edited, by the user's word; what it said comes back by
    an undo. One that says something else than when the user was asked stays."""
    entry = tracked.entries.get(file.path)
    if entry is None:
        return
    tracked.observe(entry, by_agent=tracked.in_turn)
    pre = entry.state
    try:
        if not same(file.said.get(), pre.now.get()):
            changed = FileProblem("changed", file.path, "It has changed since you were asked")
            outcome.failed([file.id], changed)
            return
        await tracked.become(entry, tracked.changer.clean(Missing(file.path)), "Delete")
    except FileProblem as problem:
        outcome.failed([file.id], problem)
        return
    outcome.parts.append(Part(entry, pre, entry.state, (file.id,), reverted=True))


def why_not(path: Path, state: State, *, unsaved: bool = False) -> FileProblem:
    """Why a conflict is one. ``unsaved``: the user's part of it is not saved."""
    if state.created and unsaved:
        message = (
            "The agent made this file and you have unsaved changes in it, so it is not deleted. "
            "Save it first"
        )
    elif state.created:
        message = "You have edited this file since the agent made it, so it is not deleted"
    elif state.whole is not None and state.now.is_missing:
        message = "You have deleted this file since the agent changed it"
    elif state.whole is not None:
        message = "You have changed this file since the agent did"
    else:
        message = "You have changed the same lines as the agent, or right where it took some out"
    return FileProblem("changed", path, message)


def taken_back(state: State, ids: Collection[str]) -> State:
    """The state without the agent's changes of these ids. Raises :class:`FileProblem` where
    a text is lost."""
    if state.whole is not None:
        return State(state.whole.baseline, origin=state.origin)
    now = state.now.get()
    assert isinstance(now, FileText)
    lines, left = without(lines_of(now), state.patches, lambda patch: patch.id in ids)
    return State(Kept.of(text_of_lines(lines, now)), left, None, state.origin)


async def _move_back(tracked: Tracked, entry: Entry, path: Path, label: str) -> list[Part]:
    """Give a file its old name back, with all it says now."""
    old = tracked.touch(path)
    for each in (entry, old):
        if each is not None:
            tracked.observe(each, by_agent=tracked.in_turn)
    state = entry.state
    if state.origin is None or state.now.is_missing:
        raise FileProblem("changed", entry.path, "The file has just changed")
    if old is None or not old.state.now.is_missing:
        raise FileProblem("changed", path, "There is a file of the old name again")
    if state.now.source == "buffer":
        raise FileProblem("changed", entry.path, "The file has unsaved changes in the editor")
    was = old.state
    tracked.moves(path, entry.path)
    await tracked.become(old, evolve(state, origin=None), label)
    try:
        gone = tracked.changer.clean(Missing(entry.path))
        await tracked.become(entry, gone, label)
    except FileProblem:
        await tracked.become(old, was, label)
        raise
    return [
        Part(old, was, old.state, (), reverted=True),
        Part(entry, state, entry.state, (state.origin.id,), reverted=True),
    ]
