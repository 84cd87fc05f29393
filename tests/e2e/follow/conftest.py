"""Following the agent: what a plain editor is asked to show, and what it is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.e2e.editor import Editor
from tests.e2e.puppet import Puppet


@pytest.fixture
def settings(puppet: Puppet) -> dict[str, Any]:
    # Fast, so that the tests need not wait; the rate has a test of its own.
    return {
        "agents": {"puppet": puppet.setting},
        "defaultAgent": "puppet",
        "follow": {"maxPerSecond": 200},
    }


@pytest.fixture
def file(ws: Path) -> Path:
    path = ws / "a.py"
    path.write_text("".join(f"line {number}\n" for number in range(1, 11)))
    return path


@pytest.fixture
async def turn(session: dict[str, Any], editor: Editor, puppet: Puppet) -> dict[str, Any]:
    """A turn that runs."""
    editor.start("acp.session.prompt", text="go")
    return await puppet.prompted()
