"""The three states of a field, what a declaration can say about its wire form, and what one
protocol version says otherwise.

Small things that :mod:`acp_sidecar.acp.model` declares fields with and
:mod:`acp_sidecar.acp.decoding` and :mod:`acp_sidecar.acp.encoding` read.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

import attrs

if TYPE_CHECKING:
    from attrs import frozen as frozen
else:
    # Making an instance of a class that is really frozen costs several times as much, and a
    # flood of updates makes millions. The type checker sees to it that nobody changes one.
    frozen = attrs.define

Json: TypeAlias = Any
"""Any JSON value."""

JsonObject: TypeAlias = Mapping[str, Any]


class Unset(enum.Enum):
    """The type of :data:`UNSET`."""

    UNSET = enum.auto()

    def __repr__(self) -> str:
        return "UNSET"

    def __bool__(self) -> bool:
        return False


UNSET: Final = Unset.UNSET
"""A field that was left out, where leaving out and null differ."""

T = TypeVar("T")
Patch: TypeAlias = T | Unset | None
"""A three-state patch field: left out, cleared, or replaced."""


def given(patch: Patch[T], otherwise: T) -> T:
    """The patch's value, ``otherwise`` where it was left out or cleared."""
    return otherwise if patch is None or patch is UNSET else patch


def says(value: Any) -> bool:
    """Whether a value of a field says anything: ``false`` and 0 do, what is empty does not."""
    return value is not None and value is not UNSET and value not in ("", [], {}, ())


_KEY: Final = "acp"


@attrs.frozen
class WireRule:
    """What a field's declaration alone does not say; see :func:`wire`."""

    name: str | None = None
    choices: Collection[str] | None = None
    fallback: Any = UNSET
    natural: bool = False
    minimum: float | None = None
    maximum: float | None = None
    non_empty: bool = False
    null_clears: bool = False
    strict: bool = False
    exact: bool = False
    always: bool = False
    internal: bool = False
    decode: Callable[[Any], Any] | None = None
    encode: Callable[[Any], Any] | None = None


def wire(
    name: str | None = None,
    *,
    choices: Collection[str] | None = None,
    fallback: Any = UNSET,
    natural: bool = False,
    non_empty: bool = False,
    null_clears: bool = False,
    strict: bool = False,
    exact: bool = False,
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
    ``exact``: an invalid item costs the whole array.
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
        exact=exact,
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


@attrs.frozen(eq=False)
class Dialect:
    """What one protocol version makes of the table.

    ``null_clears``: null in a three-state field clears the stored value (v2) instead of
    leaving it (v1). ``open_enums``: a value that an enumeration does not name is kept
    (v2) instead of taken for invalid (v1). ``keep_unknown_types``: a block of unknown
    ``type`` is kept as it is (v2) instead of skipped (v1). ``rules`` replace those that fields
    were declared with, by class and attribute; of a rule with ``decode`` and ``encode`` these
    read and write the value, null excluded. ``tags`` are values of ``type`` that differ from
    the class's ``TAG``. ``foreign`` are classes that this version has no word for.
    """

    null_clears: bool = False
    open_enums: bool = False
    keep_unknown_types: bool = False
    rules: Mapping[tuple[type, str], WireRule] = attrs.field(factory=dict)
    tags: Mapping[type, str] = attrs.field(factory=dict)
    foreign: Collection[type] = ()

    def rule(self, cls: type, attribute: attrs.Attribute[Any]) -> WireRule:
        """The rule of a field of ``cls``."""
        return self.rules.get((cls, attribute.name)) or rule_of(attribute)

    def key(self, cls: type, attribute: attrs.Attribute[Any]) -> str:
        """The key of a field on the wire: camel case, ``_meta`` for ``meta``."""
        name = self.rule(cls, attribute).name
        if name is not None:
            return name
        if attribute.name == "meta":
            return "_meta"
        head, *tail = attribute.name.split("_")
        return head + "".join(part.capitalize() for part in tail)

    def tag(self, cls: type) -> str | None:
        """The value of ``type`` that tells ``cls`` apart; None where nothing does."""
        tag: str | None = self.tags.get(cls) or getattr(cls, "TAG", None)
        return tag


NEUTRAL: Final = Dialect()
"""The model's own names, for what is shown."""
