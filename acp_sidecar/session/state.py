"""What a conversation is: events go in, changes come out.

Pure: no clock, no disk, no editor. The same events always give the same state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from attrs import evolve

from acp_sidecar.acp import model
from acp_sidecar.acp.elicitation import Action, Elicitation
from acp_sidecar.acp.model import UNSET, ContentBlock, Event, Json, JsonObject, TerminalContent
from acp_sidecar.acp.terminal_meta import terminal_events
from acp_sidecar.session import change
from acp_sidecar.session.announcements import Announcements
from acp_sidecar.session.calls import Calls
from acp_sidecar.session.change import Change
from acp_sidecar.session.info import SessionInfo
from acp_sidecar.session.message import Message
from acp_sidecar.session.messages import Messages
from acp_sidecar.session.question import Elicited, Permission
from acp_sidecar.session.questions import Questions
from acp_sidecar.session.records import Compaction, NoticeEntry, Plan
from acp_sidecar.session.terminals import LIMIT, Terminal, Terminals
from acp_sidecar.session.timeline import Entry, Record, Timeline
from acp_sidecar.session.title import Title
from acp_sidecar.session.toolcall import ToolCall
from acp_sidecar.session.turns import End, Turns


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
        self.background: tuple[model.BackgroundWork, ...] | None = None
        """What goes on beside the conversation; None where the agent does not say."""
        self.turn = 0
        """The number of the latest turn, from 1; 0 before the first."""
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
        # Others read these two, and change nothing in them:
        self.info = SessionInfo()
        self.turns = Turns(lambda: self._questions.waiting)
        self._timeline = Timeline()
        self._messages = Messages(self._timeline)
        self._calls = Calls(self._timeline)
        self._announcements = Announcements(self._timeline)
        self._questions = Questions(self._timeline)
        self._terminals = Terminals(terminal_limit)
        self._heard_in: set[int] = set()
        self._title = Title()
        self._told_title: str | None = None

    # --- looking ------------------------------------------------------------------

    @property
    def status(self) -> str:
        """``idle``, ``running``, ``requires_action``, ``closed`` or ``dead``."""
        return self.turns.status

    @property
    def at_work(self) -> bool:
        """Whether the agent is in a turn, or waits for the user."""
        return self.status in ("running", "requires_action")

    @property
    def title(self) -> str | None:
        """What it is called; None as long as there is nothing to call it by."""
        return self._title.now(self.info.title)

    def was_called(self, title: str | None) -> None:
        """It is opened again, and was called so when it was open last."""
        self._title.earlier = title

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
        if self.turns.ended is None:
            return []
        return self._calls.close("failed" if self.turns.ended == "dead" else "cancelled")

    def opened(self, opened: model.SessionOpened) -> list[Change]:
        """The agent answered the request that opens a session."""
        self.agent_session_id = opened.agent_session_id
        changes = self.info.opened(opened)
        if opened.settled and not self.turns.in_turn:
            changes += self._calls.close("failed")
        return [*changes, *self._titled()]

    def mode_set(self, mode_id: str) -> list[Change]:
        """The agent took a mode that was asked for."""
        return self.apply(model.ModeUpdate(mode_id))

    def begin_turn(self, user_blocks: Iterable[ContentBlock]) -> tuple[int, list[Change]]:
        """A prompt goes out. Returns the number of the turn it begins, and the changes."""
        changes = self._messages.settle(self.turn)
        if not self.turns.in_turn:
            # Calls that came after the end of their turn: nothing else will close them.
            changes += self._calls.close("failed", lasting=False)
        self.turn += 1
        self.turns.prompted()
        changes.append(self._messages.prompt(user_blocks, self.turn))
        return self.turn, [*self._called(changes), *self.turns.moved()]

    def prompt_accepted(self, message_id: str) -> None:
        """The agent took the oldest prompt that it had not taken yet, as this message."""
        self._messages.accepted(message_id)

    def cancel_turn(self) -> list[Change]:
        """The user cancelled: what is unfinished is shown as cancelled at once."""
        self.turns.cancel()
        return [*self._close_all("cancelled"), *self.turns.moved()]

    def close(self) -> list[Change]:
        """The session was closed in good order."""
        return self._end("closed", "cancelled")

    def died(self, reason: str) -> list[Change]:
        """The agent is gone; ``reason`` is for people."""
        if not self.turns.ended:
            self.turns.end_reason = reason
        return self._end("dead", "failed")

    def revived(self) -> list[Change]:
        """A session whose agent was gone goes on with another process of it."""
        self.turns.revive()
        return self.turns.moved()

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
        asked = self._questions.ask(request_id, request, headline, message, self.turn)
        changes += self._close_after_the_end()
        return [*changes, asked, *self.turns.moved()]

    def permission_closed(
        self, request_id: str, state: str, option_id: str | None = None
    ) -> list[Change]:
        """A request was ``answered`` or ``cancelled``. What is closed stays as it is."""
        changes = self._questions.close(request_id, state, option_id)
        return [*changes, *self.turns.moved()]

    def elicitation_asked(self, request_id: str, asked: Elicitation) -> list[Change]:
        """The agent wants to know something of the user. ``request_id`` is ours."""
        changes = self._heard()
        changes.append(self._questions.elicit(request_id, asked, self.turn))
        return [*changes, *self.turns.moved()]

    def elicitation_closed(self, request_id: str, action: Action) -> list[Change]:
        """It was answered: accepted, declined or cancelled."""
        changes = self._questions.close_elicitation(request_id, action)
        return [*changes, *self.turns.moved()]

    def elicitation_completed(self, request_id: str) -> list[Change]:
        """What the user was sent to a page for is done, the agent says."""
        return self._questions.complete(request_id)

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

    def _heard(self) -> list[Change]:
        """The agent did something: it has spoken, and a held-back echo was none."""
        self._heard_in.add(self.turn)
        return self._messages.settle(self.turn)

    def _close_all(self, calls: str) -> list[Change]:
        changes = self._messages.settle(self.turn)
        cancelled = self._questions.cancel()
        if cancelled:
            changes += [*cancelled, *self.turns.moved()]
        return changes + self._calls.close(calls)

    def _end(self, how: End, calls: str) -> list[Change]:
        if self.turns.ended:
            return []
        changes = self._close_all(calls)
        self.turns.end(how)
        return [*changes, *self.turns.moved()]

    def _turn_started(self, event: model.TurnStarted, replay: bool) -> list[Change]:
        self.turns.began()
        return [*self._in_background(event.background), *self.turns.moved()]

    def _action_required(self, event: model.ActionRequired, replay: bool) -> list[Change]:
        self.turns.began(needs_action=True)
        return [*self._in_background(event.background), *self.turns.moved()]

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
        self.turns.stopped(event)
        if not self.turns.in_turn and not event.idle:
            cancelled = self.turns.cancelled or event.stop_reason == "cancelled"
            changes += self._calls.close(
                "cancelled" if cancelled else "failed", lasting=self.turns.cancelled
            )
        return [*changes, self.turns.told()]

    # --- the conversation ----------------------------------------------------------------

    def _chunk(self, event: model.MessageChunk, replay: bool) -> list[Change]:
        if event.role != "user":
            self._heard_in.add(self.turn)
            return self._messages.chunk(event, self.turn, replay=replay)
        if replay and not _is_of_user(self._timeline.newest):
            self.turn += 1
        return self._called(self._messages.chunk(event, self.turn, replay=replay))

    def _message(self, event: model.MessageUpsert, replay: bool) -> list[Change]:
        if event.role != "user":
            self._heard_in.add(self.turn)
        elif replay and not self._messages.knows(event.role, event.message_id):
            self.turn += not _is_of_user(self._timeline.newest)
        return self._called(self._messages.upsert(event, self.turn))

    def _called(self, changes: list[Change]) -> list[Change]:
        """The same changes, and that of the title where the user's words give another."""
        for item in changes:
            if isinstance(item, change.MessageChanged) and item.message.role == "user":
                self._title.hear(item.message)
        return [*changes, *self._titled()]

    def _titled(self) -> list[Change]:
        """The title, where it is another than was told last."""
        title = self.title
        if title == self._told_title:
            return []
        self._told_title = title
        return [change.InfoChanged(title, self.info.updated_at)]

    def _session_info(self, event: model.SessionInfoUpdate, replay: bool) -> list[Change]:
        self.info.session_info(event)
        self._told_title = self.title
        return [change.InfoChanged(self._told_title, self.info.updated_at)]

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
        return [*self._heard(), self._announcements.plan(event)]

    def _notice(self, event: model.Notice, replay: bool) -> list[Change]:
        return [*self._heard(), self._announcements.notice(event)]

    def _compaction(self, event: model.CompactionUpdate, replay: bool) -> list[Change]:
        return [self._announcements.compaction(event)]

    def _compaction_chunk(self, event: model.CompactionSummaryChunk, replay: bool) -> list[Change]:
        return [self._announcements.summary_chunk(event)]

    def _terminal(
        self,
        event: model.TerminalUpdate | model.TerminalOutput | model.TerminalBytes,
        replay: bool,
    ) -> list[Change]:
        terminal = self._terminals.told(event)
        return [] if terminal is None else [change.TerminalChanged(terminal)]


def _is_of_user(record: Record | None) -> bool:
    return isinstance(record, Message) and record.role == "user"


def _of_info(
    fold: Callable[[SessionInfo, Any], Change],
) -> Callable[[Session, Any, bool], list[Change]]:
    return lambda session, event, replay: [fold(session.info, event)]


_FOLDS: dict[type, Callable[[Session, Any, bool], list[Change]]] = {
    model.MessageChunk: Session._chunk,
    model.MessageUpsert: Session._message,
    model.ToolCallUpsert: Session._tool_call,
    model.ToolCallContentChunk: Session._tool_call_chunk,
    model.PlanUpdate: Session._plan,
    model.CommandsUpdate: _of_info(SessionInfo.command_list),
    model.ModeUpdate: _of_info(SessionInfo.mode),
    model.ConfigOptionsUpdate: _of_info(SessionInfo.config),
    model.SessionInfoUpdate: Session._session_info,
    model.UsageUpdate: _of_info(SessionInfo.use),
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
