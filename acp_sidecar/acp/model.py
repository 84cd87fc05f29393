"""What is said in ACP, free of the version that says it.

The values here follow the semantics of protocol v2: everything with an id is an
upsert, and a patch field has three states. ``UNSET`` leaves the stored value,
``None`` clears it, anything else replaces it. The wire modules
(:mod:`acp_sidecar.acp.v1`, later ``v2``) turn messages into these values and back;
nothing above them asks which version is spoken.

Conventions, for every class of this module:

* names are the protocol's, in snake case;
* ``meta`` is the protocol's ``_meta`` object, passed on unchanged;
* ``unknown`` holds the fields the schema does not name, passed on unchanged;
* ``path`` is a string exactly as the agent sent it, not yet trusted or resolved;
* ``line`` is 1-based, as on the wire (0 is taken for the first line by readers).
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias, TypeVar

from attrs import field, frozen

Json: TypeAlias = Any
"""Any JSON value."""

JsonObject: TypeAlias = Mapping[str, Any]


class Unset(enum.Enum):
    """The type of :data:`UNSET`."""

    UNSET = enum.auto()

    def __repr__(self) -> str:
        return "UNSET"

    def __bool__(self) -> bool:
        return False


UNSET: Final = Unset.UNSET
"""A patch field that was left out: the stored value stays."""

T = TypeVar("T")
Patch: TypeAlias = T | None | Unset
"""A three-state patch field: left out, cleared, or replaced."""


def given(patch: Patch[T], otherwise: T) -> T:
    """The patch's value, ``otherwise`` where it was left out or cleared."""
    return otherwise if patch is None or patch is UNSET else patch


Role: TypeAlias = Literal["user", "agent", "thought"]

TOOL_KINDS: Final = frozenset(
    {
        "read",
        "edit",
        "delete",
        "move",
        "search",
        "execute",
        "think",
        "fetch",
        "switch_mode",
        "other",
    }
)
FINAL_STATUSES: Final = frozenset({"completed", "failed", "cancelled"})
"""Tool-call statuses after which nothing more is expected of a call."""


# --- content ---------------------------------------------------------------


@frozen
class TextContent:
    text: str
    annotations: JsonObject | None = None
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class ImageContent:
    data: str
    """Base64."""
    mime_type: str
    uri: str | None = None
    annotations: JsonObject | None = None
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class AudioContent:
    data: str
    """Base64."""
    mime_type: str
    annotations: JsonObject | None = None
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class ResourceLink:
    uri: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    size: int | None = None
    annotations: JsonObject | None = None
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class TextResourceContents:
    uri: str
    text: str
    mime_type: str | None = None
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class BlobResourceContents:
    uri: str
    blob: str
    """Base64."""
    mime_type: str | None = None
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class EmbeddedResource:
    resource: TextResourceContents | BlobResourceContents
    annotations: JsonObject | None = None
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class UnknownBlock:
    """A content block or tool-call content of a type this version does not know."""

    raw: JsonObject


ContentBlock: TypeAlias = (
    TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource | UnknownBlock
)


# --- tool calls --------------------------------------------------------------


@frozen
class Content:
    """A content block inside a tool call."""

    content: ContentBlock
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class Diff:
    """A report of a changed file. It is shown and seeds the ledger, never applied."""

    path: str
    new_text: str
    old_text: str | None = None
    """None where the agent gives none; that alone does not prove a new file."""
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class TerminalContent:
    """A terminal embedded in a tool call, by its id."""

    terminal_id: str
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


ToolCallContent: TypeAlias = Content | Diff | TerminalContent | UnknownBlock


@frozen
class Location:
    path: str
    line: int | None = None
    """1-based."""
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class PermissionOption:
    """One answer the agent offers. ``kind`` is a hint for order and icon only."""

    option_id: str
    name: str
    kind: str | None = None
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class PermissionSubject:
    """What a permission is asked for, beyond a tool call (v2 ``command``)."""

    command: str | None = None
    cwd: str | None = None
    terminal_id: str | None = None


@frozen
class PermissionRequest:
    """An agent asks before it acts.

    ``tool_call`` is the upsert the request carries, already neutral; it is applied to
    the session state like any other. ``title`` and ``description`` are the prompt's own
    (v2) and never overwrite the tool call's title.
    """

    agent_session_id: str
    options: tuple[PermissionOption, ...]
    tool_call: ToolCallUpsert | None = None
    title: str | None = None
    description: str | None = None
    subject: PermissionSubject | None = None
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


# --- session settings --------------------------------------------------------


@frozen
class SessionMode:
    id: str
    name: str
    description: str | None = None
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class SessionModes:
    current_mode_id: str
    available_modes: tuple[SessionMode, ...] = ()
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class ConfigOption:
    """A session setting: ``type`` is ``select``, ``boolean`` or a future kind."""

    id: str
    name: str
    type: str
    current_value: str | bool | None = None
    options: Json = None
    """For ``select``: the choices or groups of choices, as the agent sent them."""
    category: str | None = None
    description: str | None = None
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class AvailableCommand:
    name: str
    description: str
    hint: str | None = None
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class PlanEntry:
    content: str
    priority: str = "medium"
    status: str = "pending"
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


