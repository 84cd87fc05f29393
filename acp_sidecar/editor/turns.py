"""The progress of turns: one report for each session whose agent is at work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from acp_sidecar.client.ports import visible
from acp_sidecar.session.change import Change, ToolCallChanged

if TYPE_CHECKING:
    from acp_sidecar.client.ports import SessionView
    from acp_sidecar.editor.progress import Progress, Report


class Turns:
    """The turns that run."""

    def __init__(self, progress: Progress, cancel: Callable[[str], None]) -> None:
        """``cancel`` cancels the turn of a session, by its id."""
        self._progress = progress
        self._cancel = cancel
        self._reports: dict[str, Report] = {}

    def began(self, session: SessionView) -> None:
        """A prompt went out to the agent."""
        session_id = session.state.session_id
        self._reports[session_id] = self._progress.begin(
            f"{session.agent_name} is working", lambda: self._cancel(session_id)
        )

    def changed(self, session: SessionView, changes: Sequence[Change]) -> None:
        """Say which tool call has come up."""
        for change in changes:
            if isinstance(change, ToolCallChanged) and change.created:
                self.says(session, visible(change.tool_call.title or change.tool_call.kind))

    def says(self, session: SessionView, text: str) -> None:
        """What the turn waits for, in a few words."""
        report = self._reports.get(session.state.session_id)
        if report is not None:
            report.report(text)

    def ended(self, session: SessionView) -> None:
        """The turn is over."""
        report = self._reports.pop(session.state.session_id, None)
        if report is not None:
            report.end()
