"""Reading and writing files through the client, from the agent's request to the disk and
the editor's buffer, with editors of every kind."""

from __future__ import annotations

import asyncio
import ctypes
import json
import os
import random
import re
import socket
import stat
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from acp_sidecar.workspace.positions import Position, Range, TextEdit
from acp_sidecar.workspace.uris import path_to_uri
from tests.e2e.editor import NO_ANSWER, Editor, LspError, Refusal, capabilities, editing
from tests.e2e.manners import Held, LikeNeovim, LikeVsCode, edits_of
from tests.e2e.puppet import Puppet

EDIT = "workspace/applyEdit"
INVALID, NOT_FOUND, CANCELLED = -32602, -32002, -32800


@pytest.fixture(autouse=True)
def _no_litter(ws: Path) -> Any:
    """Whatever happens, no file of ours is left beside the user's."""
    yield
    assert [path for path in ws.rglob("*") if "acp-sidecar" in path.name] == []


@pytest.fixture
async def vscode(session: dict[str, Any], editor: Editor) -> AsyncIterator[LikeVsCode]:
    """The editor, with an open session, takes edits as VS Code does."""
    manner = editor.answers[EDIT] = LikeVsCode(editor)
    yield manner
    assert manner.faults == []


@pytest.fixture
async def neovim(
    idle_editor: Editor, ws: Path, settings: dict[str, Any]
) -> AsyncIterator[LikeNeovim]:
    """An editor like Neovim, with an open session."""
    manner = await LikeNeovim.start(idle_editor, ws, settings=settings)
    await idle_editor.execute("acp.session.new")
    yield manner


def done(answer: dict[str, Any]) -> bool:
    """Whether a write was answered as the schema says."""
    return "error" not in answer and answer["result"] == {}


def refusal(answer: dict[str, Any]) -> tuple[int, str]:
    assert "result" not in answer, answer
    return answer["error"]["code"], answer["error"]["message"]


def text(answer: dict[str, Any]) -> str:
    assert "error" not in answer, answer
    content = answer["result"]["content"]
    assert isinstance(content, str)
    return content


async def in_step(editor: Editor, puppet: Puppet, path: Path, uri: str) -> str:
    """The text of a dirty buffer, after making sure that the sidecar knows the same."""
    editor.flush()
    await editor.state()
    mine = editor.documents[uri].text
    assert text(await puppet.read(path)) == mine
    return mine


# --- reading ----------------------------------------------------------------------------


async def test_F06_a_missing_file_is_not_found(
    vscode: LikeVsCode, editor: Editor, puppet: Puppet, ws: Path
) -> None:
    (ws / "file").write_text("x\n")
    (ws / "dangling").symlink_to(ws / "nowhere")
    for missing in ("new.txt", "no/such/folder/new.txt", "dangling", "file/below", "new.txt/"):
        answer = await puppet.read(f"{ws}/{missing}")
        code, message = refusal(answer)
        assert code == NOT_FOUND, missing
        assert "No such file" in message
        assert answer["error"]["data"]["path"] == f"{ws}/{missing}"
    # What is there and cannot be read is another matter.
    code, message = refusal(await puppet.read(ws))
    assert code not in (NOT_FOUND, -32603)
    assert "No such file" not in message
    # An agent that creates a file looks first; then it writes.
    assert done(await puppet.write(ws / "new.txt", "made\n"))
    assert (ws / "new.txt").read_bytes() == b"made\n"
    assert text(await puppet.read(ws / "new.txt")) == "made\n"
    (ws / "new.txt").unlink()
    assert refusal(await puppet.read(ws / "new.txt"))[0] == NOT_FOUND
    # An empty file is one.
    (ws / "empty").write_text("")
    assert text(await puppet.read(ws / "empty")) == ""


async def test_F06_an_agent_known_to_need_an_empty_text_gets_it(
    puppet: Puppet, idle_editor: Editor, ws: Path, settings: dict[str, Any]
) -> None:
    puppet.info = {"name": "gemini-cli", "version": "0.61.0"}
    await idle_editor.initialize(ws, settings=settings)
    await idle_editor.execute("acp.session.new")
    assert text(await puppet.read(ws / "new.txt")) == ""
    assert refusal(await puppet.read(ws))[0] == INVALID
    assert refusal(await puppet.read("/etc/no-such-file"))[0] == INVALID


async def test_F08_windows_of_lines(
    vscode: LikeVsCode, editor: Editor, puppet: Puppet, ws: Path
) -> None:
    lf, crlf, cr = "one\ntwo\nthree\n", "one\r\ntwo\r\nthree\r\n", "one\rtwo\rthree\r"
    mixed, odd = "a\r\nb\rc\nd", "a\x0cb\u2028c\x85d\x0b\ne\x1cf\n"
    windows: list[tuple[str, dict[str, Any], str]] = [
        (lf, {"line": 1, "limit": 1}, "one\n"),
        (lf, {"limit": 2}, "one\ntwo\n"),
        (lf, {"line": 3}, "three\n"),
        (lf, {}, lf),
        (lf, {"line": 2, "limit": 100}, "two\nthree\n"),
        (lf, {"line": 3, "limit": 1}, "three\n"),
        (crlf, {"line": 1, "limit": 1}, "one\r\n"),
        (crlf, {"line": 2}, "two\r\nthree\r\n"),
        (crlf, {}, crlf),
        (cr, {"line": 2, "limit": 1}, "two\r"),
        (cr, {}, cr),
        (mixed, {"line": 2, "limit": 1}, "b\r"),
        (mixed, {"line": 4}, "d"),
        (odd, {"line": 1, "limit": 1}, "a\x0cb\u2028c\x85d\x0b\n"),
        (odd, {"line": 2}, "e\x1cf\n"),
        ("one\ntwo", {"line": 2}, "two"),
        ("one\ntwo", {"limit": 5}, "one\ntwo"),
        ("", {"line": 1}, ""),
        ("", {"limit": 1}, ""),
        ("\n\n", {"line": 2, "limit": 1}, "\n"),
        ("\ufeffone\ntwo\n", {"line": 1, "limit": 1}, "one\n"),
        ("é😀\nzwei\n", {"line": 1, "limit": 1}, "é😀\n"),
    ]
    file = ws / "a.txt"
    for content, window, expected in windows:
        file.write_bytes(content.encode())
        answer = await puppet.read(file, **window)
        assert text(answer) == expected, (content, window)
    # The same of a buffer with unsaved changes.
    file.write_bytes(lf.encode())
    uri = editor.open(file)
    editor.type(uri, 0, 0, "zero\n")
    assert text(await puppet.read(file, line=2, limit=1)) == "one\n"
    assert text(await puppet.read(file, line=1, limit=1)) == "zero\n"
    assert file.read_text() == lf


