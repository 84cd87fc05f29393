"""Opening a session: what is asked of the agent, and what becomes of its answer.

ACP, "Session Setup". Everything raises ``Refused`` where it cannot be.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol

from acp_sidecar.acp import jsonrpc
from acp_sidecar.acp.decoding import DecodeError
from acp_sidecar.acp.model import SessionOpened
from acp_sidecar.agents.connection import AgentError, AgentGone
from acp_sidecar.client.agents import Agent, AgentUnusable, LoginNeeded, explained
from acp_sidecar.client.cutoff import take_up
from acp_sidecar.client.earlier import Earlier, NotOffered, lacking, restores, way
from acp_sidecar.client.live import LiveSession, OpenedWith
from acp_sidecar.client.methods import Routes
from acp_sidecar.client.offers import lacking_for_servers
from acp_sidecar.client.pool import Pool
from acp_sidecar.client.ports import Editor, Refused, Restoring
from acp_sidecar.client.silence import tell_where_nothing_came
from acp_sidecar.client.successor import go_on
from acp_sidecar.client.tool_server import ToolServer
from acp_sidecar.client.unfinished import CutOffs
from acp_sidecar.workspace.roots import PathRefused, Roots

if TYPE_CHECKING:
    from acp_sidecar.settings import Settings

logger = logging.getLogger(__name__)

_STILL_SECONDS: Final = 0.25
_STILL_AT_MOST: Final = 3.0


class SessionRefused(AgentUnusable):
    """The agent says that it does not open the session."""


class SessionUnknown(SessionRefused):
    """The agent has no such session (any more)."""


class NoSession(Refused):
    """No session, or more than one, fits; the message says what to do."""


class Make(Protocol):
    """Makes a session known here, of which messages may come from now on. ``kept_as``: the name
    that the checkpoints and what waits for review are kept by from which it goes on."""

    def __call__(
        self,
        agent: Agent,
        cwd: str,
        roots: Roots,
        opened: SessionOpened,
        opened_with: OpenedWith,
        *,
        loading: bool = False,
        kept_as: str | None = None,
    ) -> LiveSession: ...


class Opening:
    """Opens sessions, new ones and those of earlier days."""

    def __init__(
        self,
        editor: Editor,
        settings: Callable[[], Settings],
        pool: Pool,
        routes: Routes,
        earlier: Earlier,
        tools: ToolServer,
        cut_offs: CutOffs,
        *,
        make: Make,
        forget: Callable[[LiveSession], None],
    ) -> None:
        self._editor = editor
        self._settings = settings
        self._pool = pool
        self._routes = routes
        self._earlier = earlier
        self._tools = tools
        self._cut_offs = cut_offs
        self._make = make
        self._forget = forget

    async def new(
        self,
        agent: str | None,
        cwd: str,
        additional_directories: Sequence[str],
        mcp_servers: Sequence[Mapping[str, Any]],
        say: Callable[[str], None],
    ) -> LiveSession:
        """``session/new``."""
        running, cwd = await self._pool.agent(agent, cwd, say)
        with self._pool.held(running):
            return await self._new(running, cwd, additional_directories, mcp_servers)

    async def _new(
        self,
        running: Agent,
        cwd: str,
        additional_directories: Sequence[str],
        mcp_servers: Sequence[Mapping[str, Any]],
        kept_as: str | None = None,
    ) -> LiveSession:
        roots = roots_of(cwd, additional_directories)
        if additional_directories:
            offered = running.info.additional_directories
            _require(running, offered, "sessionCapabilities.additionalDirectories")
        async with self._servers(running, mcp_servers) as servers:
            params = _valid(lambda: running.wire.session_new(cwd, additional_directories, servers))
            _require_all(running, lacking_for_servers(running.info, params["mcpServers"]))
            opened_with = additional_directories, servers
            return await self._begin(
                running, cwd, roots, "session/new", params, opened_with, kept_as
            )

    async def restore(
        self,
        how: Restoring,
        agent: str | None,
        agent_session_id: str,
        cwd: str,
        additional_directories: Sequence[str],
        mcp_servers: Sequence[Mapping[str, Any]],
        say: Callable[[str], None],
    ) -> LiveSession:
        """``session/load``, ``resume`` or ``fork``, where the agent offers it.

        Many agents keep nothing of a session before its first prompt. One that has had none
        and that the agent does not open is replaced by a new one: nothing is lost with it. So
        is one that can never be opened again, and of which something waits for review, or was
        typed and not sent: the new one goes on from there.
        """
        running, cwd = await self._pool.agent(agent, cwd, say)
        with self._pool.held(running):
            kept_as = self._earlier.kept_as(running, agent_session_id)
            untouched = how != "fork" and self._earlier.is_untouched(running, agent_session_id)
            try:
                return await self._restore(
                    running,
                    how,
                    agent_session_id,
                    cwd,
                    additional_directories,
                    mcp_servers,
                    kept_as,
                    untouched=untouched,
                )
            except (NotOffered, SessionRefused) as refused:
                if how == "fork":
                    raise
                is_unknown = isinstance(refused, SessionUnknown)
                cut_off = await self._cut_offs.find((running.name, agent_session_id))
                is_lost = is_unknown or not restores(running.info)
                reviews = is_lost and await self._left(running, cwd, kept_as)
                goes_on = reviews or (is_lost and cut_off is not None)
                if is_unknown and not reviews:
                    self._earlier.forget(running, agent_session_id)
                if not goes_on and (not untouched or cut_off is not None):
                    raise
                logger.info("%s; a new one takes its place", refused)
            session = await self._new(
                running, cwd, additional_directories, mcp_servers, kept_as if reviews else None
            )
            session.instead_of = agent_session_id
            if session.state.agent_session_id != agent_session_id:
                self._earlier.forget(running, agent_session_id)
            if goes_on:
                go_on(session, cut_off, reviews=reviews, untouched=untouched)
                self._cut_offs.forget((running.name, agent_session_id))
            return session

    async def _left(self, running: Agent, cwd: str, kept_as: str) -> bool:
        """Whether a session that is lost has left something for review."""
        known = self._routes.sessions_of(running)
        if self._settings().review_mode == "off" or any(one.kept_as == kept_as for one in known):
            return False
        return await self._earlier.left(running, cwd, kept_as)

    async def _restore(
        self,
        running: Agent,
        how: Restoring,
        agent_session_id: str,
        cwd: str,
        additional_directories: Sequence[str],
        mcp_servers: Sequence[Mapping[str, Any]],
        kept_as: str,
        *,
        untouched: bool,
    ) -> LiveSession:
        """A load replays the conversation as updates: they build the state and nothing else."""
        asked, how = how, way(running, how)
        build = getattr(running.wire, f"session_{how}")
        roots = roots_of(cwd, additional_directories)
        if additional_directories:
            dirs = running.info.additional_directories
            _require(running, dirs, "sessionCapabilities.additionalDirectories")
        async with self._servers(running, mcp_servers) as servers:
            params = _valid(lambda: build(agent_session_id, cwd, additional_directories, servers))
            _require_all(running, lacking_for_servers(running.info, params["mcpServers"]))
            method, opened_with = f"session/{how}", (additional_directories, servers)
            if how == "fork":
                return await self._begin(running, cwd, roots, method, params, opened_with)
            known = self._routes.find(running, agent_session_id)
            if known is not None:
                raise NoSession(
                    f"{agent_session_id!r} is open already, as session {known.state.session_id!r}."
                )
            # Before the agent is asked: what another process of it still does belongs to its
            # history.
            cut_off = await self._cut_offs.find((running.name, agent_session_id))
            session = self._make(
                running,
                cwd,
                roots,
                SessionOpened(agent_session_id),
                opened_with,
                loading=True,
                kept_as=kept_as,
            )
            session.state.was_called(self._earlier.title(running, agent_session_id))

            def loaded(opened: SessionOpened) -> None:
                session.loading = False
                session.publish(session.state.opened(opened))

            try:
                await open_session(running, method, params, agent_session_id, loaded)
                if cut_off is not None and how == "load":
                    await stillness(session)
            except BaseException:
                self._forget(session)
                raise
            session.untouched = untouched and cut_off is None
            self._earlier.remember(session)
            # What an earlier sidecar has left for review.
            session.review_soon()
            if cut_off is not None:
                take_up(session, cut_off)
                self._cut_offs.forget((running.name, agent_session_id))
            if session.untouched:
                return session  # no conversation is missed in it
            if asked == "load" and how == "resume":
                self._editor.tell(
                    "info",
                    f"{running.name} took the session up where it was, but cannot tell what was "
                    "said: the conversation so far is not shown.",
                )
            elif how == "load":
                tell_where_nothing_came(session)
            return session

    @contextlib.asynccontextmanager
    async def _servers(
        self, agent: Agent, given: Sequence[Mapping[str, Any]]
    ) -> AsyncIterator[Sequence[Mapping[str, Any]]]:
        """The MCP servers of a session that is opened within the block: those given, those of
        the settings, and ours with the editor tools where the user wants it."""
        servers = [*given, *self._usual_servers(agent, given)]
        taken = [server.get("name") for server in servers]
        async with self._tools.offered(agent, taken) as ours:
            yield [*servers, *ours]

    def _usual_servers(
        self, agent: Agent, given: Sequence[Mapping[str, Any]]
    ) -> Sequence[Mapping[str, Any]]:
        """The MCP servers of the settings that the agent can take and no given one has the
        name of."""
        names = {server.get("name") for server in given}
        usable: list[Mapping[str, Any]] = []
        for server in self._settings().mcp_servers:
            if server["name"] in names:
                continue
            lacking = lacking_for_servers(agent.info, [server])
            if lacking is None:
                usable.append(server)
            else:
                self._editor.tell(
                    "info",
                    f"{agent.name} does without the MCP server {server['name']} of your settings: "
                    f"it does not offer {lacking}.",
                )
        return usable

    async def _begin(
        self,
        agent: Agent,
        cwd: str,
        roots: Roots,
        method: str,
        params: Mapping[str, Any],
        opened_with: OpenedWith,
        kept_as: str | None = None,
    ) -> LiveSession:
        """A session whose id the agent gives; some speak of it before they name it."""
        begun: list[LiveSession] = []
        try:
            with self._routes.opening(agent):
                await open_session(
                    agent,
                    method,
                    params,
                    None,
                    lambda opened: begun.append(
                        self._make(agent, cwd, roots, opened, opened_with, kept_as=kept_as)
                    ),
                )
        except BaseException:
            for session in begun:
                self._forget(session)
            raise
        begun[0].untouched = method == "session/new"
        self._earlier.remember(begun[0])
        if begun[0].state.agent_session_id is not None:
            # Some agents give their ids anew after a restart.
            self._cut_offs.forget((agent.name, begun[0].state.agent_session_id))
        return begun[0]


async def open_session(
    agent: Agent,
    method: str,
    params: Mapping[str, Any],
    agent_session_id: str | None,
    opened: Callable[[SessionOpened], None],
) -> None:
    """Ask for a session. ``opened`` is called when the answer's turn has come: what the
    agent wants in the same breath already finds the session."""
    try:
        await agent.ask(
            method,
            params,
            on_result=lambda result: opened(agent.wire.session_opened(result, agent_session_id)),
        )
    except AgentError as error:
        if error.code == jsonrpc.AUTH_REQUIRED:
            raise LoginNeeded(agent, error, "open the session again") from error
        unknown = error.code == jsonrpc.RESOURCE_NOT_FOUND
        refused = SessionUnknown if unknown else SessionRefused
        raise refused(f"{agent.name} refused {method}: {explained(error)}") from error
    except (AgentGone, DecodeError) as error:
        raise AgentUnusable(f"{agent.name} could not answer {method}: {error}") from error


async def stillness(session: LiveSession) -> None:
    """Wait until the agent has said nothing for a moment: some tell the history after they
    have said that they have."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + _STILL_AT_MOST
    while loop.time() < deadline:
        heard = session.heard
        await asyncio.sleep(_STILL_SECONDS)
        if session.heard == heard:
            return


def roots_of(cwd: str, additional_directories: Sequence[str] = ()) -> Roots:
    """The folders of a session. Raises :class:`Refused` where they cannot be used."""
    try:
        return Roots.of(cwd, additional_directories)
    except PathRefused as refused:
        raise Refused(f"The session's folders cannot be used: {refused}") from refused


def _valid(build: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    try:
        return build()
    except ValueError as error:
        raise Refused(str(error)) from error


def _require(agent: Agent, offered: bool, capability: str) -> None:
    _require_all(agent, None if offered else capability)


def _require_all(agent: Agent, lacking_: str | None) -> None:
    if lacking_ is not None:
        raise lacking(agent, lacking_)
