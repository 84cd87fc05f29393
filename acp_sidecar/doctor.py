"""``acp-sidecar agents`` and ``acp-sidecar doctor``: which agents there are, and do they work."""

from __future__ import annotations

import json
import platform
import shlex
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from typing import Any, Final

from attrs import evolve

from acp_sidecar import __version__, folders
from acp_sidecar import settings as settings_module
from acp_sidecar.acp.decoding import DecodeError
from acp_sidecar.acp.jsonrpc import METHOD_NOT_FOUND
from acp_sidecar.acp.model import AgentInfo, Event
from acp_sidecar.agents import registries
from acp_sidecar.agents.catalog import AgentEntry, catalog
from acp_sidecar.agents.connection import AgentGone, IncomingRequest
from acp_sidecar.agents.finding import Finder
from acp_sidecar.agents.registry import RegistryUnreadable, this_platform
from acp_sidecar.client.agents import Agent, AgentUnusable, explained
from acp_sidecar.client.visible import visible
from acp_sidecar.editor.ending import run_alone

_SOURCES: Final = {
    "built-in": "the sidecar's own list",
    "settings": "your settings",
    "registry": "the registry",
}


def list_agents(*, as_json: bool, registry: str | None = None) -> int:
    """Print every known agent, where its command is, and where it was named.

    ``registry`` is a registry's file, or its https address, which is fetched now. Without it
    the one of the settings is read, an address from what was fetched last. 1 where the
    registry could not be read; what else is known is printed all the same.
    """
    loaded, problems = settings_module.load()
    _report(problems)
    entries, complete = _entries(loaded, registry, fetching=registry is not None)
    rows = run_alone(_rows(entries.values()))
    if as_json:
        print(json.dumps(rows, indent=2))
        return 0 if complete else 1
    width = max((len(row["name"]) for row in rows), default=0)
    for row in rows:
        line = shlex.join([row["command"], *row["args"]])
        print(f"{row['name']:{width}}  {visible(line)}  ({visible(_where(row))})")
    return 0 if complete else 1


def _where(row: Mapping[str, Any]) -> str:
    consent = row.get("needsConsent")
    if row["path"] is None:
        return f"not installed. {row['installHint'] or ''}".rstrip()
    if consent is None:
        return str(row["path"])
    return (
        f"from the registry, not started without your word: put {row['name']!r} in registry.allow "
        f"to have it fetched and run by: {consent}"
    )


def _entries(
    loaded: settings_module.Settings, registry: str | None, *, fetching: bool = False
) -> tuple[dict[str, AgentEntry], bool]:
    """Every known agent by name, and whether the registry could be read."""
    source = registry or loaded.registry_source
    if source is None:
        return catalog(loaded.agents), True
    try:
        found, problems = registries.entries(
            source, loaded.registry_allow, folders.registries(), fetching=fetching
        )
    except RegistryUnreadable as error:
        print(f"registry {source}: {error}", file=sys.stderr)
        return catalog(loaded.agents), False
    for problem in problems:
        print(f"registry {source}: {visible(problem)}", file=sys.stderr)
    return catalog(loaded.agents, found), True


async def _rows(entries: Iterable[AgentEntry]) -> list[dict[str, Any]]:
    finder = Finder()
    return [_row(entry, await finder.program(entry)) for entry in entries]


def _row(entry: AgentEntry, path: str | None) -> dict[str, Any]:
    row: dict[str, Any] = {
        "name": entry.name,
        "command": entry.command,
        "args": list(entry.args),
        "path": path,
        "source": entry.source,
        "installHint": entry.install_hint,
    }
    if entry.about is not None:
        row |= {
            "title": entry.about.title,
            "version": entry.about.version,
            "description": entry.about.description,
            "website": entry.about.website,
            "env": dict(entry.env),
            "needsConsent": entry.needs_consent,
        }
    return row


def examine(
    name: str | None,
    *,
    registry: str | None = None,
    download: bool = False,
    editor_settings: str | None = None,
) -> int:
    """Start an agent, shake hands, print what it says of itself; 1 where it is unusable.

    ``download`` is the user's word for one that has to be fetched. ``editor_settings`` names
    a file with what an editor gives as ``initializationOptions``, ``-`` is standard input.
    """
    loaded, problems = settings_module.load()
    if editor_settings is not None:
        try:
            loaded, more = settings_module.merge(loaded, _read_json(editor_settings))
        except (OSError, ValueError) as error:
            print(f"acp-sidecar: cannot read the settings: {error}", file=sys.stderr)
            return 1
        problems += more
    _report(problems)
    entries, _ = _entries(loaded, registry)
    name = name or loaded.default_agent
    if name not in entries:
        print(f"No agent {name!r} is known. Known: {', '.join(sorted(entries))}")
        return 1
    entry = entries[name]
    return run_alone(_examine(evolve(entry, needs_consent=None) if download else entry, loaded))


