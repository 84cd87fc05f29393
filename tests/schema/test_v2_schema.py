"""Version 2 against the protocol's own ``schema.json``."""

from __future__ import annotations

import base64
import copy
import random
from collections.abc import Callable
from typing import Any

import jsonschema
import pytest
from attrs import frozen

from acp_sidecar.acp import model, v2
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
        lambda value: v2.session_update({**S, "update": value})[1],
        v2.encode_update,
        {"sessionUpdate": kind},
    )


def _result(definition: str, decode: Callable[[Any], Any]) -> Case:
    return Case(definition, decode, v2.encode)


UPDATES = {
    "user_message_chunk": "ContentChunk",
    "user_message": "UserMessage",
    "agent_message_chunk": "ContentChunk",
    "agent_message": "AgentMessage",
    "agent_thought_chunk": "ContentChunk",
    "agent_thought": "AgentThought",
    "state_update": "StateUpdate",
    "tool_call_content_chunk": "ToolCallContentChunk",
    "tool_call_update": "ToolCallUpdate",
    "terminal_update": "TerminalUpdate",
    "terminal_output_chunk": "TerminalOutputChunk",
    "plan_update": "PlanUpdate",
    "available_commands_update": "AvailableCommandsUpdate",
    "config_option_update": "ConfigOptionUpdate",
    "session_info_update": "SessionInfoUpdate",
    "usage_update": "UsageUpdate",
    "notice": "Notice",
    "compaction_update": "CompactionUpdate",
    "compaction_summary_chunk": "CompactionSummaryChunk",
}
PATCHED = {
    "user_message": {"content", "_meta"},
    "agent_message": {"content", "_meta"},
    "agent_thought": {"content", "_meta"},
    "tool_call_update": {
        "name",
        "title",
        "kind",
        "status",
        "content",
        "locations",
        "rawInput",
        "rawOutput",
        "capabilities",
        "_meta",
    },
    "terminal_update": {
        "command",
        "cwd",
        "output",
        "exitStatus",
        "size",
        "capabilities",
        "_meta",
    },
    "session_info_update": {"title", "updatedAt", "_meta"},
    "usage_update": {"cost"},
    "compaction_update": {"summary", "error", "_meta"},
}
"""The fields in which null clears and leaving out leaves, by the prose of each definition."""

CASES = {
    **{kind: _update(definition, kind) for kind, definition in UPDATES.items()},
    "session/new": _result("NewSessionResponse", v2.session_opened),
    "session/resume": Case(
        "ResumeSessionResponse",
        lambda result: v2.session_opened(result, "S"),
        lambda opened: {k: x for k, x in v2.encode(opened).items() if k != "sessionId"},
    ),
    "session/list": _result("ListSessionsResponse", v2.session_page),
    "session/set_config_option": _result("SetSessionConfigOptionResponse", v2.config_options),
    "content block": _result("ContentBlock", v2.decode_block),
}


@pytest.fixture(scope="session")
def reading(v2_schema: dict[str, Any]) -> Reading:
    return Reading(v2_schema)


@pytest.fixture(scope="session")
def validate(v2_schema: dict[str, Any]) -> Callable[[str, Any], None]:
    """Fails where a value does not fit a definition."""

    def check(definition: str, value: Any) -> None:
        schema = {"$ref": f"#/$defs/{definition}", "$defs": v2_schema["$defs"]}
        jsonschema.Draft202012Validator(schema).validate(value)

    return check


def _samples(reading: Reading, case: Case) -> list[Any]:
    found = reading.samples(reading.of(case.definition))
    data = {"data": base64.b64encode(b"some bytes").decode()}
    for sample in found:
        if case.definition == "TerminalOutputChunk":
            sample.update(data)
        elif case.definition == "TerminalUpdate":
            sample["output"].update(data)
    return [{**(case.constants or {}), **sample} for sample in found]


def _free(path: tuple[Any, ...]) -> bool:
    """Whether a place is inside of a value that may be anything at all."""
    return path[:2] == ("error", "data")


