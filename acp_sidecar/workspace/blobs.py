"""A folder of contents, each under the digest of its bytes."""

from __future__ import annotations

import hashlib
import logging
import zlib
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Final

from acp_sidecar.statefile import write_whole

log = logging.getLogger(__name__)

_FAST: Final = 1
_DIGEST: Final = 20


def digest_of(data: bytes) -> str:
    """The name of a content: hexadecimal digits."""
    return hashlib.blake2b(data, digest_size=_DIGEST).hexdigest()


class Blobs:
    """Contents in one folder that nobody but the user can read. Several may share it."""

    def __init__(self, folder: Path) -> None:
        """``folder`` is made when it is first needed."""
        self.folder = folder
        self._holders: Counter[str] = Counter()

    def put(self, data: bytes) -> str | None:
        """Lay a content down; its digest, None where the disk does not take it."""
        digest = digest_of(data)
        path = self._path(digest)
        if not path.exists():
            try:
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                write_whole(path, zlib.compress(data, _FAST))
            except OSError as error:
                log.warning("cannot write to %s: %s", self.folder, error)
                return None
        self._holders[digest] += 1
        return digest

    def get(self, digest: str) -> bytes | None:
        """The content with this digest; None where it is gone, or is another by now."""
        try:
            data = zlib.decompress(self._path(digest).read_bytes())
        except (OSError, zlib.error) as error:
            log.warning("cannot read from %s: %s", self.folder, error)
            return None
        return data if digest_of(data) == digest else None

    def hold(self, digest: str) -> None:
        """One more holds a content that is there from before."""
        self._holders[digest] += 1

    def drop(self, digest: str) -> None:
        """One less holds it; it goes with the last one."""
        self._holders[digest] -= 1
        if self._holders[digest] <= 0:
            del self._holders[digest]
            with suppress(OSError):
                self._path(digest).unlink()

    def sweep(self) -> None:
        """Remove the contents that nobody holds."""
        with suppress(OSError):
            for path in self.folder.glob("*/*"):
                if path.parent.name + path.name not in self._holders:
                    path.unlink()

    def _path(self, digest: str) -> Path:
        return self.folder / digest[:2] / digest[2:]
