"""An editor that does not read stops nobody, and stray output does not reach it."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.editor import BOUND, Editor, capabilities, editing
from tests.e2e.puppet import Puppet

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")


async def test_G05_an_editor_that_does_not_read_stops_no_agent(
    idle_editor: Editor, puppet: Puppet, ws: Path, settings: dict[str, Any]
) -> None:
    editor, file = idle_editor, ws / "a.py"
    file.write_text("one\n")
    can = capabilities(transcript=True, changes=True)
    await editor.initialize(ws, settings=settings, can=can)
    session = await editor.execute("acp.session.new")
    _, turn = editor.start("acp.session.prompt", text="go")
    prompt = await puppet.prompted()
    editor.stop_reading()
    chunk = "x" * 1000
    for number in range(10_000):
        puppet.say(chunk)
        if number % 100 == 0:
            puppet.tool(f"t{number}", status="completed", locations=[{"path": str(file)}])
    # The agent's pipe is drained, and its requests are answered.
    assert puppet._writer is not None
    async with asyncio.timeout(BOUND):
        await puppet._writer.drain()
    assert (await puppet.read(file))["result"]["content"] == "one\n"
    assert (await puppet.write(file, "two\n"))["result"] == {}
    _, state = editor.start("acp.session.state")
    puppet.end_turn(prompt)
    assert not turn.done()
    editor.read_again()
    assert await turn == {"stopReason": "end_turn"}
    said = [message for message in (await state)["messages"] if message["role"] == "agent"]
    assert sum(len(message["content"][0]["text"]) for message in said) == 10_000_000
    # What was dropped on the way was out of date; the last word of each block is there.

    def last() -> Any:
        blocks = {
            block["id"]: block
            for params in editor.all("acp/transcript")
            for block in params["blocks"]
        }
        return blocks if blocks.get("status", {}).get("status") == "idle" else None

    blocks = await editor.until(last)
    assert sum(block["kind"] == "toolCall" for block in blocks.values()) == 100
    snapshot = await editor.call("acp/transcript/snapshot", {"sessionId": session["sessionId"]})
    assert {block["id"] for block in snapshot["blocks"]} == set(blocks)
    assert await editor.close() == 0


async def test_X12_stray_output_does_not_reach_the_editor(
    puppet: Puppet, ws: Path, tmp_path: Path, settings: dict[str, Any]
) -> None:
    go, site = tmp_path / "go", tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(
        "import os, subprocess, sys, threading, time\n"
        "def stray():\n"
        f"    while not os.path.exists({str(go)!r}):\n"
        "        time.sleep(0.01)\n"
        "    for number in range(20):\n"
        "        print('printed', number, flush=True)\n"
        "        os.write(1, b'written\\n')\n"
        "    subprocess.run(['echo', 'by a child'])\n"
        "    print('the last', flush=True)\n"
        "if 'serve' in sys.orig_argv:\n"
        "    threading.Thread(target=stray, daemon=True).start()\n"
    )
    path = os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])
    async with editing(env={**os.environ, "PYTHONPATH": path}) as editor:
        await editor.initialize(ws, settings=settings)
        await editor.execute("acp.session.new")
        go.touch()
        for _ in range(20):
            await editor.state()

        async def all_of_it() -> bool:
            return b"the last" in editor.stderr

        await editor.eventually(all_of_it)
        assert b"by a child" in editor.stderr
        assert editor.stderr.count(b"written") == 20
        assert (await editor.state())["status"] == "idle"
        assert await editor.close() == 0
