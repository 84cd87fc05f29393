"""How chunks become messages.

A chunk with a ``messageId`` belongs to the message of that id and role, wherever it stands.
One without continues the newest entry of the timeline if that is a message of the same
role, else it begins a message of its own; so thoughts, answers, tool calls and plans stay
in the order in which they were first seen, and an update of something further up does not
tear a message apart. What the user sent through us is complete and is never continued.

A v2 agent repeats a prompt as a user message with an id of its own. That is the message that
is there already: it is known by its text, or by the id that the answer to the prompt gives.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Final

from acp_sidecar.acp.model import UNSET, ContentBlock, MessageChunk, MessageUpsert, Role
from acp_sidecar.session.change import Change, MessageChanged
from acp_sidecar.session.echo import Echo, says_the_same
from acp_sidecar.session.message import Blocks, Message
from acp_sidecar.session.meta import patched_meta
from acp_sidecar.session.timeline import Timeline

_UNTAKEN: Final = 16
"""Prompts that are remembered until the agent says which message each became."""


class Messages:
    """The messages of one session."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._known: dict[tuple[str, str], Message] = {}
        """By the role and the id that the agent gave; ours are not among them."""
        self._taken: set[tuple[str, str]] = set()
        self._echo: Echo | None = None
        self._asked: Message | None = None
        self._untaken: deque[Message] = deque(maxlen=_UNTAKEN)

    def prompt(self, blocks: Iterable[ContentBlock], turn: int) -> Change:
        """The user's own words; an echo of them is watched for from now on."""
        content = tuple(blocks)
        self._echo = Echo(content)
        message = self._begin("user", self._own_id("prompt", "user"), turn)
        message.closed = message.provisional = True
        message.blocks = Blocks(content)
        self._asked = message
        self._untaken.append(message)
        return MessageChanged(message, appended=False)

    def accepted(self, message_id: str) -> None:
        """The agent took a prompt, the oldest that is left, as the message with this id."""
        known = self._known.get(("user", message_id))
        if known is not None and known.closed:
            return
        if self._untaken:
            prompt = self._untaken.popleft()
            if known is None:
                self._known["user", message_id] = prompt

    def _taken_as(self, message: Message, message_id: str) -> None:
        if message in self._untaken:
            self._untaken.remove(message)
        self._known.setdefault(("user", message_id), message)

    def chunk(self, event: MessageChunk, turn: int, *, replay: bool) -> list[Change]:
        """Fold a chunk. A live echo of the prompt changes nothing; in a replay, where there
        was no prompt of ours, it is what the user said.
        """
        echo = self._echo
        if echo is not None:
            if event.role == "user" and not replay and echo.takes(event):
                if event.message_id is not None and self._asked is not None and echo.whole:
                    self._taken_as(self._asked, event.message_id)
                    self._asked.provisional = False
                return []
            if echo.holds:
                return [*self.settle(turn), self._say(event, turn)]
        return [self._say(event, turn)]

    def settle(self, turn: int) -> list[Change]:
        """Something else happens: what looked like the beginning of an echo was none."""
        if self._echo is None or not self._echo.holds:
            return []
        return [self._say(chunk, turn) for chunk in self._echo.give_back()]

    def upsert(self, event: MessageUpsert, turn: int) -> list[Change]:
        """Fold a whole message."""
        changes = self._make_way(event, turn)
        message = self._known.get((event.role, event.message_id)) or self._echoed(event)
        known = message is not None
        if message is None:
            message = self._begin_as(event.role, event.message_id, turn)
        if event.content is not UNSET:
            message.blocks = Blocks(event.content or ())
            message.provisional = False
        if event.meta is not UNSET:
            message.meta = patched_meta(message.meta, event.meta)
        return [*changes, MessageChanged(message, appended=known)]

    def knows(self, role: Role, message_id: str) -> bool:
        """Whether the agent spoke of this message before."""
        return (role, message_id) in self._known

    def _make_way(self, event: MessageUpsert, turn: int) -> list[Change]:
        """What looked like the beginning of an echo was none, unless this replaces it."""
        if self._echo is None or not self._echo.holds:
            return []
        held = self._echo.give_back()
        if event.role == "user" and event.content is not UNSET:
            held = [chunk for chunk in held if chunk.message_id != event.message_id]
        return [self._say(chunk, turn) for chunk in held]

    def _echoed(self, event: MessageUpsert) -> Message | None:
        """The prompt that a user message repeats."""
        content = event.content
        if event.role != "user" or content is UNSET or not content:
            return None
        prompt = next((m for m in self._untaken if says_the_same(m.content, content)), None)
        if prompt is not None:
            self._taken_as(prompt, event.message_id)
        return prompt

    def _say(self, event: MessageChunk, turn: int) -> Change:
        message = self._message_for(event)
        known = message is not None
        if message is None:
            if event.message_id is None:
                message = self._begin(event.role, self._own_id("message", event.role), turn)
            else:
                message = self._begin_as(event.role, event.message_id, turn)
        if message.provisional and message.closed:
            message.provisional, message.blocks = False, Blocks()
        message.blocks.append(event.content)
        if event.meta and event.patches_meta:
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
