"""What an agent has said that it takes, held against what is to be sent to it.

ACP, "Initialization": what an agent does not offer must not be sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from acp_sidecar.acp.model import (
    AgentInfo,
    AudioContent,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
)

_BLOCKS: Final[Mapping[type, tuple[str, str]]] = {
    ImageContent: ("prompt_image", "promptCapabilities.image"),
    AudioContent: ("prompt_audio", "promptCapabilities.audio"),
    EmbeddedResource: ("prompt_embedded_context", "promptCapabilities.embeddedContext"),
}
_TRANSPORTS: Final[Mapping[str, tuple[str, str]]] = {
    "http": ("mcp_http", "mcpCapabilities.http"),
    "sse": ("mcp_sse", "mcpCapabilities.sse"),
}


def lacking_for_prompt(info: AgentInfo, blocks: Iterable[ContentBlock]) -> str | None:
    """The first capability that these blocks need and the agent lacks; text and links to
    resources need none."""
    needed = (_BLOCKS.get(type(block)) for block in blocks)
    return _first_lacking(info, needed)


def lacking_for_servers(info: AgentInfo, servers: Iterable[Mapping[str, Any]]) -> str | None:
    """The first capability that these MCP servers (as they are sent) need and the agent
    lacks; those that are a command need none."""
    needed = (_TRANSPORTS.get(server.get("type", "")) for server in servers)
    return _first_lacking(info, needed)


def _first_lacking(info: AgentInfo, needed: Iterable[tuple[str, str] | None]) -> str | None:
    wanted = (each for each in needed if each is not None)
    return next((name for flag, name in wanted if not getattr(info, flag)), None)
