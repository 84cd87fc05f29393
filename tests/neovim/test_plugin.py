"""The client as a plugin: what it declares, attaches to and loads, its health and its help."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.neovim.harness import PLUGIN, Editor, FakeSidecar, nvim_path, wait_until
from tests.neovim.messages import permission, transcript


def test_declares_what_it_can(editor: Editor, sidecar: FakeSidecar, session: str) -> None:
    (params,) = sidecar.methods("initialize")
    assert params["capabilities"]["experimental"]["acpSidecar"] == {
        "transcript": True,
        "reveal": True,
        "permission": True,
        "elicitation": True,
        "openTerminal": True,
        "selection": True,
        "save": True,
        "changes": True,
        "proposals": True,
        "userActivity": True,
        "terminals": True,
    }
    assert sidecar.commands("acp.session.new") == [{}]


def test_settings_become_initialization_options(editor: Editor, sidecar: FakeSidecar) -> None:
    editor.lua(
        """require('acp').setup({ cmd = vim.lsp.rpc.connect(...), default_agent = 'mine',
           agents = { mine = { command = 'mine', args = { 'acp' }, env = {} } },
           settings = { follow = { maxPerSecond = 2 } } })""",
        sidecar.path,
    )
    editor.command("Acp new other")
    wait_until(lambda: sidecar.commands("acp.session.new"))
    (params,) = sidecar.methods("initialize")
    assert params["initializationOptions"] == {
        "agents": {"mine": {"command": "mine", "args": ["acp"]}},
        "defaultAgent": "mine",
        "follow": {"maxPerSecond": 2},
    }
    assert sidecar.commands("acp.session.new") == [{"agent": "other"}]


@pytest.mark.parametrize(
    "options",
    [
        "{ cmdd = {} }",
        "{ cmd = 7 }",
        "{ reveal = { position = 'top' } }",
        "{ agents = { a = {} } }",
    ],
)
def test_wrong_options_are_refused(editor: Editor, options: str) -> None:
    assert not editor.lua(f"return (pcall(require('acp').setup, {options}))")


def test_attaches_every_file_buffer_and_only_those(
    editor: Editor, sidecar: FakeSidecar, session: str, workspace: Path
) -> None:
    wait_until(lambda: sidecar.methods("initialized"))
    editor.command("edit one.txt")
    editor.command("new")
    editor.command("setlocal buftype=nofile")
    editor.command("split two.txt")
    wanted = {(workspace / name).as_uri() for name in ("one.txt", "two.txt")}
    wait_until(lambda: sidecar.open_uris() == wanted, "both files to be open")


def test_reattaches_all_buffers_when_the_server_died(
    editor: Editor, sidecar: FakeSidecar, session: str, workspace: Path
) -> None:
    editor.command("edit one.txt | split two.txt | new")
    wanted = {(workspace / name).as_uri() for name in ("one.txt", "two.txt")}
    wait_until(lambda: sidecar.open_uris() == wanted)
    question = sidecar.begin("acp/permission", permission("p1"))
    wait_until(lambda: editor.seen("PermissionAsked"))
    sidecar.received.clear()
    sidecar.drop()
    wait_until(lambda: sidecar.open_uris() == wanted, "the buffers to be attached again")
    assert not sidecar.answered(question)
    assert editor.marked("permission") == [], "its question went with it"
    assert "this session with it" in "\n".join(transcript(editor))
    assert "dead" in editor.lua("return require('acp').statusline()")


def test_gives_up_on_a_server_that_keeps_dying(
    editor: Editor, sidecar: FakeSidecar, session: str
) -> None:
    for n in range(1, 5):
        wait_until(lambda n=n: len(sidecar.methods("initialize")) == n)
        wait_until(lambda n=n: len(sidecar.methods("initialized")) == n)
        sidecar.drop()
    wait_until(lambda: "see :Acp log" in editor.messages())
    assert len(sidecar.methods("initialize")) == 4


def test_stop_ends_it_for_good(editor: Editor, sidecar: FakeSidecar, session: str) -> None:
    editor.command("Acp stop")
    wait_until(lambda: sidecar.methods("exit"))
    editor.lua("vim.wait(200, function() return false end)")
    assert len(sidecar.methods("initialize")) == 1
    editor.command("Acp new")
    wait_until(lambda: len(sidecar.methods("initialize")) == 2)


def test_the_statusline(editor: Editor, sidecar: FakeSidecar) -> None:
    line = "return require('acp').statusline()"
    assert editor.lua(line) == ""
    sidecar.held.add("acp.session.prompt")
    editor.command("Acp prompt hello")
    wait_until(lambda: editor.lua(line) == "demo · running · ask")


def test_no_message_needs_a_key(editor: Editor, sidecar: FakeSidecar, session: str) -> None:
    """After a longer message Neovim asks for <Enter>, and the user's next key is gone."""
    editor.command("edit one.txt")
    editor.type("O")
    for n in range(5):
        text = f"number {n}\n" + "a long line " * 40 + "\nand another\nand one more"
        sidecar.notify("window/showMessage", {"type": 1 + n % 3, "message": text})
        editor.type(f"{n}")
    sidecar.results["acp.session.prompt"] = "It failed.\n" + "because " * 60
    editor.lua("require('acp').prompt('x')")
    wait_until(lambda: "It failed." in editor.messages())
    sidecar.drop()
    editor.type("typed<Esc>")
    assert not editor.nvim.api.get_mode()["blocking"]
    assert editor.lines(editor.window())[0] == "01234typed"
    editor.command("Acp messages")
    assert editor.lines(editor.window()).count("and one more") == 5


