"""``fs/read_text_file`` and ``fs/write_text_file``, for one session.

ACP, "File System". What a file says, and every change of it, is the workspace's
business; here the session's roots are checked and outcomes become answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from acp_sidecar.acp import jsonrpc
from acp_sidecar.client.proposals import described, in_words
from acp_sidecar.client.visible import visible
from acp_sidecar.workspace.files import FileProblem, FileText, window
from acp_sidecar.workspace.roots import PathRefused

if TYPE_CHECKING:
    from acp_sidecar.acp.model import Json, ReadTextFile, WriteTextFile
    from acp_sidecar.agents.connection import IncomingRequest
    from acp_sidecar.client.live import LiveSession
    from acp_sidecar.workspace.proposal import Proposal

_CODES: Final[Mapping[str, int]] = {
    "missing": jsonrpc.RESOURCE_NOT_FOUND,
    "relative": jsonrpc.INVALID_PARAMS,
    "invalid": jsonrpc.INVALID_PARAMS,
    "outside": jsonrpc.INVALID_PARAMS,
    "directory": jsonrpc.INVALID_PARAMS,
    "special": jsonrpc.INVALID_PARAMS,
    "encoding": jsonrpc.INVALID_PARAMS,
    "too_large": jsonrpc.INVALID_PARAMS,
}
"""Error codes by what is wrong; anything else is an internal error."""

# Agents whose creation of a file first reads it and takes only "" for "not there yet",
# by the name they give themselves in ``initialize``.
_MISSING_IS_EMPTY: Final = frozenset({"gemini-cli"})


async def read(
    session: LiveSession,
    request: IncomingRequest,
    params: ReadTextFile,
    result: Callable[[str], Json],
) -> None:
    """Answer with what the file says now, unsaved edits included.

    ``line`` is 1-based, ``limit`` counts lines; ``result`` makes the answer of the text.
    Errors: ``-32002`` where nothing is there, ``-32602`` for a path that may not be read or
    is no text file.
    """
    try:
        # Also a file that is only in the editor so far.
        path = session.roots.resolve(params.path, must="new")
        async with session.in_order.at(path):
            text = await session.files.read(path)
            session.books.touch(params.path)
            session.seen.read(path, text)
    except (PathRefused, FileProblem) as problem:
        kind = problem.reason if isinstance(problem, PathRefused) else problem.kind
        expects_empty = session.agent.info.name in _MISSING_IS_EMPTY
        if kind == "missing" and expects_empty and request.method.startswith("fs/"):
            request.result(result(""))
            return
        _refuse(request, kind, str(problem), params.path)
        return
    content = window(text, params.line, params.limit)
    request.result(result(content))


async def write(
    session: LiveSession,
    request: IncomingRequest,
    params: WriteTextFile,
    result: Callable[[], Json],
) -> None:
    """Make the file say ``content``, and answer with ``result()`` once it does.

    A write after the user's cancel is refused. One computed from a text the file no longer
    has is merged where that is clean, and refused otherwise: the agent is told to read again.
    """
    try:
        path = session.roots.resolve(params.path, must="new")
        before = session.reviews_before
        # One proposal of a file at a time; reads do not wait for the user.
        async with session.proposing.at(path) if before else session.in_order.at(path):
            await _write(session, request, path, params, result, before=before)
    except (PathRefused, FileProblem) as problem:
        kind = problem.reason if isinstance(problem, PathRefused) else problem.kind
        if kind == "misplaced":
            session.editor.tell("warning", str(problem))
        _refuse(request, kind, str(problem), params.path)


async def _write(
    session: LiveSession,
    request: IncomingRequest,
    path: Path,
    params: WriteTextFile,
    result: Callable[[], Json],
    *,
    before: bool,
) -> None:
    # Looked at only now: the user may have cancelled while it waited its turn.
    if not session.takes_writes:
        _cancelled(request, params)
        return
    session.books.touch(params.path)
    try:
        if before:
            await _propose(session, request, path, params, result)
            return
        outcome = await session.files.write(
            path,
            params.content,
            seen=session.seen.of(path),
            label=f"{session.agent.name} edits {path.name}",
            author=session.ledger,
        )
    except FileProblem as problem:
        if problem.kind == "changed":
            session.seen.refused(path)
            if _is_unsaved(session, path):
                session.editor.tell("warning", _yours_stay(session, params.path))
        raise
    session.seen.wrote(path, params.content)
    request.result(result())
    session.books.wrote(path, outcome)


def _is_unsaved(session: LiveSession, path: Path) -> bool:
    try:
        now = session.files.peek(path)
    except FileProblem:
        return False
    return isinstance(now, FileText) and now.source == "buffer"


def _yours_stay(session: LiveSession, path: str) -> str:
    return (
        f"{session.agent.name} wants to change {visible(path)} where you have unsaved changes. "
        "Yours stay, and it was told to read the file again."
    )


async def _propose(
    session: LiveSession,
    request: IncomingRequest,
    path: Path,
    params: WriteTextFile,
    result: Callable[[], Json],
) -> None:
    """Write what the user takes of it, once they have decided all of it.

    The answer is the ordinary one where they took everything, otherwise an error whose
    ``data`` names what they refused.
    """
    async with session.in_order.at(path):
        seen = session.seen.of(path)
        before, content = await session.files.plan(path, params.content, seen=seen)
    if isinstance(before, FileText) and content == before.text:
        session.seen.wrote(path, params.content)
        request.result(result())
        return
    offer = session.proposals.make(path, before, content)
    proposal = offer.proposal
    try:
        with offer:
            session.editor.proposed(session, proposal)
            if not await offer.word() or not session.takes_writes:
                _cancelled(request, params)
                return
            refused = proposal.refused()
            if await session.books.take_back(proposal):
                pass  # the agent has not waited, and all is as the user has decided
            elif proposal.taken():
                label = f"{session.agent.name} edits {path.name}"
                async with session.in_order.at(path):
                    outcome = await session.files.write(
                        path, proposal.text(), seen=proposal.old, label=label, author=session.ledger
                    )
                    await session.books.approved(path, outcome)
            if refused:
                request.error(
                    jsonrpc.INTERNAL_ERROR,
                    _told(proposal, params.path),
                    {
                        "path": params.path,
                        "reason": "refused",
                        "written": bool(proposal.taken()),
                        "refused": described(proposal, refused),
                    },
                )
            else:
                session.seen.wrote(path, params.content)
                request.result(result())
    finally:
        session.editor.settled(session, proposal)


def _told(proposal: Proposal, path: str) -> str:
    """What the agent, and through it the model, hears of a refusal."""
    refused = proposal.refused()
    if not proposal.taken():
        return f"The user refused this change of {path}: nothing was written."
    return (
        f"The user refused {len(refused)} of {len(proposal.ids())} changes of {path} and took the "
        "others, which are written. Read the file again before you change it. Refused:\n"
        f"{in_words(proposal, refused)}"
    )


def _cancelled(request: IncomingRequest, params: WriteTextFile) -> None:
    request.error(
        jsonrpc.REQUEST_CANCELLED,
        "The user cancelled this turn: nothing was written.",
        {"path": params.path},
    )


def _refuse(request: IncomingRequest, kind: str, message: str, path: str) -> None:
    code = _CODES.get(kind, jsonrpc.INTERNAL_ERROR)
    request.error(code, message, {"path": path, "reason": kind})
