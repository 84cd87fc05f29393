"""``elicitation/create``: what an agent wants to know, with exactly one answer.

ACP, "Elicitation". Nothing is sent that does not fit the form, and no page is opened before
the user has agreed. What is left unanswered is ``cancel``, never ``decline``: that is the
user's own word.
"""

from __future__ import annotations

import itertools
import logging
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, Protocol

from attrs import define

from acp_sidecar.acp import elicitation as wire
from acp_sidecar.acp.decoding import DecodeError
from acp_sidecar.acp.elicitation import ACTIONS, Action, Elicitation
from acp_sidecar.acp.filling import misfits
from acp_sidecar.client import inquiry
from acp_sidecar.client.ports import Asked, Editor, Refused, Unfit
from acp_sidecar.client.visible import visible

if TYPE_CHECKING:
    from acp_sidecar.agents.connection import IncomingRequest
    from acp_sidecar.client.agents import Agent
    from acp_sidecar.session.state import Session

logger = logging.getLogger(__name__)

_REMEMBERED: Final = 100
"""Pages that were opened and of which the agent may still say that they are done with."""


class Asking(Protocol):
    """What an elicitation needs of the session it belongs to."""

    @property
    def state(self) -> Session: ...

    @property
    def takes_questions(self) -> bool:
        """Whether a question may be put to the user now."""

    def elicitation_asked(self, request_id: str, asked: Elicitation) -> None: ...

    def elicitation_closed(self, request_id: str, action: Action) -> None: ...

    def elicitation_completed(self, request_id: str) -> None: ...


@define(eq=False)
class _Open:
    asked: Asked
    incoming: IncomingRequest
    agent: Agent
    session: Asking | None
    elicitation_id: str | None
    belongs_to: Any = None
    """The id of a request of ours."""


class Elicitations:
    """All that agents want to know, over all sessions and agents, in order of arrival."""

    def __init__(self, editor: Editor) -> None:
        self._editor = editor
        self._numbers = itertools.count(1)
        self._open: dict[str, _Open] = {}
        self._opened: OrderedDict[tuple[Agent, str], _Open] = OrderedDict()
        """Pages that the user has agreed to, by what their agent calls them."""

    def waiting(self) -> tuple[Asked, ...]:
        """What waits for the user, oldest first."""
        return tuple(entry.asked for entry in self._open.values())

    def asked(
        self,
        incoming: IncomingRequest,
        request: Elicitation,
        agent: Agent,
        session: Asking | None,
    ) -> None:
        """Take a request in order of arrival. ``session`` is None for one that belongs to a
        request of ours, or to a session the editor did not open.

        Raises :class:`DecodeError` for an address that must not be opened.
        """
        host = None
        if request.url is not None:
            host = wire.host_of(request.url)
            if host is None:
                raise DecodeError("url", "is not an address of http or https")
        number = next(self._numbers)
        request_id = f"elicitation-{number}"
        asked = Asked(
            request_id=request_id,
            number=number,
            session_id=session.state.session_id if session else None,
            agent=agent.name,
            tool_call_id=request.tool_call_id,
            message=request.message,
            headline=inquiry.headline(agent.name, request.url),
            short=inquiry.short(agent.name, request.message, request.url, host),
            facts=inquiry.facts(request.message, request.form, request.url, host),
            form=request.form,
            url=request.url,
            host=host,
        )
        entry = _Open(asked, incoming, agent, session, request.elicitation_id, request.request_id)
        if session is not None:
            session.elicitation_asked(request_id, request)
        self._open[request_id] = entry
        logger.info("%s wants to know something: %s (%s)", agent.name, request_id, request.mode)
        if session is not None and not session.takes_questions:
            self._close(entry, "cancel")
            return
        fields = request.form.fields if request.form else ()
        strange = [each for each in fields if each.required and not each.known]
        if strange:
            self._close(entry, "cancel")
            self._editor.tell(
                "warning",
                f"{visible(agent.name)} asks for {visible(strange[0].title)}, a field of the "
                f"type {visible(strange[0].type)}, which cannot be filled in here. It was told: "
                "cancelled.",
            )
            return
        incoming.on_cancel(lambda: self.unanswered(request_id))
        if request.request_id is not None:
            agent.connection.hold(request.request_id, held=True)
            agent.connection.when_answered(request.request_id, lambda: self.unanswered(request_id))
        self._editor.elicit(asked)

    def answer(
        self, request_id: str, action: str, content: Mapping[str, Any] | None = None
    ) -> None:
        """The user's word. ``content`` is what was filled in, for ``accept``.

        Raises :class:`Refused` where nothing of this id waits or there is no such action, and
        :class:`Unfit` for a content that does not fit the form; nothing is sent then.
        """
        entry = self._open.get(request_id)
        if entry is None:
            raise Refused(
                f"No elicitation {request_id!r} is waiting: it was answered, cancelled or "
                "withdrawn. acp.elicitation.pending lists those that wait."
            )
        known = next((each for each in ACTIONS if each == action), None)
        if known is None:
            raise Refused(f"{action!r} is no action; use one of: {', '.join(ACTIONS)}")
        form = entry.asked.form
        if known != "accept" or form is None:
            self._close(entry, known)
            return
        filled = {name: value for name, value in (content or {}).items() if value is not None}
        if found := misfits(form, filled):
            raise Unfit(tuple((each.field, each.message) for each in found))
        for each in form.fields:
            if each.type == "integer" and each.name in filled:
                filled[each.name] = int(filled[each.name])  # 3.0 is one, and not for every reader
        self._close(entry, known, filled)

    def unanswered(self, request_id: str) -> None:
        """There is no answer, or nobody wants it any more: ``cancel``."""
        entry = self._open.get(request_id)
        if entry is not None:
            self._close(entry, "cancel")

    def cancel(self, chosen: Callable[[Agent, Asking | None], bool]) -> None:
        """Answer ``cancel`` to all that waits of the chosen sessions and agents."""
        for entry in list(self._open.values()):
            if chosen(entry.agent, entry.session):
                self._close(entry, "cancel")

    def completed(self, agent: Agent, elicitation_id: str) -> None:
        """``elicitation/complete``: what a page was opened for is done. Of what was never
        asked nothing is said."""
        for entry in list(self._open.values()):
            if entry.agent is agent and entry.elicitation_id == elicitation_id:
                self._close(entry, "cancel")
        done = self._opened.pop((agent, elicitation_id), None)
        if done is None:
            return
        if done.session is not None:
            done.session.elicitation_completed(done.asked.request_id)
        self._editor.tell(
            "info", f"{visible(agent.name)}: done with the page of {done.asked.host}."
        )

    def lost(self, agent: Agent) -> None:
        """The agent is gone: nothing more is heard of its pages."""
        for key in [key for key in self._opened if key[0] is agent]:
            del self._opened[key]

    def _close(
        self, entry: _Open, action: Action, content: Mapping[str, Any] | None = None
    ) -> None:
        request_id, url = entry.asked.request_id, entry.asked.url
        self._open.pop(request_id, None)
        logger.info("%s: %s", request_id, action)
        entry.agent.connection.hold(entry.belongs_to, held=False)
        if action == "accept" and url is not None and entry.elicitation_id is not None:
            self._opened[entry.agent, entry.elicitation_id] = entry
            while len(self._opened) > _REMEMBERED:
                self._opened.popitem(last=False)
            self._editor.open_url(url)
        entry.incoming.result(wire.answer(action, content))
        if entry.session is not None:
            entry.session.elicitation_closed(request_id, action)
        self._editor.withdraw(request_id)
