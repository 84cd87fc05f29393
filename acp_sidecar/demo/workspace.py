"""The scratch workspace of the demonstration."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from attrs import frozen

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
        yield Scratch(folder, home)
