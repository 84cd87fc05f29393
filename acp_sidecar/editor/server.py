"""The language server the editor talks to: pygls, hardened. Knows LSP only.

Use from the event loop's thread; every method that sends returns at once.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Hashable, Mapping, Sequence
from typing import Any, Final, TypeAlias, TypeVar
from urllib.parse import unquote

from lsprotocol import types
from pygls.capabilities import ServerCapabilitiesBuilder
from pygls.lsp.server import LanguageServer

from acp_sidecar.editor import parent, stdio, textsync
from acp_sidecar.editor.calls import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    ClientError,
    ClientGone,
    CommandError,
    Json,
)
from acp_sidecar.editor.capabilities import choose_encoding, folders, folders_at_start, merge
from acp_sidecar.editor.ending import End, exit_code, on_signals, run_alone
from acp_sidecar.editor.protocol import Handler, Phase, SidecarProtocol
from acp_sidecar.editor.textsync import ContentChange

__all__ = [
    "ClientError",
    "ClientGone",
    "CommandError",
    "ContentChange",
    "SidecarServer",
]

log = logging.getLogger(__name__)

F = TypeVar("F", bound=Callable[..., Any])
CommandHandler: TypeAlias = Callable[[dict[str, Any]], Json | Awaitable[Json]]

STOP_SECONDS: Final = 0.4
"""What ``on_stop`` is given. VS Code may end us 0.15 to 2 seconds after ``shutdown``."""

UNWIND_SECONDS: Final = 0.05
FLUSH_SECONDS: Final = 0.1


def _ignore(*arguments: Any) -> None:
    """The default of a callback."""


async def _stop_nothing() -> None:
    """The default of ``on_stop``."""


class SidecarServer(LanguageServer):
    """An LSP server over standard input and output.

    Callbacks are attributes, to be set before :meth:`run`. Those for documents are called
    inline, in the order of the messages; an error in one is logged and goes no further.
    Where a callback returns an awaitable it runs as a task of the server's.

    ``on_stop``
        Awaited once: at the client's ``shutdown`` (which is answered after it), ``exit``,
        end of input, SIGTERM, SIGINT, SIGHUP, or the death of the client's process. It has
        0.4 seconds; then it is cancelled. Before it, every open :meth:`request` raised
        :class:`ClientGone`; after it, handlers still at work are cancelled.
    ``on_initialize(params)``
        The raw parameters, before the answer; the place to look at the client's
        capabilities and to announce ours with :meth:`announce`.
    ``on_open(uri, language_id, version, text)``, ``on_change(uri, version, changes)``,
    ``on_save(uri, text)``, ``on_close(uri)``
        See :mod:`acp_sidecar.editor.textsync`.
    ``on_folders(added, removed)``
        Lists of ``{"uri", "name"}``; :attr:`workspace_folders` has changed already.
    ``on_configuration(settings)``, ``on_watched_files([(uri, type)])``, ``on_initialized()``
    """

    protocol: SidecarProtocol

    def __init__(self, name: str = "acp-sidecar", version: str = "0") -> None:
        self.on_stop: Callable[[], Awaitable[None]] = _stop_nothing
        self.on_initialize: Callable[[dict[str, Any]], Any] = _ignore
        self.on_initialized: Callable[[], Any] = _ignore
        self.on_open: Callable[[str, str, int, str], Any] = _ignore
        self.on_change: Callable[[str, int | None, Sequence[ContentChange]], Any] = _ignore
        self.on_save: Callable[[str, str | None], Any] = _ignore
        self.on_close: Callable[[str], Any] = _ignore
        self.on_configuration: Callable[[Json], Any] = _ignore
        self.on_watched_files: Callable[[Sequence[tuple[str, int]]], Any] = _ignore
        self.on_folders: Callable[[Sequence[dict[str, str]], Sequence[dict[str, str]]], Any] = (
            _ignore
        )
        self.initialize_params: dict[str, Any] = {}
        self.workspace_folders: list[dict[str, str]] = []
        self.position_encoding = "utf-16"
        self._commands: dict[str, CommandHandler] = {}
        self._capability: dict[str, Json] = {}
        self._end: asyncio.Future[End] | None = None
        self._stopping: asyncio.Task[None] | None = None
        self._watch: asyncio.Task[None] | None = None
        self._asked_to_shut_down = False
        # pygls' own say is bodies, at any level below this one.
        logging.getLogger("pygls").setLevel(logging.WARNING)
        super().__init__(name, version, protocol_cls=SidecarProtocol)
        self._take_over(self.protocol)

    def _take_over(self, protocol: SidecarProtocol) -> None:
        protocol.on_input_ended = self._input_ended
        protocol.on_exit = self._exit
        protocol.built_in_requests = {
            types.INITIALIZE: self._initialize,
            types.SHUTDOWN: self._shut_down,
            types.WORKSPACE_EXECUTE_COMMAND: self._execute_command,
        }
        protocol.built_in_notifications |= {
            types.INITIALIZED: lambda params: self.on_initialized(),
            types.TEXT_DOCUMENT_DID_OPEN: lambda p: self.on_open(*textsync.opened(p)),
            types.TEXT_DOCUMENT_DID_CHANGE: lambda p: self.on_change(*textsync.changed(p)),
            types.TEXT_DOCUMENT_DID_SAVE: lambda p: self.on_save(*textsync.saved(p)),
            types.TEXT_DOCUMENT_DID_CLOSE: lambda p: self.on_close(*textsync.closed(p)),
            types.WORKSPACE_DID_CHANGE_CONFIGURATION: (
                lambda p: self.on_configuration(*textsync.configured(p))
            ),
            types.WORKSPACE_DID_CHANGE_WATCHED_FILES: (
                lambda p: self.on_watched_files(*textsync.watched(p))
            ),
            types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS: self._folders_changed,
        }

    # --- what the server offers -----------------------------------------------------

    def handle(self, method: str, handler: Handler, *, none_apart: bool = False) -> None:
        """Handle a request or notification of the client's.

        ``handler(params)`` gets plain JSON and returns plain JSON, or an awaitable of it;
        a client's ``$/cancelRequest`` cancels the awaitable. An error in it answers the
        request: a :class:`CommandError` with its own message and code. Params that are null or
        missing are ``{}``, and None with ``none_apart``.

        Raises :class:`ValueError` for a request that is built in, see the callbacks.
        """
        self._refuse_built_in(method)
        self.protocol.handlers[method] = handler
        if none_apart:
            self.protocol.telling_none_apart.add(method)

    def provide(self, method: str, handler: Handler, capability: Mapping[str, Json]) -> None:
        """:meth:`handle` a standard method and :meth:`announce` that we do, e.g.
        ``{"codeLensProvider": {}}`` for ``textDocument/codeLens``."""
        self.handle(method, handler)
        self.announce(capability)

    def announce(self, capability: Mapping[str, Json]) -> None:
        """Merge into the ``ServerCapabilities`` that ``initialize`` is answered with."""
        merge(self._capability, capability)

    def command(self, command_name: str, handler: CommandHandler | None = None) -> Callable[[F], F]:
        """Offer a command of ``workspace/executeCommand``.

        ``handler(argument)`` gets the one argument, an object (``{}`` where there is none),
        and is otherwise treated as by :meth:`handle`. Without ``handler``: a decorator.
        """

        def register(function: F) -> F:
            self._commands[command_name] = function
            return function

        if handler is not None:
            self._commands[command_name] = handler
        return register

    def feature(self, feature_name: str, options: Any | None = None) -> Callable[[F], F]:
        """pygls' decorator, for a handler that wants lsprotocol's classes; else as
        :meth:`handle`. pygls announces it."""
        self._refuse_built_in(feature_name)
        return super().feature(feature_name, options)

    def _refuse_built_in(self, method: str) -> None:
        if method in self.protocol.built_in_requests:
            raise ValueError(f"{method} is built in; use the server's callbacks")

    def thread(self) -> Callable[[F], F]:
        """Refused: raises :class:`TypeError`. Blocking work belongs in a thread of the
        handler's own (:func:`asyncio.to_thread`), awaited by an async handler."""
        raise TypeError("handlers run in the event loop; use asyncio.to_thread inside one")

    # --- what the server asks and tells the client -----------------------------------

    async def request(
        self,
        method: str,
        params: Mapping[str, Json] | None = None,
        *,
        timeout: float | None = None,
    ) -> Json:
        """Ask the client. Plain JSON in and out; ``result: null`` is None.

        When the awaiting task is cancelled, or after ``timeout`` seconds, the client is told
        by ``$/cancelRequest`` and its late answer dropped.

        Raises :class:`ClientError` for an error of the client's, :class:`ClientGone` when it
        went, or shut us down, before it answered, :class:`TimeoutError` when it took too long.
        """
        async with asyncio.timeout(timeout):
            return await self.protocol.calls.begin(method, params)

    def notify_json(
        self,
        method: str,
        params: Mapping[str, Json] | None = None,
        *,
        droppable: Hashable | None = None,
    ) -> int:
        """Tell the client. Never blocks. Returns the message's size in bytes.

        While the client does not read, only the latest notification of a ``droppable`` key
        is kept; see also :attr:`congested`.
        """
        message: dict[str, Json] = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message["params"] = params
        return self.protocol.send(message, droppable=droppable, expendable=True)

    @property
    def congested(self) -> bool:
        """Whether the client does not read at the moment what we send."""
        return self.protocol.outbox.congested

    async def writable(self) -> None:
        """Wait until the client reads again, or is gone."""
        await self.protocol.outbox.writable()

    def spawn(self, coroutine: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        """Run a task that lives as long as the server; what it raises is logged."""
        return self.protocol.work.start(coroutine, name)

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Log only: pygls would show the user a message."""
        log.error("%s: %s", getattr(source, "__name__", source), error)

    # --- running ----------------------------------------------------------------------

    def run(self, stdin: stdio.Stream | None = None, stdout: stdio.Stream | None = None) -> int:
        """Serve until the end; return the exit code for the process.

        By default the process's own streams are taken over for good, see
        :func:`acp_sidecar.editor.stdio.take_standard_streams`.
        """
        if stdin is None or stdout is None:
            stdin, stdout = stdio.take_standard_streams()
        return run_alone(self.serve(stdin, stdout))

    def start_io(self, stdin: Any = None, stdout: Any = None) -> None:
        """pygls' name for :meth:`run`."""
        self.run(stdin, stdout)

    def start_tcp(self, host: str, port: int) -> None:
        """Refused: raises :class:`NotImplementedError`."""
        raise NotImplementedError("the sidecar speaks over standard input and output only")

    start_ws = start_tcp

    async def serve(
        self, stdin: stdio.Stream | None = None, stdout: stdio.Stream | None = None
    ) -> int:
        """:meth:`run` in a loop that runs already."""
        loop = asyncio.get_running_loop()
        end = self._end = loop.create_future()
        if stdin is None or stdout is None:
            stdin, stdout = stdio.take_standard_streams()
        outbox = self.protocol.outbox
        outbox.on_lost = lambda: self._finish(End.OUTPUT)
        inlet = stdio.Inlet(self.protocol.data_received, self.protocol.eof_received)
        with on_signals(loop, self._finish):
            source = await stdio.connect(stdin, stdout, inlet, outbox)
            try:
                reason = await end
                log.info("ending: %s", reason.value)
            finally:
                await asyncio.shield(self._stop())
                await self.protocol.work.finish(UNWIND_SECONDS, cancel=False)
                await outbox.close(FLUSH_SECONDS)
                source.close()
                if self._watch is not None:
                    self._watch.cancel()
        return exit_code(reason, asked_to_shut_down=self._asked_to_shut_down)

    def shutdown(self) -> None:
        """End :meth:`run` as the end of input would."""
        self._finish(End.INPUT)

    def _finish(self, reason: End) -> None:
        if self._end is not None and not self._end.done():
            self._end.set_result(reason)
            self._stop()

    def _stop(self) -> asyncio.Task[None]:
        if self._stopping is None:
            self.protocol.phase = Phase.STOPPING
            self.protocol.calls.fail_all("the editor is gone")
            self._stopping = asyncio.get_running_loop().create_task(self._clean_up())
        return self._stopping

    async def _clean_up(self) -> None:
        # Those who waited for an answer of the editor's go first: they may owe the agent one.
        for _ in range(3):
            await asyncio.sleep(0)
        stop = asyncio.create_task(self._call_on_stop())
        done, _ = await asyncio.wait({stop}, timeout=STOP_SECONDS)
        if not done:
            log.error("the clean-up took too long")
            stop.cancel()
        elif not stop.cancelled() and (error := stop.exception()) is not None:
            log.error("the clean-up failed", exc_info=error)
        await self.protocol.work.finish(UNWIND_SECONDS, cancel=True)

    async def _call_on_stop(self) -> None:
        await self.on_stop()

    # --- built-in methods, called by the protocol ----------------------------------------

    def _initialize(self, params: Json) -> Json:
        if self.protocol.phase is not Phase.NEW:
            raise CommandError("initialize comes only once", INVALID_REQUEST)
        self.initialize_params = params if isinstance(params, dict) else {}
        capabilities = self.initialize_params.get("capabilities")
        self.position_encoding = choose_encoding(capabilities)
        self.workspace_folders = folders_at_start(self.initialize_params)
        self._structure_capabilities(capabilities)
        self.on_initialize(self.initialize_params)
        answer = {
            "capabilities": self._capabilities(),
            "serverInfo": {"name": self.name, "version": self.version},
        }
        self.protocol.phase = Phase.READY
        # Not among the work that ends with shutdown: exit may never come.
        self._watch = asyncio.get_running_loop().create_task(
            self._watch_client(self.initialize_params.get("processId"))
        )
        return answer

    def _structure_capabilities(self, capabilities: Json) -> None:
        converter = self.protocol._converter
        try:
            structured = converter.structure(capabilities, types.ClientCapabilities)
        except Exception:  # noqa: BLE001 - cattrs raises what the classes raise
            log.info("the client's capabilities are not what LSP says; taking them as JSON")
            structured = types.ClientCapabilities()
        self.protocol.client_capabilities = structured

    def _capabilities(self) -> dict[str, Json]:
        built = ServerCapabilitiesBuilder(
            self.protocol.client_capabilities,
            set(self.protocol.fm.features),
            self.protocol.fm.feature_options,
            list(self._commands),
            types.TextDocumentSyncKind.Incremental,
            None,
            self.position_encoding,
        ).build()  # type: ignore[no-untyped-call]
        self.protocol.server_capabilities = built
        capabilities: dict[str, Json] = self.protocol._converter.unstructure(built)
        capabilities["textDocumentSync"] = {
            "openClose": True,
            "change": types.TextDocumentSyncKind.Incremental.value,
            "save": {"includeText": True},
        }
        merge(capabilities, self._capability)
        return capabilities

    async def _watch_client(self, pid: Json) -> None:
        if await parent.wait_for_end(pid):
            self._finish(End.PARENT)

    async def _shut_down(self, params: Json) -> None:
        self._asked_to_shut_down = True
        await asyncio.shield(self._stop())

    def _exit(self) -> None:
        self._finish(End.EXIT)

    def _input_ended(self) -> None:
        self._finish(End.INPUT)

    def _execute_command(self, params: Json) -> Json | Awaitable[Json]:
        name = params.get("command") if isinstance(params, dict) else None
        handler = self._commands.get(name) if isinstance(name, str) else None
        if handler is None:
            raise CommandError(f"unknown command {name!r}", INVALID_PARAMS)
        arguments = params.get("arguments")
        argument = arguments[0] if isinstance(arguments, list) and arguments else arguments
        if argument is None or argument == []:
            argument = {}
        if not isinstance(argument, dict):
            raise CommandError(f"{name} takes one object as its argument", INVALID_PARAMS)
        return handler(argument)

    def _folders_changed(self, params: Json) -> Any:
        event = params.get("event") if isinstance(params, dict) else None
        event = event if isinstance(event, dict) else {}
        added, removed = folders(event.get("added")), folders(event.get("removed"))
        gone = {_folder_key(folder) for folder in [*removed, *added]}
        kept = [folder for folder in self.workspace_folders if _folder_key(folder) not in gone]
        self.workspace_folders = kept + added
        return self.on_folders(added, removed)


def _folder_key(folder: Mapping[str, str]) -> str:
    """What two spellings of one folder's URI have in common."""
    return unquote(folder["uri"]).rstrip("/")