def _read_json(path: str) -> Any:
    with open(0 if path == "-" else path, encoding="utf-8") as file:  # noqa: PTH123 - 0 is no path
        return json.load(file)


async def _examine(entry: AgentEntry, settings: settings_module.Settings) -> int:
    finder = Finder()
    print(f"agent      {entry.name}")
    print(f"named in   {_SOURCES[entry.source]}")
    print(f"command    {visible(shlex.join([entry.command, *entry.args]))}")
    print(f"sidecar    {__version__}, Python {platform.python_version()}, {this_platform()}")
    print(f"found at   {await finder.program(entry) or 'nowhere'}")
    with tempfile.TemporaryDirectory(prefix="acp-doctor-") as folder:
        began = time.monotonic()
        try:
            agent = await _started(Agent(entry, folder, lambda: settings, _Deaf(), finder=finder))
        except AgentUnusable as error:
            print(f"unusable   {error}")
            return 1
        try:
            print(f"initialize {(time.monotonic() - began) * 1000:.0f} ms")
            _print_info(agent.info)
            return await _try_session(agent, folder)
        finally:
            await agent.stop()


def _say(line: str) -> None:
    """What it does while it starts, for somebody who waits."""
    if sys.stderr.isatty():
        print(f"           {line}", file=sys.stderr)


async def _started(agent: Agent) -> Agent:
    try:
        await agent.start(_say)
    except AgentUnusable:
        again = await agent.again()
        if again is None:
            raise
        print(f"           not like that; it is started again {again.because}")
        return await _started(again)
    return agent


async def _try_session(agent: Agent, folder: str) -> int:
    from acp_sidecar.acp import jsonrpc
    from acp_sidecar.agents.connection import AgentError

    began = time.monotonic()
    try:
        result = await agent.ask("session/new", agent.wire.session_new(folder))
        opened = agent.wire.session_opened(result, None)
    except AgentError as error:
        if error.code == jsonrpc.AUTH_REQUIRED:
            print("session    needs a login first; see the methods above")
            print(f"           {visible(explained(error))}")
        else:
            print(f"session    refused: {explained(error)}")
        return 1
    except (AgentGone, AgentUnusable, DecodeError) as error:
        print(f"session    failed: {error}")
        return 1
    print(f"session    {(time.monotonic() - began) * 1000:.0f} ms")
    if opened.modes is not None:
        modes = ", ".join(mode.id for mode in opened.modes.available_modes)
        print(f"modes      {visible(modes)}; now {visible(opened.modes.current_mode_id)}")
    options = [option.id for option in opened.config_options if hasattr(option, "id")]
    if options:
        print(f"options    {visible(', '.join(options))}")
    return 0


def _print_info(info: AgentInfo) -> None:
    print(f"says it is {info.title or info.name or 'nameless'} {info.version or ''}".rstrip())
    print(f"protocol   {info.protocol_version}")
    print("offers     " + (", ".join(_offers(info)) or "no more than a session and a prompt"))
    for method in info.auth_methods:
        description = getattr(method, "description", None)
        kind = "" if method.type == "agent" else f" ({visible(method.type)})"
        said = f": {visible(description)}" if description else ""
        print(f"login      {visible(method.name)}{kind}{said}")


def _offers(info: AgentInfo) -> list[str]:
    flags: Mapping[str, bool] = {
        "session/load": info.load_session,
        "session/list": info.list_sessions,
        "session/resume": info.resume_session,
        "session/fork": info.fork_session,
        "session/close": info.close_session,
        "session/delete": info.delete_session,
        "additional directories": info.additional_directories,
        "images": info.prompt_image,
        "audio": info.prompt_audio,
        "embedded context": info.prompt_embedded_context,
        "MCP over http": info.mcp_http,
        "MCP over sse": info.mcp_sse,
        "logout": info.logout,
    }
    return [name for name, offered in flags.items() if offered]


class _Deaf:
    """Takes nothing from an agent: only whether it answers counts. Implements ``Inbox``."""

    def event(self, agent: Agent, agent_session_id: str, event: Event) -> None:
        """Nobody looks."""

    def request(self, agent: Agent, request: IncomingRequest) -> None:
        request.error(METHOD_NOT_FOUND, "this is only a look at the agent")

    def completed(self, agent: Agent, params: Any) -> None:
        """Nothing was asked."""

    def ended(self, agent: Agent, reason: AgentGone) -> None:
        """Whoever waits for it is told by its own call."""


def _report(problems: tuple[settings_module.Problem, ...]) -> None:
    for problem in problems:
        print(f"settings: {problem}", file=sys.stderr)
