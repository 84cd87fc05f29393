"""An editor made of pytest-lsp's client: real LSP objects, buffers, dialogs, and a log.

Our own ``acp/*`` messages arrive as plain JSON. ``client.log`` holds the method and the
parameters of everything the sidecar has sent, in order.
"""

from __future__ import annotations

import asyncio
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.protocol import (
    JsonRPCNotification,
    JsonRPCRequestMessage,
    JsonRPCResponseMessage,
    default_converter,
)
from pytest_lsp import LanguageClient
from pytest_lsp.client import DEFAULT_CLIENT_FEATURES, register_lsp_features
from pytest_lsp.protocol import LanguageClientProtocol

BOUND = 20
"""Seconds after which a test gives up waiting."""

SERVE = [
    shutil.which("acp-sidecar", path=Path(sys.executable).parent) or "acp-sidecar",
    "serve",
]

_UNIT_BYTES = {"utf-8": 1, "utf-16": 2, "utf-32": 4}


def demo(pace: float = 0) -> dict[str, Any]:
    """The ``agents`` entry of the embedded agent, with so many seconds between two steps."""
    return {
        "command": sys.executable,
        "args": ["-m", "acp_sidecar", "demo-agent", "--pace", str(pace)],
    }


class Refused(Exception):
    """The sidecar answered with an error."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Dialog:
    """A ``window/showMessageRequest`` that waits for the user."""

    def __init__(self, params: types.ShowMessageRequestParams) -> None:
        self.text = params.message
        self.titles = [action.title for action in params.actions or ()]
        self._click = asyncio.get_running_loop().create_future()

    async def clicked(self) -> types.MessageActionItem | None:
        return await self._click

    def click(self, title: str) -> None:
        self._click.set_result(types.MessageActionItem(title=title))

    def dismiss(self) -> None:
        self._click.set_result(None)

    @property
    def withdrawn(self) -> bool:
        """The sidecar took the request back with ``$/cancelRequest``."""
        return self._click.cancelled()


class Running:
    """A command that is under way."""

    def __init__(self, client: Client, request_id: str, command: str, argument: Any) -> None:
        self._client, self._id = client, request_id
        params = types.ExecuteCommandParams(command, [argument])
        self._answer = client.protocol.send_request(
            types.WORKSPACE_EXECUTE_COMMAND, params, msg_id=request_id
        )

    def __await__(self) -> Any:
        return self._result().__await__()

    async def _result(self) -> Any:
        try:
            async with asyncio.timeout(self._client.bound):
                return await asyncio.wrap_future(self._answer)
        except JsonRpcException as error:
            raise Refused(error.code, error.message) from error

    @property
    def done(self) -> bool:
        return self._answer.done()

    def cancel(self) -> None:
        """Send ``$/cancelRequest`` for it."""
        self._client.cancel_request(types.CancelParams(id=self._id))


class Protocol(LanguageClientProtocol):
    """Logs what comes in and wakes whoever waits for it."""

    _server: Client

    def handle_message(self, message: Any) -> None:
        if hasattr(message, "method"):
            self._server.log.append((message.method, message.params))
        super().handle_message(message)
        self._server.wake()


class Client(LanguageClient):
    """The editor, and a person's means."""

    def __init__(self) -> None:
        super().__init__(converter_factory=_plain_converter, protocol_cls=Protocol)
        self.log: list[tuple[str, Any]] = []
        self.buffers: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        self.dialogs: list[Dialog] = []
        self.edits: list[types.ApplyWorkspaceEditParams] = []
        self.encoding = "utf-16"
        self.bound: float = BOUND
        self.own_answers: dict[str, Callable[[Any], Any]] = {
            "acp/reveal": lambda params: {"shown": True},
            "acp/permission": lambda params: asyncio.get_running_loop().create_future(),
        }
        self._numbers = iter(range(1, 1_000_000))
        self._news = asyncio.Event()
        register_lsp_features(self, {**DEFAULT_CLIENT_FEATURES, **FEATURES})

    # --- watching ---------------------------------------------------------------------

    def wake(self) -> None:
        self._news.set()

    async def until(self, met: Callable[[], Any]) -> Any:
        """Wait until something the sidecar sent makes ``met()`` true; its value."""
        async with asyncio.timeout(self.bound):
            while not (value := met()):
                self._news.clear()
                await self._news.wait()
        return value

    async def eventually(self, met: Callable[[Any], Any], command: str, **argument: Any) -> Any:
        """Run a command again and again until its result is what is wanted."""
        async with asyncio.timeout(self.bound):
            while not met(result := await self.execute(command, **argument)):
                await asyncio.sleep(0.02)
        return result

    def all(self, method: str) -> list[Any]:
        """The parameters of every message of this method so far."""
        return [params for sent, params in self.log if sent == method]

    async def nth(self, method: str, number: int = 1) -> Any:
        """The parameters of the ``number``-th message of this method."""
        await self.until(lambda: len(self.all(method)) >= number)
        return self.all(method)[number - 1]

    async def dialog(self, number: int = 1) -> Dialog:
        """The ``number``-th dialog so far."""
        await self.until(lambda: len(self.dialogs) >= number)
        return self.dialogs[number - 1]

    def revealed(self) -> list[tuple[str, int | None]]:
        """Name and 0-based line of every ``window/showDocument`` so far."""
        return [
            (shown.uri.rpartition("/")[2], shown.selection.start.line if shown.selection else None)
            for shown in self.shown_documents
        ]

    # --- doing ------------------------------------------------------------------------

    async def begin(
        self,
        *folders: Path,
        settings: dict[str, Any] | None = None,
        encodings: tuple[str, ...] = ("utf-16",),
        sidecar: dict[str, bool] | None = None,
        configuration: bool = False,
    ) -> types.InitializeResult:
        """Initialise: a usual editor, with ``sidecar`` under ``experimental.acpSidecar``."""
        capabilities = types.ClientCapabilities(
            general=types.GeneralClientCapabilities(position_encodings=list(encodings)),
            window=types.WindowClientCapabilities(
                work_done_progress=True,
                show_document=types.ShowDocumentClientCapabilities(support=True),
            ),
            workspace=types.WorkspaceClientCapabilities(
                apply_edit=True,
                configuration=configuration,
                workspace_edit=types.WorkspaceEditClientCapabilities(document_changes=True),
            ),
            experimental={"acpSidecar": sidecar} if sidecar else None,
        )
        result = await self.initialize_session(
            types.InitializeParams(
                capabilities=capabilities,
                workspace_folders=[
                    types.WorkspaceFolder(uri=folder.as_uri(), name=folder.name)
                    for folder in folders
                ]
                or None,
                initialization_options={"agents": {"demo": demo()}, **(settings or {})},
            )
        )
        self.encoding = result.capabilities.position_encoding or "utf-16"
        return result

    def start(self, command: str, **argument: Any) -> Running:
        """Run a command without waiting for its end."""
        return Running(self, f"test-{next(self._numbers)}", command, argument)

    async def execute(self, command: str, **argument: Any) -> Any:
        """Run a command; its result as plain JSON, or :class:`Refused`."""
        return await self.start(command, **argument)

    async def new(self, **argument: Any) -> dict[str, Any]:
        """Open a session."""
        opened: dict[str, Any] = await self.execute("acp.session.new", **argument)
        return opened

    async def prompt(self, text: str, **argument: Any) -> str:
        """Play a whole turn; its stop reason."""
        result = await self.execute("acp.session.prompt", text=text, **argument)
        return str(result["stopReason"])

    async def state(self, **argument: Any) -> dict[str, Any]:
        found: dict[str, Any] = await self.execute("acp.session.state", **argument)
        return found

    def open(self, path: Path) -> str:
        """Open a file as it is on disk."""
        uri = path.as_uri()
        self.buffers[uri], self.versions[uri] = path.read_bytes().decode(), 1
        item = types.TextDocumentItem(uri, "python", 1, self.buffers[uri])
        self.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return uri

    def edit(self, uri: str, edits: list[types.TextEdit]) -> None:
        """Apply edits, which all refer to the text as it is, and tell the sidecar."""
        text = self.buffers[uri]
        for edit in sorted(edits, key=lambda edit: edit.range.start, reverse=True):
            start = offset(text, edit.range.start, self.encoding)
            end = offset(text, edit.range.end, self.encoding)
            text = text[:start] + edit.new_text + text[end:]
        self.buffers[uri] = text
        self.versions[uri] += 1
        changes = [
            types.TextDocumentContentChangePartial(range=edit.range, text=edit.new_text)
            for edit in sorted(edits, key=lambda edit: edit.range.start, reverse=True)
        ]
        identity = types.VersionedTextDocumentIdentifier(version=self.versions[uri], uri=uri)
        self.text_document_did_change(types.DidChangeTextDocumentParams(identity, changes))

    def reload(self, uri: str, path: Path) -> None:
        """Load a file anew, as editors do that watch the disk."""
        self.buffers[uri] = path.read_bytes().decode()
        self.versions[uri] += 1
        identity = types.VersionedTextDocumentIdentifier(version=self.versions[uri], uri=uri)
        change = types.TextDocumentContentChangeWholeDocument(text=self.buffers[uri])
        self.text_document_did_change(types.DidChangeTextDocumentParams(identity, [change]))

    def type(self, uri: str, line: int, character: int, text: str) -> None:
        """Type at a position."""
        here = types.Position(line, character)
        self.edit(uri, [types.TextEdit(types.Range(here, here), text)])

    async def end(self) -> None:
        """Shut down, or stop a server that no test has initialised."""
        if self.capabilities is not None:
            await self.shutdown_session()
        elif self._server is not None and self._server.returncode is None:
            self._server.terminate()


