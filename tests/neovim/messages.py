"""What a scripted sidecar sends to the client, and what of it the user reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.neovim.harness import Editor, FakeSidecar, wait_until


def message(role: str, text: str, id: str = "m1") -> dict[str, Any]:
    return {"id": id, "kind": "message", "role": role, "content": [{"type": "text", "text": text}]}


def transcript(editor: Editor) -> list[str]:
    (win,) = editor.marked("transcript")
    return editor.lines(win)


def reveal(workspace: Path, name: str, line: int) -> dict[str, Any]:
    place = {"line": line - 1, "character": 0}
    return {
        "sessionId": "s1",
        "toolCallId": "t1",
        "uri": (workspace / name).as_uri(),
        "selection": {"start": place, "end": place},
        "kind": "read",
    }


def permission(request_id: str, *, agent: str = "demo", **fields: Any) -> dict[str, Any]:
    return {
        "requestId": request_id,
        "sessionId": "s1",
        "agent": agent,
        "kind": "edit",
        "title": "Edit one.txt",
        "message": f"{agent} wants to change files (request {request_id})",
        "command": None,
        "cwd": None,
        "paths": ["/ws/one.txt"],
        "diffs": [{"path": "/ws/one.txt", "oldText": "old\n", "newText": "new\n"}],
        "options": [
            {"optionId": "n", "name": "No", "kind": "reject_once", "title": "No"},
            {"optionId": "y", "name": "Yes", "kind": "allow_once", "title": "Yes"},
            {"optionId": "a", "name": "Yes", "kind": "allow_always", "title": "Yes (allow_always)"},
        ],
        "state": "waiting",
        **fields,
    }


def ask(editor: Editor, sidecar: FakeSidecar, request_id: str = "p1", **fields: Any) -> int:
    request = sidecar.begin("acp/permission", permission(request_id, **fields))
    wait_until(
        lambda: request_id in [event["requestId"] for event in editor.seen("PermissionAsked")]
    )
    return request
