"""Documents and other notifications: each in its turn, and none in another's way."""

from __future__ import annotations

from tests.editor.client import Client, frame
from tests.editor.server.documents import URI, change_document, open_document


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
