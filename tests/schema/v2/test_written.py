"""What we write fits the schema."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from acp_sidecar.acp import model, v2
from acp_sidecar.acp.decoding import DecodeError
from tests.schema.reading import Reading, foreign

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
