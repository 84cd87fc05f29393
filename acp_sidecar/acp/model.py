"""What is said in ACP, free of the version that says it.

The values here follow the semantics of protocol v2: everything with an id is an
upsert, and a patch field has three states. ``UNSET`` leaves the stored value,
``None`` clears it, anything else replaces it. The wire modules
(:mod:`acp_sidecar.acp.v1`, :mod:`acp_sidecar.acp.v2`) turn messages into these values and back;
nothing above them asks which version is spoken.

Conventions, for every class of this module:

* names are the protocol's, in snake case;
* ``meta`` is the protocol's ``_meta`` object, passed on unchanged;
* ``unknown`` holds the fields the schema does not name, passed on unchanged;
* ``path`` is a string exactly as the agent sent it, not yet trusted or resolved;
* ``line`` is 1-based, as on the wire (0 is taken for the first line by readers);
* how a field is read from the wire follows from its declaration, see
  :mod:`acp_sidecar.acp.decoding`; ``TAG`` is the value of ``type`` that tells a class
  apart in a union.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final, Literal, TypeAlias, TypeVar

from attrs import field

from acp_sidecar.acp.values import UNSET as UNSET
from acp_sidecar.acp.values import Unset as Unset
from acp_sidecar.acp.values import frozen, wire

Json: TypeAlias = Any
"""Any JSON value."""

JsonObject: TypeAlias = Mapping[str, Any]


T = TypeVar("T")
Patch: TypeAlias = T | Unset | None
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
TOOL_STATUSES: Final = frozenset({"pending", "in_progress", "completed", "failed"})
"""What v1 knows; ``cancelled`` is v2's, and ours for a call that a cancel closed."""
AUDIENCES: Final = frozenset({"user", "assistant"})
PLAN_PRIORITIES: Final = frozenset({"high", "medium", "low"})
PLAN_STATUSES: Final = frozenset({"pending", "in_progress", "completed"})


# --- content ---------------------------------------------------------------


@frozen
class Annotations:
    """Hints on how content is meant to be used."""

    audience: tuple[str, ...] | None = field(default=None, metadata=wire(choices=AUDIENCES))
    last_modified: str | None = None
    priority: float | None = None
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class TextContent:
    TAG: ClassVar[str] = "text"
    text: str
    annotations: Annotations | None = None
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class ImageContent:
    TAG: ClassVar[str] = "image"
    data: str
    """Base64."""
    mime_type: str
    uri: str | None = None
    annotations: Annotations | None = None
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class AudioContent:
    TAG: ClassVar[str] = "audio"
    data: str
    """Base64."""
    mime_type: str
    annotations: Annotations | None = None
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class Icon:
    """A picture for a resource (v2)."""

    src: str
    mime_type: str | None = None
    sizes: tuple[str, ...] = ()
    theme: str | None = None
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class ResourceLink:
    TAG: ClassVar[str] = "resource_link"
    uri: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    size: int | None = None
    icons: tuple[Icon, ...] = ()
    annotations: Annotations | None = None
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
    TAG: ClassVar[str] = "resource"
    resource: TextResourceContents | BlobResourceContents
    annotations: Annotations | None = None
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class UnknownBlock:
    """A content block, tool-call content or setting of a type this version does not know."""

    KEEPS_UNKNOWN: ClassVar[bool] = True
    raw: JsonObject


ContentBlock: TypeAlias = (
    TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource | UnknownBlock
)


# --- tool calls --------------------------------------------------------------


@frozen
class Content:
    """A content block inside a tool call."""

    TAG: ClassVar[str] = "content"
    content: ContentBlock
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class Diff:
    """A report of a changed file. It is shown and seeds the ledger, never applied."""

    TAG: ClassVar[str] = "diff"
    path: str
    new_text: str
    old_text: str | None = field(default=None, metadata=wire(always=True))
    """None where the agent gives none; that alone does not prove a new file."""
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class FileChange:
    """One file of a :class:`ChangedFiles`. ``old_path`` is that of a ``move`` or ``copy``."""

    operation: str
    """``add``, ``delete``, ``modify``, ``move`` or ``copy``."""
    path: str
    old_path: str | None = None
    file_type: str | None = None
    """After the operation: ``text``, ``binary``, ``directory``, ``symlink``, or another word."""
    mime_type: str | None = None
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class DiffPatch:
    """A patch as text."""

    format: str
    """``git_patch``, or another word that is not understood."""
    text: str
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class ChangedFiles:
    """A report of changed files, v2's ``diff``. Like :class:`Diff` it is never applied.

    ``changes`` alone says which files it is about; ``patch`` is for showing. An operation that
    is not known is an :class:`UnknownBlock`.
    """

    TAG: ClassVar[str] = "diff"
    changes: tuple[FileChange | UnknownBlock, ...]
    patch: DiffPatch | None = None
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)

    @property
    def files(self) -> tuple[FileChange, ...]:
        """The changes that are understood."""
        return tuple(item for item in self.changes if isinstance(item, FileChange))


@frozen
class TerminalContent:
    """A terminal embedded in a tool call, by its id."""

    TAG: ClassVar[str] = "terminal"
    terminal_id: str
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


ToolCallContent: TypeAlias = Content | Diff | ChangedFiles | TerminalContent | UnknownBlock


