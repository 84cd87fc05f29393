"""Which open documents hold changes that are not in their files.

A mirror alone cannot say: an editor opens documents with text it never saved (after a
restart of ours, from its own backup), and loads files anew without a word about it.
"""

from __future__ import annotations

import hashlib
import time
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from weakref import WeakKeyDictionary, WeakSet

from attrs import evolve, frozen

from acp_sidecar.workspace import disk
from acp_sidecar.workspace.disk import Snapshot, Stamp
from acp_sidecar.workspace.documents import Document, Documents
from acp_sidecar.workspace.edits import alike, are_alike
from acp_sidecar.workspace.problems import FileProblem
from acp_sidecar.workspace.textdiff import fit, hunks, merge3, same_text
from acp_sidecar.workspace.texts import BOM, FileText, Missing, decode
from acp_sidecar.workspace.uris import path_key, uri_key

_TEXTS_REMEMBERED: Final = 1024
_CLOSED_REMEMBERED: Final = 32
_SAVING_SECONDS: Final = 0.1
"""Within which an editor that has written a file says so."""
_REOPENING_SECONDS: Final = 0.05
"""Within which an editor that loads a file anew by closing and opening it does the latter."""
_SIGHTINGS_KEPT: Final = 8
_SIGHTINGS_SIZE: Final = 50_000_000
"""Characters of all texts that editors were seen to load or save."""


@frozen
class Sighting:
    """What an editor was seen to load from a file, or to save in it."""

    number: int
    """They count on over all files."""
    said: FileText
    saved: bool
    """By the user; otherwise it was loaded."""
    perhaps: bool = False
    """It was opened so, and was not on disk when we heard of it."""
    given_up: FileText | None = None
    """What was loaded replaced unsaved changes that had been made to this."""
    settled: float = 0.0
    """When it can be told that it was not the user's saving, by the monotonic clock."""
    typed_on: bool = False
    """It was saved, and the document says something else by now."""
    typed: bool = False
    """The document had unsaved changes before it was loaded."""
    beyond: Stamp | None = None
    """The state in which the file on disk said something else again when we heard of it."""

    @property
    def doubtful(self) -> bool:
        """Whether the word of a saving may still be to come."""
        return self.settled > time.monotonic()


