"""Which paths are shown, and under which name."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from acp_sidecar.workspace.uris import path_to_uri
from tests.e2e.editor import Editor
from tests.e2e.follow.shown import SHOW, at, not_shown
from tests.e2e.puppet import Puppet


async def test_P01_a_link_that_leads_outside_is_not_shown(
    editor: Editor, puppet: Puppet, turn: Any, ws: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("s\n")
    (ws / "out").symlink_to(outside)
    (ws / "link").symlink_to(outside / "secret")
    for path in (ws / "out" / "secret", ws / "link", outside / "secret"):
        puppet.tool(str(path), locations=at(path, 1))
        assert await not_shown(editor, path) == "outside"
    assert editor.all(SHOW) == []


async def test_P02_components_are_resolved_in_order(
    editor: Editor, puppet: Puppet, turn: Any, ws: Path
) -> None:
    (ws / "a" / "b").mkdir(parents=True)
    (ws / "a" / "t.txt").write_text("right\n")
    (ws / "t.txt").write_text("wrong\n")
    (ws / "alias").symlink_to(ws / "a" / "b")
    puppet.tool("t1", locations=at(f"{ws}/alias/../t.txt", 1))
    assert (await editor.nth(SHOW))["uri"] == path_to_uri(str(ws / "a" / "t.txt"))


async def test_P03_a_sibling_folder_is_outside(
    editor: Editor, puppet: Puppet, turn: Any, ws: Path
) -> None:
    evil = ws.with_name("ws-evil")
    evil.mkdir()
    (evil / "secret.txt").write_text("s\n")
    puppet.tool("t1", locations=at(evil / "secret.txt", 1))
    assert await not_shown(editor, evil / "secret.txt") == "outside"


async def test_P05_without_a_folder_nothing_is_guessed(
    idle_editor: Editor, puppet: Puppet, tmp_path: Path, settings: dict[str, Any]
) -> None:
    await idle_editor.initialize(settings=settings)
    (tmp_path / "x.md").write_text("x\n")
    idle_editor.open(tmp_path / "x.md")
    with pytest.raises(Exception, match="cwd"):
        await idle_editor.execute("acp.session.new")
    assert puppet.connections == 0


async def test_P05_reveals_stay_in_the_session_s_folder_where_no_other_is_open(
    idle_editor: Editor, puppet: Puppet, ws: Path, file: Path, settings: dict[str, Any]
) -> None:
    await idle_editor.initialize(settings=settings)
    await idle_editor.execute("acp.session.new", cwd=str(ws))
    idle_editor.start("acp.session.prompt", text="go")
    await puppet.prompted()
    puppet.tool("t1", locations=at(file, 1))
    await idle_editor.nth(SHOW)


async def test_reveals_are_further_limited_to_the_editor_s_folders(
    idle_editor: Editor, puppet: Puppet, ws: Path, file: Path, settings: dict[str, Any]
) -> None:
    (ws / "open").mkdir()
    (ws / "open" / "b.py").write_text("b\n")
    await idle_editor.initialize(ws / "open", settings=settings)
    await idle_editor.execute("acp.session.new", cwd=str(ws))
    idle_editor.start("acp.session.prompt", text="go")
    await puppet.prompted()
    puppet.tool("t1", locations=at(file, 1))
    assert await not_shown(idle_editor, file) == "outside"
    puppet.tool("t2", locations=at(ws / "open" / "b.py", 1))
    await idle_editor.nth(SHOW)
    assert idle_editor.revealed() == [("b.py", 0)]


async def test_P07_relative_paths_belong_to_the_session_s_folder(
    editor: Editor, puppet: Puppet, turn: Any, ws: Path
) -> None:
    (ws / "src").mkdir()
    (ws / "src" / "m.py").write_text("a\nb\nc\n")
    puppet.tool("t1", locations=at("src/m.py", 3))
    assert (await editor.nth(SHOW))["uri"] == path_to_uri(str(ws / "src" / "m.py"))


async def test_P09_a_tilde_is_a_name(editor: Editor, puppet: Puppet, turn: Any) -> None:
    puppet.tool("t1", locations=at("~/x.txt", 1))
    assert await not_shown(editor, "~/x.txt") == "missing"


async def test_P10_a_range_behind_the_path_names_the_line(
    editor: Editor, puppet: Puppet, turn: Any, file: Path
) -> None:
    puppet.tool("t1", locations=at(f"{file}:3-5"))
    await editor.nth(SHOW)
    assert editor.revealed() == [("a.py", 2)]
    puppet.tool("t2", locations=at(f"{file}.md:1-20"))
    assert await not_shown(editor, f"{file}.md:1-20") == "missing"
    assert len(editor.all(SHOW)) == 1


async def test_P11_folders_and_devices_are_not_shown(
    editor: Editor, puppet: Puppet, turn: Any, ws: Path
) -> None:
    os.mkfifo(ws / "pipe")
    (ws / "zero").symlink_to("/dev/zero")
    for path, reason in [
        (str(ws), "directory"),
        (f"{ws}/pipe", "special"),
        (f"{ws}/zero", "outside"),
        ("/", "outside"),
        ("//x", "outside"),
        ("", "invalid"),
        ("/ws\0x", "invalid"),
        ("file:///etc/passwd", "missing"),
    ]:
        puppet.tool("t" + path, locations=at(path, 1))
        assert await not_shown(editor, path) == reason
    assert editor.all(SHOW) == []


async def test_a_binary_file_is_not_shown(
    editor: Editor, puppet: Puppet, turn: Any, ws: Path
) -> None:
    (ws / "b.png").write_bytes(b"\x89PNG\0\xff")
    puppet.tool("t1", locations=at(ws / "b.png"))
    assert await not_shown(editor, ws / "b.png") == "not a text file"


async def test_P13_the_editor_hears_of_a_file_under_its_own_name(
    idle_editor: Editor, puppet: Puppet, ws: Path, file: Path, settings: dict[str, Any]
) -> None:
    link = ws.with_name("link")
    link.symlink_to(ws)
    await idle_editor.initialize(link, settings=settings)
    await idle_editor.execute("acp.session.new")
    idle_editor.start("acp.session.prompt", text="go")
    await puppet.prompted()
    puppet.tool("t1", locations=at(file, 1))
    assert (await idle_editor.nth(SHOW))["uri"] == path_to_uri(str(link / "a.py"))
    (ws / "b.py").write_text("b\n")
    uri = idle_editor.open(ws / "b.py")
    puppet.tool("t2", locations=at(link / "b.py", 1))
    assert (await idle_editor.nth(SHOW, 2))["uri"] == uri


async def test_P17_odd_characters_survive_in_the_uri(
    editor: Editor, puppet: Puppet, turn: Any, ws: Path
) -> None:
    odd = ws / "a b#c%20d+é😀;?.txt"
    odd.write_text("x\n")
    puppet.tool("t1", locations=at(odd, 1))
    uri = (await editor.nth(SHOW))["uri"]
    assert uri.endswith("/a%20b%23c%2520d%2B%C3%A9%F0%9F%98%80%3B%3F.txt")


async def test_P18_a_double_slash_is_a_slash(
    editor: Editor, puppet: Puppet, turn: Any, file: Path
) -> None:
    puppet.tool("t1", locations=at("//x"))
    puppet.tool("t2", locations=at(f"/{file}", 2))
    await editor.nth(SHOW)
    assert editor.revealed() == [("a.py", 1)]
