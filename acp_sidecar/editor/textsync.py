"""Document notifications as plain values (LSP 3.17 "Text Document Synchronization").

Clients are taken as they are: numbers as floats, missing or null versions. What cannot be
understood raises :class:`ValueError` and is logged by the caller, never half applied.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

from attrs import frozen

Json: TypeAlias = Any


@frozen
class ContentChange:
    """One entry of ``contentChanges``.

    ``range`` is ``((line, character), (line, character))``, 0-based, characters in the
    negotiated position encoding, start first; None replaces the whole text.
    """

    range: tuple[tuple[int, int], tuple[int, int]] | None
    text: str


def opened(params: Json) -> tuple[str, str, int, str]:
    """``didOpen`` as (uri, language id, version, text)."""
    document = member(params, "textDocument")
    language = document.get("languageId")
    return (
        text(document, "uri"),
        language if isinstance(language, str) else "",
        _version(document) or 0,
        text(document, "text"),
    )


def changed(params: Json) -> tuple[str, int | None, tuple[ContentChange, ...]]:
    """``didChange`` as (uri, version or None where the client gave none, changes)."""
    document = member(params, "textDocument")
    entries = params.get("contentChanges")
    if not isinstance(entries, list):
        raise ValueError("contentChanges is no array")  # noqa: TRY004 - one kind of error
    return text(document, "uri"), _version(document), tuple(_change(entry) for entry in entries)


def saved(params: Json) -> tuple[str, str | None]:
    """``didSave`` as (uri, text or None where the client sent none)."""
    content = params.get("text") if isinstance(params, dict) else None
    uri = text(member(params, "textDocument"), "uri")
    return uri, content if isinstance(content, str) else None


def closed(params: Json) -> tuple[str]:
    """``didClose`` as (uri,)."""
    return (text(member(params, "textDocument"), "uri"),)


def configured(params: Json) -> tuple[Json]:
    """``didChangeConfiguration`` as (settings,), None where the client sent none."""
    return (params.get("settings") if isinstance(params, dict) else None,)


def watched(params: Json) -> tuple[list[tuple[str, int]]]:
    """``didChangeWatchedFiles`` as a list of (uri, FileChangeType: 1, 2 or 3)."""
    entries = params.get("changes") if isinstance(params, dict) else None
    changes: list[tuple[str, int]] = []
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict) and isinstance(entry.get("uri"), str):
            changes.append((entry["uri"], _whole(entry.get("type"))))
    return (changes,)


def member(params: Json, name: str) -> dict[str, Json]:
    """An object's member that must be an object. Raises :class:`ValueError`."""
    value = params.get(name) if isinstance(params, dict) else None
    if not isinstance(value, dict):
        raise ValueError(f"{name} is no object")  # noqa: TRY004 - one kind of error
    return value


def text(params: dict[str, Json], name: str) -> str:
    """An object's member that must be a string. Raises :class:`ValueError`."""
    value = params.get(name)
    if not isinstance(value, str):
        raise ValueError(f"{name} is no string")  # noqa: TRY004 - one kind of error
    return value


def _change(entry: Json) -> ContentChange:
    if not isinstance(entry, dict):
        raise ValueError("an entry of contentChanges is no object")  # noqa: TRY004
    content = text(entry, "text")
    if entry.get("range") is None:
        return ContentChange(None, content)
    edges = member(entry, "range")
    start, end = _position(edges, "start"), _position(edges, "end")
    return ContentChange((min(start, end), max(start, end)), content)


def _position(edges: dict[str, Json], name: str) -> tuple[int, int]:
    position = member(edges, name)
    return max(0, _whole(position.get("line"))), max(0, _whole(position.get("character")))


def _version(document: dict[str, Json]) -> int | None:
    value = document.get("version")
    return None if value is None else _whole(value)


def _whole(value: Json) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("a number is missing")  # noqa: TRY004 - one kind of error
    if value in (math.inf, -math.inf):
        raise ValueError("a number is too large")
    return int(value)
