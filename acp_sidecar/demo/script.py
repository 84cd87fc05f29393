"""What the demo agent does in a turn.

Each part of the script is a method of :class:`Turn`; a prompt such as ``/edit notes.txt``
plays one part, any other prompt all of them. The rules it keeps are the ones every agent
should keep:

* it does what was approved and nothing else: an answer it does not know approves nothing;
* it looks again before it writes: where the file is no longer what the question showed,
  it asks anew;
* a cancel (:class:`asyncio.CancelledError` at any ``await``) ends it on the spot.
"""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import sys
import uuid
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

from acp_sidecar.demo import several
from acp_sidecar.demo.acts import ONCE, Acts
from acp_sidecar.demo.peer import INTERNAL_ERROR, INVALID_PARAMS, Json, RpcError
from acp_sidecar.demo.session import Session, ToolCall, diff, text
from acp_sidecar.demo.shown import FORM, SHOWN, picture

TARGET: Final = "greeting.py"
NEW_FILE: Final = '''"""Greets people by name."""


def greet(name):
    return "Hello " + name
'''
CHANGES: Final = (
    ('return "Hello " + name', 'return f"Good morning, {name}!"'),
    ('("Ada", "Grace", "Linus")', '("Ada", "Barbara", "Grace", "Linus")'),
)
REMARK: Final = "Seen by the demo agent."

COUNT: Final = """
import sys, time
for name in sys.argv[2:]:
    with open(name, encoding="utf-8", errors="replace") as file:
        print(f"{sum(1 for _ in file):4} lines  {name}", flush=True)
    time.sleep(float(sys.argv[1]))
print("done")
"""
MAX_QUESTIONS: Final = 3
CONTEXT_WINDOW: Final = 200_000


