"""A turn as two more real agents play it, that cannot be run everywhere."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.editor import Editor, LspError
from tests.e2e.imitations import Imitation, LikeClaude, LikeCodex
from tests.e2e.puppet import Puppet

LINES = "".join(f"line {number}\n" for number in range(1, 31))
EDITED = LINES.replace("line 3\n", "LINE 3\n").replace("line 20\n", "LINE 20\nmore\n")
DIALOG = "window/showMessageRequest"

Play = Callable[[Imitation], Awaitable[Any]]


@pytest.fixture(params=[LikeCodex, LikeClaude])
def manner(request: pytest.FixtureRequest) -> type[Imitation]:
    found: type[Imitation] = request.param
    return found


class Stage:
    """A file, and an agent that plays a turn."""

    def __init__(self, editor: Editor, puppet: Puppet, ws: Path, manner: type[Imitation]) -> None:
        self.editor = editor
        self.puppet = puppet
        self.ws = ws
        self.manner = manner
        self.file = ws / "a.txt"
        self.file.write_text(LINES)

    async def turn(self, play: Play, reason: str = "end_turn") -> Any:
        """A whole turn; what the play gives."""
        agent = await self.begin()
        result = await play(agent)
        agent.end(reason)
        await self.over()
        return result

    async def begin(self) -> Imitation:
        _, self.running = self.editor.start("acp.session.prompt", text="go")
        return self.manner(self.puppet, await self.puppet.prompted())

    async def over(self) -> str:
        async with asyncio.timeout(20):
            return str((await self.running)["stopReason"])

    def answer(self, option: str) -> None:
        """Click the option of this id in every dialog."""
        named = {each["optionId"]: each["name"] for each in self.manner.options}
        self.editor.answers[DIALOG] = lambda params: {"title": named[option]}

    async def changes(self) -> dict[str, str]:
        listed = await self.editor.execute("acp.review.list")
        return {entry["uri"].rpartition("/")[2]: entry["status"] for entry in listed}

    async def hunks(self) -> list[tuple[int, int, int, int]]:
        (entry,) = await self.editor.execute("acp.review.list")
        return [
            (*each["before"].values(), *each["after"].values())  # type: ignore[misc]
            for each in entry["hunks"]
        ]

    async def revert(self) -> Any:
        return await self.editor.execute("acp.review.revert")


@pytest.fixture
def stage(
    editor: Editor,
    session: dict[str, Any],
    puppet: Puppet,
    ws: Path,
    manner: type[Imitation],
) -> Stage:
    return Stage(editor, puppet, ws, manner)


async def both(agent: Imitation, file: Path, *, asked: bool) -> None:
    before = file.read_text()
    await agent.change(file, before, EDITED, asked=asked)


@pytest.mark.parametrize("asked", [True, False])
async def test_two_places_of_a_file(stage: Stage, asked: bool) -> None:
    stage.answer(stage.manner.allow)
    await stage.turn(lambda agent: both(agent, stage.file, asked=asked))
    assert stage.file.read_text() == EDITED
    assert await stage.changes() == {"a.txt": "modified"}
    assert await stage.hunks() == [(2, 1, 2, 1), (19, 1, 19, 2)]
    assert {name for name, _ in stage.editor.revealed()} == {"a.txt"}
    await stage.revert()
    assert stage.file.read_text() == LINES
    await stage.editor.execute("acp.review.undo")
    assert stage.file.read_text() == EDITED
    dialogs = stage.editor.all(DIALOG)
    assert len(dialogs) == asked
    for dialog in dialogs:
        shown = dialog["message"].splitlines()
        assert str(stage.file) in shown[1]
        assert {"-line 3", "+LINE 3", "-line 20", "+LINE 20", "+more"} <= set(shown)
        assert {each["title"] for each in dialog["actions"]} == {
            each["name"] for each in stage.manner.options
        }
    state = await stage.editor.state()
    assert [call["status"] for call in state["toolCalls"]] == ["completed"]


@pytest.mark.parametrize("asked", [True, False])
@pytest.mark.parametrize("existed", [True, False])
async def test_a_file_written_as_a_whole(stage: Stage, asked: bool, existed: bool) -> None:
    """Neither says whether it was there."""
    stage.answer(stage.manner.allow)
    file = stage.file if existed else stage.ws / "deep" / "new.txt"
    await stage.turn(lambda agent: agent.write(file, "new\n", asked=asked))
    assert file.read_text() == "new\n"
    assert await stage.changes() == {file.name: "modified" if existed else "created"}
    for dialog in stage.editor.all(DIALOG):
        assert ("It overwrites" if existed else "It creates") in dialog["message"]
    await stage.revert()
    assert stage.file.read_text() == LINES
    assert file.exists() is existed


@pytest.mark.parametrize("what", ["edit", "write", "run"])
async def test_what_is_refused_leaves_no_trace(stage: Stage, what: str) -> None:
    stage.answer(stage.manner.refuse)
    plays: dict[str, Play] = {
        "edit": lambda agent: agent.edit(stage.file, "line 3\n", "LINE 3\n"),
        "write": lambda agent: agent.write(stage.ws / "b.txt", "new\n"),
        "run": lambda agent: agent.run("rm -rf build", lambda: "gone\n"),
    }
    reason = "end_turn" if stage.manner.goes_on else "cancelled"
    assert await stage.turn(plays[what], reason) is False
    assert [path.name for path in stage.ws.iterdir()] == ["a.txt"]
    assert stage.file.read_text() == LINES
    assert await stage.changes() == {}
    state = await stage.editor.state()
    assert state["status"] == "idle"
    assert state["permissions"][0]["optionId"] == stage.manner.refuse
    (call,) = state["toolCalls"]
    assert call["status"] in ("failed", "cancelled")
    assert (call["closedBy"] is None) is stage.manner.goes_on
    # And the next turn is like any other.
    stage.answer(stage.manner.allow)
    await stage.turn(lambda agent: agent.edit(stage.file, "line 3\n", "LINE 3\n"))
    assert await stage.hunks() == [(2, 1, 2, 1)]


async def test_a_command_is_shown_word_by_word_and_its_effect_reviewed(stage: Stage) -> None:
    stage.answer(stage.manner.allow)
    command = "sed -i 's/line 3$/LINE 3/' a.txt && echo done"

    def effect() -> str:
        stage.file.write_text(LINES.replace("line 3\n", "LINE 3\n"))
        return "done\n"

    await stage.turn(lambda agent: agent.run(command, effect))
    (dialog,) = stage.editor.all(DIALOG)
    assert command in dialog["message"].replace("'\"'\"'", "'")
    assert await stage.hunks() == [(2, 1, 2, 1)]
    await stage.revert()
    assert stage.file.read_text() == LINES


async def test_unsaved_changes_are_kept(stage: Stage) -> None:
    stage.answer(stage.manner.allow)
    uri = stage.editor.open(stage.file)
    stage.editor.type(uri, 0, 0, "mine: ")
    await stage.turn(lambda agent: both(agent, stage.file, asked=True))
    assert stage.editor.documents[uri].text == LINES.replace("line 1\n", "mine: line 1\n", 1)
    warning = await stage.editor.nth("window/showMessage")
    assert "compare first" in warning["message"]


async def test_a_second_prompt_waits_for_the_first(stage: Stage) -> None:
    """One of them never answers a prompt that comes during a turn."""
    agent = await stage.begin()
    _, second = stage.editor.start("acp.session.prompt", text="second")
    await stage.editor.eventually(lambda: stage.editor.execute("acp.session.queue"))
    prompts = [one for one in stage.puppet.seen if one.get("method") == "session/prompt"]
    assert len(prompts) == 1
    agent.end()
    await stage.over()
    stage.puppet.end_turn(await stage.puppet.prompted())
    assert await second == {"stopReason": "end_turn"}


@pytest.mark.parametrize("manner", [LikeCodex], indirect=True)
async def test_a_command_that_outlives_the_turn(stage: Stage) -> None:
    """It is closed with the turn, and told as it was when it ends after all."""
    agent = await stage.begin()
    assert isinstance(agent, LikeCodex)
    name = agent.begin_run("sleep 60")
    agent.end()
    await stage.over()
    (call,) = (await stage.editor.state())["toolCalls"]
    assert (call["status"], call["closedBy"]) == ("failed", "sidecar")
    agent.end_run(name, "slept\n")

    async def is_completed() -> bool:
        (call,) = (await stage.editor.state())["toolCalls"]
        return (call["status"], call["closedBy"]) == ("completed", None)

    await stage.editor.eventually(is_completed)


@pytest.mark.parametrize("manner", [LikeCodex], indirect=True)
async def test_a_cancel_that_leaves_the_command_running(stage: Stage) -> None:
    agent = await stage.begin()
    assert isinstance(agent, LikeCodex)
    agent.begin_run("sleep 60")
    await stage.editor.execute("acp.session.cancel")
    await stage.puppet.incoming("session/cancel")
    agent.end("cancelled")
    assert await stage.over() == "cancelled"
    (call,) = (await stage.editor.state())["toolCalls"]
    assert (call["status"], call["closedBy"]) == ("cancelled", "sidecar")


@pytest.mark.parametrize("manner", [LikeCodex], indirect=True)
async def test_a_moved_file_of_which_only_the_new_path_is_told(stage: Stage) -> None:
    agent = await stage.begin()
    assert isinstance(agent, LikeCodex)
    target = stage.ws / "b.txt"
    agent.move(stage.file, target, LINES.replace("line 3\n", "LINE 3\n"))
    agent.end()
    await stage.over()
    assert await stage.changes() == {"a.txt": "deleted", "b.txt": "created"}
    await stage.revert()
    assert [path.name for path in stage.ws.iterdir()] == ["a.txt"]
    assert stage.file.read_text() == LINES


@pytest.mark.parametrize("manner", [LikeCodex], indirect=True)
async def test_an_error_that_says_what_it_is_in_a_string_besides(stage: Stage) -> None:
    agent = await stage.begin()
    error = {"code": -32603, "message": "Internal error", "data": "You have hit your limit."}
    stage.puppet.send({"id": agent.prompt["id"], "error": error})
    with pytest.raises(LspError, match="You have hit your limit"):
        await stage.over()


@pytest.mark.parametrize("manner", [LikeClaude], indirect=True)
async def test_leaving_plan_mode_offers_two_ways_of_always(stage: Stage) -> None:
    agent = await stage.begin()
    options = [
        {"optionId": "default", "name": "Yes, ask before each edit", "kind": "allow_once"},
        {"optionId": "acceptEdits", "name": "Yes, accept all edits", "kind": "allow_always"},
        {"optionId": "auto", "name": "Yes, accept everything", "kind": "allow_always"},
        {"optionId": "plan", "name": "No, keep planning", "kind": "reject_once"},
    ]
    plan = {"type": "content", "content": {"type": "text", "text": "1. Change a.txt"}}
    call = {"toolCallId": "p", "title": "Ready to code?", "kind": "switch_mode", "content": [plan]}
    asked = asyncio.create_task(agent.ask(call, options))
    dialog = await stage.editor.dialog()
    assert "1. Change a.txt" in dialog["message"]
    assert stage.editor.titles() == ["No, keep planning", *(each["name"] for each in options[:3])]
    stage.editor.click("Yes, accept everything")
    assert await asked == "auto"


@pytest.mark.parametrize("manner", [LikeClaude], indirect=True)
async def test_what_comes_after_the_turn_is_taken(stage: Stage) -> None:
    entries = [{"content": "Do it", "priority": "medium", "status": "pending"}]
    agent = await stage.begin()
    for _ in range(3):
        stage.puppet.update("plan", entries=entries)
    stage.puppet.say("Done.")
    agent.end()
    await stage.over()
    stage.puppet.send({"method": "_auth/status_update", "params": {"authenticated": True}})
    stage.puppet.update("session_info_update", title="Do it")

    async def is_titled() -> bool:
        return (await stage.editor.state())["title"] == "Do it"

    await stage.editor.eventually(is_titled)
    state = await stage.editor.state()
    assert [plan["entries"] for plan in state["plans"]] == [entries]
    assert stage.editor.all("window/showMessage") == []
