"""How a command ends: by itself, by a kill, with its terminal, with its session."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from tests.agents.processes import gone
from tests.e2e.editor import Editor
from tests.e2e.puppet import Puppet
from tests.e2e.terminals.commands import (
    EXITED,
    GRANDCHILD,
    create,
    output,
    refused,
    run,
    until,
    wait,
    written,
)

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="shells and signals of POSIX")


async def test_C05_a_kill_ends_all_it_has_started_and_keeps_the_terminal(puppet: Puppet) -> None:
    terminal_id = await create(puppet, "sh", "-c", GRANDCHILD)
    pid = int(await written(puppet, terminal_id))
    assert not gone(pid)
    assert (await puppet.call("terminal/kill", terminalId=terminal_id))["result"] == {}
    assert gone(pid)
    assert await wait(puppet, terminal_id) == {"exitCode": None, "signal": "SIGTERM"}
    said = await output(puppet, terminal_id)
    assert said["output"] == f"{pid}\n"
    assert said["exitStatus"] == {"exitCode": None, "signal": "SIGTERM"}
    assert (await puppet.call("terminal/kill", terminalId=terminal_id))["result"] == {}


@pytest.mark.parametrize(
    "script",
    [
        f"trap '' TERM; {GRANDCHILD}",
        "setsid sleep 300 & echo $!; wait",
        "sh -c 'trap \"\" TERM HUP; echo $$; while :; do sleep 1; done' & wait",
        "sleep 300 & echo $!; kill -STOP $! $$",
    ],
)
async def test_C05_also_what_does_not_want_to_end(puppet: Puppet, script: str) -> None:
    terminal_id = await create(puppet, script)
    pid = int(await written(puppet, terminal_id))
    assert (await puppet.call("terminal/kill", terminalId=terminal_id))["result"] == {}
    assert gone(pid)
    assert (await wait(puppet, terminal_id))["exitCode"] is None


async def test_C05_a_release_ends_what_still_runs(puppet: Puppet) -> None:
    terminal_id = await create(puppet, GRANDCHILD)
    pid = int(await written(puppet, terminal_id))
    waiting = puppet.request(
        "terminal/wait_for_exit", {"sessionId": puppet.session, "terminalId": terminal_id}
    )
    assert (await puppet.call("terminal/release", terminalId=terminal_id))["result"] == {}
    assert gone(pid)
    assert (await puppet.result(waiting))["result"]["signal"] == "SIGTERM"
    for method in ("output", "wait_for_exit", "kill", "release"):
        error = await refused(puppet, f"terminal/{method}", terminalId=terminal_id)
        assert error["code"] == -32002
        assert terminal_id in error["message"]
        assert "released" in error["message"]


async def test_C05_what_was_left_in_the_background_goes_with_the_terminal(puppet: Puppet) -> None:
    terminal_id = await create(puppet, "sleep 300 >/dev/null 2>&1 & echo $!")
    assert await wait(puppet, terminal_id) == EXITED
    pid = int(await written(puppet, terminal_id))
    assert not gone(pid)
    assert (await puppet.call("terminal/release", terminalId=terminal_id))["result"] == {}
    assert gone(pid)


@pytest.mark.parametrize("how", ["close", "restart", "death", "shutdown", "killed"])
async def test_C05_no_command_outlives_its_session(
    editor: Editor, puppet: Puppet, how: str
) -> None:
    pids = []
    for script in (GRANDCHILD, f"trap '' TERM HUP; {GRANDCHILD}", "sleep 300 & echo $!"):
        terminal_id = await create(puppet, script)
        pids.append(int(await written(puppet, terminal_id)))
    assert not any(map(gone, pids))
    if how == "close":
        await editor.execute("acp.session.close")
    elif how == "restart":
        await editor.execute("acp.agent.restart", agent="puppet")
    elif how == "death":
        puppet.hang_up()
    elif how == "shutdown":
        await editor.call("shutdown")
        assert gone(*pids)
    else:
        editor.process.kill()
    await until(lambda: gone(*pids))


@pytest.mark.parametrize("method", ["kill", "release"])
async def test_C05_an_end_that_takes_its_time_is_answered_also_when_the_session_is_closed(
    editor: Editor, puppet: Puppet, method: str
) -> None:
    terminal_id = await create(puppet, f"trap '' TERM HUP; {GRANDCHILD}")
    pid = int(await written(puppet, terminal_id))
    named = {"sessionId": puppet.session, "terminalId": terminal_id}
    asked = puppet.request(f"terminal/{method}", named)
    # What comes after it is answered, so it has arrived.
    assert "error" in await puppet.call("terminal/output", terminalId="none")
    assert not gone(pid)
    session_id = (await editor.state())["sessionId"]
    # The agent goes on, for another one.
    await editor.execute("acp.session.new")
    await editor.execute("acp.session.close", sessionId=session_id)
    assert (await puppet.result(asked))["error"]["code"] == -32800
    await until(lambda: gone(pid))


async def test_C06_an_exit_is_told_though_a_grandchild_holds_the_terminal(puppet: Puppet) -> None:
    terminal_id = await create(puppet, "sh", "-c", "sleep 300 & echo $!; exit 3")
    asked = [
        puppet.request(
            "terminal/wait_for_exit", {"sessionId": puppet.session, "terminalId": terminal_id}
        )
        for _ in range(3)
    ]
    for one in asked:
        assert (await puppet.result(one))["result"] == {"exitCode": 3, "signal": None}
    said = await output(puppet, terminal_id)
    assert said["exitStatus"] == {"exitCode": 3, "signal": None}
    assert not gone(int(said["output"]))
    assert await wait(puppet, terminal_id) == {"exitCode": 3, "signal": None}


async def test_C06_waiting_holds_up_nothing_and_can_be_withdrawn(
    editor: Editor, puppet: Puppet, ws: Path
) -> None:
    terminal_id = await create(puppet, "sleep 300")
    params = {"sessionId": puppet.session, "terminalId": terminal_id}
    first, second = (puppet.request("terminal/wait_for_exit", params) for _ in range(2))
    (ws / "a").write_text("x\n")
    assert (await puppet.read(ws / "a"))["result"] == {"content": "x\n"}
    assert await run(puppet, "echo other") == (EXITED, "other\n")
    _, turn = editor.start("acp.session.prompt", text="go")
    puppet.end_turn(await puppet.prompted())
    # The end of the turn does not wait for a command that goes on.
    async with asyncio.timeout(5):
        assert await turn == {"stopReason": "end_turn"}
    puppet.send({"method": "$/cancel_request", "params": {"requestId": first}})
    assert (await puppet.result(first))["error"]["code"] == -32800
    await puppet.call("terminal/kill", terminalId=terminal_id)
    assert (await puppet.result(second))["result"] == {"exitCode": None, "signal": "SIGTERM"}


async def test_C06_a_command_that_closes_its_output_is_waited_for(puppet: Puppet) -> None:
    status, said = await run(puppet, "echo a; exec >/dev/null 2>&1; sleep 0.3; exit 4")
    assert (status, said) == ({"exitCode": 4, "signal": None}, "a\n")


async def test_the_end_of_output_is_never_lost(puppet: Puppet) -> None:
    for _ in range(10):
        _, said = await run(puppet, "seq 1 20000")
        assert said == "".join(f"{number}\n" for number in range(1, 20001))
