"""How a file is called from a folder, as people write it."""

from __future__ import annotations

import os
from pathlib import PurePath


def relative_name(path: str, folder: str | None) -> str:
    """An absolute path as it is called in a folder: from there where it is within, else whole;
    with ``/``. Where one of the two leads through a link, the disk says whether it is within."""
    if folder is not None:
        for within, top in ((path, folder), (os.path.realpath(path), os.path.realpath(folder))):
            try:
                name = PurePath(os.path.normpath(within)).relative_to(os.path.normpath(top))
            except ValueError:
                continue
            if name.parts:
                return name.as_posix()
    return PurePath(path).as_posix()
