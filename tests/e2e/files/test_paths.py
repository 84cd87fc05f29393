"""Paths of agents and URIs of editors: links, roots, spellings, and what is no file."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest

from acp_sidecar.workspace.positions import Position, Range, TextEdit
from acp_sidecar.workspace.uris import path_to_uri
from tests.e2e.editor import Editor, LspError
from tests.e2e.files.answers import EDIT, INVALID, done, refusal, text
from tests.e2e.manners import LikeVsCode
from tests.e2e.puppet import Puppet


async def test_P01_links_lead_nowhere_outside(
    vscode: LikeVsCode, editor: Editor, puppet: Puppet, ws: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    (outside / "sub").mkdir(parents=True)
    secret = outside / "secret"
    secret.write_text("secret\n")
    (ws / "out").symlink_to(outside)
    (ws / "out-file").symlink_to(secret)
    (ws / "dangling").symlink_to(tmp_path / "not-yet")
    (ws / "dangling-folder").symlink_to(tmp_path / "no-folder-yet")
    (ws / "hop").symlink_to("out/sub")
    (ws / "up").symlink_to("../outside")
    (ws / "loop").symlink_to("loop")
    (ws / "in").mkdir()
    (ws / "in" / "a").write_text("inside\n")
    (ws / "back").symlink_to(outside / "home")
    (outside / "home").symlink_to(ws / "in")
    before = sorted([*ws.rglob("*"), *outside.rglob("*")])
    for path in (
        "out/secret",
        "out/new",
        "out/new-folder/new",
        "out-file",
        "dangling",
        "dangling-folder/new",
        "hop/new",
        "hop/../secret",
        "up/secret",
        "../outside/secret",
        "in/../../outside/secret",
        "in/../out/secret",
    ):
        code, message = refusal(await puppet.write(f"{ws}/{path}", "overwritten\n"))
        assert code == INVALID, path
        assert "outside" in message
        code, message = refusal(await puppet.read(f"{ws}/{path}"))
        assert code == INVALID, path
        assert "secret\n" not in message
        diff = {"type": "diff", "path": f"{ws}/{path}", "oldText": None, "newText": "x\n"}
        puppet.tool(path, content=[diff], locations=[{"path": f"{ws}/{path}"}])
    assert secret.read_text() == "secret\n"
    assert await editor.execute("acp.review.list") == []
    assert editor.all("window/showDocument") == []
    # Out and in again is in.
    assert text(await puppet.read(f"{ws}/back/a")) == "inside\n"
    assert done(await puppet.write(f"{ws}/back/a", "changed\n"))
    assert (ws / "in" / "a").read_text() == "changed\n"
    assert sorted([*ws.rglob("*"), *outside.rglob("*")]) == before


async def test_P02_components_are_followed_in_order(
    vscode: LikeVsCode, puppet: Puppet, ws: Path
) -> None:
    (ws / "a" / "b").mkdir(parents=True)
    (ws / "alias").symlink_to("a/b")
    (ws / "t.txt").write_text("at the top\n")
    (ws / "a" / "t.txt").write_text("where the kernel goes\n")
    assert text(await puppet.read(f"{ws}/alias/../t.txt")) == "where the kernel goes\n"
    assert done(await puppet.write(f"{ws}/alias/../t.txt", "written\n"))
    assert (ws / "a" / "t.txt").read_text() == "written\n"
    assert (ws / "t.txt").read_text() == "at the top\n"
    assert text(await puppet.read(f"{ws}//a/./b/.././t.txt")) == "written\n"
    assert text(await puppet.read(f"//{str(ws).lstrip('/')}/t.txt")) == "at the top\n"
    for path in ("", "\0", f"{ws}/a\0b", f"{ws}/nothing/../t.txt"):
        assert "error" in await puppet.read(path)
        assert "error" in await puppet.write(path, "x")
    assert (ws / "t.txt").read_text() == "at the top\n"


async def test_P03_a_sibling_is_outside_and_the_top_is_a_root(
    idle_editor: Editor, puppet: Puppet, ws: Path, tmp_path: Path, settings: dict[str, Any]
) -> None:
    evil = ws.with_name("ws-evil")
    evil.mkdir()
    (evil / "secret.txt").write_text("secret\n")
    await idle_editor.initialize(ws, settings=settings)
    await idle_editor.execute("acp.session.new")
    for path in (evil / "secret.txt", f"{ws}-evil/secret.txt", f"{ws}/../ws-evil/secret.txt"):
        assert refusal(await puppet.read(path))[0] == INVALID
        assert refusal(await puppet.write(path, "x"))[0] == INVALID
    assert refusal(await puppet.write(f"{ws}.new", "x"))[0] == INVALID
    assert (evil / "secret.txt").read_text() == "secret\n"
    await idle_editor.execute("acp.session.new", cwd="/")
    assert text(await puppet.read(evil / "secret.txt")) == "secret\n"
    assert done(await puppet.write(evil / "new.txt", "made\n"))
    assert (evil / "new.txt").read_text() == "made\n"
    # The other session's roots are its own.
    answer = await puppet.call("fs/read_text_file", path=f"{evil}/secret.txt", sessionId="S1")
    assert refusal(answer)[0] == INVALID


async def test_additional_directories_are_roots(
    idle_editor: Editor, puppet: Puppet, ws: Path, tmp_path: Path, settings: dict[str, Any]
) -> None:
    more, other = tmp_path / "more", tmp_path / "more-or-less"
    for folder in (more, other):
        folder.mkdir()
        (folder / "a.txt").write_text("here\n")
    puppet.capabilities = {"sessionCapabilities": {"additionalDirectories": {}}}
    await idle_editor.initialize(ws, settings=settings)
    await idle_editor.execute("acp.session.new", additionalDirectories=[str(more)])
    new = next(message for message in puppet.seen if message.get("method") == "session/new")
    assert new["params"]["additionalDirectories"] == [str(more)]
    assert (await idle_editor.state())["roots"] == [str(ws), str(more)]
    assert text(await puppet.read(more / "a.txt")) == "here\n"
    assert done(await puppet.write(more / "b" / "new.txt", "made\n"))
    assert (more / "b" / "new.txt").read_text() == "made\n"
    assert refusal(await puppet.read(other / "a.txt"))[0] == INVALID
    (listed,) = await idle_editor.execute("acp.review.list")
    assert listed["uri"] == path_to_uri(str(more / "b" / "new.txt"))
    with pytest.raises(LspError, match="absolute"):
        await idle_editor.execute("acp.session.new", additionalDirectories=["more"])


async def test_P05_without_a_folder_there_is_no_root(
    idle_editor: Editor, puppet: Puppet, tmp_path: Path, ws: Path, settings: dict[str, Any]
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "x.md").write_text("note\n")
    await idle_editor.initialize(settings=settings)
    idle_editor.open(notes / "x.md")
    with pytest.raises(LspError, match="cwd"):
        await idle_editor.execute("acp.session.new")
    with pytest.raises(LspError, match="No session"):
        await idle_editor.execute("acp.session.prompt", text="hello")
    assert puppet.connections == 0
    for cwd in ("notes", "", ".", f"{tmp_path}/nothing", str(notes / "x.md")):
        with pytest.raises(LspError):
            await idle_editor.execute("acp.session.new", cwd=cwd)
    assert puppet.connections == 0
    # The folder the user names is the root, and no other.
    await idle_editor.execute("acp.session.new", cwd=str(ws))
    assert refusal(await puppet.read(notes / "x.md"))[0] == INVALID
    assert refusal(await puppet.write(notes / "x.md", "x"))[0] == INVALID
    assert refusal(await puppet.read(Path.cwd() / "pyproject.toml"))[0] == INVALID
    assert done(await puppet.write(ws / "a", "x"))
    assert (notes / "x.md").read_text() == "note\n"


async def test_P07_P09_paths_are_absolute(
    vscode: LikeVsCode, puppet: Puppet, ws: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (ws / "src").mkdir()
    (ws / "src" / "m.py").write_text("m\n")
    for path in (
        "src/m.py",
        "./src/m.py",
        "~/x.txt",
        "~root/x.txt",
        "~",
        ".",
        path_to_uri(str(ws / "src" / "m.py")),
        "untitled:Untitled-1",
        "C:\\ws\\m.py",
        "$HOME/x",
    ):
        for answer in (await puppet.read(path), await puppet.write(path, "x\n")):
            code, message = refusal(answer)
            assert code == INVALID, path
            assert "absolute" in message
    assert (ws / "src" / "m.py").read_text() == "m\n"
    assert sorted(os.listdir(ws)) == ["src"]
    # A folder may be called ~, all the same.
    assert done(await puppet.write(f"{ws}/~/x.txt", "x\n"))
    assert (ws / "~" / "x.txt").read_text() == "x\n"


async def test_P13_a_workspace_opened_through_a_link(
    idle_editor: Editor, puppet: Puppet, ws: Path, tmp_path: Path, settings: dict[str, Any]
) -> None:
    link = tmp_path / "link"
    link.symlink_to(ws)
    file = ws / "a.py"
    file.write_text("one\ntwo\nthree\n")
    await idle_editor.initialize(link, settings=settings)
    idle_editor.answers[EDIT] = LikeVsCode(idle_editor)
    await idle_editor.execute("acp.session.new")
    uri = idle_editor.open(link / "a.py")
    idle_editor.type(uri, 0, 3, "!")
    for path in (file, link / "a.py"):
        assert text(await puppet.read(path)) == "one!\ntwo\nthree\n"
    assert done(await puppet.write(file, "one!\nTWO\nthree\n"))
    assert done(await puppet.write(link / "a.py", "one!\nTWO\nTHREE\n"))
    assert idle_editor.documents[uri].text == "one!\nTWO\nTHREE\n"
    assert file.read_text() == "one\ntwo\nthree\n"
    edited = {
        params["edit"]["documentChanges"][0]["textDocument"]["uri"]
        for params in idle_editor.all(EDIT)
    }
    assert edited == {uri}
    (change,) = await idle_editor.execute("acp.review.list")
    assert change["uri"] == uri
    # Following begins anew with a prompt.
    idle_editor.start("acp.session.prompt", text="go")
    await puppet.prompted()
    puppet.tool("t1", locations=[{"path": str(file), "line": 2}])
    assert (await idle_editor.nth("window/showDocument"))["uri"] == uri
    # A file that is not open is called by the name the user gave the folder.
    (ws / "b.py").write_text("x\n")
    puppet.tool("t2", locations=[{"path": str(ws / "b.py"), "line": 1}])
    await idle_editor.until(
        lambda: (
            path_to_uri(str(link / "b.py"))
            in [shown["uri"] for shown in idle_editor.all("window/showDocument")]
        )
    )


async def test_P14_a_document_has_many_spellings(
    idle_editor: Editor, puppet: Puppet, ws: Path, settings: dict[str, Any]
) -> None:
    """Drive letters as far as a POSIX machine can tell: the table of documents knows them."""
    puppet.capabilities = {"promptCapabilities": {"embeddedContext": True}}
    editor, file = idle_editor, ws / "a b.py"
    file.write_text("one\ntwo\n")
    await editor.initialize(ws, settings=settings)
    editor.answers[EDIT] = LikeVsCode(editor)
    await editor.execute("acp.session.new")
    folder = path_to_uri(str(ws))
    spellings = [
        f"{folder}/a%20b.py",
        f"{folder}/%61%20b.py",
        f"{folder}/a b.py",
        f"file://localhost{folder.removeprefix('file://')}/a%20b.py",
        f"file:{folder.removeprefix('file://')}/a%20b.py",
        f"FILE://{folder.removeprefix('file://')}/a%20%62.py",
    ]
    for opened, changed in zip(spellings, spellings[1:] + spellings[:1], strict=True):
        editor.open(file, uri=opened)
        place = {"start": {"line": 0, "character": 3}, "end": {"line": 0, "character": 3}}
        identity = {"uri": changed, "version": 2}
        change = {"range": place, "text": "!"}
        params = {"textDocument": identity, "contentChanges": [change]}
        editor.notify("textDocument/didChange", params)
        editor.documents[opened].text, editor.documents[opened].version = "one!\ntwo\n", 2
        assert text(await puppet.read(file)) == "one!\ntwo\n", changed
        assert done(await puppet.write(file, "one!\nTWO\n"))
        edit = editor.all(EDIT)[-1]["edit"]["documentChanges"][0]
        assert edit["textDocument"] == {"uri": opened, "version": 2}
        assert editor.documents[opened].text == "one!\nTWO\n"
        del editor.documents[opened]
        editor.notify("textDocument/didClose", {"textDocument": {"uri": changed}})
        assert text(await puppet.read(file)) == "one\ntwo\n"
        assert file.read_text() == "one\ntwo\n"
    drives = ["file:///c%3A/ws/a.py", "file:///C:/ws/a.py", "file:///c:/ws/a.py"]
    editor.open("", "on a drive\n", uri=drives[0])
    params = {
        "textDocument": {"uri": drives[1], "version": 2},
        "contentChanges": [{"text": "changed\n"}],
    }
    editor.notify("textDocument/didChange", params)
    for uri in drives:
        _, turn = editor.start("acp.session.prompt", text="see", context=[{"uri": uri}])
        prompt = await puppet.prompted()
        assert prompt["params"]["prompt"][-1]["resource"]["text"] == "changed\n"
        puppet.say("ok")
        puppet.end_turn(prompt)
        await turn


async def test_P17_odd_names(vscode: LikeVsCode, editor: Editor, puppet: Puppet, ws: Path) -> None:
    names = ["a b#c%20d+é😀.txt", "what?.md", "100%.txt", "a;b&c=d.txt", "[x]{y}.ts", "new\nline"]
    names += ["%2e%2e", "a:12", "back\\slash", "file:", "~", "-n", "'quote\"", "e\u0301.txt"]
    for name in names:
        file = ws / name
        file.write_text("one\n")
        assert text(await puppet.read(file)) == "one\n", name
        assert done(await puppet.write(file, "two\n"))
        assert file.read_text() == "two\n"
        uri = editor.open(file)
        editor.type(uri, 0, 3, "!")
        assert text(await puppet.read(file)) == "two!\n", name
        assert done(await puppet.write(file, "three!\n"))
        assert editor.documents[uri].text == "three!\n"
    assert sorted(os.listdir(ws)) == sorted(names)
    listed = await editor.execute("acp.review.list")
    assert [change["uri"] for change in listed] == [path_to_uri(str(ws / name)) for name in names]
    for uri in ("file:///%ff%fe", "file:///%zz", "file:///a%00b", "file:", "x", "http://%"):
        editor.open("", "text\n", uri=uri)
        editor.type(uri, 0, 0, "more ")
    assert text(await puppet.read(ws / names[0])) == "three!\n"
    assert editor.all("window/showMessage") == []


async def test_P19_documents_that_are_no_files(
    vscode: LikeVsCode, editor: Editor, puppet: Puppet, ws: Path
) -> None:
    file = ws / "a.py"
    file.write_text("on disk\n")
    for uri in (
        "untitled:Untitled-1",
        f"untitled:{file}",
        f"git:{file}?%7B%22ref%22%3A%22HEAD%22%7D",
        f"vscode-remote://ssh{file}",
        f"vscode-notebook-cell:{file}#W0",
        f"file://otherhost{file}",
    ):
        editor.open("", "something else\n", uri=uri)
        editor.type(uri, 0, 0, "typed ")
    assert text(await puppet.read(file)) == "on disk\n"
    assert done(await puppet.write(file, "written\n"))
    assert file.read_text() == "written\n"
    assert editor.all(EDIT) == []
    assert os.listdir(ws) == ["a.py"]
    _, turn = editor.start(
        "acp.session.prompt", text="see", context=[{"uri": "untitled:Untitled-1"}]
    )
    prompt = await puppet.prompted()
    block = prompt["params"]["prompt"][1]
    assert block["type"] == "text"
    assert "typed something else\n" in block["text"]
    assert re.search("Untitled-1", block["text"])
    puppet.say("ok")
    puppet.end_turn(prompt)
    await turn


async def test_a_document_open_twice(
    vscode: LikeVsCode, editor: Editor, puppet: Puppet, ws: Path, tmp_path: Path
) -> None:
    """Through two names of its folder: an unsaved one counts, two of them are refused."""
    (tmp_path / "link").symlink_to(ws)
    file = ws / "a.py"
    file.write_text("one\n")
    direct, linked = editor.open(file), editor.open(tmp_path / "link" / "a.py")
    editor.type(linked, 0, 3, "!")
    assert text(await puppet.read(file)) == "one!\n"
    assert done(await puppet.write(file, "ONE!\n"))
    assert editor.documents[linked].text == "ONE!\n"
    assert editor.documents[direct].text == "one\n"
    editor.change(direct, [TextEdit(Range(Position(0, 0), Position(0, 3)), "uno")])
    assert "twice" in refusal(await puppet.write(file, "x\n"))[1]
    assert "error" in await puppet.read(file)
    assert file.read_text() == "one\n"
