"""The tool calls of a session: how they come up, go on and are closed.

A call is created by whatever names it first: ``tool_call``, ``tool_call_update`` or a
permission request. A v1 update that says nothing worth showing keeps a placeholder, which
comes up when there is something to show. An agent may use an id again: a second
announcement after a final status is another call.
"""

from __future__ import annotations

from acp_sidecar.acp.model import ToolCallContentChunk, ToolCallUpsert
from acp_sidecar.session.change import Change, ToolCallChanged
from acp_sidecar.session.timeline import Timeline
from acp_sidecar.session.toolcall import ToolCall


class Calls:
    """The tool calls of one session."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._latest: dict[str, ToolCall] = {}
        self._open: dict[str, ToolCall] = {}
        self._background: frozenset[str] = frozenset()

    def get(self, tool_call_id: str) -> ToolCall | None:
        """The latest call with this id, placeholders included."""
        return self._latest.get(tool_call_id)

    def upsert(self, event: ToolCallUpsert, turn: int) -> list[Change]:
        """Fold what the agent says of a call."""
        known = self._latest.get(event.tool_call_id)
        another = event.announces and known is not None and _is_over(known, turn)
        return self._fold(event, turn, None if another else known)

    def asked_about(self, tool_call_id: str, turn: int) -> ToolCall | None:
        """The call that a permission request of this turn means by an id.

        Permission is asked for what is still to be done: an id that an earlier turn has
        done with is another call.
        """
        known = self._latest.get(tool_call_id)
        return None if known is not None and not known.open and known.turn != turn else known

    def asked(self, event: ToolCallUpsert, turn: int) -> list[Change]:
        """Fold the tool call that a v1 permission request carries.

        It empties nothing that is stored.
        """
        known = self.asked_about(event.tool_call_id, turn)
        return self._fold(event, turn, known, keep_stored=True)

    def chunk(self, event: ToolCallContentChunk, turn: int) -> list[Change]:
        """Fold one more piece of a call's content."""
        tool_call = self._latest.get(event.tool_call_id) or self._new(event.tool_call_id, turn)
        tool_call.lasting = True
        tool_call.content.append(event.content)
        return self._show(tool_call, event, announced=False)

    def in_background(self, ids: frozenset[str]) -> list[Change]:
        """Exactly the calls with these ids go on in the background."""
        changed = self._background ^ ids
        self._background = ids
        calls = [call for each in sorted(changed) if (call := self._latest.get(each)) is not None]
        for call in calls:
            call.background = call.tool_call_id in ids
        return [ToolCallChanged(call, None, created=False) for call in calls if call.shown]

    def close(self, status: str, *, lasting: bool = True) -> list[Change]:
        """Close every open call in the agent's stead, except those in the background and,
        unless ``lasting``, those that may outlive their turn.
        """
        changes: list[Change] = []
        for key, tool_call in list(self._open.items()):
            if tool_call.background or (tool_call.lasting and not lasting):
                continue
            del self._open[key]
            tool_call.close(status)
            if tool_call.shown:
                changes.append(ToolCallChanged(tool_call, None, created=False))
        return changes

    def _fold(
        self,
        event: ToolCallUpsert,
        turn: int,
        tool_call: ToolCall | None,
        *,
        keep_stored: bool = False,
    ) -> list[Change]:
        if tool_call is None:
            tool_call = self._new(event.tool_call_id, turn)
        tool_call.patch(event, keep_stored=keep_stored)
        tool_call.announced = tool_call.announced or event.announces
        if tool_call.open:
            self._open[tool_call.key] = tool_call
        else:
            self._open.pop(tool_call.key, None)
        return self._show(tool_call, event, announced=event.announces or event.lasting)

    def _new(self, tool_call_id: str, turn: int) -> ToolCall:
        key = f"toolCall:{tool_call_id}"
        times = self._timeline.count(key)
        tool_call = ToolCall(tool_call_id, turn, key if times == 1 else f"{key}#{times}")
        tool_call.background = tool_call_id in self._background
        self._latest[tool_call_id] = self._open[tool_call.key] = tool_call
        return tool_call

    def _show(
        self,
        tool_call: ToolCall,
        event: ToolCallUpsert | ToolCallContentChunk,
        *,
        announced: bool,
    ) -> list[Change]:
        created = not tool_call.shown
        if created:
            if not announced and not tool_call.has_something_to_show:
                return []
            tool_call.shown = True
            self._timeline.add("toolCall", tool_call.tool_call_id, tool_call)
        return [ToolCallChanged(tool_call, event, created)]


def _is_over(tool_call: ToolCall, turn: int) -> bool:
    """Whether an announcement under the same id means another call.

    Within a turn it is the same call if that was not announced before (updates may overtake
    their announcement), or if only we closed it (the agent goes on with it).
    """
    if tool_call.open:
        return False
    return tool_call.turn != turn or (tool_call.announced and tool_call.closed_by is None)
