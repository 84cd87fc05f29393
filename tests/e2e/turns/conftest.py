"""Prompts, turns, their queue and their end, between an editor and an agent held by the test."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture(autouse=True)
async def _open(session: dict[str, Any]) -> None:
    """Every test here speaks in an open session."""
