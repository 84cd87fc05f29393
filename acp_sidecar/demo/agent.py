"""The embedded agent: ACP v1 on stdin and stdout, no network, no key, no dependency.

It is a real agent in everything but wit. What it does in a turn stands in
:mod:`acp_sidecar.demo.script`; this module holds the rest of the protocol: handshake,
sessions, and one running turn a session that can be cancelled at any point.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import sys
import uuid
from collections.abc import Sequence
from pathlib import Path

from acp_sidecar.demo import script
from acp_sidecar.demo.peer import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    RESOURCE_NOT_FOUND,
    Json,
    Method,
    Peer,
    RpcError,
    lines,
    parse,
)
from acp_sidecar.demo.session import MODES, Session

STDIN, STDOUT = 0, 1
PROTOCOL_VERSION = 1
PACE_VARIABLE = "ACP_DEMO_PACE"
DEFAULT_PACE = 0.6

CAPABILITIES = {
    "loadSession": True,
    "promptCapabilities": {"embeddedContext": True},
    "sessionCapabilities": {"list": {}, "resume": {}, "close": {}, "additionalDirectories": {}},
}


class Agent:
    """Answers the client's requests; keeps the sessions for as long as the process runs."""

    def __init__(self, peer: Peer, pace: float) -> None:
        self._peer = peer
        self._pace = pace
        self._client: dict[str, Json] | None = None
        self._sessions: dict[str, Session] = {}
        self._turns: dict[str, asyncio.Task[str]] = {}
        self._prompts: dict[Json, str] = {}
        self._methods: dict[str, Method] = {
            "initialize": self._initialize,
            "authenticate": lambda _params: {},
            "session/new": self._new,
            "session/load": self._load,
            "session/resume": self._resume,
            "session/list": self._list,
            "session/close": self._close,
            "session/set_mode": self._set_mode,
            "session/set_config_option": self._set_config_option,
        }

    async def serve(self, fd: int) -> None:
        """Reads messages from ``fd`` until its end, then ends every turn and returns."""
        try:
            async for line in lines(fd):
                if line.strip():
                    self._receive(line)
        finally:
            turns = list(self._turns.values())
            for turn in turns:
                turn.cancel()
            await asyncio.gather(*turns, return_exceptions=True)

    def _receive(self, line: bytes) -> None:
        try:
            message = parse(line)
        except RpcError as error:
            self._peer.refuse(None, error)
            return
        method, request_id = message.get("method"), message.get("id")
        params = message.get("params")
        if params is None:
            params = {}
        if "method" not in message:
            self._peer.answered(message)
        elif "id" not in message:
            self._notified(method, params)
        else:
            try:
                self._requested(request_id, method, params)
            except RpcError as error:
                self._peer.refuse(request_id, error)

    def _requested(self, request_id: Json, method: Json, params: Json) -> None:
        if not isinstance(method, str) or not isinstance(params, dict):
            raise RpcError(INVALID_REQUEST, "a method is a string, its params an object")
        if isinstance(request_id, (list, dict)):
            raise RpcError(INVALID_REQUEST, "an id is a string or a number")
        if self._client is None and method != "initialize":
            raise RpcError(INVALID_REQUEST, "initialize comes first")
        if method == "session/prompt":
            self._prompt(request_id, params)
            return
        if method not in self._methods:
            raise RpcError(METHOD_NOT_FOUND, f"unknown method {method}")
        result = self._methods[method](params)
        self._peer.answer(request_id, result)
        if method in ("session/new", "session/load", "session/resume"):
            session_id = result.get("sessionId") or params["sessionId"]
            self._sessions[session_id].notify(script.available_commands())

    def _notified(self, method: Json, params: Json) -> None:
        if not isinstance(params, dict):
            return
        if method == "session/cancel":
            self._cancel(params.get("sessionId"))
        elif method == "$/cancel_request":
            with contextlib.suppress(TypeError):  # an id that cannot be a key is none of ours
                self._cancel(self._prompts.get(params.get("requestId")))

    def _cancel(self, session_id: Json) -> None:
        turn = self._turns.get(session_id) if isinstance(session_id, str) else None
        if turn is not None:
            turn.cancel()

    # --- handshake and sessions

    def _initialize(self, params: dict[str, Json]) -> Json:
        if type(params.get("protocolVersion")) is not int:
            raise RpcError(INVALID_PARAMS, "protocolVersion: an integer is required")
        client = params.get("clientCapabilities")
        self._client = client if isinstance(client, dict) else {}
        # One version is spoken here, so it is the answer to whatever was asked for.
        return {
            "protocolVersion": PROTOCOL_VERSION,
            "agentCapabilities": CAPABILITIES,
            "agentInfo": {"name": "acp-sidecar-demo", "title": "Demo agent", "version": "1"},
            "authMethods": [],
        }

    def _new(self, params: dict[str, Json]) -> Json:
        session = Session(
            f"demo-{uuid.uuid4().hex[:12]}", *folders(params), peer=self._peer, pace=self._pace
        )
        self._sessions[session.session_id] = session
        return {"sessionId": session.session_id, **session.settings()}

    def _load(self, params: dict[str, Json]) -> Json:
        session = self._reopened(params)
        for update in session.history:
            session.notify(update)
        return session.settings()

    def _resume(self, params: dict[str, Json]) -> Json:
        return self._reopened(params).settings()

    def _reopened(self, params: dict[str, Json]) -> Session:
        session = self._session(params)
        session.cwd, session.additional = folders(params)
        return session

    def _list(self, params: dict[str, Json]) -> Json:
        cwd = params.get("cwd")
        rows = [
            session.row()
            for session in reversed(self._sessions.values())
            if cwd is None or str(session.cwd) == cwd
        ]
        return {"sessions": rows}

    def _close(self, params: dict[str, Json]) -> Json:
        """Ends the session's turn. Its history stays, so that it can be loaded again."""
        self._cancel(self._session(params).session_id)
        return {}

    def _set_mode(self, params: dict[str, Json]) -> Json:
        session, mode = self._session(params), params.get("modeId")
        if mode not in MODES:
            raise RpcError(INVALID_PARAMS, f"modeId: one of {', '.join(MODES)}")
        session.mode = mode
        return {}

    def _set_config_option(self, params: dict[str, Json]) -> Json:
        session = self._session(params)
        if params.get("configId") != "pace":
            raise RpcError(INVALID_PARAMS, "configId: the only option is pace")
        choices = {choice["value"] for choice in session.pace_choices()}
        if params.get("value") not in choices:
            raise RpcError(INVALID_PARAMS, f"value: one of {', '.join(sorted(choices))}")
        session.pace = float(params["value"])
        return {"configOptions": session.settings()["configOptions"]}

    def _session(self, params: dict[str, Json]) -> Session:
        session_id = params.get("sessionId")
        if not isinstance(session_id, str):
            raise RpcError(INVALID_PARAMS, "sessionId: a string is required")
        try:
            return self._sessions[session_id]
        except KeyError:
            raise RpcError(RESOURCE_NOT_FOUND, f"unknown session {session_id}") from None

    # --- the turn

    def _prompt(self, request_id: Json, params: dict[str, Json]) -> None:
        session = self._session(params)
        if session.session_id in self._turns:
            raise RpcError(INVALID_REQUEST, "a turn is running in this session")
        blocks = params.get("prompt")
        if not isinstance(blocks, list):
            raise RpcError(INVALID_PARAMS, "prompt: an array of content blocks is required")
        turn = asyncio.create_task(script.Turn(session, self._client or {}, blocks).run())
        self._turns[session.session_id] = turn
        self._prompts[request_id] = session.session_id

        def ended(turn: asyncio.Task[str]) -> None:
            # In a callback and not in the coroutine: a turn cancelled before its first
            # step never runs, and is answered all the same.
            del self._turns[session.session_id]
            self._prompts.pop(request_id, None)
            error = None if turn.cancelled() else turn.exception()
            if turn.cancelled():
                self._peer.answer(request_id, {"stopReason": "cancelled"})
            elif isinstance(error, RpcError):
                self._peer.refuse(request_id, error)
            elif error is not None:
                self._peer.refuse(request_id, RpcError(INTERNAL_ERROR, repr(error)))
            else:
                self._peer.answer(request_id, {"stopReason": turn.result()})

        turn.add_done_callback(ended)


