"""An agent changes a mode or an option by itself: what the user is told of it.

ACP, "Session Modes" and "Session Config Options". What the user has asked for comes back as
an echo, before the answer or after it, as a mode, as an option of the category ``mode``, or as
both. That is no news.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, TypeAlias

from attrs import define, field

from acp_sidecar.acp.model import (
    BooleanOption,
    ConfigChoiceGroup,
    ConfigOption,
    SelectOption,
    SessionModes,
    UnknownBlock,
)
from acp_sidecar.client.visible import visible

if TYPE_CHECKING:
    from acp_sidecar.session.info import SessionInfo

Settings: TypeAlias = tuple[SessionModes | None, tuple[ConfigOption, ...]]
"""The modes and the options of a session."""

_MODE: Final = "mode"


@define(eq=False)
class SettingsNews:
    """What of one session's settings the user has asked for and has not got yet."""

    _asked: list[tuple[str | bool, str | None]] = field(factory=list)

    @contextlib.contextmanager
    def asked(self, value: str | bool, config_id: str | None = None) -> Iterator[None]:
        """While the agent is asked for a mode, or for a value of an option."""
        wanted = (value, config_id)
        self._asked.append(wanted)
        try:
            yield
        finally:
            self._asked.remove(wanted)

    def of(self, before: Settings, now: SessionInfo) -> list[str]:
        """What has changed and was not asked for, a few words each, to follow the agent's
        name. What was not there before is no change."""
        modes, options = before
        said = []
        mode = now.modes.current_mode_id if now.modes else None
        moved = modes is not None and mode is not None and mode != modes.current_mode_id
        if moved and mode is not None and not self._wanted(mode, None):
            said.append(f"has switched to the mode {visible(_mode_name(now.modes, mode))}")
        known = {each.id: each for each in options if not isinstance(each, UnknownBlock)}
        for option in now.config_options:
            if isinstance(option, UnknownBlock) or option.id not in known:
                continue
            value = option.current_value
            if value == known[option.id].current_value or self._wanted(value, option.id):
                continue
            is_mode = option.category == _MODE
            if is_mode and (value == mode or self._wanted(value, None)):
                continue
            said.append(f"has set {visible(option.name)} to {visible(_value_name(option))}")
        return said

    def _wanted(self, value: str | bool, config_id: str | None) -> bool:
        """Whether the user has just asked for this. A mode counts as asked for also where an
        option of that value was."""
        return any(
            value == asked and (config_id is None or config_id == asked_id)
            for asked, asked_id in self._asked
        )


def _mode_name(modes: SessionModes | None, mode_id: str) -> str:
    known = modes.available_modes if modes else ()
    return next((mode.name for mode in known if mode.id == mode_id), mode_id)


def _value_name(option: SelectOption | BooleanOption) -> str:
    if isinstance(option, BooleanOption):
        return "on" if option.current_value else "off"
    for each in option.options:
        choices = each.options if isinstance(each, ConfigChoiceGroup) else (each,)
        for choice in choices:
            if choice.value == option.current_value:
                return choice.name
    return option.current_value
