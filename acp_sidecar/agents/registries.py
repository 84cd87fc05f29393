"""Where a registry comes from: a file, or an https address that is fetched when the user says so.

What was fetched is kept in the user's cache folder, and everything but the explicit command
reads it from there.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Collection
from pathlib import Path

from acp_sidecar.agents.catalog import AgentEntry
from acp_sidecar.agents.registry import LARGEST, RegistryAgent, RegistryUnreadable, parse
from acp_sidecar.statefile import write_whole


class NotFetched(RegistryUnreadable):
    """It could not be fetched, or was not; the message says what to do."""


def is_address(source: str) -> bool:
    """Whether a source is an address and not a file."""
    return "://" in source


def read(source: str, cache: Path) -> bytes:
    """A registry's bytes without the network: the file, or what was fetched last.

    Raises :class:`NotFetched`.
    """
    path = kept_at(source, cache) if is_address(source) else Path(source).expanduser()
    try:
        with path.open("rb") as file:
            return file.read(LARGEST + 1)
    except FileNotFoundError as error:
        if is_address(source):
            raise NotFetched(
                f"it was not fetched yet: acp-sidecar agents --registry {source}"
            ) from error
        raise NotFetched(f"there is no file {path}") from error
    except OSError as error:
        raise NotFetched(f"it cannot be read: {error.strerror}") from error


def entries(
    source: str, permitted: Collection[str], cache: Path, *, fetching: bool = False
) -> tuple[list[AgentEntry], list[str]]:
    """The agents of a registry as they are started here, and what was left out of it.

    ``fetching`` is the user's word that an address may be asked; where it does not answer,
    what was fetched last will do. Raises :class:`RegistryUnreadable`.
    """
    said: list[str] = []
    if fetching and is_address(source):
        # What speaks https takes its time to be imported, and is seldom needed.
        from acp_sidecar.agents.download import fetch

        try:
            data = fetch(source)
            agents, problems = parse(data)
        except RegistryUnreadable as error:
            agents, problems = _kept(source, cache, error)
            said.append(f"{error}; this is what was fetched before")
        else:
            keep(source, data, cache)
    else:
        agents, problems = parse(read(source, cache))
    return [agent.entry(permitted) for agent in agents], [*said, *problems]


def _kept(
    source: str, cache: Path, error: RegistryUnreadable
) -> tuple[list[RegistryAgent], list[str]]:
    try:
        return parse(read(source, cache))
    except RegistryUnreadable:
        raise error from None


def keep(source: str, data: bytes, cache: Path) -> None:
    """Keep what was fetched; what cannot be written is fetched again."""
    with contextlib.suppress(OSError):
        cache.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(kept_at(source, cache), data)


def kept_at(source: str, cache: Path) -> Path:
    """Where a fetched registry is kept."""
    return cache / f"{hashlib.blake2b(source.encode(), digest_size=16).hexdigest()}.json"
