"""Tool calls: what an agent does, what came of it, and where."""

from __future__ import annotations

from typing import ClassVar, Final, TypeAlias

from attrs import field

from acp_sidecar.acp.model.content import ContentBlock, UnknownBlock
from acp_sidecar.acp.values import UNSET, Json, JsonObject, Patch, frozen, wire

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
