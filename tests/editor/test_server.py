"""The hardened server as a process, over real pipes."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_lsp
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pytest_lsp import ClientServerConfig, LanguageClient

from acp_sidecar.editor import parent
from tests.editor.client import SERVERS, Client, frame, line_in, serving, serving_by_shell

URI = "file:///ws/a.txt"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return tmp_path / "notes"


@pytest.fixture
async def new(notes: Path) -> AsyncIterator[Client]:
    """A server that nobody has said ``initialize`` to."""
    async with serving("basic.py", notes) as client:
        yield client


@pytest.fixture
async def client(new: Client) -> Client:
    await new.initialize()
    return new


def open_document(client: Client, text: str, uri: str = URI) -> None:
    client.notify(
        "textDocument/didOpen",
        {"textDocument": {"uri": uri, "languageId": "text", "version": 1, "text": text}},
    )


def change_document(client: Client, version: Any, *changes: Any) -> None:
    client.notify(
        "textDocument/didChange",
        {"textDocument": {"uri": URI, "version": version}, "contentChanges": list(changes)},
    )


def lines(notes: Path) -> list[str]:
    return notes.read_text().splitlines() if notes.exists() else []


# --- initialize -------------------------------------------------------------------


async def test_initialize_announces_what_the_server_does(new: Client) -> None:
    result = await new.initialize()
    capabilities = result["capabilities"]
    assert result["serverInfo"] == {"name": "basic", "version": "1.2.3"}
    assert capabilities["textDocumentSync"] == {
        "openClose": True,
        "change": 2,
        "save": {"includeText": True},
    }
    assert "test.turn" in capabilities["executeCommandProvider"]["commands"]
    assert "test.decorated" in capabilities["executeCommandProvider"]["commands"]
    assert capabilities["codeLensProvider"] == {"resolveProvider": False}
    assert capabilities["hoverProvider"] is True
    assert "codeActionProvider" not in capabilities
    assert capabilities["workspace"]["workspaceFolders"] == {
        "supported": True,
        "changeNotifications": True,
    }
    assert capabilities["positionEncoding"] == "utf-16"


@pytest.mark.parametrize(
    ("offered", "chosen"),
    [
        (["utf-8", "utf-16", "utf-32"], "utf-8"),
        (["utf-32", "utf-8"], "utf-32"),
        (["utf-7", "utf-16"], "utf-16"),
        (["utf-7"], "utf-16"),
        ([], "utf-16"),
    ],
)
async def test_the_clients_first_known_encoding_is_chosen(
    new: Client, offered: list[str], chosen: str
) -> None:
    result = await new.initialize(capabilities={"general": {"positionEncodings": offered}})
    assert result["capabilities"]["positionEncoding"] == chosen


@pytest.mark.parametrize(
    "params",
    [
        None,
        [],
        {},
        {"capabilities": None},
        {"capabilities": []},
        {"processId": "four", "capabilities": {"workspace": 5, "window": {"showDocument": True}}},
        {"processId": 1.0, "capabilities": {"textDocument": {"codeAction": {"isPreferred": 7}}}},
        {"processId": -1, "rootUri": 7, "workspaceFolders": {}, "trace": "loud"},
        {"capabilities": {"general": {"positionEncodings": "utf-8"}}},
        {"capabilities": {"workspace": {"symbol": {"symbolKind": {"valueSet": [999, 1.5]}}}}},
    ],
)
async def test_G07_sloppy_initialize_is_taken(new: Client, params: Any) -> None:
    assert (await new.call("initialize", params))["capabilities"]["positionEncoding"] == "utf-16"
    new.notify("initialized")
    assert await new.call("acp/echo", {"a": 1}) == {"a": 1}


async def test_initialize_may_be_refused_and_tried_again(new: Client) -> None:
    refused = await new.response(
        new.request("initialize", {"capabilities": {}, "initializationOptions": "refuse"})
    )
    assert refused["error"] == {"code": -32099, "message": "not today"}
    assert "capabilities" in await new.initialize()


async def test_requests_before_initialize_are_refused(new: Client) -> None:
    early = await new.response(new.request("acp/echo", {"a": 1}))
    assert early["error"]["code"] == -32002
    assert (await new.response(new.request("shutdown")))["error"]["code"] == -32002
    open_document(new, "too early")
    await new.initialize()
    assert await new.call("acp/log") == [["initialized"]]
    again = await new.response(new.request("initialize", {"capabilities": {}}))
    assert again["error"]["code"] == -32600


async def test_all_at_once_is_handled_in_order(new: Client) -> None:
    new.raw(
        b"".join(
            frame({"jsonrpc": "2.0", **message})
            for message in (
                {"id": 1, "method": "initialize", "params": {"capabilities": {}}},
                {"method": "initialized", "params": {}},
                {"id": 2, "method": "acp/log"},
                {"id": 3, "method": "shutdown"},
                {"method": "exit"},
            )
        )
    )
    answers = await new.rest()
    assert [answer["id"] for answer in answers] == [1, 2, 3]
    assert answers[1]["result"] == [["initialized"]]
    assert answers[2]["result"] is None
    assert await new.ended() == 0


# --- messages keep what is in them -----------------------------------------------

ODD: dict[str, Any] = {
    "jsonrpc": "2.0",
    "relayed": {"jsonrpc": "2.0", "id": 1, "method": "session/update", "params": {"_meta": {}}},
    "response": [{"jsonrpc": "2.0", "id": 7, "error": {"code": 1, "message": "m"}}],
    "a-b": 1,
    "class": 2,
    "_x": 3,
    "type_name": "Kept",
    "": None,
    "big": 2**80,
    "small": -(2**70),
    "float": 1.5,
    "text": "é😀\u2028\x00\f",
}


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


# --- documents and other notifications ---------------------------------------------


async def test_document_notifications_arrive_in_order_as_plain_values(client: Client) -> None:
    insert = {
        "range": {"start": {"line": 1.0, "character": 2}, "end": {"line": 1, "character": 3.0}},
        "rangeLength": 1,
        "text": "x",
    }
    open_document(client, "one\ftwo\u2028three\r\n")
    change_document(client, 2, insert, {"text": "whole"})
    change_document(client, None, {"text": "no version"})
    client.notify("textDocument/didSave", {"textDocument": {"uri": URI}, "text": "saved"})
    client.notify("textDocument/didSave", {"textDocument": {"uri": URI}})
    client.notify("textDocument/didClose", {"textDocument": {"uri": URI}})
    assert (await client.call("acp/log"))[1:] == [
        ["open", URI, "text", 1, "one\ftwo\u2028three\r\n"],
        ["change", URI, 2, [[[[1, 2], [1, 3]], "x"], [None, "whole"]]],
        ["change", URI, None, [[None, "no version"]]],
        ["save", URI, "saved"],
        ["save", URI, None],
        ["close", URI],
    ]


async def test_odd_notifications_cost_only_themselves(client: Client) -> None:
    change_document(client, 5, {"text": "never opened"})
    change_document(client, 6, {"range": {"start": {}}, "text": "half"})
    change_document(client, 7, "nonsense")
    client.notify("textDocument/didChange", {"contentChanges": None})
    client.notify("textDocument/didClose", {"textDocument": {"uri": "file:///never/opened"}})
    client.notify("textDocument/didOpen", [])
    client.notify("textDocument/didSave")
    client.notify("$/cancelRequest", {})
    client.notify("$/cancelRequest", {"id": {}})
    client.notify("$/setTrace", {"value": "loud"})
    client.notify("workspace/didChangeWorkspaceFolders", {"event": 5})
    client.notify("workspace/didChangeWatchedFiles", {"changes": [5, {"uri": URI, "type": 2}]})
    client.notify("workspace/didChangeConfiguration", [])
    client.notify("notebookDocument/didOpen", {})
    assert (await client.call("acp/log"))[1:] == [
        ["change", URI, 5, [[None, "never opened"]]],
        ["close", "file:///never/opened"],
        ["folders", [], []],
        ["watched", [[URI, 2]]],
        ["configuration", None],
    ]
    # Nothing of it was put before the user.
    assert [m for m in client.seen if "method" in m] == []


async def test_an_error_in_a_notification_is_logged_and_not_shown(client: Client) -> None:
    open_document(client, "x", uri="bad:")
    assert (await client.call("acp/log"))[-1][:2] == ["open", "bad:"]
    assert [m for m in client.seen if "method" in m] == []
    assert await client.stop() == 0
    assert b"textDocument/didOpen failed" in client.stderr


async def test_workspace_folders_are_kept_up_to_date(new: Client) -> None:
    a, b, c = ({"uri": f"file:///{name}", "name": name} for name in "abc")
    await new.initialize(rootUri="file:///old", workspaceFolders=[a, b])
    assert await new.call("acp/folders") == [a, b]
    new.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": [c], "removed": [a]}})
    assert await new.call("acp/folders") == [b, c]
    assert (await new.call("acp/log"))[-1] == ["folders", [c], [a]]


async def test_a_handler_begins_before_the_next_message_is_looked_at(client: Client) -> None:
    """A command sees the text as it was when the user gave it, not a later keystroke."""
    open_document(client, "before")
    body = frame(
        {
            "jsonrpc": "2.0",
            "id": "c",
            "method": "workspace/executeCommand",
            "params": {"command": "test.text_at_first", "arguments": [{"uri": URI}]},
        }
    )
    change = frame(
        {
            "jsonrpc": "2.0",
            "method": "textDocument/didChange",
            "params": {
                "textDocument": {"uri": URI, "version": 2},
                "contentChanges": [{"text": "after"}],
            },
        }
    )
    client.raw(body + change)
    assert (await client.response("c"))["result"] == "before"
    assert await client.execute("test.text_now", {"uri": URI}) == "after"


async def test_notifications_leave_nothing_behind(client: Client) -> None:
    open_document(client, "x")
    change = frame(
        {
            "jsonrpc": "2.0",
            "method": "textDocument/didChange",
            "params": {
                "textDocument": {"uri": URI, "version": 2},
                "contentChanges": [{"text": "y"}],
            },
        }
    )
    command = frame({"jsonrpc": "2.0", "id": "e", "method": "acp/echoLater", "params": {"n": 1}})
    note = frame({"jsonrpc": "2.0", "method": "acp/unknown", "params": {"n": 1}})
    client.raw(change * 2000)
    await client.call("acp/echo")
    before = await client.execute("test.memory")
    for _ in range(15):
        client.raw((note + command) * 200)
        for _ in range(200):
            await client.response("e")
    after = await client.execute("test.memory")
    assert after["futures"] <= before["futures"] + 2
    assert after["kilobytes"] - before["kilobytes"] < 4_000


# --- errors --------------------------------------------------------------------------


async def test_errors_of_handlers_are_answers(client: Client) -> None:
    said = await client.response(client.command("test.fail", {"say": True}))
    assert said["error"] == {
        "code": -32803,
        "message": "pick a session first",
        "data": {"try": "acp.session.new"},
    }
    unforeseen = await client.response(client.request("acp/fail", {}))
    assert unforeseen["error"]["code"] == -32603
    assert "acp/fail" in unforeseen["error"]["message"]
    assert "the disk is on fire" in unforeseen["error"]["message"]
    unfit = await client.response(client.command("test.unfit"))
    assert unfit["error"]["code"] == -32603
    assert [m for m in client.seen if "method" in m] == []
    assert await client.stop() == 0
    assert b"the disk is on fire" in client.stderr


# --- cancellation by the client --------------------------------------------------------


async def test_a_cancelled_command_answers_with_its_own_result(client: Client, notes: Path) -> None:
    turn = client.command("test.turn")
    client.notify("$/cancelRequest", {"id": turn})
    assert (await client.response(turn))["result"] == {"stopReason": "cancelled"}
    assert lines(notes)[-2:] == ["turn", "turn cancelled"]


async def test_a_cancelled_request_ends_before_it_is_answered(client: Client, notes: Path) -> None:
    waiting = client.request("acp/wait", {}, "w")
    other = client.request("acp/wait", {}, "other")
    await line_in(notes, "waiting")
    client.notify("$/cancelRequest", {"id": waiting})
    assert (await client.response(waiting))["error"]["code"] == -32800
    assert lines(notes).count("wait over") == 1
    client.notify("$/cancelRequest", {"id": waiting})
    client.notify("$/cancelRequest", {"id": "never"})
    client.notify("$/cancelRequest", {"id": other})
    assert (await client.response(other))["error"]["code"] == -32800
    assert await client.call("acp/echo", {"a": 1}) == {"a": 1}


# --- requests to the client --------------------------------------------------------------


async def test_G07_any_result_of_the_clients_arrives(client: Client) -> None:
    for result in (
        None,
        {"title": "Allow", "extra": {"optionId": 7}, "jsonrpc": "2.0"},
        {"applied": 1.0, "failedChange": "two"},
        {},
        {"applied": "perhaps"},
        [{"kind": "no such kind"}],
        "text",
        False,
    ):
        asking = client.command("test.ask", {"method": "window/showMessageRequest", "params": ODD})
        request = await client.incoming("window/showMessageRequest")
        assert request["params"] == ODD
        client.answer(request, result)
        assert (await client.response(asking))["result"] == {"answer": result}


async def test_G07_a_result_without_a_value_is_null(client: Client) -> None:
    asking = client.command("test.ask", {"method": "window/showDocument"})
    client.send({"jsonrpc": "2.0", "id": (await client.incoming("window/showDocument"))["id"]})
    assert (await client.response(asking))["result"] == {"answer": None}


async def test_G07_an_error_of_the_clients_arrives(client: Client) -> None:
    for error, seen in (
        (
            {"code": -32601, "message": "no such method", "data": {"a": 1}},
            {"code": -32601, "message": "no such method", "data": {"a": 1}},
        ),
        ("a string", {"code": -32001, "message": "a string", "data": None}),
        ({"code": 5.0}, {"code": 5, "message": "the client gave no reason", "data": None}),
    ):
        asking = client.command("test.ask", {"method": "acp/save"})
        request = await client.incoming("acp/save")
        client.send({"jsonrpc": "2.0", "id": request["id"], "error": error})
        assert (await client.response(asking))["result"] == seen


async def test_G07_a_misfit_result_fails_only_the_typed_request(client: Client) -> None:
    for result in ({"failureReason": "no applied"}, None, 5, [1]):
        asking = client.command("test.typed")
        client.answer(await client.incoming("workspace/applyEdit"), result)
        assert (await client.response(asking))["result"].startswith("failed: "), result
        asking = client.command("test.typed")
        client.answer(await client.incoming("workspace/applyEdit"), {"applied": True})
        assert (await client.response(asking))["result"] == {"applied": True}


@pytest.mark.parametrize(
    ("command", "argument", "method"),
    [
        ("test.ask_and_withdraw", {"method": "acp/permission"}, "acp/permission"),
        ("test.typed", {"withdraw": True}, "workspace/applyEdit"),
    ],
)
async def test_a_withdrawn_request_is_cancelled_and_its_late_answer_dropped(
    client: Client, command: str, argument: Any, method: str
) -> None:
    asking = client.command(command, argument)
    request = await client.incoming(method)
    cancel = await client.incoming("$/cancelRequest")
    assert cancel["params"] == {"id": request["id"]}
    assert (await client.response(asking))["result"] == "withdrawn"
    client.answer(request, {"optionId": "allow"})
    error = {"code": -32800, "message": "cancelled"}
    client.send({"jsonrpc": "2.0", "id": request["id"], "error": error})
    assert await client.call("acp/echo", {"a": 1}) == {"a": 1}
    assert [m["method"] for m in client.seen if "method" in m] == [method, "$/cancelRequest"]
    assert await client.stop() == 0
    assert client.stderr == b""


async def test_G07_a_client_that_never_answers_is_given_up(client: Client) -> None:
    asking = client.command("test.ask", {"method": "workspace/applyEdit", "timeout": 0.05})
    request = await client.incoming("workspace/applyEdit")
    assert (await client.incoming("$/cancelRequest"))["params"] == {"id": request["id"]}
    assert (await client.response(asking))["result"] == "timed out"
    client.answer(request, {"applied": True})
    assert await client.call("acp/echo", {"a": 1}) == {"a": 1}


async def test_G01_blocking_work_does_not_keep_replies_from_being_read(client: Client) -> None:
    """More blocked threads at once than any pool of two would have; no reply is lost."""
    blocked = {client.command("test.block") for _ in range(5)}
    for _ in range(5):
        request = await client.incoming("test/ask")
        client.answer(request, request["id"])
    answers = {(await client.read())["id"] for _ in range(5)}
    assert answers == blocked


async def test_G01_handlers_that_would_block_or_never_run_are_refused(client: Client) -> None:
    thread, shutdown, initialize = await client.execute("test.refused")
    assert "asyncio.to_thread" in thread
    assert "callbacks" in shutdown
    assert "callbacks" in initialize


# --- the end ---------------------------------------------------------------------------------


async def test_shutdown_with_work_pending_is_answered_at_once(client: Client, notes: Path) -> None:
    pending = [client.request("acp/wait", {}) for _ in range(3)]
    pending.append(client.command("test.ask", {"method": "acp/permission"}))
    turn = client.command("test.turn")
    await client.incoming("acp/permission")
    began = time.monotonic()
    shutdown = client.request("shutdown")
    answers: dict[Any, Any] = {}
    while shutdown not in answers:
        message = await client.read()
        answers[message["id"]] = message
    assert time.monotonic() - began < 0.5
    assert answers[shutdown]["result"] is None
    assert answers[turn]["result"] == {"stopReason": "cancelled"}
    assert all("error" in answers[request] for request in pending)
    client.notify("exit")
    assert await client.ended() == 0


async def test_after_shutdown_requests_are_invalid(client: Client) -> None:
    assert await client.call("shutdown") is None
    for method in ("acp/echo", "initialize", "shutdown"):
        late = await client.response(client.request(method, {}))
        assert late["error"]["code"] == -32600
    client.notify("exit")
    assert await client.ended() == 0


async def test_X09_the_server_stays_until_exit(client: Client, notes: Path) -> None:
    assert await client.call("shutdown") is None
    assert lines(notes)[-1] == "stopped"
    # It is still there to answer, and not by chance: once more after a while.
    for _ in range(2):
        assert "error" in await client.response(client.request("acp/echo", {}))
        await asyncio.sleep(0.3)
    assert client.process.returncode is None
    client.notify("exit")
    assert await client.ended() == 0
    assert lines(notes).count("stopping") == 1


ENDS = {
    "exit after shutdown": 0,
    "exit": 1,
    "exit with an id": 1,
    "exit before initialize": 1,
    "end of input": 1,
    "end of input after shutdown": 0,
    "output closed": 1,
    "SIGTERM": 0,
    "SIGTERM before initialize": 0,
    "SIGHUP": 0,
    "SIGINT": 130,
    "editor killed": 1,
    "editor killed after shutdown": 0,
}


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.parametrize("how", ENDS)
async def test_X08_every_end_runs_the_same_clean_up(notes: Path, how: str) -> None:
    editor = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    async with serving("basic.py", notes, "0.2") as client:
        try:
            if "before initialize" in how:
                await client.response(client.request("acp/echo"))
            else:
                await client.initialize(processId=editor.pid)
                client.command("test.turn")
                await line_in(notes, "turn")
            if "after shutdown" in how:
                await client.call("shutdown")
            began = time.monotonic()
            if how.startswith("exit with an id"):
                client.request("exit")
            elif how.startswith("exit"):
                client.notify("exit")
            elif how.startswith("end of input"):
                client.close_stdin()
            elif how.startswith("output"):
                close_output(client)
            elif how.startswith("editor"):
                editor.kill()
            else:
                client.process.send_signal(signal.Signals[how.split()[0]])
            code = await client.ended()
            took = time.monotonic() - began
        finally:
            editor.kill()
            editor.wait()
    assert code == ENDS[how]
    assert [line for line in lines(notes) if "stop" in line] == ["stopping", "stopped"]
    if "before initialize" not in how:
        assert "turn cancelled" in lines(notes)
    # The clean-up itself takes 0.2 of it.
    assert took < 0.7
    assert client.stderr == b""


def close_output(client: Client) -> None:
    transport = client.process._transport.get_pipe_transport(1)  # type: ignore[attr-defined]
    transport.close()


async def test_X08_shutdown_exit_end_of_input_and_sigterm_in_a_row(notes: Path) -> None:
    async with serving("basic.py", notes, "0.3") as client:
        await client.initialize()
        began = time.monotonic()
        shutdown = client.request("shutdown")
        client.notify("exit")
        client.close_stdin()
        await line_in(notes, "stopping")
        await asyncio.sleep(0.1)
        client.process.send_signal(signal.SIGTERM)
        answers = await client.rest()
        assert await client.ended() == 0
        assert time.monotonic() - began < 0.8
    assert answers == [{"jsonrpc": "2.0", "id": shutdown, "result": None}]
    assert lines(notes)[-2:] == ["stopping", "stopped"]


@pytest.mark.parametrize("how", ["shutdown", "SIGTERM", "end of input"])
async def test_X08_a_clean_up_that_hangs_does_not_hold_up_the_end(notes: Path, how: str) -> None:
    async with serving("basic.py", notes, "60") as client:
        await client.initialize()
        began = time.monotonic()
        if how == "shutdown":
            assert await client.call("shutdown") is None
            assert time.monotonic() - began < 0.6
            client.notify("exit")
        elif how == "SIGTERM":
            client.process.send_signal(signal.SIGTERM)
        else:
            client.close_stdin()
        await client.ended()
        assert time.monotonic() - began < 0.9
    assert lines(notes)[-1] == "stopping"
    assert b"clean-up took too long" in client.stderr


async def test_X08_the_end_is_not_held_up_by_a_client_that_does_not_read(notes: Path) -> None:
    async with serving("flood.py", notes) as client:
        await client.initialize()
        for _ in range(20):
            client.command("big", {"bytes": 100_000})
        client.request("shutdown")
        client.notify("exit")
        began = time.monotonic()
        # Waiting for the process only: nobody reads.
        async with asyncio.timeout(10):
            while _alive(client.pid):
                await asyncio.sleep(0.01)
        assert time.monotonic() - began < 1.0


def _alive(pid: int) -> bool:
    status = Path(f"/proc/{pid}/status")
    return status.exists() and "State:\tZ" not in status.read_text()


async def test_G02_exit_with_unfinished_handlers_is_quick_and_quiet(
    client: Client, notes: Path
) -> None:
    for _ in range(3):
        client.command("test.sleep_in_thread", {"seconds": 7})
    client.command("test.stubborn")
    client.command("test.ask", {"method": "acp/permission"})
    await client.incoming("acp/permission")
    await line_in(notes, "asleep")
    began = time.monotonic()
    shutdown = client.request("shutdown")
    client.notify("exit")
    assert (await client.response(shutdown))["result"] is None
    assert await client.ended() == 0
    assert time.monotonic() - began < 1.0
    assert len(client.stderr.splitlines()) < 10


async def test_G03_the_asynchronous_clean_up_is_awaited(notes: Path) -> None:
    async with serving("basic.py", notes, "0.3") as client:
        await client.initialize()
        assert await client.call("shutdown") is None
        # Answered after the clean-up, not before.
        assert lines(notes)[-2:] == ["stopping", "stopped"]
        client.notify("exit")
        assert await client.ended() == 0


@pytest.mark.parametrize("how", ["shutdown", "end of input", "SIGTERM"])
async def test_G09_who_waits_for_the_editor_hears_that_it_is_gone(
    client: Client, notes: Path, how: str
) -> None:
    """So that the agent gets its answer, and before the clean-up that ends the agent."""
    client.command("test.ask", {"method": "window/showMessageRequest"})
    client.command("test.ask", {"method": "acp/permission"})
    await client.incoming("acp/permission")
    if how == "shutdown":
        client.request("shutdown")
        client.notify("exit")
    elif how == "SIGTERM":
        client.process.send_signal(signal.SIGTERM)
    else:
        client.close_stdin()
    await client.ended()
    assert lines(notes)[-4:] == ["client gone", "client gone", "stopping", "stopped"]


# --- a client that does not read, and what else could stop the loop -----------------------------


async def test_G05_a_client_that_does_not_read_stops_nothing(notes: Path) -> None:
    async with serving("flood.py", notes) as client:
        await client.initialize()
        flood = client.command("flood", {"megabytes": 10, "key": "S"})
        # The whole flood has been sent before we read a single byte of it.
        await line_in(notes, "flooded")
        echo = client.command("length", {"text": "still alive"})
        response = await client.response(flood)
        assert response["result"]["congested"] is True
        assert response["result"]["waiting"] < 20_000
        assert response["result"]["slowest"] < 0.5
        numbers = [m["params"]["number"] for m in client.seen if "method" in m]
        assert numbers == sorted(numbers)
        assert numbers[-1] == 999, "the latest of a key always arrives"
        assert len(numbers) < 100
        assert (await client.response(echo))["result"] == len("still alive")
        assert await client.stop() == 0


async def test_G05_requests_and_responses_are_never_dropped(notes: Path) -> None:
    async with serving("flood.py", notes) as client:
        await client.initialize()
        requests = [client.command("big", {"bytes": 50_000}) for _ in range(100)]
        client.command("flood", {"megabytes": 100, "key": None})
        await line_in(notes, "flooded")
        for request in requests:
            assert len((await client.response(request))["result"]) == 50_000
        # Notifications nobody may drop are kept, up to a bound.
        waiting = int(notes.read_text().splitlines()[1].split()[1])
        assert waiting <= 1 << 26
        # The flood's own answer comes after what was kept.
        while "result" not in await client.read():
            pass


async def test_G05_a_sender_can_wait_until_the_client_reads(notes: Path) -> None:
    async with serving("flood.py", notes) as client:
        await client.initialize()
        flood = client.command("flood_when_writable", {"megabytes": 5})
        assert (await client.response(flood))["result"] == 0
        numbers = [m["params"]["number"] for m in client.seen if "method" in m]
        assert numbers == list(range(500))


async def test_messages_of_many_megabytes_go_both_ways(notes: Path) -> None:
    async with serving("flood.py", notes) as client:
        await client.initialize()
        assert await client.execute("length", {"text": "é" * 20_000_000}) == 20_000_000
        assert len(await client.execute("big", {"bytes": 20_000_000})) == 20_000_000


async def test_G06_no_content_in_the_logs(notes: Path, tmp_path: Path) -> None:
    script = tmp_path / "logging_server.py"
    script.write_text(
        f"import logging, runpy, sys\n"
        f"logging.basicConfig(level=logging.INFO)\n"
        f"sys.argv = ['basic.py', {str(notes)!r}]\n"
        f"runpy.run_path({str(SERVERS / 'basic.py')!r}, run_name='__main__')\n"
    )
    secret = "s3cr3t-token"
    async with serving(str(script)) as client:
        await client.initialize(initializationOptions={"token": secret})
        open_document(client, secret * 1000)
        change_document(client, 2, {"text": secret})
        change_document(client, 3, {"text": secret, "range": secret})
        assert (await client.execute("test.argument", {"prompt": secret}))["prompt"] == secret
        client.raw(frame({"jsonrpc": secret, "params": secret}))
        client.raw(b'Content-Length: 14\r\n\r\n{"s3cr3t-token')
        asking = client.command("test.ask", {"method": "acp/save", "params": {"text": secret}})
        request = await client.incoming("acp/save")
        client.answer(request, {"text": secret})
        client.answer(request, {"late": secret})
        await client.response(asking)
        unfit = client.request("textDocument/hover", {"textDocument": secret})
        assert secret not in json.dumps((await client.response(unfit))["error"])
        assert await client.stop() == 0
    assert b"ending" in client.stderr, "it does log"
    assert secret.encode() not in client.stderr


async def test_X12_stray_output_lands_on_standard_error(client: Client) -> None:
    assert await client.execute("test.stray") == "still here"
    assert await client.call("acp/echo", {"a": 1}) == {"a": 1}
    assert await client.stop() == 0
    for what in (b"stray print", b"stray child", b"stray warning"):
        assert what in client.stderr


@pytest.mark.parametrize("redirect", ["2>&1", "2>&-"])
async def test_X12_without_a_standard_error_strays_are_dropped(notes: Path, redirect: str) -> None:
    async with serving_by_shell(redirect, notes) as client:
        await client.initialize()
        open_document(client, "x", uri="bad:")
        assert await client.execute("test.stray") == "still here"
        assert await client.call("acp/echo", {"a": 1}) == {"a": 1}
        assert await client.stop() == 0


# --- the client's process -------------------------------------------------------------------


async def test_a_process_id_that_is_not_known_here_is_not_watched(new: Client, notes: Path) -> None:
    """An editor outside of our container: its id means nothing, its pipe does."""
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    await new.initialize(processId=gone.pid)
    await asyncio.sleep(0.5)
    assert await new.call("acp/echo", {"a": 1}) == {"a": 1}


async def test_the_editors_death_is_seen_though_its_pipe_stays_open(notes: Path) -> None:
    """Another child of the editor's may hold the pipe."""
    editor = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    async with serving("basic.py", notes) as client:
        await client.initialize(processId=editor.pid)
        os.kill(editor.pid, signal.SIGKILL)
        assert await client.ended() == 1
    editor.wait()
    assert lines(notes)[-1] == "stopped"


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="it is always so here")
async def test_without_process_descriptors_the_editor_is_polled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(pid: int, flags: int = 0) -> int:
        raise PermissionError("a sandbox")

    monkeypatch.setattr(os, "pidfd_open", refuse)
    editor = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    watch = asyncio.create_task(parent.wait_for_end(editor.pid))
    async with asyncio.timeout(20):
        done, _ = await asyncio.wait({watch}, timeout=2 * parent.POLL_SECONDS)
        assert not done
        editor.kill()
        editor.wait()
        assert await watch is True
        assert await parent.wait_for_end(editor.pid) is False


# --- with pytest-lsp, as other people test their servers ------------------------------------------


@pytest_lsp.fixture(
    config=ClientServerConfig(
        server_command=[sys.executable, str(SERVERS / "basic.py"), os.devnull]
    )
)
async def lsp(lsp_client: LanguageClient) -> AsyncIterator[None]:
    await lsp_client.initialize_session(
        types.InitializeParams(capabilities=types.ClientCapabilities())
    )
    yield
    await lsp_client.shutdown_session()


async def test_a_pygls_client_is_served(lsp: LanguageClient) -> None:
    document = types.TextDocumentItem(URI, "text", 1, "hello")
    lsp.text_document_did_open(types.DidOpenTextDocumentParams(document))
    params = types.ExecuteCommandParams("test.text_now", [{"uri": URI}])
    assert await lsp.workspace_execute_command_async(params) == "hello"
    where = types.HoverParams(types.TextDocumentIdentifier(URI), types.Position(2, 0))
    shown = await lsp.text_document_hover_async(where)
    assert shown is not None
    assert shown.contents == f"line 2 of {URI}"
    with pytest.raises(JsonRpcException, match="pick a session first"):
        await lsp.workspace_execute_command_async(
            types.ExecuteCommandParams("test.fail", [{"say": True}])
        )
