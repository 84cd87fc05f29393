"""What an edit of a buffer is made of: what the editor has announced, lines and their ends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.e2e.editor import Editor, capabilities, editing
from tests.e2e.files.answers import EDIT, done, refusal, text
from tests.e2e.manners import LikeNeovim, LikeVsCode, edits_of
from tests.e2e.puppet import Puppet


async def test_D16_an_edit_uses_only_what_the_editor_has_announced(
    idle_editor: Editor, puppet: Puppet, ws: Path, settings: dict[str, Any]
) -> None:
    can = capabilities()
    can["workspace"]["workspaceEdit"]["changeAnnotationSupport"] = {"groupsOnLabel": True}
    file = ws / "a.py"
    file.write_text("one\n")
    await idle_editor.initialize(ws, settings=settings, can=can)
    await idle_editor.execute("acp.session.new")
    uri = idle_editor.open(file)
    idle_editor.type(uri, 0, 3, "!")
    text(await puppet.read(file))
    assert done(await puppet.write(file, "uno!\n"))
    (params,) = idle_editor.all(EDIT)
    edit = params["edit"]
    assert params["label"]
    assert set(edit) == {"documentChanges", "changeAnnotations"}
    used = {one["annotationId"] for one in edit["documentChanges"][0]["edits"]}
    assert used == set(edit["changeAnnotations"])
    # It is no question: that the user was asked before.
    assert not any(one.get("needsConfirmation") for one in edit["changeAnnotations"].values())


async def test_D15_D16_an_editor_that_can_do_less(
    puppet: Puppet, ws: Path, settings: dict[str, Any]
) -> None:
    file, clean = ws / "a.py", ws / "clean.py"
    file.write_text("one\n")
    clean.write_text("one\n")
    can = capabilities()
    del can["workspace"]["workspaceEdit"]
    async with editing() as editor:
        await editor.initialize(ws, settings=settings, can=can)
        await editor.execute("acp.session.new")
        uri = editor.open(file)
        editor.type(uri, 0, 3, "!")

        def changes(params: Any) -> Any:
            ((changed, edits),) = params["edit"]["changes"].items()
            editor.change(changed, edits_of({"edits": edits}))
            return {"applied": True}

        editor.answers[EDIT] = changes
        text(await puppet.read(file))
        assert done(await puppet.write(file, "uno!\n"))
        assert editor.documents[uri].text == "uno!\n"
        assert done(await puppet.write(ws / "new.py", "new\n"))
        # Nothing but texts is ever edited through the editor: no file is made or removed.
        assert all(set(params["edit"]) == {"changes"} for params in editor.all(EDIT))
    del can["workspace"]["applyEdit"]
    async with editing() as editor:
        await editor.initialize(ws, settings=settings, can=can)
        await editor.execute("acp.session.new")
        uri = editor.open(file)
        editor.open(clean)
        editor.type(uri, 0, 3, "!")
        assert "takes no edits" in refusal(await puppet.write(file, "one\nmore\n"))[1]
        assert done(await puppet.write(clean, "two\n"))
        assert clean.read_text() == "two\n"
        assert file.read_text() == "one\n"
        assert editor.all(EDIT) == []


async def test_D18_lines_end_as_lsp_says(
    vscode: LikeVsCode, editor: Editor, puppet: Puppet, ws: Path
) -> None:
    file = ws / "a.txt"
    for character in "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029":
        before = f"a{character}b\nc\n"
        file.write_text(before, newline="")
        uri = editor.open(file)
        identity = {"uri": uri, "version": 2}
        place = {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 1}}
        change = {"range": place, "text": "Z"}
        params = {"textDocument": identity, "contentChanges": [change]}
        editor.notify("textDocument/didChange", params)
        editor.documents[uri].text, editor.documents[uri].version = f"a{character}b\nZ\n", 2
        assert text(await puppet.read(file)) == f"a{character}b\nZ\n"
        assert done(await puppet.write(file, f"a{character}B\nZ\n"))
        assert editor.documents[uri].text == f"a{character}B\nZ\n"
        start = editor.all(EDIT)[-1]["edit"]["documentChanges"][0]["edits"][0]["range"]["start"]
        assert start == {"line": 0, "character": 2}
        editor.close_document(uri)
    # Columns count UTF-16 units here.
    file.write_text("😀é x\n")
    uri = editor.open(file)
    editor.type(uri, 0, 4, "y")
    assert text(await puppet.read(file)) == "😀é yx\n"
    assert done(await puppet.write(file, "😀é yz\n"))
    place = editor.all(EDIT)[-1]["edit"]["documentChanges"][0]["edits"][0]["range"]["start"]
    assert place == {"line": 0, "character": 5}
    assert editor.documents[uri].text == "😀é yz\n"


async def test_D19_a_lone_carriage_return_in_unsaved_text(
    vscode: LikeVsCode, editor: Editor, puppet: Puppet, ws: Path
) -> None:
    file = ws / "a.txt"
    file.write_bytes(b"a\rb\nc\nd\n")
    uri = editor.open(file)
    # On disk there is no doubt.
    assert done(await puppet.write(file, "a\rb\nC\nd\n"))
    assert file.read_bytes() == b"a\rb\nC\nd\n"
    editor.set_text(uri, "a\rb\nC\ntyped\nd\n")
    assert text(await puppet.read(file)) == "a\rb\nC\ntyped\nd\n"
    edits = len(editor.all(EDIT))
    answer = await puppet.write(file, "a\rb\nC\ntyped\nD\n")
    if "error" in answer:
        # An editor that may count lines otherwise is sent no positions.
        assert "carriage return" in answer["error"]["message"]
        assert editor.documents[uri].text == "a\rb\nC\ntyped\nd\n"
        assert len(editor.all(EDIT)) == edits
    else:
        assert editor.documents[uri].text == "a\rb\nC\ntyped\nD\n"
    assert file.read_bytes() == b"a\rb\nC\nd\n"


async def test_D20_a_small_change_of_a_big_buffer_is_a_small_edit(
    vscode: LikeVsCode, editor: Editor, puppet: Puppet, ws: Path
) -> None:
    file = ws / "big.py"
    lines = [f"line {number}\n" for number in range(20_000)]
    file.write_text("".join(lines))
    uri = editor.open(file)
    editor.type(uri, 0, 0, "# typed\n")
    lines.insert(0, "# typed\n")

    async def known() -> bool:
        return text(await puppet.read(file)).startswith("# typed")

    # The agent's words and the editor's come by different ways.
    await editor.eventually(known)
    for change in ({10_000: "changed\n"}, {5: "", 19_000: "two\nlines\n", 20_000: "end\n"}):
        for number, line in change.items():
            lines[number] = line
        assert done(await puppet.write(file, "".join(lines)))
        assert editor.documents[uri].text == "".join(lines)
        edits = editor.all(EDIT)[-1]["edit"]["documentChanges"][0]["edits"]
        assert sum(len(edit["newText"]) for edit in edits) < 100
        assert len(edits) <= 3


async def test_G11_edits_end_lines_as_the_document_does(
    vscode: LikeVsCode, editor: Editor, puppet: Puppet, ws: Path
) -> None:
    """By the plan edits carry the document's own line ends (the case asks for LF alone)."""
    for number, end in enumerate(["\n", "\r\n"]):
        file = ws / f"{number}.txt"
        file.write_bytes(f"one{end}two{end}three{end}".encode())
        uri = editor.open(file)
        editor.type(uri, 0, 3, "!")
        text(await puppet.read(file))
        for sent in ("\n", "\r\n"):
            content = sent.join(["one!", "two", "between", sent, "3", ""])
            assert done(await puppet.write(file, content))
            assert editor.documents[uri].text == content.replace(sent, end)
            for edit in editor.all(EDIT)[-1]["edit"]["documentChanges"][0]["edits"]:
                rest = edit["newText"].replace(end, "")
                assert "\n" not in rest
                assert "\r" not in rest
        assert file.read_bytes() == f"one{end}two{end}three{end}".encode()
        # An editor in which the user has a CRLF file open, clean.
        clean = ws / f"clean{number}.txt"
        clean.write_bytes(f"one{end}two{end}".encode())
        uri = editor.open(clean)
        assert done(await puppet.write(clean, "one\nTWO\n"))
        assert clean.read_bytes() == f"one{end}TWO{end}".encode()
        assert editor.documents[uri].text == f"one{end}TWO{end}"


async def test_D19_neovim_takes_a_lone_carriage_return_for_a_character(
    neovim: LikeNeovim, idle_editor: Editor, puppet: Puppet, ws: Path
) -> None:
    editor, file = idle_editor, ws / "a.txt"
    file.write_bytes(b"a\rb\nc\nd\n")
    uri = editor.open(file)
    identity = {"uri": uri, "version": 2}
    place = {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 1}}
    change = {"range": place, "text": "X"}
    editor.notify("textDocument/didChange", {"textDocument": identity, "contentChanges": [change]})
    editor.documents[uri].text, editor.documents[uri].version = "a\rb\nX\nd\n", 2
    assert text(await puppet.read(file)) == "a\rb\nX\nd\n"
    assert done(await puppet.write(file, "a\rb\nX\nD\n"))
    assert editor.documents[uri].text == "a\rb\nX\nD\n"
    edit = neovim.seen[-1]["edit"]["documentChanges"][0]["edits"][0]
    assert edit["range"]["start"] == {"line": 2, "character": 0}
