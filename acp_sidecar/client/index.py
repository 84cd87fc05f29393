"""The sessions of earlier days: what is needed to open each of them again.

A small file a session in the user's state folder, readable by the user alone. A file is
written beside its name and moved there, so several sidecars at once need no lock: the last
one to use a session is the one that is remembered.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from attrs import Factory, asdict, field, frozen

from acp_sidecar.statefile import write_whole

logger = logging.getLogger(__name__)

_MOST: Final = 300
"""Sessions that are remembered; those used longest ago are forgotten first."""
_TITLE: Final = 200
_LARGEST: Final = 64 * 1024
_ABANDONED_SECONDS: Final = 3600
"""After which a file that was never moved to its name is removed."""


@frozen
class KnownSession:
    """A session that can be opened again.

    :ivar session_id: the sidecar's id of it when it was open last
    :ivar agent_session_id: the agent's own id
    :ivar last_used: seconds since 1970
    :ivar untouched: whether no prompt has gone into it yet
    :ivar kept_as: the name that its checkpoints and what waits for review are kept by
    """

    session_id: str
    agent: str
    agent_session_id: str
    cwd: str
    title: str | None
    last_used: float
    untouched: bool = False
    kept_as: str = field(default=Factory(lambda self: self.agent_session_id, takes_self=True))


class SessionIndex:
    """Remembers sessions. Without a folder it remembers nothing.

    It never raises for the disk's sake: what cannot be written or read is not remembered.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._complained = False

    def remember(self, session: KnownSession) -> None:
        """Note a session, or that it was used again."""
        if self._folder is None:
            return
        path = self._path(self._folder, session.agent, session.agent_session_id)
        try:
            new = not path.exists()
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_whole(path, _as_json(session))
            if new:
                self._make_room(self._folder)
        except OSError as error:
            if not self._complained:
                self._complained = True
                logger.warning("sessions are not remembered: %s", error)

    def forget(self, agent: str, agent_session_id: str) -> None:
        """Remove a session that is no more."""
        if self._folder is not None:
            with contextlib.suppress(OSError):
                self._path(self._folder, agent, agent_session_id).unlink()

    def find(self, agent: str, agent_session_id: str) -> KnownSession | None:
        """What is known of a session."""
        if self._folder is None:
            return None
        found = _read(self._path(self._folder, agent, agent_session_id))
        same = found is not None and (found.agent, found.agent_session_id) == (
            agent,
            agent_session_id,
        )
        return found if same else None

    def of(self, agent: str, cwd: str) -> list[KnownSession]:
        """The sessions of an agent in a folder, last used first."""
        if self._folder is None:
            return []
        try:
            paths = [path for path in self._folder.iterdir() if path.suffix == ".json"]
        except OSError:
            return []
        known = [found for path in paths if (found := _read(path)) is not None]
        here = [one for one in known if one.agent == agent and _same_folder(one.cwd, cwd)]
        return sorted(here, key=lambda one: one.last_used, reverse=True)

    @staticmethod
    def _path(folder: Path, agent: str, agent_session_id: str) -> Path:
        name = f"{agent}\0{agent_session_id}".encode("utf-8", "surrogatepass")
        return folder / f"{hashlib.blake2b(name, digest_size=16).hexdigest()}.json"

    def _make_room(self, folder: Path) -> None:
        files: list[tuple[float, Path]] = []
        for path in folder.iterdir():
            with contextlib.suppress(OSError):  # another sidecar makes room as well
                touched = path.stat().st_mtime
                if path.suffix == ".json":
                    files.append((touched, path))
                elif path.suffix == ".tmp" and time.time() - touched > _ABANDONED_SECONDS:
                    path.unlink()
        for _, path in sorted(files)[:-_MOST]:
            with contextlib.suppress(OSError):
                path.unlink()


def _same_folder(one: str, other: str) -> bool:
    return os.path.normcase(one) == os.path.normcase(other)


def _as_json(session: KnownSession) -> bytes:
    values = asdict(session)
    values["title"] = session.title[:_TITLE] if session.title else None
    return json.dumps(values).encode()


def _read(path: Path) -> KnownSession | None:
    """What a file says; None for one that is gone, half written or of another kind."""
    try:
        if path.stat().st_size > _LARGEST:
            return None
        values = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return _known(values) if isinstance(values, Mapping) else None


def _known(values: Mapping[str, Any]) -> KnownSession | None:
    texts = [values.get(name) for name in ("session_id", "agent", "agent_session_id", "cwd")]
    title, last_used = values.get("title"), values.get("last_used")
    if not all(isinstance(text, str) and text for text in texts):
        return None
    if not isinstance(last_used, int | float) or isinstance(last_used, bool):
        return None
    untouched = values.get("untouched", False)  # not there in files of earlier versions
    if not isinstance(untouched, bool):
        return None
    kept_as = values.get("kept_as", texts[2])
    if not isinstance(kept_as, str):
        return None
    session_id, agent, agent_session_id, cwd = (str(text) for text in texts)
    return KnownSession(
        session_id,
        agent,
        agent_session_id,
        cwd,
        title if isinstance(title, str) else None,
        float(last_used),
        untouched,
        kept_as,
    )
