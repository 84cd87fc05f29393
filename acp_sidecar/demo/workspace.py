"""The scratch workspace of the demonstration."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from attrs import frozen

from acp_sidecar.workspace.lockfile import hold

_SIDECAR_SECONDS: Final = 10.0
"""How long the sidecar may take to end after its editor."""

FILES: Final = {
    "greeting.py": '''"""Greets people by name."""


def greet(name):
    return "Hello " + name


def main():
    for name in ("Ada", "Grace", "Linus"):
        print(greet(name))


if __name__ == "__main__":
    main()
''',
    "README.md": """# Scratch workspace

Made for the demonstration, removed at its end. Change what you like.
""",
}


@frozen
class Scratch:
    """``folder`` is what the agent works in; ``home`` holds what Neovim and the sidecar keep."""

    folder: Path
    home: Path

    @property
    def lock(self) -> Path:
        """What the sidecar holds while it runs."""
        return self.home / "sidecar.lock"

    def wait_for_the_sidecar(self) -> None:
        """Wait until it has ended: it would make its folders anew."""
        end = time.monotonic() + _SIDECAR_SECONDS
        while (handle := hold(self.lock)) is None and time.monotonic() < end:
            time.sleep(0.02)
        if handle is not None:
            os.close(handle)


@contextlib.contextmanager
def scratch() -> Iterator[Scratch]:
    """Makes the workspace in the system's folder for temporary files; removes it at the end."""
    with tempfile.TemporaryDirectory(prefix="acp-demo-", ignore_cleanup_errors=True) as made:
        # Without links in it (macOS keeps temporary files behind one), paths look alike everywhere.
        root = Path(made).resolve()
        folder, home = root / "workspace", root / "home"
        folder.mkdir()
        home.mkdir()
        for name, text in FILES.items():
            (folder / name).write_text(text, encoding="utf-8")
        workspace = Scratch(folder, home)
        try:
            yield workspace
        finally:
            workspace.wait_for_the_sidecar()
