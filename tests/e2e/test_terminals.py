"""``terminal/*`` from wire to wire: the agent is held by the test, the commands are real."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import pytest

from tests.agents.test_process import gone
from tests.e2e.editor import BOUND, Editor, LspError, capabilities, editing
from tests.e2e.puppet import Puppet
from tests.e2e.test_protocol_page import differences, example

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

# --- what is run --------------------


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


async def test_X02_commands_are_found_where_the_agent_finds_them(
    ws: Path, tmp_path: Path, puppet: Puppet, settings: Any
) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "agents-own-tool").write_text("#!/bin/sh\necho found\n")
    (tools / "agents-own-tool").chmod(0o755)
    path = f"{tools}{os.pathsep}{os.environ['PATH']}"
    settings["agents"]["puppet"]["env"] = {"PATH": path, "OF_THE_AGENT": "x"}
    async with editing() as editor:
        await editor.initialize(ws, settings=settings)
        await editor.execute("acp.session.new")
        assert await run(puppet, "agents-own-tool") == (EXITED, "found\n")
        assert await run(puppet, "agents-own-tool | cat; echo [$OF_THE_AGENT]") == (
            EXITED,
            "found\n[]\n",
        )


# --- what is kept --------------------


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


# --- how it ends --------------------

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


# --- C04, G05: floods --------------------


def memory_kib(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    assert found
    return int(found[1])


@pytest.mark.skipif(sys.platform != "linux", reason="memory is looked up in /proc")
async def test_C04_a_flood_costs_a_bounded_memory_and_rate(
    ws: Path, puppet: Puppet, settings: Any
) -> None:
    """Output is always taken, whatever the limit is, and others are answered meanwhile."""
    settings["terminals"] = {"maxOutputBytes": 1 << 20}
    async with editing() as editor:
        can = capabilities(terminals=True, transcript=True)
        await editor.initialize(ws, settings=settings, can=can)
        await editor.execute("acp.session.new")
        before = memory_kib(editor.process.pid)
        floods = [await create(puppet, "yes", outputByteLimit=limit) for limit in (10**12, 0, None)]
        content = [{"type": "terminal", "terminalId": one} for one in floods]
        puppet.tool("t1", content=content)
        loop = asyncio.get_running_loop()
        began = loop.time()
        while loop.time() - began < 1.5:
            said = await output(puppet, floods[0])
            await editor.state()
        assert said["truncated"] and len(said["output"]) <= 1 << 20
        assert (await output(puppet, floods[1]))["output"] == ""
        for one in floods:
            await puppet.call("terminal/release", terminalId=one)
        seconds = loop.time() - began
        # Three of a MiB each, and what goes through the pipes.
        assert memory_kib(editor.process.pid) - before < 60_000
        for method, most in (("acp/terminal", 3 * 10), ("acp/transcript", 30)):
            sent = editor.all(method)
            assert 1 < len(sent) <= most * (seconds + 1), method
        last = {params["terminalId"]: params for params in editor.all("acp/terminal")}
        await editor.until(
            lambda: all(
                {p["terminalId"]: p for p in editor.all("acp/terminal")}[one]["exitStatus"]
                for one in floods
            )
        )
        assert len(last[floods[0]]["output"]) <= 65536


async def test_G05_an_editor_that_does_not_read_holds_up_no_command(
    ws: Path, puppet: Puppet, settings: Any
) -> None:
    async with editing() as editor:
        can = capabilities(terminals=True, transcript=True)
        await editor.initialize(ws, settings=settings, can=can)
        await editor.execute("acp.session.new")
        editor.stop_reading()
        terminal_id = await create(puppet, "seq 1 2000000; exit 5")
        assert await wait(puppet, terminal_id) == {"exitCode": 5, "signal": None}
        said = await output(puppet, terminal_id)
        assert said["truncated"] and said["output"].endswith("\n2000000\n")
        editor.read_again()
        shown = await editor.until(
            lambda: [p for p in editor.all("acp/terminal") if p["exitStatus"] is not None]
        )
        assert shown[-1]["output"].endswith("\n2000000\n")
        assert len(editor.all("acp/terminal")) < 100


# --- what is shown --------------------


def blocks(editor: Editor, call: str) -> list[dict[str, Any]]:
    """Every state in which a tool call was shown."""
    return [
        block
        for params in editor.all("acp/transcript")
        for block in params["blocks"]
        if block["id"] == f"toolCall:{call}"
    ]


@pytest.fixture
async def rich(ws: Path, puppet: Puppet, settings: Any) -> Any:
    async with editing() as editor:
        await editor.initialize(
            ws, settings=settings, can=capabilities(terminals=True, transcript=True)
        )
        await editor.execute("acp.session.new")
        yield editor


async def test_output_is_shown_as_it_comes_in_its_tool_call(
    rich: Editor, puppet: Puppet, ws: Path
) -> None:
    fifo = ws / "fifo"
    os.mkfifo(fifo)
    line = "printf '\\033[1mone\\033[0m\\n'; cat fifo; exit 3"
    terminal_id = await create(puppet, line)
    puppet.tool("t1", content=[{"type": "terminal", "terminalId": terminal_id}])

    def seen() -> dict[str, Any]:
        shown = blocks(rich, "t1")
        return (shown[-1]["content"][0].get("terminal") or {}) if shown else {}

    await rich.until(lambda: seen().get("output") == "one\n")
    assert seen() == {
        "terminalId": terminal_id,
        "command": line,
        "cwd": str(ws),
        "output": "one\n",
        "truncated": False,
        "exitStatus": None,
    }
    fifo.write_text("two\n")
    await rich.until(lambda: seen()["exitStatus"] == {"exitCode": 3, "signal": None})
    assert seen()["output"] == "one\ntwo\n"
    session_id = (await rich.state())["sessionId"]
    await rich.until(lambda: rich.all("acp/terminal")[-1]["exitStatus"] is not None)
    assert rich.all("acp/terminal")[-1] == {"sessionId": session_id, **seen()}
    # The agent has what was written, the person what is to be seen of it.
    assert (await output(puppet, terminal_id))["output"] == "\x1b[1mone\x1b[0m\ntwo\n"
    told = await rich.execute("acp.terminal.output", terminalId=terminal_id)
    assert told == {"sessionId": session_id, **seen()}
    assert differences(told, example("Commands of the agent's")) == []
    assert (await rich.state())["terminals"] == [seen()]


@pytest.mark.parametrize("early", [True, False], ids=["before it is shown", "just after"])
async def test_C08_output_stays_when_the_terminal_is_released(
    rich: Editor, puppet: Puppet, early: bool
) -> None:
    terminal_id = await create(puppet, "echo kept")
    await wait(puppet, terminal_id)
    content = [{"type": "terminal", "terminalId": terminal_id}]
    if not early:
        puppet.tool("t1", content=content)
    assert (await puppet.call("terminal/release", terminalId=terminal_id))["result"] == {}
    if early:
        puppet.tool("t1", content=content)
    puppet.tool("t1", "tool_call_update", status="completed")
    await rich.until(lambda: blocks(rich, "t1")[-1:] and blocks(rich, "t1")[-1]["status"][0] == "c")
    shown = blocks(rich, "t1")[-1]["content"][0]["terminal"]
    assert (shown["output"], shown["exitStatus"]) == ("kept\n", EXITED)
    assert (await rich.execute("acp.terminal.output", terminalId=terminal_id))["output"] == "kept\n"
    snapshot = await rich.call("acp/transcript/snapshot", {})
    (call,) = [b for b in snapshot["sessions"][0]["blocks"] if b["kind"] == "toolCall"]
    assert call["content"][0]["terminal"] == shown
    assert (await refused(puppet, "terminal/output", terminalId=terminal_id))["code"] == -32002


async def test_C08_output_stays_when_the_agent_is_gone(editor: Editor, puppet: Puppet) -> None:
    terminal_id = await create(puppet, "echo kept; sleep 300")
    await written(puppet, terminal_id, "(kept)")
    puppet.hang_up()

    async def ended() -> Any:
        return (await editor.state())["terminals"][0]["exitStatus"]

    assert await editor.eventually(ended) == {"exitCode": None, "signal": "SIGTERM"}
    assert (await editor.state())["terminals"][0]["output"] == "kept\n"


async def test_the_user_ends_a_command(editor: Editor, puppet: Puppet) -> None:
    terminal_id = await create(puppet, GRANDCHILD)
    pid = int(await written(puppet, terminal_id))
    waiting = puppet.request(
        "terminal/wait_for_exit", {"sessionId": puppet.session, "terminalId": terminal_id}
    )
    assert await editor.execute("acp.terminal.kill", terminalId=terminal_id) == {}
    assert gone(pid)
    assert (await puppet.result(waiting))["result"] == {"exitCode": None, "signal": "SIGTERM"}
    with pytest.raises(LspError, match="it is over"):
        await editor.execute("acp.terminal.kill", terminalId=terminal_id)
    for command in ("acp.terminal.kill", "acp.terminal.output"):
        with pytest.raises(LspError, match="no terminal 'nope'"):
            await editor.execute(command, terminalId="nope")


async def test_what_an_agent_runs_by_itself_is_shown_alike(rich: Editor, puppet: Puppet) -> None:
    content = [{"type": "terminal", "terminalId": "t1"}]
    about = {"terminal_info": {"terminal_id": "t1", "cwd": "/ws"}}
    puppet.tool("t1", content=content, _meta=about)
    for data in ("one\n", "\x1b[32mtwo\x1b[0m\n"):
        about = {"terminal_output": {"terminal_id": "t1", "data": data}}
        puppet.tool("t1", "tool_call_update", _meta=about)
    about = {"terminal_exit": {"terminal_id": "t1", "exit_code": 1, "signal": None}}
    puppet.tool("t1", "tool_call_update", status="failed", _meta=about)
    await rich.until(lambda: [b for b in blocks(rich, "t1") if b["status"] == "failed"])
    shown = blocks(rich, "t1")[-1]["content"][0]["terminal"]
    assert (shown["output"], shown["cwd"]) == ("one\ntwo\n", "/ws")
    assert shown["exitStatus"] == {"exitCode": 1, "signal": None}
    await rich.until(lambda: rich.all("acp/terminal")[-1:] == [{**shown, "sessionId": ANY}])
    with pytest.raises(LspError, match="the agent runs it"):
        await rich.execute("acp.terminal.kill", terminalId="t1")


async def test_C09_broken_characters_never_break_an_answer(puppet: Puppet, ws: Path) -> None:
    fifo = ws / "fifo"
    os.mkfifo(fifo)
    terminal_id = await create(puppet, "printf '\\344\\270'; cat fifo; printf '\\255|\\377|\\303'")
    async with asyncio.timeout(BOUND):
        while (await output(puppet, terminal_id))["output"] == "never":
            await asyncio.sleep(0.01)
    assert (await output(puppet, terminal_id))["output"] == ""
    fifo.write_text("")
    await wait(puppet, terminal_id)
    assert (await output(puppet, terminal_id))["output"] == "中|\ufffd|\ufffd"


# --- C10: where, with what, and who is asked --------------------


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    return Path(os.path.realpath(folder))


async def test_C10_the_folder_is_one_of_the_session_s(puppet: Puppet, ws: Path) -> None:
    (ws / "sub").mkdir()
    (ws / "file").write_text("")
    assert await run(puppet, "pwd -P") == (EXITED, f"{ws}\n")
    assert await run(puppet, "pwd -P", cwd=None) == (EXITED, f"{ws}\n")
    assert await run(puppet, "pwd -P", cwd=f"{ws}/sub") == (EXITED, f"{ws}/sub\n")
    assert await run(puppet, "pwd", cwd=f"{ws}/sub/../sub/") == (EXITED, f"{ws}/sub\n")
    for cwd in ("sub", "../", ".", f"{ws}/nope", f"{ws}/file", f"{ws}/a\0b", "", "/no/such", 5):
        error = await refused(puppet, command="touch ran", cwd=cwd)
        assert error["code"] == -32602, cwd
    assert not list(ws.rglob("ran"))


@pytest.mark.parametrize("answer", ["Yes, this time", "No", None])
async def test_C10_another_folder_needs_the_user_s_consent(
    editor: Editor, puppet: Puppet, ws: Path, elsewhere: Path, answer: str | None
) -> None:
    """By a link in the workspace as well; and no answer is never a consent."""
    (ws / "link").symlink_to(elsewhere)
    for number, cwd in enumerate((str(elsewhere), f"{ws}/link", f"{ws}/../elsewhere"), 1):
        params = {
            "sessionId": puppet.session,
            "command": "touch ran; echo $SETTING",
            "env": [
                {"name": "SETTING", "value": "of the agent's"},
                {"name": "API_TOKEN", "value": "s3cret"},
            ],
            "cwd": cwd,
        }
        request = puppet.request("terminal/create", params)
        dialog = await editor.dialog(number)
        for truth in ("touch ran; echo $SETTING", f"{elsewhere} (outside", "of the agent's"):
            assert truth in dialog["message"]
        assert "API_TOKEN" in dialog["message"] and "s3cret" not in str(editor.seen)
        assert editor.titles() == ["No", "Yes, this time"]
        assert not (elsewhere / "ran").exists()
        # Meanwhile others are answered.
        assert await run(puppet, "echo here") == (EXITED, "here\n")
        if answer is None:
            shown = editor.requests("window/showMessageRequest")[-1]
            editor.send({"id": shown["id"], "result": None})
        else:
            editor.click(answer)
        response = await puppet.result(request)
        if answer == "Yes, this time":
            assert await wait(puppet, response["result"]["terminalId"]) == EXITED
            (elsewhere / "ran").unlink()
        else:
            assert "did not agree" in response["error"]["message"]
            assert not (elsewhere / "ran").exists()
    states = [one["state"] for one in (await editor.state())["permissions"]]
    assert states == ["answered"] * 3


@pytest.mark.parametrize("how", ["cancel", "withdraw", "close", "death"])
async def test_C10_a_question_that_is_settled_otherwise_runs_nothing(
    editor: Editor, puppet: Puppet, elsewhere: Path, how: str
) -> None:
    _, turn = editor.start("acp.session.prompt", text="go")
    prompt = await puppet.prompted()
    params = {"sessionId": puppet.session, "command": "touch ran", "cwd": str(elsewhere)}
    request = puppet.request("terminal/create", params)
    await editor.dialog()
    shown = editor.requests("window/showMessageRequest")[0]["id"]
    if how == "cancel":
        await editor.execute("acp.session.cancel")
        assert "error" in await puppet.result(request)
        # What it wants to run after the user's cancel is not run either, wherever.
        error = await refused(puppet, command="touch ran")
        assert error["code"] == -32800
        puppet.end_turn(prompt, "cancelled")
        assert await turn == {"stopReason": "cancelled"}
    elif how == "withdraw":
        puppet.send({"method": "$/cancel_request", "params": {"requestId": request}})
        assert "error" in await puppet.result(request)
    elif how == "close":
        await editor.execute("acp.session.close")
    else:
        puppet.hang_up()
    await editor.until(lambda: {"id": shown} in editor.all("$/cancelRequest"))
    editor.click("Yes, this time", 0)
    await editor.call("acp/transcript/snapshot", {})
    assert not (elsewhere / "ran").exists()


@pytest.mark.parametrize(("rule", "runs"), [("allow", True), ("deny", False)])
async def test_C10_the_user_s_settings_answer_for_the_user(
    ws: Path, puppet: Puppet, settings: Any, elsewhere: Path, rule: str, runs: bool
) -> None:
    settings["terminals"] = {"outsideRoots": rule}
    async with editing() as editor:
        await editor.initialize(ws, settings=settings)
        await editor.execute("acp.session.new")
        if runs:
            assert await run(puppet, "pwd", cwd=str(elsewhere)) == (EXITED, f"{elsewhere}\n")
        else:
            error = await refused(puppet, command="touch ran", cwd=str(elsewhere))
            assert error["code"] == -32602
        assert editor.all("window/showMessageRequest") == []
    assert not (elsewhere / "ran").exists()


async def test_C10_terminals_can_be_switched_off(ws: Path, puppet: Puppet, settings: Any) -> None:
    """They are on by default, other than the case has it: what works is offered."""
    settings["terminals"] = {"enabled": False}
    async with editing() as editor:
        await editor.initialize(ws, settings=settings)
        await editor.execute("acp.session.new")
        told = [m for m in puppet.seen if m.get("method") == "initialize"][-1]
        assert told["params"]["clientCapabilities"]["terminal"] is False
        error = await refused(puppet, command="touch ran")
        assert error["code"] == -32601
    assert not (ws / "ran").exists()


@pytest.mark.parametrize(
    "params",
    [
        {"env": [{"name": "A=B", "value": "x"}]},
        {"env": [{"name": "", "value": "x"}]},
        {"env": [{"name": "A\0", "value": "x"}]},
        {"env": [{"name": "A", "value": "x\0y"}]},
        {"env": [{"name": "A", "value": "\ud800"}]},
        {"env": [{"name": "A"}]},
        {"env": [{"name": "A", "value": 5}]},
        {"env": ["A=B"]},
        {"env": {"A": "B"}},
        {"args": "x"},
        {"args": ["x", None]},
        {"args": ["a\0b"]},
        {"args": ["\udc80"]},
        {"command": ""},
        {"command": " \n"},
        {"command": None},
        {"command": "touch\0ran"},
        {"command": "touch ran \ud83d"},
    ],
)
async def test_C10_what_no_command_can_be_given_is_refused(
    puppet: Puppet, ws: Path, params: Any
) -> None:
    error = await refused(puppet, **{"command": "touch ran", **params})
    assert error["code"] == -32602
    assert not (ws / "ran").exists()


async def test_C10_each_command_is_told_with_its_folder_and_without_secrets(
    editor: Editor, puppet: Puppet, ws: Path
) -> None:
    env = [{"name": "TOKEN", "value": "s3cret"}, {"name": "LD_PRELOAD", "value": "/ws/x.so"}]
    await run(puppet, "echo", "a b", env=env)
    told = await editor.until(
        lambda: [p for p in editor.all("window/logMessage") if "echo 'a b'" in p["message"]]
    )
    assert str(ws) in told[0]["message"]
    assert "TOKEN" in told[0]["message"] and "LD_PRELOAD" in told[0]["message"]
    assert "s3cret" not in str(editor.seen) + editor.stderr.decode()


async def test_a_terminal_belongs_to_its_session(editor: Editor, puppet: Puppet) -> None:
    terminal_id = await create(puppet, "sleep 300")
    first = puppet.session
    await editor.execute("acp.session.new")
    assert puppet.session != first
    for method in ("output", "kill", "release", "wait_for_exit"):
        error = await refused(puppet, f"terminal/{method}", terminalId=terminal_id)
        assert error["code"] == -32002
        error = await refused(puppet, f"terminal/{method}", terminalId=5)
        assert error["code"] == -32602
        error = await refused(puppet, f"terminal/{method}", terminalId="x", sessionId="nope")
        assert error["code"] == -32602
    said = (await puppet.call("terminal/output", terminalId=terminal_id, sessionId=first))["result"]
    assert said.get("exitStatus") is None


# --- F05: files --------------------


async def test_F05_what_a_command_changes_is_read_and_reviewed(
    editor: Editor, puppet: Puppet, ws: Path
) -> None:
    opened, closed, unnamed = ws / "a.txt", ws / "b.txt", ws / "c.txt"
    for path in (opened, closed, unnamed):
        path.write_text("a\nrest\n")
    editor.open(opened)
    _, turn = editor.start("acp.session.prompt", text="go")
    prompt = await puppet.prompted()
    assert (await puppet.read(opened))["result"]["content"] == "a\nrest\n"
    status, _ = await run(
        puppet, f"sed -i s/a/X/ {opened} b.txt; sed -i s/a/X/ c*; echo new >d.txt"
    )
    assert status == EXITED
    assert (await puppet.read(opened))["result"]["content"] == "X\nrest\n"

    async def reviewed() -> Any:
        found = await editor.execute("acp.review.list")
        names = {change["uri"].rpartition("/")[2]: change["status"] for change in found}
        wanted = {"a.txt": "modified", "b.txt": "modified", "c.txt": "modified", "d.txt": "created"}
        return found if names == wanted else None

    await editor.eventually(reviewed)
    puppet.end_turn(prompt)
    await turn
    await editor.execute("acp.review.revert")
    assert closed.read_text() == unnamed.read_text() == "a\nrest\n"
    assert not (ws / "d.txt").exists()
