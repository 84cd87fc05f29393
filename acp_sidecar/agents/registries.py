"""Where a registry comes from: a file, or an https address that is fetched when the user says so.

What was fetched is kept in the user's cache folder, and everything but the explicit command
reads it from there.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Collection
from http.client import HTTPException, HTTPMessage
from pathlib import Path
from typing import IO, Final
from urllib.parse import urlsplit

from acp_sidecar.agents.catalog import AgentEntry
from acp_sidecar.agents.registry import LARGEST, RegistryAgent, RegistryUnreadable, parse

SECONDS: Final = 20.0
"""In which a registry has to be here."""
_CHUNK: Final = 64 * 1024


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


def fetch(source: str, *, seconds: float = SECONDS) -> bytes:
    """Fetch a registry. Blocks for ``seconds`` at most, and a little.

    Only https, also where the server sends us on. Raises :class:`NotFetched`.
    """
    _require_https(source)
    deadline = time.monotonic() + seconds
    request = urllib.request.Request(source, headers={"Accept": "application/json"})
    opener = urllib.request.build_opener(_OnlyHttps)
    data = bytearray()
    try:
        with opener.open(request, timeout=seconds) as answer:
            while chunk := answer.read1(_CHUNK):
                data += chunk
                if len(data) > LARGEST:
                    raise NotFetched(f"it has more than {LARGEST // 1024 // 1024} MiB")
                if time.monotonic() > deadline:
                    raise NotFetched(f"it was not here within {seconds:g} s")
    except (OSError, HTTPException, ValueError) as error:
        if isinstance(error, NotFetched):
            raise
        reason: object = error
        if isinstance(error, urllib.error.URLError) and not isinstance(
            error, urllib.error.HTTPError
        ):
            reason = error.reason
        raise NotFetched(f"it could not be fetched: {reason}") from error
    return bytes(data)


def keep(source: str, data: bytes, cache: Path) -> None:
    """Keep what was fetched; what cannot be written is fetched again."""
    with contextlib.suppress(OSError):
        cache.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=cache, suffix=".tmp")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
            Path(name).replace(kept_at(source, cache))
        except OSError:
            Path(name).unlink(missing_ok=True)
            raise


def kept_at(source: str, cache: Path) -> Path:
    """Where a fetched registry is kept."""
    return cache / f"{hashlib.blake2b(source.encode(), digest_size=16).hexdigest()}.json"


def _require_https(address: str) -> None:
    parts = urlsplit(address)
    if parts.scheme != "https" or not parts.hostname:
        raise NotFetched(f"{address} is no https address")


class _OnlyHttps(urllib.request.HTTPRedirectHandler):
    max_redirections = 5

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        _require_https(newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)
