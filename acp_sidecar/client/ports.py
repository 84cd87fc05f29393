"""The two sides of the client role: what it needs of an editor, and what it offers one.

``app.py`` hands an implementation of each to the other. Nothing in ``client/`` knows LSP,
and nothing in ``editor/`` knows more of ``client/`` than this file.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from attrs import frozen

from acp_sidecar.acp.elicitation import Form
from acp_sidecar.agents.login import LoginCommand, Variable
from acp_sidecar.client.choices import Choice, distinct
from acp_sidecar.client.endings import stop_text, whole_state
from acp_sidecar.client.excerpt import excerpt
from acp_sidecar.client.inquiry import cut
from acp_sidecar.client.proposals import Decided, Proposals
from acp_sidecar.client.question import Fact, Question
from acp_sidecar.client.summary import ChangeSummary
from acp_sidecar.client.visible import visible

if TYPE_CHECKING:
    from acp_sidecar.acp.model import SessionPage
    from acp_sidecar.client.cutoff import Left
    from acp_sidecar.session.change import Change
    from acp_sidecar.session.state import Session
    from acp_sidecar.workspace.ledger import Ledger
    from acp_sidecar.workspace.proposal import Proposal
    from acp_sidecar.workspace.roots import Roots

__all__ = [
    "Asked",
    "Attachment",
    "ChangeSummary",
    "Choice",
    "Client",
    "Decided",
    "Editor",
    "Fact",
    "Listed",
    "LoginCommand",
    "Proposals",
    "Question",
    "Refused",
    "SessionView",
    "Severity",
    "Suggestion",
    "Turn",
    "Unfit",
    "Variable",
    "cut",
    "distinct",
    "excerpt",
    "stop_text",
    "visible",
    "whole_state",
]

Severity = Literal["error", "warning", "info", "log"]
Restoring = Literal["load", "resume", "fork"]

Attachment: TypeAlias = tuple[str, tuple[int, int] | None]
"""What a prompt is about: a document's URI, and its 0-based first and last line or None."""


class Refused(Exception):
    """What was asked cannot be done; the message says why, and what to do instead."""


class Unfit(Refused):
    """What was filled into a form does not fit it. ``problems``: a field and a sentence each."""

    def __init__(self, problems: tuple[tuple[str, str], ...]) -> None:
        listed = "; ".join(f"{visible(name)} {said}" for name, said in problems)
        super().__init__(f"This was not sent: {listed}.")
        self.problems = problems


@frozen
class Asked:
    """What an agent wants to know of the user: a ``form``, or agreement to open a ``url``.

    ``request_id`` is ours, ``number`` the same for people; ``session_id`` is None outside of
    every session. ``message`` is the agent's own text; ``host`` is where the browser would go.
    ``headline``, ``short`` and ``facts`` tell of it in lines that are safe to show, as those of a
    :class:`Question` do.
    """

    request_id: str
    number: int
    session_id: str | None
    agent: str
    tool_call_id: str | None
    message: str
    headline: str
    short: str
    facts: tuple[Fact, ...]
    form: Form | None = None
    url: str | None = None
    host: str | None = None


@frozen
class Suggestion:
    """Something that may follow in a prompt: ``text`` in place of what is between ``start``
    and ``end`` (indexes of code points). ``kind`` is ``command``, ``file`` or ``folder``."""

    label: str
    text: str
    detail: str | None
    kind: str
    start: int
    end: int


@frozen
class Listed:
    """A page of an agent's sessions. ``deletable`` has the agent's own ids of those that can be
    deleted: the agent offers it, and they are not open here."""

    page: SessionPage
    deletable: frozenset[str]


class SessionView(Protocol):
    """An open session, as an editor looks at it."""

    @property
    def state(self) -> Session:
        """What the conversation is; the editor's side sets its ``changes`` and ``follow``."""

    @property
    def agent_name(self) -> str: ...

    @property
    def roots(self) -> Roots: ...

    @property
    def ledger(self) -> Ledger | None:
        """What the agent changed; None where nothing is kept for review."""

    @property
    def ended(self) -> bool: ...

    @property
    def left(self) -> Left:
        """What was left of it when its editor went away, where it was opened again."""

    @property
    def instead_of(self) -> str | None:
        """The agent's id of the session that it was opened in the place of, in which nothing
        had been said or which cannot be opened again; else None."""

    def queue(self) -> list[dict[str, str]]:
        """The prompts that wait: ``{turnId, text}`` each."""

    @property
    def reviews_before(self) -> bool:
        """Whether the agent's writes wait for the user's word."""

    @property
    def proposals(self) -> Proposals:
        """The agent's writes that wait for the user's word."""

    async def look_again(self, path: Path) -> None:
        """Look at a file again now, to say where in it something waits."""

    async def find_unannounced(self) -> None:
        """Look for files that the agent has changed without a word about them, if it may."""

    def review_soon(self) -> None:
        """Look again at what waits for review."""


