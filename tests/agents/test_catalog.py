"""Which agents are known, where their programs are, and what they inherit."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from attrs import frozen

from acp_sidecar.agents import environment
from acp_sidecar.agents.catalog import catalog
from acp_sidecar.agents.command import CommandNotFound, batch_line, resolve
from acp_sidecar.agents.environment import inherited
from acp_sidecar.agents.exits import CannotStart


@frozen
class Setting:
    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = {}
    cwd: str | None = None


def program(path: Path, text: str = "#!/bin/sh\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def on_path(*folders: Path | str) -> dict[str, str]:
    return {"PATH": os.pathsep.join(map(str, folders))}


# --- the catalog ---------------------------------------------------------------------------


def test_the_known_agents_are_started_as_their_makers_say() -> None:
    known = catalog({})
    assert {"demo", "opencode", "gemini", "claude", "codex"} <= known.keys()
    commands = {name: (entry.command, *entry.args) for name, entry in known.items()}
    assert commands["opencode"] == ("opencode", "acp")
    assert commands["gemini"] == ("gemini", "--acp")
    assert commands["claude"] == ("claude-agent-acp",)
    assert commands["codex"] == ("codex-acp",)
    for name in ("opencode", "gemini", "claude", "codex"):
        assert known[name].source == "built-in"
        assert "install" in (known[name].install_hint or "")


def test_the_demo_agent_needs_nothing_and_is_not_taken_from_the_folder_it_runs_in() -> None:
    demo = catalog({})["demo"]
    assert resolve(demo.command).argv == (sys.executable,)
    assert "-P" in demo.args[: demo.args.index("-m")]


def test_settings_add_agents_and_win_over_the_known_ones() -> None:
    mine = Setting("/opt/mine", ("--acp",), {"KEY": "x"}, "/ws")
    known = catalog({"mine": mine, "gemini": Setting("my-gemini")})
    entry = known["mine"]
    assert (entry.command, entry.args, entry.env) == ("/opt/mine", ("--acp",), {"KEY": "x"})
    assert (entry.cwd, entry.source) == ("/ws", "settings")
    assert (known["gemini"].command, known["gemini"].args) == ("my-gemini", ())
    assert known["codex"].source == "built-in"


# --- finding the program ---------------------------------------------------------------------


def test_a_name_is_found_on_path_in_its_order(tmp_path: Path) -> None:
    first = program(tmp_path / "one" / "agent")
    second = program(tmp_path / "two" / "agent")
    environ = on_path(tmp_path / "missing", second.parent, first.parent)
    command = resolve("agent", ["a b", "--flag"], environ=environ, cwd=str(tmp_path))
    assert command.argv == (str(second), "a b", "--flag")
    assert command.cwd == str(tmp_path)
    assert command.env["PATH"] == environ["PATH"]


def test_a_path_in_the_settings_is_searched_instead(tmp_path: Path) -> None:
    program(tmp_path / "one" / "agent")
    mine = program(tmp_path / "two" / "agent")
    environ = on_path(tmp_path / "one")
    command = resolve("agent", env=on_path(mine.parent), environ=environ)
    assert command.argv == (str(mine),)
    assert command.env["PATH"] == str(mine.parent)


def test_P09_the_users_home_is_expanded_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = program(tmp_path / "bin" / "agent")
    program(tmp_path / "~" / "agent")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert resolve("~/bin/agent", ["~/x"], cwd="~/bin").argv == (str(mine), "~/x")
    assert resolve("~/bin/agent", cwd="~/bin").cwd == str(mine.parent)
    assert resolve(str(tmp_path / "~" / "agent")).argv == (str(tmp_path / "~" / "agent"),)
    with pytest.raises(CannotStart, match="no-such-user-here"):
        resolve("~no-such-user-here/agent")


@pytest.mark.parametrize("entry", ["", ".", "bin", "./bin", "../ws"])
def test_P06_a_folder_that_depends_on_where_we_are_is_not_searched(
    entry: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A repository must not choose what runs by having a program of an agent's name."""
    workspace = tmp_path / "ws"
    program(workspace / "opencode")
    program(workspace / "bin" / "opencode")
    monkeypatch.chdir(workspace)
    for windows in (False, True):
        with pytest.raises(CommandNotFound):
            resolve("opencode", environ=on_path(entry), cwd=str(workspace), windows=windows)


@pytest.mark.parametrize("command", ["./agent", "bin/agent", "../agent"])
def test_P06_a_command_that_depends_on_the_workspace_is_refused(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path / "agent")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CannotStart, match="absolute path"):
        resolve(command, cwd=str(tmp_path))


