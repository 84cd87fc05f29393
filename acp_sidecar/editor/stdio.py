"""Our standard input and output as an LSP transport that never blocks the event loop.

Pipes and sockets are read and written by asyncio. What asyncio cannot poll, or must not
(a regular file, a terminal whose non-blocking mode its other users would share, one socket
for both directions, everything on Windows), is read and written by a thread each.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import queue
import stat
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import IO, Any, Final, Protocol, TypeAlias

log = logging.getLogger(__name__)

HIGH_WATER: Final = 1 << 18
"""Bytes handed to the pipe and not taken by the client, above which we begin to hold back."""

NOTIFICATION_LIMIT: Final = 1 << 26
"""Bytes held back, above which further notifications are dropped."""

_READ_SIZE: Final = 1 << 18
_WINDOWS: Final = sys.platform == "win32"

Stream: TypeAlias = int | IO[Any]


class Sink(Protocol):
    """Where bytes go; what :class:`asyncio.WriteTransport` offers of itself."""

    def write(self, data: bytes, /) -> None: ...
    def close(self) -> None: ...
    def abort(self) -> None: ...


# --- taking over the process's own streams ---------------------------------------


def take_standard_streams() -> tuple[int, int]:
    """Move standard input and output out of everybody's reach and return them.

    After it, file descriptor 1 is standard error, so a stray ``print``, a C library or a
    child that inherits it cannot corrupt the stream, and descriptor 0 is empty. A stream
    that is closed counts as one that has ended.
    """
    if sys.stdout is not None:
        sys.stdout.flush()
    # Opening takes the lowest free number: this fills those of 0, 1 and 2 that are closed.
    while (nothing := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(nothing, True)
    source, target = os.dup(0), os.dup(1)
    if _WINDOWS:  # untested: no Windows machine at hand
        import msvcrt

        for descriptor in (source, target):
            vars(msvcrt)["setmode"](descriptor, vars(os)["O_BINARY"])
    os.dup2(nothing, 0, inheritable=True)
    if _is_pipe(2) and os.path.samestat(os.fstat(2), os.fstat(target)):
        # `2>&1`: what is written there must go nowhere instead.
        os.dup2(nothing, 2, inheritable=True)
    os.dup2(2, 1, inheritable=True)
    os.close(nothing)
    if sys.stdout is not None:
        with contextlib.suppress(AttributeError, ValueError):
            sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    return source, target


def _is_pipe(descriptor: int) -> bool:
    if _WINDOWS:
        # Pipes there cannot be polled, nor told apart.
        return False
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def _pollable(source: int, target: int) -> tuple[bool, bool]:
    if _is_pipe(source) and os.path.samestat(os.fstat(source), os.fstat(target)):
        # asyncio takes bytes that arrive on a pipe it writes to for its end.
        return False, False
    return _is_pipe(source), _is_pipe(target)


# --- outgoing --------------------------------------------------------------------


class Outbox(asyncio.BaseProtocol):
    """The outgoing messages of one client, in order.

    Hands them to the pipe as long as the client takes them. While it does not, they wait
    here: requests and responses all of them, droppable notifications one of each key (the
    latest, at the place of the latest), other notifications up to ``limit`` bytes in all.
    """

    def __init__(self, limit: int = NOTIFICATION_LIMIT) -> None:
        self.on_lost: Callable[[], None] = lambda: None
        self._limit = limit
        self._sink: Sink | None = None
        self._paused = False
        self._closed = False
        self._waiting: OrderedDict[Hashable, bytes] = OrderedDict()
        self._waiting_bytes = 0
        self._serial = 0
        self._dropped = 0
        self._gone = asyncio.Event()
        self._free = asyncio.Event()
        self._free.set()

    def attach(self, sink: Sink) -> None:
        """Begin to write to ``sink``, which calls the flow-control methods below."""
        self._sink = sink
        if not self._paused:
            self.resume_writing()

    @property
    def congested(self) -> bool:
        """Whether the client is not taking what it is sent at the moment."""
        return self._paused

    @property
    def waiting_bytes(self) -> int:
        """Bytes held back here."""
        return self._waiting_bytes

    async def writable(self) -> None:
        """Wait until the client takes messages again, or is gone."""
        await self._free.wait()

    def send(
        self, data: bytes, *, droppable: Hashable | None = None, expendable: bool = False
    ) -> None:
        """Send framed bytes, now or when the client takes them. Never blocks, never raises.

        ``droppable``: only the latest message of this key needs to arrive. ``expendable``:
        may be dropped when very much waits already.
        """
        if self._closed:
            return
        if self._sink is not None and not self._paused:
            self._sink.write(data)
            return
        if droppable is not None:
            key: Hashable = ("droppable", droppable)
            self._waiting_bytes -= len(self._waiting.pop(key, b""))
        else:
            if expendable and self._waiting_bytes + len(data) > self._limit:
                self._dropped += 1
                return
            self._serial += 1
            key = self._serial
        self._waiting[key] = data
        self._waiting_bytes += len(data)

    async def close(self, patience: float) -> None:
        """Write out what waits, for ``patience`` seconds at most, and close the pipe."""
        sink = self._sink
        if sink is None:
            self._closed = True
            return
        # Past its mark the transport keeps everything it is given, in order.
        while self._waiting:
            sink.write(self._waiting.popitem(last=False)[1])
        self._closed = True
        sink.close()
        try:
            async with asyncio.timeout(patience):
                await self._gone.wait()
        except TimeoutError:
            # On a busy machine both come in one turn, and what is closed cannot be aborted.
            if not self._gone.is_set():
                sink.abort()

    # Called by the sink.

    def pause_writing(self) -> None:
        self._paused = True
        self._free.clear()

    def resume_writing(self) -> None:
        self._paused = False
        if self._dropped:
            log.warning("dropped %d notifications the client did not take", self._dropped)
            self._dropped = 0
        while self._waiting and not self._paused and self._sink is not None:
            data = self._waiting.popitem(last=False)[1]
            self._waiting_bytes -= len(data)
            self._sink.write(data)
        if not self._paused:
            self._free.set()

    def connection_lost(self, exc: Exception | None) -> None:
        expected = self._closed
        self._closed = True
        self._waiting.clear()
        self._waiting_bytes = 0
        self._gone.set()
        self._free.set()
        if not expected:
            self.on_lost()


class ThreadSink:
    """Writes to a descriptor from a thread, with asyncio's flow control."""

    def __init__(self, descriptor: int, protocol: Outbox) -> None:
        self._loop = asyncio.get_running_loop()
        self._descriptor = descriptor
        self._protocol = protocol
        self._queue: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._pending = 0
        self._paused = False
        # A daemon: a client that reads no more must not keep the process alive.
        threading.Thread(target=self._run, name="lsp-output", daemon=True).start()

    def write(self, data: bytes, /) -> None:
        self._pending += len(data)
        self._queue.put(data)
        if self._pending > HIGH_WATER and not self._paused:
            self._paused = True
            self._protocol.pause_writing()

    def close(self) -> None:
        self._queue.put(None)

    def abort(self) -> None:
        self._queue.put(None)

    def _run(self) -> None:
        try:
            while (data := self._queue.get()) is not None:
                _write_all(self._descriptor, data)
                self._tell(self._written, len(data))
        except OSError as error:
            self._tell(self._protocol.connection_lost, error)
        else:
            os.close(self._descriptor)
            self._tell(self._protocol.connection_lost, None)

    def _written(self, count: int) -> None:
        self._pending -= count
        if self._paused and self._pending <= HIGH_WATER // 4:
            self._paused = False
            self._protocol.resume_writing()

    def _tell(self, callback: Callable[[Any], None], argument: Any) -> None:
        # The loop may be gone before the thread is.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(callback, argument)


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


