"""What we write fits the schema."""

from __future__ import annotations

from typing import Any

import pytest

from acp_sidecar.acp import model, v2
from acp_sidecar.acp.decoding import DecodeError
from tests.schema.reading import Reading


def test_loading_asks_for_a_replay_and_resuming_does_not() -> None:
    assert v2.session_load("S", "/ws")["replayFrom"] == {"type": "start"}
    assert "replayFrom" not in v2.session_resume("S", "/ws")


@pytest.mark.parametrize("server", [{}, {"type": "stdio"}, {"type": "http", "name": "h"}])
def test_a_server_that_cannot_be_reached_is_refused(server: Any) -> None:
    with pytest.raises(ValueError, match="MCP server"):
        v2.mcp_server(server)


def test_a_prompt_fits_the_schema(reading: Reading) -> None:
    blocks = [v2.decode_block(block) for block in reading.samples(reading.of("ContentBlock"))]
    assert {type(block) for block in blocks} == {
        model.TextContent,
        model.ImageContent,
        model.AudioContent,
        model.ResourceLink,
        model.EmbeddedResource,
        model.UnknownBlock,
    }
    reading.validate("PromptRequest", v2.prompt("S", blocks))


@pytest.mark.parametrize("result", [None, {}, {"messageId": None}, {"messageId": 5}, []])
def test_a_prompt_that_became_no_message_is_a_fault(result: Any) -> None:
    with pytest.raises(DecodeError):
        v2.prompt_answer(result)
    assert v2.prompt_answer({"messageId": "m"}) == model.PromptAccepted("m")
