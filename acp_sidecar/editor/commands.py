"""The commands of ``workspace/executeCommand``, by name, each with one object as argument.

What they can do is handed in by ``app.py`` as :class:`Operations`. Their failures become
JSON-RPC errors whose message says what to do.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from attrs import frozen

from acp_sidecar.client.ports import Attachment, Client, Refused, Restoring, SessionView, Turn
from acp_sidecar.editor.arguments import (
    Argument,
    flag,
    objects,
    required_text,
    text,
    text_map,
    texts,
)
from acp_sidecar.editor.calls import INVALID_PARAMS, CommandError
from acp_sidecar.editor.dialogs import payload
from acp_sidecar.editor.elicitation import payload as elicitation
from acp_sidecar.editor.terminals import told
from acp_sidecar.session.snapshot import offered, snapshot
from acp_sidecar.workspace.files import FileProblem
from acp_sidecar.workspace.positions import Encoding, to_index, units
from acp_sidecar.workspace.uris import uri_to_path

if TYPE_CHECKING:
    from acp_sidecar.editor.dialogs import Dialogs
    from acp_sidecar.editor.elicitation import Forms
    from acp_sidecar.editor.follow import Follow
    from acp_sidecar.editor.lenses import Lenses
    from acp_sidecar.editor.progress import Progress
    from acp_sidecar.editor.review import Edited, Review, Step
    from acp_sidecar.editor.server import SidecarServer

Json: TypeAlias = Any
Handler: TypeAlias = Callable[["Operations", Argument], Awaitable[Json]]
T = TypeVar("T")


@frozen
class Operations:
    """What the commands work with."""

    client: Client
    follow: Follow
    review: Review
    lenses: Lenses
    progress: Progress
    dialogs: Dialogs
    forms: Forms
    encoding: Callable[[], Encoding]
    default_cwd: Callable[[], str | None]
    agents: Callable[[], Awaitable[Json]]
    """The agents a user can choose from."""

    def session(self, argument: Argument) -> SessionView:
        """The session an argument names, or the only one open."""
        return self.client.session(_session_id(argument))

    def cwd(self, argument: Argument) -> str:
        """The folder an argument names, else the first workspace folder."""
        cwd = text(argument, "cwd") or self.default_cwd()
        if cwd is None:
            raise CommandError(
                "No folder is open in the editor: name one as 'cwd' (an absolute path).",
                INVALID_PARAMS,
            )
        return cwd


def register(server: SidecarServer, operations: Callable[[], Operations]) -> None:
    """Offer every command on ``server``."""
    for name, handler in COMMANDS.items():
        server.command(name, _guarded(handler, operations))


def _guarded(
    handler: Handler, operations: Callable[[], Operations]
) -> Callable[[dict[str, Any]], Awaitable[Json]]:
    async def run(argument: dict[str, Any]) -> Json:
        try:
            return await handler(operations(), argument)
        except (Refused, FileProblem) as error:
            raise CommandError(str(error)) from error

    return run


def _session_id(argument: Argument) -> str | None:
    return text(argument, "sessionId")


# --- sessions ---------------------------------------------------------------------------


async def _new(on: Operations, argument: Argument) -> Json:
    cwd = on.cwd(argument)
    name = text(argument, "agent")
    directories = [_absolute(path) for path in texts(argument, "additionalDirectories")]
    servers = objects(argument, "mcpServers")
    session = await _with_progress(
        on,
        f"Starting {name or 'the agent'}",
        lambda say: on.client.new(name, cwd, directories, servers, say),
    )
    return _opened(session)


def _restore(how: Restoring) -> Handler:
    async def run(on: Operations, argument: Argument) -> Json:
        name, agent_session_id = text(argument, "agent"), required_text(argument, "agentSessionId")
        directories = [_absolute(path) for path in texts(argument, "additionalDirectories")]
        known = on.client.cwd_of(name, agent_session_id)
        cwd = known if known and text(argument, "cwd") is None else on.cwd(argument)
        servers = objects(argument, "mcpServers")
        session = await _with_progress(
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


async def _with_progress(
    on: Operations, title: str, work: Callable[[Callable[[str], None]], Awaitable[T]]
) -> T:
    """Do what may take long, with a button that cancels it."""
    task = asyncio.current_task()

    def cancel() -> None:
        if task is not None:
            task.cancel()

    report = on.progress.begin(title, cancel)
    try:
        return await work(report.report)
    finally:
        report.end()


def _absolute(path: str) -> str:
    if not Path(path).is_absolute():
        raise CommandError(f"{path!r} must be an absolute path.", INVALID_PARAMS)
    return path


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
            "title": state.beside.title,
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


async def _cancel(on: Operations, argument: Argument) -> Json:
    on.client.cancel(_session_id(argument))
    return {}


async def _state(on: Operations, argument: Argument) -> Json:
    session = on.session(argument)
    on.follow.refresh(session)
    session.state.changes = on.review.changes(session)
    session.state.queue = session.queue()
    return snapshot(session.state)


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


# --- prompts ----------------------------------------------------------------------------


async def _prompt(on: Operations, argument: Argument) -> Json:
    session = on.session(argument)
    session_id = session.state.session_id
    wait = flag(argument, "wait", default=True)
    words, content = text(argument, "text"), objects(argument, "content")
    attachments = [_attachment(item) for item in objects(argument, "context")]

    def send(say: Callable[[str], None]) -> Awaitable[Turn]:
        return on.client.prompt(session_id, words, content, attachments, say)

    if session.ended:
        turn = await _with_progress(on, f"Starting {session.agent_name} again", send)
    else:
        turn = await send(lambda text: None)
    if not wait:
        return {"turnId": turn.turn_id}
    try:
        return await _end_of(turn)
    except asyncio.CancelledError:
        # The editor cancelled the command: so the turn is, and ends when the agent says so.
        on.client.cancel(session_id, turn)
        return await _end_of(turn)


async def _end_of(turn: Turn) -> Json:
    return {"stopReason": await asyncio.shield(turn.ended)}


def _attachment(item: Argument) -> Attachment:
    return required_text(item, "uri"), _lines_of(item.get("range"))


def _lines_of(span: Json) -> tuple[int, int] | None:
    if span is None:
        return None
    try:
        start, end = span["start"]["line"], span["end"]["line"]
        if span["end"]["character"] == 0 and end > start:
            end -= 1
    except (KeyError, TypeError) as error:
        raise CommandError("'range' must be an LSP range.", INVALID_PARAMS) from error
    if not (isinstance(start, int) and isinstance(end, int) and 0 <= start <= end):
        raise CommandError("'range' must be an LSP range.", INVALID_PARAMS)
    return start, end


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


async def _complete(on: Operations, argument: Argument) -> Json:
    session_id = _session_id(argument)
    is_first = session_id is None and ("cwd" in argument or not on.client.sessions())
    written = required_text(argument, "text")
    cursor = argument.get("cursor")
    if cursor is not None and (isinstance(cursor, bool) or not isinstance(cursor, int)):
        raise CommandError("'cursor' must be a whole number.", INVALID_PARAMS)
    at = len(written) if cursor is None else to_index(written, cursor, on.encoding())
    found = await (
        on.client.complete_in(_absolute(on.cwd(argument)), written, at)
        if is_first
        else on.client.complete(session_id, written, at)
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
    session_id = _session_id(argument)
    cwd = text(argument, "cwd") or on.default_cwd()
    if session_id is not None:
        cwd = on.client.session(session_id).state.cwd
    return {"text": on.client.mention(path, cwd, _lines_of(argument.get("range")))}


# --- following, review, permissions, agents -------------------------------------------------


async def _follow(on: Operations, argument: Argument) -> Json:
    enabled = argument.get("enabled")
    if not isinstance(enabled, bool):
        raise CommandError("'enabled' must be true or false.", INVALID_PARAMS)
    on.follow.set_enabled(enabled)
    return {"enabled": enabled}


async def _review_list(on: Operations, argument: Argument) -> Json:
    session = on.session(argument)
    await on.review.refresh(session)
    return on.review.changes(session)


def _review_step(step: Step) -> Handler:
    async def run(on: Operations, argument: Argument) -> Json:
        session = on.session(argument)
        uri, hunk_id = text(argument, "uri"), text(argument, "hunkId")
        return await on.review.step(session, step, uri, hunk_id, _edited(argument))

    return run


def _edited(argument: Argument) -> Edited | None:
    match text(argument, "edited"):
        case None:
            return None
        case "keep":
            return "keep"
        case "delete":
            return "delete"
    raise CommandError("'edited' must be 'keep' or 'delete'; leave it out to ask.", INVALID_PARAMS)


async def _review_undo(on: Operations, argument: Argument) -> Json:
    return await on.review.undo(on.session(argument))


async def _review_next(on: Operations, argument: Argument) -> Json:
    session_id = _session_id(argument)
    chosen = (on.client.session(session_id),) if session_id else on.client.sessions()
    line = argument.get("line")
    if line is not None and (isinstance(line, bool) or not isinstance(line, int)):
        raise CommandError("'line' must be a whole number.", INVALID_PARAMS)
    direction = text(argument, "direction") or "next"
    if direction not in ("next", "previous"):
        raise CommandError("'direction' must be 'next' or 'previous'.", INVALID_PARAMS)
    return await on.lenses.next(
        chosen,
        text(argument, "uri"),
        text(argument, "hunkId"),
        line,
        back=direction == "previous",
        show=flag(argument, "open", default=True),
    )


async def _review_diff(on: Operations, argument: Argument) -> Json:
    session_id = _session_id(argument)
    chosen = (on.client.session(session_id),) if session_id else on.client.sessions()
    proposed = argument.get("proposed", True)
    if not isinstance(proposed, bool):
        raise CommandError("'proposed' must be true or false.", INVALID_PARAMS)
    return await on.review.diff(chosen, required_text(argument, "uri"), proposed=proposed)


async def _checkpoint_list(on: Operations, argument: Argument) -> Json:
    return on.review.checkpoints(on.session(argument))


async def _checkpoint_restore(on: Operations, argument: Argument) -> Json:
    session = on.session(argument)
    return await on.review.restore(
        session, required_text(argument, "checkpointId"), _edited(argument)
    )


async def _checkpoint_preview(on: Operations, argument: Argument) -> Json:
    session = on.session(argument)
    return await on.review.foresee(session, required_text(argument, "checkpointId"))


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


async def _agents(on: Operations, argument: Argument) -> Json:
    return await on.agents()


async def _login(on: Operations, argument: Argument) -> Json:
    agent = required_text(argument, "agent")
    method_id, cwd, env = text(argument, "methodId"), on.cwd(argument), text_map(argument, "env")
    await _with_progress(
        on, f"Logging in to {agent}", lambda say: on.client.login(agent, method_id, cwd, env)
    )
    return {}


async def _logout(on: Operations, argument: Argument) -> Json:
    await on.client.logout(required_text(argument, "agent"), on.cwd(argument))
    return {}


async def _restart(on: Operations, argument: Argument) -> Json:
    return {"ended": await on.client.restart(required_text(argument, "agent"))}


async def _terminal_output(on: Operations, argument: Argument) -> Json:
    terminal_id, session_id = required_text(argument, "terminalId"), _session_id(argument)
    chosen = (on.client.session(session_id),) if session_id else on.client.sessions()
    for session in chosen:
        terminal = session.state.terminal(terminal_id)
        if terminal is not None:
            return told(session.state.session_id, terminal)
    raise CommandError(f"There is no terminal {terminal_id!r}.", INVALID_PARAMS)


async def _terminal_kill(on: Operations, argument: Argument) -> Json:
    terminal_id = required_text(argument, "terminalId")
    await on.client.kill_terminal(_session_id(argument), terminal_id)
    return {}


async def _tool_call_cancel(on: Operations, argument: Argument) -> Json:
    tool_call_id = required_text(argument, "toolCallId")
    await on.client.cancel_tool_call(_session_id(argument), tool_call_id)
    return {}


COMMANDS: Final[Mapping[str, Handler]] = {
    "acp.session.new": _new,
    "acp.session.prompt": _prompt,
    "acp.session.queue": _queue,
    "acp.session.cancel": _cancel,
    "acp.prompt.complete": _complete,
    "acp.prompt.mention": _mention,
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
    "acp.follow.set": _follow,
    "acp.review.list": _review_list,
    "acp.review.keep": _review_step("keep"),
    "acp.review.revert": _review_step("revert"),
    "acp.review.undo": _review_undo,
    "acp.review.diff": _review_diff,
    "acp.review.next": _review_next,
    "acp.checkpoint.list": _checkpoint_list,
    "acp.checkpoint.restore": _checkpoint_restore,
    "acp.checkpoint.preview": _checkpoint_preview,
    "acp.permission.pending": _pending,
    "acp.permission.answer": _answer,
    "acp.elicitation.pending": _elicitations,
    "acp.elicitation.answer": _answer_elicitation,
    "acp.agent.list": _agents,
    "acp.agent.login": _login,
    "acp.agent.logout": _logout,
    "acp.agent.restart": _restart,
    "acp.terminal.output": _terminal_output,
    "acp.terminal.kill": _terminal_kill,
    "acp.toolCall.cancel": _tool_call_cancel,
}
