"""Version 1 against the protocol's own ``schema.json``."""

from __future__ import annotations

from typing import Any

import pytest

from tests.schema.reading import Reading


@pytest.fixture(scope="session")
def reading(v1_schema: dict[str, Any]) -> Reading:
    return Reading(v1_schema)
