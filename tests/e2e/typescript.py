"""The official TypeScript SDK, installed once beside the agents of the tests with real agents.

Skips, with the reason, only where there is no Node or npm's registry cannot be reached.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.real_agents import install
from tests.schema.conftest import PACKAGE

AGENT = Path(__file__).with_name("peers") / "ts_agent.mjs"
AGENT_V2 = AGENT.with_name("ts_agent_v2.mjs")


def sdk() -> Path:
    """The folder whose ``node_modules`` holds the SDK."""
    folder = install.FOLDER / PACKAGE.rpartition("/")[2]
    if folder.exists():
        return folder
    try:
        environment = install.environment()
        command = [
            *install.npm(),
            "install",
            "--ignore-scripts",
            "--no-audit",
            "--no-fund",
            "--no-package-lock",
            "--loglevel=error",
            "--fetch-retries=1",
            PACKAGE,
        ]
    except install.CannotInstall as error:
        pytest.skip(str(error))
    install.FOLDER.mkdir(exist_ok=True)
    # Several workers may be at it at once: the first that is done has done it for all.
    part = Path(tempfile.mkdtemp(prefix="sdk-", dir=install.FOLDER))
    try:
        _fill(part, command, environment)
        with contextlib.suppress(OSError):
            part.rename(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return folder


def _fill(folder: Path, command: Sequence[str], environment: Mapping[str, str]) -> None:
    (folder / "package.json").write_text('{"private": true}')
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env={**environment, "npm_config_cache": str(folder / "npm")},
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        pytest.skip(f"npm could not fetch {PACKAGE}: {error}")
    if done.returncode:
        pytest.skip(f"npm could not fetch {PACKAGE}: {' '.join(done.stderr.split())[:300]}")
    shutil.rmtree(folder / "npm", ignore_errors=True)


def setting(*flags: str, agent: Path = AGENT) -> dict[str, Any]:
    """The ``agents`` entry of an agent written with it."""
    folder = sdk()
    node = install.node_folder()
    assert node is not None
    return {
        "command": str(node / ("node.exe" if os.name == "nt" else "node")),
        "args": [str(agent), str(folder), *flags],
    }
