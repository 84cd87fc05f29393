"""A turn of the demo agent's, what it asks before it acts, and what it leaves alone."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.demo.driver import Driver
from tests.demo.greeting import GREETING, serve_files


async def test_a_whole_turn_through_the_clients_files(demo: Driver, workspace: Path) -> None:
    session = await demo.open(workspace, fs=True)
    prompt = demo.prompt(session, "Show me")
    while "stopReason" not in ((message := await demo.next()).get("result") or {}):
        serve_files(message, demo)
        if message.get("method") == "session/request_permission":
            (shown,) = message["params"]["toolCall"]["content"]
            assert shown["oldText"] == GREETING
            kinds = [option["kind"] for option in message["params"]["options"]]
            assert kinds == ["allow_once", "allow_always", "reject_once", "reject_always"]
            assert (workspace / "greeting.py").read_text() == GREETING, "nothing before the answer"
            demo.select(message, message["params"]["options"][0]["optionId"])
    assert (message["id"], message["result"]) == (prompt, {"stopReason": "end_turn"})

    assert [call["title"] for call in demo.calls().values()] == [
        "Read greeting.py",
        "Look something up in Python's library",
        "Edit greeting.py",
        "Write note-1.md",
        "Count lines",
    ]
    assert {call["status"] for call in demo.calls().values()} == {"completed"}
    methods = [m["method"] for m in demo.seen if "method" in m and m["method"] != "session/update"]
    read, ask, write = "fs/read_text_file", "session/request_permission", "fs/write_text_file"
    assert methods == [read, read, read, ask, read, write]

    assert demo.call_titled("Read greeting.py")["locations"] == [
        {"path": str(workspace / "greeting.py"), "line": 5}
    ]
    (outside,) = demo.call_titled("Look something up in Python's library")["locations"]
    assert Path(outside["path"]).is_file()
    assert not Path(outside["path"]).is_relative_to(workspace)
    edited = (workspace / "greeting.py").read_text()
    assert "Good morning" in edited
    assert "Barbara" in edited
    (edit,) = demo.call_titled("Edit greeting.py")["content"]
    assert (edit["type"], edit["newText"]) == ("diff", edited)
    (note,) = demo.call_titled("Write note-1.md")["content"]
    assert (note["oldText"], Path(note["path"]).parent) == (None, workspace / "demo-notes")
    assert Path(note["path"]).read_text() == note["newText"]
    count = demo.call_titled("Count lines")
    assert count["content"][0]["content"]["text"].endswith("done\n")
    assert count["rawOutput"] == {"exitCode": 0}

    assert demo.updates("agent_thought_chunk")
    assert [entry["status"] for entry in demo.updates("plan")[-1]["entries"]] == ["completed"] * 4
    assert demo.updates()[-1]["sessionUpdate"] == "usage_update"


async def test_a_client_without_files_has_the_disk_read_and_written(
    demo: Driver, workspace: Path
) -> None:
    session = await demo.open(workspace)
    prompt = demo.prompt(session, "Show me")
    demo.select(await demo.asked(), "go-once")
    assert (await demo.response(prompt))["result"] == {"stopReason": "end_turn"}
    assert "Good morning" in (workspace / "greeting.py").read_text()


async def test_output_of_a_command_streams(demo: Driver, workspace: Path) -> None:
    session = await demo.open(workspace)
    program = "import time\nfor n in range(3): print(n, flush=True); time.sleep(0.1)"
    prompt = demo.prompt(session, f"/run {sys.executable} -c '{program}'")
    request = await demo.asked()
    assert (
        program in demo.calls()[request["params"]["toolCall"]["toolCallId"]]["rawInput"]["command"]
    )
    demo.select(request, "go-once")
    await demo.response(prompt)
    outputs = [
        update["content"][0]["content"]["text"]
        for update in demo.updates("tool_call_update")
        if "content" in update
    ]
    assert len(outputs) > 1
    assert outputs[-1] == "0\n1\n2\n"
    assert all(outputs[-1].startswith(output) for output in outputs)


NO_APPROVALS: list[Any] = [
    {"result": {"outcome": {"outcome": "selected", "optionId": "skip-once"}}},
    {"result": {"outcome": {"outcome": "selected", "optionId": "skip-all"}}},
    {"result": {"outcome": {"outcome": "selected", "optionId": "allow_once"}}},
    {"result": {"outcome": {"outcome": "selected", "optionId": "GO-ONCE"}}},
    {"result": {"outcome": {"outcome": "selected", "optionId": ["go-once"]}}},
    {"result": {"outcome": {"outcome": "selected", "optionId": None}}},
    {"result": {"outcome": {"outcome": "selected"}}},
    {"result": {"outcome": {"outcome": "approved", "optionId": "go-once"}}},
    {"result": {"outcome": {"outcome": "cancelled"}}},
    {"result": {"outcome": "go-once"}},
    {"result": {"optionId": "go-once"}},
    {"result": {}},
    {"result": None},
    {"result": True},
    {"error": {"code": -32603, "message": "no"}},
    {"error": "no"},
    {},
]


@pytest.mark.parametrize("answer", NO_APPROVALS, ids=json.dumps)
async def test_no_other_answer_is_an_approval(
    demo: Driver, workspace: Path, answer: dict[str, Any]
) -> None:
    session = await demo.open(workspace)
    prompt = demo.prompt(session, "Show me")
    request = await demo.asked()
    demo.send({"id": request["id"], **answer})
    assert (await demo.response(prompt))["result"] == {"stopReason": "end_turn"}
    assert (workspace / "greeting.py").read_text() == GREETING
    assert demo.call_titled("Edit greeting.py")["status"] == "failed"
    assert "without the edit" in demo.said()
    assert demo.call_titled("Count lines")["status"] == "completed", "the turn goes on"


@pytest.mark.parametrize(
    ("option", "mode", "edited"),
    [("go-on", "accept-edits", True), ("skip-all", "read-only", False)],
)
async def test_a_remembered_answer_is_a_mode_and_not_asked_for_again(
    demo: Driver, workspace: Path, option: str, mode: str, edited: bool
) -> None:
    (workspace / "b.txt").write_text("b\n")
    session = await demo.open(workspace)
    first = demo.prompt(session, "/edit")
    demo.select(await demo.asked(), option)
    await demo.response(first)
    assert demo.updates("current_mode_update")[-1]["currentModeId"] == mode
    questions = len(demo.seen)
    await demo.response(demo.prompt(session, "/edit b.txt"))
    assert "session/request_permission" not in [m.get("method") for m in demo.seen[questions:]]
    assert ("demo agent" in (workspace / "b.txt").read_text()) is edited


async def test_a_file_changed_during_the_question_is_asked_for_again(
    demo: Driver, workspace: Path
) -> None:
    target = workspace / "greeting.py"
    session = await demo.open(workspace)
    prompt = demo.prompt(session, "/edit")
    first = await demo.asked()
    target.write_text("# mine\n" + GREETING)
    demo.select(first, "go-once")
    second = await demo.asked()
    (shown,) = second["params"]["toolCall"]["content"]
    assert shown["oldText"] == "# mine\n" + GREETING
    assert target.read_text() == "# mine\n" + GREETING, "the first approval was for another text"
    demo.select(second, "go-once")
    await demo.response(prompt)
    assert target.read_text() == shown["newText"]
    assert target.read_text().startswith("# mine\n")


async def test_a_file_that_keeps_changing_is_left_alone(demo: Driver, workspace: Path) -> None:
    target = workspace / "greeting.py"
    session = await demo.open(workspace)
    prompt = demo.prompt(session, "/edit")
    for n in range(3):
        request = await demo.asked()
        target.write_text(f"{n}\n")
        demo.select(request, "go-once")
    await demo.response(prompt)
    assert target.read_text() == "2\n"
    assert demo.call_titled("Edit greeting.py")["status"] == "failed"


async def test_a_write_the_client_refuses_fails_the_call(demo: Driver, workspace: Path) -> None:
    session = await demo.open(workspace, fs=True)
    prompt = demo.prompt(session, "/edit")
    while (message := await demo.next()).get("id") != prompt or "method" in message:
        if message.get("method") == "session/request_permission":
            demo.select(message, "go-once")
        elif message.get("method") == "fs/write_text_file":
            demo.send({"id": message["id"], "error": {"code": -32603, "message": "not now"}})
        else:
            serve_files(message, demo)
    assert demo.call_titled("Edit greeting.py")["status"] == "failed"
    assert "not now" in demo.said()


async def test_a_missing_file_is_proposed_as_a_new_one(demo: Driver, tmp_path: Path) -> None:
    session = await demo.open(tmp_path)
    prompt = demo.prompt(session, "/edit new/notes.txt")
    request = await demo.asked()
    (shown,) = request["params"]["toolCall"]["content"]
    assert shown["oldText"] is None
    demo.select(request, "go-once")
    await demo.response(prompt)
    assert (tmp_path / "new/notes.txt").read_text() == shown["newText"]


async def test_editing_twice_gives_the_first_text_back(demo: Driver, workspace: Path) -> None:
    (workspace / "dos.txt").write_bytes(b"a\r\nb")
    session = await demo.open(workspace)
    await demo.call("session/set_mode", {"sessionId": session, "modeId": "accept-edits"})
    for _ in range(2):
        await demo.response(demo.prompt(session, "/edit"))
        await demo.response(demo.prompt(session, "/edit dos.txt"))
    assert (workspace / "greeting.py").read_text() == GREETING
    assert (workspace / "dos.txt").read_bytes() == b"a\r\nb\r\n"


async def test_an_attached_file_is_the_target(demo: Driver, workspace: Path) -> None:
    other = workspace / "a b#c.txt"
    other.write_text("x\n")
    link = {"type": "resource_link", "uri": other.as_uri(), "name": "a"}
    session = await demo.open(workspace)
    demo.prompt(session, "/edit", link)
    assert (await demo.asked())["params"]["toolCall"]["content"][0]["path"] == str(other)


@pytest.mark.parametrize("how", ["dots", "link"])
async def test_nothing_outside_the_folders_is_touched(
    demo: Driver, tmp_path: Path, how: str
) -> None:
    (tmp_path / "secret.txt").write_text("secret\n")
    workspace = tmp_path / "ws"
    workspace.mkdir()
    (workspace / "link").symlink_to(tmp_path)
    name = {"dots": "../secret.txt", "link": "link/secret.txt"}[how]
    session = await demo.open(workspace)
    await demo.response(demo.prompt(session, f"/edit {name}"))
    await demo.response(demo.prompt(session, f"/read {name}"))
    await demo.response(demo.prompt(session, f"/create {Path(name).parent}"))
    assert {call["status"] for call in demo.calls().values()} == {"failed"}
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["secret.txt", "ws"]
    assert (tmp_path / "secret.txt").read_text() == "secret\n"


async def test_several_questions_at_once(demo: Driver, workspace: Path) -> None:
    session = await demo.open(workspace)
    prompt = demo.prompt(session, "/ask 3")
    requests = [await demo.asked() for _ in range(3)]
    assert len({request["id"] for request in requests}) == 3
    for request, option in zip(
        reversed(requests), ("go-once", "skip-once", "go-once"), strict=True
    ):
        demo.select(request, option)
    await demo.response(prompt)
    assert "yes, no, yes" in demo.said()


async def test_a_withdrawn_question_is_announced(demo: Driver, workspace: Path) -> None:
    session = await demo.open(workspace)
    prompt = demo.prompt(session, "/withdraw")
    request = await demo.asked()
    cancelled = await demo.until(lambda m: m.get("method") == "$/cancel_request")
    assert cancelled["params"] == {"requestId": request["id"]}
    demo.select(request, "go-once")
    assert (await demo.response(prompt))["result"] == {"stopReason": "end_turn"}
    assert "withdrawn" in demo.said()


async def test_a_flood_comes_whole_and_in_order(demo: Driver, workspace: Path) -> None:
    session = await demo.open(workspace)
    await demo.response(demo.prompt(session, "/flood 3000"))
    assert demo.said() == "".join(f"{n} " for n in range(3000))
    assert len({u["messageId"] for u in demo.updates("agent_message_chunk")}) == 1


async def test_a_second_prompt_during_a_turn_is_refused(demo: Driver, workspace: Path) -> None:
    session = await demo.open(workspace)
    demo.prompt(session, "/wait")
    response = await demo.response(demo.prompt(session, "Show me"))
    assert response["error"]["code"] == -32600


@pytest.mark.parametrize(("words", "stop"), [("/refuse", "refusal"), ("/read nowhere", "end_turn")])
async def test_stop_reasons(demo: Driver, workspace: Path, words: str, stop: str) -> None:
    session = await demo.open(workspace)
    assert (await demo.response(demo.prompt(session, words)))["result"]["stopReason"] == stop
