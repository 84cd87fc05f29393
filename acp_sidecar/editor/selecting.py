"""``acp/selection``: what is selected in the user's active editor.

Only an editor that declares ``selection`` can be asked; plain LSP does not know it.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from acp_sidecar.client.ports import Attachment
from acp_sidecar.editor.server import ClientError, ClientGone

if TYPE_CHECKING:
    from acp_sidecar.editor.capabilities import ClientFeatures
    from acp_sidecar.editor.server import SidecarServer

logger = logging.getLogger(__name__)

_ANSWER_SECONDS: Final = 5


class Selecting:
    """The selection in one editor."""

    def __init__(self, server: SidecarServer, features: ClientFeatures) -> None:
        self._server = server
        self._features = features

    async def selection(self) -> Attachment | None:
        """The document and the lines of its selection; without one the document alone. None
        where the editor does not tell."""
        if not self._features.selection:
            return None
        try:
            answer = await self._server.request("acp/selection", {}, timeout=_ANSWER_SECONDS)
        except (ClientError, ClientGone, TimeoutError) as error:
            logger.info("the editor did not tell what is selected: %s", error)
            return None
        uri = answer.get("uri") if isinstance(answer, Mapping) else None
        if not isinstance(uri, str) or not uri:
            return None
        return uri, lines_of(answer.get("selection"))


def lines_of(span: Any) -> tuple[int, int] | None:
    """The 0-based first and last line of an LSP range that holds something; None for one that
    is empty, or none."""
    try:
        start, end = span["start"], span["end"]
        first, last = start["line"], end["line"]
        if start == end or not (type(first) is type(last) is int and 0 <= first <= last):
            return None
        return first, last - 1 if end["character"] == 0 and last > first else last
    except (KeyError, TypeError):
        return None
