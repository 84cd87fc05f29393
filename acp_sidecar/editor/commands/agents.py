"""``acp.agent.*``, and what an agent runs: ``acp.terminal.*``, ``acp.toolCall.*``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from acp_sidecar.editor.arguments import Argument, required_text, session_id, text, text_map
from acp_sidecar.editor.calls import INVALID_PARAMS, CommandError
from acp_sidecar.editor.commands.operations import Handler, Json, Operations, with_progress
from acp_sidecar.editor.terminals import told


async def _agents(on: Operations, argument: Argument) -> Json:
    return await on.agents()


async def _login(on: Operations, argument: Argument) -> Json:
    agent = required_text(argument, "agent")
    method_id, cwd, env = text(argument, "methodId"), on.cwd(argument), text_map(argument, "env")
    await with_progress(
        on, f"Logging in to {agent}", lambda say: on.client.login(agent, method_id, cwd, env)
    )
    return {}


async def _logout(on: Operations, argument: Argument) -> Json:
    await on.client.logout(required_text(argument, "agent"), on.cwd(argument))
    return {}


async def _restart(on: Operations, argument: Argument) -> Json:
    return {"ended": await on.client.restart(required_text(argument, "agent"))}


async def _terminal_output(on: Operations, argument: Argument) -> Json:
    terminal_id = required_text(argument, "terminalId")
    for session in on.chosen(argument):
        terminal = session.state.terminal(terminal_id)
        if terminal is not None:
            return told(session.state.session_id, terminal)
    raise CommandError(f"There is no terminal {terminal_id!r}.", INVALID_PARAMS)


async def _terminal_kill(on: Operations, argument: Argument) -> Json:
    terminal_id = required_text(argument, "terminalId")
    await on.client.kill_terminal(session_id(argument), terminal_id)
    return {}


async def _tool_call_cancel(on: Operations, argument: Argument) -> Json:
    tool_call_id = required_text(argument, "toolCallId")
    await on.client.cancel_tool_call(session_id(argument), tool_call_id)
    return {}


COMMANDS: Final[Mapping[str, Handler]] = {
    "acp.agent.list": _agents,
    "acp.agent.login": _login,
    "acp.agent.logout": _logout,
    "acp.agent.restart": _restart,
    "acp.terminal.output": _terminal_output,
    "acp.terminal.kill": _terminal_kill,
    "acp.toolCall.cancel": _tool_call_cancel,
}
