"""What became of an agent's changes, as a block before the user's next words.

It is said by us and says so: the user's own words come after it, as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from acp_sidecar.acp.model import (
    ContentBlock,
    EmbeddedResource,
    TextContent,
    TextResourceContents,
)
from acp_sidecar.workspace.positions import content_length, split_lines

if TYPE_CHECKING:
    from collections.abc import Callable

    from acp_sidecar.workspace.ledger import Ledger
    from acp_sidecar.workspace.news import Edited, NewsForAgent, Reverted

URI: Final = "acp-sidecar:///review"
_MOST: Final = 16_000
_MOST_OF_ONE: Final = 2_000
_INTRODUCTION: Final = "From the editor, not from the user. Since your last turn:"


class News:
    """What is told to the agent of one session before the user's next words."""

    def __init__(self, ledger: Ledger | None, spelled: Callable[[Path], str]) -> None:
        """Without a ledger nothing is told. ``spelled``: how a path is called."""
        self._ledger = ledger
        self._spelled = spelled
        self._untold: list[str] = []
        """What there was to tell, and was not at the last prompt."""

    def before(self, text: str, *, embedded: bool) -> tuple[ContentBlock, ...]:
        """What goes before a prompt of this text; ``embedded`` where the agent takes embedded
        context."""
        if self._ledger is None:
            return ()
        fresh = self._ledger.news_for_agent()
        if fresh:
            self._untold.append(in_words(fresh, self._spelled))
        # Agents know a command by how the prompt begins: that is told the next time.
        if not self._untold or text.lstrip().startswith("/"):
            return ()
        said, self._untold = "\n\n".join(self._untold), []
        return (block(said, embedded=embedded),)


def in_words(news: NewsForAgent, spelled: Callable[[Path], str]) -> str:
    """The news as text for a model; empty without any. Long pieces are cut, and say so."""
    pieces = [_reverted(each, spelled) for each in news.reverted]
    pieces += [_edited(each, spelled) for each in news.edited]
    result: list[str] = []
    left = _MOST
    for number, piece in enumerate(pieces):
        if len(piece) > left:
            result.append(f"… and {len(pieces) - number} more. Read files again before you edit.")
            break
        result.append(piece)
        left -= len(piece)
    return "\n\n".join(result)


def block(said: str, *, embedded: bool) -> ContentBlock:
    """The news as a block; ``embedded`` where the agent takes embedded context."""
    text = f"{_INTRODUCTION}\n\n{said}"
    if embedded:
        return EmbeddedResource(TextResourceContents(URI, text, mime_type="text/plain"))
    return TextContent(text)


def _reverted(each: Reverted, spelled: Callable[[Path], str]) -> str:
    head = f"The user reverted this change of yours in {spelled(each.path)}:"
    return "\n".join((head, *_lines("-", each.before), *_lines("+", each.after)))


def _edited(each: Edited, spelled: Callable[[Path], str]) -> str:
    path = spelled(each.path)
    if not each.exists:
        return f"The user deleted {path}, which you had changed."
    if not each.changes:
        return f"The user changed {path}, which you had changed."
    lines = [f"The user changed {path}, which you had changed:"]
    for change in each.changes:
        lines.append(f"@@ line {change.line + 1} @@")
        lines += _lines("-", change.before)
        lines += _lines("+", change.after)
    return _cut("\n".join(lines))


def _lines(sign: str, text: str) -> Iterator[str]:
    return (f"{sign}{line[: content_length(line)]}" for line in split_lines(_cut(text)))


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_OF_ONE else f"{text[:_MOST_OF_ONE]}\n… (cut)"