def test_X02_what_is_not_found_is_named_with_the_path_that_was_searched(tmp_path: Path) -> None:
    program(tmp_path / ".nvm" / "node")
    with pytest.raises(CommandNotFound) as caught:
        resolve("node", environ=on_path("/usr/bin/none", tmp_path))
    text = str(caught.value)
    assert "'node'" in text
    assert f"/usr/bin/none{os.pathsep}{tmp_path}" in text
    assert "absolute path" in text
    assert (caught.value.command, caught.value.path) == (
        "node",
        f"/usr/bin/none{os.pathsep}{tmp_path}",
    )


@pytest.mark.parametrize("command", ["", "no\0name"])
def test_X02_a_name_that_cannot_be_is_not_found_either(command: str) -> None:
    with pytest.raises(CommandNotFound):
        resolve(command)


def test_X02_what_is_there_but_not_executable_is_said_to_be(tmp_path: Path) -> None:
    script = tmp_path / "agent"
    script.write_text("#!/bin/sh\n")
    (tmp_path / "folder").mkdir()
    for command in ("agent", str(script)):
        with pytest.raises(CommandNotFound, match="not executable"):
            resolve(command, environ=on_path(tmp_path))
    with pytest.raises(CommandNotFound):
        resolve("folder", environ=on_path(tmp_path))


# --- Windows, as far as it can be tried elsewhere ------------------------------------------------


@pytest.fixture
def npm(tmp_path: Path) -> Path:
    """What npm installs on Windows: a shell script, a batch file and a PowerShell script."""
    for name in ("npx", "npx.cmd", "npx.ps1"):
        program(tmp_path / "My Tools" / name)
    return tmp_path / "My Tools"


def windows(folder: Path, **more: str) -> dict[str, str]:
    return {**on_path(folder), "PATHEXT": ".COM;.EXE;.BAT;.CMD", **more}


@pytest.mark.parametrize("command", ["npx", "npx.cmd", "NPX.CMD"])
def test_X01_a_shim_is_found_by_its_extension_and_run_by_cmd_exe(npm: Path, command: str) -> None:
    if command.isupper():
        program(npm / "NPX.CMD")  # the file system here tells upper from lower case
    found = resolve(command, ["-y", "pkg", "a b"], environ=windows(npm), windows=True)
    assert found.argv[1:] == ("-y", "pkg", "a b")
    assert found.argv[0].lower() == str(npm / "npx.cmd").lower()
    assert found.command_line is not None
    assert "cmd.exe" in found.command_line
    assert found.command_line.endswith(f'/d /s /c ""{found.argv[0]}" -y pkg "a b""')


def test_X01_a_program_is_started_without_cmd_exe(npm: Path) -> None:
    program(npm / "npx.exe")
    found = resolve("npx", ["-y"], environ=windows(npm), windows=True)
    assert found.argv == (str(npm / "npx.exe"), "-y")
    assert found.command_line is None


def test_X01_the_order_is_that_of_pathext_and_an_absolute_path_needs_no_extension(
    npm: Path,
) -> None:
    program(npm / "npx.bat")
    for command in ("npx", str(npm / "npx")):
        found = resolve(command, environ=windows(npm, PATHEXT=".CMD;.BAT"), windows=True)
        assert found.argv == (str(npm / "npx.cmd"),)


@pytest.mark.parametrize("command", ["tool", "tool.ps1"])
def test_X01_a_power_shell_script_is_refused_with_advice(npm: Path, command: str) -> None:
    program(npm / "tool.ps1")
    environ = windows(npm, PATHEXT=".PS1;.EXE;.CMD")
    with pytest.raises(CannotStart, match="-File") as caught:
        resolve(command, environ=environ, windows=True)
    assert str(npm / "tool.ps1") in str(caught.value)


def test_X01_a_shim_further_on_is_better_than_a_power_shell_script(
    npm: Path, tmp_path: Path
) -> None:
    program(tmp_path / "first" / "npx.ps1")
    environ = windows(npm) | on_path(tmp_path / "first", npm)
    found = resolve("npx", environ=environ, windows=True)
    assert found.argv == (str(npm / "npx.cmd"),)


@pytest.mark.parametrize(
    ("argument", "word"),
    [
        ("plain", "plain"),
        ("--a=b", '"--a=b"'),
        ("", '""'),
        ("a b", '"a b"'),
        ("a&calc", '"a&calc"'),
        ("a|b>c<d^e", '"a|b>c<d^e"'),
        ('say "hi"', '"say ""hi"""'),
        ('back\\"quote', '"back\\\\""quote"'),
        ("end\\", '"end\\\\"'),
        ("%PATH%", '"%%cd:~,%PATH%%cd:~,%"'),
        ("C:\\dir\\file", "C:\\dir\\file"),
        ("ü", "ü"),
        ("(x)", '"(x)"'),
    ],
)
def test_X01_every_argument_reaches_a_batch_file_as_one_word(argument: str, word: str) -> None:
    assert batch_line("cmd.exe", "C:\\a b\\t.cmd", [argument]).endswith(
        f'/c ""C:\\a b\\t.cmd" {word}"'
    )


