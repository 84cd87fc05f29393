"""``workspace/applyEdit``: one at a time for a client, versioned, labelled.

LSP 3.17, "Applies a WorkspaceEdit". The answer is not trusted: whether an edit arrived is
judged by the document's own text, where it was asked for (:mod:`workspace.files`).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from acp_sidecar.editor.server import ClientError, ClientGone

if TYPE_CHECKING:
    from acp_sidecar.editor.capabilities import ClientFeatures
    from acp_sidecar.editor.server import SidecarServer
    from acp_sidecar.workspace.files import DocumentEdit

logger = logging.getLogger(__name__)


class Edits:
    """The way of an edit into the editor."""

    def __init__(self, server: SidecarServer, features: Callable[[], ClientFeatures]) -> None:
        self._server = server
        self._features = features
        # VS Code applies one of several concurrent edits of a document and refuses the rest.
        self._one_at_a_time = asyncio.Lock()

    async def apply(self, edit: DocumentEdit) -> None:
        """Ask the editor to apply it. Returns when it answered, whatever it said."""
        params = {"label": edit.label, "edit": self._workspace_edit(edit)}
        async with self._one_at_a_time:
            try:
                await self._server.request("workspace/applyEdit", params)
            except ClientError as error:
                logger.info("the editor answered workspace/applyEdit with an error: %s", error)
            except ClientGone:
                logger.info("the editor went while an edit was on its way")

    def _workspace_edit(self, edit: DocumentEdit) -> dict[str, Any]:
        edits = [
            {
                "range": {
                    "start": {"line": one.range.start.line, "character": one.range.start.character},
                    "end": {"line": one.range.end.line, "character": one.range.end.character},
                },
                "newText": one.new_text,
            }
            for one in edit.edits
        ]
        features = self._features()
        if not features.document_changes:
            return {"changes": {edit.uri: edits}}
        document = {"uri": edit.uri, "version": edit.version}
        if not features.change_annotations:
            return {"documentChanges": [{"textDocument": document, "edits": edits}]}
        annotated = [{**one, "annotationId": "agent"} for one in edits]
        return {
            "documentChanges": [{"textDocument": document, "edits": annotated}],
            "changeAnnotations": {"agent": {"label": edit.label, "needsConfirmation": False}},
        }
