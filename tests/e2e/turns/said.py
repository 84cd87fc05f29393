"""What was said in a session."""

from __future__ import annotations

from typing import Any


def texts(state: dict[str, Any], role: str) -> list[str]:
    return [
        "".join(block.get("text", "") for block in message["content"])
        for message in state["messages"]
        if message["role"] == role
    ]
