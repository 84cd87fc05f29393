"""ACP protocol version 2: the ``params`` and ``result`` that we send, as new dicts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from attrs import evolve

from acp_sidecar.acp import model
from acp_sidecar.acp.encoding import encode
from acp_sidecar.acp.model import ContentBlock
from acp_sidecar.acp.v1_requests import OFFERED as V1_OFFERED
from acp_sidecar.acp.v1_requests import OURSELVES as OURSELVES
from acp_sidecar.acp.v1_requests import authenticate as authenticate
from acp_sidecar.acp.v1_requests import cancel as cancel
from acp_sidecar.acp.v1_requests import logout as logout
from acp_sidecar.acp.v1_requests import mcp_server as v1_mcp_server
from acp_sidecar.acp.v1_requests import permission_outcome as permission_outcome
from acp_sidecar.acp.v1_requests import session_close as session_close
from acp_sidecar.acp.v1_requests import session_delete as session_delete
from acp_sidecar.acp.v1_requests import session_list as session_list
from acp_sidecar.acp.v2_dialect import DIALECT

PROTOCOL_VERSION: Final = 2

JsonDict: TypeAlias = dict[str, Any]

METHODS: Final[Mapping[str, str]] = {
    "authenticate": "auth/login",
    "logout": "auth/logout",
    "session/load": "session/resume",
}
"""What version 2 calls the methods that it calls otherwise than version 1."""

OFFERED: Final = evolve(
    V1_OFFERED, read_text_file=False, write_text_file=False, terminal=False, meta=None
)
"""What this client implements for every agent and editor. Files and commands are not the
client's any more in version 2."""


def offered(*, terminals: bool) -> model.ClientCapabilities:
    """What an agent is told that we can do; ``terminals`` makes no difference."""
    return OFFERED


def encode_block(block: ContentBlock) -> JsonDict:
    """A content block for the wire."""
    written: JsonDict = encode(block, DIALECT)
    return written


# --- our requests and notifications ------------------------------------------------------


def initialize(
    capabilities: model.ClientCapabilities = OFFERED,
    client_info: model.Implementation = OURSELVES,
    *,
    protocol_version: int = PROTOCOL_VERSION,
) -> JsonDict:
    """``initialize``: what we speak, what we can do, who we are."""
    elicitation: JsonDict = {}
    if capabilities.elicitation_form:
        elicitation["form"] = {}
    if capabilities.elicitation_url:
        elicitation["url"] = {}
    told: JsonDict = {}
    if capabilities.terminal_auth:
        told["auth"] = {"terminal": {}}
    if elicitation:
        told["elicitation"] = elicitation
    if capabilities.meta:
        told["_meta"] = dict(capabilities.meta)
    return {
        "protocolVersion": protocol_version,
        "info": encode(client_info, DIALECT),
        "capabilities": told,
    }


def session_new(
    cwd: str,
    additional_directories: Sequence[str] = (),
    mcp_servers: Iterable[Mapping[str, Any]] = (),
) -> JsonDict:
    """``session/new``. ``cwd`` and the directories are absolute paths."""
    params: JsonDict = {"cwd": cwd, "mcpServers": [mcp_server(server) for server in mcp_servers]}
    if additional_directories:
        params["additionalDirectories"] = list(additional_directories)
    return params


def session_resume(
    session_id: str,
    cwd: str,
    additional_directories: Sequence[str] = (),
    mcp_servers: Iterable[Mapping[str, Any]] = (),
) -> JsonDict:
    """``session/resume``, without a replay of what was said."""
    return {"sessionId": session_id, **session_new(cwd, additional_directories, mcp_servers)}


def session_load(
    session_id: str,
    cwd: str,
    additional_directories: Sequence[str] = (),
    mcp_servers: Iterable[Mapping[str, Any]] = (),
) -> JsonDict:
    """``session/resume`` with a replay of everything, which comes before the answer."""
    params = session_resume(session_id, cwd, additional_directories, mcp_servers)
    return {**params, "replayFrom": {"type": "start"}}


def mcp_server(given: Mapping[str, Any]) -> JsonDict:
    """An MCP server as a user writes it → as version 2 wants it.

    ``env`` and ``headers`` may be objects, ``type`` may be missing where ``command`` or ``url``
    tell it; another ``type`` is passed on. Raises ``ValueError`` for what v1 raises it for.
    """
    transport = given.get("type")
    if transport not in (None, "stdio", "http"):
        return dict(given)
    return {"type": "stdio", **v1_mcp_server(given)}


def set_config_option(session_id: str, config_id: str, value: str | bool) -> JsonDict:
    """``session/set_config_option``: the id of a choice, or on and off."""
    kind = "boolean" if isinstance(value, bool) else "id"
    return {"sessionId": session_id, "configId": config_id, "type": kind, "value": value}


def prompt(session_id: str, content: Sequence[ContentBlock]) -> JsonDict:
    """``session/prompt``; the content must not be empty."""
    return {"sessionId": session_id, "prompt": [encode_block(block) for block in content]}


def cancel_tool_call(session_id: str, tool_call_id: str) -> JsonDict:
    """``tool_call/cancel``, only for a call that offers it."""
    return {"sessionId": session_id, "toolCallId": tool_call_id}


def cancel_terminal(session_id: str, terminal_id: str) -> JsonDict:
    """``terminal/cancel``, only for a terminal that offers it."""
    return {"sessionId": session_id, "terminalId": terminal_id}


# --- our answers ---------------------------------------------------------------------------


def unanswered(options: Iterable[model.PermissionOption]) -> str | None:
    """What a permission request that the user left unanswered selects: nothing, it is
    ``cancelled``."""
    return None
