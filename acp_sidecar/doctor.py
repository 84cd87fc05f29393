"""``acp-sidecar agents`` and ``acp-sidecar doctor``: which agents there are, and do they work."""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from typing import Any

from acp_sidecar import settings as settings_module
from acp_sidecar.acp.model import AgentInfo, Event
from acp_sidecar.acp.wire import METHOD_NOT_FOUND
from acp_sidecar.agents.catalog import AgentEntry, catalog
from acp_sidecar.agents.connection import AgentGone, IncomingRequest
from acp_sidecar.agents.finding import Finder
from acp_sidecar.client.agents import Agent, AgentUnusable


def list_agents(*, as_json: bool) -> int:
    """Print every known agent, where its command is, and where it was named."""
    loaded, problems = settings_module.load()
    _report(problems)
    rows = asyncio.run(_rows(catalog(loaded.agents).values()))
    if as_json:
        print(json.dumps(rows, indent=2))
        return 0
    width = max((len(row["name"]) for row in rows), default=0)
    for row in rows:
        where = row["path"] or f"not installed. {row['installHint'] or ''}".rstrip()
        print(f"{row['name']:{width}}  {' '.join([row['command'], *row['args']])}  ({where})")
    return 0


async def _rows(entries: Iterable[AgentEntry]) -> list[dict[str, Any]]:
    finder = Finder()
    return [_row(entry, await finder.program(entry)) for entry in entries]


def _row(entry: AgentEntry, path: str | None) -> dict[str, Any]:
    return {
        "name": entry.name,
        "command": entry.command,
        "args": list(entry.args),
        "path": path,
        "source": entry.source,
        "installHint": entry.install_hint,
    }


def examine(name: str | None) -> int:
    """Start an agent, shake hands, print what it says of itself; 1 where it is unusable."""
    loaded, problems = settings_module.load()
    _report(problems)
    entries = catalog(loaded.agents)
    name = name or loaded.default_agent
    if name not in entries:
        print(f"No agent {name!r} is known. Known: {', '.join(sorted(entries))}")
        return 1
    return asyncio.run(_examine(entries[name], loaded))


async def _examine(entry: AgentEntry, settings: settings_module.Settings) -> int:
    finder = Finder()
    print(f"agent      {entry.name}")
    print(f"command    {' '.join([entry.command, *entry.args])}")
    print(f"found at   {await finder.program(entry) or 'nowhere'}")
    with tempfile.TemporaryDirectory(prefix="acp-doctor-") as folder:
        agent = Agent(entry, folder, settings, _Deaf(), finder=finder)
        began = time.monotonic()
        try:
            await agent.start()
        except AgentUnusable as error:
            print(f"unusable   {error}")
            return 1
        try:
            print(f"initialize {(time.monotonic() - began) * 1000:.0f} ms")
            _print_info(agent.info)
            return await _try_session(agent, folder)
        finally:
            await agent.stop()


async def _try_session(agent: Agent, folder: str) -> int:
    from acp_sidecar.acp import wire
    from acp_sidecar.agents.connection import AgentError

    began = time.monotonic()
    try:
        await agent.ask("session/new", agent.wire.session_new(folder))
    except AgentError as error:
        if error.code == wire.AUTH_REQUIRED:
            print("session    needs a login first; see the methods above")
        else:
            print(f"session    refused: {error}")
        return 1
    except (AgentGone, AgentUnusable) as error:
        print(f"session    failed: {error}")
        return 1
    print(f"session    {(time.monotonic() - began) * 1000:.0f} ms")
    return 0


def _print_info(info: AgentInfo) -> None:
    print(f"says it is {info.title or info.name or 'nameless'} {info.version or ''}".rstrip())
    print(f"protocol   {info.protocol_version}")
    print("offers     " + (", ".join(_offers(info)) or "no more than a session and a prompt"))
    for method in info.auth_methods:
        description = getattr(method, "description", None)
        print(f"login      {method.name}" + (f": {description}" if description else ""))


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
