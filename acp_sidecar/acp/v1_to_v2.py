"""A whole conversation of protocol version 1 in the words of version 2.

:class:`ToV2` is fed with everything of one session, in order, and remembers what version 2 needs to
be told: ids for messages that have none, calls that nobody closed. One of them serves one session.
"""

from __future__ import annotations

from typing import Any, Final

from attrs import define, evolve, field

from acp_sidecar.acp import convert, model
from acp_sidecar.acp.model import UNSET, Event, Role, says

_SHOWN: Final = ("title", "name", "content", "locations", "raw_input", "raw_output")
"""The fields of a tool call of which each is something to show."""


@define
class _V1Call:
    """A tool call as far as v1's rules of who closes it need it."""

    wire_id: str
    turn: int
    status: str = "pending"
    announced: bool = False
    shown: bool = False
    left_open: bool = False
    """Whether it was closed here, because its turn ended without a word of it."""
    held: list[Event] = field(factory=list)
    """What was said of it while there was nothing to show: in v2 the first word shows it."""

    @property
    def open(self) -> bool:
        return self.status not in model.FINAL_STATUSES


class ToV2:
    """A v1 session, told in v2.

    Messages get ids where they have none, modes become a setting, calls that the end of a turn
    leaves open are closed, and an id that is used for another call becomes another id.
    """

    def __init__(self) -> None:
        self._turn = 0
        self._prompts = 0
        self._cancelled = False
        self._calls: dict[str, _V1Call] = {}
        self._counts: dict[str, int] = {}
        self._ids: set[str] = set()
        self._own: set[str] = set()
        self._newest: tuple[Role, str] | None = None
        """The message that stands last, if nothing else does."""
        self._seen: set[str] = set()
        self._modes: model.SessionModes | None = None
        self._options: tuple[model.ConfigOption, ...] = ()

    # --- what the client does --------------------------------------------------------------

    def prompted(self) -> list[Event]:
        """A prompt went to the agent."""
        events = self._close("failed") if not self._prompts else []
        self._turn += 1
        self._prompts += 1
        self._cancelled = False
        self._newest = None
        return [*events, model.TurnStarted()]

    def cancelled(self) -> None:
        """The turn was cancelled: what is open then ends as cancelled."""
        self._cancelled = True
        for call in self._calls.values():
            if call.open:
                call.status, call.left_open = "cancelled", True
                if not call.shown:
                    call.held.append(model.ToolCallUpsert(call.wire_id, status="cancelled"))

    def opened(self, opened: model.SessionOpened) -> model.SessionOpened:
        """The answer that opens a session."""
        self._modes, self._options = opened.modes, opened.config_options
        return evolve(opened, modes=None, config_options=self._all_options(), settled=False)

    def settled(self) -> list[Event]:
        """A session was loaded: nothing that was told of it goes on any more."""
        return self._close("failed") if not self._prompts else []

    def asked(
        self, request: model.PermissionRequest
    ) -> tuple[list[Event], model.PermissionRequest]:
        """The agent asks for permission: what is to be said first, and the question.

        What its tool call leaves empty stays as it is.
        """
        events: list[Event] = []
        call = request.tool_call
        if call is not None and call.tool_call_id:
            known = self._calls.get(call.tool_call_id)
            if known is not None and not known.open and known.turn != self._turn:
                known = None
            known = known or self._new_call(call.tool_call_id)
            call = self._call(_without_empties(call), known)
            events, known.held = known.held, []
            if not known.shown:
                # As in v1, a question alone shows no call of which nothing is known.
                known.held, events = [*events, convert.to_v2(call)], []
                call = None
            request = evolve(request, tool_call=call)
        self._newest = None
        return events, convert.permission_to_v2(request)

    # --- what the agent says -----------------------------------------------------------------

    def update(self, event: Event, *, replay: bool = False) -> list[Event]:
        """The v2 events that say what a v1 event says."""
        match event:
            case model.MessageChunk():
                return [self._chunk(event, replay)]
            case model.ToolCallUpsert():
                return self._upsert(event)
            case model.ModeUpdate():
                self._modes = evolve(
                    self._modes or model.SessionModes(event.current_mode_id, ()),
                    current_mode_id=event.current_mode_id,
                )
                return [model.ConfigOptionsUpdate(self._all_options())]
            case model.ConfigOptionsUpdate():
                self._options = event.config_options
                return [evolve(event, config_options=self._all_options())]
            case model.TurnEnded():
                return self._ended(event)
            case model.PlanUpdate():
                self._stands("plan")
            case model.CompactionUpdate() | model.CompactionSummaryChunk():
                self._stands(f"compaction:{event.compaction_id}")
            case model.Notice():
                self._newest = None
        return [convert.to_v2(event)]

    def _stands(self, key: str) -> None:
        if key not in self._seen:
            self._seen.add(key)
            self._newest = None

    def _all_options(self) -> tuple[model.ConfigOption, ...]:
        known = (model.SelectOption, model.BooleanOption)
        named = any(isinstance(o, known) and o.category == "mode" for o in self._options)
        if self._modes is None or named:
            return self._options
        return (*self._options, convert.mode_option(self._modes))

    def _ended(self, event: model.TurnEnded) -> list[Event]:
        self._prompts = max(0, self._prompts - 1)
        if self._prompts:
            return []
        cancelled = self._cancelled or event.stop_reason == "cancelled"
        closed = self._close("cancelled" if cancelled else "failed")
        return [*closed, convert.to_v2(event)]

    # --- messages ------------------------------------------------------------------------------

    def _chunk(self, event: model.MessageChunk, replay: bool) -> Event:
        role, message_id = event.role, event.message_id
        if role == "user" and replay and (self._newest or ("", ""))[0] != "user":
            self._turn += 1
        if message_id is None:
            newest = self._newest
            message_id = newest[1] if newest and newest[0] == role else self._own_id()
        elif message_id in self._own:
            # The agent came up with the same: there it is another message.
            message_id = f"{message_id}#agent"
        if f"{role}:{message_id}" not in self._seen:
            self._seen.add(f"{role}:{message_id}")
            self._newest = role, message_id
        self._ids.add(message_id)
        return convert.to_v2(evolve(event, message_id=message_id))

    def _own_id(self) -> str:
        number = len(self._ids) + 1
        while f"message-{number}" in self._ids:
            number += 1
        self._own.add(f"message-{number}")
        return f"message-{number}"

    # --- tool calls ------------------------------------------------------------------------------

    def _upsert(self, event: model.ToolCallUpsert) -> list[Event]:
        known = self._calls.get(event.tool_call_id)
        if known is None or (event.announces and self._is_over(known)):
            known = self._new_call(event.tool_call_id)
        return self._told(known, convert.to_v2(self._call(event, known)))

    def _told(self, call: _V1Call, event: Event) -> list[Event]:
        events, call.held = [*call.held, event], []
        if call.shown:
            return events
        call.held = events
        return []

    def _is_over(self, call: _V1Call) -> bool:
        again = call.turn != self._turn or (call.announced and not call.left_open)
        return not call.open and again

    def _new_call(self, tool_call_id: str) -> _V1Call:
        count = self._counts[tool_call_id] = self._counts.get(tool_call_id, 0) + 1
        wire_id = tool_call_id if count == 1 else f"{tool_call_id}#{count}"
        call = self._calls[tool_call_id] = _V1Call(wire_id, self._turn)
        return call

    def _call(self, event: model.ToolCallUpsert, call: _V1Call) -> model.ToolCallUpsert:
        """The upsert under the call's id on the wire, without a status that comes too late."""
        status = event.status
        if isinstance(status, str):
            if status in model.FINAL_STATUSES or call.open:
                call.status = status
                call.left_open = call.left_open and status not in model.FINAL_STATUSES
            else:
                status = UNSET
        call.announced = call.announced or event.announces
        if not call.shown and (event.announces or _shows(event)):
            call.shown = True
            self._newest = None
        return evolve(event, tool_call_id=call.wire_id, status=status)

    def _close(self, status: str) -> list[Event]:
        """The word that v1 does not say: an open call is over."""
        closed: list[Event] = []
        for call in self._calls.values():
            if call.open:
                call.status, call.left_open = status, True
                upsert = model.ToolCallUpsert(call.wire_id, status=status, lasting=True)
                closed += self._told(call, upsert)
        return closed


def _shows(event: model.ToolCallUpsert) -> bool:
    return any(says(getattr(event, name)) for name in _SHOWN)


def _without_empties(event: model.ToolCallUpsert) -> model.ToolCallUpsert:
    empty: dict[str, Any] = {name: UNSET for name in _SHOWN if not says(getattr(event, name))}
    return evolve(event, **empty)
