"""What an agent asks of files and terminals."""

from __future__ import annotations

from attrs import field

from acp_sidecar.acp.values import JsonObject, frozen, wire


@frozen
class ReadTextFile:
    """``fs/read_text_file``: ``line`` is 1-based, ``limit`` counts lines."""

    agent_session_id: str = field(metadata=wire("sessionId"))
    path: str
    line: int | None = field(default=None, metadata=wire(natural=True, strict=True))
    limit: int | None = field(default=None, metadata=wire(natural=True, strict=True))
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class WriteTextFile:
    """``fs/write_text_file``: the whole new content of a file."""

    agent_session_id: str = field(metadata=wire("sessionId"))
    path: str
    content: str
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class EnvVariable:
    name: str
    value: str
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class CreateTerminal:
    """``terminal/create``: a command to run, or a whole command line without ``args``."""

    agent_session_id: str = field(metadata=wire("sessionId"))
    command: str
    args: tuple[str, ...] = field(default=(), metadata=wire(strict=True))
    env: tuple[EnvVariable, ...] = field(default=(), metadata=wire(strict=True))
    cwd: str | None = field(default=None, metadata=wire(strict=True))
    output_byte_limit: int | None = field(default=None, metadata=wire(natural=True, strict=True))
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class TerminalRequest:
    """``terminal/output``, ``wait_for_exit``, ``kill`` or ``release``."""

    agent_session_id: str = field(metadata=wire("sessionId"))
    terminal_id: str
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)
