"""Regular files on disk: read without ever waiting for one, replaced as a whole.

Paths that come in are resolved already (:mod:`acp_sidecar.workspace.roots`): no symlink is
left in them. They are opened folder by folder without following any, so that a link put
in the way after the check leads nowhere. Nothing here waits for anything but the disk.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from attrs import field, frozen

from acp_sidecar.workspace.folder import Folder
from acp_sidecar.workspace.problems import FileProblem, Moved, problems_of

# Why a file may not be replaced although it may be written: a folder that takes no new
# names, a sticky one, a mount point, a name too long to be made longer.
_IN_PLACE_INSTEAD: Final = frozenset(
    {errno.EACCES, errno.EPERM, errno.EBUSY, errno.ENAMETOOLONG, errno.EXDEV}
)

_TEMPORARY: Final = ".acp-sidecar~"
CAREFUL: Final = (
    getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
_READS: Final = 3
_MILLISECOND: Final = 1_000_000
_SECOND: Final = 1_000_000_000
_CHUNK: Final = 1 << 20


@frozen
class Stamp:
    """What tells one state of a file from the next without reading it."""

    device: int
    inode: int
    size: int
    changed_ns: int
    mode: int = field(eq=False)
    user: int = field(eq=False)
    group: int = field(eq=False)
    links: int = field(eq=False)

    @classmethod
    def of(cls, status: os.stat_result) -> Stamp:
        return cls(
            status.st_dev,
            status.st_ino,
            status.st_size,
            status.st_mtime_ns,
            status.st_mode,
            status.st_uid,
            status.st_gid,
            status.st_nlink,
        )


@frozen
class Snapshot:
    """A file's bytes and the state they were read in."""

    data: bytes
    stamp: Stamp


def is_temporary(name: str) -> bool:
    """Whether a file of this name is one of ours on its way to replacing another."""
    return name.endswith(_TEMPORARY)


def stamp(path: Path) -> Stamp | None:
    """The state of the file, None where there is none or it cannot be seen."""
    try:
        return Stamp.of(path.lstat())
    except OSError:
        return None


def read(path: Path, limit: int) -> Snapshot:
    """The bytes of a regular file of at most ``limit`` bytes. Raises :class:`FileProblem`."""
    with problems_of(path), Folder.at(path.parent) as folder:
        _regular(folder.stat(path.name), path)
        handle = folder.open(path.name, os.O_RDONLY | CAREFUL)
        try:
            for _ in range(_READS):
                before = os.fstat(handle)
                _regular(before, path)
                data = b"" if before.st_size > limit else _read_all(handle, limit)
                if len(data) > limit or before.st_size > limit:
                    size = max(len(data), before.st_size)
                    raise FileProblem(
                        "too_large",
                        path,
                        f"The file has {size:,} bytes or more, the limit is {limit:,}",
                    )
                if Stamp.of(before) == Stamp.of(os.fstat(handle)):
                    break
            return Snapshot(data, Stamp.of(before))
        finally:
            os.close(handle)


def read_head(path: Path, count: int) -> bytes:
    """The first ``count`` bytes of a regular file. Raises :class:`FileProblem`."""
    with problems_of(path), Folder.at(path.parent) as folder:
        _regular(folder.stat(path.name), path)
        handle = folder.open(path.name, os.O_RDONLY | CAREFUL)
        try:
            _regular(os.fstat(handle), path)
            return os.read(handle, count)
        finally:
            os.close(handle)


