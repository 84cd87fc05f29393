"""From what an agent wants to have run to a program that can be started.

Agents put a whole command line where only a program belongs. Such a line goes to the user's
shell as it is, never taken apart here; with arguments of its own a command never sees a shell.
ACP, "Terminals > Executing Commands".
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from acp_sidecar.agents.command import Command, batch_line, is_program, names_of, program_extensions
from acp_sidecar.agents.environment import inherited
from acp_sidecar.agents.exits import CannotStart

_PLAIN: Final = re.compile(r"[\w./+@%:,\\-]+")
"""What is a program's name or nothing; anything else means something to a shell."""
_BUILT_IN: Final = frozenset(
    {":", ".", "alias", "bg", "cd", "command", "eval", "exec", "exit", "export", "fc", "fg"}
    | {"getopts", "hash", "jobs", "read", "readonly", "return", "set", "shift", "source", "times"}
    | {"trap", "type", "ulimit", "umask", "unalias", "unset", "wait"}
)
_POSIX_SHELLS: Final = frozenset({"sh", "bash", "zsh", "dash", "ash", "ksh", "mksh"})
"""Shells that take what agents write; a fish or nushell would stumble over it."""
_BATCH: Final = (".cmd", ".bat")
_NO_PERSON: Final[Mapping[str, str | None]] = {
    # A pager waits for keys that nobody presses.
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    # What is shown follows no cursor.
    "TERM": "dumb",
    # They would hide the size of the command's own terminal.
    "COLUMNS": None,
    "LINES": None,
}


class ProgramNotFound(CannotStart):
    """No such program.

    :ivar command: as the agent named it
    :ivar path: the PATH that was searched
    """

    def __init__(self, command: str, path: str, detail: str = "") -> None:
        super().__init__(
            f"cannot run {command!r}: No such program{detail}. Searched PATH: {path or '(empty)'}"
        )
        self.command = command
        self.path = path


def command_line(command: str, args: Sequence[str]) -> str:
    """The whole of it as one line, for people."""
    if not args:
        return command
    words = [command, *args]
    return subprocess.list2cmdline(words) if sys.platform == "win32" else shlex.join(words)


def to_run(
    command: str,
    args: Sequence[str],
    env: Mapping[str, str],
    cwd: str,
    *,
    real_cwd: str | None = None,
    environ: Mapping[str, str] | None = None,
    windows: bool = sys.platform == "win32",
) -> Command:
    """What to start for a command of an agent's.

    Without ``args`` a ``command`` that is no file is a line for the shell, if it can be one.

    :param command: a name on PATH, a path (a relative one is below ``cwd``), or a whole line
    :param env: laid over what is inherited
    :param cwd: absolute path of an existing folder
    :param real_cwd: the same without links, where that is known
    :param environ: the environment to inherit from, by default ours
    :raises ProgramNotFound: there is no such program, and it is no line for a shell either
    """
    given = os.environ if environ is None else environ
    child_env = inherited({**_NO_PERSON, "PWD": cwd, **env}, environ=given, windows=windows)
    folder = real_cwd or cwd
    path = child_env.get("PATH", os.defpath)
    extensions = program_extensions(child_env) if windows else ()
    program, detail = _find(command, path, folder, extensions)
    if program is not None:
        if windows and program.lower().endswith(_BATCH):
            line = batch_line(_cmd(child_env), program, args)
            return Command((program, *args), child_env, folder, line)
        return Command((program, *args), child_env, folder)
    if args or detail or (_PLAIN.fullmatch(command) and command not in _BUILT_IN):
        raise ProgramNotFound(command, path, detail)
    if windows:
        shell = _cmd(child_env)
        return Command((shell, "/c", command), child_env, folder, f'"{shell}" /d /s /c "{command}"')
    return Command((_user_shell(given), "-c", command), child_env, folder)


def _find(command: str, path: str, cwd: str, extensions: tuple[str, ...]) -> tuple[str | None, str]:
    """Where the program is, or why what is there is none."""
    if os.sep in command or (extensions and "/" in command):
        folders = [cwd]
    else:
        # A folder that is relative, or the one we are in, is nobody's choice.
        folders = [folder for folder in path.split(os.pathsep) if Path(folder).is_absolute()]
    detail = ""
    for folder in folders:
        for name in names_of(command, extensions):
            candidate = Path(folder, name)
            if is_program(candidate, bool(extensions)):
                return str(candidate), ""
            if not detail and _is_file(candidate):
                detail = f" ({candidate} is not executable)"
    return None, detail


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _user_shell(environ: Mapping[str, str]) -> str:
    shell = environ.get("SHELL", "")
    if os.path.isabs(shell) and Path(shell).name in _POSIX_SHELLS and os.access(shell, os.X_OK):  # noqa: PTH117
        return shell
    return "/bin/sh"


def _cmd(environ: Mapping[str, str]) -> str:
    return str(Path(environ.get("SYSTEMROOT", "C:\\Windows")) / "System32" / "cmd.exe")
