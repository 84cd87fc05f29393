"""ACP protocol version 2, a draft: its JSON ↔ :mod:`acp_sidecar.acp.model`.

The functions are those of :mod:`acp_sidecar.acp.v1` and fail in the same way: a required
field that is missing or invalid is a :class:`~acp_sidecar.acp.decoding.DecodeError`, every other
fault costs only the field or the array item it is in. What we send is made by
:mod:`acp_sidecar.acp.v2_requests`, ``session/update`` is read by
:mod:`acp_sidecar.acp.v2_updates`; their names are here too. Where the prose of the draft and its
``schema.json`` disagree, the schema wins.

The life cycle of version 2: the answer to ``session/prompt`` only says that the prompt was
taken, and as which message; ``state_update`` says when the agent works, waits for the user, or
is idle. Tool calls may go on while it is idle.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

from acp_sidecar.acp import model
from acp_sidecar.acp.decoding import (
    DecodeError,
    displayable,
    free_form,
    named,
    or_none,
    session_id_of,
)
from acp_sidecar.acp.encoding import encode as _encode
from acp_sidecar.acp.model import ContentBlock, Json
from acp_sidecar.acp.permission import permission_options
from acp_sidecar.acp.v2_dialect import DIALECT, converter, hook, written
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
from acp_sidecar.acp.v2_updates import encode_update as encode_update
from acp_sidecar.acp.v2_updates import session_update as session_update

JsonDict: TypeAlias = dict[str, Any]


def encode(value: Any) -> Any:
    """A value of the model as this version writes it."""
    return _encode(value, DIALECT)


# --- requests of the agent -------------------------------------------------------

_tool_call_update: Final = hook(model.ToolCallUpsert, constants={"lasting": True})
_QUESTION: Final = ("sessionId", "title", "description", "subject", "options", "_meta")


def permission_request(params: Json) -> model.PermissionRequest:
    """``session/request_permission``, read so that the question survives.

    Only a missing session id costs it. A subject that cannot be read is none.
    """
    session_id = session_id_of(params)
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
    implementation = or_none(_implementation, result.get("info"))
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


def _auth_methods(raw: Json) -> tuple[model.AuthMethod | model.TerminalAuthMethod, ...]:
    items = raw if isinstance(raw, list) else []
    decoded = (or_none(lambda item: _auth_method(item, None), item) for item in items)
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
