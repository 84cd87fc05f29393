"""``acp-sidecar mcp``: the editor tools as an MCP server on stdin and stdout.

An agent starts it as its session's ``mcpServers`` say. It only carries: what the tools do
happens in the sidecar, over the socket that the environment names
(:mod:`acp_sidecar.client.tool_server`). It ends with its agent, and with the sidecar.
"""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Any, Final, cast

from acp_sidecar import __version__
from acp_sidecar.acp import jsonrpc
from acp_sidecar.acp.model import Json
from acp_sidecar.agents.connection import AgentError, AgentGone, Connection, IncomingRequest
from acp_sidecar.client.tool_server import HELLO, SECRET, SOCKET

try:
    import mcp_types as types
    from mcp.server.context import ServerRequestContext
    from mcp.server.lowlevel import Server
    from mcp.server.stdio import stdio_server
except ImportError as error:  # told by main()
    _missing: ImportError | None = error
else:
    _missing = None

_HELLO_SECONDS: Final = 10
_STILL_AT_IT: Final = 5
"""Seconds between words to the agent that a call is not over: the user may be reading a change."""

_PATH: Final = {
    "type": "string",
    "description": "the file; absolute, or relative to the session's folder",
}
_LINE: Final = {"type": "integer", "minimum": 1}
_TOOLS: Final[dict[str, tuple[str, dict[str, Any], tuple[str, ...], bool]]] = {
    "read_file": (
        "Read a text file as the user sees it in their editor, with changes that are not saved "
        "yet. Prefer it over reading from the disk.",
        {
            "path": _PATH,
            "line": {**_LINE, "description": "the first line to read, counted from 1"},
            "limit": {**_LINE, "description": "how many lines to read"},
        },
        ("path",),
        True,
    ),
    "write_file": (
        "Write a text file through the user's editor: its whole new content. The user reviews "
        "the change, and may refuse it or parts of it; then the error says so. Changes of the "
        "user's that are not saved are kept. Read the file first.",
        {"path": _PATH, "content": {"type": "string", "description": "the whole new content"}},
        ("path", "content"),
        False,
    ),
    "open_files": (
        "List the files that are open in the user's editor, and whether they have changes that "
        "are not saved.",
        {},
        (),
        True,
    ),
    "selection": (
        "Tell which file is before the user in their editor, and which lines of it they have "
        "selected.",
        {},
        (),
        True,
    ),
    "reveal": (
        "Show the user a file in their editor, at a line.",
        {"path": _PATH, "line": {**_LINE, "description": "the line, counted from 1"}},
        ("path",),
        True,
    ),
}
"""Description, properties, those required, and whether it changes nothing."""


def main() -> int:
    """Serve until the agent or the sidecar is gone; the exit code."""
    if _missing is not None:
        return _fail(f"{_missing}. The editor tools need it: pip install 'acp-sidecar[mcp]'")
    socket, secret = os.environ.get(SOCKET), os.environ.pop(SECRET, None)
    if not socket or not secret:
        return _fail(
            "this is started by an agent: turn the setting mcpEditorTools on, and open a session"
        )
    try:
        return asyncio.run(_serve(socket, secret))
    except (AgentError, AgentGone, OSError) as error:
        said = error.message if isinstance(error, AgentError) else error
        return _fail(f"there is no way to the editor: {said}")


def _fail(message: str) -> int:
    print(f"acp-sidecar mcp: {message}", file=sys.stderr)
    return 1


async def _serve(socket: str, secret: str) -> int:
    sidecar = await _connect(socket)
    await sidecar.connection.call(HELLO, {"secret": secret}, timeout=_HELLO_SECONDS)
    sidecar.greeted = True
    server: Server[Any] = Server(
        "acp-sidecar",
        version=__version__,
        instructions="The user's editor: its files with unsaved changes, and what they look at.",
        on_list_tools=_list_tools,
        on_call_tool=sidecar.call_tool,
    )
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())
    return 0


async def _connect(socket: str) -> _Sidecar:
    _, sidecar = await asyncio.get_running_loop().create_unix_connection(_Sidecar, socket)
    return sidecar


class _Sidecar(asyncio.Protocol):
    """The connection with the sidecar. Implements ``agents.connection.Handler``."""

    greeted = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.connection = Connection(cast(asyncio.Transport, transport).write, self)

    def data_received(self, data: bytes) -> None:
        self.connection.data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self.connection.connection_lost(AgentGone("the sidecar has ended"))

    def request(self, request: IncomingRequest) -> None:
        request.error(jsonrpc.METHOD_NOT_FOUND, f"{request.method!r} is not known here")

    def notification(self, method: str, params: Json) -> None:
        """There is none so far."""

    def lost(self, reason: AgentGone) -> None:
        if self.greeted:
            # Not a return: a thread of the SDK's sits in a read of stdin that nothing ends.
            print(f"acp-sidecar mcp: {reason}", file=sys.stderr, flush=True)
            os._exit(0)

    async def call_tool(
        self, context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        """``tools/call``: the sidecar's answer, its errors as ones that the model is told."""
        if params.name not in _TOOLS:
            return _result(f"There is no tool {params.name!r}.", failed=True)
        call = self.connection.begin(params.name, cast(Json, params.arguments or {}))
        try:
            rounds = 0
            while not (await asyncio.wait({call}, timeout=_STILL_AT_IT))[0]:
                rounds += 1
                await context.session.report_progress(rounds, message="waiting for the editor")
            answer = call.result()
        except AgentError as error:
            return _result(error.message, failed=True)
        finally:
            # Where the agent has withdrawn its call, ours is withdrawn with it.
            call.cancel()
        return _result(str(answer["text"] if isinstance(answer, dict) else answer))


def _result(text: str, *, failed: bool = False) -> types.CallToolResult:
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text)], is_error=failed
    )


async def _list_tools(
    context: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
) -> types.ListToolsResult:
    return types.ListToolsResult(
        tools=[
            types.Tool(
                name=name,
                description=description,
                input_schema={
                    "type": "object",
                    "properties": properties,
                    "required": list(required),
                },
                annotations=types.ToolAnnotations(read_only_hint=harmless, open_world_hint=False),
            )
            for name, (description, properties, required, harmless) in _TOOLS.items()
        ]
    )
