"""Sessions as the client lives them: opened, spoken in, closed. ACP, "Session Setup".

A :class:`LiveSession` joins one conversation's state with its agent, its roots and its
files; :class:`Sessions` holds all of them, over all agents.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from acp_sidecar.acp import wire
from acp_sidecar.acp.decoding import DecodeError
from acp_sidecar.acp.model import (
    Diff,
    Event,
    PermissionRequest,
    SessionModes,
    SessionOpened,
    SessionPage,
    ToolCallUpsert,
    given,
)
from acp_sidecar.agents.catalog import AgentEntry
from acp_sidecar.agents.connection import AgentError, AgentGone, IncomingRequest
from acp_sidecar.client.agents import Agent, AgentUnusable
from acp_sidecar.client.permissions import Permissions
from acp_sidecar.client.question import Question, Sight
from acp_sidecar.client.tasks import Spawn, Tasks
from acp_sidecar.client.turns import Prompt, Turns
from acp_sidecar.session.change import Change, ToolCallChanged
from acp_sidecar.session.state import Session
from acp_sidecar.workspace.files import Files, WriteOutcome
from acp_sidecar.workspace.ledger import Ledger
from acp_sidecar.workspace.roots import PathRefused, Roots
from acp_sidecar.workspace.uris import canonical

if TYPE_CHECKING:
    from acp_sidecar.acp.model import TurnEnded
    from acp_sidecar.client.ports import Editor
    from acp_sidecar.settings import Settings

logger = logging.getLogger(__name__)

_PATH_FIELDS: Final = ("path", "file_path", "filePath", "filepath", "file", "notebook_path")
_CLOSE_SECONDS: Final = 5


class NoSession(ValueError):
    """No session, or more than one, fits; the message says what to do."""


class NotOffered(ValueError):
    """The agent does not offer what was asked; the message names the capability."""


class LiveSession:
    """One conversation while it is open."""

    def __init__(
        self,
        state: Session,
        agent: Agent,
        roots: Roots,
        files: Files,
        ledger: Ledger | None,
        editor: Editor,
        permissions: Permissions,
        settings: Settings,
        spawn: Spawn,
    ) -> None:
        self.state = state
        self.agent = agent
        self.roots = roots
        self.files = files
        self.ledger = ledger
        self.editor = editor
        self.settings = settings
        self.handed: dict[Path, str] = {}
        """What the agent was last told each file says, or wrote itself."""
        self.tasks = Tasks(spawn)
        self.answers = Tasks(spawn)
        self.turns = Turns(self)
        self.ended = False
        self.loading = False
        """Between a load or resume request and its answer: only the state moves."""
        self.quiet = False
        """Until the first prompt of a loaded session: some agents send the history late."""
        self._permissions = permissions
        self._review_due = False
        self._review_running = False

    # --- what the agent says --------------------------------------------------------

    def happened(self, event: Event) -> None:
        """Fold an event of the agent's, in order of arrival."""
        self.publish(self.state.apply(event, replay=self.quiet))

    def publish(self, changes: Sequence[Change]) -> None:
        """Tell the editor, and note the files the changes speak of."""
        if not self.quiet:
            for change in changes:
                if isinstance(change, ToolCallChanged):
                    self._note_files(change)
        if changes:
            self.editor.changed(self, changes, replay=self.quiet)

    def permission_asked(self, question: Question, request: PermissionRequest) -> None:
        """Fold a permission request into the state."""
        self.publish(self.state.permission_asked(question.request_id, request, question.message))

    def permission_closed(self, request_id: str, state: str, option_id: str | None) -> None:
        """Fold how a permission request ended."""
        self.publish(self.state.permission_closed(request_id, state, option_id))

    @property
    def takes_questions(self) -> bool:
        """Whether a question may be put to the user: not for what was cancelled or replayed."""
        running = self.turns.running
        return not self.ended and not self.loading and not (running and running.cancelled)

    @property
    def takes_writes(self) -> bool:
        """Whether the agent may write: not after the user's cancel, until the next prompt."""
        running = self.turns.running
        if self.ended or self.loading:
            return False
        return not (running.cancelled if running else self.turns.last_was_cancelled)

    def cancel_questions(self) -> None:
        """Answer ``cancelled`` to every request of this session that waits."""
        self._permissions.cancel(lambda agent, session: session is self)

    def answer_with(self, work: Coroutine[Any, Any, object], request: IncomingRequest) -> None:
        """Answer a request of the agent's in a task of this session's."""
        task = self.answers.start(
            work,
            name=f"answer to {request.method}",
            failed=lambda error: _internal_error(request, error),
        )
        request.on_cancel(lambda: _cancel(task))
        task.add_done_callback(lambda done: _cancelled_answer(request, done))

    # --- files ------------------------------------------------------------------------

    def look(self, path: str) -> Sight:
        """What is at a path the agent named, for a question's text."""
        try:
            real = self.roots.resolve(path, relative_to=self.state.cwd, must="new")
        except PathRefused as refused:
            if refused.reason == "outside":
                return Sight(exists=Path(path).exists(), inside=False)
            return Sight(inside=refused.reason not in ("relative", "invalid"))
        return Sight(exists=real.exists(), text=self.files.glance(real))

    def touch(self, path: str) -> None:
        """Remember what a file said before the agent changes it, at its first mention."""
        if self.ledger is None:
            return
        try:
            real = self.roots.resolve(path, relative_to=self.state.cwd, must="new")
        except PathRefused:
            return
        self.ledger.touch(real)

    def wrote(self, path: Path, outcome: WriteOutcome) -> None:
        """The agent's write through us is in the file."""
        if self.ledger is not None:
            self.ledger.wrote(path, outcome)
        self.review_soon()

    def _note_files(self, change: ToolCallChanged) -> None:
        event = change.event
        if self.ledger is None or not isinstance(event, ToolCallUpsert):
            if self.ledger is not None and event is not None:
                self.review_soon()
            return
        for location in given(event.locations, ()):
            self.touch(location.path)
        raw_input = event.raw_input
        if isinstance(raw_input, Mapping):
            for name in _PATH_FIELDS:
                if isinstance(raw_input.get(name), str):
                    self.touch(raw_input[name])
        for item in given(event.content, ()):
            if isinstance(item, Diff):
                self._note_diff(item)
        if given(event.status, "") in ("completed", "failed") or given(event.content, ()):
            self.review_soon()

    def _note_diff(self, diff: Diff) -> None:
        self.touch(diff.path)
        try:
            real = self.roots.resolve(diff.path, relative_to=self.state.cwd, must="new")
        except PathRefused:
            return
        if self.ledger is not None:
            self.ledger.diff_reported(real, diff.old_text, diff.new_text)

    def prepare_turn(self) -> None:
        """A prompt goes out: what files say now is what the agent's changes start from."""
        self.quiet = False
        if self.ledger is not None:
            self.ledger.begin_turn()

    def turn_over(self, prompt: Prompt, ended: TurnEnded | None) -> None:
        """A turn ended: look at the files once more, and say so where nothing came back."""
        if self.ledger is not None:
            self.ledger.end_turn()
        self.review_soon()
        if ended is None or prompt.cancelled or prompt.number is None:
            return
        if not self.state.said_anything(prompt.number):
            self.editor.tell(
                "warning",
                f"{self.agent.name} ended the turn ({ended.stop_reason}) without a word. The "
                "session may be lost; acp.session.new opens a new one.",
            )

    def review_soon(self) -> None:
        """Look again at what waits for review, once, however often this is called."""
        if self.ledger is None or self.ended:
            return
        self._review_due = True
        if not self._review_running:
            self._review_running = True
            self.tasks.start(self._review(), name="review of changed files")

    async def _review(self) -> None:
        try:
            while self._review_due:
                self._review_due = False
                if self.ledger is not None:
                    await self.ledger.refresh()
                self.editor.files_changed(self)
        finally:
            self._review_running = False

    # --- its end ------------------------------------------------------------------------

    def end(self, reason: str | None) -> None:
        """Close the session on our side; ``reason`` where its agent is gone."""
        if self.ended:
            return
        self.cancel_questions()
        self.ended = True
        self.turns.fail(reason or "The session was closed.")
        self.publish(self.state.died(reason) if reason else self.state.close())
        if not reason:
            self.tasks.cancel()
        self.answers.cancel()


