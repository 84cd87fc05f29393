"""The files that a tool call's arguments name."""

from __future__ import annotations

from typing import Any

import pytest

from acp_sidecar.acp.model import UNSET
from acp_sidecar.client.named import named_paths


@pytest.mark.parametrize(
    ("raw", "paths"),
    [
        ({"filePath": "/ws/a", "oldString": "/ws/b"}, ["/ws/a"]),
        ({"source": "a", "destination": "b"}, ["a", "b"]),
        (
            {"changes": {"/ws/a": {"type": "update", "move_path": "/ws/b"}, "/ws/c": None}},
            ["/ws/a", "/ws/b", "/ws/c"],
        ),
        ({"path": 5, "changes": ["/ws/a"], "file": ""}, []),
        (["path"], []),
        (None, []),
        (UNSET, []),
    ],
)
def test_paths_are_found_under_any_of_their_names(raw: Any, paths: list[str]) -> None:
    assert list(named_paths(raw)) == paths
