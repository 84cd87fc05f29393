"""A folder held open, so that what is checked is what is used."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from acp_sidecar.workspace.problems import FileProblem

_HAS_DIR_FD: Final = os.open in os.supports_dir_fd
_FOLDER: Final = (
    getattr(os, "O_PATH", os.O_RDONLY)
    | getattr(os, "O_DIRECTORY", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
)


class Folder:
    """An open folder; names in it are used relative to the handle where that is possible."""

    def __init__(self, path: Path, handle: int | None) -> None:
        self.path = path
        self.handle = handle
        self._made: list[Path] = []

    @classmethod
    @contextmanager
    def at(cls, path: Path, *, make: bool = False) -> Iterator[Folder]:
        """Open the folder without following a link; ``make`` what is missing of it."""
        if not path.is_absolute():
            raise FileProblem("invalid", path)
        if not _HAS_DIR_FD:
            yield cls._by_name(path, make)
            return
        made: list[Path] = []
        handle = os.open(path.anchor, _FOLDER)
        try:
            so_far = Path(path.anchor)
            for name in path.parts[1:]:
                so_far /= name
                try:
                    below = os.open(name, _FOLDER, dir_fd=handle)
                except FileNotFoundError:
                    if not make:
                        raise
                    with suppress(FileExistsError):
                        os.mkdir(name, dir_fd=handle)
                        made.append(so_far)
                    below = os.open(name, _FOLDER, dir_fd=handle)
                os.close(handle)
                handle = below
            folder = cls(path, handle)
            folder._made = made
            yield folder
        except OSError:
            _unmake(made)
            raise
        finally:
            os.close(handle)

    @classmethod
    def _by_name(cls, path: Path, make: bool) -> Folder:
        folder = cls(path, None)
        if make:
            missing = path
            while not missing.exists():
                folder._made.insert(0, missing)
                missing = missing.parent
            path.mkdir(parents=True, exist_ok=True)
        if os.path.normcase(os.path.realpath(path)) != os.path.normcase(path):
            raise OSError(errno.ELOOP, "a folder on the way is a link")
        return folder

    def unmake(self) -> None:
        """Take back the folders that were made for a file that did not come to be."""
        _unmake(self._made)
        self._made = []

    def open(self, name: str, flags: int, mode: int = 0o600) -> int:
        if self.handle is None:
            return os.open(self.path / name, flags, mode)
        return os.open(name, flags, mode, dir_fd=self.handle)

    def stat(self, name: str) -> os.stat_result:
        if self.handle is None:
            return (self.path / name).lstat()
        return os.stat(name, dir_fd=self.handle, follow_symlinks=False)

    def find(self, name: str) -> os.stat_result | None:
        try:
            return self.stat(name)
        except FileNotFoundError:
            return None

    def may_write(self, name: str) -> bool:
        if self.handle is None:
            return os.access(self.path / name, os.W_OK)
        effective = os.access in os.supports_effective_ids
        return os.access(name, os.W_OK, dir_fd=self.handle, effective_ids=effective)

    def unlink(self, name: str) -> None:
        if self.handle is None:
            (self.path / name).unlink()
        else:
            os.unlink(name, dir_fd=self.handle)

    def link(self, old: str, new: str) -> None:
        if self.handle is None:
            os.link(self.path / old, self.path / new)
        else:
            os.link(old, new, src_dir_fd=self.handle, dst_dir_fd=self.handle)

    def link_handle(self, handle: int, name: str) -> None:
        os.link(f"/proc/self/fd/{handle}", name, dst_dir_fd=self.handle, follow_symlinks=True)

    def replace(self, old: str, new: str) -> None:
        if self.handle is None:
            (self.path / old).replace(self.path / new)
        else:
            os.replace(old, new, src_dir_fd=self.handle, dst_dir_fd=self.handle)

    def sync(self) -> None:
        """Make sure that names survive a crash, where the file system can."""
        if self.handle is None:
            return
        with suppress(OSError):
            handle = self.open(".", os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
            try:
                os.fsync(handle)
            finally:
                os.close(handle)


def _unmake(folders: list[Path]) -> None:
    for folder in reversed(folders):
        with suppress(OSError):
            folder.rmdir()
