"""The demo agent, seen from the other end of its pipe."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from acp import schema

from acp_sidecar.acp.elicitation import elicitation
from acp_sidecar.demo.shown import SHOWN
from tests.demo.driver import AGENT, BOUND, Driver, agent

GREETING = '''"""Greets people by name."""


def greet(name):
    return "Hello " + name


for name in ("Ada", "Grace", "Linus"):
    print(greet(name))
'''


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "greeting.py").write_text(GREETING)
    return tmp_path


@pytest.fixture
async def demo() -> AsyncIterator[Driver]:
    async with agent() as driver:
        yield driver
        for message in driver.seen:
            if message.get("method") == "session/update":
                schema.SessionNotification.model_validate(message["params"])
            elif message.get("method") == "session/request_permission":
                schema.RequestPermissionRequest.model_validate(message["params"])


def serve_files(message: dict[str, Any], driver: Driver) -> None:
    """Answers a file request from the disk, as a client does."""
    params = message.get("params") or {}
    if message.get("method") == "fs/read_text_file":
        path = Path(params["path"])
        if not path.exists():
            error = {"code": -32002, "message": f"No such file: {path}"}
            driver.send({"id": message["id"], "error": error})
            return
        lines = path.read_text().splitlines(keepends=True)
        start = params.get("line", 1) - 1
        content = "".join(lines[start : start + params.get("limit", len(lines))])
        driver.send({"id": message["id"], "result": {"content": content}})
    elif message.get("method") == "fs/write_text_file":
        Path(params["path"]).write_text(params["content"])
        driver.send({"id": message["id"], "result": {}})


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


async def test_a_cancel_ends_the_turn_at_the_question(demo: Driver, workspace: Path) -> None:
    session = await demo.open(workspace)
    prompt = demo.prompt(session, "Show me")
    request = await demo.asked()
    demo.send({"method": "session/cancel", "params": {"sessionId": session}})
    demo.send({"id": request["id"], "result": {"outcome": {"outcome": "cancelled"}}})
    assert (await demo.response(prompt))["result"] == {"stopReason": "cancelled"}
    demo.select(request, "go-once")  # a late click
    assert (await demo.call("session/list", {}))["sessions"]
    assert (workspace / "greeting.py").read_text() == GREETING
    assert [path.name for path in workspace.iterdir()] == ["greeting.py"]


async def test_a_cancel_before_the_first_step_is_answered(demo: Driver, workspace: Path) -> None:
    session = await demo.open(workspace)
    prompt = {"id": 77, "method": "session/prompt", "params": {"sessionId": session, "prompt": []}}
    cancel = {"method": "session/cancel", "params": {"sessionId": session}}
    demo.raw(
        b"".join(json.dumps({"jsonrpc": "2.0", **m}).encode() + b"\n" for m in (prompt, cancel))
    )
    assert (await demo.response(77))["result"] == {"stopReason": "cancelled"}


async def test_every_point_of_the_turn_can_be_cancelled(demo: Driver, workspace: Path) -> None:
    """Cancels a turn after its first message, the next after its second, and so on."""
    session = await demo.open(workspace)
    stop_reason, point = "cancelled", 0
    while stop_reason == "cancelled":
        (workspace / "greeting.py").write_text(GREETING)
        point += 1
        prompt = demo.prompt(session, "Show me")
        messages = 0
        while "stopReason" not in ((message := await demo.next()).get("result") or {}):
            messages += 1
            if messages == point:
                demo.send({"method": "session/cancel", "params": {"sessionId": session}})
            if message.get("method") == "session/request_permission":
                demo.select(message, "go-once")
        assert message["id"] == prompt
        stop_reason = message["result"]["stopReason"]
        if stop_reason == "cancelled" and point < 5:
            assert (workspace / "greeting.py").read_text() == GREETING
    assert point > 15


async def test_a_cancel_kills_the_running_command(demo: Driver, workspace: Path) -> None:
    session = await demo.open(workspace)
    prompt = demo.prompt(session, "/wait")
    await demo.until(lambda m: "content" in ((m.get("params") or {}).get("update") or {}))
    children = Path(f"/proc/{demo.process.pid}/task/{demo.process.pid}/children")
    demo.send({"method": "session/cancel", "params": {"sessionId": session}})
    assert (await demo.response(prompt))["result"] == {"stopReason": "cancelled"}
    if children.exists():
        assert children.read_text() == ""


async def test_the_end_of_input_ends_agent_and_command(demo: Driver, workspace: Path) -> None:
    session = await demo.open(workspace)
    program = "import os,time; print(os.getpid(), flush=True); time.sleep(600)"
    demo.prompt(session, f"/run {sys.executable} -c '{program}'")
    demo.select(await demo.asked(), "go-once")
    started = await demo.until(
        lambda m: (m.get("params") or {}).get("update", {}).get("content") is not None
    )
    pid = int(started["params"]["update"]["content"][0]["content"]["text"])
    assert await demo.end() == 0
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_cancel_request_of_the_prompt_cancels_the_turn(demo: Driver, workspace: Path) -> None:
    session = await demo.open(workspace)
    prompt = demo.prompt(session, "/wait")
    await demo.until(lambda m: m.get("method") == "session/update")
    demo.send({"method": "$/cancel_request", "params": {"requestId": prompt}})
    assert (await demo.response(prompt))["result"] == {"stopReason": "cancelled"}


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


async def test_a_loaded_session_says_everything_again(demo: Driver, workspace: Path) -> None:
    session = await demo.open(workspace)
    prompt = demo.prompt(session, "/edit")
    demo.select(await demo.asked(), "go-once")
    await demo.response(prompt)
    params = {"sessionId": session, "cwd": str(workspace), "mcpServers": []}
    first = demo.updates()
    before = len(demo.seen)
    await demo.call("session/load", params)
    again = [m["params"]["update"] for m in demo.seen[before:] if "method" in m]
    assert again[0]["sessionUpdate"] == "user_message_chunk"
    assert again[1:] == [u for u in first if u["sessionUpdate"] != "available_commands_update"]
    await demo.until(lambda m: "availableCommands" in m["params"]["update"])
    before = len(demo.seen)
    assert "modes" in await demo.call("session/resume", params)
    assert [m for m in demo.seen[before:] if "method" in m] == [], "no replay before the answer"
    (row,) = (await demo.call("session/list", {"cwd": str(workspace)}))["sessions"]
    assert (row["sessionId"], row["title"]) == (session, "/edit")


async def test_settings_take_only_what_they_offer(demo: Driver, workspace: Path) -> None:
    session = await demo.open(workspace)
    choose = {"sessionId": session, "configId": "pace", "value": "0.2"}
    options = (await demo.call("session/set_config_option", choose))["configOptions"]
    assert options[0]["currentValue"] == "0.2"
    for method, params in (
        ("session/set_config_option", {**choose, "value": "soon"}),
        ("session/set_config_option", {**choose, "configId": "colour"}),
        ("session/set_mode", {"sessionId": session, "modeId": "yolo"}),
    ):
        response = await demo.response(demo.request(method, params))
        assert response["error"]["code"] == -32602


async def test_a_second_prompt_during_a_turn_is_refused(demo: Driver, workspace: Path) -> None:
    session = await demo.open(workspace)
    demo.prompt(session, "/wait")
    response = await demo.response(demo.prompt(session, "Show me"))
    assert response["error"]["code"] == -32600


@pytest.mark.parametrize(("words", "stop"), [("/refuse", "refusal"), ("/read nowhere", "end_turn")])
async def test_stop_reasons(demo: Driver, workspace: Path, words: str, stop: str) -> None:
    session = await demo.open(workspace)
    assert (await demo.response(demo.prompt(session, words)))["result"]["stopReason"] == stop


async def test_a_prompt_that_fails_and_an_agent_that_crashes(demo: Driver, workspace: Path) -> None:
    session = await demo.open(workspace)
    assert (await demo.response(demo.prompt(session, "/fail")))["error"]["code"] == -32603
    demo.prompt(session, "/crash")
    async with asyncio.timeout(BOUND):
        assert await demo.process.wait() == 3


BAD_LINES: list[tuple[bytes, Any, int]] = [
    (b"nonsense", None, -32700),
    (b"[]", None, -32600),
    (b'{"jsonrpc":"2.0","id":5,"method":"no/such","params":{}}', 5, -32601),
    (b'{"jsonrpc":"2.0","id":"a","method":7}', "a", -32600),
    (b'{"jsonrpc":"2.0","id":6,"method":"session/new","params":[1]}', 6, -32600),
    (b'{"jsonrpc":"2.0","id":6,"method":"session/new","params":{"cwd":"here"}}', 6, -32602),
    (b'{"jsonrpc":"2.0","id":6,"method":"session/prompt","params":{"sessionId":"x"}}', 6, -32002),
    (b'{"jsonrpc":"2.0","id":6,"method":"session/prompt","params":{}}', 6, -32602),
]


@pytest.mark.parametrize(("line", "request_id", "code"), BAD_LINES)
async def test_bad_messages_are_answered_and_survived(
    demo: Driver, workspace: Path, line: bytes, request_id: Any, code: int
) -> None:
    await demo.open(workspace)
    demo.raw(line + b"\n")
    response = await demo.response(request_id)
    assert response["error"]["code"] == code
    demo.send({"id": 999, "result": {}})  # an answer to nothing
    assert (await demo.call("session/list", {}))["sessions"]


async def test_initialize_comes_first_and_takes_any_version(demo: Driver) -> None:
    early = await demo.response(demo.request("session/list", {}))
    assert early["error"]["code"] == -32600
    result = await demo.call("initialize", {"protocolVersion": 7})
    assert result["protocolVersion"] == 1


async def test_one_very_long_line(demo: Driver, workspace: Path) -> None:
    session = await demo.open(workspace)
    prompt = demo.prompt(session, "/refuse " + "x" * 5_000_000)
    assert (await demo.response(prompt))["result"] == {"stopReason": "refusal"}


def test_protocol_2_is_not_spoken_with_a_client_of_version_1() -> None:
    asked = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}'
    run = subprocess.run(
        [*AGENT, "--protocol", "2"], input=asked, capture_output=True, timeout=BOUND, check=False
    )
    assert run.returncode == 0
    assert json.loads(run.stdout)["error"]["code"] == -32602


def test_it_lives_on_files_too(tmp_path: Path) -> None:
    """stdin may be a plain file, its last line without a newline."""
    messages = tmp_path / "in"
    messages.write_text(
        '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}'
    )
    with messages.open("rb") as stdin:
        run = subprocess.run(AGENT, stdin=stdin, capture_output=True, timeout=BOUND, check=False)
    assert run.returncode == 0
    assert json.loads(run.stdout)["result"]["agentInfo"]["name"] == "acp-sidecar-demo"


def test_a_client_that_is_gone_is_no_traceback(tmp_path: Path) -> None:
    process = subprocess.Popen(
        AGENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdout.close()
    process.stdin.write(
        b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}\n'
    )
    with contextlib.suppress(BrokenPipeError):
        process.stdin.close()
    assert process.wait(BOUND) == 0
    assert process.stderr is not None
    assert process.stderr.read() == b""
    process.stderr.close()


# --- what it shows ------------------------------------------------------------------------


async def test_it_says_which_pictures_it_got(demo: Driver, workspace: Path) -> None:
    png = b"\x89PNG\r\n\x1a\n" + (13).to_bytes(4) + b"IHDR" + (3).to_bytes(4) + (4).to_bytes(4)
    picture = {"type": "image", "mimeType": "image/png", "data": base64.b64encode(png).decode()}
    broken = {"type": "image", "mimeType": "image/gif", "data": "?"}
    session = await demo.open(workspace)
    await demo.response(demo.prompt(session, "/refuse", picture, broken))
    said = demo.said()
    assert "2 pictures: image/png, 24 bytes, 3 × 4 pixels; image/gif, which is not" in said


async def test_it_shows_all_of_markdown_and_an_injection(demo: Driver, workspace: Path) -> None:
    session = await demo.open(workspace)
    await demo.response(demo.prompt(session, "/show"))
    assert demo.said() == SHOWN
    assert len(demo.updates("agent_message_chunk")) > 5, "it streams"
    for part in ("# What", "| `greeting.py` |", "```python", "```typescript", "onerror="):
        assert part in SHOWN


async def test_several_files_are_edited_in_several_places_and_back(
    demo: Driver, workspace: Path
) -> None:
    long = "".join(f"line {n}\n" for n in range(30))
    (workspace / "notes.txt").write_text(long)
    (workspace / "empty.md").write_text("")
    (workspace / "data.bin").write_bytes(b"\0")
    before = {path.name: path.read_bytes() for path in workspace.iterdir()}
    session = await demo.open(workspace)
    prompt = demo.prompt(session, "/edits")
    request = await demo.asked()
    shown = request["params"]["toolCall"]["content"]
    assert [Path(one["path"]).name for one in shown] == ["empty.md", "greeting.py", "notes.txt"]
    assert {path.name: path.read_bytes() for path in workspace.iterdir()} == before
    demo.select(request, "go-once")
    await demo.response(prompt)
    for one in shown:
        assert Path(one["path"]).read_text() == one["newText"] != one["oldText"]
    marks = (workspace / "notes.txt").read_text().splitlines()
    assert sum("demo agent" in line for line in marks) >= 4
    again = demo.prompt(session, "/edits")
    demo.select(await demo.asked(), "go-once")
    await demo.response(again)
    assert {path.name: path.read_bytes() for path in workspace.iterdir()} == before


async def test_several_edits_change_nothing_without_a_yes_nor_what_was_changed_meanwhile(
    demo: Driver, workspace: Path
) -> None:
    (workspace / "b.txt").write_text("b\n")
    session = await demo.open(workspace)
    prompt = demo.prompt(session, "/edits greeting.py b.txt")
    demo.select(await demo.asked(), "skip-once")
    await demo.response(prompt)
    assert (workspace / "greeting.py").read_text() == GREETING
    prompt = demo.prompt(session, "/edits greeting.py b.txt ../outside.txt")
    await demo.response(prompt)
    assert (workspace / "b.txt").read_text() == "b\n", "nothing where one is outside"
    prompt = demo.prompt(session, "/edits greeting.py b.txt")
    request = await demo.asked()
    (workspace / "b.txt").write_text("mine\n")
    demo.select(request, "go-once")
    await demo.response(prompt)
    assert (workspace / "b.txt").read_text() == "mine\n"
    assert "demo agent" in (workspace / "greeting.py").read_text()
    assert "`b.txt`" in demo.said()


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"result": {"action": "accept", "content": {"name": "Ada"}}}, 'name: `"Ada"`'),
        ({"result": {"action": "decline"}}, "Then I do without."),
        ({"result": {"action": "cancel"}}, "No answer."),
        ({"result": None}, "No answer."),
        ({"error": {"code": -32603, "message": "no"}}, "No answer."),
    ],
)
async def test_a_form_is_asked_where_the_client_has_forms(
    demo: Driver, workspace: Path, answer: dict[str, Any], said: str
) -> None:
    capabilities = {"elicitation": {"form": {}}}
    await demo.call("initialize", {"protocolVersion": 1, "clientCapabilities": capabilities})
    opened = await demo.call("session/new", {"cwd": str(workspace), "mcpServers": []})
    prompt = demo.prompt(opened["sessionId"], "/form")
    request = await demo.until(lambda m: m.get("method") == "elicitation/create")
    asked = elicitation(request["params"])
    assert asked.form is not None
    assert {field.type for field in asked.form.fields} == {
        "string",
        "integer",
        "boolean",
        "array",
    }
    demo.send({"id": request["id"], **answer})
    await demo.response(prompt)
    assert said in demo.said()


async def test_a_client_without_forms_is_told_so(demo: Driver, workspace: Path) -> None:
    session = await demo.open(workspace)
    await demo.response(demo.prompt(session, "/form"))
    assert "shows no forms" in demo.said()
