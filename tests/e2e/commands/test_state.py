"""What is offered, and the state of a session as the documentation tells it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.e2e.lsp_client import Client, Refused

pytestmark = pytest.mark.filterwarnings("error::pytest_lsp.LspSpecificationWarning")

COMMANDS = {
    "acp.session.new",
    "acp.session.prompt",
    "acp.session.queue",
    "acp.session.cancel",
    "acp.prompt.complete",
    "acp.prompt.mention",
    "acp.session.list",
    "acp.session.opened",
    "acp.session.load",
    "acp.session.resume",
    "acp.session.fork",
    "acp.session.delete",
    "acp.session.close",
    "acp.session.setMode",
    "acp.session.setConfigOption",
    "acp.session.state",
    "acp.follow.set",
    "acp.review.list",
    "acp.review.keep",
    "acp.review.revert",
    "acp.review.undo",
    "acp.review.diff",
    "acp.review.next",
    "acp.checkpoint.list",
    "acp.checkpoint.restore",
    "acp.checkpoint.preview",
    "acp.permission.pending",
    "acp.permission.answer",
    "acp.elicitation.pending",
    "acp.elicitation.answer",
    "acp.agent.list",
    "acp.agent.login",
    "acp.agent.logout",
    "acp.agent.restart",
    "acp.terminal.output",
    "acp.terminal.kill",
    "acp.toolCall.cancel",
}


async def test_every_command_is_offered_and_nothing_else(bare: Client) -> None:
    result = await bare.begin()
    offered = result.capabilities.execute_command_provider
    assert offered is not None
    assert set(offered.commands) == COMMANDS
    with pytest.raises(Refused, match=r"unknown command 'acp\.session\.fly'") as refused:
        await bare.execute("acp.session.fly")
    assert refused.value.code == -32602


STATE: dict[str, Any] = {
    "sessionId": str,
    "agentSessionId": str,
    "agent": str,
    "protocolVersion": int,
    "cwd": str,
    "roots": [str],
    "title": str,
    "status": str,
    "stopReason": str,
    "order": [{"type": str, "id": str}],
    "messages": [{"messageId": str, "role": str, "content": [{"type": str}]}],
    "toolCalls": [
        {
            "toolCallId": str,
            "title": str,
            "name": None,
            "kind": str,
            "status": str,
            "content": [{"type": str}],
            "locations": ([{"path": str, "line": (int, None)}], []),
            "rawInput": (dict, None),
            "command": (str, None),
            "rawOutput": (dict, None),
            "_meta": None,
            "turn": int,
            "closedBy": None,
            "background": bool,
            "capabilities": None,
        }
    ],
    "plans": [{"planId": str, "entries": [{"content": str, "priority": str, "status": str}]}],
    "modes": {"currentModeId": str, "availableModes": [{"id": str, "name": str}]},
    "configOptions": [{"id": str, "name": str, "type": str, "currentValue": str}],
    "commands": [{"name": str, "description": str}],
    "usage": {"used": int, "size": int, "cost": {"amount": float, "currency": str}},
    "terminals": [],
    "permissions": [
        {
            "requestId": str,
            "toolCallId": str,
            "message": str,
            "options": [{"optionId": str, "name": str, "kind": str}],
            "state": str,
            "optionId": str,
        }
    ],
    "elicitations": [],
    "notices": [],
    "compactions": [],
    "changes": [
        {
            "uri": str,
            "status": str,
            "oldUri": None,
            "binary": bool,
            "hunks": [
                {
                    "id": str,
                    "before": {"start": int, "lines": int},
                    "after": {"start": int, "lines": int},
                    "state": str,
                }
            ],
        }
    ],
    "follow": {
        "enabled": bool,
        "paused": bool,
        "location": {"path": str, "line": int},
        "shown": bool,
        "reason": None,
    },
    "queue": [],
}
"""The shape of the state after a whole turn. A list's shape is that of each item."""


def misfits(value: Any, shape: Any, where: str = "state") -> list[str]:
    """Where a value does not have a shape."""
    if isinstance(shape, tuple):
        return [] if any(not misfits(value, one) for one in shape) else [f"{where}: {value!r}"]
    if isinstance(shape, dict):
        if not isinstance(value, dict):
            return [f"{where}: {value!r} is no object"]
        return [
            line
            for name, one in shape.items()
            for line in (
                misfits(value[name], one, f"{where}.{name}")
                if name in value
                else [f"{where} lacks {name}"]
            )
        ]
    if isinstance(shape, list):
        if not isinstance(value, list) or bool(value) != bool(shape):
            return [f"{where}: {value!r}"]
        return [
            line for number, item in enumerate(value) for line in misfits(item, shape[0], where)
        ]
    if shape is None:
        return [] if value is None else [f"{where}: {value!r} is not null"]
    return [] if type(value) is shape else [f"{where}: {value!r} is no {shape.__name__}"]


async def test_the_state_is_what_the_contract_says(
    client: Client, session: dict[str, Any], greeting: Path
) -> None:
    empty = await client.state()
    assert set(STATE) <= set(empty)
    assert (empty["messages"], empty["plans"], empty["usage"]) == ([], [], None)
    turn = client.start("acp.session.prompt", text="Show me")
    (await client.dialog()).click("Yes")
    await turn
    await client.eventually(lambda state: state["follow"]["shown"], "acp.session.state")
    state = await client.state()
    assert misfits(state, STATE) == []
    assert state["sessionId"] == session["sessionId"]
    assert [entry["type"] for entry in state["order"][:3]] == ["message", "plan", "message"]
    assert {entry["type"] for entry in state["order"]} == {
        "message",
        "plan",
        "toolCall",
        "permission",
    }
    assert [message["role"] for message in state["messages"][:3]] == ["user", "thought", "agent"]
    assert [call["kind"] for call in state["toolCalls"]] == [
        "read",
        "search",
        "edit",
        "edit",
        "execute",
    ]
    assert {call["status"] for call in state["toolCalls"]} == {"completed"}
    assert {entry["status"] for entry in state["plans"][0]["entries"]} == {"completed"}
    permission = state["permissions"][0]
    assert (permission["state"], permission["optionId"]) == ("answered", "go-once")
    assert permission["toolCallId"] == state["toolCalls"][2]["toolCallId"]
