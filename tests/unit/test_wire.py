"""Framing and reading of the agent's wire, without a process."""

from __future__ import annotations

import json
import math
import sys
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_sidecar.acp import wire
from acp_sidecar.acp.jsonrpc import (
    Error,
    Malformed,
    Message,
    Noise,
    Notification,
    Request,
    Response,
)
from acp_sidecar.acp.model import UNSET
from acp_sidecar.acp.wire import Decoder, LineTooLong, encode

PIPE_CHUNK = 65536


def frame(**fields: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **fields}).encode() + b"\n"


def read(data: bytes, *, chunk: int = PIPE_CHUNK, limit: int = wire.DEFAULT_LINE_LIMIT):
    decoder = Decoder(limit)
    messages: list[Message] = []
    for start in range(0, len(data), chunk):
        messages += decoder.feed(data[start : start + chunk])
    return messages + decoder.eof()


def text_update(text: str) -> Notification:
    return Notification("session/update", {"text": text})


# --- T01: long lines ------------------------------------------------------------------


@pytest.mark.parametrize("size", [65_535, 65_536, 65_537, 20_000_000])
def test_T01_a_long_line_passes(size: int) -> None:
    line = encode(text_update("x" * size))
    assert read(line + frame(method="next")) == [text_update("x" * size), Notification("next")]


