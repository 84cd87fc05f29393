"""What runs and what waits in a session, kept on the disk for the day the editor goes away.

When an editor window is reloaded or killed the sidecar ends, and every agent with it, also in
the middle of a turn. What the user had typed by then is handed out when the session is opened
again. A small file a session, in the user's state folder and for the user alone, that is
there only as long as something runs or waits. Each names the sidecar that wrote it, which
holds a lock while it lives: a session in the middle of its turn in another window is not cut
off.

The files are written in a thread, at a bounded rate, each beside its name and moved there. It
never raises for the disk's sake: what cannot be written is not remembered.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import logging
import os
import secrets
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

from attrs import evolve

from acp_sidecar.client.cutoff import CutOff, Unsent
from acp_sidecar.statefile import write_whole
from acp_sidecar.tasks import Spawn, Tasks
from acp_sidecar.workspace.lockfile import hold

logger = logging.getLogger(__name__)

_SOON_SECONDS: Final = 0.05
"""How long changes are collected before they are written."""
_PAUSE_SECONDS: Final = 0.2
"""Between two writes, and longer after big ones."""
_BYTES_PER_SECOND: Final = 20_000_000
_LARGEST: Final = 64 * 1024 * 1024
"""Bytes of one file; of a session with more what was attached is not kept."""
_MOST_FILES: Final = 100
"""Those written longest ago go first."""
_FORGOTTEN_SECONDS: Final = 30 * 24 * 3600
"""A session is not opened again after so long."""
_ABANDONED_SECONDS: Final = 3600
"""So old a draft of a file was left by a sidecar that ended while it wrote."""
_LAST_SECONDS: Final = 0.3
"""How long the end of the sidecar waits for the last write."""
_PATIENCE_SECONDS: Final = 2.0
"""How long a sidecar that is about to end is waited for, looked for every ``_LOOK_SECONDS``."""
_LOOK_SECONDS: Final = 0.05

Key: TypeAlias = tuple[str, str]
"""The agent's name, and its own id of the session."""


class CutOffs:
    """Keeps what runs and waits. Without a folder it keeps nothing."""

    def __init__(self, folder: Path | None, spawn: Spawn) -> None:
        self._folder = folder
        self._tasks = Tasks(spawn)
        self._due: dict[Key, CutOff] = {}
        self._kept: set[Key] = set()
        """Of which there may be a file of ours."""
        self._writing = False
        self._at_disk = False
        """Whether the thread is at work."""
        self._lock = threading.Lock()
        """Held by the thread that writes or reads: one after the other."""
        self._owner = secrets.token_hex(8)
        self._held: int | None = None
        self._complained = False

    # --- keeping --------------------------------------------------------------------------

    def note(self, key: Key, cut_off: CutOff) -> None:
        """Have it written soon. One that is empty leaves nothing."""
        if self._folder is None or (not cut_off and key not in self._kept):
            return
        self._kept.add(key)
        self._due[key] = cut_off
        if not self._writing:
            self._writing = True
            self._tasks.start(self._write_soon(), name="note of what runs and waits")

    def forget(self, key: Key) -> None:
        """Nothing is left of this session, whoever wrote it."""
        self._kept.add(key)
        self.note(key, CutOff())

    async def _write_soon(self) -> None:
        try:
            await asyncio.sleep(_SOON_SECONDS)
            while self._due:
                self._at_disk = True
                try:
                    size = await asyncio.to_thread(self._write, self._taken())
                finally:
                    self._at_disk = False
                await asyncio.sleep(max(_PAUSE_SECONDS, size / _BYTES_PER_SECOND))
        finally:
            self._writing = False

    async def stop(self) -> None:
        """Write what is due at once: the sidecar ends. Its lock goes with its process, when
        also its agents have ended."""
        if self._due or self._at_disk:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_LAST_SECONDS):
                    await asyncio.to_thread(self._write, self._taken())

    def _taken(self) -> dict[Key, CutOff]:
        due, self._due = self._due, {}
        self._kept -= {key for key, cut_off in due.items() if not cut_off}
        return due

    def _write(self, due: Mapping[Key, CutOff]) -> int:
        """In a thread. How many bytes were written."""
        assert self._folder is not None
        size = 0
        with self._lock:
            for key, cut_off in due.items():
                try:
                    size += self._write_one(self._folder, key, cut_off)
                except OSError as error:
                    if not self._complained:
                        self._complained = True
                        logger.warning("what runs and waits is not remembered: %s", error)
        return size

    def _write_one(self, folder: Path, key: Key, cut_off: CutOff) -> int:
        path = _path(folder, key)
        if not cut_off:
            path.unlink(missing_ok=True)
            return 0
        data = _as_json(key, cut_off, self._owner)
        if len(data) > _LARGEST:
            data = _as_json(key, _without_content(cut_off), self._owner)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if self._held is None:
            _make_room(folder)
            self._held = hold(_lock_of(folder, self._owner))
        write_whole(path, data)
        return len(data)

    # --- looking --------------------------------------------------------------------------

    async def find(self, key: Key) -> CutOff | None:
        """What a sidecar that is no more has left of a session, None where that is nothing.

        One that is just about to end, as in a reload of its window, is waited for a moment.
        """
        if self._folder is None:
            return None
        if key in self._due:
            return self._due[key] or None
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while True:
            found, alive = await asyncio.to_thread(self._read, key)
            if not alive or time.monotonic() > deadline:
                return None if alive else found
            await asyncio.sleep(_LOOK_SECONDS)

    async def left(self, key: Key) -> bool:
        """Whether a sidecar that is no more has left something of a session."""
        if self._folder is None or key in self._kept:
            return False
        found, alive = await asyncio.to_thread(self._read, key)
        return found is not None and not alive

    def _read(self, key: Key) -> tuple[CutOff | None, bool]:
        """In a thread. What there is, and whether the sidecar that wrote it lives elsewhere."""
        assert self._folder is not None
        with self._lock:
            try:
                path = _path(self._folder, key)
                if path.stat().st_size > 2 * _LARGEST:
                    return None, False
                values = json.loads(path.read_bytes())
            except (OSError, ValueError, RecursionError):
                return None, False
            if not isinstance(values, Mapping) or values.get("key") != list(key):
                return None, False
            owner = values.get("owner")
            elsewhere = isinstance(owner, str) and owner != self._owner
            return _known(values), elsewhere and _lives(self._folder, str(owner))


