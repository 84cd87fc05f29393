"""Sessions of earlier days: those the agent lists, and those that are remembered here.

ACP, "Session Setup" and "Session List". What is remembered helps where the agent lists
nothing itself, lists a session without a title, or is asked for one without its folder.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

from attrs import evolve

from acp_sidecar.acp.decoding import DecodeError
from acp_sidecar.acp.model import AgentInfo, SessionInfo, SessionPage
from acp_sidecar.client.agents import Agent, AgentUnusable
from acp_sidecar.client.index import KnownSession, SessionIndex
from acp_sidecar.client.ledgers import Ledgers
from acp_sidecar.client.live import LiveSession
from acp_sidecar.client.pool import Pool
from acp_sidecar.client.ports import Refused, Restoring
from acp_sidecar.client.unfinished import CutOffs

_OTHER: Final[dict[Restoring, Restoring]] = {"load": "resume", "resume": "load"}


class NotOffered(Refused):
    """The agent does not offer what was asked; the message names the capability."""


class Earlier:
    """Lists sessions and remembers them."""

    def __init__(
        self, pool: Pool, index: SessionIndex, ledgers: Ledgers, cut_offs: CutOffs
    ) -> None:
        self._pool = pool
        self._index = index
        self._ledgers = ledgers
        self._cut_offs = cut_offs
        self._listed: dict[tuple[str, str], set[str]] = {}
        """What the pages that were asked for so far have shown."""

    async def list(self, agent: Agent, cwd: str, cursor: str | None) -> SessionPage:
        """One page of what the agent lists; after its last what is only remembered here. Of an
        agent that restores none these are the sessions that have left something for review, or
        were cut off.

        Raises :class:`NotOffered` for an agent that neither lists nor restores sessions, where
        there are none of those.
        """
        remembered = await self._remembered(agent, cwd)
        if not agent.info.list_sessions and not restores(agent.info) and not remembered:
            raise lacking(agent, "sessionCapabilities.list")
        listed = self._listed.setdefault(agent.key, set())
        if cursor is None:
            listed.clear()
        page = SessionPage(())
        if agent.info.list_sessions:
            params = agent.wire.session_list(cwd, cursor)
            page = _page(agent, await self._pool.ask_apart(agent, "session/list", params))
        rows = [self._titled(agent, row) for row in page.sessions]
        listed |= {row.agent_session_id for row in rows}
        if page.next_cursor is None:
            rows += [_row(one) for one in remembered if one.agent_session_id not in listed]
        return evolve(page, sessions=tuple(rows))

    async def _remembered(self, agent: Agent, cwd: str) -> Sequence[KnownSession]:
        known = self._index.of(agent.name, cwd)
        if restores(agent.info):
            return known
        return [
            one
            for one in known
            if self._ledgers.waits(one.agent, one.cwd, one.kept_as)
            or await self._cut_offs.left((one.agent, one.agent_session_id))
        ]

    def remember(self, session: LiveSession) -> None:
        """Note a session; called when it is opened and used.

        With an agent that restores none, what it leaves for review can be opened again, and
        one that is untouched: by a new one in its place.
        """
        state = session.state
        if state.agent_session_id is None:
            return
        known = self._index.find(state.agent, state.agent_session_id)
        if known is not None and known.kept_as != session.kept_as:
            self._set_aside(known)
        title = state.title or (known.title if known else None)
        self._index.remember(
            KnownSession(
                state.session_id,
                state.agent,
                state.agent_session_id,
                state.cwd,
                title,
                time.time(),
                session.untouched,
                session.kept_as,
            )
        )

    def _set_aside(self, known: KnownSession) -> None:
        """The agent has given this id once more: what the earlier session of it has left for
        review can still be opened, by another id."""
        if self._ledgers.waits(known.agent, known.cwd, known.kept_as):
            other = f"{known.agent_session_id}~{known.session_id}"
            self._index.remember(evolve(known, agent_session_id=other, untouched=False))

    def prompted(self, session: LiveSession) -> None:
        """A prompt is about to go into a session. On the disk before it goes, so that nobody
        ever takes for untouched what is not."""
        if session.untouched:
            session.untouched = False
            self.remember(session)

    def closed(self, session: LiveSession) -> None:
        """The user has closed a session. It stays where it can be opened again, or has left
        something for review."""
        state, info = session.state, session.agent.info
        if state.agent_session_id is None or restores(info):
            return
        if not self._ledgers.waits(state.agent, state.cwd, session.kept_as):
            self.forget(session.agent, state.agent_session_id)

    def is_untouched(self, agent: Agent, agent_session_id: str) -> bool:
        """Whether a session is known to have had no prompt."""
        known = self._index.find(agent.name, agent_session_id)
        return known is not None and known.untouched

    def kept_as(self, agent: Agent, agent_session_id: str) -> str:
        """The name that a session's checkpoints and what waits for review are kept by."""
        known = self._index.find(agent.name, agent_session_id)
        return known.kept_as if known else agent_session_id

    def title(self, agent: Agent, agent_session_id: str) -> str | None:
        """What a session was called when it was open last."""
        known = self._index.find(agent.name, agent_session_id)
        return known.title if known else None

    async def left(self, agent: Agent, cwd: str, kept_as: str) -> bool:
        """Whether a session that nobody has open has left something for review."""
        return await self._ledgers.left(agent.name, cwd, kept_as)

    def forget(self, agent: Agent, agent_session_id: str) -> None:
        """The agent has no such session any more."""
        self._index.forget(agent.name, agent_session_id)

    def cwd_of(self, agent: str, agent_session_id: str) -> str | None:
        """The folder of a session that is remembered."""
        known = self._index.find(agent, agent_session_id)
        return known.cwd if known else None

    def _titled(self, agent: Agent, row: SessionInfo) -> SessionInfo:
        if row.title:
            return row
        known = self._index.find(agent.name, row.agent_session_id)
        return evolve(row, title=known.title) if known else row


def way(agent: Agent, how: Restoring) -> Restoring:
    """How a session is opened again: as asked, or as the agent can.

    A load tells the conversation once more and a resume does not; both open the session.
    Raises :class:`NotOffered` where the agent can do neither, or cannot fork.
    """
    if _offers(agent.info, how):
        return how
    other = _OTHER.get(how)
    if other is not None and _offers(agent.info, other):
        return other
    raise lacking(agent, "loadSession" if how == "load" else f"sessionCapabilities.{how}")


def lacking(agent: Agent, capability: str) -> NotOffered:
    """The error for something an agent does not offer."""
    return NotOffered(f"{agent.name} does not offer this: it lacks {capability}.")


def _offers(info: AgentInfo, how: Restoring) -> bool:
    return {"load": info.load_session, "resume": info.resume_session, "fork": info.fork_session}[
        how
    ]


def restores(info: AgentInfo) -> bool:
    """Whether a session can be opened again."""
    return info.load_session or info.resume_session


def _page(agent: Agent, result: Any) -> SessionPage:
    try:
        page: SessionPage = agent.wire.session_page(result)
    except DecodeError as error:
        raise AgentUnusable(
            f"{agent.name} answered session/list with what cannot be read: {error}"
        ) from error
    return page


def _row(known: KnownSession) -> SessionInfo:
    used = datetime.fromtimestamp(known.last_used, UTC).isoformat(timespec="seconds")
    return SessionInfo(known.agent_session_id, known.cwd, known.title, used)
