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

from acp_sidecar.acp.values import NEUTRAL, UNSET, Dialect

_ALWAYS: Final = object()
"""Equal to no value: what is compared with it is always written."""


def encode(value: Any, dialect: Dialect = NEUTRAL) -> Any:
    """``value`` as JSON: attrs values become objects, tuples arrays, the rest stays as it is.

    Free-form parts are shared with ``value``, not copied.
    """
    if isinstance(value, tuple | list):
        return [encode(item, dialect) for item in value]
    cls = value.__class__
    if attrs.has(cls):
        return _encoder(cls, dialect)(value)
    return value


def encode_fields(
    value: Any, dialect: Dialect = NEUTRAL, *, leave_out: Collection[str] = ()
) -> dict[str, Any]:
    """An attrs value as JSON, without the attributes named in ``leave_out``."""
    return _encoder(value.__class__, dialect, frozenset(leave_out))(value)


@cache
def _encoder(
    cls: type[attrs.AttrsInstance],
    dialect: Dialect,
    leave_out: frozenset[str] = frozenset(),
) -> Callable[[Any], dict[str, Any]]:
    if getattr(cls, "KEEPS_UNKNOWN", False):
        return lambda value: dict(value.raw)
    tag = dialect.tag(cls)
    has_unknown = any(attribute.name == "unknown" for attribute in attrs.fields(cls))
    table = [
        (
            attribute.name,
            dialect.key(cls, attribute),
            _omitted(cls, attribute, dialect),
            dialect.rule(cls, attribute).encode,
        )
        for attribute in attrs.fields(cls)
        if attribute.name != "unknown"
        and attribute.name not in leave_out
        and not dialect.rule(cls, attribute).internal
    ]

    def write(value: Any) -> dict[str, Any]:
        written: dict[str, Any] = {} if tag is None else {"type": tag}
        for name, key, omitted, own in table:
            item = getattr(value, name)
            if item is not UNSET and item != omitted:
                written[key] = encode(item, dialect) if own is None or item is None else own(item)
        if has_unknown:
            for key, item in value.unknown.items():
                written.setdefault(key, item)
        return written

    return write


def _omitted(cls: type, attribute: attrs.Attribute[Any], dialect: Dialect) -> Any:
    default: Any = attribute.default
    if default is attrs.NOTHING or default is UNSET or dialect.rule(cls, attribute).always:
        return _ALWAYS
    if isinstance(default, attrs.Factory):  # type: ignore[arg-type]
        return default.factory()
    return default
