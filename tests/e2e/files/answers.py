"""What the agent is answered when it reads and writes, and the request that edits a buffer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.e2e.editor import Editor
from tests.e2e.puppet import Puppet

EDIT = "workspace/applyEdit"
INVALID, NOT_FOUND, CANCELLED = -32602, -32002, -32800


def done(answer: dict[str, Any]) -> bool:
    """Whether a write was answered as the schema says."""
    return "error" not in answer and answer["result"] == {}


def refusal(answer: dict[str, Any]) -> tuple[int, str]:
    assert "result" not in answer, answer
    return answer["error"]["code"], answer["error"]["message"]


def text(answer: dict[str, Any]) -> str:
    assert "error" not in answer, answer
    content = answer["result"]["content"]
    assert isinstance(content, str)
    return content


async def in_step(editor: Editor, puppet: Puppet, path: Path, uri: str) -> str:
    """The text of a dirty buffer, after making sure that the sidecar knows the same."""
    editor.flush()
    await editor.state()
    mine = editor.documents[uri].text
    assert text(await puppet.read(path)) == mine
    return mine
