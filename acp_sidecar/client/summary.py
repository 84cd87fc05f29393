"""What a diff would do to the file it names, in one true sentence.

The agent's word for what a file says now counts only where we cannot look.
"""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen

from acp_sidecar.acp.model import Diff
from acp_sidecar.client.target import Target
from acp_sidecar.client.visible import visible
from acp_sidecar.workspace.positions import split_lines
from acp_sidecar.workspace.textdiff import fit, hunks, same_text


@frozen
class ChangeSummary:
    """What a diff would do to the file at ``path``.

    ``before`` is None where no text is there; ``whole`` says that ``before`` and ``after``
    are the whole file and not a part of it. ``text`` is one sentence without its subject:
    ``changes /ws/a.py (−1 +2 lines)``.
    """

    path: str
    before: str | None
    after: str
    whole: bool
    text: str


def summarise(diff: Diff, look: Callable[[str], Target]) -> ChangeSummary:
    """What ``diff`` would do, by what ``look`` says of its path."""
    target = look(diff.path)
    where = visible(diff.path) + ("" if target.inside else ", outside the workspace,")
    old, new, now = diff.old_text or None, diff.new_text, target.text
    if now is None:
        return ChangeSummary(diff.path, old, new, old is None, _unseen(where, target, old, new))
    if old is None or same_text(old, now):
        # What is there now is the truth, and its line ends stay in a write.
        text = _whole(where, now, fit(new, now), declared_new=old is None)
        return ChangeSummary(diff.path, now, new, True, text)
    places = _places(now, old)
    part = "in a part of it" if places else "in a text that it does not have"
    if places > 1:
        part = f"in one of {places} places of this text, it is not said which"
    text = f"changes {where} ({_counts(old, fit(new, old))}, {part})"
    return ChangeSummary(diff.path, old, new, False, text)


def _unseen(where: str, target: Target, old: str | None, new: str) -> str:
    if target.exists and not target.regular:
        return f"takes {where} for a file, which it is not, and writes {_lines(new)}"
    if old is not None:
        said = "as the agent has it" if target.exists is not False else "but nothing is there now"
        return f"changes {where} ({_counts(old, fit(new, old))}, {said})"
    if target.exists:
        return f"overwrites {where} with {_lines(new)}"
    return f"{'writes' if target.exists is None else 'creates'} {where} ({_lines(new)})"


def _whole(where: str, now: str, new: str, *, declared_new: bool) -> str:
    if now == new:
        return f"leaves {where} as it is"
    if not new:
        return f"empties {where} ({_lines(now)} removed)"
    removed, _ = _changed(now, new)
    if declared_new or removed == len(split_lines(now)):
        return f"overwrites {where} ({_lines(now)} before, {_lines(new)} after)"
    return f"changes {where} ({_counts(now, new)})"


def _places(text: str, part: str) -> int:
    """How often a text has a part, however its lines end."""
    plain = part.replace("\r\n", "\n").rstrip("\n")
    return text.replace("\r\n", "\n").count(plain) if plain else int(part in text)


def _counts(before: str, after: str) -> str:
    removed, added = _changed(before, after)
    return f"−{removed} +{added} lines"


def _changed(before: str, after: str) -> tuple[int, int]:
    changed = hunks(before, after)
    return sum(hunk.before_lines for hunk in changed), sum(hunk.after_lines for hunk in changed)


def _lines(text: str) -> str:
    count = len(split_lines(text))
    return "1 line" if count == 1 else f"{count} lines"