def offset(text: str, position: types.Position, encoding: str) -> int:
    """Where an LSP position is in ``text``, counted the slow and simple way."""
    lines = text.split("\n")
    begin = sum(len(line) + 1 for line in lines[: position.line])
    units = 0
    for index, character in enumerate(lines[position.line]):
        if units >= position.character:
            assert units == position.character, "a position inside of a character"
            return begin + index
        units += (
            len(character.encode(f"{encoding}-le" if encoding != "utf-8" else encoding))
            // (_UNIT_BYTES[encoding])
        )
    return begin + len(lines[position.line])


def make_client() -> Client:
    return Client()


def _plain_converter() -> Any:
    """pygls makes named tuples of what it has no class for; here it stays JSON."""
    converter = default_converter()
    for message in (JsonRPCRequestMessage, JsonRPCNotification):
        converter.register_structure_hook(message, lambda raw, cls: cls(**{"params": None, **raw}))
    converter.register_structure_hook(JsonRPCResponseMessage, lambda raw, cls: cls(**raw))
    return converter


# --- what the editor does when it is asked ---------------------------------------------------


async def _show_message_request(
    client: Client, params: types.ShowMessageRequestParams
) -> types.MessageActionItem | None:
    dialog = Dialog(params)
    client.dialogs.append(dialog)
    client.wake()
    return await dialog.clicked()


