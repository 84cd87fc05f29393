"""Gemini's ``generateContent`` and ``streamGenerateContent``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from tests.real_agents.lab.chat import pieces
from tests.real_agents.lab.model import Conversation, Reply, Role

_USAGE: Final = {"promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120}


def conversation(body: Mapping[str, Any]) -> Conversation:
    """The request; without tools where an answer of a given form is wanted."""
    said: list[tuple[Role, str]] = []
    for content in body["contents"]:
        parts = content.get("parts", [])
        text = "\n".join(part["text"] for part in parts if "text" in part)
        results = [part["functionResponse"] for part in parts if "functionResponse" in part]
        if content.get("role") == "model":
            said.append(("model", text))
            continue
        said += [("tool", json.dumps(result.get("response"))) for result in results]
        if text:
            said.append(("user", text))
    tools = {
        function["name"]: function.get("parametersJsonSchema") or function.get("parameters") or {}
        for tool in body.get("tools") or ()
        for function in tool.get("functionDeclarations") or ()
    }
    return Conversation(said, {} if wanted_form(body) else tools)


def wanted_form(body: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The JSON schema of the answer where the agent wants one, not words."""
    config = body.get("generationConfig") or {}
    return config.get("responseJsonSchema") or config.get("responseSchema")


def sample(schema: Mapping[str, Any]) -> Any:
    """The plainest value that has the form of a schema."""
    if "enum" in schema:
        return schema["enum"][0]
    match str(schema.get("type", "object")).lower():
        case "object":
            return {name: sample(each) for name, each in schema.get("properties", {}).items()}
        case "array":
            return []
        case "boolean":
            return False
        case "number" | "integer":
            return 0
    return "scripted"


def stream(reply: Reply, number: int) -> Iterator[str]:
    """The ``data`` of the events that stream a reply."""
    if reply.think:
        yield _chunk(number, {"text": f"**Thinking** {reply.think}", "thought": True})
    for piece in pieces(reply.say):
        yield _chunk(number, {"text": piece})
    for use in reply.uses:
        call = {"name": use.name, "args": use.arguments}
        yield _chunk(number, {"functionCall": call})
    yield _chunk(number, {"text": ""}, "STOP")


def whole(text: str, number: int) -> str:
    """A reply in one piece."""
    return _chunk(number, {"text": text}, "STOP")


def _chunk(number: int, part: dict[str, Any], end: str | None = None) -> str:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": [part]}, "index": 0}
    if end is not None:
        candidate["finishReason"] = end
    return json.dumps(
        {
            "candidates": [candidate],
            "usageMetadata": _USAGE,
            "modelVersion": "scripted",
            "responseId": f"response-{number}",
        }
    )
