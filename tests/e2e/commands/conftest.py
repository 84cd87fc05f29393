"""Every command of ``workspace/executeCommand``, through pytest-lsp, against the demo agent.

The sidecar is the installed ``acp-sidecar serve``, the agent a process of its own.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_lsp
from pytest_lsp import ClientServerConfig

from tests.e2e.commands.demo_file import GREETING
from tests.e2e.lsp_client import SERVE, Client, make_client


@pytest_lsp.fixture(config=ClientServerConfig(server_command=SERVE, client_factory=make_client))
async def bare(lsp_client: Client) -> AsyncIterator[None]:
    """An editor that has started a sidecar and not yet said a word."""
    yield
    await lsp_client.end()


@pytest.fixture
def greeting(ws: Path) -> Path:
    """The file that the demo agent works on."""
    path = ws / "greeting.py"
    path.write_text(GREETING)
    return path


@pytest.fixture
async def client(bare: Client, ws: Path, greeting: Path) -> Client:
    """An editor with the workspace open."""
    await bare.begin(ws)
    return bare


@pytest.fixture
async def session(client: Client) -> dict[str, Any]:
    """An open session with the demo agent."""
    return await client.new()
