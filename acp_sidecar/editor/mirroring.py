"""What the editor tells of its open documents, as our mirror takes it.

LSP 3.17, "Text Document Synchronization". Where the user types, following pauses, and what
waits for review in that file is looked at again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from acp_sidecar.workspace.documents import Documents, TextChange
from acp_sidecar.workspace.positions import Position, Range

if TYPE_CHECKING:
    from acp_sidecar.client.ports import SessionView
    from acp_sidecar.editor.textsync import ContentChange
    from acp_sidecar.workspace.files import Files


class Mirroring:
    """Keeps the mirror, and looks who has changed a document."""

    def __init__(
        self,
        documents: Documents,
        files: Files,
        sessions: Callable[[], Iterable[SessionView]],
        watches: Callable[[], bool],
        acted: Callable[[], None],
    ) -> None:
        """``watches``: whether it matters now that the user types; then ``acted`` is called."""
        self._documents = documents
        self._files = files
        self._sessions = sessions
        self._watches = watches
        self._acted = acted

    def changed(self, uri: str, version: int | None, changes: Sequence[ContentChange]) -> None:
        """``textDocument/didChange``."""
        known = self._documents.get(uri)
        before = known.text if known is not None and self._watches() else None
        document = self._documents.change(uri, version, [_text_change(one) for one in changes])
        if document is None:
            return
        if before not in (None, document.text) and not self._files.ours(document):
            self._acted()
        self._moved(document.real)

    def saved(self, uri: str, text: str | None) -> None:
        """``textDocument/didSave``."""
        document = self._documents.save(uri, text)
        self._moved(document.real if document else None)

    def _moved(self, path: Path | None) -> None:
        if path is None:
            return
        for session in self._sessions():
            if session.ledger is not None and path in session.ledger.paths:
                session.review_soon()


def _text_change(change: ContentChange) -> TextChange:
    if change.range is None:
        return TextChange(None, change.text)
    (first, start), (last, end) = change.range
    return TextChange(Range(Position(first, start), Position(last, end)), change.text)