def test_T01_200_mb_in_one_line_pass_under_the_default_limit() -> None:
    decoder = Decoder()
    piece = b"x" * PIPE_CHUNK
    decoder.feed(b'{"jsonrpc":"2.0","method":"big","params":["')
    for _ in range(200_000_000 // PIPE_CHUNK):
        assert decoder.feed(piece) == []
    (message,) = decoder.feed(b'"]}\n')
    assert isinstance(message, Notification)
    assert len(message.params[0]) > 199_000_000


@pytest.mark.parametrize("chunk", [1, 7, PIPE_CHUNK])
def test_T01_a_line_at_the_limit_passes_and_one_above_it_does_not(chunk: int) -> None:
    line = frame(method="m", params={"t": "y" * 100})
    limit = len(line) - 1
    assert len(read(line * 3, chunk=chunk, limit=limit)) == 3
    with pytest.raises(LineTooLong) as caught:
        read(frame(method="m", params={"t": "y" * 101}), chunk=chunk, limit=limit)
    assert "limits.lineBytes" in str(caught.value)
    assert str(limit) in str(caught.value)


def test_T01_above_the_limit_is_found_before_the_line_ends() -> None:
    decoder = Decoder(1000)
    with pytest.raises(LineTooLong):
        for _ in range(100):
            decoder.feed(b"z" * 11)


@pytest.mark.parametrize("rest", [b"z" * 200, b"z" * 200 + b"\n" + frame(method="after")])
def test_T01_what_came_before_a_line_above_the_limit_is_not_lost(rest: bytes) -> None:
    with pytest.raises(LineTooLong) as caught:
        Decoder(100).feed(frame(method="before") + rest)
    assert caught.value.messages == [Notification("before")]


def test_T01_many_short_lines_in_one_chunk_are_not_taken_for_a_long_one() -> None:
    assert len(read(frame(method="m") * 1000, limit=60)) == 1000


def test_an_unfinished_line_is_kept_as_it_came() -> None:
    """To join its pieces again at each would be quadratic work in a line of 64 MiB."""
    chunks = [b"z" * 60_000 for _ in range(100)]
    held = [sys.getrefcount(chunk) for chunk in chunks]
    decoder = Decoder()
    assert not any(decoder.feed(chunk) for chunk in chunks)
    assert [sys.getrefcount(chunk) for chunk in chunks] == [count + 1 for count in held]


def test_a_line_of_64_mib_is_read_whole() -> None:
    (message,) = read(encode(text_update("a" * (64 << 20))))
    assert isinstance(message, Notification)
    assert len(encode(message)) > 64 << 20


# --- T02: what is no message -----------------------------------------------------------

NOISE = [
    b"Welcome",
    b"\x1b[2K",
    b'[info] {"a":1}',
    b'"text"',
    b"42",
    b"null",
    b"[]",
    b"[1,2,3]",
    b"{}",
    b'{"level":"info","msg":"started"}',
    b'{"id":7,"level":"info"}',
    b'{"result":"ok"}',
    b'{"method":5}',
    b"{not json",
    b"{",
    b"}",
    b"[[]]",
    b"true",
    b"-1e5",
    b"\xff\xfe\x00\x01",
    b"\xe2\x9c\x94 Loaded cached credentials.",
    b'<- {"jsonrpc":"2.0","id":1,"result":{}}',
    b'DEBUG recv {"jsonrpc":"2.0","method":"session/update"}',
    b'{"level":"debug"} {"jsonrpc":"2.0","method":"session/update"}',
    b'{"jsonrpc":"2.0","method":"m"} was sent',
]


@pytest.mark.parametrize("line", NOISE)
def test_T02_a_line_that_is_no_message_is_noise_and_the_next_one_is_read(line: bytes) -> None:
    data = frame(method="before") + line + b"\n" + frame(method="after")
    assert read(data) == [Notification("before"), Noise(line), Notification("after")]


@pytest.mark.parametrize("line", [b"", b"\r", b"   ", b"\t\r"])
def test_T02_blank_lines_are_nothing_at_all(line: bytes) -> None:
    assert read(line + b"\n" + frame(method="after")) == [Notification("after")]


@pytest.mark.parametrize(
    "codes", [b"\x1b[2K", b"\r\x1b[K", b"\x1b[?25l\x1b[1G", b"\xef\xbb\xbf", b"\x1b]0;t\x07", b"\0"]
)
def test_T02_terminal_codes_around_a_message_do_not_hide_it(codes: bytes) -> None:
    line = frame(id=1, result={"t": "ü"}).rstrip()
    assert read(codes + line + b"\n") == [Response(1, {"t": "ü"})]
    assert read(line + codes + b"\n") == [Response(1, {"t": "ü"})]


def test_T02_messages_that_lack_the_newline_between_them_are_all_read() -> None:
    line = frame(method="a").rstrip() + b" " + frame(id=1, result=None).rstrip() + b"\x1b[0m\n"
    assert read(line) == [Notification("a"), Response(1, None)]


@pytest.mark.parametrize("prefix", [b"", b"\x1b[2K"])
def test_a_broken_message_is_answered_as_a_parse_error_with_a_null_id(prefix: bytes) -> None:
    (message,) = read(prefix + b'{"jsonrpc":"2.0","id":1,"method":"x"\n')
    assert isinstance(message, Malformed)
    assert (message.error.code, message.id) == (-32700, None)


def test_nesting_deeper_than_can_be_read_costs_the_line_only() -> None:
    deep = b'{"jsonrpc":"2.0","id":1,"method":"m","params":' + b"[" * 200_000 + b"]" * 200_000
    first, second = read(deep + b"}\n" + frame(method="after"))
    assert isinstance(first, Malformed)
    assert second == Notification("after")


# --- T04: where lines end ----------------------------------------------------------------


@pytest.mark.parametrize("odd", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "😀", "中"])
def test_T04_only_a_newline_ends_a_line(odd: str) -> None:
    # Written raw, as JSON allows for all but the control characters below U+0020.
    text = odd if ord(odd[0]) >= 0x20 else f"\\u{ord(odd):04x}"
    raw = ('{"jsonrpc":"2.0","method":"m","params":["a' + text + 'b"]}\n').encode()
    assert read(raw) == [Notification("m", [f"a{odd}b"])]
    assert read(raw, chunk=1) == [Notification("m", [f"a{odd}b"])]


@pytest.mark.parametrize("odd", [b"\x0b", b"\x0c", b"\r"])
def test_T04_raw_control_characters_do_not_split_a_line(odd: bytes) -> None:
    # Not valid in a JSON string: the whole line is one broken message, not two.
    messages = read(b'{"jsonrpc":"2.0","method":"m","params":["a' + odd + b'b"]}\n')
    assert len(messages) == 1


def test_T04_a_carriage_return_before_the_newline_is_no_part_of_the_message() -> None:
    data = frame(method="a").replace(b"\n", b"\r\n") * 2
    assert read(data) == [Notification("a")] * 2
    assert read(data, chunk=1) == [Notification("a")] * 2


def test_T04_a_chunk_that_ends_with_the_newline_completes_the_message() -> None:
    decoder = Decoder()
    assert decoder.feed(frame(method="a")) == [Notification("a")]
    assert decoder.feed(frame(method="b") + frame(method="c")[:-1]) == [Notification("b")]
    assert decoder.feed(b"\n") == [Notification("c")]
    assert decoder.eof() == []


