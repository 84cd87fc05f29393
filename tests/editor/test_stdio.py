"""Framing, JSON, the outgoing queue, and standard streams of every sort."""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_sidecar.editor.framing import (
    BadFrame,
    FrameDecoder,
    decode_json,
    encode_json,
    frame,
)
from acp_sidecar.editor.stdio import Outbox
from tests.editor.client import BOUND, SERVERS, serving, serving_by_shell
from tests.editor.client import frame as message_frame

# --- framing --------------------------------------------------------------------------------


def bodies(*pieces: bytes) -> list[bytes]:
    return [item for item in frames(*pieces) if isinstance(item, bytes)]


def frames(*pieces: bytes) -> list[bytes | BadFrame]:
    decoder = FrameDecoder()
    return [item for piece in pieces for item in decoder.feed(piece)]


@pytest.mark.parametrize(
    "header",
    [
        b"Content-Length: 2\r\n\r\n",
        b"content-length: 2\r\n\r\n",
        b"CONTENT-LENGTH:2\r\n\r\n",
        b"Content-Length :  2 \r\n\r\n",
        b"Content-Length: 2\n\n",
        b"Content-Length: 2\r\n\n",
        b"Content-Length: 002\r\n\r\n",
        b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: 2\r\n\r\n",
        b"Content-Length: 2\r\nContent-Type: application/vscode-jsonrpc; charset=utf8\r\n\r\n",
        b"X-Content-Length: 9\r\nContent-Length: 2\r\nX-Other: 1\r\n\r\n",
        b"\r\n\r\nContent-Length: 2\r\n\r\n",
        b"\xef\xbb\xbfContent-Length: 2\r\n\r\n",
    ],
)
def test_any_spelling_of_a_header_is_taken(header: bytes) -> None:
    assert frames(header + b"{}" + header + b"[]") == [b"{}", b"[]"]


@given(
    st.lists(st.binary(max_size=40), max_size=6),
    st.lists(st.integers(min_value=1, max_value=9), min_size=1),
)
def test_bodies_come_out_however_the_stream_is_cut(wanted: list[bytes], cuts: list[int]) -> None:
    stream = b"".join(frame(body) for body in wanted)
    decoder, got = FrameDecoder(), []
    while stream:
        for cut in cuts:
            got += decoder.feed(stream[:cut])
            stream = stream[cut:]
    assert got == wanted
    assert not decoder.incomplete


@pytest.mark.parametrize(
    "rubbish",
    [
        b"Content-Length: many\r\n\r\n",
        b"Content-Length: -2\r\n\r\n",
        b"Content-Length: 1e3\r\n\r\n",
        b"Content-Type: text\r\n\r\n",
        b'{"jsonrpc":"2.0","method":"unframed"}\n',
        b"a line of a shell's greeting\n",
        b"tail of a longer body}",
        b"\x00\xff\r\n\r\n",
    ],
)
def test_rubbish_is_skipped_up_to_the_next_header(rubbish: bytes) -> None:
    assert bodies(frame(b"1"), rubbish, frame(b"2"), frame(b"3")) == [b"1", b"2", b"3"]


def test_a_wrong_length_costs_no_more_than_its_neighbour() -> None:
    short = b'Content-Length: 4\r\n\r\n{"a":1}'
    assert bodies(short, frame(b"2"), frame(b"3")) == [b'{"a"', b"2", b"3"]


def test_endless_rubbish_is_not_kept() -> None:
    decoder = FrameDecoder()
    for _ in range(100):
        decoder.feed(b"x" * 10_000)
    assert len(decoder._buffer) <= 1 << 17
    assert decoder.feed(b"\nContent-Length: 1\r\n\r\n7") == [b"7"]


def test_a_body_above_the_limit_is_read_past() -> None:
    decoder = FrameDecoder(body_limit=10)
    got = decoder.feed(frame(b"x" * 11)[:-5])
    assert isinstance(got[0], BadFrame)
    assert "11 bytes" in got[0].reason
    assert decoder.feed(b"xxxxx" + frame(b"y" * 10)) == [b"y" * 10]


