"""What every file has said since each prompt, and whose hand was behind it; it outlives us.

Kept in a folder as contents by digest and one journal, of which every line is a JSON object:
a checkpoint, or what a file has come to say. A line that cannot be read is passed over.

Of a session at most ``MOST_CHECKPOINTS`` are kept, and fewer where contents take more than
``MOST_BYTES``: the oldest go first, the last one never. The journal is written anew when it has
grown to several times what it has to say.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
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

MOST_CHECKPOINTS: Final = 200
MOST_BYTES: Final = 512_000_000
"""Bytes (before they are compressed) of all contents that a session's checkpoints need."""

_JOURNAL: Final = "journal.ndjson"
_SPARE_LINES: Final = 2_000
"""Lines of the journal that are not worth writing it anew."""
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
    size: int = 0
    """Bytes of its content."""


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
        self._lines = 0
        """Of the journal."""

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
            to.append(Version(each.kept, each.who, self._count, each.digest, size=each.size))
        self._unwritten[new] = None

    def renamed(self, old: Path, new: Path) -> None:
        """What was done to ``old`` was done to what is called ``new`` now."""
        versions = self.versions.pop(old, None)
        if versions is None:
            return
        while len(versions) > 1 and versions[-1].kept.is_missing:
            # Somebody has looked for the old name meanwhile.
            self._forget(versions.pop())
        for each in self.versions.get(new, ()):
            self._forget(each)
        self.versions[new] = versions
        self._write_anew()

    def checkpoint(self, checkpoint: Checkpoint) -> None:
        """A prompt goes out."""
        self.flush()
        self.checkpoints.append(checkpoint)
        self.turn_open = True
        self._append([{"checkpoint": checkpoint.to_json()}])
        self._trim()

    def turn_over(self) -> None:
        """The agent is done."""
        self.flush()
        self.turn_open = False
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

    def flush(self, *, urgent: bool = False) -> bool:
        """Write down what is not yet; ``urgent``: only if something of the agent's is. Whether
        it was."""
        if urgent and not self._urgent:
            return False
        self._append(self._records())
        self._shorten()
        return True

    def _records(self) -> list[dict[str, Any]]:
        """What is not written down yet."""
        paths, self._unwritten, self._urgent = self._unwritten, {}, False
        records: list[dict[str, Any]] = []
        if self._blobs is None:
            return records
        for path in paths:
            for number, version in enumerate(self.versions[path]):
                if not version.written:
                    record = self._record(path, number, version)
                    if record is not None:
                        records.append(record)
        return records

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
        self._lines = len(lines)
        for line in lines:
            try:
                self._take(json.loads(line))
            except (ValueError, KeyError, TypeError) as error:
                log.warning("a line of %s cannot be read: %r", _JOURNAL, error)
        for versions in self.versions.values():
            for version in versions:
                if version.digest is not None:
                    self._blobs.hold(version.digest)
        self._trim()
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

    def _trim(self) -> None:
        """Let go of the oldest checkpoints where there are too many, or they need too much."""
        before = len(self.checkpoints)
        self._drop(before - MOST_CHECKPOINTS)
        while len(self.checkpoints) > 1 and self._size() > MOST_BYTES:
            self._drop(max(1, len(self.checkpoints) // 4))
        if len(self.checkpoints) < before:
            self._write_anew()
        else:
            self._shorten()

    def _shorten(self) -> None:
        """Write the journal anew where most of it is out of date."""
        if self._lines > _SPARE_LINES:
            live = sum(map(len, self.versions.values())) + len(self.checkpoints)
            if self._lines > 4 * live + _SPARE_LINES:
                self._write_anew()

    def _drop(self, count: int) -> None:
        """Forget the first checkpoints, and of each file what it said before all that are left."""
        if count <= 0:
            return
        del self.checkpoints[:count]
        for path, versions in tuple(self.versions.items()):
            first = max((n for n, each in enumerate(versions) if each.since <= count), default=0)
            for each in versions[:first]:
                self._forget(each)
            for each in versions[first:]:
                each.since = max(each.since - count, 0)
            self.versions[path] = versions[first:]

    def _size(self) -> int:
        """Bytes of all contents, each counted once."""
        sizes = {
            each.digest: each.size
            for versions in self.versions.values()
            for each in versions
            if each.digest is not None
        }
        return sum(sizes.values())

    def _write_anew(self) -> None:
        """The journal with what is left."""
        if self._folder is None:
            return
        for versions in self.versions.values():
            for each in versions:
                each.written = False
        self._unwritten = dict.fromkeys(self.versions)
        checkpoints = [{"checkpoint": each.to_json()} for each in self.checkpoints]
        over = [] if self.turn_open else [{"turnOver": True}]
        lines = [*self._records(), *checkpoints, *over]
        draft = self._folder / f"{_JOURNAL}.new"
        try:
            draft.write_bytes(_in_lines(lines))
            draft.replace(self._folder / _JOURNAL)
            self._lines = len(lines)
        except OSError as error:
            # What it says is out of date, and nobody could tell.
            log.warning("checkpoints will not outlive this session: %s", error)
            with suppress(OSError):
                (self._folder / _JOURNAL).unlink()
            self._folder = None

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
            # What is laid down already need not be read for that.
            said = version.kept.get() if version.digest is None else version.kept.bare
        except FileProblem as problem:
            log.warning("a checkpoint loses a file: %s", problem)
            return None
        if not isinstance(said, Missing):
            record["mode"] = None if said.stamp is None else said.stamp.mode
            if isinstance(said, FileText):
                record |= {"source": said.source, "bom": said.bom}
            if version.digest is None:
                data = (
                    said.text.encode("utf-8", "surrogatepass")
                    if isinstance(said, FileText)
                    else said.data
                )
                version.size = len(data)
                version.digest = self._blobs.put(data)
            if version.digest is None:
                return None
            record |= {"digest": version.digest, "size": version.size}
            version.kept = Kept.laid_down(_bare(said), self._shelf, self._blobs, version.digest)
        version.written = True
        return record

    def _append(self, records: list[dict[str, Any]]) -> None:
        if self._folder is None or not records:
            return
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with (self._folder / _JOURNAL).open("ab") as journal:
                journal.write(_in_lines(records))
            self._lines += len(records)
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
        version = Version(
            kept,
            record["who"],
            record["since"],
            record.get("digest"),
            written=True,
            size=record.get("size", 0),
        )
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


def _in_lines(records: Iterable[Mapping[str, Any]]) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in records)


def _bare(said: Said) -> Said:
    if isinstance(said, FileText):
        return FileText("", said.source, said.bom, said.stamp)
    return Snapshot(b"", said.stamp) if isinstance(said, Snapshot) else said
