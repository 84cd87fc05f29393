"""What of each file waits for review, on the disk: another process can go on from there.

A small file for each changed file of a session. It says which of the file's lines, or what of
it as a whole, is the agent's doing, and by a digest of which text that is said: what the file
has come to say since is in the session's history. The folder is held by the process that writes
there, so that no second one goes on from it meanwhile.
"""

from __future__ import annotations

import base64
import hashlib
import json
import logging
import os
import zlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from acp_sidecar.statefile import write_whole
from acp_sidecar.workspace.blobs import digest_of
from acp_sidecar.workspace.disk import Snapshot, Stamp
from acp_sidecar.workspace.entry import Changer, Entry, Origin, State, Whole
from acp_sidecar.workspace.history import Version
from acp_sidecar.workspace.hunks import Patch, Who
from acp_sidecar.workspace.lockfile import hold
from acp_sidecar.workspace.problems import FileProblem
from acp_sidecar.workspace.shelf import Kept, Piece, Shelf
from acp_sidecar.workspace.texts import FileText, Missing, Said

log = logging.getLogger(__name__)

_FAST: Final = 1
_HANDS: Final[Mapping[str, Who]] = {"agent": "agent", "review": "review"}


class Waiting:
    """The folder of one session; without one nothing outlives us."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._written: dict[Path, State] = {}
        self._held: int | None = None

    def close(self) -> None:
        """Somebody else may go on from there."""
        if self._held is not None:
            os.close(self._held)
            self._held = None

    def write(self, entries: Iterable[Entry]) -> None:
        """Write down what waits in files of which that is not written yet."""
        if self._folder is None:
            return
        for entry in entries:
            path, state = entry.path, entry.state
            if self._written.get(path) is state:
                continue
            if not state.changed:
                if self._written.pop(path, None) is not None:
                    self._remove(path)
                continue
            self._written[path] = state
            try:
                self._write_one(self._folder, path, _as_json(path, state))
            except OSError as error:
                log.warning("what waits for review will not outlive this session: %s", error)
                self._folder = None
                return
            except FileProblem as problem:
                log.warning("%s: %s", path, problem)
                self._remove(path)

    def restore(
        self, versions: Mapping[Path, Sequence[Version]], changer: Changer, shelf: Shelf
    ) -> dict[Path, State]:
        """What an earlier process has left waiting, each in what its history says last."""
        found: dict[Path, State] = {}
        if self._folder is not None and self._folder.is_dir():
            self._hold(self._folder)
        for file, values in self._read():
            try:
                path = Path(values["path"])
                state = _restored(values, path, versions.get(path, ()), changer, shelf)
            except (KeyError, TypeError, ValueError, FileProblem) as error:
                log.warning("%s cannot be read: %r", file.name, error)
                state = None
            if state is not None and state.changed:
                found[path] = self._written[path] = state
                changer.taken.update(state.ids())
            else:
                with suppress(OSError):
                    file.unlink()
        return found

    def _read(self) -> Iterable[tuple[Path, dict[str, Any]]]:
        if self._folder is None:
            return
        try:
            files = sorted(self._folder.glob("*.json"))
        except OSError:
            return
        for file in files:
            try:
                values = json.loads(zlib.decompress(file.read_bytes()))
            except (OSError, ValueError, zlib.error) as error:
                log.warning("%s cannot be read: %r", file, error)
                values = None
            yield file, values if isinstance(values, dict) else {}

    def _write_one(self, folder: Path, path: Path, values: Mapping[str, Any]) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._hold(folder)
        write_whole(_place(folder, path), zlib.compress(json.dumps(values).encode(), _FAST))

    def _hold(self, folder: Path) -> None:
        if self._held is None:
            with suppress(OSError):
                self._held = hold(_lock_of(folder))

    def _remove(self, path: Path) -> None:
        if self._folder is not None:
            with suppress(OSError):
                _place(self._folder, path).unlink()


def something_waits(folder: Path) -> bool:
    """Whether something is written down in the folder of a session."""
    return any(folder.glob("*.json"))


def is_held(folder: Path) -> bool:
    """Whether a living process, also this one, has the folder of a session open."""
    try:
        handle = hold(_lock_of(folder), make=False)
    except OSError:
        return False
    if handle is None:
        return _lock_of(folder).exists()
    os.close(handle)
    return False


def _lock_of(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.lock")


def _place(folder: Path, path: Path) -> Path:
    name = str(path).encode("utf-8", "surrogatepass")
    return folder / f"{hashlib.blake2b(name, digest_size=12).hexdigest()}.json"


# --- as JSON ----------------------------------------------------------------------------------


def _as_json(path: Path, state: State) -> dict[str, Any]:
    whole, origin = state.whole, state.origin
    return {
        "path": str(path),
        "of": _digest(state.now.get()),
        "patches": [
            {
                "id": patch.id,
                "start": patch.start,
                "count": patch.count,
                "before": patch.before.lines(),
                "left": None if patch.left is None else patch.left.lines(),
                "tangled": patch.tangled,
            }
            for patch in state.patches
        ],
        "whole": None
        if whole is None
        else {
            "id": whole.id,
            "baseline": _said(whole.baseline.get()),
            "left": _said(whole.left.get()),
            "conflict": whole.conflict,
            "tangled": whole.tangled,
        },
        "origin": None if origin is None else {"id": origin.id, "path": str(origin.path)},
    }


def _said(said: Said) -> dict[str, Any]:
    if isinstance(said, Missing):
        return {"kind": "missing"}
    mode = None if said.stamp is None else said.stamp.mode
    if isinstance(said, FileText):
        return {
            "kind": "text",
            "text": said.text,
            "source": said.source,
            "bom": said.bom,
            "mode": mode,
        }
    return {"kind": "bytes", "data": base64.b64encode(said.data).decode(), "mode": mode}


def _digest(said: Said) -> str | None:
    """The digest of a content as the history has it; None where there is no file."""
    if isinstance(said, Missing):
        return None
    if isinstance(said, FileText):
        return digest_of(said.text.encode("utf-8", "surrogatepass"))
    return digest_of(said.data)


# --- and back ---------------------------------------------------------------------------------


def _restored(
    values: Mapping[str, Any],
    path: Path,
    versions: Sequence[Version],
    changer: Changer,
    shelf: Shelf,
) -> State | None:
    """The state of a file that says what its history says last; None where its history does
    not know the text that this was said of."""
    for number in range(len(versions) - 1, -1, -1):
        version = versions[number]
        if (None if version.kept.is_missing else version.digest) != values["of"]:
            continue
        whole, origin = values["whole"], values["origin"]
        now = version.kept.get()
        patches = tuple(_patch(raw, shelf) for raw in values["patches"])
        if patches and not isinstance(now, FileText):
            return None
        state = State(
            Kept.of(now, shelf),
            patches,
            None if whole is None else _whole(whole, path, shelf),
            None if origin is None else Origin(str(origin["id"]), Path(origin["path"])),
        )
        for later in versions[number + 1 :]:
            who = _HANDS.get(later.who, "user")
            state = changer.moved(path, state, later.kept.get(), who)
        return state
    return None


def _patch(raw: Mapping[str, Any], shelf: Shelf) -> Patch:
    left = raw["left"]
    return Patch(
        str(raw["id"]),
        int(raw["start"]),
        int(raw["count"]),
        Piece.of([str(line) for line in raw["before"]]).on(shelf),
        None if left is None else Piece.of([str(line) for line in left]).on(shelf),
        raw["tangled"] is True,
    )


def _whole(raw: Mapping[str, Any], path: Path, shelf: Shelf) -> Whole:
    return Whole(
        str(raw["id"]),
        Kept.of(_unsaid(raw["baseline"], path), shelf),
        Kept.of(_unsaid(raw["left"], path), shelf),
        raw["conflict"] is True,
        raw["tangled"] is True,
    )


def _unsaid(raw: Mapping[str, Any], path: Path) -> Said:
    if raw["kind"] == "missing":
        return Missing(path)
    mode = raw["mode"]
    stamp = None if mode is None else Stamp(0, 0, 0, -1, int(mode), 0, 0, 1)
    if raw["kind"] == "text":
        text, bom = str(raw["text"]), raw["bom"] is True
        if raw["source"] == "buffer":
            return FileText(text, "buffer", bom, stamp)
        return FileText(text, "disk", bom, stamp)
    data = base64.b64decode(raw["data"])
    return Snapshot(data, stamp or Stamp(0, 0, 0, -1, 0o600, 0, 0, 1))
