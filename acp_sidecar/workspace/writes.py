"""What a write makes of a file, and whose it was."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Final, Literal

from attrs import frozen

from acp_sidecar.workspace.disk import Snapshot, Stamp
from acp_sidecar.workspace.problems import FileProblem
from acp_sidecar.workspace.textdiff import fit, merge3, same_text
from acp_sidecar.workspace.texts import BOM, FileText, Missing, Said, encode

USER: Final = object()
"""The author of what was put back on behalf of the user."""

_AUTHORS_REMEMBERED: Final = 1024


@frozen
class WriteOutcome:
    """What came of a write."""

    before: FileText | Missing
    after: FileText
    """What it said then. It is not what was written where that was merged with the user's
    own changes, or where line ends differed."""
    where: Literal["buffer", "disk", "nowhere"]
    """``nowhere``: it said so already."""
    merged: bool = False
    last_sighting: int = 0
    """The number of the last time before it that an editor was seen to load or save a file."""

    @property
    def text(self) -> str:
        return self.after.text

    @property
    def created(self) -> bool:
        return isinstance(self.before, Missing)


class Authors:
    """Who has last written which file through us."""

    def __init__(self) -> None:
        self._written: OrderedDict[Path, tuple[int, object, int]] = OrderedDict()
        self._count = 0

    def note(self, path: Path, content: str | bytes | None, author: object) -> None:
        """A file is about to say this by the author's hand; None: it is to be deleted."""
        self._count += 1
        self._written[path] = (hash(content), author, self._count)
        self._written.move_to_end(path)
        while len(self._written) > _AUTHORS_REMEMBERED:
            self._written.popitem(last=False)

    def of(self, path: Path, said: Said) -> tuple[object, int] | None:
        """See :meth:`acp_sidecar.workspace.files.Files.author_of`."""
        written, author, number = self._written.get(path, (None, None, 0))
        content: str | bytes | None = None
        if isinstance(said, FileText):
            content = said.text
        elif isinstance(said, Snapshot):
            content = said.data
        return (author, number) if written == hash(content) and author is not None else None

    def last_write(self, path: Path) -> int:
        """The number of the last write of a file; 0 if there was none."""
        return self._written.get(path, (None, None, 0))[2]


def planned(
    path: Path,
    now: FileText | Missing,
    content: str,
    seen: str | None,
    unseen: Callable[[FileText, str], str | None],
) -> tuple[str, bool]:
    """The text to bring about, and whether it holds changes of others too.

    ``seen`` and ``content`` as for :meth:`acp_sidecar.workspace.files.Files.write`;
    ``unseen`` says what a writer has most likely seen of a text that never asked for it,
    None where that is the text itself. Raises :class:`FileProblem`.
    """
    if isinstance(now, Missing):
        return content, False
    without_mark = now.bom or now.source == "buffer"
    if without_mark and not now.text.startswith(BOM):
        content = content.removeprefix(BOM)
    content = fit(content, now.text)
    if content == now.text:
        return content, False
    if seen is None:
        seen = unseen(now, content)
        if seen is None:
            return content, False
    if not now.text.startswith(BOM):
        seen = seen.removeprefix(BOM)
    seen = fit(seen, now.text)
    if same_text(seen, now.text):
        return content, False
    both = merge3(seen, now.text, content)
    if both is None:
        unsaved = ", and it is not saved" if now.source == "buffer" else ""
        raise FileProblem(
            "changed",
            path,
            f"The file has been changed since you read it{unsaved}. Read it again and "
            "make your change to what it says now; nothing was written",
        )
    return both, True


def check(path: Path, content: str) -> None:
    """Raises :class:`FileProblem` for what cannot be stored as UTF-8."""
    try:
        content.encode("utf-8")
    except UnicodeEncodeError:
        raise FileProblem(
            "invalid", path, "The text holds half of a surrogate pair, which is no character"
        ) from None


def stored(now: FileText | Missing, text: str, stamp: Stamp) -> FileText:
    """What a file says on disk that said ``now``, and then was given a text."""
    if isinstance(now, FileText) and now.bom:
        return FileText(text, "disk", True, stamp)
    return FileText(text.removeprefix(BOM), "disk", text.startswith(BOM), stamp)


def data_of(now: FileText | Missing, text: str) -> bytes:
    """The bytes of a new text of a file; it keeps its byte order mark."""
    return encode(text, isinstance(now, FileText) and now.bom)
