"""The command line that a tool's raw input names, as agents name it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Final

from acp_sidecar.acp.model import Json

_FIELDS: Final = ("command", "cmd")


def command_of(raw_input: Json) -> str | None:
    """``command`` or ``cmd``: a text as it is, a list of words quoted for a POSIX shell.

    None where there is neither, or what is there is blank or nothing of the kind.
    """
    return command_field(raw_input)[1]


def command_field(raw_input: Json) -> tuple[str | None, str | None]:
    """The name of the field that holds a command line, and that command line."""
    if not isinstance(raw_input, Mapping):
        return None, None
    for name in _FIELDS:
        value = raw_input.get(name)
        if isinstance(value, str) and value.strip():
            return name, value
        if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
            return name, shlex.join(value)
    return None, None
