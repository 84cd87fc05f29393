"""``mcpEditorTools``: the agent's MCP server, started as it is told in ``session/new``.

The official MCP client talks to it; the editor and the agent are held by the test.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import stat
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from mcp.client.session import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

from acp_sidecar.workspace.uris import path_to_uri
from tests.e2e.editor import BOUND, Editor, capabilities, editing
from tests.e2e.puppet import Puppet

LINES = "one\ntwo\nthree\nfour\n"


class Desk:
    """An editor, an agent, and what the agent was told."""

    def __init__(self, editor: Editor, puppet: Puppet, ws: Path, settings: dict[str, Any]) -> None:
        self.editor = editor
        self.puppet = puppet
        self.ws = ws
        self.path = ws / "a.txt"
        self.path.write_text(LINES)
        self.settings = {**settings, "mcpEditorTools": True, "review": {"mode": "after"}}
        self.able = capabilities(selection=True, reveal=True, changes=True, proposals=True)

    async def begin(self, **settings: Any) -> None:
        await self.editor.initialize(self.ws, settings={**self.settings, **settings}, can=self.able)
        await self.editor.execute("acp.session.new")

    async def prompt(self) -> dict[str, Any]:
        self.editor.start("acp.session.prompt", text="go")
        return await self.puppet.prompted()

    def told(self, method: str = "session/new") -> dict[str, Any]:
        """The MCP server the agent was last told of."""
        asked = [message for message in self.puppet.seen if message.get("method") == method]
        (server,) = asked[-1]["params"]["mcpServers"]
        assert isinstance(server, dict)
        return server

    def environment(self, method: str = "session/new") -> dict[str, str]:
        return {one["name"]: one["value"] for one in self.told(method)["env"]}

    @contextlib.asynccontextmanager
    async def tools(self, method: str = "session/new") -> AsyncIterator[Tools]:
        server = self.told(method)
        parameters = StdioServerParameters(
            command=server["command"],
            args=server["args"],
            env=self.environment(method),
            cwd=str(self.ws),
        )
        async with (
            stdio_client(parameters) as (incoming, outgoing),
            ClientSession(incoming, outgoing) as client,
        ):
            async with asyncio.timeout(BOUND):
                await client.initialize()
            yield Tools(client)

    async def start(self, **overrides: str) -> asyncio.subprocess.Process:
        """The MCP process as the agent would start it, held by its pipes alone."""
        server = self.told()
        return await asyncio.create_subprocess_exec(
            server["command"],
            *server["args"],
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={"PATH": os.environ["PATH"], **self.environment(), **overrides},
        )


class Tools:
    """The agent's hand on its MCP server."""

    def __init__(self, client: ClientSession) -> None:
        self.client = client

    async def call(self, name: str, **arguments: Any) -> str:
        """What the tool says, where it is no error."""
        failed, text = await self.outcome(name, **arguments)
        assert not failed, text
        return text

    async def refused(self, name: str, **arguments: Any) -> str:
        failed, text = await self.outcome(name, **arguments)
        assert failed, text
        return text

    async def outcome(self, name: str, **arguments: Any) -> tuple[bool, str]:
        async with asyncio.timeout(BOUND):
            result = await self.client.call_tool(name, arguments)
        (block,) = result.content
        return bool(result.is_error), block.text  # type: ignore[union-attr]


@pytest.fixture
def desk(idle_editor: Editor, puppet: Puppet, ws: Path, settings: dict[str, Any]) -> Desk:
    idle_editor.answers["workspace/codeLens/refresh"] = lambda params: None
    return Desk(idle_editor, puppet, ws, settings)


async def initialized(process: asyncio.subprocess.Process) -> None:
    """Wait until the process has answered a first request."""
    assert process.stdin is not None
    assert process.stdout is not None
    params = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    call = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    process.stdin.write(json.dumps(call).encode() + b"\n")
    async with asyncio.timeout(BOUND):
        assert b'"result"' in await process.stdout.readline()


