"""Messages keep what is in them, and a malformed one costs only itself."""

from __future__ import annotations

import pytest

from tests.editor.client import Client
from tests.editor.server.documents import URI
from tests.editor.server.odd import ODD

# --- messages keep what is in them -----------------------------------------------


@pytest.mark.parametrize("method", ["acp/echo", "acp/echoLater"])
async def test_parameters_arrive_as_they_were_sent(client: Client, method: str) -> None:
    assert await client.call(method, ODD) == ODD
    assert await client.call(method, [1, ODD]) == [1, ODD]
    assert await client.call(method) == {}


async def test_command_arguments_arrive_as_they_were_sent(client: Client) -> None:
    assert await client.execute("test.argument", ODD) == ODD
    assert client.seen[-1]["result"]["big"] == 2**80


async def test_half_surrogates_do_not_cost_a_message(client: Client) -> None:
    body = rb'{"jsonrpc":"2.0","id":"s","method":"acp/echo","params":{"t":"a\ud83dz","\udc00":1}}'
    client.raw(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    assert (await client.response("s"))["result"] == {"t": "a\ufffdz", "\ufffd": 1}


async def test_ids_come_back_as_they_were(client: Client) -> None:
    for request_id in ("a", "1", 0, -3, 1.5, 2**70, ""):
        client.request("acp/echoLater", {"a": 1}, request_id)
        assert (await client.response(request_id))["result"] == {"a": 1}


async def test_an_empty_lua_table_is_an_empty_object(client: Client) -> None:
    assert await client.call("acp/echo", []) == {}
    assert await client.execute("test.argument", []) == {}


async def test_a_command_takes_one_object(client: Client) -> None:
    for arguments, taken in (
        ({}, {}),
        ({"arguments": None}, {}),
        ({"arguments": []}, {}),
        ({"arguments": [None]}, {}),
        ({"arguments": [{"a": [1]}]}, {"a": [1]}),
        ({"arguments": [{"a": 1}, "more"]}, {"a": 1}),
        ({"arguments": {"a": 1}}, {"a": 1}),
    ):
        params = {"command": "test.argument", **arguments}
        assert await client.call("workspace/executeCommand", params) == taken, arguments
    response = await client.response(client.command("test.argument", "text"))
    assert response["error"]["code"] == -32602
    assert "test.argument" in response["error"]["message"]


async def test_unknown_things_are_answered_with_their_name(client: Client) -> None:
    command = await client.response(client.command("test.none"))
    assert command["error"]["code"] == -32602
    assert "test.none" in command["error"]["message"]
    method = await client.response(client.request("textDocument/nonsense", {}))
    assert method["error"]["code"] == -32601
    assert "textDocument/nonsense" in method["error"]["message"]
    client.notify("$/unknown", {})
    client.notify("acp/unknown", {})
    assert await client.call("acp/echo", {"a": 1}) == {"a": 1}


async def test_features_registered_the_pygls_way_get_lsprotocols_classes(client: Client) -> None:
    where = {"textDocument": {"uri": URI}, "position": {"line": 3, "character": 0}}
    assert await client.call("textDocument/hover", where) == {"contents": f"line 3 of {URI}"}
    assert await client.call("textDocument/codeLens", where) == [{"uri": URI}]
    unfit = await client.response(client.request("textDocument/hover", {"position": 5}))
    assert unfit["error"]["code"] == -32602


async def test_pygls_own_senders_still_work(client: Client) -> None:
    client.command("test.say")
    shown = await client.incoming("window/showMessage")
    assert shown["params"] == {"type": 3, "message": "hello"}


# --- malformed input ---------------------------------------------------------------


async def test_malformed_messages_are_answered_and_survived(client: Client) -> None:
    for body, code in (
        (b"{", -32700),
        (b"", -32700),
        (b"\xff\xfe", -32700),
        (b"[" * 5000 + b"]" * 5000, -32700),
        (b"[]", -32600),
        (b'[{"jsonrpc":"2.0","id":1,"method":"shutdown"}]', -32600),
        (b"5", -32600),
        (b'{"jsonrpc":"2.0","id":{},"method":"acp/echo"}', -32600),
        (b'{"jsonrpc":"2.0","id":true,"method":"acp/echo"}', -32600),
        (b'{"jsonrpc":"2.0","id":null,"method":{}}', -32600),
    ):
        client.raw(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        error = await client.read()
        assert (error["id"], error["error"]["code"]) == (None, code), body[:80]
        assert await client.call("acp/echo", {"a": 1}) == {"a": 1}


async def test_a_method_that_is_no_string_is_answered_under_its_id(client: Client) -> None:
    client.send({"jsonrpc": "2.0", "id": 77, "method": 5})
    assert (await client.response(77))["error"]["code"] == -32600


async def test_sloppy_messages_are_understood(client: Client) -> None:
    client.send({"id": 5, "method": "acp/echo", "params": {"a": 1}})
    assert (await client.response(5))["result"] == {"a": 1}
    client.send({"jsonrpc": "2.0", "id": None, "method": "acp/note", "params": {"n": 1}})
    client.send({"jsonrpc": "2.0", "id": 99, "result": "nobody asked"})
    client.send({"jsonrpc": "2.0", "id": [], "error": {}})
    client.send({"jsonrpc": "2.0", "error": {"code": -32700, "message": "yours was bad"}})
    assert (await client.call("acp/log"))[-1] == ["note", {"n": 1}]
