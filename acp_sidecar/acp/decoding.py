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

import types
import typing
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final, TypeVar, cast

import attrs
import cattrs
import orjson

from acp_sidecar.acp.values import UNSET, Unset, WireRule, rule_of, wire_name

T = TypeVar("T")
Hook = Callable[[Any, Any], Any]

DEEPEST: Final = 200
"""Nesting levels kept of a free-form value; orjson refuses to write more than 254."""
REPLACEMENT: Final = "\ufffd"


T_co = TypeVar("T_co", covariant=True)


class Decoder(typing.Protocol[T_co]):
    """A structure hook; the type that cattrs hands it is not needed."""

    def __call__(self, value: Any, _type: Any = None, /) -> T_co: ...


class DecodeError(ValueError):
    """A required field is missing or of the wrong type.

    The message names the path of the field and the types involved, never a value.
    """

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(f"{path}: {problem}" if path else problem)
        self.path = path
        self.problem = problem

    def below(self, step: str) -> DecodeError:
        """The same fault, seen from one level further out."""
        return DecodeError(f"{step}.{self.path}" if self.path else step, self.problem)


@attrs.frozen
class Dialect:
    """What one protocol version makes of the table.

    ``null_clears``: null in a three-state field clears the stored value (v2) instead of
    leaving it (v1). ``open_enums``: a value that an enumeration does not name is kept
    (v2) instead of taken for invalid (v1). ``keep_unknown_types``: a block of unknown
    ``type`` is kept as it is (v2) instead of skipped (v1).
    """

    null_clears: bool
    open_enums: bool
    keep_unknown_types: bool


# --- text and free-form values ------------------------------------------------


