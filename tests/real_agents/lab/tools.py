"""From what the model wants to do to a call of a tool that the agent at hand offers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from attrs import asdict, frozen

from tests.real_agents.lab.script import Action, Edit, Plan, Read, Run, Write

_NAMES: Final[Mapping[type, tuple[str, ...]]] = {
    Read: ("read_file", "read"),
    Edit: ("replace", "edit"),
    Write: ("write_file", "write"),
    Run: ("run_shell_command", "bash"),
    Plan: ("write_todos", "todowrite"),
}
"""What agents call a tool for it."""

_FIELDS: Final[Mapping[str, str]] = {
    "file_path": "path",
    "filePath": "path",
    "absolute_path": "path",
    "old_string": "old",
    "oldString": "old",
    "new_string": "new",
    "newString": "new",
}
"""A tool's name of an argument, and ours where it differs."""

_REMARKS: Final[Mapping[str, str]] = {
    "instruction": "Change it as the user wants.",
    "description": "Does what the user wants",
}
"""Arguments that agents want besides, with something to say there."""


class NoSuchTool(Exception):
    """The agent offers no tool for this; the message names those that it offers."""


@frozen
class ToolUse:
    """A call of a tool by its own name, with arguments that fit its schema."""

    name: str
    arguments: dict[str, Any]


def tool_use(action: Action, tools: Mapping[str, Mapping[str, Any]]) -> ToolUse:
    """The call for an action.

    :param tools: by name, the JSON schema of each tool's arguments
    :raises NoSuchTool: there is none for it
    """
    name = next((name for name in _NAMES[type(action)] if name in tools), None)
    if name is None:
        raise NoSuchTool(f"no tool for {type(action).__name__} among {', '.join(sorted(tools))}")
    properties = tools[name].get("properties", {})
    if isinstance(action, Plan):
        return ToolUse(name, {"todos": _todos(action, properties)})
    given = _REMARKS | asdict(action)
    arguments = {
        argument: given[_FIELDS.get(argument, argument)]
        for argument in properties
        if _FIELDS.get(argument, argument) in given
    }
    return ToolUse(name, arguments)


def _todos(plan: Plan, properties: Mapping[str, Any]) -> list[dict[str, str]]:
    entry = properties["todos"]["items"]["properties"]
    return [
        {
            name: {"status": status, "priority": "medium", "id": str(number)}.get(name, text)
            for name in entry
        }
        for number, (text, status) in enumerate(plan.items, 1)
    ]
