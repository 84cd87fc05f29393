"""The agents a user can choose from, in the order to show them.

Looking for programs reads the disk and may ask a login shell, so it is done beside the loop,
once for all who ask meanwhile, and for a bounded time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from acp_sidecar.acp.model import AuthMethod, TerminalAuthMethod
from acp_sidecar.agents.catalog import AgentEntry, catalog
from acp_sidecar.agents.command import CommandNotFound
from acp_sidecar.agents.exits import CannotStart
from acp_sidecar.agents.finding import Finder
from acp_sidecar.agents.registry import RegistryUnreadable
from acp_sidecar.client.visible import visible
from acp_sidecar.tasks import not_awaited

if TYPE_CHECKING:
    from acp_sidecar.settings import Settings

SECONDS: Final = 8.0
"""In which all programs are found, or said not to be."""

Ways: TypeAlias = Sequence[AuthMethod | TerminalAuthMethod]
Found: TypeAlias = tuple[Sequence[AgentEntry], Mapping[str, str | CannotStart]]


class Roster:
    """Looks for the programs of agents, once at a time."""

    def __init__(
        self,
        read: Callable[[Settings], Mapping[str, AgentEntry]],
        finder: Finder,
        left_out: Callable[[RegistryUnreadable], None],
        *,
        seconds: float = SECONDS,
    ) -> None:
        """``read`` gives every known agent; it is called in a thread. ``left_out`` is told
        where it has no registry to read."""
        self._read = read
        self._left_out = left_out
        self._finder = finder
        self._seconds = seconds
        self._search: asyncio.Task[Found] | None = None
        self._of: Settings | None = None

    async def rows(self, settings: Settings, logins: Mapping[str, Ways]) -> list[dict[str, Any]]:
        """One row an agent: ``{name, source, command, default, offered}``, and ``title``,
        ``description``, ``problem`` and ``login`` where there is something to say.

        ``logins`` are the ways to log in that running agents have named. ``command`` is the
        program's absolute path, None where it cannot be started; ``problem`` says why. The
        default one comes first, then those without a problem. ``offered`` are those to choose
        from for a session: also the default one with a problem, since the user wants that one,
        and the try says how to get it.
        """
        try:
            async with asyncio.timeout(self._seconds):
                known, programs = await self._found(settings)
        except TimeoutError:
            known, programs = tuple(catalog(settings.agents).values()), {}
        rows = [
            _row(
                entry,
                programs.get(entry.name),
                default=entry.name == settings.default_agent,
                ways=logins.get(entry.name, ()),
            )
            for entry in known
        ]
        return sorted(rows, key=lambda row: (not row["default"], "problem" in row, row["name"]))

    async def _found(self, settings: Settings) -> Found:
        """A search that goes on is joined: a disk that does not answer holds one thread, and
        not one for each who asks."""
        if self._search is None or self._search.done() or self._of != settings:
            self._of = settings
            self._search = asyncio.create_task(self._look(settings), name="search for agents")
            not_awaited(self._search)
        return await asyncio.shield(self._search)

    async def _look(self, settings: Settings) -> Found:
        try:
            every = await asyncio.to_thread(self._read, settings)
        except RegistryUnreadable as error:
            self._left_out(error)
            every = catalog(settings.agents)
        known = tuple(every.values())
        return known, await self._finder.programs(known)


def _row(
    entry: AgentEntry, found: str | CannotStart | None, *, default: bool, ways: Ways
) -> dict[str, Any]:
    path = found if isinstance(found, str) else None
    row: dict[str, Any] = {
        "name": entry.name,
        "source": entry.source,
        "command": path,
        "default": default,
    }
    if entry.about is not None:
        row["title"] = entry.about.title
        if entry.about.description:
            row["description"] = entry.about.description
    problem = _problem(entry, found)
    if problem is not None:
        row["problem"] = problem
    row["offered"] = default or problem is None
    if ways:
        row["login"] = [
            {
                "methodId": way.id,
                "name": way.name,
                "type": way.TAG if isinstance(way, TerminalAuthMethod) else way.type,
                "description": way.description,
            }
            for way in ways
        ]
    return row


def _problem(entry: AgentEntry, found: str | CannotStart | None) -> str | None:
    if found is None:
        return "Its program was not found in time: a folder of PATH does not answer."
    if isinstance(found, str):
        consent = entry.needs_consent
        return consent and (
            f"It would be fetched and run by: {visible(consent)}. To permit that, put "
            f"{entry.name!r} in the setting registry.allow."
        )
    if not isinstance(found, CommandNotFound):
        return f"{found}"
    hint = f" {entry.install_hint}." if entry.install_hint else ""
    if Path(entry.command).is_absolute():
        return f"There is no program {entry.command!r}.{hint}"
    return f"The command {entry.command!r} is not on PATH.{hint}"
