"""Agents of a registry, as a person meets them: listed, examined, started with their word."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.editor import LspError, editing
from tests.e2e.puppet import RELAY, Puppet
from tests.e2e.test_doctor import DEMO, named, only_where_xdg_counts, run, toml


def program(path: Path, *command: str) -> None:
    """A program that notes how it was called and becomes ``command``."""
    words = " ".join(f"'{word}'" for word in command)
    path.write_text(f'#!/bin/sh\necho "$@" >> "{path.parent}/ran"\nexec {words}\n')
    path.chmod(0o755)


def distributed(name: str, distribution: dict[str, Any]) -> dict[str, Any]:
    about = {"name": name.title(), "version": "1.0.0", "description": f"About {name}"}
    return {"id": name, "distribution": distribution, **about}


@pytest.fixture
def registry(tmp_path: Path) -> Path:
    path = tmp_path / "registry.json"
    agents = [
        distributed("fetched", {"npx": {"package": "@x/fetched@1", "args": ["--acp"]}}),
        distributed("snake", {"uvx": {"package": "snake"}}),
        distributed("elsewhere", {"binary": {"windows-aarch64": {"archive": "a", "cmd": "b"}}}),
        {"id": "broken"},
        distributed("evil", {"npx": {"package": "a\u202eb\x1b[2J", "args": ["\x1b[31m"]}}),
    ]
    path.write_text(json.dumps({"version": "1.0.0", "agents": agents}))
    return path


@pytest.fixture
def bin_(tmp_path: Path) -> Path:
    folder = tmp_path / "bin"
    folder.mkdir()
    return folder


def on_path(bin_: Path) -> dict[str, str]:
    return {"PATH": f"{bin_}:/usr/bin:/bin", "SHELL": "/bin/false"}


async def test_a_registry_s_agents_are_listed_and_nothing_is_run(
    registry: Path, bin_: Path
) -> None:
    program(bin_ / "npx", *DEMO)
    ended = await run("agents", "--registry", registry, "--json", env=on_path(bin_))
    assert ended.code == 0
    assert "agent broken: it has no 'distribution'" in ended.err
    rows = {row["name"]: row for row in json.loads(ended.out)}
    assert {"demo", "opencode", "fetched", "snake", "elsewhere"} <= rows.keys()
    assert rows["fetched"] == {
        "name": "fetched",
        "command": "npx",
        "args": ["-y", "@x/fetched@1", "--acp"],
        "path": str(bin_ / "npx"),
        "source": "registry",
        "installHint": "It needs npx (Node.js)",
        "title": "Fetched",
        "version": "1.0.0",
        "description": "About fetched",
        "website": None,
        "env": {},
        "needsConsent": "npx -y @x/fetched@1 --acp",
    }
    ended = await run("agents", "--registry", registry, env=on_path(bin_))
    lines = {line.split()[0]: line for line in ended.out.splitlines()}
    assert "registry.allow" in lines["fetched"]
    assert "npx -y @x/fetched@1 --acp" in lines["fetched"]
    assert "windows-aarch64" in lines["elsewhere"]
    # What is somebody else's text draws nothing on the terminal.
    assert "\x1b" not in ended.out
    assert "\u202e" not in ended.out
    assert not (bin_ / "ran").exists()


async def test_a_registry_that_cannot_be_read_is_told_and_the_rest_is_listed(
    tmp_path: Path,
) -> None:
    for source in (tmp_path / "none.json", "http://localhost/registry.json"):
        ended = await run("agents", "--registry", source)
        assert ended.code == 1
        assert str(source) in ended.err
        assert "demo" in ended.out


@only_where_xdg_counts
async def test_the_doctor_starts_what_has_to_be_fetched_only_when_told_to(
    registry: Path, bin_: Path, tmp_path: Path
) -> None:
    program(bin_ / "npx", *DEMO)
    folder = tmp_path / "config" / "acp-sidecar"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text(f"[registry]\nsource = {toml(str(registry))}\n")
    ended = await run("doctor", "fetched", env=on_path(bin_))
    assert ended.code == 1
    assert "npx -y @x/fetched@1 --acp" in ended.out
    assert "registry.allow" in ended.out
    assert not (bin_ / "ran").exists()
    ended = await run("doctor", "fetched", "--download", env=on_path(bin_))
    assert ended.code == 0, ended.out
    assert "Demo agent" in ended.out
    assert (bin_ / "ran").read_text() == "-y @x/fetched@1 --acp\n"


async def test_an_agent_of_the_registry_is_started_with_the_user_s_word_alone(
    registry: Path, bin_: Path, puppet: Puppet, ws: Path
) -> None:
    program(bin_ / "npx", sys.executable, str(RELAY), str(puppet.socket))
    settings: dict[str, Any] = {"registry": {"source": str(registry)}}
    env = {**os.environ, **on_path(bin_)}
    async with editing(env=env) as editor:
        await editor.initialize(ws, settings=settings)
        for _ in range(2):
            with pytest.raises(LspError) as refused:
                await editor.execute("acp.session.new", agent="fetched")
            for words in ("npx -y @x/fetched@1 --acp", "registry.allow", "'fetched'"):
                assert words in str(refused.value)
        with pytest.raises(LspError, match=r"elsewhere.*only for windows-aarch64"):
            await editor.execute("acp.session.new", agent="elsewhere")
        assert not (bin_ / "ran").exists()
        await editor.close()
    settings["registry"]["allow"] = ["fetched"]
    async with editing(env=env) as editor:
        await editor.initialize(ws, settings=settings)
        assert (await editor.execute("acp.session.new", agent="fetched"))["agentSessionId"] == "S1"
        assert (bin_ / "ran").read_text() == "-y @x/fetched@1 --acp\n"
        with pytest.raises(LspError, match="evil comes from the registry") as refused:
            await editor.execute("acp.session.new", agent="evil")
        assert "\x1b" not in str(refused.value)
        await editor.close()


async def test_P06_a_workspace_names_no_registry_and_permits_nothing(
    registry: Path, bin_: Path, puppet: Puppet, ws: Path
) -> None:
    program(bin_ / "npx", sys.executable, str(RELAY), str(puppet.socket))
    of_workspace = {"registry": {"source": str(registry), "allow": ["fetched"]}}
    async with editing(env={**os.environ, **on_path(bin_)}) as editor:
        can = {"workspace": {"configuration": True}}
        editor.answers["workspace/configuration"] = lambda params: [of_workspace]
        await editor.initialize(ws, can=can)
        await editor.until(lambda: editor.all("workspace/configuration"))
        with pytest.raises(LspError, match="No agent 'fetched' is known"):
            await editor.execute("acp.session.new", agent="fetched")
        assert not (bin_ / "ran").exists()
        await editor.close()


@only_where_xdg_counts
async def test_settings_win_over_the_registry(registry: Path, bin_: Path, tmp_path: Path) -> None:
    folder = tmp_path / "config" / "acp-sidecar"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text(named("fetched", *DEMO))
    ended = await run("agents", "--registry", registry, "--json", env=on_path(bin_))
    (row,) = [row for row in json.loads(ended.out) if row["name"] == "fetched"]
    assert (row["source"], row["command"]) == ("settings", DEMO[0])
