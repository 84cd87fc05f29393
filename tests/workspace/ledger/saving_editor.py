"""An editor like VS Code that saves by itself, step by step.

What it does is spread over several places that do not wait for one another: the window, where
the user types; the disk; and the extension host, which hears of all of it a moment later and
tells us. So between a change and the word of it, and between a saving, the end of it and the
word of it, anything can happen. The word of a saving comes with what the text is by then.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from pathlib import Path

from acp_sidecar.workspace.documents import Documents, Habits, TextChange
from acp_sidecar.workspace.edits import DocumentEdit, NotApplied
from acp_sidecar.workspace.files import Files
from acp_sidecar.workspace.positions import apply_edits
from acp_sidecar.workspace.uris import path_to_uri
from tests.virtual_time import just_now


class SavingEditor:
    """One open file. The methods that are its steps do nothing where there is nothing to do."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.uri = path_to_uri(path)
        self.documents = Documents(Habits(reloads=True))
        self.text = path.read_text()
        self.version = 1
        self.dirty = False
        self.refused = False
        """Whether it was not let save, since the file is a newer one."""
        self.clock = 0
        self.within_edit: Callable[[], None] = lambda: None
        self._known = self._state()
        self._saving: tuple[str, int] | None = None
        self._saved = 0
        self._emptied = False
        self._loading: tuple[str, object, int] | None = None
        self._wire: deque[Callable[[], object]] = deque()
        self.documents.open(self.uri, "plaintext", 1, self.text)

    def files(self) -> Files:
        return Files(
            self.documents, self._edit, settle=0.5, answer=5.0, taken_back=self._taken_back
        )

    # --- the window -----------------------------------------------------------------------

    def type(self, before: str, text: str) -> None:
        self._become(self.text.replace(before, text + before, 1))
        self.dirty = True

    def begin_saving(self) -> None:
        if self.dirty and not self.refused and self._saving is None:
            self._saving = self.text, self.version

    def begin_writing(self) -> None:
        """The file is emptied first, unless it is a newer one than is known here."""
        if self._saving is None or self._saved or self._emptied:
            return
        if self._state() != self._known:
            self._saving = None
            self.refused = True
            return
        self.path.write_text("")
        just_now(self.path)
        self._emptied = True

    def write(self) -> None:
        """What is saved gets to the disk."""
        self.begin_writing()
        if self._saving is None or not self._emptied:
            return
        text, version = self._saving
        self.put(text)
        self._emptied = False
        self._known = self._state()
        self._saved = version

    def end_saving(self) -> None:
        """The window hears that it is saved."""
        if self._saved:
            if self._saved == self.version:
                self.dirty = False
            self._saving, self._saved = None, 0
            text = self.text
            self._wire.append(lambda: self.documents.save(self.uri, text))

    def begin_loading(self) -> None:
        if not self.dirty and self._saving is None and self._state() != self._known:
            self._loading = self.path.read_text(), self._state(), self.version

    def end_loading(self) -> None:
        if self._loading is not None:
            text, state, version = self._loading
            self._loading = None
            if version == self.version and not self.dirty:
                self._known = state
                if text != self.text:
                    self._become(text)

    # --- the extension host ---------------------------------------------------------------

    def deliver(self) -> None:
        """We hear of one thing."""
        if self._wire:
            self._wire.popleft()()

    def deliver_all(self) -> None:
        while self._wire:
            self.deliver()

    # --- the disk -------------------------------------------------------------------------

    def put(self, text: str) -> None:
        """Somebody writes the file, a moment later than the last time."""
        self.path.write_text(text)
        self.clock += 1
        os.utime(self.path, ns=(0, 10**18 + self.clock * 10**9))

    def _state(self) -> tuple[int, int]:
        status = self.path.stat()
        return status.st_mtime_ns, status.st_size

    # --- the end --------------------------------------------------------------------------

    @property
    def at_rest(self) -> bool:
        waits = self._wire or self._saving or self._loading or (self.dirty and not self.refused)
        return not waits and (self.dirty or self._state() == self._known)

    def go_on(self) -> None:
        """A bit of everything that is still to be done."""
        self.deliver_all()
        self.begin_loading()
        self.end_loading()
        self.begin_saving()
        self.write()
        self.end_saving()
        self.deliver_all()

    def overwrite(self) -> None:
        """The user has their text saved over the newer file."""
        self._known = self._state()
        self.refused = False

    # --- ours -----------------------------------------------------------------------------

    def _become(self, text: str) -> None:
        self.text = text
        self.version += 1
        version = self.version
        change = [TextChange(None, text)]
        self._wire.append(lambda: self.documents.change(self.uri, version, change))

    async def _edit(self, edit: DocumentEdit) -> object:
        self.within_edit()
        if edit.version != self.version:
            raise NotApplied("the document has changed")
        self._become(apply_edits(self.text, edit.edits, "utf-16"))
        self.dirty = True
        self.within_edit()
        self.deliver_all()
        return {"applied": True}

    def _taken_back(self, uri: str) -> None:
        if self._state() == self._known:
            self.refused = False
