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
import time
import uuid
from collections.abc import Sequence
from pathlib import Path

from acp_sidecar.demo import script
from acp_sidecar.demo.keeping import VARIABLE, Keep, state_folder
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
from acp_sidecar.demo.session import MODES, Session, row

STDIN, STDOUT = 0, 1
PROTOCOL_VERSION = 1
PACE_VARIABLE = "ACP_DEMO_PACE"
DEFAULT_PACE = 0.6
KEEP_SECONDS = 1.0
"""Between two times that a session is kept while its turn goes on."""

CAPABILITIES = {
    "loadSession": True,
    "promptCapabilities": {"embeddedContext": True, "image": True},
    "sessionCapabilities": {"list": {}, "resume": {}, "close": {}, "additionalDirectories": {}},
}


class Agent:
    """Answers the client's requests."""

    def __init__(self, peer: Peer, pace: float, keep: Keep) -> None:
        """``keep`` has the sessions beyond this process."""
        self._peer = peer
        self._pace = pace
        self._keep = keep
        self._kept_at: dict[str, float] = {}
        """When a session was kept last, by the clock that only goes on."""
        self._used: dict[str, float] = {}
        """When a session was used last, in seconds since 1970."""
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
        session = self._made(f"demo-{uuid.uuid4().hex[:12]}", *folders(params))
        return {"sessionId": session.session_id, **session.settings()}

    def _made(self, session_id: str, cwd: Path, additional: tuple[Path, ...]) -> Session:
        session = Session(session_id, cwd, additional, peer=self._peer, pace=self._pace)
        session.changed = lambda at_once: self._note(session, at_once=at_once)
        self._sessions[session_id] = session
        self._used[session_id] = time.time()
        return session

    def _note(self, session: Session, *, at_once: bool) -> None:
        """Keep a session that was spoken in, now and then while it is."""
        session_id = session.session_id
        self._used[session_id] = time.time()
        now = time.monotonic()
        if at_once or now - self._kept_at.get(session_id, -KEEP_SECONDS) >= KEEP_SECONDS:
            self._kept_at[session_id] = now
            self._keep.save(session_id, session.values(), session.history)

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
        known = {name: (values["updated"], values) for name, values in self._keep.all()}
        for name, session in self._sessions.items():
            known[name] = (self._used[name], session.values())
        # Of those used at the same time the last one made is first.
        latest = sorted(known.items(), key=lambda one: one[1][0])[::-1]
        rows = [row(name, values, updated) for name, (updated, values) in latest]
        return {"sessions": [each for each in rows if cwd in (None, each["cwd"])]}

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
        if session_id not in self._sessions:
            kept = self._keep.find(session_id)
            if kept is None:
                raise RpcError(RESOURCE_NOT_FOUND, f"unknown session {session_id}")
            folders = Path(kept["cwd"]), tuple(map(Path, kept["additional"]))
            self._made(session_id, *folders).restore(kept)
        return self._sessions[session_id]

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
            self._note(session, at_once=True)
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
    kept = f"Its sessions are kept in the user's state folder, or in ${VARIABLE}; empty: nowhere."
    parser.epilog = f"Prompts it knows (any other plays the whole turn):\n{commands}\n\n{kept}"
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
    keep = Keep(state_folder())
    if protocol == PROTOCOL_VERSION:
        return Agent(Peer(STDOUT), pace, keep)
    # It is built on this one.
    from acp_sidecar.demo.second import SecondAgent, SecondPeer

    return SecondAgent(SecondPeer(STDOUT), pace, keep)


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
