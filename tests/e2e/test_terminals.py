"""``terminal/*`` from wire to wire: the agent is held by the test, the commands are real."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.agents.test_process import gone
from tests.e2e.editor import BOUND, Editor, editing
from tests.e2e.puppet import Puppet

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="shells and signals of POSIX")


@pytest.fixture(autouse=True)
async def _open(session: dict[str, Any]) -> None:
    """Every test here speaks in an open session."""


async def create(puppet: Puppet, command: str, *args: str, **params: Any) -> str:
    """The id of a terminal in which a command runs."""
    given = {"args": list(args)} if args else {}
    answer = await puppet.call("terminal/create", command=command, **given, **params)
    assert "result" in answer, answer
    terminal_id: str = answer["result"]["terminalId"]
    return terminal_id


async def wait(puppet: Puppet, terminal_id: str) -> Any:
    return (await puppet.call("terminal/wait_for_exit", terminalId=terminal_id))["result"]


async def output(puppet: Puppet, terminal_id: str) -> Any:
    return (await puppet.call("terminal/output", terminalId=terminal_id))["result"]


async def run(puppet: Puppet, command: str, *args: str, **params: Any) -> tuple[Any, str]:
    """How a command ended and what it wrote."""
    terminal_id = await create(puppet, command, *args, **params)
    status = await wait(puppet, terminal_id)
    said = await output(puppet, terminal_id)
    assert said["exitStatus"] == status
    return status, said["output"]


async def refused(puppet: Puppet, method: str = "terminal/create", **params: Any) -> Any:
    answer = await puppet.call(method, **params)
    assert "error" in answer, answer
    return answer["error"]


async def until(met: Callable[[], Any]) -> None:
    async with asyncio.timeout(BOUND):
        while not met():
            await asyncio.sleep(0.01)


async def written(puppet: Puppet, terminal_id: str, pattern: str = r"(\d+)\n") -> str:
    """The first group of what a command has written, once it has."""
    async with asyncio.timeout(BOUND):
        while True:
            found = re.search(pattern, (await output(puppet, terminal_id))["output"])
            if found is not None:
                return found[1]
            await asyncio.sleep(0.01)


EXITED = {"exitCode": 0, "signal": None}

# --- what is run ----------------------------------------------------------------------------


async def test_the_agent_is_told_that_there_are_terminals(puppet: Puppet) -> None:
    told = puppet.seen[0]["params"]["clientCapabilities"]
    assert told["terminal"] is True
    assert told["_meta"]["terminal_output"] is True


async def test_a_command_with_arguments_sees_no_shell(puppet: Puppet, ws: Path) -> None:
    status, said = await run(puppet, "printf", "%s|", "a  b", "$HOME", "*", "; exit 3", "'\"\\", "")
    assert (status, said) == (EXITED, "a  b|$HOME|*|; exit 3|'\"\\||")


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("echo one && echo two | tr o 0", 0, "one\ntw0\n"),
        ("exit 3", 3, ""),
        ("echo out; echo err >&2; false", 1, "out\nerr\n"),
        ("A=b; echo $A$A", 0, "bb\n"),
        ("echo a>f;cat f", 0, "a\n"),
        ("umask 077", 0, ""),
        ("no-such-program-at-all --flag", 127, None),
    ],
)
async def test_C01_a_whole_line_runs_in_the_user_s_shell(
    puppet: Puppet, line: str, code: int, said: str | None
) -> None:
    for args in ({}, {"args": []}, {"args": None}):
        status, wrote = await run(puppet, line, **args)
        assert status == {"exitCode": code, "signal": None}
        assert said is None or wrote == said


async def test_C01_a_path_with_blanks_that_exists_is_a_program(puppet: Puppet, ws: Path) -> None:
    folder = ws / "My Tool" / "bin"
    folder.mkdir(parents=True)
    program = folder / "t"
    program.write_text("#!/bin/sh\necho ran with $# in $PWD\n")
    program.chmod(0o755)
    assert await run(puppet, str(program)) == (EXITED, f"ran with 0 in {ws}\n")
    assert await run(puppet, str(program), "a b") == (EXITED, f"ran with 1 in {ws}\n")
    assert await run(puppet, "./My Tool/bin/t") == (EXITED, f"ran with 0 in {ws}\n")
    assert await run(puppet, "./t", cwd=str(folder)) == (EXITED, f"ran with 0 in {folder}\n")


async def test_C01_a_script_without_an_interpreter_runs_as_in_a_shell(
    puppet: Puppet, ws: Path
) -> None:
    (ws / "plain").write_text("echo $1\n")
    (ws / "plain").chmod(0o755)
    assert await run(puppet, "./plain", "x") == (EXITED, "x\n")


async def test_C01_what_cannot_be_started_costs_nobody_else(
    puppet: Puppet, editor: Editor, ws: Path
) -> None:
    (ws / "notes.txt").write_text("text")
    (ws / "lost").write_text("#!/no/such/interpreter\n")
    (ws / "lost").chmod(0o755)
    other = await create(puppet, "sleep 300")
    for params in (
        {"command": "no-such-program"},
        {"command": "no-such-program", "args": ["x"]},
        {"command": "git status && echo x", "args": ["x"]},
        {"command": f"{ws}/notes.txt"},
        {"command": f"{ws}", "args": ["x"]},
    ):
        error = await refused(puppet, **params)
        assert error["code"] == -32002
        assert params["command"] in error["message"]
        assert os.environ["PATH"].split(os.pathsep)[-1] in error["message"]
    assert "interpreter" in (await refused(puppet, command=f"{ws}/lost"))["message"]
    assert (await refused(puppet, command="x" * 300_000, args=["y"]))["code"] < 0
    assert (await output(puppet, other)).get("exitStatus") is None
    assert await run(puppet, "echo still here") == (EXITED, "still here\n")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("printf 'a  b\\n' \\\n | cat", "a  b\n"),
        ("echo 'it''s  \"quoted\"'\necho second", 'its  "quoted"\nsecond\n'),
        ("cat <<'EOF'\n$HOME  `x`\n\tend\nEOF\n", "$HOME  `x`\n\tend\n"),
        ("printf '%s\\n' \"a   b\" 'c\\d' *nope*", "a   b\nc\\d\n*nope*\n"),
    ],
)
async def test_C02_a_line_is_passed_on_as_it_is(puppet: Puppet, line: str, said: str) -> None:
    assert await run(puppet, line) == (EXITED, said)


async def test_a_command_has_a_terminal_and_nobody_at_it(puppet: Puppet) -> None:
    """Output goes to a terminal of a known size, and nothing waits for a key."""
    status, said = await run(puppet, 'test -t 1 && test -t 2 && stty size <&1 && echo "[$(cat)]"')
    assert status == EXITED
    assert re.fullmatch(r"[1-9]\d* [1-9]\d*\n\[\]\n", said)
    status, said = await run(puppet, "read answer </dev/tty || echo nobody")
    assert said.endswith("nobody\n")
    assert await run(puppet, "echo $PAGER; echo $GIT_PAGER") == (EXITED, "cat\ncat\n")


async def test_X04_the_environment_is_the_user_s_without_the_editor_s(
    tmp_path: Path, ws: Path, puppet: Puppet, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ELECTRON_RUN_AS_NODE", "NODE_OPTIONS", "VSCODE_IPC_HOOK", "VSCODE_PID", "MINE"):
        monkeypatch.setenv(name, "inherited")
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    async with editing() as editor:
        await editor.initialize(ws, settings=settings)
        await editor.execute("acp.session.new")
        env = [{"name": "GIVEN", "value": "a=b c"}, {"name": "NODE_OPTIONS", "value": "wanted"}]
        _, said = await run(puppet, "env", env=env)
    seen = dict(line.split("=", 1) for line in said.splitlines() if "=" in line)
    assert (seen["MINE"], seen["GIVEN"], seen["NODE_OPTIONS"]) == ("inherited", "a=b c", "wanted")
    assert not seen.keys() & {"ELECTRON_RUN_AS_NODE", "VSCODE_IPC_HOOK", "VSCODE_PID"}
    assert not seen.keys() & {"PYTHONPATH", "VIRTUAL_ENV"}
    assert seen["PWD"] == str(ws)


# --- what is kept ------------------------------------------------------------------------------


async def test_C04_the_agent_s_limit_cuts_from_the_front(puppet: Puppet) -> None:
    line = "printf 'abc中def'"
    for limit, text in ((9, "abc中def"), (6, "中def"), (5, "def"), (3, "def"), (1, "f"), (0, "")):
        terminal_id = await create(puppet, line, outputByteLimit=limit)
        await wait(puppet, terminal_id)
        said = await output(puppet, terminal_id)
        assert (said["output"], said["truncated"]) == (text, limit < 9)
    for limit in (None, 10**12, 2**64 - 1, 10**30):
        terminal_id = await create(puppet, line, outputByteLimit=limit)
        await wait(puppet, terminal_id)
        assert await output(puppet, terminal_id) == {
            "output": "abc中def",
            "truncated": False,
            "exitStatus": EXITED,
        }
    for limit in (-1, 1.5, "10", True, []):
        assert (await refused(puppet, command=line, outputByteLimit=limit))["code"] == -32602


# --- how it ends ----------------------------------------------------------------------------------

GRANDCHILD = "sleep 300 & echo $!; wait"


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
