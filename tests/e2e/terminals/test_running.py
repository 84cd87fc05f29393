"""What is run: programs, lines for the shell, with which environment."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.editor import Editor, editing
from tests.e2e.puppet import Puppet
from tests.e2e.terminals.commands import EXITED, create, output, refused, run

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="shells and signals of POSIX")


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
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[3]))
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