def write(
    path: Path,
    data: bytes,
    expected: Stamp | None,
    *,
    mode: int | None = None,
    changed_ns: int | None = None,
) -> Stamp:
    """Make the file hold ``data``, all of it or, whatever happens, what it held before.

    ``expected`` is the state the new text was computed from, None where no file was;
    raises :class:`Moved` when it is another by now. Mode, owner and extended attributes
    stay as far as we are allowed to; ``mode`` is for a new file. ``changed_ns`` is what an
    existing file says of when it was changed, where it can be told to: nanoseconds since
    1970. Missing folders are made, and unmade when the write fails. Raises
    :class:`FileProblem`.

    A file with several hard links, and one in a folder that takes no new file, is
    overwritten where it is: then a crash in the middle can leave it half written.
    """
    with problems_of(path), Folder.at(path.parent, make=True) as folder:
        try:
            _put(folder, path, data, expected, mode, changed_ns)
            folder.sync()
            return Stamp.of(folder.stat(path.name))
        except BaseException:
            folder.unmake()
            raise


def remove(path: Path, expected: Stamp) -> None:
    """Delete a file. Raises :class:`Moved` when it is not in this state any more."""
    with problems_of(path), Folder.at(path.parent) as folder:
        current = folder.find(path.name)
        if current is None:
            return
        _regular(current, path)
        if Stamp.of(current) != expected:
            raise Moved
        folder.unlink(path.name)
        folder.sync()


def _regular(status: os.stat_result, path: Path) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise FileProblem("directory", path)
    if stat.S_ISLNK(status.st_mode):
        raise FileProblem("changed", path)
    if not stat.S_ISREG(status.st_mode):
        raise FileProblem("special", path)


def _read_all(handle: int, limit: int) -> bytes:
    os.lseek(handle, 0, os.SEEK_SET)
    chunks: list[bytes] = []
    left = limit + 1
    while left > 0 and (chunk := os.read(handle, min(_CHUNK, left))):
        chunks.append(chunk)
        left -= len(chunk)
    return b"".join(chunks)


def _write_all(handle: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]


def _put(
    folder: Folder,
    path: Path,
    data: bytes,
    expected: Stamp | None,
    mode: int | None,
    changed_ns: int | None,
) -> None:
    current = folder.find(path.name)
    if current is None:
        if expected is not None:
            raise Moved
        with _draft(folder, path.name, data, mode) as draft:
            draft.take(path.name)
        return
    _regular(current, path)
    if expected != Stamp.of(current):
        raise Moved
    # Also root is bound by a file that nobody may write.
    if not current.st_mode & 0o222 or not folder.may_write(path.name):
        raise FileProblem("permission", path, "The file is read-only")
    _overwrite(folder, path.name, data, Stamp.of(current), changed_ns)


def _overwrite(
    folder: Folder, name: str, data: bytes, current: Stamp, changed_ns: int | None
) -> None:
    if current.links == 1:
        try:
            with _draft(folder, name, data, stat.S_IMODE(current.mode)) as draft:
                _take_after(folder, name, draft.handle, current)
                _set_time(draft.handle, current, changed_ns)
                if Stamp.of(folder.stat(name)) != current:
                    raise Moved
                draft.replace(name)
                return
        except OSError as error:
            if error.errno not in _IN_PLACE_INSTEAD:
                raise
    _overwrite_in_place(folder, name, data, current)


def _take_after(folder: Folder, name: str, handle: int, current: Stamp) -> None:
    """Give a new file what makes the old one more than its bytes, as far as allowed."""
    if os.name == "nt":
        return
    mine = os.fstat(handle)
    mode = stat.S_IMODE(current.mode)
    if (mine.st_uid, mine.st_gid) != (current.user, current.group):
        try:
            os.fchown(handle, current.user, current.group)
        except OSError:
            # The rights a program takes from its owner must not come to be ours.
            mode &= ~(stat.S_ISUID | stat.S_ISGID)
            with suppress(OSError):
                os.fchown(handle, -1, current.group)
    os.fchmod(handle, mode)
    if hasattr(os, "listxattr"):
        with suppress(OSError):
            old = folder.open(name, os.O_RDONLY | CAREFUL)
            try:
                for attribute in os.listxattr(old):
                    with suppress(OSError):
                        os.setxattr(handle, attribute, os.getxattr(old, attribute))
            finally:
                os.close(old)


