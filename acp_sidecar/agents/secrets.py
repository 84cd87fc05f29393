"""What looks like a secret by its name, so that it is neither logged nor recorded."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

LEFT_OUT: Final = "(left out)"

_NAME: Final = re.compile(
    r"(?:(?:^|_)(?:token|secret|password|passwd|passphrase|credentials?|authorization|cookie"
    r"|apikey)|_(?:key|pat))$",
    re.IGNORECASE,
)
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_HARMLESS: Final = frozenset({"workDoneToken", "partialResultToken", "progressToken"})
"""LSP's and MCP's names for what only tells two reports of progress apart."""
_OURS: Final = "acp-sidecar/"
"""How our own progress tokens begin."""
_HINT: Final = re.compile(
    rb"token|secret|passw|passphrase|credential|authorization|cookie|key|pat\b", re.IGNORECASE
)
_PAIR: Final = frozenset({"name", "value"})


def is_secret_name(name: str) -> bool:
    """Whether a variable, header or field of this name may hold a secret:
    ``OPENAI_API_KEY``, ``Authorization``, ``accessToken``."""
    if name in _HARMLESS:
        return False
    return _NAME.search(_CAMEL.sub("_", name).replace("-", "_")) is not None


def shown_arguments(args: Sequence[str]) -> list[str]:
    """A program's arguments without the values of those that are named like a secret:
    ``--api-key=…``, ``--token …``."""
    shown: list[str] = []
    secret = False
    for arg in args:
        name, equals, _ = arg.partition("=")
        named = name.startswith("-") and is_secret_name(name.lstrip("-"))
        shown.append(LEFT_OUT if secret else f"{name}={LEFT_OUT}" if named and equals else arg)
        secret = named and not equals
    return shown


def may_hold_secrets(line: bytes) -> bool:
    """A quick look at encoded JSON: False where :func:`without_secrets` changes nothing."""
    return _HINT.search(line) is not None


def without_secrets(value: Any) -> Any:
    """JSON with every text that stands under a secret's name left out, also in the pairs of
    ``name`` and ``value`` that ACP writes environments and headers in."""
    if isinstance(value, dict):
        if value.keys() >= _PAIR and isinstance(value["name"], str):
            secret = is_secret_name(value["name"]) and isinstance(value["value"], str)
            return {**value, "value": LEFT_OUT} if secret else value
        return {key: _item(key, item) for key, item in value.items()}
    if isinstance(value, list):
        return [without_secrets(item) for item in value]
    return value


def _item(name: str, value: Any) -> Any:
    if isinstance(value, str) and value and is_secret_name(name) and not value.startswith(_OURS):
        return LEFT_OUT
    return without_secrets(value)
