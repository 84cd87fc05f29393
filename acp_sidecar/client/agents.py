"""A running agent as the client sees it: started, greeted, its traffic routed.

One process serves all sessions of one agent and folder. Its messages arrive here in
order; each is looked up in a table and handed to the concern that owns it.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from acp_sidecar import __version__
from acp_sidecar.acp import v1, wire
from acp_sidecar.acp.decoding import DecodeError
from acp_sidecar.acp.model import AgentInfo, ClientCapabilities, Event, Implementation, Json
from acp_sidecar.agents.catalog import AgentEntry
from acp_sidecar.agents.connection import AgentError, AgentGone, Connection, IncomingRequest
from acp_sidecar.agents.process import AgentExit, AgentProcess, CannotStart, resolve, spawn
from acp_sidecar.client import files
from acp_sidecar.client.permissions import Permissions

if TYPE_CHECKING:
    from acp_sidecar.client.sessions import LiveSession
    from acp_sidecar.settings import Settings

logger = logging.getLogger(__name__)

CAPABILITIES: Final = ClientCapabilities(read_text_file=True, write_text_file=True)
"""What we tell agents that we can do: exactly what works."""

_EARLY_UPDATES: Final = 1_000
"""How many updates are kept for sessions whose ``session/new`` is not answered yet."""


class AgentUnusable(Exception):
    """The agent could not be started or greeted; the message says why and what to do."""


class Agent:
    """One agent process and the conversation with it. Implements ``connection.Handler``.

    ``key`` is what it is shared by: the agent's name and the folder it runs in.
    """

    def __init__(
        self,
        entry: AgentEntry,
        cwd: str,
        settings: Settings,
        permissions: Permissions,
        ended: Callable[[Agent, AgentGone], None],
        trace: Callable[[str, Any], None] | None = None,
    ) -> None:
        self.name = entry.name
        self.key = (entry.name, cwd)
        self.wire = v1
        self.info = AgentInfo(protocol_version=v1.PROTOCOL_VERSION)
        self.sessions: dict[str, LiveSession] = {}
        self.gone: AgentGone | None = None
        self.process: AgentProcess | None = None
        self._entry = entry
        self._settings = settings
        self._permissions = permissions
        self._ended = ended
        self._opening = 0
        self._early: deque[tuple[str, Event]] = deque(maxlen=_EARLY_UPDATES)
        self.connection = Connection(self._write, self, line_limit=settings.line_bytes, trace=trace)

    # --- its life -------------------------------------------------------------------

    @property
    def command_line(self) -> str:
        """The command as it is started, for a person."""
        return " ".join([self._entry.command, *self._entry.args])

    async def start(self) -> None:
        """Start the process and shake hands. Raises :class:`AgentUnusable`."""
        try:
            command = resolve(
                self._entry.command,
                self._entry.args,
                env=self._entry.env,
                cwd=self._entry.cwd or self.key[1],
            )
            self.process = await spawn(
                command, on_data=self.connection.data_received, on_exit=self._exited
            )
        except CannotStart as error:
            hint = f" {self._entry.install_hint}" if self._entry.install_hint else ""
            raise AgentUnusable(f"{error}{hint}") from error
        try:
            self.info = await self._greet()
        except BaseException:
            await self.stop()
            raise

    async def _greet(self) -> AgentInfo:
        timeout = self._settings.initialize_timeout
        request = self.wire.initialize(CAPABILITIES, Implementation("acp-sidecar", __version__))
        try:
            result = await self.connection.call("initialize", request, timeout=timeout)
            info = self.wire.initialize_result(result)
        except TimeoutError as error:
            raise AgentUnusable(
                f"{self.name} did not answer initialize within {timeout:g} s "
                f"(timeouts.initialize). {self._last_words()}"
            ) from error
        except (AgentError, AgentGone, DecodeError) as error:
            raise AgentUnusable(
                f"{self.name} ({self.command_line}) cannot be used: {error}"
            ) from error
        if info.protocol_version != self.wire.PROTOCOL_VERSION:
            raise AgentUnusable(
                f"{self.name} speaks protocol version {info.protocol_version}; this sidecar "
                f"speaks {self.wire.PROTOCOL_VERSION}. Install a matching version of one of them."
            )
        return info

    def _last_words(self) -> str:
        tail = self.process.stderr_tail().strip() if self.process else ""
        return f"Its last words on stderr: {tail}" if tail else "It wrote nothing to stderr."

    async def stop(self, *, urgent: bool = False) -> None:
        """End the process and everything it started; ``urgent`` within half a second."""
        if self.process is not None:
            await self.process.stop(urgent=urgent)

    def kill(self) -> None:
        """The last resort, at once."""
        if self.process is not None:
            self.process.kill_now()

    def _write(self, data: bytes) -> None:
        if self.process is not None:
            self.process.write(data)

    def _exited(self, exit_: AgentExit) -> None:
        self.connection.eof_received()
        self.connection.connection_lost(AgentGone(f"{self.name} has ended: {exit_}"))

    # --- opening sessions -------------------------------------------------------------

    async def call(
        self, method: str, params: Mapping[str, Any], *, timeout: float | None = None
    ) -> Json:
        """Ask the agent; see :meth:`Connection.call`."""
        return await self.connection.call(method, params, timeout=timeout)

    async def opening(self, method: str, params: Mapping[str, Any]) -> Json:
        """Ask for a session. Updates that come before the answer are kept for it."""
        timeout = self._settings.initialize_timeout
        self._opening += 1
        try:
            return await self.call(method, params, timeout=timeout)
        except TimeoutError as error:
            raise AgentUnusable(
                f"{self.name} did not answer {method} within {timeout:g} s "
                f"(timeouts.initialize). {self._last_words()}"
            ) from error
        finally:
            self._opening -= 1
            if not self._opening:
                asyncio.get_running_loop().call_soon(self._forget_early)

    def attach(self, agent_session_id: str, session: LiveSession) -> None:
        """From now on the session's messages go to it; early ones go first."""
        self.sessions[agent_session_id] = session
        mine = [event for owner, event in self._early if owner == agent_session_id]
        self._early = deque(
            (pair for pair in self._early if pair[0] != agent_session_id), _EARLY_UPDATES
        )
        for event in mine:
            session.happened(event)

    def detach(self, agent_session_id: str) -> None:
        """The session's messages go nowhere any more."""
        self.sessions.pop(agent_session_id, None)

    def _forget_early(self) -> None:
        if not self._opening:
            self._early.clear()

    # --- connection.Handler -------------------------------------------------------------

    def notification(self, method: str, params: Json) -> None:
        if method != "session/update":
            logger.info("%s sent the notification %r, which is not known", self.name, method)
            return
        try:
            agent_session_id, event = self.wire.session_update(params)
        except DecodeError as error:
            logger.warning("%s sent an update that cannot be read: %s", self.name, error)
            return
        session = self.sessions.get(agent_session_id)
        if session is not None:
            session.happened(event)
        elif self._opening:
            self._early.append((agent_session_id, event))
        else:
            logger.info("%s sent an update for an unknown session", self.name)

    def request(self, request: IncomingRequest) -> None:
        answer = _REQUESTS.get(request.method)
        if answer is None:
            request.error(
                wire.METHOD_NOT_FOUND, f"{request.method!r} is not offered by this client"
            )
            return
        try:
            answer(self, request)
        except DecodeError as error:
            request.error(wire.INVALID_PARAMS, str(error))

    def lost(self, reason: AgentGone) -> None:
        self.gone = reason
        self._ended(self, reason)

    # --- the methods an agent may call ---------------------------------------------------

    def _session_of(self, request: IncomingRequest, agent_session_id: str) -> LiveSession | None:
        session = self.sessions.get(agent_session_id)
        if session is None:
            request.error(
                wire.INVALID_PARAMS,
                f"This client has no session {agent_session_id!r}",
                {"sessionId": agent_session_id},
            )
        return session

    def _request_permission(self, request: IncomingRequest) -> None:
        asked = self.wire.permission_request(request.params)
        session = self.sessions.get(asked.agent_session_id)
        self._permissions.asked(request, asked, self, session)

    def _read_text_file(self, request: IncomingRequest) -> None:
        params = self.wire.read_text_file(request.params)
        session = self._session_of(request, params.agent_session_id)
        if session is not None:
            session.answer_with(files.read(session, request, params), request)

    def _write_text_file(self, request: IncomingRequest) -> None:
        params = self.wire.write_text_file(request.params)
        session = self._session_of(request, params.agent_session_id)
        if session is not None:
            session.answer_with(files.write(session, request, params), request)


_REQUESTS: Final[Mapping[str, Callable[[Agent, IncomingRequest], None]]] = {
    "session/request_permission": Agent._request_permission,
    "fs/read_text_file": Agent._read_text_file,
    "fs/write_text_file": Agent._write_text_file,
}
