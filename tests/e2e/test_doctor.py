"""The command line: ``agents``, ``doctor``, ``replay``, and the options of ``serve``.

Everything runs as a person would run it: the installed command, its output, its exit code.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import stat
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from tests.e2e.editor import Editor, editing
from tests.e2e.family import descendants, survivors

BOUND = 30
ACP_SIDECAR = shutil.which("acp-sidecar", path=Path(sys.executable).parent) or "acp-sidecar"
DEMO = [sys.executable, "-m", "acp_sidecar", "demo-agent", "--pace", "0"]

only_where_xdg_counts = pytest.mark.skipif(
    sys.platform != "linux", reason="the user's file is found by XDG_CONFIG_HOME on Linux only"
)


@frozen
class Run:
    """How a command ended."""

    code: int | None
    out: str
    err: str


async def run(*arguments: str | Path, env: dict[str, str] | None = None) -> Run:
    """Run ``acp-sidecar`` with these arguments and nothing on its stdin."""
    process = await asyncio.create_subprocess_exec(
        ACP_SIDECAR,
        *map(str, arguments),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, **(env or {})},
    )
    async with asyncio.timeout(BOUND):
        out, err = await process.communicate()
    return Run(process.returncode, out.decode(), err.decode())


def toml(value: Any) -> str:
    """A TOML value; JSON is one, for texts and lists of them."""
    return json.dumps(value)


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """Where the user's own file is looked for."""
    folder = tmp_path / "config" / "acp-sidecar"
    folder.mkdir(parents=True)
    return folder / "config.toml"


def named(name: str, command: str, *args: str) -> str:
    """An agent as the user's file has it."""
    return f"[agents.{name}]\ncommand = {toml(command)}\nargs = {toml(args)}\n"


# --- version, agents -----------------------------------------------------------------------


async def test_the_version_is_told() -> None:
    ended = await run("--version")
    assert (ended.code, ended.err) == (0, "")
    assert version("acp-sidecar") in ended.out


@pytest.mark.parametrize("arguments", [[], ["fly"], ["serve", "--tcp"], ["doctor", "a", "b"]])
async def test_a_wrong_command_line_is_refused(arguments: list[str]) -> None:
    ended = await run(*arguments)
    assert (ended.code, ended.out) == (2, "")
    assert "usage: acp-sidecar" in ended.err


@only_where_xdg_counts
async def test_agents_are_listed_for_people_and_for_programs(config: Path) -> None:
    config.write_text(named("mine", sys.executable, "-c", "pass") + named("gone", "no-such-agent"))
    ended = await run("agents")
    assert (ended.code, ended.err) == (0, "")
    lines = {line.split()[0]: line for line in ended.out.splitlines()}
    assert {"demo", "opencode", "gemini", "claude", "codex", "mine", "gone"} <= set(lines)
    assert sys.executable in lines["mine"]
    assert "not installed" in lines["gone"]

    ended = await run("agents", "--json")
    assert (ended.code, ended.err) == (0, "")
    rows = {row["name"]: row for row in json.loads(ended.out)}
    assert set(rows) == set(lines)
    assert rows["mine"] == {
        "name": "mine",
        "command": sys.executable,
        "args": ["-c", "pass"],
        "path": sys.executable,
        "source": "settings",
        "installHint": None,
    }
    assert rows["gone"]["path"] is None
    assert rows["demo"]["source"] == "built-in"
    assert os.access(rows["demo"]["path"], os.X_OK)
    for name in ("opencode", "gemini", "claude", "codex"):
        assert "npm install" in rows[name]["installHint"]


# --- doctor --------------------------------------------------------------------------------


