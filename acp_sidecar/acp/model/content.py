"""Content: what messages, tool calls and prompts are made of."""

from __future__ import annotations

from typing import ClassVar, Final, TypeAlias

from attrs import field

from acp_sidecar.acp.values import JsonObject, frozen, wire

AUDIENCES: Final = frozenset({"user", "assistant"})


@frozen
class Annotations:
    """Hints on how content is meant to be used."""

    audience: tuple[str, ...] | None = field(default=None, metadata=wire(choices=AUDIENCES))
    last_modified: str | None = None
    priority: float | None = None
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class TextContent:
    TAG: ClassVar[str] = "text"
    text: str
    annotations: Annotations | None = None
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class ImageContent:
    TAG: ClassVar[str] = "image"
    data: str
    """Base64."""
    mime_type: str
    uri: str | None = None
    annotations: Annotations | None = None
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class AudioContent:
    TAG: ClassVar[str] = "audio"
    data: str
    """Base64."""
    mime_type: str
    annotations: Annotations | None = None
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class Icon:
    """A picture for a resource (v2)."""

    src: str
    mime_type: str | None = None
    sizes: tuple[str, ...] = ()
    theme: str | None = None
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class ResourceLink:
    TAG: ClassVar[str] = "resource_link"
    uri: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    size: int | None = None
    icons: tuple[Icon, ...] = ()
    annotations: Annotations | None = None
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class TextResourceContents:
    uri: str
    text: str
    mime_type: str | None = None
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class BlobResourceContents:
    uri: str
    blob: str
    """Base64."""
    mime_type: str | None = None
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class EmbeddedResource:
    TAG: ClassVar[str] = "resource"
    resource: TextResourceContents | BlobResourceContents
    annotations: Annotations | None = None
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


@frozen
class UnknownBlock:
    """A content block, tool-call content or setting of a type this version does not know."""

    KEEPS_UNKNOWN: ClassVar[bool] = True
    raw: JsonObject


ContentBlock: TypeAlias = (
    TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource | UnknownBlock
)
