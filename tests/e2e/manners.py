"""What editors of different kinds do with an edit, as answers to ``workspace/applyEdit``."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

from acp_sidecar.workspace.positions import Position, Range, TextEdit
from tests.e2e.editor import BOUND, Editor, capabilities


def edits_of(change: dict[str, Any]) -> list[TextEdit]:
    """The edits of one document in an edit of the workspace."""
    return [
        TextEdit(_range(edit["range"]), re.sub(r"\r\n?", "\n", edit["newText"]))
        for edit in change["edits"]
    ]


def _range(raw: dict[str, Any]) -> Range:
    return Range(Position(**raw["start"]), Position(**raw["end"]))


class LikeVsCode:
    """Only at the exact version, and of several edits of a document at a time only one.

    Lines end as the document's do, whatever an edit says. What an editor would have to
    correct in an edit is kept in ``faults``.
    """

    def __init__(self, editor: Editor) -> None:
        self.editor = editor
        self.seen: list[dict[str, Any]] = []
        self.faults: list[str] = []
        self._busy: set[str] = set()

    async def __call__(self, params: dict[str, Any]) -> Any:
        self.seen.append(params)
        changes = params["edit"]["documentChanges"]
        uris = {change["textDocument"]["uri"] for change in changes}
        if uris & self._busy:
            self.faults.append("two edits of a document at a time")
            return {"applied": False}
        self._busy |= uris
        try:
            await asyncio.sleep(0.013)
            if not all(self._is_current(change["textDocument"]) for change in changes):
                return {"applied": False}
            for change in changes:
                self._make(change)
            return {"applied": True}
        finally:
            self._busy -= uris

    def _is_current(self, identity: dict[str, Any]) -> bool:
        document = self.editor.documents.get(identity["uri"])
        return document is not None and identity["version"] == document.version

    def _make(self, change: dict[str, Any]) -> None:
        uri = change["textDocument"]["uri"]
        text = self.editor.documents[uri].text
        edits = edits_of(change)
        self._inspect(text, edits)
        if "\r\n" in text:
            edits = [TextEdit(edit.range, edit.new_text.replace("\n", "\r\n")) for edit in edits]
        self.editor.change(uri, edits)

    def _inspect(self, text: str, edits: list[TextEdit]) -> None:
        lines = re.split("\r\n|\n|\r", text)
        done = Position(0, 0)
        for edit in edits:
            for place in (edit.range.start, edit.range.end):
                if place.line >= len(lines):
                    self.faults.append(f"{place} is beyond the last line")
                elif place.character > len(lines[place.line].encode("utf-16-le")) // 2:
                    self.faults.append(f"{place} is beyond the end of its line")
                if place < done:
                    self.faults.append(f"{place} comes after {done}")
                done = place

    @property
    def edits(self) -> list[list[dict[str, Any]]]:
        """The text edits of each request so far."""
        return [params["edit"]["documentChanges"][0]["edits"] for params in self.seen]


class LikeNeovim:
    """Says yes to everything. An edit of an older version is skipped without a word, the
    change of another one is told 150 ms later. The final newline is an option of the buffer
    that no edit changes, a lone carriage return is a character."""

    def __init__(self, editor: Editor) -> None:
        self.editor = editor
        self.seen: list[dict[str, Any]] = []

    @classmethod
    async def start(cls, editor: Editor, *folders: Path, settings: dict[str, Any]) -> LikeNeovim:
        can = capabilities()
        can["general"]["positionEncodings"] = ["utf-8", "utf-16", "utf-32"]
        await editor.initialize(*folders, settings=settings, client="Neovim", can=can)
        assert editor.encoding == "utf-8"
        editor.debounce = 0.15
        editor.rule = "lf"
        neovim = cls(editor)
        editor.answers["workspace/applyEdit"] = neovim
        return neovim

    def __call__(self, params: dict[str, Any]) -> Any:
        self.seen.append(params)
        (change,) = params["edit"]["documentChanges"]
        identity = change["textDocument"]
        document = self.editor.documents[identity["uri"]]
        version = identity["version"]
        if version is None or version >= document.version:
            self._make(document.uri, edits_of(change))
        return {"applied": True}

    def _make(self, uri: str, edits: list[TextEdit]) -> None:
        before = self.editor.documents[uri].text
        if "\r\n" in before:
            edits = [TextEdit(edit.range, edit.new_text.replace("\n", "\r\n")) for edit in edits]
        self.editor.change(uri, edits)
        after = self.editor.documents[uri].text
        if before.endswith("\n") and not after.endswith("\n"):
            end = "\r\n" if "\r\n" in before else "\n"
            self.editor.set_text(uri, after + end)


class Held:
    """Keeps every edit until it is let go; then does what ``manner`` does."""

    def __init__(self, manner: Any) -> None:
        self.manner = manner
        self.go = asyncio.Event()
        self._asked = asyncio.Event()

    async def asked(self) -> None:
        """Wait until an edit has come."""
        async with asyncio.timeout(BOUND):
            await self._asked.wait()

    async def __call__(self, params: dict[str, Any]) -> Any:
        self._asked.set()
        await self.go.wait()
        result = self.manner(params)
        return await result if asyncio.iscoroutine(result) else result