class Unsaved:
    """Compares the documents of an editor with the disk."""

    def __init__(self, documents: Documents, limit: int) -> None:
        """``limit``: most bytes of a file that is read."""
        self._documents = documents
        self._limit = limit
        self._compared: WeakKeyDictionary[Document, tuple[str, Stamp]] = WeakKeyDictionary()
        self._agreed: WeakKeyDictionary[Document, Stamp] = WeakKeyDictionary()
        self._stamps: WeakKeyDictionary[Document, Stamp] = WeakKeyDictionary()
        self._loaded: WeakSet[Document] = WeakSet()
        self._loads: WeakKeyDictionary[Document, tuple[Stamp, float]] = WeakKeyDictionary()
        self._once_on_disk: OrderedDict[bytes, None] = OrderedDict()
        self._closed_unsaved: OrderedDict[str, tuple[str, str | None]] = OrderedDict()
        self._closed_clean: OrderedDict[str, float] = OrderedDict()
        self._unsaved: WeakSet[Document] = WeakSet()
        self._on_disk_since: WeakKeyDictionary[Document, set[bytes]] = WeakKeyDictionary()
        """What files were seen to say since documents last agreed with them."""
        self._noted: WeakKeyDictionary[Document, str] = WeakKeyDictionary()
        """What was found to be saved, of which the editor's word is still to come."""
        self.last_sighting = 0
        """The number of the last sighting of any file."""
        self._sightings: OrderedDict[str, list[Sighting]] = OrderedDict()
        self._size = 0
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
        documents = self._documents.all_at_real(path)
        if documents:
            self.remember(text)
        for document in documents:
            self._on_disk_since.setdefault(document, set()).add(_digest(text))
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

    def sightings(self, path: Path, after: int) -> Iterator[Sighting]:
        """What editors have loaded from a file, or saved in it, oldest first; those with a
        number beyond ``after``."""
        for each in tuple(self._sightings.get(path_key(str(path)), ())):
            if each.number > after:
                yield evolve(each, given_up=None) if each.doubtful else each

    def known_to_editor(self, document: Document, path: Path) -> bool:
        """Whether the file is as it was when the document last agreed with it, or gone."""
        try:
            now = self.on_disk(path)
        except FileProblem:
            # In an encoding that only the editor knows, or too large.
            stamp = disk.stamp(path)
            return stamp is not None and self._agreed.get(document) == stamp
        if isinstance(now, Missing):
            return True
        saved = document.saved_text
        return saved is not None and same_text(now.text, saved.removeprefix(BOM))

    def _agree(self, document: Document, path: Path) -> None:
        stamp = disk.stamp(path)
        if stamp is not None:
            self._agreed[document] = stamp

    def _equals_disk(self, document: Document, path: Path) -> bool:
        """Whether there is nothing to save after all: the editor has loaded what is on disk,
        or the user has come back to it."""
        stamp = disk.stamp(path)
        if stamp is None or self._compared.get(document) == (document.text, stamp):
            return False
        text = self.text_on_disk(path)
        if text is not None and alike(self._documents, document, text):
            if document in self._unsaved and self._stamps.get(document) != stamp:
                # It said so before the file did: saved by the user, who tells us in a moment.
                document.last_saved = self._noted[document] = document.text
                self._stamps[document] = stamp
            document.mark_clean()
            self._on_disk_since.pop(document, None)
            return True
        if text is not None and self._stamps.get(document) != stamp:
            self._look_for_saving(document, text, stamp)
        self._compared[document] = (document.text, stamp)
        return False

    def _look_for_saving(self, document: Document, text: str, stamp: Stamp) -> None:
        """A file has come to say something else than the document. That may be what the document
        said a moment ago: the user has saved it and typed on, and the word of it is to come."""
        self._stamps[document] = stamp
        earlier = self._earlier(document, text)
        if earlier is not None and earlier != document.saved_text:
            document.mark_saved(earlier)
            self._noted[document] = earlier

    def _earlier(self, document: Document, text: str) -> str | None:
        """What a document has said before, and its file says."""
        says = (said for said in reversed(document.past) if are_alike(self._documents, said, text))
        return next(says, None)

    def _really_saved(self, document: Document, path: Path) -> str | None:
        """What was saved, where a document has been typed in since; None where it has not.

        Between a saving and the word of it (VS Code writes the file, and has others hear of that)
        there is time to type, and the word comes with the text as it is by then.
        """
        noted = self._noted.pop(document, None)
        before = [text for text in (document.agreed_before, noted) if text is not None]
        may_be = [document.text, *reversed(document.past), *reversed(before)]
        on_disk = self.text_on_disk(path) if may_be[1:] else None
        if on_disk is None:
            return None
        says = (text for text in may_be if are_alike(self._documents, text, on_disk))
        text = next(says, None)
        if text is None:
            # It has been written over since.
            lately = (text for text in (document.text, *reversed(document.past)))
            text = next((text for text in lately if _digest(text) in self._once_on_disk), None)
        if text is None:
            text = min(may_be, key=lambda text: _distance(text, on_disk))
        return None if text == document.text else text

    def _opened(self, document: Document) -> None:
        """A document may be opened with changes that were never saved: after a restart of
        ours, or from the editor's own backup. Only one that says what the file says, or
        said lately, is clean."""
        if document.real is None:
            return
        key = uri_key(document.uri)
        text, saved = self._closed_unsaved.pop(key, (None, None))
        reopened = time.monotonic() - self._closed_clean.pop(key, 0.0) < _REOPENING_SECONDS
        if text == document.text:
            document.mark_dirty(saved)
            self._unsaved.add(document)
            return
        try:
            now = self.on_disk(document.real)
        except FileProblem:
            self._agree(document, document.real)
            return
        if isinstance(now, Missing):
            clean = document.text in ("", "\n", "\r\n")
        else:
            clean = alike(self._documents, document, now.text)
            if clean:
                self._saw(document, now, given_up=saved)
            if clean and now.stamp is not None:
                self._stamps[document] = now.stamp
        if clean:
            return
        # Where it was on disk a moment ago and is not any more, it was loaded all the same.
        text, bom = document.text.removeprefix(BOM), document.text.startswith(BOM)
        self._saw(document, FileText(text, "disk", bom), perhaps=not reopened)
        if not reopened and _digest(document.text) not in self._once_on_disk:
            # What the editor made the changes to is not said; most likely to what is there.
            document.mark_dirty(None if isinstance(now, Missing) else now.text)
            self._unsaved.add(document)

    def _changed(self, document: Document) -> None:
        """An editor may have loaded the file anew. Then what it shows is saved, and stays so
        when the file changes again before the editor has seen that."""
        self._loaded.discard(document)
        if document.real is not None:
            seen = self._sightings.get(path_key(str(document.real)))
            if seen:
                # A saving would have been told of by now.
                seen[-1] = evolve(seen[-1], settled=0.0)
            self._look_for_load(document, document.real)
        if document.dirty:
            self._unsaved.add(document)
        else:
            self._unsaved.discard(document)

    def _look_for_load(self, document: Document, path: Path) -> None:
        stamp = disk.stamp(path)
        if stamp is None:
            return
        # What was looked at already, the editor may still come to show.
        is_new = self._stamps.get(document) != stamp
        if not is_new and not (document.dirty and self._was_on_disk(document)):
            return
        self._stamps[document] = stamp
        try:
            now = self.on_disk(path)
        except FileProblem:
            return
        if not isinstance(now, FileText):
            return
        if alike(self._documents, document, now.text):
            self._loaded_anew(document, now, stamp)
        elif not is_new:
            return
        elif self._was_loaded(document, now.text):
            text, bom = document.text.removeprefix(BOM), document.text.startswith(BOM)
            self._loaded_anew(document, FileText(text, "disk", bom), stamp, beyond=stamp)
        else:
            self._look_for_saving(document, now.text, stamp)

    def _loaded_anew(
        self, document: Document, said: FileText, stamp: Stamp, beyond: Stamp | None = None
    ) -> None:
        given_up = document.saved_text if document in self._unsaved else None
        document.mark_clean()
        self._on_disk_since.pop(document, None)
        self._loaded.add(document)
        self._loads[document] = (stamp, time.monotonic())
        self._saw(document, said, given_up=given_up, wait=_SAVING_SECONDS, beyond=beyond)

    def _was_loaded(self, document: Document, on_disk: str) -> bool:
        """Whether a document without unsaved changes has come to say what its file said a moment
        ago, and does not any more: all that is new in it is on disk too, with more."""
        before = document.saved_text
        if document in self._unsaved or before is None:
            return False
        if self._was_on_disk(document):
            return True
        text = fit(document.text.removeprefix(BOM), on_disk)
        return merge3(fit(before.removeprefix(BOM), on_disk), text, on_disk) == on_disk

    def _was_on_disk(self, document: Document) -> bool:
        """Whether its file was seen to say what it says, since the two last agreed."""
        since = self._on_disk_since.get(document)
        return since is not None and _digest(document.text) in since

    def _saved(self, document: Document) -> None:
        self._loads.pop(document, None)
        earlier = None if document.real is None else self._really_saved(document, document.real)
        if earlier is not None:
            document.mark_saved(earlier)
            self._unsaved.add(document)
            said = FileText(earlier.removeprefix(BOM), "buffer")
            self._saw(document, said, saved=True, typed_on=True)
            return
        self._unsaved.discard(document)
        self._on_disk_since.pop(document, None)
        if document.real is None:
            return
        self._agree(document, document.real)
        stamp = disk.stamp(document.real)
        if stamp is not None:
            self._stamps[document] = stamp
        seen = self._sightings.get(path_key(str(document.real)), [])
        if seen and seen[-1].settled:
            # What looked like a load, and nothing has changed since, was the saving that we are
            # told of now.
            self._size -= len(seen.pop().said.text)
        said = FileText(document.text.removeprefix(BOM), "buffer")
        self._saw(document, said, saved=True)

    def _saw(
        self,
        document: Document,
        said: FileText,
        *,
        saved: bool = False,
        perhaps: bool = False,
        given_up: str | None = None,
        wait: float = 0.0,
        typed_on: bool = False,
        beyond: Stamp | None = None,
    ) -> None:
        assert document.real is not None
        key = path_key(str(document.real))
        typed = given_up is not None
        before = None if given_up is None else FileText(given_up.removeprefix(BOM), "buffer")
        settled = time.monotonic() + wait if wait else 0.0
        seen = self._sightings.setdefault(key, [])
        self._sightings.move_to_end(key)
        self.last_sighting += 1
        number = self.last_sighting
        seen.append(
            Sighting(number, said, saved, perhaps, before, settled, typed_on, typed, beyond)
        )
        self._size += len(said.text)
        while len(seen) > _SIGHTINGS_KEPT:
            self._size -= len(seen.pop(0).said.text)
        while self._size > _SIGHTINGS_SIZE and len(self._sightings) > 1:
            _, old = self._sightings.popitem(last=False)
            self._size -= sum(len(each.said.text) for each in old)

    def _closed(self, document: Document) -> None:
        """Some editors close a document and open it again as it is, unsaved changes and all;
        others do so to load its file anew."""
        if document.real is None:
            return
        key = uri_key(document.uri)
        if document.dirty:
            self._closed_unsaved[key] = (document.text, document.saved_text)
            while len(self._closed_unsaved) > _CLOSED_REMEMBERED:
                self._closed_unsaved.popitem(last=False)
        else:
            self._closed_clean[key] = time.monotonic()
            while len(self._closed_clean) > _CLOSED_REMEMBERED:
                self._closed_clean.popitem(last=False)

    def remember(self, text: str) -> None:
        """The disk has said this of a file that is open."""
        digest = _digest(text)
        self._once_on_disk[digest] = None
        self._once_on_disk.move_to_end(digest)
        while len(self._once_on_disk) > _TEXTS_REMEMBERED:
            self._once_on_disk.popitem(last=False)


def _distance(text: str, other: str) -> int:
    """How many lines differ."""
    return sum(hunk.before_lines + hunk.after_lines for hunk in hunks(text, other))


def _digest(text: str) -> bytes:
    plain = text.removeprefix(BOM).replace("\r\n", "\n").removesuffix("\n")
    return hashlib.blake2b(plain.encode("utf-8", "surrogatepass"), digest_size=16).digest()
