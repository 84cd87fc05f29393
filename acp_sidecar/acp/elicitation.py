"""``elicitation/create``: what an agent wants to know, as a form or by a page of the web.

ACP, "Elicitation". A form is a JSON Schema of one flat object. It is read as strictly as the
protocol's own schema asks for: a constraint that cannot be understood is a fault, since an
answer that nobody could check would be sent otherwise. Only texts that are shown may be odd.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, TypeAlias
from urllib.parse import urlsplit

from attrs import field, frozen

from acp_sidecar.acp.decoding import DecodeError, displayable, free_form, named
from acp_sidecar.acp.leaves import boolean, integer, natural, number, string
from acp_sidecar.acp.model import Json, JsonObject

Mode: TypeAlias = Literal["form", "url"]
Action: TypeAlias = Literal["accept", "decline", "cancel"]

ACTIONS: Final[tuple[Action, ...]] = ("accept", "decline", "cancel")
FORMATS: Final = frozenset({"email", "uri", "date", "date-time"})
TYPES: Final = frozenset({"string", "number", "integer", "boolean", "array"})


@frozen
class Option:
    """A value that can be chosen, and how it is called."""

    value: str
    title: str
    description: str | None = None


@frozen
class Field:
    """One field of a form.

    ``type`` is JSON Schema's; one that the protocol does not name cannot be filled in.
    ``minimum`` and ``maximum`` bound a number, the length of a text in characters, or how
    many options are chosen (``array``). ``options`` is None where any value will do.
    """

    name: str
    type: str
    title: str
    description: str | None = None
    required: bool = False
    default: Json = None
    minimum: float | None = None
    maximum: float | None = None
    pattern: str | None = None
    format: str | None = None
    options: tuple[Option, ...] | None = None

    @property
    def known(self) -> bool:
        """Whether it is of a type that the protocol names."""
        return self.type in TYPES


@frozen
class Form:
    """The fields in the agent's order."""

    fields: tuple[Field, ...]
    schema: JsonObject
    """As it came."""
    title: str | None = None
    description: str | None = None


@frozen
class Elicitation:
    """What the agent asks. ``agent_session_id`` or ``request_id``, one of our own requests,
    says what it belongs to."""

    message: str
    mode: Mode
    agent_session_id: str | None = None
    tool_call_id: str | None = None
    request_id: Json = None
    form: Form | None = None
    elicitation_id: str | None = None
    url: str | None = None
    meta: JsonObject | None = field(default=None)


def elicitation(params: Json, *, open_formats: bool = False) -> Elicitation:
    """The parameters of ``elicitation/create``; raises :class:`DecodeError`.

    ``open_formats``: as in version 2 a text may have a format that the protocol does not name.
    It is shown, and nothing is held against it.
    """
    if not isinstance(params, dict):
        raise DecodeError("params", f"expected an object, got {named(params)}")
    message = _required(params, "message", string)
    mode = _required(params, "mode", string)
    session_id = _optional(params, "sessionId", string)
    request_id = params.get("requestId")
    if session_id is None and type(request_id) not in (str, int):
        raise DecodeError("sessionId", "neither this nor a requestId is given")
    call_id, meta = params.get("toolCallId"), params.get("_meta")
    scope = {
        "message": message,
        "agent_session_id": session_id,
        "tool_call_id": displayable(call_id) if isinstance(call_id, str) else None,
        "request_id": request_id if session_id is None else None,
        "meta": free_form(meta) if isinstance(meta, dict) else None,
    }
    if mode == "form":
        form = _form(params.get("requestedSchema"), open_formats=open_formats)
        return Elicitation(mode="form", form=form, **scope)
    if mode == "url":
        elicitation_id = _required(params, "elicitationId", string)
        url = _required(params, "url", string)
        return Elicitation(mode="url", elicitation_id=elicitation_id, url=url, **scope)
    raise DecodeError("mode", f"{mode!r} is not offered by this client; form and url are")


def completed(params: Json) -> str:
    """The ``elicitationId`` of an ``elicitation/complete``; raises :class:`DecodeError`."""
    if not isinstance(params, dict):
        raise DecodeError("params", f"expected an object, got {named(params)}")
    elicitation_id: str = _required(params, "elicitationId", string)
    return elicitation_id


def answer(action: Action, content: Mapping[str, Json] | None = None) -> dict[str, Any]:
    """The result of ``elicitation/create``; ``content`` counts for ``accept`` alone."""
    if action == "accept" and content is not None:
        return {"action": action, "content": dict(content)}
    return {"action": action}


def host_of(url: str) -> str | None:
    """The host a browser would go to, None for an address that must not be opened: another
    scheme than http and https, or characters that programs read in different ways."""
    if not url.isascii() or not url.isprintable() or any(each in url for each in ' "<>\\^`{|}'):
        return None
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port is not None else ""
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return None
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{host}{port}"


# --- the form ---------------------------------------------------------------------------------