async def test_F09_odd_windows(vscode: LikeVsCode, puppet: Puppet, ws: Path) -> None:
    file = ws / "a.txt"
    file.write_text("one\ntwo\nthree\n")
    for name in ("line", "limit"):
        for value in (-3, -1, 1.5, -0.5, True, False, "1", "", [1], {}, -(2**63), 1e300):
            answer = await puppet.read(file, **{name: value})
            if value == 1e300:
                assert "error" in answer or text(answer) in ("", file.read_text())
                continue
            assert refusal(answer)[0] == INVALID, (name, value)
            assert name in answer["error"]["message"]
    for window, expected in [
        ({"line": None, "limit": None}, "one\ntwo\nthree\n"),
        ({"line": None, "limit": 1}, "one\n"),
        ({"line": 2, "limit": None}, "two\nthree\n"),
        ({"line": 0, "limit": 1}, "one\n"),
        ({"limit": 0}, ""),
        ({"line": 2, "limit": 0}, ""),
        ({"line": 4}, ""),
        ({"line": 4294967295}, ""),
        ({"line": 4294967295, "limit": 4294967295}, ""),
        ({"line": 2**70}, ""),
        ({"limit": 4294967295}, "one\ntwo\nthree\n"),
        ({"line": 2, "limit": 2**64}, "two\nthree\n"),
        ({"line": 2.0, "limit": 1.0}, "two\n"),
    ]:
        assert text(await puppet.read(file, **window)) == expected, window
    infinite = {"sessionId": "S1", "path": str(file), "line": 12345}
    puppet.request("fs/read_text_file", infinite, "expected")
    line = json.dumps({"jsonrpc": "2.0", "id": "inf", "method": "fs/read_text_file"})[:-1]
    params = json.dumps(infinite).replace("12345", "1e999")
    puppet.raw(f'{line}, "params": {params}}}\n'.encode())
    assert text(await puppet.result("expected")) == ""
    for params in (None, [], {}, {"sessionId": "S1"}, {"path": str(file)}):
        answer = await puppet.result(puppet.request("fs/read_text_file", params))
        assert refusal(answer)[0] == INVALID, params
    for wrong in (
        {"sessionId": "S1", "path": 5},
        {"sessionId": 5, "path": str(file)},
        {"sessionId": "S1", "path": None},
        {"sessionId": "nobody", "path": str(file)},
    ):
        answer = await puppet.result(puppet.request("fs/read_text_file", wrong))
        assert refusal(answer)[0] == INVALID, wrong


async def test_F13_what_is_no_utf8_is_neither_read_nor_overwritten(
    vscode: LikeVsCode, editor: Editor, puppet: Puppet, ws: Path
) -> None:
    contents = {
        "latin-1": b"caf\xe9\n",
        "utf-16": "text\n".encode("utf-16"),
        "utf-16 without a mark": "text\n".encode("utf-16-le"),
        "utf-32": "text\n".encode("utf-32"),
        "shift-jis": "日本語\n".encode("shift-jis"),
        "gbk": "中文\n".encode("gbk"),
        "a null byte": b"a\0b\n",
        "half a character": "é".encode()[:1],
        "an encoded surrogate": b"\xed\xa0\x80",
        "an overlong form": b"\xc0\xaf",
        "bad after a mark": b"\xef\xbb\xbfcaf\xe9",
    }
    for name, data in contents.items():
        file = ws / name
        file.write_bytes(data)
        code, message = refusal(await puppet.read(file))
        assert code == INVALID, name
        assert "UTF-8" in message
        assert refusal(await puppet.write(file, "cafe\n"))[0] == INVALID, name
        diff = {"type": "diff", "path": str(file), "oldText": "caf\n", "newText": "cafe\n"}
        puppet.tool(name, content=[diff], status="completed")
        assert file.read_bytes() == data
    assert refusal(await puppet.read(ws))[0] == INVALID  # all of them have arrived
    assert len((await editor.state())["toolCalls"]) == len(contents)
    # Nor when the editor, which knows the encoding, has it open.
    file = ws / "latin-1"
    editor.open(file, "café\n")
    assert refusal(await puppet.read(file))[0] == INVALID
    assert refusal(await puppet.write(file, "cafe\n"))[0] == INVALID
    assert file.read_bytes() == contents["latin-1"]
    assert editor.all(EDIT) == []


async def test_F16_what_is_no_file_is_not_waited_for(
    vscode: LikeVsCode, editor: Editor, puppet: Puppet, ws: Path
) -> None:
    os.mkfifo(ws / "fifo")
    (ws / "to-fifo").symlink_to("fifo")
    (ws / "zero").symlink_to("/dev/zero")
    (ws / "folder").mkdir()
    (ws / "to-folder").symlink_to("folder")
    # A socket's name may be 108 bytes long at most.
    here = os.open(ws, os.O_RDONLY)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"/proc/self/fd/{here}/socket")
        os.close(here)
        began = time.monotonic()
        for name in (
            "fifo",
            "to-fifo",
            "zero",
            "folder",
            "to-folder",
            "socket",
            "folder/",
            ".",
            "",
        ):
            path = f"{ws}/{name}"
            code, message = refusal(await puppet.read(path))
            assert code == INVALID, name
            assert message
            assert refusal(await puppet.write(path, "x"))[0] == INVALID, name
        assert time.monotonic() - began < 5
    assert stat.S_ISFIFO((ws / "fifo").lstat().st_mode)
    assert (ws / "folder").is_dir()
    # Nothing sits in a thread that the end would have to wait for.
    began = time.monotonic()
    assert await editor.close() == 0
    assert time.monotonic() - began < 1


async def test_F16_a_device_inside_of_the_roots(
    puppet: Puppet, idle_editor: Editor, ws: Path, settings: dict[str, Any]
) -> None:
    await idle_editor.initialize(ws, settings=settings)
    await idle_editor.execute("acp.session.new", cwd="/dev")
    for device in ("/dev/zero", "/dev/full", "/dev/tty"):
        assert refusal(await puppet.read(device))[0] in (INVALID, NOT_FOUND)
    assert refusal(await puppet.write("/dev/full", "x"))[0] == INVALID


async def test_F17_big_reads(vscode: LikeVsCode, editor: Editor, puppet: Puppet, ws: Path) -> None:
    file = ws / "big.txt"
    lines = [f"{number:06} {'x' * 92}\n" for number in range(2000)]
    file.write_text("".join(lines))
    assert text(await puppet.read(file)) == "".join(lines)
    assert text(await puppet.read(file, line=1500, limit=2)) == "".join(lines[1499:1501])
    file.write_bytes(b"x" * 10_000_001)
    code, message = refusal(await puppet.read(file))
    assert code == INVALID
    assert "limit" in message
    assert refusal(await puppet.read(file, line=1, limit=1))[0] == INVALID
    file.write_bytes(b"x" * 10_000_000)
    assert len(text(await puppet.read(file))) == 10_000_000


async def test_F17_an_agent_that_dies_of_a_big_answer(
    vscode: LikeVsCode, editor: Editor, puppet: Puppet, ws: Path
) -> None:
    (ws / "big.txt").write_text("x" * 200_000)
    _, turn = editor.start("acp.session.prompt", text="go")
    await puppet.prompted()
    assert text(await puppet.read(ws / "big.txt"))
    puppet.hang_up()
    with pytest.raises(
        LspError, match=r"a message of 200\d{3} bytes; an agent may fail on long lines"
    ):
        await turn


