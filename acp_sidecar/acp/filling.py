"""What a user filled into an agent's form, held against the form before it is sent.

JSON Schema, as far as ACP, "Elicitation", takes it: types, required fields, options, bounds,
patterns and formats. Nothing is converted: ``"5"`` is no number.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any, Final

from attrs import frozen

from acp_sidecar.acp.elicitation import Field, Form
from acp_sidecar.acp.model import Json

PATTERN_SECONDS: Final = 0.2
"""What the agent's own pattern may take. One that takes longer is left to the agent."""

_EMAIL: Final = re.compile(r"[^@\s]+@[^@\s.]+(\.[^@\s.]+)*")
_URI: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:[^\s]+")
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_DATE_TIME: Final = re.compile(
    r"\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})"
)


@frozen
class Misfit:
    """What is wrong with a field: its name, and a sentence for the user."""

    field: str
    message: str


def misfits(form: Form, content: Mapping[str, Json]) -> list[Misfit]:
    """Everything that keeps ``content`` from being an answer to ``form``."""
    names = {each.name for each in form.fields}
    found = [Misfit(name, "is no field of this form") for name in content if name not in names]
    for each in form.fields:
        problem = _problem(each, content)
        if problem is not None:
            found.append(Misfit(each.name, problem))
    return found


def problem_of(field: Field, value: Json) -> str | None:
    """What is wrong with a value of a field, None where it fits."""
    if not field.known:
        return "is of a type that this client does not know, and cannot be filled in"
    if field.type == "boolean":
        return None if isinstance(value, bool) else "must be true or false"
    if field.type == "string":
        return _text_problem(field, value)
    if field.type == "array":
        return _choice_problem(field, value)
    return _number_problem(field, value)


def _problem(field: Field, content: Mapping[str, Json]) -> str | None:
    if field.name in content:
        return problem_of(field, content[field.name])
    return "is required" if field.required else None


def _text_problem(field: Field, value: Json) -> str | None:
    if not isinstance(value, str):
        return "must be a text"
    if field.options is not None:
        values = [option.value for option in field.options]
        return None if value in values else f"must be one of: {', '.join(values)}"
    if field.minimum is not None and len(value) < field.minimum:
        return f"must have at least {_counted(field.minimum, 'character')}"
    if field.maximum is not None and len(value) > field.maximum:
        return f"must have at most {_counted(field.maximum, 'character')}"
    if (
        field.format is not None
        and field.format in _FORMATS
        and not _has_format(field.format, value)
    ):
        return f"must be {_FORMATS[field.format]}"
    if field.pattern is not None and not _matches(field.pattern, value):
        return f"must match {field.pattern}"
    return None


_FORMATS: Final[Mapping[str, str]] = {
    "email": "an e-mail address",
    "uri": "a URI, such as https://example.com",
    "date": "a date, such as 2026-01-31",
    "date-time": "a date and time, such as 2026-01-31T12:00:00Z",
}


def _has_format(form: str, value: str) -> bool:
    if form == "email":
        return _EMAIL.fullmatch(value) is not None
    if form == "uri":
        return _URI.fullmatch(value) is not None
    if (_DATE if form == "date" else _DATE_TIME).fullmatch(value) is None:
        return False
    try:
        if form == "date":
            date.fromisoformat(value)
        else:
            datetime.fromisoformat(value.upper())
    except ValueError:
        return False
    return True


def _matches(pattern: str, value: str) -> bool:
    # The agent's pattern may be made to take for ever, which re cannot be kept from.
    import regex

    try:
        return regex.search(pattern, value, timeout=PATTERN_SECONDS) is not None
    except (regex.error, TimeoutError, OverflowError, MemoryError):
        # In a dialect of its own, or too slow: the agent looks at it anyway.
        return True


def _number_problem(field: Field, value: Json) -> str | None:
    whole = field.type == "integer"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "must be a whole number" if whole else "must be a number"
    if value != value or value in (float("inf"), float("-inf")):
        return "must be a number"
    if whole and value != int(value):
        return "must be a whole number"
    if field.minimum is not None and value < field.minimum:
        return f"must be at least {_plain(field.minimum)}"
    if field.maximum is not None and value > field.maximum:
        return f"must be at most {_plain(field.maximum)}"
    return None


def _choice_problem(field: Field, value: Json) -> str | None:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        return "must be a list of texts"
    values = [option.value for option in field.options or ()]
    strange = [each for each in value if each not in values]
    if strange:
        return f"holds {strange[0]!r}, which is none of: {', '.join(values)}"
    if len(set(value)) < len(value):
        return "holds a value twice"
    if field.minimum is not None and len(value) < field.minimum:
        return f"needs at least {_counted(field.minimum, 'choice')}"
    if field.maximum is not None and len(value) > field.maximum:
        return f"takes at most {_counted(field.maximum, 'choice')}"
    return None


def _plain(bound: float) -> Any:
    return int(bound) if bound == int(bound) else bound


def _counted(count: float, noun: str) -> str:
    return f"{_plain(count)} {noun}{'' if count == 1 else 's'}"
