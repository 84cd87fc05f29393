"""Permission requests as odd agents and odd editors make them."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.editor import Editor, LspError
from tests.e2e.findings import Findings
from tests.e2e.puppet import OPTIONS, Puppet
from tests.e2e.shape import check

DIALOG = "window/showMessageRequest"


def asking(puppet: Puppet, session: str | None = None, **call: Any) -> dict[str, Any]:
    """The parameters of a permission request."""
    return {
        "sessionId": session or puppet.session,
        "toolCall": {"toolCallId": "t1", "title": "x", **call},
        "options": OPTIONS,
    }


def diff(path: Path | str, old: str | None, new: str) -> dict[str, Any]:
    changed = {"type": "diff", "path": str(path), "oldText": old, "newText": new}
    return {"kind": "edit", "content": [changed]}


async def pending(editor: Editor, count: int) -> list[dict[str, Any]]:
    async def waiting() -> Any:
        questions = await editor.execute("acp.permission.pending")
        return questions if len(questions) == count else None

    found: list[dict[str, Any]] = await editor.eventually(waiting)
    return found


async def checked(editor: Editor, **argument: Any) -> dict[str, Any]:
    state = await editor.state(**argument)
    check(state)
    return state


def answers(puppet: Puppet) -> list[dict[str, Any]]:
    return [message for message in puppet.seen if "method" not in message]


async def test_R16_the_message_says_what_is_so(
    editor: Editor, puppet: Puppet, session: Any, ws: Path, tmp_path: Path
) -> None:
    """The whole truth, for whatever an agent gives."""
    (ws / "a.py").write_text("a\nb\nc\n")
    (ws / "crlf.txt").write_bytes(b"a\r\nb\r\nc\r\n")
    (ws / "binary").write_bytes(b"\0\1\xff")
    (ws / "folder").mkdir()
    os.mkfifo(ws / "pipe")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x").write_text("1\n2\n")
    (ws / "link").symlink_to(outside)
    long = "x" * 12_000 + "; rm -rf /"
    deep: dict[str, Any] = {"deepest": 1}
    for _ in range(100):
        deep = {"k": deep}
    cases: list[tuple[dict[str, Any], list[str], list[str]]] = [
        ({"rawInput": {"command": 5, "cmd": "rm -rf /"}}, ["Command: rm -rf /", '"command":5'], []),
        ({"rawInput": {"command": {"a": "rm"}, "cmd": "ls"}}, ["Command: ls", '{"a":"rm"}'], []),
        ({"rawInput": {"command": "", "cmd": "ls -la"}}, ["Command: ls -la"], []),
        ({"rawInput": {"command": ["rm", 5]}}, ['["rm",5]'], ["Command:"]),
        ({"rawInput": {"command": "git", "args": ["push", "-f"]}}, ["git", '["push","-f"]'], []),
        ({"rawInput": {"command": "cat <<E\nx\nE"}}, ["Command: cat <<E\\nx\\nE"], []),
        ({"rawInput": [1, {"command": "rm"}]}, ['[1,{"command":"rm"}]'], []),
        ({"rawInput": False}, ["Arguments: false"], ["gave none"]),
        ({"rawInput": ""}, ["gave none"], []),
        ({"rawInput": deep}, ["deepest"], []),
        ({"rawInput": {"command": "ls", "cwd": "/etc", "env": {"A": "b"}}}, ["/etc", '"A"'], []),
        ({"rawInput": {"command": long}}, [long], []),
        ({"rawInput": {"script": long}}, [long], []),
        ({"kind": "delete", "locations": [{"path": "/etc/passwd"}]}, ["delete", "/etc/passwd"], []),
        ({"title": "T" * 10_000}, ["T" * 10_000], []),
        (
            {"title": "a\u202e\u200b\x1b[2K\ufe00\nCommand: ls"},
            ["\\u202e\\u200b\\u001b"],
            ["\nComm"],
        ),
        ({"title": "[ok](command:evil)"}, [], ["]("]),
        ({"title": "שלום 😀"}, ["שלום 😀"], []),
        (diff(ws / "a.py", "b\n", "B\n"), [f"changes {ws}/a.py (−1 +1 lines, in a part"], []),
        (diff(ws / "a.py", "z\n", "B\n"), ["in a text that it does not have"], []),
        (diff(ws / "a.py", None, ""), [f"empties {ws}/a.py"], []),
        (diff(ws / "crlf.txt", "a\nb\nc\n", "a\nB\nc\n"), ["(−1 +1 lines)"], ["overwrites"]),
        (diff(ws / "binary", None, "x\n"), ["overwrites"], ["creates"]),
        (diff(ws / "folder", None, "x\n"), ["for a file, which it is not"], ["creates"]),
        (diff(ws / "pipe", None, "x\n"), ["for a file, which it is not"], ["creates"]),
        (diff(ws / "gone", "old\n", "new\n"), ["nothing is there now"], ["overwrites"]),
        (diff(ws / "new", None, "x\n"), [f"creates {ws}/new (1 line)"], []),
        (diff("/etc/hosts", "b\n", "B\n"), ["outside the workspace", "as the agent has it"], []),
        (diff(ws / "link" / "x", None, "9\n"), ["outside the workspace", "overwrites"], []),
        (diff("../outside/x", None, "9\n"), ["outside the workspace", "overwrites"], ["creates"]),
    ]
    for number, (call, _, _) in enumerate(cases):
        puppet.ask({"toolCallId": f"c{number}", "title": "t", **call})
    questions = await pending(editor, len(cases))
    findings = Findings()
    for (call, said, unsaid), question in zip(cases, questions, strict=True):
        message = question["message"]
        for part in said:
            findings.expect(part in message, "lacks", part, call, message)
        for part in unsaid:
            findings.expect(part not in message, "says", part, call, message)
    findings.equal(len({question["message"] for question in questions}), len(cases), "unique")
    await checked(editor)
    findings.close()


async def test_T09_a_request_of_any_id_can_be_withdrawn(
    editor: Editor, puppet: Puppet, session: Any
) -> None:
    ids = [0, "0", "", 1, -1, 1.5, 2**53 + 1, 2**70, "x" * 5000, "é😀", None, "null"]
    findings = Findings()
    for one in ids:
        puppet.expect(one)
        puppet.send({"id": one, "method": "session/request_permission", "params": asking(puppet)})
    await pending(editor, len(ids))
    for other in (999, True, {"a": 1}, [1], "no-such"):
        puppet.send({"method": "$/cancel_request", "params": {"requestId": other}})
    for odd in (None, [], {}):
        puppet.send({"method": "$/cancel_request", "params": odd})
    assert len(await editor.execute("acp.permission.pending")) == len(ids)
    for one in ids:
        puppet.send({"method": "$/cancel_request", "params": {"requestId": one}})
        answer = await puppet.result(one)
        findings.expect(type(answer["id"]) is type(one), "type of", one)
        findings.equal(answer.get("result"), {"outcome": {"outcome": "cancelled"}}, one)
    findings.equal(len(answers(puppet)), len(ids), "one answer each")
    await checked(editor)
    findings.close()


async def test_fifty_at_once_can_be_answered_in_any_order(
    editor: Editor, puppet: Puppet, session: Any
) -> None:
    requests = [puppet.ask({"toolCallId": f"t{n}", "title": f"n{n}"}) for n in range(50)]
    questions = await pending(editor, 50)
    assert [question["toolCallId"] for question in questions] == [f"t{n}" for n in range(50)]
    await editor.dialog()
    for question in reversed(questions[1:]):
        await editor.execute(
            "acp.permission.answer", requestId=question["requestId"], optionId="yes"
        )
    for request in requests[1:]:
        assert await puppet.outcome(request) == "yes"
    editor.click("Always")
    assert await puppet.outcome(requests[0]) == "always"
    assert len(editor.all(DIALOG)) == 1
    await checked(editor)


async def test_a_click_and_a_command_at_the_same_time_are_one_answer(
    editor: Editor, puppet: Puppet, session: Any
) -> None:
    for number in range(4):
        request = puppet.ask({"toolCallId": f"t{number}"})
        await editor.dialog(number + 1)
        (question,) = await editor.execute("acp.permission.pending")
        argument = {"requestId": question["requestId"], "optionId": "yes"}
        if number % 2:
            editor.click("Reject")
        _, answered = editor.start("acp.permission.answer", **argument)
        if not number % 2:
            editor.click("Reject")
        outcome = await puppet.outcome(request)
        try:
            await answered
        except LspError:
            assert outcome == "no"
        else:
            assert outcome == "yes"
        assert (await checked(editor))["permissions"][-1]["optionId"] == outcome
    assert len(answers(puppet)) == 4


async def test_R13_a_question_outlives_the_end_of_its_turn(
    editor: Editor, puppet: Puppet, session: Any
) -> None:
    request = puppet.ask({"title": "before any turn"})
    await editor.dialog(1)
    editor.click("Allow")
    assert await puppet.outcome(request) == "yes"
    _, turn = editor.start("acp.session.prompt", text="go")
    prompt = await puppet.prompted()
    request = puppet.ask({"toolCallId": "t2", "title": "within"})
    await editor.dialog(2)
    puppet.end_turn(prompt)
    await turn
    assert (await checked(editor))["status"] == "requires_action"
    editor.click("Allow")
    assert await puppet.outcome(request) == "yes"
    # Cancelled by the user though no turn runs.
    request = puppet.ask({"toolCallId": "t3"})
    await editor.dialog(3)
    await editor.execute("acp.session.cancel")
    assert await puppet.outcome(request) == "cancelled"
    # In one write with the end of a turn.
    _, turn = editor.start("acp.session.prompt", text="go")
    prompt = await puppet.prompted()
    puppet.expect("late")
    puppet.send(
        {"id": prompt["id"], "result": {"stopReason": "end_turn"}},
        {"id": "late", "method": "session/request_permission", "params": asking(puppet)},
    )
    await turn
    await editor.dialog(4)
    editor.click("Allow")
    assert await puppet.outcome("late") == "yes"
    assert (await checked(editor))["status"] == "idle"


async def test_T14_what_comes_with_the_session_s_answer_belongs_to_it(
    editor: Editor, puppet: Puppet, ws: Path
) -> None:
    (ws / "a").write_text("A\n")
    del puppet.answers["session/new"]
    _, opening = editor.start("acp.session.new")
    request = await puppet.incoming("session/new")
    puppet.sessions.append("S1")
    for one in ("read", "ask"):
        puppet.expect(one)
    read = {"sessionId": "S1", "path": f"{ws}/a"}
    puppet.send(
        {"id": request["id"], "result": {"sessionId": "S1"}},
        {"id": "read", "method": "fs/read_text_file", "params": read},
        {"id": "ask", "method": "session/request_permission", "params": asking(puppet)},
    )
    await opening
    assert (await puppet.result("read"))["result"] == {"content": "A\n"}
    assert "not opened" not in (await editor.dialog())["message"]
    assert len((await checked(editor))["permissions"]) == 1


async def test_two_agents_with_the_same_ids_are_kept_apart(
    idle_editor: Editor, puppet: Puppet, ws: Path, tmp_path: Path
) -> None:
    editor = idle_editor
    async with Puppet(tmp_path, "other") as other:
        agents = {"puppet": puppet.setting, "other": other.setting}
        await editor.initialize(ws, settings={"agents": agents, "defaultAgent": "puppet"})
        first = await editor.execute("acp.session.new")
        second = await editor.execute("acp.session.new", agent="other")
        assert first["agentSessionId"] == second["agentSessionId"]
        for agent in (puppet, other):
            agent.request("session/request_permission", asking(agent, title=agent.name), 1)
        by_agent = {question["agent"]: question for question in await pending(editor, 2)}
        assert by_agent["puppet"]["sessionId"] == first["sessionId"]
        other_s = by_agent["other"]["requestId"]
        await editor.execute("acp.permission.answer", requestId=other_s, optionId="always")
        assert await other.outcome(1) == "always"
        other.send({"method": "$/cancel_request", "params": {"requestId": 1}})
        other.hang_up()

        async def dead() -> bool:
            state = await checked(editor, sessionId=second["sessionId"])
            return bool(state["status"] == "dead")

        await editor.eventually(dead)
        state = await checked(editor, sessionId=first["sessionId"])
        assert state["status"] == "requires_action"
        assert answers(puppet) == []


async def test_R01_a_session_the_user_closed_asks_nothing_more(
    editor: Editor, puppet: Puppet, session: dict[str, Any]
) -> None:
    await editor.execute("acp.session.new")
    puppet.request("session/request_permission", asking(puppet, "S1"), 7)
    await editor.dialog()
    await editor.execute("acp.session.close", sessionId=session["sessionId"])
    assert await puppet.outcome(7) == "cancelled"
    puppet.request("session/request_permission", asking(puppet, "S1"), 8)
    assert await puppet.outcome(8) == "cancelled"
    assert len(editor.all(DIALOG)) == 1
    puppet.say("ghost", session="S1")
    assert (await checked(editor))["messages"] == []


@pytest.mark.parametrize("how", ["shutdown", "end of input"])
async def test_G09_an_editor_that_goes_has_not_said_no(
    editor: Editor, puppet: Puppet, session: Any, how: str
) -> None:
    requests = [puppet.ask({"toolCallId": str(number)}) for number in range(2)]
    await editor.dialog()
    if how == "shutdown":
        await editor.call("shutdown")
    else:
        assert editor.process.stdin is not None
        editor.process.stdin.close()
    for request in requests:
        assert await puppet.outcome(request) == "cancelled"


async def test_R05_many_unusable_questions_are_no_wall_of_messages(
    editor: Editor, puppet: Puppet, session: Any
) -> None:
    requests = [puppet.ask({"toolCallId": str(number)}, []) for number in range(20)]
    for request in requests:
        assert await puppet.outcome(request) == "cancelled"
    await checked(editor)
    assert editor.all(DIALOG) == []
    assert 1 <= len(editor.all("window/showMessage")) <= 7


async def test_R12_an_id_used_again_does_not_show_what_was_done_with(
    editor: Editor, puppet: Puppet, session: Any
) -> None:
    _, turn = editor.start("acp.session.prompt", text="go")
    prompt = await puppet.prompted()
    old = {"kind": "execute", "rawInput": {"command": "harmless"}}
    puppet.tool("t1", title="old", status="completed", **old)
    puppet.end_turn(prompt)
    await turn
    editor.start("acp.session.prompt", text="go")
    await puppet.prompted()
    puppet.ask({"title": "new"})
    message = (await editor.dialog())["message"]
    assert "harmless" not in message
    assert "the agent gave none" in message
    calls = (await checked(editor))["toolCalls"]
    assert [(call["title"], call["rawInput"]) for call in calls] == [
        ("old", old["rawInput"]),
        ("new", None),
    ]


async def test_questions_without_a_usable_part_are_answered_all_the_same(
    editor: Editor, puppet: Puppet, session: Any
) -> None:
    odd_call = {"toolCallId": 5, "title": 7, "kind": [], "content": "no", "locations": {"a": 1}}
    holes = {"toolCallId": "k", "content": [5, {"type": "diff"}], "locations": [None, {"path": 5}]}
    odd_options = [{"optionId": 5, "name": "A"}, {"optionId": "ok", "name": 7, "kind": 9}]
    cases: list[tuple[Any, str]] = [
        ({"sessionId": "S1", "options": OPTIONS}, "asked"),
        ({"sessionId": "S1", "toolCall": "x", "options": OPTIONS}, "asked"),
        ({"sessionId": "S1", "toolCall": odd_call, "options": OPTIONS}, "asked"),
        ({"sessionId": "S1", "toolCall": holes, "options": OPTIONS}, "asked"),
        ({"sessionId": "S1", "toolCall": {"toolCallId": "k"}, "options": odd_options}, "asked"),
        ({"sessionId": "S1", "toolCall": {"toolCallId": "k"}, "options": [{}]}, "cancelled"),
        ({"toolCall": {"toolCallId": "k"}, "options": OPTIONS}, "refused"),
        ({"sessionId": 5, "toolCall": {"toolCallId": "k"}, "options": OPTIONS}, "refused"),
        (None, "refused"),
        ([], "refused"),
    ]
    findings = Findings()
    for number, (params, wanted) in enumerate(cases):
        request = puppet.request("session/request_permission", params, f"r{number}")
        if wanted == "asked":
            (question,) = await pending(editor, 1)
            await editor.execute(
                "acp.permission.answer",
                requestId=question["requestId"],
                optionId=question["options"][0]["optionId"],
            )
        answer = await puppet.result(request)
        said = answer.get("result", {}).get("outcome", {}).get("outcome", "refused")
        findings.equal({"selected": "asked"}.get(said, said), wanted, json.dumps(params))
        check(await editor.state())
    findings.close()


class TestReminder:
    @pytest.fixture
    def settings(self, puppet: Puppet) -> dict[str, Any]:
        return {
            "agents": {"puppet": puppet.setting},
            "defaultAgent": "puppet",
            "timeouts": {"dialogReminder": 0.2},
        }

    async def test_dialogs_are_answered_in_any_order_and_once(
        self, editor: Editor, puppet: Puppet, session: Any
    ) -> None:
        requests = [puppet.ask({"toolCallId": f"t{n}", "title": f"n{n}"}) for n in range(3)]
        await editor.dialog(3)
        for number, title, other in ((2, "Allow", "Reject"), (0, "Reject", "Allow")):
            editor.click(title, number)
            editor.click(other, number)
        editor.click("Always", 1)
        outcomes = await asyncio.gather(*(puppet.outcome(request) for request in requests))
        assert outcomes == ["no", "always", "yes"]
        assert (await checked(editor))["status"] == "idle"
