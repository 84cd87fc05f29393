"""What the demo agent says in version 2, against the protocol's own ``schema.json``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema

from tests.demo.driver import AGENT, Driver, agent


async def _open(demo: Driver, cwd: Path) -> str:
    client = {"name": "test", "version": "1"}
    able = {"elicitation": {"form": {}}}
    await demo.call("initialize", {"protocolVersion": 2, "info": client, "capabilities": able})
    opened = await demo.call("session/new", {"cwd": str(cwd)})
    return str(opened["sessionId"])


async def _idle(demo: Driver) -> None:
    while True:
        message = await demo.next()
        if message.get("method") == "session/request_permission":
            options = message["params"]["options"]
            demo.select(message, options[0]["optionId"])
        elif message.get("method") == "elicitation/create":
            demo.send({"id": message["id"], "result": {"action": "decline"}})
        elif message.get("params", {}).get("update", {}).get("state") == "idle":
            return


async def test_every_message_fits_the_schema(tmp_path: Path, v2_schema: dict[str, Any]) -> None:
    (tmp_path / "greeting.py").write_text('print("Hello")\n')
    async with agent(*AGENT, "--protocol", "2") as demo:
        session_id = await _open(demo, tmp_path)
        for text in (
            "Show me",
            "/edit",
            "/edits",
            "/show",
            "/form",
            "/run echo x",
            "/fail",
            "/refuse",
        ):
            demo.prompt(session_id, text)
            await _idle(demo)
        resume = {"sessionId": session_id, "cwd": str(tmp_path), "replayFrom": {"type": "start"}}
        await demo.call("session/resume", resume)
        listed = await demo.call("session/list", {})
    definitions = {
        "session/update": "UpdateSessionNotification",
        "session/request_permission": "RequestPermissionRequest",
        "elicitation/create": "CreateElicitationRequest",
    }
    checked = set()
    for message in demo.seen:
        name = definitions.get(message.get("method", ""))
        if name is not None:
            _fits(v2_schema, name, message["params"])
            checked.add(message["params"].get("update", {}).get("sessionUpdate", name))
    _fits(v2_schema, "ListSessionsResponse", listed)
    assert {
        "user_message",
        "user_message_chunk",
        "agent_message_chunk",
        "tool_call_update",
        "plan_update",
        "state_update",
        "available_commands_update",
        "RequestPermissionRequest",
        "CreateElicitationRequest",
    } <= checked


def _fits(schema: dict[str, Any], definition: str, value: Any) -> None:
    whole = {"$ref": f"#/$defs/{definition}", "$defs": schema["$defs"]}
    jsonschema.Draft202012Validator(whole).validate(value)
