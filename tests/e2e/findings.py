"""A table of cases tried on one sidecar: everything that is wrong with any of them."""

from __future__ import annotations

from typing import Any

import pytest


class Findings:
    """Collects faults; :meth:`close` fails with all of them."""

    def __init__(self) -> None:
        self._faults: list[str] = []

    def expect(self, met: Any, *about: Any) -> None:
        if not met:
            self._faults.append(" | ".join(str(part)[:300] for part in about))

    def equal(self, found: Any, wanted: Any, *about: Any) -> None:
        self.expect(found == wanted, *about, f"found {found!r}", f"wanted {wanted!r}")

    def close(self) -> None:
        if self._faults:
            pytest.fail("\n" + "\n".join(self._faults))
