"""What a model says, answer by answer, in words that fit any agent."""

from __future__ import annotations

from typing import Literal, TypeAlias

from attrs import field, frozen


@frozen
class Read:
    """Look at a file; ``path`` is absolute, as in all of these."""

    path: str


@frozen
class Edit:
    """Replace a piece of text that a file has exactly once."""

    path: str
    old: str
    new: str


@frozen
class Write:
    """Write a whole file, which need not be there."""

    path: str
    content: str


@frozen
class Run:
    """Run a shell command."""

    command: str


Progress: TypeAlias = Literal["pending", "in_progress", "completed"]


@frozen
class Plan:
    """Write down what is to be done: texts and how far each is."""

    items: tuple[tuple[str, Progress], ...]


Action: TypeAlias = Read | Edit | Write | Run | Plan


@frozen
class Answer:
    """One answer of the model: thoughts and words, and the tools it wants to use."""

    say: str = ""
    actions: tuple[Action, ...] = field(default=(), converter=tuple)
    think: str = ""


def doing(*actions: Action, say: str = "") -> Answer:
    """An answer that uses tools."""
    return Answer(say, actions)
