"""What the client can do, read from the raw parameters of ``initialize``.

Read from plain JSON rather than lsprotocol's classes, so that one odd value costs one flag
and not all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any, Final, TypeAlias
from urllib.parse import unquote

from attrs import frozen

Json: TypeAlias = Any

EXPERIMENTAL: Final = "acpSidecar"
"""The key of ``capabilities.experimental`` under which a client declares our own methods."""

ENCODINGS: Final = frozenset({"utf-8", "utf-16", "utf-32"})


@frozen
class ClientFeatures:
    """The client's abilities as far as we use any (LSP 3.17 and 3.18 ``ClientCapabilities``)."""

    show_document: bool = False
    apply_edit: bool = False
    document_changes: bool = False
    """``WorkspaceEdit.documentChanges``, hence versions, are understood."""
    resource_operations: frozenset[str] = frozenset()
    """Of ``create``, ``rename``, ``delete``."""
    failure_handling: str | None = None
    change_annotations: bool = False
    edit_metadata: bool = False
    progress: bool = False
    """``window/workDoneProgress/create`` is understood."""
    extra_action_properties: bool = False
    """Further properties of a ``MessageActionItem`` come back with the answer."""
    watched_files: bool = False
    """``workspace/didChangeWatchedFiles`` can be registered."""
    relative_patterns: bool = False
    configuration: bool = False
    """``workspace/configuration`` is understood."""
    configuration_registration: bool = False
    """``workspace/didChangeConfiguration`` can be registered."""
    completion_registration: bool = False
    """``textDocument/completion`` can be registered."""
    workspace_folders: bool = False
    code_lens: bool = False
    code_lens_refresh: bool = False
    code_action_literals: bool = False
    """Code actions need not be commands."""
    text_document_content: bool = False
    position_encodings: tuple[str, ...] = ()
    client_name: str | None = None
    client_version: str | None = None
    sidecar: frozenset[str] = frozenset()
    """Every name declared true under ``experimental.acpSidecar``."""

    @property
    def transcript(self) -> bool:
        return "transcript" in self.sidecar

    @property
    def reveal(self) -> bool:
        return "reveal" in self.sidecar

    @property
    def permission(self) -> bool:
        return "permission" in self.sidecar

    @property
    def changes(self) -> bool:
        return "changes" in self.sidecar

    @property
    def proposals(self) -> bool:
        return "proposals" in self.sidecar

    @property
    def terminals(self) -> bool:
        return "terminals" in self.sidecar

    @property
    def elicitation(self) -> bool:
        return "elicitation" in self.sidecar

    @property
    def open_terminal(self) -> bool:
        return "openTerminal" in self.sidecar

    @property
    def selection(self) -> bool:
        return "selection" in self.sidecar

    @property
    def save(self) -> bool:
        return "save" in self.sidecar

    @property
    def user_activity(self) -> bool:
        return "userActivity" in self.sidecar

    @property
    def reloads(self) -> bool:
        """It loads a document without unsaved changes anew when its file changes."""
        return "reloads" in self.sidecar

    @property
    def user_edits(self) -> bool:
        """It tells by itself which of the user's edits are to pause following."""
        return "userEdits" in self.sidecar

    @classmethod
    def of(cls, params: Json) -> ClientFeatures:
        """Read the parameters of ``initialize``. Anything may be missing or odd."""
        at = _Reader(params)
        workspace, edit = "capabilities.workspace", "capabilities.workspace.workspaceEdit"
        window, document = "capabilities.window", "capabilities.textDocument"
        return cls(
            show_document=at.flag(f"{window}.showDocument.support"),
            apply_edit=at.flag(f"{workspace}.applyEdit"),
            document_changes=at.flag(f"{edit}.documentChanges"),
            resource_operations=frozenset(at.strings(f"{edit}.resourceOperations")),
            failure_handling=at.string(f"{edit}.failureHandling"),
            change_annotations=at.present(f"{edit}.changeAnnotationSupport"),
            edit_metadata=at.flag(f"{edit}.metadataSupport"),
            progress=at.flag(f"{window}.workDoneProgress"),
            extra_action_properties=at.flag(
                f"{window}.showMessage.messageActionItem.additionalPropertiesSupport"
            ),
            watched_files=at.flag(f"{workspace}.didChangeWatchedFiles.dynamicRegistration"),
            relative_patterns=at.flag(f"{workspace}.didChangeWatchedFiles.relativePatternSupport"),
            configuration=at.flag(f"{workspace}.configuration"),
            configuration_registration=at.flag(
                f"{workspace}.didChangeConfiguration.dynamicRegistration"
            ),
            completion_registration=at.flag(f"{document}.completion.dynamicRegistration"),
            workspace_folders=at.flag(f"{workspace}.workspaceFolders"),
            code_lens=at.present(f"{document}.codeLens"),
            code_lens_refresh=at.flag(f"{workspace}.codeLens.refreshSupport"),
            code_action_literals=at.present(f"{document}.codeAction.codeActionLiteralSupport"),
            text_document_content=at.present(f"{workspace}.textDocumentContent"),
            position_encodings=at.strings("capabilities.general.positionEncodings"),
            client_name=at.string("clientInfo.name"),
            client_version=at.string("clientInfo.version"),
            sidecar=at.declared(f"capabilities.experimental.{EXPERIMENTAL}"),
        )