def _form(raw: Json, *, open_formats: bool) -> Form:
    if not isinstance(raw, dict):
        raise DecodeError("requestedSchema", f"expected an object, got {named(raw)}")
    properties = raw.get("properties", {})
    if not isinstance(properties, dict):
        raise _at("properties", f"expected an object, got {named(properties)}")
    required = raw.get("required")
    if required is None:
        required = []
    if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
        raise _at("required", "expected an array of strings")
    fields = tuple(
        _field(name, value, required=name in required, open_formats=open_formats)
        for name, value in properties.items()
    )
    title, description = raw.get("title"), raw.get("description")
    return Form(fields, free_form(raw), _shown(title), _shown(description))


def _field(name: str, raw: Json, *, required: bool, open_formats: bool) -> Field:
    try:
        return _read_field(name, raw, required=required, open_formats=open_formats)
    except DecodeError as error:
        raise error.below(f"requestedSchema.properties.{displayable(name)}") from None


def _read_field(name: str, raw: Json, *, required: bool, open_formats: bool) -> Field:
    if not isinstance(raw, dict):
        raise DecodeError("", f"expected an object, got {named(raw)}")
    kind = _required(raw, "type", string)
    title = _shown(raw.get("title")) or displayable(name)
    known: dict[str, Any] = {
        "name": name,
        "type": kind,
        "title": title,
        "description": _shown(raw.get("description")),
        "required": required,
    }
    if kind == "string":
        known |= _string(raw, open_formats=open_formats)
    elif kind in ("number", "integer"):
        leaf = number if kind == "number" else integer
        known |= {
            "minimum": _optional(raw, "minimum", leaf),
            "maximum": _optional(raw, "maximum", leaf),
            "default": _lenient(raw.get("default"), leaf),
        }
    elif kind == "boolean":
        known["default"] = _lenient(raw.get("default"), boolean)
    elif kind == "array":
        known |= _array(raw)
    return Field(**known)


def _string(raw: JsonObject, *, open_formats: bool) -> dict[str, Any]:
    form = _optional(raw, "format", string)
    if form is not None and form not in FORMATS and not open_formats:
        raise DecodeError("format", "not a value of this protocol version")
    options = None
    if raw.get("oneOf") is not None:
        options = _options(raw["oneOf"], "oneOf")
    elif raw.get("enum") is not None:
        options = _values(raw["enum"], "enum")
    return {
        "minimum": _optional(raw, "minLength", natural),
        "maximum": _optional(raw, "maxLength", natural),
        "pattern": _optional(raw, "pattern", _exact),
        "format": form,
        "options": options,
        "default": _lenient(raw.get("default"), string),
    }


def _array(raw: JsonObject) -> dict[str, Any]:
    items = raw.get("items")
    if not isinstance(items, dict):
        raise DecodeError("items", f"expected an object, got {named(items)}")
    if items.get("type") == "string" and "enum" in items:
        options = _values(items["enum"], "items.enum")
    elif "anyOf" in items:
        options = _options(items["anyOf"], "items.anyOf")
    elif isinstance(items.get("type"), str) and items["type"] != "string":
        options = ()
    else:
        raise DecodeError("items", "expected an enum or anyOf")
    default = raw.get("default")
    chosen = [each for each in default if isinstance(each, str)] if type(default) is list else None
    return {
        "minimum": _optional(raw, "minItems", natural),
        "maximum": _optional(raw, "maxItems", natural),
        "options": options,
        "default": chosen,
    }


def _options(raw: Json, name: str) -> tuple[Option, ...]:
    if not isinstance(raw, list):
        raise DecodeError(name, f"expected an array, got {named(raw)}")
    found = []
    for item in raw:
        if not isinstance(item, dict):
            raise DecodeError(name, f"expected objects, got {named(item)}")
        value = _required(item, "const", _exact)
        title = _required(item, "title", string)
        found.append(Option(value, title, _shown(item.get("description"))))
    return tuple(found)


def _values(raw: Json, name: str) -> tuple[Option, ...]:
    if not isinstance(raw, list) or not all(isinstance(item, str) for item in raw):
        raise DecodeError(name, "expected an array of strings")
    return tuple(Option(item, displayable(item)) for item in raw)


# --- values -----------------------------------------------------------------------------------


def _exact(value: Json) -> str:
    """A text that is sent back, or held against one: as it came."""
    if value.__class__ is not str:
        raise DecodeError("", f"expected a string, got {named(value)}")
    return str(value)


def _at(name: str, problem: str) -> DecodeError:
    return DecodeError(f"requestedSchema.{name}", problem)


def _required(raw: JsonObject, name: str, leaf: Callable[[Any], Any]) -> Any:
    if name not in raw:
        raise DecodeError(name, "missing")
    try:
        return leaf(raw[name])
    except DecodeError as error:
        raise error.below(name) from None


def _optional(raw: JsonObject, name: str, leaf: Callable[[Any], Any]) -> Any:
    return None if raw.get(name) is None else _required(raw, name, leaf)


def _lenient(value: Json, leaf: Callable[[Any], Any]) -> Any:
    try:
        return leaf(value)
    except DecodeError:
        return None


def _shown(value: Json) -> str | None:
    return displayable(value) if isinstance(value, str) and value.strip() else None
