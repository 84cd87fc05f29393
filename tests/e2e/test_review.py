"""What waits for review, file by file, whoever held the pen: list, keep, revert, undo, diff."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from acp_sidecar.workspace.uris import path_to_uri
from tests.e2e.editor import Editor, LspError, capabilities
from tests.e2e.manners import LikeVsCode
from tests.e2e.puppet import Puppet

EDIT = "workspace/applyEdit"
LINES = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n"


class Desk:
    """The user before an editor with an open session, and what waits for review."""

    def __init__(self, editor: Editor, puppet: Puppet, ws: Path) -> None:
        self.editor = editor
        self.puppet = puppet
        self.ws = ws

    def file(self, name: str, content: str | bytes = LINES) -> Path:
        path = self.ws / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    async def prompt(self) -> dict[str, Any]:
        """A turn that runs."""
        self.editor.start("acp.session.prompt", text="go")
        return await self.puppet.prompted()

    async def end(self, prompt: dict[str, Any]) -> None:
        self.puppet.say("done")
        self.puppet.end_turn(prompt)
        await self.editor.eventually(self._idle)

    async def _idle(self) -> bool:
        return bool((await self.editor.state())["status"] == "idle")

    async def arrived(self) -> None:
        """Make sure that the sidecar has read all the agent said."""
        await self.puppet.call("fs/read_text_file", path=str(self.ws))

    async def write(self, path: Path, content: str, *, read: bool = True) -> None:
        """The agent writes through the client."""
        if read:
            await self.puppet.read(path)
        answer = await self.puppet.write(path, content)
        assert answer.get("result") == {}, answer

    async def list(self) -> list[dict[str, Any]]:
        await self.arrived()
        listed: list[dict[str, Any]] = await self.editor.execute("acp.review.list")
        for change in listed:
            _is_change(change)
        return listed

    async def names(self) -> dict[str, str]:
        """Name and status of each changed file."""
        return {change["uri"].rpartition("/")[2]: change["status"] for change in await self.list()}

    async def step(self, step: str, **argument: Any) -> dict[str, Any]:
        done: dict[str, Any] = await self.editor.execute(f"acp.review.{step}", **argument)
        for name in ("kept", "reverted", "conflicts"):
            assert all(isinstance(hunk, str) for hunk in done[name])
        return done

    async def diff(self, path: Path) -> tuple[str, str]:
        texts = await self.editor.execute("acp.review.diff", uri=path_to_uri(str(path)))
        assert set(texts) == {"before", "after"}
        return texts["before"], texts["after"]

    def report(self, call: str, path: Path, old: str | None, new: str, **fields: Any) -> None:
        diff = {"type": "diff", "path": str(path), "oldText": old, "newText": new}
        self.puppet.tool(call, kind="edit", content=[diff], **fields)


def _is_change(change: dict[str, Any]) -> None:
    assert set(change) == {"uri", "status", "oldUri", "binary", "hunks"}
    assert change["status"] in ("modified", "created", "deleted", "renamed")
    assert (change["oldUri"] is not None) == (change["status"] == "renamed")
    assert isinstance(change["binary"], bool)
    assert change["hunks"]
    for hunk in change["hunks"]:
        assert set(hunk) == {"id", "before", "after", "state"}
        assert hunk["state"] in ("waiting", "conflict")
        for side in (hunk["before"], hunk["after"]):
            assert set(side) == {"start", "lines"}
            assert side["start"] >= 0
            assert side["lines"] >= 0


def ids(changes: list[dict[str, Any]]) -> list[str]:
    return [hunk["id"] for change in changes for hunk in change["hunks"]]


@pytest.fixture
async def desk(
    session: dict[str, Any], editor: Editor, puppet: Puppet, ws: Path
) -> AsyncIterator[Desk]:
    manner = editor.answers[EDIT] = LikeVsCode(editor)
    yield Desk(editor, puppet, ws)
    assert manner.faults == []
    assert [path for path in ws.rglob("*") if "acp-sidecar" in path.name] == []


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


async def test_what_is_created_goes_and_comes_back(desk: Desk) -> None:
    await desk.prompt()
    script, itself = desk.ws / "bin" / "run.sh", desk.ws / "itself.py"
    desk.puppet.tool("t1", rawInput={"filePath": str(script)}, status="pending")
    desk.puppet.tool("t2", locations=[{"path": str(itself)}])
    await desk.arrived()
    script.parent.mkdir()
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    itself.write_text("")
    await desk.write(desk.ws / "through.py", "x\n", read=False)
    assert await desk.names() == {
        "run.sh": "created",
        "itself.py": "created",
        "through.py": "created",
    }
    uri = desk.editor.open(desk.ws / "through.py")
    await desk.step("revert")
    assert not script.exists()
    assert not itself.exists()
    assert not (desk.ws / "through.py").exists()
    assert desk.editor.documents[uri].text == "x\n"
    await desk.step("undo")
    assert script.read_text() == "#!/bin/sh\n"
    assert stat.S_IMODE(script.stat().st_mode) == 0o755
    assert itself.read_bytes() == b""
    assert (desk.ws / "through.py").read_text() == "x\n"
    # What the user has made of it is not deleted.
    desk.editor.type(uri, 0, 0, "typed\n")
    done = await desk.step("revert", uri=uri)
    assert done["conflicts"]
    assert done["problems"]
    assert (desk.ws / "through.py").read_text() == "x\n"
    assert desk.editor.documents[uri].text == "typed\nx\n"
    # Made and gone again is nothing.
    desk.puppet.tool("t3", locations=[{"path": str(desk.ws / "brief")}])
    await desk.arrived()
    (desk.ws / "brief").write_text("x")
    (desk.ws / "brief").unlink()
    assert "brief" not in await desk.names()


async def test_what_is_deleted_comes_back_as_it_was(desk: Desk) -> None:
    data = b"\xef\xbb\xbfone\r\ntwo\nthree"
    script, binary = desk.file("run.sh", data), desk.file("blob", bytes(range(256)))
    script.chmod(0o751)
    await desk.prompt()
    desk.puppet.tool("t1", locations=[{"path": str(script)}, {"path": str(binary)}])
    await desk.arrived()
    script.unlink()
    binary.unlink()
    listed = await desk.list()
    assert [(change["status"], change["binary"]) for change in listed] == [
        ("deleted", False),
        ("deleted", True),
    ]
    await desk.step("revert")
    assert script.read_bytes() == data
    assert stat.S_IMODE(script.stat().st_mode) == 0o751
    assert binary.read_bytes() == bytes(range(256))
    await desk.step("undo")
    assert os.listdir(desk.ws) == []
    # Deleted and made anew is modified.
    script.write_bytes(b"\xef\xbb\xbfone\r\nTWO\nthree")
    assert (await desk.names())["run.sh"] == "modified"
    await desk.step("revert", uri=path_to_uri(str(script)))
    assert script.read_bytes() == data


async def test_an_open_file_that_the_agent_moves_comes_back(desk: Desk) -> None:
    file, moved = desk.file("a.py"), desk.ws / "b.py"
    uri = desk.editor.open(file)
    dirty = desk.file("dirty.py")
    dirty_uri = desk.editor.open(dirty)
    desk.editor.type(dirty_uri, 7, 5, " typed")
    await desk.prompt()
    desk.puppet.tool("t1", kind="move", locations=[{"path": str(file)}, {"path": str(moved)}])
    await desk.arrived()
    file.rename(moved)
    dirty.unlink()
    desk.puppet.tool("t1", "tool_call_update", status="completed")
    assert await desk.names() == {"b.py": "renamed"}
    done = await desk.step("revert")
    assert done["conflicts"] == []
    assert file.read_text() == desk.editor.documents[uri].text == LINES
    assert not moved.exists()
    # The user's unsaved text is in no danger, whatever became of its file.
    assert desk.editor.documents[dirty_uri].text == LINES.replace("eight", "eight typed")
    answer = await desk.puppet.read(dirty)
    assert answer["result"]["content"] == LINES.replace("eight", "eight typed")


async def test_what_waits_in_a_file_goes_along_when_the_user_renames_it(desk: Desk) -> None:
    file, renamed = desk.file("a.py"), desk.ws / "lib" / "b.py"
    uri = desk.editor.open(file)
    prompt = await desk.prompt()
    await desk.write(file, LINES.replace("two", "TWO").replace("seven", "SEVEN"))
    await desk.end(prompt)
    files = [{"oldUri": uri, "newUri": path_to_uri(str(renamed))}]
    assert await desk.editor.call("workspace/willRenameFiles", {"files": files}) is None
    renamed.parent.mkdir()
    file.rename(renamed)
    desk.editor.close_document(uri)
    watched = {"changes": [{"uri": uri, "type": 3}, {"uri": files[0]["newUri"], "type": 1}]}
    desk.editor.notify("workspace/didChangeWatchedFiles", watched)
    await desk.list()
    desk.editor.notify("workspace/didRenameFiles", {"files": files})
    uri = desk.editor.open(renamed)
    [change] = await desk.list()
    assert (change["uri"], change["status"], len(change["hunks"])) == (uri, "modified", 2)
    done = await desk.step("revert", hunkId=change["hunks"][0]["id"])
    assert len(done["reverted"]) == 1
    assert renamed.read_text() == LINES.replace("seven", "SEVEN")
    assert not file.exists()
    for nonsense in (None, {"files": None}, {"files": [{"oldUri": 1}, {"oldUri": "x:y"}]}):
        assert await desk.editor.call("workspace/willRenameFiles", nonsense) is None


async def test_bytes_come_back_exactly(desk: Desk) -> None:
    contents = {
        "crlf": (b"a\r\nb\r\nc\r\n", b"a\r\nB\r\nc\r\n"),
        "mixed": (b"a\r\nb\nc\r\n", b"a\nb\nc\n"),
        "mark": (b"\xef\xbb\xbfa\n", b"b\n"),
        "no newline": (b"a\nb", b"a\nb\n"),
        "empty": (b"", b"a\n"),
        "emptied": (b"a\n", b""),
        "latin-1": (b"caf\xe9\n", b"caf\xc3\xa9\n"),
        "to latin-1": (b"caf\xc3\xa9\n", b"caf\xe9\n"),
        "image": (b"\x89PNG\r\n\x1a\n\0\0", b"\x89PNG\r\n\x1a\n\0\1"),
        "separators": ("a\x0cb\u2028c\n".encode(), "a\x0cB\u2028c\n".encode()),
    }
    for name, (before, _) in contents.items():
        desk.file(name, before)
    await desk.prompt()
    desk.puppet.tool("t1", locations=[{"path": str(desk.ws / name)} for name in contents])
    await desk.arrived()
    for name, (_, after) in contents.items():
        (desk.ws / name).write_bytes(after)
    listed = await desk.list()
    assert [change["uri"] for change in listed] == [
        path_to_uri(str(desk.ws / name)) for name in contents
    ]
    assert [change["binary"] for change in listed] == [
        name in ("latin-1", "to latin-1", "image") for name in contents
    ]
    done = await desk.step("revert")
    assert done["conflicts"] == []
    for name, (before, _) in contents.items():
        assert (desk.ws / name).read_bytes() == before, name
    await desk.step("undo")
    for name, (_, after) in contents.items():
        assert (desk.ws / name).read_bytes() == after, name
    # Through the client, and taken back: not a byte is different either.
    await desk.step("keep")
    dos = desk.file("dos", b"\xef\xbb\xbfa\r\nb\nc\r\nlast")
    await desk.write(dos, "a\nB\nC\nlast\nmore\n")
    assert dos.read_bytes() == b"\xef\xbb\xbfa\r\nB\r\nC\r\nlast\r\nmore\r\n"
    await desk.step("revert")
    assert dos.read_bytes() == b"\xef\xbb\xbfa\r\nb\nc\r\nlast"


async def test_the_user_s_own_changes_survive_a_revert(desk: Desk) -> None:
    editor = desk.editor
    typed, saved, before = desk.file("typed"), desk.file("saved"), desk.file("before")
    uris = {path: editor.open(path) for path in (typed, saved, before)}
    editor.type(uris[before], 7, 5, " typed")
    await desk.prompt()
    new = LINES.replace("two", "TWO")
    await desk.write(typed, new)
    await desk.write(saved, new)
    await desk.write(before, new.replace("eight", "eight typed"))
    # Far from the agent's change, in the buffer, on disk, and both.
    editor.type(uris[typed], 5, 3, " typed")
    editor.type(uris[saved], 5, 3, " typed")
    editor.save(uris[saved], saved)
    editor.type(uris[saved], 0, 0, "more\n")
    editor.type(uris[before], 0, 0, "more\n")
    listed = await desk.list()
    assert all(len(change["hunks"]) == 1 for change in listed)
    assert [change["hunks"][0]["after"]["start"] for change in listed] == [1, 2, 2]
    done = await desk.step("revert")
    assert len(done["reverted"]) == 3
    assert editor.documents[uris[typed]].text == LINES.replace("six", "six typed")
    assert editor.documents[uris[saved]].text == "more\n" + LINES.replace("six", "six typed")
    assert editor.documents[uris[before]].text == "more\n" + LINES.replace("eight", "eight typed")
    # What was not saved is not saved by us.
    assert typed.read_text() == new
    assert saved.read_text() == new.replace("six", "six typed")
    assert before.read_text() == LINES
    assert await desk.list() == []
    editor.type(uris[typed], 7, 5, " and on")
    await desk.step("undo")
    assert editor.documents[uris[typed]].text == (
        LINES.replace("two", "TWO").replace("six", "six typed").replace("eight", "eight and on")
    )


async def test_the_user_s_changes_of_the_same_lines_are_a_conflict(desk: Desk) -> None:
    editor, file, other = desk.editor, desk.file("a.py"), desk.file("b.py")
    uri = editor.open(file)
    await desk.prompt()
    new = LINES.replace("two\nthree", "TWO\nTHREE")
    await desk.write(file, new)
    await desk.write(other, new)
    editor.type(uri, 1, 3, " by the user")
    changed = new.replace("TWO", "TWO by the user")
    listed = await desk.list()
    assert [change["hunks"][0]["state"] for change in listed] == ["conflict", "waiting"]
    done = await desk.step("revert")
    assert done["conflicts"] == ids(listed[:1])
    assert done["reverted"] == ids(listed[1:])
    assert "a.py" in " ".join(done["problems"])
    assert editor.documents[uri].text == changed
    assert file.read_text() == new
    assert other.read_text() == LINES
    assert await desk.names() == {"a.py": "modified"}
    # The user takes it back, or keeps the lot.
    editor.type(uri, 1, 3, "", delete=len(" by the user"))
    assert (await desk.list())[0]["hunks"][0]["state"] == "waiting"
    editor.type(uri, 1, 3, " again")
    done = await desk.step("keep", uri=uri)
    assert len(done["kept"]) == 1
    assert await desk.list() == []
    assert editor.documents[uri].text == new.replace("TWO", "TWO again")


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


async def test_a_clean_open_file_is_reverted_on_disk_and_in_the_editor(desk: Desk) -> None:
    file, new = desk.file("a.py"), LINES.replace("two", "TWO")
    uri = desk.editor.open(file)
    await desk.prompt()
    await desk.write(file, new)
    assert desk.editor.documents[uri].text == new
    await desk.step("revert", uri=uri)
    assert file.read_text() == LINES
    assert desk.editor.documents[uri].text == LINES
    await desk.step("undo")
    assert file.read_text() == new
    assert desk.editor.documents[uri].text == new
    # What the agent reads, and writes, is what there is after the revert.
    await desk.step("revert")
    answer = await desk.puppet.read(file)
    assert answer["result"]["content"] == LINES
    await desk.write(file, LINES.replace("six", "SIX"))
    assert file.read_text() == LINES.replace("six", "SIX")
    assert await desk.diff(file) == (LINES, LINES.replace("six", "SIX"))


async def test_a_revert_that_the_editor_does_not_make_is_a_conflict(desk: Desk) -> None:
    file, new = desk.file("a.py"), LINES.replace("two", "TWO")
    uri = desk.editor.open(file)
    desk.editor.type(uri, 7, 5, " typed")
    await desk.prompt()
    await desk.write(file, new.replace("eight", "eight typed"))
    manner = desk.editor.answers[EDIT]
    desk.editor.answers[EDIT] = lambda params: {"applied": False, "failureReason": "busy"}
    listed = await desk.list()
    done = await desk.step("revert")
    assert (done["reverted"], done["conflicts"]) == ([], ids(listed))
    assert "busy" in " ".join(done["problems"])
    assert await desk.list() == listed
    desk.editor.answers[EDIT] = manner
    done = await desk.step("revert")
    assert done["reverted"] == ids(listed)
    assert desk.editor.documents[uri].text == LINES.replace("eight", "eight typed")


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


async def test_a_cancelled_turn_leaves_what_was_done_to_be_taken_back(desk: Desk) -> None:
    file, new = desk.file("a.py"), LINES.replace("two", "TWO")
    prompt = await desk.prompt()
    await desk.write(file, new)
    await desk.editor.execute("acp.session.cancel")
    diff = {"type": "diff", "path": str(file), "oldText": new, "newText": "gone\n"}
    desk.puppet.tool("t1", status="pending", content=[diff])
    desk.puppet.end_turn(prompt, "cancelled")
    assert await desk.diff(file) == (LINES, new)
    await desk.step("revert")
    assert file.read_text() == LINES


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


async def test_reviewing_while_the_agent_works_loses_nothing(desk: Desk) -> None:
    """Writes, reverts and undos at the same time: each line of the user's stays."""
    file = desk.file("a.py")
    uri = desk.editor.open(file)
    desk.editor.type(uri, 0, 0, "user's first\n")
    await desk.prompt()
    text = desk.editor.documents[uri].text

    async def agent() -> None:
        for number in range(6):
            answer = await desk.puppet.read(file)
            content = answer["result"]["content"].replace("four\n", f"agent {number}\nfour\n")
            await desk.puppet.write(file, content)

    async def user() -> None:
        for number in range(6):
            await desk.step("revert")
            desk.editor.type(uri, 0, 0, f"user's {number}\n")
            await desk.step("undo")

    await asyncio.gather(agent(), user())
    await desk.step("revert")
    now = desk.editor.documents[uri].text
    assert text.splitlines()[1:] == now.splitlines()[7:] or "agent" in now
    for line in ("user's first", *(f"user's {number}" for number in range(6))):
        assert now.count(line) == 1, line
    for line in LINES.splitlines():
        assert now.count(line) == 1, line
