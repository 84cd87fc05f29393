"""The format of the ACP registry: agents by id, and how each is distributed.

``registry.json`` as github.com/agentclientprotocol/registry describes it (FORMAT.md): npx
and uvx packages, and binaries by platform. Reading it downloads and runs nothing. An agent
whose command would download something needs the user's word before its first start.
"""

from __future__ import annotations

import json
import platform
import re
import shlex
import shutil
from collections.abc import Callable, Collection, Mapping
from pathlib import PurePosixPath
from typing import Any, Final

from attrs import field, frozen

from acp_sidecar.agents.catalog import AgentEntry

LARGEST: Final = 4 * 1024 * 1024
"""Bytes of a registry; the real one has a twentieth of that."""
_MOST: Final = 5_000
_ID: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}", re.IGNORECASE)
_MACHINES: Final = {"arm64": "aarch64", "amd64": "x86_64", "x64": "x86_64"}


class RegistryUnreadable(ValueError):
    """It is no registry; the message says why."""


class _Unusable(ValueError):
    """One agent cannot be read; the message says what is wrong with it."""


@frozen
class Package:
    """A package that ``npx`` or ``uvx`` fetches and runs."""

    runner: str
    package: str
    cmd: str | None
    args: tuple[str, ...]
    env: Mapping[str, str]

    def words(self) -> tuple[str, ...]:
        """The arguments of the runner."""
        if self.runner == "npx":
            # -y: its question would wait on a standard input that is not a person's.
            chosen = ("--package", self.package, self.cmd) if self.cmd else (self.package,)
            return ("-y", *chosen, *self.args)
        return (*(("--from", self.package, self.cmd) if self.cmd else (self.package,)), *self.args)


@frozen
class Binary:
    """A program to be downloaded, for one platform."""

    archive: str
    cmd: str
    args: tuple[str, ...]
    env: Mapping[str, str]
    sha256: str | None

    @property
    def program(self) -> str:
        """The name under which it is looked for on PATH."""
        return PurePosixPath(self.cmd.replace("\\", "/")).name


@frozen
class RegistryAgent:
    """One agent. ``binaries`` is by platform, such as ``linux-x86_64``."""

    id: str
    title: str
    version: str | None = None
    description: str | None = None
    website: str | None = None
    packages: tuple[Package, ...] = ()
    binaries: Mapping[str, Binary] = field(factory=dict)

    def entry(
        self,
        permitted: Collection[str] = (),
        *,
        here: str | None = None,
        has: Callable[[str], object] = shutil.which,
    ) -> AgentEntry:
        """How it is started on the platform ``here``, by default this one.

        ``permitted`` are the ids the user allows to download what they need, ``has`` says
        whether there is a program of a name.
        """
        here = here or this_platform()
        binary = self.binaries.get(here)
        if binary is not None and (has(binary.program) or not self.packages):
            # Already there, or nothing that would fetch it.
            return self._of_binary(binary)
        if self.packages:
            found = next((each for each in self.packages if has(each.runner)), self.packages[0])
            return self._of_package(found, permitted)
        there = ", ".join(sorted(self.binaries))
        return AgentEntry(
            self.id,
            self.id,
            source="registry",
            install_hint=f"The registry has nothing for {here}, only for {there}",
            about=self,
        )

    def _of_package(self, chosen: Package, permitted: Collection[str]) -> AgentEntry:
        words = chosen.words()
        variables = [f"{name}={value}" for name, value in chosen.env.items()]
        line = shlex.join([*variables, chosen.runner, *words])
        return AgentEntry(
            self.id,
            chosen.runner,
            words,
            chosen.env,
            source="registry",
            install_hint=f"It needs {chosen.runner}"
            + (" (Node.js)" if chosen.runner == "npx" else " (uv)"),
            needs_consent=None if self.id in permitted else line,
            about=self,
        )

    def _of_binary(self, binary: Binary) -> AgentEntry:
        checksum = f" (sha256 {binary.sha256})" if binary.sha256 else ""
        return AgentEntry(
            self.id,
            binary.program,
            binary.args,
            binary.env,
            source="registry",
            install_hint=(
                f"Download {binary.archive}{checksum}, unpack it and put {binary.program} on "
                "your PATH"
            ),
            about=self,
        )


def this_platform() -> str:
    """The registry's name of this platform, such as ``linux-x86_64``."""
    machine = platform.machine().lower()
    return f"{platform.system().lower()}-{_MACHINES.get(machine, machine)}"


