"""What a command gets to work with, and what all of them do alike."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from attrs import frozen

from acp_sidecar.client.ports import Client, SessionView
from acp_sidecar.editor.arguments import Argument, session_id, text
from acp_sidecar.editor.calls import INVALID_PARAMS, CommandError
from acp_sidecar.workspace.positions import Encoding

if TYPE_CHECKING:
    from acp_sidecar.editor.dialogs import Dialogs
    from acp_sidecar.editor.elicitation import Forms
    from acp_sidecar.editor.follow import Follow
    from acp_sidecar.editor.lenses import Lenses
    from acp_sidecar.editor.progress import Progress
    from acp_sidecar.editor.review import Review

Json: TypeAlias = Any
Handler: TypeAlias = Callable[["Operations", Argument], Awaitable[Json]]
T = TypeVar("T")


@frozen
class Operations:
    """What the commands work with."""

    client: Client
    follow: Follow
    review: Review
    lenses: Lenses
    progress: Progress
    dialogs: Dialogs
    forms: Forms
    encoding: Callable[[], Encoding]
    default_cwd: Callable[[], str | None]
    agents: Callable[[], Awaitable[Json]]
    """The agents a user can choose from."""

    def session(self, argument: Argument) -> SessionView:
        """The session an argument names, or the only one open."""
        return self.client.session(session_id(argument))

    def cwd(self, argument: Argument) -> str:
        """The folder an argument names, else the first workspace folder."""
        cwd = text(argument, "cwd") or self.default_cwd()
        if cwd is None:
            raise CommandError(
                "No folder is open in the editor: name one as 'cwd' (an absolute path).",
                INVALID_PARAMS,
            )
        return cwd

    def chosen(self, argument: Argument) -> Sequence[SessionView]:
        """The session an argument names, else all of them."""
        named = session_id(argument)
        return (self.client.session(named),) if named else self.client.sessions()


async def with_progress(
    on: Operations, title: str, work: Callable[[Callable[[str], None]], Awaitable[T]]
) -> T:
    """Do what may take long, with a button that cancels it."""
    task = asyncio.current_task()

    def cancel() -> None:
        if task is not None:
            task.cancel()

    report = on.progress.begin(title, cancel)
    try:
        return await work(report.report)
    finally:
        report.end()