@pytest.mark.parametrize("argument", ["a\nb", "a\rb", "a\0b"])
def test_X01_what_no_batch_file_can_take_is_refused(argument: str) -> None:
    with pytest.raises(CannotStart, match="line break"):
        batch_line("cmd.exe", "t.cmd", [argument])


# --- X04: the environment ------------------------------------------------------------------------


def test_X04_a_short_list_stays_behind_and_the_rest_is_inherited() -> None:
    environ = {
        "ELECTRON_RUN_AS_NODE": "1",
        "VSCODE_IPC_HOOK_CLI": "/x",
        "VSCODE_NLS_CONFIG": "{}",
        "NODE_OPTIONS": "--inspect",
        "PATH": "/usr/bin",
        "ANTHROPIC_API_KEY": "k",
        "ELECTRON_MIRROR": "https://mirror",
    }
    assert inherited(environ=environ, venv=None) == {
        "PATH": "/usr/bin",
        "ANTHROPIC_API_KEY": "k",
        "ELECTRON_MIRROR": "https://mirror",
    }


def test_X04_what_is_the_editor_s_own_stays_behind() -> None:
    """Node's channel to whom started it, and the folders of the Neovim that did."""
    channel = {"NODE_CHANNEL_FD": "3", "NODE_CHANNEL_SERIALIZATION_MODE": "json"}
    assert inherited(environ={**channel, "A": "b"}) == {"A": "b"}
    vim = {"VIM": "/x", "VIMRUNTIME": "/x/runtime", "MYVIMRC": "/home/u/init.lua"}
    neovim = {**vim, "NVIM": "/run/nvim.1", "NVIM_LISTEN_ADDRESS": "/run/nvim.1"}
    assert inherited(environ=neovim) == {"NVIM": "/run/nvim.1"}
    # Outside of Neovim they are the user's, and what the user sets is set.
    assert inherited(environ=vim) == vim
    assert inherited({"VIMRUNTIME": "/mine"}, environ=neovim)["VIMRUNTIME"] == "/mine"


def test_X04_node_options_outside_an_electron_editor_are_the_users() -> None:
    environ = {"NODE_OPTIONS": "--use-openssl-ca"}
    assert inherited(environ=environ, venv=None) == environ


def test_X04_what_the_user_sets_is_set_and_null_removes() -> None:
    environ = {"ELECTRON_RUN_AS_NODE": "1", "HOME": "/home/u", "A": "1"}
    overrides = {"ELECTRON_RUN_AS_NODE": "0", "A": None, "B": "2", "GONE": None}
    assert inherited(overrides, environ=environ, venv=None) == {
        "ELECTRON_RUN_AS_NODE": "0",
        "HOME": "/home/u",
        "B": "2",
    }


def test_X04_our_own_virtual_environment_is_left(tmp_path: Path) -> None:
    venv = tmp_path / "venv"
    (venv / "bin").mkdir(parents=True)
    environ = {
        "VIRTUAL_ENV": str(venv),
        "VIRTUAL_ENV_PROMPT": "(venv)",
        "PYTHONHOME": str(venv),
        "PYTHONPATH": os.pathsep.join([str(venv / "lib"), "/home/u/lib"]),
        "PATH": os.pathsep.join([str(venv / "bin"), "/usr/bin"]),
    }
    assert inherited(environ=environ, venv=str(venv)) == {
        "PYTHONPATH": "/home/u/lib",
        "PATH": "/usr/bin",
    }


def test_X04_the_projects_own_virtual_environment_stays(tmp_path: Path) -> None:
    project = tmp_path / "project"
    environ = {
        "VIRTUAL_ENV": str(project),
        "PYTHONPATH": "/home/u/lib",
        "PATH": os.pathsep.join([str(project / "bin"), "/usr/bin"]),
    }
    assert inherited(environ=environ, venv=str(tmp_path / "ours")) == environ


def test_X04_a_path_to_our_packages_is_left() -> None:
    packages = str(Path(environment.__file__).parents[2])
    assert inherited(environ={"PYTHONPATH": packages}, venv=None) == {}


def test_X04_an_agent_in_our_own_virtual_environment_is_still_found(tmp_path: Path) -> None:
    if sys.prefix == sys.base_prefix:
        pytest.skip("these tests do not run in a virtual environment")
    environ = {"VIRTUAL_ENV": sys.prefix, "PATH": str(Path(sys.prefix) / "bin")}
    found = resolve("python", environ=environ, windows=False)
    assert found.argv[0] == str(Path(sys.prefix) / "bin" / "python")
    assert "PATH" not in found.env


def test_X04_windows_names_are_one_whatever_their_case() -> None:
    environ = {"Path": "C:\\bin", "Electron_Run_As_Node": "1"}
    assert inherited({"path": "D:\\bin"}, environ=environ, venv=None, windows=True) == {
        "PATH": "D:\\bin"
    }
