"""``session/request_permission``: exactly one answer, and never an approval by accident.

ACP, "Tool Calls > Requesting Permission" and "Prompt Turn > Cancellation".
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Protocol

from attrs import define

from acp_sidecar.acp.model import PermissionOption, PermissionRequest
from acp_sidecar.client.ports import Editor, Refused
from acp_sidecar.client.question import Question, question
from acp_sidecar.client.target import Target

if TYPE_CHECKING:
    from acp_sidecar.agents.connection import IncomingRequest
    from acp_sidecar.client.agents import Agent
    from acp_sidecar.session.state import Session

logger = logging.getLogger(__name__)

_ALLOW: Final = "allow"
CONSENT: Final = (
    PermissionOption("reject", "No", "reject_once"),
    PermissionOption(_ALLOW, "Yes, this time", "allow_once"),
)
"""The answers to a question of ours; see :meth:`Permissions.consent`."""
_UNKNOWN: Final = Target(exists=None, inside=False)


class NotWaiting(Refused):
    """There is no open question of this id, or it offers no such option."""


class Asking(Protocol):
    """What a permission request needs of the session it belongs to."""

    @property
    def state(self) -> Session: ...

    @property
    def takes_questions(self) -> bool:
        """Whether a question may be put to the user now."""

    def look(self, path: str) -> Target:
        """What is at a path the agent named."""

    def permission_asked(self, question: Question, request: PermissionRequest) -> None: ...

    def permission_closed(self, request_id: str, state: str, option_id: str | None) -> None: ...


@define(eq=False)
class _Open:
    """A question that waits for its answer."""

    question: Question
    request: PermissionRequest
    settle: Callable[[str | None], object]
    """Takes the option that was chosen, None for ``cancelled``."""
    agent: Agent
    session: Asking | None


class Permissions:
    """All questions that wait, over all sessions and agents, in order of arrival."""

    def __init__(self, editor: Editor) -> None:
        self._editor = editor
        self._numbers = itertools.count(1)
        self._open: dict[str, _Open] = {}

    def waiting(self) -> tuple[Question, ...]:
        """The open questions, oldest first."""
        return tuple(entry.question for entry in self._open.values())

    def asked(
        self,
        incoming: IncomingRequest,
        request: PermissionRequest,
        agent: Agent,
        session: Asking | None,
    ) -> None:
        """Take a request in order of arrival: fold its tool call, then ask.

        A request for a session the editor did not open is asked as well, with that said:
        silence would leave the agent hanging. Without a usable option nothing can be
        answered but ``cancelled``, and the user is told. The same goes for a session
        whose turn is cancelled or that is only being replayed.
        """
        entry = self._enter(
            request,
            agent,
            session,
            lambda option_id: incoming.result(agent.wire.permission_outcome(option_id)),
        )
        if entry is not None:
            request_id = entry.question.request_id
            incoming.on_cancel(lambda: self._withdrawn(request_id))

    async def consent(self, request: PermissionRequest, agent: Agent, session: Asking) -> bool:
        """Ask the user whether something may be done here for the agent; ``request`` says
        what, with :data:`CONSENT` as its options. Without an answer it may not.
        """
        word: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

        def settle(option_id: str | None) -> None:
            if not word.done():
                word.set_result(option_id == _ALLOW)

        entry = self._enter(request, agent, session, settle)
        try:
            return await word
        finally:
            if entry is not None:
                self._withdrawn(entry.question.request_id)

    def _enter(
        self,
        request: PermissionRequest,
        agent: Agent,
        session: Asking | None,
        settle: Callable[[str | None], object],
    ) -> _Open | None:
        """Put a question; None where it is answered already."""
        number = next(self._numbers)
        # Our own id, never reused: agents restart theirs at 0 every turn.
        request_id = f"permission-{number}"
        call_id = request.tool_call.tool_call_id if request.tool_call else None
        stored = session.state.asked_about(call_id) if session and call_id else None
        asked = question(
            request,
            request_id=request_id,
            number=number,
            session_id=session.state.session_id if session else None,
            agent=agent.name,
            stored_kind=stored.kind if stored else None,
            stored_title=stored.title if stored else None,
            stored_raw_input=stored.raw_input if stored else None,
            stored_content=stored.content if stored else (),
            stored_locations=stored.locations if stored else (),
            look=session.look if session else lambda path: _UNKNOWN,
        )
        entry = _Open(asked, request, settle, agent, session)
        if session is not None:
            session.permission_asked(asked, request)
        self._open[request_id] = entry
        logger.info("%s asks: %s (%r)", agent.name, request_id, asked.kind)
        if session is not None and not session.takes_questions:
            self._close(entry, None, "cancelled")
            return None
        if not asked.choices:
            self._close(entry, None, "cancelled")
            self._editor.tell(
                "warning",
                f"{asked.message}\nIt offered no usable answer, so it was told: cancelled.",
            )
            return None
        self._editor.ask(asked)
        return entry

    def answer(self, request_id: str, option_id: str | None) -> None:
        """The user's word: one of the offered options, or None for ``cancelled``.

        Raises :class:`NotWaiting` where the question is settled already or never offered
        the option; nothing is sent then.
        """
        entry = self._open.get(request_id)
        if entry is None:
            raise NotWaiting(
                f"No permission request {request_id!r} is waiting: it was answered, cancelled "
                "or withdrawn. acp.permission.pending lists those that wait."
            )
        if option_id is not None and not entry.question.offers(option_id):
            offered = ", ".join(choice.option_id for choice in entry.question.choices)
            raise NotWaiting(f"{option_id!r} was not offered; choose one of: {offered}")
        self._close(entry, option_id, "cancelled" if option_id is None else "answered")

    def unanswered(self, request_id: str) -> None:
        """The editor gave no answer (dismissed, an error, a title nobody offered): a no.

        Which no it is, the protocol's version says.
        """
        entry = self._open.get(request_id)
        if entry is not None:
            option_id = entry.agent.wire.unanswered(entry.request.options)
            self._close(entry, option_id, "cancelled" if option_id is None else "answered")

    def cancel(self, chosen: Callable[[Agent, Asking | None], bool]) -> None:
        """Answer ``cancelled`` to every open request of the chosen sessions and agents."""
        for entry in list(self._open.values()):
            if chosen(entry.agent, entry.session):
                self._close(entry, None, "cancelled")

    def _withdrawn(self, request_id: str) -> None:
        entry = self._open.get(request_id)
        if entry is not None:
            self._close(entry, None, "cancelled")

    def _close(self, entry: _Open, option_id: str | None, state: str) -> None:
        request_id = entry.question.request_id
        self._open.pop(request_id, None)
        logger.info("%s is %s", request_id, state)
        entry.settle(option_id)
        if entry.session is not None:
            entry.session.permission_closed(request_id, state, option_id)
        self._editor.withdraw(request_id)
