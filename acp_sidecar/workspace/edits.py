"""One edit in an editor's buffer, and whether it really came about.

``workspace/applyEdit`` is a request whose answer cannot be relied on: clients say yes to
an edit they skipped, say nothing, or answer long before the change shows. What counts is
the text in our mirror of the document.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final, TypeAlias

from attrs import frozen

from acp_sidecar.workspace.documents import Document, Documents
from acp_sidecar.workspace.positions import TextEdit, apply_edits
from acp_sidecar.workspace.problems import FileProblem, Moved
from acp_sidecar.workspace.textdiff import edits, line_end, merge3, same_text

log = logging.getLogger(__name__)

_AT_ONCE: Final = 2
"""So many edits that typing overtakes are worked out anew at once: just after a key the next is
farthest away. The others wait until the user pauses."""
_PAUSE_SECONDS: Final = 0.25
_PAUSE_WITHIN_SECONDS: Final = 3.0
_STEPS_KEPT: Final = 16
_BUSY: Final = 3
_RELOAD: Final = 10
"""So many times ``settle`` an editor that reloads by itself may take for it."""


@frozen
class DocumentEdit:
    """An edit for the editor to make: all of it, on exactly this version."""

    uri: str
    """As the editor itself spells it."""
    version: int
    edits: Sequence[TextEdit]
    """Positions in the negotiated encoding, sorted, not touching one another."""
    label: str


class NotApplied(Exception):
    """The editor's clear word that it has not made an edit, and will not."""


EditorPort: TypeAlias = Callable[[DocumentEdit], Awaitable[object]]
"""Asks the editor to make an edit. May raise anything, and return anything: both are only
looked at for the message, should the edit not come about; :class:`NotApplied` also says that
there is nothing to wait for."""


def alike(documents: Documents, document: Document, text: str) -> bool:
    """Whether a document says ``text``, but for what its editor keeps to itself: how lines
    end and, in some, whether the last one does."""
    return are_alike(documents, document.text, text)


def are_alike(documents: Documents, mine: str, text: str) -> bool:
    """:func:`alike` for what a document of such an editor says or has said."""
    if documents.habits.lone_cr_ends_line:
        same: Callable[[str, str], bool] = same_text
    else:
        same = _same_lines
    if same(mine, text):
        return True
    if documents.habits.edits_final_newline:
        return False
    return same(_without_final_newline(mine), _without_final_newline(text))


def _same_lines(a: str, b: str) -> bool:
    return a == b or a.replace("\r\n", "\n") == b.replace("\r\n", "\n")


def _without_final_newline(text: str) -> str:
    return text.removesuffix("\n").removesuffix("\r")


