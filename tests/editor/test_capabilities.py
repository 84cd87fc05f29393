"""What is read from the parameters of ``initialize``, however odd they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_sidecar.editor.capabilities import (
    ClientFeatures,
    choose_encoding,
    folders_at_start,
    merge,
)

NEOVIM: dict[str, Any] = {
    "clientInfo": {"name": "Neovim", "version": "0.11.4"},
    "capabilities": {
        "general": {"positionEncodings": ["utf-8", "utf-16", "utf-32"]},
        "window": {
            "showDocument": {"support": True},
            "workDoneProgress": True,
            "showMessage": {"messageActionItem": {"additionalPropertiesSupport": True}},
        },
        "workspace": {
            "applyEdit": True,
            "configuration": True,
            "didChangeConfiguration": {"dynamicRegistration": False},
            "didChangeWatchedFiles": {
                "dynamicRegistration": False,
                "relativePatternSupport": True,
            },
            "workspaceEdit": {"resourceOperations": ["rename", "create", "delete"]},
            "workspaceFolders": True,
        },
        "textDocument": {
            "codeLens": {"dynamicRegistration": False},
            "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": [""]}}},
        },
        "experimental": {
            "acpSidecar": {"reveal": True, "transcript": True, "permission": False, "save": True}
        },
    },
}


def test_a_real_editor() -> None:
    features = ClientFeatures.of(NEOVIM)
    assert features == ClientFeatures(
        show_document=True,
        apply_edit=True,
        resource_operations=frozenset({"create", "rename", "delete"}),
        progress=True,
        extra_action_properties=True,
        relative_patterns=True,
        configuration=True,
        workspace_folders=True,
        code_lens=True,
        code_action_literals=True,
        position_encodings=("utf-8", "utf-16", "utf-32"),
        client_name="Neovim",
        client_version="0.11.4",
        sidecar=frozenset({"reveal", "transcript", "save"}),
    )
    assert features.reveal
    assert features.transcript
    assert not features.permission
    assert not features.user_activity
    assert not features.changes
    assert not features.terminals


def test_an_editor_that_says_nothing_can_do_nothing() -> None:
    for params in (None, [], {}, {"capabilities": None}, "text", 5):
        assert ClientFeatures.of(params) == ClientFeatures()


def test_one_odd_value_costs_one_flag() -> None:
    odd = {
        "capabilities": {
            "window": {"showDocument": True, "workDoneProgress": True},
            "workspace": {
                "applyEdit": "yes",
                "workspaceEdit": {
                    "documentChanges": True,
                    "resourceOperations": ["create", 5, None],
                    "changeAnnotationSupport": [],
                },
                "textDocumentContent": {"dynamicRegistration": True},
            },
            "experimental": {"acpSidecar": ["reveal"]},
        }
    }
    features = ClientFeatures.of(odd)
    assert features == ClientFeatures(
        document_changes=True,
        resource_operations=frozenset({"create"}),
        change_annotations=True,
        progress=True,
        text_document_content=True,
    )


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "capabilities",
                    "window",
                    "workspace",
                    "general",
                    "positionEncodings",
                    "experimental",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=30,
)


@given(anything)
def test_nothing_a_client_sends_raises(params: Any) -> None:
    ClientFeatures.of(params)
    assert choose_encoding(params) in {"utf-8", "utf-16", "utf-32"}
    assert isinstance(folders_at_start(params), list)


@pytest.mark.parametrize(
    ("params", "uris"),
    [
        ({"workspaceFolders": [{"uri": "file:///a", "name": "a"}, {"uri": "file:///b"}]}, "ab"),
        (
            {"workspaceFolders": [{"uri": "file:///a"}, {"name": "x"}, 5], "rootUri": "file:///z"},
            "a",
        ),
        ({"workspaceFolders": None, "rootUri": "file:///b", "rootPath": "/c"}, "b"),
        ({"workspaceFolders": [], "rootUri": None, "rootPath": "/c"}, "c"),
        ({"rootPath": "relative"}, ""),
        ({"rootUri": ""}, ""),
    ],
)
def test_the_folders_come_from_wherever_the_client_names_them(
    params: dict[str, Any], uris: str
) -> None:
    assert [folder["uri"] for folder in folders_at_start(params)] == [f"file:///{u}" for u in uris]


def test_a_root_path_becomes_a_uri_with_its_name(tmp_path: Path) -> None:
    root = tmp_path / "with space é"
    folder = folders_at_start({"rootPath": str(root)})[0]
    assert folder["uri"] == root.as_uri()
    assert folder["name"] == "with space é"


def test_capabilities_merge_member_by_member() -> None:
    into = {"workspace": {"workspaceFolders": {"supported": True}}, "hoverProvider": True}
    merge(into, {"workspace": {"textDocumentContent": {"schemes": ["x"]}}, "hoverProvider": False})
    assert into == {
        "workspace": {
            "workspaceFolders": {"supported": True},
            "textDocumentContent": {"schemes": ["x"]},
        },
        "hoverProvider": False,
    }
