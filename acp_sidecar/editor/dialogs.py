"""Questions to the user: the standard message dialog, or the editor's own.

A plain editor gets ``window/showMessageRequest``, one at a time over all sessions, in
order of arrival. A dialog that stays unanswered while others wait steps aside after a
while and comes again; the old one may still be answered where it still shows. An editor
that declares ``permission`` gets ``acp/permission`` at once and keeps its own order.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from acp_sidecar.client.ports import Client, Question, Refused
from acp_sidecar.editor.server import ClientError, ClientGone
from acp_sidecar.tasks import Tasks

if TYPE_CHECKING:
    from acp_sidecar.editor.server import SidecarServer

logger = logging.getLogger(__name__)

PAUSE_SECONDS: Final = 0.4
"""Between two dialogs, so that a key or click meant for one cannot answer the next."""

_INFO: Final = 3  # lsprotocol MessageType.Info; a number, since params are plain JSON here


class Dialogs:
    """The queue of questions towards one editor."""

    def __init__(
        self,
        server: SidecarServer,
        client: Callable[[], Client],
        tasks: Tasks,
        *,
        own: bool,
        reminder: Callable[[], float],
    ) -> None:
        self._server = server
        self._client = client
        self._tasks = tasks
        self._own = own
        self._reminder = reminder
        self._waiting: deque[Question] = deque()
        self._shown: dict[str, list[asyncio.Task[None]]] = {}
        self._settled: dict[str, asyncio.Event] = {}
        self._arrived = asyncio.Event()
        self._times_shown: dict[str, int] = {}
        self._answered: dict[str, tuple[Question, Callable[[str | None], None]]] = {}

    def ask(self, question: Question, answered: Callable[[str | None], None] | None = None) -> None:
        """Queue a question; its answer goes to the client, or to ``answered``: the id of one
        of its choices, or None."""
        self._settled[question.request_id] = asyncio.Event()
        if answered is not None:
            self._answered[question.request_id] = (question, answered)
        if self._own:
            self._show(question)
        else:
            self._waiting.append(question)
            self._arrived.set()

    async def choose(self, question: Question) -> str | None:
        """Put a question of our own; the id of what the user chose, None for no answer."""
        answer: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()

        def answered(option_id: str | None) -> None:
            if not answer.done():
                answer.set_result(option_id)

        self.ask(question, answered)
        try:
            return await answer
        finally:
            self.withdraw(question.request_id)

    def own_questions(self) -> list[Question]:
        """The questions that wait and are the sidecar's own."""
        return [question for question, _ in self._answered.values()]

    def answer_own(self, request_id: str, option_id: str | None) -> bool:
        """Answer a question of the sidecar's own; False where none of this id waits.

        Raises :class:`Refused` for a choice that it does not offer.
        """
        own = self._answered.get(request_id)
        if own is None:
            return False
        question, answered = own
        if option_id is not None and not question.offers(option_id):
            offered = ", ".join(choice.option_id for choice in question.choices)
            raise Refused(f"{option_id!r} was not offered; choose one of: {offered}")
        answered(option_id)
        return True

    def withdraw(self, request_id: str) -> None:
        """The question is settled: close its dialogs, drop what they still answer."""
        settled = self._settled.pop(request_id, None)
        if settled is not None:
            settled.set()
        self._answered.pop(request_id, None)
        self._waiting = deque(q for q in self._waiting if q.request_id != request_id)
        self._times_shown.pop(request_id, None)
        for task in self._shown.pop(request_id, ()):
            task.cancel()

    async def run(self) -> None:
        """Show the waiting questions one after the other, for ever."""
        while True:
            while not self._waiting:
                self._arrived.clear()
                await self._arrived.wait()
            question = self._waiting.popleft()
            settled = self._settled.get(question.request_id)
            if settled is None:
                continue
            self._show(question)
            await self._until_settled_or_aside(question, settled)
            await asyncio.sleep(PAUSE_SECONDS)

    async def _until_settled_or_aside(self, question: Question, settled: asyncio.Event) -> None:
        while not settled.is_set():
            try:
                async with asyncio.timeout(self._reminder()):
                    await settled.wait()
            except TimeoutError:
                if self._waiting:
                    self._waiting.append(question)
                    return

    def _show(self, question: Question) -> None:
        show = self._own_dialog if self._own else self._message_dialog
        task = self._tasks.start(
            show(question),
            name=f"dialog for {question.request_id}",
            failed=lambda error: self._settle(question, None),
        )
        self._shown.setdefault(question.request_id, []).append(task)

    async def _message_dialog(self, question: Question) -> None:
        times = self._times_shown.get(question.request_id, 0) + 1
        self._times_shown[question.request_id] = times
        again = f"\n(asked again, {times})" if times > 1 else ""
        params = {
            "type": _INFO,
            "message": (question.in_full or question.message) + again,
            "actions": [{"title": choice.title} for choice in question.choices],
        }
        try:
            result = await self._request("window/showMessageRequest", params)
        except ClientGone:
            return
        title = result.get("title") if isinstance(result, Mapping) else None
        choice = question.choice_titled(title)
        self._settle(question, choice.option_id if choice else None)

    async def _own_dialog(self, question: Question) -> None:
        try:
            result = await self._request("acp/permission", payload(question))
        except ClientGone:
            return
        option_id = result.get("optionId") if isinstance(result, Mapping) else None
        self._settle(question, option_id if question.offers(option_id) else None)

    async def _request(self, method: str, params: Mapping[str, Any]) -> Any:
        # An editor that is gone has not answered: who ends the sessions cancels the question.
        try:
            return await self._server.request(method, params)
        except ClientError as error:
            logger.info("the editor answered %s with an error: %s", method, error)
            return None

    def _settle(self, question: Question, option_id: str | None) -> None:
        if question.request_id not in self._settled:
            return
        own = self._answered.get(question.request_id)
        if own is not None:
            own[1](option_id)
        elif option_id is None:
            self._client().unanswered(question.request_id)
        else:
            self._client().answer(question.request_id, option_id)


def payload(question: Question) -> dict[str, Any]:
    """A question as ``acp/permission`` and ``acp.permission.pending`` give it."""
    return {
        "requestId": question.request_id,
        "sessionId": question.session_id,
        "agent": question.agent,
        "toolCallId": question.tool_call_id,
        "kind": question.kind,
        "headline": question.headline,
        "short": question.short,
        "facts": [fact.to_json() for fact in question.facts],
        "message": question.message,
        "title": question.title,
        "description": question.description,
        "command": question.command,
        "cwd": question.cwd,
        "paths": list(question.paths),
        "locations": [
            {"path": location.path, "line": location.line} for location in question.locations
        ],
        "rawInput": question.raw_input,
        "diffs": [
            {
                "path": change.path,
                "oldText": change.before,
                "newText": change.after,
                "whole": change.whole,
                "summary": change.text,
            }
            for change in question.changes
        ],
        "options": [
            {
                "optionId": choice.option_id,
                "name": choice.name,
                "kind": choice.kind,
                "title": choice.title,
            }
            for choice in question.choices
        ],
        "refusable": question.refusable,
        "state": "waiting",
        "optionId": None,
    }
