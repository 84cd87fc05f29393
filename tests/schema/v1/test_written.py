"""What we write fits the schema."""

from __future__ import annotations

from acp_sidecar.acp import model, v1
from tests.schema.reading import Reading


def test_a_prompt_fits_the_schema(reading: Reading) -> None:
    blocks = [v1.decode_block(block) for block in reading.samples(reading.of("ContentBlock"))]
    assert {type(block) for block in blocks} == {
        model.TextContent,
        model.ImageContent,
        model.AudioContent,
        model.ResourceLink,
        model.EmbeddedResource,
    }
    reading.validate("PromptRequest", v1.prompt("S", blocks))
    reading.validate("PromptRequest", v1.prompt("S", [model.TextContent("plain")]))
    assert v1.prompt("S", [model.TextContent("plain")])["prompt"] == [
        {"type": "text", "text": "plain"}
    ]
