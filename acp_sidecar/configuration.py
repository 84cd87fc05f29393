"""The settings as they are now, put together from all of their sources.

The user's file comes first, over it what an editor gives as the user's own settings, and over
both what it has for the workspace (LSP 3.17, "Configuration Request").
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, Literal

from acp_sidecar.settings import Problem, Settings, merge

REGISTRATION: Final[Mapping[str, Any]] = {
    "id": "acp-configuration",
    "method": "workspace/didChangeConfiguration",
    "registerOptions": {"section": "acp"},
}
"""For ``client/registerCapability``."""


class Configuration:
    """The settings of one sidecar."""

    def __init__(
        self,
        file: Settings,
        ask: Callable[[str, Mapping[str, Any]], Awaitable[Any]],
        tell: Callable[[Literal["warning", "log"], str], None],
        moved: Callable[[], None],
    ) -> None:
        """``file`` is what the user's file says. ``ask`` gives the editor's answer to a request,
        None where it has none; ``moved`` is called where the settings may be others."""
        self._file = file
        self._user = file
        self._workspace: Any = None
        self._ask = ask
        self._tell = tell
        self._moved = moved
        self.now = file
        self.pulled = False
        """Whether the editor is asked for what the workspace configures."""

    def begin(self, options: Any, *, pulled: bool) -> None:
        """``initializationOptions``, which are the user's."""
        self.pulled = pulled
        self._take(options, user=True)

    async def pull(self) -> None:
        """Ask the editor for what the workspace configures, where it can be asked."""
        if not self.pulled:
            return
        answer = await self._ask("workspace/configuration", {"items": [{"section": "acp"}]})
        if isinstance(answer, list) and answer:
            self._take(answer[0], user=False)
            self._moved()

    async def changed(self, sent: Any) -> None:
        """``workspace/didChangeConfiguration``."""
        if self.pulled:
            await self.pull()
        elif isinstance(sent, Mapping):
            self._take(sent.get("acp"), user=False)
            self._moved()

    def user_changed(self, values: Any) -> None:
        """``acp/userSettings``: in place of what ``initialize`` brought."""
        if not isinstance(values, Mapping):
            self._tell(
                "warning", "acp/userSettings needs an object; all settings stay as they are."
            )
            return
        self._take(values, user=True)
        self._moved()

    def _take(self, values: Any, *, user: bool) -> None:
        """``values`` are the new ones of the user, or of the workspace."""
        said: Sequence[Problem] = ()
        if user:
            self._user, said = merge(self._file, values)
        else:
            self._workspace = values
        self.now, problems = merge(self._user, self._workspace, user=False)
        self.report(said if user else problems, user=user)

    def report(self, problems: Sequence[Problem], *, user: bool) -> None:
        """Tell the user of settings that were left out, in one message."""
        if problems:
            listed = "\n".join(str(problem) for problem in problems)
            self._tell("warning" if user else "log", f"Settings that were left out:\n{listed}")
