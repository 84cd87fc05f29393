"""ACP protocol version 2, a draft: its JSON ↔ :mod:`acp_sidecar.acp.model`.

The functions are those of :mod:`acp_sidecar.acp.v1` and fail in the same way: a required
field that is missing or invalid is a :class:`~acp_sidecar.acp.decoding.DecodeError`, every other
fault costs only the field or the array item it is in. What we send is made by
:mod:`acp_sidecar.acp.v2_requests`, whose names are here too. Where the prose of the draft and
its ``schema.json`` disagree, the schema wins.

The life cycle of version 2: the answer to ``session/prompt`` only says that the prompt was
taken, and as which message; ``state_update`` says when the agent works, waits for the user, or
is idle. Tool calls may go on while it is idle.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias, TypeVar

from attrs import evolve

from acp_sidecar.acp import model
from acp_sidecar.acp.decoding import DecodeError, displayable, free_form, named
from acp_sidecar.acp.encoding import encode as _encode
from acp_sidecar.acp.model import UNSET, ContentBlock, Event, Json
from acp_sidecar.acp.permission import permission_options
from acp_sidecar.acp.v2_dialect import (
    DIALECT,
    converter,
    from_base64,
    hook,
    to_base64,
    unknown_plan,
    written,
)
from acp_sidecar.acp.v2_requests import METHODS as METHODS
from acp_sidecar.acp.v2_requests import OFFERED as OFFERED
from acp_sidecar.acp.v2_requests import PROTOCOL_VERSION as PROTOCOL_VERSION
from acp_sidecar.acp.v2_requests import authenticate as authenticate
from acp_sidecar.acp.v2_requests import cancel as cancel
from acp_sidecar.acp.v2_requests import cancel_terminal as cancel_terminal
from acp_sidecar.acp.v2_requests import cancel_tool_call as cancel_tool_call
from acp_sidecar.acp.v2_requests import encode_block as encode_block
from acp_sidecar.acp.v2_requests import initialize as initialize
from acp_sidecar.acp.v2_requests import logout as logout
from acp_sidecar.acp.v2_requests import mcp_server as mcp_server
from acp_sidecar.acp.v2_requests import offered as offered
from acp_sidecar.acp.v2_requests import permission_outcome as permission_outcome
from acp_sidecar.acp.v2_requests import prompt as prompt
from acp_sidecar.acp.v2_requests import session_close as session_close
from acp_sidecar.acp.v2_requests import session_delete as session_delete
from acp_sidecar.acp.v2_requests import session_list as session_list
from acp_sidecar.acp.v2_requests import session_load as session_load
from acp_sidecar.acp.v2_requests import session_new as session_new
from acp_sidecar.acp.v2_requests import session_resume as session_resume
from acp_sidecar.acp.v2_requests import set_config_option as set_config_option
from acp_sidecar.acp.v2_requests import unanswered as unanswered

T = TypeVar("T")
JsonDict: TypeAlias = dict[str, Any]


def encode(value: Any) -> Any:
    """A value of the model as this version writes it."""
    return _encode(value, DIALECT)


# --- session/update ------------------------------------------------------------

_KIND: Final = ("sessionUpdate",)


def _chunk(role: str) -> Callable[[Any], Event]:
    constants = {"role": role, "patches_meta": False}
    return hook(model.MessageChunk, constants=constants, require=("message_id",), ignore=_KIND)


def _message(role: str) -> Callable[[Any], Event]:
    return hook(model.MessageUpsert, constants={"role": role}, ignore=_KIND)


_STATE: Final = (*_KIND, "state")
_running: Final = hook(model.TurnStarted, constants={"state": "running"}, ignore=_STATE)
_requires_action: Final = hook(model.ActionRequired, ignore=_STATE)
_idle: Final = hook(model.TurnEnded, constants={"idle": True, "error": None}, ignore=_STATE)
_idle_with_error: Final = hook(model.TurnEnded, constants={"idle": True}, ignore=_STATE)


def _state_update(update: JsonDict) -> Event:
    state = update.get("state")
    if not isinstance(state, str):
        raise DecodeError("state", f"expected a string, got {named(state)}")
    event: Event
    if state == "running":
        event = _running(update)
    elif state == "requires_action":
        event = _requires_action(update)
    elif state == "idle":
        reason = update.get("stopReason")
        read = _idle_with_error if reason == "error" else _idle
        event = read({**update, "stopReason": reason})
    else:
        rest = {key: value for key, value in update.items() if key not in _STATE}
        event = model.TurnStarted(displayable(state), unknown=free_form(rest))
    return event


_terminal: Final = hook(model.TerminalUpdate, ignore=_KIND)


def _terminal_update(update: JsonDict) -> Event:
    event: model.TerminalUpdate = _terminal(update)
    told: Any = event.output
    if not isinstance(told, dict):
        return event
    try:
        data = from_base64(told["data"])
    except DecodeError:
        return evolve(event, output=UNSET)
    beside = {key: value for key, value in told.items() if key != "data"}
    return evolve(event, output=data, output_envelope=beside)


_plan_items: Final = hook(model.PlanUpdate, require=("plan_id",), ignore=("type",))


def _plan_update(update: JsonDict) -> Event:
    plan = update.get("plan")
    if not isinstance(plan, dict):
        raise DecodeError("plan", f"expected an object, got {named(plan)}")
    kind = plan.get("type")
    if not isinstance(kind, str):
        raise DecodeError("plan.type", f"expected a string, got {named(kind)}")
    beside = {key: value for key, value in update.items() if key not in ("plan", "sessionUpdate")}
    if not isinstance(beside.get("_meta", {}), dict):
        del beside["_meta"]
    envelope = free_form(beside)
    try:
        if kind != "items":
            kept = unknown_plan(plan)
            return model.PlanUpdate((), kept["planId"], other=kept, envelope=envelope)
        items: model.PlanUpdate = _plan_items(plan)
    except DecodeError as error:
        raise error.below("plan") from None
    return evolve(items, envelope=envelope)


_UPDATES: Final[dict[str, Callable[[Any], Event]]] = {
    "user_message_chunk": _chunk("user"),
    "agent_message_chunk": _chunk("agent"),
    "agent_thought_chunk": _chunk("thought"),
    "user_message": _message("user"),
    "agent_message": _message("agent"),
    "agent_thought": _message("thought"),
    "state_update": _state_update,
    "tool_call_update": hook(model.ToolCallUpsert, constants={"lasting": True}, ignore=_KIND),
    "tool_call_content_chunk": hook(model.ToolCallContentChunk, ignore=_KIND),
    "terminal_update": _terminal_update,
    "terminal_output_chunk": hook(model.TerminalBytes, ignore=_KIND),
    "plan_update": _plan_update,
    "available_commands_update": hook(model.CommandsUpdate, ignore=_KIND),
    "config_option_update": hook(model.ConfigOptionsUpdate, ignore=_KIND),
    "session_info_update": hook(model.SessionInfoUpdate, ignore=_KIND),
    "usage_update": hook(model.UsageUpdate, ignore=_KIND),
    "notice": hook(model.Notice, ignore=_KIND),
    "compaction_update": hook(model.CompactionUpdate, ignore=_KIND),
    "compaction_summary_chunk": hook(model.CompactionSummaryChunk, ignore=_KIND),
}
"""Every ``sessionUpdate`` of version 2 and what reads it."""


def session_update(params: Json) -> tuple[str, Event]:
    """``session/update`` → the agent's session id and what happened in that session.

    A kind of update that version 2 does not name is an ``UnknownUpdate``.
    """
    session_id = _session_id(params)
    update = params.get("update")
    if not isinstance(update, dict):
        raise DecodeError("update", f"expected an object, got {named(update)}")
    kind = update.get("sessionUpdate")
    if not isinstance(kind, str):
        return session_id, model.UnknownUpdate(None, free_form(update))
    decode = _UPDATES.get(kind)
    if decode is None:
        return session_id, model.UnknownUpdate(displayable(kind), free_form(update))
    try:
        return session_id, decode(update)
    except DecodeError as error:
        raise error.below(f"update({kind})") from None


_MESSAGE_KINDS: Final = {
    "user": "user_message",
    "agent": "agent_message",
    "thought": "agent_thought",
}
_EVENT_KINDS: Final[dict[type, str]] = {
    model.ToolCallUpsert: "tool_call_update",
    model.ToolCallContentChunk: "tool_call_content_chunk",
    model.TerminalBytes: "terminal_output_chunk",
    model.CommandsUpdate: "available_commands_update",
    model.ConfigOptionsUpdate: "config_option_update",
    model.SessionInfoUpdate: "session_info_update",
    model.UsageUpdate: "usage_update",
    model.Notice: "notice",
    model.CompactionUpdate: "compaction_update",
    model.CompactionSummaryChunk: "compaction_summary_chunk",
}


def encode_update(event: Event) -> JsonDict:
    """The ``update`` of a ``session/update`` that says ``event``.

    Raises ``ValueError`` for events that version 2 has no update for: a change of mode, a chunk
    of a message without an id, a v1 diff inside a tool call.
    """
    match event:
        case model.UnknownUpdate():
            return dict(event.raw)
        case model.MessageChunk():
            if event.message_id is None:
                raise ValueError("version 2 has no message without an id")
            return {"sessionUpdate": f"{_MESSAGE_KINDS[event.role]}_chunk", **written(event)}
        case model.MessageUpsert():
            return {"sessionUpdate": _MESSAGE_KINDS[event.role], **written(event)}
        case model.TurnStarted():
            return _state(event.state, written(event, ("state",)))
        case model.ActionRequired():
            return _state("requires_action", written(event))
        case model.TurnEnded():
            return _state("idle", written(event))
        case model.PlanUpdate():
            plan = event.other or {"type": "items", "planId": event.plan_id, **written(event)}
            return {"sessionUpdate": "plan_update", **event.envelope, "plan": dict(plan)}
        case model.TerminalUpdate():
            return {"sessionUpdate": "terminal_update", **_terminal_fields(event)}
        case model.TerminalOutput():
            data = to_base64(event.text)
            return {
                "sessionUpdate": "terminal_output_chunk",
                "terminalId": event.terminal_id,
                "data": data,
            }
    _refuse_v1_diffs(event)
    kind = _EVENT_KINDS.get(event.__class__)
    if kind is None:
        raise ValueError(f"version 2 has no update for {type(event).__name__}")
    return {"sessionUpdate": kind, **written(event)}


def _state(state: str, fields: JsonDict) -> JsonDict:
    return {"sessionUpdate": "state_update", "state": state, **fields}


def _terminal_fields(event: model.TerminalUpdate) -> JsonDict:
    fields = written(event, ("output",))
    if isinstance(event.output, str | bytes):
        fields["output"] = {"data": to_base64(event.output), **event.output_envelope}
    elif event.output is None:
        fields["output"] = None
    return fields


def _refuse_v1_diffs(event: Event) -> None:
    content: Any = getattr(event, "content", None)
    items = content if isinstance(content, tuple) else (content,)
    if any(isinstance(item, model.Diff) for item in items):
        raise ValueError("version 2 has no diff with the texts before and after")


# --- requests of the agent -------------------------------------------------------

_tool_call_update: Final = hook(model.ToolCallUpsert, constants={"lasting": True})
_QUESTION: Final = ("sessionId", "title", "description", "subject", "options", "_meta")


def permission_request(params: Json) -> model.PermissionRequest:
    """``session/request_permission``, read so that the question survives.

    Only a missing session id costs it. A subject that cannot be read is none.
    """
    session_id = _session_id(params)
    meta = params.get("_meta")
    subject, tool_call = _subject(params.get("subject"))
    return model.PermissionRequest(
        agent_session_id=session_id,
        options=permission_options(params.get("options")),
        tool_call=tool_call,
        title=_text(params.get("title")),
        description=_text(params.get("description")),
        subject=subject,
        meta=free_form(meta) if isinstance(meta, dict) else None,
        unknown=free_form({key: value for key, value in params.items() if key not in _QUESTION}),
        exact=True,
    )


def _text(value: Json) -> str | None:
    return displayable(value) if isinstance(value, str) else None


_command_subject: Final = hook(model.PermissionSubject, require=("command", "cwd", "type"))
_tool_call_subject: Final = hook(
    model.PermissionSubject,
    constants={"command": None, "cwd": None, "terminal_id": None, "tool_call_id": None},
    require=("type",),
    ignore=("toolCall",),
)


def _subject(raw: Json) -> tuple[model.PermissionSubject | None, model.ToolCallUpsert | None]:
    kind = raw.get("type") if isinstance(raw, dict) else None
    if not isinstance(kind, str):
        return None, None
    try:
        if kind == "command":
            return _command_subject(raw), None
        if kind == "tool_call":
            return _tool_call_subject(raw), _tool_call_update(raw.get("toolCall"))
    except DecodeError:
        return None, None
    return model.PermissionSubject(type=displayable(kind), unknown=free_form(raw)), None


def encode_permission_request(request: model.PermissionRequest) -> JsonDict:
    """The ``params`` of a ``session/request_permission`` that asks ``request``."""
    params = written(request, ("tool_call", "subject", "exact"))
    params["sessionId"] = params.pop("agentSessionId")
    params.setdefault("title", "")
    subject = request.subject
    if subject is not None:
        params["subject"] = {"type": subject.type, **written(subject, ("type",))}
    if request.tool_call is not None and request.tool_call.tool_call_id:
        params.setdefault("subject", {"type": "tool_call"})
        params["subject"]["toolCall"] = written(request.tool_call)
    return params


def _session_id(params: Json) -> str:
    if not isinstance(params, dict):
        raise DecodeError("params", f"expected an object, got {named(params)}")
    session_id = params.get("sessionId")
    if not isinstance(session_id, str):
        raise DecodeError("sessionId", f"expected a string, got {named(session_id)}")
    return displayable(session_id)


# --- results of the agent ----------------------------------------------------------

_implementation: Final = hook(model.Implementation)
_session_opened: Final = hook(model.SessionOpened)
_session_page: Final = hook(model.SessionPage)
_config_options: Final = hook(model.ConfigOptionsUpdate)
_auth_method: Final = converter.get_structure_hook(model.AuthMethod | model.TerminalAuthMethod)

_MARKERS: Final[dict[str, tuple[str, ...]]] = {
    "delete_session": ("session", "delete"),
    "additional_directories": ("session", "additionalDirectories"),
    "prompt_image": ("session", "prompt", "image"),
    "prompt_audio": ("session", "prompt", "audio"),
    "prompt_embedded_context": ("session", "prompt", "embeddedContext"),
    "mcp_stdio": ("session", "mcp", "stdio"),
    "mcp_http": ("session", "mcp", "http"),
}
"""Where in ``capabilities`` the object stands by which an agent has each capability."""
_BASELINE: Final = ("load_session", "list_sessions", "resume_session", "close_session")
"""What every agent with sessions can do. Loading is resuming with a replay."""


def initialize_result(result: Json) -> model.AgentInfo:
    """The answer to ``initialize``. Only ``protocolVersion`` is required."""
    if not isinstance(result, dict):
        raise DecodeError("result", f"expected an object, got {named(result)}")
    version = result.get("protocolVersion")
    if version.__class__ is not int:
        raise DecodeError("protocolVersion", f"expected an integer, got {named(version)}")
    told = result.get("capabilities")
    implementation = _or_none(_implementation, result.get("info"))
    methods = _auth_methods(result.get("authMethods"))
    return model.AgentInfo(
        protocol_version=version,
        name=implementation.name if implementation else None,
        title=implementation.title if implementation else None,
        version=implementation.version if implementation else None,
        auth_methods=methods,
        logout=bool(methods),
        raw=free_form(result),
        **{name: _has(told, path) for name, path in _MARKERS.items()},
        **dict.fromkeys(_BASELINE, _has(told, ("session",))),
    )


def _has(capabilities: Json, path: tuple[str, ...]) -> bool:
    found = capabilities
    for step in path:
        found = found.get(step) if isinstance(found, dict) else None
    return isinstance(found, dict)


def _or_none(decode: Callable[[Any], T], value: Json) -> T | None:
    try:
        return decode(value)
    except DecodeError:
        return None


def _auth_methods(raw: Json) -> tuple[model.AuthMethod | model.TerminalAuthMethod, ...]:
    items = raw if isinstance(raw, list) else []
    decoded = (_or_none(lambda item: _auth_method(item, None), item) for item in items)
    return tuple(method for method in decoded if method is not None)


def session_opened(result: Json, session_id: str | None = None) -> model.SessionOpened:
    """The answer to ``session/new``; with ``session_id``, the id that was asked for, the answer
    to ``session/resume``.
    """
    if session_id is not None:
        result = {**(result if isinstance(result, dict) else {}), "sessionId": session_id}
    opened: model.SessionOpened = _session_opened(result)
    return opened


def session_page(result: Json) -> model.SessionPage:
    """The answer to ``session/list``."""
    page: model.SessionPage = _session_page(result)
    return page


def config_options(result: Json) -> model.ConfigOptionsUpdate:
    """The answer to ``session/set_config_option``: all options, as an event."""
    update: model.ConfigOptionsUpdate = _config_options(result)
    return update


def prompt_answer(result: Json) -> model.PromptAccepted:
    """The answer to ``session/prompt``: the id of the message that the prompt became."""
    if not isinstance(result, dict):
        raise DecodeError("result", f"expected an object, got {named(result)}")
    message_id = result.get("messageId")
    if not isinstance(message_id, str):
        raise DecodeError("messageId", f"expected a string, got {named(message_id)}")
    return model.PromptAccepted(displayable(message_id))


# --- content blocks -------------------------------------------------------------------

_block: Final = converter.get_structure_hook(ContentBlock)


def decode_block(raw: Json) -> ContentBlock:
    """A content block as an editor or an agent sends it."""
    block: ContentBlock = _block(raw, None)
    return block