# --- incoming --------------------------------------------------------------------


class Inlet(asyncio.Protocol):
    """Hands on what arrives: bytes to ``on_data``, then ``on_end`` once."""

    def __init__(self, on_data: Callable[[bytes], None], on_end: Callable[[], None]) -> None:
        self._on_data = on_data
        self._on_end = on_end
        self._ended = False

    def data_received(self, data: bytes) -> None:
        self._on_data(data)

    def eof_received(self) -> None:
        self._end()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end()

    def _end(self) -> None:
        if not self._ended:
            self._ended = True
            self._on_end()


class ThreadSource:
    """Reads a descriptor in a thread and feeds an :class:`Inlet` in the loop."""

    def __init__(self, descriptor: int, inlet: Inlet) -> None:
        self._loop = asyncio.get_running_loop()
        self._descriptor = descriptor
        self._inlet = inlet
        # So that a file of any size is not read ahead into memory.
        self._ahead = threading.Semaphore(4)
        threading.Thread(target=self._run, name="lsp-input", daemon=True).start()

    def close(self) -> None:
        """Leave the thread to its end; it is a daemon and may sit in a read for good."""

    def _run(self) -> None:
        # The loop may be gone before the thread is.
        with contextlib.suppress(RuntimeError):
            try:
                while data := os.read(self._descriptor, _READ_SIZE):
                    self._ahead.acquire()
                    self._loop.call_soon_threadsafe(self._deliver, data)
            except OSError as error:
                log.warning("cannot read standard input: %s", error)
            self._loop.call_soon_threadsafe(self._inlet.eof_received)

    def _deliver(self, data: bytes) -> None:
        self._ahead.release()
        self._inlet.data_received(data)


class Closable(Protocol):
    """Something with an end to it."""

    def close(self) -> None: ...


async def connect(source: Stream, target: Stream, inlet: Inlet, outbox: Outbox) -> Closable:
    """Join two open descriptors or files with ``inlet`` and ``outbox``, in the running loop.

    A descriptor belongs to the transport from now on, of a file a duplicate is used.
    Returns the reading side, to be closed.
    """
    loop = asyncio.get_running_loop()
    in_fd, out_fd = _own(source), _own(target)
    poll_in, poll_out = _pollable(in_fd, out_fd)
    if poll_out:
        writer, _ = await loop.connect_write_pipe(lambda: outbox, os.fdopen(out_fd, "wb", 0))
        writer.set_write_buffer_limits(high=HIGH_WATER)
        outbox.attach(writer)
    else:
        outbox.attach(ThreadSink(out_fd, outbox))
    if poll_in:
        reader, _ = await loop.connect_read_pipe(lambda: inlet, os.fdopen(in_fd, "rb", 0))
        return reader
    return ThreadSource(in_fd, inlet)


def _own(stream: Stream) -> int:
    return stream if isinstance(stream, int) else os.dup(stream.fileno())
