"""What an agent has asked the user, as the state keeps it: permissions and elicitations."""

from __future__ import annotations

from typing import Any, Final, Literal, TypeAlias

from attrs import define

from acp_sidecar.acp.elicitation import Action, Elicitation
from acp_sidecar.acp.encoding import encode
from acp_sidecar.acp.model import PermissionRequest

_REJECTING: Final = ("reject_once", "reject_always")

PermissionState: TypeAlias = Literal["waiting", "answered", "cancelled"]


@define(eq=False)
class Permission:
    """One request. Only an answer, a cancel or the end closes it; its tool call's status
    does not.
    """

    request_id: str
    """Ours, unique over all agents and turns: agents start theirs at 0 again."""
    request: PermissionRequest
    headline: str
    """Who wants what, in one line."""
    message: str
    """What the user is shown: all that is known of it, as lines."""
    turn: int
    key: str
    state: PermissionState = "waiting"
    option_id: str | None = None

    @property
    def tool_call_id(self) -> str | None:
        tool_call, subject = self.request.tool_call, self.request.subject
        if tool_call is not None and tool_call.tool_call_id:
            return tool_call.tool_call_id
        return subject.tool_call_id if subject is not None else None

    @property
    def rejected(self) -> bool | None:
        """Whether what became of it is a no, as it is without an answer; None while it waits."""
        if self.state == "waiting":
            return None
        chosen = [each for each in self.request.options if each.option_id == self.option_id]
        return not chosen or chosen[0].kind in _REJECTING

    def to_json(self) -> dict[str, Any]:
        """The request as ``acp.session.state`` gives it."""
        return {
            "requestId": self.request_id,
            "toolCallId": self.tool_call_id,
            "headline": self.headline,
            "message": self.message,
            "options": encode(self.request.options),
            "state": self.state,
            "optionId": self.option_id,
            "rejected": self.rejected,
            "title": self.request.title,
            "description": self.request.description,
            "subject": encode(self.request.subject),
            "turn": self.turn,
        }


@define(eq=False)
class Elicited:
    """Something an agent wants to know. What the user filled in is not kept."""

    request_id: str
    """Ours, unique over all agents."""
    elicitation: Elicitation
    turn: int
    key: str
    state: PermissionState = "waiting"
    action: Action | None = None
    completed: bool = False
    """Whether the agent has said that what a page was opened for is done."""

    def to_json(self) -> dict[str, Any]:
        """The question as ``acp.session.state`` gives it."""
        asked = self.elicitation
        return {
            "requestId": self.request_id,
            "toolCallId": asked.tool_call_id,
            "mode": asked.mode,
            "message": asked.message,
            "requestedSchema": asked.form.schema if asked.form else None,
            "url": asked.url,
            "elicitationId": asked.elicitation_id,
            "state": self.state,
            "action": self.action,
            "completed": self.completed,
            "turn": self.turn,
        }
