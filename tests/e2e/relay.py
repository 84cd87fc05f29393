"""An agent process with no will of its own: it relays its pipes to a socket of the test's.

    python relay.py SOCKET [--keep-alive]

What the sidecar writes to its stdin arrives at the socket, what the test writes to the
socket leaves by its stdout. With ``--keep-alive`` it ignores the end of its input. After SIGUSR1
it reads no more of that; a file ``SOCKET.held`` says so.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import sys
import threading


def pump(read: int, write: int, until: int | None = None) -> None:
    """Until the end of input, or until there is something to read at ``until``."""
    ends = [read] if until is None else [read, until]
    while until not in select.select(ends, [], [])[0] and (data := os.read(read, 1 << 16)):
        while data:
            data = data[os.write(write, data) :]


def main() -> None:
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(sys.argv[1])
    keep_alive = "--keep-alive" in sys.argv
    held, hold = os.pipe()
    signal.signal(signal.SIGUSR1, lambda number, frame: os.write(hold, b"\n"))

    def to_test() -> None:
        pump(0, connection.fileno(), held)
        if select.select([held], [], [], 0)[0]:
            os.close(os.open(sys.argv[1] + ".held", os.O_CREAT))
        elif not keep_alive:
            os._exit(0)

    threading.Thread(target=to_test, daemon=True).start()
    try:
        pump(connection.fileno(), 1)
    except OSError:
        os._exit(0)
    if keep_alive:
        signal.pause()
    os._exit(0)


if __name__ == "__main__":
    main()
