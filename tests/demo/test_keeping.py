"""The demo agent's sessions outlive its process, within bounds, and only where they may."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
import stat
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from acp_sidecar.demo import keeping
from acp_sidecar.demo.keeping import Keep, state_folder
from tests.demo.driver import AGENT, Driver, agent


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "kept"
    monkeypatch.setenv("ACP_DEMO_STATE", str(folder))
    return folder


@pytest.fixture
def ws(tmp_path: Path) -> Path:
    folder = tmp_path / "ws"
    folder.mkdir()
    return folder


@contextlib.asynccontextmanager
async def second(version: int = 1) -> AsyncIterator[Driver]:
    """Another process of the agent, greeted."""
    argv = AGENT if version == 1 else [*AGENT, "--protocol", "2"]
    async with agent(*argv) as demo:
        await demo.call("initialize", {"protocolVersion": version})
        yield demo


def said(updates: list[dict[str, Any]], role: str) -> str:
    chunks = [one for one in updates if one["sessionUpdate"] == f"{role}_message_chunk"]
    return "".join(one["content"].get("text", "") for one in chunks)


async def test_a_session_is_listed_and_loaded_by_another_process(state: Path, ws: Path) -> None:
    async with agent() as demo:
        session = await demo.open(ws)
        mode = {"sessionId": session, "modeId": "accept-edits"}
        await demo.call("session/set_mode", mode)
        await demo.response(demo.prompt(session, "/show me"))
        await demo.response(demo.prompt(session, "/edit notes.txt"))
        other = await demo.call("session/new", {"cwd": str(ws.parent), "mcpServers": []})
        await demo.response(demo.prompt(other["sessionId"], "/refuse"))
        first = demo.updates()
        assert await demo.end() == 0
    async with second() as demo:
        rows = (await demo.call("session/list", {"cwd": str(ws)}))["sessions"]
        assert [(row["sessionId"], row["title"]) for row in rows] == [(session, "/show me")]
        assert rows[0]["updatedAt"].endswith("+00:00")
        every = (await demo.call("session/list", {}))["sessions"]
        assert [row["sessionId"] for row in every] == [other["sessionId"], session]
        params = {"sessionId": session, "cwd": str(ws), "mcpServers": []}
        loaded = await demo.call("session/load", params)
        assert loaded["modes"]["currentModeId"] == "accept-edits"
        again = demo.updates()
        assert said(again, "user") == "/show me/edit notes.txt"
        mine = [one for one in first if one.get("messageId")]
        assert said(again, "agent") and said(mine, "agent").startswith(said(again, "agent"))
        (call,) = demo.calls().values()
        assert (call["title"], call["status"]) == ("Edit notes.txt", "completed")
        # It goes on from there.
        await demo.response(demo.prompt(session, "/refuse"))
        assert (await demo.call("session/resume", params))["modes"]


async def test_version_two_tells_it_again_too(state: Path, ws: Path) -> None:
    async with second(2) as demo:
        opened = await demo.call("session/new", {"cwd": str(ws)})
        session = opened["sessionId"]
        demo.prompt(session, "/refuse")
        await demo.until(lambda m: m.get("params", {}).get("update", {}).get("state") == "idle")
        assert await demo.end() == 0
    async with second(2) as demo:
        listed = await demo.call("session/list", {})
        assert [row["sessionId"] for row in listed["sessions"]] == [session]
        params = {"sessionId": session, "cwd": str(ws), "replayFrom": {"type": "start"}}
        await demo.call("session/resume", params)
        (words,) = demo.updates("user_message_chunk")
        assert words["content"]["text"] == "/refuse"
        assert words["messageId"]
    # A client of version 1 may open it as well.
    async with second() as demo:
        await demo.call("session/load", {"sessionId": session, "cwd": str(ws), "mcpServers": []})
        assert said(demo.updates(), "user") == "/refuse"


async def test_an_agent_that_is_killed_in_its_turn_remembers_the_prompt(
    state: Path, ws: Path
) -> None:
    async with agent() as demo:
        session = await demo.open(ws)
        demo.prompt(session, "/wait 60")
        await demo.until(lambda m: "content" in ((m.get("params") or {}).get("update") or {}))
        demo.process.kill()
        await demo.process.wait()
    async with second() as demo:
        await demo.call("session/load", {"sessionId": session, "cwd": str(ws), "mcpServers": []})
        assert said(demo.updates(), "user") == "/wait 60"


async def test_a_long_conversation_and_large_pictures_stay_within_bounds(
    state: Path, ws: Path
) -> None:
    picture = {
        "type": "image",
        "mimeType": "image/png",
        "data": base64.b64encode(b"x" * 2_000_000).decode(),
    }
    async with agent() as demo:
        session = await demo.open(ws)
        await demo.response(demo.prompt(session, "/refuse", picture))
        await demo.response(demo.prompt(session, "/flood 50000"))
        await demo.response(demo.prompt(session, "/refuse " + "y" * 500_000))
        await demo.response(demo.prompt(session, "/refuse the last"))
        assert await demo.end() == 0
    (file,) = state.iterdir()
    assert file.stat().st_size < 1_100_000
    async with second() as demo:
        await demo.call("session/load", {"sessionId": session, "cwd": str(ws), "mcpServers": []})
        words = said(demo.updates(), "user")
        assert "(image that was too large to be kept)" in words
        assert words.endswith("/refuse the last")


async def test_only_so_many_are_kept_the_latest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "MOST", 3)
    keep = Keep(tmp_path)
    values = {"cwd": "/ws", "additional": [], "title": None, "mode": "ask"}
    for number in range(6):
        name = f"demo-{number:012x}"
        keep.save(name, values, [])
        os.utime(tmp_path / f"{name}.json", (number, number))
    assert sorted(name for name, _ in keep.all()) == [f"demo-{n:012x}" for n in (3, 4, 5)]
    (file, *_) = tmp_path.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


async def test_what_is_odd_on_the_disk_is_passed_over(state: Path, ws: Path) -> None:
    state.mkdir()
    good = {"cwd": str(ws), "additional": [], "title": "Good", "mode": "odd", "history": []}
    odd: list[Any] = [
        None,
        [],
        {**good, "cwd": 5},
        {**good, "history": None},
        {**good, "history": [5]},
        {**good, "additional": [5]},
    ]
    for number, values in enumerate(odd):
        (state / f"demo-{number:012x}.json").write_text(json.dumps(values))
    (state / f"demo-{'a' * 12}.json").write_text("{")
    (state / f"demo-{'b' * 12}.json").mkdir()
    (state / f"demo-{'c' * 12}.json").write_text(json.dumps(good))
    (state / "other.json").write_text(json.dumps(good))
    (ws / "secret.json").write_text(json.dumps(good))
    async with second() as demo:
        rows = (await demo.call("session/list", {}))["sessions"]
        assert [row["title"] for row in rows] == ["Good"]
        for name in ("../ws/secret", "demo-000000000001", "other", f"demo-{'a' * 12}"):
            params = {"sessionId": name, "cwd": str(ws), "mcpServers": []}
            answer = await demo.response(demo.request("session/load", params))
            assert answer["error"]["code"] == -32002
        params = {"sessionId": f"demo-{'c' * 12}", "cwd": str(ws), "mcpServers": []}
        loaded = await demo.call("session/load", params)
        assert loaded["modes"]["currentModeId"] == "ask"


async def test_switched_off_and_unwritable_it_works_all_the_same(
    tmp_path: Path, ws: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("")
    for value in ("", str(in_the_way / "folder")):
        monkeypatch.setenv("ACP_DEMO_STATE", value)
        async with agent() as demo:
            session = await demo.open(ws)
            for _ in range(2):
                answer = await demo.response(demo.prompt(session, "/refuse"))
                assert answer["result"] == {"stopReason": "refusal"}
            assert len((await demo.call("session/list", {}))["sessions"]) == 1
            assert await demo.end() == 0
            assert demo.process.stderr is not None
            async with asyncio.timeout(5):
                complaints = (await demo.process.stderr.read()).count(b"are not kept")
            assert complaints == (1 if value else 0)


@pytest.mark.parametrize(
    ("platform", "environ", "folder"),
    [
        ("linux", {"HOME": "/home/u"}, "/home/u/.local/state/acp-sidecar/demo-sessions"),
        ("linux", {"HOME": "/home/u", "XDG_STATE_HOME": "/s"}, "/s/acp-sidecar/demo-sessions"),
        (
            "linux",
            {"HOME": "/home/u", "XDG_STATE_HOME": "relative"},
            "/home/u/.local/state/acp-sidecar/demo-sessions",
        ),
        (
            "darwin",
            {"HOME": "/Users/u"},
            "/Users/u/Library/Application Support/acp-sidecar/demo-sessions",
        ),
        ("win32", {"LOCALAPPDATA": "/Local"}, "/Local/acp-sidecar/demo-sessions"),
        ("win32", {}, None),
        ("linux", {}, None),
        ("linux", {"HOME": "/home/u", "ACP_DEMO_STATE": ""}, None),
        ("linux", {"HOME": "/home/u", "ACP_DEMO_STATE": "/mine"}, "/mine"),
    ],
)
def test_the_folder_is_the_platform_s(
    platform: str, environ: dict[str, str], folder: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    assert state_folder(environ) == (None if folder is None else Path(folder))
