"""What is reverted comes back as it was, and with it nothing of the user's own is lost."""

from __future__ import annotations

import asyncio
import os
import stat

from acp_sidecar.workspace.uris import path_to_uri
from tests.e2e.review.desk import EDIT, LINES, Desk, ids


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
