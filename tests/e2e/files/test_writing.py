"""Writing files to the disk: their bytes and rights stay, and writes come in their order."""

from __future__ import annotations

import asyncio
import ctypes
import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.editor import Editor, editing
from tests.e2e.files.answers import INVALID, NOT_FOUND, done, refusal, text
from tests.e2e.manners import LikeVsCode
from tests.e2e.puppet import Puppet


async def test_F10_line_ends_stay(vscode: LikeVsCode, puppet: Puppet, ws: Path) -> None:
    file = ws / "a.txt"
    for before, content, after in [
        (b"a\r\nb\r\n", "a\nB\n", b"a\r\nB\r\n"),
        (b"a\r\nb\r\n", "a\r\nB\r\n", b"a\r\nB\r\n"),
        (b"a\r\nb\r\n", "a\nB\nc\n", b"a\r\nB\r\nc\r\n"),
        (b"a\nb\n", "a\r\nB\r\n", b"a\nB\n"),
        (b"a\rb\rc\r", "a\nB\nc\n", b"a\rB\rc\r"),
        # Unchanged lines stay as they are, new ones end as most do.
        (b"a\r\nb\nc\r\nd\r\n", "a\nb\nC\nd\n", b"a\r\nb\nC\r\nd\r\n"),
        (b"a\nb\nc\r\nd\n", "a\nb\nc\nD\n", b"a\nb\nc\r\nD\n"),
        (b"a\r\nb\r\n", "a\nb\n", b"a\r\nb\r\n"),
        (b"a\r\nb", "a\nB", b"a\r\nB"),
        (b"one line", "two\nlines\n", b"two\nlines\n"),
        (b"", "a\r\nb\r\n", b"a\r\nb\r\n"),
    ]:
        file.write_bytes(before)
        text(await puppet.read(file))
        assert done(await puppet.write(file, content))
        assert file.read_bytes() == after, (before, content)
    assert done(await puppet.write(ws / "new.bat", "a\r\nb\r\n"))
    assert (ws / "new.bat").read_bytes() == b"a\r\nb\r\n"
    assert done(await puppet.write(ws / "new.sh", "a\nb\n"))
    assert (ws / "new.sh").read_bytes() == b"a\nb\n"


async def test_F12_the_byte_order_mark_stays(
    vscode: LikeVsCode, editor: Editor, puppet: Puppet, ws: Path
) -> None:
    mark, file = b"\xef\xbb\xbf", ws / "a.ps1"
    for before, reads, writes, after in [
        (mark + b"import os\n", "import os\n", "import sys\n", mark + b"import sys\n"),
        (mark + b"import os\n", "import os\n", "\ufeffimport sys\n", mark + b"import sys\n"),
        (mark + b"a\r\n", "a\r\n", "b\n", mark + b"b\r\n"),
        (b"a\xef\xbb\xbfb\n", "a\ufeffb\n", "A\ufeffb\n", b"A\xef\xbb\xbfb\n"),
        (mark, "", "x\n", mark + b"x\n"),
        # Exactly one is taken off.
        (mark + mark + b"a\n", "\ufeffa\n", "\ufeffb\n", mark + mark + b"b\n"),
        (mark + b"a\n", "a\n", "", mark),
    ]:
        file.write_bytes(before)
        assert text(await puppet.read(file)) == reads
        assert done(await puppet.write(file, writes))
        assert file.read_bytes() == after, (before, writes)
    # An editor shows such a file without its mark.
    file.write_bytes(mark + b"one\ntwo\n")
    uri = editor.open(file, "one\ntwo\n")
    assert text(await puppet.read(file)) == "one\ntwo\n"
    assert done(await puppet.write(file, "one\nTWO\n"))
    assert file.read_bytes() == mark + b"one\nTWO\n"
    assert editor.documents[uri].text == "one\nTWO\n"
    editor.type(uri, 0, 0, "zero\n")
    assert text(await puppet.read(file)) == "zero\none\nTWO\n"
    assert done(await puppet.write(file, "\ufeffzero\none\n2\n"))
    assert editor.documents[uri].text == "zero\none\n2\n"
    assert file.read_bytes() == mark + b"one\nTWO\n"
    # Another one shows the mark as a character.
    other = ws / "b.ps1"
    other.write_bytes(mark + b"one\ntwo\n")
    uri = editor.open(other, "\ufeffone\ntwo\n")
    editor.type(uri, 1, 0, "TWO", delete=3)
    assert text(await puppet.read(other)) == "one\nTWO\n"
    assert done(await puppet.write(other, "ONE\nTWO\n"))
    assert editor.documents[uri].text == "\ufeffONE\nTWO\n"


