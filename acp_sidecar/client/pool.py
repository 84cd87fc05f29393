"""The agent processes that run: one for each agent and folder, started when first needed.

Sessions of the same agent and folder share a process, as ACP lets them ("Session Setup").
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from attrs import evolve

from acp_sidecar.acp.jsonrpc import AUTH_REQUIRED
from acp_sidecar.acp.model import AuthMethod, TerminalAuthMethod
from acp_sidecar.agents.catalog import AgentEntry
from acp_sidecar.agents.connection import AgentError, AgentGone
from acp_sidecar.agents.finding import Finder
from acp_sidecar.client.agents import (
    Agent,
    AgentUnusable,
    Inbox,
    LoginNeeded,
    Recording,
    explained,
    unheard,
)
from acp_sidecar.client.elicitation import Elicitations
from acp_sidecar.client.permissions import Permissions
from acp_sidecar.client.ports import Editor
from acp_sidecar.workspace.uris import canonical

if TYPE_CHECKING:
    from acp_sidecar.settings import Settings

_CRASHES: Final = 3
_CRASHES_SECONDS: Final = 120
"""An agent that ends by itself so often in such a time is in a loop."""

Recordings: TypeAlias = Callable[[str], Recording | None]
"""Where the conversation with an agent of this name is recorded, None for nowhere."""


class Pool:
    """Every running agent process."""

    def __init__(
        self,
        editor: Editor,
        catalog: Callable[[], Mapping[str, AgentEntry]],
        settings: Callable[[], Settings],
        inbox: Inbox,
        permissions: Permissions,
        elicitations: Elicitations,
        recordings: Recordings,
        needed: Callable[[Agent], bool],
    ) -> None:
        """``needed`` says whether a process has a session, so that it is not ended."""
        self._editor = editor
        self._catalog = catalog
        self._settings = settings
        self._inbox = inbox
        self._permissions = permissions
        self._elicitations = elicitations
        self._recordings = recordings
        self._needed = needed
        self._finder = Finder()
        self._agents: dict[tuple[str, str], Agent] = {}
        self._starting: dict[tuple[str, str], asyncio.Lock] = {}
        self._versions: dict[str, tuple[int, ...]] = {}
        """The versions that an agent was started with again, having declined a newer one."""
        self._crashes: dict[tuple[str, str], list[float]] = {}
        """When an agent in a folder has ended by itself, by the loop's clock."""
        self._held: Counter[Agent] = Counter()
        """By questions that belong to no session, and by sessions that are being opened."""
        self._given: dict[str, dict[str, str]] = {}
        """Variables that the user gave for a login, by agent: kept in memory alone."""

    async def agent(
        self, name: str | None, cwd: str, say: Callable[[str], None] = unheard
    ) -> tuple[Agent, str]:
        """The running process of an agent in a folder, started where there is none.

        Without a name the default agent's. Also the folder in the one form that is used for
        it. ``say`` takes what the process says while it starts. Raises :class:`AgentUnusable`.
        """
        settings = self._settings()
        name = name or settings.default_agent
        entries = self._catalog()
        if name not in entries:
            known = ", ".join(sorted(entries))
            raise AgentUnusable(
                f"No agent {name!r} is known. Known: {known}. The setting 'agents' adds others."
            )
        cwd = _folder(cwd)
        key = (name, cwd)
        async with self._starting.setdefault(key, asyncio.Lock()):
            agent = self._agents.get(key)
            if agent is None or agent.gone is not None:
                agent = Agent(
                    self._with_given(entries[name]),
                    cwd,
                    self._settings,
                    self._inbox,
                    self._recordings(name),
                    finder=self._finder,
                    versions=self._versions_for(name, settings),
                )
                self._editor.tell("log", f"Starting {name} in {cwd}: {agent.command_line}")
                agent = await self._started(agent, say)
        return agent, cwd

    async def again(
        self, name: str, cwd: str, say: Callable[[str], None] = unheard
    ) -> tuple[Agent, str]:
        """:meth:`agent` for a session whose process has ended.

        An agent that ends again and again is not started any more for that: raises
        :class:`AgentUnusable`, until some time has passed or it is asked for by name.
        """
        crashes = self._crashes.get((name, cwd), [])
        recent = [when for when in crashes if _now() - when < _CRASHES_SECONDS]
        if len(recent) >= _CRASHES:
            raise AgentUnusable(
                f"{name} has ended by itself {len(recent)} times within {_CRASHES_SECONDS} s and "
                "is not started again for this session. acp.session.new starts it all the same; "
                "acp-sidecar doctor looks for what is wrong with it."
            )
        return await self.agent(name, cwd, say)

    async def _started(self, agent: Agent, say: Callable[[str], None]) -> Agent:
        self._agents[agent.key] = agent
        try:
            await agent.start(say)
        except AgentUnusable:
            self.lost(agent)
            again = await agent.again()
            if again is None:
                raise
        except BaseException:
            self.lost(agent)
            raise
        else:
            return agent
        if agent.declined:
            self._versions[agent.name] = again.versions
        self._editor.tell("log", f"Starting {agent.name} again {again.because}")
        return await self._started(again, say)

    def _versions_for(self, name: str, settings: Settings) -> tuple[int, ...]:
        """What is offered: of the settings' versions those that the agent did not decline."""
        spoken = self._versions.get(name, settings.protocol_versions)
        return tuple(each for each in settings.protocol_versions if each in spoken)

    def logins(self) -> Mapping[str, Sequence[AuthMethod | TerminalAuthMethod]]:
        """The ways to log in that running agents have named, by agent."""
        running = [each for each in self._agents.values() if each.gone is None]
        return {each.name: each.info.auth_methods for each in running}

    def give(self, name: str, env: Mapping[str, str]) -> None:
        """From its next start on this agent has these variables, laid over its settings'."""
        self._given[name] = {**self._given.get(name, {}), **env}

    def given(self, name: str) -> frozenset[str]:
        """The names of the variables that were given to this agent."""
        return frozenset(self._given.get(name, {}))

    def take_back(self, name: str) -> None:
        """Forget what was given to this agent."""
        self._given.pop(name, None)

    def _with_given(self, entry: AgentEntry) -> AgentEntry:
        given = self._given.get(entry.name)
        return evolve(entry, env={**entry.env, **given}) if given else entry

    async def ask(
        self, agent: Agent, method: str, params: Mapping[str, Any], *, patient: bool = False
    ) -> Any:
        """Ask an agent within ``timeouts.initialize``, or ``patient``: as long as it takes.

        Raises :class:`LoginNeeded` where it wants a login first, else :class:`AgentUnusable`.
        """
        try:
            asked = agent.call(method, params) if patient else agent.ask(method, params)
            return await asked
        except (AgentError, AgentGone) as error:
            if isinstance(error, AgentError) and error.code == AUTH_REQUIRED:
                raise LoginNeeded(agent, error, f"try {method} again") from error
            raise AgentUnusable(
                f"{agent.name} could not answer {method}: {explained(error)}"
            ) from error

    async def ask_apart(
        self, agent: Agent, method: str, params: Mapping[str, Any], *, patient: bool = False
    ) -> Any:
        """Ask what belongs to no session: until it is answered, the process is needed."""
        with self.held(agent):
            return await self.ask(agent, method, params, patient=patient)

    @contextlib.contextmanager
    def held(self, agent: Agent) -> Iterator[None]:
        """Within the block the process is needed, also without a session."""
        self._held[agent] += 1
        try:
            yield
        finally:
            self._held[agent] -= 1
            self._held += Counter()

    async def retire(self, agent: Agent) -> None:
        """End a process that nobody needs any more."""
        if self._needed(agent) or self._held[agent]:
            return
        self.lost(agent)
        await self._end(agent)

    async def restart(self, name: str) -> int:
        """End every process of this agent; how many there were. The next session starts one."""
        running = [each for each in self._agents.values() if each.name == name]
        if not running and name not in self._catalog():
            raise AgentUnusable(f"No agent {name!r} is known.")
        for each in running:
            await self._end(each)
        self._versions.pop(name, None)
        for key in [key for key in self._crashes if key[0] == name]:
            del self._crashes[key]
        return len(running)

    async def _end(self, agent: Agent) -> None:
        """End a process, after an answer to all it still asks."""
        self._permissions.cancel(lambda owner, session: owner is agent)
        self._elicitations.cancel(lambda owner, session: owner is agent)
        await agent.stop()

    def ended(self, agent: Agent) -> None:
        """The process is gone. Called once."""
        if not agent.stopping:
            self._crashes.setdefault(agent.key, []).append(_now())
            del self._crashes[agent.key][:-_CRASHES]
        self.lost(agent)

    def lost(self, agent: Agent) -> None:
        """The process is gone, or going: nothing new is asked of it."""
        if self._agents.get(agent.key) is agent:
            del self._agents[agent.key]

    async def stop(self) -> None:
        """End every process, without patience; those that are left when this is called off are
        killed."""
        agents = list(self._agents.values())
        try:
            async with asyncio.TaskGroup() as group:
                for agent in agents:
                    group.create_task(agent.stop(urgent=True))
        finally:
            for agent in agents:
                agent.kill()


def _now() -> float:
    return asyncio.get_running_loop().time()


def _folder(cwd: str) -> str:
    """One form of a session's folder; its links stay, they are how the user sees it."""
    # Not pathlib's: a name of nobody, or one that cannot be, is no folder and not an error.
    path = Path(os.path.expanduser(cwd))  # noqa: PTH111
    if not path.is_absolute():
        raise AgentUnusable(f"The session's folder {cwd!r} must be an absolute path.")
    if not os.path.isdir(path):  # noqa: PTH112
        raise AgentUnusable(f"The session's folder {cwd!r} does not exist or is no folder.")
    return canonical(str(path))
