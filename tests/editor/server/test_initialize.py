"""What is said first, and what is not said before."""

from __future__ import annotations

from typing import Any

import pytest

from tests.editor.client import Client, frame
from tests.editor.server.documents import open_document


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
