"""A running agent as the client sees it: started, greeted, spoken with.

What it says is read here, version and all, and handed in order to an :class:`Inbox`.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, Protocol

from acp_sidecar.acp import v1, v2
from acp_sidecar.acp.decoding import DecodeError
from acp_sidecar.acp.model import AgentInfo, ClientCapabilities, Event, Json
from acp_sidecar.agents.catalog import AgentEntry
from acp_sidecar.agents.connection import AgentError, AgentGone, Connection, IncomingRequest
from acp_sidecar.agents.exits import StderrLines
from acp_sidecar.agents.finding import Finder
from acp_sidecar.agents.process import AgentExit, AgentProcess, CannotStart, Command, spawn
from acp_sidecar.agents.secrets import shown_arguments
from acp_sidecar.client.ports import Refused
from acp_sidecar.client.visible import visible

if TYPE_CHECKING:
    from acp_sidecar.settings import Settings

logger = logging.getLogger(__name__)

_DETAIL_CHARACTERS: Final = 1_000
_SAY_SECONDS: Final = 0.5
_SAY_CHARACTERS: Final = 200
_NOT_FOUND: Final = 127
"""The status with which ``env`` and the shells end where a program is not found."""


def unheard(text: str) -> None:
    """Nobody wants to know."""


_WIRES: Final[Mapping[int, ModuleType]] = {1: v1, 2: v2}
"""The module that speaks each version of the protocol. Both have the same functions."""


class Inbox(Protocol):
    """Where an agent's messages go, in order of arrival."""

    def event(self, agent: Agent, agent_session_id: str, event: Event) -> None:
        """Something happened in a session."""

    def request(self, agent: Agent, request: IncomingRequest) -> None:
        """The agent wants something. Whatever is wrong with it, it is answered."""

    def completed(self, agent: Agent, params: Json) -> None:
        """``elicitation/complete``: what a page was opened for is done."""

    def ended(self, agent: Agent, reason: AgentGone) -> None:
        """The agent is no more. Called once."""


class Recording(Protocol):
    """Where the conversation with an agent is recorded; see :mod:`acp_sidecar.trace`."""

    def __call__(self, direction: str, message: Any, /) -> None:
        """A message went over the wire."""

    def stderr(self, text: str, /) -> None:
        """The agent wrote a line to its standard error."""

    def note(self, event: str, **facts: Any) -> None:
        """Something else happened."""


class AgentUnusable(Refused):
    """The agent could not be started or greeted; the message says why and what to do."""


class LoginNeeded(AgentUnusable):
    """The agent wants a login first. The message says how, and ``then`` what to do after it."""

    def __init__(self, agent: Agent, error: AgentError, then: str) -> None:
        super().__init__(f"{login_advice(agent, error)}, then {then}.")
        self.agent = agent
        self.said = explained(error)


