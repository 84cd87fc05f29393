"""``workspace/applyEdit``: one at a time for a client, versioned, labelled.

LSP 3.17, "Applies a WorkspaceEdit". The answer is not trusted: whether an edit arrived is
judged by the document's own text, where it was asked for (:mod:`workspace.files`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from acp_sidecar.editor.server import ClientError, ClientGone
from acp_sidecar.workspace.edits import NotApplied

if TYPE_CHECKING:
    from acp_sidecar.editor.capabilities import ClientFeatures
    from acp_sidecar.editor.server import SidecarServer
    from acp_sidecar.workspace.files import DocumentEdit


ANSWER_SECONDS: Final = 5
"""One edit that is never answered must not hold up all others."""


class EditRefused(Exception):
    """An edit could not be asked for, or the answer was none."""


class Edits:
    """The way of an edit into the editor."""

    def __init__(self, server: SidecarServer, features: Callable[[], ClientFeatures]) -> None:
        self._server = server
        self._features = features
        # VS Code applies one of several concurrent edits of a document and refuses the rest.
        self._one_at_a_time = asyncio.Lock()

    async def apply(self, edit: DocumentEdit) -> None:
        """Ask the editor to apply it. Returns when it answered yes or nothing clear.

        Raises :class:`NotApplied` with the editor's words where it says no,
        :class:`EditRefused` where it says nothing that can be relied on.
        """
        if not self._features().apply_edit:
            raise EditRefused("this editor takes no edits")
        params = {"label": edit.label, "edit": self._workspace_edit(edit)}
        async with self._one_at_a_time:
            try:
                answer = await self._server.request(
                    "workspace/applyEdit", params, timeout=ANSWER_SECONDS
                )
            except TimeoutError as error:
                raise EditRefused(f"no answer within {ANSWER_SECONDS} s") from error
            except (ClientError, ClientGone) as error:
                raise EditRefused(f"the editor could not apply it: {error}") from error
        if isinstance(answer, Mapping) and answer.get("applied") is False:
            reason = answer.get("failureReason") or "without a reason"
            raise NotApplied(f"the editor refused it: {reason}")

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