# --- JSON --------------------------------------------------------------------------------------

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(plain)
def test_json_survives_both_ways(value: Any) -> None:
    encoded = encode_json(value)
    expected = json.loads(json.dumps(_finite(value)))
    assert decode_json(encoded) == json.loads(encoded) == expected


def _finite(value: Any) -> Any:
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return None
    if isinstance(value, list):
        return [_finite(item) for item in value]
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    return value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b"123456789012345678901234567890", 123456789012345678901234567890),
        (b"-9223372036854775809", -9223372036854775809),
        (b"18446744073709551615", 18446744073709551615),
        (b"0.1234567890123456789012", 0.1234567890123456789012),
        (rb'"\ud83d\ude00"', "😀"),
        (rb'"\ude00\ud83d"', "\ufffd\ufffd"),
        (b'"\xff"', "\ufffd"),
        (b'{"a":NaN,"b":[Infinity]}', {"a": None, "b": [None]}),
        (b" \n{}\r\n ", {}),
    ],
)
def test_json_that_strict_parsers_refuse_or_round(text: bytes, value: Any) -> None:
    assert decode_json(text) == value


@pytest.mark.parametrize("text", [b"", b"{", b"{} {}", b"nul", b"[" * 10_000, b"1" * 5_000])
def test_what_is_no_json_is_a_value_error(text: bytes) -> None:
    with pytest.raises(ValueError):
        decode_json(text)


def test_odd_values_are_written_as_strict_json() -> None:
    odd = {"half": "a\ud800", "not a number": float("nan"), "big": 2**70, 5: (1, 2)}
    assert json.loads(encode_json(odd)) == {
        "half": "a\ufffd",
        "not a number": None,
        "big": 2**70,
        "5": [1, 2],
    }
    for hopeless in (object(), {"a": {1}}, [b"bytes"]):
        with pytest.raises(TypeError):
            encode_json(hopeless)


# --- the outgoing queue --------------------------------------------------------------------------


class Pipe:
    """A sink that takes as many messages as it is told to."""

    def __init__(self, outbox: Outbox) -> None:
        self.outbox = outbox
        self.taken: list[bytes] = []
        self.room = 0

    def write(self, data: bytes, /) -> None:
        self.taken.append(data)
        self.room -= 1
        if self.room <= 0:
            self.outbox.pause_writing()

    def make_room(self, messages: int) -> None:
        self.room = messages
        self.outbox.resume_writing()

    def close(self) -> None:
        pass

    def abort(self) -> None:
        self.outbox.connection_lost(None)


def stuffed(limit: int = 1 << 20) -> tuple[Outbox, Pipe]:
    outbox = Outbox(limit)
    pipe = Pipe(outbox)
    outbox.attach(pipe)
    outbox.send(b"first")
    assert outbox.congested
    return outbox, pipe


def test_of_a_droppable_key_the_latest_arrives_in_its_own_place() -> None:
    outbox, pipe = stuffed()
    outbox.send(b"A1", droppable="A")
    outbox.send(b"B1", droppable="B")
    outbox.send(b"response")
    outbox.send(b"A2", droppable="A")
    outbox.send(b"note")
    pipe.make_room(100)
    assert pipe.taken == [b"first", b"B1", b"response", b"A2", b"note"]
    assert outbox.waiting_bytes == 0
    assert not outbox.congested


def test_what_waits_goes_out_as_the_client_takes_it() -> None:
    outbox, pipe = stuffed()
    for number in range(6):
        outbox.send(b"%d" % number)
    pipe.make_room(2)
    outbox.send(b"late")
    assert pipe.taken == [b"first", b"0", b"1"]
    pipe.make_room(100)
    assert pipe.taken == [b"first", b"0", b"1", b"2", b"3", b"4", b"5", b"late"]


