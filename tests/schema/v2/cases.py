"""The definitions that we receive, how each is read, and how what was read is written."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

from attrs import frozen

from acp_sidecar.acp import v2
from tests.schema.reading import Reading, without_nulls

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


def samples_of(reading: Reading, case: Case) -> list[Any]:
    found = reading.samples(reading.of(case.definition))
    data = {"data": base64.b64encode(b"some bytes").decode()}
    for sample in found:
        if case.definition == "TerminalOutputChunk":
            sample.update(data)
        elif case.definition == "TerminalUpdate":
            sample["output"].update(data)
    return [{**(case.constants or {}), **sample} for sample in found]


def is_free(path: tuple[Any, ...]) -> bool:
    """Whether a place is inside of a value that may be anything at all."""
    return path[:2] == ("error", "data")


def says_the_same(case: Case, given: Any, wanted: Any) -> None:
    """``given`` is read as what ``wanted`` says."""
    assert without_nulls(case.encode(case.decode(given))) == without_nulls(wanted)
