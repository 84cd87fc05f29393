"""Where files of ours are kept: in the platform's folders for a user's state and caches."""

from __future__ import annotations

from pathlib import Path
from typing import Final

_OURS: Final = "acp-sidecar"


def baselines() -> Path:
    """What files said before agents changed them; can be done without."""
    return _cache("baselines")


def checkpoints() -> Path:
    """What sessions changed, and what waits for review."""
    return _state("checkpoints")


def registries() -> Path:
    """Registries of agents that were fetched."""
    return _cache("registries")


def sessions() -> Path:
    """The sessions that can be opened again."""
    return _state("sessions")


def unfinished() -> Path:
    """What runs and waits in sessions."""
    return _state("unfinished")


def _cache(name: str) -> Path:
    from platformdirs import user_cache_path

    return user_cache_path(_OURS) / name


def _state(name: str) -> Path:
    from platformdirs import user_state_path

    return user_state_path(_OURS) / name
