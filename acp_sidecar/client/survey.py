"""Files that an agent's commands have changed without a word about them.

Before a prompt goes out the session's folders are looked at; after a tool call, and at the
end of the turn, again. What has changed in between counts as the agent's where one of its
commands was at work at that moment, or another call that names the file; what the user does
at other moments, in whatever program, does not.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final, TypeVar

from attrs import evolve, frozen

from acp_sidecar.session.toolcall import ToolCall
from acp_sidecar.workspace.picture import Picture, change_of, differences, look
from acp_sidecar.workspace.texts import Missing, Said

logger = logging.getLogger(__name__)

T = TypeVar("T")

_WAIT_SECONDS: Final = 1.0
"""How long a prompt waits for the first look at large folders."""
_IMPATIENT_SECONDS: Final = 0.1
"""How long one does that comes after such a wait was in vain."""
_ONLY_LOOKS: Final = frozenset({"read", "search", "think", "fetch", "switch_mode"})
_COMMANDS: Final = frozenset({"execute", "delete", "move"})
"""Calls that may change what they do not name."""
_SLACK_NS: Final = 250_000_000
"""A file may be on disk before the call is announced, and after it is over."""


@frozen
class _Span:
    """When a call was at work, in nanoseconds since 1970; ``end`` is None while it is."""

    begin: int
    end: int | None
    is_command: bool

    def holds(self, moment_ns: int) -> bool:
        after = self.begin - _SLACK_NS <= moment_ns
        return after and (self.end is None or moment_ns <= self.end + _SLACK_NS)


class Survey:
    """What the folders of one session said when the prompt went out."""

    def __init__(self, roots: Sequence[Path], clock: Callable[[], int] = time.time_ns) -> None:
        """``roots``: resolved folders. ``clock`` gives nanoseconds since 1970, as the times of
        files do."""
        self._roots = roots
        self._clock = clock
        self._latest: Picture | None = None
        self._looking: asyncio.Future[Picture] | None = None
        self._picture: Picture | None = None
        self._wait = _WAIT_SECONDS
        self._open: dict[str, _Span] = {}
        self._spans: list[_Span] = []

    # --- before the agent --------------------------------------------------------------------

    def look_ahead(self) -> None:
        """Begin to look at the folders, so that the first prompt need not wait for it."""
        if self._looking is None:
            self._looking = _in_thread(lambda: look(self._roots, self._latest))
            self._looking.add_done_callback(self._looked)

    async def begin_turn(self) -> None:
        """Look at the folders; to be awaited before the prompt goes out. Where that takes too
        long nothing is known in this turn, and more in the next."""
        self._picture, self._spans = None, []
        now = self._clock()
        self._open = {key: evolve(span, begin=now) for key, span in self._open.items()}
        try:
            async with asyncio.timeout(self._wait):
                if self._looking is not None:
                    await asyncio.wait({self._looking})
                self.look_ahead()
                assert self._looking is not None
                await asyncio.wait({self._looking})
        except TimeoutError:
            logger.info("the folders are too large to be looked at before this prompt")
            self._wait = _IMPATIENT_SECONDS
            return
        self._wait = _WAIT_SECONDS
        self._picture = self._latest

    def _looked(self, done: asyncio.Future[Picture]) -> None:
        self._looking = None
        if done.cancelled() or done.exception() is not None:
            logger.info("the folders cannot be looked at: %s", done)
            self._latest = None
        else:
            self._latest = done.result()

    # --- while it is at work -------------------------------------------------------------------

    def note(self, call: ToolCall) -> bool:
        """Take in what is known of a tool call. Whether it may just have changed what it does
        not name."""
        if call.kind in _ONLY_LOOKS:
            self._open.pop(call.key, None)
            return False
        now = self._clock()
        known = self._open.pop(call.key, None)
        begin = known.begin if known else now
        span = _Span(begin, None if call.open else now, call.kind in _COMMANDS)
        if call.open:
            self._open[call.key] = span
            return False
        self._spans.append(span)
        return span.is_command

    def command_began(self, key: str) -> None:
        """A command of the agent's begins to run here, outside of any call; ``key`` names it."""
        self._open[key] = _Span(self._clock(), None, True)

    def command_ended(self, key: str) -> None:
        """It has ended, and may just have changed files."""
        span = self._open.pop(key, None)
        if span is not None:
            self._spans.append(evolve(span, end=self._clock()))

    def before(self, path: Path) -> Said | None:
        """What a file said when the prompt went out, where it has changed since while a call
        was at work; None where that is not known, or not so."""
        if self._picture is None:
            return None
        changed_ns = change_of(path, self._picture)
        if changed_ns is None or not _at_work(changed_ns, self._all()):
            return None
        return self._picture.said(path)

    def still(self, path: Path) -> Said | None:
        """What a file said when the prompt went out, where it has not changed since; None where
        that is not known, or not so. An agent may change it in the next moment."""
        if self._picture is None or change_of(path, self._picture) is not None:
            return None
        said = self._picture.said(path)
        return None if isinstance(said, Missing) else said

    async def changed(self) -> list[tuple[Path, Said]]:
        """The files that have changed since the prompt while a command was at work, and what
        each said before."""
        picture = self._picture
        commands = [span for span in self._all() if span.is_command]
        if picture is None or not commands:
            return []
        found = await _in_thread(lambda: differences(self._roots, picture))
        if self._picture is not picture:
            return []
        result = []
        for path, changed_ns in found.items():
            said = picture.said(path)
            if said is not None and (changed_ns is None or _at_work(changed_ns, commands)):
                result.append((path, said))
        return result

    def _all(self) -> list[_Span]:
        return [*self._spans, *self._open.values()]


def _at_work(moment_ns: int, spans: Iterable[_Span]) -> bool:
    return any(span.holds(moment_ns) for span in spans)


def _in_thread(work: Callable[[], T]) -> asyncio.Future[T]:
    """Do what may wait for a disk that never answers, without making anybody's end wait."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def settle(result: T | None, error: Exception | None) -> None:
        if future.done():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(result)  # type: ignore[arg-type]

    def run() -> None:
        result, error = None, None
        try:
            result = work()
        except Exception as raised:  # noqa: BLE001 - whoever awaits it is to see it
            error = raised
        try:
            loop.call_soon_threadsafe(settle, result, error)
        except RuntimeError:
            return  # the loop has been closed: nobody waits any more

    threading.Thread(target=run, name="look at folders", daemon=True).start()
    return future
