"""From a command in the settings to a program that can be started.

The search is our own, for safety: only absolute folders of PATH count, never the
folder a workspace is in (on Windows the usual search begins there), so opening a
repository cannot choose the program.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from attrs import frozen

from acp_sidecar.agents.environment import inherited
from acp_sidecar.agents.exits import CannotStart

_BATCH: Final = (".cmd", ".bat")
_DEFAULT_PATHEXT: Final = ".COM;.EXE;.BAT;.CMD"
_BARE_IN_BATCH: Final = frozenset("#$*+-./:?@\\_")


@frozen
class Command:
    """A program, ready to be started."""

    argv: tuple[str, ...]
    """Absolute path of the program, and its arguments."""
    env: Mapping[str, str]
    """The whole environment of the process."""
    cwd: str | None = None
    """Working directory, ``None`` for ours."""
    command_line: str | None = None
    """Windows: the line to start instead of ``argv``, for what cmd.exe has to run."""


class CommandNotFound(CannotStart):
    """No such program.

    :ivar command: as configured
    :ivar path: the PATH that was searched
    :ivar detail: what was found instead, for the message
    """

    def __init__(self, command: str, path: str, detail: str = "", also: str = "") -> None:
        """``also`` says where else it was looked for."""
        if Path(command).expanduser().is_absolute():
            said = f"there is no program {command!r}{detail}: correct the agent's command."
        else:
            said = (
                f"cannot find the command {command!r}{detail}. Searched PATH: {path or '(empty)'}."
                f"{also} Give its absolute path as the agent's command, or a PATH in the agent's"
                " env: an editor that was not started from a terminal may have a shorter one."
            )
        super().__init__(said)
        self.command = command
        self.path = path
        self.detail = detail


def resolve(
    command: str,
    args: Sequence[str] = (),
    env: Mapping[str, str | None] | None = None,
    cwd: str | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    windows: bool = sys.platform == "win32",
) -> Command:
    """Finds a configured program and what it is started with.

    :param command: a name on PATH, or a path; a leading ``~`` is the user's home
    :param args: passed on as they are
    :param env: the user's settings on top of what is inherited; ``None`` removes a name
    :param cwd: working directory of the process; never searched for the program
    :param environ: the environment to inherit from, by default ours
    :param windows: search and quote as Windows does
    :raises CommandNotFound: there is no such program
    :raises CannotStart: there is one, but it cannot be run this way
    """
    given = os.environ if environ is None else environ
    child_env = inherited(env, environ=given, windows=windows)
    # Our own virtual environment leaves the child's PATH, but an agent installed in it is found.
    path = child_env.get("PATH", "") if env and "PATH" in env else given.get("PATH", os.defpath)
    folder = None if cwd is None else _expanded(cwd)
    pathext = program_extensions(child_env) if windows else ()
    program = _find(_expanded(command), path, pathext)
    if windows and program.lower().endswith(_BATCH):
        shell = str(Path(child_env.get("SYSTEMROOT", "C:\\Windows")) / "System32" / "cmd.exe")
        line = batch_line(shell, program, args)
        return Command((program, *args), child_env, folder, line)
    return Command((program, *args), child_env, folder)


def program_extensions(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Windows: the endings that make a file a program, in lower case."""
    listed = environ.get("PATHEXT") or _DEFAULT_PATHEXT
    # A file association is no program: PowerShell scripts need their own host.
    return tuple(e for e in listed.lower().split(";") if e and e != ".ps1")


def _expanded(path: str) -> str:
    try:
        return str(Path(path).expanduser()) if path.startswith("~") else path
    except RuntimeError as problem:  # there is no such user
        raise CannotStart(f"cannot expand {path!r}: {problem}") from problem


def _find(command: str, path: str, pathext: tuple[str, ...]) -> str:
    if not command or "\0" in command:
        raise CommandNotFound(command, path)
    if Path(command).is_absolute():
        folders = [""]
    elif os.sep in command or (pathext and "/" in command):
        raise CannotStart(
            f"the command {command!r} is a relative path, and would depend on the folder that is"
            " open. Give an absolute path, or a name to be found on PATH."
        )
    else:
        folders = [f for f in path.split(os.pathsep) if Path(f).is_absolute()]
    detail = ""
    script: Path | None = None
    for folder in folders:
        for name in names_of(command, pathext):
            candidate = Path(folder) / name
            if is_program(candidate, bool(pathext)):
                return str(candidate)
            if not detail and candidate.is_file():
                detail = f" ({candidate} is not executable)"
        if pathext and script is None:
            script = _power_shell_script(Path(folder), command)
    if script is not None:
        raise CannotStart(
            f"{script} is a PowerShell script and cannot be started directly."
            " Use the .cmd that mostly comes with it, or the command powershell with the"
            f' arguments "-NoProfile", "-File", "{script}".'
        )
    raise CommandNotFound(command, path, detail)


def _power_shell_script(folder: Path, command: str) -> Path | None:
    path = folder / (command if command.lower().endswith(".ps1") else f"{command}.ps1")
    return path if path.is_file() else None


def names_of(command: str, pathext: tuple[str, ...]) -> list[str]:
    """The names of files that a command may stand for."""
    if not pathext or command.lower().endswith(pathext):
        return [command]
    return [command + extension for extension in pathext]


def is_program(path: Path, windows: bool) -> bool:
    """Whether there is a file that may be executed."""
    try:
        return path.is_file() and (windows or os.access(path, os.X_OK))
    except (OSError, ValueError):  # no file has such a name
        return False


def batch_line(shell: str, script: str, args: Sequence[str]) -> str:
    """The command line that has cmd.exe run a batch file with exactly these arguments.

    Everything odd is quoted, a quote doubled, and a percent sign kept from being read
    as a variable. Untested on Windows itself.

    :param shell: absolute path of cmd.exe
    :raises CannotStart: an argument cannot be passed through cmd.exe
    """
    words = [_quoted(script), *(_batch_argument(script, argument) for argument in args)]
    return f'"{shell}" /e:ON /v:OFF /d /s /c "{" ".join(words)}"'


def _batch_argument(script: str, argument: str) -> str:
    if any(character in argument for character in "\0\r\n"):
        raise CannotStart(f"{script} is a batch file: no argument of it may hold a line break")
    if argument and all(c.isalnum() or c in _BARE_IN_BATCH for c in argument):
        return _quoted(argument) if argument.endswith("\\") else argument
    return _quoted(argument)


def _quoted(text: str) -> str:
    parts = []
    backslashes = 0
    for character in text:
        if character == "\\":
            backslashes += 1
        else:
            if character == '"':
                parts.append("\\" * backslashes + '"')
            elif character == "%":
                # Reads a part of length 0 of a variable that is always there.
                parts.append("%%cd:~,")
            backslashes = 0
        parts.append(character)
    return '"' + "".join(parts) + "\\" * backslashes + '"'
