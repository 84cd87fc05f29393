"""What every file has said since each prompt, and whose hand was behind it; it outlives us.

Kept in a folder as contents by digest and one journal, of which every line is a JSON object:
a checkpoint, or what a file has come to say. A line that cannot be read is passed over.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from attrs import define, frozen

from acp_sidecar.workspace.blobs import Blobs
from acp_sidecar.workspace.disk import Snapshot, Stamp
from acp_sidecar.workspace.entry import Entry, State
from acp_sidecar.workspace.hunks import Who
from acp_sidecar.workspace.problems import FileProblem
from acp_sidecar.workspace.shelf import Kept, Shelf
from acp_sidecar.workspace.texts import FileText, Missing, Said

log = logging.getLogger(__name__)

_JOURNAL: Final = "journal.ndjson"
_Cause: TypeAlias = Literal["first", "agent", "user", "review"]


@frozen
class Checkpoint:
    """A prompt, and with it what every file said then."""

    id: str
    turn: int
    """Counts from 1."""
    time: float
    """As the caller gave it; seconds since 1970."""
    label: str

    def to_json(self) -> dict[str, object]:
        return {"id": self.id, "turn": self.turn, "time": self.time, "label": self.label}


@define(eq=False)
class Version:
    """What a file came to say. ``since``: how many checkpoints there were."""

    kept: Kept
    who: _Cause
    since: int
    digest: str | None = None
    """Of its content in the folder."""
    written: bool = False


class History:
    """The versions of all files of one session."""

    def __init__(self, folder: Path | None, shelf: Shelf) -> None:
        """``folder``: of this session alone; without one nothing outlives us."""
        self.checkpoints: list[Checkpoint] = []
        self.versions: dict[Path, list[Version]] = {}
        self.turn_open = False
        """Whether, by the journal, the agent was at work when it ended."""
        self._shelf = shelf
        self._folder = folder
        self._blobs = None if folder is None else Blobs(folder / "contents")
        self._unwritten: dict[Path, None] = {}
        self._urgent = False

    def happened(self, entry: Entry, old: State, who: Who) -> None:
        """A file has come to say something else."""
        versions = self.versions.get(entry.path)
        if versions is None:
            versions = self.versions[entry.path] = [Version(old.now, "first", self._count)]
        if old.now is entry.state.now:
            if who == "agent" and len(versions) == 1:
                # It turns out that the agent was here before us.
                versions[0] = Version(self._keep(entry.state), "first", self._count)
            else:
                return
        last = versions[-1]
        if last.who == who and last.since == self._count:
            self._forget(last)
            versions.pop()
        versions.append(Version(entry.state.now, who, self._count))
        self._unwritten[entry.path] = None
        self._urgent = self._urgent or who != "user"

    def follow(self, new: Path, old: Path) -> None:
        """What was ``old`` is about to be called ``new``: what was done to it comes along."""
        to, versions = self.versions.get(new), self.versions.get(old)
        if not to or not versions:
            return
        start = max((n for n, each in enumerate(versions) if each.kept.is_missing), default=-1)
        for each in versions[start + 1 :]:
            if each.digest is not None and self._blobs is not None:
                self._blobs.hold(each.digest)
            to.append(Version(each.kept, each.who, each.since, each.digest))
        self._unwritten[new] = None

    def checkpoint(self, checkpoint: Checkpoint) -> None:
        """A prompt goes out."""
        self.flush()
        self.checkpoints.append(checkpoint)
        self._append([{"checkpoint": checkpoint.to_json()}])

    def turn_over(self) -> None:
        """The agent is done."""
        self.flush()
        self._append([{"turnOver": True}])

    def since(self, checkpoint_id: str) -> Iterator[tuple[Path, list[Version]]]:
        """Of every file what it said at a checkpoint, and all it has come to say after it.

        Raises ``LookupError`` where there is no such checkpoint.
        """
        index = next(
            (n for n, each in enumerate(self.checkpoints) if each.id == checkpoint_id), None
        )
        if index is None:
            raise LookupError(f"There is no checkpoint {checkpoint_id!r}")
        for path, versions in self.versions.items():
            before = [n for n, version in enumerate(versions) if version.since <= index]
            yield path, versions[before[-1] if before else 0 :]

    def flush(self, *, urgent: bool = False) -> None:
        """Write down what is not yet; ``urgent``: only if something of the agent's is."""
        if urgent and not self._urgent:
            return
        paths, self._unwritten, self._urgent = self._unwritten, {}, False
        if self._blobs is None:
            return
        records: list[dict[str, Any]] = []
        for path in paths:
            for number, version in enumerate(self.versions[path]):
                if not version.written:
                    record = self._record(path, number, version)
                    if record is not None:
                        records.append(record)
        self._append(records)

    def load(self) -> None:
        """Read back what an earlier process has written."""
        if self._folder is None or self._blobs is None:
            return
        try:
            lines = (self._folder / _JOURNAL).read_bytes().splitlines()
        except FileNotFoundError:
            return
        except OSError as error:
            log.warning("cannot read the checkpoints: %s", error)
            return
        for line in lines:
            try:
                self._take(json.loads(line))
            except (ValueError, KeyError, TypeError) as error:
                log.warning("a line of %s cannot be read: %r", _JOURNAL, error)
        for versions in self.versions.values():
            for version in versions:
                if version.digest is not None:
                    self._blobs.hold(version.digest)
        self._blobs.sweep()

    # --- how --------------------------------------------------------------------------------

    @property
    def _count(self) -> int:
        return len(self.checkpoints)

    def _keep(self, state: State) -> Kept:
        try:
            return Kept.of(state.baseline(), self._shelf)
        except FileProblem:
            return state.now

    def _forget(self, version: Version) -> None:
        if version.digest is not None and self._blobs is not None:
            self._blobs.drop(version.digest)

    def _record(self, path: Path, number: int, version: Version) -> dict[str, Any] | None:
        assert self._blobs is not None
        record: dict[str, Any] = {
            "path": str(path),
            "number": number,
            "who": version.who,
            "since": version.since,
            "kind": version.kept.kind,
        }
        try:
            said = version.kept.get()
        except FileProblem as problem:
            log.warning("a checkpoint loses a file: %s", problem)
            return None
        if not isinstance(said, Missing):
            record["mode"] = None if said.stamp is None else said.stamp.mode
            data = said.data
            if isinstance(said, FileText):
                record |= {"source": said.source, "bom": said.bom}
                data = said.text.encode("utf-8", "surrogatepass")
            if version.digest is None:
                version.digest = self._blobs.put(data)
            if version.digest is None:
                return None
            record["digest"] = version.digest
            version.kept = Kept.laid_down(_bare(said), self._shelf, self._blobs, version.digest)
        version.written = True
        return record

    def _append(self, records: list[dict[str, Any]]) -> None:
        if self._folder is None or not records:
            return
        lines = b"".join(json.dumps(each).encode() + b"\n" for each in records)
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with (self._folder / _JOURNAL).open("ab") as journal:
                journal.write(lines)
        except OSError as error:
            log.warning("checkpoints will not outlive this session: %s", error)

    def _take(self, record: Mapping[str, Any]) -> None:
        if "turnOver" in record:
            self.turn_open = False
            return
        if "checkpoint" in record:
            values = record["checkpoint"]
            self.checkpoints.append(
                Checkpoint(values["id"], values["turn"], values["time"], values["label"])
            )
            self.turn_open = True
            return
        path = Path(record["path"])
        kept = self._kept(path, record)
        version = Version(kept, record["who"], record["since"], record.get("digest"), written=True)
        self.versions.setdefault(path, [])[record["number"] :] = [version]

    def _kept(self, path: Path, record: Mapping[str, Any]) -> Kept:
        if record["kind"] == "missing":
            return Kept.of(Missing(path))
        mode = record["mode"]
        stamp = None if mode is None else Stamp(0, 0, 0, -1, mode, 0, 0, 1)
        said: FileText | Snapshot
        if record["kind"] == "text":
            said = FileText("", record["source"], record["bom"], stamp)
        else:
            said = Snapshot(b"", stamp or Stamp(0, 0, 0, -1, 0o600, 0, 0, 1))
        assert self._blobs is not None
        return Kept.laid_down(said, self._shelf, self._blobs, record["digest"])


def _bare(said: Said) -> Said:
    if isinstance(said, FileText):
        return FileText("", said.source, said.bom, said.stamp)
    return Snapshot(b"", said.stamp) if isinstance(said, Snapshot) else said
