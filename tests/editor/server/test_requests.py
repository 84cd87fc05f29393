"""Requests in both directions: their errors, their withdrawal, and answers of any kind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.editor.client import Client, line_in, lines
from tests.editor.server.odd import ODD

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
