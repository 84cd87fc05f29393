"""Before an agent's command runs: the user's unsaved files, which it would not see."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from acp_sidecar.client.asking import Asking
from acp_sidecar.client.choices import Choice
from acp_sidecar.client.question import Question, beginning
from acp_sidecar.client.visible import visible

if TYPE_CHECKING:
    from acp_sidecar.client.live import LiveSession
    from acp_sidecar.client.ports import SessionView

_AS_IT_IS: Final = Choice("as-it-is", "Run without", None, "Run without")
_SAVE: Final = Choice("save", "Save and run", None, "Save and run")


class Saving:
    """Offers to save, once a turn, where the editor can save at all."""

    def __init__(self, session: LiveSession) -> None:
        self._session = session
        self._offered_in: int | None = None
        self._asking = Asking(session.editor)

    async def offer(self, command: str) -> list[str]:
        """A command is about to run: offer to save what it would not see. The paths of what the
        user wanted saved and is not."""
        session = self._session
        turn, editor = session.state.turn, session.editor
        if not editor.can_save or self._offered_in == turn:
            return []
        unsaved = [
            (session.roots.as_given(document.real), document.uri)
            for document in session.files.unsaved(session.roots)
            if document.real is not None
        ]
        if not unsaved or not session.takes_questions:
            return []
        self._offered_in = turn
        request_id = f"save-{session.state.session_id}-{turn}"
        asked = _question(session, request_id, command, [path for path, _ in unsaved])
        if await self._asking.choice(asked) != _SAVE.option_id:
            return []
        return [path for path, uri in unsaved if not await editor.save(uri)]

    def cancel(self) -> None:
        """Nothing is saved, and the command runs."""
        self._asking.cancel()


def _question(
    session: SessionView, request_id: str, command: str, names: Sequence[str]
) -> Question:
    """Whether the files of these names are saved first. Without an answer they are not, and
    the command runs."""
    agent = visible(session.agent_name)
    return Question(
        request_id=request_id,
        session_id=session.state.session_id,
        agent=session.agent_name,
        kind="save",
        headline=f"{agent} runs a command, which does not see what is not saved",
        mark=f"turn {session.state.turn}",
        facts=tuple(f"Unsaved: {visible(name)}" for name in names),
        command=command,
        short=beginning(f"Save before {agent} runs: {visible(command)}"),
        paths=tuple(names),
        choices=(_AS_IT_IS, _SAVE),
    )
