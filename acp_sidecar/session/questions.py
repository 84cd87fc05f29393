"""The questions of a session: asked by the agent, waiting for the user, closed."""

from __future__ import annotations

from acp_sidecar.acp.elicitation import Action, Elicitation
from acp_sidecar.acp.model import PermissionRequest
from acp_sidecar.session.change import Change, ElicitationChanged, PermissionChanged
from acp_sidecar.session.question import Elicited, Permission
from acp_sidecar.session.timeline import Timeline


class Questions:
    """What the agent of one session has asked. Ids of requests are ours."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._permissions: dict[str, Permission] = {}
        self._elicitations: dict[str, Elicited] = {}

    @property
    def waiting(self) -> bool:
        """Whether one waits for the user."""
        return bool(self._permissions or self._elicitations)

    def ask(
        self, request_id: str, request: PermissionRequest, headline: str, message: str, turn: int
    ) -> Change:
        """The agent wants permission; ``message`` is what the user is shown, ``headline`` that
        in a line."""
        key = f"permission:{request_id}"
        permission = Permission(request_id, request, headline, message, turn, key)
        self._permissions[request_id] = permission
        self._timeline.add("permission", request_id, permission)
        return PermissionChanged(permission)

    def close(self, request_id: str, state: str, option_id: str | None = None) -> list[Change]:
        """A permission request was ``answered`` or ``cancelled``. What is closed stays so."""
        permission = self._permissions.pop(request_id, None)
        if permission is None:
            return []
        permission.state = "answered" if state == "answered" else "cancelled"
        permission.option_id = option_id
        return [PermissionChanged(permission)]

    def elicit(self, request_id: str, asked: Elicitation, turn: int) -> Change:
        """The agent wants to know something."""
        elicited = Elicited(request_id, asked, turn, f"elicitation:{request_id}")
        self._elicitations[request_id] = elicited
        self._timeline.add("elicitation", request_id, elicited)
        return ElicitationChanged(elicited)

    def close_elicitation(self, request_id: str, action: Action) -> list[Change]:
        """An elicitation was accepted, declined or cancelled."""
        elicited = self._elicitations.pop(request_id, None)
        if elicited is None:
            return []
        elicited.state = "cancelled" if action == "cancel" else "answered"
        elicited.action = action
        return [ElicitationChanged(elicited)]

    def complete(self, request_id: str) -> list[Change]:
        """What the user was sent to a page for is done."""
        every = self._timeline.all(Elicited)
        found = [each for each in every if each.request_id == request_id]
        for elicited in found:
            elicited.completed = True
        return [ElicitationChanged(elicited) for elicited in found]

    def cancel(self) -> list[Change]:
        """Nothing waits any more."""
        changes: list[Change] = []
        for request_id in list(self._permissions):
            changes += self.close(request_id, "cancelled")
        for request_id in list(self._elicitations):
            changes += self.close_elicitation(request_id, "cancel")
        return changes
