"""The demo agent's sessions beyond its process: a file each, in the user's state folder.

``ACP_DEMO_STATE`` names another folder; empty, nothing is kept. The files are written beside
their names and moved there. What the disk does not take is not kept, and said on stderr once.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from acp_sidecar.demo.peer import Json
from acp_sidecar.statefile import write_whole

VARIABLE: Final = "ACP_DEMO_STATE"
MOST: Final = 50
"""Sessions that are kept; those used longest ago go first."""
LARGEST: Final = 1_000_000
"""Bytes of one session's history: the latest of it are kept."""
LARGEST_UPDATE: Final = 200_000
_ID: Final = re.compile(r"demo-[0-9a-f]{12}")


def state_folder(environ: Mapping[str, str] | None = None) -> Path | None:
    """Where the sessions are kept on this platform; None where they are not."""
    environ = os.environ if environ is None else environ
    if VARIABLE in environ:
        return Path(environ[VARIABLE]) if environ[VARIABLE] else None
    given = environ.get("XDG_STATE_HOME", "")
    if Path(given).is_absolute():
        root = Path(given)
    elif sys.platform == "win32":
        if not environ.get("LOCALAPPDATA"):
            return None
        root = Path(environ["LOCALAPPDATA"])
    else:
        home = Path(environ.get("HOME", ""))
        if not home.is_absolute():
            return None
        mac = sys.platform == "darwin"
        root = home / "Library" / "Application Support" if mac else home / ".local" / "state"
    return root / "acp-sidecar" / "demo-sessions"


class Keep:
    """The sessions that are kept. Without a folder there are none."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._complained = False

    def save(self, session_id: str, values: dict[str, Json], history: list[Json]) -> None:
        """Keep a session: its ``values`` as they are, of its history what fits."""
        if self._folder is None:
            return
        data = json.dumps({**values, "history": _latest(history)}).encode()
        path = self._folder / f"{session_id}.json"
        try:
            new = not path.exists()
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_whole(path, data)
            if new:
                self._make_room(self._folder)
        except OSError as error:
            if not self._complained:
                self._complained = True
                print(f"demo agent: sessions are not kept: {error}", file=sys.stderr, flush=True)

    def find(self, session_id: str) -> dict[str, Json] | None:
        """A session that is kept, with its ``history`` and when it was ``updated``."""
        if self._folder is None or not _ID.fullmatch(session_id):
            return None
        return _read(self._folder / f"{session_id}.json")

    def all(self) -> Iterator[tuple[str, dict[str, Json]]]:
        """Id and values of every session that is kept."""
        if self._folder is None:
            return
        with contextlib.suppress(OSError):
            for path in self._folder.iterdir():
                if path.suffix == ".json" and _ID.fullmatch(path.stem):
                    values = _read(path)
                    if values is not None:
                        yield path.stem, values

    @staticmethod
    def _make_room(folder: Path) -> None:
        files: list[tuple[float, Path]] = []
        for path in folder.iterdir():
            with contextlib.suppress(OSError):  # another process makes room as well
                if path.suffix == ".json":
                    files.append((path.stat().st_mtime, path))
        for _, path in sorted(files)[:-MOST]:
            with contextlib.suppress(OSError):
                path.unlink()


def _read(path: Path) -> dict[str, Json] | None:
    """What a file says; None for one that is gone or of another kind."""
    try:
        if path.stat().st_size > 2 * LARGEST:
            return None
        values = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    if not isinstance(values, dict) or not isinstance(values.get("cwd"), str):
        return None
    history, more = values.get("history"), values.get("additional")
    if not isinstance(history, list) or not all(isinstance(update, dict) for update in history):
        return None
    if not isinstance(more, list) or not all(isinstance(path, str) for path in more):
        return None
    stamp = path.stat().st_mtime if path.exists() else 0.0
    return {**values, "updated": stamp}


def _latest(history: list[Json]) -> list[Json]:
    """The latest updates that fit, in their order; adjacent pieces of a message are one."""
    kept: list[Json] = []
    size = 0
    for update in reversed(_joined(history)):
        small = _small(update)
        size += len(json.dumps(small)) + 2
        if size > LARGEST:
            break
        kept.append(small)
    kept.reverse()
    return kept


def _joined(history: list[Json]) -> list[Json]:
    joined: list[Json] = []
    pieces: list[str] = []

    def close() -> None:
        if len(pieces) > 1:
            last = joined[-1]
            joined[-1] = {**last, "content": {**last["content"], "text": "".join(pieces)}}
        pieces.clear()

    for update in history:
        piece = _piece(update)
        last = joined[-1] if joined else None
        if piece is not None and pieces and last is not None and _same_message(last, update):
            pieces.append(piece)
            continue
        close()
        joined.append(update)
        if piece is not None:
            pieces.append(piece)
    close()
    return joined


def _piece(update: Json) -> str | None:
    """The text of a piece of the agent's message; what the user said stays in its blocks."""
    if update.get("sessionUpdate") not in ("agent_message_chunk", "agent_thought_chunk"):
        return None
    content = update.get("content")
    text = content.get("text") if isinstance(content, dict) else None
    return text if isinstance(text, str) else None


def _same_message(one: Json, other: Json) -> bool:
    names = ("sessionUpdate", "messageId")
    return all(one.get(name) == other.get(name) for name in names)


def _small(update: Json) -> Json:
    """An update that is not too large: without the end of its text, or what it carries."""
    if len(json.dumps(update)) <= LARGEST_UPDATE:
        return update
    content = update.get("content")
    if not isinstance(content, dict):
        # What a tool call showed.
        large = ("content", "rawInput", "rawOutput")
        return {name: value for name, value in update.items() if name not in large}
    if isinstance(content.get("text"), str):
        cut = content["text"][: LARGEST_UPDATE // 8] + "…"
    else:
        cut = f"({content.get('type', 'something')} that was too large to be kept)"
    return {**update, "content": {"type": "text", "text": cut}}
