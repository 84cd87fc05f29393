"""What may follow in a prompt that is being typed: the agent's commands, and files.

ACP, "Slash Commands": a command begins the prompt. A file follows an ``@``.
"""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

from acp_sidecar.client.mentions import BEFORE, written
from acp_sidecar.client.ports import Suggestion
from acp_sidecar.workspace import picture

if TYPE_CHECKING:
    from acp_sidecar.client.live import LiveSession
    from acp_sidecar.workspace.documents import Documents

MOST: Final = 100
"""Suggestions given at a time."""
_SECONDS: Final = 2.0
"""For which a list of files is good."""

_COMMAND: Final = re.compile(r"\s*/(?P<name>\S*)")
_FILE: Final = re.compile(BEFORE + r"@(?:\"(?P<quoted>[^\"\n]*)|(?P<bare>[^\s\"]*))\Z")


class Completer:
    """Suggests what may follow. What files there are is looked up once in a while: it is asked
    for with every key."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._listed: tuple[Sequence[Path], float, list[str]] = ((), 0.0, [])

    async def suggestions(
        self, session: LiveSession | None, roots: Sequence[Path], text: str, cursor: int
    ) -> list[Suggestion]:
        """At most :data:`MOST` of them, the best first. Files are those below ``roots``; what
        commands an agent has is known of a session."""
        before = text[:cursor]
        command = _COMMAND.fullmatch(before)
        if command is not None:
            if session is None:
                return []
            return _commands(session, command["name"], command.start("name") - 1, len(before))
        mention = _FILE.search(before)
        if mention is None:
            return []
        typed = mention["quoted"] if mention["quoted"] is not None else mention["bare"]
        end = len(before)
        if mention["quoted"] is not None and text[end : end + 1] == '"':
            end += 1
        found = await asyncio.to_thread(self._files, roots, self._opened(), typed)
        return [
            _file(name, text_of_it, mention.start(), end)
            for name in found
            if (text_of_it := written(name)) is not None
        ]

    def _opened(self) -> list[Path]:
        return [document.real for document in self._documents.all() if document.real is not None]

    def _files(self, roots: Sequence[Path], opened: Sequence[Path], typed: str) -> list[str]:
        of, at, listed = self._listed
        if of != roots or time.monotonic() - at > _SECONDS:
            listed = list(picture.listed(roots))
            self._listed = (roots, time.monotonic(), listed)
        return _names(roots, opened, listed, typed)


def _commands(session: LiveSession, typed: str, start: int, end: int) -> list[Suggestion]:
    wanted = typed.casefold()
    ranked = [
        (rank, number, command)
        for number, command in enumerate(session.state.info.commands)
        if (rank := _rank(command.name.casefold(), wanted)) is not None
    ]
    ranked.sort(key=lambda each: each[:2])
    return [
        Suggestion(
            f"/{command.name}",
            f"/{command.name} ",
            " ".join(filter(None, (command.hint, command.description))),
            "command",
            start,
            end,
        )
        for _, _, command in ranked[:MOST]
    ]


def _rank(name: str, wanted: str) -> int | None:
    if name.startswith(wanted):
        return 0
    return 1 if wanted in name else None


def _file(name: str, mention: str, start: int, end: int) -> Suggestion:
    folder = name.endswith("/")
    # A folder is left open, so that typing goes on in it.
    text = mention.removesuffix('"') if folder else mention
    return Suggestion(name, text, None, "folder" if folder else "file", start, end)


def _names(
    roots: Sequence[Path], opened: Sequence[Path], listed: Sequence[str], typed: str
) -> list[str]:
    """Names, as they are typed: below the first root without it, else whole. Those of open
    files come first, then those whose own name begins as typed, then the shorter ones."""
    wanted = typed.casefold()
    names: dict[str, int] = {}
    for path in opened:
        name = _name(str(path), roots)
        if name is not None:
            names[name] = 0
    for each in listed:
        name = _name(each, roots)
        if name is not None:
            names.setdefault(name, 1)
    folders = {folder for name in names for folder in _folders(name)}
    candidates = [*((name, rank) for name, rank in names.items()), *((one, 2) for one in folders)]
    matching = sorted(
        (_distance(name, wanted), rank, len(name), name)
        for name, rank in candidates
        if _distance(name, wanted) is not None
    )
    return [name for *_, name in islice(matching, MOST)]


def _name(path: str, roots: Sequence[Path]) -> str | None:
    for number, root in enumerate(roots):
        top = str(root).rstrip(os.sep) + os.sep
        if path.startswith(top):
            return path[len(top) :] if number == 0 else path
    return None


def _folders(name: str) -> Iterable[str]:
    at = name.find("/", 1)
    while at > 0:
        yield name[: at + 1]
        at = name.find("/", at + 1)


def _distance(name: str, wanted: str) -> int | None:
    """How far a name is from what is typed: it begins so, its last part does, it holds it, or
    its letters come in this order; None for none of these."""
    folded = name.casefold()
    if folded.startswith(wanted):
        return 0
    if folded.rstrip("/").rpartition("/")[2].startswith(wanted):
        return 1
    if wanted in folded:
        return 2
    letters = iter(folded)
    return 3 if all(letter in letters for letter in wanted) else None