async def test_F18_half_a_character_costs_the_request_only(
    vscode: LikeVsCode, puppet: Puppet, ws: Path
) -> None:
    file = ws / "a.txt"
    file.write_text("before\n")
    for number, bad in enumerate(["x\ud800y", "\udfff", "\udc00\ud800"]):
        assert refusal(await puppet.write(file, bad))[0] == INVALID, number
    assert refusal(await puppet.write(f"{ws}/\ud800", "x"))[0] == INVALID
    assert refusal(await puppet.read(f"{ws}/\ud800"))[0] == INVALID
    assert refusal(await puppet.write(f"{ws}/a\0b", "x"))[0] == INVALID
    assert file.read_text() == "before\n"
    assert os.listdir(ws) == ["a.txt"]
    for wrong in ({"content": None}, {"content": 5}, {"content": ["x"]}, {}):
        params = {"sessionId": "S1", "path": str(file), **wrong}
        answer = await puppet.result(puppet.request("fs/write_text_file", params))
        assert refusal(answer)[0] == INVALID, wrong
    # A pair of them is a character.
    assert done(await puppet.write(file, "\U0001f600 ok\n"))
    assert file.read_bytes() == "😀 ok\n".encode()


# --- writing to the disk ------------------------------------------------------------------


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


# --- the buffer and the disk -----------------------------------------------------------------


async def test_F01_typing_since_the_read_is_never_overwritten(
    vscode: LikeVsCode, editor: Editor, puppet: Puppet, ws: Path
) -> None:
    file = ws / "a.py"
    file.write_text("one\ntwo\nthree\nfour\n")
    uri = editor.open(file)
    text(await puppet.read(file))
    editor.type(uri, 0, 3, " by the user")
    assert done(await puppet.write(file, "one\ntwo\nthree\nFOUR\n"))
    assert editor.documents[uri].text == "one by the user\ntwo\nthree\nFOUR\n"
    assert file.read_text() == "one\ntwo\nthree\nfour\n"
    assert (
        editor.documents[uri].version
        == editor.all(EDIT)[0]["edit"]["documentChanges"][0]["textDocument"]["version"] + 1
    )
    # It goes on from what it wrote itself: the user's line is still there.
    assert done(await puppet.write(file, "one\ntwo\nTHREE\nFOUR\n"))
    assert editor.documents[uri].text == "one by the user\ntwo\nTHREE\nFOUR\n"
    # The same line: nothing is written, and the agent is told what to do.
    edits = len(editor.all(EDIT))
    code, message = refusal(await puppet.write(file, "ONE\ntwo\nTHREE\nFOUR\n"))
    assert "ead it again" in message
    assert code not in (INVALID, NOT_FOUND)
    assert editor.documents[uri].text == "one by the user\ntwo\nTHREE\nFOUR\n"
    assert len(editor.all(EDIT)) == edits
    # Which it does, and then knows what it changes.
    seen = text(await puppet.read(file))
    assert seen == editor.documents[uri].text
    assert done(await puppet.write(file, seen.replace("one by", "ONE by")))
    assert editor.documents[uri].text == "ONE by the user\ntwo\nTHREE\nFOUR\n"
    assert file.read_text() == "one\ntwo\nthree\nfour\n"


async def test_F01_a_writer_that_never_read(
    vscode: LikeVsCode, editor: Editor, puppet: Puppet, ws: Path
) -> None:
    file = ws / "a.py"
    file.write_text("one\ntwo\nthree\n")
    uri = editor.open(file)
    editor.type(uri, 0, 0, "typed\n")
    assert done(await puppet.write(file, "one\ntwo\nTHREE\n"))
    assert editor.documents[uri].text == "typed\none\ntwo\nTHREE\n"
    other = ws / "b.py"
    other.write_text("one\ntwo\n")
    uri = editor.open(other)
    editor.type(uri, 0, 0, "ONE", delete=3)
    assert "ead it again" in refusal(await puppet.write(other, "uno\ntwo\n"))[1]
    assert editor.documents[uri].text == "ONE\ntwo\n"
    # A file that is only in the editor so far.
    new = ws / "new.py"
    uri = editor.open(new, "typed\n")
    assert "error" in await puppet.write(new, "written\n")
    assert text(await puppet.read(new)) == "typed\n"
    assert not new.exists()
    assert editor.documents[uri].text == "typed\n"


async def test_F01_what_others_have_saved_is_not_overwritten(
    vscode: LikeVsCode, editor: Editor, puppet: Puppet, ws: Path
) -> None:
    file = ws / "a.py"
    file.write_text("one\ntwo\nthree\n")
    uri = editor.open(file)
    text(await puppet.read(file))
    editor.type(uri, 0, 0, "ONE", delete=3)
    editor.save(uri, file)
    assert done(await puppet.write(file, "one\ntwo\nTHREE\n"))
    assert file.read_text() == "ONE\ntwo\nTHREE\n"
    assert editor.documents[uri].text == "ONE\ntwo\nTHREE\n"
    editor.save(uri, file)
    file.write_text("ONE\nTWO\nTHREE\n")
    assert "ead it again" in refusal(await puppet.write(file, "one\n2\nTHREE\n"))[1]
    assert file.read_text() == "ONE\nTWO\nTHREE\n"
    # A window shows a part; it counts as having seen the file.
    assert text(await puppet.read(file, line=2, limit=1)) == "TWO\n"
    assert done(await puppet.write(file, "ONE\n2\nTHREE\n"))
    assert file.read_text() == "ONE\n2\nTHREE\n"
    # A file that is gone is made again, one that has come is not simply replaced.
    file.unlink()
    assert done(await puppet.write(file, "again\n"))
    assert file.read_text() == "again\n"


async def test_F01_each_session_knows_what_it_has_read_itself(
    vscode: LikeVsCode, editor: Editor, puppet: Puppet, ws: Path
) -> None:
    await editor.execute("acp.session.new")
    file = ws / "a.txt"
    file.write_text("one\ntwo\nthree\n")
    for session in ("S1", "S2"):
        text(await puppet.read(file, sessionId=session))
    params = {"path": str(file), "content": "ONE\ntwo\nthree\n", "sessionId": "S1"}
    assert done(await puppet.call("fs/write_text_file", **params))
    params = {"path": str(file), "content": "one\ntwo\nTHREE\n", "sessionId": "S2"}
    assert done(await puppet.call("fs/write_text_file", **params))
    assert file.read_text() == "ONE\ntwo\nTHREE\n"
    params = {"path": str(file), "content": "uno\ntwo\nthree\n", "sessionId": "S2"}
    assert "error" in await puppet.call("fs/write_text_file", **params)
    assert file.read_text() == "ONE\ntwo\nTHREE\n"


async def test_a_clean_open_file_is_written_to_disk_and_the_editor_follows(
    vscode: LikeVsCode, editor: Editor, puppet: Puppet, ws: Path
) -> None:
    file = ws / "a.py"
    file.write_text("one\ntwo\n")
    uri = editor.open(file)
    # An editor that watches the disk loads it by itself.
    writing = asyncio.create_task(puppet.write(file, "one\nTWO\n"))
    async with asyncio.timeout(5):
        while file.read_text() != "one\nTWO\n":
            await asyncio.sleep(0.005)
    editor.reload(uri, file)
    assert done(await writing)
    assert editor.all(EDIT) == []
    # One that does not is brought along.
    assert done(await puppet.write(file, "ONE\nTWO\n"))
    assert file.read_text() == "ONE\nTWO\n"
    assert editor.documents[uri].text == "ONE\nTWO\n"
    assert len(editor.all(EDIT)) == 1
    # It is as clean as before: what changes on disk is what counts.
    file.write_text("from outside\n")
    assert text(await puppet.read(file)) == "from outside\n"


