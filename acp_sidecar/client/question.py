"""A permission request as a question to a person: facts first, the whole truth, no guess.

The text is built from what will happen (kind, paths, command, changes); the agent's own
title comes last and is marked as its words, since neither title nor tool name decides
anything. Everything an agent wrote is made visible: control, bidirectional and
zero-width characters appear as escapes, so no text can hide or fake a line.
"""

from __future__ import annotations

import re
import shlex
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import orjson
from attrs import evolve, field, frozen

from acp_sidecar.acp.model import (
    Content,
    Diff,
    Json,
    Location,
    PermissionOption,
    PermissionRequest,
    TextContent,
    ToolCallContent,
    ToolCallUpsert,
    given,
)
from acp_sidecar.workspace.positions import split_lines
from acp_sidecar.workspace.textdiff import hunks, same_text

_RAW_INPUT_CHARACTERS: Final = 10_000
_COMMAND_FIELDS: Final = ("command", "cmd")
_CWD_FIELDS: Final = ("cwd", "workdir", "working_directory", "directory")

_KIND_VERBS: Final[Mapping[str, str]] = {
    "read": "read",
    "edit": "change files",
    "delete": "delete",
    "move": "move or rename",
    "search": "search",
    "execute": "run a command",
    "think": "think",
    "fetch": "fetch from outside",
    "switch_mode": "switch its mode",
}

# How far an option's kind goes. Lower is safer; kinds nobody knows count as the furthest.
_REACH: Final[Mapping[str | None, int]] = {
    "reject_once": 0,
    "reject_always": 1,
    "allow_once": 2,
    "allow_always": 3,
}
_UNKNOWN_REACH: Final = 4

_WORD: Final = re.compile(r"[a-z']+")
_YES: Final = frozenset(
    {"yes", "allow", "approve", "accept", "proceed", "ok", "okay", "grant", "permit", "run"}
)
_NO: Final = frozenset(
    {"no", "not", "don't", "dont", "never", "reject", "deny", "decline", "refuse", "disallow"}
    | {"abort", "cancel", "forbid", "block", "stop", "skip"}
)
_ONCE: Final = re.compile(r"\b(once|one time|this time|just now)\b", re.IGNORECASE)
_ALWAYS: Final = re.compile(
    r"\b(always|forever|every time|never ask|(?:don't|do not) ask|remember)\b", re.IGNORECASE
)


@frozen
class Choice:
    """One button. ``title`` is unique within its question and begins with ``name``."""

    option_id: str
    name: str
    kind: str | None
    title: str


@frozen
class Sight:
    """What is at a path an agent named: whether anything is there, its text where that can
    be read, and whether the path lies inside the session's roots."""

    exists: bool = False
    text: str | None = None
    inside: bool = True


@frozen
class ChangeSummary:
    """What a diff would do to the file at ``path``.

    ``before`` is None where no text is there; ``whole`` says that ``before`` and ``after``
    are the whole file and not a part of it.
    """

    path: str
    before: str | None
    after: str
    whole: bool
    declared_new: bool
    sight: Sight

    @property
    def text(self) -> str:
        """One sentence without its subject: ``changes /ws/a.py (−1 +2 lines)``."""
        where = visible(self.path) + ("" if self.sight.inside else ", outside the workspace,")
        fresh = _count_lines(self.after)
        if self.before is None:
            if self.sight.exists:
                return f"overwrites {where} with {_lines(fresh)}"
            return f"creates {where} ({_lines(fresh)})"
        old = _count_lines(self.before)
        if self.before == self.after:
            return f"leaves {where} as it is"
        if self.whole and not self.after:
            return f"empties {where} ({_lines(old)} removed)"
        changed = hunks(self.before, self.after)
        removed = sum(hunk.before_lines for hunk in changed)
        added = sum(hunk.after_lines for hunk in changed)
        if self.whole and (self.declared_new or removed == old):
            return f"overwrites {where} ({_lines(old)} before, {_lines(fresh)} after)"
        part = "" if self.whole else ", in a part of it"
        return f"changes {where} (−{removed} +{added} lines{part})"


@frozen
class Question:
    """Everything a person needs to decide, and the choices the agent offers.

    ``request_id`` is ours and never used again; ``session_id`` is None where the request
    names a session the editor did not open. ``message`` is the whole text.
    """

    request_id: str
    session_id: str | None
    agent: str
    kind: str
    title: str | None
    description: str | None
    message: str
    paths: tuple[str, ...]
    command: str | None
    cwd: str | None
    changes: tuple[ChangeSummary, ...]
    choices: tuple[Choice, ...]
    tool_call_id: str | None
    raw_input: Json = None
    locations: tuple[Location, ...] = ()
    texts: tuple[str, ...] = field(factory=tuple)

    def choice_titled(self, title: object) -> Choice | None:
        """The choice with exactly this title; None for anything else a client answers."""
        return next((choice for choice in self.choices if choice.title == title), None)

    def offers(self, option_id: object) -> bool:
        """Whether the agent offered exactly this option."""
        return any(choice.option_id == option_id for choice in self.choices)


