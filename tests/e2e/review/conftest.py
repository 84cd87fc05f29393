"""A user before an editor that makes the edits it is asked for."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.editor import Editor
from tests.e2e.manners import LikeVsCode
from tests.e2e.puppet import Puppet
from tests.e2e.review.desk import EDIT, Desk


@pytest.fixture
async def desk(
    session: dict[str, Any], editor: Editor, puppet: Puppet, ws: Path
) -> AsyncIterator[Desk]:
    manner = editor.answers[EDIT] = LikeVsCode(editor)
    yield Desk(editor, puppet, ws)
    assert manner.faults == []
    assert [path for path in ws.rglob("*") if "acp-sidecar" in path.name] == []