class Turn(Protocol):
    """A prompt that was sent, or waits."""

    @property
    def turn_id(self) -> str: ...

    @property
    def ended(self) -> asyncio.Future[str]:
        """The stop reason; raises :class:`Refused` where the turn failed."""


class Editor(Protocol):
    """The person's side.

    All of it is called from the event loop and returns at once: a slow editor never holds
    up an agent. What the person answers comes back through :class:`Client`.
    """

    def changed(
        self, session: SessionView, changes: Sequence[Change], *, replay: bool = False
    ) -> None:
        """The session's state moved. In a ``replay`` nothing is revealed, asked or edited."""

    def turn_began(self, session: SessionView) -> None:
        """A prompt went out to the agent."""

    def turn_says(self, session: SessionView, text: str) -> None:
        """What a running turn waits for, in a few words, for its progress."""

    def turn_ended(self, session: SessionView) -> None:
        """The agent is idle again, or the user has stopped waiting for it."""

    def ask(self, question: Question) -> None:
        """Put a question to the user; its answer comes by :meth:`Client.answer`."""

    def offer(self, question: Question, answered: Callable[[str | None], None]) -> None:
        """Put a question of ours to the user. ``answered`` takes the id of the choice, or None
        where there is no answer; after :meth:`withdraw` it is not called."""

    def withdraw(self, request_id: str) -> None:
        """The question is settled without this editor: close it, drop a late click."""

    def choose(self, question: Question, answered: Callable[[str | None], None]) -> None:
        """Put a question of our own to the user. ``answered`` gets the id of one of its
        choices, or None for no answer; then, or before, it is withdrawn by its asker."""

    def elicit(self, asked: Asked) -> None:
        """Ask the user; the answer comes by :meth:`Client.answer_elicitation`."""

    def open_url(self, url: str) -> None:
        """Show a page of the web, to which the user has agreed."""

    @property
    def can_save(self) -> bool:
        """Whether this editor saves files when it is asked to."""

    async def save(self, uri: str) -> bool:
        """Save an open document, to which the user has agreed; whether it is saved."""

    async def selection(self) -> Attachment | None:
        """What is selected in the user's active editor, or the document in it; None where
        this editor does not tell."""

    async def reveal(self, session: SessionView, path: str, line: int | None) -> str | None:
        """Show a place, of a 1-based line or None, as one where the agent works. None once
        it is shown, else why it is not: ``off`` and ``paused`` (the user's wish),
        ``superseded`` (by a later place), a reason of ``PathRefused`` or the editor's words."""

    async def run_in_terminal(self, command: LoginCommand) -> int | None:
        """Run a program where the user can type, until it ends; its exit code. None where
        this editor cannot, or does not tell how it ended."""

    async def ask_for_variables(
        self, agent: str, message: str, wanted: Sequence[Variable]
    ) -> Mapping[str, str] | None:
        """The values that the user types for these variables; None where this editor has no
        way to ask for text, or the user gives none."""

    def tell(self, severity: Severity, text: str) -> None:
        """Say something to the user; ``log`` is for who looks, not for a pop-up."""

    def files_changed(self, session: SessionView) -> None:
        """What waits for review in this session may have moved."""

    def proposed(self, session: SessionView, proposal: Proposal) -> None:
        """A write waits for the user's word, to be given by :meth:`Proposals.decide`."""

    def settled(self, session: SessionView, proposal: Proposal) -> None:
        """That write waits no more."""

    def queue_changed(self, session: SessionView) -> None:
        """The prompts that wait in this session are others now."""


