"""Files of our own, outside of the user's work: state, caches, what is kept for later."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write_whole(path: Path, data: bytes) -> None:
    """Write a file that the user alone may read, beside its name, and move it there.

    Whoever reads it sees all of the old content or all of the new one, whenever a process
    ends; of several writers the last one counts. A draft that was left behind is called
    ``*.tmp``. The folder must be there. Raises :class:`OSError`; no draft is left then.
    """
    descriptor, name = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
