"""What the schema has is read whole, and what is broken costs itself only."""

from __future__ import annotations

import copy
import random
from typing import Any

import pytest

from acp_sidecar.acp.decoding import DecodeError
from tests.schema.reading import (
    JUNK,
    ON_ERROR,
    ON_NULL,
    SKIP,
    InvalidValue,
    Reading,
    paths,
    put,
    without,
)
from tests.schema.v1.cases import CASES, UPDATES


def test_every_update_of_the_schema_is_read(v1_schema: dict[str, Any]) -> None:
    """The table above misses no variant, so the tests below miss none."""
    variants = v1_schema["$defs"]["SessionUpdate"]["oneOf"]
    assert {item["properties"]["sessionUpdate"]["const"] for item in variants} == set(UPDATES)


@pytest.mark.parametrize("name", CASES)
def test_a_marked_field_costs_itself_only(name: str, reading: Reading) -> None:
    """Breaking exactly one field that the schema marks as default-on-error."""
    case = CASES[name]
    for sample in case.samples(reading):
        for mark in reading.marks(reading.of(case.definition), sample):
            if mark.kind != ON_ERROR:
                continue
            fallback = put(sample, mark.path, []) if mark.required else without(sample, mark.path)
            for junk in reading.junk_for(mark.about):
                case.says_the_same(put(sample, mark.path, junk), fallback)


def test_every_leniency_mark_is_met(reading: Reading) -> None:
    """The samples reach the marks: otherwise the tests above would show nothing."""
    met = {
        (mark.kind, mark.path[-1])
        for case in CASES.values()
        for sample in case.samples(reading)
        for mark in reading.marks(reading.of(case.definition), sample)
    }
    assert {
        (ON_ERROR, "kind"),
        (ON_ERROR, "status"),
        (ON_ERROR, "rawInput"),
        (ON_ERROR, "annotations"),
        (ON_ERROR, "audience"),
        (ON_ERROR, "oldText"),
        (ON_ERROR, "line"),
        (ON_ERROR, "messageId"),
        (ON_ERROR, "cost"),
        (ON_ERROR, "input"),
        (ON_ERROR, "category"),
        (ON_ERROR, "modes"),
        (ON_ERROR, "nextCursor"),
        (SKIP, "content"),
        (SKIP, "locations"),
        (SKIP, "entries"),
        (SKIP, "availableCommands"),
        (SKIP, "configOptions"),
        (SKIP, "availableModes"),
        (SKIP, "summary"),
        (SKIP, "sessions"),
        (SKIP, "additionalDirectories"),
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
    for sample in case.samples(reading):
        for _ in range(60):
            broken = sample
            for _ in range(rng.choice((1, 1, 2, 4))):
                places = [path for path in paths(broken) if path != ("sessionUpdate",)]
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


@pytest.mark.parametrize(
    ("name", "path"),
    [
        (name, path)
        for name, required in {
            "agent_message_chunk": [("content",), ("content", "text"), ("content", "type")],
            "tool_call": [("toolCallId",), ("title",)],
            "tool_call_update": [("toolCallId",)],
            "plan": [("entries",)],
            "available_commands_update": [("availableCommands",)],
            "current_mode_update": [("currentModeId",)],
            "config_option_update": [("configOptions",)],
            "usage_update": [("used",), ("size",)],
            "notice": [("severity",), ("title",)],
            "compaction_update": [("compactionId",), ("status",)],
            "compaction_summary_chunk": [("compactionId",), ("content",)],
            "session/new": [("sessionId",)],
            "session/list": [("sessions",)],
            "fs/read_text_file": [("sessionId",), ("path",)],
            "fs/write_text_file": [("sessionId",), ("path",), ("content",)],
            "terminal/create": [("sessionId",), ("command",)],
            "terminal/output": [("sessionId",), ("terminalId",)],
        }.items()
        for path in required
    ],
)
def test_a_missing_required_field_costs_the_message(
    name: str, path: tuple[str, ...], reading: Reading
) -> None:
    """And the error names the field, not its value."""
    case = CASES[name]
    sample = next(
        item for item in case.samples(reading) if "content" not in path or "text" in str(item)
    )
    with pytest.raises(DecodeError, match=path[-1]):
        case.decode(without(sample, path))


def test_default_on_null_marks_are_those_we_know(v1_schema: dict[str, Any]) -> None:
    """In what we receive the mark stands where it is handled and tested."""
    ours = {"AuthMethodTerminal", "CreateTerminalRequest"}
    received = {
        name
        for name, about in v1_schema["$defs"].items()
        if about.get("x-side") != "agent"
        and any(part.get(ON_NULL) for part in about.get("properties", {}).values())
        and not name.startswith("McpServer")
    }
    assert received == ours
