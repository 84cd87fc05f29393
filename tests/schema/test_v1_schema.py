"""Version 1 against the protocol's own ``schema.json``."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from typing import Any

import jsonschema
import pytest
from attrs import frozen

from acp_sidecar.acp import model, v1
from acp_sidecar.acp.decoding import DecodeError

from .reading import (
    JUNK,
    ON_ERROR,
    ON_NULL,
    SKIP,
    InvalidValue,
    Reading,
    foreign,
    get,
    paths,
    put,
    without,
    without_nulls,
)

S = {"sessionId": "S"}


@frozen
class Case:
    """A definition that we receive: how it is read, and how what was read is written."""

    definition: str
    decode: Callable[[Any], Any]
    encode: Callable[[Any], Any]
    constants: dict[str, Any] | None = None


def _update(definition: str, kind: str) -> Case:
    return Case(
        definition,
        lambda value: v1.session_update({**S, "update": value})[1],
        v1.encode_update,
        {"sessionUpdate": kind},
    )


def _result(definition: str, decode: Callable[[Any], Any]) -> Case:
    return Case(definition, decode, v1.encode)


def _created(value: Any) -> Any:
    return value, v1.create_terminal(value)


def _as_created(created: Any) -> Any:
    """A list that is empty is written where it was sent, null included."""
    sent, read = created
    return {**{key: [] for key in ("args", "env") if key in sent}, **v1.encode(read)}


UPDATES = {
    "user_message_chunk": "ContentChunk",
    "agent_message_chunk": "ContentChunk",
    "agent_thought_chunk": "ContentChunk",
    "tool_call": "ToolCall",
    "tool_call_update": "ToolCallUpdate",
    "plan": "Plan",
    "available_commands_update": "AvailableCommandsUpdate",
    "current_mode_update": "CurrentModeUpdate",
    "config_option_update": "ConfigOptionUpdate",
    "session_info_update": "SessionInfoUpdate",
    "usage_update": "UsageUpdate",
    "notice": "Notice",
    "compaction_update": "CompactionUpdate",
    "compaction_summary_chunk": "CompactionSummaryChunk",
}

CASES = {
    **{kind: _update(definition, kind) for kind, definition in UPDATES.items()},
    "session/new": _result("NewSessionResponse", v1.session_opened),
    "session/load": Case(
        "LoadSessionResponse",
        lambda result: v1.session_opened(result, "S"),
        lambda opened: {k: x for k, x in v1.encode(opened).items() if k != "sessionId"},
    ),
    "session/resume": Case(
        "ResumeSessionResponse",
        lambda result: v1.session_opened(result, "S"),
        lambda opened: {k: x for k, x in v1.encode(opened).items() if k != "sessionId"},
    ),
    "session/list": _result("ListSessionsResponse", v1.session_page),
    "session/set_config_option": _result("SetSessionConfigOptionResponse", v1.config_options),
    "fs/read_text_file": _result("ReadTextFileRequest", v1.read_text_file),
    "fs/write_text_file": _result("WriteTextFileRequest", v1.write_text_file),
    "terminal/create": Case("CreateTerminalRequest", _created, _as_created),
    "terminal/output": _result("TerminalOutputRequest", v1.terminal_request),
    "terminal/wait_for_exit": _result("WaitForTerminalExitRequest", v1.terminal_request),
    "terminal/kill": _result("KillTerminalRequest", v1.terminal_request),
    "terminal/release": _result("ReleaseTerminalRequest", v1.terminal_request),
    "content block": _result("ContentBlock", v1.decode_block),
}


@pytest.fixture(scope="session")
def reading(v1_schema: dict[str, Any]) -> Reading:
    return Reading(v1_schema)


@pytest.fixture(scope="session")
def validate(v1_schema: dict[str, Any]) -> Callable[[str, Any], None]:
    """Fails where a value does not fit a definition."""

    def check(definition: str, value: Any) -> None:
        schema = {"$ref": f"#/$defs/{definition}", "$defs": v1_schema["$defs"]}
        jsonschema.Draft202012Validator(schema).validate(value)

    return check


def _samples(reading: Reading, case: Case) -> list[Any]:
    found = reading.samples(reading.of(case.definition))
    return [{**(case.constants or {}), **sample} for sample in found]


def _same(case: Case, given: Any, wanted: Any) -> None:
    """``given`` is read as what ``wanted`` says."""
    assert without_nulls(case.encode(case.decode(given))) == without_nulls(wanted)


def test_every_update_of_the_schema_is_read(v1_schema: dict[str, Any]) -> None:
    """The table above misses no variant, so the tests below miss none."""
    variants = v1_schema["$defs"]["SessionUpdate"]["oneOf"]
    assert {item["properties"]["sessionUpdate"]["const"] for item in variants} == set(UPDATES)


@pytest.mark.parametrize("name", CASES)
def test_a_valid_message_comes_through_whole(
    name: str, reading: Reading, validate: Callable[[str, Any], None]
) -> None:
    """Decoded and encoded again, a message says the same: ``_meta`` and unknown fields too."""
    case = CASES[name]
    found = _samples(reading, case)
    assert found
    for sample in found:
        validate(case.definition, sample)
        _same(case, sample, sample)
        written = case.encode(case.decode(sample))
        validate(case.definition, written)
        assert written.get("x-unknown") == sample.get("x-unknown")


@pytest.mark.parametrize("name", CASES)
def test_a_marked_field_costs_itself_only(name: str, reading: Reading) -> None:
    """Breaking exactly one field that the schema marks as default-on-error."""
    case = CASES[name]
    for sample in _samples(reading, case):
        for mark in reading.marks(reading.of(case.definition), sample):
            if mark.kind != ON_ERROR:
                continue
            fallback = put(sample, mark.path, []) if mark.required else without(sample, mark.path)
            for junk in reading.junk_for(mark.about):
                _same(case, put(sample, mark.path, junk), fallback)


@pytest.mark.parametrize("name", CASES)
def test_an_invalid_item_costs_itself_only(name: str, reading: Reading) -> None:
    """Breaking exactly one item of an array that the schema marks as skip-invalid-items."""
    case = CASES[name]
    for sample in _samples(reading, case):
        for mark in reading.marks(reading.of(case.definition), sample):
            if mark.kind != SKIP:
                continue
            items = get(sample, mark.path)
            about = reading.flat(mark.about)["items"]
            for junk in reading.junk_for(about):
                _same(case, put(sample, mark.path, [junk, *items, junk]), sample)


def test_every_leniency_mark_is_met(reading: Reading) -> None:
    """The samples reach the marks: otherwise the tests above would show nothing."""
    met = {
        (mark.kind, mark.path[-1])
        for case in CASES.values()
        for sample in _samples(reading, case)
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
    for sample in _samples(reading, case):
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
                _same(case, broken, wanted)


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
        item for item in _samples(reading, case) if "content" not in path or "text" in str(item)
    )
    with pytest.raises(DecodeError, match=path[-1]):
        case.decode(without(sample, path))


# --- initialize -----------------------------------------------------------------------------


def test_initialize_result_is_read_in_full(
    reading: Reading, validate: Callable[[str, Any], None]
) -> None:
    for sample in reading.samples(reading.of("InitializeResponse")):
        validate("InitializeResponse", sample)
        info = v1.initialize_result(sample)
        assert info.protocol_version == sample["protocolVersion"]
        assert (info.name, info.version) == ("some text", "some text")
        assert info.load_session and info.list_sessions and info.resume_session
        assert info.close_session and info.delete_session and info.additional_directories
        assert info.prompt_image and info.prompt_audio and info.prompt_embedded_context
        assert info.mcp_http and info.mcp_sse and info.logout
        assert not info.fork_session
        assert info.raw == sample
        assert [method.type for method in info.auth_methods] == [
            item.get("type", "agent") for item in sample["authMethods"]
        ]


def test_a_broken_capability_is_one_the_agent_does_not_have(reading: Reading) -> None:
    """Every field of the answer that may be left out, broken: the others stay."""
    (sample, *_) = reading.samples(reading.of("InitializeResponse"))
    untouched = v1.initialize_result(sample)
    broken = 0
    for mark in reading.marks(reading.of("InitializeResponse"), sample):
        for junk in reading.junk_for(mark.about):
            if mark.kind == ON_ERROR:
                read = v1.initialize_result(put(sample, mark.path, junk))
                lacking = v1.initialize_result(without(sample, mark.path))
                assert _facts(read) == _facts(lacking), (mark.path, junk)
                broken += _facts(read) != _facts(untouched)
    assert broken > 20


def test_authentication_methods_skip_what_cannot_be_read(reading: Reading) -> None:
    """``args`` and ``env`` may be null; a terminal method that is broken otherwise is no
    method at all, since it must never be passed to ``authenticate`` as an ordinary one.
    """
    good = {"type": "terminal", "id": "t", "name": "T", "args": None, "env": None}
    bad = {"type": "terminal", "id": "u", "name": "U", "args": [1]}
    result = {"protocolVersion": 1, "authMethods": [5, good, bad, {"id": "a"}, None]}
    (method,) = v1.initialize_result(result).auth_methods
    assert isinstance(method, model.TerminalAuthMethod)
    assert (method.id, method.args, method.env) == ("t", (), {})


def _facts(info: model.AgentInfo) -> Any:
    facts = v1.encode(info)
    del facts["raw"]
    return facts


# --- session/request_permission ----------------------------------------------------------------


def test_a_permission_request_is_read_in_full(
    reading: Reading, validate: Callable[[str, Any], None]
) -> None:
    for sample in reading.samples(reading.of("RequestPermissionRequest")):
        validate("RequestPermissionRequest", sample)
        request = v1.permission_request(sample)
        assert without_nulls(v1.encode(request.options)) == without_nulls(sample["options"])
        assert request.tool_call is not None
        written = v1.encode_update(request.tool_call)
        assert without_nulls(written) == without_nulls(
            {"sessionUpdate": "tool_call_update", **sample["toolCall"]}
        )
        assert request.meta == sample["_meta"]
        assert request.unknown["x-unknown"] == {"kept": True}


def test_no_broken_permission_request_is_lost(reading: Reading) -> None:
    """Junk anywhere but in the session id: the question and its usable options survive."""
    (sample, *_) = reading.samples(reading.of("RequestPermissionRequest"))
    for place in paths(sample):
        if place == ("sessionId",):
            continue
        for junk in JUNK:
            request = v1.permission_request(put(sample, place, junk))
            usable = [option.option_id for option in request.options]
            offered = get(put(sample, place, junk), ("options",))
            wanted = [
                option["optionId"]
                for option in (offered if isinstance(offered, list) else [])
                if isinstance(option, dict)
                and isinstance(option.get("optionId"), str)
                and option["optionId"]
            ]
            assert usable == wanted, (place, junk)
            assert all(option.name for option in request.options)
            if place[0] != "toolCall":
                assert request.tool_call is not None
                assert request.tool_call.title == "some text"


# --- what we write -------------------------------------------------------------------------------

STDIO = {"name": "m", "command": "/bin/m", "args": ["-x"], "env": [{"name": "A", "value": "b"}]}
HTTP = {"type": "http", "name": "h", "url": "https://h", "headers": [{"name": "A", "value": "b"}]}
FREE = [
    {"command": "m"},
    {"type": "stdio", "name": "m", "command": "/bin/m", "env": {"A": 1}},
    {"url": "https://h", "headers": {"A": "b"}},
    {"type": "sse", "name": "s", "url": "https://s"},
]
EVERYTHING = model.ClientCapabilities(
    read_text_file=True,
    write_text_file=True,
    terminal=True,
    terminal_auth=True,
    boolean_config_options=True,
    notices=True,
    compaction=True,
    elicitation_form=True,
    elicitation_url=True,
    meta={"terminal_output": True},
)
EXITED = {"exitCode": 3, "signal": None}
KILLED = {"exitCode": None, "signal": "SIGKILL"}

WRITTEN = [
    ("InitializeRequest", v1.initialize()),
    ("InitializeRequest", v1.initialize(model.ClientCapabilities())),
    ("InitializeRequest", v1.initialize(EVERYTHING, model.Implementation("n", "1"))),
    ("AuthenticateRequest", v1.authenticate("m")),
    ("LogoutRequest", v1.logout()),
    ("NewSessionRequest", v1.session_new("/ws")),
    ("NewSessionRequest", v1.session_new("/ws", ["/more"], [STDIO, HTTP, *FREE])),
    ("LoadSessionRequest", v1.session_load("S", "/ws")),
    ("LoadSessionRequest", v1.session_load("S", "/ws", ["/more"], [STDIO, *FREE])),
    ("ResumeSessionRequest", v1.session_resume("S", "/ws", ["/more"], [HTTP])),
    ("ListSessionsRequest", v1.session_list()),
    ("ListSessionsRequest", v1.session_list("/ws", "next")),
    ("DeleteSessionRequest", v1.session_delete("S")),
    ("CloseSessionRequest", v1.session_close("S")),
    ("SetSessionModeRequest", v1.set_mode("S", "plan")),
    ("SetSessionConfigOptionRequest", v1.set_config_option("S", "model", "big")),
    ("SetSessionConfigOptionRequest", v1.set_config_option("S", "web", True)),
    ("SetSessionConfigOptionRequest", v1.set_config_option("S", "web", False)),
    ("CancelNotification", v1.cancel("S")),
    ("RequestPermissionResponse", v1.permission_outcome("o")),
    ("RequestPermissionResponse", v1.permission_outcome(None)),
    ("ReadTextFileResponse", v1.read_text_file_result("a\n")),
    ("WriteTextFileResponse", v1.write_text_file_result()),
    ("CreateTerminalResponse", v1.create_terminal_result("t")),
    ("TerminalOutputResponse", v1.terminal_output_result("out", True, None)),
    ("TerminalOutputResponse", v1.terminal_output_result("", False, EXITED)),
    ("WaitForTerminalExitResponse", v1.wait_for_exit_result(EXITED)),
    ("WaitForTerminalExitResponse", v1.wait_for_exit_result(KILLED)),
    ("KillTerminalResponse", v1.kill_terminal_result()),
    ("ReleaseTerminalResponse", v1.release_terminal_result()),
]


@pytest.mark.parametrize(("definition", "written"), WRITTEN)
def test_what_we_write_fits_the_schema(
    definition: str, written: Any, validate: Callable[[str, Any], None]
) -> None:
    validate(definition, written)


def test_what_we_write_has_no_field_the_schema_does_not_know(reading: Reading) -> None:
    """A misspelt optional field would fit the schema too."""
    for definition, written in WRITTEN:
        assert foreign(reading, reading.of(definition), written) == [], definition


def test_a_prompt_fits_the_schema(reading: Reading, validate: Callable[[str, Any], None]) -> None:
    blocks = [v1.decode_block(block) for block in reading.samples(reading.of("ContentBlock"))]
    assert {type(block) for block in blocks} == {
        model.TextContent,
        model.ImageContent,
        model.AudioContent,
        model.ResourceLink,
        model.EmbeddedResource,
    }
    validate("PromptRequest", v1.prompt("S", blocks))
    validate("PromptRequest", v1.prompt("S", [model.TextContent("plain")]))
    assert v1.prompt("S", [model.TextContent("plain")])["prompt"] == [
        {"type": "text", "text": "plain"}
    ]


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
