"""An edit of several files in several places each, so that one of them can be kept and
another reverted. Made twice, it gives the first text back."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Final

from acp_sidecar.demo.session import Session

REMARK: Final = "Seen by the demo agent"
MOST: Final = 3
LARGEST: Final = 200_000
_COMMENTS: Final = {
    **dict.fromkeys((".py", ".sh", ".toml", ".yaml", ".yml", ".rb"), "# "),
    **dict.fromkeys((".js", ".ts", ".c", ".h", ".cpp", ".go", ".rs", ".java", ".css"), "// "),
    ".lua": "-- ",
    ".md": "",
    ".txt": "",
}


def chosen(session: Session, argument: str) -> list[Path]:
    """The files that are named, relative to the session's folder, else some of the texts there."""
    if argument:
        try:
            names = shlex.split(argument)
        except ValueError:
            names = [argument]
        return list(dict.fromkeys(session.cwd / name for name in names))
    try:
        here = sorted(path for path in session.cwd.iterdir() if path.suffix in _COMMENTS)
        return [path for path in here if path.is_file() and path.stat().st_size <= LARGEST][:MOST]
    except OSError:
        return []


def changed(path: Path, text: str) -> str:
    """The text after the edit: with a line at the top, one in every eight, and one at the end,
    or without those where they are there already."""
    mark = f"{_COMMENTS.get(path.suffix, '')}{REMARK}"
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = text.split(newline)
    rest = [line for line in lines if not line.startswith(mark)]
    if rest != lines:
        return newline.join(rest)
    ended = lines[-1] == ""
    body = lines[:-1] if ended else lines
    first = 1 if body and body[0].startswith("#!") else 0
    places = [first, *range(first + 8, max(len(body) - 3, first), 8), len(body)]
    places = sorted(set(places))
    result: list[str] = []
    for number, line in enumerate([*body, None]):
        if number in places:
            result.append(f"{mark} ({places.index(number) + 1} of {len(places)}).")
        if line is not None:
            result.append(line)
    return newline.join([*result, ""] if ended or not text else result)
