"""Files that a prompt's text names with ``@``: ``@src/a.py``, ``@a.py:10-20``, ``@"my file"``.

Finding them is a matter of the text alone; whether there is such a file the disk has to say.
What is written here is what is read here, and as nothing else.
What stands in code (between backticks) is no mention, nor is an address of e-mail.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from attrs import frozen

SELECTION: Final = "selection"
"""``@selection`` is what is selected in the editor."""

BEFORE: Final = r"(?<![\w@./\\`+\-])"
"""What a pattern of a mention begins with: not each ``@`` is one."""
_QUOTED: Final = r'"(?P<quoted>[^"\n]+)"(?::(?P<first>\d{1,9})(?:-(?P<last>\d{1,9}))?)?'
_BARE: Final = r"(?P<bare>[^\s\"'`<>|@]+)"
_MENTION: Final = re.compile(f"{BEFORE}@(?:{_QUOTED}|{_BARE})")
_LINES: Final = re.compile(r"(?P<path>.+?):(?P<first>\d{1,9})(?:-(?P<last>\d{1,9}))?")
_CODE: Final = re.compile(
    r"^(?P<fence>[ ]{0,3}(`{3,}|~{3,}))[^\n]*\n.*?(?:^[ ]{0,3}\2[`~]*[ \t]*$|\Z)"
    r"|(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`)",
    re.MULTILINE | re.DOTALL,
)
_PUNCTUATION: Final = ".,;:!?)]}*_>’”"
_SUFFIX: Final = re.compile(r"\w\.[A-Za-z][A-Za-z0-9]{0,3}$")


@frozen
class Reading:
    """One way to read a mention: a path as it is typed, and 0-based lines, both included."""

    path: str
    lines: tuple[int, int] | None = None


@frozen
class Mention:
    """What stands behind an ``@``. ``readings`` are tried in order; of a path that ends in
    punctuation the whole comes first."""

    text: str
    readings: tuple[Reading, ...]
    evident: bool
    """Whether it looks like a file also where there is none, so that the user is told."""


def mentions(text: str) -> list[Mention]:
    """The mentions in a prompt's text, in order; each text once."""
    found: dict[str, Mention] = {}
    for match in _MENTION.finditer(_without_code(text)):
        mention = _mention(match, text[match.end() : match.end() + 1])
        if mention is not None:
            found.setdefault(mention.text, mention)
    return list(found.values())


def written(name: str, lines: tuple[int, int] | None = None) -> str | None:
    """The mention that is read as this path, as it is typed, and these 0-based lines (both
    included); in quotes only where it needs them. None where none can be."""
    span = ""
    if lines is not None:
        first, last = lines[0] + 1, lines[1] + 1
        span = f":{first}" if first == last else f":{first}-{last}"
    meant, whole = Reading(name, lines), Reading(f"{name}{span}")
    for text in (f"@{name}{span}", f'@"{name}"{span}'):
        if text == f"@{SELECTION}":
            continue
        match mentions(f"{text} "):
            case [found] if found.text == text:
                if meant in found.readings and set(found.readings) <= {meant, whole}:
                    return text
    return None


def _without_code(text: str) -> str:
    if "`" not in text and "~~~" not in text:
        return text
    return _CODE.sub(lambda code: re.sub(r"[^\n]", " ", code[0]), text)


def _mention(match: re.Match[str], behind: str) -> Mention | None:
    quoted = match["quoted"]
    if quoted is not None:
        lines = _span(match["first"], match["last"])
        return Mention(match[0], (Reading(quoted, lines),), evident=True)
    readings = tuple(_readings(match["bare"]))
    if not readings:
        return None
    trimmed = match["bare"].rstrip(_PUNCTUATION)
    called = "(" in trimmed or behind == "("
    with_lines = _LINES.fullmatch(trimmed) is not None
    evident = not called and (
        with_lines or "/" in trimmed or "\\" in trimmed or _SUFFIX.search(trimmed) is not None
    )
    return Mention(f"@{trimmed}", readings, evident)


def _readings(bare: str) -> Iterator[Reading]:
    shorter = bare
    while shorter:
        yield Reading(shorter)
        lines = _LINES.fullmatch(shorter)
        if lines is not None:
            yield Reading(lines["path"], _span(lines["first"], lines["last"]))
        if shorter[-1] not in _PUNCTUATION:
            break
        shorter = shorter[:-1]


def _span(first: str | None, last: str | None) -> tuple[int, int] | None:
    """1-based, as typed, to 0-based; the other way round is taken for the same."""
    if first is None:
        return None
    start = max(int(first), 1) - 1
    end = max(int(last), 1) - 1 if last is not None else start
    return min(start, end), max(start, end)
