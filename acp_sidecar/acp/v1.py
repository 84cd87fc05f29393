"""ACP protocol version 1: its JSON ↔ :mod:`acp_sidecar.acp.model`.

Decoding functions take ``params`` or ``result`` as parsed from JSON and raise
:class:`~acp_sidecar.acp.decoding.DecodeError` where a required field is missing or invalid;
every other fault costs only the field or the array item it is in. What we send is made by
:mod:`acp_sidecar.acp.v1_requests`, whose names are here too. Where the prose of the
specification and its ``schema.json`` disagree, the schema wins.

The life cycle of version 1: the answer to ``session/prompt`` ends the turn, and tool calls
that are then still open stay open for ever, so the session closes them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from attrs import evolve

from acp_sidecar.acp import model
from acp_sidecar.acp.decoding import (
    DecodeError,
    Dialect,
    decoder,
    displayable,
    free_form,
    make_converter,
    named,
    or_none,
    session_id_of,
)
from acp_sidecar.acp.encoding import encode as encode
from acp_sidecar.acp.encoding import encode_fields
from acp_sidecar.acp.model import UNSET, ContentBlock, Event, Json
from acp_sidecar.acp.permission import permission_options
from acp_sidecar.acp.v1_requests import METHODS as METHODS
from acp_sidecar.acp.v1_requests import OFFERED as OFFERED
from acp_sidecar.acp.v1_requests import OURSELVES as OURSELVES
from acp_sidecar.acp.v1_requests import PROTOCOL_VERSION as PROTOCOL_VERSION
from acp_sidecar.acp.v1_requests import authenticate as authenticate
from acp_sidecar.acp.v1_requests import cancel as cancel
from acp_sidecar.acp.v1_requests import create_terminal_result as create_terminal_result
from acp_sidecar.acp.v1_requests import encode_block as encode_block
from acp_sidecar.acp.v1_requests import initialize as initialize
from acp_sidecar.acp.v1_requests import kill_terminal_result as kill_terminal_result
from acp_sidecar.acp.v1_requests import logout as logout
from acp_sidecar.acp.v1_requests import mcp_server as mcp_server
from acp_sidecar.acp.v1_requests import offered as offered
from acp_sidecar.acp.v1_requests import permission_outcome as permission_outcome
from acp_sidecar.acp.v1_requests import prompt as prompt
from acp_sidecar.acp.v1_requests import read_text_file_result as read_text_file_result
from acp_sidecar.acp.v1_requests import release_terminal_result as release_terminal_result
from acp_sidecar.acp.v1_requests import session_close as session_close
from acp_sidecar.acp.v1_requests import session_delete as session_delete
from acp_sidecar.acp.v1_requests import session_fork as session_fork
from acp_sidecar.acp.v1_requests import session_list as session_list
from acp_sidecar.acp.v1_requests import session_load as session_load
from acp_sidecar.acp.v1_requests import session_new as session_new
from acp_sidecar.acp.v1_requests import session_resume as session_resume
from acp_sidecar.acp.v1_requests import set_config_option as set_config_option
from acp_sidecar.acp.v1_requests import set_mode as set_mode
from acp_sidecar.acp.v1_requests import terminal_output_result as terminal_output_result
from acp_sidecar.acp.v1_requests import unanswered as unanswered
from acp_sidecar.acp.v1_requests import wait_for_exit_result as wait_for_exit_result
from acp_sidecar.acp.v1_requests import write_text_file_result as write_text_file_result
from acp_sidecar.acp.values import WireRule

JsonDict: TypeAlias = dict[str, Any]

_HIDDEN: Final = WireRule(internal=True)
DIALECT: Final = Dialect(
    null_clears=False,
    open_enums=False,
    keep_unknown_types=False,
    rules={
        (model.ResourceLink, "icons"): _HIDDEN,
        (model.AvailableCommand, "type"): _HIDDEN,
        (model.SessionOpened, "commands"): _HIDDEN,
        (model.ToolCallUpsert, "capabilities"): _HIDDEN,
    },
    foreign={model.ChangedFiles},
)
converter: Final = make_converter(DIALECT)


def _hook(cls: Any, **options: Any) -> Callable[[Any], Any]:
    hook: Callable[[Any], Any] = decoder(cls, converter, DIALECT, **options)
    return hook


# --- session/update ------------------------------------------------------------

_KIND: Final = ("sessionUpdate",)

_usage: Final = _hook(model.UsageUpdate, ignore=_KIND)


def _usage_update(update: Json) -> model.UsageUpdate:
    """Without a cost there is none any more: version 1 does not say that it stays."""
    usage: model.UsageUpdate = _usage(update)
    return evolve(usage, cost=None) if usage.cost is UNSET else usage


_UPDATES: Final[dict[str, Callable[[Any], Event]]] = {
    "user_message_chunk": _hook(model.MessageChunk, constants={"role": "user"}, ignore=_KIND),
    "agent_message_chunk": _hook(model.MessageChunk, constants={"role": "agent"}, ignore=_KIND),
    "agent_thought_chunk": _hook(model.MessageChunk, constants={"role": "thought"}, ignore=_KIND),
    "tool_call": _hook(
        model.ToolCallUpsert,
        constants={"announces": True},
        require=("title",),
        ignore=_KIND,
    ),
    "tool_call_update": _hook(model.ToolCallUpsert, ignore=_KIND),
    "plan": _hook(model.PlanUpdate, constants={"plan_id": "plan"}, ignore=_KIND),
    "available_commands_update": _hook(model.CommandsUpdate, ignore=_KIND),
    "current_mode_update": _hook(model.ModeUpdate, ignore=_KIND),
    "config_option_update": _hook(model.ConfigOptionsUpdate, ignore=_KIND),
    "session_info_update": _hook(model.SessionInfoUpdate, ignore=_KIND),
    "usage_update": _usage_update,
    "notice": _hook(model.Notice, ignore=_KIND),
    "compaction_update": _hook(model.CompactionUpdate, ignore=_KIND),
    "compaction_summary_chunk": _hook(model.CompactionSummaryChunk, ignore=_KIND),
}
"""Every ``sessionUpdate`` of version 1 and what reads it."""


def session_update(params: Json) -> tuple[str, Event]:
    """``session/update`` → the agent's session id and what happened in that session.

    A kind of update that version 1 does not name is an ``UnknownUpdate``.
    """
    if params.__class__ is not dict:
        raise DecodeError("params", f"expected an object, got {named(params)}")
    session_id = params.get("sessionId")
    if session_id.__class__ is not str:
        raise DecodeError("sessionId", f"expected a string, got {named(session_id)}")
    if not session_id.isascii():
        session_id = displayable(session_id)
    update = params.get("update")
    if update.__class__ is not dict:
        raise DecodeError("update", f"expected an object, got {named(update)}")
    kind = update.get("sessionUpdate")
    if kind.__class__ is not str:
        return session_id, model.UnknownUpdate(None, free_form(update))
    decode = _UPDATES.get(kind)
    if decode is None:
        return session_id, model.UnknownUpdate(displayable(kind), free_form(update))
    try:
        return session_id, decode(update)
    except DecodeError as error:
        raise error.below(f"update({kind})") from None


_ROLE_KINDS: Final = {
    "user": "user_message_chunk",
    "agent": "agent_message_chunk",
    "thought": "agent_thought_chunk",
}
_EVENT_KINDS: Final[dict[type, str]] = {
    model.PlanUpdate: "plan",
    model.CommandsUpdate: "available_commands_update",
    model.ModeUpdate: "current_mode_update",
    model.ConfigOptionsUpdate: "config_option_update",
    model.SessionInfoUpdate: "session_info_update",
    model.UsageUpdate: "usage_update",
    model.Notice: "notice",
    model.CompactionUpdate: "compaction_update",
    model.CompactionSummaryChunk: "compaction_summary_chunk",
}


def encode_update(event: Event) -> JsonDict:
    """The ``update`` of a ``session/update`` that says ``event``.

    Raises ``ValueError`` for events that version 1 has no update for.
    """
    if isinstance(event, model.UnknownUpdate):
        return dict(event.raw)
    if isinstance(event, model.MessageChunk):
        kind: str | None = _ROLE_KINDS[event.role]
    elif isinstance(event, model.ToolCallUpsert):
        kind = "tool_call" if event.announces else "tool_call_update"
    else:
        kind = _EVENT_KINDS.get(event.__class__)
    if kind is None:
        raise ValueError(f"version 1 has no update for {type(event).__name__}")
    return {"sessionUpdate": kind, **encode_fields(event, leave_out=("plan_id",))}


# --- requests of the agent -------------------------------------------------------

_tool_call_update: Final = _hook(model.ToolCallUpsert)
_read_text_file: Final = _hook(model.ReadTextFile)
_write_text_file: Final = _hook(model.WriteTextFile)
_create_terminal: Final = _hook(model.CreateTerminal)
_terminal_request: Final = _hook(model.TerminalRequest)


def permission_request(params: Json) -> model.PermissionRequest:
    """``session/request_permission``, read so that the question survives.

    Only a missing session id costs it. Of a broken ``toolCall`` what can be read is kept;
    without a usable ``toolCallId`` its id is ``""``.
    """
    session_id = session_id_of(params)
    meta = params.get("_meta")
    known = ("sessionId", "options", "toolCall", "_meta")
    return model.PermissionRequest(
        agent_session_id=session_id,
        options=permission_options(params.get("options")),
        tool_call=_tool_call_of_question(params.get("toolCall")),
        meta=free_form(meta) if isinstance(meta, dict) else None,
        unknown=free_form({key: value for key, value in params.items() if key not in known}),
    )


def _tool_call_of_question(raw: Json) -> model.ToolCallUpsert | None:
    if not isinstance(raw, dict):
        return None
    if not isinstance(raw.get("toolCallId"), str):
        raw = {**raw, "toolCallId": ""}
    tool_call: model.ToolCallUpsert = _tool_call_update(raw)
    return tool_call


def read_text_file(params: Json) -> model.ReadTextFile:
    """``fs/read_text_file``. ``line`` is 1-based as sent, 0 included; null means not given.

    A ``line`` or ``limit`` that is negative or not an integer is a fault.
    """
    _refuse_surrogates(params, "path")
    request: model.ReadTextFile = _read_text_file(params)
    return request


def write_text_file(params: Json) -> model.WriteTextFile:
    """``fs/write_text_file``. Text that UTF-8 cannot hold (a lone surrogate) is a fault."""
    _refuse_surrogates(params, "path", "content")
    request: model.WriteTextFile = _write_text_file(params)
    return request


def create_terminal(params: Json) -> model.CreateTerminal:
    """``terminal/create``. Nothing of it is guessed: what is invalid is a fault, and so is
    what no command can be given (a lone surrogate, a NUL, a variable without a name).
    """
    request: model.CreateTerminal = _create_terminal(params)
    _refuse_surrogates(params, "command", "cwd")
    words = [("command", request.command), ("cwd", request.cwd or "")]
    for index, (sent, word) in enumerate(zip(params.get("args") or (), request.args, strict=True)):
        _refuse_surrogates({f"args[{index}]": sent}, f"args[{index}]")
        words.append((f"args[{index}]", word))
    for index, (sent, variable) in enumerate(
        zip(params.get("env") or (), request.env, strict=True)
    ):
        where = f"env[{index}]"
        for key in ("name", "value"):
            _refuse_surrogates({f"{where}.{key}": sent[key]}, f"{where}.{key}")
        if not variable.name or "=" in variable.name:
            raise DecodeError(f"{where}.name", "must be a name, and hold no '='")
        words += [(f"{where}.name", variable.name), (f"{where}.value", variable.value)]
    for where, word in words:
        if "\0" in word:
            raise DecodeError(where, "holds a NUL character")
    if not request.command.strip():
        raise DecodeError("command", "must not be empty")
    return request


def terminal_request(params: Json) -> model.TerminalRequest:
    """``terminal/output``, ``terminal/wait_for_exit``, ``terminal/kill``, ``terminal/release``."""
    request: model.TerminalRequest = _terminal_request(params)
    return request


def _refuse_surrogates(params: Json, *keys: str) -> None:
    # Decoding replaces them, which is right for what is shown and wrong for what is kept.
    if not isinstance(params, dict):
        return
    for key in keys:
        value = params.get(key)
        if isinstance(value, str) and displayable(value) != value:
            raise DecodeError(key, "holds a lone surrogate, which is not text")


# --- results of the agent ----------------------------------------------------------

_implementation: Final = _hook(model.Implementation)
_session_opened: Final = _hook(model.SessionOpened, constants={"settled": True})
_session_page: Final = _hook(model.SessionPage)
_config_options: Final = _hook(model.ConfigOptionsUpdate)
_auth_method: Final = converter.get_structure_hook(model.AuthMethod | model.TerminalAuthMethod)

_FLAGS: Final[dict[str, tuple[str, ...]]] = {
    "load_session": ("loadSession",),
    "list_sessions": ("sessionCapabilities", "list"),
    "resume_session": ("sessionCapabilities", "resume"),
    "fork_session": ("sessionCapabilities", "fork"),
    "close_session": ("sessionCapabilities", "close"),
    "delete_session": ("sessionCapabilities", "delete"),
    "additional_directories": ("sessionCapabilities", "additionalDirectories"),
    "prompt_image": ("promptCapabilities", "image"),
    "prompt_audio": ("promptCapabilities", "audio"),
    "prompt_embedded_context": ("promptCapabilities", "embeddedContext"),
    "mcp_http": ("mcpCapabilities", "http"),
    "mcp_sse": ("mcpCapabilities", "sse"),
    "logout": ("auth", "logout"),
}
"""Where in ``agentCapabilities`` each capability stands."""
_OBJECTS: Final = frozenset(
    {"list", "resume", "fork", "close", "delete", "additionalDirectories", "logout"}
)
"""The capabilities that an agent has by giving an object, the others are ``true``."""


def initialize_result(result: Json) -> model.AgentInfo:
    """The answer to ``initialize``. Only ``protocolVersion`` is required."""
    if not isinstance(result, dict):
        raise DecodeError("result", f"expected an object, got {named(result)}")
    version = result.get("protocolVersion")
    if version.__class__ is not int:
        raise DecodeError("protocolVersion", f"expected an integer, got {named(version)}")
    capabilities = result.get("agentCapabilities")
    implementation = or_none(_implementation, result.get("agentInfo"))
    return model.AgentInfo(
        protocol_version=version,
        name=implementation.name if implementation else None,
        title=implementation.title if implementation else None,
        version=implementation.version if implementation else None,
        auth_methods=_auth_methods(result.get("authMethods")),
        raw=free_form(result),
        **{name: _has(capabilities, path) for name, path in _FLAGS.items()},
    )


def _has(capabilities: Json, path: tuple[str, ...]) -> bool:
    found = capabilities
    for step in path:
        found = found.get(step) if isinstance(found, dict) else None
    return isinstance(found, dict) if path[-1] in _OBJECTS else found is True


def _auth_methods(raw: Json) -> tuple[model.AuthMethod | model.TerminalAuthMethod, ...]:
    items = raw if isinstance(raw, list) else []
    decoded = (or_none(lambda item: _auth_method(item, None), item) for item in items)
    return tuple(method for method in decoded if method is not None)


def session_opened(result: Json, session_id: str | None = None) -> model.SessionOpened:
    """The answer to ``session/new`` or ``session/fork``; with ``session_id``, the id that
    was asked for, the answer to ``session/load`` or ``session/resume`` (which may be null).
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


def stop_reason(result: Json) -> model.TurnEnded:
    """The answer to ``session/prompt``: the end of the turn.

    The turn is over whatever the answer says, so this never fails: a reason that version 1
    does not name is passed on, and one that is missing is None.
    """
    if not isinstance(result, dict):
        return model.TurnEnded(None)
    reason = result.get("stopReason")
    meta = result.get("_meta")
    known = ("stopReason", "_meta")
    return model.TurnEnded(
        displayable(reason) if isinstance(reason, str) else None,
        meta=free_form(meta) if isinstance(meta, dict) else None,
        unknown=free_form({key: value for key, value in result.items() if key not in known}),
    )


prompt_answer: Final = stop_reason
"""The answer to ``session/prompt``."""


# --- content blocks -------------------------------------------------------------------

_block: Final = converter.get_structure_hook(ContentBlock)


def decode_block(raw: Json) -> ContentBlock:
    """A content block as an editor or an agent sends it."""
    block: ContentBlock = _block(raw, None)
    return block
