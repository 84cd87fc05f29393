"""What agents want to know, against the protocol's own ``schema.json``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

from acp_sidecar.acp import elicitation as wire
from acp_sidecar.acp.decoding import DecodeError
from acp_sidecar.acp.filling import misfits

from .reading import ON_ERROR, Reading, put, without


@pytest.fixture(params=[1, 2])
def version(request: pytest.FixtureRequest) -> int:
    """Of the protocol."""
    return int(request.param)


@pytest.fixture
def schema(version: int, request: pytest.FixtureRequest) -> dict[str, Any]:
    found: dict[str, Any] = request.getfixturevalue(f"v{version}_schema")
    return found


@pytest.fixture
def reading(schema: dict[str, Any]) -> Reading:
    return Reading(schema)


def _requests(reading: Reading) -> Iterator[dict[str, Any]]:
    """A request for every alternative of its form, its fields and its scope."""
    scopes = [{"sessionId": "S", "toolCallId": "t"}, {"requestId": 7}, {"requestId": "x"}]
    for scope in scopes:
        yield {"message": "?", "mode": "url", "url": "https://a.b/c", "elicitationId": "e", **scope}
        for name in ("string", "number", "integer", "boolean", "array"):
            part = "MultiSelect" if name == "array" else name.capitalize()
            for field in reading.samples(reading.of(f"{part}PropertySchema")):
                schema = {
                    "type": "object",
                    "title": "T",
                    "description": "D",
                    "properties": {"f": {**field, "type": name}},
                    "required": ["f"],
                    "_meta": {},
                }
                yield {"message": "?", "mode": "form", "requestedSchema": schema, **scope}


def test_every_valid_request_is_read(
    reading: Reading, schema: dict[str, Any], version: int
) -> None:
    about = {"$ref": "#/$defs/CreateElicitationRequest", "$defs": schema["$defs"]}
    validator = jsonschema.Draft202012Validator(about)
    count = 0
    for request in _requests(reading):
        validator.validate(request)
        read = wire.elicitation(request, open_formats=version == 2)
        assert read.mode == request["mode"]
        assert (read.agent_session_id, read.request_id) == (
            request.get("sessionId"),
            request.get("requestId"),
        )
        if read.form is not None:
            assert read.form.schema == request["requestedSchema"]
            (field,) = read.form.fields
            assert field.required
            assert field.type == request["requestedSchema"]["properties"]["f"]["type"]
        count += 1
    assert count > 15


@pytest.mark.parametrize("name", ["title", "description", "default"])
def test_a_marked_text_of_a_field_costs_itself_only(
    name: str, reading: Reading, schema: dict[str, Any], version: int
) -> None:
    for request in _requests(reading):
        if request["mode"] != "form":
            continue
        path = ("requestedSchema", "properties", "f", name)
        kind = request["requestedSchema"]["properties"]["f"]["type"]
        part = "MultiSelect" if kind == "array" else kind.capitalize()
        marked = schema["$defs"][f"{part}PropertySchema"]["properties"][name]
        assert marked[ON_ERROR] is True
        broken, lacking = (
            wire.elicitation(changed, open_formats=version == 2).form
            for changed in (put(request, path, {"junk": 1}), without(request, path))
        )
        assert broken is not None and lacking is not None
        assert broken.fields == lacking.fields


@pytest.mark.parametrize(
    ("field", "named"),
    [
        ({"type": "string", "minLength": "1"}, "minLength"),
        ({"type": "string", "minLength": -1}, "minLength"),
        ({"type": "string", "pattern": 5}, "pattern"),
        ({"type": "string", "format": "phone"}, "format"),
        ({"type": "string", "enum": [1]}, "enum"),
        ({"type": "string", "oneOf": [{"const": "a"}]}, "title"),
        ({"type": "number", "minimum": "0"}, "minimum"),
        ({"type": "integer", "maximum": 1.5}, "maximum"),
        ({"type": "array"}, "items"),
        ({"type": "array", "items": {"type": "string"}}, "items"),
        ({"title": "no type"}, "type"),
        (5, "properties.f"),
    ],
)
def test_a_constraint_that_cannot_be_read_costs_the_request(field: Any, named: str) -> None:
    request = {"sessionId": "S", "message": "?", "mode": "form"}
    with pytest.raises(DecodeError, match=named):
        wire.elicitation({**request, "requestedSchema": {"properties": {"f": field}}})


@pytest.mark.parametrize("missing", ["message", "mode", "url", "elicitationId", "sessionId"])
def test_a_missing_required_field_costs_the_request(missing: str) -> None:
    request = {
        "sessionId": "S",
        "message": "?",
        "mode": "url",
        "url": "https://a.b",
        "elicitationId": "e",
    }
    wire.elicitation(request)
    with pytest.raises(DecodeError, match=missing):
        wire.elicitation(without(request, (missing,)))


def test_a_format_of_version_2_may_be_any_word(v2_schema: dict[str, Any]) -> None:
    field = {"type": "string", "format": "phone", "minLength": 3}
    request = {
        "sessionId": "S",
        "message": "?",
        "mode": "form",
        "requestedSchema": {"type": "object", "properties": {"f": field}},
    }
    about = {"$ref": "#/$defs/CreateElicitationRequest", "$defs": v2_schema["$defs"]}
    jsonschema.Draft202012Validator(about).validate(request)
    form = wire.elicitation(request, open_formats=True).form
    assert form is not None
    assert form.fields[0].format == "phone"
    assert misfits(form, {"f": "no number"}) == []
    assert [each.field for each in misfits(form, {"f": "1"})] == ["f"]


def test_our_answers_are_valid(schema: dict[str, Any]) -> None:
    about = {"$ref": "#/$defs/CreateElicitationResponse", "$defs": schema["$defs"]}
    content = {"a": "b", "n": 1, "x": 1.5, "yes": True, "many": ["one"]}
    for answer in (
        wire.answer("accept", content),
        wire.answer("accept"),
        wire.answer("decline"),
        wire.answer("cancel"),
    ):
        jsonschema.Draft202012Validator(about).validate(answer)
    assert wire.answer("decline", content) == {"action": "decline"}
