"""Before an agent's command runs: the user's unsaved files, which it would not see."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from acp_sidecar.client.choices import Choice
from acp_sidecar.client.question import Question
from acp_sidecar.client.visible import visible

if TYPE_CHECKING:
    from acp_sidecar.client.ports import SessionView

_AS_IT_IS: Final = Choice("as-it-is", "Run without", None, "Run without")
SAVE: Final = Choice("save", "Save and run", None, "Save and run")


def question(session: SessionView, request_id: str, command: str, names: Sequence[str]) -> Question:
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
        paths=tuple(names),
        choices=(_AS_IT_IS, SAVE),
    )