async def test_the_doctor_finds_the_demo_agent_well() -> None:
    ended = await run("doctor", "demo")
    assert (ended.code, ended.err) == (0, "")
    for told in (
        r"^agent +demo$",
        r"^found at +/.+",
        r"^initialize +\d+ ms$",
        r"^says it is +Demo agent 1$",
        r"^protocol +1$",
        r"^offers +.*session/load, session/list, session/resume, session/close",
        r"^session +\d+ ms$",
        r"^modes +ask, accept-edits, read-only; now ask$",
        rf"^sidecar +{re.escape(version('acp-sidecar'))}, Python 3\.",
        r"^named in +the sidecar's own list$",
    ):
        assert re.search(told, ended.out, re.MULTILINE), told


@only_where_xdg_counts
async def test_without_a_name_the_doctor_looks_at_the_default_agent(config: Path) -> None:
    assert (await run("doctor")).out.startswith("agent      demo\n")
    config.write_text('defaultAgent = "mine"\n' + named("mine", *DEMO))
    ended = await run("doctor")
    assert ended.code == 0
    assert re.match(r"agent +mine\n", ended.out)


@only_where_xdg_counts
@pytest.mark.parametrize(
    ("command", "told"),
    [
        (["no-such-agent-here"], r"Cannot find the command 'no-such-agent-here'.*PATH: /"),
        (["/bin/sh", "-c", "echo no licence >&2; exit 7"], r"status 7.*no licence"),
        (["/bin/sh", "-c", "kill -9 $$"], r"SIGKILL"),
        (["/bin/sh", "-c", "exec sleep 100"], r"did not answer initialize within 1 s"),
        (["/bin/sh", "-c", "read line; echo hello; exec sleep 100"], r"within 1 s"),
        (
            [
                "/bin/sh",
                "-c",
                'read line; echo \'{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":7}}\'; cat',
            ],
            r"speaks protocol version 7; this sidecar speaks 1",
        ),
        (
            [
                "/bin/sh",
                "-c",
                'read line; echo \'{"jsonrpc":"2.0","id":0,"error":'
                '{"code":-32603,"message":"too old"}}\'; cat',
            ],
            r"cannot be used: .*too old",
        ),
    ],
    ids=["missing", "dying", "killed", "silent", "noisy", "other version", "refusing"],
)
async def test_the_doctor_says_what_is_wrong(config: Path, command: list[str], told: str) -> None:
    config.write_text(named("ill", *command) + "[timeouts]\ninitialize = 1\n")
    ended = await run("doctor", "ill")
    assert ended.code == 1
    assert re.search(rf"^unusable +.*{told}", ended.out, re.MULTILINE | re.DOTALL), ended.out
    # Nothing but words for a person: no traceback, no noise.
    assert ended.err == ""


@only_where_xdg_counts
async def test_the_doctor_says_that_a_login_is_needed(config: Path) -> None:
    pytest.importorskip("acp", reason="needs agent-client-protocol (extra dev)")
    agent = Path(__file__).with_name("peers") / "sdk_agent.py"
    config.write_text(named("locked", sys.executable, str(agent), "--login"))
    ended = await run("doctor", "locked")
    assert (ended.code, ended.err) == (1, "")
    assert re.search(r"^login +A key\b.*: Ask for one\.$", ended.out, re.MULTILINE)
    assert re.search(r"^session +needs a login first", ended.out, re.MULTILINE)


async def test_the_doctor_does_not_know_every_agent() -> None:
    ended = await run("doctor", "nobody")
    assert ended.code == 1
    assert "No agent 'nobody' is known. Known: auggie, claude, codex," in ended.out


@only_where_xdg_counts
async def test_broken_settings_are_told_and_do_no_harm(config: Path) -> None:
    config.write_text("defaultAgent = \n")
    ended = await run("doctor", "demo")
    assert ended.code == 0
    assert f"settings: {config}: is not valid TOML" in ended.err
    config.write_text('defaultAgent = "demo"\nfollow = 5\nspeed = 1\n')
    ended = await run("agents")
    assert ended.code == 0
    assert "settings: follow: must be an object" in ended.err
    assert "settings: speed: is not a setting of this version" in ended.err


# --- serve ---------------------------------------------------------------------------------

