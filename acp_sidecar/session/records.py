"""The smaller things a session keeps: plans, notices, compactions."""

from __future__ import annotations

from typing import Any

from attrs import define, field

from acp_sidecar.acp.encoding import encode
from acp_sidecar.acp.model import (
    UNSET,
    CompactionUpdate,
    ContentBlock,
    JsonObject,
    Notice,
    PlanEntry,
    PlanUpdate,
)
from acp_sidecar.session.message import Blocks
from acp_sidecar.session.meta import patched_meta


@define(eq=False)
class Plan:
    """What the agent means to do; every update replaces all of it."""

    plan_id: str
    key: str
    entries: tuple[PlanEntry, ...] = ()
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)
    other: JsonObject | None = None
    """The whole content of a plan of a type that is not understood."""

    def patch(self, update: PlanUpdate) -> None:
        self.entries, self.other = update.entries, update.other
        self.meta, self.unknown = update.meta, update.unknown

    def to_json(self) -> dict[str, Any]:
        return {
            **(self.other or self.unknown),
            "planId": self.plan_id,
            "entries": encode(self.entries),
            "_meta": self.meta,
        }


@define(eq=False)
class NoticeEntry:
    """Something the agent wants the user to know, outside the conversation."""

    notice_id: str
    key: str
    notice: Notice

    def to_json(self) -> dict[str, Any]:
        notice = self.notice
        return {
            **notice.unknown,
            "noticeId": self.notice_id,
            "severity": notice.severity,
            "title": notice.title,
            "description": notice.description,
            "_meta": notice.meta,
        }


@define(eq=False)
class Compaction:
    """The agent shortened what it remembers of the conversation."""

    compaction_id: str
    key: str
    status: str = "in_progress"
    summary: Blocks = field(factory=Blocks)
    error: str | None = None
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)

    def patch(self, update: CompactionUpdate) -> None:
        self.status = update.status
        if update.summary is not UNSET:
            self.summary = Blocks(update.summary or ())
        if update.error is not UNSET:
            self.error = update.error
        if update.meta is not UNSET:
            self.meta = patched_meta(self.meta, update.meta)
        if update.unknown:
            self.unknown = {**self.unknown, **update.unknown}

    @property
    def content(self) -> tuple[ContentBlock, ...]:
        return tuple(self.summary)

    def to_json(self) -> dict[str, Any]:
        return {
            **self.unknown,
            "compactionId": self.compaction_id,
            "status": self.status,
            "summary": encode(self.content),
            "error": self.error,
            "_meta": self.meta,
        }
