"""The order of everything that is shown: an entry for each thing, in order of first sight."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, TypeVar

from attrs import frozen

from acp_sidecar.session.message import Message
from acp_sidecar.session.question import Elicited, Permission
from acp_sidecar.session.records import Compaction, NoticeEntry, Plan
from acp_sidecar.session.toolcall import ToolCall

EntryType: TypeAlias = Literal[
    "message", "toolCall", "plan", "permission", "elicitation", "notice", "compaction"
]
Record: TypeAlias = Message | ToolCall | Plan | Permission | Elicited | NoticeEntry | Compaction

R = TypeVar("R", bound=Record)


@frozen
class Entry:
    """A place in the transcript. ``key`` is unique; ``id`` is so only within its type and,
    for messages, its role, and not for tool calls whose id an agent used again.
    """

    type: EntryType
    id: str
    key: str
    role: str | None = None

    def to_json(self) -> dict[str, Any]:
        written = {"type": self.type, "id": self.id, "key": self.key}
        return {**written, "role": self.role} if self.role else written


class Timeline:
    """Entries and what stands at them."""

    def __init__(self) -> None:
        self._entries: list[Entry] = []
        self._records: dict[str, Record] = {}
        self._by_key: dict[str, Entry] = {}
        self._counts: dict[str, int] = {}

    @property
    def entries(self) -> Sequence[Entry]:
        return self._entries

    @property
    def newest(self) -> Record | None:
        """What stands at the newest entry."""
        return self._records[self._entries[-1].key] if self._entries else None

    def entry(self, key: str) -> Entry | None:
        """The entry with this key."""
        return self._by_key.get(key)

    def at(self, entry: Entry) -> Record:
        return self._records[entry.key]

    def get(self, key: str, kind: type[R]) -> R | None:
        record = self._records.get(key)
        return record if isinstance(record, kind) else None

    def all(self, kind: type[R]) -> list[R]:
        """Everything of one kind, in order."""
        records = (self._records[entry.key] for entry in self._entries)
        return [record for record in records if isinstance(record, kind)]

    def add(self, kind: EntryType, entry_id: str, record: Record, role: str | None = None) -> None:
        """Put ``record`` at the end, under its key."""
        self._records[record.key] = record
        entry = self._by_key[record.key] = Entry(kind, entry_id, record.key, role)
        self._entries.append(entry)

    def count(self, name: str) -> int:
        """How often this was asked for ``name``, this time included."""
        self._counts[name] = number = self._counts.get(name, 0) + 1
        return number
