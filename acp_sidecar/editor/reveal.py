"""A place becomes visible: the editor's own way, or ``window/showDocument``.

LSP 3.17, "Show Document Request". Its answer proves nothing (some clients say yes when
showing failed), but an error or a no means that asking again helps nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from acp_sidecar.editor.follow import Outcome, Place, Target
from acp_sidecar.editor.server import ClientError, ClientGone
from acp_sidecar.workspace.positions import split_lines
from acp_sidecar.workspace.roots import Roots
from acp_sidecar.workspace.textdiff import fit
from acp_sidecar.workspace.uris import path_to_uri

if TYPE_CHECKING:
    from acp_sidecar.editor.capabilities import ClientFeatures
    from acp_sidecar.editor.server import SidecarServer
    from acp_sidecar.workspace.documents import Documents
    from acp_sidecar.workspace.files import Files


class Reveals:
    """Shows places in one editor."""

    def __init__(
        self,
        server: SidecarServer,
        documents: Documents,
        files: Files,
        features: ClientFeatures,
        folders: Callable[[], Sequence[str]],
    ) -> None:
        self._server = server
        self._documents = documents
        self._files = files
        self._features = features
        self._folders = folders

    async def reveal(self, target: Target) -> Outcome:
        """Show a file, at its line where it has one, else where the agent changes it.

        ACP lines are 1-based and 0 is taken for the first; past the end means the last line.
        """
        text = self._files.glance(target.path)
        if text is None:
            return Outcome(shown=False, reason="not a text file")
        uri = self._uri(target)
        line, diff = target.line, target.place.diff
        if line is None and diff is not None:
            line = changed_line(text, diff.old_text or "", diff.new_text)
        selection = _selection(line, text)
        if self._features.reveal:
            return await self._own(target.place, uri, selection)
        if self._features.show_document:
            return await self._standard(uri, selection)
        return Outcome(
            shown=False, reason="the editor cannot show documents by request", refused=True
        )

    def _uri(self, target: Target) -> str:
        """The URI under which the editor knows, or would open, the file."""
        document = self._documents.at(target.path)
        if document is not None:
            return document.uri
        folders = Roots.of(None, self._folders())
        if folders.contains(target.path):
            return path_to_uri(folders.as_given(target.path))
        return path_to_uri(target.place.session.roots.as_given(target.path))

    async def _own(self, place: Place, uri: str, selection: Mapping[str, Any] | None) -> Outcome:
        params = {
            "sessionId": place.session.state.session_id,
            "toolCallId": place.tool_call_id,
            "uri": uri,
            "selection": selection,
            "kind": place.kind,
        }
        try:
            answer = await self._server.request("acp/reveal", params)
        except ClientError as error:
            return Outcome(shown=False, reason=f"the editor could not show it: {error}")
        except ClientGone:
            return Outcome(shown=False, reason="the editor is gone")
        if isinstance(answer, Mapping) and answer.get("shown") is True:
            return Outcome(shown=True)
        reason = answer.get("reason") if isinstance(answer, Mapping) else None
        return Outcome(shown=False, reason=str(reason or "the editor did not show it"))

    async def _standard(self, uri: str, selection: Mapping[str, Any] | None) -> Outcome:
        params: dict[str, Any] = {"uri": uri, "external": False, "takeFocus": False}
        if selection is not None:
            params["selection"] = selection
        try:
            answer = await self._server.request("window/showDocument", params)
        except ClientError as error:
            return Outcome(
                shown=False, reason=f"the editor cannot show documents: {error}", refused=True
            )
        except ClientGone:
            return Outcome(shown=False, reason="the editor is gone")
        # Some clients answer null, and mean nothing by it.
        if isinstance(answer, Mapping) and answer.get("success") is False:
            return Outcome(shown=False, reason="the editor refused to show it", refused=True)
        return Outcome(shown=True)


def changed_line(text: str, old: str, new: str) -> int | None:
    """The first line (1-based) of a change from ``old`` to ``new`` in ``text``.

    The two may be the whole file or a piece of it, and ``text`` may hold either. None where
    they are not to be found, or in more than one place.
    """
    before, after = split_lines(fit(old, text)), split_lines(fit(new, text))
    pairs = zip(before, after, strict=False)
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    for piece, above in ((after, same), (before, same), (after[same:], 0), (before[same:], 0)):
        sought = "".join(piece)
        if sought and text.count(sought) == 1:
            # With a character behind it, since a piece may begin within a line.
            return len(split_lines(f"{text[: text.index(sought)]}.")) + above
    return None


def _selection(line: int | None, text: str) -> dict[str, Any] | None:
    if line is None:
        return None
    # Neovim refuses a line past the last one that has text, so an empty rest is no line here.
    lines = max(len(split_lines(text)), 1)
    shown = max(min(line, lines), 1) - 1
    position = {"line": shown, "character": 0}
    return {"start": position, "end": dict(position)}