async def test_G10_a_file_that_is_not_open_is_left_to_the_disk(
    vscode: LikeVsCode, editor: Editor, puppet: Puppet, ws: Path
) -> None:
    file, other = ws / "a.py", ws / "b.py"
    file.write_text("one\n")
    (ws / ".a.py.swp").write_bytes(b"b0VIM 8.2")
    other.write_text("other\n")
    editor.open(other)
    assert done(await puppet.write(file, "two\n"))
    assert file.read_text() == "two\n"
    uri = editor.open(file)
    editor.close_document(uri)
    assert done(await puppet.write(file, "three\n"))
    assert file.read_text() == "three\n"
    assert editor.all(EDIT) == []
    # A buffer for a file that does not exist yet.
    new = ws / "new.py"
    uri = editor.open(new, "")
    assert done(await puppet.write(new, "made\n"))
    assert new.read_text() == editor.documents[uri].text == "made\n"
    editor.seen = [message for message in editor.seen if message.get("method") != EDIT]
    # Unsaved text of a document that was closed is gone.
    uri = editor.open(file)
    editor.type(uri, 0, 0, "typed ")
    editor.close_document(uri)
    assert text(await puppet.read(file)) == "three\n"
    assert done(await puppet.write(file, "four\n"))
    assert file.read_text() == "four\n"
    assert editor.all(EDIT) == []


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
    began = time.monotonic()
    answers = await asyncio.gather(
        puppet.write(file, "one\nTWO\n"),
        # A file that is safe on disk does not wait for ever for an editor either.
        puppet.write(clean, "one\nTWO\n"),
    )
    assert time.monotonic() - began < 12
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


async def test_F04_what_the_agent_wrote_itself_is_not_written_twice(
    vscode: LikeVsCode, editor: Editor, puppet: Puppet, ws: Path
) -> None:
    file = ws / "a.go"
    file.write_text("one\ntwo\n")
    uri = editor.open(file)
    text(await puppet.read(file))
    file.write_text("one\ntwo\nthree\n")
    changed = file.stat()
    assert done(await puppet.write(file, "one\ntwo\nthree\n"))
    assert (file.stat().st_ino, file.stat().st_mtime_ns) == (changed.st_ino, changed.st_mtime_ns)
    assert editor.all(EDIT) == []
    editor.reload(uri, file)
    assert done(await puppet.write(file, "one\ntwo\nthree\n"))
    assert editor.all(EDIT) == []
    # The buffer says so already, unsaved.
    editor.type(uri, 0, 0, "ONE", delete=3)
    assert done(await puppet.write(file, "ONE\ntwo\nthree\n"))
    assert editor.all(EDIT) == []
    assert file.read_text() == "one\ntwo\nthree\n"
    # The user types elsewhere while the agent does both: its line comes once.
    text(await puppet.read(file))
    file.write_text("ONE\ntwo\nthree\nfour\n")
    editor.type(uri, 1, 3, " by the user")
    assert done(await puppet.write(file, "ONE\ntwo\nthree\nfour\n"))
    assert editor.documents[uri].text == "ONE\ntwo by the user\nthree\nfour\n"
    # CRLF on disk, LF in the request: the same text.
    dos = ws / "dos.txt"
    dos.write_bytes(b"a\r\nb\r\n")
    assert done(await puppet.write(dos, "a\nb\n"))
    assert dos.read_bytes() == b"a\r\nb\r\n"


async def test_F05_a_clean_file_says_what_is_on_disk(
    vscode: LikeVsCode, editor: Editor, puppet: Puppet, ws: Path
) -> None:
    file = ws / "a.txt"
    file.write_text("a\n")
    uri = editor.open(file)
    assert text(await puppet.read(file)) == "a\n"
    file.write_text("b\n")
    assert text(await puppet.read(file)) == "b\n"
    # Typed and taken back is clean again.
    editor.reload(uri, file)
    editor.type(uri, 0, 1, "x")
    assert text(await puppet.read(file)) == "bx\n"
    editor.type(uri, 0, 1, "", delete=1)
    file.write_text("c\n")
    assert text(await puppet.read(file)) == "c\n"
    # Saved is clean, also where the editor keeps the text to itself.
    editor.reload(uri, file)
    editor.type(uri, 0, 1, "d")
    editor.save(uri, file)
    file.write_text("e\n")
    assert text(await puppet.read(file)) == "e\n"
    editor.reload(uri, file)
    editor.type(uri, 0, 1, "f")
    file.write_text("ef\n")
    editor.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
    file.write_text("g\n")
    assert text(await puppet.read(file)) == "g\n"
    # Dirty is dirty, whatever happens on disk.
    editor.type(uri, 0, 2, "!")
    file.write_text("h\n")
    assert text(await puppet.read(file)) == "ef!\n"
    file.unlink()
    assert text(await puppet.read(file)) == "ef!\n"
    # Clean and deleted is missing.
    gone = ws / "gone.txt"
    gone.write_text("x\n")
    editor.open(gone)
    await editor.state()
    gone.unlink()
    assert refusal(await puppet.read(gone))[0] == NOT_FOUND


async def test_F05_the_editor_is_asked_to_tell_of_saves(
    idle_editor: Editor, ws: Path, settings: dict[str, Any]
) -> None:
    result = await idle_editor.initialize(ws, settings=settings)
    sync = result["capabilities"]["textDocumentSync"]
    assert sync["openClose"] is True
    assert sync["change"] == 2
    assert sync["save"] == {"includeText": True}


async def test_F14_the_final_newline_is_exact(
    vscode: LikeVsCode, editor: Editor, puppet: Puppet, ws: Path
) -> None:
    for number, (before, after) in enumerate(
        [
            ("a\nb", "a\nb\n"),
            ("a\nb\n", "a\nb"),
            ("a\nb", "a\nb\nc"),
            ("a\nb\n", "a\nb\nc\n"),
            ("a\nb\n", "a\nb\n\n"),
            ("a\n\n", "a\n"),
            ("a\n", ""),
            ("", "a\n"),
            ("", "a"),
            ("a", ""),
            ("é😀", "é😀\n"),
            ("a\r\nb", "a\r\nb\r\n"),
            ("a\r\nb\r\n", "a\r\nb"),
        ]
    ):
        clean, dirty = ws / f"clean{number}", ws / f"dirty{number}"
        # The user has typed and means what there is now.
        dirty.write_bytes(b"before")
        uri = editor.open(dirty)
        editor.set_text(uri, before)
        assert text(await puppet.read(dirty)) == before
        for target in (after, before, after):
            assert done(await puppet.write(dirty, target)), (before, after)
            assert editor.documents[uri].text == target
            assert await in_step(editor, puppet, dirty, uri) == target
        clean.write_bytes(before.encode())
        for target in (after, before, after):
            assert done(await puppet.write(clean, target))
            assert clean.read_bytes() == target.encode()


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


