"""Log lines to standard error or a file, written by a thread.

A client that does not read our standard error would otherwise stop the event loop at the
first line that does not fit the pipe.
"""

from __future__ import annotations

import logging
import logging.handlers
import os
import queue
import threading
from pathlib import Path
from typing import Final

FORMAT: Final = "%(asctime)s %(levelname)s %(name)s: %(message)s"
WAITING_LINES: Final = 1000


class Logs:
    """Takes over the root logger until :meth:`stop`.

    ``level`` is a name of :mod:`logging`'s. ``path`` is a file to append to (UTF-8) instead
    of standard error; :class:`OSError` if it cannot be opened. Lines that find
    ``WAITING_LINES`` others waiting are dropped.
    """

    def __init__(self, level: str = "WARNING", path: Path | None = None) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        self._descriptor = 2 if path is None else os.open(path, flags, 0o600)
        self._queue: queue.Queue[logging.LogRecord | None] = queue.Queue(WAITING_LINES)
        self._formatter = logging.Formatter(FORMAT)
        self._handler = _Dropping(self._queue)
        # A daemon: it may sit in a write for good.
        self._thread = threading.Thread(target=self._run, name="logs", daemon=True)
        self._thread.start()
        root = logging.getLogger()
        root.addHandler(self._handler)
        root.setLevel(level)
        # At levels below this one pygls logs whole messages.
        logging.getLogger("pygls").setLevel(logging.WARNING)

    def stop(self, patience: float = 0.1) -> None:
        """Write out what waits, for ``patience`` seconds at most."""
        logging.getLogger().removeHandler(self._handler)
        try:
            self._queue.put(None, timeout=patience)
        except queue.Full:
            return
        self._thread.join(patience)

    def _run(self) -> None:
        while (record := self._queue.get()) is not None:
            line = self._formatter.format(record) + "\n"
            try:
                os.write(self._descriptor, line.encode("utf-8", "replace"))
            except OSError:
                # Nobody reads any more; there is nowhere left to say so.
                return


class _Dropping(logging.handlers.QueueHandler):
    def enqueue(self, record: logging.LogRecord) -> None:
        try:
            self.queue.put_nowait(record)
        except queue.Full:
            return
