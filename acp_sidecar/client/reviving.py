"""A session whose agent has ended is brought back when the user speaks in it again.

The agent takes the session up where it was (``session/resume``), tells its history once more,
which is known here (``session/load``), or begins with an empty memory (``session/new``),
whichever is the first that it offers and does. The user is told which. What was being done
when the agent ended is not begun again: nobody knows how much of it had happened.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from acp_sidecar.acp.model import SessionOpened
from acp_sidecar.client.agents import Agent, AgentUnusable, LoginNeeded
from acp_sidecar.client.live import LiveSession
from acp_sidecar.client.methods import Routes
from acp_sidecar.client.opening import open_session, stillness
from acp_sidecar.client.pool import Pool
from acp_sidecar.client.ports import Editor, Refused, Severity

logger = logging.getLogger(__name__)


class Reviving:
    """Brings sessions back."""

    def __init__(self, pool: Pool, routes: Routes, editor: Editor) -> None:
        self._pool = pool
        self._routes = routes
        self._editor = editor

    async def revive(self, session: LiveSession, say: Callable[[str], None]) -> None:
        """Start the agent of a dead session again and give it its session back.

        Raises ``Refused`` where that fails; the session stays as it is then.
        """
        async with session.reviving:
            if not session.ended:
                return
            agent, _ = await self._pool.again(session.agent.name, session.state.cwd, say)
            try:
                with self._pool.held(agent):
                    severity, told = await self._restore(session, agent)
            except BaseException:
                await self._pool.retire(agent)
                raise
            lost = session.turns.lost
            if lost is not None:
                told += " What it was working on when it ended was not sent again."
                session.turns.lost = None
            self._editor.tell(severity, told)

    async def _restore(self, session: LiveSession, agent: Agent) -> tuple[Severity, str]:
        """Open the session in the new process; what to tell the user, and how urgently."""
        name, info = agent.name, agent.info
        why = "cannot take up a session"
        if info.resume_session or info.load_session:
            how = "resume" if info.resume_session else "load"
            try:
                await self._take_up(session, agent, how)
            except LoginNeeded:
                raise
            except AgentUnusable as error:
                if agent.gone is not None:
                    raise
                logger.info("%s: %s", name, error)
                why = f"could not take up this session ({error})"
            else:
                text = f"{name} was started again and has taken up this session where it was."
                return "info", text
        await self._begin_anew(session, agent)
        return (
            "warning",
            f"{name} was started again, but {why}: it knows nothing of the conversation so far, "
            "which is only shown here.",
        )

    async def _take_up(self, session: LiveSession, agent: Agent, how: str) -> None:
        build = agent.wire.session_resume if how == "resume" else agent.wire.session_load
        agent_session_id = session.agent_session_id
        other = self._routes.find(agent, agent_session_id)
        if other is not None:
            raise Refused(
                f"{agent_session_id!r} was opened again as session {other.state.session_id!r}: "
                "go on there."
            )
        params = build(agent_session_id, session.state.cwd, *session.opened_with)
        session.told_again = True
        session.adopt(agent)
        self._routes.attach(session)
        try:
            await open_session(
                agent,
                f"session/{how}",
                params,
                agent_session_id,
                lambda opened: session.publish(session.state.opened(opened)),
            )
            if how == "load":
                await stillness(session)
        except BaseException:
            self._routes.detach(session)
            raise
        finally:
            session.told_again = False
        session.revived()

    async def _begin_anew(self, session: LiveSession, agent: Agent) -> None:
        params = agent.wire.session_new(session.state.cwd, *session.opened_with)

        def opened(answer: SessionOpened) -> None:
            session.adopt(agent)
            session.publish(session.state.opened(answer))
            session.forget_seen()
            self._routes.attach(session)

        with self._routes.opening(agent):
            await open_session(agent, "session/new", params, None, opened)
        session.revived()
