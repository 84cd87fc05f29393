"""The session as blocks that a client draws: one for each entry of the transcript.

A block has the field names of the state, and an ``id`` that is unique in the session and
a ``kind`` that says what it is (``message``, ``toolCall``, ``plan``, ``permission``,
``elicitation``, ``notice``, ``compaction``). A tool call's own ``kind`` is under ``toolKind``.
"""

from __future__ import annotations

from typing import Any, Final

from acp_sidecar.session.change import (
    Change,
    CompactionChanged,
    ElicitationChanged,
    MessageChanged,
    NoticeAdded,
    PermissionChanged,
    PlanChanged,
    TerminalChanged,
    ToolCallChanged,
)
from acp_sidecar.session.state import Session
from acp_sidecar.session.timeline import Entry

CUT: Final = 65536
"""Characters of one string that a block carries; the state has all of them."""
TAIL: Final = 16384
"""Bytes of a terminal's output that the block of a tool call carries."""


def block(session: Session, entry: Entry, *, cut: int | None = CUT) -> dict[str, Any]:
    """One block as plain JSON.

    Strings longer than ``cut`` characters are shortened to their end, where output is
    newest, and the block says ``truncated: true``. None: nothing is shortened.
    """
    record = session.record(entry)
    fields = record.to_json()
    if entry.type == "toolCall":
        fields["toolKind"] = fields.pop("kind")
        fields["content"] = _with_terminals(session, fields["content"])
    written = {**fields, "id": record.key, "kind": entry.type}
    if cut is None:
        return written
    shortener = _Shortener(cut)
    shortened: dict[str, Any] = shortener.shorten(written)
    if shortener.cut_any:
        shortened["truncated"] = True
    return shortened


def changed_keys(changes: list[Change]) -> list[str]:
    """The keys of the entries that changes touch, each once, in order."""
    keys: dict[str, None] = {}
    for item in changes:
        match item:
            case MessageChanged(message=record):
                keys[record.key] = None
            case ToolCallChanged(tool_call=call):
                keys[call.key] = None
            case PlanChanged(plan=plan):
                keys[plan.key] = None
            case PermissionChanged(permission=permission):
                keys[permission.key] = None
            case ElicitationChanged(elicited=elicited):
                keys[elicited.key] = None
            case NoticeAdded(notice=notice):
                keys[notice.key] = None
            case CompactionChanged(compaction=compaction):
                keys[compaction.key] = None
            case TerminalChanged(terminal=terminal):
                keys.update(terminal.shown_in)
            case _:
                pass
    return list(keys)


def _with_terminals(session: Session, content: list[Any]) -> list[Any]:
    """A tool call's content, in which a terminal has what is known of it beside its id."""
    return [
        {**item, "terminal": found.to_json(TAIL)}
        if item.get("type") == "terminal" and (found := session.terminal(item["terminalId"]))
        else item
        for item in content
    ]


class _Shortener:
    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.cut_any = False

    def shorten(self, value: Any) -> Any:
        if isinstance(value, str):
            if len(value) <= self.limit:
                return value
            self.cut_any = True
            return value[-self.limit :]
        if isinstance(value, dict):
            return {key: self.shorten(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.shorten(item) for item in value]
        return value