async def test_D16_an_edit_uses_only_what_the_editor_has_announced(
    idle_editor: Editor, puppet: Puppet, ws: Path, settings: dict[str, Any]
) -> None:
    can = capabilities()
    can["workspace"]["workspaceEdit"]["changeAnnotationSupport"] = {"groupsOnLabel": True}
    file = ws / "a.py"
    file.write_text("one\n")
    await idle_editor.initialize(ws, settings=settings, can=can)
    await idle_editor.execute("acp.session.new")
    uri = idle_editor.open(file)
    idle_editor.type(uri, 0, 3, "!")
    text(await puppet.read(file))
    assert done(await puppet.write(file, "uno!\n"))
    (params,) = idle_editor.all(EDIT)
    edit = params["edit"]
    assert params["label"]
    assert set(edit) == {"documentChanges", "changeAnnotations"}
    used = {one["annotationId"] for one in edit["documentChanges"][0]["edits"]}
    assert used == set(edit["changeAnnotations"])
    # It is no question: that the user was asked before.
    assert not any(one.get("needsConfirmation") for one in edit["changeAnnotations"].values())


async def test_D15_D16_an_editor_that_can_do_less(
    puppet: Puppet, ws: Path, settings: dict[str, Any]
) -> None:
    file, clean = ws / "a.py", ws / "clean.py"
    file.write_text("one\n")
    clean.write_text("one\n")
    can = capabilities()
    del can["workspace"]["workspaceEdit"]
    async with editing() as editor:
        await editor.initialize(ws, settings=settings, can=can)
        await editor.execute("acp.session.new")
        uri = editor.open(file)
        editor.type(uri, 0, 3, "!")

        def changes(params: Any) -> Any:
            ((changed, edits),) = params["edit"]["changes"].items()
            editor.change(changed, edits_of({"edits": edits}))
            return {"applied": True}

        editor.answers[EDIT] = changes
        text(await puppet.read(file))
        assert done(await puppet.write(file, "uno!\n"))
        assert editor.documents[uri].text == "uno!\n"
        assert done(await puppet.write(ws / "new.py", "new\n"))
        # Nothing but texts is ever edited through the editor: no file is made or removed.
        assert all(set(params["edit"]) == {"changes"} for params in editor.all(EDIT))
    del can["workspace"]["applyEdit"]
    async with editing() as editor:
        await editor.initialize(ws, settings=settings, can=can)
        await editor.execute("acp.session.new")
        uri = editor.open(file)
        editor.open(clean)
        editor.type(uri, 0, 3, "!")
        assert "takes no edits" in refusal(await puppet.write(file, "one\nmore\n"))[1]
        assert done(await puppet.write(clean, "two\n"))
        assert clean.read_text() == "two\n"
        assert file.read_text() == "one\n"
        assert editor.all(EDIT) == []


async def test_D18_lines_end_as_lsp_says(
    vscode: LikeVsCode, editor: Editor, puppet: Puppet, ws: Path
) -> None:
    file = ws / "a.txt"
    for character in "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029":
        before = f"a{character}b\nc\n"
        file.write_text(before, newline="")
        uri = editor.open(file)
        identity = {"uri": uri, "version": 2}
        place = {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 1}}
        change = {"range": place, "text": "Z"}
        params = {"textDocument": identity, "contentChanges": [change]}
        editor.notify("textDocument/didChange", params)
        editor.documents[uri].text, editor.documents[uri].version = f"a{character}b\nZ\n", 2
        assert text(await puppet.read(file)) == f"a{character}b\nZ\n"
        assert done(await puppet.write(file, f"a{character}B\nZ\n"))
        assert editor.documents[uri].text == f"a{character}B\nZ\n"
        start = editor.all(EDIT)[-1]["edit"]["documentChanges"][0]["edits"][0]["range"]["start"]
        assert start == {"line": 0, "character": 2}
        editor.close_document(uri)
    # Columns count UTF-16 units here.
    file.write_text("😀é x\n")
    uri = editor.open(file)
    editor.type(uri, 0, 4, "y")
    assert text(await puppet.read(file)) == "😀é yx\n"
    assert done(await puppet.write(file, "😀é yz\n"))
    place = editor.all(EDIT)[-1]["edit"]["documentChanges"][0]["edits"][0]["range"]["start"]
    assert place == {"line": 0, "character": 5}
    assert editor.documents[uri].text == "😀é yz\n"


async def test_D19_a_lone_carriage_return_in_unsaved_text(
    vscode: LikeVsCode, editor: Editor, puppet: Puppet, ws: Path
) -> None:
    file = ws / "a.txt"
    file.write_bytes(b"a\rb\nc\nd\n")
    uri = editor.open(file)
    # On disk there is no doubt.
    assert done(await puppet.write(file, "a\rb\nC\nd\n"))
    assert file.read_bytes() == b"a\rb\nC\nd\n"
    editor.set_text(uri, "a\rb\nC\ntyped\nd\n")
    assert text(await puppet.read(file)) == "a\rb\nC\ntyped\nd\n"
    edits = len(editor.all(EDIT))
    answer = await puppet.write(file, "a\rb\nC\ntyped\nD\n")
    if "error" in answer:
        # An editor that may count lines otherwise is sent no positions.
        assert "carriage return" in answer["error"]["message"]
        assert editor.documents[uri].text == "a\rb\nC\ntyped\nd\n"
        assert len(editor.all(EDIT)) == edits
    else:
        assert editor.documents[uri].text == "a\rb\nC\ntyped\nD\n"
    assert file.read_bytes() == b"a\rb\nC\nd\n"


async def test_D20_a_small_change_of_a_big_buffer_is_a_small_edit(
    vscode: LikeVsCode, editor: Editor, puppet: Puppet, ws: Path
) -> None:
    file = ws / "big.py"
    lines = [f"line {number}\n" for number in range(20_000)]
    file.write_text("".join(lines))
    uri = editor.open(file)
    editor.type(uri, 0, 0, "# typed\n")
    lines.insert(0, "# typed\n")

    async def known() -> bool:
        return text(await puppet.read(file)).startswith("# typed")

    # The agent's words and the editor's come by different ways.
    await editor.eventually(known)
    for change in ({10_000: "changed\n"}, {5: "", 19_000: "two\nlines\n", 20_000: "end\n"}):
        for number, line in change.items():
            lines[number] = line
        began = time.monotonic()
        assert done(await puppet.write(file, "".join(lines)))
        assert time.monotonic() - began < 3
        assert editor.documents[uri].text == "".join(lines)
        edits = editor.all(EDIT)[-1]["edit"]["documentChanges"][0]["edits"]
        assert sum(len(edit["newText"]) for edit in edits) < 100
        assert len(edits) <= 3


async def test_G11_edits_end_lines_as_the_document_does(
    vscode: LikeVsCode, editor: Editor, puppet: Puppet, ws: Path
) -> None:
    """By the plan edits carry the document's own line ends (the case asks for LF alone)."""
    for number, end in enumerate(["\n", "\r\n"]):
        file = ws / f"{number}.txt"
        file.write_bytes(f"one{end}two{end}three{end}".encode())
        uri = editor.open(file)
        editor.type(uri, 0, 3, "!")
        text(await puppet.read(file))
        for sent in ("\n", "\r\n"):
            content = sent.join(["one!", "two", "between", sent, "3", ""])
            assert done(await puppet.write(file, content))
            assert editor.documents[uri].text == content.replace(sent, end)
            for edit in editor.all(EDIT)[-1]["edit"]["documentChanges"][0]["edits"]:
                rest = edit["newText"].replace(end, "")
                assert "\n" not in rest
                assert "\r" not in rest
        assert file.read_bytes() == f"one{end}two{end}three{end}".encode()
        # An editor in which the user has a CRLF file open, clean.
        clean = ws / f"clean{number}.txt"
        clean.write_bytes(f"one{end}two{end}".encode())
        uri = editor.open(clean)
        assert done(await puppet.write(clean, "one\nTWO\n"))
        assert clean.read_bytes() == f"one{end}TWO{end}".encode()
        assert editor.documents[uri].text == f"one{end}TWO{end}"


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