class Agent:
    """One agent process and the conversation with it. Implements ``connection.Handler``.

    ``key`` is what it is shared by: the agent's name and the folder it runs in.
    """

    def __init__(
        self,
        entry: AgentEntry,
        cwd: str,
        settings: Callable[[], Settings],
        inbox: Inbox,
        recording: Recording | None = None,
        *,
        finder: Finder | None = None,
        command: Command | None = None,
        versions: Sequence[int] = (),
    ) -> None:
        """``settings`` gives those of the moment. ``command`` is what is started where it has been
        found already. ``versions`` are those of the protocol that are offered, by default those
        of the settings.
        """
        now = settings()
        self.name = entry.name
        self.key = (entry.name, cwd)
        self.versions = tuple(versions or now.protocol_versions)
        self.wire = _WIRES[max(self.versions)]
        """How the version is spoken that is offered to this process; no other is."""
        self.info = AgentInfo(protocol_version=self.wire.PROTOCOL_VERSION)
        self.offered: ClientCapabilities = self.wire.offered(terminals=now.terminals_enabled)
        """What this agent is told that we can do."""
        self.declined = False
        """Whether it does not speak that version, and an older one is offered too."""
        self.because = ""
        """Why this is not the first process that was tried, for people."""
        self.gone: AgentGone | None = None
        self.process: AgentProcess | None = None
        self._entry = entry
        self._settings = settings
        self.stopping = False
        """Whether we asked it to end."""
        self._inbox = inbox
        self._finder = finder or Finder()
        self._command = command
        self._recording = recording
        self._stderr = StderrLines()
        self.connection = Connection(
            self._write,
            self,
            line_limit=now.line_bytes,
            trace=recording,
            on_broken=self._broken,
        )

    # --- its life -------------------------------------------------------------------

    @property
    def entry(self) -> AgentEntry:
        """What it was started with."""
        return self._entry

    @property
    def program(self) -> str:
        """The absolute path of its program; its command where that was not found."""
        return self._command.argv[0] if self._command else self._entry.command

    @property
    def search_path(self) -> str | None:
        """The PATH it was started with, on which it would find the commands it runs."""
        return self._command.env.get("PATH") if self._command else None

    @property
    def command_line(self) -> str:
        """The command as it is started, for a person; without what looks like a secret."""
        return " ".join([self._entry.command, *shown_arguments(self._entry.args)])

    async def start(self, say: Callable[[str], None] = unheard) -> None:
        """Start the process and shake hands. Raises :class:`AgentUnusable`.

        ``say`` takes what it writes to stderr meanwhile, a line now and then: a first start
        may download for minutes.
        """
        if self._entry.needs_consent is not None:
            raise AgentUnusable(
                f"{self.name} comes from the registry and would be fetched and run by: "
                f"{visible(self._entry.needs_consent)}. To permit that, put {self.name!r} in the "
                "setting registry.allow. Or install it yourself and name its command under "
                "'agents'."
            )
        try:
            if self._command is None:
                self._command = await self._finder.find(self._entry, self.key[1])
            self.process = await spawn(
                self._command,
                on_data=self.connection.data_received,
                on_eof=self.connection.eof_received,
                on_exit=self._exited,
                on_stderr=self._heard,
            )
        except CannotStart as error:
            # What to do comes first: an editor may cut the rest.
            hint = f"{self._entry.install_hint}. " if self._entry.install_hint else ""
            said = str(error)
            raise AgentUnusable(
                f"{self.name} is not there. {hint}{said[:1].upper()}{said[1:]}"
            ) from error
        saying = asyncio.create_task(self._say(say), name=f"start of {self.name}")
        try:
            self.info = await self._greet()
        except BaseException:
            await self.stop()
            raise
        finally:
            saying.cancel()

    async def _say(self, say: Callable[[str], None]) -> None:
        said = ""
        while True:
            await asyncio.sleep(_SAY_SECONDS)
            tail = self.process.stderr_tail() if self.process else ""
            last = visible(tail.rpartition("\n")[2].strip())[:_SAY_CHARACTERS]
            if last not in ("", said):
                said = last
                say(last)

    async def again(self) -> Agent | None:
        """This agent once more; None where that cannot help.

        With the login shell's PATH, where it ended because a program it needs was not found.
        With an older version of the protocol, where it does not speak the one that was offered:
        what it was told of us in the newer one's words it cannot have understood.
        """
        if self.declined:
            older = [each for each in self.versions if each < self.wire.PROTOCOL_VERSION]
            return self._once_more(self._command, older, f"with protocol version {max(older)}")
        process = self.process
        if self._command is None or process is None or process.returncode != _NOT_FOUND:
            return None
        command = await self._finder.find_again(self._entry, self.key[1], self._command)
        if command is None:
            return None
        return self._once_more(command, self.versions, "with the login shell's PATH")

    def _once_more(self, command: Command | None, versions: Sequence[int], because: str) -> Agent:
        agent = Agent(
            self._entry,
            self.key[1],
            self._settings,
            self._inbox,
            self._recording,
            finder=self._finder,
            command=command,
            versions=versions,
        )
        agent.because = because
        return agent

    async def _greet(self) -> AgentInfo:
        request = self.wire.initialize(self.offered)
        older = any(each < self.wire.PROTOCOL_VERSION for each in self.versions)
        try:
            info: AgentInfo = self.wire.initialize_result(await self.ask("initialize", request))
        except (AgentError, AgentGone, DecodeError) as error:
            process = self.process
            found = process is None or process.returncode != _NOT_FOUND
            self.declined = older and found
            raise AgentUnusable(
                f"{self.name} ({self.command_line}) cannot be used: {explained(error)}"
            ) from error
        spoken = self.wire.PROTOCOL_VERSION
        self.declined = info.protocol_version != spoken and info.protocol_version in self.versions
        if info.protocol_version != self.wire.PROTOCOL_VERSION:
            raise AgentUnusable(
                f"{self.name} speaks protocol version {info.protocol_version}; this sidecar "
                f"speaks {self.wire.PROTOCOL_VERSION}. Install a matching version of one of them."
            )
        return info

    def _last_words(self) -> str:
        tail = self.process.stderr_tail().strip() if self.process else ""
        return f"Its last words on stderr: {tail}" if tail else "It wrote nothing to stderr."

    async def stop(self, *, urgent: bool = False) -> None:
        """End the process and everything it started; ``urgent``: without patience."""
        self.stopping = True
        if self.process is not None:
            await self.process.stop(urgent=urgent)

    def kill(self) -> None:
        """The last resort, at once."""
        if self.process is not None:
            self.process.kill_now()

    def _write(self, data: bytes) -> None:
        if self.process is not None:
            self.process.write(data)

    def _broken(self, reason: AgentGone) -> None:
        if self.process is not None:
            self.process.abandon(str(reason))

    def _heard(self, data: bytes) -> None:
        if self._recording is not None:
            for line in self._stderr.add(data):
                self._recording.stderr(line)

    def _exited(self, exit_: AgentExit) -> None:
        if self._recording is not None:
            for line in self._stderr.end():
                self._recording.stderr(line)
            self._recording.note("exit", code=exit_.returncode, wanted=exit_.wanted)
        self.connection.connection_lost(AgentGone(f"{self.name} has ended: {exit_}"))

    # --- speaking with it -------------------------------------------------------------

    async def call(
        self,
        method: str,
        params: Mapping[str, Any],
        *,
        timeout: float | None = None,
        on_result: Callable[[Json], None] | None = None,
    ) -> Json:
        """Ask the agent; see :meth:`Connection.call`. ``method`` is version 1's name of it."""
        method = self.wire.METHODS.get(method, method)
        return await self.connection.call(method, params, timeout=timeout, on_result=on_result)

    async def ask(
        self,
        method: str,
        params: Mapping[str, Any],
        *,
        on_result: Callable[[Json], None] | None = None,
    ) -> Json:
        """:meth:`call` within ``timeouts.initialize``.

        Raises :class:`AgentUnusable` where no answer comes in time, :class:`AgentError` and
        :class:`AgentGone` as the connection does.
        """
        timeout = self._settings().initialize_timeout
        try:
            return await self.call(method, params, timeout=timeout, on_result=on_result)
        except TimeoutError as error:
            _, but, noise = str(error).partition("; ")  # lines that were no messages
            raise AgentUnusable(
                f"{self.name} did not answer {method} within {timeout:g} s "
                f"(timeouts.initialize){but}{noise}. {self._last_words()}"
            ) from error

    # --- connection.Handler -------------------------------------------------------------

    def notification(self, method: str, params: Json) -> None:
        if method == "elicitation/complete":
            self._inbox.completed(self, params)
            return
        if method != "session/update":
            logger.info("%s sent the notification %r, which is not known", self.name, method)
            return
        try:
            agent_session_id, event = self.wire.session_update(params)
        except DecodeError as error:
            logger.warning("%s sent an update that cannot be read: %s", self.name, error)
            return
        self._inbox.event(self, agent_session_id, event)

    def request(self, request: IncomingRequest) -> None:
        self._inbox.request(self, request)

    def lost(self, reason: AgentGone) -> None:
        self.gone = reason
        self._inbox.ended(self, reason)


