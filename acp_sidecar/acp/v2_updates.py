"""ACP protocol version 2: ``session/update``, as read and as written.

What happens in a session comes as one of these, its turns included: ``state_update`` says when
the agent works, waits for the user, or is idle.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from attrs import evolve

from acp_sidecar.acp import model
from acp_sidecar.acp.decoding import DecodeError, displayable, free_form, named, session_id_of
from acp_sidecar.acp.model import UNSET, Event, Json
from acp_sidecar.acp.v2_dialect import from_base64, hook, to_base64, unknown_plan, written

JsonDict: TypeAlias = dict[str, Any]

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
    session_id = session_id_of(params)
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
