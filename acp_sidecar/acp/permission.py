"""A permission question, read more leniently than the schema asks for.

An agent that is not understood must still be answered, and by one of its own options.
So whatever can be chosen is kept: only an option without a usable id is dropped.
"""

from __future__ import annotations

from typing import Any

from acp_sidecar.acp.decoding import displayable, free_form
from acp_sidecar.acp.model import PermissionOption

_KNOWN = frozenset({"optionId", "name", "kind", "_meta"})


def permission_options(raw: Any) -> tuple[PermissionOption, ...]:
    """The options of a question, in the order offered, doubles included.

    ``raw`` is the parsed ``options`` of either protocol version; what is not an array
    gives none. An option that names no id is dropped, one without a name is called by its
    id, a kind that is unknown or missing makes a generic option.
    """
    items = raw if isinstance(raw, list) else []
    options = (_option(item) for item in items)
    return tuple(option for option in options if option is not None)


def _option(item: Any) -> PermissionOption | None:
    if not isinstance(item, dict):
        return None
    option_id = item.get("optionId")
    if not isinstance(option_id, str) or not option_id:
        return None
    name = item.get("name")
    kind = item.get("kind")
    meta = item.get("_meta")
    return PermissionOption(
        option_id=displayable(option_id),
        name=displayable(name if isinstance(name, str) and name.strip() else option_id),
        kind=displayable(kind) if isinstance(kind, str) and kind else None,
        meta=free_form(meta) if isinstance(meta, dict) else None,
        unknown=free_form({key: value for key, value in item.items() if key not in _KNOWN}),
    )