def _cancel(task: asyncio.Task[None]) -> None:
    task.cancel()


def _internal_error(request: IncomingRequest, error: Exception) -> None:
    request.error(wire.INTERNAL_ERROR, f"{request.method} failed here: {error}")


def _cancelled_answer(request: IncomingRequest, task: asyncio.Task[None]) -> None:
    if task.cancelled():
        request.error(wire.REQUEST_CANCELLED, f"{request.method} was cancelled")


class Sessions:
    """Every open session and every running agent."""

    def __init__(
        self,
        editor: Editor,
        files: Files,
        catalog: Callable[[], Mapping[str, AgentEntry]],
        settings: Callable[[], Settings],
        spawn: Spawn,
        trace: Callable[[str], Callable[[str, Any], None] | None] = lambda name: None,
    ) -> None:
        self.permissions = Permissions(editor)
        self._editor = editor
        self._files = files
        self._catalog = catalog
        self._settings = settings
        self._spawn = spawn
        self._trace = trace
        self._agents: dict[tuple[str, str], Agent] = {}
        self._starting: dict[tuple[str, str], asyncio.Lock] = {}
        self._sessions: dict[str, LiveSession] = {}

    # --- which one ------------------------------------------------------------------------

    def all(self) -> tuple[LiveSession, ...]:
        """The open sessions, oldest first."""
        return tuple(self._sessions.values())

    def get(self, session_id: str | None) -> LiveSession:
        """The session of this id; without one the only one open. Raises :class:`NoSession`."""
        if session_id is not None:
            if session_id in self._sessions:
                return self._sessions[session_id]
            raise NoSession(f"No session {session_id!r} is open. acp.session.new opens one.")
        candidates = [session for session in self.all() if not session.ended] or self.all()
        if not candidates:
            raise NoSession("No session is open. acp.session.new opens one.")
        if len(candidates) > 1:
            names = ", ".join(session.state.session_id for session in candidates)
            raise NoSession(f"Several sessions are open; name one as sessionId: {names}")
        return candidates[0]

    # --- opening ----------------------------------------------------------------------------

    async def new(
        self,
        agent_name: str | None,
        cwd: str,
        additional_directories: Sequence[str] = (),
        mcp_servers: Sequence[Any] = (),
    ) -> LiveSession:
        """``session/new``. Raises :class:`AgentUnusable`, :class:`PathRefused`."""
        agent, cwd = await self._agent(agent_name, cwd)
        self._check_directories(agent, additional_directories)
        params = agent.wire.session_new(cwd, additional_directories, mcp_servers)
        opened = await self._open(agent, "session/new", params, None)
        return self._live(agent, cwd, additional_directories, opened)

    async def restore(
        self,
        how: str,
        agent_name: str | None,
        agent_session_id: str,
        cwd: str,
        mcp_servers: Sequence[Any] = (),
    ) -> LiveSession:
        """``session/load``, ``resume`` or ``fork``, where the agent offers it.

        A load replays the conversation as updates: they build the state and nothing else.
        """
        agent, cwd = await self._agent(agent_name, cwd)
        offered, capability = {
            "load": (agent.info.load_session, "loadSession"),
            "resume": (agent.info.resume_session, "sessionCapabilities.resume"),
            "fork": (agent.info.fork_session, "sessionCapabilities.fork"),
        }[how]
        _require(agent, offered, capability)
        method = f"session/{how}"
        build = getattr(agent.wire, f"session_{how}")
        params = build(agent_session_id, cwd, (), mcp_servers)
        if how == "fork":
            opened = await self._open(agent, method, params, None)
            return self._live(agent, cwd, (), opened)
        if agent_session_id in agent.sessions:
            raise NoSession(
                f"The session {agent_session_id!r} is open already, as "
                f"{agent.sessions[agent_session_id].state.session_id!r}."
            )
        session = self._live(agent, cwd, (), SessionOpened(agent_session_id), loading=True)
        try:
            opened = await self._open(agent, method, params, agent_session_id)
        except BaseException:
            self._forget(session, None)
            raise
        session.loading = False
        session.publish(session.state.opened(opened))
        return session

    async def list(self, agent_name: str | None, cwd: str, cursor: str | None) -> SessionPage:
        """One page of ``session/list``."""
        agent, cwd = await self._agent(agent_name, cwd)
        _require(agent, agent.info.list_sessions, "sessionCapabilities.list")
        result = await self._ask(agent, "session/list", agent.wire.session_list(cwd, cursor))
        page: SessionPage = agent.wire.session_page(result)
        return page

    async def delete(self, agent_name: str | None, agent_session_id: str, cwd: str) -> None:
        """``session/delete``, where the agent offers it."""
        agent, cwd = await self._agent(agent_name, cwd)
        _require(agent, agent.info.delete_session, "sessionCapabilities.delete")
        await self._ask(agent, "session/delete", agent.wire.session_delete(agent_session_id))
        live = agent.sessions.get(agent_session_id)
        if live is not None:
            self._forget(live, None)

    def _check_directories(self, agent: Agent, directories: Sequence[str]) -> None:
        if directories:
            _require(
                agent,
                agent.info.additional_directories,
                "sessionCapabilities.additionalDirectories",
            )

    async def _agent(self, name: str | None, cwd: str) -> tuple[Agent, str]:
        settings = self._settings()
        name = name or settings.default_agent
        entries = self._catalog()
        if name not in entries:
            known = ", ".join(sorted(entries))
            raise AgentUnusable(f"No agent {name!r} is known. Known: {known}. See acp.agents.")
        cwd = _folder(cwd)
        key = (name, cwd)
        async with self._starting.setdefault(key, asyncio.Lock()):
            agent = self._agents.get(key)
            if agent is None or agent.gone is not None:
                agent = Agent(
                    entries[name], cwd, settings, self.permissions, self._lost, self._trace(name)
                )
                self._editor.tell("log", f"Starting {name} in {cwd}: {agent.command_line}")
                await agent.start()
                self._agents[key] = agent
        return agent, cwd

    async def _open(
        self, agent: Agent, method: str, params: Mapping[str, Any], agent_session_id: str | None
    ) -> SessionOpened:
        try:
            result = await agent.opening(method, params)
            opened: SessionOpened = agent.wire.session_opened(result, agent_session_id)
        except AgentError as error:
            if error.code == wire.AUTH_REQUIRED:
                raise AgentUnusable(_login_advice(agent, error)) from error
            raise AgentUnusable(f"{agent.name} refused {method}: {error}") from error
        except (AgentGone, DecodeError) as error:
            raise AgentUnusable(f"{agent.name} could not answer {method}: {error}") from error
        return opened

    async def _ask(self, agent: Agent, method: str, params: Mapping[str, Any]) -> Any:
        try:
            return await agent.call(method, params, timeout=self._settings().initialize_timeout)
        except TimeoutError as error:
            raise AgentUnusable(f"{agent.name} did not answer {method} in time.") from error
        except (AgentError, AgentGone) as error:
            raise AgentUnusable(f"{agent.name} could not answer {method}: {error}") from error

    def _live(
        self,
        agent: Agent,
        cwd: str,
        additional_directories: Sequence[str],
        opened: SessionOpened,
        *,
        loading: bool = False,
    ) -> LiveSession:
        settings = self._settings()
        roots = Roots.of(cwd, additional_directories)
        state = Session(
            session_id=uuid.uuid4().hex[:12],
            agent=agent.name,
            cwd=cwd,
            roots=roots.paths,
            protocol_version=agent.info.protocol_version,
            agent_session_id=opened.agent_session_id,
        )
        ledger = (
            Ledger(self._files, within=roots.contains) if settings.review_mode != "off" else None
        )
        session = LiveSession(
            state,
            agent,
            roots,
            self._files,
            ledger,
            self._editor,
            self.permissions,
            settings,
            self._spawn,
        )
        session.loading = session.quiet = loading
        self._sessions[state.session_id] = session
        session.publish(session.state.opened(opened))
        agent.attach(opened.agent_session_id, session)
        return session

    # --- within a session -----------------------------------------------------------------

    async def set_mode(self, session: LiveSession, mode_id: str) -> None:
        """``session/set_mode``; the mode must be one the agent named."""
        modes: SessionModes | None = session.state.modes
        known = [mode.id for mode in modes.available_modes] if modes else []
        if mode_id not in known:
            raise NotOffered(f"No mode {mode_id!r}; known: {', '.join(known) or 'none'}")
        agent = session.agent
        params = agent.wire.set_mode(session.state.agent_session_id or "", mode_id)
        await self._ask(agent, "session/set_mode", params)
        session.publish(session.state.mode_set(mode_id))

    async def set_config_option(
        self, session: LiveSession, config_id: str, value: str | bool
    ) -> None:
        """``session/set_config_option``; the agent answers with all options as they are now."""
        agent = session.agent
        params = agent.wire.set_config_option(
            session.state.agent_session_id or "", config_id, value
        )
        result = await self._ask(agent, "session/set_config_option", params)
        session.happened(agent.wire.config_options(result))

    async def close(self, session: LiveSession) -> None:
        """Close a session on both sides; an agent that does not answer is not waited for."""
        agent = session.agent
        session.turns.cancel()
        self._forget(session, None)
        if agent.info.close_session and agent.gone is None:
            params = agent.wire.session_close(session.state.agent_session_id or "")
            session_tasks = Tasks(self._spawn)
            session_tasks.start(self._tell_closed(agent, params), name="session/close")
        elif not agent.sessions:
            await self._retire(agent)

    async def _tell_closed(self, agent: Agent, params: Mapping[str, Any]) -> None:
        try:
            await agent.call("session/close", params, timeout=_CLOSE_SECONDS)
        except (AgentError, AgentGone, TimeoutError) as error:
            logger.info("%s did not confirm session/close: %s", agent.name, error)
        if not agent.sessions:
            await self._retire(agent)

    async def _retire(self, agent: Agent) -> None:
        """End a process that no session needs any more."""
        if self._agents.get(agent.key) is agent:
            del self._agents[agent.key]
        await agent.stop()

    def _forget(self, session: LiveSession, reason: str | None) -> None:
        session.end(reason)
        session.agent.detach(session.state.agent_session_id or "")
        self._sessions.pop(session.state.session_id, None)

    # --- agents -------------------------------------------------------------------------------

    async def login(self, name: str, method_id: str | None, cwd: str) -> None:
        """``authenticate`` with one of the methods the agent offers."""
        agent, _ = await self._agent(name, cwd)
        methods = {method.id: method for method in agent.info.auth_methods}
        if method_id is None and len(methods) == 1:
            method_id = next(iter(methods))
        if method_id is None or method_id not in methods:
            raise NotOffered(
                f"Name a methodId; {name} offers: " + (", ".join(methods) or "no login methods")
            )
        method = methods[method_id]
        if method.type != "agent":
            raise NotOffered(
                f"{method.name} is a login of type {method.type!r}, which is done outside the "
                f"editor: {method.description or agent.command_line}"
            )
        await self._ask(agent, "authenticate", agent.wire.authenticate(method_id))

    async def logout(self, name: str, cwd: str) -> None:
        """``logout``, where the agent offers it."""
        agent, _ = await self._agent(name, cwd)
        _require(agent, agent.info.logout, "auth.logout")
        await self._ask(agent, "logout", {})

    async def restart(self, name: str) -> int:
        """End every process of this agent; the next session starts a new one.

        Returns how many were ended. Their sessions end with them.
        """
        agents = [agent for agent in self._agents.values() if agent.name == name]
        if not agents and name not in self._catalog():
            raise AgentUnusable(f"No agent {name!r} is known.")
        for agent in agents:
            await agent.stop()
        return len(agents)

    def _lost(self, agent: Agent, reason: AgentGone) -> None:
        if self._agents.get(agent.key) is agent:
            del self._agents[agent.key]
        self.permissions.cancel(lambda owner, session: owner is agent)
        for session in list(agent.sessions.values()):
            session.end(str(reason))
        if agent.sessions:
            self._editor.tell("error", str(reason))

    async def stop(self) -> None:
        """The editor is going: answer what waits, end every agent, within half a second."""
        self.permissions.cancel(lambda agent, session: True)
        for session in list(self._sessions.values()):
            session.end(None)
        agents = list(self._agents.values())
        try:
            async with asyncio.TaskGroup() as group:
                for agent in agents:
                    group.create_task(agent.stop(urgent=True))
        finally:
            for agent in agents:
                agent.kill()


def _folder(cwd: str) -> str:
    """One form of a session's folder; its links stay, they are how the user sees it."""
    path = Path(cwd).expanduser()
    if not path.is_absolute():
        raise AgentUnusable(f"The session's folder {cwd!r} must be an absolute path.")
    if not path.is_dir():
        raise AgentUnusable(f"The session's folder {cwd!r} does not exist or is no folder.")
    return canonical(str(path))


def _require(agent: Agent, offered: bool, capability: str) -> None:
    if not offered:
        raise NotOffered(f"{agent.name} does not offer this: it lacks {capability}.")


def _login_advice(agent: Agent, error: AgentError) -> str:
    methods = agent.info.auth_methods
    if not methods:
        return (
            f"{agent.name} needs a login ({error}) and names no way to do it here. Log in with "
            f"its own command in a terminal: {agent.command_line}"
        )
    offered = "; ".join(
        f"{method.name} (methodId {method.id!r})"
        + (f": {method.description}" if method.description else "")
        for method in methods
    )
    return (
        f"{agent.name} needs a login ({error}). It offers {offered}. Use acp.agent.login, then "
        "open the session again."
    )
