"""Files that the agent made and the user has edited are deleted by the user's word alone.

A revert or a restore leaves them, and one dialog names them all. No answer is a no.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Final

from acp_sidecar.client.ports import Choice, Question, visible
from acp_sidecar.tasks import Tasks

if TYPE_CHECKING:
    from acp_sidecar.client.ports import SessionView
    from acp_sidecar.editor.dialogs import Dialogs
    from acp_sidecar.workspace.changes import EditedFile

_NAMED: Final = 12
"""Files that are named; of more there is the number."""


class Deleting:
    """The dialogs about such files, of all sessions."""

    def __init__(self, dialogs: Dialogs, tasks: Tasks) -> None:
        self._dialogs = dialogs
        self._tasks = tasks
        self._open: dict[str, tuple[SessionView, Sequence[EditedFile]]] = {}

    def ask(
        self,
        session: SessionView,
        files: Sequence[EditedFile],
        delete: Callable[[Sequence[EditedFile]], Coroutine[Any, Any, object]],
    ) -> None:
        """Ask whether to ``delete`` them, unless just that is being asked already."""
        for request_id, (asker, before) in tuple(self._open.items()):
            if asker is not session:
                continue
            if _same(before, files):
                return
            if {file.path for file in before} <= {file.path for file in files}:
                self._close(request_id)
        question = _question(session, files)
        self._open[question.request_id] = session, files

        def answered(option: str | None) -> None:
            self._close(question.request_id)
            if option == "delete":
                self._tasks.start(delete(files), name="deletion of edited files")

        self._dialogs.ask(question, answered)

    def forget(self, session: SessionView) -> None:
        """The session is closed: nothing of it is asked any more."""
        for request_id, (asker, _) in tuple(self._open.items()):
            if asker is session:
                self._close(request_id)

    def _close(self, request_id: str) -> None:
        self._open.pop(request_id, None)
        self._dialogs.withdraw(request_id)


def _same(some: Sequence[EditedFile], others: Sequence[EditedFile]) -> bool:
    return {(file.path, id(file.said)) for file in some} == {
        (file.path, id(file.said)) for file in others
    }


def _question(session: SessionView, files: Sequence[EditedFile]) -> Question:
    names = [visible(session.roots.as_given(file.path)) for file in files]
    agent = visible(session.agent_name)
    one = len(files) == 1
    if one:
        headline = f"{agent} made {names[0]}, and you have edited it since. Delete it all the same?"
        listed: list[str] = []
        keep, delete = "Keep it", "Delete it all the same"
    else:
        listed = names[:_NAMED]
        if len(names) > _NAMED:
            listed.append(f"and {len(names) - _NAMED} more")
        headline = (
            f"{agent} made these {len(files)} files, and you have edited them since. "
            "Delete them all the same?"
        )
        keep, delete = f"Keep all {len(files)}", f"Delete all {len(files)} all the same"
    return Question(
        request_id=f"delete-{token_hex(6)}",
        session_id=session.state.session_id,
        agent=session.agent_name,
        kind="delete",
        headline=headline,
        facts=(*listed, "(Undoing it brings back what you wrote.)"),
        paths=tuple(str(file.path) for file in files),
        choices=(
            Choice("keep", keep, "reject_once", keep),
            Choice("delete", delete, "allow_once", delete),
        ),
    )
