"""The end, by whichever way, and that of the client's process."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from acp_sidecar.editor import parent
from tests.editor.client import BOUND, Client, line_in, lines, serving

# --- the end ---------------------------------------------------------------------------------


async def test_shutdown_does_not_wait_for_work_that_never_ends(client: Client, notes: Path) -> None:
    pending = [client.request("acp/wait", {}) for _ in range(3)]
    pending.append(client.command("test.ask", {"method": "acp/permission"}))
    turn = client.command("test.turn")
    await client.incoming("acp/permission")
    shutdown = client.request("shutdown")
    answers: dict[Any, Any] = {}
    while shutdown not in answers:
        message = await client.read()
        answers[message["id"]] = message
    assert answers[shutdown]["result"] is None
    assert answers[turn]["result"] == {"stopReason": "cancelled"}
    assert all("error" in answers[request] for request in pending)
    client.notify("exit")
    assert await client.ended() == 0


async def test_after_shutdown_requests_are_invalid(client: Client) -> None:
    assert await client.call("shutdown") is None
    for method in ("acp/echo", "initialize", "shutdown"):
        late = await client.response(client.request(method, {}))
        assert late["error"]["code"] == -32600
    client.notify("exit")
    assert await client.ended() == 0


async def test_X09_the_server_stays_until_exit(client: Client, notes: Path) -> None:
    assert await client.call("shutdown") is None
    assert lines(notes)[-1] == "stopped"
    # All that shutdown had it do is done, and still it is there to answer.
    for _ in range(20):
        assert "error" in await client.response(client.request("acp/echo", {}))
    assert client.process.returncode is None
    client.notify("exit")
    assert await client.ended() == 0
    assert lines(notes).count("stopping") == 1


ENDS = {
    "exit after shutdown": 0,
    "exit": 1,
    "exit with an id": 1,
    "exit before initialize": 1,
    "end of input": 1,
    "end of input after shutdown": 0,
    "output closed": 1,
    "SIGTERM": 0,
    "SIGTERM before initialize": 0,
    "SIGHUP": 0,
    "SIGINT": 130,
    "editor killed": 1,
    "editor killed after shutdown": 0,
}


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.parametrize("how", ENDS)
async def test_X08_every_end_runs_the_same_clean_up(notes: Path, how: str) -> None:
    editor = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    async with serving("basic.py", notes, "0.2") as client:
        try:
            if "before initialize" in how:
                await client.response(client.request("acp/echo"))
            else:
                await client.initialize(processId=editor.pid)
                client.command("test.turn")
                await line_in(notes, "turn")
            if "after shutdown" in how:
                await client.call("shutdown")
            if how.startswith("exit with an id"):
                client.request("exit")
            elif how.startswith("exit"):
                client.notify("exit")
            elif how.startswith("end of input"):
                client.close_stdin()
            elif how.startswith("output"):
                close_output(client)
            elif how.startswith("editor"):
                editor.kill()
            else:
                client.process.send_signal(signal.Signals[how.split()[0]])
            code = await client.ended()
        finally:
            editor.kill()
            editor.wait()
    assert code == ENDS[how]
    assert [line for line in lines(notes) if "stop" in line] == ["stopping", "stopped"]
    if "before initialize" not in how:
        assert "turn cancelled" in lines(notes)
    assert client.stderr == b""


def close_output(client: Client) -> None:
    transport = client.process._transport.get_pipe_transport(1)  # type: ignore[attr-defined]
    transport.close()


async def test_X08_shutdown_exit_end_of_input_and_sigterm_in_a_row(notes: Path) -> None:
    async with serving("basic.py", notes, "0.3", "SIGTERM") as client:
        await client.initialize()
        # The signal comes in the middle of the clean-up, by the server's own hand.
        shutdown = client.request("shutdown")
        client.notify("exit")
        client.close_stdin()
        answers = await client.rest()
        assert await client.ended() == 0
    assert answers == [{"jsonrpc": "2.0", "id": shutdown, "result": None}]
    assert lines(notes)[-2:] == ["stopping", "stopped"]


@pytest.mark.parametrize("how", ["shutdown", "SIGTERM", "end of input"])
async def test_X08_a_clean_up_that_hangs_does_not_hold_up_the_end(notes: Path, how: str) -> None:
    async with serving("basic.py", notes, "600") as client:
        await client.initialize()
        if how == "shutdown":
            assert await client.call("shutdown") is None
            client.notify("exit")
        elif how == "SIGTERM":
            client.process.send_signal(signal.SIGTERM)
        else:
            client.close_stdin()
        await client.ended()
    assert lines(notes)[-1] == "stopping"
    assert b"clean-up took too long" in client.stderr


async def test_X08_the_end_is_not_held_up_by_a_client_that_does_not_read(notes: Path) -> None:
    async with serving("flood.py", notes) as client:
        await client.initialize()
        for _ in range(20):
            client.command("big", {"bytes": 100_000})
        client.request("shutdown")
        client.notify("exit")
        # Waiting for the process only: nobody reads.
        async with asyncio.timeout(BOUND):
            await parent.wait_for_end(client.pid)


async def test_G02_exit_waits_for_no_unfinished_handler_and_is_quiet(
    client: Client, notes: Path
) -> None:
    for _ in range(3):
        client.command("test.sleep_in_thread", {"seconds": 600})
    client.command("test.stubborn")
    client.command("test.ask", {"method": "acp/permission"})
    await client.incoming("acp/permission")
    await line_in(notes, "asleep")
    shutdown = client.request("shutdown")
    client.notify("exit")
    assert (await client.response(shutdown))["result"] is None
    assert await client.ended() == 0
    assert len(client.stderr.splitlines()) < 10


async def test_G03_the_asynchronous_clean_up_is_awaited(notes: Path) -> None:
    async with serving("basic.py", notes, "0.3") as client:
        await client.initialize()
        assert await client.call("shutdown") is None
        # Answered after the clean-up, not before.
        assert lines(notes)[-2:] == ["stopping", "stopped"]
        client.notify("exit")
        assert await client.ended() == 0


@pytest.mark.parametrize("how", ["shutdown", "end of input", "SIGTERM"])
async def test_G09_who_waits_for_the_editor_hears_that_it_is_gone(
    client: Client, notes: Path, how: str
) -> None:
    """So that the agent gets its answer, and before the clean-up that ends the agent."""
    client.command("test.ask", {"method": "window/showMessageRequest"})
    client.command("test.ask", {"method": "acp/permission"})
    await client.incoming("acp/permission")
    if how == "shutdown":
        client.request("shutdown")
        client.notify("exit")
    elif how == "SIGTERM":
        client.process.send_signal(signal.SIGTERM)
    else:
        client.close_stdin()
    await client.ended()
    assert lines(notes)[-4:] == ["client gone", "client gone", "stopping", "stopped"]


# --- the client's process -------------------------------------------------------------------


async def test_a_process_id_that_is_not_known_here_is_not_watched(new: Client, notes: Path) -> None:
    """An editor outside of our container: its id means nothing, its pipe does."""
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    assert await parent.wait_for_end(gone.pid) is False
    await new.initialize(processId=gone.pid)
    for _ in range(20):
        assert await new.call("acp/echo", {"a": 1}) == {"a": 1}


async def test_the_editors_death_is_seen_though_its_pipe_stays_open(notes: Path) -> None:
    """Another child of the editor's may hold the pipe."""
    editor = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    async with serving("basic.py", notes) as client:
        await client.initialize(processId=editor.pid)
        os.kill(editor.pid, signal.SIGKILL)
        assert await client.ended() == 1
    editor.wait()
    assert lines(notes)[-1] == "stopped"


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="it is always so here")
async def test_without_process_descriptors_the_editor_is_polled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(pid: int, flags: int = 0) -> int:
        raise PermissionError("a sandbox")

    monkeypatch.setattr(os, "pidfd_open", refuse)
    editor = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    watch = asyncio.create_task(parent.wait_for_end(editor.pid))
    async with asyncio.timeout(20):
        done, _ = await asyncio.wait({watch}, timeout=2 * parent.POLL_SECONDS)
        assert not done
        editor.kill()
        editor.wait()
        assert await watch is True
        assert await parent.wait_for_end(editor.pid) is False