def test_only_notifications_are_bounded() -> None:
    outbox, pipe = stuffed(limit=10)
    outbox.send(b"n" * 8, expendable=True)
    outbox.send(b"n" * 8, expendable=True)
    outbox.send(b"r" * 100)
    outbox.send(b"n", expendable=True)
    pipe.make_room(100)
    assert pipe.taken == [b"first", b"n" * 8, b"r" * 100]


def test_before_the_pipe_is_there_nothing_is_lost() -> None:
    outbox = Outbox()
    outbox.send(b"early")
    pipe = Pipe(outbox)
    outbox.attach(pipe)
    assert pipe.taken == [b"early"]


async def test_the_loss_of_the_pipe_is_told_once_and_wakes_who_waits() -> None:
    outbox, _ = stuffed()
    lost: list[None] = []
    outbox.on_lost = lambda: lost.append(None)
    outbox.send(b"waiting")
    waiting = asyncio.create_task(outbox.writable())
    await asyncio.sleep(0)
    assert not waiting.done()
    outbox.connection_lost(BrokenPipeError())
    async with asyncio.timeout(BOUND):
        await waiting
    outbox.send(b"nowhere to go")
    assert (len(lost), outbox.waiting_bytes) == (1, 0)


async def test_closing_waits_for_the_client_only_so_long() -> None:
    outbox, pipe = stuffed()
    outbox.send(b"waiting")
    async with asyncio.timeout(BOUND):
        await outbox.close(0.01)
    assert pipe.taken == [b"first", b"waiting"]


@pytest.mark.skipif(sys.platform == "win32", reason="a pipe of asyncio's is POSIX")
async def test_a_pipe_that_closes_as_its_time_is_over_is_closed() -> None:
    outbox = Outbox()
    read, write = os.pipe()
    pipe = os.fdopen(write, "wb", 0)
    writer, _ = await asyncio.get_running_loop().connect_write_pipe(lambda: outbox, pipe)
    outbox.attach(writer)
    outbox.send(b"the last word")
    await outbox.close(0)
    with os.fdopen(read, "rb") as other:
        assert other.read() == b"the last word"


# --- standard streams that are no pipes ------------------------------------------------------

SESSION = b"".join(
    message_frame({"jsonrpc": "2.0", **message})
    for message in (
        {"id": 1, "method": "initialize", "params": {"capabilities": {}}},
        {"method": "initialized", "params": {}},
        {"id": 2, "method": "acp/echo", "params": {"a": 1}},
        {"id": 3, "method": "shutdown"},
        {"method": "exit"},
    )
)


def assert_served(output: bytes) -> None:
    answers = [json.loads(body) for body in bodies(output)]
    assert [answer["id"] for answer in answers] == [1, 2, 3]
    assert answers[1]["result"] == {"a": 1}


def command(notes: Path) -> list[str]:
    return [sys.executable, str(SERVERS / "basic.py"), str(notes)]


