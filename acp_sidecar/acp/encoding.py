"""Values of :mod:`acp_sidecar.acp.model` → JSON, the inverse of ``decoding``.

Names are camel case, ``meta`` goes under ``_meta``, ``unknown`` fields are laid beside the
known ones, a tagged class gets its ``type``. What was left out (``UNSET``) and what has
no value is not written, except where the declaration says ``always`` or the field is
required.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cache
from typing import Any, Final

import attrs

from acp_sidecar.acp.values import UNSET, rule_of, wire_name

_ALWAYS: Final = object()
"""Equal to no value: what is compared with it is always written."""


def encode(value: Any) -> Any:
    """``value`` as JSON: attrs values become objects, tuples arrays, the rest stays as it is.

    Free-form parts are shared with ``value``, not copied.
    """
    if isinstance(value, tuple | list):
        return [encode(item) for item in value]
    cls = value.__class__
    if attrs.has(cls):
        return _encoder(cls)(value)
    return value


def encode_fields(value: Any, *, leave_out: Collection[str] = ()) -> dict[str, Any]:
    """An attrs value as JSON, without the attributes named in ``leave_out``."""
    return _encoder(value.__class__, frozenset(leave_out))(value)


@cache
def _encoder(
    cls: type[attrs.AttrsInstance], leave_out: frozenset[str] = frozenset()
) -> Callable[[Any], dict[str, Any]]:
    if getattr(cls, "KEEPS_UNKNOWN", False):
        return lambda value: dict(value.raw)
    tag = getattr(cls, "TAG", None)
    has_unknown = any(attribute.name == "unknown" for attribute in attrs.fields(cls))
    table = [
        (attribute.name, wire_name(attribute), _omitted(attribute))
        for attribute in attrs.fields(cls)
        if attribute.name != "unknown"
        and attribute.name not in leave_out
        and not rule_of(attribute).internal
    ]

    def write(value: Any) -> dict[str, Any]:
        written: dict[str, Any] = {} if tag is None else {"type": tag}
        for name, key, omitted in table:
            item = getattr(value, name)
            if item is not UNSET and item != omitted:
                written[key] = encode(item)
        if has_unknown:
            for key, item in value.unknown.items():
                written.setdefault(key, item)
        return written

    return write


def _omitted(attribute: attrs.Attribute[Any]) -> Any:
    default: Any = attribute.default
    if default is attrs.NOTHING or default is UNSET or rule_of(attribute).always:
        return _ALWAYS
    if isinstance(default, attrs.Factory):  # type: ignore[arg-type]
        return default.factory()
    return default