def displayable(text: str) -> str:
    """``text`` with every lone surrogate replaced by U+FFFD."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def free_form(value: Any) -> Any:
    """Any JSON value, fit to be encoded again: no lone surrogate, not too deep."""
    try:
        orjson.dumps(value)
    except orjson.JSONEncodeError:
        return _mended(value, DEEPEST)
    return value


def _mended(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return displayable(value)
    if depth == 0 and isinstance(value, dict | list):
        return None
    if isinstance(value, dict):
        return {displayable(key): _mended(item, depth - 1) for key, item in value.items()}
    if isinstance(value, list):
        return [_mended(item, depth - 1) for item in value]
    return value


def named(value: Any) -> str:
    """The JSON type of ``value``, for messages."""
    if value is _MISSING:
        return "nothing"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    for kind, name in _JSON_TYPES:
        if isinstance(value, kind):
            return name
    return "something else"


_JSON_TYPES: Final[tuple[tuple[type, str], ...]] = (
    (str, "a string"),
    (int, "an integer"),
    (float, "a number"),
    (dict, "an object"),
    (list, "an array"),
)


class _Missing:
    def __repr__(self) -> str:
        return "MISSING"


_MISSING: Final = _Missing()


def _refuse(name: str, wanted: str, value: Any) -> typing.NoReturn:
    if value is _MISSING:
        raise DecodeError(name, f"missing, expected {wanted}")
    raise DecodeError(name, f"expected {wanted}, got {named(value)}")


# --- leaf decoders: value → value, or DecodeError -------------------------------
#
# The generated code below inlines strings, by far the most common; the rest is called.


def integer(value: Any) -> int:
    """A JSON integer; ``3.0`` is one, ``true`` is not."""
    if value.__class__ is int:
        return value
    if value.__class__ is float and value.is_integer():
        return int(value)
    raise DecodeError("", f"expected an integer, got {named(value)}")


def natural(value: Any) -> int:
    """A JSON integer that is not negative."""
    number = integer(value)
    if number < 0:
        raise DecodeError("", "expected an integer of at least 0, got a negative one")
    return number


def number(value: Any) -> float:
    if value.__class__ is int or value.__class__ is float:
        return cast(float, value)
    raise DecodeError("", f"expected a number, got {named(value)}")


def boolean(value: Any) -> bool:
    if value.__class__ is bool:
        return value
    raise DecodeError("", f"expected a boolean, got {named(value)}")


def string(value: Any) -> str:
    if value.__class__ is str:
        return displayable(value)
    raise DecodeError("", f"expected a string, got {named(value)}")


def json_object(value: Any) -> Mapping[str, Any]:
    if value.__class__ is dict:
        return cast(Mapping[str, Any], free_form(value))
    raise DecodeError("", f"expected an object, got {named(value)}")


def string_map(value: Any) -> Mapping[str, str]:
    if value.__class__ is not dict:
        raise DecodeError("", f"expected an object, got {named(value)}")
    decoded = {}
    for key, item in value.items():
        if item.__class__ is not str:
            raise DecodeError(displayable(key), f"expected a string, got {named(item)}")
        decoded[displayable(key)] = displayable(item)
    return decoded


# --- the converter ---------------------------------------------------------------


def make_converter(dialect: Dialect) -> cattrs.Converter:
    """A cattrs converter whose every attrs class is decoded by the table above."""
    converter = cattrs.Converter(detailed_validation=False)
    for leaf, decode in (
        (str, string),
        (int, integer),
        (float, number),
        (bool, boolean),
    ):
        converter.register_structure_hook(leaf, lambda value, _type, decode=decode: decode(value))
    converter.register_structure_hook_factory(
        attrs.has, lambda cls: decoder(cls, converter, dialect)
    )
    converter.register_structure_hook_factory(
        _is_union, lambda union: _union_hook(union, converter, dialect)
    )
    return converter


def _is_union(annotation: Any) -> bool:
    return typing.get_origin(annotation) in (typing.Union, types.UnionType)


def _union_hook(union: Any, converter: cattrs.Converter, dialect: Dialect) -> Hook:
    """Tagged classes are told apart by ``type``, what is left over is tried in order."""
    members = [member for member in typing.get_args(union) if member is not type(None)]
    unknown = next((m for m in members if getattr(m, "KEEPS_UNKNOWN", False)), None)
    tagged = {member.TAG: member for member in members if hasattr(member, "TAG")}
    hooks = {
        tag: _decode(_Shape(member), _EXACT, converter, dialect) for tag, member in tagged.items()
    }
    others = [
        _decode(_Shape(member), _EXACT, converter, dialect)
        for member in members
        if member not in tagged.values() and member is not unknown
    ]
    keep = unknown if dialect.keep_unknown_types else None

    def decode(value: Any, _type: Any) -> Any:
        fault: DecodeError | None = None
        if hooks:
            if value.__class__ is not dict:
                raise DecodeError("", f"expected an object, got {named(value)}")
            tag = value.get("type", _MISSING)
            if tag.__class__ is str:
                hook = hooks.get(tag)
                if hook is not None:
                    return hook(value)
                if keep is not None:
                    return keep(free_form(value))
                fault = DecodeError("type", "not a type of this protocol version")
            else:
                fault = DecodeError("type", f"expected a string, got {named(tag)}")
        for attempt in others:
            try:
                return attempt(value)
            except DecodeError as error:
                fault = fault or error
        raise fault or DecodeError("", f"unexpected {named(value)}")

    return decode


# --- generated decoders -------------------------------------------------------------


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

    ``constants`` fixes attributes that are not on the wire, ``require`` makes fields
    strict that are three-state elsewhere, ``ignore`` names keys that are neither fields
    nor unknown (a discriminator). The hook takes the value and, as cattrs wants it, a
    type that it does not use; it raises :class:`DecodeError`.
    """
    attrs.resolve_types(cast(Any, cls))
    writer = _Writer(dialect, converter)
    tag = getattr(cls, "TAG", None)
    skipped = {*ignore, *(("type",) if tag else ())}
    for attribute in attrs.fields(cast(Any, cls)):
        if constants and attribute.name in constants:
            writer.constant(attribute.name, constants[attribute.name])
        elif attribute.name == "unknown":
            writer.rest(attribute.name)
        else:
            writer.field(attribute, strict=attribute.name in require)
    source = writer.source(skipped)
    scope = {**writer.scope, "cls": cls}
    exec(compile(source, f"<decoder of {cls.__name__}>", "exec"), scope)
    return cast(Decoder[T], scope["decode"])


