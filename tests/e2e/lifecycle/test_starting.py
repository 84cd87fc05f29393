"""What is started and when, where it is looked for, and what it inherits."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.editor import SIDECAR, Editor, LspError, capabilities, editing
from tests.e2e.family import children, command_of, descendants, environment_of, survivors
from tests.e2e.puppet import RELAY, Puppet

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")


async def test_P06_nothing_starts_by_itself_or_by_a_workspace_s_word(
    idle_editor: Editor, puppet: Puppet, ws: Path, tmp_path: Path, settings: dict[str, Any]
) -> None:
    mark = tmp_path / "ran"
    evil = {"command": "touch", "args": [str(mark)]}
    (ws / ".vscode").mkdir()
    (ws / ".vscode" / "settings.json").write_text(
        '{"acp.agents": {"puppet": {"command": "./evil.sh"}}}'
    )
    (ws / "config.toml").write_text(f'[agents.puppet]\ncommand = "touch"\nargs = ["{mark}"]\n')
    editor = idle_editor
    can = capabilities()
    can["workspace"]["configuration"] = True
    can["workspace"]["didChangeConfiguration"] = {"dynamicRegistration": True}
    section = {"agents": {"puppet": evil, "evil": evil}, "defaultAgent": "evil"}
    editor.answers["workspace/configuration"] = lambda params: [section]
    await editor.initialize(ws, settings=settings, can=can)
    await editor.nth("workspace/configuration")
    editor.notify("workspace/didChangeConfiguration", {"settings": {"acp": section}})
    await editor.nth("workspace/configuration", 2)
    editor.open(ws / "config.toml")
    with pytest.raises(LspError):
        await editor.state()
    assert puppet.connections == 0
    assert children(editor.process.pid) == []
    with pytest.raises(LspError, match="evil"):
        await editor.execute("acp.session.new", agent="evil")
    opened = await editor.execute("acp.session.new", agent="puppet")
    assert opened["agent"] == "puppet"
    assert puppet.connections == 1
    assert not mark.exists()
    # What is started can be read.
    started = [one["message"] for one in editor.all("window/logMessage")]
    assert any(str(puppet.socket) in message for message in started)


async def test_X02_P09_where_a_command_is_looked_for(
    puppet: Puppet, ws: Path, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    (home / "bin").mkdir(parents=True)
    script = home / "bin" / "my-agent"
    script.write_text(f'#!/bin/sh\nexec {sys.executable} {RELAY} "$@"\n')
    script.chmod(0o755)
    (ws / "my-agent").write_text("#!/bin/sh\ntouch ran\n")
    (ws / "my-agent").chmod(0o755)
    socket = str(puppet.socket)
    agents = {
        "bare": {"command": "my-agent", "args": [socket]},
        "own path": {"command": "my-agent", "args": [socket], "env": {"PATH": str(home / "bin")}},
        "home": {"command": "~/bin/my-agent", "args": [socket]},
        "nowhere": {"command": "/no/such/agent"},
        "folder": {"command": str(home)},
    }
    env = {**os.environ, "HOME": str(home), "PATH": "/usr/bin:/bin"}
    async with editing(env=env, cwd=ws) as editor:
        await editor.initialize(ws, settings={"agents": agents})
        for name, says in [
            ("bare", "my-agent.*/usr/bin:/bin"),
            ("nowhere", "/no/such/agent"),
            ("folder", "home"),
            ("unheard of", "bare"),
        ]:
            with pytest.raises(LspError, match=says):
                await editor.execute("acp.session.new", agent=name)
        assert puppet.connections == 0
        assert (await editor.execute("acp.session.new", agent="own path"))["agentSessionId"] == "S1"
        assert (await editor.execute("acp.session.new", agent="home"))["agentSessionId"] == "S2"
        assert not (ws / "ran").exists()
        # An agent that ends at once has its say.
        await editor.close()


async def test_X02_an_editor_that_was_not_started_from_a_terminal(
    puppet: Puppet, ws: Path, tmp_path: Path
) -> None:
    """What only the startup files of the login shell add to PATH is found, and the agent and
    its own programs run with it."""
    home = tmp_path / "home"
    nvm = home / ".nvm" / "bin"
    nvm.mkdir(parents=True)
    (nvm / "test-node").symlink_to("/bin/sh")
    script = nvm / "my-agent"
    script.write_text(f'#!/usr/bin/env test-node\nexec {sys.executable} {RELAY} "$@"\n')
    script.chmod(0o755)
    shell = tmp_path / "shell"
    shell.write_text(
        f"#!/bin/sh\necho asked >> {tmp_path}/log\necho 'Welcome back!'\n"
        f'export PATH="{nvm}:$PATH"\nfor last; do :; done\nexec sh -c "$last"\n'
    )
    shell.chmod(0o755)
    socket = str(puppet.socket)
    agents = {
        "by name": {"command": "my-agent", "args": [socket]},
        # Found at once; what its first line names is not.
        "by path": {"command": str(script), "args": [socket]},
        "own path": {"command": str(script), "args": [socket], "env": {"PATH": "/usr/bin:/bin"}},
        "none": {"command": "no-such-agent"},
    }
    env = {**os.environ, "HOME": str(home), "PATH": "/usr/bin:/bin", "SHELL": str(shell)}
    async with editing(env=env) as editor:
        await editor.initialize(ws, settings={"agents": agents})
        assert (await editor.execute("acp.session.new", agent="by path"))["agentSessionId"] == "S1"
        assert (await editor.execute("acp.session.new", agent="by name"))["agentSessionId"] == "S2"
        paths = {
            environment_of(pid)["PATH"]
            for pid, _ in descendants(editor.process.pid)
            if socket in command_of(pid)
        }
        assert paths == {f"{nvm}:/usr/bin:/bin"}
        with pytest.raises(LspError, match=r"test-node"):
            await editor.execute("acp.session.new", agent="own path")
        with pytest.raises(LspError) as missing:
            await editor.execute("acp.session.new", agent="none")
        for words in ("'no-such-agent'", "Searched PATH: /usr/bin:/bin.", f"{shell}: {nvm}:"):
            assert words in str(missing.value)
        assert (tmp_path / "log").read_text() == "asked\n"
        await editor.close()


async def test_X02_a_login_shell_that_hangs_ends_with_the_sidecar(ws: Path, tmp_path: Path) -> None:
    shell = tmp_path / "shell"
    shell.write_text("#!/bin/sh\ntrap '' TERM HUP\nsleep 600 & sleep 600\n")
    shell.chmod(0o755)
    settings = {"agents": {"none": {"command": "no-such-agent"}}}
    async with editing(env={**os.environ, "SHELL": str(shell)}) as editor:
        await editor.initialize(ws, settings=settings)
        editor.start("acp.session.new", agent="none")

        async def asks() -> bool:
            return any(str(shell) in command_of(pid) for pid in children(editor.process.pid))

        await editor.eventually(asks)
        family = descendants(editor.process.pid)
        await editor.close()
        assert await survivors(family) == set()


async def test_X10_a_library_s_wish_for_a_kind_of_loop_is_not_followed(
    puppet: Puppet, ws: Path, tmp_path: Path, settings: dict[str, Any]
) -> None:
    """Some set a policy whose loops cannot start processes. Ours is made without asking it."""
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(
        "import asyncio\n"
        "class Policy(asyncio.DefaultEventLoopPolicy):\n"
        "    def new_event_loop(self):\n"
        "        raise NotImplementedError('this loop starts no processes')\n"
        "asyncio.set_event_loop_policy(Policy())\n"
    )
    path = os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    env = {**os.environ, "PYTHONPATH": path}
    async with editing(env=env) as editor:
        await editor.initialize(ws, settings=settings)
        assert (await editor.execute("acp.session.new"))["agentSessionId"] == "S1"
        assert await editor.close() == 0
    command = [*SIDECAR[:-1], "agents", "--json"]
    listed = await asyncio.create_subprocess_exec(
        *command, env=env, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    out, err = await listed.communicate()
    assert (listed.returncode, err) == (0, b"")
    assert b'"demo"' in out


async def test_X04_what_an_agent_inherits(
    puppet: Puppet, ws: Path, tmp_path: Path, settings: dict[str, Any]
) -> None:
    user_s = str(tmp_path / "user's packages")
    ours = os.environ.get("PYTHONPATH", "").split(os.pathsep)[0] or os.getcwd()
    env = {
        **os.environ,
        "ELECTRON_RUN_AS_NODE": "1",
        "VSCODE_IPC_HOOK": "/run/x",
        "VSCODE_ESM_ENTRYPOINT": "x",
        "VSCODE_PID": "1",
        "NODE_OPTIONS": "--inspect",
        "VIRTUAL_ENV": sys.prefix,
        "PATH": f"{sys.prefix}/bin{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join([ours, user_s]),
        "API_KEY": "secret",
    }
    settings["agents"]["puppet"]["env"] = {"VSCODE_PID": "wanted", "MORE": "yes"}
    async with editing(env=env) as editor:
        await editor.initialize(ws, settings=settings)
        await editor.execute("acp.session.new")
        agent = next(
            pid
            for pid, _ in descendants(editor.process.pid)
            if str(puppet.socket) in command_of(pid) and "-c" not in command_of(pid)
        )
        inherited = environment_of(agent)
        assert inherited["API_KEY"] == "secret"
        assert inherited["MORE"] == "yes"
        assert inherited["VSCODE_PID"] == "wanted"
        assert inherited["HOME"] == os.environ["HOME"]
        assert inherited["PYTHONPATH"] == user_s
        for name in ("ELECTRON_RUN_AS_NODE", "VSCODE_IPC_HOOK", "NODE_OPTIONS"):
            assert name not in inherited
        if sys.prefix != sys.base_prefix:
            assert "VIRTUAL_ENV" not in inherited
            assert f"{sys.prefix}/bin" not in inherited["PATH"].split(os.pathsep)
        assert os.path.realpath(f"/proc/{agent}/cwd") == str(ws)
        # A process group of its own, and no descriptor of the editor's.
        assert os.getsid(agent) != os.getsid(editor.process.pid)
        await editor.close()
