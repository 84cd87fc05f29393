"""The hardened server as a process, over real pipes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.editor.client import Client, serving


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return tmp_path / "notes"


@pytest.fixture
async def new(notes: Path) -> AsyncIterator[Client]:
    """A server that nobody has said ``initialize`` to."""
    async with serving("basic.py", notes) as client:
        yield client


@pytest.fixture
async def client(new: Client) -> Client:
    await new.initialize()
    return new
