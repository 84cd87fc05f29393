"""One answer to what a file says now, and the only writer.

A file that is open with unsaved changes says what its buffer says; any other says what
is on disk. Accordingly a write goes into the buffer, where it stays unsaved, or to disk,
after which an editor that has the file open and does not reload it by itself is brought
along. Texts are read and written as UTF-8, strictly, without the byte order mark a file
may begin with; the mark and the way lines end belong to the file and survive a write.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from attrs import evolve

from acp_sidecar.workspace import disk
from acp_sidecar.workspace.disk import Snapshot, Stamp
from acp_sidecar.workspace.documents import Document, Documents
from acp_sidecar.workspace.edits import Buffers, DocumentEdit, EditorPort
from acp_sidecar.workspace.emptied import Emptied, until_whole
from acp_sidecar.workspace.filelocks import FileLocks
from acp_sidecar.workspace.problems import FileProblem, Moved
from acp_sidecar.workspace.roots import Roots
from acp_sidecar.workspace.storing import Storing, in_thread
from acp_sidecar.workspace.textdiff import fit, merge3, same_text
from acp_sidecar.workspace.texts import (
    BOM,
    FileText,
    Missing,
    Said,
    decode,
    encode,
    window,
)
from acp_sidecar.workspace.unsaved import Sighting, Unsaved
from acp_sidecar.workspace.writes import (
    USER,
    Authors,
    WriteOutcome,
    check,
    data_of,
    planned,
    stored,
)

__all__ = [
    "DocumentEdit",
    "FileProblem",
    "FileText",
    "Files",
    "Missing",
    "WriteOutcome",
    "window",
]

DEFAULT_LIMIT: Final = 10_000_000
"""Bytes a file may have to be read."""

_ATTEMPTS: Final = 5
"""So often a change is worked out anew, since the file says something else before it comes
about."""


class Files:
    """The files of the user, on disk and in the editor.

    Paths are resolved ones (:meth:`acp_sidecar.workspace.roots.Roots.resolve`): one that
    turns out to lead over a symlink is refused.
    """

    def __init__(
        self,
        documents: Documents,
        apply_edit: EditorPort,
        *,
        limit: int = DEFAULT_LIMIT,
        settle: float = 0.5,
        answer: float = 5.0,
        taken_back: Callable[[str], None] = lambda uri: None,
    ) -> None:
        """``limit``: most bytes of a file that is read. ``settle``: seconds an editor may
        take to reload a file, or to show an edit it has answered. ``answer``: seconds it may
        take to answer one. ``taken_back``: hears of a document whose file was another for a
        moment and is as it was again."""
        self._documents = documents
        self._buffers = Buffers(documents, apply_edit, settle=settle, answer=answer)
        self._locks = FileLocks()
        self._unsaved = Unsaved(documents, limit)
        self._emptied = Emptied()
        self._authors = Authors()
        self._storing = Storing(documents, self._buffers, self._unsaved, taken_back)

    # --- what a file says ----------------------------------------------------------------

    def peek(self, path: Path) -> FileText | Missing:
        """What the file says at this moment, whatever is being written.

        Raises :class:`FileProblem` for what is no readable text file.
        """
        document = self._unsaved.document(path)
        if document is not None:
            text = document.text
            return FileText(text.removeprefix(BOM), "buffer", text.startswith(BOM))
        return self._unsaved.on_disk(path)

    async def current(self, path: Path) -> FileText | Missing:
        """What the file says once the write that is under way, if any, is done.

        Raises :class:`FileProblem` for what is no readable text file.
        """
        async with self._locks.at(path):
            await self._whole(path)
            return self.peek(path)

    async def _whole(self, path: Path) -> None:
        await until_whole(lambda: self.half_written(path))

    def is_open(self, path: Path) -> bool:
        """Whether an editor has the file open."""
        return bool(self._documents.all_at_real(path))

    def opened(self, roots: Roots) -> list[Document]:
        """The open documents of files in these folders."""
        return [
            document
            for document in self._documents.all()
            if document.real is not None and roots.contains(document.real)
        ]

    def unsaved(self, roots: Roots) -> list[Document]:
        """The open documents in these folders that differ from their files and can be saved
        without a question: their files are as the editor knows them."""
        return [
            document
            for document in self.opened(roots)
            if document.real is not None
            and document.dirty
            and self._unsaved.known_to_editor(document, document.real)
        ]

    async def read(self, path: Path) -> str:
        """The text of the file. Raises :class:`FileProblem`, also where there is none."""
        now = await self.current(path)
        if isinstance(now, Missing):
            raise FileProblem("missing", path)
        return now.text

    def glance(self, path: Path) -> str | None:
        """The text for showing, None where there is none to be had."""
        try:
            now = self.peek(path)
        except FileProblem:
            return None
        return None if isinstance(now, Missing) else now.text

    def raw(self, path: Path) -> Snapshot | None:
        """The bytes on disk of any regular file; None where there is none.

        Raises :class:`FileProblem`.
        """
        return self._unsaved.raw(path)

    def ours(self, document: Document) -> bool:
        """Whether a change the editor has just told of is not the user's doing: an edit of
        ours has come about, or the editor has loaded the file anew."""
        if self._buffers.expects(document):
            return True
        return self._unsaved.reloaded(document)

    def still(self, path: Path, stamp: Stamp | None, *, missing: bool) -> bool:
        """Whether a file certainly says what it said in the state ``stamp``, or is still
        missing, without reading it."""
        if any(document.dirty for document in self._documents.all_at_real(path)):
            return False
        return (stamp is not None or missing) and disk.stamp(path) == stamp

    def saved_by_user(self, path: Path, text: str) -> bool:
        """Whether ``text`` is what the user last saved from an editor."""
        return any(
            document.last_saved is not None and same_text(document.last_saved, text)
            for document in self._documents.all_at_real(path)
        )

    def sightings(self, path: Path, after: int = 0) -> Iterator[Sighting]:
        """What editors were seen to load from a file, or to save in it, oldest first; those
        with a number beyond ``after``."""
        return self._unsaved.sightings(path, after)

    def half_written(self, path: Path, *, known: bool = False) -> bool:
        """Whether somebody may be in the middle of writing a file that is open: many empty it
        first, or take it away. ``known``: one that has said something, open or not."""
        if not known and not any(document.text for document in self._documents.all_at_real(path)):
            return False
        return self._emptied.lately(path)

    def at_work(self, path: Path) -> bool:
        """Whether a write of the file is under way, which its writer will tell of."""
        return self._locks.held(path)

    def author_of(self, path: Path, said: Said) -> tuple[object, int] | None:
        """Whose write it was through which a file came to say this: the ``author`` given to
        :meth:`write`, something else for what the user had put back; None if not known.

        With it the number of that write. Who has seen it, and the file say something else
        since, knows that this is another one's.
        """
        return self._authors.of(path, said)

    def last_write(self, path: Path) -> int:
        """The number of the last write of a file through us; 0 if there was none."""
        return self._authors.last_write(path)

    def hidden(self, path: Path) -> str | None:
        """What is on disk beneath unsaved changes that were made to something else and do not
        contain it, empty where the file is gone; None where nothing is hidden so."""
        try:
            document = self._unsaved.document(path)
        except FileProblem:
            return None
        if document is None or document.saved_text is None:
            return None
        on_disk = self._unsaved.text_on_disk(path)
        if on_disk is None:
            return "" if document.saved_text and disk.stamp(path) is None else None
        mine = document.text.removeprefix(BOM)
        before, now = (fit(text, mine) for text in (document.saved_text.removeprefix(BOM), on_disk))
        if same_text(before, now):
            return None
        return None if merge3(before, mine, now) == mine else on_disk

    def just_loaded(self, path: Path) -> bool:
        """Whether an editor has just come to show what is on disk, and nobody can tell yet
        whether it was loaded from there or saved."""
        return self._unsaved.just_loaded(path)

    def open_paths(self) -> list[Path]:
        """The files that are open in the editor."""
        return [document.real for document in self._documents.all() if document.real is not None]

    def uri_of(self, path: Path) -> str | None:
        """What the editor calls a file it has open."""
        documents = self._documents.all_at_real(path)
        dirty = (document for document in documents if document.dirty)
        document = next(dirty, documents[-1] if documents else None)
        return None if document is None else document.uri

    # --- changing it ------------------------------------------------------------------------

    async def write(
        self,
        path: Path,
        content: str,
        *,
        seen: str | None = None,
        label: str = "",
        author: object = None,
    ) -> WriteOutcome:
        """Make the file say ``content``, which was made from ``seen``.

        ``seen`` is what the writer last read or wrote, None where that is not known. A file
        that says something else by now is not overwritten: the changes from ``seen`` to
        ``content`` are made to it where they do not touch the others, line by line. Where
        ``seen`` is not known, unsaved changes of the user are kept in the same way.

        Of an existing file the line ends and the byte order mark stay. A new file is
        written as it is given. Missing folders are made. Done when disk or buffer say so.
        ``label`` names the edit to the user, ``author`` tells this writer from others (see
        :meth:`author_of`). Raises :class:`FileProblem`; then nothing has changed.
        """
        check(path, content)
        async with self._locks.at(path):
            for attempt in range(_ATTEMPTS):
                await self._buffers.pause(self._documents.at(path), attempt)
                await self._whole(path)
                now = self.peek(path)
                last = self._unsaved.last_sighting
                text, merged = self._planned(path, now, content, seen)
                if isinstance(now, FileText) and text == now.text:
                    return WriteOutcome(now, now, "nowhere", merged)
                self._authors.note(path, text, author)
                try:
                    if isinstance(now, FileText) and now.source == "buffer":
                        text = await self._edit(path, text, now.bom, label)
                        self._authors.note(path, text, author)
                        return WriteOutcome(now, evolve(now, text=text), "buffer", merged, last)
                    data = data_of(now, text)
                    stamp = await self._storing.store(path, now, data, label)
                except Moved:
                    continue
                return WriteOutcome(now, stored(now, text, stamp), "disk", merged, last)
        raise FileProblem("changed", path, "The file keeps changing. Read it again")

    async def plan(
        self, path: Path, content: str, *, seen: str | None = None
    ) -> tuple[FileText | Missing, str]:
        """What the file says, and what :meth:`write` would make of it. Nothing changes.

        Raises :class:`FileProblem` as :meth:`write` does.
        """
        check(path, content)
        async with self._locks.at(path):
            now = self.peek(path)
            return now, self._planned(path, now, content, seen)[0]

    async def put(
        self,
        path: Path,
        content: str | bytes,
        *,
        expected: Said,
        label: str = "",
        bom: bool = False,
        mode: int | None = None,
    ) -> None:
        """Make the file hold exactly ``content``, provided it says ``expected`` now.

        For taking changes back: on disk line ends and byte order mark (``bom``) become
        those of ``content``; a buffer keeps its own. ``mode`` is for a file that is gone.
        Raises :class:`FileProblem`.
        """
        data = content if isinstance(content, bytes) else encode(content, bom)
        async with self._locks.at(path):
            now = self._if_still(path, expected)
            try:
                if isinstance(now, FileText) and now.source == "buffer":
                    text = content if isinstance(content, str) else decode(content, path)[0]
                    text = fit(text, now.text)
                    self._authors.note(path, text, USER)
                    await self._edit(path, text, now.bom, label)
                else:
                    self._authors.note(path, content, USER)
                    await self._storing.store(path, now, data, label, mode)
            except Moved:
                raise FileProblem("changed", path, "The file has just changed") from None

    async def remove(self, path: Path, *, expected: FileText | Snapshot) -> None:
        """Delete the file, provided it says ``expected`` and nothing unsaved.

        Raises :class:`FileProblem`.
        """
        async with self._locks.at(path):
            now = self._if_still(path, expected)
            stamp = None if isinstance(now, Missing) else now.stamp
            if stamp is None:
                raise FileProblem("changed", path, "The file has unsaved changes in the editor")
            self._authors.note(path, None, USER)
            try:
                await in_thread(lambda: disk.remove(path, stamp))
            except Moved:
                raise FileProblem("changed", path, "The file has just changed") from None

    # --- how --------------------------------------------------------------------------------

    def _planned(
        self, path: Path, now: FileText | Missing, content: str, seen: str | None
    ) -> tuple[str, bool]:
        return planned(path, now, content, seen, lambda text, new: self._unseen(path, text, new))

    def _unseen(self, path: Path, now: FileText, content: str) -> str | None:
        """What a writer that never asked has most likely seen; None for what is there."""
        if now.source == "disk":
            return None
        on_disk = self._unsaved.text_on_disk(path)
        document = self._documents.at(path)
        saved = None if document is None else document.saved_text
        if on_disk is None or same_text(on_disk, content):
            # It has written the disk itself: what was there before is what the user had.
            return saved if saved is not None else ""
        return on_disk

    async def _edit(self, path: Path, text: str, bom: bool, label: str) -> str:
        document = self._documents.at(path)
        if document is None:
            raise Moved
        if document.uncertain:
            raise FileProblem(
                "refused_by_editor",
                path,
                "The file has unsaved changes and carriage returns within its lines, which "
                "editors count differently. It has to be saved first",
            )
        made = await self._buffers.edit(document, (BOM if bom else "") + text, label)
        return made.removeprefix(BOM) if bom else made

    def _if_still(self, path: Path, expected: Said) -> Said:
        now: Said
        if isinstance(expected, Snapshot):
            raw = self.raw(path)
            now = Missing(path) if raw is None else raw
            same = isinstance(now, Snapshot) and now.data == expected.data
        else:
            now = self.peek(path)
            if isinstance(expected, Missing) or isinstance(now, Missing):
                same = isinstance(expected, Missing) and isinstance(now, Missing)
            else:
                same = now.text == expected.text
        if not same:
            raise FileProblem("changed", path, "The file has just changed")
        return now
