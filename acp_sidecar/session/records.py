"""The smaller things a session keeps: plans, terminals, notices, compactions."""

from __future__ import annotations

import codecs
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
    TerminalUpdate,
)
from acp_sidecar.session.message import Blocks
from acp_sidecar.session.meta import patched_meta
from acp_sidecar.session.text import GrowingText


def _utf8() -> codecs.IncrementalDecoder:
    return codecs.getincrementaldecoder("utf-8")("replace")


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
class Terminal:
    """A command's output, as text.

    Bytes become text as UTF-8, where a character may be cut in two by the end of a chunk;
    what is not UTF-8 becomes U+FFFD.
    """

    terminal_id: str
    command: str | None = None
    cwd: str | None = None
    output: GrowingText = field(factory=GrowingText)
    truncated: bool = False
    exit_status: JsonObject | None = None
    size: JsonObject | None = None
    capabilities: JsonObject | None = None
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)
    _decoder: codecs.IncrementalDecoder = field(factory=_utf8)

    def patch(self, update: TerminalUpdate) -> None:
        if update.command is not UNSET:
            self.command = update.command
        if update.cwd is not UNSET:
            self.cwd = update.cwd
        if update.output is not UNSET:
            self.output = GrowingText()
            self._decoder = _utf8()
            self.append(update.output or "")
        if update.truncated is not UNSET:
            self.truncated = bool(update.truncated)
        if update.exit_status is not UNSET:
            self.exit_status = update.exit_status
            if update.exit_status is not None:
                self.output.append(self._decoder.decode(b"", final=True))
        if update.size is not UNSET:
            self.size = update.size
        if update.capabilities is not UNSET:
            self.capabilities = update.capabilities
        if update.meta is not UNSET:
            self.meta = patched_meta(self.meta, update.meta)
        if update.unknown:
            self.unknown = {**self.unknown, **update.unknown}

    def append(self, output: str | bytes) -> str:
        """More output. Returns the text that it adds, which may be less than was given: half
        a character waits for its other half.
        """
        text = output if isinstance(output, str) else self._decoder.decode(output)
        self.output.append(text)
        return text

    def to_json(self) -> dict[str, Any]:
        return {
            **self.unknown,
            "terminalId": self.terminal_id,
            "command": self.command,
            "cwd": self.cwd,
            "output": str(self.output),
            "truncated": self.truncated,
            "exitStatus": self.exit_status,
            "size": self.size,
            "capabilities": self.capabilities,
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
