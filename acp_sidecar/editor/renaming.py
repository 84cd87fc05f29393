"""Files that the user renames in the editor.

LSP 3.17, "WillRenameFiles Request" and "DidRenameFiles Notification". Without them a file that
was renamed is one that is gone, and what waits for review in it would be gone with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from acp_sidecar.workspace.uris import uri_to_path

if TYPE_CHECKING:
    from acp_sidecar.client.ports import SessionView

_FILTERS: Final = {"filters": [{"scheme": "file", "pattern": {"glob": "**"}}]}
CAPABILITY: Final[dict[str, Any]] = {
    "workspace": {"fileOperations": {"willRename": _FILTERS, "didRename": _FILTERS}}
}
"""Files and folders, wherever they are."""


class Renaming:
    """Has sessions know a file again under its new name."""

    def __init__(self, sessions: Callable[[], Iterable[SessionView]]) -> None:
        self._sessions = sessions

    def will(self, params: Any) -> None:
        """``workspace/willRenameFiles``: answered with no edit of ours."""
        old = [each for each, _ in _renames(params)]
        for session in self._sessions():
            if session.ledger is not None:
                session.ledger.will_rename(old)

    async def did(self, params: Any) -> None:
        """``workspace/didRenameFiles``."""
        renames = list(_renames(params))
        for session in self._sessions():
            if session.ledger is None:
                continue
            for old, new in renames:
                await session.ledger.renamed(old, new)
            session.review_soon()


def _renames(params: Any) -> Iterator[tuple[Path, Path]]:
    """The old and the new path of each, resolved up to their last name."""
    listed = params.get("files") if isinstance(params, Mapping) else None
    for each in listed if isinstance(listed, list) else ():
        if isinstance(each, Mapping):
            old, new = _path(each.get("oldUri")), _path(each.get("newUri"))
            if old is not None and new is not None:
                yield old, new


def _path(uri: Any) -> Path | None:
    path = uri_to_path(uri) if isinstance(uri, str) else None
    if path is None:
        return None
    try:
        return Path(path).parent.resolve() / Path(path).name
    except (OSError, RuntimeError, ValueError):
        return None
