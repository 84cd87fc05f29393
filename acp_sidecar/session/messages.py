"""How chunks become messages.

A chunk with a ``messageId`` belongs to the message of that id and role, wherever it stands.
One without continues the newest entry of the timeline if that is a message of the same
role, else it begins a message of its own; so thoughts, answers, tool calls and plans stay
in the order in which they were first seen, and an update of something further up does not
tear a message apart. What the user sent through us is complete and is never continued.
"""

from __future__ import annotations

from collections.abc import Iterable

from acp_sidecar.acp.model import UNSET, ContentBlock, MessageChunk, MessageUpsert, Role
from acp_sidecar.session.change import Change, MessageChanged
from acp_sidecar.session.echo import Echo
from acp_sidecar.session.message import Blocks, Message
from acp_sidecar.session.timeline import Timeline


class Messages:
    """The messages of one session."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._known: dict[tuple[str, str], Message] = {}
        """By the role and the id that the agent gave; ours are not among them."""
        self._taken: set[tuple[str, str]] = set()
        self._echo: Echo | None = None

    def prompt(self, blocks: Iterable[ContentBlock], turn: int) -> Change:
        """The user's own words; an echo of them is watched for from now on."""
        content = tuple(blocks)
        self._echo = Echo(content)
        message = self._begin("user", self._own_id("prompt", "user"), turn)
        message.closed = True
        message.blocks = Blocks(content)
        return MessageChanged(message, appended=False)

    def chunk(self, event: MessageChunk, turn: int, *, replay: bool) -> list[Change]:
        """Fold a chunk. A live echo of the prompt changes nothing; in a replay, where there
        was no prompt of ours, it is what the user said.
        """
        echo = self._echo
        if echo is not None:
            if event.role == "user" and not replay and echo.takes(event):
                return []
            if echo.holds:
                return [*self.settle(turn), self._say(event, turn)]
        return [self._say(event, turn)]

    def settle(self, turn: int) -> list[Change]:
        """Something else happens: what looked like the beginning of an echo was none."""
        if self._echo is None or not self._echo.holds:
            return []
        return [self._say(chunk, turn) for chunk in self._echo.give_back()]

    def upsert(self, event: MessageUpsert, turn: int) -> Change:
        """Fold a whole message."""
        message = self._known.get((event.role, event.message_id))
        known = message is not None
        if message is None:
            message = self._begin_as(event.role, event.message_id, turn)
        if event.content is not UNSET:
            message.blocks = Blocks(event.content or ())
        if event.meta is not UNSET:
            message.meta = event.meta
        return MessageChanged(message, appended=known)

    def _say(self, event: MessageChunk, turn: int) -> Change:
        message = self._message_for(event)
        known = message is not None
        if message is None:
            if event.message_id is None:
                message = self._begin(event.role, self._own_id("message", event.role), turn)
            else:
                message = self._begin_as(event.role, event.message_id, turn)
        message.blocks.append(event.content)
        if event.meta:
            message.meta = {**(message.meta or {}), **event.meta}
        return MessageChanged(message, appended=known)

    def _message_for(self, event: MessageChunk) -> Message | None:
        if event.message_id is not None:
            return self._known.get((event.role, event.message_id))
        newest = self._timeline.newest
        if isinstance(newest, Message) and newest.role == event.role and not newest.closed:
            return newest
        return None

    def _begin_as(self, role: Role, message_id: str, turn: int) -> Message:
        """A message the agent gave an id to, which may happen to be one of ours."""
        free = (role, message_id) not in self._taken
        shown_id = message_id if free else self._own_id(message_id, role)
        message = self._known[role, message_id] = self._begin(role, shown_id, turn)
        return message

    def _begin(self, role: Role, message_id: str, turn: int) -> Message:
        message = Message(message_id, role, turn, f"message:{role}:{message_id}")
        self._taken.add((role, message_id))
        self._timeline.add("message", message_id, message, role)
        return message

    def _own_id(self, stem: str, role: Role) -> str:
        while True:
            candidate = f"{stem}-{self._timeline.count(stem)}"
            if (role, candidate) not in self._taken:
                return candidate
