"""What an agent may have done in the editor beside ACP, for one session: the editor tools.

Each answers a request of the session's MCP process with ``{"text": …}``, or with an error
whose message is meant for the model. Paths may be relative to the session's folder; the rules
are those of ``fs/*``: the session's roots, its turn, its review.
"""

from __future__ import annotations

import json
import os
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from acp_sidecar.acp import jsonrpc
from acp_sidecar.acp.model import Json, ReadTextFile, WriteTextFile
from acp_sidecar.client import files
from acp_sidecar.workspace.files import FileProblem, window
from acp_sidecar.workspace.roots import PathRefused
from acp_sidecar.workspace.uris import uri_to_path

if TYPE_CHECKING:
    from acp_sidecar.agents.incoming import IncomingRequest
    from acp_sidecar.client.live import LiveSession

_NOT_SHOWN: Final[Mapping[str, str]] = {
    "off": "the user has switched off that places are shown",
    "paused": "the user is busy elsewhere; it can be shown after their next prompt",
    "superseded": "another place was shown instead",
    "outside": "it is outside of the folders that are open in the editor",
}


class Unusable(ValueError):
    """The tool was called with arguments that do not fit; the message says what would."""


def answer(session: LiveSession, request: IncomingRequest) -> None:
    """Answer a call of one of :data:`TOOLS`, now or in a task of the session's."""
    tool = TOOLS.get(request.method)
    if tool is None:
        known = ", ".join(TOOLS)
        request.error(
            jsonrpc.METHOD_NOT_FOUND, f"There is no tool {request.method!r}; there are {known}."
        )
    elif session.ended:
        request.error(
            jsonrpc.INVALID_REQUEST, "This session has ended: its editor tools work no more."
        )
    else:
        session.answers.give(_answered(session, request, tool), request)


async def _answered(session: LiveSession, request: IncomingRequest, tool: Tool) -> None:
    given = request.params
    if not isinstance(given, dict):
        request.error(jsonrpc.INVALID_PARAMS, "The arguments must be an object.")
        return
    try:
        await tool(session, request, given)
    except (Unusable, PathRefused, FileProblem) as problem:
        request.error(jsonrpc.INVALID_PARAMS, str(problem))


async def read_file(
    session: LiveSession, request: IncomingRequest, given: Mapping[str, Any]
) -> None:
    """``path``, and where they are given ``line`` (1-based) and ``limit`` (lines): what the
    file says now, unsaved text included."""
    params = ReadTextFile(
        "", _path(session, given), _number(given, "line"), _number(given, "limit")
    )
    await files.read(session, request, params, _text)


async def write_file(
    session: LiveSession, request: IncomingRequest, given: Mapping[str, Any]
) -> None:
    """``path`` and ``content``, the whole new text of the file."""
    path, content = _path(session, given), given.get("content")
    if not isinstance(content, str):
        raise Unusable("content must be a text: the whole new content of the file.")

    def result() -> Json:
        real = session.roots.resolve(path, must="new")
        opened = session.files.opened(session.roots)
        if any(document.real == real and document.dirty for document in opened):
            return _text("Done, in the editor: the file has changes that the user has not saved.")
        return _text("Done.")

    await files.write(session, request, WriteTextFile("", path, content), result)


async def open_files(
    session: LiveSession, request: IncomingRequest, given: Mapping[str, Any]
) -> None:
    """The files of the session's folders that are open in the editor."""
    listed = [
        {"path": session.roots.as_given(document.real), "unsaved": document.dirty}
        for document in session.files.opened(session.roots)
        if document.real is not None
    ]
    request.result(_text(_json(listed)))


async def selection(
    session: LiveSession, request: IncomingRequest, given: Mapping[str, Any]
) -> None:
    """The file before the user, and the lines of it that they have selected."""
    attachment = await session.editor.selection()
    if attachment is None:
        raise Unusable("The editor does not tell which file is before the user.")
    uri, lines = attachment
    path = uri_to_path(uri)
    if path is None:
        raise Unusable("What is before the user is no file.")
    try:
        real = session.roots.resolve(path, must="new")
    except PathRefused as refused:
        if refused.reason != "outside":
            raise
        # Its name is none of the agent's business.
        raise Unusable("What is before the user is outside of this session's folders.") from refused
    found: dict[str, Any] = {"path": session.roots.as_given(real), "selection": None}
    if lines is not None:
        first, last = lines
        text = window(await session.files.read(real), first + 1, last - first + 1)
        found["selection"] = {"firstLine": first + 1, "lastLine": last + 1, "text": text}
    request.result(_text(_json(found)))


async def reveal(session: LiveSession, request: IncomingRequest, given: Mapping[str, Any]) -> None:
    """Show ``path``, at a 1-based ``line`` where one is given, as following does."""
    path, line = _path(session, given), _number(given, "line")
    session.roots.place(path, line)
    if session.loading or session.quiet:
        raise Unusable("Not shown: nothing is shown before the user's first prompt.")
    reason = await session.editor.reveal(session, path, line)
    if reason is not None:
        raise Unusable(f"Not shown: {_NOT_SHOWN.get(reason, reason)}.")
    request.result(_text("Shown."))


def _path(session: LiveSession, given: Mapping[str, Any]) -> str:
    path = given.get("path")
    if not isinstance(path, str) or not path:
        raise Unusable("path must be the path of a file.")
    # Not a Path: what is odd in it is for the roots to judge.
    return os.path.join(session.state.cwd, path)  # noqa: PTH118


def _number(given: Mapping[str, Any], name: str) -> int | None:
    value = given.get(name)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if value is None or (type(value) is int and value >= 1):
        return value
    raise Unusable(f"{name} must be a whole number from 1 on.")


def _text(text: str) -> Json:
    return {"text": text}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)


Tool: TypeAlias = Callable[["LiveSession", "IncomingRequest", Mapping[str, Any]], Awaitable[None]]

TOOLS: Final[Mapping[str, Tool]] = {
    "read_file": read_file,
    "write_file": write_file,
    "open_files": open_files,
    "selection": selection,
    "reveal": reveal,
}
"""By the names the agent knows them by."""