def test_regular_files(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(SESSION)
    with (tmp_path / "in").open("rb") as stdin, (tmp_path / "out").open("wb") as stdout:
        done = subprocess.run(
            command(tmp_path / "notes"), stdin=stdin, stdout=stdout, timeout=BOUND, check=False
        )
    assert done.returncode == 0
    assert_served((tmp_path / "out").read_bytes())
    assert (tmp_path / "notes").read_text().splitlines()[-1] == "stopped"


def test_one_socket_for_both_directions(tmp_path: Path) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        process = subprocess.Popen(command(tmp_path / "notes"), stdin=theirs, stdout=theirs)
        theirs.close()
        ours.settimeout(BOUND)
        ours.sendall(SESSION)
        output = b""
        while data := ours.recv(65536):
            output += data
        assert process.wait(BOUND) == 0
    assert_served(output)


def test_a_socket_for_each_direction(tmp_path: Path) -> None:
    """What Node and libuv give their children instead of pipes."""
    ours_in, stdin = socket.socketpair()
    ours_out, stdout = socket.socketpair()
    with ours_in, ours_out, stdin, stdout:
        process = subprocess.Popen(command(tmp_path / "notes"), stdin=stdin, stdout=stdout)
        stdin.close()
        stdout.close()
        ours_out.settimeout(BOUND)
        ours_in.sendall(SESSION)
        output = b""
        while data := ours_out.recv(65536):
            output += data
        assert process.wait(BOUND) == 0
    assert_served(output)


@pytest.mark.skipif(sys.platform == "win32", reason="terminals of POSIX")
def test_a_terminal(tmp_path: Path) -> None:
    """Somebody starts the server by hand: it answers, and Ctrl-D ends it."""
    import pty
    import tty

    ours, theirs = pty.openpty()
    tty.setraw(theirs)
    process = subprocess.Popen(
        command(tmp_path / "notes"), stdin=theirs, stdout=theirs, stderr=subprocess.DEVNULL
    )
    os.write(ours, SESSION)
    output = b""
    while len(bodies(output)) < 3:
        output += os.read(ours, 65536)
    assert process.wait(BOUND) == 0
    assert_served(output)
    assert os.get_blocking(theirs), "the terminal's other users keep it as it was"
    os.close(ours)
    os.close(theirs)


@pytest.mark.parametrize("redirect", ["< /dev/null", "<&-"])
async def test_no_input_at_all_is_the_end(tmp_path: Path, redirect: str) -> None:
    notes = tmp_path / "notes"
    async with serving_by_shell(redirect, notes) as client:
        assert await client.ended() == 1
    assert client.stderr == b""
    assert notes.read_text().splitlines() == ["stopping", "stopped"]


@pytest.mark.parametrize("redirect", ["> /dev/null", ">&-", "> /dev/full"])
async def test_an_output_nobody_reads_does_no_harm(tmp_path: Path, redirect: str) -> None:
    notes = tmp_path / "notes"
    async with serving_by_shell(redirect, notes) as client:
        client.raw(SESSION)
        await client.ended()
    assert notes.read_text().splitlines() == ["initialize", "stopping", "stopped"]


async def test_logs_do_not_stop_the_loop_when_nobody_reads_them(tmp_path: Path) -> None:
    """A megabyte of log lines into a standard error that is full, and still an answer."""
    script = tmp_path / "talkative.py"
    script.write_text(
        "import logging\n"
        "from acp_sidecar.editor.ending import leave\n"
        "from acp_sidecar.editor.logs import Logs\n"
        "from acp_sidecar.editor.server import SidecarServer\n"
        "logs = Logs('INFO')\n"
        "server = SidecarServer()\n"
        "def talk(params):\n"
        "    for number in range(10_000):\n"
        "        logging.getLogger('talk').info('%d %s', number, 'x' * 100)\n"
        "    return 'said'\n"
        "server.handle('acp/talk', talk)\n"
        "code = server.run()\n"
        "logs.stop()\n"
        "leave(code)\n"
    )
    async with serving(str(script)) as client:
        client._drainer.cancel()
        await client.initialize()
        assert await client.call("acp/talk") == "said"
        await client.call("shutdown")
        client.notify("exit")
        client._drainer = asyncio.create_task(client._drain_stderr())
        assert await client.ended() == 0
    assert re.search(rb"INFO talk: 0 x+", client.stderr)


def test_logs_go_to_a_file_of_the_users_alone(tmp_path: Path) -> None:
    path = tmp_path / "sidecar.log"
    code = (
        "import logging, sys, pathlib\n"
        "from acp_sidecar.editor.logs import Logs\n"
        "logs = Logs('INFO', pathlib.Path(sys.argv[1]))\n"
        "logging.getLogger('a').info('said')\n"
        "logging.getLogger('pygls').info('a whole message')\n"
        "logs.stop()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, timeout=BOUND, check=True
    )
    assert done.stderr == b""
    assert path.read_text().endswith("INFO a: said\n")
    assert path.stat().st_mode & 0o777 == 0o600