@frozen
class _Reader:
    """Looks values up by their dotted path; what is not there is None."""

    root: Json

    def json(self, path: str) -> Json:
        value = self.root
        for name in path.split("."):
            value = value.get(name) if isinstance(value, Mapping) else None
        return value

    def flag(self, path: str) -> bool:
        return self.json(path) is True

    def present(self, path: str) -> bool:
        """For a capability that is an object of details: there, and not switched off."""
        value = self.json(path)
        # An empty Lua table arrives as an empty array.
        return value is True or isinstance(value, Mapping | list)

    def string(self, path: str) -> str | None:
        value = self.json(path)
        return value if isinstance(value, str) else None

    def strings(self, path: str) -> tuple[str, ...]:
        value = self.json(path)
        items = value if isinstance(value, list) else ()
        return tuple(item for item in items if isinstance(item, str))

    def declared(self, path: str) -> frozenset[str]:
        value = self.json(path)
        items = value.items() if isinstance(value, Mapping) else ()
        return frozenset(name for name, declared in items if declared is True)


def choose_encoding(capabilities: Json) -> str:
    """The client's first position encoding that we know, else ``utf-16``
    (LSP 3.17 ``general.positionEncodings``)."""
    for encoding in _Reader(capabilities).strings("general.positionEncodings"):
        if encoding in ENCODINGS:
            return encoding
    return "utf-16"


def folders_at_start(params: Json) -> list[dict[str, str]]:
    """The workspace folders ``initialize`` names, by any of its three ways."""
    at = _Reader(params)
    if listed := folders(at.json("workspaceFolders")):
        return listed
    root = at.string("rootUri")
    if not root:
        path = at.string("rootPath")
        if not path or not PurePath(path).is_absolute():
            return []
        root = PurePath(path).as_uri()
    return [{"uri": root, "name": unquote(root.rstrip("/").rpartition("/")[2])}]


def folders(value: Json) -> list[dict[str, str]]:
    """A ``WorkspaceFolder[]`` as ``{"uri", "name"}`` each, without what is none."""
    return [
        {"uri": item["uri"], "name": str(item.get("name") or "")}
        for item in (value if isinstance(value, list) else ())
        if isinstance(item, Mapping) and isinstance(item.get("uri"), str)
    ]


def merge(into: dict[str, Json], more: Mapping[str, Json]) -> None:
    """Put ``more`` into ``into``, objects member by member."""
    for key, value in more.items():
        known = into.get(key)
        if isinstance(known, dict) and isinstance(value, Mapping):
            merge(known, value)
        else:
            into[key] = value