def test_the_last_line_needs_no_newline() -> None:
    decoder = Decoder()
    assert decoder.feed(frame(id=3, result="done").rstrip()) == []
    assert decoder.eof() == [Response(3, "done")]
    assert decoder.eof() == []


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
messages = st.one_of(
    st.builds(Notification, st.text(), json_values.filter(lambda value: value is not UNSET)),
    st.builds(Request, st.integers() | st.text() | st.none(), st.text(), st.just({"a": [1]})),
    st.builds(Response, st.integers() | st.text(), json_values),
    st.builds(lambda code, text: Response(1, UNSET, Error(code, text)), st.integers(), st.text()),
)


@given(st.lists(messages, max_size=6), st.integers(1, 40))
def test_what_is_written_is_read_again_however_it_is_cut(sent: list[Message], chunk: int) -> None:
    data = b"".join(encode(message) for message in sent)
    assert data.count(b"\n") == len(sent)
    assert read(data, chunk=chunk) == sent


@given(st.binary(max_size=200))
def test_no_bytes_can_break_the_decoder(data: bytes) -> None:
    assert read(data + b"\n" + frame(method="after"))[-1] == Notification("after")


# --- T09: ids ------------------------------------------------------------------------------


IDS = ["0", '"0"', '"a"', '""', "null", "1.5", "1.0", "true", "false", "-1", '"ü\\u2028"']
BIG_IDS = [str(2**53 + 1), str(2**64 - 1), str(2**64), str(-(2**63) - 1)]


@pytest.mark.parametrize("written", IDS + BIG_IDS)
def test_T09_an_id_comes_back_as_the_same_value_of_the_same_type(written: str) -> None:
    line = '{"jsonrpc":"2.0","id":' + written + ',"method":"m"}\n'
    (message,) = read(line.encode())
    assert isinstance(message, Request)
    answer = json.loads(encode(Response(message.id, {})))["id"]
    wanted = json.loads(written)
    assert answer == wanted
    assert type(answer) is type(wanted)


def test_T09_a_null_id_is_a_request_and_no_id_is_a_notification() -> None:
    with_null, without = read(frame(id=None, method="m") + frame(method="m"))
    assert with_null == Request(None, "m")
    assert without == Notification("m")


@pytest.mark.parametrize("odd", [{}, [], {"a": 1}, [1]])
def test_T09_an_id_that_is_no_scalar_makes_the_request_malformed(odd: Any) -> None:
    (message,) = read(frame(id=odd, method="m"))
    assert isinstance(message, Malformed)
    assert (message.error.code, message.id) == (-32600, None)


# --- malformed messages ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "code", "answer_id"),
    [
        ({"id": 4, "method": 17}, -32600, 4),
        ({"id": "x", "method": None}, -32600, "x"),
        ({"method": 1, "params": "bar"}, -32600, None),
        ({"id": 4, "method": "m", "params": "bar"}, -32602, 4),
        ({"id": 4, "method": "m", "params": 3}, -32602, 4),
        ({"foo": "boo"}, -32600, None),
    ],
)
def test_a_malformed_message_is_answered_by_its_own_id(
    fields: dict[str, Any], code: int, answer_id: Any
) -> None:
    (message,) = read(frame(**fields))
    assert isinstance(message, Malformed)
    answer = json.loads(encode(message))
    assert answer["error"]["code"] == code
    assert answer["id"] == answer_id


def test_another_version_of_json_rpc_is_refused_where_it_can_be_answered() -> None:
    data = b'{"jsonrpc":"1.0","id":2,"method":"m"}\n{"jsonrpc":"1.0","method":"m"}\n'
    first, second = read(data)
    assert isinstance(first, Malformed)
    assert isinstance(second, Noise)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"id":7,"method":"m","params":{}}', Request(7, "m", {})),
        (b'{"method":"m"}', Notification("m")),
        (b'{"id":3,"result":null}', Response(3, None)),
        (b'{"id":3,"error":{"code":1,"message":"x"}}', Response(3, UNSET, Error(1, "x"))),
    ],
)
def test_a_missing_version_is_forgiven(line: bytes, message: Message) -> None:
    assert read(line + b"\n") == [message]


@pytest.mark.parametrize("params", [None, {}, [], "text", 5])
def test_params_of_a_notification_are_handed_on_whatever_they_are(params: Any) -> None:
    assert read(frame(method="m", params=params)) == [Notification("m", params)]