@pytest.mark.parametrize("kind", ["vscode", "neovim"])
async def test_F01_no_line_is_lost_while_both_write(
    idle_editor: Editor, puppet: Puppet, ws: Path, settings: dict[str, Any], kind: str
) -> None:
    """The user types and saves while the agent reads and writes: what was typed is there
    once, and so is what the agent was told it has written."""
    editor, file, chance = idle_editor, ws / "a.txt", random.Random(kind)
    file.write_text("".join(f"base {number}\n" for number in range(30)))
    if kind == "neovim":
        await LikeNeovim.start(editor, ws, settings=settings)
    else:
        await editor.initialize(ws, settings=settings)
        editor.answers[EDIT] = LikeVsCode(editor)
    await editor.execute("acp.session.new")
    uri = editor.open(file)
    typed: list[str] = []
    written: list[str] = []
    refused: list[str] = []

    async def agent() -> None:
        for number in range(5):
            lines = text(await puppet.read(file)).splitlines(keepends=True)
            mine = f"agent {number}\n"
            lines.insert(chance.randrange(len(lines)), mine)
            await asyncio.sleep(chance.choice([0, 0.05]))
            answer = await puppet.write(file, "".join(lines))
            (written if "result" in answer else refused).append(mine)

    writing = asyncio.create_task(agent())
    while not writing.done():
        typed.append(f"user {len(typed)}\n")
        editor.type(uri, chance.randrange(30), 0, typed[-1])
        if chance.random() < 0.3:
            editor.save(uri, file)
        await asyncio.wait([writing], timeout=chance.choice([0.02, 0.1, 0.3]))
    await writing
    assert written
    after = await in_step(editor, puppet, file, uri)
    assert [after.count(line) for line in typed + written] == [1] * (len(typed) + len(written))
    assert [line for line in refused if after.count(line) > 1] == []
    await editor.execute("acp.review.revert")
    after = await in_step(editor, puppet, file, uri)
    assert [after.count(line) for line in typed] == [1] * len(typed)


# --- an editor like Neovim ----------------------------------------------------------------------


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


async def test_a_clean_buffer_of_neovim_follows_the_disk(
    neovim: LikeNeovim, idle_editor: Editor, puppet: Puppet, ws: Path
) -> None:
    editor, file = idle_editor, ws / "a.txt"
    file.write_bytes(b"one\r\ntwo\r\n")
    uri = editor.open(file)
    assert done(await puppet.write(file, "one\nTWO\n"))
    assert file.read_bytes() == b"one\r\nTWO\r\n"
    assert editor.documents[uri].text == "one\r\nTWO\r\n"
    await asyncio.sleep(0.2)
    file.write_bytes(b"outside\r\n")
    assert text(await puppet.read(file)) == "outside\r\n"


async def test_F14_neovim_keeps_the_final_newline_as_an_option(
    neovim: LikeNeovim, idle_editor: Editor, puppet: Puppet, ws: Path
) -> None:
    editor = idle_editor
    for before, content, after in [
        ("a\nb", "a\nB\n", "a\nB"),
        ("a\nb\n", "a\nB", "a\nB\n"),
        ("a\nb\n", "a\nb\nc\n", "a\nb\nc\n"),
        ("a\nb", "a\nb\nc", "a\nb\nc"),
    ]:
        file = ws / f"{len(before)}{len(after)}{len(content)}.txt"
        file.write_bytes(b"before\n")
        uri = editor.open(file)
        editor.set_text(uri, before)
        editor.flush()
        text(await puppet.read(file))
        assert done(await puppet.write(file, content)), (before, content)
        assert editor.documents[uri].text == after
        # Again and again: no blank line grows at the end.
        assert done(await puppet.write(file, content))
        assert editor.documents[uri].text == after


async def test_D19_neovim_takes_a_lone_carriage_return_for_a_character(
    neovim: LikeNeovim, idle_editor: Editor, puppet: Puppet, ws: Path
) -> None:
    editor, file = idle_editor, ws / "a.txt"
    file.write_bytes(b"a\rb\nc\nd\n")
    uri = editor.open(file)
    identity = {"uri": uri, "version": 2}
    place = {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 1}}
    change = {"range": place, "text": "X"}
    editor.notify("textDocument/didChange", {"textDocument": identity, "contentChanges": [change]})
    editor.documents[uri].text, editor.documents[uri].version = "a\rb\nX\nd\n", 2
    assert text(await puppet.read(file)) == "a\rb\nX\nd\n"
    assert done(await puppet.write(file, "a\rb\nX\nD\n"))
    assert editor.documents[uri].text == "a\rb\nX\nD\n"
    edit = neovim.seen[-1]["edit"]["documentChanges"][0]["edits"][0]
    assert edit["range"]["start"] == {"line": 2, "character": 0}


# --- paths ----------------------------------------------------------------------------------------


