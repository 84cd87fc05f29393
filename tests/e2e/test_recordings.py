"""``serve --trace``: what is recorded of a conversation, and what ``replay`` makes of it."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import pytest

from tests.e2e.editor import BOUND, LspError, editing

GRUMBLER = r"""
import json, os, sys
def say(**message): print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
os.write(2, b"\x1b[33mwarning\x1b[0m: caf\xc3")
os.write(2, b"\xa9 is closed\r\n\nsecond line\n")
for line in sys.stdin:
    call = json.loads(line)
    match call.get("method"):
        case "initialize":
            say(id=call["id"], result={"protocolVersion": 1})
        case "session/new":
            say(id=call["id"], result={"sessionId": "S"})
        case "session/prompt":
            os.write(2, b"out of memory at 0x1f")
            os._exit(3)
"""


async def replayed(*arguments: str) -> str:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "acp_sidecar", "replay"), *arguments, stdout=-1
    )
    async with asyncio.timeout(BOUND):
        out, _ = await process.communicate()
    assert process.returncode == 0
    return out.decode()


async def test_what_an_agent_writes_to_stderr_is_recorded_in_its_place(
    tmp_path: Path, ws: Path
) -> None:
    traces = tmp_path / "traces"
    agent = {"command": sys.executable, "args": ["-c", GRUMBLER]}
    async with editing("--trace", str(traces)) as editor:
        settings = {"agents": {"grumbler": agent}, "defaultAgent": "grumbler"}
        await editor.initialize(ws, settings=settings)
        await editor.execute("acp.session.new")
        with pytest.raises(LspError):
            await editor.execute("acp.session.prompt", text="go")
        live = await editor.state()
        await editor.close()
    trace = traces / "grumbler-1.ndjson"
    records = [json.loads(line) for line in trace.read_bytes().splitlines()]
    said = [record["text"] for record in records if record["dir"] == "stderr"]
    assert said == ["warning: café is closed", "second line", "out of memory at 0x1f"]
    assert records[-1]["ev"] == "exit"
    assert (records[-1]["code"], records[-1]["wanted"]) == (3, False)
    shown = (await replayed(str(trace))).splitlines()
    (asked,) = [number for number, line in enumerate(shown) if "session/prompt" in line]
    assert shown[asked + 1].endswith("! out of memory at 0x1f")
    assert live["status"] == "dead"
    assert json.loads(await replayed(str(trace), "--state"))["status"] == "dead"


@pytest.mark.parametrize(("leaves", "status"), [(False, "idle"), (True, "dead")])
async def test_an_agent_that_dies_while_nobody_waits_is_dead_in_the_recording(
    tmp_path: Path, ws: Path, leaves: bool, status: str
) -> None:
    """The end of an agent that was asked to stop is no misfortune, this one is."""
    opened = 'say(id=call["id"], result={"sessionId": "S"})'
    program = GRUMBLER.replace(opened, f"{opened}; os._exit(0)") if leaves else GRUMBLER
    agent = {"command": sys.executable, "args": ["-c", program]}
    async with editing("--trace", str(tmp_path)) as editor:
        await editor.initialize(ws, settings={"agents": {"a": agent}, "defaultAgent": "a"})
        await editor.execute("acp.session.new")

        async def as_it_stands() -> bool:
            return (await editor.state())["status"] == status

        await editor.eventually(as_it_stands)
        await editor.close()
    state = json.loads(await replayed(str(tmp_path / "a-1.ndjson"), "--state"))
    assert state["status"] == status
