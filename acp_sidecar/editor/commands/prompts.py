"""``acp.session.prompt`` and what goes with it: the queue, the cancel, what a prompt names."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from acp_sidecar.client.ports import Attachment, Turn
from acp_sidecar.editor.arguments import (
    Argument,
    absolute_path,
    flag,
    lines,
    number,
    objects,
    required_text,
    session_id,
    text,
)
from acp_sidecar.editor.calls import INVALID_PARAMS, CommandError
from acp_sidecar.editor.commands.operations import Handler, Json, Operations, with_progress
from acp_sidecar.workspace.positions import to_index, units
from acp_sidecar.workspace.uris import uri_to_path


async def _prompt(on: Operations, argument: Argument) -> Json:
    session = on.session(argument)
    ours = session.state.session_id
    wait = flag(argument, "wait", default=True)
    words, content = text(argument, "text"), objects(argument, "content")
    attachments = [_attachment(item) for item in objects(argument, "context")]

    def send(say: Callable[[str], None]) -> Awaitable[Turn]:
        return on.client.prompt(ours, words, content, attachments, say)

    if session.ended:
        turn = await with_progress(on, f"Starting {session.agent_name} again", send)
    else:
        turn = await send(lambda text: None)
    if not wait:
        return {"turnId": turn.turn_id}
    try:
        return await _end_of(turn)
    except asyncio.CancelledError:
        # The editor cancelled the command: so the turn is, and ends when the agent says so.
        on.client.cancel(ours, turn)
        return await _end_of(turn)


async def _end_of(turn: Turn) -> Json:
    return {"stopReason": await asyncio.shield(turn.ended)}


def _attachment(item: Argument) -> Attachment:
    return required_text(item, "uri"), lines(item, "range")


async def _queue(on: Operations, argument: Argument) -> Json:
    session = on.session(argument)
    edit, drop = argument.get("edit"), text(argument, "drop")
    if edit is not None:
        if not isinstance(edit, Mapping):
            raise CommandError("'edit' must be {turnId, text}.", INVALID_PARAMS)
        turn_id, new_text = required_text(edit, "turnId"), required_text(edit, "text")
        await on.client.edit_waiting(session.state.session_id, turn_id, new_text)
    if drop is not None:
        on.client.drop_waiting(session.state.session_id, drop)
    return session.queue()


async def _cancel(on: Operations, argument: Argument) -> Json:
    on.client.cancel(session_id(argument))
    return {}


async def _complete(on: Operations, argument: Argument) -> Json:
    named = session_id(argument)
    is_first = named is None and ("cwd" in argument or not on.client.sessions())
    written = required_text(argument, "text")
    cursor = number(argument, "cursor")
    at = len(written) if cursor is None else to_index(written, cursor, on.encoding())
    found = await (
        on.client.complete_in(absolute_path(on.cwd(argument)), written, at)
        if is_first
        else on.client.complete(named, written, at)
    )
    return {
        "items": [
            {
                "label": each.label,
                "text": each.text,
                "detail": each.detail,
                "kind": each.kind,
                "start": units(written[: each.start], on.encoding()),
                "end": units(written[: each.end], on.encoding()),
            }
            for each in found
        ]
    }


async def _mention(on: Operations, argument: Argument) -> Json:
    uri = required_text(argument, "uri")
    path = uri_to_path(uri)
    if path is None:
        raise CommandError(
            f"{uri!r} is no file on a disk: a prompt cannot name it.", INVALID_PARAMS
        )
    named = session_id(argument)
    cwd = text(argument, "cwd") or on.default_cwd()
    if named is not None:
        cwd = on.client.session(named).state.cwd
    return {"text": on.client.mention(path, cwd, lines(argument, "range"))}


COMMANDS: Final[Mapping[str, Handler]] = {
    "acp.session.prompt": _prompt,
    "acp.session.queue": _queue,
    "acp.session.cancel": _cancel,
    "acp.prompt.complete": _complete,
    "acp.prompt.mention": _mention,
}
