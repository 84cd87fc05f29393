"""Which open documents hold changes that are not in their files.

A mirror alone cannot say: an editor opens documents with text it never saved (after a
restart of ours, from its own backup), and loads files anew without a word about it.
"""

from __future__ import annotations

import hashlib
import time
from collections import OrderedDict
from contextlib import suppress
from pathlib import Path
from typing import Final
from weakref import WeakKeyDictionary, WeakSet

from acp_sidecar.workspace import disk
from acp_sidecar.workspace.disk import Snapshot, Stamp
from acp_sidecar.workspace.documents import Document, Documents
from acp_sidecar.workspace.edits import alike
from acp_sidecar.workspace.problems import FileProblem
from acp_sidecar.workspace.texts import BOM, FileText, Missing, decode
from acp_sidecar.workspace.uris import uri_key

_TEXTS_REMEMBERED: Final = 1024
_CLOSED_REMEMBERED: Final = 32
_SAVING_SECONDS: Final = 0.1
"""Within which an editor that has written a file says so."""


class Unsaved:
    """Compares the documents of an editor with the disk."""

    def __init__(self, documents: Documents, limit: int) -> None:
        """``limit``: most bytes of a file that is read."""
        self._documents = documents
        self._limit = limit
        self._compared: WeakKeyDictionary[Document, tuple[str, Stamp]] = WeakKeyDictionary()
        self._stamps: WeakKeyDictionary[Document, Stamp] = WeakKeyDictionary()
        self._loaded: WeakSet[Document] = WeakSet()
        self._loads: WeakKeyDictionary[Document, tuple[Stamp, float]] = WeakKeyDictionary()
        self._once_on_disk: OrderedDict[bytes, None] = OrderedDict()
        self._closed_unsaved: OrderedDict[str, tuple[str, str | None]] = OrderedDict()
        documents.subscribe(self._opened, to=("open",))
        documents.subscribe(self._changed, to=("change",))
        documents.subscribe(self._saved, to=("save",))
        documents.subscribe(self._closed, to=("close",))

    def raw(self, path: Path) -> Snapshot | None:
        """The bytes on disk of a regular file; None where there is none.

        Raises :class:`FileProblem`.
        """
        try:
            return disk.read(path, self._limit)
        except FileProblem as problem:
            if problem.kind == "missing":
                return None
            raise

    def on_disk(self, path: Path) -> FileText | Missing:
        """What the disk says. Raises :class:`FileProblem`, also for what is no text."""
        raw = self.raw(path)
        if raw is None:
            return Missing(path)
        text, bom = decode(raw.data, path)
        if self._documents.all_at_real(path):
            self.remember(text)
        return FileText(text, "disk", bom, raw.stamp)

    def text_on_disk(self, path: Path) -> str | None:
        """The text on disk, None where there is none to be had."""
        try:
            now = self.on_disk(path)
        except FileProblem:
            return None
        return None if isinstance(now, Missing) else now.text

    def document(self, path: Path) -> Document | None:
        """The document with the user's unsaved changes to a file, if there is one.

        Raises :class:`FileProblem` where there are two that differ.
        """
        unsaved = [
            document
            for document in self._documents.all_at_real(path)
            if document.dirty and not self._equals_disk(document, path)
        ]
        if len(unsaved) > 1 and len({document.text for document in unsaved}) > 1:
            raise FileProblem(
                "changed", path, "The file is open twice, with different unsaved changes"
            )
        return unsaved[0] if unsaved else None

    def reloaded(self, document: Document) -> bool:
        """Whether a document that has just changed says what the disk has come to say."""
        return document in self._loaded

    def just_loaded(self, path: Path) -> bool:
        """Whether an editor has just come to show what is on disk.

        For a moment it may also be that the user has typed and saved, and the word of the
        saving is still to come.
        """
        now = time.monotonic()
        return any(
            not document.dirty and now - self._loads[document][1] < _SAVING_SECONDS
            for document in self._documents.all_at_real(path)
            if document in self._loads
        )

    def typed_on(self, path: Path) -> FileText | None:
        """What is on disk, where the editor had loaded that before the user went on."""
        stamp = disk.stamp(path)
        for document in self._documents.all_at_real(path):
            if document.dirty and self._loads.get(document, (None,))[0] == stamp:
                with suppress(FileProblem):
                    now = self.on_disk(path)
                    return now if isinstance(now, FileText) else None
        return None

    def _equals_disk(self, document: Document, path: Path) -> bool:
        """Whether there is nothing to save after all: the editor has loaded what is on disk,
        or the user has come back to it."""
        stamp = disk.stamp(path)
        if stamp is None or self._compared.get(document) == (document.text, stamp):
            return False
        text = self.text_on_disk(path)
        if text is not None and alike(self._documents, document, text):
            document.mark_clean()
            return True
        self._compared[document] = (document.text, stamp)
        return False

    def _opened(self, document: Document) -> None:
        """A document may be opened with changes that were never saved: after a restart of
        ours, or from the editor's own backup. Only one that says what the file says, or
        said lately, is clean."""
        if document.real is None:
            return
        text, saved = self._closed_unsaved.pop(uri_key(document.uri), (None, None))
        if text == document.text:
            document.mark_dirty(saved)
            return
        try:
            now = self.on_disk(document.real)
        except FileProblem:
            return
        if isinstance(now, Missing):
            clean = document.text in ("", "\n", "\r\n")
        else:
            clean = alike(self._documents, document, now.text)
            if clean and now.stamp is not None:
                self._stamps[document] = now.stamp
        if not clean and _digest(document.text) not in self._once_on_disk:
            document.mark_dirty()

    def _changed(self, document: Document) -> None:
        """An editor may have loaded the file anew. Then what it shows is saved, and stays so
        when the file changes again before the editor has seen that."""
        self._loaded.discard(document)
        if document.real is None:
            return
        stamp = disk.stamp(document.real)
        if stamp is None or self._stamps.get(document) == stamp:
            return
        self._stamps[document] = stamp
        text = self.text_on_disk(document.real)
        if text is not None and alike(self._documents, document, text):
            document.mark_clean()
            self._loaded.add(document)
            self._loads[document] = (stamp, time.monotonic())

    def _saved(self, document: Document) -> None:
        self._loads.pop(document, None)
        stamp = disk.stamp(document.real) if document.real is not None else None
        if stamp is not None:
            self._stamps[document] = stamp

    def _closed(self, document: Document) -> None:
        """Some editors close a document and open it again as it is, unsaved changes and all."""
        if document.real is not None and document.dirty:
            self._closed_unsaved[uri_key(document.uri)] = (document.text, document.saved_text)
            while len(self._closed_unsaved) > _CLOSED_REMEMBERED:
                self._closed_unsaved.popitem(last=False)

    def remember(self, text: str) -> None:
        """The disk has said this of a file that is open."""
        digest = _digest(text)
        self._once_on_disk[digest] = None
        self._once_on_disk.move_to_end(digest)
        while len(self._once_on_disk) > _TEXTS_REMEMBERED:
            self._once_on_disk.popitem(last=False)


def _digest(text: str) -> bytes:
    plain = text.removeprefix(BOM).replace("\r\n", "\n").removesuffix("\n")
    return hashlib.blake2b(plain.encode("utf-8", "surrogatepass"), digest_size=16).digest()
