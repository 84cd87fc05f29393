"""The text that most files here begin with, and how a refusal is caught."""

from __future__ import annotations

import pytest

from acp_sidecar.workspace.files import FileProblem

LINES = "one\ntwo\nthree\nfour\nfive\n"


async def problem(awaited: object) -> FileProblem:
    with pytest.raises(FileProblem) as caught:
        await awaited  # type: ignore[misc]
    return caught.value
