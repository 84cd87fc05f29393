"""Edits that say what they are."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.hunks.table import EDITED, LINES, Table, can


@pytest.mark.parametrize(
    ("annotations", "documents"), [(True, True), (False, True), (True, False), (False, False)]
)
async def test_D16_edits_say_what_they_are_where_the_editor_can_show_it(
    table: Table, settings: dict[str, Any], annotations: bool, documents: bool
) -> None:
    """Of the agent's writes, and of what a revert, an undo and a restore do."""
    able = can()
    able["workspace"]["workspaceEdit"] = {"documentChanges": documents}
    if annotations:
        able["workspace"]["workspaceEdit"]["changeAnnotationSupport"] = {"groupsOnLabel": True}
    await table.start(settings, able)
    editor = table.editor

    def apply(params: dict[str, Any]) -> Any:
        edit = params["edit"]
        for uri, edits in edit.get("changes", {}).items():
            version = editor.documents[uri].version
            change = {"textDocument": {"uri": uri, "version": version}, "edits": edits}
            edit = {"documentChanges": [change]}
        return editor.apply_edit({"edit": edit})

    editor.answers["workspace/applyEdit"] = apply
    uri = editor.open(table.path)
    editor.type(uri, 4, 0, "mine ")
    mine = LINES.replace("five", "mine five")
    await table.agent_writes(EDITED.replace("five", "mine five"))
    await editor.execute("acp.review.revert")
    assert editor.documents[uri].text == mine
    await editor.execute("acp.review.undo")
    [checkpoint] = await editor.execute("acp.checkpoint.list")
    restored = await editor.execute(
        "acp.checkpoint.restore", checkpointId=checkpoint["checkpointId"]
    )
    assert restored["problems"] == []
    assert editor.documents[uri].text == mine
    told = editor.all("workspace/applyEdit")
    assert [params["label"] for params in told] == [
        "puppet edits a.txt",
        "Revert",
        "Undo",
        "Restore",
    ]
    for params in told:
        edit = params["edit"]
        if not documents:
            assert set(edit) == {"changes"}
            assert all("annotationId" not in one for one in edit["changes"][uri])
            continue
        (change,) = edit["documentChanges"]
        ids = {one.get("annotationId") for one in change["edits"]}
        known = edit.get("changeAnnotations", {})
        if annotations:
            assert [known[id_]["label"] for id_ in ids] == [params["label"]]
            assert not any(each["needsConfirmation"] for each in known.values())
        else:
            assert (ids, known) == ({None}, {})
