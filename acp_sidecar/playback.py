"""Recorded traffic between a client and an agent → the sessions it was about.

The same events reach the same :class:`~acp_sidecar.session.state.Session` as in a live run, so
a trace always ends in the same state. Of the client's side only what the session state has
to know of is played: prompts, cancels, answers to permission requests, and what it told the
agent of the commands it ran.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, Final

from attrs import frozen

from acp_sidecar.acp import v1, v2
from acp_sidecar.acp.decoding import DecodeError, free_form
from acp_sidecar.acp.model import (
    UNSET,
    ContentBlock,
    ModeUpdate,
    PermissionRequest,
    PromptAccepted,
    TerminalUpdate,
    TurnEnded,
    UnknownUpdate,
)
from acp_sidecar.agents.shell import command_line
from acp_sidecar.session.state import Session

_KNOWN_ID: Final = frozenset({"session/load", "session/resume"})
"""Requests that open a session whose id the client knows already."""
_OPENING: Final = _KNOWN_ID | {"session/new", "session/fork"}
_GONE: Final = ("agent stdout closed", "exit", "lost")
"""How notes begin that tell of the end of an agent."""


@frozen
class _Call:
    """A request of the client's that waits for its answer."""

    method: str
    params: Mapping[str, Any]


class Player:
    """Plays the records of one trace in order; see :meth:`play`."""

    def __init__(self) -> None:
        self.sessions: list[Session] = []
        """In the order in which they were last heard of: the last one is the latest."""
        self.agent = "agent"
        self.problems: list[str] = []
        """What could not be read, in words."""
        self._by_agent_id: dict[str, Session] = {}
        self._failed: list[Session] = []
        self._calls: dict[str, _Call] = {}
        self._asked: dict[str, tuple[Session, str]] = {}
        self._runs: dict[str, _Call] = {}
        self._numbers = 0
        self._wire: ModuleType = v1
        """How the agent's version of the protocol is read."""

    @property
    def session(self) -> Session | None:
        """The session that the trace is about: the latest, rather one that did open."""
        opened = [session for session in self.sessions if session not in self._failed]
        latest = opened or self.sessions
        return latest[-1] if latest else None

    def play(self, record: Mapping[str, Any]) -> None:
        """Play one record: ``{"dir": "c2a" | "a2c" | "stderr" | "note", …}``.

        Never fails: what is malformed is left out, as in a live run, and noted in
        ``problems``.
        """
        record = free_form(record)
        direction = record.get("dir")
        if direction == "note":
            self._note(record)
            return
        message = record.get("msg")
        if direction not in ("c2a", "a2c") or not isinstance(message, dict):
            return
        try:
            if direction == "c2a":
                self._from_client(message)
            else:
                self._from_agent(message)
        except DecodeError as error:
            self.problems.append(f"{message.get('method', 'an answer')}: {error}")

    # --- notes ------------------------------------------------------------------------

    def _note(self, record: Mapping[str, Any]) -> None:
        event = record.get("ev")
        if event == "spawn":
            self._lost("another agent process was started")
            self._calls.clear()
            self._asked.clear()
            self._runs.clear()
            self._by_agent_id.clear()
            self.agent = _agent_name(record)
            self._wire = v1
        elif isinstance(event, str) and event.startswith(_GONE):
            self._lost(event, crashed=record.get("wanted") is False)

    def _lost(self, reason: str, *, crashed: bool = False) -> None:
        # Recordings end by ending the agent, which is no misfortune of an idle session.
        for session in self._by_agent_id.values():
            if session.at_work or (crashed and session.status == "idle"):
                session.died(reason)

    # --- the client's side ------------------------------------------------------------------

    def _from_client(self, message: Mapping[str, Any]) -> None:
        method, params = message.get("method"), _object(message.get("params"))
        if not isinstance(method, str):
            self._answered(message)
            return
        if "id" in message:
            self._calls[repr(message["id"])] = _Call(method, params)
        if method == "session/prompt":
            session = self._session(params)
            session.begin_turn(_blocks(params.get("prompt")))
        elif method == "session/cancel":
            self._session(params).cancel_turn()

    def _answered(self, message: Mapping[str, Any]) -> None:
        run = self._runs.pop(repr(message.get("id")), None)
        if run is not None and isinstance(message.get("result"), dict):
            _ran(self._session(run.params), run, message["result"])
        asked = self._asked.pop(repr(message.get("id")), None)
        if asked is None:
            return
        session, request_id = asked
        outcome = _object(_object(message.get("result")).get("outcome"))
        option_id = outcome.get("optionId")
        if outcome.get("outcome") == "selected" and isinstance(option_id, str):
            session.permission_closed(request_id, "answered", option_id)
        else:
            session.permission_closed(request_id, "cancelled")

    # --- the agent's side ---------------------------------------------------------------------

    def _from_agent(self, message: Mapping[str, Any]) -> None:
        method = message.get("method")
        if method == "session/update":
            self._updated(message.get("params"))
        elif method == "session/request_permission" and "id" in message:
            self._asks(message["id"], self._wire.permission_request(message.get("params")))
        elif isinstance(method, str) and method.startswith("terminal/"):
            self._runs[repr(message.get("id"))] = _Call(method, _object(message.get("params")))
        elif method is None:
            call = self._calls.pop(repr(message.get("id")), None)
            if call is not None:
                self._answer(call, message)

    def _updated(self, params: Any) -> None:
        agent_session_id, event = self._wire.session_update(params)
        if isinstance(event, UnknownUpdate):
            self.problems.append(f"session/update: unknown kind {event.kind!r}")
        replay = self._is_history(agent_session_id)
        self._session({"sessionId": agent_session_id}).apply(event, replay=replay)

    def _is_history(self, agent_session_id: str) -> bool:
        """Whether updates for a session are what a load or fork is telling."""
        for call in self._calls.values():
            named = call.params.get("sessionId") == agent_session_id
            if named and (call.method == "session/load" or call.params.get("replayFrom")):
                return True
            if call.method == "session/fork" and not self._has_prompted(agent_session_id):
                return True
        return False

    def _has_prompted(self, agent_session_id: str) -> bool:
        session = self._by_agent_id.get(agent_session_id)
        return session is not None and session.turns.stop_reason is not None

    def _asks(self, json_id: Any, request: PermissionRequest) -> None:
        session = self._session({"sessionId": request.agent_session_id})
        self._numbers += 1
        request_id = f"permission-{self._numbers}"
        self._asked[repr(json_id)] = (session, request_id)
        tool_call = request.tool_call
        title = (tool_call.title if tool_call else None) or "a permission"
        session.permission_asked(request_id, request, str(title), str(title))

    def _answer(self, call: _Call, message: Mapping[str, Any]) -> None:
        failed = "result" not in message
        result = message.get("result")
        if call.method in _OPENING:
            self._opened(call, result, _error_text(message) if failed else None)
        elif call.method == "session/prompt":
            self._prompt_answered(self._session(call.params), failed, result)
        elif call.method == "initialize":
            self._wire = v2 if _object(result).get("protocolVersion") == 2 else v1
        elif call.method == "session/set_config_option" and not failed:
            self._session(call.params).apply(self._wire.config_options(result))
        elif not failed:
            settle = _SETTLED.get(call.method)
            if settle is not None:
                settle(self._session(call.params), call.params, result)

    def _prompt_answered(self, session: Session, failed: bool, result: Any) -> None:
        answer = TurnEnded(None) if failed else self._wire.prompt_answer(result)
        if isinstance(answer, PromptAccepted):
            session.prompt_accepted(answer.message_id)
        else:
            session.apply(answer)

    def _opened(self, call: _Call, result: Any, failure: str | None) -> None:
        asked_for = call.params.get("sessionId") if call.method in _KNOWN_ID else None
        if not isinstance(asked_for, str):
            asked_for = None
        if failure is not None:
            self._refused(call, asked_for, failure)
            return
        opened = self._wire.session_opened(result, asked_for)
        session = self._session({"sessionId": opened.agent_session_id})
        self._placed(session, call.params)
        session.opened(opened)

    def _refused(self, call: _Call, asked_for: str | None, failure: str) -> None:
        if asked_for is not None and asked_for in self._by_agent_id:
            return
        session = self._new_session(asked_for)
        self._placed(session, call.params)
        session.died(failure)
        self._failed.append(session)

    # --- sessions ---------------------------------------------------------------------------------

    def _session(self, params: Mapping[str, Any]) -> Session:
        """The session a message is about, which comes up with its first mention."""
        agent_session_id = params.get("sessionId")
        if not isinstance(agent_session_id, str):
            raise DecodeError("sessionId", "expected a string")
        session = self._by_agent_id.get(agent_session_id)
        if session is None:
            session = self._by_agent_id[agent_session_id] = self._new_session(agent_session_id)
        elif self.sessions[-1] is not session:
            self.sessions.remove(session)
            self.sessions.append(session)
        return session

    def _new_session(self, agent_session_id: str | None) -> Session:
        session_id = f"replay-{len(self.sessions) + 1}"
        session = Session(
            session_id,
            self.agent,
            "/",
            ("/",),
            self._wire.PROTOCOL_VERSION,
            agent_session_id,
        )
        self.sessions.append(session)
        return session

    def _placed(self, session: Session, params: Mapping[str, Any]) -> None:
        cwd, more = params.get("cwd"), params.get("additionalDirectories")
        if isinstance(cwd, str):
            session.cwd = cwd
            directories = more if isinstance(more, list) else []
            session.roots = (cwd, *(item for item in directories if isinstance(item, str)))


