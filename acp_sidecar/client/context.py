"""What the user attaches to a prompt, as content blocks. ACP, "Content"."""

from __future__ import annotations

import asyncio
from pathlib import Path, PurePosixPath
from typing import Final

from acp_sidecar.acp.model import (
    AgentInfo,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)
from acp_sidecar.client import images
from acp_sidecar.workspace import disk
from acp_sidecar.workspace.documents import Documents
from acp_sidecar.workspace.files import FileProblem, Files, window
from acp_sidecar.workspace.roots import PathRefused, walk
from acp_sidecar.workspace.uris import uri_to_path

_WITHOUT_TEXT: Final = frozenset({"directory", "encoding", "too_large"})


async def context_block(
    uri: str,
    lines: tuple[int, int] | None,
    *,
    info: AgentInfo,
    documents: Documents,
    files: Files,
) -> ContentBlock:
    """A document, or the 0-based ``lines`` (first, last included) of it.

    An agent that takes embedded context gets the text as it is now, unsaved edits
    included; another one gets a link, as does every one to what has no text to be had: a
    folder, a page of the web. A document that is no file (``untitled:``) cannot be linked, so
    its text goes as text. A picture goes as one to an agent that takes pictures, to another
    one as a link. Raises :class:`FileProblem` where nothing is there, and for a picture that
    is too large.
    """
    path = uri_to_path(uri)
    picture = None
    if path is not None and lines is None and info.prompt_image and documents.get(uri) is None:
        picture = await asyncio.to_thread(_picture, Path(path), uri)
    if picture is not None:
        return picture
    name = PurePosixPath(path or uri).name or uri
    where = f"{name}:{lines[0] + 1}-{lines[1] + 1}" if lines else name
    description = f"lines {lines[0] + 1}-{lines[1] + 1}" if lines else None
    link = ResourceLink(uri, where, description=description)
    if not info.prompt_embedded_context and path is not None:
        return link
    if uri.lower().startswith(("http://", "https://")):
        return link
    try:
        text = await _text(uri, path, documents, files)
    except FileProblem as problem:
        if problem.kind not in _WITHOUT_TEXT:
            raise
        return link
    if lines is not None:
        text = window(text, lines[0] + 1, lines[1] - lines[0] + 1)
    if info.prompt_embedded_context:
        return EmbeddedResource(TextResourceContents(uri, text))
    return TextContent(f"{where}:\n{text}")


def _picture(path: Path, uri: str) -> ImageContent | None:
    """The picture at a path; None for what is none."""
    try:
        real = walk(str(path))
        head = disk.read_head(real, images.HEAD)
        mime = images.mime_type(head)
        if mime is None:
            return None
        data = disk.read(real, images.MOST_BYTES).data
    except PathRefused:
        return None
    except FileProblem as problem:
        if problem.kind == "too_large":
            most = images.MOST_BYTES // (1024 * 1024)
            raise FileProblem(
                "too_large", path, f"A picture of more than {most} MB is not sent"
            ) from problem
        return None
    return images.image_block(data, mime, uri)


async def _text(uri: str, path: str | None, documents: Documents, files: Files) -> str:
    document = documents.get(uri)
    if document is not None:
        return document.text
    if path is None:
        raise FileProblem("missing", Path(uri), "No such file or open document")
    return await files.read(Path(path))
