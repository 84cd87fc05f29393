"""A turn that is cancelled, and the end of the agent and of what it runs."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.demo.driver import AGENT, BOUND, Driver
from tests.demo.greeting import GREETING


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


async def test_a_prompt_that_fails_and_an_agent_that_crashes(demo: Driver, workspace: Path) -> None:
    session = await demo.open(workspace)
    assert (await demo.response(demo.prompt(session, "/fail")))["error"]["code"] == -32603
    demo.prompt(session, "/crash")
    async with asyncio.timeout(BOUND):
        assert await demo.process.wait() == 3


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
