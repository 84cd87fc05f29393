"""``acp.permission.*``, ``acp.elicitation.*``: what waits for the user, and the answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from acp_sidecar.editor.arguments import Argument, required_text, text
from acp_sidecar.editor.calls import INVALID_PARAMS, CommandError
from acp_sidecar.editor.commands.operations import Handler, Json, Operations
from acp_sidecar.editor.dialogs import payload
from acp_sidecar.editor.elicitation import payload as elicitation


async def _pending(on: Operations, argument: Argument) -> Json:
    every = (*on.client.questions(), *on.dialogs.own_questions())
    return [payload(question) for question in every]


async def _answer(on: Operations, argument: Argument) -> Json:
    if "optionId" not in argument:
        raise CommandError("Give 'optionId', or null for cancelled.", INVALID_PARAMS)
    request_id, option_id = required_text(argument, "requestId"), text(argument, "optionId")
    if not on.dialogs.answer_own(request_id, option_id):
        on.client.answer(request_id, option_id)
    return {}


async def _elicitations(on: Operations, argument: Argument) -> Json:
    return [elicitation(asked) for asked in on.client.elicitations()]


async def _answer_elicitation(on: Operations, argument: Argument) -> Json:
    request_id, action = required_text(argument, "requestId"), required_text(argument, "action")
    content = argument.get("content")
    if content is not None and content != [] and not isinstance(content, Mapping):
        raise CommandError("'content' must be an object, a field a name.", INVALID_PARAMS)
    filled = {**on.forms.picked(request_id), **(content or {})} if action == "accept" else None
    on.client.answer_elicitation(request_id, action, filled)
    return {}


COMMANDS: Final[Mapping[str, Handler]] = {
    "acp.permission.pending": _pending,
    "acp.permission.answer": _answer,
    "acp.elicitation.pending": _elicitations,
    "acp.elicitation.answer": _answer_elicitation,
}
