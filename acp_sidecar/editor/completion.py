"""Completion in a document that a prompt is written in: commands, and files behind an ``@``.

LSP 3.17, "Completion Request". It is registered for documents of the language ``acp-prompt``
alone, where the editor can register: offered for every document it would take the place of
what the user has in them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from acp_sidecar.client.ports import Client, Refused, SessionView, Suggestion
from acp_sidecar.workspace.positions import content_length, to_index, units

if TYPE_CHECKING:
    from acp_sidecar.workspace.documents import Document, Documents

LANGUAGE: Final = "acp-prompt"
REGISTRATION: Final[Mapping[str, Any]] = {
    "id": "acp-completion",
    "method": "textDocument/completion",
    "registerOptions": {
        "documentSelector": [{"language": LANGUAGE}],
        "triggerCharacters": ["/", "@"],
    },
}

_KINDS: Final[Mapping[str, int]] = {"command": 3, "file": 17, "folder": 19}


class Completion:
    """Completes in the documents of one editor."""

    def __init__(self, client: Client, documents: Documents) -> None:
        self._client = client
        self._documents = documents

    async def complete(self, params: Any) -> Any:
        """``textDocument/completion``; None for any other document, and without a session."""
        try:
            document = self._documents.get(params["textDocument"]["uri"])
            line, character = params["position"]["line"], params["position"]["character"]
        except (KeyError, TypeError):
            return None
        if document is None or document.language_id != LANGUAGE:
            return None
        session = self._session(document)
        if session is None:
            return None
        cursor = self._index(document, line, character)
        text = document.text
        found = await self._client.complete(session.state.session_id, text, cursor)
        # What is typed on changes what there is: it is asked for again.
        return {"isIncomplete": True, "items": [self._item(document, text, one) for one in found]}

    def _session(self, document: Document) -> SessionView | None:
        """The session that the document's address names, else the only one open."""
        for session in self._client.sessions():
            if session.state.session_id in document.uri:
                return session
        try:
            return self._client.session(None)
        except Refused:
            return None

    def _index(self, document: Document, line: int, character: int) -> int:
        before = document.lines[:line]
        here = document.lines[line] if line < len(document.lines) else ""
        here = here[: content_length(here, document.rule)]
        return sum(map(len, before)) + to_index(here, character, self._documents.encoding)

    def _position(self, document: Document, index: int) -> dict[str, int]:
        line = 0
        for each in document.lines:
            if index <= content_length(each, document.rule):
                break
            index -= len(each)
            line += 1
        here = document.lines[line] if line < len(document.lines) else ""
        return {"line": line, "character": units(here[:index], self._documents.encoding)}

    def _item(self, document: Document, text: str, one: Suggestion) -> dict[str, Any]:
        span = {
            "start": self._position(document, one.start),
            "end": self._position(document, one.end),
        }
        item = {
            "label": one.label,
            "kind": _KINDS.get(one.kind, 1),
            # By what stands there already: else the editor would leave out what only holds it.
            "filterText": text[one.start : one.end],
            "textEdit": {"range": span, "newText": one.text},
        }
        return item | ({"detail": one.detail} if one.detail else {})
