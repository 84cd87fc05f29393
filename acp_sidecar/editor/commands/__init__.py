"""The commands of ``workspace/executeCommand``, by name, each with one object as argument.

What they can do is handed in by ``app.py`` as :class:`Operations`. Their failures become
JSON-RPC errors whose message says what to do.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from acp_sidecar.client.ports import Refused
from acp_sidecar.editor.calls import CommandError
from acp_sidecar.editor.commands.agents import COMMANDS as AGENTS
from acp_sidecar.editor.commands.operations import Handler, Json, Operations
from acp_sidecar.editor.commands.prompts import COMMANDS as PROMPTS
from acp_sidecar.editor.commands.questions import COMMANDS as QUESTIONS
from acp_sidecar.editor.commands.review import COMMANDS as REVIEW
from acp_sidecar.editor.commands.sessions import COMMANDS as SESSIONS
from acp_sidecar.workspace.files import FileProblem

if TYPE_CHECKING:
    from acp_sidecar.editor.server import SidecarServer

__all__ = ["COMMANDS", "Operations", "register"]

COMMANDS: Final[Mapping[str, Handler]] = {
    **SESSIONS,
    **PROMPTS,
    **REVIEW,
    **QUESTIONS,
    **AGENTS,
}


def register(server: SidecarServer, operations: Callable[[], Operations]) -> None:
    """Offer every command on ``server``."""
    for name, handler in COMMANDS.items():
        server.command(name, _guarded(handler, operations))


def _guarded(
    handler: Handler, operations: Callable[[], Operations]
) -> Callable[[dict[str, Any]], Awaitable[Json]]:
    async def run(argument: dict[str, Any]) -> Json:
        try:
            return await handler(operations(), argument)
        except (Refused, FileProblem) as error:
            raise CommandError(str(error)) from error

    return run
