"""The PATH of the user's login shell, for an editor that was not started from a terminal.

Such an editor has the system's short PATH, while Homebrew, nvm and their like are added by
files that only a shell reads. So the shell is asked, once, when a command is not found. It
runs in the user's home and a session of its own, with nothing to read; whatever else it
prints is ignored, and what it has not said in a few seconds it does not say any more.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from attrs import frozen

from acp_sidecar.agents.command import Command
from acp_sidecar.agents.environment import inherited
from acp_sidecar.agents.exits import AgentExit, CannotStart
from acp_sidecar.agents.process import spawn

SECONDS: Final = 5.0
"""In which everything has to be said."""
_INTERACTIVE_SHARE: Final = 0.7
"""The part of it for the first way of asking; the rest is for the second."""
_NOISE_LIMIT: Final = 1 << 20
_NOT_FOR_USERS: Final = frozenset({"nologin", "false", "true", "sync"})
_ONE_BY_ONE: Final = frozenset({"csh", "tcsh"})
"""Shells that take ``-l`` only alone."""
_NO_INPUT: Final = 'exec "$0" "$@" 9<&0 </dev/null'
"""Nothing to read; the pipe stays open, whose end would count as the end of the program."""
_QUIET: Final = {
    # Frameworks that would ask, update or replace the shell when it starts.
    "DISABLE_AUTO_UPDATE": "true",
    "ZSH_TMUX_AUTOSTARTED": "true",
    "BASH_SILENCE_DEPRECATION_WARNING": "1",
}


@frozen
class LoginPath:
    """What the login shell said.

    :ivar shell: its absolute path, None where the user has none
    :ivar path: its PATH, None where it did not tell
    :ivar problem: why it did not, for a person
    """

    shell: str | None
    path: str | None
    problem: str | None = None


class LoginShell:
    """Asks the login shell at most once."""

    def __init__(
        self, environ: Mapping[str, str] | None = None, *, seconds: float = SECONDS
    ) -> None:
        """``environ`` is the environment the shell starts from, by default ours."""
        self._environ = environ
        self._seconds = seconds
        self._told: LoginPath | None = None
        self._asking = asyncio.Lock()

    async def path(self) -> LoginPath:
        """What it says, within the bound; the same at every call."""
        async with self._asking:
            if self._told is None:
                self._told = await self._ask()
            return self._told

    async def _ask(self) -> LoginPath:
        if sys.platform == "win32":
            return LoginPath(None, None, "Windows has no login shell")
        environ = os.environ if self._environ is None else self._environ
        shell = _shell_of(environ)
        if shell is None:
            return LoginPath(None, None, "this user has no login shell")
        deadline = asyncio.get_running_loop().time() + self._seconds
        # Most of what extends PATH stands where only an interactive shell reads it. Some
        # shells become another program there, or wait for a person.
        ways = (["-ic"],) if Path(shell).name in _ONE_BY_ONE else (["-i", "-l", "-c"], ["-l", "-c"])
        left = self._seconds * (_INTERACTIVE_SHARE if len(ways) > 1 else 1.0)
        problem = ""
        for flags in ways:
            token = secrets.token_hex(12)
            try:
                async with asyncio.timeout(left):
                    said, problem = await _said([shell, *flags, _question(token)], environ)
            except TimeoutError:
                said, problem = b"", f"it did not answer within {self._seconds:g} s"
            path = _between(said, token)
            if path:
                return LoginPath(shell, path)
            left = max(0.0, deadline - asyncio.get_running_loop().time())
        return LoginPath(shell, None, problem)


def _shell_of(environ: Mapping[str, str]) -> str | None:
    for shell in (environ.get("SHELL", ""), _registered_shell()):
        path = Path(shell)
        usable = path.is_absolute() and path.is_file() and os.access(path, os.X_OK)
        if usable and path.name not in _NOT_FOR_USERS:
            return shell
    return None


def _home(environ: Mapping[str, str]) -> str:
    home = environ.get("HOME", "")
    return home if Path(home).is_absolute() and Path(home).is_dir() else "/"


def _registered_shell() -> str:
    if sys.platform == "win32":
        return ""
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_shell
    except KeyError:
        return ""


def _question(token: str) -> str:
    # A word of sh within one word that every shell reads alike: bash, zsh, fish, csh, nu, pwsh.
    return f"/bin/sh -c 'IFS=; set -f; printf {token}%s{token} $PATH'"


async def _said(argv: list[str], environ: Mapping[str, str]) -> tuple[bytes, str]:
    """All a shell prints until it ends, and how it ended without success."""
    said = bytearray()
    ended: asyncio.Future[AgentExit] = asyncio.get_running_loop().create_future()
    command = Command(
        ("/bin/sh", "-c", _NO_INPUT, *argv),
        inherited(_QUIET, environ=environ),
        _home(environ),
    )

    def take(data: bytes) -> None:
        if len(said) < _NOISE_LIMIT:
            said.extend(data)

    try:
        process = await spawn(command, on_data=take, on_exit=ended.set_result)
    except CannotStart as error:
        return b"", str(error)
    try:
        exit_ = await asyncio.shield(ended)
    finally:
        await process.stop(urgent=True)
    last_words = exit_.stderr.rpartition("\n")[2]
    return bytes(said), f"it ended with status {exit_.returncode}" + (
        f": {last_words}" if last_words else ""
    )


def _between(said: bytes, token: str) -> str | None:
    parts = said.split(token.encode())
    # What a shell that echoes its commands prints holds no token alone on both sides.
    for part in parts[1:-1]:
        path = os.fsdecode(part)
        if path and "%s" not in path and "\n" not in path:
            return path
    return None
