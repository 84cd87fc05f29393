"""What an event changed in a session, for those who show it."""

from __future__ import annotations

from typing import TypeAlias

from acp_sidecar.acp.model import (
    AvailableCommand,
    ConfigOption,
    SessionModes,
    ToolCallContentChunk,
    ToolCallUpsert,
    UsageUpdate,
)
from acp_sidecar.acp.values import frozen
from acp_sidecar.session.message import Message
from acp_sidecar.session.question import Elicited, Permission
from acp_sidecar.session.records import Compaction, NoticeEntry, Plan
from acp_sidecar.session.terminals import Terminal
from acp_sidecar.session.toolcall import ToolCall

# The things named in a change are the session's own and go on living: who keeps a change
# sees the latest state, not the state at the time of the change.


@frozen(eq=False)
class MessageChanged:
    message: Message
    appended: bool
    """True where content was added to a message already known."""


@frozen(eq=False)
class ToolCallChanged:
    tool_call: ToolCall
    event: ToolCallUpsert | ToolCallContentChunk | None
    """What the agent said; None where the session itself closed the call."""
    created: bool
    """True the first time there is something to show of the call."""


@frozen(eq=False)
class PlanChanged:
    plan: Plan


@frozen(eq=False)
class ModesChanged:
    modes: SessionModes | None


@frozen(eq=False)
class ConfigChanged:
    config_options: tuple[ConfigOption, ...]


@frozen(eq=False)
class CommandsChanged:
    commands: tuple[AvailableCommand, ...]


@frozen(eq=False)
class InfoChanged:
    title: str | None
    updated_at: str | None


@frozen(eq=False)
class UsageChanged:
    usage: UsageUpdate


@frozen(eq=False)
class NoticeAdded:
    notice: NoticeEntry


@frozen(eq=False)
class CompactionChanged:
    compaction: Compaction


@frozen(eq=False)
class TerminalChanged:
    terminal: Terminal


@frozen(eq=False)
class PermissionChanged:
    permission: Permission


@frozen(eq=False)
class ElicitationChanged:
    elicited: Elicited


@frozen(eq=False)
class StatusChanged:
    status: str
    stop_reason: str | None


Change: TypeAlias = (
    MessageChanged
    | ToolCallChanged
    | PlanChanged
    | ModesChanged
    | ConfigChanged
    | CommandsChanged
    | InfoChanged
    | UsageChanged
    | NoticeAdded
    | CompactionChanged
    | TerminalChanged
    | PermissionChanged
    | ElicitationChanged
    | StatusChanged
)