def login_advice(agent: Agent, error: AgentError) -> str:
    """How to log in where the agent says that it needs a login; no full stop."""
    needs = f"{agent.name} needs a login ({explained(error)})"
    methods = agent.info.auth_methods
    if not methods:
        return (
            f"{needs} and names no way to do it here. Log in with its own command in a "
            f"terminal: {agent.command_line}"
        )
    offered = "; ".join(
        f"{visible(method.name)} (methodId {method.id!r})"
        + (f": {visible(method.description)}" if method.description else "")
        for method in methods
    )
    return f"{needs}. It offers {offered}. Use acp.agent.login"


def explained(error: Exception) -> str:
    """An error of the agent's with what it gives as ``data``: many agents say only there
    what has gone wrong ("Internal error", and the reason as ``data.details``)."""
    data = error.data if isinstance(error, AgentError) else None
    if isinstance(data, Mapping):
        texts = [value for value in data.values() if isinstance(value, str) and value.strip()]
        data = texts[0] if len(texts) == len(data) == 1 else data
    if not data or (isinstance(data, str) and data in str(error)):
        return str(error)
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    more = "…" if len(text) > _DETAIL_CHARACTERS else ""
    return f"{error}: {visible(text.strip())[:_DETAIL_CHARACTERS]}{more}"
