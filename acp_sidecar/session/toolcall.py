"""A tool call as it stands, and how patches change it."""

from __future__ import annotations

from typing import Any, Literal

from attrs import define, field

from acp_sidecar.acp.encoding import encode
from acp_sidecar.acp.model import (
    FINAL_STATUSES,
    UNSET,
    Json,
    JsonObject,
    Location,
    ToolCallContent,
    ToolCallUpsert,
    says,
)
from acp_sidecar.session.commandline import command_of
from acp_sidecar.session.meta import patched_meta


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
    lasting: bool = False
    """Whether it may outlive its turn."""
    capabilities: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)
    announced: bool = False
    """Whether the agent introduced it with a ``tool_call``."""
    shown: bool = False
    """False for a placeholder: an update named it, but nothing is known of it yet."""

    @property
    def open(self) -> bool:
        return self.status not in FINAL_STATUSES

    @property
    def has_something_to_show(self) -> bool:
        said = (self.title, self.name, self.content, self.locations)
        return any(said) or says(self.raw_input) or says(self.raw_output)

    def patch(self, upsert: ToolCallUpsert, *, keep_stored: bool = False) -> None:
        """Lay ``upsert`` over what is known.

        A status that is not final lasting a call only where the upsert says so, and none that
        was closed in the agent's stead; a final one takes the call back from whoever closed
        it. ``_meta`` is laid over key by key. ``keep_stored``: an empty value does not blank
        what is known.
        """
        # Written out, as it runs for every update of a flood.
        if upsert.title is not UNSET and (upsert.title or not keep_stored):
            self.title = upsert.title
        if upsert.name is not UNSET and (upsert.name or not keep_stored):
            self.name = upsert.name
        if upsert.kind is not UNSET:
            self.kind = upsert.kind or "other"
        if upsert.status is not UNSET:
            self._move_to(upsert.status or "pending", upsert.lasting)
        if upsert.content is not UNSET and (upsert.content or not keep_stored):
            self.content = list(upsert.content or ())
        if upsert.locations is not UNSET and (upsert.locations or not keep_stored):
            self.locations = upsert.locations or ()
        if upsert.raw_input is not UNSET and (says(upsert.raw_input) or not keep_stored):
            self.raw_input = upsert.raw_input
        if upsert.raw_output is not UNSET and (says(upsert.raw_output) or not keep_stored):
            self.raw_output = upsert.raw_output
        if upsert.capabilities is not UNSET:
            self.capabilities = upsert.capabilities
        if upsert.meta is not UNSET:
            self.meta = patched_meta(self.meta, upsert.meta)
        if upsert.lasting:
            self.lasting = True
        if upsert.unknown:
            self.unknown = {**self.unknown, **upsert.unknown}

    def _move_to(self, status: str, lasting: bool) -> None:
        if status in FINAL_STATUSES:
            self.status, self.closed_by = status, None
        elif self.open or (lasting and self.closed_by is None):
            self.status = status

    def close(self, status: str) -> bool:
        """Close an open call in the agent's stead; false where there was nothing to do."""
        if not self.open:
            return False
        self.status, self.closed_by = status, "sidecar"
        return True

    @property
    def cancellable(self) -> bool:
        """Whether it can be cancelled alone, now."""
        return self.open and can_cancel(self.capabilities)

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
            "command": command_of(self.raw_input),
            "rawInput": self.raw_input,
            "rawOutput": self.raw_output,
            "_meta": self.meta,
            "turn": self.turn,
            "closedBy": self.closed_by,
            "background": self.background,
            "capabilities": self.capabilities,
            "cancellable": self.cancellable,
        }


def can_cancel(capabilities: JsonObject | None) -> bool:
    """Whether a tool call or terminal with these ``capabilities`` may be cancelled alone."""
    return capabilities is not None and isinstance(capabilities.get("cancel"), dict)
