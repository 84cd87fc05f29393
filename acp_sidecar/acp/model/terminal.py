"""What is told of a terminal: its facts and its output."""

from __future__ import annotations

from attrs import field

from acp_sidecar.acp.values import UNSET, JsonObject, Patch, frozen, wire


@frozen
class TerminalUpdate:
    """A terminal's facts or its whole output so far; ``output`` replaces.

    Bytes are those of a terminal of the agent's (v2), text is decoded already. An
    ``exit_status``, also an empty one, says that the command has ended.
    """

    terminal_id: str
    command: Patch[str] = UNSET
    cwd: Patch[str] = UNSET
    output: Patch[str | bytes] = UNSET
    truncated: Patch[bool] = field(default=UNSET, metadata=wire(internal=True))
    exit_status: Patch[JsonObject] = UNSET
    size: Patch[JsonObject] = UNSET
    """``cols`` and ``rows``."""
    capabilities: Patch[JsonObject] = UNSET
    meta: Patch[JsonObject] = UNSET
    unknown: JsonObject = field(factory=dict)
    output_envelope: JsonObject = field(factory=dict, metadata=wire(internal=True))
    """What v2 says beside the bytes of ``output``, passed on unchanged."""


@frozen
class TerminalOutput:
    """More text of a terminal, already decoded."""

    terminal_id: str
    text: str


@frozen
class TerminalBytes:
    """More output of a terminal of the agent's, as bytes (v2)."""

    terminal_id: str
    data: bytes
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)
