"""The agents that are known, and how each is started."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Protocol

from attrs import field, frozen


@frozen
class AgentEntry:
    """One agent. ``cwd`` is the folder of the process, None for its session's.

    ``source`` says where the entry comes from: ``built-in`` or ``settings``.
    """

    name: str
    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(factory=dict)
    cwd: str | None = None
    source: str = "built-in"
    install_hint: str | None = None


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


def _demo() -> AgentEntry:
    # -P: a module of our name in the folder the agent runs in is not ours.
    arguments = ("-P", "-m", "acp_sidecar", "demo-agent")
    ours = str(Path(__file__).resolve().parents[2])
    # PYTHONPATH is not inherited where it names our packages; this agent needs it there.
    needed = ours in os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return AgentEntry("demo", sys.executable, arguments, {"PYTHONPATH": ours} if needed else {})


BUILT_IN: Final = (
    _demo(),
    AgentEntry(
        "claude",
        "claude-agent-acp",
        install_hint="Install it with: npm install -g @agentclientprotocol/claude-agent-acp",
    ),
    AgentEntry(
        "codex",
        "codex-acp",
        install_hint="Install it with: npm install -g @zed-industries/codex-acp",
    ),
    AgentEntry(
        "gemini",
        "gemini",
        ("--acp",),
        install_hint="Install it with: npm install -g @google/gemini-cli",
    ),
    AgentEntry(
        "opencode",
        "opencode",
        ("acp",),
        install_hint="Install it with: npm install -g opencode-ai",
    ),
)


def catalog(settings: Mapping[str, Setting]) -> dict[str, AgentEntry]:
    """Every known agent by name; the user's settings win over the built-in entries."""
    known = {entry.name: entry for entry in BUILT_IN}
    for name, setting in settings.items():
        known[name] = AgentEntry(
            name, setting.command, setting.args, setting.env, setting.cwd, source="settings"
        )
    return known
