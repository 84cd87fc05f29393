"""A file is replaced on disk, and whoever has it open is brought along."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

from acp_sidecar.workspace import disk
from acp_sidecar.workspace.disk import Stamp
from acp_sidecar.workspace.documents import Documents
from acp_sidecar.workspace.edits import Buffers, alike
from acp_sidecar.workspace.problems import FileProblem, Moved
from acp_sidecar.workspace.textdiff import fit, merge3
from acp_sidecar.workspace.texts import Missing, Said, decode, misread
from acp_sidecar.workspace.unsaved import Unsaved

log = logging.getLogger(__name__)

_ATTEMPTS: Final = 20
"""So often an edit is worked out anew for somebody who types on: as long as it has not come about
they may save over what is on disk."""

T = TypeVar("T")


class Storing:
    """Writes files, with an editor that may have them open."""

    def __init__(
        self,
        documents: Documents,
        buffers: Buffers,
        unsaved: Unsaved,
        taken_back: Callable[[str], None],
    ) -> None:
        """``taken_back``: hears of a document whose file was another for a moment and is as it
        was again."""
        self._documents = documents
        self._buffers = buffers
        self._unsaved = unsaved
        self._taken_back = taken_back

    async def store(
        self,
        path: Path,
        now: Said,
        data: bytes,
        label: str,
        mode: int | None = None,
    ) -> Stamp:
        """Replace the file on disk, and bring along who has it open."""
        expected = None if isinstance(now, Missing) else now.stamp
        shown = {document.uri: document.text for document in self._documents.all_at_real(path)}
        stamp = await in_thread(lambda: disk.write(path, data, expected, mode=mode))
        if not shown:
            return stamp
        try:
            text = decode(data, path)[0]
        except FileProblem:
            return stamp
        self._unsaved.remember(text)
        try:
            for uri, before in shown.items():
                await self._bring_along(uri, before, text, label)
        except (FileProblem, Moved) as problem:
            if isinstance(problem, FileProblem) and problem.kind not in ("changed", "encoding"):
                log.info("%s is on disk, the editor lags behind: %s", path, problem)
                return stamp
            # The user is at work on it, or cannot read it so: as if we had never been here.
            await in_thread(lambda: _take_back(path, now, stamp))
            for uri in shown:
                self._taken_back(uri)
            raise
        return stamp

    async def _bring_along(self, uri: str, before: str, text: str, label: str) -> None:
        """Bring a document that said ``before`` to what is on disk now.

        Raises :class:`Moved` where the user has begun to type in it and the editor would not
        save it any more, for it was not the one who changed the file."""
        document = self._documents.get(uri)
        if document is not None and document.text == before:
            await self._buffers.comes_to_say(uri, text)
        for _ in range(_ATTEMPTS):
            document = self._documents.get(uri)
            if document is None:
                return
            if alike(self._documents, document, text):
                document.mark_clean()
                return
            encoding = misread(text, document.text)
            if encoding is not None:
                raise FileProblem(
                    "encoding",
                    Path(document.path or uri),
                    f"The editor reads this file as {encoding}, and what is written here is "
                    "UTF-8: nothing was written",
                )
            if document.uncertain:
                return
            if document.text != before and self._documents.habits.reloads:
                raise Moved
            whole = fit(text, document.text)
            if document.text == before:
                target: str | None = whole
            else:
                target = merge3(before, document.text, fit(text, before))
            if target is None:
                raise FileProblem(
                    "changed",
                    Path(document.path or uri),
                    "The user has just begun to edit the same lines. Read the file again",
                )
            clean = document.text == before
            try:
                await self._buffers.edit(document, target, label)
            except Moved:
                continue
            document = self._documents.get(uri)
            if document is not None:
                as_it_is = clean and alike(self._documents, document, target)
                document.mark_clean(document.text if as_it_is else whole)
            return


def _take_back(path: Path, before: Said, stamp: Stamp) -> None:
    try:
        if isinstance(before, Missing):
            disk.remove(path, stamp)
        else:
            # With the time of then: an editor that had not noticed may go on to save.
            then = None if before.stamp is None else before.stamp.changed_ns
            disk.write(path, before.data, stamp, changed_ns=then)
    except Moved:
        log.info("%s has been written by somebody else meanwhile and stays as it is", path)


async def in_thread(work: Callable[[], T]) -> T:
    """Do what may wait for the disk, and see it through even when nobody waits for it."""
    future = asyncio.get_running_loop().run_in_executor(None, work)
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        await asyncio.wait({future})
        if not future.cancelled() and future.exception() is not None:
            log.warning("a write that was called off failed: %s", future.exception())
        raise
