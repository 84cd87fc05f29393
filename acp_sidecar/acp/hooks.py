"""Decoders of attrs classes, written from the table of fields and compiled.

A generic decoder that walks the table for each message costs several times what straight
code costs, and one runs for every update of a flood. So the code is written once for each
class, much as cattrs does it; :mod:`acp_sidecar.acp.decoding` says what it has to do.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final, TypeVar, cast

import attrs
import cattrs

from acp_sidecar.acp.leaves import (
    LEAVES,
    DecodeError,
    array,
    displayable,
    free_form,
    integer,
    named,
    natural,
    one_of,
    refuse,
    within,
)
from acp_sidecar.acp.values import UNSET, Unset, WireRule
from acp_sidecar.acp.values import Dialect as Dialect

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Decoder(typing.Protocol[T_co]):
    """A structure hook; the type that cattrs hands it is not needed."""

    def __call__(self, value: Any, _type: Any = None, /) -> T_co: ...


def decoder(
    cls: type[T],
    converter: cattrs.Converter,
    dialect: Dialect,
    *,
    constants: Mapping[str, Any] | None = None,
    require: Collection[str] = (),
    ignore: Collection[str] = (),
) -> Decoder[T]:
    """Write and compile the structure hook of ``cls``.

    ``constants`` fixes attributes that are not on the wire (internal ones have their default
    otherwise), ``require`` makes fields
    strict that are three-state elsewhere, ``ignore`` names keys that are neither fields
    nor unknown (a discriminator). The hook takes the value and, as cattrs wants it, a
    type that it does not use; it raises :class:`DecodeError`. The class must be one that is
    filled field by field: neither frozen at run time (``values.frozen`` is not), nor with
    validators or converters of its own, else ``TypeError``.
    """
    if cls.__setattr__ is not object.__setattr__:
        raise TypeError(f"{cls.__name__} cannot be filled field by field")
    attrs.resolve_types(cast(Any, cls))
    writer = _Writer(converter, dialect, cls)
    ignored = {*ignore, "type"} if dialect.tag(cls) is not None else set(ignore)
    for attribute in attrs.fields(cast(Any, cls)):
        if constants and attribute.name in constants:
            writer.constant(attribute, constants[attribute.name])
        elif dialect.rule(cls, attribute).internal:
            writer.internal(attribute)
        elif attribute.name != "unknown":
            writer.field(attribute, strict=attribute.name in require)
    writer.unknown(ignored)
    scope = writer.scope
    exec(compile(writer.source(), f"<decoder of {cls.__name__}>", "exec"), scope)
    return cast(Decoder[T], scope["decode"])


def union_decoder(
    union: Any,
    converter: cattrs.Converter,
    dialect: Dialect,
    *,
    keep: Callable[[Any], Any] | None = None,
) -> Decoder[Any]:
    """The structure hook of a union: tagged classes are told apart by ``type``, what is
    left over is tried in order. ``keep`` reads what has a ``type`` that is not known, where the
    dialect keeps it; by default it is kept as it is.
    """
    members = [
        member
        for member in typing.get_args(union)
        if member is not type(None) and member not in dialect.foreign
    ]
    unknown = next((m for m in members if getattr(m, "KEEPS_UNKNOWN", False)), None)
    tags = {member: dialect.tag(member) for member in members}
    tagged = {tag: member for member, tag in tags.items() if tag is not None}

    def hook_of(member: Any) -> Callable[[Any], Any]:
        return _value_decoder(Shape(member), _EXACT, converter, dialect)

    hooks = {tag: hook_of(member) for tag, member in tagged.items()}
    others = [hook_of(m) for m in members if m not in tagged.values() and m is not unknown]
    if not dialect.keep_unknown_types:
        keep = None
    elif keep is None and unknown is not None:
        as_it_is = unknown
        keep = lambda value: as_it_is(free_form(value))  # noqa: E731

    def decode(value: Any, _type: Any = None, /) -> Any:
        if value.__class__ is dict and hooks:
            tag = value.get("type")
            if tag.__class__ is str:
                hook = hooks.get(tag)
                if hook is not None:
                    return hook(value)
                if keep is not None:
                    return keep(value)
        for attempt in others:
            try:
                return attempt(value)
            except DecodeError as error:
                if attempt is others[-1]:
                    raise
                del error
        raise _no_member(value)

    return decode


def _no_member(value: Any) -> DecodeError:
    if not isinstance(value, dict):
        return DecodeError("", f"expected an object, got {named(value)}")
    tag = value.get("type")
    if not isinstance(tag, str):
        return DecodeError("type", f"expected a string, got {named(tag)}")
    return DecodeError("type", "not a type of this protocol version")


_EXACT: Final = WireRule(strict=True)


def is_union(annotation: Any) -> bool:
    return typing.get_origin(annotation) in (typing.Union, types.UnionType)


class Shape:
    """What a type annotation says, without its ``None`` and ``UNSET``."""

    def __init__(self, annotation: Any) -> None:
        self.annotation = annotation
        self.is_anything = annotation is Any
        self.is_string = annotation is str
        is_tuple = typing.get_origin(annotation) is tuple
        self.items = shape_of(typing.get_args(annotation)[0]) if is_tuple else None
        self.wanted = self._wanted()

    def _wanted(self) -> str:
        if self.is_anything:
            return "a value"
        if self.items is not None:
            return "an array"
        names = {str: "a string", int: "an integer", float: "a number", bool: "a boolean"}
        return names.get(self.annotation, "an object")


def shape_of(annotation: Any) -> Shape:
    if not is_union(annotation):
        return Shape(annotation)
    members = typing.get_args(annotation)
    if Any in members:
        return Shape(Any)
    left = tuple(member for member in members if member not in (type(None), Unset))
    if len(left) == 1:
        return shape_of(left[0])
    return Shape(typing.Union[left])  # noqa: UP007 - built at run time


def _value_decoder(
    shape: Shape, rule: WireRule, converter: cattrs.Converter, dialect: Dialect
) -> Callable[[Any], Any]:
    """The decoder of one field's value, null excluded."""
    if rule.decode is not None:
        return rule.decode
    if shape.is_anything:
        return free_form
    if shape.items is not None:
        of_items = WireRule(choices=rule.choices)
        return array(
            _value_decoder(shape.items, of_items, converter, dialect),
            skip=not (rule.strict or rule.exact),
        )
    if shape.is_string and rule.choices is not None and not dialect.open_enums:
        return one_of(rule.choices)
    leaf = LEAVES.get(shape.annotation)
    if leaf is integer and rule.natural:
        leaf = natural
    if leaf is not None:
        return within(leaf, rule.minimum, rule.maximum)
    # Those of this module do not need the type that cattrs hands to a hook.
    return cast(Callable[[Any], Any], converter.get_structure_hook(shape.annotation))


