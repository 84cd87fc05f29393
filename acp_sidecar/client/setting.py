"""What the user sets in a session: its mode and its options.

ACP, "Session Modes" and "Session Config Options". What comes of it is no news to the user.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_sidecar.acp.decoding import DecodeError
from acp_sidecar.acp.model import UnknownBlock
from acp_sidecar.client.agents import AgentUnusable
from acp_sidecar.client.earlier import NotOffered

if TYPE_CHECKING:
    from acp_sidecar.client.live import LiveSession
    from acp_sidecar.client.pool import Pool


async def set_mode(pool: Pool, session: LiveSession, mode_id: str) -> None:
    """``session/set_mode``.

    Raises :class:`NotOffered` for a mode that the agent did not name, ``AgentUnusable`` where
    the agent refuses.
    """
    modes = session.state.info.modes
    known = [mode.id for mode in modes.available_modes] if modes else []
    if mode_id not in known:
        raise NotOffered(f"No mode {mode_id!r}; known: {', '.join(known) or 'none'}")
    agent = session.agent
    params = agent.wire.set_mode(session.agent_session_id, mode_id)
    with session.settings_news.asked(mode_id):
        await pool.ask(agent, "session/set_mode", params)
        session.publish(session.state.mode_set(mode_id))


async def set_config_option(
    pool: Pool, session: LiveSession, config_id: str, value: str | bool
) -> None:
    """``session/set_config_option``; the agent answers with all options as they are now.

    Raises :class:`NotOffered` for an option that the agent did not name, ``AgentUnusable``
    where the agent refuses, or answers with what cannot be read.
    """
    options = session.state.info.config_options
    known = [option.id for option in options if not isinstance(option, UnknownBlock)]
    if config_id not in known:
        raise NotOffered(f"No option {config_id!r}; known: {', '.join(known) or 'none'}")
    agent, method = session.agent, "session/set_config_option"
    params = agent.wire.set_config_option(session.agent_session_id, config_id, value)
    with session.settings_news.asked(value, config_id):
        result = await pool.ask(agent, method, params)
        try:
            session.happened(agent.wire.config_options(result))
        except DecodeError as error:
            raise AgentUnusable(
                f"{agent.name} answered {method} with what cannot be read: {error}"
            ) from error
