"""Edits from the request to the change in the buffer: answers of every kind, typing meanwhile,
and what is said of it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from tests.e2e.editor import NO_ANSWER, Editor, Refusal
from tests.e2e.files.answers import EDIT, INVALID, NOT_FOUND, done, refusal, text
from tests.e2e.manners import Held, LikeNeovim, LikeVsCode, edits_of
from tests.e2e.puppet import Puppet


async def test_F02_success_is_only_said_of_what_the_editor_shows(
    session: dict[str, Any], editor: Editor, puppet: Puppet, ws: Path
) -> None:
    file = ws / "a.py"
    file.write_text("one\ntwo\n")
    uri = editor.open(file)
    editor.type(uri, 0, 3, "!")
    manner = LikeVsCode(editor)

    def fail(params: Any) -> Any:
        raise Refusal(-32603, "no luck")

    for lie in (
        lambda params: {"applied": False, "failureReason": "version"},
        lambda params: {"applied": False},
        lambda params: {"applied": True},
        fail,
    ):
        editor.answers[EDIT] = lie
        answer = await puppet.write(file, "one\nTWO\n")
        assert refusal(answer)[0] not in (INVALID, NOT_FOUND)
        assert "not made in the editor" in answer["error"]["message"]
        assert editor.documents[uri].text == "one!\ntwo\n"
    assert "no luck" in answer["error"]["message"]
    # One that says no and does it has done it.

    async def modest(params: Any) -> Any:
        await manner(params)
        return {"applied": False}

    editor.answers[EDIT] = modest
    assert done(await puppet.write(file, "one\nTWO\n"))
    assert editor.documents[uri].text == "one!\nTWO\n"
    assert file.read_text() == "one\ntwo\n"


async def test_edits_of_several_documents_go_one_at_a_time(
    session: dict[str, Any], editor: Editor, puppet: Puppet, ws: Path
) -> None:
    files = [ws / f"{number}.py" for number in range(6)]
    uris: dict[Path, str] = {}
    for file in files:
        file.write_text("one\ntwo\n")
        uris[file] = editor.open(file)
        editor.type(uris[file], 0, 3, "!")
    manner = LikeVsCode(editor)
    open_now: list[int] = [0]
    most: list[int] = []

    async def counted(params: Any) -> Any:
        open_now[0] += 1
        most.append(open_now[0])
        result = await manner(params)
        open_now[0] -= 1
        return result

    editor.answers[EDIT] = counted
    answers = await asyncio.gather(*(puppet.write(file, "one\nTWO\n") for file in files))
    assert all(done(answer) for answer in answers)
    assert most == [1] * 6
    assert {editor.documents[uri].text for uri in uris.values()} == {"one!\nTWO\n"}


async def test_F02_an_editor_that_never_answers(
    session: dict[str, Any], editor: Editor, puppet: Puppet, ws: Path
) -> None:
    file, other, clean = ws / "a.py", ws / "b.py", ws / "clean.py"
    for each in (file, other, clean):
        each.write_text("one\ntwo\n")
    uri, other_uri, clean_uri = editor.open(file), editor.open(other), editor.open(clean)
    editor.type(uri, 0, 3, "!")
    editor.type(other_uri, 0, 3, "!")
    editor.answers[EDIT] = lambda params: NO_ANSWER
    answers = await asyncio.gather(
        puppet.write(file, "one\nTWO\n"),
        # A file that is safe on disk does not wait for ever for an editor either.
        puppet.write(clean, "one\nTWO\n"),
    )
    assert "did not answer" in refusal(answers[0])[1]
    assert done(answers[1])
    assert clean.read_text() == "one\nTWO\n"
    assert editor.documents[uri].text == "one!\ntwo\n"
    assert editor.documents[clean_uri].text == "one\ntwo\n"
    # What was asked of it was withdrawn, and the next edit goes through.
    asked = [request["id"] for request in editor.requests(EDIT)]
    assert all({"id": number} in editor.all("$/cancelRequest") for number in asked)
    editor.answers[EDIT] = LikeVsCode(editor)
    assert done(await puppet.write(other, "one\nTWO\n"))
    assert editor.documents[other_uri].text == "one!\nTWO\n"


async def test_D14_whatever_the_answer_the_text_decides(
    session: dict[str, Any], editor: Editor, puppet: Puppet, ws: Path
) -> None:
    file = ws / "a.py"
    file.write_text("one\ntwo\n")
    uri = editor.open(file)
    editor.type(uri, 0, 3, "!")
    manner = LikeVsCode(editor)
    results: list[Any] = [True, None, {}, [], "yes", 1, {"applied": "yes"}, {"applied": None}, -1]
    for number, result in enumerate(results):

        def nothing(params: Any, result: Any = result) -> Any:
            if result == -1:
                raise Refusal(-32601, "Method not found")
            return result

        async def makes_it(params: Any, nothing: Any = nothing) -> Any:
            await manner(params)
            return nothing(params)

        if number in (0, 1, 8):
            editor.answers[EDIT] = nothing
            answer = await puppet.write(file, f"one\n{number}\n")
            assert "not made in the editor" in refusal(answer)[1], result
        editor.answers[EDIT] = makes_it
        assert done(await puppet.write(file, f"one\n{number}\n")), result
        assert editor.documents[uri].text == f"one!\n{number}\n"
    answers = [message for message in puppet.seen if "method" not in message]
    assert len(answers) == len(results) + 3
    assert editor.all("window/showMessage") == []


async def test_D12_typing_while_an_edit_is_on_its_way(
    vscode: LikeVsCode, editor: Editor, puppet: Puppet, ws: Path
) -> None:
    file = ws / "a.py"
    file.write_text("one\ntwo\nthree\n")
    uri = editor.open(file)
    editor.type(uri, 0, 0, "typed\n")
    text(await puppet.read(file))
    held = editor.answers[EDIT] = Held(vscode)
    writing = asyncio.create_task(puppet.write(file, "typed\none\ntwo\nTHREE\n"))
    await held.asked()
    # Refused for its version, then made anew on the text there is.
    editor.type(uri, 0, 0, "more\n")
    held.go.set()
    assert done(await writing)
    assert editor.documents[uri].text == "more\ntyped\none\ntwo\nTHREE\n"
    versions = [
        params["edit"]["documentChanges"][0]["textDocument"]["version"]
        for params in editor.all(EDIT)
    ]
    assert versions == [2, 3]
    # In the same line: the user's word stands, and the agent reads again.
    text(await puppet.read(file))
    held = editor.answers[EDIT] = Held(vscode)
    writing = asyncio.create_task(puppet.write(file, "more\ntyped\none\n2\nTHREE\n"))
    await held.asked()
    editor.type(uri, 3, 3, "!")
    held.go.set()
    assert "ead" in refusal(await writing)[1]
    assert editor.documents[uri].text == "more\ntyped\none\ntwo!\nTHREE\n"
    assert file.read_text() == "one\ntwo\nthree\n"


async def test_D12_an_edit_laid_over_a_newer_text_is_said_and_not_repaired(
    session: dict[str, Any], editor: Editor, puppet: Puppet, ws: Path
) -> None:
    file = ws / "a.py"
    file.write_text("one\ntwo\nthree\nfour\n")
    uri = editor.open(file)
    editor.type(uri, 0, 3, "!")
    text(await puppet.read(file))

    def careless(params: Any) -> Any:
        editor.type(uri, 0, 0, "typed\n")
        (change,) = params["edit"]["documentChanges"]
        editor.change(uri, edits_of(change))
        return {"applied": True}

    editor.answers[EDIT] = careless
    answer = await puppet.write(file, "one!\ntwo\nTHREE\nfour\n")
    assert "wrong place" in refusal(answer)[1]
    assert len(editor.all(EDIT)) == 1
    after = editor.documents[uri].text
    assert after.startswith("typed\none!\n")
    told = await editor.nth("window/showMessage")
    assert told["type"] in (1, 2)
    assert "a.py" in told["message"]
    # Nothing more was done to it.
    await editor.state()
    assert editor.documents[uri].text == after
    assert file.read_text() == "one\ntwo\nthree\nfour\n"


async def test_D12_typing_while_the_editor_is_brought_along(
    vscode: LikeVsCode, editor: Editor, puppet: Puppet, ws: Path
) -> None:
    file = ws / "a.py"
    file.write_text("one\ntwo\nthree\n")
    uri = editor.open(file)
    held = editor.answers[EDIT] = Held(vscode)
    writing = asyncio.create_task(puppet.write(file, "one\ntwo\nTHREE\n"))
    await held.asked()
    assert file.read_text() == "one\ntwo\nTHREE\n"
    editor.type(uri, 0, 0, "typed ")
    held.go.set()
    assert done(await writing)
    assert editor.documents[uri].text == "typed one\ntwo\nTHREE\n"
    assert file.read_text() == "one\ntwo\nTHREE\n"
    # Now there is something unsaved, and it is what an agent reads.
    assert text(await puppet.read(file)) == "typed one\ntwo\nTHREE\n"
    # The same lines: as if the agent had never been there.
    other = ws / "b.py"
    other.write_text("one\ntwo\n")
    uri = editor.open(other)
    held = editor.answers[EDIT] = Held(vscode)
    writing = asyncio.create_task(puppet.write(other, "one\nTWO\n"))
    await held.asked()
    editor.type(uri, 1, 3, " typed")
    held.go.set()
    assert "ead" in refusal(await writing)[1]
    assert editor.documents[uri].text == "one\ntwo typed\n"
    assert other.read_text() == "one\ntwo\n"


async def test_D12_edits_whose_change_comes_late(
    neovim: LikeNeovim, idle_editor: Editor, puppet: Puppet, ws: Path
) -> None:
    editor, file = idle_editor, ws / "a.txt"
    file.write_text("é😀 one\ntwo\nthree\n")
    uri = editor.open(file)
    editor.type(uri, 0, 6, "x")  # UTF-8: é 2, 😀 4
    editor.flush()
    assert text(await puppet.read(file)) == "é😀x one\ntwo\nthree\n"
    # Two writes in a row: the second waits for the first one's change.
    writes = [
        puppet.write(file, "é😀x ONE\ntwo\nthree\n"),
        puppet.write(file, "é😀x ONE\ntwo\nTHREE\n"),
    ]
    assert all(done(answer) for answer in await asyncio.gather(*writes))
    assert editor.documents[uri].text == "é😀x ONE\ntwo\nTHREE\n"
    place = neovim.seen[0]["edit"]["documentChanges"][0]["edits"][0]["range"]["start"]
    assert place == {"line": 0, "character": 8}
    # The user types on, of which the sidecar has not heard: the edit is skipped without a
    # word, and made anew.
    text(await puppet.read(file))
    editor.type(uri, 1, 3, " typed")
    assert done(await puppet.write(file, "é😀x ONE\ntwo\n3\n"))
    assert editor.documents[uri].text == "é😀x ONE\ntwo typed\n3\n"
    # On the same line the user wins.
    editor.flush()
    text(await puppet.read(file))
    editor.type(uri, 2, 1, " typed")
    assert "ead" in refusal(await puppet.write(file, "é😀x ONE\ntwo typed\nIII\n"))[1]
    assert editor.documents[uri].text == "é😀x ONE\ntwo typed\n3 typed\n"
    assert file.read_text() == "é😀 one\ntwo\nthree\n"


async def test_S11_a_write_behind_a_cancel_is_not_made(
    vscode: LikeVsCode, editor: Editor, puppet: Puppet, ws: Path
) -> None:
    file = ws / "a.py"
    file.write_text("one\ntwo\nthree\n")
    uri = editor.open(file)
    editor.type(uri, 0, 3, "!")
    _, turn = editor.start("acp.session.prompt", text="go")
    prompt = await puppet.prompted()
    text(await puppet.read(file))
    held = editor.answers[EDIT] = Held(vscode)
    params = {"sessionId": "S1", "path": str(file)}
    first = puppet.request("fs/write_text_file", {**params, "content": "one!\nTWO\nthree\n"})
    await held.asked()
    # It waits for the one before it.
    second = puppet.request("fs/write_text_file", {**params, "content": "one!\nTWO\nTHREE\n"})
    await editor.state()
    await editor.execute("acp.session.cancel")
    third = puppet.request("fs/write_text_file", {**params, "content": "gone\n"})
    held.go.set()
    assert "cancelled" in refusal(await puppet.result(third))[1]
    assert "error" in await puppet.result(second)
    # The edit that was under way when the user cancelled is either made or not made.
    answer = await puppet.result(first)
    now = editor.documents[uri].text
    assert now == ("one!\nTWO\nthree\n" if "result" in answer else "one!\ntwo\nthree\n")
    assert len(editor.all(EDIT)) == 1
    puppet.end_turn(prompt, "cancelled")
    await turn
    # Also a file of which the agent speaks only now.
    assert "error" in await puppet.write(ws / "new.py", "x\n")
    assert not (ws / "new.py").exists()
    # Reading is free.
    assert text(await puppet.read(file)) == now
    editor.start("acp.session.prompt", text="again")
    await puppet.prompted()
    assert done(await puppet.write(ws / "new.py", "x\n"))
