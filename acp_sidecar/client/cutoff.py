"""A session that was cut off: its editor went away while something ran or waited in it.

When the session is opened again, what the user had typed by then is handed out, and the
conversation says what was cut off. It is kept in between by :mod:`acp_sidecar.client.unfinished`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from attrs import frozen

from acp_sidecar.acp.encoding import encode
from acp_sidecar.acp.model import Notice, TextContent
from acp_sidecar.client.visible import visible
from acp_sidecar.session.message import Message

if TYPE_CHECKING:
    from acp_sidecar.client.live import LiveSession

_QUOTED: Final = 80
"""Characters of a prompt that are told."""


@frozen
class Unsent:
    """A prompt as the user gave it: ``content`` holds content blocks, or their JSON."""

    text: str
    content: tuple[Any, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {"text": self.text, "content": encode(self.content)}


@frozen
class CutOff:
    """What ran and what waited in a session.

    :ivar running: the prompt that was being answered, and was not cancelled
    :ivar sent: whether it had gone out to the agent
    :ivar alike: how many messages of the user's with its words there had been before it
    :ivar waiting: the prompts that waited, oldest first
    :ivar complete: False where what was attached was too large to be kept
    """

    running: Unsent | None = None
    sent: bool = False
    alike: int = 0
    waiting: tuple[Unsent, ...] = ()
    complete: bool = True

    def __bool__(self) -> bool:
        return self.running is not None or bool(self.waiting)

    @property
    def unsent(self) -> tuple[Unsent, ...]:
        """What has certainly not gone out, oldest first."""
        first = () if self.running is None or self.sent else (self.running,)
        return (*first, *self.waiting)


@frozen
class Left:
    """What is handed out of a session that was cut off."""

    interrupted: bool = False
    unsent: tuple[Unsent, ...] = ()


NOTHING_LEFT: Final = Left()


def cut_off_now(session: LiveSession) -> CutOff:
    """What would be left of a session if everything ended now."""
    running = session.turns.running
    waiting = tuple(Unsent(each.text, each.attached) for each in session.turns.waiting)
    if running is None or running.cancelled:
        return CutOff(waiting=waiting)
    prompt = Unsent(running.text, running.attached)
    before = [
        message
        for message in session.state.messages
        if message.role == "user" and message.turn != running.number
    ]
    alike = sum(shows(message, prompt) for message in before)
    return CutOff(prompt, running.number is not None, alike, waiting)


def take_up(session: LiveSession, cut_off: CutOff) -> None:
    """The session was cut off and is open again, with as much history as it gets: see what of
    the user's has to be handed out, and tell so."""
    running, unsent = cut_off.running, cut_off.unsent
    if running is not None and cut_off.sent:
        said = [message for message in session.state.messages if message.role == "user"]
        count = sum(shows(message, running) for message in said)
        if count <= cut_off.alike or not shows(said[-1], running):
            unsent = (running, *unsent)
    session.left = Left(running is not None, unsent)
    title, description = in_words(cut_off, unsent)
    session.publish(session.state.apply(Notice("warning", title, description), replay=True))
    session.editor.tell("info", f"{title} {description or ''}".rstrip())


def shows(message: Message, prompt: Unsent) -> bool:
    """Whether a message of the history is this prompt, as far as can be told: agents trim
    and join what they tell again, and lay other things beside it."""
    words = _squeezed(prompt.text)
    if words:
        return words in _squeezed(message.text)
    kinds = {each.__class__.__name__ for each in message.content}
    return bool(kinds - {TextContent.__name__})


def _squeezed(text: str) -> str:
    return "".join(text.split())


def in_words(cut_off: CutOff, unsent: Sequence[Unsent]) -> tuple[str, str | None]:
    """What to tell the user: a title and, where there is more to say, a description.

    ``unsent`` is what is handed out: also the prompt that was being answered, where the
    agent does not show it.
    """
    running = cut_off.running
    if running is None:
        title = "The editor went away before everything was sent."
    else:
        title = "The turn was cut off when the editor went away."
    said = []
    if running is not None and cut_off.sent:
        if unsent[:1] == (running,):
            said.append(f"The agent may not remember what it worked on: {_quoted(running)}.")
            unsent = unsent[1:]
        else:
            said.append(f"It was about {_quoted(running)}. What was done by then stays.")
    if unsent:
        said.append(f"Not sent: {', '.join(map(_quoted, unsent))}.")
    if not cut_off.complete:
        said.append("What was attached was too large to be kept.")
    return title, " ".join(said) or None


def _quoted(prompt: Unsent) -> str:
    text = " ".join(prompt.text.split())
    if not text:
        return "a prompt without words"
    more = "…" if len(text) > _QUOTED else ""
    return f"“{visible(text[:_QUOTED])}{more}”"
