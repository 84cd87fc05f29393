"""A session as it is opened and listed: its modes, options and commands."""

from __future__ import annotations

from typing import ClassVar, TypeAlias

from attrs import field

from acp_sidecar.acp.model.content import UnknownBlock
from acp_sidecar.acp.values import JsonObject, frozen, wire


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