async def ended(process: asyncio.subprocess.Process) -> tuple[int, str]:
    """The exit code, and what it said on stderr."""
    assert process.stderr is not None
    async with asyncio.timeout(BOUND):
        said = await process.stderr.read()
        return await process.wait(), said.decode()


# --- the tools ----------------------------------------------------------------------------


async def test_a_file_is_read_as_the_user_sees_it(desk: Desk) -> None:
    await desk.begin()
    uri = desk.editor.open(desk.path)
    desk.editor.type(uri, 1, 0, "TWO", delete=3)
    async with desk.tools() as tools:
        listed = await tools.client.list_tools()
        names = {tool.name for tool in listed.tools}
        assert names == {"read_file", "write_file", "open_files", "selection", "reveal"}
        assert await tools.call("read_file", path=str(desk.path)) == LINES.replace("two", "TWO")
        assert await tools.call("read_file", path="a.txt", line=2, limit=2) == "TWO\nthree\n"
        assert "from 1 on" in await tools.refused("read_file", path="a.txt", line=0)
        assert "none.txt" in await tools.refused("read_file", path="none.txt")
        assert "path" in await tools.refused("read_file")
        assert "no tool 'hello'" in await tools.refused("hello", secret="x")
    assert desk.path.read_text() == LINES


async def test_a_write_is_merged_into_unsaved_text_and_can_be_reverted(desk: Desk) -> None:
    await desk.begin()
    uri = desk.editor.open(desk.path)
    turn = await desk.prompt()
    async with desk.tools() as tools:
        await tools.call("read_file", path="a.txt")
        desk.editor.type(uri, 0, 0, "ONE", delete=3)
        said = await tools.call("write_file", path="a.txt", content=LINES.replace("four", "FOUR"))
        assert "not saved" in said
        assert desk.editor.documents[uri].text == "ONE\ntwo\nthree\nFOUR\n"
        assert desk.path.read_text() == LINES
        other = desk.ws / "b.txt"
        other.write_text("b\n")
        assert await tools.call("write_file", path=str(other), content="B\n") == "Done."
        assert other.read_text() == "B\n"
        changed = await desk.editor.eventually(lambda: several(desk.editor))
        assert [Path(entry["uri"]).name for entry in changed] == ["a.txt", "b.txt"]
        await desk.editor.execute("acp.review.revert")
    assert desk.editor.documents[uri].text == "ONE\ntwo\nthree\nfour\n"
    assert other.read_text() == "b\n"
    desk.puppet.end_turn(turn)


async def several(editor: Editor) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = await editor.execute("acp.review.list")
    return listed if len(listed) > 1 else []


async def test_the_model_is_told_what_the_user_refused(desk: Desk) -> None:
    await desk.begin(review={"mode": "before"})
    await desk.prompt()
    async with desk.tools() as tools:
        await tools.call("read_file", path="a.txt")
        content = "ONE\ntwo\nthree\nFOUR\n"
        write = asyncio.create_task(tools.outcome("write_file", path="a.txt", content=content))
        first, second = await desk.editor.eventually(lambda: proposed(desk.editor))
        assert desk.path.read_text() == LINES
        await desk.editor.execute("acp.review.keep", hunkId=first["id"])
        await desk.editor.execute("acp.review.revert", hunkId=second["id"])
        failed, said = await write
        assert failed
        assert "refused 1 of 2" in said
        assert "+FOUR" in said
        assert desk.path.read_text() == "ONE\ntwo\nthree\nfour\n"
        await tools.call("read_file", path="a.txt")
        write = asyncio.create_task(tools.outcome("write_file", path="a.txt", content="x\n"))
        await desk.editor.eventually(lambda: proposed(desk.editor))
        await desk.editor.execute("acp.review.revert")
        assert await write == (
            True,
            f"The user refused this change of {desk.path}: nothing was written.",
        )


