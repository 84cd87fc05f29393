"""Files that change on disk, as far as the editor watches them for us.

LSP 3.17, "DidChangeWatchedFiles Notification". An event says only that it is worth looking;
what has changed, and by whom, the ledger finds out. Files that no session has heard of (builds,
drafts that agents put in the place of a file) are nobody's business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from acp_sidecar.workspace.uris import uri_to_path

if TYPE_CHECKING:
    from acp_sidecar.client.ports import SessionView

REGISTRATION: Final[dict[str, Any]] = {
    "id": "acp-watched-files",
    "method": "workspace/didChangeWatchedFiles",
    "registerOptions": {"watchers": [{"globPattern": "**/*"}]},
}
"""For ``client/registerCapability``: everything in the workspace, since agents write anywhere."""


class Watching:
    """Has sessions look again at files that have moved."""

    def __init__(self, sessions: Callable[[], Iterable[SessionView]]) -> None:
        self._sessions = sessions

    def happened(self, events: Sequence[tuple[str, int]]) -> None:
        """``workspace/didChangeWatchedFiles``: URIs, and what became of them."""
        paths = [Path(path) for uri, _ in events if (path := uri_to_path(uri)) is not None]
        for session in self._sessions():
            ledger = session.ledger
            if ledger is not None and any(map(ledger.concerns, paths)):
                session.review_soon()