# --- handshake -----------------------------------------------------------------


@frozen
class AuthMethod:
    id: str
    name: str
    type: str = "agent"
    """``agent``, ``terminal``, or a type this version does not know."""
    description: str | None = None
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(factory=dict)
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class AgentInfo:
    """What ``initialize`` told us of the agent."""

    protocol_version: int
    name: str | None = None
    title: str | None = None
    version: str | None = None
    load_session: bool = False
    list_sessions: bool = False
    resume_session: bool = False
    fork_session: bool = False
    close_session: bool = False
    delete_session: bool = False
    additional_directories: bool = False
    prompt_image: bool = False
    prompt_audio: bool = False
    prompt_embedded_context: bool = False
    mcp_http: bool = False
    mcp_sse: bool = False
    logout: bool = False
    auth_methods: tuple[AuthMethod, ...] = ()
    raw: JsonObject = field(factory=dict)
    """The result as it came, for ``doctor`` and for fields we do not know."""


@frozen
class SessionOpened:
    """The result of ``session/new``, ``load``, ``resume`` or ``fork``."""

    agent_session_id: str
    modes: SessionModes | None = None
    config_options: tuple[ConfigOption, ...] = ()
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class SessionInfo:
    """One row of ``session/list``."""

    agent_session_id: str
    cwd: str
    title: str | None = None
    updated_at: str | None = None
    additional_directories: tuple[str, ...] = ()
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class SessionPage:
    sessions: tuple[SessionInfo, ...] = ()
    next_cursor: str | None = None


# --- events ----------------------------------------------------------------------
#
# What happens in a session. The wire modules yield them, ``session`` folds them.


@frozen
class MessageChunk:
    role: Role
    content: ContentBlock
    message_id: str | None = None
    meta: JsonObject | None = None


@frozen
class MessageUpsert:
    role: Role
    message_id: str
    content: Patch[tuple[ContentBlock, ...]] = UNSET
    meta: Patch[JsonObject] = UNSET


@frozen
class ToolCallUpsert:
    """Creates the call where its id is new, patches it otherwise.

    ``announces`` is true for v1's ``tool_call``: after a final status it starts a
    new entry under the same id, where an update would only add to the old one.
    """

    tool_call_id: str
    title: Patch[str] = UNSET
    name: Patch[str] = UNSET
    kind: Patch[str] = UNSET
    status: Patch[str] = UNSET
    content: Patch[tuple[ToolCallContent, ...]] = UNSET
    locations: Patch[tuple[Location, ...]] = UNSET
    raw_input: Patch[Json] = UNSET
    raw_output: Patch[Json] = UNSET
    capabilities: Patch[JsonObject] = UNSET
    meta: Patch[JsonObject] = UNSET
    unknown: JsonObject = field(factory=dict)
    announces: bool = False


@frozen
class ToolCallContentChunk:
    tool_call_id: str
    content: ToolCallContent
    meta: JsonObject | None = None


@frozen
class PlanUpdate:
    entries: tuple[PlanEntry, ...]
    plan_id: str = "plan"
    meta: JsonObject | None = None


@frozen
class CommandsUpdate:
    commands: tuple[AvailableCommand, ...]


@frozen
class ModeUpdate:
    current_mode_id: str


@frozen
class ConfigOptionsUpdate:
    config_options: tuple[ConfigOption, ...]


@frozen
class SessionInfoUpdate:
    title: Patch[str] = UNSET
    updated_at: Patch[str] = UNSET
    meta: Patch[JsonObject] = UNSET


@frozen
class UsageUpdate:
    used: int
    size: int
    cost: JsonObject | None = None
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class Notice:
    severity: str
    title: str
    description: str | None = None
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class CompactionUpdate:
    compaction_id: str
    status: str
    summary: Patch[tuple[ContentBlock, ...]] = UNSET
    error: Patch[str] = UNSET
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class CompactionSummaryChunk:
    compaction_id: str
    content: ContentBlock
    meta: JsonObject | None = None


@frozen
class TerminalUpdate:
    """A terminal's facts or its whole text so far; ``output`` replaces."""

    terminal_id: str
    command: Patch[str] = UNSET
    cwd: Patch[str] = UNSET
    output: Patch[str] = UNSET
    truncated: Patch[bool] = UNSET
    exit_status: Patch[JsonObject] = UNSET


@frozen
class TerminalOutput:
    """More text of a terminal, already decoded."""

    terminal_id: str
    text: str


@frozen
class TurnStarted:
    """The agent began to work: our prompt was sent, or a v2 agent says ``running``."""


@frozen
class TurnEnded:
    """The agent is idle. ``stop_reason`` may be missing (v2)."""

    stop_reason: str | None


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
    | TurnStarted
    | TurnEnded
    | UnknownUpdate
)
