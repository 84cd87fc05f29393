"""A prompt from its beginning to its end, and what the session says meanwhile."""

from __future__ import annotations

from typing import Any

from tests.e2e.editor import Editor
from tests.e2e.puppet import Puppet


def texts(state: dict[str, Any], role: str) -> list[str]:
    return [
        "".join(block.get("text", "") for block in message["content"])
        for message in state["messages"]
        if message["role"] == role
    ]


async def begun(editor: Editor, puppet: Puppet, text: str = "go") -> tuple[Any, dict[str, Any]]:
    """A prompt that the agent has taken and works on."""
    _, turn = editor.start("acp.session.prompt", text=text)
    prompt = await puppet.prompted()
    puppet.answer(prompt, {"messageId": "u1"})
    puppet.update("state_update", state="running")
    return turn, prompt


async def ended(puppet: Puppet, turn: Any, reason: str = "end_turn") -> Any:
    puppet.update("state_update", state="idle", stopReason=reason)
    return await turn


async def has_call(editor: Editor) -> bool:
    return bool((await editor.state())["toolCalls"])


async def call_is(editor: Editor, status: str) -> bool:
    (call,) = (await editor.state())["toolCalls"]
    return bool(call["status"] == status)
