from __future__ import annotations

from collections.abc import Callable, Mapping

from tests.workspace.files.clock import Loop


def pytest_asyncio_loop_factories() -> Mapping[str, Callable[[], Loop]]:
    """Editor and sidecar share one loop here, and what the machine withholds from it."""
    return {"clocked": Loop}
