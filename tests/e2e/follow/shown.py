"""Where the agent is, and what of it was not shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.e2e.editor import Editor

SHOW = "window/showDocument"


def at(path: Path | str, line: Any = None) -> list[dict[str, Any]]:
    return [{"path": str(path)} | ({} if line is None else {"line": line})]


async def follow(editor: Editor) -> dict[str, Any]:
    state: dict[str, Any] = (await editor.state())["follow"]
    return state


async def not_shown(editor: Editor, path: Path | str) -> str:
    """Wait until the agent is at ``path``; why that was not shown."""

    async def there() -> Any:
        state = await follow(editor)
        location = state["location"]
        settled = state["reason"] not in (None, "waiting")
        return state if location and location["path"] == str(path) and settled else None

    state = await editor.eventually(there)
    assert state["shown"] is False
    return str(state["reason"])
