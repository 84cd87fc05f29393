"""What an agent tells of a session as a whole: settings, commands, title, usage.

ACP, "Session Modes", "Session Config Options", "Slash Commands".
"""

from __future__ import annotations

from attrs import evolve

from acp_sidecar.acp.model import (
    UNSET,
    AvailableCommand,
    CommandsUpdate,
    ConfigOption,
    ConfigOptionsUpdate,
    JsonObject,
    ModeUpdate,
    SessionInfoUpdate,
    SessionModes,
    SessionOpened,
    UsageUpdate,
)
from acp_sidecar.session.change import (
    Change,
    CommandsChanged,
    ConfigChanged,
    ModesChanged,
    UsageChanged,
)
from acp_sidecar.session.meta import patched_meta


class SessionInfo:
    """What an agent tells of a session as a whole, as it is now."""

    def __init__(self) -> None:
        self.modes: SessionModes | None = None
        self.config_options: tuple[ConfigOption, ...] = ()
        self.commands: tuple[AvailableCommand, ...] = ()
        self.title: str | None = None
        """What the agent calls it; what it is called is the session's own ``title``."""
        self.updated_at: str | None = None
        self.meta: JsonObject | None = None
        self.usage: UsageUpdate | None = None

    def opened(self, opened: SessionOpened) -> list[Change]:
        """The answer to the request that opens a session. What it does not mention stays: a
        load may have told it before."""
        changes: list[Change] = []
        if opened.modes is not None:
            self.modes = opened.modes
            changes.append(ModesChanged(opened.modes))
        if opened.config_options:
            self.config_options = opened.config_options
            changes.append(ConfigChanged(opened.config_options))
        if opened.commands:
            self.commands = opened.commands
            changes.append(CommandsChanged(opened.commands))
        if opened.meta:
            self.meta = {**(self.meta or {}), **opened.meta}
        return changes

    def command_list(self, event: CommandsUpdate) -> Change:
        """Fold the commands there are."""
        self.commands = event.commands
        return CommandsChanged(self.commands)

    def mode(self, event: ModeUpdate) -> Change:
        """Fold another mode."""
        if self.modes is None:
            self.modes = SessionModes(event.current_mode_id, ())
        else:
            self.modes = evolve(self.modes, current_mode_id=event.current_mode_id)
        return ModesChanged(self.modes)

    def config(self, event: ConfigOptionsUpdate) -> Change:
        """Fold the options, all of them."""
        self.config_options = event.config_options
        return ConfigChanged(self.config_options)

    def session_info(self, event: SessionInfoUpdate) -> None:
        """Fold title, time and ``_meta``, a patch each."""
        if event.title is not UNSET:
            self.title = event.title
        if event.updated_at is not UNSET:
            self.updated_at = event.updated_at
        if event.meta is not UNSET:
            self.meta = patched_meta(self.meta, event.meta)

    def use(self, event: UsageUpdate) -> Change:
        """Fold the usage; the cost stays where nothing is said of it."""
        known = self.usage.cost if self.usage is not None else None
        self.usage = evolve(event, cost=known) if event.cost is UNSET else event
        return UsageChanged(self.usage)