def parse(data: bytes) -> tuple[list[RegistryAgent], list[str]]:
    """The agents of a ``registry.json``, and what is wrong with those that are left out.

    Raises :class:`RegistryUnreadable` where it is no registry at all.
    """
    if len(data) > LARGEST:
        raise RegistryUnreadable(f"it has more than {LARGEST // 1024 // 1024} MiB")
    try:
        content = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise RegistryUnreadable(f"it is no JSON: {error}") from error
    given = content.get("agents") if isinstance(content, Mapping) else None
    if not isinstance(given, list):
        raise RegistryUnreadable("it has no list 'agents'")
    agents: dict[str, RegistryAgent] = {}
    problems: list[str] = []
    for number, raw in enumerate(given[:_MOST]):
        try:
            agent = _agent(raw)
        except _Unusable as error:
            name = raw.get("id") if isinstance(raw, Mapping) else None
            problems.append(f"agent {name if isinstance(name, str) else number}: {error}")
            continue
        if agent.id in agents:
            problems.append(f"agent {agent.id}: it is there twice")
        agents.setdefault(agent.id, agent)
    return list(agents.values()), problems


def _agent(raw: Any) -> RegistryAgent:
    if not isinstance(raw, Mapping):
        raise _Unusable("it is no object")
    agent_id = raw.get("id")
    if not isinstance(agent_id, str) or not _ID.fullmatch(agent_id):
        raise _Unusable("its 'id' is no name")
    ways = raw.get("distribution")
    if not isinstance(ways, Mapping):
        raise _Unusable("it has no 'distribution'")
    faults: list[str] = []
    packages = [_tried(faults, _package, runner, ways.get(runner)) for runner in ("npx", "uvx")]
    found = ways.get("binary")
    binaries = {
        key: _tried(faults, _binary, key, value)
        for key, value in (found.items() if isinstance(found, Mapping) else ())
        if isinstance(key, str)
    }
    agent = RegistryAgent(
        agent_id,
        _text(raw, "name") or agent_id,
        _text(raw, "version"),
        _text(raw, "description"),
        _text(raw, "website") or _text(raw, "repository"),
        tuple(package for package in packages if package is not None),
        {key: binary for key, binary in binaries.items() if binary is not None},
    )
    if not agent.packages and not agent.binaries:
        raise _Unusable("; ".join(faults) or "none of its distributions is known here")
    return agent


def _tried(faults: list[str], read: Callable[[str, Any], Any], name: str, raw: Any) -> Any:
    if raw is None:
        return None
    try:
        return read(name, raw)
    except _Unusable as error:
        faults.append(f"{name}: {error}")
        return None


def _package(runner: str, raw: Any) -> Package:
    if not isinstance(raw, Mapping):
        raise _Unusable("it is no object")
    package, cmd = _text(raw, "package"), _text(raw, "cmd")
    if package is None:
        raise _Unusable("it has no 'package'")
    for word in (package, cmd or ""):
        # It would be an option of the runner.
        if word.startswith("-"):
            raise _Unusable(f"{word!r} is no name")
    return Package(runner, package, cmd, _args(raw), _env(raw))


def _binary(key: str, raw: Any) -> Binary:
    if not isinstance(raw, Mapping):
        raise _Unusable("it is no object")
    archive, cmd = _text(raw, "archive"), _text(raw, "cmd")
    if archive is None or cmd is None:
        raise _Unusable("it lacks 'archive' or 'cmd'")
    binary = Binary(archive, cmd, _args(raw), _env(raw), _text(raw, "sha256"))
    if binary.program in ("", ".", ".."):
        raise _Unusable("its 'cmd' names no program")
    return binary


def _text(raw: Mapping[str, Any], name: str) -> str | None:
    value = raw.get(name)
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        return None
    return value.strip()


def _args(raw: Mapping[str, Any]) -> tuple[str, ...]:
    args = raw.get("args", [])
    if not isinstance(args, list) or not all(
        isinstance(word, str) and "\0" not in word for word in args
    ):
        raise _Unusable("its 'args' are no list of texts")
    return tuple(args)


def _env(raw: Mapping[str, Any]) -> Mapping[str, str]:
    env = raw.get("env", {})
    if not isinstance(env, Mapping) or not all(
        isinstance(name, str)
        and re.fullmatch(r"[^=\0]+", name)
        and isinstance(value, str)
        and "\0" not in value
        for name, value in env.items()
    ):
        raise _Unusable("its 'env' is no object of texts")
    return dict(env)
