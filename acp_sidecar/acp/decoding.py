"""JSON as it came from an agent → attrs values, by a table.

How a field is decoded follows from how it is declared in :mod:`acp_sidecar.acp.model`:

===========================  ==========================================================
declaration                  behaviour
===========================  ==========================================================
no default                   strict: missing or of another type costs the whole value
a default                    falls back to the default where missing, null or invalid
``tuple[X, ...]``            invalid items are skipped, the others are kept
``UNSET`` as default         three states: left out, null, value (null means
                             "unchanged" in v1 and "cleared" in v2: see ``Dialect``)
``Json``                     any JSON value, ``false``, ``0`` and ``""`` included
``meta``                     the object under ``_meta``
``unknown``                  everything the table does not name
===========================  ==========================================================

:func:`wire` as ``metadata`` states what a declaration cannot: another name, the values
an enumeration knows, a fallback for a required field, and so on. Nothing is ever
converted: ``5`` does not become ``"5"``.

Strings are made fit to be shown and encoded: a lone surrogate becomes U+FFFD.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import attrs
import cattrs

from acp_sidecar.acp.hooks import Decoder as Decoder
from acp_sidecar.acp.hooks import Dialect as Dialect
from acp_sidecar.acp.hooks import decoder as decoder
from acp_sidecar.acp.hooks import is_union, union_decoder
from acp_sidecar.acp.leaves import LEAVES
from acp_sidecar.acp.leaves import DecodeError as DecodeError
from acp_sidecar.acp.leaves import displayable as displayable
from acp_sidecar.acp.leaves import free_form as free_form
from acp_sidecar.acp.leaves import named as named

T = TypeVar("T")


def make_converter(dialect: Dialect) -> cattrs.Converter:
    """A cattrs converter whose every attrs class is decoded by the table above."""
    converter = cattrs.Converter(detailed_validation=False)
    converter.register_structure_hook_factory(
        lambda annotation: annotation in LEAVES, lambda annotation: _hook(LEAVES[annotation])
    )
    converter.register_structure_hook_factory(
        attrs.has, lambda cls: decoder(cls, converter, dialect)
    )
    converter.register_structure_hook_factory(
        is_union, lambda union: union_decoder(union, converter, dialect)
    )
    return converter


def _hook(decode: Callable[[Any], Any]) -> Decoder[Any]:
    return lambda value, _type=None, /: decode(value)


def or_none(decode: Callable[[Any], T], value: Any) -> T | None:
    """What ``decode`` makes of a value, None where that is a fault."""
    try:
        return decode(value)
    except DecodeError:
        return None


def session_id_of(params: Any) -> str:
    """The ``sessionId`` of ``params``, which must be there. Raises :class:`DecodeError`."""
    if not isinstance(params, dict):
        raise DecodeError("params", f"expected an object, got {named(params)}")
    session_id = params.get("sessionId")
    if not isinstance(session_id, str):
        raise DecodeError("sessionId", f"expected a string, got {named(session_id)}")
    return displayable(session_id)
