"""Fetches a registry over https."""

from __future__ import annotations

import time
import urllib.error
import urllib.request
from http.client import HTTPException, HTTPMessage
from typing import IO, Final
from urllib.parse import urlsplit

from acp_sidecar.agents.registries import NotFetched
from acp_sidecar.agents.registry import LARGEST

SECONDS: Final = 20.0
"""In which a registry has to be here."""
_CHUNK: Final = 64 * 1024


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
