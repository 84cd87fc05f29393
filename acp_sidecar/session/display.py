"""What a command wrote, as a person would see it in a terminal without colours or a cursor.

The agent gets what was written. A person sees text in which no control sequence is left: a
carriage return begins its line again, a backspace goes back, an erased line is gone, and
colours, titles, links and movements of the cursor are taken out.
"""

from __future__ import annotations

import re
from typing import Final

# ECMA-48: what begins with ESC or its 8-bit form, also one that is not finished yet.
_SEQUENCE: Final = re.compile(
    r"(?:\x1b\[|\x9b)(?P<args>[0-?]*)[ -/]*(?P<final>[@-~]|$)"
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c|(?=\x1b)|$)"
    r"|\x1b(?:[ -/]+[0-~]?|[0-~]|$)?"
)
_ERASE: Final = "\x00"
"""Stands for an erased rest of the line until lines are drawn."""
_CONTROL: Final = re.compile(r"[\x01-\x07\x0b-\x0c\x0e-\x1f\x7f-\x9f]")
_ODD: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def shown(text: str) -> str:
    """``text`` as it looks. Lines end with ``\\n``; tabs stay."""
    if _ODD.search(text) is None:
        return text
    text = text.replace("\x00", "").replace("\r\n", "\n")
    text = _CONTROL.sub("", _SEQUENCE.sub(_effect, text))
    if "\r" not in text and "\b" not in text and _ERASE not in text:
        return text
    return "\n".join(
        _drawn(line) if "\r" in line or "\b" in line or _ERASE in line else line
        for line in text.split("\n")
    )


def _effect(match: re.Match[str]) -> str:
    if match["final"] != "K":
        return ""
    if match["args"] in ("", "0"):
        return _ERASE
    return "\r" + _ERASE if match["args"] == "2" else ""


def _drawn(line: str) -> str:
    """A line after everything that was written over it."""
    cells: list[str] = []
    at = 0
    for piece in re.split("([\r\b\x00])", line):
        if piece == "\r":
            at = 0
        elif piece == "\b":
            at = max(0, at - 1)
        elif piece == _ERASE:
            del cells[at:]
        else:
            cells[at : at + len(piece)] = piece
            at += len(piece)
    return "".join(cells)
