"""Where a text is read from and written to: the buffer of an open file, or the disk."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from tests.e2e.editor import BOUND, Editor, capabilities
from tests.e2e.files.answers import EDIT, NOT_FOUND, done, in_step, refusal, text
from tests.e2e.manners import LikeNeovim, LikeVsCode
from tests.e2e.puppet import Puppet


async def test_a_clean_open_file_is_written_to_disk_and_loaded_by_an_editor_that_watches_it(
    idle_editor: Editor, puppet: Puppet, ws: Path, settings: dict[str, Any]
) -> None:
    editor = idle_editor
    await editor.initialize(ws, settings=settings, can=capabilities(reloads=True))
    await editor.execute("acp.session.new")
    file = ws / "a.py"
    file.write_text("one\ntwo\n")
    uri = editor.open(file)
    writing = asyncio.create_task(puppet.write(file, "one\nTWO\n"))
    async with asyncio.timeout(BOUND):
        while file.read_text() != "one\nTWO\n":
            await asyncio.sleep(0.005)
    editor.reload(uri, file)
    assert done(await writing)
    assert editor.all(EDIT) == []


async def test_a_clean_open_file_is_written_to_disk_and_the_editor_brought_along(
    vscode: LikeVsCode, editor: Editor, puppet: Puppet, ws: Path
) -> None:
    file = ws / "a.py"
    file.write_text("one\ntwo\n")
    uri = editor.open(file)
    assert done(await puppet.write(file, "ONE\nTWO\n"))
    assert file.read_text() == "ONE\nTWO\n"
    assert editor.documents[uri].text == "ONE\nTWO\n"
    assert len(editor.all(EDIT)) == 1
    # It is as clean as before: what changes on disk is what counts.
    file.write_text("from outside\n")
    assert text(await puppet.read(file)) == "from outside\n"


async def test_a_clean_buffer_of_neovim_follows_the_disk(
    neovim: LikeNeovim, idle_editor: Editor, puppet: Puppet, ws: Path
) -> None:
    editor, file = idle_editor, ws / "a.txt"
    file.write_bytes(b"one\r\ntwo\r\n")
    uri = editor.open(file)
    assert done(await puppet.write(file, "one\nTWO\n"))
    assert file.read_bytes() == b"one\r\nTWO\r\n"
    assert editor.documents[uri].text == "one\r\nTWO\r\n"
    # What the editor keeps back is told, and heard.
    editor.flush()
    await editor.execute("acp.permission.pending")
    file.write_bytes(b"outside\r\n")
    assert text(await puppet.read(file)) == "outside\r\n"


async def test_G10_a_file_that_is_not_open_is_left_to_the_disk(
    vscode: LikeVsCode, editor: Editor, puppet: Puppet, ws: Path
) -> None:
    file, other = ws / "a.py", ws / "b.py"
    file.write_text("one\n")
    (ws / ".a.py.swp").write_bytes(b"b0VIM 8.2")
    other.write_text("other\n")
    editor.open(other)
    assert done(await puppet.write(file, "two\n"))
    assert file.read_text() == "two\n"
    uri = editor.open(file)
    editor.close_document(uri)
    assert done(await puppet.write(file, "three\n"))
    assert file.read_text() == "three\n"
    assert editor.all(EDIT) == []
    # A buffer for a file that does not exist yet.
    new = ws / "new.py"
    uri = editor.open(new, "")
    assert done(await puppet.write(new, "made\n"))
    assert new.read_text() == editor.documents[uri].text == "made\n"
    editor.seen = [message for message in editor.seen if message.get("method") != EDIT]
    # Unsaved text of a document that was closed is gone.
    uri = editor.open(file)
    editor.type(uri, 0, 0, "typed ")
    editor.close_document(uri)
    assert text(await puppet.read(file)) == "three\n"
    assert done(await puppet.write(file, "four\n"))
    assert file.read_text() == "four\n"
    assert editor.all(EDIT) == []


async def test_F04_what_the_agent_wrote_itself_is_not_written_twice(
    vscode: LikeVsCode, editor: Editor, puppet: Puppet, ws: Path
) -> None:
    file = ws / "a.go"
    file.write_text("one\ntwo\n")
    uri = editor.open(file)
    text(await puppet.read(file))
    file.write_text("one\ntwo\nthree\n")
    changed = file.stat()
    assert done(await puppet.write(file, "one\ntwo\nthree\n"))
    assert (file.stat().st_ino, file.stat().st_mtime_ns) == (changed.st_ino, changed.st_mtime_ns)
    assert editor.all(EDIT) == []
    editor.reload(uri, file)
    assert done(await puppet.write(file, "one\ntwo\nthree\n"))
    assert editor.all(EDIT) == []
    # The buffer says so already, unsaved.
    editor.type(uri, 0, 0, "ONE", delete=3)
    assert done(await puppet.write(file, "ONE\ntwo\nthree\n"))
    assert editor.all(EDIT) == []
    assert file.read_text() == "one\ntwo\nthree\n"
    # The user types elsewhere while the agent does both: its line comes once.
    text(await puppet.read(file))
    file.write_text("ONE\ntwo\nthree\nfour\n")
    editor.type(uri, 1, 3, " by the user")
    assert done(await puppet.write(file, "ONE\ntwo\nthree\nfour\n"))
    assert editor.documents[uri].text == "ONE\ntwo by the user\nthree\nfour\n"
    # CRLF on disk, LF in the request: the same text.
    dos = ws / "dos.txt"
    dos.write_bytes(b"a\r\nb\r\n")
    assert done(await puppet.write(dos, "a\nb\n"))
    assert dos.read_bytes() == b"a\r\nb\r\n"


async def test_F05_a_clean_file_says_what_is_on_disk(
    vscode: LikeVsCode, editor: Editor, puppet: Puppet, ws: Path
) -> None:
    file = ws / "a.txt"
    file.write_text("a\n")
    uri = editor.open(file)
    assert text(await puppet.read(file)) == "a\n"
    file.write_text("b\n")
    assert text(await puppet.read(file)) == "b\n"
    # Typed and taken back is clean again.
    editor.reload(uri, file)
    editor.type(uri, 0, 1, "x")
    assert text(await puppet.read(file)) == "bx\n"
    editor.type(uri, 0, 1, "", delete=1)
    file.write_text("c\n")
    assert text(await puppet.read(file)) == "c\n"
    # Saved is clean, also where the editor keeps the text to itself.
    editor.reload(uri, file)
    editor.type(uri, 0, 1, "d")
    editor.save(uri, file)
    file.write_text("e\n")
    assert text(await puppet.read(file)) == "e\n"
    editor.reload(uri, file)
    editor.type(uri, 0, 1, "f")
    file.write_text("ef\n")
    editor.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
    file.write_text("g\n")
    assert text(await puppet.read(file)) == "g\n"
    # Dirty is dirty, whatever happens on disk.
    editor.type(uri, 0, 2, "!")
    file.write_text("h\n")
    assert text(await puppet.read(file)) == "ef!\n"
    file.unlink()
    assert text(await puppet.read(file)) == "ef!\n"
    # Clean and deleted is missing.
    gone = ws / "gone.txt"
    gone.write_text("x\n")
    editor.open(gone)
    await editor.state()
    gone.unlink()
    assert refusal(await puppet.read(gone))[0] == NOT_FOUND


async def test_F05_the_editor_is_asked_to_tell_of_saves(
    idle_editor: Editor, ws: Path, settings: dict[str, Any]
) -> None:
    result = await idle_editor.initialize(ws, settings=settings)
    sync = result["capabilities"]["textDocumentSync"]
    assert sync["openClose"] is True
    assert sync["change"] == 2
    assert sync["save"] == {"includeText": True}


async def test_F14_the_final_newline_is_exact(
    vscode: LikeVsCode, editor: Editor, puppet: Puppet, ws: Path
) -> None:
    for number, (before, after) in enumerate(
        [
            ("a\nb", "a\nb\n"),
            ("a\nb\n", "a\nb"),
            ("a\nb", "a\nb\nc"),
            ("a\nb\n", "a\nb\nc\n"),
            ("a\nb\n", "a\nb\n\n"),
            ("a\n\n", "a\n"),
            ("a\n", ""),
            ("", "a\n"),
            ("", "a"),
            ("a", ""),
            ("é😀", "é😀\n"),
            ("a\r\nb", "a\r\nb\r\n"),
            ("a\r\nb\r\n", "a\r\nb"),
        ]
    ):
        clean, dirty = ws / f"clean{number}", ws / f"dirty{number}"
        # The user has typed and means what there is now.
        dirty.write_bytes(b"before")
        uri = editor.open(dirty)
        editor.set_text(uri, before)
        assert text(await puppet.read(dirty)) == before
        for target in (after, before, after):
            assert done(await puppet.write(dirty, target)), (before, after)
            assert editor.documents[uri].text == target
            assert await in_step(editor, puppet, dirty, uri) == target
        clean.write_bytes(before.encode())
        for target in (after, before, after):
            assert done(await puppet.write(clean, target))
            assert clean.read_bytes() == target.encode()


async def test_F14_neovim_keeps_the_final_newline_as_an_option(
    neovim: LikeNeovim, idle_editor: Editor, puppet: Puppet, ws: Path
) -> None:
    editor = idle_editor
    for before, content, after in [
        ("a\nb", "a\nB\n", "a\nB"),
        ("a\nb\n", "a\nB", "a\nB\n"),
        ("a\nb\n", "a\nb\nc\n", "a\nb\nc\n"),
        ("a\nb", "a\nb\nc", "a\nb\nc"),
    ]:
        file = ws / f"{len(before)}{len(after)}{len(content)}.txt"
        file.write_bytes(b"before\n")
        uri = editor.open(file)
        editor.set_text(uri, before)
        editor.flush()
        text(await puppet.read(file))
        assert done(await puppet.write(file, content)), (before, content)
        assert editor.documents[uri].text == after
        # Again and again: no blank line grows at the end.
        assert done(await puppet.write(file, content))
        assert editor.documents[uri].text == after
