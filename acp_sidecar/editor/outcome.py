"""What came of a keep, a revert, an undo or a restore, for the editor: lists, and in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, Literal, TypeAlias

from attrs import frozen

from acp_sidecar.client.ports import visible
from acp_sidecar.workspace.changes import Reviewed

Step: TypeAlias = Literal["keep", "revert", "undo", "restore"]

_NOTHING: Final[dict[Step, str]] = {
    "keep": "There is nothing to keep here.",
    "revert": "There is nothing to revert here.",
    "undo": "There is nothing to undo.",
    "restore": "The files are as they were then.",
}


@frozen
class Done:
    """What came of one command in one session, by our id of it."""

    session_id: str
    came: Reviewed

    @property
    def did(self) -> bool:
        """Whether anything is another than before."""
        return bool(self.came.kept or self.came.reverted)


def outcome(step: Step, done: Sequence[Done]) -> dict[str, Any]:
    """What such a command answers, where it was one step of however many parts."""
    total = joined([each.came for each in done])
    undo = [{"sessionId": each.session_id} for each in reversed(done) if each.did]
    return {
        **total.to_json(),
        "problems": list(total.problems),
        "text": " ".join(_sentences(step, total)) or _NOTHING[step],
        "partial": bool(total.conflicts or total.problems),
        "undo": [] if step == "undo" else undo,
    }


def joined(parts: Sequence[Reviewed]) -> Reviewed:
    """All of them as one."""
    return Reviewed(
        tuple(id_ for one in parts for id_ in one.kept),
        tuple(id_ for one in parts for id_ in one.reverted),
        tuple(id_ for one in parts for id_ in one.conflicts),
        tuple(problem for one in parts for problem in one.problems),
    )


def _sentences(step: Step, came: Reviewed) -> Iterator[str]:
    kept, reverted, conflicts = len(came.kept), len(came.reverted), len(came.conflicts)
    if kept and step == "undo":
        yield f"{_changes(kept)} {'waits' if kept == 1 else 'wait'} again."
    elif kept:
        yield f"Kept {_changes(kept)}."
    if reverted and step == "undo":
        yield f"Brought {_changes(reverted)} back."
    elif reverted:
        yield f"{'Restored' if step == 'restore' else 'Reverted'} {_changes(reverted)}."
    if conflicts:
        rest = "it stays as it is" if conflicts == 1 else "they stay as they are"
        yield f"You have edited the same lines as {_changes(conflicts)}: {rest}."
    for problem in came.problems:
        said = visible(problem)
        yield said if said.endswith((".", "!", "?")) else f"{said}."


def _changes(count: int) -> str:
    return "1 change" if count == 1 else f"{count:,} changes"