async def test_P01_links_lead_nowhere_outside(
    vscode: LikeVsCode, editor: Editor, puppet: Puppet, ws: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    (outside / "sub").mkdir(parents=True)
    secret = outside / "secret"
    secret.write_text("secret\n")
    (ws / "out").symlink_to(outside)
    (ws / "out-file").symlink_to(secret)
    (ws / "dangling").symlink_to(tmp_path / "not-yet")
    (ws / "dangling-folder").symlink_to(tmp_path / "no-folder-yet")
    (ws / "hop").symlink_to("out/sub")
    (ws / "up").symlink_to("../outside")
    (ws / "loop").symlink_to("loop")
    (ws / "in").mkdir()
    (ws / "in" / "a").write_text("inside\n")
    (ws / "back").symlink_to(outside / "home")
    (outside / "home").symlink_to(ws / "in")
    before = sorted([*ws.rglob("*"), *outside.rglob("*")])
    for path in (
        "out/secret",
        "out/new",
        "out/new-folder/new",
        "out-file",
        "dangling",
        "dangling-folder/new",
        "hop/new",
        "hop/../secret",
        "up/secret",
        "../outside/secret",
        "in/../../outside/secret",
        "in/../out/secret",
    ):
        code, message = refusal(await puppet.write(f"{ws}/{path}", "overwritten\n"))
        assert code == INVALID, path
        assert "outside" in message
        code, message = refusal(await puppet.read(f"{ws}/{path}"))
        assert code == INVALID, path
        assert "secret\n" not in message
        diff = {"type": "diff", "path": f"{ws}/{path}", "oldText": None, "newText": "x\n"}
        puppet.tool(path, content=[diff], locations=[{"path": f"{ws}/{path}"}])
    assert secret.read_text() == "secret\n"
    assert await editor.execute("acp.review.list") == []
    assert editor.all("window/showDocument") == []
    # Out and in again is in.
    assert text(await puppet.read(f"{ws}/back/a")) == "inside\n"
    assert done(await puppet.write(f"{ws}/back/a", "changed\n"))
    assert (ws / "in" / "a").read_text() == "changed\n"
    assert sorted([*ws.rglob("*"), *outside.rglob("*")]) == before


async def test_P02_components_are_followed_in_order(
    vscode: LikeVsCode, puppet: Puppet, ws: Path
) -> None:
    (ws / "a" / "b").mkdir(parents=True)
    (ws / "alias").symlink_to("a/b")
    (ws / "t.txt").write_text("at the top\n")
    (ws / "a" / "t.txt").write_text("where the kernel goes\n")
    assert text(await puppet.read(f"{ws}/alias/../t.txt")) == "where the kernel goes\n"
    assert done(await puppet.write(f"{ws}/alias/../t.txt", "written\n"))
    assert (ws / "a" / "t.txt").read_text() == "written\n"
    assert (ws / "t.txt").read_text() == "at the top\n"
    assert text(await puppet.read(f"{ws}//a/./b/.././t.txt")) == "written\n"
    assert text(await puppet.read(f"//{str(ws).lstrip('/')}/t.txt")) == "at the top\n"
    for path in ("", "\0", f"{ws}/a\0b", f"{ws}/nothing/../t.txt"):
        assert "error" in await puppet.read(path)
        assert "error" in await puppet.write(path, "x")
    assert (ws / "t.txt").read_text() == "at the top\n"


async def test_P03_a_sibling_is_outside_and_the_top_is_a_root(
    idle_editor: Editor, puppet: Puppet, ws: Path, tmp_path: Path, settings: dict[str, Any]
) -> None:
    evil = ws.with_name("ws-evil")
    evil.mkdir()
    (evil / "secret.txt").write_text("secret\n")
    await idle_editor.initialize(ws, settings=settings)
    await idle_editor.execute("acp.session.new")
    for path in (evil / "secret.txt", f"{ws}-evil/secret.txt", f"{ws}/../ws-evil/secret.txt"):
        assert refusal(await puppet.read(path))[0] == INVALID
        assert refusal(await puppet.write(path, "x"))[0] == INVALID
    assert refusal(await puppet.write(f"{ws}.new", "x"))[0] == INVALID
    assert (evil / "secret.txt").read_text() == "secret\n"
    await idle_editor.execute("acp.session.new", cwd="/")
    assert text(await puppet.read(evil / "secret.txt")) == "secret\n"
    assert done(await puppet.write(evil / "new.txt", "made\n"))
    assert (evil / "new.txt").read_text() == "made\n"
    # The other session's roots are its own.
    answer = await puppet.call("fs/read_text_file", path=f"{evil}/secret.txt", sessionId="S1")
    assert refusal(answer)[0] == INVALID


async def test_additional_directories_are_roots(
    idle_editor: Editor, puppet: Puppet, ws: Path, tmp_path: Path, settings: dict[str, Any]
) -> None:
    more, other = tmp_path / "more", tmp_path / "more-or-less"
    for folder in (more, other):
        folder.mkdir()
        (folder / "a.txt").write_text("here\n")
    puppet.capabilities = {"sessionCapabilities": {"additionalDirectories": {}}}
    await idle_editor.initialize(ws, settings=settings)
    await idle_editor.execute("acp.session.new", additionalDirectories=[str(more)])
    new = next(message for message in puppet.seen if message.get("method") == "session/new")
    assert new["params"]["additionalDirectories"] == [str(more)]
    assert (await idle_editor.state())["roots"] == [str(ws), str(more)]
    assert text(await puppet.read(more / "a.txt")) == "here\n"
    assert done(await puppet.write(more / "b" / "new.txt", "made\n"))
    assert (more / "b" / "new.txt").read_text() == "made\n"
    assert refusal(await puppet.read(other / "a.txt"))[0] == INVALID
    (listed,) = await idle_editor.execute("acp.review.list")
    assert listed["uri"] == path_to_uri(str(more / "b" / "new.txt"))
    with pytest.raises(LspError, match="absolute"):
        await idle_editor.execute("acp.session.new", additionalDirectories=["more"])


async def test_P05_without_a_folder_there_is_no_root(
    idle_editor: Editor, puppet: Puppet, tmp_path: Path, ws: Path, settings: dict[str, Any]
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "x.md").write_text("note\n")
    await idle_editor.initialize(settings=settings)
    idle_editor.open(notes / "x.md")
    with pytest.raises(LspError, match="cwd"):
        await idle_editor.execute("acp.session.new")
    with pytest.raises(LspError, match="No session"):
        await idle_editor.execute("acp.session.prompt", text="hello")
    assert puppet.connections == 0
    for cwd in ("notes", "", ".", f"{tmp_path}/nothing", str(notes / "x.md")):
        with pytest.raises(LspError):
            await idle_editor.execute("acp.session.new", cwd=cwd)
    assert puppet.connections == 0
    # The folder the user names is the root, and no other.
    await idle_editor.execute("acp.session.new", cwd=str(ws))
    assert refusal(await puppet.read(notes / "x.md"))[0] == INVALID
    assert refusal(await puppet.write(notes / "x.md", "x"))[0] == INVALID
    assert refusal(await puppet.read(Path.cwd() / "pyproject.toml"))[0] == INVALID
    assert done(await puppet.write(ws / "a", "x"))
    assert (notes / "x.md").read_text() == "note\n"


async def test_P07_P09_paths_are_absolute(
    vscode: LikeVsCode, puppet: Puppet, ws: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (ws / "src").mkdir()
    (ws / "src" / "m.py").write_text("m\n")
    for path in (
        "src/m.py",
        "./src/m.py",
        "~/x.txt",
        "~root/x.txt",
        "~",
        ".",
        path_to_uri(str(ws / "src" / "m.py")),
        "untitled:Untitled-1",
        "C:\\ws\\m.py",
        "$HOME/x",
    ):
        for answer in (await puppet.read(path), await puppet.write(path, "x\n")):
            code, message = refusal(answer)
            assert code == INVALID, path
            assert "absolute" in message
    assert (ws / "src" / "m.py").read_text() == "m\n"
    assert sorted(os.listdir(ws)) == ["src"]
    # A folder may be called ~, all the same.
    assert done(await puppet.write(f"{ws}/~/x.txt", "x\n"))
    assert (ws / "~" / "x.txt").read_text() == "x\n"


async def test_P13_a_workspace_opened_through_a_link(
    idle_editor: Editor, puppet: Puppet, ws: Path, tmp_path: Path, settings: dict[str, Any]
) -> None:
    link = tmp_path / "link"
    link.symlink_to(ws)
    file = ws / "a.py"
    file.write_text("one\ntwo\nthree\n")
    await idle_editor.initialize(link, settings=settings)
    idle_editor.answers[EDIT] = LikeVsCode(idle_editor)
    await idle_editor.execute("acp.session.new")
    uri = idle_editor.open(link / "a.py")
    idle_editor.type(uri, 0, 3, "!")
    for path in (file, link / "a.py"):
        assert text(await puppet.read(path)) == "one!\ntwo\nthree\n"
    assert done(await puppet.write(file, "one!\nTWO\nthree\n"))
    assert done(await puppet.write(link / "a.py", "one!\nTWO\nTHREE\n"))
    assert idle_editor.documents[uri].text == "one!\nTWO\nTHREE\n"
    assert file.read_text() == "one\ntwo\nthree\n"
    edited = {
        params["edit"]["documentChanges"][0]["textDocument"]["uri"]
        for params in idle_editor.all(EDIT)
    }
    assert edited == {uri}
    (change,) = await idle_editor.execute("acp.review.list")
    assert change["uri"] == uri
    # Following begins anew with a prompt.
    idle_editor.start("acp.session.prompt", text="go")
    await puppet.prompted()
    puppet.tool("t1", locations=[{"path": str(file), "line": 2}])
    assert (await idle_editor.nth("window/showDocument"))["uri"] == uri
    # A file that is not open is called by the name the user gave the folder.
    (ws / "b.py").write_text("x\n")
    puppet.tool("t2", locations=[{"path": str(ws / "b.py"), "line": 1}])
    await idle_editor.until(
        lambda: (
            path_to_uri(str(link / "b.py"))
            in [shown["uri"] for shown in idle_editor.all("window/showDocument")]
        )
    )


async def test_P14_a_document_has_many_spellings(
    idle_editor: Editor, puppet: Puppet, ws: Path, settings: dict[str, Any]
) -> None:
    """Drive letters as far as a POSIX machine can tell: the table of documents knows them."""
    puppet.capabilities = {"promptCapabilities": {"embeddedContext": True}}
    editor, file = idle_editor, ws / "a b.py"
    file.write_text("one\ntwo\n")
    await editor.initialize(ws, settings=settings)
    editor.answers[EDIT] = LikeVsCode(editor)
    await editor.execute("acp.session.new")
    folder = path_to_uri(str(ws))
    spellings = [
        f"{folder}/a%20b.py",
        f"{folder}/%61%20b.py",
        f"{folder}/a b.py",
        f"file://localhost{folder.removeprefix('file://')}/a%20b.py",
        f"file:{folder.removeprefix('file://')}/a%20b.py",
        f"FILE://{folder.removeprefix('file://')}/a%20%62.py",
    ]
    for opened, changed in zip(spellings, spellings[1:] + spellings[:1], strict=True):
        editor.open(file, uri=opened)
        place = {"start": {"line": 0, "character": 3}, "end": {"line": 0, "character": 3}}
        identity = {"uri": changed, "version": 2}
        change = {"range": place, "text": "!"}
        params = {"textDocument": identity, "contentChanges": [change]}
        editor.notify("textDocument/didChange", params)
        editor.documents[opened].text, editor.documents[opened].version = "one!\ntwo\n", 2
        assert text(await puppet.read(file)) == "one!\ntwo\n", changed
        assert done(await puppet.write(file, "one!\nTWO\n"))
        edit = editor.all(EDIT)[-1]["edit"]["documentChanges"][0]
        assert edit["textDocument"] == {"uri": opened, "version": 2}
        assert editor.documents[opened].text == "one!\nTWO\n"
        del editor.documents[opened]
        editor.notify("textDocument/didClose", {"textDocument": {"uri": changed}})
        assert text(await puppet.read(file)) == "one\ntwo\n"
        assert file.read_text() == "one\ntwo\n"
    drives = ["file:///c%3A/ws/a.py", "file:///C:/ws/a.py", "file:///c:/ws/a.py"]
    editor.open("", "on a drive\n", uri=drives[0])
    params = {
        "textDocument": {"uri": drives[1], "version": 2},
        "contentChanges": [{"text": "changed\n"}],
    }
    editor.notify("textDocument/didChange", params)
    for uri in drives:
        _, turn = editor.start("acp.session.prompt", text="see", context=[{"uri": uri}])
        prompt = await puppet.prompted()
        assert prompt["params"]["prompt"][-1]["resource"]["text"] == "changed\n"
        puppet.say("ok")
        puppet.end_turn(prompt)
        await turn


async def test_P17_odd_names(vscode: LikeVsCode, editor: Editor, puppet: Puppet, ws: Path) -> None:
    names = ["a b#c%20d+é😀.txt", "what?.md", "100%.txt", "a;b&c=d.txt", "[x]{y}.ts", "new\nline"]
    names += ["%2e%2e", "a:12", "back\\slash", "file:", "~", "-n", "'quote\"", "e\u0301.txt"]
    for name in names:
        file = ws / name
        file.write_text("one\n")
        assert text(await puppet.read(file)) == "one\n", name
        assert done(await puppet.write(file, "two\n"))
        assert file.read_text() == "two\n"
        uri = editor.open(file)
        editor.type(uri, 0, 3, "!")
        assert text(await puppet.read(file)) == "two!\n", name
        assert done(await puppet.write(file, "three!\n"))
        assert editor.documents[uri].text == "three!\n"
    assert sorted(os.listdir(ws)) == sorted(names)
    listed = await editor.execute("acp.review.list")
    assert [change["uri"] for change in listed] == [path_to_uri(str(ws / name)) for name in names]
    for uri in ("file:///%ff%fe", "file:///%zz", "file:///a%00b", "file:", "x", "http://%"):
        editor.open("", "text\n", uri=uri)
        editor.type(uri, 0, 0, "more ")
    assert text(await puppet.read(ws / names[0])) == "three!\n"
    assert editor.all("window/showMessage") == []


async def test_P19_documents_that_are_no_files(
    vscode: LikeVsCode, editor: Editor, puppet: Puppet, ws: Path
) -> None:
    file = ws / "a.py"
    file.write_text("on disk\n")
    for uri in (
        "untitled:Untitled-1",
        f"untitled:{file}",
        f"git:{file}?%7B%22ref%22%3A%22HEAD%22%7D",
        f"vscode-remote://ssh{file}",
        f"vscode-notebook-cell:{file}#W0",
        f"file://otherhost{file}",
    ):
        editor.open("", "something else\n", uri=uri)
        editor.type(uri, 0, 0, "typed ")
    assert text(await puppet.read(file)) == "on disk\n"
    assert done(await puppet.write(file, "written\n"))
    assert file.read_text() == "written\n"
    assert editor.all(EDIT) == []
    assert os.listdir(ws) == ["a.py"]
    _, turn = editor.start(
        "acp.session.prompt", text="see", context=[{"uri": "untitled:Untitled-1"}]
    )
    prompt = await puppet.prompted()
    block = prompt["params"]["prompt"][1]
    assert block["type"] == "text"
    assert "typed something else\n" in block["text"]
    assert re.search("Untitled-1", block["text"])
    puppet.say("ok")
    puppet.end_turn(prompt)
    await turn


async def test_a_document_open_twice(
    vscode: LikeVsCode, editor: Editor, puppet: Puppet, ws: Path, tmp_path: Path
) -> None:
    """Through two names of its folder: an unsaved one counts, two of them are refused."""
    (tmp_path / "link").symlink_to(ws)
    file = ws / "a.py"
    file.write_text("one\n")
    direct, linked = editor.open(file), editor.open(tmp_path / "link" / "a.py")
    editor.type(linked, 0, 3, "!")
    assert text(await puppet.read(file)) == "one!\n"
    assert done(await puppet.write(file, "ONE!\n"))
    assert editor.documents[linked].text == "ONE!\n"
    assert editor.documents[direct].text == "one\n"
    editor.change(direct, [TextEdit(Range(Position(0, 0), Position(0, 3)), "uno")])
    assert "twice" in refusal(await puppet.write(file, "x\n"))[1]
    assert "error" in await puppet.read(file)
    assert file.read_text() == "one\n"