class Turn:
    """One prompt and what is done about it."""

    def __init__(self, session: Session, client: dict[str, Json], prompt: list[Json]) -> None:
        """``client``: the client's capabilities; ``prompt``: the content blocks."""
        self._session = session
        self._acts = Acts(session, client)
        self._prompt = prompt
        self._plan: dict[str, str] = {}
        self._touched: dict[Path, None] = {}

    async def run(self) -> str:
        """Plays the turn; its stop reason. Raises :class:`RpcError` where the prompt fails."""
        session = self._session
        for block in self._prompt:
            # Only for the history: the client knows what it has just sent.
            session.history.append({"sessionUpdate": "user_message_chunk", "content": block})
        session.changed(True)
        words = self._words()
        if session.title is None:
            session.title = words[:60] or "Demo"
            session.update("session_info_update", title=session.title)
        name, _, argument = words.removeprefix("/").partition(" ")
        command = COMMANDS.get(name) if words.startswith("/") else None
        await self._look_at_pictures()
        stop_reason = await (command.play if command else Turn.everything)(self, argument.strip())
        session.update(
            "usage_update",
            used=min(CONTEXT_WINDOW, 10 * len(session.history)),
            size=CONTEXT_WINDOW,
            cost={"amount": 0.0, "currency": "USD"},
        )
        return stop_reason or "end_turn"

    async def _look_at_pictures(self) -> None:
        pictures = [said for block in self._prompt if (said := picture(block)) is not None]
        if pictures:
            noun = "a picture" if len(pictures) == 1 else f"{len(pictures)} pictures"
            await self._acts.say(f"I got {noun}: {'; '.join(pictures)}.")

    def _words(self) -> str:
        texts = [block.get("text") for block in self._prompt if isinstance(block, dict)]
        return " ".join(text for text in texts if isinstance(text, str)).strip()

    # --- the whole script

    async def everything(self, _argument: str) -> None:
        target = self._target("")
        self._plan = dict.fromkeys(("Read", "Edit", "Make a note", "Count lines"), "pending")
        self._show_plan()
        await self._acts.think(
            "The prompt asks for the demonstration. First I look at what is there."
        )
        await self._acts.say(f"I will change the greeting in `{target.name}`. First I read it.")
        await self._part("Read", self.read(""))
        await self.outside("")
        await self._part("Edit", self.edit(""))
        await self._part("Make a note", self.create(""))
        await self._part("Count lines", self._count())
        await self._acts.say("That is all. The changed files wait for your review.")

    async def _part(self, entry: str, part: Awaitable[None]) -> None:
        self._plan[entry] = "in_progress"
        self._show_plan()
        await part
        self._plan[entry] = "completed"
        self._show_plan()

    def _show_plan(self) -> None:
        entries = [
            {"content": entry, "priority": "medium", "status": status}
            for entry, status in self._plan.items()
        ]
        self._session.update("plan", entries=entries)

    # --- its parts

    async def read(self, argument: str) -> None:
        """Reads a file: all of it to find the place, then some lines there."""
        name, _, number = argument.rpartition(":")
        path, line = (
            (self._target(name), int(number))
            if name and number.isdecimal()
            else (self._target(argument), 0)
        )
        call = ToolCall(self._session, f"Read {path.name}", "read", locations=[{"path": str(path)}])
        await self._acts.pause()
        try:
            content = await self._acts.read(path)
            line = line or _place(content, _changed(path, content))
            call.report("in_progress", locations=[{"path": str(path), "line": line}])
            await self._acts.pause()
            excerpt = await self._acts.read(path, line=line, limit=3)
        except RpcError as error:
            call.failed(error.message)
            await self._acts.say(f"I cannot read `{path.name}`.")
            return
        call.report("completed", text(excerpt), rawOutput={"line": line, "text": excerpt})
        self._touched[path] = None

    async def outside(self, _argument: str) -> None:
        """Names a place outside the workspace: a client must not open it."""
        place = Path(os.__file__)
        call = ToolCall(
            self._session,
            "Look something up in Python's library",
            "search",
            locations=[{"path": str(place), "line": 1}],
        )
        await self._acts.pause()
        call.report("completed", text(f"{place.name} is outside the workspace."))

    async def edit(self, argument: str) -> None:
        """Changes a file: shows the diff, asks, looks again, writes."""
        path = self._target(argument)
        call = ToolCall(self._session, f"Edit {path.name}", "edit", locations=[{"path": str(path)}])
        for _ in range(MAX_QUESTIONS):
            await self._acts.pause()
            try:
                before = await self._acts.current(path)
                after = _changed(path, before)
                place = {"path": str(path), "line": _place(before or "", after)}
                call.report("pending", locations=[place])
                if not await self._acts.may_change(call, [diff(path, before, after)]):
                    call.failed("Not approved.")
                    await self._acts.say(
                        "Then I leave the file as it is and go on without the edit."
                    )
                    return
                call.report("in_progress")
                if await self._acts.current(path) == before:
                    await self._acts.write(path, after)
                    call.report("completed", diff(path, before, after))
                    self._touched[path] = None
                    return
            except RpcError as error:
                call.failed(error.message)
                await self._acts.say(f"I could not change `{path.name}`: {error.message}")
                return
            await self._acts.say(f"`{path.name}` was changed while I waited. I look at it again.")
        call.failed("The file kept changing.")

    async def edit_several(self, argument: str) -> None:
        """Changes several files in several places each, after one question for all."""
        paths = several.chosen(self._session, argument)
        if not paths:
            await self._acts.say("I see no text here that I could change.")
            return
        places: list[Json] = [{"path": str(path)} for path in paths]
        call = ToolCall(self._session, f"Edit {len(paths)} files", "edit", locations=places)
        await self._acts.pause()
        try:
            before = {path: await self._acts.current(path) or "" for path in paths}
        except RpcError as error:
            call.failed(error.message)
            return
        after = {path: several.changed(path, text) for path, text in before.items()}
        shown = [diff(path, before[path], after[path]) for path in paths]
        if not await self._acts.may_change(call, shown):
            call.failed("Not approved.")
            await self._acts.say("Then I leave the files as they are.")
            return
        call.report("in_progress")
        written: list[Json] = []
        for path, change in zip(paths, shown, strict=True):
            place = _place(before[path], after[path])
            call.report("in_progress", locations=[{"path": str(path), "line": place}])
            problem = await self._replace(path, before[path], after[path])
            if problem is None:
                written.append(change)
                self._touched[path] = None
            else:
                await self._acts.say(f"I could not change `{path.name}`: {problem}.")
            await self._acts.pause()
        call.report("completed" if written else "failed", *written)

    async def _replace(self, path: Path, before: str, after: str) -> str | None:
        """Write a file that still says ``before``; why not, where it could not be."""
        try:
            if (await self._acts.current(path) or "") != before:
                return "it was changed while I waited"
            await self._acts.write(path, after)
        except RpcError as error:
            return error.message
        return None

    async def show(self, _argument: str) -> None:
        """Says something with everything that Markdown has, and what must stay text."""
        await self._acts.think("Headings, a list, a table, code: the client has to *draw* it.")
        await self._acts.say(SHOWN)

    async def fill_in(self, _argument: str) -> None:
        """Wants to know something, by a form."""
        if not self._acts.has_forms:
            await self._acts.say("This client shows no forms.")
            return
        action, content = await self._acts.elicit("How shall I greet you?", FORM)
        if action != "accept":
            await self._acts.say("Then I do without." if action == "decline" else "No answer.")
            return
        filled = [f"- {name}: `{json.dumps(value)}`" for name, value in content.items()]
        await self._acts.say("\n".join(["You filled in:", "", *filled]))

    async def create(self, argument: str) -> None:
        """Makes a file in a new folder on the disk by itself, and only then reports it."""
        if self._session.mode == "read-only":
            await self._acts.say("I make no note: nothing may be changed.")
            return
        folder = self._session.cwd / (argument or "demo-notes")
        path = next(
            path for n in range(1, 1_000_000) if not (path := folder / f"note-{n}.md").exists()
        )
        call = ToolCall(self._session, f"Write {path.name}", "edit", locations=[])
        await self._acts.pause()
        note = f"# A note\n\nThe demo agent was here, in `{self._session.cwd.name}`.\n"
        try:
            self._acts.make(path, note)
        except RpcError as error:
            call.failed(error.message)
            return
        call.report("completed", diff(path, None, note), locations=[{"path": str(path), "line": 1}])
        self._touched[path] = None

    async def run_command(self, argument: str) -> None:
        """Asks for a command, then runs it. No shell: one program and its arguments."""
        try:
            argv = shlex.split(argument)
        except ValueError as error:
            raise RpcError(INVALID_PARAMS, f"/run: {error}") from error
        if not argv:
            raise RpcError(INVALID_PARAMS, "/run: a command is required")
        call = ToolCall(
            self._session,
            f"Run {argv[0]}",
            "execute",
            rawInput={"command": argument, "cwd": str(self._session.cwd)},
        )
        if not await self._acts.approved(call, ONCE):
            call.failed("Not approved.")
            await self._acts.say("Then I do not run it.")
            return
        await self._acts.run(call, argv)

    async def wait(self, argument: str) -> None:
        """Runs a command that takes long. Meant to be cancelled."""
        seconds = _number(argument, 3600)
        call = ToolCall(self._session, f"Wait {seconds} s", "execute")
        program = (
            "import sys,time\nfor s in range(int(sys.argv[1])): print(s,flush=1);time.sleep(1)"
        )
        await self._acts.execute(call, [sys.executable, "-c", program, str(seconds)])

    async def ask(self, argument: str) -> None:
        """Asks and does nothing: once, or so many times at once."""
        count = _number(argument, 1)
        calls = [
            ToolCall(
                self._session,
                f"Question {n + 1} of {count}",
                "other",
                rawInput={"question": n + 1, "of": count},
            )
            for n in range(count)
        ]
        answers = await asyncio.gather(*(self._acts.approved(call, ONCE) for call in calls))
        for call, approved in zip(calls, answers, strict=True):
            call.report("completed" if approved else "failed")
        words = ", ".join("yes" if approved else "no" for approved in answers)
        await self._acts.say(f"The answers: {words}.")

    async def withdraw(self, _argument: str) -> None:
        """Asks, and withdraws the question before it is answered."""
        call = ToolCall(self._session, "A question to be withdrawn", "other")
        try:
            async with asyncio.timeout(max(0.2, self._session.pace)):
                await self._acts.approved(call, ONCE)
        except TimeoutError:
            call.failed("Withdrawn.")
            await self._acts.say("I have withdrawn the question.")
        else:
            call.report("completed")

    async def flood(self, argument: str) -> None:
        """Sends so many chunks of one message as fast as the client reads them."""
        message_id = uuid.uuid4().hex
        for n in range(_number(argument, 1000)):
            self._acts.chunk("agent_message_chunk", f"{n} ", message_id)
            await asyncio.sleep(0)

    async def refuse(self, _argument: str) -> str:
        await self._acts.say("I would rather not.")
        return "refusal"

    async def fail(self, _argument: str) -> None:
        raise RpcError(INTERNAL_ERROR, "failed, as the prompt asked")

    async def crash(self, _argument: str) -> None:
        print("demo agent: crashed, as the prompt asked", file=sys.stderr, flush=True)
        os._exit(3)

    async def _count(self) -> None:
        cwd = self._session.cwd
        names = [_short(path, cwd) for path in self._touched if path.is_file()]
        call = ToolCall(
            self._session,
            "Count lines",
            "execute",
            rawInput={"command": "count lines", "args": names, "cwd": str(cwd)},
        )
        await self._acts.execute(
            call, [sys.executable, "-c", COUNT, str(self._session.pace), *names]
        )

    def _target(self, name: str) -> Path:
        """The file to work on: named in the prompt, attached to it, or the usual one."""
        if name:
            return self._session.cwd / name
        for block in self._prompt:
            path = _attached(block)
            if path is not None and self._session.owns(path):
                return path
        return self._session.cwd / TARGET


