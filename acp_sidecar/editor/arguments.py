"""Arguments of commands: plain JSON from an editor, checked one by one.

Every function takes the command's argument object and a field's name, gives its value or
None where it is missing or null, and raises ``CommandError`` (InvalidParams) that says
what the field must be.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from acp_sidecar.editor.calls import INVALID_PARAMS, CommandError

Argument = Mapping[str, Any]


def text(argument: Argument, name: str) -> str | None:
    """A text."""
    value = argument.get(name)
    if value is None or isinstance(value, str):
        return value
    raise _misfit(name, "a text")


def required_text(argument: Argument, name: str) -> str:
    """A text that must be there."""
    value = text(argument, name)
    if value is None:
        raise CommandError(f"The argument lacks {name!r}, a text.", INVALID_PARAMS)
    return value


def flag(argument: Argument, name: str, default: bool) -> bool:
    """True or false, ``default`` where it is missing."""
    value = argument.get(name)
    if value is None:
        return default
    if isinstance(value, bool):
        return value
    raise _misfit(name, "true or false")


def number(argument: Argument, name: str) -> int | None:
    """A whole number."""
    value = argument.get(name)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
        raise _misfit(name, "a whole number")
    return value


def texts(argument: Argument, name: str) -> Sequence[str]:
    """A list of texts, empty where it is missing."""
    value = argument.get(name)
    if value is None:
        return ()
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(value)
    raise _misfit(name, "a list of texts")


def objects(argument: Argument, name: str) -> Sequence[Mapping[str, Any]]:
    """A list of objects, empty where it is missing."""
    value = argument.get(name)
    if value is None:
        return ()
    if isinstance(value, list) and all(isinstance(item, dict) for item in value):
        return tuple(value)
    raise _misfit(name, "a list of objects")


def text_map(argument: Argument, name: str) -> Mapping[str, str] | None:
    """An object of texts."""
    value = argument.get(name)
    if value is None or value == []:  # Lua's empty table
        return None
    if isinstance(value, dict) and all(isinstance(item, str) for item in value.values()):
        return value
    raise _misfit(name, "an object of texts")


def lines(argument: Argument, name: str) -> tuple[int, int] | None:
    """The 0-based first and last line of an LSP range, which does not reach into the line at
    whose beginning it ends."""
    span = argument.get(name)
    if span is None:
        return None
    try:
        start, end = span["start"]["line"], span["end"]["line"]
        if span["end"]["character"] == 0 and end > start:
            end -= 1
    except (KeyError, TypeError) as error:
        raise _misfit(name, "an LSP range") from error
    if not (isinstance(start, int) and isinstance(end, int) and 0 <= start <= end):
        raise _misfit(name, "an LSP range")
    return start, end


def session_id(argument: Argument) -> str | None:
    """The id of the session that is meant, one of ours."""
    return text(argument, "sessionId")


def absolute_path(path: str) -> str:
    """``path``, where it is one that is absolute; else it raises ``CommandError``."""
    if not Path(path).is_absolute():
        raise CommandError(f"{path!r} must be an absolute path.", INVALID_PARAMS)
    return path


def _misfit(name: str, what: str) -> CommandError:
    return CommandError(f"{name!r} must be {what}.", INVALID_PARAMS)
