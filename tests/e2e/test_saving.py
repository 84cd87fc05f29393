"""Before a command of the agent's runs: what it would not see can be saved first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.e2e.editor import Editor, capabilities
from tests.e2e.manners import LikeVsCode
from tests.e2e.puppet import Puppet


@pytest.fixture
async def saving(idle_editor: Editor, puppet: Puppet, ws: Path, settings: Any) -> Editor:
    """An editor that saves when it is asked to, with one unsaved file in it, within a turn."""
    (ws / "a.txt").write_text("old\n")
    (ws / "b.txt").write_text("same\n")
    editor = idle_editor
    await editor.initialize(ws, settings=settings, can=capabilities(save=True))
    await editor.execute("acp.session.new")
    uri = editor.open(ws / "a.txt")
    editor.open(ws / "b.txt")
    editor.type(uri, 0, 0, "new and ")

    def save(params: dict[str, Any]) -> Any:
        editor.save(params["uri"], ws / "a.txt")
        return {"saved": True}

    editor.answers["acp/save"] = save
    editor.start("acp.session.prompt", text="go")
    await puppet.prompted()
    return editor


def run(puppet: Puppet) -> Any:
    params = {"sessionId": puppet.session, "command": "cat", "args": ["a.txt"]}
    return puppet.request("terminal/create", params)


async def output(puppet: Puppet, request: Any) -> str:
    terminal = (await puppet.result(request))["result"]["terminalId"]
    await puppet.call("terminal/wait_for_exit", terminalId=terminal)
    shown = await puppet.call("terminal/output", terminalId=terminal)
    return str(shown["result"]["output"]).replace("\r\n", "\n")


async def test_what_is_unsaved_is_saved_after_a_yes(
    saving: Editor, puppet: Puppet, ws: Path
) -> None:
    request = run(puppet)
    asked = await saving.dialog()
    assert f"Unsaved: {ws / 'a.txt'}" in asked["message"]
    assert "b.txt" not in asked["message"]
    assert "Command: cat a.txt" in asked["message"]
    assert saving.titles() == ["Run without", "Save and run"]
    saving.click("Save and run")
    assert await output(puppet, request) == "new and old\n"


async def test_what_could_not_be_saved_keeps_the_command_from_running(
    saving: Editor, puppet: Puppet, ws: Path
) -> None:
    saving.answers["acp/save"] = lambda params: {"saved": False}
    request = run(puppet)
    await saving.dialog()
    saving.click("Save and run")
    error = (await puppet.result(request))["error"]
    assert f"could not save {ws / 'a.txt'}: nothing was run" in error["message"]
    told = (await saving.nth("window/showMessage"))["message"]
    assert told == error["message"]


@pytest.mark.parametrize("answer", [None, {"title": "Run without"}])
async def test_without_a_yes_the_command_runs_all_the_same_and_is_not_asked_about_again(
    saving: Editor, puppet: Puppet, answer: Any
) -> None:
    saving.answers["window/showMessageRequest"] = lambda params: answer
    assert await output(puppet, run(puppet)) == "old\n"
    assert await output(puppet, run(puppet)) == "old\n"
    assert len(saving.all("window/showMessageRequest")) == 1
    assert saving.all("acp/save") == []


async def test_what_has_changed_on_disk_is_the_user_s_to_save(
    saving: Editor, puppet: Puppet, ws: Path
) -> None:
    (ws / "a.txt").write_text("by somebody else\n")
    assert await output(puppet, run(puppet)) == "by somebody else\n"
    assert saving.all("window/showMessageRequest") == []


async def test_what_was_typed_before_the_sidecar_came_is_unsaved_too(
    saving: Editor, puppet: Puppet, ws: Path
) -> None:
    """Kept by the editor over a restart, or typed before it: opened with other text than the
    file has."""
    (ws / "c.txt").write_text("old\n")
    saving.open(ws / "c.txt", text="new and old\n")
    request = run(puppet)
    asked = await saving.dialog()
    assert f"Unsaved: {ws / 'c.txt'}" in asked["message"]
    saving.click("Run without")
    await output(puppet, request)


async def test_what_is_unsaved_in_another_encoding_is_offered_too(
    saving: Editor, puppet: Puppet, ws: Path
) -> None:
    (ws / "c.txt").write_bytes("Grüße\n".encode("latin-1"))
    (ws / "d.txt").write_bytes("Grüße\n".encode("latin-1"))
    for name in ("c.txt", "d.txt"):
        saving.type(saving.open(ws / name, text="Grüße\n"), 0, 0, "Viele ")
    await saving.state()
    (ws / "d.txt").write_bytes("Öfter\n".encode("latin-1"))
    request = run(puppet)
    asked = await saving.dialog()
    assert f"Unsaved: {ws / 'c.txt'}" in asked["message"]
    assert "d.txt" not in asked["message"]
    saving.click("Run without")
    await output(puppet, request)


async def test_a_cancel_ends_the_question_and_runs_nothing(saving: Editor, puppet: Puppet) -> None:
    request = run(puppet)
    await saving.dialog()
    await saving.execute("acp.session.cancel")
    assert "error" in await puppet.result(request)
    dialog = saving.requests("window/showMessageRequest")[0]
    await saving.until(lambda: {"id": dialog["id"]} in saving.all("$/cancelRequest"))


async def test_an_editor_that_cannot_save_is_not_asked(
    editor: Editor, puppet: Puppet, ws: Path, session: Any
) -> None:
    (ws / "a.txt").write_text("old\n")
    editor.type(editor.open(ws / "a.txt"), 0, 0, "new ")
    assert await output(puppet, run(puppet)) == "old\n"
    assert editor.all("window/showMessageRequest") == []


async def test_a_saving_that_the_editor_had_to_refuse_can_be_made_good(
    idle_editor: Editor, puppet: Puppet, ws: Path, settings: Any
) -> None:
    """An editor refuses to save over what an agent has just written, also where that is taken
    back because the user has begun to type."""
    path = ws / "a.txt"
    path.write_text("one\ntwo\nthree\n")
    editor = idle_editor
    editor.answers["workspace/applyEdit"] = LikeVsCode(editor)
    await editor.initialize(ws, settings=settings, can=capabilities(save=True, reloads=True))
    await editor.execute("acp.session.new")
    uri = editor.open(path)
    editor.start("acp.session.prompt", text="go")
    await puppet.prompted()
    await puppet.read(path)
    params = {"sessionId": puppet.session, "path": str(path), "content": "one\ntwo\nTHREE\n"}
    request = puppet.request("fs/write_text_file", params)
    await editor.until(lambda: "THREE" in path.read_text())
    editor.type(uri, 0, 3, " typed")
    assert (await puppet.result(request))["result"] == {}
    assert await editor.nth("acp/saveAgain") == {"uri": uri}
    assert path.read_text() == "one\ntwo\nthree\n"
    assert editor.documents[uri].text == "one typed\ntwo\nTHREE\n"
