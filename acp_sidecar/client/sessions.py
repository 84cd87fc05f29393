"""The client role as an editor uses it: sessions opened, spoken in, closed, over all agents.

ACP, "Session Setup". Implements ``ports.Client``.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from acp_sidecar.acp.model import SessionOpened
from acp_sidecar.agents.catalog import AgentEntry
from acp_sidecar.agents.connection import AgentError, AgentGone
from acp_sidecar.client import setting, stopping
from acp_sidecar.client.agents import Agent, AgentUnusable, unheard
from acp_sidecar.client.completing import Completer
from acp_sidecar.client.composing import Composer
from acp_sidecar.client.cutoff import cut_off_now
from acp_sidecar.client.earlier import Earlier, lacking
from acp_sidecar.client.elicitation import Elicitations
from acp_sidecar.client.index import SessionIndex
from acp_sidecar.client.jobs import Jobs
from acp_sidecar.client.ledgers import Ledgers
from acp_sidecar.client.live import LiveSession, OpenedWith
from acp_sidecar.client.login import Logins
from acp_sidecar.client.mentions import written
from acp_sidecar.client.methods import Routes
from acp_sidecar.client.opening import NoSession, Opening, roots_of
from acp_sidecar.client.permissions import Permissions
from acp_sidecar.client.pool import Pool, Recordings
from acp_sidecar.client.ports import (
    Asked,
    Attachment,
    Editor,
    Listed,
    Refused,
    Restoring,
    Suggestion,
    Turn,
)
from acp_sidecar.client.prompt import Prompt
from acp_sidecar.client.question import Question
from acp_sidecar.client.reviving import Reviving
from acp_sidecar.client.roster import Ways
from acp_sidecar.client.tool_server import ToolServer
from acp_sidecar.client.unfinished import CutOffs
from acp_sidecar.client.visible import visible
from acp_sidecar.session.state import Session
from acp_sidecar.tasks import Spawn, Tasks
from acp_sidecar.workspace.documents import Documents
from acp_sidecar.workspace.files import Files
from acp_sidecar.workspace.relative import relative_name
from acp_sidecar.workspace.roots import Roots

if TYPE_CHECKING:
    from acp_sidecar.settings import Settings

logger = logging.getLogger(__name__)

_CLOSE_SECONDS: Final = 5


class Sessions:
    """Every open session and every running agent."""

    def __init__(
        self,
        editor: Editor,
        documents: Documents,
        files: Files,
        catalog: Callable[[], Mapping[str, AgentEntry]],
        settings: Callable[[], Settings],
        spawn: Spawn,
        recordings: Recordings = lambda name: None,
        ledgers: Ledgers | None = None,
        index: SessionIndex | None = None,
        unfinished: Path | None = None,
    ) -> None:
        """``unfinished`` is a folder for what runs and waits; None: that is not remembered."""
        self._editor = editor
        self._files = files
        self._settings = settings
        self._spawn = spawn
        self._ledgers = ledgers or Ledgers(files, None, None)
        self._tasks = Tasks(spawn)
        self._permissions = Permissions(editor)
        self._elicitations = Elicitations(editor)
        self._routes = Routes(self._permissions, self._elicitations, self._lost)
        self._jobs = Jobs(spawn)
        self._pool = Pool(
            editor,
            catalog,
            settings,
            self._routes,
            self._permissions,
            self._elicitations,
            recordings,
            self._needed,
        )
        self._logins = Logins(editor, self._pool)
        self._cut_offs = CutOffs(unfinished, spawn)
        index = index or SessionIndex(None)
        self._earlier = Earlier(self._pool, index, self._ledgers, self._cut_offs)
        self._tools = ToolServer(editor, settings)
        self._stopping = False
        self._opening = Opening(
            editor,
            settings,
            self._pool,
            self._routes,
            self._earlier,
            self._tools,
            self._cut_offs,
            make=self._live,
            forget=self._forget,
        )
        self._reviving = Reviving(self._pool, self._routes, editor)
        self._composer = Composer(editor, documents, files)
        self._completer = Completer(documents)
        self._sessions: dict[str, LiveSession] = {}

    # --- which one ------------------------------------------------------------------------

    def sessions(self) -> tuple[LiveSession, ...]:
        return tuple(self._sessions.values())

    def session(self, session_id: str | None) -> LiveSession:
        """The session of this id; without one the only one open. Raises :class:`NoSession`."""
        if session_id is not None:
            if session_id in self._sessions:
                return self._sessions[session_id]
            raise NoSession(f"No session {session_id!r} is open. acp.session.new opens one.")
        every = self.sessions()
        candidates = [session for session in every if not session.ended] or every
        if not candidates:
            raise NoSession("No session is open. acp.session.new opens one.")
        if len(candidates) > 1:
            names = ", ".join(session.state.session_id for session in candidates)
            raise NoSession(f"Several sessions are open; name one as sessionId: {names}")
        return candidates[0]

    # --- opening ----------------------------------------------------------------------------

    async def new(
        self,
        agent: str | None,
        cwd: str,
        additional_directories: Sequence[str] = (),
        mcp_servers: Sequence[Mapping[str, Any]] = (),
        say: Callable[[str], None] = unheard,
    ) -> LiveSession:
        """``session/new``; where the agent wants a login first, with one."""
        return await self._logins.tried(
            lambda: self._opening.new(agent, cwd, additional_directories, mcp_servers, say)
        )

    async def restore(
        self,
        how: Restoring,
        agent: str | None,
        agent_session_id: str,
        cwd: str,
        additional_directories: Sequence[str] = (),
        mcp_servers: Sequence[Mapping[str, Any]] = (),
        say: Callable[[str], None] = unheard,
    ) -> LiveSession:
        """``session/load``, ``resume`` or ``fork``, where the agent offers it; where it wants
        a login first, with one."""
        return await self._logins.tried(
            lambda: self._opening.restore(
                how, agent, agent_session_id, cwd, additional_directories, mcp_servers, say
            )
        )

    async def list(self, agent: str | None, cwd: str, cursor: str | None) -> Listed:
        """One page of ``session/list``, and what is remembered beyond the last."""
        running, cwd = await self._pool.agent(agent, cwd)
        page = await self._earlier.list(running, cwd, cursor)
        if not running.info.delete_session:
            return Listed(page, frozenset())
        listed = {row.agent_session_id for row in page.sessions}
        here = (session.state for session in self._sessions.values())
        opened = {state.agent_session_id for state in here if state.agent == running.name}
        return Listed(page, frozenset(listed - opened))

    def cwd_of(self, agent: str | None, agent_session_id: str) -> str | None:
        """The folder of a session that is remembered from an earlier day."""
        return self._earlier.cwd_of(agent or self._settings().default_agent, agent_session_id)

    async def delete(self, agent: str | None, agent_session_id: str, cwd: str) -> None:
        """``session/delete``, where the agent offers it."""
        running, cwd = await self._pool.agent(agent, cwd)
        if not running.info.delete_session:
            raise lacking(running, "sessionCapabilities.delete")
        params = running.wire.session_delete(agent_session_id)
        await self._pool.ask_apart(running, "session/delete", params)
        self._earlier.forget(running, agent_session_id)
        self._cut_offs.forget((running.name, agent_session_id))
        live = self._routes.find(running, agent_session_id)
        if live is not None:
            self._forget(live)

    def _live(
        self,
        agent: Agent,
        cwd: str,
        roots: Roots,
        opened: SessionOpened,
        opened_with: OpenedWith,
        *,
        loading: bool = False,
        kept_as: str | None = None,
    ) -> LiveSession:
        if self._routes.find(agent, opened.agent_session_id) is not None:
            raise AgentUnusable(
                f"{agent.name} gave a new session the id of one that is open: "
                f"{opened.agent_session_id!r}. Close that one first."
            )
        settings = self._settings()
        state = Session(
            session_id=uuid.uuid4().hex[:12],
            agent=agent.name,
            cwd=cwd,
            roots=roots.paths,
            protocol_version=agent.info.protocol_version,
            agent_session_id=opened.agent_session_id,
            terminal_limit=settings.terminal_output_bytes,
        )
        goes_on = kept_as is not None
        if kept_as is None:
            kept_as = self._ledgers.name_for(agent.name, cwd, opened.agent_session_id)
        ledger = None
        if settings.review_mode != "off":
            ledger = self._ledgers.make(agent.name, cwd, kept_as, roots, again=goes_on)
        session = LiveSession(
            state,
            agent,
            roots,
            self._files,
            ledger,
            self._editor,
            self._permissions,
            self._elicitations,
            self._logins,
            settings,
            self._spawn,
            self._jobs,
            opened_with,
            self._earlier.remember,
            self._turn_moved,
        )
        session.kept_as = kept_as
        session.loading = session.quiet = loading
        self._sessions[state.session_id] = session
        session.publish(session.state.opened(opened))
        self._routes.attach(session)
        self._tools.attach(session)
        session.books.look_ahead()
        logger.info("session %s with %s in %s", state.session_id, agent.name, cwd)
        return session

    def _turn_moved(self, session: LiveSession) -> None:
        """Note what runs and waits in a session.

        The end of the sidecar ends every turn, and that is no news: they are cut off.
        """
        name = session.state.agent_session_id
        if name is not None and not self._stopping:
            self._cut_offs.note((session.agent_name, name), cut_off_now(session))

    # --- within a session -----------------------------------------------------------------

    async def prompt(
        self,
        session_id: str | None,
        text: str | None,
        content: Sequence[Mapping[str, Any]] = (),
        attachments: Sequence[Attachment] = (),
        say: Callable[[str], None] = unheard,
    ) -> Turn:
        """Send a prompt, or let it wait while a turn runs. A dead session is revived first."""
        session = self.session(session_id)
        if session.state.status == "dead":
            await self._logins.tried(lambda: self._reviving.revive(session, say))
        composed = await self._composer.compose(session, text, content, attachments)
        self._earlier.prompted(session)
        return session.turns.submit(composed.blocks, composed.mentioned)

    def cancel(self, session_id: str | None, turn: Turn | None = None) -> None:
        session = self.session(session_id)
        session.turns.cancel(turn if isinstance(turn, Prompt) else None)

    async def edit_waiting(self, session_id: str | None, turn_id: str, text: str) -> None:
        session = self.session(session_id)
        session.turns.waiting_prompt(turn_id)
        mentioned = await self._composer.mentioned(session, text)
        # It may have been sent meanwhile.
        session.turns.edit(session.turns.waiting_prompt(turn_id), text, mentioned)

    async def complete(
        self, session_id: str | None, text: str, cursor: int
    ) -> Sequence[Suggestion]:
        session = self.session(session_id)
        return await self._completer.suggestions(session, session.roots.real, text, cursor)

    async def complete_in(self, cwd: str, text: str, cursor: int) -> Sequence[Suggestion]:
        return await self._completer.suggestions(None, roots_of(cwd).real, text, cursor)

    def mention(self, path: str, cwd: str | None, lines: tuple[int, int] | None) -> str:
        name = relative_name(path, cwd)
        text = written(name, lines)
        if text is None:
            raise Refused(
                f"A prompt cannot name {visible(name)!r}: it has quotes or line breaks in its name."
            )
        return text

    def drop_waiting(self, session_id: str | None, turn_id: str) -> None:
        turns = self.session(session_id).turns
        turns.cancel(turns.waiting_prompt(turn_id))

    async def set_mode(self, session_id: str | None, mode_id: str) -> None:
        await setting.set_mode(self._pool, self.session(session_id), mode_id)

    async def set_config_option(
        self, session_id: str | None, config_id: str, value: str | bool
    ) -> None:
        await setting.set_config_option(self._pool, self.session(session_id), config_id, value)

    async def close(self, session_id: str | None) -> None:
        """Close a session on both sides; an agent that does not answer is not waited for."""
        session = self.session(session_id)
        agent = session.agent
        session.turns.cancel()
        self._forget(session)
        self._turn_moved(session)
        self._earlier.closed(session)
        if agent.gone is not None:
            return
        if agent.info.close_session:
            params = agent.wire.session_close(session.agent_session_id)
            self._tasks.start(self._tell_closed(agent, params), name="session/close")
        else:
            await self._pool.retire(agent)

    async def _tell_closed(self, agent: Agent, params: Mapping[str, Any]) -> None:
        try:
            await agent.call("session/close", params, timeout=_CLOSE_SECONDS)
        except (AgentError, AgentGone, TimeoutError) as error:
            logger.info("%s did not confirm session/close: %s", agent.name, error)
        await self._pool.retire(agent)

    def _needed(self, agent: Agent) -> bool:
        """Whether a session of this process is open, or being opened."""
        return bool(self._routes.sessions_of(agent)) or self._routes.is_opening(agent)

    def _forget(self, session: LiveSession) -> None:
        session.end(None)
        session.put_away()
        self._routes.detach(session)
        self._tools.detach(session)
        self._sessions.pop(session.state.session_id, None)

    async def kill_terminal(self, session_id: str | None, terminal_id: str) -> None:
        """End the command in a terminal, whichever session it is of where none is named.

        One that the agent runs by itself is cancelled by the agent, where it offers that.
        """
        chosen = self.sessions() if session_id is None else (self.session(session_id),)
        await stopping.end_terminal(self._pool, chosen, terminal_id)

    async def cancel_tool_call(self, session_id: str | None, tool_call_id: str) -> None:
        """Cancel one tool call and not its turn; see :func:`stopping.cancel_tool_call`."""
        await stopping.cancel_tool_call(self._pool, self.session(session_id), tool_call_id)

    # --- questions ----------------------------------------------------------------------------

    def questions(self) -> tuple[Question, ...]:
        return self._permissions.waiting()

    def answer(self, request_id: str, option_id: str | None) -> None:
        self._permissions.answer(request_id, option_id)

    def unanswered(self, request_id: str) -> None:
        self._permissions.unanswered(request_id)

    def elicitations(self) -> tuple[Asked, ...]:
        return self._elicitations.waiting()

    def answer_elicitation(
        self, request_id: str, action: str, content: Mapping[str, Any] | None = None
    ) -> None:
        self._elicitations.answer(request_id, action, content)

    def elicitation_unanswered(self, request_id: str) -> None:
        self._elicitations.unanswered(request_id)

    # --- agents -------------------------------------------------------------------------------

    def logins(self) -> Mapping[str, Ways]:
        """The ways to log in that running agents have named, by agent."""
        return self._pool.logins()

    async def login(
        self,
        agent: str,
        method_id: str | None,
        cwd: str,
        env: Mapping[str, str] | None = None,
    ) -> None:
        """Log in by one of the methods the agent offers."""
        running, _ = await self._pool.agent(agent, cwd)
        await self._logins.log_in(running, method_id, env)

    async def logout(self, agent: str, cwd: str) -> None:
        """``logout``, where the agent offers it."""
        running, _ = await self._pool.agent(agent, cwd)
        if not running.info.logout:
            raise lacking(running, "auth.logout")
        await self._pool.ask_apart(running, "logout", running.wire.logout())
        self._pool.take_back(running.name)

    async def restart(self, agent: str) -> int:
        """End every process of this agent; the next session starts a new one."""
        return await self._pool.restart(agent)

    def _lost(self, agent: Agent, reason: AgentGone) -> None:
        self._pool.ended(agent)
        self._permissions.cancel(lambda owner, session: owner is agent)
        self._elicitations.cancel(lambda owner, session: owner is agent)
        self._elicitations.lost(agent)
        sessions = self._routes.sessions_of(agent)
        for session in sessions:
            session.end(str(reason))
            self._routes.detach(session)
        if sessions:
            told = f"{reason}\nThe next prompt starts it again."
            self._editor.tell("log" if agent.stopping else "error", told)

    async def stop(self) -> None:
        """The editor is going: answer what waits, end every agent, without patience."""
        self._stopping = True
        self._permissions.cancel(lambda agent, session: True)
        self._elicitations.cancel(lambda agent, session: True)
        self._jobs.hurry()
        for session in self.sessions():
            session.end(None)
            session.put_away()
        self._tools.stop()
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._cut_offs.stop())
                group.create_task(self._jobs.stop())
                group.create_task(self._pool.stop())
        finally:
            self._jobs.kill()