SETTINGS = {"agents": {"demo": {"command": DEMO[0], "args": DEMO[1:]}}}


async def a_turn(editor: Editor, ws: Path) -> dict[str, Any]:
    """Play the whole scripted turn; the session's state at its end."""
    (ws / "greeting.py").write_text('def greet(name):\n    return "Hello " + name\n')
    await editor.initialize(ws, settings=SETTINGS)
    await editor.execute("acp.session.new")
    _, turn = editor.start("acp.session.prompt", text="Show me")
    await editor.dialog()
    editor.click("Yes")
    assert await turn == {"stopReason": "end_turn"}
    return await editor.state()


async def put_away(editor: Editor) -> None:
    """Close the session: a machine that is slow to end its agent would be worth a word."""
    agent = descendants(editor.process.pid)
    await editor.execute("acp.session.close")
    assert await survivors(agent) == set()


async def test_a_recorded_turn_is_told_and_ends_in_the_same_state(tmp_path: Path, ws: Path) -> None:
    traces = tmp_path / "traces"
    async with editing("--trace", str(traces)) as editor:
        state = await a_turn(editor, ws)
        assert await editor.close() == 0
    assert sorted(path.name for path in traces.iterdir()) == ["demo-1.ndjson", "editor-1.ndjson"]
    for path in traces.iterdir():
        # File contents and prompts are in it.
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        for line in path.read_text().splitlines():
            assert {"t", "dir"} <= set(json.loads(line))

    told = await run("replay", traces / "demo-1.ndjson")
    assert (told.code, told.err) == (0, "")
    for words in (
        r"→ initialize ",
        r"← initialize: ",
        r'→ session/prompt "Show me"$',
        r"← thinks: The prompt asks for the demonstration\.",
        r"← agent: I will change the greeting",
        r"← session/request_permission ",
        r'→ session/request_permission: .*"go-once"',
        r"← fs/write_text_file ",
        r'← session/prompt: \{"stopReason": "end_turn"\}$',
    ):
        assert re.search(words, told.out, re.MULTILINE), words

    ended = await run("replay", "--state", traces / "demo-1.ndjson")
    assert (ended.code, ended.err) == (0, "")
    replayed = json.loads(ended.out)
    assert set(replayed) == set(state)
    # What the editor adds is not on the agent's wire: ids of ours, files, following.
    added = {"sessionId", "permissions", "changes", "follow", "queue"}
    for name in set(state) - added:
        assert replayed[name] == state[name], name
    for one, other in zip(replayed["permissions"], state["permissions"], strict=True):
        # How it was put to the user is not on that wire either.
        assert {**one, "message": "", "headline": ""} == {**other, "message": "", "headline": ""}

    told = await run("replay", traces / "editor-1.ndjson")
    assert (told.code, told.err) == (0, "")
    assert re.search(r"→ workspace/executeCommand .*acp\.session\.prompt", told.out)
    assert re.search(r"← window/showDocument .*greeting\.py", told.out)


async def test_a_reader_may_stop_reading_a_trace(tmp_path: Path) -> None:
    trace = tmp_path / "long.ndjson"
    trace.write_text('{"t": 0, "dir": "note", "ev": "nothing"}\n' * 20_000)
    reading, writing = os.pipe()
    process = await asyncio.create_subprocess_exec(
        ACP_SIDECAR, "replay", str(trace), stdout=writing, stderr=asyncio.subprocess.PIPE
    )
    os.close(writing)
    assert b"nothing" in os.read(reading, 100)
    os.close(reading)
    async with asyncio.timeout(BOUND):
        _, err = await process.communicate()
    assert (process.returncode, err) == (0, b"")


async def test_what_is_no_trace_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.txt"
    other.write_text("hello\n{}\n")
    for path in (other, tmp_path / "missing"):
        for flags in ([], ["--state"]):
            ended = await run("replay", *flags, path)
            assert (ended.code, ended.out) == (1, "")
            assert ended.err.startswith(f"acp-sidecar: cannot replay {path}: ")


