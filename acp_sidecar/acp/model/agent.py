"""What an agent and its client tell of themselves, and how a user logs in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from attrs import field

from acp_sidecar.acp.values import JsonObject, frozen, wire


@frozen
class AuthMethod:
    """A way to log in, passed to ``authenticate`` by its id."""

    id: str
    name: str
    type: str = "agent"
    description: str | None = None
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class TerminalAuthMethod:
    """A way to log in by running the agent's command in a terminal.

    It is never passed to ``authenticate``.
    """

    TAG: ClassVar[str] = "terminal"
    id: str
    name: str
    description: str | None = None
    args: tuple[str, ...] = field(default=(), metadata=wire(strict=True))
    """Appended to the agent's own arguments."""
    env: Mapping[str, str] = field(factory=dict, metadata=wire(strict=True))
    """Laid over the agent's own environment."""
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)

    @property
    def type(self) -> str:
        return self.TAG


@frozen
class Implementation:
    """The name and version of a program that speaks ACP."""

    name: str
    version: str
    title: str | None = None
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class ClientCapabilities:
    """What we tell an agent that we can do; only what is really implemented."""

    read_text_file: bool = False
    write_text_file: bool = False
    terminal: bool = False
    terminal_auth: bool = False
    boolean_config_options: bool = False
    notices: bool = False
    compaction: bool = False
    elicitation_form: bool = False
    elicitation_url: bool = False
    meta: JsonObject | None = None


@frozen
class AgentInfo:
    """What ``initialize`` told us of the agent."""

    protocol_version: int
    name: str | None = None
    title: str | None = None
    version: str | None = None
    load_session: bool = False
    list_sessions: bool = False
    resume_session: bool = False
    fork_session: bool = False
    close_session: bool = False
    delete_session: bool = False
    additional_directories: bool = False
    prompt_image: bool = False
    prompt_audio: bool = False
    prompt_embedded_context: bool = False
    mcp_stdio: bool = True
    mcp_http: bool = False
    mcp_sse: bool = False
    logout: bool = False
    auth_methods: tuple[AuthMethod | TerminalAuthMethod, ...] = ()
    raw: JsonObject = field(factory=dict)
    """The result as it came, for ``doctor`` and for fields we do not know."""
