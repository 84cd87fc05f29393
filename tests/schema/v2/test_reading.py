"""What the schema has is read whole, and what is broken costs itself only."""

from __future__ import annotations

import base64
import copy
import random
from typing import Any

import pytest

from acp_sidecar.acp import model, v2
from acp_sidecar.acp.decoding import DecodeError
from tests.schema.reading import (
    JUNK,
    ON_ERROR,
    ON_NULL,
    SKIP,
    InvalidValue,
    Reading,
    get,
    paths,
    put,
    without,
    without_nulls,
)
from tests.schema.v2.cases import CASES, PATCHED, UPDATES, S, is_free


def test_every_update_of_the_schema_is_read(v2_schema: dict[str, Any]) -> None:
    """The table above misses no variant, so the tests below miss none."""
    variants = v2_schema["$defs"]["SessionUpdate"]["anyOf"]
    kinds = {item["properties"]["sessionUpdate"].get("const") for item in variants}
    assert kinds == {*UPDATES, None}


def test_every_method_of_the_schema_is_spoken(v2_schema: dict[str, Any]) -> None:
    """What the schema names as a method has a function here that reads or writes it."""
    named = {
        (about["x-side"], about["x-method"])
        for about in v2_schema["$defs"].values()
        if "x-method" in about
    }
    assert {method for side, method in named if side == "agent"} == {
        "initialize",
        "auth/login",
        "auth/logout",
        "session/new",
        "session/list",
        "session/delete",
        "session/resume",
        "session/close",
        "session/prompt",
        "session/cancel",
        "session/set_config_option",
        "tool_call/cancel",
        "terminal/cancel",
    }
    assert set(v2.METHODS.values()) <= {method for side, method in named if side == "agent"}
    assert {method for side, method in named if side == "client"} == {
        "session/update",
        "session/request_permission",
        "elicitation/create",
        "elicitation/complete",
    }


@pytest.mark.parametrize("name", CASES)
def test_a_marked_field_costs_itself_only(name: str, reading: Reading) -> None:
    """Breaking exactly one field that the schema marks as default-on-error."""
    case = CASES[name]
    done = set()
    for sample in case.samples(reading):
        for mark in reading.marks(reading.of(case.definition), sample):
            # The same definitions stand in many places.
            beside = get(sample, mark.path[:-1])
            names = tuple(step for step in mark.path if isinstance(step, str))[-3:]
            place = (names, *(beside.get(key) for key in ("type", "operation", "stopReason")))
            if (
                mark.kind != ON_ERROR
                or "const" in mark.about
                or is_free(mark.path)
                or place in done
            ):
                continue
            done.add(place)
            for junk in reading.junk_for(mark.about):
                broken = put(sample, mark.path, junk)
                case.says_the_same(broken, reading.lenient(reading.of(case.definition), broken))


def test_every_leniency_mark_is_met(reading: Reading) -> None:
    """The samples reach the marks: otherwise the tests above would show nothing."""
    met = {
        (mark.kind, mark.path[-1])
        for case in CASES.values()
        for sample in case.samples(reading)
        for mark in reading.marks(reading.of(case.definition), sample)
    }
    assert {
        *((ON_ERROR, each) for kinds in PATCHED.values() for each in kinds),
        (ON_ERROR, "background"),
        (ON_ERROR, "stopReason"),
        (ON_ERROR, "error"),
        (ON_ERROR, "annotations"),
        (ON_ERROR, "priority"),
        (ON_ERROR, "icons"),
        (ON_ERROR, "line"),
        (ON_ERROR, "patch"),
        (ON_ERROR, "fileType"),
        (ON_ERROR, "exitCode"),
        (ON_ERROR, "cancel"),
        (ON_ERROR, "input"),
        (ON_ERROR, "category"),
        (ON_NULL, "additionalDirectories"),
        (SKIP, "content"),
        (SKIP, "changes"),
        (SKIP, "locations"),
        (SKIP, "entries"),
        (SKIP, "availableCommands"),
        (SKIP, "configOptions"),
        (SKIP, "summary"),
        (SKIP, "sessions"),
        (SKIP, "options"),
    } <= met


