"""A table with an agent that has changed something."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.e2e.editor import Editor
from tests.e2e.hunks.table import REFRESH, Table, can
from tests.e2e.puppet import Puppet


@pytest.fixture
def table(idle_editor: Editor, puppet: Puppet, ws: Path) -> Table:
    idle_editor.answers[REFRESH] = lambda params: None
    return Table(idle_editor, puppet, ws)


@pytest.fixture
async def desk(table: Table, settings: dict[str, Any]) -> Table:
    """The agent has changed two places of a file that is not open."""
    await table.start(settings, can())
    await table.agent_writes()
    return table
