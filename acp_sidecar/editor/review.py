"""What waits for review, for an editor: the list of changed files, keep, revert, undo.

One file at a time or all of them; ``acp.review.*`` and ``acp/changes``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from acp_sidecar.editor.calls import INVALID_PARAMS, CommandError
from acp_sidecar.workspace.uris import uri_to_path

if TYPE_CHECKING:
    from acp_sidecar.client.ports import SessionView
    from acp_sidecar.editor.server import SidecarServer
    from acp_sidecar.workspace.changes import Reviewed
    from acp_sidecar.workspace.documents import Documents
    from acp_sidecar.workspace.ledger import Ledger

Step = Literal["keep", "revert"]


class Review:
    """The ledger of each session, as the editor sees it."""

    def __init__(self, server: SidecarServer, documents: Documents, *, wanted: bool) -> None:
        self._server = server
        self._documents = documents
        self._wanted = wanted
        self._told: dict[str, list[dict[str, Any]]] = {}

    def changes(self, session: SessionView) -> list[dict[str, Any]]:
        """``acp.review.list``, as known now."""
        ledger = session.ledger
        return [change.to_json() for change in ledger.changes()] if ledger else []

    async def refresh(self, session: SessionView) -> None:
        """Look at the files again."""
        if session.ledger is not None:
            await session.ledger.refresh()

    def changed(self, session: SessionView) -> None:
        """Tell the editor, where it wants to know and something is different."""
        if not self._wanted:
            return
        session_id = session.state.session_id
        changes = self.changes(session)
        if self._told.get(session_id, []) != changes:
            self._told[session_id] = changes
            self._server.notify_json(
                "acp/changes",
                {"sessionId": session_id, "changes": changes},
                droppable=("acp/changes", session_id),
            )

    async def step(
        self, session: SessionView, step: Step, uri: str | None, hunk_id: str | None
    ) -> dict[str, Any]:
        """Keep or revert the changes of one file, or of all."""
        ledger = _ledger(session)
        path = self._path(ledger, uri, hunk_id)
        done = await (ledger.keep(path) if step == "keep" else ledger.revert(path))
        return self._outcome(session, done)

    async def undo(self, session: SessionView) -> dict[str, Any]:
        """Take the last keep or revert back."""
        return self._outcome(session, await _ledger(session).undo())

    async def diff(self, sessions: Sequence[SessionView], uri: str) -> dict[str, str]:
        """The texts of a file before and after the agent, from the first session that knows it."""
        path = self._real(uri)
        for session in sessions:
            if session.ledger is None:
                continue
            await session.ledger.refresh([path])
            texts = session.ledger.diff(path)
            if texts is not None:
                return {"before": texts[0], "after": texts[1]}
        raise CommandError(f"No session has heard of {uri}.", INVALID_PARAMS)

    def _path(self, ledger: Ledger, uri: str | None, hunk_id: str | None) -> Path | None:
        if hunk_id is None:
            return self._real(uri) if uri is not None else None
        for change in ledger.changes():
            if any(hunk.id == hunk_id for hunk in change.hunks):
                if len(change.hunks) > 1:
                    raise CommandError(
                        "This version keeps and reverts whole files: leave 'hunkId' out and "
                        f"name {change.uri} as 'uri'.",
                        INVALID_PARAMS,
                    )
                return change.path
        raise CommandError(f"No hunk {hunk_id!r} waits for review.", INVALID_PARAMS)

    def _real(self, uri: str) -> Path:
        document = self._documents.get(uri)
        if document is not None and document.real is not None:
            return document.real
        path = uri_to_path(uri)
        if path is None:
            raise CommandError(f"{uri} is not the URI of a file.", INVALID_PARAMS)
        return Path(path).resolve()

    def _outcome(self, session: SessionView, done: Reviewed) -> dict[str, Any]:
        self.changed(session)
        return {**done.to_json(), "problems": list(done.problems)}


def _ledger(session: SessionView) -> Ledger:
    if session.ledger is None:
        raise CommandError("Nothing is kept for review: the setting review.mode is 'off'.")
    return session.ledger