@pytest.mark.parametrize("name", CASES)
def test_whatever_is_broken_the_two_readings_agree(name: str, reading: Reading) -> None:
    """Junk anywhere, several pieces at once: the decoder keeps exactly what the marks keep,
    and gives up exactly where a required field is missing or invalid.
    """
    case = CASES[name]
    schema = reading.of(case.definition)
    rng = random.Random(name)
    samples = case.samples(reading)
    for sample in samples:
        for _ in range(max(10, 120 // len(samples))):
            broken = sample
            for _ in range(rng.choice((1, 1, 2, 4))):
                places = [
                    path
                    for path in paths(broken)
                    if path != ("sessionUpdate",) and not is_free(path)
                ]
                if not places:
                    break
                place = rng.choice(places)
                if rng.random() < 0.3:
                    broken = without(broken, place)
                else:
                    broken = put(broken, place, copy.deepcopy(rng.choice(JUNK)))
            try:
                wanted = reading.lenient(schema, broken)
            except InvalidValue:
                with pytest.raises(DecodeError):
                    case.decode(broken)
            else:
                case.says_the_same(broken, wanted)


# --- three states ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "field"), [(kind, field) for kind in PATCHED for field in sorted(PATCHED[kind])]
)
def test_left_out_null_and_a_value_are_three_things(
    kind: str, field: str, reading: Reading
) -> None:
    case = CASES[kind]
    for sample in case.samples(reading):
        left_out = case.encode(case.decode(without(sample, (field,))))
        assert field not in left_out
        assert case.encode(case.decode({**sample, field: None}))[field] is None
        assert case.encode(case.decode(sample))[field] == sample[field]


@pytest.mark.parametrize("kind", UPDATES)
def test_null_is_as_good_as_nothing_where_it_clears_nothing(kind: str, reading: Reading) -> None:
    case = CASES[kind]
    schema = reading.of(case.definition)
    for sample in case.samples(reading):
        for mark in reading.marks(schema, sample):
            if mark.kind != ON_ERROR or len(mark.path) != 1:
                continue
            (field,) = mark.path
            if field in PATCHED.get(kind, ()) or mark.required:
                continue
            nulled = case.encode(case.decode({**sample, field: None}))
            assert without_nulls(nulled) == without_nulls(without(sample, (field,)))


@pytest.mark.parametrize("kind", ["agent_message", "tool_call_update", "compaction_update"])
def test_an_empty_list_is_not_left_out(kind: str) -> None:
    field = {"compaction_update": "summary"}.get(kind, "content")
    update = {"sessionUpdate": kind, field: []}
    ids = {"messageId": "i", "toolCallId": "i", "compactionId": "i", "status": "x"}
    event: Any = v2.session_update({**S, "update": {**update, **ids}})[1]
    assert getattr(event, field) == ()
    assert v2.encode_update(event)[field] == []


# --- terminals ----------------------------------------------------------------------------------


def test_each_chunk_of_output_is_decoded_alone() -> None:
    """Padding in the middle of the stream is no fault, since each piece ends by itself."""
    for data in (b"a", b"ab", b"abc", "é".encode()[:1], b""):
        written = base64.b64encode(data).decode()
        update = {"sessionUpdate": "terminal_output_chunk", "terminalId": "t", "data": written}
        event: Any = v2.session_update({**S, "update": update})[1]
        assert event.data == data


@pytest.mark.parametrize("data", ["a", "%%%%", "YQ", "ä==="])
def test_what_is_not_base64_costs_itself_only(data: str) -> None:
    chunk = {"sessionUpdate": "terminal_output_chunk", "terminalId": "t", "data": data}
    with pytest.raises(DecodeError, match="base64"):
        v2.session_update({**S, "update": chunk})
    snapshot = {
        "sessionUpdate": "terminal_update",
        "terminalId": "t",
        "command": "make",
        "output": {"data": data},
    }
    event: Any = v2.session_update({**S, "update": snapshot})[1]
    assert (event.command, event.output) == ("make", model.UNSET)