def _set_time(handle: int, current: Stamp, changed_ns: int | None) -> None:
    """Have a file that takes after another one say ``changed_ns``, or else a time that editors
    can tell from the other's: a clock that goes in steps gives two writes the same one."""
    if os.utime not in os.supports_fd:
        return
    if changed_ns is None:
        next_ns = (current.changed_ns // _MILLISECOND + 1) * _MILLISECOND
        ahead = next_ns - os.fstat(handle).st_mtime_ns
        if not 0 < ahead < _SECOND:
            return
        changed_ns = next_ns
    with suppress(OSError):
        os.utime(handle, ns=(changed_ns, changed_ns))


def _overwrite_in_place(folder: Folder, name: str, data: bytes, current: Stamp) -> None:
    handle = folder.open(name, os.O_RDWR | CAREFUL)
    try:
        if Stamp.of(os.fstat(handle)) != current:
            raise Moved
        old = _read_all(handle, current.size)
        try:
            if len(data) > current.size and hasattr(os, "posix_fallocate"):
                try:
                    os.posix_fallocate(handle, 0, len(data))
                except OSError as error:
                    if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL):
                        raise
            os.lseek(handle, 0, os.SEEK_SET)
            _write_all(handle, data)
            os.ftruncate(handle, len(data))
            _set_time(handle, current, None)
            os.fsync(handle)
        except OSError:
            with suppress(OSError):
                os.lseek(handle, 0, os.SEEK_SET)
                _write_all(handle, old)
                os.ftruncate(handle, len(old))
            raise
    finally:
        os.close(handle)


@contextmanager
def _draft(folder: Folder, name: str, data: bytes, mode: int | None) -> Iterator[_Draft]:
    """A complete, synced file that has no name yet, or one of ours; gone at the end."""
    draft = _Draft.nameless(folder) or _Draft.named(folder, name)
    try:
        if mode is not None and os.name != "nt":
            os.fchmod(draft.handle, mode)
        _write_all(draft.handle, data)
        os.fsync(draft.handle)
        yield draft
    finally:
        os.close(draft.handle)
        if draft.name is not None:
            with suppress(OSError):
                folder.unlink(draft.name)


class _Draft:
    """A new file before it takes its place."""

    def __init__(self, folder: Folder, handle: int, name: str | None) -> None:
        self.handle = handle
        self.name = name
        self._folder = folder

    @classmethod
    def nameless(cls, folder: Folder) -> _Draft | None:
        """One that vanishes by itself should we die before it is complete (Linux)."""
        flag = getattr(os, "O_TMPFILE", 0)
        if not flag or folder.handle is None or not Path("/proc/self/fd").is_dir():
            return None
        try:
            return cls(folder, folder.open(".", os.O_RDWR | flag, 0o666), None)
        except OSError:
            return None

    @classmethod
    def named(cls, folder: Folder, name: str) -> _Draft:
        own = _temporary(name)
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | CAREFUL
        return cls(folder, folder.open(own, flags, 0o666), own)

    def take(self, name: str) -> None:
        """Take a name that nothing has. Raises :class:`Moved` where something has it."""
        try:
            if self.name is None:
                self._folder.link_handle(self.handle, name)
            else:
                self._folder.link(self.name, name)
        except FileExistsError:
            raise Moved from None
        except OSError:
            # A file system without hard links: the moment between the two is the price.
            if self.name is None or self._folder.find(name) is not None:
                raise
            self.replace(name)

    def replace(self, name: str) -> None:
        """Take the place of the file that has this name."""
        if self.name is None:
            own = _temporary(name)
            self._folder.link_handle(self.handle, own)
            self.name = own
        self._folder.replace(self.name, name)
        self.name = None


def _temporary(name: str) -> str:
    # 255 bytes is the longest name most file systems take.
    kept = os.fsdecode(os.fsencode(name)[:200])
    return f".{kept}.{secrets.token_hex(4)}{_TEMPORARY}"