class _Writer:
    """Collects the lines of one generated decoder and the names they use."""

    def __init__(self, dialect: Dialect, converter: cattrs.Converter) -> None:
        self.dialect = dialect
        self.converter = converter
        self.lines: list[str] = []
        self.arguments: list[str] = []
        self.known: set[str] = set()
        self.certain = 0
        self.has_rest = False
        self.scope: dict[str, Any] = {
            "MISSING": _MISSING,
            "UNSET": UNSET,
            "DecodeError": DecodeError,
            "displayable": displayable,
            "free_form": free_form,
            "refuse": _refuse,
            "named": named,
        }

    def bind(self, value: Any) -> str:
        name = f"k{len(self.scope)}"
        self.scope[name] = value
        return name

    def constant(self, name: str, value: Any) -> None:
        self.arguments.append(f"{name}={self.bind(value)}")

    def rest(self, name: str) -> None:
        self.has_rest = True
        self.arguments.append(f"{name}=rest")

    def field(self, attribute: attrs.Attribute[Any], *, strict: bool) -> None:
        rule = rule_of(attribute)
        key = wire_name(attribute)
        target = f"v_{attribute.name}"
        strict = strict or attribute.default is attrs.NOTHING
        self.known.add(key)
        self.arguments.append(f"{attribute.name}={target}")
        add = self.lines.append
        add(f"v = get({key!r}, MISSING)")
        shape = _shape(attribute.type)
        if strict:
            self.certain += 1
            self._strict(target, key, shape, rule)
        else:
            self._lenient(target, shape, rule, attribute)

    def _strict(self, target: str, key: str, shape: _Shape, rule: WireRule) -> None:
        add = self.lines.append
        if rule.fallback is not UNSET:
            add(f"if v is MISSING: refuse({key!r}, {shape.wanted!r}, v)")
            fallback = self.bind(rule.fallback)
            self._attempt(target, shape, rule, f"{target} = {fallback}", "")
            return
        if shape.is_string and (rule.choices is None or self.dialect.open_enums):
            add(f"if v.__class__ is not str: refuse({key!r}, {shape.wanted!r}, v)")
            if rule.non_empty:
                add(f"if not v: raise DecodeError({key!r}, 'must not be empty')")
            add(f"{target} = v if v.isascii() else displayable(v)")
            return
        if shape.is_anything:
            add(f"if v is MISSING: refuse({key!r}, {shape.wanted!r}, v)")
            add(f"{target} = free_form(v)")
            return
        add(f"if v is MISSING: refuse({key!r}, {shape.wanted!r}, v)")
        decode = self.bind(_decode(shape, rule, self.converter, self.dialect))
        add(f"try: {target} = {decode}(v)")
        add(f"except DecodeError as error: raise error.below({key!r}) from None")

    def _lenient(
        self, target: str, shape: _Shape, rule: WireRule, attribute: attrs.Attribute[Any]
    ) -> None:
        add = self.lines.append
        default = self._default(attribute)
        three_state = attribute.default is UNSET
        add(f"if v is MISSING: {target} = {default}")
        add("else:")
        add("    seen += 1")
        if three_state:
            clears = self.dialect.null_clears or rule.null_clears
            add(f"    if v is None: {target} = {'None' if clears else 'UNSET'}")
        else:
            add(f"    if v is None: {target} = {default}")
        if rule.strict:
            decode = self.bind(_decode(shape, rule, self.converter, self.dialect))
            key = wire_name(attribute)
            add("    else:")
            add(f"        try: {target} = {decode}(v)")
            add(f"        except DecodeError as error: raise error.below({key!r}) from None")
            return
        self._attempt(target, shape, rule, f"{target} = {default}", "    ", chained=True)

    def _attempt(
        self,
        target: str,
        shape: _Shape,
        rule: WireRule,
        otherwise: str,
        indent: str,
        *,
        chained: bool = False,
    ) -> None:
        """Lines that decode ``v`` into ``target``, or run ``otherwise``."""
        add = self.lines.append
        word = "elif" if chained else "if"
        if shape.is_string:
            test = "v.__class__ is str"
            if rule.choices is not None and not self.dialect.open_enums:
                test += f" and v in {self.bind(rule.choices)}"
            add(f"{indent}{word} {test}: {target} = v if v.isascii() else displayable(v)")
            add(f"{indent}else: {otherwise}")
        elif shape.is_anything:
            add(f"{indent}{'else' if chained else 'if True'}: {target} = free_form(v)")
        else:
            decode = self.bind(_decode(shape, rule, self.converter, self.dialect))
            add(f"{indent}{'else' if chained else 'if True'}:")
            add(f"{indent}    try: {target} = {decode}(v)")
            add(f"{indent}    except DecodeError: {otherwise}")

    def _default(self, attribute: attrs.Attribute[Any]) -> str:
        default = attribute.default
        if default is None or default is UNSET:
            return repr(default)
        if isinstance(default, attrs.Factory):  # type: ignore[arg-type]
            return f"{self.bind(cast(Any, default).factory)}()"
        return self.bind(default)

    def source(self, skipped: Collection[str]) -> str:
        body = [
            "def decode(raw, _type=None):",
            "    if raw.__class__ is not dict: refuse('', 'an object', raw)",
            "    get = raw.get",
            f"    seen = {self.certain}",
        ]
        body += [f"    {line}" for line in self.lines]
        if self.has_rest:
            known = self.bind(frozenset(self.known | set(skipped)))
            body += [f"    if {key!r} in raw: seen += 1" for key in sorted(skipped)]
            body += [
                "    rest = {} if len(raw) == seen else"
                f" free_form({{k: x for k, x in raw.items() if k not in {known}}})"
            ]
        body.append(f"    return cls({', '.join(self.arguments)})")
        return "\n".join(body)


