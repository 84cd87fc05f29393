"""Why a turn has failed, in words that say what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from acp_sidecar.acp import jsonrpc
from acp_sidecar.acp.model import TurnEnded
from acp_sidecar.agents.connection import AgentError
from acp_sidecar.client.agents import LoginNeeded, explained
from acp_sidecar.client.visible import visible

if TYPE_CHECKING:
    from acp_sidecar.client.agents import Agent


@frozen
class Failure:
    """What has become of a turn that failed, and what is said of why."""

    what: str
    why: str | None = None

    def __str__(self) -> str:
        return self.what if self.why is None else f"{self.what}: {self.why}"


def ending(agent: Agent, ended: TurnEnded) -> tuple[TurnEnded, Failure | None]:
    """How a turn ended, and what to tell of it where something failed."""
    if ended.stop_reason != "error":
        return ended, None
    said = visible(str(ended.error["message"])) if ended.error else "it does not say why"
    return ended, Failure(f"{agent.name} could not go on with the turn", said)


def refused(agent: Agent, error: AgentError) -> Failure:
    """What to tell of a prompt that was answered with an error, and what to do."""
    if error.code == jsonrpc.AUTH_REQUIRED:
        return Failure(str(LoginNeeded(agent, error, "send the prompt again")))
    said = explained(error)
    if error.code == jsonrpc.RESOURCE_NOT_FOUND:
        said = f"{said}. The session may be lost; acp.session.new opens a new one."
    return Failure(f"{agent.name} answered the prompt with an error", said)
