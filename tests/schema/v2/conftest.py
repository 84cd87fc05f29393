"""Version 2 against the protocol's own ``schema.json``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jsonschema
import pytest

from tests.schema.reading import Reading


@pytest.fixture(scope="session")
def reading(v2_schema: dict[str, Any]) -> Reading:
    return Reading(v2_schema)


@pytest.fixture(scope="session")
def validate(v2_schema: dict[str, Any]) -> Callable[[str, Any], None]:
    """Fails where a value does not fit a definition."""

    def check(definition: str, value: Any) -> None:
        schema = {"$ref": f"#/$defs/{definition}", "$defs": v2_schema["$defs"]}
        jsonschema.Draft202012Validator(schema).validate(value)

    return check
