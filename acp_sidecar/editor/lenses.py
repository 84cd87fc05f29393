"""What waits for review, within its document: code lenses, code actions, the next hunk.

LSP 3.17, "Code Lens Request", "Code Action Request". Each of them runs an ``acp.review``
command by ``workspace/executeCommand``. None is preferred and none is of a kind that an
editor runs by itself when a file is saved: nothing is decided by accident.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

from acp_sidecar.editor.calls import METHOD_NOT_FOUND, CommandError
from acp_sidecar.editor.marks import Lines, Mark, marks, meant
from acp_sidecar.editor.server import ClientError, ClientGone
from acp_sidecar.editor.walk import onward, stops

if TYPE_CHECKING:
    from pathlib import Path

    from acp_sidecar.client.ports import SessionView
    from acp_sidecar.editor.capabilities import ClientFeatures
    from acp_sidecar.editor.review import Review
    from acp_sidecar.editor.server import SidecarServer
    from acp_sidecar.tasks import Tasks
    from acp_sidecar.workspace.documents import Documents
    from acp_sidecar.workspace.files import Files
    from acp_sidecar.workspace.positions import Encoding

logger = logging.getLogger(__name__)

CAPABILITIES: Final[Mapping[str, Any]] = {
    "codeLensProvider": {"resolveProvider": False},
    "codeActionProvider": {"codeActionKinds": ["quickfix", "source.acp"]},
}
_ANSWER_SECONDS: Final = 5
_MOST_WITH_LENSES: Final = 1_000
"""Changes of a document that get lenses of their own: an editor draws each of them."""

# What keep and revert are called, by whether the hunk is only proposed.
_WORDS: Final[Mapping[bool, tuple[str, str]]] = {
    False: ("Keep", "Revert"),
    True: ("Apply", "Reject"),
}


class Lenses:
    """The hunks of all sessions in the documents of one editor."""

    def __init__(
        self,
        server: SidecarServer,
        sessions: Callable[[], Sequence[SessionView]],
        review: Callable[[], Review],
        documents: Documents,
        files: Files,
        features: Callable[[], ClientFeatures],
        tasks: Tasks,
    ) -> None:
        self._server = server
        self._sessions = sessions
        self._review = review
        self._documents = documents
        self._files = files
        self._features = features
        self._tasks = tasks
        self._refreshable = True
        self._refreshing = False
        self._due = False

    # --- requests of the editor -------------------------------------------------------------

    async def code_lens(self, params: Any) -> list[dict[str, Any]]:
        """``textDocument/codeLens``."""
        uri = _uri(params)
        found = await self._marks(uri)
        if not found:
            return []
        lines = self._lines(uri)
        per_session = _per_session(found)
        lenses = [
            {"range": lines.of(0, 0), "command": command}
            for _, own in per_session
            # Of a single change its own lens says the same.
            if len(own) > 1
            for command in _whole_file(uri, own, several=len(per_session) > 1)
        ]
        for number, mark in enumerate(found[:_MOST_WITH_LENSES], 1):
            place = lines.of(mark.start, 0)
            lenses += [
                {"range": place, "command": command}
                for command in _of_hunk(mark, f"Next ({number} of {len(found)})")
            ]
        for mark in found[_MOST_WITH_LENSES : _MOST_WITH_LENSES + 1]:
            title = f"{len(found) - _MOST_WITH_LENSES} more changes from here on, without lenses"
            command = _command(title, "acp.review.next", mark.argument)
            lenses.append({"range": lines.of(mark.start, 0), "command": command})
        return lenses

    async def code_action(self, params: Any) -> list[dict[str, Any]]:
        """``textDocument/codeAction``."""
        uri = _uri(params)
        found = await self._marks(uri)
        first, last = _span(params)
        actions: list[tuple[str, dict[str, Any]]] = []
        for mark in found:
            if mark.meets(first, last):
                actions += [("quickfix", command) for command in _deciding(mark, "this change")]
        several = len(self._sessions()) > 1
        for command in _whole_file(uri, found, several=several):
            actions.append((f"source.{command['command']}.file", command))
        for command in self._everything(several=several):
            actions.append((f"source.{command['command']}.all", command))
        only = _only(params)
        chosen = [
            (kind, command)
            for kind, command in actions
            if only is None or any(_is_kind(kind, wanted) for wanted in only)
        ]
        if not self._features().code_action_literals:
            return [command for _, command in chosen]
        return [
            {"title": command["title"], "kind": kind, "command": command}
            for kind, command in chosen
        ]

    async def meant(
        self, sessions: Sequence[SessionView], uri: str, first: int, last: int
    ) -> list[tuple[SessionView, str | None]]:
        """The hunks that somebody means who points at these 0-based lines of a document: the
        session and the id of each, or None for the id where it is all of a session there."""
        found = await self._marks(uri, sessions)
        of = {session.state.session_id: len(own) for session, own in _per_session(found)}
        chosen: list[tuple[SessionView, str | None]] = []
        for session, own in _per_session(meant(found, first, last)):
            whole = 1 < len(own) == of[session.state.session_id]
            chosen += [(session, None)] if whole else [(session, mark.id) for mark in own]
        return chosen

    async def next(
        self,
        sessions: Sequence[SessionView],
        uri: str | None,
        hunk_id: str | None,
        line: int | None,
        *,
        back: bool = False,
        show: bool = True,
    ) -> dict[str, Any] | None:
        """The hunk after ``hunk_id`` (``back``: before it), or after a 0-based line of a
        document, round at the ends; opened where ``show``. None where nothing waits that can
        be opened."""
        here = self._path(uri)
        due = set() if here is None else {here}
        looked_at: set[Path] = set()
        while True:
            for path in due:
                for session in sessions:
                    await session.look_again(path)
            looked_at |= due
            order = stops(sessions, self._files, self._review().uri)
            if not order:
                return None
            number = onward(order, hunk_id, here, line, back=back)
            stop = order[number]
            # Where one comes from and goes to may be elsewhere by now, or no more.
            due = {stop.path, *(it.path for it in order if it.mark.id == hunk_id)} - looked_at
            if not due:
                break
        place = self._lines(stop.uri).of(stop.mark.start, stop.mark.lines)
        if show:
            await self._open(stop.uri, place)
        return {
            "sessionId": stop.mark.session.state.session_id,
            "uri": stop.uri,
            "hunkId": stop.mark.id,
            "range": place,
            "number": number + 1,
            "of": len(order),
        }

    async def _open(self, uri: str, selection: Mapping[str, Any]) -> None:
        if not self._features().show_document:
            return
        # The user asked for it, so it takes the focus.
        params = {"uri": uri, "external": False, "takeFocus": True, "selection": selection}
        try:
            await self._server.request("window/showDocument", params, timeout=_ANSWER_SECONDS)
        except (ClientError, ClientGone, TimeoutError) as error:
            logger.info("the editor did not show %s: %s", uri, error)

    # --- the editor is told that they are others now --------------------------------------------

    def moved(self) -> None:
        """Ask the editor to ask again, where it can; once for however many changes."""
        if not (self._features().code_lens_refresh and self._refreshable):
            return
        self._due = True
        if not self._refreshing:
            self._refreshing = True
            self._tasks.start(self._refresh(), name="refresh of code lenses")

    async def _refresh(self) -> None:
        try:
            while self._due:
                self._due = False
                try:
                    await self._server.request(
                        "workspace/codeLens/refresh", timeout=_ANSWER_SECONDS
                    )
                except ClientError as error:
                    if error.code == METHOD_NOT_FOUND:
                        self._refreshable = self._due = False
                except ClientGone:
                    return
                except TimeoutError:
                    logger.info("the editor does not answer a refresh of code lenses")
        finally:
            self._refreshing = False

    # --- how ----------------------------------------------------------------------------------

    def _path(self, uri: str | None) -> Path | None:
        try:
            return None if uri is None else self._review().real(uri)
        except CommandError:  # no file on a disk
            return None

    async def _marks(self, uri: str, sessions: Sequence[SessionView] | None = None) -> list[Mark]:
        path = self._path(uri)
        if path is None:
            return []
        found: list[Mark] = []
        for session in self._sessions() if sessions is None else sessions:
            if session.ledger is not None:
                found += await marks(session, path, self._files)
        return sorted(found, key=lambda mark: mark.start)

    def _lines(self, uri: str) -> Lines:
        document = self._documents.get(uri)
        if document is not None:
            text: str | None = document.text
        else:
            text = self._files.glance(self._review().real(uri))
        return Lines(text or "", cast("Encoding", self._server.position_encoding))

    def _everything(self, *, several: bool) -> Iterator[dict[str, Any]]:
        for session in self._sessions():
            changes = self._review().changes(session)
            if changes:
                of = f" of {session.agent_name}" if several else ""
                proposed = all(entry.get("proposed") and not entry["hunks"] for entry in changes)
                argument = {"sessionId": session.state.session_id}
                yield from _both(proposed, f"all changes{of} in all files", argument)


def _command(title: str, name: str, argument: Mapping[str, Any]) -> dict[str, Any]:
    return {"title": title, "command": name, "arguments": [dict(argument)]}


def _both(proposed: bool, what: str, argument: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Keep and revert of several hunks."""
    for word, step in zip(_WORDS[proposed], ("keep", "revert"), strict=True):
        yield _command(f"{word} {what}", f"acp.review.{step}", argument)


