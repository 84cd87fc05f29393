"""What the demo agent knows of a conversation, and how it reports into it."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Literal, TypeAlias

from acp_sidecar.demo.peer import Json, Peer

MODES: Final = {
    "ask": "Ask before each edit",
    "accept-edits": "Edit without asking",
    "read-only": "Change nothing",
}


class Session:
    """One conversation: where it works, how it behaves, what was said."""

    def __init__(
        self, session_id: str, cwd: Path, additional: tuple[Path, ...], *, peer: Peer, pace: float
    ) -> None:
        self.session_id = session_id
        self.cwd = cwd
        self.additional = additional
        self.peer = peer
        self.pace = pace
        """Seconds between two steps."""
        self.started_pace = pace
        self.mode = "ask"
        self.title: str | None = None
        self.changed: Callable[[bool], None] = lambda at_once: None
        """Called when there is more to keep of it; ``at_once``: not only now and then."""
        self.history: list[Json] = []
        """The updates of all turns, in the order they were sent."""

    def notify(self, update: Json) -> None:
        self.peer.notify("session/update", {"sessionId": self.session_id, "update": update})

    def update(self, variant: str, /, **fields: Json) -> None:
        """Sends one ``session/update`` and remembers it."""
        update = {"sessionUpdate": variant, **fields}
        self.history.append(update)
        self.notify(update)
        self.changed(False)

    def pace_choices(self) -> list[dict[str, str]]:
        return [
            {"value": f"{pace:g}", "name": f"{pace:g} s a step" if pace else "No pauses"}
            for pace in sorted({0.0, 0.2, 0.6, 1.5, self.started_pace})
        ]

    def settings(self) -> dict[str, Json]:
        return {
            "modes": {
                "currentModeId": self.mode,
                "availableModes": [{"id": id, "name": name} for id, name in MODES.items()],
            },
            "configOptions": [
                {
                    "id": "pace",
                    "name": "Pace",
                    "type": "select",
                    "currentValue": f"{self.pace:g}",
                    "options": self.pace_choices(),
                }
            ],
        }

    def values(self) -> dict[str, Json]:
        """What is kept of it beside its history."""
        return {
            "cwd": str(self.cwd),
            "additional": [str(path) for path in self.additional],
            "title": self.title,
            "mode": self.mode,
        }

    def restore(self, values: dict[str, Json]) -> None:
        """Take over what was kept of it; its folders are those it is made with."""
        title, mode = values.get("title"), values.get("mode")
        self.title = title if isinstance(title, str) else None
        self.mode = mode if mode in MODES else "ask"
        self.history = values["history"]

    def owns(self, path: Path) -> bool:
        """Whether ``path``, all links followed, lies in a folder of the session."""
        real = path.resolve()
        return any(real.is_relative_to(root.resolve()) for root in (self.cwd, *self.additional))


def row(session_id: str, values: dict[str, Json], updated: float) -> dict[str, Json]:
    """A session as one row of ``session/list``. ``updated`` is in seconds since 1970."""
    return {
        "sessionId": session_id,
        "cwd": values["cwd"],
        "additionalDirectories": values["additional"],
        "title": values.get("title"),
        "updatedAt": datetime.fromtimestamp(updated, UTC).isoformat(timespec="seconds"),
    }


Status: TypeAlias = Literal["pending", "in_progress", "completed", "failed"]


class ToolCall:
    """A tool call as the client sees it. Every report names only what is new."""

    def __init__(self, session: Session, title: str, kind: str, **fields: Json) -> None:
        self.session = session
        self.title = title
        self.kind = kind
        self.tool_call_id = f"call-{uuid.uuid4().hex[:12]}"
        session.update(
            "tool_call",
            toolCallId=self.tool_call_id,
            title=title,
            kind=kind,
            status="pending",
            **fields,
        )

    def report(self, status: Status, *content: Json, **fields: Json) -> None:
        if content:
            fields["content"] = list(content)
        self.session.update(
            "tool_call_update", toolCallId=self.tool_call_id, status=status, **fields
        )

    def failed(self, reason: str) -> None:
        self.report("failed", text(reason))


def text(value: str) -> Json:
    return {"type": "content", "content": {"type": "text", "text": value}}


def diff(path: Path, old: str | None, new: str) -> Json:
    return {"type": "diff", "path": str(path), "oldText": old, "newText": new}