def visible(text: str) -> str:
    """``text`` with every character that could hide or fake something shown as an escape.

    Control, format (bidi, zero-width, tag), surrogate, private-use and separator
    characters and blanks other than the plain space become ``\\n``, ``\\t``, ``\\u202e``
    and the like; Markdown links are defused, since editors render them in dialogs.
    """
    shown = text if text.isascii() and text.isprintable() else "".join(map(_visible, text))
    return shown.replace("](", "] (")


def _visible(character: str) -> str:
    if character.isprintable() and unicodedata.category(character) not in _HIDDEN:
        if character in _BLANK:
            return f"\\u{ord(character):04x}"
        return character
    if character in _SHORT:
        return _SHORT[character]
    code = ord(character)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


_SHORT: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
# Printable by category, yet they show nothing: Hangul fillers, the Braille blank, joiners.
_BLANK: Final = frozenset("\u115f\u1160\u2800\u3164\uffa0\u034f\u17b4\u17b5")


def choices(options: Iterable[PermissionOption]) -> tuple[Choice, ...]:
    """The agent's options as buttons: rejecting ones first, else in the agent's order.

    Of options with one id the safest is kept, in the first one's place. A title is the
    option's name, followed by its kind where two names are alike or a name says other
    than its kind, and by a number where that is not enough.
    """
    kept: dict[str, PermissionOption] = {}
    for option in options:
        other = kept.get(option.option_id)
        if other is None or _reach(option) < _reach(other):
            kept[option.option_id] = option
    ordered = sorted(kept.values(), key=lambda option: not _rejects(option))
    names = [_shown_name(option) for option in ordered]
    alike = {name.casefold() for name in names if _count(names, name) > 1}
    titles: list[str] = []
    for option, name in zip(ordered, names, strict=True):
        title = name
        if option.kind and (name.casefold() in alike or contradicts(option.name, option.kind)):
            title = f"{name} ({visible(option.kind)})"
        titles.append(title)
    return tuple(
        Choice(option.option_id, option.name, option.kind, title)
        for option, title in zip(ordered, _numbered(titles), strict=True)
    )


def contradicts(name: str, kind: str) -> bool:
    """Whether an option's name says yes, no, once or always where its kind says otherwise."""
    words = _WORD.findall(name.replace("’", "'").casefold())
    leaning = next((word in _YES for word in words if word in _YES or word in _NO), None)
    if leaning is not None and kind in _REACH and leaning is kind.startswith("reject"):
        return True
    once, always = bool(_ONCE.search(name)), bool(_ALWAYS.search(name))
    if once == always:
        return False
    return (once and kind.endswith("_always")) or (always and kind.endswith("_once"))


def _shown_name(option: PermissionOption) -> str:
    return visible(" ".join(option.name.split(" "))).strip() or visible(option.option_id)


def _count(names: Sequence[str], name: str) -> int:
    return sum(other.casefold() == name.casefold() for other in names)


def _numbered(titles: list[str]) -> list[str]:
    taken: set[str] = set()
    result: list[str] = []
    for title in titles:
        unique, number = title, 2
        while unique.casefold() in taken:
            unique, number = f"{title} ({number})", number + 1
        taken.add(unique.casefold())
        result.append(unique)
    return result


def _reach(option: PermissionOption) -> int:
    return _REACH.get(option.kind, _UNKNOWN_REACH)


def _rejects(option: PermissionOption) -> bool:
    return option.kind in ("reject_once", "reject_always")


