"""Arguments of commands: those that do not fit are refused with what would."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_lsp
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pytest_lsp import ClientServerConfig

from tests.e2e.lsp_client import SERVE, Client, Refused, make_client

pytestmark = pytest.mark.filterwarnings("error::pytest_lsp.LspSpecificationWarning")


@pytest_lsp.fixture(
    scope="module",
    config=ClientServerConfig(
        server_command=SERVE,
        client_factory=make_client,
        server_env={**os.environ, "XDG_CONFIG_HOME": str(Path(__file__) / "nowhere")},
    ),
)
async def patient(lsp_client: Client) -> AsyncIterator[None]:
    """An editor with an open session, for tests that leave no trace in it."""
    await lsp_client.begin(Path(__file__).parent)
    await lsp_client.new()
    yield
    await lsp_client.end()


LACKS = "The argument lacks {!r}, a text."
TEXT = "{!r} must be a text."
MISFITS: list[tuple[str, dict[str, Any], str]] = [
    ("session.new", {"agent": 5}, TEXT.format("agent")),
    ("session.new", {"cwd": ["/ws"]}, TEXT.format("cwd")),
    (
        "session.new",
        {"additionalDirectories": "/ws"},
        "'additionalDirectories' must be a list of texts.",
    ),
    ("session.new", {"mcpServers": [5]}, "'mcpServers' must be a list of objects."),
    ("session.prompt", {"text": 5}, TEXT.format("text")),
    ("session.prompt", {"text": "x", "wait": 1}, "'wait' must be true or false."),
    ("session.prompt", {"content": {}}, "'content' must be a list of objects."),
    ("session.prompt", {"context": [{}]}, LACKS.format("uri")),
    (
        "session.prompt",
        {"context": [{"uri": "file:///x", "range": {"start": 1}}]},
        "'range' must be an LSP range.",
    ),
    ("session.queue", {"edit": "x"}, "'edit' must be {turnId, text}."),
    ("session.queue", {"edit": {}}, LACKS.format("turnId")),
    ("session.queue", {"drop": 5}, TEXT.format("drop")),
    ("session.cancel", {"sessionId": 5}, TEXT.format("sessionId")),
    ("session.list", {"cursor": 5}, TEXT.format("cursor")),
    ("session.load", {}, LACKS.format("agentSessionId")),
    ("session.resume", {}, LACKS.format("agentSessionId")),
    ("session.fork", {}, LACKS.format("agentSessionId")),
    ("session.delete", {}, LACKS.format("agentSessionId")),
    ("session.close", {"sessionId": {}}, TEXT.format("sessionId")),
    ("session.setMode", {}, LACKS.format("modeId")),
    (
        "session.setConfigOption",
        {"configId": "pace", "value": 5},
        "'value' must be a text, or true or false.",
    ),
    ("session.setConfigOption", {"value": "5"}, LACKS.format("configId")),
    ("session.state", {"sessionId": []}, TEXT.format("sessionId")),
    ("follow.set", {}, "'enabled' must be true or false."),
    ("follow.set", {"enabled": "yes"}, "'enabled' must be true or false."),
    ("review.list", {"sessionId": 5}, TEXT.format("sessionId")),
    ("review.keep", {"uri": 5}, TEXT.format("uri")),
    ("review.keep", {"uri": "untitled:x"}, "untitled:x is not the URI of a file."),
    ("review.revert", {"hunkId": "nope"}, "No hunk 'nope' waits for review."),
    ("review.undo", {"sessionId": 5}, TEXT.format("sessionId")),
    ("review.diff", {}, LACKS.format("uri")),
    ("review.diff", {"uri": "file:///nix"}, "No session has heard of file:///nix."),
    ("permission.answer", {"requestId": 5, "optionId": "x"}, TEXT.format("requestId")),
    ("agent.login", {}, LACKS.format("agent")),
    ("agent.logout", {}, LACKS.format("agent")),
    ("agent.restart", {}, LACKS.format("agent")),
]


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(("command", "argument", "says"), MISFITS)
async def test_arguments_that_do_not_fit_are_refused_with_what_would(
    patient: Client, command: str, argument: dict[str, Any], says: str
) -> None:
    with pytest.raises(Refused) as refused:
        await patient.execute(f"acp.{command}", **argument)
    assert str(refused.value) == says
    assert refused.value.code == -32602


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(
    ("command", "argument", "says"),
    [
        ("session.new", {"cwd": "ws"}, "must be an absolute path"),
        ("session.new", {"additionalDirectories": ["a:/ws"]}, "'a:/ws' must be an absolute path"),
        ("session.prompt", {}, "There is nothing to send: give 'text' or 'content'"),
        ("session.prompt", {"context": [{"uri": "file:///nix"}]}, "No such file"),
    ],
)
async def test_arguments_that_make_no_sense_are_refused_too(
    patient: Client, command: str, argument: dict[str, Any], says: str
) -> None:
    with pytest.raises(Refused, match=says):
        await patient.execute(f"acp.{command}", **argument)


@pytest.mark.asyncio(loop_scope="module")
async def test_a_command_takes_one_object_or_nothing(patient: Client) -> None:
    async def send(arguments: list[Any] | None) -> Any:
        params = types.ExecuteCommandParams("acp.permission.pending", arguments)
        return await patient.workspace_execute_command_async(params)

    assert [await send(None), await send([]), await send([{}])] == [[], [], []]
    with pytest.raises(JsonRpcException, match="takes one object as its argument"):
        await send(["text"])
