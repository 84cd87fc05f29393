"""What happens in a session. The wire modules yield these values, ``session`` folds them."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from attrs import field

from acp_sidecar.acp.model.content import ContentBlock
from acp_sidecar.acp.model.session import AvailableCommand, ConfigOption
from acp_sidecar.acp.model.terminal import TerminalBytes, TerminalOutput, TerminalUpdate
from acp_sidecar.acp.model.toolcall import ToolCallContentChunk, ToolCallUpsert
from acp_sidecar.acp.model.turn import ActionRequired, TurnEnded, TurnStarted
from acp_sidecar.acp.values import UNSET, Json, JsonObject, Patch, frozen, wire

Role: TypeAlias = Literal["user", "agent", "thought"]
PLAN_PRIORITIES: Final = frozenset({"high", "medium", "low"})
PLAN_STATUSES: Final = frozenset({"pending", "in_progress", "completed"})


@frozen
class PlanEntry:
    content: str
    priority: str = field(metadata=wire(choices=PLAN_PRIORITIES))
    status: str = field(metadata=wire(choices=PLAN_STATUSES))
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class MessageChunk:
    role: Role = field(metadata=wire(internal=True))
    content: ContentBlock
    message_id: str | None = None
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)
    patches_meta: bool = field(default=True, metadata=wire(internal=True))
    """False: ``meta`` is that of this chunk alone and says nothing of the message (v2)."""


@frozen
class MessageUpsert:
    role: Role = field(metadata=wire(internal=True))
    message_id: str
    content: Patch[tuple[ContentBlock, ...]] = UNSET
    meta: Patch[JsonObject] = UNSET
    unknown: JsonObject = field(factory=dict)


@frozen
class PlanUpdate:
    """All of a plan. ``other`` is the whole content of a plan of a type that is not understood
    (v2), ``envelope`` what v2 says beside the plan, passed on unchanged."""

    entries: tuple[PlanEntry, ...] = field(metadata=wire(fallback=()))
    plan_id: str = "plan"
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)
    other: JsonObject | None = field(default=None, metadata=wire(internal=True))
    envelope: JsonObject = field(factory=dict, metadata=wire(internal=True))


@frozen
class CommandsUpdate:
    commands: tuple[AvailableCommand, ...] = field(metadata=wire("availableCommands", fallback=()))
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class ModeUpdate:
    current_mode_id: str
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class ConfigOptionsUpdate:
    config_options: tuple[ConfigOption, ...] = field(metadata=wire(fallback=()))
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class SessionInfoUpdate:
    title: Patch[str] = field(default=UNSET, metadata=wire(null_clears=True))
    updated_at: Patch[str] = field(default=UNSET, metadata=wire(null_clears=True))
    meta: Patch[JsonObject] = field(default=UNSET, metadata=wire(null_clears=True))
    unknown: JsonObject = field(factory=dict)


@frozen
class Cost:
    """What a session cost so far, in a currency or another unit."""

    amount: float
    currency: str
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class UsageUpdate:
    """Tokens in the context and the size of the context. A cost once told stays."""

    used: int = field(metadata=wire(natural=True))
    size: int = field(metadata=wire(natural=True))
    cost: Patch[Cost] = UNSET
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class Notice:
    severity: str
    title: str = field(metadata=wire(non_empty=True))
    description: str | None = None
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class CompactionUpdate:
    compaction_id: str
    status: str
    summary: Patch[tuple[ContentBlock, ...]] = field(default=UNSET, metadata=wire(null_clears=True))
    error: Patch[str] = field(default=UNSET, metadata=wire(null_clears=True))
    meta: Patch[JsonObject] = field(default=UNSET, metadata=wire(null_clears=True))
    unknown: JsonObject = field(factory=dict)


@frozen
class CompactionSummaryChunk:
    compaction_id: str
    content: ContentBlock
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class UnknownUpdate:
    """An update of a kind this version does not know; kept for the log, else ignored."""

    kind: str | None
    raw: Json


Event: TypeAlias = (
    MessageChunk
    | MessageUpsert
    | ToolCallUpsert
    | ToolCallContentChunk
    | PlanUpdate
    | CommandsUpdate
    | ModeUpdate
    | ConfigOptionsUpdate
    | SessionInfoUpdate
    | UsageUpdate
    | Notice
    | CompactionUpdate
    | CompactionSummaryChunk
    | TerminalUpdate
    | TerminalOutput
    | TerminalBytes
    | TurnStarted
    | ActionRequired
    | TurnEnded
    | UnknownUpdate
)
