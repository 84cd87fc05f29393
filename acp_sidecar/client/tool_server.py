"""The way from an MCP process to its session: a local socket that only the user may open.

A session that is opened with editor tools is given an MCP server to start: our own command
``mcp`` with the socket's path and a secret of that session's in its environment. Over the
socket both speak newline-delimited JSON-RPC. The first call must be ``hello`` with the secret;
each later one is a tool of :mod:`acp_sidecar.client.tools`.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import logging
import secrets
import sys
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, cast

from attrs import define, field

from acp_sidecar.acp import jsonrpc
from acp_sidecar.acp.model import Json
from acp_sidecar.agents.catalog import own_command
from acp_sidecar.agents.connection import AgentGone, Connection, IncomingRequest
from acp_sidecar.client import tools
from acp_sidecar.client.socket_folder import SocketFolder

if TYPE_CHECKING:
    from acp_sidecar.client.agents import Agent
    from acp_sidecar.client.live import LiveSession
    from acp_sidecar.client.ports import Editor
    from acp_sidecar.settings import Settings

logger = logging.getLogger(__name__)

SOCKET: Final = "ACP_SIDECAR_SOCKET"
SECRET: Final = "ACP_SIDECAR_SECRET"
"""Named so that recordings leave it out."""
HELLO: Final = "hello"
_NAMES: Final = ("editor", "acp-sidecar")
"""What the agent knows the server by: the first that no other server has."""
_HELLO_SECONDS: Final = 10
_CLOSED: Final = "The user has closed this session: its editor tools work no more."


@define(eq=False)
class _Seat:
    """What a secret stands for: a session, or one that is being opened."""

    secret: str
    session: LiveSession | None = None
    closed: bool = False
    waiting: list[IncomingRequest] = field(factory=list)
    """Calls that came before the agent had answered: some agents start their servers first."""

    def call(self, request: IncomingRequest) -> None:
        if self.closed:
            request.error(jsonrpc.INVALID_REQUEST, _CLOSED)
        elif self.session is None:
            self.waiting.append(request)
        else:
            tools.answer(self.session, request)

    def settle(self) -> None:
        waiting, self.waiting = self.waiting, []
        for request in waiting:
            self.call(request)


class ToolServer:
    """Offers editor tools to sessions. Nothing of it exists before the first such session."""

    def __init__(self, editor: Editor, settings: Callable[[], Settings]) -> None:
        self._editor = editor
        self._settings = settings
        self._seats: list[_Seat] = []
        self._folder: SocketFolder | None = None
        self._server: asyncio.Server | None = None
        self._starting = asyncio.Lock()
        self._visitors: set[_Visitor] = set()
        self._stopped = False

    @contextlib.asynccontextmanager
    async def offered(
        self, agent: Agent, taken: Collection[object]
    ) -> AsyncIterator[tuple[Mapping[str, Any], ...]]:
        """The MCP server for a session that is opened within the block, as ``mcpServers``
        has it; none where the user does not want it, or is told why it cannot be.

        ``taken`` are the names of its other servers. Outside of the block the secret is good
        only for a session that was attached with it.
        """
        if not self._settings().mcp_editor_tools:
            yield ()
            return
        problem = _lacking(agent) or await self._start()
        if problem is not None:
            self._editor.tell("warning", f"{agent.name} has no editor tools: {problem}")
            yield ()
            return
        seat = _Seat(secrets.token_urlsafe(32))
        self._seats.append(seat)
        try:
            yield (self._entry(seat, taken),)
        finally:
            if seat.session is None and not seat.closed:
                self._close(seat)

    def attach(self, session: LiveSession) -> None:
        """The session is known: what its MCP process calls from now on is its."""
        seat = self._seat_of(session)
        if seat is not None:
            seat.session = session
            seat.settle()

    def detach(self, session: LiveSession) -> None:
        """The session is closed: its tools answer with an error."""
        for seat in [seat for seat in self._seats if seat.session is session]:
            self._close(seat)

    def stop(self) -> None:
        """The sidecar ends; so does every MCP process, as its connection does."""
        self._stopped = True
        for visitor in list(self._visitors):
            visitor.hang_up()
        if self._server is not None:
            self._server.close()
            self._server = None
        if self._folder is not None:
            self._folder.remove()
            self._folder = None

    def seat(self, secret: object) -> _Seat | None:
        """Which session a secret stands for, of those that are not closed."""
        given = secret.encode(errors="replace") if isinstance(secret, str) else b""
        found = [seat for seat in self._seats if hmac.compare_digest(seat.secret.encode(), given)]
        return found[0] if found else None

    def _seat_of(self, session: LiveSession) -> _Seat | None:
        for server in session.opened_with[1]:
            env = server.get("env")
            if isinstance(env, Mapping) and SECRET in env:
                return self.seat(env[SECRET])
        return None

    def _close(self, seat: _Seat) -> None:
        seat.closed, seat.session = True, None
        self._seats.remove(seat)
        seat.settle()

    def _entry(self, seat: _Seat, taken: Collection[object]) -> Mapping[str, Any]:
        program, arguments, environment = own_command("mcp")
        assert self._folder is not None
        return {
            "name": next((name for name in _NAMES if name not in taken), _NAMES[-1]),
            "command": program,
            "args": list(arguments),
            "env": {**environment, SOCKET: str(self._folder.socket), SECRET: seat.secret},
        }

    async def _start(self) -> str | None:
        """Listen; why that cannot be, as a sentence."""
        async with self._starting:
            if self._server is not None:
                return None
            if self._stopped:
                return "the sidecar is ending."
            try:
                folder = SocketFolder.make()
            except OSError as error:
                return f"no folder for their socket can be made: {error}"
            try:
                self._server = await asyncio.get_running_loop().create_unix_server(
                    lambda: _Visitor(self, self._visitors, self._settings().line_bytes),
                    str(folder.socket),
                )
                folder.socket.chmod(0o600)
            except OSError as error:
                self._server = None
                folder.remove()
                return f"their socket cannot be opened: {error}"
            self._folder = folder
            return None


class _Visitor(asyncio.Protocol):
    """One connection. Implements ``agents.connection.Handler``."""

    def __init__(self, server: ToolServer, visitors: set[_Visitor], line_limit: int) -> None:
        self._server = server
        self._visitors = visitors
        self._line_limit = line_limit
        self._seat: _Seat | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._visitors.add(self)
        self._connection = Connection(
            self._transport.write,
            self,
            line_limit=self._line_limit,
            on_broken=lambda reason: self.hang_up(),
        )
        loop = asyncio.get_running_loop()
        self._patience = loop.call_later(_HELLO_SECONDS, self._transport.abort)

    def data_received(self, data: bytes) -> None:
        self._connection.data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._patience.cancel()
        self._visitors.discard(self)
        self._connection.connection_lost(AgentGone("the MCP process has ended"))

    def hang_up(self) -> None:
        """Say no more; what was said so far goes out first."""
        self._transport.close()

    def request(self, request: IncomingRequest) -> None:
        if self._seat is not None:
            self._seat.call(request)
            return
        given = request.params.get("secret") if isinstance(request.params, dict) else None
        self._seat = self._server.seat(given) if request.method == HELLO else None
        if self._seat is None:
            logger.warning("somebody without a session's secret was at the editor tools' socket")
            request.error(jsonrpc.INVALID_REQUEST, "No open session has this secret.")
            self.hang_up()
            return
        self._patience.cancel()
        request.result({})

    def notification(self, method: str, params: Json) -> None:
        logger.debug("the MCP process sent the notification %r, which is not known", method)

    def lost(self, reason: AgentGone) -> None:
        logger.debug("an MCP process is gone: %s", reason)


def _lacking(agent: Agent) -> str | None:
    """What is not there for the tools, as a sentence on what to do."""
    if not agent.info.mcp_stdio:
        return "it does not take MCP servers that are a command (session.mcp.stdio)."
    if sys.platform == "win32":
        return "the setting mcpEditorTools is not available on Windows yet."
    if find_spec("mcp") is None:
        return (
            "the setting mcpEditorTools needs the package mcp. Install it beside the sidecar: "
            "pip install 'acp-sidecar[mcp]'"
        )
    return None
