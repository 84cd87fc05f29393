"""The files that a tool call's arguments name.

Agents name them under many words. To take one for a path that is none costs nothing: such a
file is not there, before and after.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from acp_sidecar.acp.model import UNSET, Json, Unset

_FIELDS: Final = (
    *("path", "file_path", "filePath", "filepath", "file", "notebook_path"),
    *("old_path", "oldPath", "new_path", "newPath", "move_path", "movePath"),
    *("source", "destination"),
)
_TABLE: Final = "changes"
"""A field that holds what happens to each file, by its path."""


def named_paths(raw_input: Json | Unset) -> Iterator[str]:
    """The paths in a call's raw input, as they are written there."""
    if raw_input is UNSET or not isinstance(raw_input, Mapping):
        return
    for name in _FIELDS:
        value = raw_input.get(name)
        if isinstance(value, str) and value:
            yield value
    table = raw_input.get(_TABLE)
    if isinstance(table, Mapping):
        for path, change in table.items():
            yield path
            yield from named_paths(change)