def test_unknown_members_of_a_message_do_no_harm() -> None:
    assert read(frame(method="m", id=1, extra={"jsonrpc": "2.0"}, traceparent="00-x")) == [
        Request(1, "m")
    ]


def test_a_nested_jsonrpc_key_is_content() -> None:
    params = {"content": {"jsonrpc": "2.0", "id": 1, "method": "x"}, "_meta": {"a": None}}
    assert read(frame(method="m", params=params)) == [Notification("m", params)]


# --- responses -------------------------------------------------------------------------------


def test_T17_a_null_result_is_a_result() -> None:
    assert read(frame(id=3, result=None)) == [Response(3, None)]
    assert read(frame(id=3, result=None, error=None)) == [Response(3, None)]


@pytest.mark.parametrize("fields", [{}, {"error": None}])
def test_T10_neither_result_nor_error_is_kept_apart_from_null(fields: dict[str, Any]) -> None:
    assert read(frame(id=3, **fields)) == [Response(3, UNSET, None)]


def test_T10_a_message_with_a_method_is_a_request_whatever_else_it_holds() -> None:
    assert read(frame(id=1, method="m", result={})) == [Request(1, "m")]


@pytest.mark.parametrize(
    ("error", "read_as"),
    [
        ({"code": -32000, "message": "auth"}, Error(-32000, "auth")),
        ({"code": -32000, "message": "auth", "data": "text"}, Error(-32000, "auth", "text")),
        ({"code": -32000, "message": "auth", "data": None}, Error(-32000, "auth", None)),
        ({"code": -32000.0, "message": "auth"}, Error(-32000, "auth")),
        ({"message": "no code"}, Error(-32603, "no code")),
        ({"code": "E1", "message": "text code"}, Error(-32603, "text code")),
        ("just text", Error(-32603, "just text")),
        ({"code": 5}, Error(5, "the agent answered with an error")),
    ],
)
def test_an_incomplete_error_is_still_an_error(error: Any, read_as: Error) -> None:
    assert read(frame(id=1, error=error)) == [Response(1, UNSET, read_as)]


# --- T18: batches ------------------------------------------------------------------------------


def test_T18_an_array_of_messages_is_taken_apart() -> None:
    """The case would have v1 skip arrays; the sidecar takes them apart on every version."""
    batch = [
        {"jsonrpc": "2.0", "method": "n"},
        {"jsonrpc": "2.0", "id": 4, "method": "r"},
        17,
        {"jsonrpc": "2.0", "id": 5, "result": {}},
        {"jsonrpc": "2.0", "id": 6, "method": 1},
    ]
    notification, request, noise, response, malformed = read(orjson.dumps(batch) + b"\n")
    assert notification == Notification("n")
    assert request == Request(4, "r")
    assert noise == Noise(b"17")
    assert response == Response(5, {})
    assert isinstance(malformed, Malformed)
    assert malformed.id == 6


# --- what orjson refuses -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("params", "value"),
    [
        (b'["\\ud800"]', ["\ud800"]),
        (b"[NaN]", None),
        (b"[123456789012345678901234567890]", None),
        (b'["caf\xe9"]', ["caf\udce9"]),
    ],
)
def test_F18_a_line_that_is_odd_but_readable_is_read(params: bytes, value: Any) -> None:
    (message,) = read(b'{"jsonrpc":"2.0","method":"m","params":' + params + b"}\n")
    assert isinstance(message, Notification)
    if value is not None:
        assert message.params == value


def test_F18_lone_surrogates_are_written_as_replacement_characters() -> None:
    line = encode(Notification("m", {"a\ud800": ["x\udfffy", "\ud83d\ude00"], "n": 2**70}))
    assert line.endswith(b"\n")
    assert json.loads(line)["params"] == {"a\ufffd": ["x\ufffdy", "😀"], "n": 2**70}


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_numbers_json_does_not_know_are_written_as_null(value: float) -> None:
    assert json.loads(encode(Response(1, [value])))["result"] == [None]
    assert json.loads(encode(Response(1, [value, "\ud800"])))["result"] == [None, "\ufffd"]


def test_a_value_that_is_no_json_is_a_fault_of_the_caller() -> None:
    with pytest.raises(TypeError):
        encode(Response(1, object()))


def test_a_line_is_one_line_whatever_is_in_it() -> None:
    line = encode(Notification("m", {"t": "a\nb\r\n\u2028c"}))
    assert line.count(b"\n") == 1
    assert read(line) == [Notification("m", {"t": "a\nb\r\n\u2028c"})]
