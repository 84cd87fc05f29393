"""One session while it is open: its state joined with its agent, its roots and its files."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from weakref import WeakValueDictionary

from acp_sidecar.acp import wire
from acp_sidecar.acp.model import (
    ActionRequired,
    CompactionSummaryChunk,
    CompactionUpdate,
    ConfigOptionsUpdate,
    ContentBlock,
    Event,
    MessageChunk,
    MessageUpsert,
    ModeUpdate,
    Notice,
    PermissionRequest,
    PlanUpdate,
    TerminalBytes,
    TerminalOutput,
    TerminalUpdate,
    ToolCallContentChunk,
    ToolCallUpsert,
    TurnEnded,
    TurnStarted,
)
from acp_sidecar.agents.connection import IncomingRequest
from acp_sidecar.client import news, saving
from acp_sidecar.client.agents import Agent
from acp_sidecar.client.bookkeeping import Bookkeeping
from acp_sidecar.client.cutoff import NOTHING_LEFT, CutOff, Left, Unsent, in_words, shows
from acp_sidecar.client.jobs import Jobs
from acp_sidecar.client.peculiar import meant
from acp_sidecar.client.permissions import Permissions
from acp_sidecar.client.proposals import Proposals
from acp_sidecar.client.question import Question
from acp_sidecar.client.settings_news import SettingsNews
from acp_sidecar.client.summary import Sight
from acp_sidecar.client.terminals import Terminals
from acp_sidecar.client.turns import Prompt, Turns
from acp_sidecar.client.visible import visible
from acp_sidecar.session.change import Change, InfoChanged, ToolCallChanged
from acp_sidecar.session.state import Session
from acp_sidecar.tasks import Spawn, Tasks
from acp_sidecar.workspace.files import Files, WriteOutcome
from acp_sidecar.workspace.ledger import Ledger
from acp_sidecar.workspace.proposal import Proposal
from acp_sidecar.workspace.roots import PathRefused, Roots
from acp_sidecar.workspace.seen import Seen

if TYPE_CHECKING:
    from acp_sidecar.acp.elicitation import Action, Elicitation
    from acp_sidecar.client.elicitation import Elicitations
    from acp_sidecar.client.login import Logins
    from acp_sidecar.client.ports import Editor
    from acp_sidecar.settings import Settings

OpenedWith: TypeAlias = tuple[Sequence[str], Sequence[Mapping[str, Any]]]
"""The additional directories and the MCP servers of a session."""
_TITLE_SECONDS: Final = 1.0
_LATE_WORDS_SECONDS: Final = 1.0
"""Some agents answer the prompt first and say what they have to say just after."""
_LABEL: Final = 80
"""Characters of a prompt that name its checkpoint."""
_HISTORY: Final = (
    MessageChunk,
    MessageUpsert,
    ToolCallUpsert,
    ToolCallContentChunk,
    PlanUpdate,
    Notice,
    CompactionUpdate,
    CompactionSummaryChunk,
    TerminalUpdate,
    TerminalOutput,
    TerminalBytes,
)
"""What an event tells that belongs to the conversation, and not beside it."""


class LiveSession:
    """One conversation while it is open."""

    def __init__(
        self,
        state: Session,
        agent: Agent,
        roots: Roots,
        files: Files,
        ledger: Ledger | None,
        editor: Editor,
        permissions: Permissions,
        elicitations: Elicitations,
        logins: Logins,
        settings: Settings,
        spawn: Spawn,
        jobs: Jobs,
        opened_with: OpenedWith = ((), ()),
        used: Callable[[LiveSession], None] = lambda session: None,
        moved: Callable[[LiveSession], None] = lambda session: None,
    ) -> None:
        """``used`` is called when the session has been used and may have another title,
        ``moved`` when what runs or waits in it is another."""
        self.state = state
        self.agent = agent
        self.roots = roots
        self.files = files
        self.ledger = ledger
        self.editor = editor
        self.settings = settings
        self.seen = Seen()
        self.settings_news = SettingsNews()
        self._saving_offered_in: int | None = None
        self._choices: set[asyncio.Future[str | None]] = set()
        """Questions of our own that wait for the user."""
        self._in_order: WeakValueDictionary[Path, asyncio.Lock] = WeakValueDictionary()
        self._proposing: WeakValueDictionary[Path, asyncio.Lock] = WeakValueDictionary()
        self.tasks = Tasks(spawn)
        self.answers = Tasks(spawn)
        self.turns = Turns(self)
        self.ended = False
        self.loading = False
        """Between a load or resume request and its answer: only the state moves."""
        self.quiet = False
        """Until the first prompt of a loaded session: some agents send the history late."""
        self.untouched = False
        """Whether it is known that no prompt has ever gone into it."""
        self.instead_of: str | None = None
        """The agent's id of the untouched session it was opened in the place of."""
        self._held: list[Change] = []
        self.told_again = False
        """While an agent tells a history that is known here."""
        self.heard = 0
        """How much the agent has said so far, in events."""
        self.opened_with = opened_with
        self._used = used
        self._moved = moved
        self.left = NOTHING_LEFT
        """What was left of it when its editor went away, to be handed out."""
        self._title_due = False
        self.reviving = asyncio.Lock()
        self.proposals = Proposals()
        self.terminals = Terminals(self, jobs)
        self._permissions = permissions
        self._elicitations = elicitations
        self._logins = logins
        self._books = (
            None
            if ledger is None
            else Bookkeeping(self, files, ledger, survey=settings.review_unannounced)
        )
        self._untold: list[str] = []
        """What there is to tell the agent, and was not at the last prompt."""

    @property
    def agent_name(self) -> str:
        return self.agent.name

    @property
    def reviews_before(self) -> bool:
        return self.settings.review_mode == "before"

    def queue(self) -> list[dict[str, str]]:
        """The prompts that wait, as the contract gives them."""
        return self.turns.as_json()

    # --- what the agent says --------------------------------------------------------

    def happened(self, sent: Event) -> None:
        """Fold an event of the agent's, in order of arrival."""
        self.heard += 1
        event = meant(sent, self.agent.info.name, self.state.beside.modes)
        if event is None:
            return
        if self.told_again and isinstance(event, _HISTORY):
            return
        if isinstance(event, TurnStarted | ActionRequired | TurnEnded):
            self.publish(self.state.apply(event))
            self.turns.agent_is(event)
            return
        before = (self.state.beside.modes, self.state.beside.config_options)
        self.publish(self.state.apply(event, replay=self.quiet))
        if isinstance(event, ModeUpdate | ConfigOptionsUpdate) and not self.quiet:
            for said in self.settings_news.of(before, self.state.beside):
                self.editor.tell("info", f"{visible(self.agent_name)} {said}")

    def publish(self, changes: Sequence[Change]) -> None:
        """Tell the editor, and note the files the changes speak of."""
        if not self.quiet:
            for change in changes:
                if isinstance(change, ToolCallChanged) and self._books is not None:
                    self._books.note(change)
        if not self._title_due and any(isinstance(change, InfoChanged) for change in changes):
            self._title_due = True
            self.tasks.start(self._note_title(), name="note of a title")
        if self.loading and not self.heard:
            # The agent may not have it: the editor would be left with one that never was.
            self._held += changes
            return
        changes, self._held = (*self._held, *changes), []
        if changes:
            self.editor.changed(self, changes, replay=self.quiet)

    async def _note_title(self) -> None:
        """Have the title remembered, once for however many come at a time."""
        await asyncio.sleep(_TITLE_SECONDS)
        self._title_due = False
        self._used(self)

    def permission_asked(self, question: Question, request: PermissionRequest) -> None:
        """Fold a permission request into the state."""
        self.publish(
            self.state.permission_asked(
                question.request_id, request, question.headline, question.message
            )
        )

    def permission_closed(self, request_id: str, state: str, option_id: str | None) -> None:
        """Fold how a permission request ended."""
        self.publish(self.state.permission_closed(request_id, state, option_id))

    def elicitation_asked(self, request_id: str, asked: Elicitation) -> None:
        """Fold what the agent wants to know into the state."""
        self.publish(self.state.elicitation_asked(request_id, asked))

    def elicitation_closed(self, request_id: str, action: Action) -> None:
        """Fold how that ended."""
        self.publish(self.state.elicitation_closed(request_id, action))

    def elicitation_completed(self, request_id: str) -> None:
        """Fold that the agent is done with a page."""
        self.publish(self.state.elicitation_completed(request_id))

    @property
    def takes_questions(self) -> bool:
        """Whether a question may be put to the user: not for what was cancelled or replayed."""
        running = self.turns.running
        return not self.ended and not self.loading and not (running and running.cancelled)

    @property
    def takes_writes(self) -> bool:
        """Whether the agent may write: not after the user's cancel, until the next prompt."""
        running = self.turns.running
        if self.ended or self.loading:
            return False
        return not (running.cancelled if running else self.turns.last_was_cancelled)

    @property
    def logins(self) -> int:
        """How many logins to the session's agent there have been."""
        return self._logins.times(self.agent)

    async def log_in(self, said: str, seen: int) -> bool:
        """The agent wants a login in the middle of the session; whether there was one.
        ``seen`` is what :attr:`logins` was when it was asked."""
        return await self._logins.offer(self.agent, said, seen=seen)

    async def consent(self, request: PermissionRequest) -> bool:
        """Whether the user lets us do for the agent what ``request`` says."""
        return await self._permissions.consent(request, self.agent, self)

    async def save_first(self, command: str) -> list[str]:
        """A command is about to run: offer to save what it would not see, once a turn, where
        the editor can save at all. The paths of what the user wanted saved and is not."""
        if not self.editor.can_save or self._saving_offered_in == self.state.turn:
            return []
        unsaved = [
            (self.roots.as_given(document.real), document.uri)
            for document in self.files.unsaved(self.roots)
            if document.real is not None
        ]
        if not unsaved or not self.takes_questions:
            return []
        self._saving_offered_in = self.state.turn
        request_id = f"save-{self.state.session_id}-{self.state.turn}"
        asked = saving.question(self, request_id, command, [path for path, _ in unsaved])
        answer: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()
        self._choices.add(answer)
        self.editor.choose(asked, lambda option: _settle(answer, option))
        try:
            chosen = await answer
        finally:
            self._choices.discard(answer)
            self.editor.withdraw(request_id)
        if chosen != saving.SAVE.option_id:
            return []
        return [path for path, uri in unsaved if not await self.editor.save(uri)]

    def cancel_questions(self) -> None:
        """Answer ``cancelled`` to every request of this session that waits for the user."""
        for answer in self._choices:
            _settle(answer, None)
        self.proposals.cancel()
        self._permissions.cancel(lambda agent, session: session is self)
        self._elicitations.cancel(lambda agent, session: session is self)

    def answer_with(self, work: Coroutine[Any, Any, object], request: IncomingRequest) -> None:
        """Answer a request of the agent's in a task of this session's."""
        task = self.answers.start(
            work,
            name=f"answer to {request.method}",
            failed=lambda error: _internal_error(request, error),
        )
        request.on_cancel(lambda: _cancel(task))
        task.add_done_callback(lambda done: _cancelled_answer(request, done))

    # --- files ------------------------------------------------------------------------

    def in_order(self, path: Path) -> asyncio.Lock:
        """Held while the agent reads or writes a file: one after the other, as they came."""
        return _lock(self._in_order, path)

    def proposing(self, path: Path) -> asyncio.Lock:
        """Held while a write of a file waits for the user, and the next one for that."""
        return _lock(self._proposing, path)

    def look(self, path: str) -> Sight:
        """What is at a path the agent named, for a question's text."""
        try:
            real = self.roots.resolve(path, relative_to=self.state.cwd, must="new")
        except PathRefused as refused:
            if refused.reason == "outside":
                there = os.path.lexists(os.path.join(self.state.cwd, path))  # noqa: PTH118
                return Sight(exists=there, inside=False)
            if refused.reason in ("directory", "special"):
                return Sight(exists=True, regular=False)
            unknown = refused.reason == "permission"
            return Sight(None if unknown else False, inside=refused.reason != "invalid")
        return Sight(exists=real.exists(), text=self.files.glance(real))

    def touch(self, path: str) -> Path | None:
        """Remember what a file says before the agent changes it, at its first mention. Its
        path, where it is reviewed."""
        return self._books.touch(path) if self._books is not None else None

    def wrote(self, path: Path, outcome: WriteOutcome) -> None:
        """The agent's write through us is in the file."""
        if self._books is not None:
            self._books.wrote(path, outcome)

    async def approved(self, path: Path, outcome: WriteOutcome) -> None:
        """What the user took of the agent's write is in the file."""
        if self._books is not None:
            await self._books.approved(path, outcome)

    async def take_back(self, proposal: Proposal) -> bool:
        """All of a write was decided. Where the agent has written it without waiting for
        that, make it as decided; whether that was so. Later it is looked at again."""
        return self._books is not None and await self._books.take_back(proposal)

    def command_began(self, terminal_id: str) -> None:
        """A command of the agent's begins to run here."""
        if self._books is not None:
            self._books.command_began(terminal_id)

    def command_ended(self, terminal_id: str) -> None:
        """That command has ended: look again at the files."""
        if self._books is not None:
            self._books.command_ended(terminal_id)

    async def look_again(self, path: Path) -> None:
        """Look at a file again, of which the user has just been seen to change something."""
        if self._books is not None:
            await self._books.look_again(path)

    def review_soon(self) -> None:
        """Look again at what waits for review, once, however often this is called."""
        if self._books is not None:
            self._books.review_soon()

    async def find_unannounced(self) -> None:
        """Look for files that have been changed without a word, where that is due."""
        if self._books is not None:
            await self._books.find_unannounced()

    # --- turns ------------------------------------------------------------------------

    @property
    def in_turn(self) -> bool:
        """Whether the agent is at work."""
        return self.turns.running is not None

    def look_ahead(self) -> None:
        """The session is open, and will soon be prompted."""
        if self._books is not None:
            self._books.look_ahead()

    async def look_at_folders(self) -> None:
        """A prompt is about to go out: see what is there before the agent is at work."""
        if self._books is not None:
            await self._books.look_at_folders()

    def prepare_turn(self, prompt: Prompt) -> tuple[ContentBlock, ...]:
        """A prompt goes out: what files say now is what the agent's changes start from.

        What the agent is to be told before the user's words.
        """
        self.quiet = False
        if self._books is None:
            return ()
        told = self._news_before(prompt)
        label = prompt.text.strip().partition("\n")[0][:_LABEL]
        self._books.begin_turn(time=time.time(), label=label)
        return told

    def _news_before(self, prompt: Prompt) -> tuple[ContentBlock, ...]:
        if self.ledger is None or not self.settings.report_reverts:
            return ()
        fresh = self.ledger.news_for_agent()
        if fresh:
            self._untold.append(news.in_words(fresh, self.roots.as_given))
        # Agents know a command by how the prompt begins: that is told the next time.
        if not self._untold or prompt.text.lstrip().startswith("/"):
            return ()
        said, self._untold = "\n\n".join(self._untold), []
        return (news.block(said, embedded=self.agent.info.prompt_embedded_context),)

    def turn_over(self, prompt: Prompt, ended: TurnEnded | None) -> None:
        """A turn ended: look at the files once more, and say so where nothing came back."""
        self._elicitations.cancel(lambda agent, session: session is self)
        self._used(self)
        self._moved(self)
        if self._books is not None:
            self._books.end_turn()
        if ended is None or prompt.cancelled or prompt.number is None:
            return
        if not self.state.said_anything(prompt.number):
            self.tasks.start(
                self._tell_of_silence(prompt.number, ended), name="watch for late words"
            )

    def queue_changed(self) -> None:
        """The prompts that wait are others now."""
        self.editor.queue_changed(self)
        self._moved(self)

    def turn_moved(self) -> None:
        """The prompt that runs has gone out, or is to be cancelled."""
        self._moved(self)

    def cut_off(self) -> CutOff:
        """What would be left if everything ended now."""
        running = self.turns.running
        waiting = tuple(Unsent(each.text, each.attached) for each in self.turns.waiting)
        if running is None or running.cancelled:
            return CutOff(waiting=waiting)
        prompt = Unsent(running.text, running.attached)
        before = [
            message
            for message in self.state.messages
            if message.role == "user" and message.turn != running.number
        ]
        alike = sum(shows(message, prompt) for message in before)
        return CutOff(prompt, running.number is not None, alike, waiting)

    def take_up(self, cut_off: CutOff) -> None:
        """The session was cut off and is open again, with as much history as it gets: see
        what of the user's has to be handed out, and tell so."""
        running, unsent = cut_off.running, cut_off.unsent
        if running is not None and cut_off.sent:
            said = [message for message in self.state.messages if message.role == "user"]
            count = sum(shows(message, running) for message in said)
            if count <= cut_off.alike or not shows(said[-1], running):
                unsent = (running, *unsent)
        self.left = Left(running is not None, unsent)
        title, description = in_words(cut_off, unsent)
        self.publish(self.state.apply(Notice("warning", title, description), replay=True))
        self.editor.tell("info", f"{title} {description or ''}".rstrip())

    def tell_where_nothing_came(self) -> None:
        """The session was loaded: say so where there is no history, in a moment."""
        self.tasks.start(self._tell_of_no_history(), name="watch for a late history")

    async def _tell_of_no_history(self) -> None:
        await asyncio.sleep(_LATE_WORDS_SECONDS)
        if not self.state.entries and self.turns.running is None and not self.ended:
            self.editor.tell(
                "info",
                f"{self.agent_name} has opened the session again without any history. It may not "
                "know it any more; acp.session.new opens a new one.",
            )

    async def _tell_of_silence(self, turn: int, ended: TurnEnded) -> None:
        await asyncio.sleep(_LATE_WORDS_SECONDS)
        if not self.state.said_anything(turn):
            self.editor.tell(
                "warning",
                f"{self.agent.name} ended the turn ({ended.stop_reason}) without a word. The "
                "session may be lost; acp.session.new opens a new one.",
            )

    def put_away(self) -> None:
        """Nobody reviews this session any more; its checkpoints stay."""
        if self.ledger is not None:
            self.ledger.close()

    # --- another process ---------------------------------------------------------------

    def adopt(self, agent: Agent) -> None:
        """From now on this process is the session's."""
        self.agent = agent

    def forget_seen(self) -> None:
        """The agent remembers nothing it has read."""
        self.seen = Seen()

    def revived(self) -> None:
        """The session goes on after its agent had ended."""
        self.ended = False
        self.publish(self.state.revived())

    # --- its end ------------------------------------------------------------------------

    def end(self, reason: str | None) -> None:
        """Close the session on our side; ``reason`` where its agent is gone."""
        if self.ended:
            return
        self.cancel_questions()
        self.ended = True
        if self._title_due:
            self._used(self)
        self.turns.end(reason)
        self.publish(self.state.died(reason) if reason else self.state.close())
        self.terminals.end()
        if not reason:
            self.tasks.cancel()
        self.answers.cancel()


def _lock(locks: WeakValueDictionary[Path, asyncio.Lock], path: Path) -> asyncio.Lock:
    lock = locks.get(path)
    if lock is None:
        lock = locks[path] = asyncio.Lock()
    return lock


def _settle(answer: asyncio.Future[str | None], option: str | None) -> None:
    if not answer.done():
        answer.set_result(option)


def _cancel(task: asyncio.Task[None]) -> None:
    task.cancel()


def _internal_error(request: IncomingRequest, error: Exception) -> None:
    request.error(wire.INTERNAL_ERROR, f"{request.method} failed here: {error}")


def _cancelled_answer(request: IncomingRequest, task: asyncio.Task[None]) -> None:
    if task.cancelled():
        request.error(wire.REQUEST_CANCELLED, f"{request.method} was cancelled")
