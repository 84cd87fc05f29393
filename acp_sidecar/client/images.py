"""Pictures for a prompt: known by their first bytes, never by their name. ACP, "Content"."""

from __future__ import annotations

import base64
from typing import Final

from acp_sidecar.acp.model import ImageContent

MOST_BYTES: Final = 10 * 1024 * 1024
"""Of a picture that is sent. In base64 it is a third longer."""
HEAD: Final = 16
"""First bytes that tell a picture."""


def mime_type(head: bytes) -> str | None:
    """What the first bytes of a file say that it is, of what models take; None for
    anything else."""
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if head.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if head.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    return None


def image_block(data: bytes, mime: str, uri: str) -> ImageContent:
    """A picture as a content block."""
    return ImageContent(base64.b64encode(data).decode(), mime, uri=uri)