def _same(case: Case, given: Any, wanted: Any) -> None:
    """``given`` is read as what ``wanted`` says."""
    assert without_nulls(case.encode(case.decode(given))) == without_nulls(wanted)


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
    done = set()
    for sample in _samples(reading, case):
        for mark in reading.marks(reading.of(case.definition), sample):
            # The same definitions stand in many places.
            beside = get(sample, mark.path[:-1])
            names = tuple(step for step in mark.path if isinstance(step, str))[-3:]
            place = (names, *(beside.get(key) for key in ("type", "operation", "stopReason")))
            if mark.kind != ON_ERROR or "const" in mark.about or _free(mark.path) or place in done:
                continue
            done.add(place)
            for junk in reading.junk_for(mark.about):
                broken = put(sample, mark.path, junk)
                _same(case, broken, reading.lenient(reading.of(case.definition), broken))


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
    samples = _samples(reading, case)
    for sample in samples:
        for _ in range(max(10, 120 // len(samples))):
            broken = sample
            for _ in range(rng.choice((1, 1, 2, 4))):
                places = [
                    path for path in paths(broken) if path != ("sessionUpdate",) and not _free(path)
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
                _same(case, broken, wanted)


# --- three states ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "field"), [(kind, field) for kind in PATCHED for field in sorted(PATCHED[kind])]
)
def test_left_out_null_and_a_value_are_three_things(
    kind: str, field: str, reading: Reading
) -> None:
    case = CASES[kind]
    for sample in _samples(reading, case):
        left_out = case.encode(case.decode(without(sample, (field,))))
        assert field not in left_out
        assert case.encode(case.decode({**sample, field: None}))[field] is None
        assert case.encode(case.decode(sample))[field] == sample[field]


@pytest.mark.parametrize("kind", UPDATES)
def test_null_is_as_good_as_nothing_where_it_clears_nothing(kind: str, reading: Reading) -> None:
    case = CASES[kind]
    schema = reading.of(case.definition)
    for sample in _samples(reading, case):
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


# --- what is not known --------------------------------------------------------------------------


@pytest.mark.parametrize("tag", ["_vendor", "hologram", "_"])
@pytest.mark.parametrize(
    ("case", "template"),
    [
        ("agent_message", {"messageId": "m", "content": ["HERE"]}),
        ("agent_message_chunk", {"messageId": "m", "content": "HERE"}),
        ("tool_call_update", {"toolCallId": "t", "content": ["HERE"]}),
        ("tool_call_content_chunk", {"toolCallId": "t", "content": "HERE"}),
        (
            "tool_call_update",
            {"toolCallId": "t", "content": [{"type": "content", "content": "HERE"}]},
        ),
        ("plan_update", {"plan": "HERE"}),
        ("config_option_update", {"configOptions": ["HERE"]}),
        ("available_commands_update", {"availableCommands": ["HERE"]}),
        ("state_update", {"state": "running", "background": ["HERE"]}),
    ],
)
def test_an_unknown_type_is_passed_on_unchanged(case: str, template: Any, tag: str) -> None:
    unknown = {
        "type": tag,
        "configId": "c",
        "planId": "p",
        "name": "n",
        "description": "d",
        "text": 5,
        "deep": [{"a": None}],
        "_meta": {"k": None},
    }

    def filled(value: Any) -> Any:
        if value == "HERE":
            return unknown
        if isinstance(value, list):
            return [filled(item) for item in value]
        if isinstance(value, dict):
            return {key: filled(item) for key, item in value.items()}
        return value

    update = {"sessionUpdate": case, **filled(template)}
    event = v2.session_update({**S, "update": update})[1]
    assert not isinstance(event, model.UnknownUpdate)
    assert v2.encode_update(event) == update


@pytest.mark.parametrize("kind", ["_vendor", "telepathy"])
def test_an_unknown_update_is_passed_on_unchanged(kind: str) -> None:
    update = {"sessionUpdate": kind, "a": [None, {"b": 1}], "_meta": {}}
    session_id, event = v2.session_update({**S, "update": update})
    assert (session_id, v2.encode_update(event)) == ("S", update)


@pytest.mark.parametrize("operation", ["_transmute", "chmod"])
def test_an_unknown_operation_is_passed_on_unchanged(operation: str) -> None:
    change = {"operation": operation, "where": "/ws/a", "mode": 0o644, "fileType": "text"}
    known = {"operation": "add", "path": "/ws/b"}
    content = [{"type": "diff", "changes": [change, known]}]
    update = {"sessionUpdate": "tool_call_update", "toolCallId": "t", "content": content}
    event: Any = v2.session_update({**S, "update": update})[1]
    assert [file.path for file in event.content[0].files] == ["/ws/b"]
    assert v2.encode_update(event) == update


@pytest.mark.parametrize(
    ("update", "field"),
    [
        ({"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "_paused"}, "status"),
        ({"sessionUpdate": "tool_call_update", "toolCallId": "t", "kind": "dream"}, "kind"),
        (
            {"sessionUpdate": "compaction_update", "compactionId": "c", "status": "_odd"},
            "status",
        ),
        ({"sessionUpdate": "notice", "severity": "_odd", "title": "t"}, "severity"),
        ({"sessionUpdate": "state_update", "state": "_dreaming", "since": 5}, "state"),
        ({"sessionUpdate": "state_update", "state": "idle", "stopReason": "_bored"}, "stopReason"),
    ],
)
def test_an_unknown_word_is_kept(update: dict[str, Any], field: str) -> None:
    event = v2.session_update({**S, "update": update})[1]
    assert v2.encode_update(event)[field] == update[field]


@pytest.mark.parametrize(
    "block",
    [
        {"type": "text", "words": "x"},
        {"type": "image", "data": "AAAA"},
        {"type": "resource", "resource": {"uri": "file:///a"}},
        {"text": "no type"},
    ],
)
def test_a_known_type_is_read_strictly(block: Any) -> None:
    """What calls itself text and is not is no unknown block: it is left out."""
    with pytest.raises(DecodeError):
        v2.decode_block(block)
    update = {"sessionUpdate": "agent_message", "messageId": "m", "content": [block]}
    event: Any = v2.session_update({**S, "update": update})[1]
    assert event.content == ()


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


# --- initialize -----------------------------------------------------------------------------


def test_initialize_result_is_read_in_full(
    reading: Reading, validate: Callable[[str, Any], None]
) -> None:
    for sample in reading.samples(reading.of("InitializeResponse")):
        validate("InitializeResponse", sample)
        info = v2.initialize_result(sample)
        assert info.protocol_version == sample["protocolVersion"]
        assert (info.name, info.version) == ("some text", "some text")
        assert info.load_session and info.list_sessions and info.resume_session
        assert info.close_session and info.delete_session and info.additional_directories
        assert info.prompt_image and info.prompt_audio and info.prompt_embedded_context
        assert info.mcp_stdio and info.mcp_http and info.logout
        assert not info.fork_session and not info.mcp_sse
        assert info.raw == sample
        assert [method.type for method in info.auth_methods] == ["terminal", "agent", "some text"]
        assert [method.id for method in info.auth_methods] == ["some text"] * 3


def test_an_agent_that_tells_nothing_can_nothing() -> None:
    info = v2.initialize_result({"protocolVersion": 2, "info": {"name": "n", "version": "1"}})
    assert not info.list_sessions and not info.load_session and not info.mcp_stdio
    assert not info.logout and info.auth_methods == ()
    bare = v2.initialize_result({"protocolVersion": 2, "capabilities": {"session": {}}})
    assert bare.list_sessions and bare.load_session and bare.resume_session and bare.close_session
    assert not bare.delete_session and not bare.mcp_stdio and not bare.prompt_image


def test_authentication_methods(reading: Reading, validate: Callable[[str, Any], None]) -> None:
    """Of a terminal method the variables are an object here; a broken one is no method at all;
    one of an unknown type is kept.
    """
    good = {
        "type": "terminal",
        "methodId": "t",
        "name": "T",
        "args": ["login"],
        "env": [{"name": "A", "value": "1"}],
    }
    nulls = {"type": "terminal", "methodId": "n", "name": "N", "args": None, "env": None}
    other = {"type": "_card", "methodId": "c", "name": "C", "description": 5, "slot": 1}
    bad = [
        {**good, "env": {"A": "1"}},
        {**good, "args": [1]},
        {"methodId": "a", "name": "no type"},
        {"type": "agent", "id": "v1", "name": "x"},
        {"type": "_card", "name": "no id"},
        5,
    ]
    methods = v2.initialize_result(
        {"protocolVersion": 2, "authMethods": [bad[0], good, *bad[1:], nulls, other]}
    ).auth_methods
    assert [method.id for method in methods] == ["t", "n", "c"]
    terminal, plain, card = methods
    assert isinstance(terminal, model.TerminalAuthMethod)
    assert (terminal.args, terminal.env) == (("login",), {"A": "1"})
    assert isinstance(plain, model.TerminalAuthMethod) and (plain.args, plain.env) == ((), {})
    assert v2.encode(terminal) == good
    assert v2.encode(card) == other
    for method in methods:
        validate("AuthMethod", v2.encode(method))


def test_a_broken_capability_is_one_the_agent_does_not_have(reading: Reading) -> None:
    """Every field of the answer that may be left out, broken: the others stay."""
    (sample, *_) = reading.samples(reading.of("InitializeResponse"))
    untouched = v2.initialize_result(sample)
    broken = 0
    for mark in reading.marks(reading.of("InitializeResponse"), sample):
        for junk in reading.junk_for(mark.about):
            if mark.kind == ON_ERROR:
                read = v2.initialize_result(put(sample, mark.path, junk))
                lacking = v2.initialize_result(without(sample, mark.path))
                assert _facts(read) == _facts(lacking), (mark.path, junk)
                broken += _facts(read) != _facts(untouched)
    assert broken > 20


def _facts(info: model.AgentInfo) -> Any:
    facts = v2.encode(info)
    del facts["raw"]
    return facts


# --- session/request_permission ----------------------------------------------------------------


def test_a_permission_request_is_read_in_full(
    reading: Reading, validate: Callable[[str, Any], None]
) -> None:
    seen = set()
    for sample in reading.samples(reading.of("RequestPermissionRequest")):
        validate("RequestPermissionRequest", sample)
        request = v2.permission_request(sample)
        assert request.title == request.description == "some text"
        assert request.subject is not None
        seen.add(request.subject.type)
        written = v2.encode_permission_request(request)
        validate("RequestPermissionRequest", written)
        assert without_nulls(written) == without_nulls(sample)
    assert seen == {"tool_call", "command", "some text"}


def test_no_broken_permission_request_is_lost(reading: Reading) -> None:
    """Junk anywhere but in the session id: the question and its usable options survive."""
    rng = random.Random(2)
    for sample in reading.samples(reading.of("RequestPermissionRequest")):
        for place in paths(sample):
            if place == ("sessionId",):
                continue
            for junk in rng.sample(JUNK, 1):
                broken = put(sample, place, junk)
                request = v2.permission_request(broken)
                usable = [option.option_id for option in request.options]
                offered = broken["options"]
                wanted = [
                    option["optionId"]
                    for option in (offered if isinstance(offered, list) else [])
                    if isinstance(option, dict)
                    and isinstance(option.get("optionId"), str)
                    and option["optionId"]
                ]
                assert usable == wanted, (place, junk)
                assert all(option.name for option in request.options)
                if place[0] != "title":
                    assert request.title == "some text"
                if place[0] != "subject":
                    assert request.subject is not None


def test_a_command_is_told_in_full() -> None:
    subject = {"type": "command", "command": "rm -rf /ws/x", "cwd": "/ws", "toolCallId": "t"}
    request = v2.permission_request({**S, "title": "Run?", "subject": subject, "options": []})
    assert request.subject is not None
    assert (request.subject.command, request.subject.cwd) == ("rm -rf /ws/x", "/ws")
    assert request.subject.tool_call_id == "t"
    assert request.tool_call is None


def test_a_subject_of_an_unknown_type_is_kept() -> None:
    subject = {"type": "_launch", "command": 5, "rocket": {"fuel": None}, "_meta": None}
    request = v2.permission_request({**S, "title": "Go?", "subject": subject, "options": []})
    assert request.subject is not None and request.subject.type == "_launch"
    assert request.subject.command is None
    assert v2.encode_permission_request(request)["subject"] == subject


# --- what we write -------------------------------------------------------------------------------

STDIO = {
    "type": "stdio",
    "name": "m",
    "command": "/bin/m",
    "args": ["-x"],
    "env": [{"name": "A", "value": "b"}],
}
HTTP = {"type": "http", "name": "h", "url": "https://h", "headers": [{"name": "A", "value": "b"}]}
FREE = [
    {"command": "/m"},
    {"name": "m", "command": "/bin/m", "env": {"A": 1}},
    {"url": "https://h", "headers": {"A": "b"}},
]
EVERYTHING = model.ClientCapabilities(
    read_text_file=True,
    write_text_file=True,
    terminal=True,
    terminal_auth=True,
    elicitation_form=True,
    elicitation_url=True,
    meta={"k": True},
)

WRITTEN = [
    ("InitializeRequest", v2.initialize()),
    ("InitializeRequest", v2.initialize(model.ClientCapabilities())),
    ("InitializeRequest", v2.initialize(EVERYTHING, model.Implementation("n", "1"))),
    ("LoginAuthRequest", v2.authenticate("m")),
    ("LogoutAuthRequest", v2.logout()),
    ("NewSessionRequest", v2.session_new("/ws")),
    ("NewSessionRequest", v2.session_new("/ws", ["/more"], [STDIO, HTTP, *FREE])),
    ("ResumeSessionRequest", v2.session_load("S", "/ws")),
    ("ResumeSessionRequest", v2.session_load("S", "/ws", ["/more"], [STDIO, *FREE])),
    ("ResumeSessionRequest", v2.session_resume("S", "/ws", ["/more"], [HTTP])),
    ("ListSessionsRequest", v2.session_list()),
    ("ListSessionsRequest", v2.session_list("/ws", "next")),
    ("DeleteSessionRequest", v2.session_delete("S")),
    ("CloseSessionRequest", v2.session_close("S")),
    ("SetSessionConfigOptionRequest", v2.set_config_option("S", "model", "big")),
    ("SetSessionConfigOptionRequest", v2.set_config_option("S", "web", True)),
    ("SetSessionConfigOptionRequest", v2.set_config_option("S", "web", False)),
    ("CancelSessionNotification", v2.cancel("S")),
    ("CancelToolCallRequest", v2.cancel_tool_call("S", "t")),
    ("CancelTerminalRequest", v2.cancel_terminal("S", "t")),
    ("RequestPermissionResponse", v2.permission_outcome("o")),
    ("RequestPermissionResponse", v2.permission_outcome(None)),
    ("PromptRequest", v2.prompt("S", [model.TextContent("plain")])),
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


def test_loading_asks_for_a_replay_and_resuming_does_not() -> None:
    assert v2.session_load("S", "/ws")["replayFrom"] == {"type": "start"}
    assert "replayFrom" not in v2.session_resume("S", "/ws")


@pytest.mark.parametrize("server", [{}, {"type": "stdio"}, {"type": "http", "name": "h"}])
def test_a_server_that_cannot_be_reached_is_refused(server: Any) -> None:
    with pytest.raises(ValueError, match="MCP server"):
        v2.mcp_server(server)


def test_a_prompt_fits_the_schema(reading: Reading, validate: Callable[[str, Any], None]) -> None:
    blocks = [v2.decode_block(block) for block in reading.samples(reading.of("ContentBlock"))]
    assert {type(block) for block in blocks} == {
        model.TextContent,
        model.ImageContent,
        model.AudioContent,
        model.ResourceLink,
        model.EmbeddedResource,
        model.UnknownBlock,
    }
    validate("PromptRequest", v2.prompt("S", blocks))


@pytest.mark.parametrize("result", [None, {}, {"messageId": None}, {"messageId": 5}, []])
def test_a_prompt_that_became_no_message_is_a_fault(result: Any) -> None:
    with pytest.raises(DecodeError):
        v2.prompt_answer(result)
    assert v2.prompt_answer({"messageId": "m"}) == model.PromptAccepted("m")
