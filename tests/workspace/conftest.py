from __future__ import annotations

import pytest

from tests.workspace.hand import Hand


@pytest.fixture
def hand() -> Hand:
    return Hand()