def question(
    request: PermissionRequest,
    *,
    request_id: str,
    number: int,
    session_id: str | None,
    agent: str,
    stored_kind: str | None,
    stored_title: str | None,
    stored_raw_input: Json,
    stored_content: Sequence[ToolCallContent],
    stored_locations: Sequence[Location],
    look: Callable[[str], Sight],
) -> Question:
    """Build the question of a request.

    The request's own fields come first, then what the session already knows of its tool
    call (``stored_*``). ``current_text`` gives what a file says now (None: there is none),
    so that an overwrite is not shown as a new file. ``number`` makes the text unique.
    """
    call = request.tool_call or ToolCallUpsert("")
    kind = given(call.kind, stored_kind) or "other"
    title = given(call.title, None) or stored_title
    raw_input = given(call.raw_input, None) or stored_raw_input
    content = given(call.content, ()) or stored_content
    locations = given(call.locations, ()) or stored_locations
    subject = request.subject
    command = (subject.command if subject else None) or command_of(raw_input)
    cwd = (subject.cwd if subject else None) or _first_text(raw_input, _CWD_FIELDS)
    changes = tuple(_summary(item, look) for item in content if isinstance(item, Diff))
    texts = tuple(
        item.content.text
        for item in content
        if isinstance(item, Content) and isinstance(item.content, TextContent)
    )
    paths = tuple(
        dict.fromkeys(
            [change.path for change in changes] + [location.path for location in locations]
        )
    )
    result = Question(
        request_id=request_id,
        session_id=session_id,
        agent=agent,
        kind=kind,
        title=request.title or title,
        description=request.description,
        message="",
        paths=paths,
        command=command,
        cwd=cwd,
        changes=changes,
        choices=choices(request.options),
        tool_call_id=call.tool_call_id or None,
        raw_input=raw_input,
        locations=tuple(locations),
        texts=texts,
    )
    return evolve(result, message=_message(result, request, number, look))


def _summary(diff: Diff, look: Callable[[str], Sight]) -> ChangeSummary:
    sight = look(diff.path)
    whole = not diff.old_text or sight.text is None or same_text(diff.old_text, sight.text)
    # What is there now is the truth; the agent's word for it counts only for a part.
    before = sight.text if whole and sight.exists else (diff.old_text or None)
    if sight.exists and sight.text is None:
        before = diff.old_text or None
    return ChangeSummary(diff.path, before, diff.new_text, whole, diff.old_text is None, sight)


def command_of(raw_input: Json) -> str | None:
    """The command line in a tool's raw input: ``command`` or ``cmd``, a text or a list."""
    if not isinstance(raw_input, Mapping):
        return None
    for name in _COMMAND_FIELDS:
        value = raw_input.get(name)
        if isinstance(value, str) and value.strip():
            return value
        if (
            isinstance(value, list | tuple)
            and value
            and all(isinstance(item, str) for item in value)
        ):
            return shlex.join(value)
    return None


def _first_text(raw_input: Json, names: Sequence[str]) -> str | None:
    if not isinstance(raw_input, Mapping):
        return None
    return next((raw_input[name] for name in names if isinstance(raw_input.get(name), str)), None)


def _message(
    question: Question,
    request: PermissionRequest,
    number: int,
    look: Callable[[str], Sight],
) -> str:
    verb = _KIND_VERBS.get(question.kind)
    what = f"wants to {verb}" if verb else "asks for permission"
    if question.kind not in _KIND_VERBS and question.kind != "other":
        what += f" ({visible(question.kind)})"
    lines = [f"{visible(question.agent)} {what} (request {number})"]
    if question.session_id is None:
        lines.append(f"Session: {visible(request.agent_session_id)}, not opened by this editor")
    if question.command is not None:
        lines.append(f"Command: {visible(question.command)}")
    if question.cwd is not None:
        lines.append(f"Folder: {visible(question.cwd)}")
    lines += [f"It {change.text}" for change in question.changes]
    changed = {change.path for change in question.changes}
    for path in question.paths:
        if path not in changed:
            outside = "" if look(path).inside else " (outside the workspace)"
            lines.append(f"Path: {visible(path)}{outside}")
    lines += _arguments(question)
    lines += [f"It says: {visible(text)}" for text in question.texts]
    if question.title:
        lines.append(f"The agent calls it: “{visible(question.title)}”")
    if question.description:
        lines.append(f"The agent explains: “{visible(question.description)}”")
    return "\n".join(lines)


def _arguments(question: Question) -> list[str]:
    raw = question.raw_input
    if raw is None or raw == {}:
        if question.command is not None or question.changes:
            return []
        return ["Arguments: the agent gave none"]
    if question.command is not None and isinstance(raw, Mapping):
        shown = {*_COMMAND_FIELDS[:1]} if "command" in raw else {*_COMMAND_FIELDS[1:]}
        if question.cwd is not None:
            shown |= {name for name in _CWD_FIELDS if raw.get(name) == question.cwd}
        raw = {name: value for name, value in raw.items() if name not in shown}
        if not raw:
            return []
    text = visible(_as_json(raw))
    if len(text) > _RAW_INPUT_CHARACTERS:
        rest = len(text) - _RAW_INPUT_CHARACTERS
        text = f"{text[:_RAW_INPUT_CHARACTERS]}… and {rest} more characters, not shown here"
    return [f"Arguments: {text}"]


def _as_json(value: Any) -> str:
    try:
        return orjson.dumps(value).decode()
    except TypeError:
        return repr(value)


def _count_lines(text: str) -> int:
    return len(split_lines(text))


def _lines(count: int) -> str:
    return "1 line" if count == 1 else f"{count} lines"
