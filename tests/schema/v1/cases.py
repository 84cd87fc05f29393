"""What is received and what is sent in version 1, as the schema's definitions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from acp_sidecar.acp import model, v1
from tests.schema.case import Case

S = {"sessionId": "S"}


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
