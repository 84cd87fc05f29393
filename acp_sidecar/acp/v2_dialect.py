"""What ACP protocol version 2 makes of the table in :mod:`acp_sidecar.acp.decoding`.

Known values of ``type`` are read strictly; any other one, with or without a leading ``_``, is
kept as it came.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final, TypeAlias

import cattrs
from attrs import frozen

from acp_sidecar.acp import model
from acp_sidecar.acp.decoding import (
    DecodeError,
    Dialect,
    decoder,
    free_form,
    make_converter,
    named,
)
from acp_sidecar.acp.encoding import encode_fields
from acp_sidecar.acp.hooks import union_decoder
from acp_sidecar.acp.leaves import integer, json_object, string
from acp_sidecar.acp.values import WireRule

JsonDict: TypeAlias = dict[str, Any]

# --- values that stay JSON, without what is invalid in them -----------------------------------


@frozen
class _Field:
    """A field of an object that is kept as JSON: how it is read, and whether it must be there.

    ``optional`` ones that are invalid are left out.
    """

    decode: Callable[[Any], Any]
    optional: bool = True


def _checked(fields: Mapping[str, _Field]) -> Callable[[Any], JsonDict]:
    def read(value: Any) -> JsonDict:
        kept = dict(json_object(value))
        for key, about in fields.items():
            if key not in kept:
                if not about.optional:
                    raise DecodeError(key, "missing")
                continue
            try:
                kept[key] = about.decode(kept[key])
            except DecodeError as error:
                if not about.optional:
                    raise error.below(key) from None
                del kept[key]
        return kept

    return read


def _nullable(decode: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: None if value is None else decode(value)


def _cells(value: Any) -> int:
    number = integer(value)
    if not 1 <= number <= 65535:
        raise DecodeError("", "expected an integer from 1 to 65535")
    return number


META: Final = _Field(_nullable(json_object))
TEXT: Final = _Field(_nullable(string))
_NEEDED_TEXT: Final = _Field(string, optional=False)

_marker: Final = _checked({"_meta": META})
capabilities: Final = _checked({"cancel": _Field(_nullable(_marker)), "_meta": META})
"""What the client may do to a tool call or a terminal: ``cancel`` it, where that is an object."""
exit_status: Final = _checked(
    {"exitCode": _Field(_nullable(integer)), "signal": TEXT, "_meta": META}
)
size: Final = _checked(
    {"cols": _Field(_cells, optional=False), "rows": _Field(_cells, optional=False), "_meta": META}
)
rpc_error: Final = _checked(
    {"code": _Field(integer, optional=False), "message": _NEEDED_TEXT, "data": _Field(free_form)}
)
"""A JSON-RPC error object."""
output: Final = _checked({"data": _NEEDED_TEXT, "_meta": META})
unknown_option: Final = _checked(
    {
        "configId": _NEEDED_TEXT,
        "name": _NEEDED_TEXT,
        "description": TEXT,
        "category": TEXT,
        "_meta": META,
    }
)
unknown_plan: Final = _checked({"planId": _NEEDED_TEXT})


# --- bytes ----------------------------------------------------------------------------------------


def from_base64(data: str) -> bytes:
    """The bytes of one piece of base64, which stands alone. White space is passed over."""
    try:
        return base64.b64decode("".join(data.split()), validate=True)
    except (binascii.Error, ValueError):
        raise DecodeError("", "expected base64, got other text") from None


def _bytes(value: Any) -> bytes:
    return from_base64(string(value))


def to_base64(data: str | bytes) -> str:
    """Bytes as base64; text as UTF-8."""
    return base64.b64encode(data.encode() if isinstance(data, str) else data).decode()


# --- the dialect -------------------------------------------------------------------------------


def _choices(value: Any) -> tuple[Any, ...]:
    """The values of a ``select``: a list of them or of groups, which is not empty."""
    if isinstance(value, list) and not value:
        raise DecodeError("", "expected at least one choice")
    found: tuple[Any, ...] = _choice_lists(value, None)
    return found


def _environment(value: Any) -> JsonDict:
    """``[{"name", "value"}]`` as the model has it."""
    if not isinstance(value, list):
        raise DecodeError("", f"expected an array, got {named(value)}")
    variables = [_variable(item) for item in value]
    return {variable["name"]: variable["value"] for variable in variables}


_variable: Final = _checked({"name": _NEEDED_TEXT, "value": _NEEDED_TEXT})


def _variables(environment: Mapping[str, str]) -> list[JsonDict]:
    return [{"name": name, "value": value} for name, value in environment.items()]


_ALWAYS: Final = WireRule(always=True)
_HIDDEN: Final = WireRule(internal=True)

DIALECT: Final = Dialect(
    null_clears=True,
    open_enums=True,
    keep_unknown_types=True,
    rules={
        (model.Annotations, "priority"): WireRule(minimum=0, maximum=1),
        (model.ResourceLink, "size"): WireRule(minimum=0),
        (model.Location, "line"): WireRule(minimum=1),
        (model.SelectOption, "id"): WireRule("configId"),
        (model.SelectOption, "options"): WireRule(decode=_choices),
        (model.BooleanOption, "id"): WireRule("configId"),
        (model.ConfigChoiceGroup, "group"): WireRule("groupId"),
        (model.AuthMethod, "id"): WireRule("methodId"),
        (model.AuthMethod, "type"): _ALWAYS,
        (model.TerminalAuthMethod, "id"): WireRule("methodId"),
        (model.TerminalAuthMethod, "env"): WireRule(
            strict=True, decode=_environment, encode=_variables
        ),
        (model.AvailableCommand, "type"): _ALWAYS,
        (model.SessionOpened, "modes"): _HIDDEN,
        (model.SessionInfo, "additional_directories"): WireRule(strict=True, always=True),
        (model.SessionPage, "next_cursor"): WireRule(strict=True),
        (model.ToolCallUpsert, "capabilities"): WireRule(decode=capabilities),
        (model.PlanUpdate, "entries"): WireRule(),
        (model.CommandsUpdate, "commands"): WireRule("availableCommands"),
        (model.ConfigOptionsUpdate, "config_options"): WireRule(),
        (model.TerminalUpdate, "exit_status"): WireRule(decode=exit_status),
        (model.TerminalUpdate, "size"): WireRule(decode=size),
        (model.TerminalUpdate, "capabilities"): WireRule(decode=capabilities),
        (model.TerminalUpdate, "output"): WireRule(decode=output),
        (model.TerminalBytes, "data"): WireRule(decode=_bytes, encode=to_base64),
        (model.TurnEnded, "error"): WireRule(decode=rpc_error),
        (model.TurnEnded, "stop_reason"): WireRule(fallback=None),
    },
    tags={model.CommandInput: "text"},
    foreign={model.Diff},
)
converter: Final[cattrs.Converter] = make_converter(DIALECT)


def hook(cls: Any, **options: Any) -> Callable[[Any], Any]:
    """The decoder of a class, see :func:`acp_sidecar.acp.hooks.decoder`."""
    made: Callable[[Any], Any] = decoder(cls, converter, DIALECT, **options)
    return made


# --- unions that are told apart by other means than ``type`` alone -------------------------------

_ONE_PATH: Final = hook(model.FileChange, constants={"old_path": None})
_TWO_PATHS: Final = hook(model.FileChange, require=("old_path",))
_OPERATIONS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "add": _ONE_PATH,
    "delete": _ONE_PATH,
    "modify": _ONE_PATH,
    "move": _TWO_PATHS,
    "copy": _TWO_PATHS,
}
_unknown_change: Final = _checked(
    {"operation": _NEEDED_TEXT, "fileType": TEXT, "mimeType": TEXT, "_meta": META}
)


def _file_change(value: Any, _type: Any = None) -> model.FileChange | model.UnknownBlock:
    operation = value.get("operation") if isinstance(value, dict) else None
    read = _OPERATIONS.get(operation) if isinstance(operation, str) else None
    if read is None:
        return model.UnknownBlock(_unknown_change(value))
    change: model.FileChange = read(value)
    return change


def _by_type(
    known: Mapping[str, Callable[[Any], Any]], other: Callable[[Any], Any]
) -> Callable[[Any, Any], Any]:
    def read(value: Any, _type: Any = None) -> Any:
        if not isinstance(value, dict):
            raise DecodeError("", f"expected an object, got {named(value)}")
        tag = value.get("type")
        if not isinstance(tag, str):
            raise DecodeError("type", f"expected a string, got {named(tag)}")
        return known.get(tag, other)(value)

    return read


def _is(alias: Any) -> Callable[[Any], bool]:
    return lambda annotation: annotation == alias


def _register(alias: Any, read: Callable[[Any, Any], Any]) -> None:
    converter.register_structure_hook_func(_is(alias), read)


_register(model.FileChange | model.UnknownBlock, _file_change)
_register(
    model.ConfigOption,
    union_decoder(
        model.ConfigOption,
        converter,
        DIALECT,
        keep=lambda value: model.UnknownBlock(unknown_option(value)),
    ),
)
_register(
    model.AvailableCommand,
    _by_type(
        {"command": hook(model.AvailableCommand, require=("type",))},
        hook(model.AvailableCommand, require=("type",), constants={"input": None}),
    ),
)
_register(
    model.AuthMethod | model.TerminalAuthMethod,
    _by_type(
        {
            "agent": hook(model.AuthMethod, require=("type",)),
            "terminal": hook(model.TerminalAuthMethod),
        },
        hook(model.AuthMethod, require=("type",), constants={"description": None}),
    ),
)
_choice_lists: Final = union_decoder(
    tuple[model.ConfigChoice, ...] | tuple[model.ConfigChoiceGroup, ...], converter, DIALECT
)


def written(value: Any, leave_out: Collection[str] = ()) -> JsonDict:
    """An attrs value as this version writes it."""
    return encode_fields(value, DIALECT, leave_out=leave_out)
