"""The ways to log in that an agent offers, as far as they can be told from what it sent.

ACP, "Authentication". Also what agents still send that is not, or no longer, in the schema:
the type ``env_var``, and a whole command for a terminal under ``_meta["terminal-auth"]``.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias

from attrs import field, frozen

from acp_sidecar.acp.model import AuthMethod, TerminalAuthMethod
from acp_sidecar.agents.secrets import is_secret_name

Method: TypeAlias = AuthMethod | TerminalAuthMethod
Way: TypeAlias = Literal["agent", "terminal", "env_var", "unknown"]

_WAYS: Final[Mapping[str, Way]] = {"agent": "agent", "terminal": "terminal", "env_var": "env_var"}


@frozen
class Variable:
    """An environment variable that an agent wants to be started with."""

    name: str
    label: str | None = None
    secret: bool = True
    optional: bool = False


@frozen
class OwnCommand:
    """A command that a method names itself, in place of the agent's own."""

    command: str
    args: tuple[str, ...]
    env: Mapping[str, str]


@frozen
class LoginCommand:
    """A program to run where the user can type.

    ``env`` is laid over the environment it is run in; ``hidden`` names those variables of it
    that are never shown, beside those whose names look secret.
    """

    title: str
    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(factory=dict)
    cwd: str | None = None
    hidden: frozenset[str] = frozenset()

    def as_line(self) -> str:
        """The command line for a POSIX shell. Values of variables that look secret are left
        to the user's own environment."""
        left_out = self.secret_names
        values = [
            f"{name}={shlex.quote(value)}"
            for name, value in self.env.items()
            if name not in left_out
        ]
        return " ".join([*values, *map(shlex.quote, (self.command, *self.args))])

    @property
    def secret_names(self) -> list[str]:
        """The variables that :meth:`as_line` leaves out."""
        return [name for name in self.env if name in self.hidden or is_secret_name(name)]


def way_of(method: Method) -> Way:
    """What has to be done to log in by a method."""
    if own_command(method) is not None:
        return "terminal"
    return _WAYS.get(method.type, "unknown")


def own_command(method: Method) -> OwnCommand | None:
    """The command of a method that names one under ``_meta["terminal-auth"]``."""
    named = (method.meta or {}).get("terminal-auth")
    if not isinstance(named, Mapping):
        return None
    command, args, env = named.get("command"), named.get("args"), named.get("env")
    if not isinstance(command, str) or not command or "\0" in command:
        return None
    words = args if isinstance(args, list) else []
    values = env if isinstance(env, Mapping) else {}
    return OwnCommand(
        command,
        tuple(each for each in words if isinstance(each, str)),
        {name: each for name, each in values.items() if isinstance(each, str)},
    )


def variables(method: Method) -> tuple[Variable, ...]:
    """The variables of an ``env_var`` method, in either of the forms that are sent:
    ``vars`` (a list of objects) or ``varName``. Names that cannot be one are left out."""
    listed = method.unknown.get("vars")
    items = listed if isinstance(listed, list) else [method.unknown.get("varName")]
    found = (_variable(item) for item in items)
    return tuple(variable for variable in found if variable is not None)


def link_of(method: Method) -> str | None:
    """Where the user gets a key, as the agent says it."""
    link = method.unknown.get("link")
    return link if isinstance(link, str) and link else None


def _variable(item: Any) -> Variable | None:
    given: Mapping[str, Any] = item if isinstance(item, Mapping) else {"name": item}
    name, label = given.get("name"), given.get("label")
    if not isinstance(name, str) or not name or "=" in name or "\0" in name:
        return None
    return Variable(
        name,
        label if isinstance(label, str) and label else None,
        secret=given.get("secret") is not False,
        optional=given.get("optional") is True,
    )
