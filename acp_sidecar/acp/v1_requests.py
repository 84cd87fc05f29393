"""ACP protocol version 1: the ``params`` and ``result`` that we send, as new dicts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from attrs import evolve

from acp_sidecar import __version__
from acp_sidecar.acp import model
from acp_sidecar.acp.encoding import encode
from acp_sidecar.acp.model import ContentBlock
from acp_sidecar.acp.terminal_meta import CAPABILITY as TERMINAL_META

PROTOCOL_VERSION: Final = 1

JsonDict: TypeAlias = dict[str, Any]


def encode_block(block: ContentBlock) -> JsonDict:
    """A content block for the wire."""
    written: JsonDict = encode(block)
    return written


# --- our requests and notifications ------------------------------------------------------


LOGIN_META: Final = {"terminal-auth": True}
"""Agents that do not know the capability ``auth.terminal`` look for this before they offer a
login in a terminal; its command is then under the same name in the method's ``_meta``."""
OFFERED: Final = model.ClientCapabilities(
    read_text_file=True,
    write_text_file=True,
    terminal_auth=True,
    terminal=True,
    boolean_config_options=True,
    notices=True,
    compaction=True,
    elicitation_form=True,
    elicitation_url=True,
    meta={**TERMINAL_META, **LOGIN_META},
)
"""What this client implements for every agent and editor."""
METHODS: Final[Mapping[str, str]] = {}
"""Methods that this version calls otherwise than this code does: none."""


def offered(*, terminals: bool) -> model.ClientCapabilities:
    """What an agent is told that we can do; ``terminals``: also to run its commands."""
    return evolve(OFFERED, terminal=terminals)


OURSELVES: Final = model.Implementation("acp-sidecar", __version__, "ACP sidecar")


def initialize(
    capabilities: model.ClientCapabilities = OFFERED,
    client_info: model.Implementation = OURSELVES,
    *,
    protocol_version: int = PROTOCOL_VERSION,
) -> JsonDict:
    """``initialize``: what we speak, what we can do, who we are."""
    told: JsonDict = {
        "fs": {
            "readTextFile": capabilities.read_text_file,
            "writeTextFile": capabilities.write_text_file,
        },
        "terminal": capabilities.terminal,
    }
    session = _present(
        configOptions={"boolean": {}} if capabilities.boolean_config_options else None,
        notices={} if capabilities.notices else None,
        compaction={} if capabilities.compaction else None,
    )
    elicitation = _present(
        form={} if capabilities.elicitation_form else None,
        url={} if capabilities.elicitation_url else None,
    )
    told |= _present(
        session=session or None,
        auth={"terminal": True} if capabilities.terminal_auth else None,
        elicitation=elicitation or None,
        _meta=dict(capabilities.meta) if capabilities.meta else None,
    )
    return {
        "protocolVersion": protocol_version,
        "clientCapabilities": told,
        "clientInfo": encode(client_info),
    }


def authenticate(method_id: str) -> JsonDict:
    return {"methodId": method_id}


def logout() -> JsonDict:
    return {}


def session_new(
    cwd: str,
    additional_directories: Sequence[str] = (),
    mcp_servers: Iterable[Mapping[str, Any]] = (),
) -> JsonDict:
    """``session/new``. ``cwd`` and the directories are absolute paths."""
    return _opening(cwd, additional_directories, mcp_servers)


def session_load(
    session_id: str,
    cwd: str,
    additional_directories: Sequence[str] = (),
    mcp_servers: Iterable[Mapping[str, Any]] = (),
) -> JsonDict:
    """``session/load``: the agent replays the history, then answers (or the reverse)."""
    return {"sessionId": session_id, **_opening(cwd, additional_directories, mcp_servers)}


session_resume = session_load
"""``session/resume``: the same without a replay."""
session_fork = session_load
"""``session/fork`` (not in the stable schema; some agents offer it)."""


def _opening(
    cwd: str, additional_directories: Sequence[str], mcp_servers: Iterable[Mapping[str, Any]]
) -> JsonDict:
    params: JsonDict = {"cwd": cwd, "mcpServers": [mcp_server(server) for server in mcp_servers]}
    if additional_directories:
        params["additionalDirectories"] = list(additional_directories)
    return params