@frozen
class Location:
    path: str
    line: int | None = field(default=None, metadata=wire(natural=True, always=True))
    """1-based."""
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


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
    available_modes: tuple[SessionMode, ...] = field(metadata=wire(fallback=()))
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class ConfigChoice:
    """A value that a ``select`` option can take."""

    value: str
    name: str
    description: str | None = None
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class ConfigChoiceGroup:
    """Choices under a heading."""

    group: str
    name: str
    options: tuple[ConfigChoice, ...] = field(metadata=wire(fallback=()))
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class SelectOption:
    """A session setting with named values."""

    TAG: ClassVar[str] = "select"
    id: str
    name: str
    current_value: str
    options: tuple[ConfigChoice, ...] | tuple[ConfigChoiceGroup, ...]
    category: str | None = None
    description: str | None = None
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class BooleanOption:
    """A session setting that is on or off."""

    TAG: ClassVar[str] = "boolean"
    id: str
    name: str
    current_value: bool
    category: str | None = None
    description: str | None = None
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


ConfigOption: TypeAlias = SelectOption | BooleanOption | UnknownBlock


@frozen
class CommandInput:
    """What is typed after a command's name."""

    hint: str
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class AvailableCommand:
    name: str
    description: str
    input: CommandInput | UnknownBlock | None = None
    type: str = "command"
    """Another word: a kind of command that is not understood (v2)."""
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)

    @property
    def hint(self) -> str | None:
        return self.input.hint if isinstance(self.input, CommandInput) else None


@frozen
class PlanEntry:
    content: str
    priority: str = field(metadata=wire(choices=PLAN_PRIORITIES))
    status: str = field(metadata=wire(choices=PLAN_STATUSES))
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


# --- handshake -----------------------------------------------------------------


@frozen
class AuthMethod:
    """A way to log in, passed to ``authenticate`` by its id."""

    id: str
    name: str
    type: str = "agent"
    description: str | None = None
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class TerminalAuthMethod:
    """A way to log in by running the agent's command in a terminal.

    It is never passed to ``authenticate``.
    """

    TAG: ClassVar[str] = "terminal"
    id: str
    name: str
    description: str | None = None
    args: tuple[str, ...] = field(default=(), metadata=wire(strict=True))
    """Appended to the agent's own arguments."""
    env: Mapping[str, str] = field(factory=dict, metadata=wire(strict=True))
    """Laid over the agent's own environment."""
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)

    @property
    def type(self) -> str:
        return self.TAG


@frozen
class Implementation:
    """The name and version of a program that speaks ACP."""

    name: str
    version: str
    title: str | None = None
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class ClientCapabilities:
    """What we tell an agent that we can do; only what is really implemented."""

    read_text_file: bool = False
    write_text_file: bool = False
    terminal: bool = False
    terminal_auth: bool = False
    boolean_config_options: bool = False
    notices: bool = False
    compaction: bool = False
    elicitation_form: bool = False
    elicitation_url: bool = False
    meta: JsonObject | None = None


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
    mcp_stdio: bool = True
    mcp_http: bool = False
    mcp_sse: bool = False
    logout: bool = False
    auth_methods: tuple[AuthMethod | TerminalAuthMethod, ...] = ()
    raw: JsonObject = field(factory=dict)
    """The result as it came, for ``doctor`` and for fields we do not know."""


@frozen
class SessionOpened:
    """The result of ``session/new``, ``load``, ``resume`` or ``fork``.

    ``settled``: nothing that the agent told of before is still going on (v1).
    """

    agent_session_id: str = field(metadata=wire("sessionId"))
    modes: SessionModes | None = None
    config_options: tuple[ConfigOption, ...] = ()
    commands: tuple[AvailableCommand, ...] = field(default=(), metadata=wire("availableCommands"))
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)
    settled: bool = field(default=False, metadata=wire(internal=True))


@frozen
class SessionInfo:
    """One row of ``session/list``."""

    agent_session_id: str = field(metadata=wire("sessionId"))
    cwd: str
    title: str | None = field(default=None, metadata=wire(always=True))
    updated_at: str | None = field(default=None, metadata=wire(always=True))
    additional_directories: tuple[str, ...] = field(default=(), metadata=wire(always=True))
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class SessionPage:
    sessions: tuple[SessionInfo, ...] = field(metadata=wire(fallback=()))
    next_cursor: str | None = None
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


# --- requests of the agent --------------------------------------------------------


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


# --- events ----------------------------------------------------------------------
#
# What happens in a session. The wire modules yield them, ``session`` folds them.


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
class ToolCallUpsert:
    """Creates the call where its id is new, patches it otherwise.

    ``announces`` is true for v1's ``tool_call``: after a final status it starts a
    new entry under the same id, where an update would only add to the old one.
    ``lasting`` is true in v2, where a call may outlive its turn: only the agent or a cancel ends
    it, and a status that is not final takes it up again after the agent had finished it.
    """

    tool_call_id: str
    title: Patch[str] = UNSET
    name: Patch[str] = UNSET
    kind: Patch[str] = field(default=UNSET, metadata=wire(choices=TOOL_KINDS))
    status: Patch[str] = field(default=UNSET, metadata=wire(choices=TOOL_STATUSES))
    content: Patch[tuple[ToolCallContent, ...]] = UNSET
    locations: Patch[tuple[Location, ...]] = UNSET
    raw_input: Patch[Json] = UNSET
    raw_output: Patch[Json] = UNSET
    capabilities: Patch[JsonObject] = UNSET
    meta: Patch[JsonObject] = UNSET
    unknown: JsonObject = field(factory=dict)
    announces: bool = field(default=False, metadata=wire(internal=True))
    lasting: bool = field(default=False, metadata=wire(internal=True))


@frozen
class ToolCallContentChunk:
    tool_call_id: str
    content: ToolCallContent
    meta: JsonObject | None = None
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
