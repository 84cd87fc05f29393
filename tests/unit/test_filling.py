"""What is filled into a form is held against it before anybody gets it."""

from __future__ import annotations

from typing import Any

import pytest

from acp_sidecar.acp.elicitation import elicitation, host_of
from acp_sidecar.acp.filling import misfits


def problems(field: dict[str, Any], *value: Any, required: bool = False) -> list[str]:
    schema = {"properties": {"f": field}, "required": ["f"] if required else None}
    request = {"sessionId": "S", "message": "?", "mode": "form", "requestedSchema": schema}
    form = elicitation(request).form
    assert form is not None
    return [one.message for one in misfits(form, {"f": value[0]} if value else {})]


STRING = {"type": "string"}
MANY = {"type": "array", "items": {"type": "string", "enum": ["a", "b", "c"]}}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        (STRING, ""),
        ({**STRING, "minLength": 2, "maxLength": 2}, "😀😀"),
        ({**STRING, "pattern": "^[a-z]+$"}, "abc"),
        ({**STRING, "pattern": r"^\p{Lu}"}, "Ärger"),
        ({**STRING, "pattern": "b"}, "abc"),
        ({**STRING, "pattern": "(?<broken"}, "left to the agent"),
        ({**STRING, "enum": ["x", "y"]}, "y"),
        ({**STRING, "oneOf": [{"const": "x", "title": "Ex"}]}, "x"),
        ({**STRING, "format": "email"}, "a.b+c@example.com"),
        ({**STRING, "format": "uri"}, "mailto:a@b"),
        ({**STRING, "format": "date"}, "2026-02-28"),
        ({**STRING, "format": "date-time"}, "2026-02-28T23:59:59.5+02:00"),
        ({**STRING, "format": "date-time"}, "2026-02-28t23:59:59z"),
        ({"type": "boolean"}, False),
        ({"type": "integer", "minimum": 1, "maximum": 3}, 3),
        ({"type": "integer"}, 3.0),
        ({"type": "number", "minimum": 0.5}, 0.5),
        ({"type": "number"}, 3),
        ({**MANY, "minItems": 1, "maxItems": 2}, ["a", "c"]),
        ({"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}]}}, ["a"]),
        (MANY, []),
    ],
)
def test_what_fits(field: dict[str, Any], value: Any) -> None:
    assert problems(field, value, required=True) == []


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        (STRING, 5, "a text"),
        (STRING, None, "a text"),
        ({**STRING, "minLength": 3}, "ab", "at least 3 characters"),
        ({**STRING, "maxLength": 1}, "ab", "at most 1 character"),
        ({**STRING, "pattern": "^[a-z]+$"}, "aB", r"match ^[a-z]+$"),
        ({**STRING, "enum": ["x", "y"]}, "z", "one of: x, y"),
        ({**STRING, "enum": []}, "z", "one of"),
        ({**STRING, "oneOf": [{"const": "x", "title": "Ex"}]}, "Ex", "one of: x"),
        ({**STRING, "format": "email"}, "nobody", "e-mail"),
        ({**STRING, "format": "email"}, "a@b c", "e-mail"),
        ({**STRING, "format": "uri"}, "example.com", "URI"),
        ({**STRING, "format": "date"}, "2026-02-30", "date"),
        ({**STRING, "format": "date"}, "20260228", "date"),
        ({**STRING, "format": "date-time"}, "2026-02-28 10:00", "date and time"),
        ({"type": "boolean"}, "true", "true or false"),
        ({"type": "boolean"}, 1, "true or false"),
        ({"type": "integer"}, 1.5, "whole number"),
        ({"type": "integer"}, True, "whole number"),
        ({"type": "integer"}, "1", "whole number"),
        ({"type": "number"}, float("nan"), "a number"),
        ({"type": "number", "minimum": 1}, 0.9, "at least 1"),
        ({"type": "number", "maximum": 1.5}, 2, "at most 1.5"),
        (MANY, "a", "list of texts"),
        (MANY, ["a", "z"], "'z'"),
        (MANY, ["a", "a"], "twice"),
        ({**MANY, "minItems": 2}, ["a"], "at least 2 choices"),
        ({**MANY, "maxItems": 1}, ["a", "b"], "at most 1 choice"),
        ({"type": "_vendor"}, "x", "does not know"),
    ],
)
def test_what_does_not_fit(field: dict[str, Any], value: Any, said: str) -> None:
    (problem,) = problems(field, value)
    assert said in problem


def test_what_is_required_and_what_is_not_asked() -> None:
    assert problems(STRING, required=True) == ["is required"]
    assert problems(STRING) == []
    schema: dict[str, Any] = {"properties": {}}
    request = {"sessionId": "S", "message": "?", "mode": "form", "requestedSchema": schema}
    form = elicitation(request).form
    assert form is not None
    (problem,) = misfits(form, {"extra": 1})
    assert problem.field == "extra"


def test_a_pattern_made_to_take_for_ever_does_not() -> None:
    assert problems({**STRING, "pattern": r"^(\w+\s?)*\!$"}, "a" * 5000 + "?") in ([], [
        r"must match ^(\w+\s?)*\!$"
    ])  # fmt: skip


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://example.com/login?x=1", "example.com"),
        ("http://localhost:8080/", "localhost:8080"),
        ("https://good.com@evil.com/", "evil.com"),
        ("HTTPS://Example.COM", "example.com"),
        ("https://xn--bcher-kva.example/", "xn--bcher-kva.example"),
        ("https://[::1]:9/", "[::1]:9"),
        ("file:///etc/passwd", None),
        ("javascript:alert(1)", None),
        ("vscode://x", None),
        ("https://", None),
        ("https://evil.com\\@good.com/", None),
        ("https://good.com\n.evil.com", None),
        ("https://bücher.example/", None),
        ("https://a b.com", None),
        ("https://x:port/", None),
        ("//example.com", None),
        ("", None),
    ],
)
def test_where_a_browser_would_go(url: str, host: str | None) -> None:
    assert host_of(url) == host
