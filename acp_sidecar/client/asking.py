"""Questions of our own to the user, waited for."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from acp_sidecar.client.ports import Editor
    from acp_sidecar.client.question import Question


class Asking:
    """The questions of one concern that wait for the user."""

    def __init__(self, editor: Editor) -> None:
        self._editor = editor
        self._waiting: set[asyncio.Future[str | None]] = set()

    async def choice(self, question: Question) -> str | None:
        """The id of what the user chooses, None for no answer."""
        answer: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()
        self._waiting.add(answer)
        self._editor.choose(question, lambda option_id: _settle(answer, option_id))
        try:
            return await answer
        finally:
            self._waiting.discard(answer)
            self._editor.withdraw(question.request_id)

    def cancel(self) -> None:
        """There is no answer to any of them."""
        for answer in self._waiting:
            _settle(answer, None)


def _settle(answer: asyncio.Future[str | None], option_id: str | None) -> None:
    if not answer.done():
        answer.set_result(option_id)