async def test_what_a_file_is_stays(vscode: LikeVsCode, puppet: Puppet, ws: Path) -> None:
    script, target = ws / "run.sh", ws / "real" / "target.txt"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o750)
    assert done(await puppet.write(script, "#!/bin/sh\nexit 0\n"))
    assert script.read_text() == "#!/bin/sh\nexit 0\n"
    assert stat.S_IMODE(script.stat().st_mode) == 0o750
    # A link inside of the roots stays one, also one over several others.
    target.parent.mkdir()
    target.write_text("old\n")
    (ws / "link.txt").symlink_to("real/target.txt")
    (ws / "chain.txt").symlink_to(ws / "link.txt")
    (ws / "folder").symlink_to("real")
    for name in ("link.txt", "chain.txt", "folder/target.txt"):
        assert done(await puppet.write(ws / name, f"by {name}\n"))
        assert target.read_text() == f"by {name}\n"
        assert text(await puppet.read(ws / name)) == f"by {name}\n"
    assert (ws / "link.txt").is_symlink()
    assert (ws / "chain.txt").is_symlink()
    # A file of two names keeps both.
    os.link(target, ws / "twin.txt")
    assert done(await puppet.write(ws / "twin.txt", "twin\n"))
    assert target.read_text() == "twin\n"
    # A new file has the rights the user's umask gives; new folders are made.
    assert done(await puppet.write(ws / "a" / "b" / "c" / "new.txt", "deep\n"))
    assert (ws / "a/b/c/new.txt").read_text() == "deep\n"
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE((ws / "a/b/c/new.txt").stat().st_mode) == 0o666 & ~mask
    # A dangling link that stays inside is the file it leads to.
    (ws / "soon").symlink_to("later.txt")
    assert done(await puppet.write(ws / "soon", "now\n"))
    assert (ws / "soon").is_symlink()
    assert (ws / "later.txt").read_text() == "now\n"


async def test_what_cannot_be_written_is_refused_and_leaves_nothing(
    vscode: LikeVsCode, puppet: Puppet, ws: Path
) -> None:
    (ws / "file").write_text("x\n")
    (ws / "loop").symlink_to("loop")
    longest = ws / ("n" * 255)
    for path in (
        f"{ws}/file/below",
        f"{ws}/file/below/deeper",
        f"{ws}/{'n' * 256}",
        f"{ws}/new/{'n' * 256}/a",
        f"{ws}/{'é' * 128}",
        f"{ws}" + "/d" * 2500,
        f"{ws}/loop",
        f"{ws}/loop/a",
        f"{ws}/nothing/../a",
        str(ws),
        f"{ws}/",
        "/",
        "",
        f"{ws}/a\0b",
    ):
        code, message = refusal(await puppet.write(path, "y\n"))
        assert code in (INVALID, NOT_FOUND), path
        assert message
    assert sorted(os.listdir(ws)) == ["file", "loop"]
    assert (ws / "file").read_text() == "x\n"
    for content in ("new\n", "changed\n"):
        assert done(await puppet.write(longest, content))
        assert longest.read_text() == content


def _without_root_s_rights() -> None:
    """Root with no more rights than the owner's of a file (in the child, before exec)."""
    libc = ctypes.CDLL(None, use_errno=True)
    for capability in (1, 2, 3):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER
        if libc.prctl(24, capability, 0, 0, 0) and os.geteuid() == 0:  # PR_CAPBSET_DROP
            os._exit(77)