class Buffers:
    """The one who edits open documents."""

    def __init__(
        self, documents: Documents, apply_edit: EditorPort, *, settle: float, answer: float
    ) -> None:
        """``settle``: seconds an edit may take to show once the editor has answered.
        ``answer``: seconds the editor may take to answer."""
        self._documents = documents
        self._apply_edit = apply_edit
        self._settle = settle
        self._answer = answer
        self._coming: list[tuple[str, str]] = []

    def expects(self, document: Document) -> bool:
        """Whether what the document says now is what we are bringing about."""
        return any(
            document is self._documents.get(uri) and alike(self._documents, document, text)
            for uri, text in self._coming
        )

    async def comes_to_say(self, uri: str, text: str) -> bool:
        """Wait for the editor to bring a document to ``text`` by itself: not for long, unless
        it is known to do so; then no longer than the user leaves the document alone."""
        with self._watch(uri, text) as watch:
            if self._documents.habits.reloads:
                return await watch.within(_RELOAD * self._settle, while_still=True)
            return await watch.within(self._settle)

    async def pause(self, document: Document | None, attempt: int) -> None:
        """Before the ``attempt``-th edit of a document, from 0: after a few that typing has
        overtaken wait until the user pauses, at most 3 seconds."""
        if document is None or attempt < _AT_ONCE:
            return
        changed = asyncio.Event()
        unsubscribe = self._documents.subscribe(
            lambda each: changed.set() if each is document else None, to=("change",)
        )
        try:
            async with asyncio.timeout(_PAUSE_WITHIN_SECONDS):
                while await _within(_PAUSE_SECONDS, changed):
                    changed.clear()
        except TimeoutError:
            log.info("somebody types in %s without a pause", document.uri)
        finally:
            unsubscribe()

    async def edit(self, document: Document, text: str, label: str) -> str:
        """Have the editor turn a document into ``text``, and wait until it shows.

        Returns the text this brought about, also where the user has typed on since. Raises
        :class:`Moved` where the edit was not made because the document had moved on: look
        at it again. Raises :class:`FileProblem` where the editor does not make the edit
        (``refused_by_editor``), where the user changed the same lines meanwhile
        (``changed``), and where the edit fell on another text than its own (``misplaced``).
        """
        uri, before = document.uri, document.text
        text = self._within_reach(before, text)
        wanted = edits(before, text, self._documents.encoding, document.rule)
        if not wanted:
            return text
        if document.rule == "lf" and any(_has_lone_cr(edit.new_text) for edit in wanted):
            raise FileProblem(
                "refused_by_editor",
                Path(document.path or uri),
                "The editor would take the carriage returns of this text for line ends",
            )
        with self._watch(uri, text) as watch:
            request = DocumentEdit(uri, document.version, wanted, label)
            answer = await self._ask(request, watch)
        if not watch.has_shown:
            self._judge(uri, before, text, wanted, watch.steps, answer)
        return text

    def _within_reach(self, before: str, text: str) -> str:
        """``text`` as far as an edit can bring it about: the final newline as it is, where
        this editor does not take it for text."""
        if self._documents.habits.edits_final_newline:
            return text
        if before.endswith("\n") and not text.endswith("\n"):
            return text + (line_end(before) or "\n")
        if not before.endswith("\n") and text.endswith("\n"):
            return _without_final_newline(text)
        return text

    async def _ask(self, request: DocumentEdit, watch: _Watch) -> str:
        """Send the edit; return when it shows or will not. What the editor said, in words."""
        asked = asyncio.create_task(self._send(request))
        shown = asyncio.create_task(watch.shown())
        moved = asyncio.create_task(watch.moved())
        try:
            await asyncio.wait(
                {asked, shown}, timeout=self._answer, return_when=asyncio.FIRST_COMPLETED
            )
            if not asked.done() and not shown.done():
                return "the editor did not answer"
            if asked.done() and isinstance(asked.result(), NotApplied):
                # The user has typed, and the word of that may come after the answer.
                await asyncio.wait({moved}, timeout=self._settle)
                return str(asked.result())
            # Some answer first and show it later, some the other way round.
            await asyncio.wait({asked, shown}, timeout=self._settle)
            if not asked.done():
                return "the editor did not answer"
            error = asked.result()
            if error is None and not watch.steps:
                # It says yes: a busy editor may take its time to tell of the change.
                await asyncio.wait({shown}, timeout=_BUSY * self._settle)
            if error is None:
                return "the editor says that it did"
            return str(error) or type(error).__name__
        finally:
            for task in (asked, shown, moved):
                task.cancel()
            await asyncio.gather(asked, shown, moved, return_exceptions=True)

    async def _send(self, request: DocumentEdit) -> Exception | None:
        try:
            await self._apply_edit(request)
        except Exception as error:  # noqa: BLE001 - whatever the port says, the text decides
            log.info("the editor on an edit of %s: %r", request.uri, error)
            return error
        return None

    def _judge(
        self,
        uri: str,
        before: str,
        text: str,
        wanted: Sequence[TextEdit],
        steps: Sequence[str],
        answer: str,
    ) -> None:
        document = self._documents.get(uri)
        if document is None:
            raise Moved
        path = Path(document.path or uri)
        now = document.text
        if now == before:
            raise FileProblem(
                "refused_by_editor", path, f"The edit was not made in the editor ({answer})"
            )
        both = merge3(before, now, text)
        if both is not None and alike(self._documents, document, both):
            return
        for earlier, later in pairwise((before, *steps)):
            if earlier != before and self._lands(document, earlier, later, wanted):
                raise FileProblem(
                    "misplaced",
                    path,
                    "The editor made the edit on a text that had changed, in the wrong place. "
                    "Undo it in the editor, then read the file again",
                )
        if both is None:
            raise FileProblem(
                "changed",
                path,
                "The user is editing the same lines. Read the file again before writing",
            )
        raise Moved

    def _lands(
        self, document: Document, earlier: str, later: str, wanted: Sequence[TextEdit]
    ) -> bool:
        try:
            return later == apply_edits(earlier, wanted, self._documents.encoding, document.rule)
        except ValueError:
            return False

    @contextlib.contextmanager
    def _watch(self, uri: str, text: str) -> Iterator[_Watch]:
        watch = _Watch(self._documents, uri, text)
        self._coming.append((uri, text))
        unsubscribe = self._documents.subscribe(watch.happened)
        try:
            yield watch
        finally:
            unsubscribe()
            self._coming.remove((uri, text))


class _Watch:
    """Follows one document until it says a text."""

    def __init__(self, documents: Documents, uri: str, text: str) -> None:
        self.steps: deque[str] = deque(maxlen=_STEPS_KEPT)
        self._documents = documents
        self._uri = uri
        self._text = text
        self._shown = asyncio.Event()
        self._moved = asyncio.Event()
        document = documents.get(uri)
        self._said = None if document is None else document.text
        self._look()

    def happened(self, document: Document) -> None:
        if document is self._documents.get(self._uri):
            self.steps.append(document.text)
            self._look()
            if document.text != self._said:
                # The word of a saving is no change.
                self._moved.set()

    def _look(self) -> None:
        document = self._documents.get(self._uri)
        if document is not None and alike(self._documents, document, self._text):
            self._shown.set()

    @property
    def has_shown(self) -> bool:
        return self._shown.is_set()

    async def shown(self) -> None:
        await self._shown.wait()

    async def moved(self) -> None:
        await self._moved.wait()

    async def within(self, seconds: float, *, while_still: bool = False) -> bool:
        """Whether the document comes to say the text in this time; with ``while_still`` the
        wait ends with its first change, whatever that is."""
        awaited = self._moved if while_still and not self.has_shown else self._shown
        await _within(seconds, awaited)
        return self.has_shown


async def _within(seconds: float, awaited: asyncio.Event) -> bool:
    """Whether something happens in this time."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await awaited.wait()
    return awaited.is_set()


def _has_lone_cr(text: str) -> bool:
    return "\r" in text.replace("\r\n", "")