def _number(argument: str, default: int) -> int:
    return min(int(argument), 1_000_000) if argument.isdecimal() else default


def _attached(block: Json) -> Path | None:
    """The local file a prompt's block points at."""
    if not isinstance(block, dict):
        return None
    holder = block.get("resource") if block.get("type") == "resource" else block
    uri = holder.get("uri") if isinstance(holder, dict) else None
    if not isinstance(uri, str) or urlsplit(uri).scheme != "file":
        return None
    return Path(url2pathname(unquote(urlsplit(uri).path)))


def _short(path: Path, cwd: Path) -> str:
    return str(path.relative_to(cwd) if path.is_relative_to(cwd) else path)


def _place(before: str, after: str) -> int:
    """The 1-based line of ``before`` where the two texts part."""
    lines = before.removesuffix("\n").split("\n")
    pairs = zip(lines, after.split("\n"), strict=False)
    return next((n for n, (old, new) in enumerate(pairs, 1) if old != new), len(lines))


def _changed(path: Path, content: str | None) -> str:
    """The text after the edit. Editing twice gives the first text back."""
    if content is None:
        return NEW_FILE if path.name == TARGET else f"{REMARK}\n"
    changed = content
    for one, other in CHANGES:
        if one in content:
            changed = changed.replace(one, other)
        elif other in content:
            changed = changed.replace(other, one)
    if changed != content:
        return changed
    newline = "\r\n" if "\r\n" in content else "\n"
    remark = (f"# {REMARK}" if path.suffix == ".py" else REMARK) + newline
    if content.endswith(remark):
        return content.removesuffix(remark)
    return content + ("" if not content or content.endswith("\n") else newline) + remark


