"""Conversations nobody would have: an agent and an editor that do anything at any time.

Whatever happens, every request is answered once, every prompt ends, the state stays what
the contract says, and nothing fails within.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from acp_sidecar.workspace.uris import path_to_uri
from tests.e2e.editor import NO_ANSWER, Editor, LspError, Refusal, capabilities
from tests.e2e.puppet import OPTIONS, Puppet
from tests.e2e.shape import check

STEPS = 700
ODD = [None, 5, "x", [], {}, True, 1.5, "\ud800", [None], {"a": None}]
OURS = ("transcript", "reveal", "permission", "changes", "userActivity", "terminals")
TERMINAL = ("output", "wait_for_exit", "kill", "release")


@pytest.fixture
def settings(puppet: Puppet) -> dict[str, Any]:
    return {
        "agents": {"puppet": puppet.setting},
        "defaultAgent": "puppet",
        "follow": {"maxPerSecond": 50},
        "timeouts": {"cancel": 0.3, "dialogReminder": 0.3, "initialize": 5},
    }


class Conversation:
    """Both sides, and what has to come of them."""

    def __init__(self, dice: random.Random, editor: Editor, puppet: Puppet, ws: Path) -> None:
        self.dice = dice
        self.editor = editor
        self.puppet = puppet
        self.ws = ws
        self.files = [ws / name for name in ("a.py", "b.py", "c.txt")]
        for file in self.files:
            file.write_text("".join(f"line {number}\n" for number in range(20)))
        self.sessions: list[tuple[str, str]] = []
        self.prompts: list[tuple[int, asyncio.Future[Any]]] = []
        self.commands: list[asyncio.Future[Any]] = []
        self.requests: list[Any] = []
        self.ended: set[Any] = set()
        puppet.capabilities = {"loadSession": True, "sessionCapabilities": {"close": {}}}
        puppet.answers["session/close"] = lambda params: None
        for method, answers in (
            ("window/showDocument", [{"success": True}, None, NO_ANSWER]),
            ("acp/reveal", [{"shown": True}, {"shown": False}, None, NO_ANSWER]),
        ):
            editor.answers[method] = lambda params, answers=answers: dice.choice(answers)
        editor.answers["window/showMessageRequest"] = self._dialog
        editor.answers["acp/permission"] = self._dialog

    def _dialog(self, params: dict[str, Any]) -> Any:
        chance = self.dice.random()
        if chance < 0.05:
            raise Refusal(-32603)
        if chance < 0.4:
            return NO_ANSWER
        if chance < 0.5:
            return self.dice.choice([None, {"title": "nonsense"}])
        offered = params.get("options") or params["actions"]
        # Whose cancel is ignored is offered a restart; the agent's end is another test's.
        calm = [one for one in offered if "Restart" not in one["title"]]
        chosen: dict[str, Any] = self.dice.choice(calm)
        return chosen

    # --- the agent ------------------------------------------------------------------

    def odd(self, value: Any) -> Any:
        """``value``, or now and then something of another kind."""
        return value if self.dice.random() < 0.85 else self.dice.choice(ODD)

    def path(self) -> str:
        places = [*self.files, self.ws / "new", self.ws, "/etc/hosts", "a.py", ""]
        return str(self.dice.choice(places))

    def call(self) -> dict[str, Any]:
        odd, dice = self.odd, self.dice
        changed = {"type": odd("diff"), "path": odd(self.path()), "newText": odd("x\n")}
        place = {"path": odd(self.path()), "line": odd(3)}
        every = {
            "title": odd("T"),
            "status": odd(dice.choice(["pending", "in_progress", "completed", "failed"])),
            "kind": odd("edit"),
            "locations": odd([place] * dice.randrange(3)),
            "content": odd([changed]),
            "rawInput": odd({"command": odd("ls"), "path": odd(self.path())}),
        }
        some = {name: value for name, value in every.items() if dice.random() < 0.5}
        return {"toolCallId": odd(dice.choice("tuv")), **some}

    def agent_acts(self) -> None:
        session = self.dice.choice(self.sessions)[1] if self.dice.random() < 0.9 else "ghost"
        acts = [self._says, self._works, self._works, self._tells, self._asks, self._asks]
        acts += [self._withdraws, self._babbles, self._ends_a_turn]
        self.dice.choice(acts)(session)

    def _update(self, kind: str, session: str, fields: dict[str, Any]) -> None:
        self.puppet.send(self.puppet.update_message({"sessionUpdate": kind, **fields}, session))

    def _says(self, session: str) -> None:
        role = self.dice.choice(["user", "agent"])
        content = self.odd({"type": "text", "text": self.dice.choice(["go", "word "])})
        self._update(f"{role}_message_chunk", session, {"content": content})

    def _works(self, session: str) -> None:
        self._update(self.dice.choice(["tool_call", "tool_call_update"]), session, self.call())

    def _tells(self, session: str) -> None:
        odd = self.odd
        entry = {"content": "a", "priority": odd("low"), "status": odd("pending")}
        kind, fields = self.dice.choice(
            [
                ("plan", {"entries": odd([entry])}),
                ("notice", {"severity": odd("info"), "title": odd("t")}),
                ("compaction_update", {"compactionId": odd("c"), "status": odd("completed")}),
                ("usage_update", {"used": odd(1), "size": odd(2)}),
                ("session_info_update", {"title": odd("t")}),
                ("current_mode_update", {"currentModeId": odd("m")}),
                ("future_thing", {}),
            ]
        )
        self._update(kind, session, fields)

    def _asks(self, session: str) -> None:
        odd = self.odd
        method, params = self.dice.choice(
            [
                ("session/request_permission", {"toolCall": odd(self.call())}),
                ("session/request_permission", {"toolCall": odd(self.call())}),
                ("fs/read_text_file", {"path": odd(self.path())}),
                ("fs/write_text_file", {"path": odd(self.path()), "content": odd("new\n")}),
                ("terminal/create", {}),
                ("terminal/create", {"command": odd("echo a; sleep 0.1"), "args": odd([])}),
                ("terminal/create", {"command": odd("sleep"), "args": odd(["300"])}),
                (
                    f"terminal/{self.dice.choice(TERMINAL)}",
                    {"terminalId": odd(self.dice.choice([*self._terminals(), "terminal-1"]))},
                ),
            ]
        )
        options = odd([dict(option) for option in OPTIONS])
        asked = {"sessionId": odd(session), "options": options, **params}
        self.requests.append(self.puppet.request(method, asked))

    def _terminals(self) -> list[str]:
        """The terminals that were made so far."""
        results = [message.get("result") for message in self.puppet.seen]
        return [
            one["terminalId"] for one in results if isinstance(one, dict) and "terminalId" in one
        ]

    def _withdraws(self, session: str) -> None:
        if self.requests:
            wanted = {"requestId": self.dice.choice(self.requests)}
            self.puppet.send({"method": "$/cancel_request", "params": wanted})

    def _babbles(self, session: str) -> None:
        self.puppet.raw(self.dice.choice([b"noise\n", b"{}\n", b'{"id":9999,"result":1}\n']))

    def _ends_a_turn(self, session: str) -> None:
        open_prompts = self._open_prompts()
        if open_prompts:
            chosen = self.dice.choice(open_prompts)
            self.ended.add(chosen)
            failure = {"error": {"code": -1, "message": "e"}}
            end = self.dice.choice([{"result": {"stopReason": "end_turn"}}, {"result": 0}, failure])
            self.puppet.send({"id": chosen, **end})

    def _open_prompts(self) -> list[Any]:
        prompts = [one for one in self.puppet.seen if one.get("method") == "session/prompt"]
        return [one["id"] for one in prompts if one["id"] not in self.ended]

    # --- the editor --------------------------------------------------------------------

    async def open_session(self) -> None:
        opened = await self.editor.execute("acp.session.new", cwd=str(self.ws))
        self.sessions.append((opened["sessionId"], opened["agentSessionId"]))

    async def user_acts(self) -> None:
        session = self.dice.choice(self.sessions)[0]
        acts: list[Callable[[str], Any]] = [self._prompts, self._prompts, self._cancels]
        acts += [self._edits_the_queue, self._answers, self._types, self._opens_or_closes]
        acts += [self._moves_folders, self._reviews, self._looks]
        await self.dice.choice(acts)(session)

    def _start(self, command: str, **argument: Any) -> None:
        self.commands.append(self.editor.start(command, **argument)[1])

    async def _prompts(self, session: str) -> None:
        wait = self.dice.random() < 0.7
        begun = self.editor.start("acp.session.prompt", sessionId=session, text="go", wait=wait)
        self.prompts.append(begun)
        if self.dice.random() < 0.1:
            self.editor.cancel(begun[0])

    async def _cancels(self, session: str) -> None:
        if self.prompts and self.dice.random() < 0.5:
            self.editor.cancel(self.dice.choice(self.prompts)[0])
        else:
            self._start("acp.session.cancel", sessionId=session)

    async def _edits_the_queue(self, session: str) -> None:
        queue = await self.editor.execute("acp.session.queue", sessionId=session)
        if queue:
            turn_id = queue[0]["turnId"]
            edit = {"edit": {"turnId": turn_id, "text": "edited"}}
            chosen = self.dice.choice([{"drop": turn_id}, edit])
            self._start("acp.session.queue", sessionId=session, **chosen)

    async def _answers(self, session: str) -> None:
        waiting = await self.editor.execute("acp.permission.pending")
        if waiting:
            request_id = self.dice.choice(waiting)["requestId"]
            option_id = self.dice.choice(["yes", "no", None, "never offered"])
            self._start("acp.permission.answer", requestId=request_id, optionId=option_id)

    async def _types(self, session: str) -> None:
        file = self.dice.choice(self.files)
        uri = path_to_uri(str(file))
        if uri not in self.editor.documents:
            self.editor.open(file)
        elif self.dice.random() < 0.5:
            self.editor.type(uri, 0, 0, "z")
        elif self.dice.random() < 0.5:
            self.editor.save(uri, file)
        else:
            self.editor.close_document(uri)

    async def _opens_or_closes(self, session: str) -> None:
        if len(self.sessions) < 4:
            await self.open_session()
        elif self.dice.random() < 0.5:
            self.sessions = [one for one in self.sessions if one[0] != session]
            self._start("acp.session.close", sessionId=session)

    async def _moves_folders(self, session: str) -> None:
        folder = [{"uri": path_to_uri(str(self.ws)), "name": "w"}]
        event = {"removed": folder, "added": folder if self.dice.random() < 0.5 else []}
        self.editor.notify("workspace/didChangeWorkspaceFolders", {"event": event})
        self.editor.notify("acp/userActivity", {"uri": "x", "kind": "edit"})
        self._start("acp.follow.set", enabled=self.dice.random() < 0.7)

    async def _reviews(self, session: str) -> None:
        step = self.dice.choice(["list", "keep", "revert", "undo"])
        self._start(f"acp.review.{step}", sessionId=session)

    async def _looks(self, session: str) -> None:
        check(await self.editor.state(sessionId=session))

    # --- the end -------------------------------------------------------------------------

    async def end(self) -> None:
        """Let every prompt end, and look at everything once more."""
        async with asyncio.timeout(20):
            while not all(prompt.done() for _, prompt in self.prompts):
                for session, _ in self.sessions:
                    self._start("acp.session.cancel", sessionId=session)
                for prompt in self._open_prompts():
                    self.ended.add(prompt)
                    self.puppet.send({"id": prompt, "result": {"stopReason": "cancelled"}})
                await asyncio.sleep(0.02)
        for session, _ in self.sessions:
            check(await self.editor.state(sessionId=session))
            await self.editor.execute("acp.session.close", sessionId=session)
        for command in self.commands:
            try:
                await asyncio.wait_for(command, 10)
            except LspError as error:
                assert error.code != -32603, error
        trouble = [line for line in self.editor.stderr.decode().splitlines() if _is_trouble(line)]
        assert trouble == []

    async def all_answered(self) -> None:
        """Every request of the agent's has one answer."""
        for request in self.requests:
            await self.puppet.result(request)
        answers = [one["id"] for one in self.puppet.seen if "method" not in one]
        assert max(Counter(map(json.dumps, answers)).values()) == 1


