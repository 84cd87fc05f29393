"""What a plain editor is asked to show of where the agent is, and on which line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from acp_sidecar.workspace.uris import path_to_uri
from tests.e2e.editor import Editor, Refusal
from tests.e2e.follow.shown import SHOW, at, follow, not_shown
from tests.e2e.puppet import Puppet


async def test_a_location_is_shown_without_taking_the_focus(
    editor: Editor, puppet: Puppet, turn: Any, file: Path
) -> None:
    puppet.tool("t1", locations=at(file, 3))
    shown = await editor.nth(SHOW)
    place = {"line": 2, "character": 0}
    assert shown == {
        "uri": path_to_uri(str(file)),
        "external": False,
        "takeFocus": False,
        "selection": {"start": place, "end": place},
    }

    async def landed() -> bool:
        return bool((await follow(editor))["shown"])

    await editor.eventually(landed)
    assert (await follow(editor))["location"] == {"path": str(file), "line": 3}


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        (0, 0),
        (1, 0),
        (10, 9),
        (None, None),
        (999999, 9),
        (4294967295, 9),
        (-1, None),
        (2.5, None),
        ("3", None),
        (True, None),
    ],
)
async def test_L02_lines_are_1_based_and_clamped(
    editor: Editor, puppet: Puppet, turn: Any, file: Path, line: Any, shown: int | None
) -> None:
    puppet.tool("t1", locations=[{"path": str(file), "line": line}])
    await editor.nth(SHOW)
    assert editor.revealed() == [("a.py", shown)]


async def test_L02_an_empty_file_has_one_line(
    editor: Editor, puppet: Puppet, turn: Any, ws: Path
) -> None:
    (ws / "empty").write_text("")
    puppet.tool("t1", locations=at(ws / "empty", 7))
    await editor.nth(SHOW)
    assert editor.revealed() == [("empty", 0)]


async def test_L03_an_editor_that_cannot_is_not_asked(
    idle_editor: Editor, puppet: Puppet, ws: Path, file: Path, settings: dict[str, Any]
) -> None:
    await idle_editor.initialize(ws, settings=settings, can={})
    await idle_editor.execute("acp.session.new")
    idle_editor.start("acp.session.prompt", text="go")
    await puppet.prompted()
    puppet.tool("t1", locations=at(file, 1))
    assert "cannot show documents" in await not_shown(idle_editor, file)
    assert idle_editor.all(SHOW) == []


@pytest.mark.parametrize("answer", ["error", "false"])
async def test_L03_an_editor_that_refuses_is_asked_once(
    editor: Editor, puppet: Puppet, turn: Any, ws: Path, file: Path, answer: str
) -> None:
    def refuse(params: Any) -> Any:
        if answer == "error":
            raise Refusal(-32603, "E36: Not enough room")
        return {"success": False}

    editor.answers[SHOW] = refuse
    puppet.tool("t1", locations=at(file, 1))
    reason = await not_shown(editor, file)
    assert "refused" in reason or "E36" in reason
    (ws / "b.py").write_text("b\n")
    puppet.tool("t2", locations=at(ws / "b.py", 1))
    await not_shown(editor, ws / "b.py")
    assert len(editor.all(SHOW)) == 1
    # The user's switch tries again.
    editor.answers[SHOW] = lambda params: {"success": True}
    await editor.execute("acp.follow.set", enabled=True)
    puppet.tool("t3", locations=at(file, 2))
    await editor.nth(SHOW, 2)


async def test_L03_null_is_no_refusal(
    editor: Editor, puppet: Puppet, turn: Any, ws: Path, file: Path
) -> None:
    editor.answers[SHOW] = lambda params: None
    for number in range(1, 4):
        puppet.tool(f"t{number}", locations=at(file, number))
        await editor.nth(SHOW, number)


async def test_L04_a_file_that_is_gone_is_not_shown(
    editor: Editor, puppet: Puppet, turn: Any, file: Path
) -> None:
    file.unlink()
    puppet.tool("t1", locations=at(file, 1))
    assert await not_shown(editor, file) == "missing"
    assert editor.all(SHOW) == []


async def test_a_file_that_comes_into_being_is_shown_then(
    editor: Editor, puppet: Puppet, turn: Any, ws: Path
) -> None:
    new = ws / "new.py"
    puppet.tool("t1", status="in_progress", locations=at(new))
    assert await not_shown(editor, new) == "missing"
    assert "result" in await puppet.write(new, "x\n")
    puppet.tool("t1", "tool_call_update", status="completed")
    await editor.nth(SHOW)
    assert editor.revealed() == [("new.py", None)]


async def test_L06_a_loaded_session_s_history_shows_nothing(
    editor: Editor, puppet: Puppet, file: Path
) -> None:
    old = {"type": "diff", "path": str(file), "oldText": "x", "newText": "y"}

    def load(params: dict[str, Any]) -> Any:
        puppet.sessions.append(params["sessionId"])
        for number in range(200):
            puppet.tool(f"t{number}", locations=at(file, 1), content=[old], status="completed")
        return None

    puppet.answers["session/load"] = load
    before = file.read_bytes()
    await editor.execute("acp.session.load", agentSessionId="old")
    state = await editor.state()
    assert len(state["toolCalls"]) == 200
    # Some agents send the history after the answer.
    puppet.tool("late", locations=at(file, 2))

    async def late() -> bool:
        return len((await editor.state())["toolCalls"]) == 201

    await editor.eventually(late)
    for method in (SHOW, "workspace/applyEdit", "window/showMessageRequest"):
        assert editor.all(method) == []
    assert file.read_bytes() == before
    # With the first prompt following begins.
    editor.start("acp.session.prompt", text="go")
    await puppet.prompted()
    puppet.tool("now", locations=at(file, 3))
    await editor.nth(SHOW)
    assert editor.revealed() == [("a.py", 2)]


async def test_the_last_location_that_may_be_shown_is(
    editor: Editor, puppet: Puppet, turn: Any, ws: Path, file: Path
) -> None:
    puppet.tool("t1", locations=[*at(file, 1), *at(file, 4), *at("/etc/hostname"), *at(ws)])
    await editor.nth(SHOW)
    assert editor.revealed() == [("a.py", 3)]


async def test_without_locations_diffs_say_where(
    editor: Editor, puppet: Puppet, turn: Any, file: Path
) -> None:
    diff = {"type": "diff", "path": str(file), "oldText": "line 6\n", "newText": "LINE 6\n"}
    puppet.tool("t1", content=[diff])
    await editor.nth(SHOW)
    assert editor.revealed() == [("a.py", 5)]


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("line 6\n", "LINE 6\n", 5),
        ("line 5\nline 6\nline 7", "line 5\nLINE 6\nline 7", 5),
        ("ne 6", "NE 6", 5),
        ("line 6\r\n", "LINE 6\r\n", 5),
        ("line 6\n", "", 5),
        ("line", "LINE", None),
        ("elsewhere\n", "ELSEWHERE\n", None),
        (None, "all new\n", None),
    ],
    ids=["line", "hunk", "words", "other ends", "gone", "many", "none", "new"],
)
@pytest.mark.parametrize("done", [False, True])
async def test_a_location_without_a_line_is_shown_where_its_diff_changes_it(
    editor: Editor,
    puppet: Puppet,
    turn: Any,
    file: Path,
    old: str | None,
    new: str,
    line: int | None,
    done: bool,
) -> None:
    """Some agents never name a line."""
    if done and old and new and line:
        file.write_text(file.read_text().replace(old.replace("\r", ""), new.replace("\r", "")))
    diff = {"type": "diff", "path": str(file), "oldText": old, "newText": new}
    puppet.ask({"kind": "edit", "locations": at(file), "content": [diff]})
    await editor.nth(SHOW)
    assert editor.revealed() == [("a.py", line)]


async def test_a_diff_shows_the_line_that_a_location_before_it_did_not_name(
    editor: Editor, puppet: Puppet, turn: Any, file: Path
) -> None:
    puppet.tool("t1", kind="edit", locations=at(file))
    await editor.nth(SHOW)
    before = file.read_text()
    after = before.replace("line 8\n", "line 8\nand more\n")
    file.write_text(after)
    diff = {"type": "diff", "path": str(file), "oldText": before, "newText": after}
    puppet.tool("t1", "tool_call_update", status="completed", content=[diff])
    await editor.nth(SHOW, 2)
    puppet.tool("t1", "tool_call_update", locations=at(file, 2), content=[diff])
    await editor.nth(SHOW, 3)
    assert editor.revealed() == [("a.py", None), ("a.py", 8), ("a.py", 1)]
