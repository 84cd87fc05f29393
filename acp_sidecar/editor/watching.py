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
            if session.ledger is not None and _any(paths, session.ledger.paths):
                session.review_soon()


def _any(paths: Iterable[Path], known: Sequence[Path]) -> bool:
    """Whether one of ``paths`` is one of the known ones, or a folder of them."""
    # A checkout brings thousands of events: names are compared before links are followed.
    places = {place for path in known for place in (path, *path.parents)}
    names = {place.name for place in places}
    return any(path.name in names and _real(path) in places for path in paths)


def _real(path: Path) -> Path:
    try:
        return path.parent.resolve() / path.name
    except (OSError, RuntimeError):
        return path
