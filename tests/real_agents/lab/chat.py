"""OpenAI's Chat Completions, as far as agents with a model of their own choice use it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from tests.real_agents.lab.model import Conversation, Reply, Role

_ROLES: Final[Mapping[str, Role]] = {"user": "user", "assistant": "model", "tool": "tool"}
_PIECE: Final = 24
"""Characters of a chunk."""


def conversation(body: Mapping[str, Any]) -> Conversation:
    """The request ``POST …/chat/completions``."""
    said = [
        (_ROLES[message["role"]], _text(message.get("content")))
        for message in body["messages"]
        if message["role"] in _ROLES
    ]
    tools = {
        tool["function"]["name"]: tool["function"].get("parameters", {})
        for tool in body.get("tools") or ()
    }
    return Conversation(said, tools)


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(part.get("text", "") for part in content)
    return content or ""


def stream(reply: Reply, number: int) -> Iterator[str]:
    """The ``data`` of the events that stream a reply; ``number`` makes its ids unique."""
    yield _chunk(number, {"role": "assistant", "content": ""})
    for piece in pieces(reply.think):
        yield _chunk(number, {"reasoning_content": piece})
    for piece in pieces(reply.say):
        yield _chunk(number, {"content": piece})
    for index, use in enumerate(reply.uses):
        function = {"name": use.name, "arguments": ""}
        call = {"index": index, "id": f"call_{number}_{index}", "type": "function"}
        yield _chunk(number, {"tool_calls": [{**call, "function": function}]})
        for piece in pieces(json.dumps(use.arguments)):
            part = {"index": index, "function": {"arguments": piece}}
            yield _chunk(number, {"tool_calls": [part]})
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    yield _chunk(number, {}, "tool_calls" if reply.uses else "stop", usage=usage)
    yield "[DONE]"


def pieces(text: str) -> list[str]:
    """A text as it trickles in."""
    return [text[start : start + _PIECE] for start in range(0, len(text), _PIECE)]


def _chunk(number: int, delta: dict[str, Any], end: str | None = None, **more: Any) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": end}
    return json.dumps(
        {
            "id": f"chatcmpl-{number}",
            "object": "chat.completion.chunk",
            "created": 1_700_000_000,
            "model": "scripted",
            "choices": [choice],
            **more,
        }
    )
