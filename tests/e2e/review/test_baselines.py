"""What a change is measured against: what was there before the agent."""

from __future__ import annotations

import pytest

from acp_sidecar.workspace.uris import path_to_uri
from tests.e2e.review.desk import EDIT, LINES, Desk


async def test_the_baseline_is_what_was_there_at_the_prompt(desk: Desk) -> None:
    opened, known, closed = desk.file("opened"), desk.file("known"), desk.file("closed")
    uri = desk.editor.open(opened)
    new = LINES.replace("two", "TWO")
    prompt = await desk.prompt()
    desk.puppet.tool("t1", locations=[{"path": str(known)}])
    await desk.arrived()
    await desk.end(prompt)
    # Between two prompts everything is the user's, or their tools'.
    known.write_text("between\n" + LINES)
    closed.write_text("between\n" + LINES)
    desk.editor.type(uri, 0, 0, "typed\n")
    desk.editor.save(uri, opened)
    assert await desk.list() == []
    prompt = await desk.prompt()
    # The agent writes all three, without a word before; then it tells.
    opened.write_text("typed\n" + new)
    known.write_text("between\n" + new)
    closed.write_text("between\n" + new)
    for path, first in ((opened, "typed\n"), (known, "between\n"), (closed, "between\n")):
        desk.report(path.name, path, "two\n", "TWO\n", status="completed")
        assert await desk.names() != {}
        assert await desk.diff(path) == (first + LINES, first + new), path.name
    await desk.end(prompt)
    # What changes now is not the agent's.
    known.write_text("later\nbetween\n" + new)
    assert await desk.diff(known) == ("later\nbetween\n" + LINES, "later\nbetween\n" + new)
    await desk.step("revert")
    assert known.read_text() == "later\nbetween\n" + LINES
    assert opened.read_text() == "typed\n" + LINES
    assert closed.read_text() == "between\n" + LINES


@pytest.mark.parametrize("mention", ["location", "rawInput", "diff", "permission", "read"])
async def test_the_baseline_is_what_was_there_at_the_first_mention(
    desk: Desk, mention: str
) -> None:
    file, new = desk.file("a.py"), LINES.replace("two", "TWO")
    path, puppet = str(file), desk.puppet
    await desk.prompt()
    if mention == "location":
        puppet.tool("t1", locations=[{"path": path, "line": 2}])
    elif mention == "rawInput":
        puppet.tool("t1", rawInput={"file_path": path, "old": "two"})
    elif mention == "diff":
        desk.report("t1", file, LINES, new, status="pending")
    elif mention == "permission":
        diff = {"type": "diff", "path": path, "oldText": LINES, "newText": new}
        request = puppet.ask({"title": "Edit", "kind": "edit", "content": [diff]})
        await desk.editor.dialog()
        desk.editor.click("Allow")
        assert await puppet.outcome(request) == "yes"
    else:
        await puppet.read(file)
    await desk.arrived()
    file.write_text(new)
    if mention == "read":
        # Its word comes after the fact, and says little.
        desk.report("t1", file, None, new, status="completed")
    else:
        puppet.tool("t1", "tool_call_update", status="completed")
    assert await desk.names() == {"a.py": "modified"}
    assert await desk.diff(file) == (LINES, new)
    await desk.step("revert")
    assert file.read_text() == LINES


async def test_D02_D03_reports_never_win_over_what_was_there(desk: Desk) -> None:
    new = LINES.replace("two", "TWO")
    lies: dict[str, tuple[str | None, str]] = {
        "null for a file that was there": (None, new),
        "empty for a file that was there": ("", new),
        "a snippet": ("two\n", "TWO\n"),
        "a snippet that is nowhere": ("nothing\n", "like it\n"),
        "something else altogether": ("x\n", "y\n"),
        "the new text twice": (new, new),
        "delete": (LINES, ""),
    }
    files = {name: desk.file(name) for name in lies}
    dos = desk.file("dos", LINES.replace("\n", "\r\n"))
    untouched = {name: desk.file(f"untouched {name}") for name in lies}
    await desk.prompt()
    paths = [*files.values(), dos]
    desk.puppet.tool("look", locations=[{"path": str(path)} for path in paths])
    await desk.arrived()
    for path in files.values():
        path.write_text(new)
    dos.write_bytes(new.replace("\n", "\r\n").encode())
    for name, (old, text) in lies.items():
        desk.report(name, files[name], old, text, status="completed")
        # Of a file that it never wrote it may say what it likes.
        desk.report(f"{name} untouched", untouched[name], old, text, status="completed")
    desk.report("dos", dos, LINES, new, status="completed")
    listed = await desk.list()
    assert [(change["uri"], change["status"]) for change in listed] == [
        (path_to_uri(str(path)), "modified") for path in paths
    ]
    for path in files.values():
        assert await desk.diff(path) == (LINES, new)
    assert await desk.diff(dos) == (LINES.replace("\n", "\r\n"), new.replace("\n", "\r\n"))
    assert all(path.read_text() == LINES for path in untouched.values())
    assert desk.editor.all(EDIT) == []
    await desk.step("revert")
    assert all(path.read_text() == LINES for path in files.values())
    assert dos.read_bytes() == LINES.replace("\n", "\r\n").encode()


async def test_a_report_after_the_fact_gives_the_baseline_if_the_file_bears_it_out(
    desk: Desk,
) -> None:
    new = LINES.replace("two", "TWO")
    whole, snippet, dos = desk.file("whole", new), desk.file("snippet", new), desk.file("dos")
    dos.write_bytes(new.replace("\n", "\r\n").encode())
    created, wrong = desk.file("created", "new\n"), desk.file("wrong", new)
    twice = desk.file("twice", "x\nTWO\ny\nTWO\n")
    await desk.prompt()
    desk.report("a", whole, LINES, new, status="completed")
    desk.report("b", snippet, "two\n", "TWO\n", status="completed")
    desk.report("c", dos, LINES, new, status="completed")
    desk.report("d", created, None, "new\n", status="completed")
    desk.report("e", wrong, LINES, "something else\n", status="completed")
    desk.report("f", twice, "two\n", "TWO\n", status="completed")
    assert await desk.names() == {
        "whole": "modified",
        "snippet": "modified",
        "dos": "modified",
        "created": "created",
    }
    await desk.step("revert")
    assert whole.read_text() == snippet.read_text() == LINES
    assert dos.read_bytes() == LINES.replace("\n", "\r\n").encode()
    assert not created.exists()
    assert wrong.read_text() == new
    assert twice.read_text() == "x\nTWO\ny\nTWO\n"
