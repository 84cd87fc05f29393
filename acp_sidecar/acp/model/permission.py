"""What an agent asks before it acts."""

from __future__ import annotations

from attrs import field

from acp_sidecar.acp.model.toolcall import ToolCallUpsert
from acp_sidecar.acp.values import JsonObject, frozen, wire


@frozen
class PermissionOption:
    """One answer the agent offers. ``kind`` is a hint for order and icon only."""

    option_id: str
    name: str
    kind: str | None = field(default=None, metadata=wire(always=True))
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class PermissionSubject:
    """What a permission is asked for (v2)."""

    command: str | None = None
    cwd: str | None = None
    terminal_id: str | None = None
    tool_call_id: str | None = None
    """The call that a ``command`` belongs to."""
    type: str = "command"
    """``tool_call`` (then the request has one), ``command``, or a word that is not understood."""
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)
    """For a type that is not understood everything that was said, else unknown fields."""


@frozen
class PermissionRequest:
    """An agent asks before it acts.

    ``tool_call`` is the upsert the request carries, already neutral; it is applied to
    the session state like any other. Its ``tool_call_id`` is ``""`` where the agent gave
    none: then it serves the display of this question only. ``title`` and ``description``
    are the prompt's own (v2) and never overwrite the tool call's title. ``exact``: the tool
    call is an update like any other (v2); else it empties nothing that is known.
    """

    agent_session_id: str
    options: tuple[PermissionOption, ...]
    """Those that can be chosen; empty where the agent offered none."""
    tool_call: ToolCallUpsert | None = None
    title: str | None = None
    description: str | None = None
    subject: PermissionSubject | None = None
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)
    exact: bool = False
