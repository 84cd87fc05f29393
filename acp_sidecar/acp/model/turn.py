"""The turns of a session: when the agent works, waits and has ended, and what it still runs."""

from __future__ import annotations

from typing import ClassVar, TypeAlias

from attrs import field

from acp_sidecar.acp.model.content import UnknownBlock
from acp_sidecar.acp.values import JsonObject, frozen, wire


@frozen
class BackgroundTerminal:
    TAG: ClassVar[str] = "terminal"
    terminal_id: str
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class BackgroundToolCall:
    TAG: ClassVar[str] = "tool_call"
    tool_call_id: str
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


BackgroundWork: TypeAlias = BackgroundTerminal | BackgroundToolCall | UnknownBlock


@frozen
class TurnStarted:
    """The agent began to work: our prompt was sent, or a v2 agent says ``running``.

    ``state`` is the agent's word; one that is not understood means that it is busy.
    ``background``: all the work that goes on beside; None where the agent does not say.
    """

    state: str = "running"
    background: tuple[BackgroundWork, ...] | None = field(default=None, metadata=wire(exact=True))
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class ActionRequired:
    """The agent goes on only when the user has done something (v2)."""

    background: tuple[BackgroundWork, ...] | None = field(default=None, metadata=wire(exact=True))
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class TurnEnded:
    """A turn is over. ``stop_reason`` is None where the agent gave none, or failed.

    ``idle`` false: one prompt was answered (v1); what the agent left open is closed.
    ``idle`` true: the agent says that it works on nothing any more (v2), which ends every
    turn and closes nothing. ``error`` is a JSON-RPC error object, with the reason ``error``.
    """

    stop_reason: str | None
    idle: bool = field(default=False, metadata=wire(internal=True))
    error: JsonObject | None = None
    background: tuple[BackgroundWork, ...] | None = field(default=None, metadata=wire(exact=True))
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class PromptAccepted:
    """A v2 agent took a prompt into the conversation, as this message."""

    message_id: str
