"""The model: finds the place in its script by the conversation it is sent.

It keeps nothing between two requests, like a real one: an agent may ask again, start anew
or resume a session, and hears what belongs there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal, TypeAlias

from attrs import field, frozen

from tests.real_agents.lab.script import Answer
from tests.real_agents.lab.tools import ToolUse, tool_use

Role: TypeAlias = Literal["user", "model", "tool"]


@frozen
class Conversation:
    """A request to a model, whatever interface it came by."""

    said: tuple[tuple[Role, str], ...] = field(converter=tuple)
    """Who said what, in order; texts alone."""
    tools: Mapping[str, Mapping[str, Any]]
    """By name, the JSON schema of each tool's arguments."""

    def texts(self, role: Role) -> list[str]:
        return [text for who, text in self.said if who == role]


@frozen
class Reply:
    """An answer of the model's, ready for the wire."""

    say: str
    think: str = ""
    uses: tuple[ToolUse, ...] = ()


class Model:
    """Plays scripts: the one whose prompt comes last in a conversation."""

    def __init__(self) -> None:
        self._scripts: dict[str, Sequence[Answer]] = {}
        self.heard: list[Conversation] = []
        """Every conversation that it was to go on with, in order."""
        self.faults: list[str] = []
        """What went wrong here, which an agent would only take for a bad answer."""

    def on(self, prompt: str, *answers: Answer) -> str:
        """Answer this prompt so; the prompt."""
        self._scripts[prompt] = answers
        return prompt

    def reply(self, conversation: Conversation) -> Reply:
        """What the model says next.

        :raises NoSuchTool: the script wants what the agent cannot do
        """
        if not conversation.tools:
            # Agents also ask for titles and summaries.
            return Reply("A scripted title")
        self.heard.append(conversation)
        script, step = self._place(conversation)
        if step >= len(script):
            return Reply("That is all.")
        answer = script[step]
        uses = tuple(tool_use(action, conversation.tools) for action in answer.actions)
        return Reply(answer.say, answer.think, uses)

    def _place(self, conversation: Conversation) -> tuple[Sequence[Answer], int]:
        said = conversation.said
        for place in range(len(said) - 1, -1, -1):
            role, text = said[place]
            found = [prompt for prompt in self._scripts if role == "user" and prompt in text]
            if found:
                script = self._scripts[max(found, key=text.rfind)]
                later = [who for who, _ in said[place:]]
                # Pieces of one answer count once.
                answers = sum(
                    who == "model" and before != "model" for before, who in pairwise(later)
                )
                return script, answers
        return (), 0
