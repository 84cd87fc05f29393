"""What somebody said, put together from chunks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from attrs import define, evolve, field

from acp_sidecar.acp.encoding import encode
from acp_sidecar.acp.model import ContentBlock, JsonObject, Role, TextContent
from acp_sidecar.session.text import GrowingText


@define(eq=False)
class _TextRun:
    """Adjacent text blocks that read as one."""

    first: TextContent
    text: GrowingText

    def block(self) -> TextContent:
        return evolve(self.first, text=str(self.text))


class Blocks:
    """Content blocks in order; adjacent text merges, appending is constant time.

    Text merges where the annotations are the same; ``_meta`` and unknown fields of later
    pieces are laid over those of the first.
    """

    __slots__ = ("_items",)

    def __init__(self, blocks: Iterable[ContentBlock] = ()) -> None:
        self._items: list[ContentBlock | _TextRun] = []
        for block in blocks:
            self.append(block)

    def append(self, block: ContentBlock) -> None:
        if not isinstance(block, TextContent):
            self._items.append(block)
            return
        last = self._items[-1] if self._items else None
        if isinstance(last, _TextRun) and last.first.annotations == block.annotations:
            last.text.append(block.text)
            if block.meta:
                last.first = evolve(last.first, meta={**(last.first.meta or {}), **block.meta})
            if block.unknown:
                last.first = evolve(last.first, unknown={**last.first.unknown, **block.unknown})
            return
        self._items.append(_TextRun(evolve(block, text=""), GrowingText(block.text)))

    def __iter__(self) -> Any:
        for item in self._items:
            yield item.block() if isinstance(item, _TextRun) else item

    def __bool__(self) -> bool:
        return bool(self._items)


@define(eq=False)
class Message:
    """One message. It lives as long as its session and grows; readers do not change it."""

    message_id: str
    """The agent's, or one of ours where the agent gave none."""
    role: Role
    turn: int
    key: str
    """Unique among all entries of the session."""
    closed: bool = False
    """Takes no more chunks without an id: what the user sent, which is complete."""
    provisional: bool = False
    """What the user sent, until the agent says how it stands in the conversation."""
    meta: JsonObject | None = None
    blocks: Blocks = field(factory=Blocks)

    @property
    def content(self) -> tuple[ContentBlock, ...]:
        return tuple(self.blocks)

    @property
    def text(self) -> str:
        """The text blocks put together, without the other blocks."""
        return "".join(block.text for block in self.blocks if isinstance(block, TextContent))

    def to_json(self) -> dict[str, Any]:
        """The message as ``acp.session.state`` gives it."""
        return {
            "messageId": self.message_id,
            "role": self.role,
            "content": encode(self.content),
            "turn": self.turn,
            "_meta": self.meta,
        }
