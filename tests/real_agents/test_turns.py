"""Whole turns of real agents, from the editor to the disk and back."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.real_agents.desk import APP, FILES, Desk, dismiss, reject
from tests.real_agents.lab.script import Answer, Edit, Plan, Read, Run, Write, doing

pytestmark = pytest.mark.timeout(300)

OLD = '    return "hello " + name\n'
NEW = '    greeting = "good morning "\n    return greeting + name\n'
APP_NEW = APP.replace(OLD, NEW)
UTIL = "def double(x):\n    return 2 * x\n"
COMMAND = "echo run-ok > ran.txt && python3 src/app.py"


def read_edit_run(table: Desk) -> tuple[Answer, ...]:
    app = table.path("src/app.py")
    return (
        Answer("I look at it first.", [Read(app)], think="What does it say?"),
        doing(Edit(app, OLD, NEW), say="Now I change the greeting."),
        doing(Write(table.path("new/util.py"), UTIL)),
        doing(Run(COMMAND)),
        Answer("All done."),
    )


BUTTONS = {
    "opencode": ["Reject", "Allow once", "Always allow"],
    "gemini": ["Reject", "Allow for this session", "Allow"],
}
ONCE = {"opencode": "once", "gemini": "proceed_once"}
NO = {"opencode": "reject", "gemini": "cancel"}


def calls(state: dict[str, Any]) -> list[tuple[str, str]]:
    return [(call["kind"], call["status"]) for call in state["toolCalls"]]


def nothing_is_open(state: dict[str, Any]) -> bool:
    waits = any(permission["state"] == "waiting" for permission in state["permissions"])
    return not waits and {status for _, status in calls(state)} <= {
        "completed",
        "failed",
        "cancelled",
    }


async def test_read_edit_run(table: Desk) -> None:
    assert await table.turn("Improve it.", *read_edit_run(table)) == "end_turn"
    # What the user was asked.
    edit, create, run = (dialog.text.splitlines() for dialog in table.asked)
    assert edit[0] == f"{table.agent} wants to change files (edit, request 1)"
    assert edit[1:6] == [
        f"It changes {table.path('src/app.py')} (−1 +2 lines)",
        "@@ line 6 @@",
        '-    return "hello " + name',
        '+    greeting = "good morning "',
        "+    return greeting + name",
    ]
    assert create[1:5] == [
        f"It creates {table.path('new/util.py')} (2 lines)",
        "@@ line 1 @@",
        "+def double(x):",
        "+    return 2 * x",
    ]
    assert run[0] == f"{table.agent} wants to run a command (execute, request 3)"
    assert any(COMMAND in line for line in run)
    assert not any(line.startswith("Arguments: {") for line in edit + create + run)
    assert [dialog.titles for dialog in table.asked] == [BUTTONS[table.agent]] * 3
    # What came of it.
    made = {"src/app.py": APP_NEW, "new/util.py": UTIL, "ran.txt": "run-ok\n"}
    assert table.disk() == FILES | made
    assert await table.changes() == {
        "src/app.py": "modified",
        "new/util.py": "created",
        "ran.txt": "created",
    }
    shown = table.client.revealed()
    assert {("app.py", 5), ("util.py", 0)} <= set(shown)
    assert {name for name, _ in shown} == {"app.py", "util.py"}
    state = await table.state()
    assert state["status"] == "idle"
    kinds = ("read", "edit", "edit", "execute")
    assert calls(state) == [(kind, "completed") for kind in kinds]
    answered = [(each["state"], each["optionId"]) for each in state["permissions"]]
    assert answered == [("answered", ONCE[table.agent])] * 3
    assert state["messages"][-1]["content"] == [{"type": "text", "text": "All done."}]


@pytest.mark.parametrize("hand", [reject, dismiss])
async def test_reject(table: Desk, hand: Any) -> None:
    assert await table.turn("Improve it.", *read_edit_run(table), hand=hand) == "end_turn"
    assert table.asked
    assert table.disk() == FILES
    assert await table.changes() == {}
    state = await table.state()
    assert state["status"] == "idle"
    assert nothing_is_open(state)
    assert calls(state)[0] == ("read", "completed")
    assert {status for _, status in calls(state)[1:]} == {"failed"}
    assert {each["optionId"] for each in state["permissions"]} == {NO[table.agent]}


async def test_cancel_while_a_permission_waits(table: Desk) -> None:
    running = table.start("Improve it.", *read_edit_run(table))
    dialog = await table.dialog()
    await table.client.execute("acp.session.cancel")
    assert await running == {"stopReason": "cancelled"}
    await table.client.until(lambda: dialog.withdrawn)
    assert table.disk() == FILES
    assert await table.changes() == {}
    state = await table.state()
    assert (state["status"], state["stopReason"]) == ("idle", "cancelled")
    assert [each["state"] for each in state["permissions"]] == ["cancelled"]
    assert nothing_is_open(state)
    # And it goes on from there.
    assert await table.turn("Now improve it.", *read_edit_run(table)) == "end_turn"
    assert table.disk()["src/app.py"] == APP_NEW
    assert len(table.asked) == 4


async def test_cancel_while_a_command_runs(table: Desk) -> None:
    slow = Run("echo started > started.txt; sleep 40; echo finished > finished.txt")
    idle = table.family()
    running = table.start("Take your time.", doing(slow), Answer("It took its time."))
    dialog = await table.dialog()
    assert slow.command in dialog.text
    dialog.click(next(title for title in dialog.titles if title.startswith("Allow")))
    async with asyncio.timeout(60):
        while "started.txt" not in table.disk():
            await asyncio.sleep(0.05)
    working = table.family() - idle
    assert working
    await table.client.execute("acp.session.cancel")
    assert await running == {"stopReason": "cancelled"}
    await table.none_left(working)
    state = await table.state()
    assert (state["status"], state["stopReason"]) == ("idle", "cancelled")
    assert nothing_is_open(state)
    assert await table.turn("Now improve it.", *read_edit_run(table)) == "end_turn"
    assert table.disk()["src/app.py"] == APP_NEW
    assert "finished.txt" not in table.disk()


async def test_outside_the_workspace(table: Desk) -> None:
    table.outside.mkdir()
    secret, new = table.outside / "secret.txt", table.outside / "new.txt"
    secret.write_text("secret\n")
    steps = doing(Read(str(secret))), doing(Write(str(new), "new\n")), Answer("Tried it.")
    assert await table.turn("Look around.", *steps, hand=reject) == "end_turn"
    assert not new.exists()
    assert await table.turn("Look again.", *steps) == "end_turn"
    if table.agent == "opencode":
        # It asks, and then writes by itself: the word is the user's.
        assert len(table.asked) == 4
        assert new.read_text() == "new\n"
    else:
        # It refuses without a question.
        assert table.asked == []
        assert not new.exists()
    for dialog in table.asked:
        assert str(table.outside) in dialog.text
        assert "outside the workspace" in dialog.text
        assert dialog.titles == BUTTONS[table.agent]
    state = await table.state()
    assert nothing_is_open(state)
    assert table.client.revealed() == []
    assert await table.changes() == {}
    assert table.disk() == FILES


async def test_plan(table: Desk) -> None:
    items = ("Read it", "Change it")
    steps = [
        Plan(tuple(zip(items, stages, strict=True)))
        for stages in (("in_progress", "pending"), ("completed", "completed"))
    ]
    assert await table.turn("Make a plan.", *map(doing, steps), Answer("Done.")) == "end_turn"
    state = await table.state()
    assert calls(state) == [("other", "completed")] * 2
    # Neither agent sends a plan; what there is to see is in its tool calls.
    assert state["plans"] == []
    if table.agent == "opencode":
        assert table.asked == []
        assert all(item in str(state["toolCalls"][0]["content"]) for item in items)
    else:
        assert [dialog.text.splitlines()[-1] for dialog in table.asked] == [
            "The agent calls it: “Set 2 todo(s)”"
        ] * 2
    assert table.disk() == FILES
    assert table.client.revealed() == []
