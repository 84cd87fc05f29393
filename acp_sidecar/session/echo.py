"""Telling an agent's echo of our prompt from other words in the user's name.

Some agents repeat a prompt as ``user_message_chunk`` while they work on it. The prompt is
in the transcript already, so the echo is dropped; but in the same way agents also say
things of their own, which must not be lost.
"""

from __future__ import annotations

from collections.abc import Iterable

from attrs import evolve

from acp_sidecar.acp.model import (
    ContentBlock,
    EmbeddedResource,
    MessageChunk,
    TextContent,
    UnknownBlock,
)


class Echo:
    """Watches for one echo of one prompt.

    Text is compared without white space, since agents trim and join blocks in ways of
    their own. An echo that comes in pieces is held back while it agrees with the prompt;
    once it is complete the pieces are forgotten, and where it turns out to be something
    else, or stops half way, :meth:`give_back` returns all of them.
    """

    def __init__(self, prompt: Iterable[ContentBlock]) -> None:
        blocks = list(prompt)
        self._text = _squeezed("".join(b.text for b in blocks if isinstance(b, TextContent)))
        self._seen = 0
        self._others = [_bare(b) for b in blocks if not isinstance(b, TextContent)]
        self._held: list[MessageChunk] = []

    @property
    def holds(self) -> bool:
        """Whether pieces are held back."""
        return bool(self._held)

    @property
    def whole(self) -> bool:
        """Whether all of the prompt was echoed."""
        return self._seen == len(self._text) and not self._others

    def takes(self, chunk: MessageChunk) -> bool:
        """Whether ``chunk`` is, as far as can be told now, a piece of the echo."""
        block = chunk.content
        if not isinstance(block, TextContent):
            return self._takes_other(block)
        piece = _squeezed(block.text)
        if self._seen == len(self._text) or not self._text.startswith(piece, self._seen):
            return False
        self._seen += len(piece)
        if self._seen == len(self._text):
            self._held.clear()
        else:
            self._held.append(chunk)
        return True

    def _takes_other(self, block: ContentBlock) -> bool:
        bare = _bare(block)
        if bare not in self._others:
            return False
        self._others.remove(bare)
        return True

    def give_back(self) -> list[MessageChunk]:
        """The pieces held back, which were no echo after all; watching starts afresh."""
        held, self._held = self._held, []
        if held:
            self._seen = 0
        return held


def says_the_same(one: Iterable[ContentBlock], other: Iterable[ContentBlock]) -> bool:
    """Whether two messages say the same, white space and what is said about blocks aside."""
    return _essence(one) == _essence(other)


def _essence(blocks: Iterable[ContentBlock]) -> tuple[str, list[ContentBlock]]:
    all_blocks = list(blocks)
    text = "".join(block.text for block in all_blocks if isinstance(block, TextContent))
    return _squeezed(text), [_bare(b) for b in all_blocks if not isinstance(b, TextContent)]


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _bare(block: ContentBlock) -> ContentBlock:
    if isinstance(block, UnknownBlock):
        return block
    if isinstance(block, EmbeddedResource):
        resource = evolve(block.resource, meta=None, unknown={})
        return evolve(block, resource=resource, annotations=None, meta=None, unknown={})
    return evolve(block, annotations=None, meta=None, unknown={})