class _Writer:
    """Collects the lines of one decoder and the names they use.

    The instance is made without its ``__init__`` and filled field by field, which is what
    ``__init__`` would do, only without the cost of passing everything by name.
    """

    def __init__(self, converter: cattrs.Converter, dialect: Dialect, cls: type) -> None:
        self._converter = converter
        self._dialect = dialect
        self._cls = cls
        self._lines: list[str] = []
        self._known: set[str] = set()
        self._certain = 0
        self._has_unknown = any(a.name == "unknown" for a in attrs.fields(cast(Any, cls)))
        self.scope: dict[str, Any] = {
            "UNSET": UNSET,
            "DecodeError": DecodeError,
            "cls": cls,
            "displayable": displayable,
            "free_form": free_form,
            "new": object.__new__,
            "refuse": refuse,
        }

    def source(self) -> str:
        """The text of a function named ``decode``."""
        return "\n".join(
            [
                "def decode(raw, _type=None, /):",
                "    if raw.__class__ is not dict: refuse('', 'an object', raw)",
                "    self = new(cls)",
                f"    seen = {self._certain}",
                *(f"    {line}" for line in self._lines),
                "    return self",
            ]
        )

    def constant(self, attribute: attrs.Attribute[Any], value: Any) -> None:
        """An attribute that is not on the wire."""
        self._add(f"self.{attribute.name} = {self._bind(value)}")

    def internal(self, attribute: attrs.Attribute[Any]) -> None:
        """An attribute that this version never has on the wire."""
        self._add(f"self.{attribute.name} = {self._default(attribute)}")

    def unknown(self, ignored: Collection[str]) -> None:
        """What is left: looked for only where the count of known keys says there is some."""
        if not self._has_unknown:
            return
        known = self._bind(frozenset(self._known.union(ignored)))
        for key in sorted(ignored):
            self._add(f"if {key!r} in raw: seen += 1")
        self._add("if len(raw) == seen: self.unknown = {}")
        rest = f"{{k: x for k, x in raw.items() if k not in {known}}}"
        self._add(f"else: self.unknown = free_form({rest})")

    def field(self, attribute: attrs.Attribute[Any], *, strict: bool) -> None:
        """An attribute that is on the wire."""
        key, rule = self._dialect.key(self._cls, attribute), self._rule(attribute)
        shape = shape_of(attribute.type)
        target = f"self.{attribute.name}"
        self._known.add(key)
        if strict or attribute.default is attrs.NOTHING:
            self._certain += 1
            self._add(f"try: v = raw[{key!r}]")
            self._add(f"except KeyError: refuse({key!r}, {shape.wanted!r})")
            if rule.fallback is UNSET:
                self._strict("", target, key, shape, rule)
            else:
                self._lenient("", target, shape, rule, self._bind(rule.fallback))
            return
        default = self._default(attribute)
        three_state = attribute.default is UNSET
        clears = three_state and (self._dialect.null_clears or rule.null_clears)
        self._add(f"if {key!r} not in raw: {target} = {default}")
        self._add("else:")
        self._add(f"    v = raw[{key!r}]; seen += 1")
        self._add(f"    if v is None: {target} = {'None' if clears else default}")
        self._add("    else:")
        if rule.strict:
            self._strict("        ", target, key, shape, rule)
        else:
            self._lenient("        ", target, shape, rule, default)

    def _strict(self, indent: str, target: str, key: str, shape: Shape, rule: WireRule) -> None:
        if shape.is_anything and rule.decode is None:
            self._add(f"{indent}{target} = free_form(v)")
        elif shape.is_string and rule.decode is None and self._choices(rule) is None:
            self._add(f"{indent}if v.__class__ is not str: refuse({key!r}, 'a string', v)")
            if rule.non_empty:
                self._add(f"{indent}if not v: raise DecodeError({key!r}, 'must not be empty')")
            self._add(f"{indent}{target} = v if v.isascii() else displayable(v)")
        else:
            decode = self._bind_decoder(shape, rule)
            self._add(f"{indent}try: {target} = {decode}(v)")
            self._add(f"{indent}except DecodeError as e: raise e.below({key!r}) from None")

    def _lenient(
        self, indent: str, target: str, shape: Shape, rule: WireRule, otherwise: str
    ) -> None:
        if shape.is_anything and rule.decode is None:
            self._add(f"{indent}{target} = free_form(v)")
        elif shape.is_string and rule.decode is None:
            choices = self._choices(rule)
            unknown = "" if choices is None else f" or v not in {self._bind(choices)}"
            self._add(f"{indent}if v.__class__ is not str{unknown}: {target} = {otherwise}")
            self._add(f"{indent}else: {target} = v if v.isascii() else displayable(v)")
        else:
            decode = self._bind_decoder(shape, rule)
            self._add(f"{indent}try: {target} = {decode}(v)")
            self._add(f"{indent}except DecodeError: {target} = {otherwise}")

    def _rule(self, attribute: attrs.Attribute[Any]) -> WireRule:
        return self._dialect.rule(self._cls, attribute)

    def _choices(self, rule: WireRule) -> Collection[str] | None:
        return None if self._dialect.open_enums else rule.choices

    def _default(self, attribute: attrs.Attribute[Any]) -> str:
        default: Any = attribute.default
        if default is None or default is UNSET:
            return repr(default)
        if isinstance(default, attrs.Factory):  # type: ignore[arg-type]
            return f"{self._bind(default.factory)}()"
        return self._bind(default)

    def _bind_decoder(self, shape: Shape, rule: WireRule) -> str:
        return self._bind(_value_decoder(shape, rule, self._converter, self._dialect))

    def _bind(self, value: Any) -> str:
        name = f"k{len(self.scope)}"
        self.scope[name] = value
        return name

    def _add(self, line: str) -> None:
        self._lines.append(line)
