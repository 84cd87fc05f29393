"""A session to try things on, fed with version 1's own JSON."""

from __future__ import annotations

from typing import Any

from acp_sidecar.acp import model, v1
from acp_sidecar.session.change import Change
from acp_sidecar.session.snapshot import snapshot
from acp_sidecar.session.state import Session


class World:
    """A session and the short words to speak to it."""

    def __init__(self, session_id: str = "s1") -> None:
        self.session = Session(session_id, "opencode", "/ws", ("/ws",), 1, f"agent-{session_id}")
        self.asked = 0

    def update(self, kind: str, /, *, replay: bool = False, **fields: Any) -> list[Change]:
        params = {"sessionId": "S", "update": {"sessionUpdate": kind, **fields}}
        return self.session.apply(v1.session_update(params)[1], replay=replay)

    def say(
        self, role: str, text: str, message_id: str | None = None, *, replay: bool = False
    ) -> list[Change]:
        kind = {
            "user": "user_message_chunk",
            "agent": "agent_message_chunk",
            "thought": "agent_thought_chunk",
        }[role]
        content = {"type": "text", "text": text}
        return self.update(kind, content=content, messageId=message_id, replay=replay)

    def call(self, tool_call_id: str, title: str = "Do it", **fields: Any) -> list[Change]:
        return self.update("tool_call", toolCallId=tool_call_id, title=title, **fields)

    def patch(self, tool_call_id: str, **fields: Any) -> list[Change]:
        return self.update("tool_call_update", toolCallId=tool_call_id, **fields)

    def prompt(self, *blocks: str | model.ContentBlock) -> list[Change]:
        content = [model.TextContent(b) if isinstance(b, str) else b for b in blocks or ("go",)]
        return self.session.begin_turn(content)[1]

    def end(self, stop_reason: str | None = "end_turn") -> list[Change]:
        return self.session.apply(model.TurnEnded(stop_reason))

    def ask(self, **params: Any) -> tuple[str, list[Change]]:
        """A permission request; returns our id of it."""
        self.asked += 1
        request_id = f"q{self.asked}"
        params.setdefault("options", [{"optionId": "y", "name": "Yes", "kind": "allow_once"}])
        request = v1.permission_request({"sessionId": "S", **params})
        return request_id, self.session.permission_asked(request_id, request, "May I?", "May I?")

    @property
    def json(self) -> dict[str, Any]:
        return snapshot(self.session)

    @property
    def texts(self) -> list[tuple[str, str]]:
        """Role and text of every message, in order."""
        return [(message.role, message.text) for message in self.session.messages]

    @property
    def order(self) -> list[tuple[str, str]]:
        return [(entry["type"], entry["id"]) for entry in self.json["order"]]
