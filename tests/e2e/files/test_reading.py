"""Reading files through the client: windows of lines, what has no text, how much is read."""

from __future__ import annotations

import json
import os
import socket
import stat
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.editor import Editor, LspError
from tests.e2e.files.answers import EDIT, INVALID, NOT_FOUND, done, refusal, text
from tests.e2e.manners import LikeVsCode
from tests.e2e.puppet import Puppet


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
    assert stat.S_ISFIFO((ws / "fifo").lstat().st_mode)
    assert (ws / "folder").is_dir()
    # Nothing sits in a thread that the end would have to wait for.
    assert await editor.close() == 0
    assert b"took too long" not in editor.stderr


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