def folders(params: dict[str, Json]) -> tuple[Path, tuple[Path, ...]]:
    """cwd and additional directories of a session, checked."""
    additional = params.get("additionalDirectories") or []
    if not isinstance(additional, list):
        raise RpcError(INVALID_PARAMS, "additionalDirectories: an array is required")
    for path in (params.get("cwd"), *additional):
        if not isinstance(path, str) or not Path(path).is_absolute():
            raise RpcError(INVALID_PARAMS, f"an absolute path is required, not {path!r}")
    return Path(params["cwd"]), tuple(map(Path, additional))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="acp-sidecar demo-agent")
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = "A scripted ACP agent on stdin and stdout, without network or key."
    commands = "\n".join(
        f"  /{command.name + (f' {command.hint}' if command.hint else ''):<22} {command.summary}"
        for command in script.COMMANDS.values()
    )
    parser.epilog = f"Prompts it knows (any other plays the whole turn):\n{commands}"
    parser.add_argument(
        "--protocol", type=int, choices=(1, 2), default=1, help="protocol version (default: 1)"
    )
    parser.add_argument(
        "--pace",
        type=_seconds,
        default=os.environ.get(PACE_VARIABLE, str(DEFAULT_PACE)),
        metavar="SECONDS",
        help=f"pause between two steps (default: {DEFAULT_PACE}, or ${PACE_VARIABLE})",
    )
    return parser


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 <= seconds <= 60:
        raise argparse.ArgumentTypeError("0 to 60 seconds")
    return seconds


def _agent(protocol: int, pace: float) -> Agent:
    if protocol == PROTOCOL_VERSION:
        return Agent(Peer(STDOUT), pace)
    # It is built on this one.
    from acp_sidecar.demo.second import SecondAgent, SecondPeer

    return SecondAgent(SecondPeer(STDOUT), pace)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the agent until stdin ends; the exit status. ``arguments`` default to ``sys.argv``."""
    args = _parser().parse_args(arguments)
    sys.stdout = sys.stderr  # a stray print must not end up between two messages
    try:
        asyncio.run(_agent(args.protocol, args.pace).serve(STDIN))
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