async def test_F16_what_may_not_be_read_or_written(
    puppet: Puppet, ws: Path, settings: dict[str, Any]
) -> None:
    (ws / "secret").write_text("x\n")
    (ws / "secret").chmod(0)
    (ws / "fixed").write_text("fixed\n")
    (ws / "fixed").chmod(0o444)
    (ws / "closed").mkdir()
    (ws / "closed" / "old").write_text("old\n")
    (ws / "closed").chmod(0o555)
    (ws / "hidden").mkdir(mode=0)
    async with editing(before_exec=_without_root_s_rights) as editor:
        try:
            await editor.initialize(ws, settings=settings)
        except ConnectionError:
            if await editor.ended() == 77:
                pytest.skip("root's rights over files cannot be dropped here")
            raise
        await editor.execute("acp.session.new")
        for name in ("secret", "hidden/a"):
            code, message = refusal(await puppet.read(ws / name))
            assert code not in (NOT_FOUND, INVALID), name
            assert "ermission" in message
            assert "ermission" in refusal(await puppet.write(ws / name, "y\n"))[1]
        assert text(await puppet.read(ws / "fixed")) == "fixed\n"
        for name in ("fixed", "closed/new", "closed/sub/new"):
            code, message = refusal(await puppet.write(ws / name, "y\n"))
            assert "ermission" in message or "read-only" in message, name
        # In such a folder an old file is overwritten where it is.
        assert done(await puppet.write(ws / "closed" / "old", "new\n"))
        assert (ws / "closed" / "old").read_text() == "new\n"
        assert os.listdir(ws / "closed") == ["old"]
        assert (ws / "fixed").read_text() == "fixed\n"
        (ws / "secret").chmod(0o600)
        assert (ws / "secret").read_text() == "x\n"
        (ws / "hidden").chmod(0o700)
        assert list((ws / "hidden").iterdir()) == []
        await editor.close()


async def test_writes_of_one_file_land_in_their_order(
    vscode: LikeVsCode, editor: Editor, puppet: Puppet, ws: Path
) -> None:
    closed, read, opened = ws / "closed", ws / "read", ws / "opened"
    for file in (closed, read, opened):
        file.write_text("start\nsame\nuser's\n")
    uri = editor.open(opened)
    editor.type(uri, 2, 6, " line", delete=0)
    for file in (read, opened):
        text(await puppet.read(file))
    rest = {closed: "same\nuser's\n", read: "same\nuser's\n", opened: "same\nuser's line\n"}

    def write(file: Path, number: int) -> dict[str, Any]:
        content = f"write {number}\n" * number + rest[file]
        params = {"sessionId": "S1", "path": str(file), "content": content}
        return {"id": f"{file.name}{number}", "method": "fs/write_text_file", "params": params}

    def look(file: Path) -> dict[str, Any]:
        params = {"sessionId": "S1", "path": str(file)}
        return {"id": f"look{file.name}", "method": "fs/read_text_file", "params": params}

    for file in (closed, read, opened):
        requests = [write(file, number) for number in range(1, 21)]
        for request in [*requests, look(file)]:
            future = asyncio.get_running_loop().create_future()
            puppet._results[json.dumps(request["id"])] = future
        puppet.send(*requests, look(file))
        for request in requests:
            assert done(await puppet.result(request["id"])), request["id"]
        # Asked for in the same breath as the writes.
        final = "write 20\n" * 20 + rest[file]
        assert text(await puppet.result(f"look{file.name}")) == final
        answered = [message["id"] for message in puppet.seen if message.get("result") == {}]
        assert answered[-20:] == [request["id"] for request in requests]
    for file in (closed, read):
        assert file.read_text() == "write 20\n" * 20 + rest[file]
    assert editor.documents[uri].text == "write 20\n" * 20 + rest[opened]
    assert opened.read_text() == "start\nsame\nuser's\n"
