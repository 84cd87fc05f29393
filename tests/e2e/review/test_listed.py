"""What is listed, whoever held the pen, and who is told."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from acp_sidecar.workspace.uris import path_to_uri
from tests.e2e.editor import Editor, LspError, capabilities
from tests.e2e.puppet import Puppet
from tests.e2e.review.desk import LINES, Desk, ids


async def test_the_list_says_what_is_different(desk: Desk) -> None:
    modified, gone, same = desk.file("m.py"), desk.file("gone.py"), desk.file("same.py")
    await desk.prompt()
    new = (
        LINES.replace("two\n", "TWO\n2\n").replace("six\n", "").replace("eight\n", "eight\nnine\n")
    )
    await desk.write(modified, new)
    await desk.write(desk.ws / "new" / "n.py", "first\nsecond\n")
    desk.puppet.tool("t1", locations=[{"path": str(gone)}, {"path": str(same)}])
    await desk.arrived()
    gone.unlink()
    await desk.write(same, LINES)
    listed = await desk.list()
    assert [(change["uri"], change["status"], change["binary"]) for change in listed] == [
        (path_to_uri(str(modified)), "modified", False),
        (path_to_uri(str(desk.ws / "new" / "n.py")), "created", False),
        (path_to_uri(str(gone)), "deleted", False),
    ]
    assert [(hunk["before"], hunk["after"]) for hunk in listed[0]["hunks"]] == [
        ({"start": 1, "lines": 1}, {"start": 1, "lines": 2}),
        ({"start": 5, "lines": 1}, {"start": 6, "lines": 0}),
        ({"start": 8, "lines": 0}, {"start": 8, "lines": 1}),
    ]
    assert [(hunk["before"], hunk["after"]) for hunk in listed[1]["hunks"]] == [
        ({"start": 0, "lines": 0}, {"start": 0, "lines": 2})
    ]
    assert [(hunk["before"], hunk["after"]) for hunk in listed[2]["hunks"]] == [
        ({"start": 0, "lines": 8}, {"start": 0, "lines": 0})
    ]
    assert all(hunk["state"] == "waiting" for change in listed for hunk in change["hunks"])
    assert len(set(ids(listed))) == 5
    assert (await desk.editor.state())["changes"] == listed
    assert await desk.diff(modified) == (LINES, new)
    assert await desk.diff(desk.ws / "new" / "n.py") == ("", "first\nsecond\n")
    assert await desk.diff(gone) == (LINES, "")
    with pytest.raises(LspError, match="heard of"):
        await desk.editor.execute("acp.review.diff", uri=path_to_uri(str(desk.ws / "other")))
    with pytest.raises(LspError, match="uri"):
        await desk.editor.execute("acp.review.diff")
    with pytest.raises(LspError):
        await desk.editor.execute("acp.review.diff", uri="untitled:Untitled-1")
    # All of it at once, and all of it back.
    done = await desk.step("revert")
    assert sorted(done["reverted"]) == sorted(ids(listed))
    assert (done["kept"], done["conflicts"]) == ([], [])
    assert modified.read_text() == gone.read_text() == LINES
    assert not (desk.ws / "new" / "n.py").exists()
    assert await desk.list() == []
    done = await desk.step("undo")
    assert sorted(done["reverted"]) == sorted(ids(listed))
    assert modified.read_text() == new
    assert not gone.exists()
    assert (desk.ws / "new" / "n.py").read_text() == "first\nsecond\n"
    again = await desk.list()
    assert sorted(ids(again)) == sorted(ids(listed))
    done = await desk.step("keep")
    assert sorted(done["kept"]) == sorted(ids(listed))
    assert (done["reverted"], done["conflicts"]) == ([], [])
    assert await desk.list() == []
    assert modified.read_text() == new
    done = await desk.step("undo")
    assert sorted(done["kept"]) == sorted(ids(listed))
    assert sorted(ids(await desk.list())) == sorted(ids(listed))
    # Kept for good, the next change starts from there.
    await desk.step("keep")
    await desk.write(modified, new.replace("one\n", "ONE\n"))
    assert await desk.diff(modified) == (new, new.replace("one\n", "ONE\n"))
    await desk.step("revert")
    assert modified.read_text() == new
    await desk.step("undo")
    await desk.step("undo")
    await desk.step("undo")
    nothing = await desk.step("undo")
    assert (nothing["kept"], nothing["reverted"], nothing["conflicts"]) == ([], [], [])


async def test_whoever_writes_it_is_the_same_change(desk: Desk) -> None:
    """Through the client, the agent itself before or after it says so, or both."""
    new = LINES.replace("two", "TWO")
    files = {name: desk.file(name) for name in ("through", "after", "before", "both", "opened")}
    files["dirty"] = desk.file("dirty")
    desk.editor.open(files["opened"])
    dirty = desk.editor.open(files["dirty"])
    desk.editor.type(dirty, 7, 5, " typed")
    prompt = await desk.prompt()
    await desk.write(files["through"], new)
    # It says where it is going to work, then does.
    desk.puppet.tool("after", locations=[{"path": str(files["after"])}], status="in_progress")
    await desk.arrived()
    files["after"].write_text(new)
    desk.report("after", files["after"], LINES, new, status="completed")
    # It has done so when its first word of it comes.
    files["before"].write_text(new)
    desk.report("before", files["before"], LINES, new, status="completed")
    files["both"].write_text(new)
    desk.report("both", files["both"], LINES, new)
    await desk.write(files["both"], new, read=False)
    files["opened"].write_text(new)
    await desk.write(files["dirty"], new.replace("eight", "eight typed"))
    listed = await desk.list()
    assert await desk.names() == dict.fromkeys(files, "modified")
    for change in listed:
        assert [(hunk["before"], hunk["after"]) for hunk in change["hunks"]] == [
            ({"start": 1, "lines": 1}, {"start": 1, "lines": 1})
        ]
    await desk.end(prompt)
    assert await desk.list() == listed
    # One file after the other, by its URI.
    for name, path in files.items():
        done = await desk.step("revert", uri=path_to_uri(str(path)))
        assert len(done["reverted"]) == 1, name
        assert name not in await desk.names()
    for name, path in files.items():
        assert path.read_text() == LINES, name
    assert desk.editor.documents[dirty].text == LINES.replace("eight", "eight typed")
    for _ in files:
        await desk.step("undo")
    assert sorted(ids(await desk.list())) == sorted(ids(listed))
    for name, path in files.items():
        assert path.read_text() == (LINES if name == "dirty" else new), name
    assert desk.editor.documents[dirty].text == new.replace("eight", "eight typed")


async def test_files_an_agent_makes_on_its_way_are_not_listed(desk: Desk) -> None:
    file, new = desk.file("a.py"), LINES.replace("two", "TWO")
    await desk.prompt()
    desk.puppet.tool("t1", locations=[{"path": str(file)}])
    await desk.arrived()
    temporary = desk.ws / "a.py.tmp.4711.1a2b3c"
    temporary.write_text(new)
    assert await desk.list() == []
    desk.puppet.tool("t2", locations=[{"path": str(temporary)}])
    await desk.arrived()
    temporary.replace(file)
    desk.report("t1", file, "two\n", "TWO\n", status="completed")
    assert await desk.names() == {"a.py": "modified"}
    await desk.step("revert")
    assert file.read_text() == LINES
    assert os.listdir(desk.ws) == ["a.py"]


async def test_files_outside_of_the_roots_are_never_looked_at(desk: Desk, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text(LINES)
    (desk.ws / "link").symlink_to(outside)
    desk.editor.open(outside)
    await desk.prompt()
    for path in (str(outside), f"{desk.ws}/link", f"{desk.ws}/../outside", "/etc/hostname"):
        desk.puppet.tool(path, locations=[{"path": path}], rawInput={"path": path})
        desk.report(path, Path(path), LINES, "x\n")
    await desk.arrived()
    outside.write_text("x\n")
    assert await desk.list() == []
    with pytest.raises(LspError, match="heard of"):
        await desk.diff(outside)
    done = await desk.step("revert", uri=path_to_uri(str(outside)))
    assert (done["reverted"], done["conflicts"]) == ([], [])
    assert outside.read_text() == "x\n"


async def test_arguments_and_ids(desk: Desk) -> None:
    file, other = desk.file("a b#c.py"), desk.file("b.py")
    await desk.prompt()
    await desk.write(file, LINES.replace("two", "TWO"))
    await desk.write(other, LINES.replace("two", "TWO"))
    listed = await desk.list()
    assert len(set(ids(listed))) == 2
    for argument, says in [
        ({"hunkId": "nope"}, "nope"),
        ({"uri": 5}, "uri"),
        ({"hunkId": []}, "hunkId"),
        ({"sessionId": "nope"}, "No session"),
        ({"uri": "untitled:x"}, "not the URI of a file"),
    ]:
        for step in ("keep", "revert"):
            with pytest.raises(LspError, match=says):
                await desk.step(step, **argument)
    assert await desk.list() == listed
    # A file nobody changed: nothing to do.
    done = await desk.step("revert", uri=path_to_uri(str(desk.ws / "c.py")))
    assert (done["reverted"], done["conflicts"]) == ([], [])
    # Another spelling of the same URI; a hunk by its id.
    spelled = f"{path_to_uri(str(desk.ws))}/%61%20b%23c.py"
    assert (await desk.step("revert", uri=spelled))["reverted"] == ids(listed[:1])
    assert file.read_text() == LINES
    assert (await desk.step("keep", hunkId=ids(listed)[1]))["kept"] == ids(listed[1:])
    assert await desk.list() == []
    # An id stays with its lines while others come and go.
    await desk.write(file, LINES.replace("six", "SIX"))
    (first,) = ids(await desk.list())
    await desk.write(file, "zero\n" + LINES.replace("six", "SIX"))
    assert first in ids(await desk.list())


async def test_changes_outlive_their_turn_and_their_agent(desk: Desk) -> None:
    file, new = desk.file("a.py"), LINES.replace("two", "TWO")
    prompt = await desk.prompt()
    await desk.write(file, new)
    await desk.end(prompt)
    await desk.prompt()
    await desk.write(file, new.replace("six", "SIX"))
    assert len((await desk.list())[0]["hunks"]) == 2
    # A second session knows nothing of it.
    second = await desk.editor.execute("acp.session.new")
    assert await desk.editor.execute("acp.review.list", sessionId=second["sessionId"]) == []
    with pytest.raises(LspError, match="Several sessions"):
        await desk.editor.execute("acp.review.list")
    await desk.editor.execute("acp.session.close", sessionId=second["sessionId"])
    desk.puppet.hang_up()

    async def dead() -> bool:
        return bool((await desk.editor.state())["status"] == "dead")

    await desk.editor.eventually(dead)
    assert len((await desk.editor.execute("acp.review.list"))[0]["hunks"]) == 2
    assert len((await desk.step("revert"))["reverted"]) == 2
    assert file.read_text() == LINES
    await desk.step("undo")
    assert file.read_text() == new.replace("six", "SIX")


async def test_with_review_off_nothing_is_kept(
    idle_editor: Editor, puppet: Puppet, ws: Path, settings: dict[str, Any]
) -> None:
    await idle_editor.initialize(ws, settings={**settings, "review": {"mode": "off"}})
    await idle_editor.execute("acp.session.new")
    desk = Desk(idle_editor, puppet, ws)
    file = desk.file("a.py")
    await desk.prompt()
    await desk.write(file, "new\n")
    assert file.read_text() == "new\n"
    assert await desk.list() == []
    assert (await idle_editor.state())["changes"] == []
    for step in ("keep", "revert", "undo"):
        with pytest.raises(LspError, match=r"review\.mode"):
            await desk.step(step)
    assert file.read_text() == "new\n"


async def test_a_richer_editor_is_told_of_changes(
    idle_editor: Editor, puppet: Puppet, ws: Path, settings: dict[str, Any]
) -> None:
    await idle_editor.initialize(ws, settings=settings, can=capabilities(changes=True))
    session = await idle_editor.execute("acp.session.new")
    desk = Desk(idle_editor, puppet, ws)
    file, other = desk.file("a.py"), desk.file("b.py")
    prompt = await desk.prompt()
    await desk.write(file, LINES.replace("two", "TWO"))

    def latest() -> Any:
        told = idle_editor.all("acp/changes")
        return told[-1]["changes"] if told else None

    await idle_editor.until(lambda: latest() and len(latest()) == 1)
    assert idle_editor.all("acp/changes")[-1]["sessionId"] == session["sessionId"]
    assert latest() == await desk.list()
    # The agent's own doing is told with its report.
    puppet.tool("t1", locations=[{"path": str(other)}], status="in_progress")
    await desk.arrived()
    other.write_text("new\n")
    puppet.tool("t1", "tool_call_update", status="completed")
    await idle_editor.until(lambda: len(latest()) == 2)
    # So is the user's.
    uri = idle_editor.open(file)
    idle_editor.type(uri, 1, 3, " typed")
    await idle_editor.until(lambda: latest()[0]["hunks"][0]["state"] == "conflict")
    idle_editor.type(uri, 1, 3, "", delete=6)
    await idle_editor.until(lambda: latest()[0]["hunks"][0]["state"] == "waiting")
    # What it does without a word is seen at the end of its turn.
    other.write_text("newer\nand longer\n")
    await desk.end(prompt)
    await idle_editor.until(lambda: latest()[1]["hunks"][0]["after"]["lines"] == 2)
    assert latest() == await desk.list()
    told = len(idle_editor.all("acp/changes"))
    await desk.list()
    await desk.list()
    assert len(idle_editor.all("acp/changes")) == told
    await desk.step("revert", uri=path_to_uri(str(other)))
    await idle_editor.until(lambda: len(latest()) == 1)
    await desk.step("keep")
    await idle_editor.until(lambda: latest() == [])
    await desk.step("undo")
    await idle_editor.until(lambda: len(latest()) == 1)


async def test_P13_changed_files_are_called_what_the_user_calls_them(
    idle_editor: Editor, puppet: Puppet, ws: Path, tmp_path: Path, settings: dict[str, Any]
) -> None:
    link = tmp_path / "link"
    link.symlink_to(ws)
    await idle_editor.initialize(link, settings=settings)
    await idle_editor.execute("acp.session.new")
    desk = Desk(idle_editor, puppet, ws)
    await desk.prompt()
    file = desk.file("a.py")
    await desk.write(file, LINES.replace("two", "TWO"))
    (change,) = await desk.list()
    assert change["uri"] == path_to_uri(str(link / "a.py"))
    assert await desk.diff(link / "a.py") == (LINES, LINES.replace("two", "TWO"))
    assert await desk.diff(file) == (LINES, LINES.replace("two", "TWO"))
    await desk.step("revert", uri=change["uri"])
    assert file.read_text() == LINES
