"""Following the agent: its places become reveals, limited to the roots and in rate.

A reveal is coalesced on the trailing edge: at most so many a second, the last one always
lands. It pauses when the user acts and returns with the next prompt. Where a place is
not shown, the session's state and ``acp/follow`` say where and why.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from attrs import frozen

from acp_sidecar.acp.model import (
    ChangedFiles,
    Diff,
    Location,
    ToolCallContentChunk,
    ToolCallUpsert,
    given,
)
from acp_sidecar.acp.reports import diffs as diffs_of
from acp_sidecar.session.change import Change, ToolCallChanged
from acp_sidecar.workspace.roots import PathRefused
from acp_sidecar.workspace.roots import Place as WorkspacePlace

if TYPE_CHECKING:
    from acp_sidecar.client.ports import SessionView
    from acp_sidecar.tasks import Tasks

logger = logging.getLogger(__name__)

_WAITING: Final = "waiting"
_OUTSTANDING: Final = 32
"""Reveals an editor may leave unanswered before the next one waits."""
_ANSWER_SECONDS: Final = 5
_ASKED_SECONDS: Final = 20
"""How long an agent that asks to show a place waits for it."""
_CONGESTED_SECONDS: Final = 0.2
"""After which it is looked again whether an editor reads what it is sent."""


@frozen
class Place:
    """Where an agent works: ``line`` is 1-based or None, ``path`` as the agent sent it.
    ``tool_call_id`` is None where the agent has asked to show it."""

    session: SessionView
    tool_call_id: str | None
    kind: str
    path: str
    line: int | None
    diff: Diff | None = None
    """What the agent changes there, where it names no line."""

    @property
    def said(self) -> dict[str, Any]:
        """The place as the agent said it, for the state."""
        return {"path": self.path, "line": self.line}


@frozen
class Target:
    """What is to be shown of a place: a real file within the roots, a 1-based line or None."""

    place: Place
    path: Path
    line: int | None


@frozen
class Outcome:
    """What became of a place: shown, or not and why. ``refused`` ends following there."""

    shown: bool
    reason: str | None = None
    refused: bool = False


Reveal = Callable[[Target], Awaitable[Outcome]]


class Follow:
    """One for all sessions, since there is one person to show things to."""

    def __init__(
        self,
        reveal: Reveal,
        moved: Callable[[SessionView], None],
        tasks: Tasks,
        *,
        enabled: bool,
        per_second: Callable[[], float],
        folders: Callable[[], Sequence[str]],
        congested: Callable[[], bool] = lambda: False,
    ) -> None:
        self._reveal = reveal
        self._moved = moved
        self._tasks = tasks
        self._per_second = per_second
        self._folders = folders
        self._congested = congested
        self.enabled = enabled
        self.paused = False
        self._refused: str | None = None
        self._next: Place | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._last_sent = -math.inf
        self._outstanding = 0
        self._latest: dict[str, Place] = {}
        """By session; the one that has moved last is the last one."""
        self._asked: list[tuple[Place, asyncio.Future[Outcome]]] = []
        self._on_screen: set[str] = set()
        """Sessions whose latest place is shown, as far as the user has not gone elsewhere."""

    # --- what happens ---------------------------------------------------------------

    def changed(self, session: SessionView, changes: Sequence[Change]) -> None:
        """Follow the last place of these changes that may be shown."""
        for change in changes:
            if isinstance(change, ToolCallChanged):
                place = self._place(session, change)
                if place is not None:
                    self._go(place)

    async def show(self, session: SessionView, path: str, line: int | None) -> Outcome:
        """Go where the agent asks to, like to a place it works at; what became of that. The
        reason is ``superseded`` where it was somewhere else before its turn came."""
        place = Place(session, None, "other", path, line)
        answer: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        asked = (place, answer)
        self._asked.append(asked)
        try:
            self._go(place)
            async with asyncio.timeout(_ASKED_SECONDS):
                return await answer
        except TimeoutError:
            return Outcome(shown=False, reason="the editor does not answer")
        finally:
            self._asked.remove(asked)

    def user_acted(self) -> None:
        """The user took over: nothing is revealed until the next prompt."""
        self._on_screen.clear()
        if self.watches:
            self.paused = True
            self._drop_next("paused")
            self._tell_all()

    def prompted(self) -> None:
        """A prompt went out: following returns."""
        if self.paused:
            self.paused = False
            self._tell_all()

    def set_enabled(self, enabled: bool) -> None:
        """The user's switch. Switching on goes to where the agent is that has moved last, if it
        is at work, and tries again with an editor that refused before."""
        self.enabled = enabled
        self.paused = False
        self._refused = None
        self._on_screen.clear()
        if not enabled:
            self._drop_next("off")
        self._tell_all()
        if enabled:
            self._go_to_agent()

    def files_changed(self, session: SessionView) -> None:
        """A file may have come into being where the agent said it was."""
        place = self._latest.get(session.state.session_id)
        if place is None or session.state.follow.get("reason") != "missing":
            return
        if self._resolve(session, place)[0] is not None:
            self._go(place)

    def forget(self, session: SessionView) -> None:
        """The session is closed."""
        self._latest.pop(session.state.session_id, None)
        self._on_screen.discard(session.state.session_id)
        if self._next is not None and self._next.session is session:
            self._supersede(None)

    @property
    def watches(self) -> bool:
        """Whether an act of the user's would pause it now."""
        return self.enabled and not self.paused

    # --- one place -------------------------------------------------------------------

    def _go_to_agent(self) -> None:
        for place in reversed(self._latest.values()):
            if place.session.state.at_work:
                self._go(place)
                return

    def _place(self, session: SessionView, change: ToolCallChanged) -> Place | None:
        call = change.tool_call
        candidates = _places(change)
        if not candidates:
            return self._retry(session, call.tool_call_id)
        chosen = None
        for location in reversed(candidates):
            if self._resolve(session, location)[0] is not None:
                chosen = location
                break
        location = chosen or candidates[-1]
        diff = _diff_at(location, call.content)
        return Place(session, call.tool_call_id, call.kind, location.path, location.line, diff)

    def _retry(self, session: SessionView, tool_call_id: str) -> Place | None:
        """A file that was not there when its place was named may be there by now."""
        place = self._latest.get(session.state.session_id)
        if place is None or place.tool_call_id != tool_call_id:
            return None
        return place if session.state.follow.get("reason") == "missing" else None

    def _resolve(
        self, session: SessionView, location: Location | Place
    ) -> tuple[WorkspacePlace | None, str | None]:
        """Where a location is, or why it is not shown."""
        roots = session.roots.intersect(self._folders())
        try:
            found = roots.place(location.path, location.line, relative_to=session.state.cwd)
        except PathRefused as refused:
            return None, refused.reason
        return found, None

    def _go(self, place: Place) -> None:
        session_id = place.session.state.session_id
        before = self._latest.pop(session_id, None)
        self._latest[session_id] = place
        found, reason = self._resolve(place.session, place)
        blocked = reason or self._blocked()
        if found is None or blocked:
            self._note(place, Outcome(shown=False, reason=blocked))
            return
        if before == place and session_id in self._on_screen:
            self._settle(place, Outcome(shown=True))
            return
        self._note(place, Outcome(shown=False, reason=_WAITING))
        self._supersede(place)
        self._schedule()

    def _blocked(self) -> str | None:
        if not self.enabled:
            return "off"
        if self.paused:
            return "paused"
        return self._refused

    def _schedule(self) -> None:
        if self._timer is not None or self._next is None or self._outstanding >= _OUTSTANDING:
            return
        loop = asyncio.get_running_loop()
        due = self._last_sent + 1 / self._per_second()
        self._timer = loop.call_at(max(due, loop.time()), self._send)

    def _send(self) -> None:
        self._timer = None
        if self._congested():
            # What it has not read it would show all at once, one place after the other.
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(_CONGESTED_SECONDS, self._send)
            return
        place, self._next = self._next, None
        if place is None:
            return
        if place.session.ended:
            self._settle(place, Outcome(shown=False, reason="ended"))
            return
        # The file may be gone, or a link moved, since the place was named.
        found, reason = self._resolve(place.session, place)
        blocked = reason or self._blocked()
        if found is None or blocked:
            self._note(place, Outcome(shown=False, reason=blocked))
            return
        self._last_sent = asyncio.get_running_loop().time()
        self._outstanding += 1
        target = Target(place, found.path, found.line)
        self._tasks.start(self._show(target), name="reveal")

    async def _show(self, target: Target) -> None:
        try:
            async with asyncio.timeout(_ANSWER_SECONDS):
                outcome = await self._reveal(target)
        except TimeoutError:
            outcome = Outcome(shown=False, reason="the editor does not answer")
        finally:
            self._outstanding -= 1
        if outcome.refused and self._refused is None:
            self._refused = outcome.reason or "the editor cannot show documents"
            logger.warning("following stops: %s", self._refused)
        self._note(target.place, outcome)
        self._schedule()

    # --- what is said of it --------------------------------------------------------------

    def _supersede(self, place: Place | None) -> None:
        before, self._next = self._next, place
        if before is not None:
            self._settle(before, Outcome(shown=False, reason="superseded"))

    def _settle(self, place: Place, outcome: Outcome) -> None:
        """Tell whoever has asked for this place."""
        for asked, answer in self._asked:
            if asked is place and not answer.done():
                answer.set_result(outcome)

    def _note(self, place: Place, outcome: Outcome) -> None:
        if outcome.reason != _WAITING:
            self._settle(place, outcome)
        session = place.session
        session_id = session.state.session_id
        if self._latest.get(session_id) is not place:
            return
        if outcome.shown:
            self._on_screen.add(session_id)
        else:
            self._on_screen.discard(session_id)
        session.state.follow = {
            "enabled": self.enabled,
            "paused": self.paused,
            "location": place.said,
            "shown": outcome.shown,
            "reason": outcome.reason,
        }
        self._moved(session)

    def _drop_next(self, reason: str) -> None:
        place, self._next = self._next, None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if place is not None:
            self._note(place, Outcome(shown=False, reason=reason))

    def _tell_all(self) -> None:
        for place in list(self._latest.values()):
            self.refresh(place.session)
            self._moved(place.session)

    def refresh(self, session: SessionView) -> None:
        """Bring the session's ``follow`` up to date, also where it has not been anywhere."""
        switches = {"enabled": self.enabled, "paused": self.paused}
        session.state.follow = {**session.state.follow, **switches}


def _places(change: ToolCallChanged) -> Sequence[Location]:
    """The places an update speaks of: its locations, or its diffs where the call has none
    that name a line."""
    event = change.event
    content: Sequence[object] = ()
    if isinstance(event, ToolCallUpsert):
        locations = given(event.locations, ())
        if locations:
            return locations
        content = given(event.content, ())
    elif isinstance(event, ToolCallContentChunk):
        content = (event.content,)
    if any(location.line is not None for location in change.tool_call.locations):
        return ()
    paths = [item.path for item in content if isinstance(item, Diff)]
    for item in content:
        if isinstance(item, ChangedFiles):
            paths += [file.path for file in item.files if file.operation != "delete"]
    return tuple(Location(path) for path in paths)


def _diff_at(location: Location, content: Sequence[object]) -> Diff | None:
    """What is changed at a place whose line the agent does not name."""
    told: list[object] = []
    for item in content:
        told += diffs_of(item) if isinstance(item, ChangedFiles) else [item]
    diffs = [item for item in told if isinstance(item, Diff) and item.path == location.path]
    return diffs[-1] if diffs and location.line is None else None
