"""Settings and their sources.

Three sources, later ones win: the user's ``config.toml`` in the platform's config
folder, the editor's ``initializationOptions``, and ``workspace/configuration``
(section ``acp``). The last one never says which file a value came from, so what
decides which command runs or who is asked (:data:`USER_ONLY`) is not taken from it:
files inside a workspace never choose a command to run.

A value that does not fit is left out with a :class:`Problem` that says what would fit;
the rest of the settings stand.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

from attrs import evolve, field, frozen

from acp_sidecar.acp.v1_requests import mcp_server

USER_ONLY: Final = frozenset({"agents", "registry", "permissions", "mcpServers"})
"""Top-level settings that ``workspace/configuration`` cannot set."""


@frozen
class AgentSetting:
    """How to start one agent. ``cwd`` is the folder of the process, not of its sessions."""

    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(factory=dict)
    cwd: str | None = None


@frozen
class Settings:
    """All settings, flat, with the values an empty configuration has.

    Times are in seconds, sizes in bytes, ``follow_per_second`` is a rate.
    """

    agents: Mapping[str, AgentSetting] = field(factory=dict)
    registry_source: str | None = None
    registry_allow: tuple[str, ...] = ()
    default_agent: str = "demo"
    protocol_versions: tuple[int, ...] = (1,)
    follow_enabled: bool = True
    follow_per_second: float = 4
    review_mode: str = "after"
    review_unannounced: bool = True
    permission_default: str = "ask"
    permission_rules: tuple[Any, ...] = ()
    initialize_timeout: float = 60
    cancel_timeout: float = 10
    dialog_reminder: float = 60
    terminals_enabled: bool = True
    terminals_outside_roots: str = "ask"
    terminal_output_bytes: int = 8 * 1024 * 1024
    line_bytes: int = 256 * 1024 * 1024
    report_reverts: bool = True
    mcp_editor_tools: bool = False
    mcp_servers: tuple[Mapping[str, Any], ...] = ()
    """As ACP writes them."""


@frozen
class Problem:
    """A value that was left out: where it stands (``follow.maxPerSecond``) and what to do.

    ``source`` is the file it was read from, None for an editor's settings.
    """

    setting: str
    message: str
    source: str | None = None

    def __str__(self) -> str:
        where = f" (in {self.source})" if self.source else ""
        return f"{self.setting}: {self.message}{where}"


class Misfit(ValueError):
    """A value is not of its setting's kind; the message says what would be."""


Check: TypeAlias = Callable[[Any], Any]


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise Misfit("must be true or false")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise Misfit("must be a text that is not empty")
    return value