def _is_trouble(line: str) -> bool:
    return any(word in line for word in ("Traceback", "ERROR", "never awaited"))


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_anything_at_any_time(
    idle_editor: Editor, puppet: Puppet, ws: Path, settings: dict[str, Any], seed: int
) -> None:
    dice = random.Random(seed)
    can = capabilities(**dict.fromkeys(OURS, True)) if seed % 2 else capabilities()
    await idle_editor.initialize(ws, settings=settings, can=can)
    conversation = Conversation(dice, idle_editor, puppet, ws)
    await conversation.open_session()
    for _ in range(STEPS):
        conversation.agent_acts()
        if dice.random() < 0.5:
            await conversation.user_acts()
    await conversation.end()
    await conversation.all_answered()


async def test_agents_that_die_at_any_time(
    idle_editor: Editor, puppet: Puppet, ws: Path, settings: dict[str, Any]
) -> None:
    dice = random.Random(4)
    await idle_editor.initialize(ws, settings=settings)
    conversation = Conversation(dice, idle_editor, puppet, ws)
    for _ in range(12):
        try:
            await conversation.open_session()
        except LspError as error:
            # All sessions were closed, and the sidecar did not know yet that the agent is dead.
            assert "has ended" in str(error)
            await conversation.open_session()
        for _ in range(dice.randrange(60)):
            conversation.agent_acts()
            if dice.random() < 0.5:
                await conversation.user_acts()
        conversation.requests.clear()
        conversation.ended.update(conversation._open_prompts())
        if dice.random() < 0.7:
            puppet.hang_up()
        else:
            await idle_editor.execute("acp.agent.restart", agent="puppet")
        await idle_editor.eventually(lambda: _all_dead(conversation))
        # A prompt in one of them would start the agent again.
        conversation.sessions.clear()
    await conversation.end()


async def _all_dead(conversation: Conversation) -> bool:
    states = [await conversation.editor.state(sessionId=one) for one, _ in conversation.sessions]
    for state in states:
        check(state)
    return all(state["status"] == "dead" for state in states)