def _decode(
    shape: _Shape, rule: WireRule, converter: cattrs.Converter, dialect: Dialect
) -> Callable[[Any], Any]:
    """The decoder of one field's value, null excluded."""
    if shape.is_anything:
        return free_form
    if shape.items is not None:
        of_items = WireRule(choices=rule.choices)
        return _array(_decode(shape.items, of_items, converter, dialect), skip=not rule.strict)
    if shape.is_string and rule.choices is not None and not dialect.open_enums:
        return _one_of(rule.choices)
    leaf = _LEAVES.get(shape.annotation)
    if leaf is integer and rule.natural:
        return natural
    if leaf is not None:
        return leaf
    hook = converter.get_structure_hook(shape.annotation)
    annotation = shape.annotation
    return lambda value: hook(value, annotation)


_EXACT: Final = WireRule(strict=True)


def _array(decode: Callable[[Any], Any], *, skip: bool) -> Callable[[Any], tuple[Any, ...]]:
    def skipping(value: Any) -> tuple[Any, ...]:
        if value.__class__ is not list:
            raise DecodeError("", f"expected an array, got {named(value)}")
        decoded = []
        for item in value:
            try:
                decoded.append(decode(item))
            except DecodeError:
                continue
        return tuple(decoded)

    def exact(value: Any) -> tuple[Any, ...]:
        if value.__class__ is not list:
            raise DecodeError("", f"expected an array, got {named(value)}")
        return tuple([decode(item) for item in value])

    return skipping if skip else exact


def _one_of(choices: Collection[str]) -> Callable[[Any], str]:
    def choice(value: Any) -> str:
        if value.__class__ is not str:
            raise DecodeError("", f"expected a string, got {named(value)}")
        if value not in choices:
            raise DecodeError("", "not a value of this protocol version")
        return value

    return choice


_LEAVES: Final[dict[Any, Callable[[Any], Any]]] = {
    str: string,
    int: integer,
    float: number,
    bool: boolean,
    Mapping[str, Any]: json_object,
    Mapping[str, str]: string_map,
}


class _Shape:
    """What a type annotation says, without its ``None`` and ``UNSET``."""

    def __init__(self, annotation: Any) -> None:
        self.annotation = annotation
        self.is_anything = annotation is Any
        self.is_string = annotation is str
        is_tuple = typing.get_origin(annotation) is tuple
        self.items = _shape(typing.get_args(annotation)[0]) if is_tuple else None
        self.wanted = self._wanted()

    def _wanted(self) -> str:
        if self.is_anything:
            return "a value"
        if self.items is not None:
            return "an array"
        names = {str: "a string", int: "an integer", float: "a number", bool: "a boolean"}
        return names.get(self.annotation, "an object")


def _shape(annotation: Any) -> _Shape:
    if not _is_union(annotation):
        return _Shape(annotation)
    members = typing.get_args(annotation)
    if Any in members:
        return _Shape(Any)
    left = tuple(member for member in members if member not in (type(None), Unset))
    if len(left) == 1:
        return _shape(left[0])
    return _Shape(typing.Union[left])  # noqa: UP007 - built at run time