async def test_serve_takes_what_clients_append_and_logs_to_a_file(tmp_path: Path, ws: Path) -> None:
    log = tmp_path / "sidecar.log"
    arguments = ["--stdio", "--clientProcessId", str(os.getpid())]
    async with editing(*arguments, "--log-file", str(log), "--log-level", "debug") as editor:
        await a_turn(editor, ws)
        await put_away(editor)
        assert await editor.close() == 0
        assert editor.stderr == b""
    lines = log.read_text().splitlines()
    assert lines
    assert all(re.match(r"\d{4}-\d\d-\d\d .* (DEBUG|INFO|WARNING) ", line) for line in lines)
    # What was said is nobody's business, at any level.
    assert "Hello" not in log.read_text()


async def test_serve_has_nothing_to_say_about_an_ordinary_session(ws: Path) -> None:
    async with editing() as editor:
        await a_turn(editor, ws)
        request, turn = editor.start("acp.session.prompt", text="/wait 600")
        await editor.until(
            lambda: any(
                params["value"].get("message", "").startswith("Wait")
                for params in editor.all("$/progress")
            )
        )
        editor.cancel(request)
        assert await turn == {"stopReason": "cancelled"}
        await put_away(editor)
        await editor.execute("acp.session.new")
        await put_away(editor)
        assert await editor.close() == 0
        assert editor.stderr == b""


async def test_serve_that_cannot_record_or_log_says_so(tmp_path: Path) -> None:
    occupied = tmp_path / "file"
    occupied.write_text("")
    for option in ("--trace", "--log-file"):
        ended = await run("serve", option, occupied / "below")
        assert ended.code == 1
        assert ended.out == ""
        assert ended.err.startswith("acp-sidecar: ")
        assert str(occupied) in ended.err
        assert "Traceback" not in ended.err


@only_where_xdg_counts
async def test_the_user_s_own_file_is_read(config: Path, ws: Path) -> None:
    config.write_text('defaultAgent = "mine"\n' + named("mine", *DEMO))
    async with editing() as editor:
        await editor.initialize(ws)
        opened = await editor.execute("acp.session.new")
        assert opened["agent"] == "mine"
        assert editor.all("window/showMessage") == []


@only_where_xdg_counts
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[agents\n", "is not valid TOML"),
        ("[agents.mine]\nargs = []\n", "agents.mine: needs a command"),
        ("[follow]\nmaxPerSecond = 0\n", "follow.maxPerSecond: must be a number above 0"),
    ],
)
async def test_broken_settings_are_shown_to_the_user(
    config: Path, ws: Path, text: str, told: str
) -> None:
    config.write_text(text)
    async with editing() as editor:
        await editor.initialize(ws, settings=SETTINGS)
        shown = await editor.nth("window/showMessage")
        assert shown["type"] == 2
        assert shown["message"].startswith("Settings that were left out:\n")
        assert told in shown["message"]
        # It works all the same.
        assert (await editor.execute("acp.session.new"))["agent"] == "demo"


async def test_doctor_knows_the_agents_of_an_editors_settings(tmp_path: Path) -> None:
    settings = tmp_path / "settings.json"
    mine = {"command": DEMO[0], "args": DEMO[1:]}
    settings.write_text(json.dumps({"agents": {"mine": mine}, "defaultAgent": "mine"}))

    named = await run("doctor", "mine", "--settings", settings)
    default = await run("doctor", "--settings", settings)

    assert named.code == 0, named.err
    assert "agent      mine" in named.out
    assert "agent      mine" in default.out


async def test_doctor_says_which_settings_of_an_editor_it_cannot_read(tmp_path: Path) -> None:
    settings = tmp_path / "settings.json"
    settings.write_text("{")

    found = await run("doctor", "demo", "--settings", settings)

    assert found.code == 1
    assert found.err.startswith("acp-sidecar: cannot read the settings: ")