def test_checkhealth(editor: Editor, sidecar: FakeSidecar, session: str) -> None:
    editor.command("checkhealth acp")
    report = "\n".join(editor.lines(editor.window()))
    assert "LuaJIT" in report
    assert "runs as client" in report
    assert "ERROR" not in report
    assert "signs show in the sign column" in report
    assert "0 hunks in 0 files wait" in report
    assert "mapped to something else" not in report
    editor.lua("require('acp').setup({ keymaps = true })")
    editor.command("nnoremap ]h x | set signcolumn=no | checkhealth acp")
    report = "\n".join(editor.lines(editor.window()))
    assert "mapped to something else: ]h" in report
    assert "'signcolumn' is \"no\"" in report


def test_checkhealth_names_what_is_missing(editor: Editor) -> None:
    editor.lua(
        """require('acp').setup({ cmd = { 'no-such-sidecar', 'serve' },
           agents = { lost = { command = 'no-such-agent' } } })"""
    )
    editor.command("checkhealth acp")
    report = "\n".join(editor.lines(editor.window()))
    assert '"no-such-sidecar" is not found' in report
    assert '"no-such-agent" is not found' in report
    editor.fails("Acp new", ":checkhealth acp")


def test_works_as_a_plain_package(editor: Editor, tmp_path: Path) -> None:
    packages = tmp_path / "data" / "nvim" / "site" / "pack" / "acp" / "start"
    packages.mkdir(parents=True)
    (packages / "acp").symlink_to(PLUGIN)
    run = subprocess.run(
        [nvim_path(), "--headless", "-u", "NORC", "+exe 'Acp nonsense'", "+qall!"],
        env={**os.environ, "XDG_DATA_HOME": str(tmp_path / "data")},
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    assert '"nonsense" is none of: cancel, changes' in run.stderr


def test_help(editor: Editor, tmp_path: Path) -> None:
    doc = Path(__file__).parents[2] / "editor-clients" / "neovim" / "doc" / "acp.txt"
    copy = tmp_path / "help" / "doc"
    copy.mkdir(parents=True)
    (copy / "acp.txt").write_text(doc.read_text())
    editor.command(f"helptags {copy}")
    editor.command(f"set runtimepath^={copy.parent}")
    topics = (":Acp-permission", ":Acp-keep", "acp-options", "acp-events", "acp-keymaps")
    for topic in ("acp", *topics, "<Plug>(acp-next-hunk)"):
        editor.command(f"help {topic}")
        assert editor.eval("&filetype") == "help"
    names = editor.lua(
        """local found = {}
           for name in vim.fs.dir(...) do table.insert(found, (name:gsub('%.lua$', ''))) end
           return found""",
        str(doc.parents[1] / "lua" / "acp"),
    )
    for name in names:
        assert editor.lua("return (pcall(require, ...))", f"acp.{name}") or name == "init"


def test_nothing_is_loaded_before_it_is_used(editor: Editor) -> None:
    loaded = editor.lua(
        """return vim.tbl_filter(function(name) return name:match('^acp') end,
           vim.tbl_keys(package.loaded))"""
    )
    assert loaded == []
    assert editor.eval("exists(':Acp')") == 2
