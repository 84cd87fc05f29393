"""What is said in ACP, free of the version that says it.

The values here follow the semantics of protocol v2: everything with an id is an
upsert, and a patch field has three states. ``UNSET`` leaves the stored value,
``None`` clears it, anything else replaces it. The wire modules
(:mod:`acp_sidecar.acp.v1`, :mod:`acp_sidecar.acp.v2`) turn messages into these values and back;
nothing above them asks which version is spoken.

Conventions, for every class of this package:

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

from acp_sidecar.acp.model.agent import (
    AgentInfo,
    AuthMethod,
    ClientCapabilities,
    Implementation,
    TerminalAuthMethod,
)
from acp_sidecar.acp.model.content import (
    AUDIENCES,
    Annotations,
    AudioContent,
    BlobResourceContents,
    ContentBlock,
    EmbeddedResource,
    Icon,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
    UnknownBlock,
)
from acp_sidecar.acp.model.permission import PermissionOption, PermissionRequest, PermissionSubject
from acp_sidecar.acp.model.requests import (
    CreateTerminal,
    EnvVariable,
    ReadTextFile,
    TerminalRequest,
    WriteTextFile,
)
from acp_sidecar.acp.model.session import (
    AvailableCommand,
    BooleanOption,
    CommandInput,
    ConfigChoice,
    ConfigChoiceGroup,
    ConfigOption,
    SelectOption,
    SessionInfo,
    SessionMode,
    SessionModes,
    SessionOpened,
    SessionPage,
)
from acp_sidecar.acp.model.terminal import TerminalBytes, TerminalOutput, TerminalUpdate
from acp_sidecar.acp.model.toolcall import (
    FINAL_STATUSES,
    TOOL_KINDS,
    TOOL_STATUSES,
    ChangedFiles,
    Content,
    Diff,
    DiffPatch,
    FileChange,
    Location,
    TerminalContent,
    ToolCallContent,
    ToolCallContentChunk,
    ToolCallUpsert,
)
from acp_sidecar.acp.model.turn import (
    ActionRequired,
    BackgroundTerminal,
    BackgroundToolCall,
    BackgroundWork,
    PromptAccepted,
    TurnEnded,
    TurnStarted,
)
from acp_sidecar.acp.model.updates import (
    PLAN_PRIORITIES,
    PLAN_STATUSES,
    CommandsUpdate,
    CompactionSummaryChunk,
    CompactionUpdate,
    ConfigOptionsUpdate,
    Cost,
    Event,
    MessageChunk,
    MessageUpsert,
    ModeUpdate,
    Notice,
    PlanEntry,
    PlanUpdate,
    Role,
    SessionInfoUpdate,
    UnknownUpdate,
    UsageUpdate,
)
from acp_sidecar.acp.values import UNSET, Json, JsonObject, Patch, Unset, given, says

__all__ = [
    "AUDIENCES",
    "FINAL_STATUSES",
    "PLAN_PRIORITIES",
    "PLAN_STATUSES",
    "TOOL_KINDS",
    "TOOL_STATUSES",
    "UNSET",
    "ActionRequired",
    "AgentInfo",
    "Annotations",
    "AudioContent",
    "AuthMethod",
    "AvailableCommand",
    "BackgroundTerminal",
    "BackgroundToolCall",
    "BackgroundWork",
    "BlobResourceContents",
    "BooleanOption",
    "ChangedFiles",
    "ClientCapabilities",
    "CommandInput",
    "CommandsUpdate",
    "CompactionSummaryChunk",
    "CompactionUpdate",
    "ConfigChoice",
    "ConfigChoiceGroup",
    "ConfigOption",
    "ConfigOptionsUpdate",
    "Content",
    "ContentBlock",
    "Cost",
    "CreateTerminal",
    "Diff",
    "DiffPatch",
    "EmbeddedResource",
    "EnvVariable",
    "Event",
    "FileChange",
    "Icon",
    "ImageContent",
    "Implementation",
    "Json",
    "JsonObject",
    "Location",
    "MessageChunk",
    "MessageUpsert",
    "ModeUpdate",
    "Notice",
    "Patch",
    "PermissionOption",
    "PermissionRequest",
    "PermissionSubject",
    "PlanEntry",
    "PlanUpdate",
    "PromptAccepted",
    "ReadTextFile",
    "ResourceLink",
    "Role",
    "SelectOption",
    "SessionInfo",
    "SessionInfoUpdate",
    "SessionMode",
    "SessionModes",
    "SessionOpened",
    "SessionPage",
    "TerminalAuthMethod",
    "TerminalBytes",
    "TerminalContent",
    "TerminalOutput",
    "TerminalRequest",
    "TerminalUpdate",
    "TextContent",
    "TextResourceContents",
    "ToolCallContent",
    "ToolCallContentChunk",
    "ToolCallUpsert",
    "TurnEnded",
    "TurnStarted",
    "UnknownBlock",
    "UnknownUpdate",
    "Unset",
    "UsageUpdate",
    "WriteTextFile",
    "given",
    "says",
]
