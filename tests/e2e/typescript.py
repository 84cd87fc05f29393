"""The official TypeScript SDK, installed once beside the agents of the tests with real agents.

Skips, with the reason, only where there is no Node or npm's registry cannot be reached.
"""

from __future__ import annotations

import os
import shutil
import subprocess
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
    if (folder / "installed").exists():
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
    folder.mkdir(parents=True, exist_ok=True)
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
    (folder / "installed").touch()
    return folder


def setting(*flags: str, agent: Path = AGENT) -> dict[str, Any]:
    """The ``agents`` entry of an agent written with it."""
    folder = sdk()
    node = install.node_folder()
    assert node is not None
    return {
        "command": str(node / ("node.exe" if os.name == "nt" else "node")),
        "args": [str(agent), str(folder), *flags],
    }
