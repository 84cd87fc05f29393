"""What an agent may call, method by method, and whose concern each is.

Everything an agent says arrives here in order and goes to the session it names. Updates
for a session whose opening is not answered yet are kept for it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from acp_sidecar.acp import elicitation, jsonrpc
from acp_sidecar.acp.decoding import DecodeError
from acp_sidecar.acp.model import Event, Json
from acp_sidecar.agents.connection import AgentGone, IncomingRequest
from acp_sidecar.client import files
from acp_sidecar.client.agents import Agent
from acp_sidecar.client.elicitation import Elicitations
from acp_sidecar.client.live import LiveSession
from acp_sidecar.client.permissions import Permissions

logger = logging.getLogger(__name__)

_EARLY_UPDATES: Final = 1_000


class Routes:
    """The way from an agent's message to a session. Implements ``agents.Inbox``."""

    def __init__(
        self,
        permissions: Permissions,
        elicitations: Elicitations,
        ended: Callable[[Agent, AgentGone], None],
    ) -> None:
        self._permissions = permissions
        self._elicitations = elicitations
        self._ended = ended
        self._sessions: dict[tuple[Agent, str], LiveSession] = {}
        self._opening: dict[Agent, int] = {}
        self._early: dict[Agent, deque[tuple[str, Event]]] = {}
        self._closed: dict[Agent, set[str]] = {}

    # --- which session ----------------------------------------------------------------

    def attach(self, session: LiveSession) -> None:
        """From now on the session's messages go to it; early ones go first."""
        agent, agent_session_id = session.agent, session.agent_session_id
        self._sessions[agent, agent_session_id] = session
        self._closed.get(agent, set()).discard(agent_session_id)
        early = self._early.get(agent, deque())
        for pair in list(early):
            if pair[0] == agent_session_id:
                early.remove(pair)
                session.happened(pair[1])

    def detach(self, session: LiveSession) -> None:
        """The session's messages go nowhere any more."""
        agent, agent_session_id = session.agent, session.agent_session_id
        if self._sessions.get((agent, agent_session_id)) is session:
            del self._sessions[agent, agent_session_id]
            self._closed.setdefault(agent, set()).add(agent_session_id)

    def find(self, agent: Agent, agent_session_id: str) -> LiveSession | None:
        """The open session of this agent and id."""
        return self._sessions.get((agent, agent_session_id))

    def sessions_of(self, agent: Agent) -> list[LiveSession]:
        """The open sessions of an agent."""
        return [session for (owner, _), session in self._sessions.items() if owner is agent]

    @contextlib.contextmanager
    def opening(self, agent: Agent) -> Iterator[None]:
        """While a session is being opened, updates for sessions not known yet are kept."""
        self._opening[agent] = self._opening.get(agent, 0) + 1
        try:
            yield
        finally:
            self._opening[agent] -= 1
            # The session is attached in the same turn of the loop as its answer is read.
            asyncio.get_running_loop().call_soon(self._forget_early, agent)

    def is_opening(self, agent: Agent) -> bool:
        """Whether a session of this agent is being opened."""
        return bool(self._opening.get(agent))

    def _forget_early(self, agent: Agent) -> None:
        if not self._opening.get(agent):
            self._opening.pop(agent, None)
            self._early.pop(agent, None)

    # --- agents.Inbox -------------------------------------------------------------------

    def event(self, agent: Agent, agent_session_id: str, event: Event) -> None:
        session = self.find(agent, agent_session_id)
        if session is not None:
            session.happened(event)
        elif self._opening.get(agent):
            early = self._early.setdefault(agent, deque(maxlen=_EARLY_UPDATES))
            early.append((agent_session_id, event))
        else:
            logger.info("%s sent an update for an unknown session", agent.name)

    def request(self, agent: Agent, request: IncomingRequest) -> None:
        answer = _METHODS.get(request.method)
        if answer is None or not _is_offered(request.method, agent):
            request.error(
                jsonrpc.METHOD_NOT_FOUND, f"{request.method!r} is not offered by this client"
            )
            return
        try:
            answer(self, agent, request)
        except DecodeError as error:
            request.error(jsonrpc.INVALID_PARAMS, str(error))

    def completed(self, agent: Agent, params: Json) -> None:
        try:
            self._elicitations.completed(agent, elicitation.completed(params))
        except DecodeError as error:
            logger.info("%s: elicitation/complete cannot be read: %s", agent.name, error)

    def ended(self, agent: Agent, reason: AgentGone) -> None:
        for session in self.sessions_of(agent):
            session.turns.agent_gone(reason)
        self._ended(agent, reason)
        self._closed.pop(agent, None)

    # --- the methods ----------------------------------------------------------------------

    def _request_permission(self, agent: Agent, request: IncomingRequest) -> None:
        asked = agent.wire.permission_request(request.params)
        session = self.find(agent, asked.agent_session_id)
        if session is None and asked.agent_session_id in self._closed.get(agent, ()):
            # The user has done with that session; only one nobody knew may be another's.
            request.result(agent.wire.permission_outcome(None))
            return
        self._permissions.asked(request, asked, agent, session)

    def _create_elicitation(self, agent: Agent, request: IncomingRequest) -> None:
        named_formats = agent.wire.PROTOCOL_VERSION == 1
        asked = elicitation.elicitation(request.params, open_formats=not named_formats)
        session_id = asked.agent_session_id
        session = self.find(agent, session_id) if session_id is not None else None
        if session is None and session_id in self._closed.get(agent, ()):
            request.result(elicitation.answer("cancel"))
            return
        self._elicitations.asked(request, asked, agent, session)

    def _read_text_file(self, agent: Agent, request: IncomingRequest) -> None:
        params = agent.wire.read_text_file(request.params)
        session = self._session_of(agent, request, params.agent_session_id)
        if session is not None:
            result = agent.wire.read_text_file_result
            session.answers.give(files.read(session, request, params, result), request)

    def _write_text_file(self, agent: Agent, request: IncomingRequest) -> None:
        params = agent.wire.write_text_file(request.params)
        session = self._session_of(agent, request, params.agent_session_id)
        if session is not None:
            result = agent.wire.write_text_file_result
            session.answers.give(files.write(session, request, params, result), request)

    def _create_terminal(self, agent: Agent, request: IncomingRequest) -> None:
        params = agent.wire.create_terminal(request.params)
        session = self._session_of(agent, request, params.agent_session_id)
        if session is not None:
            session.answers.give(session.terminals.create(request, params), request)

    def _terminal_output(self, agent: Agent, request: IncomingRequest) -> None:
        params = agent.wire.terminal_request(request.params)
        session = self._session_of(agent, request, params.agent_session_id)
        if session is not None:
            session.terminals.output(request, params.terminal_id)

    def _wait_for_exit(self, agent: Agent, request: IncomingRequest) -> None:
        params = agent.wire.terminal_request(request.params)
        session = self._session_of(agent, request, params.agent_session_id)
        if session is not None:
            session.terminals.wait_for_exit(request, params.terminal_id)

    def _kill_terminal(self, agent: Agent, request: IncomingRequest) -> None:
        params = agent.wire.terminal_request(request.params)
        session = self._session_of(agent, request, params.agent_session_id)
        if session is not None:
            session.terminals.kill(request, params.terminal_id)

    def _release_terminal(self, agent: Agent, request: IncomingRequest) -> None:
        params = agent.wire.terminal_request(request.params)
        session = self._session_of(agent, request, params.agent_session_id)
        if session is not None:
            session.terminals.release(request, params.terminal_id)

    def _session_of(
        self, agent: Agent, request: IncomingRequest, agent_session_id: str
    ) -> LiveSession | None:
        session = self.find(agent, agent_session_id)
        if session is None:
            request.error(
                jsonrpc.INVALID_PARAMS,
                f"This client has no session {agent_session_id!r}",
                {"sessionId": agent_session_id},
            )
        return session


def _is_offered(method: str, agent: Agent) -> bool:
    if method.startswith("terminal/"):
        return agent.offered.terminal
    return not method.startswith("fs/") or agent.offered.read_text_file


_METHODS: Final[Mapping[str, Callable[[Routes, Agent, IncomingRequest], None]]] = {
    "session/request_permission": Routes._request_permission,
    "elicitation/create": Routes._create_elicitation,
    "fs/read_text_file": Routes._read_text_file,
    "fs/write_text_file": Routes._write_text_file,
    "terminal/create": Routes._create_terminal,
    "terminal/output": Routes._terminal_output,
    "terminal/wait_for_exit": Routes._wait_for_exit,
    "terminal/kill": Routes._kill_terminal,
    "terminal/release": Routes._release_terminal,
}
