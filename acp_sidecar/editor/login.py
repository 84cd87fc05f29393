"""Where a user logs in: a terminal of the editor's, or a form for what an agent needs to know.

Only in editors that declare ``openTerminal`` or ``elicitation``: plain LSP has neither.
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from acp_sidecar.client.ports import visible
from acp_sidecar.editor.server import ClientError, ClientGone

if TYPE_CHECKING:
    from acp_sidecar.client.ports import LoginCommand, Variable
    from acp_sidecar.editor.capabilities import ClientFeatures
    from acp_sidecar.editor.server import SidecarServer

logger = logging.getLogger(__name__)


class LoginPlaces:
    """The places of one editor."""

    def __init__(self, server: SidecarServer, features: ClientFeatures) -> None:
        self._server = server
        self._features = features
        self._numbers = itertools.count(1)

    async def run_in_terminal(self, command: LoginCommand) -> int | None:
        """``acp/openTerminal``: the program's exit code, None where it is not to be had."""
        if not self._features.open_terminal:
            return None
        params = {
            "title": command.title,
            "command": command.command,
            "args": list(command.args),
            "env": dict(command.env),
            "cwd": command.cwd,
        }
        answer = await self._request("acp/openTerminal", params)
        code = answer.get("exitCode") if isinstance(answer, Mapping) else None
        return code if type(code) is int else None

    async def ask_for_variables(
        self, agent: str, message: str, wanted: Sequence[Variable]
    ) -> Mapping[str, str] | None:
        """A form by ``acp/elicitation``, marked as a login so that its answer is not recorded."""
        if not self._features.elicitation or not wanted:
            return None
        properties = {
            each.name: {
                "type": "string",
                "title": each.label or each.name,
                **({"description": each.name} if each.label else {}),
                **({} if each.optional else {"minLength": 1}),
                "_meta": {"secret": each.secret},
            }
            for each in wanted
        }
        params: dict[str, Any] = {
            "requestId": f"login-form-{next(self._numbers)}",
            "sessionId": None,
            "agent": agent,
            "toolCallId": None,
            "kind": "login",
            "mode": "form",
            "headline": f"{visible(agent)} wants a login",
            "short": f"{visible(agent)} wants a login",
            "facts": [],
            "message": message,
            "requestedSchema": {
                "type": "object",
                "properties": properties,
                "required": [each.name for each in wanted if not each.optional],
            },
            "fields": list(properties),
            "url": None,
            "host": None,
            "content": None,
            "problems": [],
        }
        answer = await self._request("acp/elicitation", params)
        if not isinstance(answer, Mapping) or answer.get("action") != "accept":
            return None
        content = answer.get("content")
        given: Mapping[str, Any] = content if isinstance(content, Mapping) else {}
        names = {each.name for each in wanted}
        return {
            name: value
            for name, value in given.items()
            if name in names and isinstance(value, str) and "\0" not in value
        }

    async def _request(self, method: str, params: Mapping[str, Any]) -> Any:
        try:
            return await self._server.request(method, params)
        except ClientGone:
            return None
        except ClientError as error:
            logger.info("the editor answered %s with an error: %s", method, error)
            return None
