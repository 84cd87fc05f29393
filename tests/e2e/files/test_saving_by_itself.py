"""An editor that saves what is typed by itself, as VS Code does: the word of it comes late."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.editor import Editor, capabilities
from tests.e2e.files.answers import EDIT, done, text
from tests.e2e.manners import LikeVsCode
from tests.e2e.puppet import Puppet

BEFORE = "one\ntwo\nthree"
AFTER = "ONE\ntwo\nthree"


@pytest.fixture
async def path(idle_editor: Editor, puppet: Puppet, ws: Path, settings: Any) -> Path:
    """A file, open in an editor that loads and saves by itself; an agent at work has read it."""
    path = ws / "a.txt"
    path.write_text(BEFORE)
    idle_editor.answers[EDIT] = LikeVsCode(idle_editor)
    await idle_editor.initialize(ws, settings=settings, can=capabilities(reloads=True))
    await idle_editor.execute("acp.session.new")
    idle_editor.open(path)
    idle_editor.start("acp.session.prompt", text="go")
    await puppet.prompted()
    assert text(await puppet.read(path)) == BEFORE
    return path


def tell_of_saving(editor: Editor, uri: str) -> None:
    """VS Code gives the text that there is by then."""
    said = {"textDocument": {"uri": uri}, "text": editor.documents[uri].text}
    editor.notify("textDocument/didSave", said)


async def only_the_first_line_is_the_agent_s(editor: Editor, uri: str, mine: str) -> None:
    (change,) = await editor.execute("acp.review.list")
    (hunk,) = change["hunks"]
    assert (hunk["after"], hunk["state"]) == ({"start": 0, "lines": 1}, "waiting")
    assert (await editor.execute("acp.review.revert"))["conflicts"] == []
    assert editor.documents[uri].text == mine


async def test_what_was_typed_between_a_saving_and_the_word_of_it_is_not_saved(
    idle_editor: Editor, puppet: Puppet, path: Path
) -> None:
    editor = idle_editor
    (uri,) = editor.documents
    editor.type(uri, 2, 5, " a")
    path.write_text(editor.documents[uri].text)
    editor.type(uri, 2, 7, " b")
    tell_of_saving(editor, uri)
    assert text(await puppet.read(path)) == BEFORE + " a b"
    assert done(await puppet.write(path, AFTER + " a b"))
    assert editor.documents[uri].text == AFTER + " a b"
    assert path.read_text() == BEFORE + " a", "saving is the editor's"
    await only_the_first_line_is_the_agent_s(editor, uri, BEFORE + " a b")


async def test_what_is_saved_and_written_over_before_we_hear_of_it_is_the_user_s(
    idle_editor: Editor, puppet: Puppet, path: Path
) -> None:
    editor = idle_editor
    (uri,) = editor.documents
    path.write_text(BEFORE + " a")
    assert text(await puppet.read(path)) == BEFORE + " a"
    params = {"sessionId": puppet.session, "path": str(path), "content": AFTER + " a"}
    request = puppet.request("fs/write_text_file", params)
    await editor.eventually(lambda: _says(path, AFTER + " a"))
    editor.type(uri, 2, 5, " a")
    editor.type(uri, 2, 7, " b")
    tell_of_saving(editor, uri)
    assert done(await puppet.result(request))
    assert editor.documents[uri].text == AFTER + " a b"
    assert path.read_text() == BEFORE + " a", "put back, since it was typed in"
    await only_the_first_line_is_the_agent_s(editor, uri, BEFORE + " a b")


async def test_the_word_of_a_saving_does_not_end_the_wait_for_the_file_to_be_loaded(
    idle_editor: Editor, puppet: Puppet, path: Path
) -> None:
    """An edit instead would leave the document unsaved, older than its file."""
    editor = idle_editor
    (uri,) = editor.documents
    editor.type(uri, 2, 5, " a")
    path.write_text(BEFORE + " a")
    assert text(await puppet.read(path)) == BEFORE + " a"
    params = {"sessionId": puppet.session, "path": str(path), "content": AFTER + " a"}
    request = puppet.request("fs/write_text_file", params)
    await editor.eventually(lambda: _says(path, AFTER + " a"))
    tell_of_saving(editor, uri)
    await editor.state()
    editor.reload(uri, path)
    assert done(await puppet.result(request))
    assert editor.all(EDIT) == []
    await only_the_first_line_is_the_agent_s(editor, uri, BEFORE + " a")


async def test_a_write_comes_about_when_a_user_who_types_fast_pauses(
    idle_editor: Editor, puppet: Puppet, path: Path
) -> None:
    editor = idle_editor
    (uri,) = editor.documents
    takes = editor.answers[EDIT]

    def press() -> None:
        editor.type(uri, 2, len(editor.documents[uri].text.splitlines()[2]), "x")

    async def type_on() -> None:
        for _ in range(40):
            press()
            await asyncio.sleep(0.05)

    async def overtaken(params: dict[str, Any]) -> Any:
        if not typing.done():
            press()
        return await takes(params)

    editor.answers[EDIT] = overtaken
    typing = asyncio.create_task(type_on())
    request = puppet.request(
        "fs/write_text_file", {"sessionId": puppet.session, "path": str(path), "content": AFTER}
    )
    assert done(await puppet.result(request))
    assert typing.done()
    assert 2 <= len(editor.all(EDIT)) <= 5
    line = editor.documents[uri].text.splitlines()[2]
    assert line.count("x") >= 40
    assert editor.documents[uri].text == AFTER.replace("three", line)
    await only_the_first_line_is_the_agent_s(editor, uri, BEFORE.replace("three", line))


async def _says(path: Path, said: str) -> bool:
    return path.read_text() == said
