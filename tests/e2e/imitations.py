"""Agents that do as two real ones were seen to do on the wire, by the test's hand.

Neither uses the client's files: they write the disk by themselves, and tell of it each in a
way of its own.
"""

from __future__ import annotations

import difflib
import os
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.e2e.puppet import Puppet


class Imitation(ABC):
    """An agent in the middle of a turn."""

    allow: str
    """The option that allows once, and the one that refuses."""
    refuse: str
    options: list[dict[str, str]]
    goes_on: bool
    """Whether a refusal leaves the turn to the agent."""

    def __init__(self, puppet: Puppet, prompt: dict[str, Any]) -> None:
        self.puppet = puppet
        self.prompt = prompt
        self._numbers = iter(range(1, 1000))

    def end(self, reason: str = "end_turn") -> None:
        self.puppet.end_turn(self.prompt, reason)

    async def ask(self, call: dict[str, Any], options: Any = None) -> str:
        """What the user answers."""
        params = {
            "sessionId": self.puppet.session,
            "toolCall": call,
            "options": options or self.options,
        }
        request = self.puppet.request("session/request_permission", params, str(uuid.uuid4()))
        return str(await self.puppet.outcome(request))

    async def edit(self, path: Path, old: str, new: str, *, asked: bool = True) -> bool:
        """Replace a text in a file; whether it was allowed."""
        before = path.read_text()
        return await self.change(path, before, before.replace(old, new), asked=asked)

    async def write(self, path: Path, text: str, *, asked: bool = True) -> bool:
        """Write a whole file, be it there or not."""
        return await self.change(path, None, text, asked=asked)

    @abstractmethod
    async def change(self, path: Path, before: str | None, after: str, *, asked: bool) -> bool:
        """Make a file say ``after``; ``before`` is None where it is written as a whole."""

    @abstractmethod
    async def run(self, command: str, effect: Callable[[], str], *, asked: bool = True) -> bool:
        """Run a command, of which ``effect`` does the work and gives the output."""

    def _name(self) -> str:
        return f"call_{next(self._numbers)}"


def hunks(path: Path, before: str, after: str, context: int) -> Iterator[dict[str, Any]]:
    """A change as a diff for each of its places, with so many lines around it."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    for group in difflib.SequenceMatcher(None, old, new).get_grouped_opcodes(context):
        yield {
            "type": "diff",
            "path": str(path),
            "oldText": "".join(old[group[0][1] : group[-1][2]]),
            "newText": "".join(new[group[0][3] : group[-1][4]]),
        }


class LikeCodex(Imitation):
    """Reports hunks with a line of context before and after, arguments as events, and no old
    text of what it writes as a whole. A refusal ends the turn, and its call stays open."""

    allow, refuse = "approved", "abort"
    goes_on = False
    options = [  # noqa: RUF012
        {"optionId": "approved", "name": "Yes", "kind": "allow_once"},
        {
            "optionId": "approved-execpolicy-amendment",
            "name": "Yes, and do not ask again for such commands",
            "kind": "allow_always",
        },
        {"optionId": "abort", "name": "No, and say what to do", "kind": "reject_once"},
    ]

    async def change(self, path: Path, before: str | None, after: str, *, asked: bool) -> bool:
        name = self._name()
        if before is None:
            content = [{"type": "diff", "path": str(path), "newText": after}]
            kind = {"type": "add", "content": after}
        else:
            content = list(hunks(path, before, after, 1))
            kind = {"type": "update", "unified_diff": _patch(before, after), "move_path": None}
        event = {
            "call_id": name,
            "turn_id": "1",
            "auto_approved": not asked,
            "changes": {str(path): kind},
        }
        call = {
            "toolCallId": name,
            "title": f"Edit {path.name}",
            "kind": "edit",
            "status": "pending" if asked else "in_progress",
            "content": content,
            "locations": [{"path": str(path)}],
            "rawInput": event,
        }
        if asked and await self.ask(call) != self.allow:
            return False
        path.parent.mkdir(exist_ok=True)
        path.write_text(after)
        if not asked:
            self.puppet.update("tool_call", **call)
        done = {**event, "success": True, "stdout": f"Success. Updated:\nM {path.name}\n"}
        self.puppet.tool(
            name, "tool_call_update", status="completed", content=content, rawOutput=done
        )
        return True

    def move(self, path: Path, target: Path, after: str) -> None:
        """Move a file and change it, of which only the new path is told."""
        before, name = path.read_text(), self._name()
        path.unlink()
        target.write_text(after)
        change = {
            "type": "update",
            "unified_diff": _patch(before, after),
            "move_path": str(target),
        }
        self.puppet.update(
            "tool_call",
            toolCallId=name,
            title=f"Edit {target.name}",
            kind="edit",
            status="in_progress",
            content=list(hunks(target, before, after, 1)),
            locations=[{"path": str(target)}],
            rawInput={"call_id": name, "auto_approved": True, "changes": {str(path): change}},
        )
        self.puppet.tool(name, "tool_call_update", status="completed")

    async def run(self, command: str, effect: Callable[[], str], *, asked: bool = True) -> bool:
        name = self.begin_run(command) if not asked else self._name()
        if asked and await self.ask(self._command(name, command, "pending")) != self.allow:
            return False
        self.end_run(name, effect())
        return True

    def begin_run(self, command: str) -> str:
        """Start a command without a question; the call's id."""
        name = self._name()
        self.puppet.update("tool_call", **self._command(name, command, "in_progress"))
        return name

    def end_run(self, name: str, output: str) -> None:
        result = {"call_id": name, "stdout": output, "exit_code": 0, "formatted_output": output}
        self.puppet.tool(name, "tool_call_update", status="completed", rawOutput=result)

    def _command(self, name: str, command: str, status: str) -> dict[str, Any]:
        return {
            "toolCallId": name,
            "title": command,
            "kind": "execute",
            "status": status,
            "rawInput": {
                "call_id": name,
                "command": ["/bin/bash", "-lc", command],
                "cwd": "/ws",
                "parsed_cmd": [{"type": "unknown", "cmd": command}],
            },
        }


