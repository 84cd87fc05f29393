"""What the user stops without the turn: one tool call, one terminal.

A command that runs here is ended here. Of what an agent runs by itself it is asked, where it
offers that (ACP version 2, "Cancelling Tool Calls" and "Cancelling Terminals"). An answer says
that the agent has taken the request; that the work has stopped it tells by an update.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from acp_sidecar.client.earlier import NotOffered
from acp_sidecar.client.opening import NoSession
from acp_sidecar.client.visible import visible
from acp_sidecar.session.toolcall import can_cancel

if TYPE_CHECKING:
    from acp_sidecar.client.live import LiveSession
    from acp_sidecar.client.pool import Pool
    from acp_sidecar.session.terminals import Terminal

_OTHERWISE = "acp.session.cancel ends the turn."


async def cancel_tool_call(pool: Pool, session: LiveSession, tool_call_id: str) -> None:
    """``tool_call/cancel``; returns when the agent has taken it.

    Raises :class:`NoSession` for a call nobody heard of, :class:`NotOffered` for one that is
    over or that the agent does not let cancel, ``AgentUnusable`` where the agent refuses.
    """
    call = session.state.tool_call(tool_call_id)
    if call is None:
        raise NoSession(f"There is no tool call {tool_call_id!r} in this session.")
    name = visible(call.title or tool_call_id)
    if not call.open:
        raise NotOffered(f"{name!r} is over: it is {call.status}.")
    if not can_cancel(call.capabilities):
        why = f"{session.agent.name} does not let {name!r} be cancelled alone."
        raise NotOffered(f"{why} {_OTHERWISE}")
    params = session.agent.wire.cancel_tool_call(session.agent_session_id, tool_call_id)
    await pool.ask(session.agent, "tool_call/cancel", params)


async def end_terminal(pool: Pool, sessions: Sequence[LiveSession], terminal_id: str) -> None:
    """End the command in a terminal, whichever of the sessions it is of.

    One that the agent runs by itself is cancelled by the agent. Raises :class:`NoSession` where
    there is no such terminal, and what :func:`cancel_terminal` raises.
    """
    for session in sessions:
        if session.terminals.has(terminal_id):
            await session.terminals.kill_for_user(terminal_id)
            return
    for session in sessions:
        terminal = session.state.terminal(terminal_id)
        if terminal is not None:
            await cancel_terminal(pool, session, terminal)
            return
    raise NoSession(f"There is no terminal {terminal_id!r}.")


async def cancel_terminal(pool: Pool, session: LiveSession, terminal: Terminal) -> None:
    """``terminal/cancel`` for a terminal of the agent's own; returns when it has taken it.

    Raises :class:`NotOffered` where the command is over or the agent does not let it be
    cancelled, ``AgentUnusable`` where the agent refuses.
    """
    name = visible(terminal.command or terminal.terminal_id)
    if terminal.ended or terminal.ours:
        who = "" if terminal.ours else "the agent runs it by itself, and "
        raise NotOffered(f"{name!r} is not to be ended: {who}it is over.")
    if not can_cancel(terminal.capabilities):
        why = f"{session.agent.name} runs {name!r} by itself and does not let it be ended alone."
        raise NotOffered(f"{why} {_OTHERWISE}")
    params = session.agent.wire.cancel_terminal(session.agent_session_id, terminal.terminal_id)
    await pool.ask(session.agent, "terminal/cancel", params)