def _ran(session: Session, run: _Call, result: Mapping[str, Any]) -> None:
    """The client answered a request about a terminal."""
    if run.method == "terminal/create":
        wanted, terminal_id = v1.create_terminal(run.params), result.get("terminalId")
        if isinstance(terminal_id, str):
            line = command_line(wanted.command, wanted.args)
            cwd = wanted.cwd or session.cwd
            session.apply(TerminalUpdate(terminal_id, command=line, cwd=cwd))
        return
    terminal_id, output = run.params.get("terminalId"), result.get("output")
    if not isinstance(terminal_id, str):
        return
    if run.method == "terminal/wait_for_exit":
        session.apply(TerminalUpdate(terminal_id, exit_status=result))
    elif run.method == "terminal/output" and isinstance(output, str):
        status = result.get("exitStatus")
        session.apply(
            TerminalUpdate(
                terminal_id,
                output=output,
                truncated=result.get("truncated") is True,
                exit_status=status if isinstance(status, dict) else UNSET,
            )
        )


def _mode_set(session: Session, params: Mapping[str, Any], result: Any) -> None:
    mode_id = params.get("modeId")
    if isinstance(mode_id, str):
        session.apply(ModeUpdate(mode_id))


def _closed(session: Session, params: Mapping[str, Any], result: Any) -> None:
    session.close()


_SETTLED: Final[Mapping[str, Callable[[Session, Mapping[str, Any], Any], None]]] = {
    "session/set_mode": _mode_set,
    "session/close": _closed,
}
"""What the agent's consent to a request of ours does to the session."""


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _blocks(prompt: Any) -> list[ContentBlock]:
    blocks: list[ContentBlock] = []
    for item in prompt if isinstance(prompt, list) else []:
        try:
            blocks.append(v1.decode_block(item))
        except DecodeError:
            continue
    return blocks


def _agent_name(record: Mapping[str, Any]) -> str:
    argv = record.get("argv")
    name = record.get("agent") or (argv[0] if isinstance(argv, list) and argv else None)
    return str(name) if name else "agent"


def _error_text(message: Mapping[str, Any]) -> str:
    text = _object(message.get("error")).get("message")
    return text if isinstance(text, str) else "the agent answered with an error"
