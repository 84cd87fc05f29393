"""A permission request as a question to a person: facts first, the whole truth, no guess.

The text is built from what will happen (kind, paths, command, changes); the agent's own
title comes last and is marked as its words, since neither title nor tool name decides
anything. Everything an agent wrote is made visible: control, bidirectional and
zero-width characters appear as escapes, so no text can hide or fake a line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import orjson
from attrs import evolve, field, frozen

from acp_sidecar.acp.convert import content_to_v1
from acp_sidecar.acp.model import (
    Content,
    Diff,
    Json,
    Location,
    PermissionRequest,
    TextContent,
    ToolCallContent,
    ToolCallUpsert,
    given,
    says,
)
from acp_sidecar.client.choices import Choice, choices, refusable
from acp_sidecar.client.excerpt import excerpt, says_the_same
from acp_sidecar.client.summary import ChangeSummary, summarise
from acp_sidecar.client.target import Target
from acp_sidecar.client.visible import visible
from acp_sidecar.session.commandline import command_field, command_of

_MOST_CHARACTERS: Final = 100_000
"""Shown of one thing the agent says; of a command everything is."""
_SHORT: Final = 300
"""Characters of a question in one line."""
_NAMED: Final = 10
"""Files that are named in it."""
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


def beginning(line: str) -> str:
    """A line, or as much of it as stands in a list."""
    return line if len(line) <= _SHORT else f"{line[: _SHORT - 1]}…"


@frozen
class Fact:
    """Something to know of a question: ``text`` is a line that is safe to show, all of it.

    ``kind`` says what it is about: ``folder``, ``path``, ``arguments``, ``explanation``, of
    what an agent wants to know ``host``, ``address``, ``message``, ``warning`` for what to look
    at twice, or ``text`` for anything else. ``value`` is that as it came (a path, JSON, the
    words), and ``note`` what is told of a path beside it.
    """

    text: str
    kind: str = "text"
    value: Json = None
    note: str = ""

    def to_json(self) -> dict[str, Json]:
        """As editors are told it."""
        return {"kind": self.kind, "text": self.text, "value": self.value, "note": self.note}


def _facts(given: Iterable[Fact | str]) -> tuple[Fact, ...]:
    return tuple(Fact(each) if isinstance(each, str) else each for each in given)


@frozen(kw_only=True)
class Question:
    """Everything a person needs to decide, and the choices the agent offers.

    ``request_id`` is ours and never used again; ``session_id`` is None where the request
    names a session the editor did not open. ``headline`` and ``facts`` are lines for an editor
    that draws the ``command`` and the ``changes`` itself: who wants what, and all else there
    is to know. ``message`` is the whole as text but for the lines of the changes; ``in_full``
    has these as well, for an editor that draws nothing itself.
    """

    request_id: str
    session_id: str | None
    agent: str
    kind: str
    headline: str
    mark: str | None = None
    """Stands behind the headline in a text, so that no two texts are the same."""
    facts: tuple[Fact, ...] = field(default=(), converter=_facts)
    """Lines as well as :class:`Fact` are taken."""
    title: str | None = None
    description: str | None = None
    command: str | None = None
    cwd: str | None = None
    paths: tuple[str, ...] = ()
    locations: tuple[Location, ...] = ()
    raw_input: Json = None
    changes: tuple[ChangeSummary, ...] = ()
    texts: tuple[str, ...] = ()
    choices: tuple[Choice, ...]
    refusable: bool = False
    """Whether to give no answer is to be offered beside the choices, as none of them is a no.
    Of a question of our own one always is."""
    tool_call_id: str | None = None
    message: str = field()
    in_full: str = ""
    short: str = field()
    """Who wants what, and of what, in one line: where several questions stand in a list."""

    @message.default
    def _in_words(self) -> str:
        return "\n".join([*self.opening(), *(fact.text for fact in self.facts)])

    @short.default
    def _in_short(self) -> str:
        agent = visible(self.agent)
        if self.command is not None:
            return beginning(f"{agent} wants to run: {visible(self.command[:_SHORT])}")
        if self.changes:
            names = [visible(re.split(r"[\\/]", change.path)[-1]) for change in self.changes]
            count = "" if len(names) == 1 else f"{len(names)} files: "
            return beginning(f"{agent} wants to change {count}{', '.join(names[:_NAMED])}")
        about = "" if self.title is None else f": {visible(self.title[:_SHORT])}"
        return beginning(f"{self.headline}{about}")

    def opening(self) -> list[str]:
        """The first lines of its text: the headline with its mark, the command."""
        first = self.headline if self.mark is None else f"{self.headline} ({self.mark})"
        return [first] if self.command is None else [first, f"Command: {visible(self.command)}"]

    def choice_titled(self, title: object) -> Choice | None:
        """The choice with exactly this title; None for anything else a client answers."""
        return next((choice for choice in self.choices if choice.title == title), None)

    def offers(self, option_id: object) -> bool:
        """Whether the agent offered exactly this option."""
        return any(choice.option_id == option_id for choice in self.choices)


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
    look: Callable[[str], Target],
) -> Question:
    """Build the question of a request.

    The request's own fields come first, then what the session already knows of its tool
    call (``stored_*``). ``look`` tells what is at a path, so that an overwrite is not shown
    as a new file. ``number`` makes the text unique.
    """
    call = request.tool_call or ToolCallUpsert("")
    kind = given(call.kind, stored_kind) or "other"
    title = given(call.title, None) or stored_title
    raw_input = call.raw_input if says(given(call.raw_input, None)) else stored_raw_input
    content = content_to_v1(given(call.content, ()) or stored_content)
    locations = given(call.locations, ()) or stored_locations
    subject = request.subject
    command = (subject.command if subject else None) or command_of(raw_input)
    cwd = (subject.cwd if subject else None) or _first_text(raw_input, _CWD_FIELDS)
    changes = tuple(summarise(item, look) for item in content if isinstance(item, Diff))
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
    verb = _KIND_VERBS.get(kind)
    what = f"wants to {verb}" if verb else "asks for permission"
    result = Question(
        request_id=request_id,
        session_id=session_id,
        agent=agent,
        kind=kind,
        headline=f"{visible(agent)} {what}",
        # The protocol's own word as well, since ours is only a translation.
        mark=f"request {number}" if kind == "other" else f"{visible(kind)}, request {number}",
        title=request.title or title,
        description=request.description,
        command=command,
        cwd=cwd,
        paths=paths,
        locations=tuple(locations),
        raw_input=raw_input,
        changes=changes,
        texts=texts,
        choices=choices(request.options),
        refusable=refusable(request.options),
        tool_call_id=call.tool_call_id or None,
    )
    places, rest = _places(result, request, look), _rest(result, request, title, look)
    before, after = [fact.text for fact in places], [fact.text for fact in rest]
    summaries = [f"It {change.text}" for change in changes]
    shown = [line for change in changes for line in (f"It {change.text}", *excerpt(change))]
    return evolve(
        result,
        facts=(*places, *rest),
        message="\n".join([*result.opening(), *before, *summaries, *after]),
        in_full="\n".join([*result.opening(), *before, *shown, *after]),
    )


def _first_text(raw_input: Json, names: Sequence[str]) -> str | None:
    if not isinstance(raw_input, Mapping):
        return None
    return next((raw_input[name] for name in names if isinstance(raw_input.get(name), str)), None)


def _places(
    question: Question, request: PermissionRequest, look: Callable[[str], Target]
) -> list[Fact]:
    """Where it would happen."""
    facts = []
    if question.session_id is None:
        said = f"Session: {visible(request.agent_session_id)}, not opened by this editor"
        facts.append(Fact(said))
    if question.cwd is not None:
        facts.append(_place("folder", question.cwd, look))
    return facts


def _place(kind: str, path: str, look: Callable[[str], Target]) -> Fact:
    note = "" if look(path).inside else " (outside the workspace)"
    return Fact(f"{kind.capitalize()}: {visible(path)}{note}", kind, path, note)


def _rest(
    question: Question,
    request: PermissionRequest,
    call_title: str | None,
    look: Callable[[str], Target],
) -> list[Fact]:
    """All that is known beyond the changes; what the agent calls it comes last."""
    facts = []
    changed = {change.path for change in question.changes}
    for path in question.paths:
        if path not in changed:
            facts.append(_place("path", path, look))
    if not request.exact or question.tool_call_id is not None:
        facts += _arguments(question)
    if request.subject is not None and request.subject.unknown:
        about = {"type": request.subject.type, **request.subject.unknown}
        facts.append(Fact(f"It is about: {_cut(_as_json(about))}"))
    facts += [Fact(f"It says: {_cut(text)}") for text in question.texts]
    if call_title and not _is_named(call_title, question):
        facts.append(Fact(f"The agent calls it: “{_cut(call_title)}”"))
    if request.title:
        facts.append(Fact(f"The agent asks: “{_cut(request.title)}”"))
    if question.description:
        said = f"The agent explains: “{_cut(question.description)}”"
        facts.append(Fact(said, "explanation", question.description))
    return facts


def _arguments(question: Question) -> list[Fact]:
    """The raw input, without what is told already: the command, paths, the changes."""
    raw = question.raw_input
    if not says(raw):
        if question.command is not None or question.changes:
            return []
        return [Fact("Arguments: the agent gave none")]
    name, command = command_field(raw)
    if command is not None and command == question.command:
        shown = {name}
        if question.cwd is not None:
            shown |= {name for name in _CWD_FIELDS if raw.get(name) == question.cwd}
        raw = {name: value for name, value in raw.items() if name not in shown}
    if isinstance(raw, Mapping) and question.changes:
        raw = {name: value for name, value in raw.items() if not _is_told(value, question)}
    if raw == {}:
        return []
    return [Fact(f"Arguments: {_cut(_as_json(raw))}", "arguments", raw)]


def _is_named(title: str, question: Question) -> bool:
    """Whether a title only says again which command or which path it is about."""
    # One agent leaves out the first slash.
    return title == question.command or title in question.paths or f"/{title}" in question.paths


def _is_told(value: Json, question: Question) -> bool:
    return value in question.paths or says_the_same(value, question.changes)


def _cut(text: str) -> str:
    shown = visible(text[:_MOST_CHARACTERS])
    rest = len(text) - _MOST_CHARACTERS
    return shown if rest <= 0 else f"{shown}… and {rest} more characters, not shown here"


def _as_json(value: Any) -> str:
    try:
        return orjson.dumps(value).decode()
    except TypeError:
        return repr(value)