def _deciding(mark: Mark, what: str) -> Iterator[dict[str, Any]]:
    """Keep and revert of one hunk, without the one that cannot be."""
    keep, revert = _WORDS[mark.proposed]
    what = f" {what}" if what else ""
    clash = mark.state == "conflict"
    if not (clash and mark.proposed):
        note = " (conflict: you changed it too)" if clash else ""
        yield _command(f"{keep}{what}{note}", "acp.review.keep", mark.argument)
    if not clash or mark.proposed or mark.asks:
        note = " (conflict: you changed it too)" if clash else ""
        note = " (you edited it: asks before it is deleted)" if mark.asks else note
        yield _command(f"{revert}{what}{note}", "acp.review.revert", mark.argument)


def _of_hunk(mark: Mark, after: str) -> Iterator[dict[str, Any]]:
    counts = f"−{mark.gone} +{mark.come}"
    yield from _deciding(mark, counts if mark.gone or mark.come else "")
    yield _command(after, "acp.review.next", mark.argument)


def _whole_file(uri: str, found: Sequence[Mark], *, several: bool) -> Iterator[dict[str, Any]]:
    for session, own in _per_session(found):
        of = f" of {session.agent_name}" if several else ""
        proposed = all(mark.proposed for mark in own)
        argument = {"sessionId": session.state.session_id, "uri": uri}
        yield from _both(proposed, f"all {len(own)}{of}", argument)


def _per_session(found: Sequence[Mark]) -> list[tuple[SessionView, list[Mark]]]:
    by_session: dict[str, tuple[SessionView, list[Mark]]] = {}
    for mark in found:
        session_id = mark.session.state.session_id
        by_session.setdefault(session_id, (mark.session, []))[1].append(mark)
    return list(by_session.values())


def _uri(params: Any) -> str:
    document = params.get("textDocument") if isinstance(params, Mapping) else None
    uri = document.get("uri") if isinstance(document, Mapping) else None
    return uri if isinstance(uri, str) else ""


def _span(params: Any) -> tuple[int, int]:
    """The first and last line of a request's range; none where it is odd."""
    try:
        start, end = params["range"]["start"]["line"], params["range"]["end"]["line"]
        return (int(start), int(end))
    except (KeyError, TypeError, ValueError):
        return (-1, -1)


def _only(params: Any) -> list[str] | None:
    context = params.get("context") if isinstance(params, Mapping) else None
    only = context.get("only") if isinstance(context, Mapping) else None
    return [kind for kind in only if isinstance(kind, str)] if isinstance(only, list) else None


def _is_kind(kind: str, wanted: str) -> bool:
    return not wanted or kind == wanted or kind.startswith(f"{wanted}.")
