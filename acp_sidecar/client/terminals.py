"""``terminal/*``: the commands that an agent has us run, for one session.

ACP, "Terminals". What runs is the user's to see and to end, in the session's folders unless
the user lets it, and ends with the session.
"""

from __future__ import annotations

import logging
import os
import shlex
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from attrs import define, field

from acp_sidecar.acp import jsonrpc
from acp_sidecar.acp.model import (
    CreateTerminal,
    JsonObject,
    PermissionRequest,
    PermissionSubject,
    ToolCallUpsert,
)
from acp_sidecar.agents.job import (
    CODE_PAGE,
    CannotStart,
    CommandExit,
    Job,
    ProgramNotFound,
    command_line,
    start,
    to_run,
)
from acp_sidecar.agents.secrets import without_secrets
from acp_sidecar.client.jobs import Jobs
from acp_sidecar.client.permissions import CONSENT
from acp_sidecar.client.visible import visible
from acp_sidecar.workspace.roots import PathRefused, walk

if TYPE_CHECKING:
    from acp_sidecar.agents.connection import IncomingRequest
    from acp_sidecar.client.agents import Agent
    from acp_sidecar.client.answers import Answers
    from acp_sidecar.client.books import Books
    from acp_sidecar.client.ports import Editor
    from acp_sidecar.client.saving import Saving
    from acp_sidecar.session.change import Change
    from acp_sidecar.session.state import Session
    from acp_sidecar.settings import Settings
    from acp_sidecar.workspace.roots import Roots

logger = logging.getLogger(__name__)

_MOST_RUNNING: Final = 64
"""Commands of one session at a time: each costs processes and descriptors."""
_MOST_WORDS: Final = 100
"""Words of a command that are looked at for files it may change."""


class Running(Protocol):
    """What terminals need of the session they belong to."""

    @property
    def state(self) -> Session: ...

    @property
    def agent(self) -> Agent: ...

    @property
    def roots(self) -> Roots: ...

    @property
    def settings(self) -> Settings: ...

    @property
    def editor(self) -> Editor: ...

    @property
    def answers(self) -> Answers: ...

    @property
    def takes_writes(self) -> bool:
        """Whether the agent may change anything now."""

    def publish(self, changes: Sequence[Change]) -> None: ...

    async def consent(self, request: PermissionRequest) -> bool: ...

    @property
    def saving(self) -> Saving:
        """Saves what a command would not see."""

    @property
    def books(self) -> Books:
        """Where it is kept what a command does to files."""


@define(eq=False)
class _Open:
    """A terminal that the agent can name."""

    terminal_id: str
    job: Job
    waiting: list[IncomingRequest] = field(factory=list)