def _apply_edit(
    client: Client, params: types.ApplyWorkspaceEditParams
) -> types.ApplyWorkspaceEditResult:
    client.edits.append(params)
    for change in _document_edits(params):
        identity = change.text_document
        if identity.version != client.versions.get(identity.uri):
            return types.ApplyWorkspaceEditResult(applied=False)
        client.edit(identity.uri, list(change.edits))  # type: ignore[arg-type]
    return types.ApplyWorkspaceEditResult(applied=True)


def _document_edits(params: types.ApplyWorkspaceEditParams) -> Iterator[types.TextDocumentEdit]:
    for change in params.edit.document_changes or ():
        assert isinstance(change, types.TextDocumentEdit)
        yield change


async def _own(client: Client, method: str, params: Any) -> Any:
    result = client.own_answers[method](params)
    return await result if asyncio.isfuture(result) else result


async def _reveal(client: Client, params: Any) -> Any:
    return await _own(client, "acp/reveal", params)


async def _permission(client: Client, params: Any) -> Any:
    return await _own(client, "acp/permission", params)


def _nothing(client: Client, params: Any) -> None:
    """It is in the log."""


FEATURES = {
    types.WINDOW_SHOW_MESSAGE_REQUEST: _show_message_request,
    types.WORKSPACE_APPLY_EDIT: _apply_edit,
    "acp/reveal": _reveal,
    "acp/permission": _permission,
    "acp/transcript": _nothing,
    "acp/changes": _nothing,
    "acp/follow": _nothing,
}