class Command(NamedTuple):
    """A prompt that plays one part of the script."""

    name: str
    hint: str
    summary: str
    play: Callable[[Turn, str], Awaitable[str | None]]


COMMANDS: Final[dict[str, Command]] = {
    command.name: command
    for command in (
        Command("read", "[PATH[:LINE]]", "read a file at a line", Turn.read),
        Command("outside", "", "name a place outside the workspace", Turn.outside),
        Command("edit", "[PATH]", "ask for an edit and make it", Turn.edit),
        Command("edits", "[PATH…]", "edit several files in several places", Turn.edit_several),
        Command("create", "[FOLDER]", "create a file without asking", Turn.create),
        Command("run", "COMMAND", "ask for a command and run it", Turn.run_command),
        Command("wait", "[SECONDS]", "run a command that takes long", Turn.wait),
        Command("ask", "[N]", "ask N questions at once, do nothing", Turn.ask),
        Command("withdraw", "", "ask and withdraw the question", Turn.withdraw),
        Command("show", "", "say something with all of Markdown", Turn.show),
        Command("form", "", "want to know something by a form", Turn.fill_in),
        Command("flood", "[N]", "send N message chunks", Turn.flood),
        Command("refuse", "", "end the turn with a refusal", Turn.refuse),
        Command("fail", "", "answer the prompt with an error", Turn.fail),
        Command("crash", "", "exit with status 3 at once", Turn.crash),
    )
}


def available_commands() -> Json:
    """The update that announces :data:`COMMANDS`."""
    commands = [
        {
            "name": command.name,
            "description": command.summary,
            **({"input": {"hint": command.hint}} if command.hint else {}),
        }
        for command in COMMANDS.values()
    ]
    return {"sessionUpdate": "available_commands_update", "availableCommands": commands}
