"""That the tests beside this one leave nothing of the schema out, read from the schema itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
from attrs import evolve

from acp_sidecar.acp import elicitation, v1

from .reading import JUNK, ON_ERROR, SKIP, Reading, put, without
from .v1.cases import CASES, UPDATES, WRITTEN

Place = tuple[str, str, str]
"""A mark, the definition it stands in, and the field."""

RECEIVED_ELSEWHERE = {
    "InitializeResponse": "v1/test_initialize",
    "RequestPermissionRequest": "v1/test_permission",
    "SessionNotification": "v1/test_reading: every update",
    "CreateElicitationRequest": "test_elicitation_schema",
    "CompleteElicitationNotification": "test_elicitation: an id, and nothing else",
    "PromptResponse": "here",
    "CancelRequestNotification": "test_connection: an id, and nothing else",
    "AuthenticateResponse": "here: it says nothing",
    "LogoutResponse": "here: it says nothing",
    "CloseSessionResponse": "here: it says nothing",
    "DeleteSessionResponse": "here: it says nothing",
    "SetSessionModeResponse": "here: it says nothing",
}
SAYS_NOTHING = {name for name, where in RECEIVED_ELSEWHERE.items() if "nothing" in where}
"""Answers of which only counts that they came: nothing of them is read."""
ENVELOPES = ("SessionNotification", "PromptResponse")
SENT_ELSEWHERE = {
    "PromptRequest": "v1/test_written",
    "CreateElicitationResponse": "test_elicitation_schema",
    "CancelRequestNotification": "here",
}


def _roots(schema: dict[str, Any], *, received: bool) -> set[str]:
    """The definitions of whole messages, by who sends them."""
    found = set()
    for name, about in schema["$defs"].items():
        if "x-method" not in about:
            continue
        of_agent = about["x-side"] == ("agent" if name.endswith("Response") else "client")
        if about["x-side"] == "protocol" or of_agent == received:
            found.add(name)
    return found


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"].rsplit("/", 1)[1]
        for item in value.values():
            yield from _references(item)
    elif isinstance(value, list):
        for item in value:
            yield from _references(item)


def _reachable(schema: dict[str, Any], roots: set[str]) -> set[str]:
    reached: set[str] = set()
    ahead = set(roots)
    while ahead:
        name = ahead.pop()
        reached.add(name)
        ahead |= set(_references(schema["$defs"][name])) - reached
    return reached


def _marked(name: str, value: Any) -> Iterator[tuple[Place, int]]:
    """Every marked field of a definition, and the identity of what says so."""
    if isinstance(value, dict):
        fields = value.get("properties")
        for field, about in (fields if isinstance(fields, dict) else {}).items():
            for mark in (ON_ERROR, SKIP):
                if isinstance(about, dict) and about.get(mark):
                    yield (mark, name, field), id(about)
        for item in value.values():
            yield from _marked(name, item)
    elif isinstance(value, list):
        for item in value:
            yield from _marked(name, item)


@pytest.fixture(scope="session")
def reading(v1_schema: dict[str, Any]) -> Reading:
    return Reading(v1_schema)


def test_every_message_we_receive_is_tried(v1_schema: dict[str, Any]) -> None:
    tried = {case.definition for case in CASES.values()} | set(RECEIVED_ELSEWHERE)
    assert _roots(v1_schema, received=True) - tried == set()
    assert set(RECEIVED_ELSEWHERE) <= _roots(v1_schema, received=True)


def test_every_message_we_send_is_tried(v1_schema: dict[str, Any]) -> None:
    tried = {definition for definition, _ in WRITTEN} | set(SENT_ELSEWHERE)
    assert _roots(v1_schema, received=False) - tried == set()


def test_every_leniency_mark_of_what_we_receive_is_met_by_a_sample(
    v1_schema: dict[str, Any], reading: Reading
) -> None:
    """Each is broken by the tests beside this one in every place where a sample has it."""
    marked = {
        identity: place
        for name in _reachable(v1_schema, _roots(v1_schema, received=True))
        for place, identity in _marked(name, v1_schema["$defs"][name])
    }
    assert len(marked) > 60
    samples = [
        (reading.of(case.definition), sample)
        for case in CASES.values()
        for sample in case.samples(reading)
    ]
    for definition in ("InitializeResponse", "RequestPermissionRequest", *ENVELOPES):
        about = reading.of(definition)
        samples += [(about, sample) for sample in reading.samples(about)]
    for part, sample in _form_fields(reading):
        samples.append((reading.of(part), sample))
    met = {id(mark.about) for about, sample in samples for mark in reading.marks(about, sample)}
    left = {place for identity, place in marked.items() if identity not in met}
    left -= {(ON_ERROR, definition, path[-1]) for definition, path in IN_A_REQUEST}
    assert {place for place in left if place[1] not in SAYS_NOTHING} == set()


def _form_fields(reading: Reading) -> Iterator[tuple[str, dict[str, Any]]]:
    """Fields of a form, by the definition of their kind."""
    for part in ("String", "Number", "Integer", "Boolean", "MultiSelect"):
        definition = f"{part}PropertySchema"
        for sample in reading.samples(reading.of(definition)):
            kind = "array" if part == "MultiSelect" else part.lower()
            yield definition, {**sample, "type": kind}


IN_A_REQUEST = [
    ("CreateElicitationRequest", ("_meta",)),
    ("ElicitationSessionScope", ("toolCallId",)),
    *(
        ("ElicitationSchema", ("requestedSchema", name))
        for name in ("type", "title", "description", "_meta")
    ),
]


@pytest.mark.parametrize(("definition", "path"), IN_A_REQUEST)
def test_a_marked_part_of_a_form_costs_itself_only(
    definition: str, path: tuple[str, ...], v1_schema: dict[str, Any], reading: Reading
) -> None:
    marked = v1_schema["$defs"][definition]["properties"][path[-1]]
    assert marked[ON_ERROR] is True
    request = {
        "sessionId": "S",
        "toolCallId": "t",
        "message": "?",
        "mode": "form",
        "_meta": {"a": 1},
        "requestedSchema": {
            "type": "object",
            "title": "T",
            "description": "D",
            "properties": {"f": {"type": "boolean"}},
            "required": ["f"],
            "_meta": {"a": 1},
        },
    }

    def read(value: Any) -> Any:
        asked = elicitation.elicitation(value)
        assert asked.form is not None
        # The form's schema is passed on to the editor as it came.
        return evolve(asked, form=evolve(asked.form, schema={}))

    for junk in reading.junk_for(marked):
        assert read(put(request, path, junk)) == read(without(request, path))


def test_a_marked_part_of_a_form_s_field_costs_itself_only(reading: Reading) -> None:
    """Breaking exactly one marked field, anywhere in a field of a form."""

    def read(field: Any) -> Any:
        schema = {"type": "object", "properties": {"f": field}}
        request = {"sessionId": "S", "message": "?", "mode": "form", "requestedSchema": schema}
        form = elicitation.elicitation(request).form
        assert form is not None
        return form.fields

    broken = 0
    for part, sample in _form_fields(reading):
        for mark in reading.marks(reading.of(part), sample):
            for junk in reading.junk_for(mark.about) if mark.kind == ON_ERROR else ():
                assert read(put(sample, mark.path, junk)) == read(without(sample, mark.path)), (
                    part,
                    mark.path,
                    junk,
                )
                broken += 1
    assert broken > 100


def test_broken_metadata_costs_no_message(reading: Reading) -> None:
    """``_meta`` of what only carries something else, or says that something is done."""
    update = {"sessionUpdate": "current_mode_update", "currentModeId": "m"}
    for junk in JUNK:
        session_update = {"sessionId": "S", "update": update, "_meta": junk}
        assert v1.session_update(session_update)[1].current_mode_id == "m"
        assert v1.stop_reason({"stopReason": "end_turn", "_meta": junk}).stop_reason == "end_turn"


def test_the_end_of_a_turn_is_read_whatever_is_broken_in_it(reading: Reading) -> None:
    for sample in reading.samples(reading.of("PromptResponse")):
        read = v1.stop_reason(sample)
        assert read.stop_reason == sample["stopReason"]
        assert (read.meta, read.unknown) == (sample["_meta"], {"x-unknown": {"kept": True}})
    for broken in (None, [], 5, "end_turn", {}, {"stopReason": 5}, {"stopReason": None}):
        assert v1.stop_reason(broken).stop_reason is None


def test_what_both_sides_may_say_is_valid(v1_schema: dict[str, Any]) -> None:
    schema = {"$ref": "#/$defs/CancelRequestNotification", "$defs": v1_schema["$defs"]}
    for request_id in (0, 7, "x"):
        jsonschema.Draft202012Validator(schema).validate({"requestId": request_id})


def test_every_update_has_a_definition(v1_schema: dict[str, Any]) -> None:
    assert set(UPDATES.values()) <= _reachable(v1_schema, {"SessionNotification"})
