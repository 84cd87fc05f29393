"""A tool call as it stands, and how patches change it."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Literal

from attrs import define, field

from acp_sidecar.acp.encoding import encode
from acp_sidecar.acp.model import (
    FINAL_STATUSES,
    UNSET,
    Json,
    JsonObject,
    Location,
    Patch,
    ToolCallContent,
    ToolCallUpsert,
)


@define(eq=False)
class ToolCall:
    """One tool call, always the latest. It lives as long as its session; readers do not
    change it.
    """

    tool_call_id: str
    turn: int
    key: str
    """Unique among all entries of the session, also where the agent reuses an id."""
    title: str | None = None
    name: str | None = None
    kind: str = "other"
    status: str = "pending"
    content: list[ToolCallContent] = field(factory=list)
    locations: tuple[Location, ...] = ()
    raw_input: Json = None
    raw_output: Json = None
    meta: JsonObject | None = None
    closed_by: Literal["sidecar"] | None = None
    background: bool = False
    capabilities: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)
    shown: bool = False
    """False for a placeholder: an update named it, but nothing is known of it yet."""

    @property
    def open(self) -> bool:
        return self.status not in FINAL_STATUSES

    @property
    def has_something_to_show(self) -> bool:
        said = (self.title, self.name, self.content, self.locations)
        return any(said) or any(
            raw is not None and raw not in ("", [], {}) for raw in (self.raw_input, self.raw_output)
        )

    def patch(self, upsert: ToolCallUpsert, *, keep: Collection[str] = ()) -> None:
        """Lay ``upsert`` over what is known.

        A status that is not final never reopens a call; a final one takes the call back
        from whoever closed it. ``_meta`` is laid over key by key. ``keep`` names
        attributes that an empty value must not blank.
        """
        for name, empty in _PATCHED:
            value = getattr(upsert, name)
            if value is UNSET:
                continue
            value = empty if value is None else value
            if name in keep and not value:
                continue
            setattr(self, name, value)
        if upsert.content is not UNSET and (upsert.content or "content" not in keep):
            self.content = list(upsert.content or ())
        if upsert.status is not UNSET:
            self._move_to(upsert.status or "pending")
        if upsert.meta is not UNSET:
            self.meta = {**(self.meta or {}), **upsert.meta} if upsert.meta else None
        if upsert.unknown:
            self.unknown = {**self.unknown, **upsert.unknown}

    def _move_to(self, status: str) -> None:
        if status in FINAL_STATUSES:
            self.status, self.closed_by = status, None
        elif self.open:
            self.status = status

    def close(self, status: str) -> bool:
        """Close an open call in the agent's stead; false where there was nothing to do."""
        if not self.open:
            return False
        self.status, self.closed_by = status, "sidecar"
        return True

    def to_json(self) -> dict[str, Any]:
        """The call as ``acp.session.state`` gives it."""
        return {
            **self.unknown,
            "toolCallId": self.tool_call_id,
            "title": self.title,
            "name": self.name,
            "kind": self.kind,
            "status": self.status,
            "content": encode(self.content),
            "locations": encode(self.locations),
            "rawInput": self.raw_input,
            "rawOutput": self.raw_output,
            "_meta": self.meta,
            "turn": self.turn,
            "closedBy": self.closed_by,
            "background": self.background,
            "capabilities": self.capabilities,
        }


_PATCHED: tuple[tuple[str, Patch[Any]], ...] = (
    ("title", None),
    ("name", None),
    ("kind", "other"),
    ("locations", ()),
    ("raw_input", None),
    ("raw_output", None),
    ("capabilities", None),
)
"""The attributes that a patch replaces, and what null resets each to."""
