"""``acp.session.*``: sessions opened, listed, set and closed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from acp_sidecar.client.ports import Restoring, SessionView, whole_state
from acp_sidecar.editor.arguments import (
    Argument,
    absolute_path,
    objects,
    required_text,
    text,
    texts,
)
from acp_sidecar.editor.calls import INVALID_PARAMS, CommandError
from acp_sidecar.editor.commands.operations import Handler, Json, Operations, with_progress
from acp_sidecar.session.snapshot import offered


async def _new(on: Operations, argument: Argument) -> Json:
    cwd = on.cwd(argument)
    name = text(argument, "agent")
    directories = [absolute_path(path) for path in texts(argument, "additionalDirectories")]
    servers = objects(argument, "mcpServers")
    session = await with_progress(
        on,
        f"Starting {name or 'the agent'}",
        lambda say: on.client.new(name, cwd, directories, servers, say),
    )
    return _opened(session)


def _restore(how: Restoring) -> Handler:
    async def run(on: Operations, argument: Argument) -> Json:
        name, agent_session_id = text(argument, "agent"), required_text(argument, "agentSessionId")
        directories = [absolute_path(path) for path in texts(argument, "additionalDirectories")]
        known = on.client.cwd_of(name, agent_session_id)
        cwd = known if known and text(argument, "cwd") is None else on.cwd(argument)
        servers = objects(argument, "mcpServers")
        session = await with_progress(
            on,
            "Opening the session",
            lambda say: on.client.restore(
                how, name, agent_session_id, cwd, directories, servers, say
            ),
        )
        left = session.left
        unsent = [prompt.to_json() for prompt in left.unsent]
        new = {} if session.instead_of is None else {"new": True}
        return {**_opened(session), "interrupted": left.interrupted, "unsent": unsent, **new}

    return run


def _opened(session: SessionView) -> Json:
    state = session.state
    return {
        "sessionId": state.session_id,
        "agentSessionId": state.agent_session_id,
        "agent": state.agent,
        "protocolVersion": state.protocol_version,
        **offered(state),
    }


async def _opened_here(on: Operations, argument: Argument) -> Json:
    return [
        {
            "sessionId": state.session_id,
            "agentSessionId": state.agent_session_id,
            "agent": state.agent,
            "cwd": state.cwd,
            "title": state.title,
            "status": state.status,
            "protocolVersion": state.protocol_version,
        }
        for state in (session.state for session in on.client.sessions())
    ]


async def _list(on: Operations, argument: Argument) -> Json:
    listed = await on.client.list(
        text(argument, "agent"), on.cwd(argument), text(argument, "cursor")
    )
    rows = [
        {
            "agentSessionId": info.agent_session_id,
            "cwd": info.cwd,
            "title": info.title,
            "updatedAt": info.updated_at,
            "deletable": info.agent_session_id in listed.deletable,
        }
        for info in listed.page.sessions
    ]
    return {"sessions": rows, "nextCursor": listed.page.next_cursor}


async def _delete(on: Operations, argument: Argument) -> Json:
    await on.client.delete(
        text(argument, "agent"), required_text(argument, "agentSessionId"), on.cwd(argument)
    )
    return {}


async def _close(on: Operations, argument: Argument) -> Json:
    session = on.session(argument)
    on.follow.forget(session)
    await on.client.close(session.state.session_id)
    on.review.forget(session)
    return {}


async def _state(on: Operations, argument: Argument) -> Json:
    session = on.session(argument)
    on.follow.refresh(session)
    session.state.changes = on.review.changes(session)
    session.state.queue = session.queue()
    return whole_state(session.state)


async def _set_mode(on: Operations, argument: Argument) -> Json:
    session = on.session(argument)
    await on.client.set_mode(session.state.session_id, required_text(argument, "modeId"))
    return {"modes": offered(session.state)["modes"]}


async def _set_config_option(on: Operations, argument: Argument) -> Json:
    session = on.session(argument)
    value = argument.get("value")
    if not isinstance(value, str | bool):
        raise CommandError("'value' must be a text, or true or false.", INVALID_PARAMS)
    config_id = required_text(argument, "configId")
    await on.client.set_config_option(session.state.session_id, config_id, value)
    return {"configOptions": offered(session.state)["configOptions"]}


COMMANDS: Final[Mapping[str, Handler]] = {
    "acp.session.new": _new,
    "acp.session.list": _list,
    "acp.session.opened": _opened_here,
    "acp.session.load": _restore("load"),
    "acp.session.resume": _restore("resume"),
    "acp.session.fork": _restore("fork"),
    "acp.session.delete": _delete,
    "acp.session.close": _close,
    "acp.session.setMode": _set_mode,
    "acp.session.setConfigOption": _set_config_option,
    "acp.session.state": _state,
}
