"""Files that change without a word of the agent."""

from __future__ import annotations

from typing import Any

from acp_sidecar.workspace.uris import path_to_uri
from tests.e2e.editor import Editor
from tests.e2e.hunks.table import EDITED, LINES, Table, can


def watched(editor: Editor) -> list[dict[str, Any]]:
    return [
        registration
        for params in editor.all("client/registerCapability")
        for registration in params["registrations"]
        if registration["method"] == "workspace/didChangeWatchedFiles"
    ]


async def test_files_are_watched_where_the_editor_can(
    table: Table, settings: dict[str, Any]
) -> None:
    able = can(changes=True)
    able["workspace"]["didChangeWatchedFiles"] = {"dynamicRegistration": True}
    await table.start(settings, able)
    await table.editor.until(lambda: watched(table.editor))
    (registration,) = watched(table.editor)
    assert registration["registerOptions"] == {"watchers": [{"globPattern": "**/*"}]}
    table.editor.start("acp.session.prompt", text="go")
    await table.puppet.prompted()
    await table.puppet.read(table.path)
    # The agent writes by itself, as agents do: a draft first, then in place of the file.
    draft = table.path.with_name("a.txt.tmp.4711.1abc")
    draft.write_text(EDITED)
    draft.replace(table.path)
    events = [
        {"uri": path_to_uri(str(draft)), "type": 1},
        {"uri": path_to_uri(str(table.ws / "node_modules" / "x.js")), "type": 1},
        {"uri": "untitled:x", "type": 1},
        {"uri": table.uri, "type": 2},
    ]
    table.editor.notify("workspace/didChangeWatchedFiles", {"changes": events})
    changes = (await table.editor.nth("acp/changes"))["changes"]
    assert [(entry["uri"], len(entry["hunks"])) for entry in changes] == [(table.uri, 2)]


async def test_a_folder_that_goes_takes_its_files_along(
    table: Table, settings: dict[str, Any]
) -> None:
    able = can(changes=True)
    able["workspace"]["didChangeWatchedFiles"] = {"dynamicRegistration": True}
    await table.start(settings, able)
    inner = table.ws / "sub" / "b.txt"
    inner.parent.mkdir()
    inner.write_text(LINES)
    table.editor.start("acp.session.prompt", text="go")
    await table.puppet.prompted()
    await table.puppet.read(inner)
    inner.unlink()
    inner.parent.rmdir()
    events = [{"uri": path_to_uri(str(inner.parent)), "type": 3}]
    table.editor.notify("workspace/didChangeWatchedFiles", {"changes": events})
    changes = (await table.editor.nth("acp/changes"))["changes"]
    assert [entry["status"] for entry in changes] == ["deleted"]


async def test_an_editor_that_cannot_watch_files_is_not_asked(desk: Table) -> None:
    assert watched(desk.editor) == []
