"""The agents that are known, and how each is started."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from attrs import field, frozen

if TYPE_CHECKING:
    from acp_sidecar.agents.registry import RegistryAgent


@frozen
class AgentEntry:
    """One agent. ``cwd`` is the folder of the process, None for its session's.

    ``source`` says where the entry comes from: ``built-in``, ``settings`` or ``registry``.
    ``needs_consent`` is the command line that would download something and is not run
    before the user has permitted it; ``about`` is what a registry says of the agent.
    """

    name: str
    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(factory=dict)
    cwd: str | None = None
    source: str = "built-in"
    install_hint: str | None = None
    needs_consent: str | None = None
    about: RegistryAgent | None = None


class Setting(Protocol):
    """An agent as the user's settings name it (:class:`acp_sidecar.settings.AgentSetting`)."""

    @property
    def command(self) -> str: ...
    @property
    def args(self) -> tuple[str, ...]: ...
    @property
    def env(self) -> Mapping[str, str]: ...
    @property
    def cwd(self) -> str | None: ...


def own_command(name: str) -> tuple[str, tuple[str, ...], dict[str, str]]:
    """How a command of our own is started from anywhere: program, arguments, environment."""
    # -P: a module of our name in the folder it runs in is not ours.
    arguments = ("-P", "-m", "acp_sidecar", name)
    ours = str(Path(__file__).resolve().parents[2])
    # PYTHONPATH is not inherited where it names our packages; it is needed there.
    needed = ours in os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return sys.executable, arguments, {"PYTHONPATH": ours} if needed else {}


def _npm(name: str, command: str, package: str, *args: str) -> AgentEntry:
    hint = f"Install it with: npm install -g {package}"
    return AgentEntry(name, command, args, install_hint=hint)


def _at(name: str, command: str, address: str, *args: str) -> AgentEntry:
    return AgentEntry(name, command, args, install_hint=f"Install it as {address} says")


BUILT_IN: Final = (
    AgentEntry("demo", *own_command("demo-agent")),
    _npm("auggie", "auggie", "@augmentcode/auggie", "--acp"),
    _npm("claude", "claude-agent-acp", "@agentclientprotocol/claude-agent-acp"),
    _npm("codex", "codex-acp", "@agentclientprotocol/codex-acp"),
    _npm("copilot", "copilot", "@github/copilot", "--acp"),
    _at("cursor", "cursor-agent", "https://cursor.com/docs/cli/acp", "acp"),
    _npm("gemini", "gemini", "@google/gemini-cli", "--acp"),
    _at("goose", "goose", "https://block.github.io/goose/", "acp"),
    _at("kimi", "kimi", "https://github.com/MoonshotAI/kimi-cli", "acp"),
    _npm("opencode", "opencode", "opencode-ai", "acp"),
    _npm("qwen", "qwen", "@qwen-code/qwen-code", "--acp"),
    _at("vibe", "vibe-acp", "https://github.com/mistralai/mistral-vibe"),
)


def catalog(
    settings: Mapping[str, Setting], registry: Iterable[AgentEntry] = ()
) -> dict[str, AgentEntry]:
    """Every known agent by name. The user's settings win over the built-in entries, and
    those, whose programs the user installs, over the registry's."""
    known = {entry.name: entry for entry in (*registry, *BUILT_IN)}
    for name, setting in settings.items():
        known[name] = AgentEntry(
            name, setting.command, setting.args, setting.env, setting.cwd, source="settings"
        )
    return known