def mcp_server(given: Mapping[str, Any]) -> JsonDict:
    """An MCP server as a user writes it → as version 1 wants it.

    ``env`` and ``headers`` may be objects, ``args`` may be missing. Raises ``ValueError``
    where the server has neither ``command`` nor ``url``, or they are not what they must be.
    """
    server = dict(given)
    for name in ("name", "command", "url"):
        if not isinstance(server.get(name, ""), str | None):
            raise ValueError(f"'{name}' of an MCP server must be a text")  # noqa: TRY004
    args = server.get("args") or ()
    if not isinstance(args, list | tuple) or not all(isinstance(each, str) for each in args):
        raise ValueError("'args' of an MCP server must be a list of texts")
    if server.get("name") is None:
        server.pop("name", None)
    transport = server.get("type")
    if transport == "stdio":
        del server["type"]
    if transport in (None, "stdio") and server.get("command"):
        server.setdefault("name", str(server["command"]))
        server["args"] = list(args)
        server["env"] = _pairs("env", server.get("env"))
        return server
    if server.get("url"):
        server.setdefault("type", "http")
        server.setdefault("name", str(server["url"]))
        server["headers"] = _pairs("headers", server.get("headers"))
        return server
    raise ValueError("an MCP server needs a command or a url")


def _pairs(name: str, given: Any) -> list[Any]:
    if isinstance(given, Mapping):
        return [{"name": name, "value": str(value)} for name, value in given.items()]
    pairs = given or ()
    if not isinstance(pairs, list | tuple) or not all(isinstance(one, Mapping) for one in pairs):
        raise ValueError(
            f"'{name}' of an MCP server must be an object, or a list of name and value"
        )
    return list(pairs)


def session_list(cwd: str | None = None, cursor: str | None = None) -> JsonDict:
    return _present(cwd=cwd, cursor=cursor)


def session_close(session_id: str) -> JsonDict:
    return {"sessionId": session_id}


session_delete = session_close


def set_mode(session_id: str, mode_id: str) -> JsonDict:
    return {"sessionId": session_id, "modeId": mode_id}


def set_config_option(session_id: str, config_id: str, value: str | bool) -> JsonDict:
    params: JsonDict = {"sessionId": session_id, "configId": config_id, "value": value}
    if isinstance(value, bool):
        params["type"] = "boolean"
    return params


def prompt(session_id: str, content: Sequence[ContentBlock]) -> JsonDict:
    return {"sessionId": session_id, "prompt": [encode_block(block) for block in content]}


def cancel(session_id: str) -> JsonDict:
    """``session/cancel``, a notification."""
    return {"sessionId": session_id}


# --- our answers ---------------------------------------------------------------------------


def unanswered(options: Iterable[model.PermissionOption]) -> str | None:
    """What a permission request that the user left unanswered selects: the first option that
    rejects once. None where there is none: ``cancelled``.

    An id that is also offered with another kind may mean an approval; it is passed over.
    """
    kinds: dict[str, set[str | None]] = {}
    for option in options:
        kinds.setdefault(option.option_id, set()).add(option.kind)
    return next((each for each, said in kinds.items() if said == {"reject_once"}), None)


def permission_outcome(option_id: str | None) -> JsonDict:
    """The answer to ``session/request_permission``; None: cancelled."""
    if option_id is None:
        return {"outcome": {"outcome": "cancelled"}}
    return {"outcome": {"outcome": "selected", "optionId": option_id}}


def read_text_file_result(content: str) -> JsonDict:
    return {"content": content}


def write_text_file_result() -> JsonDict:
    """An object, not null: the schema has no null here."""
    return {}


def create_terminal_result(terminal_id: str) -> JsonDict:
    return {"terminalId": terminal_id}


def terminal_output_result(
    output: str, truncated: bool, exit_status: model.JsonObject | None
) -> JsonDict:
    """``exit_status``: ``{exitCode, signal}``, None while the command runs."""
    status = {} if exit_status is None else {"exitStatus": dict(exit_status)}
    return {"output": output, "truncated": truncated, **status}


def wait_for_exit_result(exit_status: model.JsonObject) -> JsonDict:
    """``exit_status``: ``{exitCode, signal}``, one of them null."""
    return dict(exit_status)


def kill_terminal_result() -> JsonDict:
    return {}


release_terminal_result = kill_terminal_result


def _present(**fields: Any) -> JsonDict:
    return {key: value for key, value in fields.items() if value is not None}
