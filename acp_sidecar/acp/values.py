"""The three states of a field, and what a declaration can say about its wire form.

Small things that :mod:`acp_sidecar.acp.model` declares fields with and
:mod:`acp_sidecar.acp.decoding` and :mod:`acp_sidecar.acp.encoding` read.
"""

from __future__ import annotations

import enum
from collections.abc import Collection
from typing import TYPE_CHECKING, Any, Final

import attrs

if TYPE_CHECKING:
    from attrs import frozen as frozen
else:
    # Making an instance of a class that is really frozen costs several times as much, and a
    # flood of updates makes millions. The type checker sees to it that nobody changes one.
    frozen = attrs.define


class Unset(enum.Enum):
    """The type of :data:`UNSET`."""

    UNSET = enum.auto()

    def __repr__(self) -> str:
        return "UNSET"

    def __bool__(self) -> bool:
        return False


UNSET: Final = Unset.UNSET
"""A field that was left out, where leaving out and null differ."""

_KEY: Final = "acp"


@attrs.frozen
class WireRule:
    """What a field's declaration alone does not say; see :func:`wire`."""

    name: str | None = None
    choices: Collection[str] | None = None
    fallback: Any = UNSET
    natural: bool = False
    non_empty: bool = False
    null_clears: bool = False
    strict: bool = False
    always: bool = False
    internal: bool = False


def wire(
    name: str | None = None,
    *,
    choices: Collection[str] | None = None,
    fallback: Any = UNSET,
    natural: bool = False,
    non_empty: bool = False,
    null_clears: bool = False,
    strict: bool = False,
    always: bool = False,
    internal: bool = False,
) -> dict[str, WireRule]:
    """Metadata for ``attrs.field``.

    ``name``: the key on the wire, where it is not the attribute's name in camel case.
    ``choices``: the values a closed enumeration knows; in an array, each item's.
    ``fallback``: for a required field that is there but invalid.
    ``natural``: an integer that must not be negative.
    ``non_empty``: a string that must not be empty.
    ``null_clears``: null clears a three-state field in every protocol version.
    ``strict``: null falls back to the default, anything else invalid is a fault.
    ``internal``: never on the wire; what reads a message knows it.
    ``always``: written as null where there is no value, instead of left out.
    """
    rule = WireRule(
        name=name,
        choices=choices,
        fallback=fallback,
        natural=natural,
        non_empty=non_empty,
        null_clears=null_clears,
        strict=strict,
        always=always,
        internal=internal,
    )
    return {_KEY: rule}


_NO_RULE: Final = WireRule()


def rule_of(attribute: attrs.Attribute[Any]) -> WireRule:
    """The rule a field was declared with, or the empty one."""
    rule = attribute.metadata.get(_KEY, _NO_RULE)
    assert isinstance(rule, WireRule)
    return rule


def wire_name(attribute: attrs.Attribute[Any]) -> str:
    """The key of a field on the wire: camel case, ``_meta`` for ``meta``."""
    rule = rule_of(attribute)
    if rule.name is not None:
        return rule.name
    if attribute.name == "meta":
        return "_meta"
    head, *tail = attribute.name.split("_")
    return head + "".join(part.capitalize() for part in tail)
