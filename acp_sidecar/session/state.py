"""What a conversation is: events go in, changes come out.

Pure: no clock, no disk, no editor. The same events always give the same state.

How messages are put together. A chunk with a ``messageId`` belongs to the message of that
id and role, wherever it stands. One without continues the newest entry of the transcript
if that is a message of the same role, else it begins a message of its own; so thoughts,
answers, tool calls and plans stay in the order in which they were first seen, and an
update of something further up does not tear a message apart. What the user sent through
us is complete and is never continued.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, TypeAlias

from attrs import evolve, frozen

from acp_sidecar.acp import model
from acp_sidecar.acp.encoding import encode
from acp_sidecar.acp.model import UNSET, ContentBlock, Event, Json, MessageChunk, ToolCallUpsert
from acp_sidecar.session import change
from acp_sidecar.session.change import Change, MessageChanged, ToolCallChanged
from acp_sidecar.session.echo import Echo
from acp_sidecar.session.message import Blocks, Message
from acp_sidecar.session.question import Permission
from acp_sidecar.session.records import Compaction, NoticeEntry, Plan, Terminal
from acp_sidecar.session.toolcall import ToolCall

EntryType: TypeAlias = Literal["message", "toolCall", "plan", "permission", "notice", "compaction"]
Record: TypeAlias = Message | ToolCall | Plan | Permission | NoticeEntry | Compaction

_NOT_BLANKED = ("title", "name", "content", "locations", "raw_input", "raw_output")
"""What a permission request may add to a tool call, but not empty."""


@frozen
class Entry:
    """A place in the transcript. ``key`` is unique, ``id`` only within its type and role."""

    type: EntryType
    id: str
    key: str
    role: str | None = None

    def to_json(self) -> dict[str, Any]:
        written = {"type": self.type, "id": self.id, "key": self.key}
        return {**written, "role": self.role} if self.role else written


class Session:
    """The state of one session, and the only thing that changes it."""

    def __init__(
        self,
        session_id: str,
        agent: str,
        cwd: str,
        roots: Iterable[str],
        protocol_version: int = 1,
        agent_session_id: str | None = None,
    ) -> None:
        self.session_id = session_id
        self.agent_session_id = agent_session_id
        self.agent = agent
        self.protocol_version = protocol_version
        self.cwd = cwd
        self.roots = tuple(roots)
        self.title: str | None = None
        self.updated_at: str | None = None
        self.meta: model.JsonObject | None = None
        self.stop_reason: str | None = None
        self.end_reason: str | None = None
        """Why the session is closed or dead, where there is more to say."""
        self.turn = 0
        """The number of the latest turn, from 1; 0 before the first."""
        self.modes: model.SessionModes | None = None
        self.config_options: tuple[model.ConfigOption, ...] = ()
        self.commands: tuple[model.AvailableCommand, ...] = ()
        self.usage: model.UsageUpdate | None = None
        # What others know and only put beside the state, as plain JSON:
        self.changes: Json = []
        self.follow: Json = {
            "enabled": True,
            "paused": False,
            "location": None,
            "shown": False,
            "reason": None,
        }
        self.queue: Json = []
        self.elicitations: Json = []
        self._entries: list[Entry] = []
        self._records: dict[str, Record] = {}
        self._messages: dict[tuple[str, str], Message] = {}
        self._calls: dict[str, ToolCall] = {}
        self._open_calls: dict[str, ToolCall] = {}
        self._terminals: dict[str, Terminal] = {}
        self._waiting: dict[str, Permission] = {}
        self._echo: Echo | None = None
        self._prompts = 0
        self._turn_cancelled = False
        self._heard_in: set[int] = set()
        self._ended: Literal["closed", "dead"] | None = None
        self._status = "idle"
        self._counts: dict[str, int] = {}

    # --- looking ------------------------------------------------------------------

    @property
    def status(self) -> str:
        """``idle``, ``running``, ``requires_action``, ``closed`` or ``dead``."""
        if self._ended:
            return self._ended
        if self._waiting:
            return "requires_action"
        return "running" if self._prompts else "idle"

    @property
    def entries(self) -> Sequence[Entry]:
        """The transcript's entries in order of first sight."""
        return self._entries

    def record(self, entry: Entry) -> Record:
        """What stands at a place of the transcript."""
        return self._records[entry.key]

    @property
    def messages(self) -> list[Message]:
        return self._all(Message)

    @property
    def tool_calls(self) -> list[ToolCall]:
        """The calls there is something to show of."""
        return self._all(ToolCall)

    @property
    def plans(self) -> list[Plan]:
        return self._all(Plan)

    @property
    def permissions(self) -> list[Permission]:
        return self._all(Permission)

    @property
    def notices(self) -> list[NoticeEntry]:
        return self._all(NoticeEntry)

    @property
    def compactions(self) -> list[Compaction]:
        return self._all(Compaction)

    @property
    def terminals(self) -> list[Terminal]:
        return list(self._terminals.values())

    def tool_call(self, tool_call_id: str) -> ToolCall | None:
        """The latest call with this id, also where nothing is shown of it yet."""
        return self._calls.get(tool_call_id)

    def said_anything(self, turn: int) -> bool:
        """Whether the agent said or did anything in a turn."""
        return turn in self._heard_in

    def _all(self, kind: type[Any]) -> list[Any]:
        records = (self._records[entry.key] for entry in self._entries)
        return [record for record in records if isinstance(record, kind)]

    def to_json(self) -> dict[str, Any]:
        """The whole session as ``acp.session.state`` gives it."""
        return {
            "sessionId": self.session_id,
            "agentSessionId": self.agent_session_id,
            "agent": self.agent,
            "protocolVersion": self.protocol_version,
            "cwd": self.cwd,
            "roots": list(self.roots),
            "title": self.title,
            "updatedAt": self.updated_at,
            "status": self.status,
            "stopReason": self.stop_reason,
            "endReason": self.end_reason,
            "turn": self.turn,
            "order": [entry.to_json() for entry in self._entries],
            "messages": [message.to_json() for message in self.messages],
            "toolCalls": [tool_call.to_json() for tool_call in self.tool_calls],
            "plans": [plan.to_json() for plan in self.plans],
            "modes": encode(self.modes),
            "configOptions": encode(self.config_options),
            "commands": encode(self.commands),
            "usage": self._usage_json(),
            "terminals": [terminal.to_json() for terminal in self._terminals.values()],
            "permissions": [permission.to_json() for permission in self.permissions],
            "elicitations": self.elicitations,
            "notices": [notice.to_json() for notice in self.notices],
            "compactions": [compaction.to_json() for compaction in self.compactions],
            "changes": self.changes,
            "follow": self.follow,
            "queue": self.queue,
            "_meta": self.meta,
        }

    def _usage_json(self) -> dict[str, Any] | None:
        if self.usage is None:
            return None
        written: dict[str, Any] = {"cost": None, **encode(self.usage)}
        return written

    # --- what happens ----------------------------------------------------------------

    def apply(self, event: Event, *, replay: bool = False) -> list[Change]:
        """Fold one event. ``replay``: it is history, told by an agent that loads a session.

        Changes come in the order in which they should be shown.
        """
        fold = _FOLDS.get(event.__class__)
        return fold(self, event, replay) if fold is not None else []

    def opened(self, opened: model.SessionOpened) -> list[Change]:
        """The agent answered the request that opens a session."""
        self.agent_session_id = opened.agent_session_id
        changes: list[Change] = []
        if opened.modes is not None:
            self.modes = opened.modes
            changes.append(change.ModesChanged(opened.modes))
        if opened.config_options:
            changes += self._config(model.ConfigOptionsUpdate(opened.config_options), False)
        if opened.meta:
            self.meta = {**(self.meta or {}), **opened.meta}
        return changes

    def mode_set(self, mode_id: str) -> list[Change]:
        """The agent took a mode that was asked for."""
        return self.apply(model.ModeUpdate(mode_id))

    def begin_turn(self, user_blocks: Iterable[ContentBlock]) -> tuple[int, list[Change]]:
        """A prompt goes out. Returns the number of the turn it begins, and the changes."""
        blocks = tuple(user_blocks)
        changes = self._give_back_echo()
        if not self._prompts:
            # Calls of an earlier turn that came after its end: nothing will close them now.
            changes += self._close_calls("failed")
        self.turn += 1
        self._prompts += 1
        self._turn_cancelled = False
        self.stop_reason = None
        self._echo = Echo(blocks)
        message = self._new_message("user", self._own_id("prompt", "user"))
        message.closed = True
        message.blocks = Blocks(blocks)
        return self.turn, [*changes, MessageChanged(message, appended=False), *self._moved()]

    def cancel_turn(self) -> list[Change]:
        """The user cancelled: what is unfinished is shown as cancelled at once."""
        self._turn_cancelled = True
        return [
            *self._give_back_echo(),
            *self._close_permissions(),
            *self._close_calls("cancelled"),
            *self._moved(),
        ]

    def close(self) -> list[Change]:
        """The session was closed in good order."""
        return self._end("closed", None, "cancelled")

    def died(self, reason: str) -> list[Change]:
        """The agent is gone; ``reason`` is for people."""
        return self._end("dead", reason, "failed")

    def permission_asked(
        self, request_id: str, request: model.PermissionRequest, message: str
    ) -> list[Change]:
        """The agent asks. ``request_id`` is ours, ``message`` what the user is shown.

        The tool call of the request is laid over the stored one like an update, except
        that it never empties what is stored; for some agents it is the only sign of a call.
        """
        changes = self._give_back_echo()
        tool_call = request.tool_call
        if tool_call is not None and tool_call.tool_call_id:
            known = self._calls.get(tool_call.tool_call_id)
            anew = known is not None and not known.open and known.turn != self.turn
            changes += self._upsert(tool_call, anew=anew, keep=_NOT_BLANKED)
        key = f"permission:{request_id}"
        permission = Permission(request_id, request, message, self.turn, key)
        self._waiting[request_id] = permission
        self._add("permission", request_id, key, permission)
        return [*changes, change.PermissionChanged(permission), *self._moved()]

    def permission_closed(
        self,
        request_id: str,
        state: Literal["answered", "cancelled"] | str,
        option_id: str | None = None,
    ) -> list[Change]:
        """A request was answered or withdrawn. What is closed already stays as it is."""
        permission = self._waiting.pop(request_id, None)
        if permission is None:
            return []
        permission.state = "answered" if state == "answered" else "cancelled"
        permission.option_id = option_id
        return [change.PermissionChanged(permission), *self._moved()]

    # --- status and ends -----------------------------------------------------------------

    def _moved(self) -> list[Change]:
        status = self.status
        if status == self._status:
            return []
        self._status = status
        return [change.StatusChanged(status, self.stop_reason)]

    def _end(self, how: Literal["closed", "dead"], reason: str | None, calls: str) -> list[Change]:
        if self._ended:
            return []
        changes = [
            *self._give_back_echo(),
            *self._close_permissions(),
            *self._close_calls(calls),
        ]
        self._ended, self.end_reason, self._prompts = how, reason, 0
        return [*changes, *self._moved()]

    def _close_permissions(self) -> list[Change]:
        closed = list(self._waiting)
        return [
            item
            for request_id in closed
            for item in self.permission_closed(request_id, "cancelled")
        ]

    def _close_calls(self, status: str) -> list[Change]:
        changes: list[Change] = []
        for key, tool_call in list(self._open_calls.items()):
            if tool_call.background:
                continue
            del self._open_calls[key]
            if tool_call.close(status) and tool_call.shown:
                changes.append(ToolCallChanged(tool_call, None, created=False))
        return changes

    def _turn_started(self, event: model.TurnStarted, replay: bool) -> list[Change]:
        if not self._prompts:
            self._prompts, self.stop_reason = 1, None
        return self._moved()

    def _turn_ended(self, event: model.TurnEnded, replay: bool) -> list[Change]:
        changes = self._give_back_echo()
        self.stop_reason = event.stop_reason
        self._prompts = 0 if event.idle else max(0, self._prompts - 1)
        if not self._prompts and not event.idle:
            cancelled = self._turn_cancelled or event.stop_reason == "cancelled"
            changes += self._close_calls("cancelled" if cancelled else "failed")
        moved = self._moved()
        return [*changes, *moved] if moved else [*changes, self._stopped()]

    def _stopped(self) -> Change:
        return change.StatusChanged(self.status, self.stop_reason)

    # --- messages ---------------------------------------------------------------------------

    def _chunk(self, event: MessageChunk, replay: bool) -> list[Change]:
        if event.role == "user":
            if not replay and self._echo is not None:
                if self._echo.takes(event):
                    return []
                return [*self._give_back_echo(), self._say(event)]
            if replay:
                self._count_replayed_turn()
            return [self._say(event)]
        self._heard_in.add(self.turn)
        if self._echo is not None and self._echo.holds:
            return [*self._give_back_echo(), self._say(event)]
        return [self._say(event)]

    def _give_back_echo(self) -> list[Change]:
        if self._echo is None or not self._echo.holds:
            return []
        return [self._say(chunk) for chunk in self._echo.give_back()]

    def _count_replayed_turn(self) -> None:
        last = self._records[self._entries[-1].key] if self._entries else None
        if not isinstance(last, Message) or last.role != "user":
            self.turn += 1

    def _say(self, event: MessageChunk) -> Change:
        message = self._message_for(event)
        known = message is not None
        if message is None:
            message = self._new_message(event.role, event.message_id)
        message.blocks.append(event.content)
        if event.meta:
            message.meta = {**(message.meta or {}), **event.meta}
        return MessageChanged(message, appended=known)

    def _message_for(self, event: MessageChunk) -> Message | None:
        if event.message_id is not None:
            return self._messages.get((event.role, event.message_id))
        last = self._records[self._entries[-1].key] if self._entries else None
        if isinstance(last, Message) and last.role == event.role and not last.closed:
            return last
        return None

    def _new_message(self, role: model.Role, message_id: str | None) -> Message:
        if message_id is None:
            message_id = self._own_id("message", role)
        key = f"message:{role}:{message_id}"
        message = Message(message_id, role, self.turn, key)
        self._messages[role, message_id] = message
        self._add("message", message_id, key, message, role)
        return message

    def _own_id(self, stem: str, role: str) -> str:
        while True:
            number = self._counts[stem] = self._counts.get(stem, 0) + 1
            if (role, f"{stem}-{number}") not in self._messages:
                return f"{stem}-{number}"

    def _message(self, event: model.MessageUpsert, replay: bool) -> list[Change]:
        changes = self._give_back_echo()
        message = self._messages.get((event.role, event.message_id))
        known = message is not None
        if message is None:
            message = self._new_message(event.role, event.message_id)
        if event.content is not UNSET:
            message.blocks = Blocks(event.content or ())
        if event.meta is not UNSET:
            message.meta = event.meta
        if event.role != "user":
            self._heard_in.add(self.turn)
        return [*changes, MessageChanged(message, appended=known)]

    # --- tool calls ---------------------------------------------------------------------------

    def _tool_call(self, event: ToolCallUpsert, replay: bool) -> list[Change]:
        self._heard_in.add(self.turn)
        known = self._calls.get(event.tool_call_id)
        anew = event.announces and known is not None and self._is_over(known)
        changes = self._upsert(event, anew=anew)
        return [*self._give_back_echo(), *changes] if self._holds_echo else changes

    @property
    def _holds_echo(self) -> bool:
        return self._echo is not None and self._echo.holds

    def _is_over(self, tool_call: ToolCall) -> bool:
        """Whether an announcement under the same id means another call.

        One that only we closed, in this very turn, is still the agent's to go on with.
        """
        if tool_call.open:
            return False
        return tool_call.closed_by is None or tool_call.turn != self.turn

    def _upsert(
        self, event: ToolCallUpsert, *, anew: bool, keep: Sequence[str] = ()
    ) -> list[Change]:
        tool_call = self._calls.get(event.tool_call_id)
        if tool_call is None or anew:
            tool_call = self._new_call(event.tool_call_id)
        tool_call.patch(event, keep=keep)
        self._track(tool_call)
        return self._show(tool_call, event, announced=event.announces)

    def _new_call(self, tool_call_id: str) -> ToolCall:
        key = f"toolCall:{tool_call_id}"
        times = self._counts[key] = self._counts.get(key, 0) + 1
        tool_call = ToolCall(tool_call_id, self.turn, key if times == 1 else f"{key}#{times}")
        self._calls[tool_call_id] = tool_call
        return tool_call

    def _track(self, tool_call: ToolCall) -> None:
        if tool_call.open:
            self._open_calls[tool_call.key] = tool_call
        else:
            self._open_calls.pop(tool_call.key, None)

    def _show(
        self,
        tool_call: ToolCall,
        event: ToolCallUpsert | model.ToolCallContentChunk,
        *,
        announced: bool,
    ) -> list[Change]:
        created = not tool_call.shown
        if created:
            if not announced and not tool_call.has_something_to_show:
                return []
            tool_call.shown = True
            self._add("toolCall", tool_call.tool_call_id, tool_call.key, tool_call)
        return [ToolCallChanged(tool_call, event, created)]

    def _tool_call_chunk(self, event: model.ToolCallContentChunk, replay: bool) -> list[Change]:
        self._heard_in.add(self.turn)
        changes = self._give_back_echo()
        tool_call = self._calls.get(event.tool_call_id) or self._new_call(event.tool_call_id)
        tool_call.content.append(event.content)
        self._track(tool_call)
        return [*changes, *self._show(tool_call, event, announced=False)]

    # --- the rest ---------------------------------------------------------------------------------

    def _plan(self, event: model.PlanUpdate, replay: bool) -> list[Change]:
        self._heard_in.add(self.turn)
        changes = self._give_back_echo()
        key = f"plan:{event.plan_id}"
        plan = self._records.get(key)
        if not isinstance(plan, Plan):
            plan = Plan(event.plan_id, key)
            self._add("plan", event.plan_id, key, plan)
        plan.entries, plan.meta, plan.unknown = event.entries, event.meta, event.unknown
        return [*changes, change.PlanChanged(plan)]

    def _commands(self, event: model.CommandsUpdate, replay: bool) -> list[Change]:
        self.commands = event.commands
        return [change.CommandsChanged(self.commands)]

    def _mode(self, event: model.ModeUpdate, replay: bool) -> list[Change]:
        if self.modes is None:
            self.modes = model.SessionModes(event.current_mode_id, ())
        else:
            self.modes = evolve(self.modes, current_mode_id=event.current_mode_id)
        return [change.ModesChanged(self.modes)]

    def _config(self, event: model.ConfigOptionsUpdate, replay: bool) -> list[Change]:
        self.config_options = event.config_options
        return [change.ConfigChanged(self.config_options)]

    def _info(self, event: model.SessionInfoUpdate, replay: bool) -> list[Change]:
        if event.title is not UNSET:
            self.title = event.title
        if event.updated_at is not UNSET:
            self.updated_at = event.updated_at
        if event.meta is not UNSET:
            self.meta = event.meta
        return [change.InfoChanged(self.title, self.updated_at)]

    def _usage(self, event: model.UsageUpdate, replay: bool) -> list[Change]:
        self.usage = event
        return [change.UsageChanged(event)]

    def _notice(self, event: model.Notice, replay: bool) -> list[Change]:
        self._heard_in.add(self.turn)
        changes = self._give_back_echo()
        number = self._counts["notice"] = self._counts.get("notice", 0) + 1
        notice_id = f"notice-{number}"
        notice = NoticeEntry(notice_id, f"notice:{notice_id}", event)
        self._add("notice", notice_id, notice.key, notice)
        return [*changes, change.NoticeAdded(notice)]

    def _compaction(self, event: model.CompactionUpdate, replay: bool) -> list[Change]:
        compaction = self._compaction_of(event.compaction_id)
        compaction.patch(event)
        return [change.CompactionChanged(compaction)]

    def _compaction_chunk(self, event: model.CompactionSummaryChunk, replay: bool) -> list[Change]:
        compaction = self._compaction_of(event.compaction_id)
        compaction.summary.append(event.content)
        return [change.CompactionChanged(compaction)]

    def _compaction_of(self, compaction_id: str) -> Compaction:
        key = f"compaction:{compaction_id}"
        compaction = self._records.get(key)
        if not isinstance(compaction, Compaction):
            compaction = Compaction(compaction_id, key)
            self._add("compaction", compaction_id, key, compaction)
        return compaction

    def _terminal(self, event: model.TerminalUpdate, replay: bool) -> list[Change]:
        terminal = self._terminal_of(event.terminal_id)
        terminal.patch(event)
        return [change.TerminalChanged(terminal)]

    def _terminal_output(self, event: model.TerminalOutput, replay: bool) -> list[Change]:
        terminal = self._terminal_of(event.terminal_id)
        terminal.output.append(event.text)
        return [change.TerminalChanged(terminal, appended=event.text)]

    def _terminal_of(self, terminal_id: str) -> Terminal:
        return self._terminals.setdefault(terminal_id, Terminal(terminal_id))

    def _add(
        self, kind: EntryType, entry_id: str, key: str, record: Record, role: str | None = None
    ) -> None:
        self._records[key] = record
        self._entries.append(Entry(kind, entry_id, key, role))


_FOLDS: dict[type, Callable[[Session, Any, bool], list[Change]]] = {
    model.MessageChunk: Session._chunk,
    model.MessageUpsert: Session._message,
    model.ToolCallUpsert: Session._tool_call,
    model.ToolCallContentChunk: Session._tool_call_chunk,
    model.PlanUpdate: Session._plan,
    model.CommandsUpdate: Session._commands,
    model.ModeUpdate: Session._mode,
    model.ConfigOptionsUpdate: Session._config,
    model.SessionInfoUpdate: Session._info,
    model.UsageUpdate: Session._usage,
    model.Notice: Session._notice,
    model.CompactionUpdate: Session._compaction,
    model.CompactionSummaryChunk: Session._compaction_chunk,
    model.TerminalUpdate: Session._terminal,
    model.TerminalOutput: Session._terminal_output,
    model.TurnStarted: Session._turn_started,
    model.TurnEnded: Session._turn_ended,
}
"""How each event is folded; an ``UnknownUpdate`` is not."""