class Client(Protocol):
    """What an editor can have done. Everything raises :class:`Refused` where it cannot be.

    ``session_id`` is ours; None means the only session open. ``cwd`` is an absolute path.
    ``say`` takes what an agent says while it starts, for the progress.
    """

    def sessions(self) -> Sequence[SessionView]:
        """The sessions, oldest first, also those that ended with their agent."""

    def session(self, session_id: str | None) -> SessionView: ...

    async def new(
        self,
        agent: str | None,
        cwd: str,
        additional_directories: Sequence[str],
        mcp_servers: Sequence[Mapping[str, Any]],
        say: Callable[[str], None],
    ) -> SessionView: ...

    async def restore(
        self,
        how: Restoring,
        agent: str | None,
        agent_session_id: str,
        cwd: str,
        additional_directories: Sequence[str],
        mcp_servers: Sequence[Mapping[str, Any]],
        say: Callable[[str], None],
    ) -> SessionView: ...

    async def list(self, agent: str | None, cwd: str, cursor: str | None) -> Listed: ...

    def cwd_of(self, agent: str | None, agent_session_id: str) -> str | None:
        """The folder of a session that is remembered from an earlier day."""

    async def delete(self, agent: str | None, agent_session_id: str, cwd: str) -> None: ...

    async def close(self, session_id: str | None) -> None: ...

    async def set_mode(self, session_id: str | None, mode_id: str) -> None: ...

    async def set_config_option(
        self, session_id: str | None, config_id: str, value: str | bool
    ) -> None: ...

    async def prompt(
        self,
        session_id: str | None,
        text: str | None,
        content: Sequence[Mapping[str, Any]],
        attachments: Sequence[Attachment],
        say: Callable[[str], None],
    ) -> Turn:
        """Send a prompt, or let it wait its turn. ``content`` holds ACP content blocks.

        Where the session's agent has ended it is started again first.
        """

    def cancel(self, session_id: str | None, turn: Turn | None = None) -> None:
        """Cancel a turn, or a prompt that waits; without one the turn that runs."""

    async def edit_waiting(self, session_id: str | None, turn_id: str, text: str) -> None:
        """Replace the text of a prompt that waits."""

    async def complete(
        self, session_id: str | None, text: str, cursor: int
    ) -> Sequence[Suggestion]:
        """What may follow in a prompt's text at ``cursor``, an index of code points."""

    async def complete_in(self, cwd: str, text: str, cursor: int) -> Sequence[Suggestion]:
        """The same for a prompt that is to open a session in ``cwd``, an absolute path."""

    def mention(self, path: str, cwd: str | None, lines: tuple[int, int] | None) -> str:
        """How the prompt of a session in ``cwd`` names an absolute path, or the 0-based lines
        (both included) of it. Raises :class:`Refused` where it cannot."""

    def drop_waiting(self, session_id: str | None, turn_id: str) -> None:
        """Take a prompt that waits out of the queue."""

    async def kill_terminal(self, session_id: str | None, terminal_id: str) -> None:
        """End the command in a terminal, and all it has started. Without a session the
        terminal is looked for in every one. Of a command that the agent runs by itself it is
        asked to, where it offers that."""

    async def cancel_tool_call(self, session_id: str | None, tool_call_id: str) -> None:
        """Cancel one tool call and not its turn, where the agent offers that. Returns when the
        agent has taken the request; an update tells how the call ended."""

    def questions(self) -> Sequence[Question]:
        """The questions that wait, oldest first."""

    def answer(self, request_id: str, option_id: str | None) -> None:
        """The user's word: an option the agent offered, or None for ``cancelled``."""

    def unanswered(self, request_id: str) -> None:
        """The editor gave no answer: a no. Nothing happens where the question is settled."""

    def elicitations(self) -> Sequence[Asked]:
        """What agents want to know and was not answered yet, oldest first."""

    def answer_elicitation(
        self, request_id: str, action: str, content: Mapping[str, Any] | None
    ) -> None:
        """The user's word: ``accept``, ``decline`` or ``cancel``. Raises :class:`Unfit` for a
        content that does not fit the form."""

    def elicitation_unanswered(self, request_id: str) -> None:
        """The editor gave no answer: ``cancel``."""

    async def login(
        self, agent: str, method_id: str | None, cwd: str, env: Mapping[str, str] | None
    ) -> None:
        """Log in by one of the agent's methods; without one the user chooses. ``env`` holds
        the values of a method of the type ``env_var``."""

    async def logout(self, agent: str, cwd: str) -> None: ...

    async def restart(self, agent: str) -> int:
        """End every process of an agent, and its sessions; returns how many there were."""
