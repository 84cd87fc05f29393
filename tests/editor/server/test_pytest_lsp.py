"""With pytest-lsp, as other people test their servers."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator

import pytest
import pytest_lsp
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pytest_lsp import ClientServerConfig, LanguageClient

from tests.editor.client import SERVERS
from tests.editor.server.documents import URI


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