def _positive(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Misfit("must be a number above 0")
    if not math.isfinite(value) or value <= 0:
        raise Misfit("must be a number above 0")
    return value


def _size(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value <= 0:
        raise Misfit("must be a whole number of bytes above 0")
    return value


def _one_of(*choices: str) -> Check:
    named = " or ".join(repr(choice) for choice in choices)

    def check(value: Any) -> str:
        if value not in choices:
            raise Misfit(f"must be {named}")
        return str(value)

    return check


def _versions(value: Any) -> tuple[int, ...]:
    if not isinstance(value, list | tuple) or not value:
        raise Misfit("must be a list of protocol versions, such as [1]")
    if any(isinstance(item, bool) or not isinstance(item, int) for item in value):
        raise Misfit("must be a list of protocol versions, such as [1]")
    if any(item not in (1, 2) for item in value):
        raise Misfit("this sidecar speaks protocol versions 1 and 2; use [1] or [1, 2]")
    return tuple(value)


def _no_rules(value: Any) -> tuple[Any, ...]:
    if not isinstance(value, list | tuple):
        raise Misfit("must be a list")
    if value:
        raise Misfit("rules are not available in this version; every request is asked")
    return ()


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
        raise Misfit("must be a list of texts")
    return tuple(value)


def _environment(value: Any) -> Mapping[str, str]:
    if value == []:
        return {}
    if not isinstance(value, Mapping) or not all(
        isinstance(name, str)
        and name
        and "=" not in name
        and "\0" not in name
        and isinstance(text, str)
        and "\0" not in text
        for name, text in value.items()
    ):
        raise Misfit("must be an object of environment variables, each a text")
    return dict(value)


def _servers(value: Any) -> tuple[Mapping[str, Any], ...]:
    """A list of MCP servers, or an object with a name for each, as many programs have it."""
    if isinstance(value, Mapping):
        value = [
            {"name": name, **server} if isinstance(server, Mapping) else server
            for name, server in value.items()
        ]
    if not isinstance(value, list | tuple) or not all(isinstance(one, Mapping) for one in value):
        raise Misfit("must be a list of MCP servers, or an object of them by name")
    try:
        return tuple(mcp_server(server) for server in value)
    except (ValueError, TypeError) as error:
        raise Misfit(f"{error}") from error


_AGENT_FIELDS: Final[Mapping[str, Check]] = {
    "command": _text,
    "args": _texts,
    "env": _environment,
    "cwd": lambda value: None if value is None else _text(value),
}


def _agent(value: Any) -> AgentSetting:
    if not isinstance(value, Mapping):
        raise Misfit("must be an object with a command")
    found: dict[str, Any] = {}
    for name, check in _AGENT_FIELDS.items():
        if name not in value:
            continue
        try:
            found[name] = check(value[name])
        except Misfit as misfit:
            raise Misfit(f"{name} {misfit}") from misfit
    if "command" not in found:
        raise Misfit('needs a command, such as {"command": "opencode", "args": ["acp"]}')
    return AgentSetting(**found)


# Where each value stands in the settings' tree, the attribute it fills, and its check.
_TABLE: Final[Mapping[str, tuple[str, Check]]] = {
    "defaultAgent": ("default_agent", _text),
    "protocolVersions": ("protocol_versions", _versions),
    "follow.enabled": ("follow_enabled", _boolean),
    "follow.maxPerSecond": ("follow_per_second", _positive),
    "review.mode": ("review_mode", _one_of("after", "before", "off")),
    "review.unannounced": ("review_unannounced", _boolean),
    "registry.source": ("registry_source", _text),
    "registry.allow": ("registry_allow", _texts),
    "permissions.default": ("permission_default", _one_of("ask")),
    "permissions.rules": ("permission_rules", _no_rules),
    "timeouts.initialize": ("initialize_timeout", _positive),
    "timeouts.cancel": ("cancel_timeout", _positive),
    "timeouts.dialogReminder": ("dialog_reminder", _positive),
    "terminals.enabled": ("terminals_enabled", _boolean),
    "terminals.outsideRoots": ("terminals_outside_roots", _one_of("ask", "allow", "deny")),
    "terminals.maxOutputBytes": ("terminal_output_bytes", _size),
    "limits.lineBytes": ("line_bytes", _size),
    "reportReverts": ("report_reverts", _boolean),
    "mcpEditorTools": ("mcp_editor_tools", _boolean),
    "mcpServers": ("mcp_servers", _servers),
}
_GROUPS: Final = frozenset(name.split(".")[0] for name in _TABLE if "." in name)
_OBJECTS: Final = _GROUPS | {"agents"}


def merge(
    settings: Settings, values: Any, *, user: bool = True
) -> tuple[Settings, tuple[Problem, ...]]:
    """Lay one source of values over ``settings``.

    ``values`` is the settings' JSON object as the contract shows it; null and missing
    parts leave what is there. ``user`` is false for ``workspace/configuration``, whose
    :data:`USER_ONLY` parts are left out with a problem. Names this version does not know
    are reported, since a misspelt setting that does nothing helps nobody.
    """
    if values is None or values == []:  # Lua's empty table arrives as an empty array
        return settings, ()
    if not isinstance(values, Mapping):
        return settings, (Problem("acp", "the settings must be an object"),)
    problems: list[Problem] = []
    changed: dict[str, Any] = {}
    for name, value in values.items():
        if value is None or (value == [] and name in _OBJECTS):
            continue
        if name in USER_ONLY and not user:
            problems.append(
                Problem(name, "is taken from the user's own settings only, not from a workspace")
            )
        elif name == "agents":
            changed["agents"] = {**settings.agents, **_agents(value, problems)}
        elif name in _GROUPS:
            _merge_group(name, value, changed, problems)
        else:
            _merge_one(name, value, changed, problems)
    if not user and settings.review_mode == "before" != changed.get("review_mode", "before"):
        # Whose value it is cannot be told, and a workspace must not let itself be written.
        del changed["review_mode"]
        problems.append(Problem("review.mode", "is 'before' in your own settings, and stays so"))
    if not user:
        _keep_strict(settings, changed, problems)
    return evolve(settings, **changed), tuple(problems)


_LOOSER: Final = ("deny", "ask", "allow")


def _keep_strict(settings: Settings, changed: dict[str, Any], problems: list[Problem]) -> None:
    """A workspace may forbid an agent's commands more than the user does, never less."""
    if changed.get("terminals_enabled") and not settings.terminals_enabled:
        del changed["terminals_enabled"]
        problems.append(Problem("terminals.enabled", "is false in your own settings, and stays so"))
    mine, wanted = settings.terminals_outside_roots, changed.get("terminals_outside_roots")
    if wanted is not None and _LOOSER.index(wanted) > _LOOSER.index(mine):
        del changed["terminals_outside_roots"]
        problems.append(
            Problem(
                "terminals.outsideRoots",
                f"is {mine!r} in your own settings; a workspace cannot allow more",
            )
        )


def _agents(value: Any, problems: list[Problem]) -> dict[str, AgentSetting]:
    if not isinstance(value, Mapping):
        problems.append(Problem("agents", "must be an object: a name and its command"))
        return {}
    agents: dict[str, AgentSetting] = {}
    for name, entry in value.items():
        try:
            agents[name] = _agent(entry)
        except Misfit as misfit:
            problems.append(Problem(f"agents.{name}", str(misfit)))
    return agents


def _merge_group(group: str, value: Any, changed: dict[str, Any], problems: list[Problem]) -> None:
    if not isinstance(value, Mapping):
        problems.append(Problem(group, "must be an object"))
        return
    for name, item in value.items():
        if item is not None:
            _merge_one(f"{group}.{name}", item, changed, problems)


def _merge_one(name: str, value: Any, changed: dict[str, Any], problems: list[Problem]) -> None:
    if name not in _TABLE:
        problems.append(Problem(name, "is not a setting of this version"))
        return
    attribute, check = _TABLE[name]
    try:
        changed[attribute] = check(value)
    except Misfit as misfit:
        problems.append(Problem(name, str(misfit)))


def user_file() -> Path:
    """Where the user's own ``config.toml`` is looked for (it need not exist)."""
    from platformdirs import user_config_path

    return user_config_path("acp-sidecar") / "config.toml"


def load(path: Path | None = None) -> tuple[Settings, tuple[Problem, ...]]:
    """The settings of the user's file, the defaults where there is none.

    A file that cannot be read or parsed is a problem, never an error: the sidecar starts.
    """
    path = path or user_file()
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return Settings(), ()
    except (OSError, UnicodeDecodeError) as error:
        return Settings(), (Problem(str(path), f"cannot be read: {error}"),)
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        return Settings(), (Problem(str(path), f"is not valid TOML: {error}"),)
    settings, problems = merge(Settings(), values)
    return settings, tuple(evolve(problem, source=str(path)) for problem in problems)
