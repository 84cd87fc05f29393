"""What is received and what is sent in version 2, as the schema's definitions."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

from acp_sidecar.acp import model, v2
from tests.schema.case import Case

S = {"sessionId": "S"}
_BYTES = {"data": base64.b64encode(b"some bytes").decode()}
_COMPLETED: dict[str, Callable[[Any], Any]] = {
    "TerminalOutputChunk": lambda chunk: {**chunk, **_BYTES},
    "TerminalUpdate": lambda update: {**update, "output": {**update["output"], **_BYTES}},
}


def _update(definition: str, kind: str) -> Case:
    return Case(
        definition,
        lambda value: v2.session_update({**S, "update": value})[1],
        v2.encode_update,
        {"sessionUpdate": kind},
        _COMPLETED.get(definition, lambda sample: sample),
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


def is_free(path: tuple[Any, ...]) -> bool:
    """Whether a place is inside of a value that may be anything at all."""
    return path[:2] == ("error", "data")
