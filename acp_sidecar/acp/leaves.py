"""The smallest pieces of decoding: one JSON value → one Python value, or a ``DecodeError``.

Nothing is ever converted: ``5`` does not become ``"5"``. Strings are made fit to be shown
and encoded: a lone surrogate becomes U+FFFD.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final, cast

import orjson

DEEPEST: Final = 200
"""Nesting levels kept of a free-form value; orjson refuses to write more than 254."""


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
    if value is MISSING:
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


MISSING: Final = _Missing()


def refuse(name: str, wanted: str, value: Any = MISSING) -> typing.NoReturn:
    """Raise for a field that is of another type, or missing."""
    if value is MISSING:
        raise DecodeError(name, f"missing, expected {wanted}") from None
    raise DecodeError(name, f"expected {wanted}, got {named(value)}")


# --- leaf decoders: value → value, or DecodeError -------------------------------
#
# Generated decoders inline strings, by far the most common; the rest is called.


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


def within(
    decode: Callable[[Any], Any], minimum: float | None, maximum: float | None
) -> Callable[[Any], Any]:
    """``decode``, and a fault where the number is out of bounds; None: no bound."""
    if minimum is None and maximum is None:
        return decode

    def bounded(value: Any) -> Any:
        decoded = decode(value)
        if minimum is not None and decoded < minimum:
            raise DecodeError("", f"expected at least {minimum:g}")
        if maximum is not None and decoded > maximum:
            raise DecodeError("", f"expected at most {maximum:g}")
        return decoded

    return bounded


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


def array(decode: Callable[[Any], Any], *, skip: bool) -> Callable[[Any], tuple[Any, ...]]:
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


def one_of(choices: Collection[str]) -> Callable[[Any], str]:
    def choice(value: Any) -> str:
        if value.__class__ is not str:
            raise DecodeError("", f"expected a string, got {named(value)}")
        if value not in choices:
            raise DecodeError("", "not a value of this protocol version")
        return value

    return choice


LEAVES: Final[dict[Any, Callable[[Any], Any]]] = {
    str: string,
    int: integer,
    float: number,
    bool: boolean,
    Mapping[str, Any]: json_object,
    Mapping[str, str]: string_map,
}
"""The leaf for each type annotation that has one."""
