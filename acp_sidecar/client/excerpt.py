"""The lines a change takes and brings, as a patch shows them.

For dialogs that have nothing but text. Also tells whether something an agent says besides
is the same once more.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from acp_sidecar.client.summary import ChangeSummary
from acp_sidecar.client.visible import visible
from acp_sidecar.workspace.positions import split_lines
from acp_sidecar.workspace.textdiff import fit, hunks

_MOST_LINES: Final = 60
_MOST_CHARACTERS: Final = 400
"""Of one line."""
_UNENDED: Final = " (without a line end)"
_HUNK: Final = re.compile(r"@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@")
_RULER: Final = re.compile("=+")


def excerpt(change: ChangeSummary, most: int = _MOST_LINES) -> list[str]:
    """The lines that go (``-``) and come (``+``), below a line that says where (1-based).

    At most ``most`` of them, and then how many more there are; the same for a very long line.
    Whatever could hide or fake something shows as an escape.
    """
    lines = [_cut(line) for line in _lines(change)]
    rest = len(lines) - most
    # A line in place of one line would say less than that line does.
    return lines if rest <= 1 else [*lines[:most], f"… and {rest} more lines, not shown here"]


def says_the_same(value: object, changes: Iterable[ChangeSummary]) -> bool:
    """Whether a value is a text of one of these changes, or a unified diff of just that."""
    if not isinstance(value, str):
        return False
    return any(
        value in (change.before, change.after) or _is_patch_of(value, change) for change in changes
    )


def _lines(change: ChangeSummary) -> list[str]:
    old = change.before or ""
    before, after = split_lines(old), split_lines(fit(change.after, old))
    shown = []
    for hunk in hunks("".join(before), "".join(after)):
        gone = before[hunk.before_start :][: hunk.before_lines]
        come = after[hunk.after_start :][: hunk.after_lines]
        place = hunk.before_start if gone else hunk.after_start
        shown.append(f"@@ line {place + 1} @@" if change.whole else "@@")
        for sign, lines in (("-", gone), ("+", come)):
            shown += [sign + _bare(line) for line in lines]
            if change.whole and lines and _bare(lines[-1]) == lines[-1]:
                shown[-1] += _UNENDED
    return shown


def _is_patch_of(text: str, change: ChangeSummary) -> bool:
    lines = [_bare(line) for line in split_lines(text)]
    first = next((n for n, line in enumerate(lines) if _HUNK.match(line)), None)
    if first is None:
        return False
    head_is_plain = all(
        _RULER.fullmatch(line) or change.path in line or line.endswith("/dev/null")
        for line in lines[:first]
    )
    said = [line for line in lines[first:] if line[:1] in ("+", "-")]
    shown = [line.removesuffix(_UNENDED) for line in _lines(change) if line[0] != "@"]
    return head_is_plain and said == shown


def _bare(line: str) -> str:
    return line.rstrip("\r\n")


def _cut(line: str) -> str:
    shown = visible(line[:_MOST_CHARACTERS])
    rest = len(line) - _MOST_CHARACTERS
    return shown if rest <= 0 else f"{shown}… and {rest} more characters, not shown here"
