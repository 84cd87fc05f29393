"""What a test puts on the disk."""

from __future__ import annotations

from pathlib import Path


def say(path: Path, text: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path
