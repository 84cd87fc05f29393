"""Where an agent's program is: on our PATH, else on the login shell's."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from attrs import evolve

from acp_sidecar.agents.catalog import AgentEntry
from acp_sidecar.agents.command import Command, CommandNotFound, resolve
from acp_sidecar.agents.environment import inherited
from acp_sidecar.agents.exits import CannotStart
from acp_sidecar.agents.loginshell import LoginPath, LoginShell


class Finder:
    """Finds the programs of agents; asks the login shell at most once."""

    def __init__(self, login: LoginShell | None = None) -> None:
        self._login = login or LoginShell()

    async def find(self, entry: AgentEntry, cwd: str | None = None) -> Command:
        """The command that starts an agent in a folder, which its own ``cwd`` overrules.

        A program that only the login shell's PATH has is started with that PATH, so that it
        finds what it needs itself. A PATH among the agent's settings is the user's word:
        then nothing else is searched.

        :raises CommandNotFound: naming every PATH that was searched
        :raises CannotStart: it cannot be run this way
        """
        folder = entry.cwd or cwd
        try:
            return resolve(entry.command, entry.args, env=entry.env, cwd=folder)
        except CommandNotFound as missing:
            if "PATH" in entry.env or not _is_name(entry.command):
                raise
            login = await self._login.path()
            if login.path is None:
                raise CommandNotFound(
                    missing.command, missing.path, missing.detail, _silence_of(login)
                ) from missing
            try:
                return resolve(entry.command, entry.args, env=with_login(entry, login), cwd=folder)
            except CommandNotFound as error:
                also = f" The PATH of the login shell {login.shell}: {login.path}."
                raise CommandNotFound(
                    missing.command, missing.path, missing.detail or error.detail, also
                ) from error

    async def find_again(
        self, entry: AgentEntry, cwd: str | None, tried: Command
    ) -> Command | None:
        """The same program with the login shell's PATH, where that may help; else None.

        For a program that was found, and could not find what it needs: a script of Node's
        by its absolute path, say.
        """
        if "PATH" in entry.env:
            return None
        login = await self._login.path()
        if login.path is None:
            return None
        env = with_login(entry, login)
        if env["PATH"] == tried.env.get("PATH"):
            return None
        try:
            return resolve(entry.command, entry.args, env=env, cwd=entry.cwd or cwd)
        except CannotStart:
            return None

    async def programs(self, entries: Sequence[AgentEntry]) -> Mapping[str, str | CannotStart]:
        """Where the programs of all these agents are, by name, or why one cannot be started.

        The disk is read in a thread: a PATH may name a folder of a network that is away.
        """
        found = await asyncio.to_thread(_look, entries)
        missing = [
            entry
            for entry in entries
            if isinstance(found[entry.name], CommandNotFound)
            and "PATH" not in entry.env
            and _is_name(entry.command)
        ]
        login = await self._login.path() if missing else LoginPath(None, None)
        if login.path is None:
            return found
        again = [evolve(entry, env=with_login(entry, login)) for entry in missing]
        return {**found, **await asyncio.to_thread(_look, again)}

    async def program(self, entry: AgentEntry) -> str | None:
        """Where an agent's program is, None if it cannot be started."""
        try:
            return (await self.find(entry)).argv[0]
        except CannotStart:
            return None


def with_login(entry: AgentEntry, login: LoginPath) -> Mapping[str, str]:
    """An agent's variables with the login shell's PATH, and after it what only ours has."""
    theirs = (login.path or "").split(os.pathsep)
    ours = inherited().get("PATH", os.defpath).split(os.pathsep)
    both = [*theirs, *(folder for folder in ours if folder not in theirs)]
    return {**entry.env, "PATH": os.pathsep.join(both)}


def _look(entries: Sequence[AgentEntry]) -> dict[str, str | CannotStart]:
    found: dict[str, str | CannotStart] = {}
    for entry in entries:
        try:
            found[entry.name] = resolve(entry.command, env=entry.env).argv[0]
        except CannotStart as problem:
            found[entry.name] = problem
    return found


def _is_name(command: str) -> bool:
    """Whether a command is to be looked for on a PATH."""
    return bool(command) and os.sep not in command and not Path(command).expanduser().is_absolute()


def _silence_of(login: LoginPath) -> str:
    if login.shell is None:
        return ""
    return f" The login shell {login.shell} did not tell its PATH: {login.problem}."