class LikeClaude(Imitation):
    """Announces a call and then its arguments, asks with the snippets that it replaces, and
    reports hunks with three lines of context and no last line end. Writes a new file beside
    the old one and puts it in its place. Old text is null for what it writes as a whole."""

    allow, refuse = "allow-once", "reject"
    goes_on = True
    options = [  # noqa: RUF012
        {"optionId": "allow-with-updates", "name": "Always Allow", "kind": "allow_always"},
        {"optionId": "allow-once", "name": "Allow", "kind": "allow_once"},
        {"optionId": "reject", "name": "Reject", "kind": "reject_once"},
    ]

    async def change(self, path: Path, before: str | None, after: str, *, asked: bool) -> bool:
        name = self._name()
        if before is None:
            old, new = None, after
            arguments = {"file_path": str(path), "content": after}
        else:
            old, new = _snippets(before, after)
            arguments = {"file_path": str(path), "old_string": old, "new_string": new}
        diff = {"type": "diff", "path": str(path), "oldText": old, "newText": new}
        call = {
            "title": f"{'Write' if before is None else 'Edit'} {path.name}",
            "kind": "edit",
            "content": [diff],
            "locations": [{"path": str(path)}],
            "rawInput": arguments,
        }
        if asked:
            self.puppet.tool(name, title="Edit", kind="edit", status="pending", rawInput={})
            self.puppet.tool(name, "tool_call_update", **call)
            if await self.ask({"toolCallId": name, **call}) != self.allow:
                self._failed(name)
                return False
        existed = path.read_text() if path.exists() else None
        path.parent.mkdir(exist_ok=True)
        beside = path.with_name(f"{path.name}.tmp.{os.getpid()}.{uuid.uuid4().hex[:12]}")
        beside.write_text(after)
        beside.replace(path)
        if not asked:
            self.puppet.tool(name, status="pending", **call)
        report: dict[str, Any] = {}
        if before is not None:
            assert existed is not None
            report["content"] = [_unended(each) for each in hunks(path, existed, after, 3)]
            lines = [each["line"] for each in _places(existed, after)]
            report["locations"] = [{"path": str(path), "line": line} for line in lines]
        self.puppet.tool(name, "tool_call_update", status="completed", **report)
        return True

    async def run(self, command: str, effect: Callable[[], str], *, asked: bool = True) -> bool:
        name = self._name()
        arguments = {"command": command, "description": "Does it"}
        call = {"title": f"`{command}`", "kind": "execute", "rawInput": arguments}
        self.puppet.tool(name, title="Terminal", kind="execute", status="pending", rawInput={})
        self.puppet.tool(name, "tool_call_update", **call)
        if asked and await self.ask({"toolCallId": name, **call}) != self.allow:
            self._failed(name)
            return False
        text = {"type": "text", "text": f"```console\n{effect()}```"}
        content = [{"type": "content", "content": text}]
        self.puppet.tool(name, "tool_call_update", status="completed", content=content)
        return True

    def _failed(self, name: str) -> None:
        text = {"type": "text", "text": "The user doesn't want to proceed with this tool use."}
        content = [{"type": "content", "content": text}]
        self.puppet.tool(name, "tool_call_update", status="failed", content=content)


def _patch(before: str, after: str) -> str:
    lines = before.splitlines(keepends=True), after.splitlines(keepends=True)
    return "".join(list(difflib.unified_diff(*lines))[2:])


def _places(before: str, after: str) -> Iterator[dict[str, int]]:
    lines = before.splitlines(), after.splitlines()
    for group in difflib.SequenceMatcher(None, *lines).get_grouped_opcodes(3):
        yield {"line": group[0][3] + 1}


def _unended(diff: dict[str, Any]) -> dict[str, Any]:
    texts = {name: diff[name].removesuffix("\n") for name in ("oldText", "newText")}
    return {**diff, **texts}


def _snippets(before: str, after: str) -> tuple[str, str]:
    """The stretch from the first changed line to the last."""
    old, new = before.splitlines(), after.splitlines()
    changed = [
        code for code in difflib.SequenceMatcher(None, old, new).get_opcodes() if code[0] != "equal"
    ]
    first, last = changed[0], changed[-1]
    return "\n".join(old[first[1] : last[2]]), "\n".join(new[first[3] : last[4]])
