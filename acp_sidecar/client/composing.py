"""A prompt is put together: the user's text, what is attached to it, what it mentions.

ACP, "Content" and "Prompt Turn". The text goes as it was typed; what it mentions goes behind
it. Nothing outside of the session's folders is sent because a text names it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import frozen

from acp_sidecar.acp.decoding import DecodeError
from acp_sidecar.acp.model import ContentBlock, TextContent
from acp_sidecar.client.context import context_block
from acp_sidecar.client.mentions import SELECTION, Mention, Reading, mentions
from acp_sidecar.client.offers import lacking_for_prompt
from acp_sidecar.client.ports import Attachment, Editor, Refused
from acp_sidecar.client.visible import visible
from acp_sidecar.workspace.documents import Documents
from acp_sidecar.workspace.files import FileProblem, Files
from acp_sidecar.workspace.positions import split_lines
from acp_sidecar.workspace.roots import PathRefused
from acp_sidecar.workspace.uris import path_to_uri

if TYPE_CHECKING:
    from acp_sidecar.client.live import LiveSession


@frozen
class Composed:
    """The blocks of a prompt; ``mentioned`` are those of them that its text names."""

    blocks: tuple[ContentBlock, ...]
    mentioned: tuple[ContentBlock, ...] = ()


class Composer:
    """Puts prompts together."""

    def __init__(self, editor: Editor, documents: Documents, files: Files) -> None:
        self._editor = editor
        self._documents = documents
        self._files = files

    async def compose(
        self,
        session: LiveSession,
        text: str | None,
        content: Sequence[Mapping[str, Any]],
        attachments: Sequence[Attachment],
    ) -> Composed:
        """Raises :class:`Refused` where something cannot be sent."""
        blocks: list[ContentBlock] = [TextContent(text)] if text else []
        try:
            blocks += [session.agent.wire.decode_block(raw) for raw in content]
            for uri, lines in attachments:
                blocks.append(await self._attached(session, uri, lines))
        except (DecodeError, FileProblem) as error:
            raise Refused(f"The prompt was not sent: {error}") from error
        known = {(uri, lines) for uri, lines in attachments}
        mentioned = await self.mentioned(session, text or "", known)
        if not blocks:
            raise Refused("There is nothing to send: give 'text' or 'content'.")
        lacking = lacking_for_prompt(session.agent.info, blocks)
        if lacking is not None:
            raise Refused(f"{session.agent_name} does not offer {lacking}.")
        return Composed((*blocks, *mentioned), mentioned)

    async def mentioned(
        self, session: LiveSession, text: str, known: set[Attachment] | None = None
    ) -> tuple[ContentBlock, ...]:
        """The blocks of what a text mentions, but for what is attached already. The user is
        told of what looks like a file and is none that can be sent: it stays text."""
        known = set(known or ())
        blocks: list[ContentBlock] = []
        problems: list[str] = []
        for mention in mentions(text):
            try:
                attachment = await self._resolved(session, mention)
                if attachment is None or attachment in known:
                    continue
                known.add(attachment)
                blocks.append(await self._attached(session, *attachment))
            except (PathRefused, FileProblem, Refused) as error:
                problems.append(f"{visible(mention.text)}: {visible(str(error))}")
        if problems:
            listed = "\n".join(problems)
            self._editor.tell("info", f"Sent as text only:\n{listed}")
        return tuple(blocks)

    async def _resolved(self, session: LiveSession, mention: Mention) -> Attachment | None:
        """What a mention means; None for a word that only looks like one."""
        refusal: PathRefused | None = None
        for reading in mention.readings:
            try:
                real = session.roots.resolve(
                    reading.path, relative_to=session.state.cwd, must="any"
                )
            except PathRefused as refused:
                refusal = refusal if refusal and refusal.reason == "outside" else refused
                continue
            return self._uri(session, real), self._lines(real, reading)
        if mention.text == f"@{SELECTION}":
            return await self._selection()
        if mention.evident and refusal is not None:
            raise refusal
        return None

    def _lines(self, real: Path, reading: Reading) -> tuple[int, int] | None:
        if reading.lines is None:
            return None
        text = self._files.glance(real)
        if text is not None:
            count = len(split_lines(text))
            if reading.lines[0] >= max(count, 1):
                raise Refused(f"it has only {count} lines")
        return reading.lines

    def _uri(self, session: LiveSession, real: Path) -> str:
        """The URI under which the editor knows, or would open, the file."""
        document = self._documents.at(real)
        return document.uri if document else path_to_uri(session.roots.as_given(real))

    async def _selection(self) -> Attachment:
        selected = await self._editor.selection()
        if selected is None:
            raise Refused("this editor does not tell what is selected")
        return selected

    async def _attached(
        self, session: LiveSession, uri: str, lines: tuple[int, int] | None
    ) -> ContentBlock:
        return await context_block(
            uri,
            lines,
            info=session.agent.info,
            documents=self._documents,
            files=self._files,
        )
