"""A document that the client opens and changes."""

from __future__ import annotations

from typing import Any

from tests.editor.client import Client

URI = "file:///ws/a.txt"


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