def _path(folder: Path, key: Key) -> Path:
    name = "\0".join(key).encode("utf-8", "surrogatepass")
    return folder / f"{hashlib.blake2b(name, digest_size=16).hexdigest()}.json"


def _lock_of(folder: Path, owner: str) -> Path:
    return folder / f"{owner}.lock"


def _lives(folder: Path, owner: str) -> bool:
    if not owner.isalnum():
        return False
    path = _lock_of(folder, owner)
    try:
        handle = hold(path, make=False)
    except OSError:
        return False
    if handle is None:
        return path.exists()
    os.close(handle)
    return False


def _make_room(folder: Path) -> None:
    """Remove what is old or has been left behind."""
    kept: list[tuple[float, Path]] = []
    now = time.time()
    for path in folder.iterdir():
        with contextlib.suppress(OSError):  # another sidecar makes room as well
            touched = path.stat().st_mtime
            if path.suffix == ".json" and now - touched < _FORGOTTEN_SECONDS:
                kept.append((touched, path))
            elif path.suffix == ".lock":
                handle = hold(path, make=False)
                if handle is not None:
                    path.unlink()
                    os.close(handle)
            elif path.suffix == ".json" or now - touched > _ABANDONED_SECONDS:
                path.unlink()
    for _, path in sorted(kept)[:-_MOST_FILES]:
        with contextlib.suppress(OSError):
            path.unlink()


def _without_content(cut_off: CutOff) -> CutOff:
    bare = [evolve(prompt, content=()) for prompt in cut_off.waiting]
    running = cut_off.running and evolve(cut_off.running, content=())
    return evolve(cut_off, running=running, waiting=tuple(bare), complete=False)


def _as_json(key: Key, cut_off: CutOff, owner: str) -> bytes:
    values = {
        "key": key,
        "owner": owner,
        "running": cut_off.running and cut_off.running.to_json(),
        "sent": cut_off.sent,
        "alike": cut_off.alike,
        "waiting": [prompt.to_json() for prompt in cut_off.waiting],
        "complete": cut_off.complete,
    }
    return json.dumps(values).encode()


def _known(values: Mapping[str, Any]) -> CutOff | None:
    """What a file says; what in it does not fit is left out."""
    waiting, alike = values.get("waiting"), values.get("alike")
    found = [_prompt(raw) for raw in (waiting if isinstance(waiting, list) else ())]
    cut_off = CutOff(
        _prompt(values.get("running")),
        values.get("sent") is True,
        alike if isinstance(alike, int) else 0,
        tuple(prompt for prompt in found if prompt is not None),
        values.get("complete") is not False,
    )
    return cut_off or None


def _prompt(raw: Any) -> Unsent | None:
    if not isinstance(raw, Mapping) or not isinstance(raw.get("text"), str):
        return None
    content = raw.get("content")
    blocks = [block for block in (content if isinstance(content, list) else ()) if block]
    return Unsent(raw["text"], tuple(block for block in blocks if isinstance(block, Mapping)))