async def proposed(editor: Editor) -> list[dict[str, Any]]:
    listed = await editor.execute("acp.review.list")
    return [hunk for entry in listed for hunk in entry["proposed"]]


async def test_a_cancelled_turn_takes_its_writes_with_it(desk: Desk) -> None:
    await desk.begin(review={"mode": "before"})
    await desk.prompt()
    async with desk.tools() as tools:
        write = asyncio.create_task(tools.outcome("write_file", path="a.txt", content="x\n"))
        await desk.editor.eventually(lambda: proposed(desk.editor))
        await desk.editor.execute("acp.session.cancel")
        failed, said = await write
        assert failed
        assert "cancelled this turn" in said
        assert "cancelled" in await tools.refused("write_file", path="a.txt", content="y\n")
    assert desk.path.read_text() == LINES
    assert await desk.editor.execute("acp.review.list") == []


async def test_a_call_that_the_agent_withdraws_waits_for_the_user_no_more(desk: Desk) -> None:
    await desk.begin(review={"mode": "before"})
    await desk.prompt()
    async with desk.tools() as tools:
        write = asyncio.create_task(tools.outcome("write_file", path="a.txt", content="x\n"))
        await desk.editor.eventually(lambda: proposed(desk.editor))
        write.cancel()
        await desk.editor.eventually(lambda: none_proposed(desk.editor))
        assert await tools.call("read_file", path="a.txt") == LINES


async def test_the_agent_hears_that_the_user_is_still_at_it(desk: Desk) -> None:
    """Agents give a call a minute or so, unless they hear of it."""
    await desk.begin(review={"mode": "before"})
    await desk.prompt()
    heard = asyncio.Event()

    async def progress(done: float, total: float | None, message: str | None) -> None:
        heard.set()

    async with desk.tools() as tools, asyncio.timeout(BOUND):
        arguments = {"path": "a.txt", "content": "x\n"}
        write = asyncio.create_task(
            tools.client.call_tool("write_file", arguments, progress_callback=progress)
        )
        await heard.wait()
        await desk.editor.execute("acp.review.keep")
        assert not (await write).is_error
    assert desk.path.read_text() == "x\n"


async def none_proposed(editor: Editor) -> bool:
    return not await proposed(editor)


