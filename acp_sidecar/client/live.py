"""One session while it is open: its state joined with its agent, its roots and its files."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

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
from acp_sidecar.client.agents import Agent
from acp_sidecar.client.answers import Answers
from acp_sidecar.client.bookkeeping import Bookkeeping
from acp_sidecar.client.books import Books
from acp_sidecar.client.cutoff import NOTHING_LEFT
from acp_sidecar.client.jobs import Jobs
from acp_sidecar.client.news import News
from acp_sidecar.client.peculiar import meant
from acp_sidecar.client.permissions import Permissions
from acp_sidecar.client.prompt import Prompt
from acp_sidecar.client.proposals import Proposals
from acp_sidecar.client.question import Question
from acp_sidecar.client.saving import Saving
from acp_sidecar.client.settings_news import SettingsNews
from acp_sidecar.client.silence import tell_where_nothing_was_said
from acp_sidecar.client.target import Target, look
from acp_sidecar.client.terminals import Terminals
from acp_sidecar.client.turns import Turns
from acp_sidecar.client.visible import visible
from acp_sidecar.session.change import Change, InfoChanged, ToolCallChanged
from acp_sidecar.session.state import Session
from acp_sidecar.tasks import Spawn, Tasks
from acp_sidecar.workspace.filelocks import FileLocks
from acp_sidecar.workspace.files import Files
from acp_sidecar.workspace.ledger import Ledger
from acp_sidecar.workspace.roots import Roots
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
        self.saving = Saving(self)
        self.in_order = FileLocks()
        """Held while the agent reads or writes a file: one after the other, as they came."""
        self.proposing = FileLocks()
        """Held while a write of a file waits for the user, and the next one for that."""
        self.tasks = Tasks(spawn)
        self.answers = Answers(spawn)
        self.turns = Turns(self)
        self.ended = False
        self.loading = False
        """Between a load or resume request and its answer: only the state moves."""
        self.quiet = False
        """Until the first prompt of a loaded session: some agents send the history late."""
        self.untouched = False
        """Whether it is known that no prompt has ever gone into it."""
        self.instead_of: str | None = None
        """The agent's id of the session it was opened in the place of."""
        self.kept_as = self.agent_session_id
        """The name that its checkpoints and what waits for review are kept by."""
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
        self.books = (
            Books()
            if ledger is None
            else Bookkeeping(self, files, ledger, survey=settings.review_unannounced)
        )
        self._news = News(ledger if settings.report_reverts else None, roots.as_given)

    @property
    def agent_name(self) -> str:
        return self.agent.name

    @property
    def agent_session_id(self) -> str:
        """The agent's own id of it, as it is told to the agent."""
        return self.state.agent_session_id or ""

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
        event = meant(sent, self.agent.info.name, self.state.info.modes)
        if event is None:
            return
        if self.told_again and isinstance(event, _HISTORY):
            return
        if isinstance(event, TurnStarted | ActionRequired | TurnEnded):
            self.publish(self.state.apply(event))
            self.turns.agent_is(event)
            return
        before = (self.state.info.modes, self.state.info.config_options)
        self.publish(self.state.apply(event, replay=self.quiet))
        if isinstance(event, ModeUpdate | ConfigOptionsUpdate) and not self.quiet:
            for said in self.settings_news.of(before, self.state.info):
                self.editor.tell("info", f"{visible(self.agent_name)} {said}")

    def publish(self, changes: Sequence[Change]) -> None:
        """Tell the editor, and note the files the changes speak of."""
        if not self.quiet:
            for change in changes:
                if isinstance(change, ToolCallChanged):
                    self.books.note(change)
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

    def cancel_questions(self) -> None:
        """Answer ``cancelled`` to every request of this session that waits for the user."""
        self.saving.cancel()
        self.proposals.cancel()
        self._permissions.cancel(lambda agent, session: session is self)
        self._elicitations.cancel(lambda agent, session: session is self)

    # --- files ------------------------------------------------------------------------

    def look(self, path: str) -> Target:
        """What is at a path the agent named, for a question's text."""
        return look(path, self.state.cwd, self.roots, self.files)

    async def look_again(self, path: Path) -> None:
        """Look at a file again, of which the user has just been seen to change something."""
        await self.books.look_again(path)

    def review_soon(self) -> None:
        """Look again at what waits for review, once, however often this is called."""
        self.books.review_soon()

    async def find_unannounced(self) -> None:
        """Look for files that have been changed without a word, where that is due."""
        await self.books.find_unannounced()

    # --- turns ------------------------------------------------------------------------

    @property
    def in_turn(self) -> bool:
        """Whether the agent is at work."""
        return self.turns.running is not None

    async def look_at_folders(self) -> None:
        """A prompt is about to go out: see what is there before the agent is at work."""
        await self.books.look_at_folders()

    def prepare_turn(self, prompt: Prompt) -> tuple[ContentBlock, ...]:
        """A prompt goes out: what files say now is what the agent's changes start from.

        What the agent is to be told before the user's words.
        """
        self.quiet = False
        told = self._news.before(prompt.text, embedded=self.agent.info.prompt_embedded_context)
        label = prompt.text.strip().partition("\n")[0][:_LABEL]
        self.books.begin_turn(time=time.time(), label=label)
        return told

    def turn_over(self, prompt: Prompt, ended: TurnEnded | None) -> None:
        """A turn ended: look at the files once more, and say so where nothing came back."""
        self._elicitations.cancel(lambda agent, session: session is self)
        self._used(self)
        self._moved(self)
        self.books.end_turn()
        if ended is not None and not prompt.cancelled and prompt.number is not None:
            tell_where_nothing_was_said(self, prompt.number, ended)

    def queue_changed(self) -> None:
        """The prompts that wait are others now."""
        self.editor.queue_changed(self)
        self._moved(self)

    def turn_moved(self) -> None:
        """The prompt that runs has gone out, or is to be cancelled."""
        self._moved(self)

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
        # Its id may be another.
        self._used(self)

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