class Terminals:
    """Those of one session that are not released."""

    def __init__(self, session: Running, jobs: Jobs) -> None:
        self._session = session
        self._jobs = jobs
        self._open: dict[str, _Open] = {}

    # --- the methods -----------------------------------------------------------------------

    async def create(self, request: IncomingRequest, params: CreateTerminal) -> None:
        """Start a command, once the user agrees where that is needed, and answer with the id
        of its terminal.

        Errors: ``-32602`` for a folder that cannot be, or may not be, run in; ``-32002`` where
        there is no such program.
        """
        session = self._session
        running = sum(entry.job.exit is None for entry in self._open.values())
        if running >= _MOST_RUNNING:
            text = f"{running} commands run already: kill or release some before the next"
            request.error(jsonrpc.INTERNAL_ERROR, text)
            return
        given = params.cwd or session.state.cwd
        line = command_line(params.command, params.args)
        try:
            real, inside = self._folder(params.cwd)
        except PathRefused as refused:
            data = {"cwd": params.cwd, "reason": refused.reason}
            request.error(jsonrpc.INVALID_PARAMS, f"cannot run a command there: {refused}", data)
            return
        if not inside and not await self._allows(request, params, line, real):
            return
        unsaved = await session.saving.offer(line)
        # Looked at only now: the user may have cancelled while it was asked.
        if not session.takes_writes:
            text = "The user cancelled this turn: nothing was run."
            request.error(jsonrpc.REQUEST_CANCELLED, text, {"command": params.command})
            return
        if unsaved:
            names = ", ".join(unsaved)
            text = f"The user's editor could not save {names}: nothing was run."
            session.editor.tell("warning", text)
            request.error(jsonrpc.INTERNAL_ERROR, text, {"command": params.command})
            return
        self._start(request, params, line, given, real)

    def output(self, request: IncomingRequest, terminal_id: str) -> None:
        """Answer with what the command wrote so far."""
        if self._find(request, terminal_id) is None:
            return
        terminal = self._session.state.terminal(terminal_id)
        assert terminal is not None
        text = terminal.text()
        request.result(
            self._session.agent.wire.terminal_output_result(
                text, terminal.output.truncated, terminal.exit_status
            )
        )

    def wait_for_exit(self, request: IncomingRequest, terminal_id: str) -> None:
        """Answer once the command has ended; nobody else waits for that."""
        entry = self._find(request, terminal_id)
        if entry is None:
            return
        if entry.job.exit is not None:
            self._tell_exit(request, entry.job.exit)
            return
        entry.waiting.append(request)

        def withdrawn() -> None:
            if request in entry.waiting:
                entry.waiting.remove(request)
            request.error(jsonrpc.REQUEST_CANCELLED, "the wait was cancelled; the command goes on")

        request.on_cancel(withdrawn)

    def kill(self, request: IncomingRequest, terminal_id: str) -> None:
        """End the command and all it has started; its terminal stays."""
        entry = self._find(request, terminal_id)
        if entry is not None:
            answer = self._session.agent.wire.kill_terminal_result()
            self._end_and_answer(entry, request, answer)

    def release(self, request: IncomingRequest, terminal_id: str) -> None:
        """End what still runs and forget the id; what was written stays to be seen."""
        entry = self._find(request, terminal_id)
        if entry is not None:
            del self._open[terminal_id]
            answer = self._session.agent.wire.release_terminal_result()
            self._end_and_answer(entry, request, answer)

    # --- what the user does, and the session's end ---------------------------------------------

    def has(self, terminal_id: str) -> bool:
        """Whether something of this terminal may still be running."""
        return terminal_id in self._open and not self._open[terminal_id].job.gone

    async def kill_for_user(self, terminal_id: str) -> None:
        """End the command and all it has started."""
        await self._open[terminal_id].job.end()

    def end(self) -> None:
        """The session ends, and with it all that runs for it."""
        entries, self._open = list(self._open.values()), {}
        for entry in entries:
            if not entry.job.gone:
                self._jobs.end(entry.job)

    # --- inside ----------------------------------------------------------------------------

    def _find(self, request: IncomingRequest, terminal_id: str) -> _Open | None:
        entry = self._open.get(terminal_id)
        if entry is None:
            known = self._session.state.terminal(terminal_id)
            why = "it was released" if known is not None and known.ours else "none was created"
            text = f"there is no terminal {terminal_id!r} in this session: {why}"
            request.error(jsonrpc.RESOURCE_NOT_FOUND, text, {"terminalId": terminal_id})
        return entry

    def _folder(self, cwd: str | None) -> tuple[Path, bool]:
        """The folder to run in, without links, and whether it is inside of the roots."""
        roots, wanted = self._session.roots, cwd or self._session.state.cwd
        if cwd is not None and not Path(cwd).is_absolute():
            raise PathRefused(cwd, "relative")
        try:
            return roots.resolve(wanted, must="directory"), True
        except PathRefused as refused:
            if refused.reason != "outside":
                raise
        real = walk(wanted)
        if not real.is_dir():
            raise PathRefused(wanted, "file" if real.exists() else "missing")
        return real, False

    async def _allows(
        self, request: IncomingRequest, params: CreateTerminal, line: str, real: Path
    ) -> bool:
        """Whether a command may run outside of the session's folders; else it is refused."""
        session = self._session
        rule = session.settings.terminals_outside_roots
        if rule == "allow":
            return True
        env = without_secrets({variable.name: variable.value for variable in params.env})
        asked = PermissionRequest(
            params.agent_session_id,
            CONSENT,
            ToolCallUpsert("", kind="execute", raw_input={"env": env} if env else None),
            subject=PermissionSubject(line, str(real)),
        )
        if rule == "ask" and await session.consent(asked):
            return True
        if rule == "deny":
            why = "is outside of the session's folders, and the user's settings forbid that"
            code = jsonrpc.INVALID_PARAMS
        else:
            why = "is outside of the session's folders, and the user did not agree"
            code = jsonrpc.INTERNAL_ERROR
        text = f"nothing was run: {params.cwd!r} {why}"
        request.error(code, text, {"cwd": params.cwd, "reason": "refused"})
        return False

    def _start(
        self,
        request: IncomingRequest,
        params: CreateTerminal,
        line: str,
        given: str,
        real: Path,
    ) -> None:
        session = self._session
        terminal_id = f"terminal-{uuid.uuid4().hex[:12]}"
        env = {variable.name: variable.value for variable in params.env}
        try:
            command = to_run(
                params.command,
                params.args,
                env,
                given,
                real_cwd=str(real),
                environ=self._environ(),
            )
            self._note_files(params, real)
            session.books.command_began(terminal_id)
            job = start(
                command,
                on_output=lambda data: self._wrote(terminal_id, data),
                on_exit=lambda exit_: self._ended(entry, exit_),
            )
        except CannotStart as problem:
            session.books.command_ended(terminal_id)
            missing = isinstance(problem, ProgramNotFound)
            code = jsonrpc.RESOURCE_NOT_FOUND if missing else jsonrpc.INTERNAL_ERROR
            data = {"command": params.command, "cwd": given}
            request.error(code, str(problem), data)
            return
        entry = self._open[terminal_id] = _Open(terminal_id, job)
        self._jobs.add(job)
        names = ", ".join(env)
        session.editor.tell(
            "log",
            f"{session.agent.name} runs: {visible(line)} (in {visible(given)})"
            + (f", with {visible(names)} set" if names else ""),
        )
        session.publish(
            session.state.terminal_began(
                terminal_id, line, given, params.output_byte_limit, CODE_PAGE
            )
        )
        request.result(session.agent.wire.create_terminal_result(terminal_id))

    def _environ(self) -> Mapping[str, str]:
        """What commands inherit: they are found where the agent itself would find them."""
        path = self._session.agent.search_path
        return os.environ if path is None else {**os.environ, "PATH": path}

    def _note_files(self, params: CreateTerminal, cwd: Path) -> None:
        """Remember what the files say that the command names, before it changes them."""
        words = list(params.args)
        if not words:
            try:
                words = shlex.split(params.command)
            except ValueError:
                words = params.command.split()
        for word in words[:_MOST_WORDS]:
            path = cwd / word
            try:
                if path.is_file():
                    self._session.books.touch(str(path))
            except (OSError, ValueError):
                continue

    def _wrote(self, terminal_id: str, data: bytes) -> None:
        self._publish(self._session.state.terminal_wrote(terminal_id, data))

    def _ended(self, entry: _Open, exit_: CommandExit) -> None:
        status = _status(exit_)
        self._publish(self._session.state.terminal_ended(entry.terminal_id, status))
        waiting, entry.waiting = entry.waiting, []
        for request in waiting:
            self._tell_exit(request, exit_)
        self._session.books.command_ended(entry.terminal_id)

    def _publish(self, changes: Sequence[Change]) -> None:
        # Of a session that was closed nobody wants to hear any more.
        if self._session.state.status != "closed":
            self._session.publish(changes)

    def _tell_exit(self, request: IncomingRequest, exit_: CommandExit) -> None:
        request.result(self._session.agent.wire.wait_for_exit_result(_status(exit_)))

    def _end_and_answer(self, entry: _Open, request: IncomingRequest, answer: JsonObject) -> None:
        async def end() -> None:
            await entry.job.end()
            request.result(answer)

        if entry.job.gone:
            request.result(answer)
        else:
            self._session.answers.give(end(), request, cancellable=False)


def _status(exit_: CommandExit) -> JsonObject:
    return {"exitCode": exit_.code, "signal": exit_.signal}
