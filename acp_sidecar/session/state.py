"""What a conversation is: events go in, changes come out.

Pure: no clock, no disk, no editor. The same events always give the same state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

from attrs import evolve

from acp_sidecar.acp import model
from acp_sidecar.acp.elicitation import Action, Elicitation
from acp_sidecar.acp.encoding import encode
from acp_sidecar.acp.model import UNSET, ContentBlock, Event, Json, JsonObject, TerminalContent
from acp_sidecar.acp.terminal_meta import terminal_events
from acp_sidecar.session import change
from acp_sidecar.session.calls import Calls
from acp_sidecar.session.change import Change
from acp_sidecar.session.message import Message
from acp_sidecar.session.messages import Messages
from acp_sidecar.session.meta import patched_meta
from acp_sidecar.session.question import Elicited, Permission
from acp_sidecar.session.records import Compaction, NoticeEntry, Plan
from acp_sidecar.session.terminals import IN_STATE, LIMIT, Terminal, Terminals
from acp_sidecar.session.timeline import Entry, Record, Timeline
from acp_sidecar.session.toolcall import ToolCall


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
        terminal_limit: int = LIMIT,
    ) -> None:
        """``terminal_limit``: bytes kept of the output of each terminal."""
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
        self.stop_error: model.JsonObject | None = None
        """The JSON-RPC error that ended the last turn, where the agent told of one."""
        self.background: tuple[model.BackgroundWork, ...] | None = None
        """What goes on beside the conversation; None where the agent does not say."""
        self.end_reason: str | None = None
        """Why the agent is gone, for people."""
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
        self._timeline = Timeline()
        self._messages = Messages(self._timeline)
        self._calls = Calls(self._timeline)
        self._terminals = Terminals(terminal_limit)
        self._waiting: dict[str, Permission] = {}
        self._eliciting: dict[str, Elicited] = {}
        self._prompts = 0
        self._turn_cancelled = False
        self._needs_action = False
        self._heard_in: set[int] = set()
        self._ended: Literal["closed", "dead"] | None = None
        self._told = "idle"

    # --- looking ------------------------------------------------------------------

    @property
    def status(self) -> str:
        """``idle``, ``running``, ``requires_action``, ``closed`` or ``dead``."""
        if self._ended:
            return self._ended
        if self._waiting or self._eliciting or self._needs_action:
            return "requires_action"
        return "running" if self._prompts else "idle"

    @property
    def at_work(self) -> bool:
        """Whether the agent is in a turn, or waits for the user."""
        return self.status in ("running", "requires_action")

    @property
    def entries(self) -> Sequence[Entry]:
        """The transcript's entries in order of first sight."""
        return self._timeline.entries

    def entry(self, key: str) -> Entry | None:
        """The place of the transcript with this key."""
        return self._timeline.entry(key)

    def record(self, entry: Entry) -> Record:
        """What stands at a place of the transcript."""
        return self._timeline.at(entry)

    @property
    def messages(self) -> list[Message]:
        return self._timeline.all(Message)

    @property
    def tool_calls(self) -> list[ToolCall]:
        """The calls of which there is something to show."""
        return self._timeline.all(ToolCall)

    @property
    def plans(self) -> list[Plan]:
        return self._timeline.all(Plan)

    @property
    def permissions(self) -> list[Permission]:
        return self._timeline.all(Permission)

    @property
    def elicitations(self) -> list[Elicited]:
        return self._timeline.all(Elicited)

    @property
    def notices(self) -> list[NoticeEntry]:
        return self._timeline.all(NoticeEntry)

    @property
    def compactions(self) -> list[Compaction]:
        return self._timeline.all(Compaction)

    @property
    def terminals(self) -> list[Terminal]:
        return self._terminals.all()

    def terminal(self, terminal_id: str) -> Terminal | None:
        """The terminal of this id, ours or one the agent tells of."""
        return self._terminals.get(terminal_id)

    def tool_call(self, tool_call_id: str) -> ToolCall | None:
        """The latest call with this id, also where nothing is shown of it yet."""
        return self._calls.get(tool_call_id)

    def asked_about(self, tool_call_id: str) -> ToolCall | None:
        """The call that a permission request means by an id, if it was heard of before."""
        return self._calls.asked_about(tool_call_id, self.turn)

    def said_anything(self, turn: int) -> bool:
        """Whether the agent said or did anything in a turn."""
        return turn in self._heard_in

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
            "stopError": self.stop_error,
            "endReason": self.end_reason,
            "turn": self.turn,
            "order": _all_json(self.entries),
            "messages": _all_json(self.messages),
            "toolCalls": _all_json(self.tool_calls),
            "plans": _all_json(self.plans),
            "modes": encode(self.modes),
            "configOptions": encode(self.config_options),
            "commands": encode(self.commands),
            "usage": self.usage and {"cost": None, **encode(self.usage)},
            "terminals": [each.to_json(IN_STATE) for each in self.terminals],
            "background": encode(self.background),
            "permissions": _all_json(self.permissions),
            "elicitations": _all_json(self.elicitations),
            "notices": _all_json(self.notices),
            "compactions": _all_json(self.compactions),
            "changes": self.changes,
            "follow": self.follow,
            "queue": self.queue,
            "_meta": self.meta,
        }

    # --- what happens ----------------------------------------------------------------

    def apply(self, event: Event, *, replay: bool = False) -> list[Change]:
        """Fold one event. ``replay``: it is history, told by an agent that loads a session.

        Changes come in the order in which they should be shown.
        """
        fold = _FOLDS.get(event.__class__)
        changes = fold(self, event, replay) if fold is not None else []
        return [*changes, *self._close_after_the_end()]

    def _close_after_the_end(self) -> list[Change]:
        """What an agent still says of a session that has ended leaves no call open."""
        if self._ended is None:
            return []
        return self._calls.close("failed" if self._ended == "dead" else "cancelled")

    def opened(self, opened: model.SessionOpened) -> list[Change]:
        """The agent answered the request that opens a session.

        What the answer does not mention stays: a load may have told it before.
        """
        self.agent_session_id = opened.agent_session_id
        changes: list[Change] = []
        if opened.modes is not None:
            self.modes = opened.modes
            changes.append(change.ModesChanged(opened.modes))
        if opened.config_options:
            self.config_options = opened.config_options
            changes.append(change.ConfigChanged(opened.config_options))
        if opened.commands:
            self.commands = opened.commands
            changes.append(change.CommandsChanged(opened.commands))
        if opened.meta:
            self.meta = {**(self.meta or {}), **opened.meta}
        if opened.settled and not self._prompts:
            changes += self._calls.close("failed")
        return changes

    def mode_set(self, mode_id: str) -> list[Change]:
        """The agent took a mode that was asked for."""
        return self.apply(model.ModeUpdate(mode_id))

    def begin_turn(self, user_blocks: Iterable[ContentBlock]) -> tuple[int, list[Change]]:
        """A prompt goes out. Returns the number of the turn it begins, and the changes."""
        changes = self._messages.settle(self.turn)
        if not self._prompts:
            # Calls that came after the end of their turn: nothing else will close them.
            changes += self._calls.close("failed", lasting=False)
        self.turn += 1
        self._prompts += 1
        self._turn_cancelled = False
        self.stop_reason = self.stop_error = None
        changes.append(self._messages.prompt(user_blocks, self.turn))
        return self.turn, [*changes, *self._moved()]

    def prompt_accepted(self, message_id: str) -> None:
        """The agent took the oldest prompt that it had not taken yet, as this message."""
        self._messages.accepted(message_id)

    def cancel_turn(self) -> list[Change]:
        """The user cancelled: what is unfinished is shown as cancelled at once."""
        self._turn_cancelled = True
        self._needs_action = False
        return [*self._close_all("cancelled"), *self._moved()]

    def close(self) -> list[Change]:
        """The session was closed in good order."""
        return self._end("closed", "cancelled")

    def died(self, reason: str) -> list[Change]:
        """The agent is gone; ``reason`` is for people."""
        if not self._ended:
            self.end_reason = reason
        return self._end("dead", "failed")

    def revived(self) -> list[Change]:
        """A session whose agent was gone goes on with another process of it."""
        if self._ended == "dead":
            self._ended = self.end_reason = None
        return self._moved()

    def permission_asked(
        self, request_id: str, request: model.PermissionRequest, headline: str, message: str
    ) -> list[Change]:
        """The agent asks. ``request_id`` is ours, ``message`` what the user is shown, and
        ``headline`` that in a line.

        The tool call of the request is laid over the stored one; for some agents it is the
        only sign of a call.
        """
        changes = self._heard()
        tool_call = request.tool_call
        if tool_call is not None and tool_call.tool_call_id:
            fold = self._calls.upsert if request.exact else self._calls.asked
            changes += fold(tool_call, self.turn)
            self._show_terminals(tool_call.tool_call_id, model.given(tool_call.content, ()))
        key = f"permission:{request_id}"
        permission = Permission(request_id, request, headline, message, self.turn, key)
        self._waiting[request_id] = permission
        self._timeline.add("permission", request_id, permission)
        changes += self._close_after_the_end()
        return [*changes, change.PermissionChanged(permission), *self._moved()]

    def permission_closed(
        self, request_id: str, state: str, option_id: str | None = None
    ) -> list[Change]:
        """A request was ``answered`` or ``cancelled``. What is closed stays as it is."""
        permission = self._waiting.pop(request_id, None)
        if permission is None:
            return []
        permission.state = "answered" if state == "answered" else "cancelled"
        permission.option_id = option_id
        return [change.PermissionChanged(permission), *self._moved()]

    def elicitation_asked(self, request_id: str, asked: Elicitation) -> list[Change]:
        """The agent wants to know something of the user. ``request_id`` is ours."""
        changes = self._heard()
        elicited = Elicited(request_id, asked, self.turn, f"elicitation:{request_id}")
        self._eliciting[request_id] = elicited
        self._timeline.add("elicitation", request_id, elicited)
        return [*changes, change.ElicitationChanged(elicited), *self._moved()]

    def elicitation_closed(self, request_id: str, action: Action) -> list[Change]:
        """It was answered: accepted, declined or cancelled."""
        elicited = self._eliciting.pop(request_id, None)
        if elicited is None:
            return []
        elicited.state = "cancelled" if action == "cancel" else "answered"
        elicited.action = action
        return [change.ElicitationChanged(elicited), *self._moved()]

    def elicitation_completed(self, request_id: str) -> list[Change]:
        """What the user was sent to a page for is done, the agent says."""
        found = [each for each in self.elicitations if each.request_id == request_id]
        for elicited in found:
            elicited.completed = True
        return [change.ElicitationChanged(elicited) for elicited in found]

    # --- terminals of ours --------------------------------------------------------------

    def terminal_began(
        self,
        terminal_id: str,
        command: str,
        cwd: str,
        limit: int | None = None,
        fallback: str | None = None,
    ) -> list[Change]:
        """A command of the agent's begins to run here; see :meth:`Terminals.begin`."""
        terminal = self._terminals.begin(terminal_id, command, cwd, limit, fallback)
        return [*self._heard(), change.TerminalChanged(terminal)]

    def terminal_wrote(self, terminal_id: str, data: bytes) -> list[Change]:
        """The command in a terminal of ours has written this."""
        terminal = self._terminals.get(terminal_id)
        if terminal is None:
            return []
        self._terminals.wrote(terminal, data)
        return [change.TerminalChanged(terminal)]

    def terminal_ended(self, terminal_id: str, exit_status: JsonObject) -> list[Change]:
        """The command in a terminal of ours has ended: ``{exitCode, signal}``."""
        terminal = self._terminals.get(terminal_id)
        if terminal is None:
            return []
        terminal.exit_status = exit_status
        return [change.TerminalChanged(terminal)]

    # --- status and ends -----------------------------------------------------------------

    def _moved(self) -> list[Change]:
        status = self.status
        if status == self._told:
            return []
        self._told = status
        return [change.StatusChanged(status, self.stop_reason)]

    def _heard(self) -> list[Change]:
        """The agent did something: it has spoken, and a held-back echo was none."""
        self._heard_in.add(self.turn)
        return self._messages.settle(self.turn)

    def _close_all(self, calls: str) -> list[Change]:
        changes = self._messages.settle(self.turn)
        for request_id in list(self._waiting):
            changes += self.permission_closed(request_id, "cancelled")
        for request_id in list(self._eliciting):
            changes += self.elicitation_closed(request_id, "cancel")
        return changes + self._calls.close(calls)

    def _end(self, how: Literal["closed", "dead"], calls: str) -> list[Change]:
        if self._ended:
            return []
        changes = self._close_all(calls)
        self._ended, self._prompts, self._needs_action = how, 0, False
        return [*changes, *self._moved()]

    def _turn_started(self, event: model.TurnStarted, replay: bool) -> list[Change]:
        self._begin_work()
        return [*self._in_background(event.background), *self._moved()]

    def _begin_work(self) -> None:
        if not self._prompts:
            self._prompts, self.stop_reason, self.stop_error = 1, None, None
        self._needs_action = False

    def _action_required(self, event: model.ActionRequired, replay: bool) -> list[Change]:
        self._begin_work()
        self._needs_action = True
        return [*self._in_background(event.background), *self._moved()]

    def _in_background(self, work: tuple[model.BackgroundWork, ...] | None) -> list[Change]:
        self.background = work
        if work is None:
            return []
        calls = (each for each in work if isinstance(each, model.BackgroundToolCall))
        return self._calls.in_background(frozenset(each.tool_call_id for each in calls))

    def _turn_ended(self, event: model.TurnEnded, replay: bool) -> list[Change]:
        changes = self._messages.settle(self.turn)
        if event.idle:
            changes += self._in_background(event.background)
        self._needs_action = False
        self.stop_reason, self.stop_error = event.stop_reason, event.error
        self._prompts = 0 if event.idle else max(0, self._prompts - 1)
        if not self._prompts and not event.idle:
            cancelled = self._turn_cancelled or event.stop_reason == "cancelled"
            changes += self._calls.close(
                "cancelled" if cancelled else "failed", lasting=self._turn_cancelled
            )
        self._told = self.status
        return [*changes, change.StatusChanged(self.status, self.stop_reason)]

    # --- the conversation ----------------------------------------------------------------

    def _chunk(self, event: model.MessageChunk, replay: bool) -> list[Change]:
        if event.role != "user":
            self._heard_in.add(self.turn)
        elif replay and not _is_of_user(self._timeline.newest):
            self.turn += 1
        return self._messages.chunk(event, self.turn, replay=replay)

    def _message(self, event: model.MessageUpsert, replay: bool) -> list[Change]:
        if event.role != "user":
            self._heard_in.add(self.turn)
        elif replay and not self._messages.knows(event.role, event.message_id):
            self.turn += not _is_of_user(self._timeline.newest)
        return self._messages.upsert(event, self.turn)

    def _tool_call(self, event: model.ToolCallUpsert, replay: bool) -> list[Change]:
        meta = model.given(event.meta, None)
        told = terminal_events(meta) if meta else ()
        if told and meta:
            # It is in the terminal: a copy in the call would be sent with every update.
            kept = {key: item for key, item in meta.items() if key != "terminal_output"}
            event = evolve(event, meta=kept or UNSET)
        changes = self._heard() + self._calls.upsert(event, self.turn)
        content = model.given(event.content, ())
        if content:
            self._show_terminals(event.tool_call_id, content)
        for each in told:
            changes += self._terminal(each, replay)
        return changes

    def _tool_call_chunk(self, event: model.ToolCallContentChunk, replay: bool) -> list[Change]:
        changes = self._heard() + self._calls.chunk(event, self.turn)
        self._show_terminals(event.tool_call_id, [event.content])
        return changes

    def _show_terminals(self, tool_call_id: str, content: Iterable[model.ToolCallContent]) -> None:
        call = self._calls.get(tool_call_id)
        for item in content:
            if call is not None and isinstance(item, TerminalContent):
                self._terminals.show_in(item.terminal_id, call.key)

    def _plan(self, event: model.PlanUpdate, replay: bool) -> list[Change]:
        changes = self._heard()
        key = f"plan:{event.plan_id}"
        plan = self._timeline.get(key, Plan)
        if plan is None:
            plan = Plan(event.plan_id, key)
            self._timeline.add("plan", event.plan_id, plan)
        plan.patch(event)
        return [*changes, change.PlanChanged(plan)]

    def _notice(self, event: model.Notice, replay: bool) -> list[Change]:
        changes = self._heard()
        notice_id = f"notice-{self._timeline.count('notice')}"
        notice = NoticeEntry(notice_id, f"notice:{notice_id}", event)
        self._timeline.add("notice", notice_id, notice)
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
        compaction = self._timeline.get(key, Compaction)
        if compaction is None:
            compaction = Compaction(compaction_id, key)
            self._timeline.add("compaction", compaction_id, compaction)
        return compaction

    # --- what stands beside the conversation ------------------------------------------------

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
            self.meta = patched_meta(self.meta, event.meta)
        return [change.InfoChanged(self.title, self.updated_at)]

    def _usage(self, event: model.UsageUpdate, replay: bool) -> list[Change]:
        known = self.usage.cost if self.usage is not None else None
        usage = evolve(event, cost=known) if event.cost is UNSET else event
        self.usage = usage
        return [change.UsageChanged(usage)]

    def _terminal(
        self,
        event: model.TerminalUpdate | model.TerminalOutput | model.TerminalBytes,
        replay: bool,
    ) -> list[Change]:
        terminal = self._terminals.told(event)
        return [] if terminal is None else [change.TerminalChanged(terminal)]


def _all_json(items: Iterable[Any]) -> list[dict[str, Any]]:
    return [item.to_json() for item in items]


def _is_of_user(record: Record | None) -> bool:
    return isinstance(record, Message) and record.role == "user"


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
    model.TerminalOutput: Session._terminal,
    model.TerminalBytes: Session._terminal,
    model.TurnStarted: Session._turn_started,
    model.ActionRequired: Session._action_required,
    model.TurnEnded: Session._turn_ended,
}
"""How each event is folded; an ``UnknownUpdate`` changes nothing."""
