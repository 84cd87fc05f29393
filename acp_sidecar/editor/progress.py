"""Progress with a cancel button (LSP 3.17, "Work Done Progress"), for turns and for starts."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from acp_sidecar.editor.server import ClientError, ClientGone

if TYPE_CHECKING:
    from acp_sidecar.editor.server import SidecarServer
    from acp_sidecar.tasks import Tasks

logger = logging.getLogger(__name__)


ANSWER_SECONDS: Final = 30


class Progress:
    """The progress reports of one editor. Tokens are never used twice."""

    def __init__(self, server: SidecarServer, tasks: Tasks, *, supported: bool) -> None:
        self._server = server
        self._tasks = tasks
        self._supported = supported
        self._numbers = itertools.count(1)
        self._cancels: dict[str, Callable[[], None]] = {}

    def begin(self, title: str, cancel: Callable[[], None] | None = None) -> Report:
        """Start a report; ``cancel`` is called when the user presses its button."""
        token = f"acp-sidecar/{next(self._numbers)}"
        report = Report(self, token)
        if self._supported:
            if cancel is not None:
                self._cancels[token] = cancel
            self._tasks.start(self._create(report, title, cancel is not None), name="progress")
        return report

    def cancelled(self, params: Any) -> None:
        """``window/workDoneProgress/cancel``."""
        token = params.get("token") if isinstance(params, dict) else None
        cancel = self._cancels.pop(token, None) if isinstance(token, str) else None
        if cancel is not None:
            cancel()

    async def _create(self, report: Report, title: str, cancellable: bool) -> None:
        try:
            params = {"token": report.token}
            await self._server.request(
                "window/workDoneProgress/create", params, timeout=ANSWER_SECONDS
            )
        except (ClientError, ClientGone, TimeoutError) as error:
            logger.info("the editor does not show progress: %s", error)
            return
        if not report.ended:
            report.created = True
            self.send(report.token, {"kind": "begin", "title": title, "cancellable": cancellable})
            if report.message:
                report.report(report.message)

    def send(self, token: str, value: dict[str, Any]) -> None:
        """One ``$/progress`` notification."""
        droppable = ("progress", token) if value["kind"] == "report" else None
        self._server.notify_json(
            "$/progress", {"token": token, "value": value}, droppable=droppable
        )

    def forget(self, token: str) -> None:
        """The report is over: its button does nothing any more."""
        self._cancels.pop(token, None)


class Report:
    """One running progress report."""

    def __init__(self, progress: Progress, token: str) -> None:
        self._progress = progress
        self.token = token
        self.created = False
        self.ended = False
        self.message = ""

    def report(self, message: str) -> None:
        """Say what is going on, in a few words."""
        self.message = message
        if self.created and not self.ended:
            self._progress.send(self.token, {"kind": "report", "message": message})

    def end(self, message: str = "") -> None:
        """It is over."""
        if self.ended:
            return
        self.ended = True
        self._progress.forget(self.token)
        if self.created:
            value = {"kind": "end"} | ({"message": message} if message else {})
            self._progress.send(self.token, value)