async def test_nothing_outside_of_the_session_s_folders(desk: Desk, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret\n")
    (desk.ws / "link.txt").symlink_to(secret)
    desk.editor.answers["acp/selection"] = lambda params: {
        "uri": path_to_uri(str(secret)),
        "selection": None,
    }
    await desk.begin()
    desk.editor.open(secret)
    await desk.prompt()
    async with desk.tools() as tools:
        for path in (str(secret), "../secret.txt", "link.txt"):
            for name, more in (
                ("read_file", {}),
                ("write_file", {"content": "mine\n"}),
                ("reveal", {}),
            ):
                said = await tools.refused(name, path=path, **more)
                assert "outside" in said
        said = await tools.refused("selection")
        assert "outside" in said
        assert "secret" not in said
        assert json.loads(await tools.call("open_files")) == []
    assert secret.read_text() == "secret\n"
    assert desk.editor.all("acp/reveal") == []


async def test_what_the_user_has_open_and_selected(desk: Desk) -> None:
    await desk.begin()
    uri = desk.editor.open(desk.path)
    other = desk.ws / "b.txt"
    other.write_text("b\n")
    desk.editor.open(other)
    desk.editor.open("", "scratch", uri="untitled:1")
    desk.editor.type(uri, 2, 0, "THREE", delete=5)
    selected = {"start": {"line": 1, "character": 1}, "end": {"line": 2, "character": 2}}
    desk.editor.answers["acp/selection"] = lambda params: {"uri": uri, "selection": selected}
    async with desk.tools() as tools:
        assert json.loads(await tools.call("open_files")) == [
            {"path": str(desk.path), "unsaved": True},
            {"path": str(other), "unsaved": False},
        ]
        assert json.loads(await tools.call("selection")) == {
            "path": str(desk.path),
            "selection": {"firstLine": 2, "lastLine": 3, "text": "two\nTHREE\n"},
        }
        desk.editor.answers["acp/selection"] = lambda params: {"uri": uri, "selection": None}
        assert json.loads(await tools.call("selection")) == {
            "path": str(desk.path),
            "selection": None,
        }
        desk.editor.answers["acp/selection"] = lambda params: {"uri": "untitled:1"}
        assert "no file" in await tools.refused("selection")
        desk.editor.answers["acp/selection"] = lambda params: None
        assert "does not tell" in await tools.refused("selection")


async def test_a_place_is_shown_as_following_shows_it(desk: Desk) -> None:
    await desk.begin()
    await desk.prompt()
    async with desk.tools() as tools:
        assert await tools.call("reveal", path="a.txt", line=3) == "Shown."
        (shown,) = desk.editor.all("acp/reveal")
        assert (shown["uri"], shown["toolCallId"]) == (path_to_uri(str(desk.path)), None)
        assert shown["selection"]["start"] == {"line": 2, "character": 0}
        follow = (await desk.editor.state())["follow"]
        assert (follow["location"]["line"], follow["shown"]) == (3, True)
        assert await tools.call("reveal", path="a.txt", line=3) == "Shown."
        assert len(desk.editor.all("acp/reveal")) == 1
        desk.editor.answers["acp/reveal"] = lambda params: {"shown": False, "reason": "no room"}
        assert "no room" in await tools.refused("reveal", path="a.txt", line=1)
        desk.editor.notify("acp/userActivity", {"uri": "untitled:1", "kind": "edit"})
        assert "busy elsewhere" in await tools.refused("reveal", path="a.txt", line=2)
        await desk.editor.execute("acp.follow.set", enabled=False)
        assert "switched off" in await tools.refused("reveal", path="a.txt", line=2)
        assert "Not shown" not in await tools.refused("reveal", path="none.txt")


async def test_of_many_places_at_once_the_last_is_shown(desk: Desk) -> None:
    await desk.begin(follow={"maxPerSecond": 2})
    await desk.prompt()
    async with desk.tools() as tools:
        await tools.call("reveal", path="a.txt", line=1)
        calls = [tools.outcome("reveal", path="a.txt", line=line) for line in (2, 3, 4)]
        outcomes = await asyncio.gather(*calls)
    lines = [shown["selection"]["start"]["line"] + 1 for shown in desk.editor.all("acp/reveal")]
    assert len(lines) == 2
    assert sorted(failed for failed, _ in outcomes) == [False, True, True]
    assert outcomes[lines[1] - 2] == (False, "Shown.")
    assert all("another place" in said for failed, said in outcomes if failed)


# --- whose they are -----------------------------------------------------------------------


async def test_a_file_that_is_missing_is_never_told_to_be_empty(desk: Desk) -> None:
    desk.puppet.info = {"name": "gemini-cli", "version": "1"}
    await desk.begin()
    async with desk.tools() as tools:
        assert "none.txt" in await tools.refused("read_file", path="none.txt")
    assert (await desk.puppet.read(desk.ws / "none.txt"))["result"] == {"content": ""}


async def test_each_session_has_its_own(desk: Desk, tmp_path: Path) -> None:
    await desk.begin()
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.txt").write_text("other\n")
    async with desk.tools() as first:
        before = desk.environment()
        await desk.editor.execute("acp.session.new", cwd=str(other))
        assert desk.environment() != before
        async with desk.tools() as second:
            assert await first.call("read_file", path="a.txt") == LINES
            assert await second.call("read_file", path="a.txt") == "other\n"
            refused = await second.refused("read_file", path=str(desk.path))
            assert "outside" in refused


@pytest.mark.parametrize("how", ["load", "resume", "fork"])
async def test_every_way_to_open_a_session_gives_them(desk: Desk, how: str) -> None:
    abilities = {"resume": {}, "fork": {}}
    desk.puppet.capabilities = {"loadSession": True, "sessionCapabilities": abilities}
    method = f"session/{how}"
    desk.puppet.answers[method] = lambda params: {"sessionId": "S9"} if how == "fork" else {}
    await desk.editor.initialize(desk.ws, settings=desk.settings, can=desk.able)
    await desk.editor.execute(f"acp.session.{how}", agentSessionId="S8", cwd=str(desk.ws))
    async with desk.tools(method) as tools:
        assert await tools.call("read_file", path="a.txt") == LINES


async def test_a_server_that_the_agent_starts_first_waits_for_its_session(desk: Desk) -> None:
    del desk.puppet.answers["session/new"]
    await desk.editor.initialize(desk.ws, settings=desk.settings, can=desk.able)
    _, opening = desk.editor.start("acp.session.new")
    request = await desk.puppet.incoming("session/new")
    async with desk.tools() as tools:
        read = asyncio.create_task(tools.call("read_file", path="a.txt"))
        await tools.client.list_tools()
        desk.puppet.answer(request, {"sessionId": "S1"})
        assert await read == LINES
    await opening


async def test_a_revived_session_has_them_again(desk: Desk) -> None:
    desk.puppet.answers["session/load"] = lambda params: {}
    await desk.begin()
    turn = await desk.prompt()
    desk.puppet.end_turn(turn)
    async with desk.tools() as tools:
        desk.puppet.hang_up()
        await desk.editor.eventually(lambda: dead(desk.editor))
        assert "has ended" in await tools.refused("read_file", path="a.txt")
    await desk.prompt()
    async with desk.tools("session/load") as tools:
        assert await tools.call("read_file", path="a.txt") == LINES


async def dead(editor: Editor) -> bool:
    return bool((await editor.state())["status"] == "dead")


async def test_a_closed_session_s_tools_say_so(desk: Desk) -> None:
    await desk.begin()
    async with desk.tools() as tools:
        await desk.editor.execute("acp.session.close")
        said = await tools.refused("read_file", path="a.txt")
        assert "closed this session" in said
    process = await desk.start()
    code, said = await ended(process)
    assert code == 1
    assert "No open session" in said


# --- who may come in ----------------------------------------------------------------------


async def test_without_the_secret_nobody_comes_in(desk: Desk) -> None:
    await desk.begin()
    for secret in ("wrong", "é", "x" * 43):
        code, said = await ended(await desk.start(ACP_SIDECAR_SECRET=secret))
        assert code == 1
        assert "No open session has this secret" in said
    reader, writer = await asyncio.open_unix_connection(desk.environment()["ACP_SIDECAR_SOCKET"])
    call = {"jsonrpc": "2.0", "id": 1, "method": "read_file", "params": {"path": "a.txt"}}
    writer.write(json.dumps(call).encode() + b"\n")
    async with asyncio.timeout(BOUND):
        answer = json.loads(await reader.readline())
        assert "secret" in answer["error"]["message"]
        assert await reader.read() == b""
    writer.close()


async def test_only_the_user_may_open_the_socket(desk: Desk) -> None:
    await desk.begin()
    socket = Path(desk.environment()["ACP_SIDECAR_SOCKET"])
    assert stat.S_IMODE(socket.stat().st_mode) == 0o600
    assert stat.S_IMODE(socket.parent.stat().st_mode) == 0o700
    assert socket.parent.stat().st_uid == os.getuid()
    process = await desk.start()
    await initialized(process)
    secret = desk.environment()["ACP_SIDECAR_SECRET"]
    assert secret not in Path(f"/proc/{process.pid}/cmdline").read_text()
    await desk.editor.close()
    assert not socket.parent.exists()
    assert (await ended(process))[0] == 0


async def test_the_secret_is_neither_recorded_nor_logged(
    desk: Desk, tmp_path: Path, puppet: Puppet
) -> None:
    log = tmp_path / "log"
    traces = tmp_path / "traces"
    arguments = ("--trace", str(traces), "--log-file", str(log), "--log-level", "debug")
    async with editing(*arguments) as editor:
        desk.editor = editor
        await desk.begin()
        async with desk.tools() as tools:
            await tools.call("read_file", path="a.txt")
        state = json.dumps(await editor.state())
        secret = desk.environment()["ACP_SIDECAR_SECRET"]
        await editor.close()
    recorded = b"".join(path.read_bytes() for path in traces.iterdir())
    assert b"ACP_SIDECAR_SECRET" in recorded
    for written in (recorded, log.read_bytes(), state.encode(), editor.stderr):
        assert secret.encode() not in written


# --- the end ------------------------------------------------------------------------------


async def test_the_process_ends_with_a_sidecar_that_is_killed(desk: Desk) -> None:
    await desk.begin()
    process = await desk.start()
    await initialized(process)
    desk.editor.process.kill()
    code, said = await ended(process)
    assert code == 0
    assert "the sidecar has ended" in said


async def test_the_process_ends_with_its_agent(desk: Desk) -> None:
    await desk.begin()
    process = await desk.start()
    await initialized(process)
    assert process.stdin is not None
    process.stdin.close()
    assert (await ended(process))[0] == 0


# --- what the user hears ------------------------------------------------------------------


async def test_without_the_setting_there_are_none(desk: Desk) -> None:
    await desk.begin(mcpEditorTools=False)
    (asked,) = [message for message in desk.puppet.seen if message.get("method") == "session/new"]
    assert asked["params"]["mcpServers"] == []


@pytest.mark.parametrize("stdio", [True, False])
async def test_an_agent_of_version_2_gets_them_where_it_takes_commands(
    desk: Desk, stdio: bool
) -> None:
    mcp = {"stdio": {}} if stdio else {}
    desk.puppet.answers["initialize"] = lambda params: {
        "protocolVersion": 2,
        "capabilities": {"session": {"mcp": mcp}},
        "info": desk.puppet.info,
    }
    await desk.begin(protocolVersions=[1, 2])
    if stdio:
        assert desk.told()["type"] == "stdio"
        async with desk.tools() as tools:
            assert await tools.call("read_file", path="a.txt") == LINES
        return
    shown = await desk.editor.nth("window/showMessage")
    assert "session.mcp.stdio" in shown["message"]
    asked = [message for message in desk.puppet.seen if message.get("method") == "session/new"]
    assert asked[-1]["params"]["mcpServers"] == []


async def test_without_the_package_the_user_is_told_and_the_agent_gets_no_broken_server(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The finder of installed packages says that there is no such one.
    hook = tmp_path / "hook"
    hook.mkdir()
    (hook / "sitecustomize.py").write_text(WITHOUT_MCP)
    monkeypatch.setenv("PYTHONPATH", str(hook))
    async with editing() as editor:
        desk.editor = editor
        await desk.begin()
        shown = await editor.nth("window/showMessage")
        assert "pip install 'acp-sidecar[mcp]'" in shown["message"]
        (asked,) = [each for each in desk.puppet.seen if each.get("method") == "session/new"]
        assert asked["params"]["mcpServers"] == []
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "acp_sidecar", "mcp"), stderr=asyncio.subprocess.PIPE
    )
    code, said = await ended(process)
    assert code == 1
    assert "pip install 'acp-sidecar[mcp]'" in said


WITHOUT_MCP = """
import sys
sys.modules["mcp"] = sys.modules["mcp_types"] = None
"""


async def test_by_hand_it_says_what_it_is_for() -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "acp_sidecar", "mcp"), stderr=asyncio.subprocess.PIPE
    )
    code, said = await ended(process)
    assert code == 1
    assert "mcpEditorTools" in said
