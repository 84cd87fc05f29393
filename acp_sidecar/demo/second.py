"""The demo agent in the draft of version 2.

The turns are those of :mod:`acp_sidecar.demo.script`, told in the words of version 2; the
client's files are not asked for, since there are none. Like the rest of the demo it is free of
the sidecar's own wire code.
"""

from __future__ import annotations

import asyncio
import difflib
import itertools
import uuid
from typing import Final

from acp_sidecar.demo import script
from acp_sidecar.demo.agent import Agent, folders
from acp_sidecar.demo.keeping import Keep
from acp_sidecar.demo.peer import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    Json,
    Peer,
    RpcError,
)
from acp_sidecar.demo.session import MODES, Session

PROTOCOL_VERSION: Final = 2


class SecondPeer(Peer):
    """Writes what the script says in version 1 as version 2 wants it."""

    def __init__(self, fd: int) -> None:
        super().__init__(fd)
        self.sessions: dict[str, Session] = {}

    def notify(self, method: str, params: Json) -> None:
        if method == "session/update":
            update = params["update"]
            if update["sessionUpdate"] == "current_mode_update":
                options = settings(self.sessions[params["sessionId"]])
                update = {"sessionUpdate": "config_option_update", "configOptions": options}
            params = {**params, "update": told(update)}
        super().notify(method, params)

    async def call(self, method: str, params: Json) -> Json:
        if method == "session/request_permission":
            call = params["toolCall"]
            params = {
                "sessionId": params["sessionId"],
                "title": call["title"],
                "subject": {"type": "tool_call", "toolCall": told(call)},
                "options": params["options"],
            }
        return await super().call(method, params)


class SecondAgent(Agent):
    """Answers a client that speaks version 2."""

    def __init__(self, peer: SecondPeer, pace: float, keep: Keep) -> None:
        super().__init__(peer, pace, keep)
        peer.sessions = self._sessions
        self._messages: dict[str, str] = {}
        """The id of the latest prompt of each session."""
        for gone in ("authenticate", "session/load", "session/set_mode"):
            del self._methods[gone]
        self._methods["auth/login"] = lambda _params: {}
        self._methods["auth/logout"] = lambda _params: {}

    def _initialize(self, params: dict[str, Json]) -> Json:
        version = params.get("protocolVersion")
        if type(version) is not int or version < PROTOCOL_VERSION:
            raise RpcError(INVALID_PARAMS, "protocolVersion: at least 2 is required")
        offered = params.get("capabilities")
        asking = offered.get("elicitation") if isinstance(offered, dict) else None
        self._client = {"elicitation": asking}
        return {
            "protocolVersion": PROTOCOL_VERSION,
            "info": {"name": "acp-sidecar-demo", "title": "Demo agent", "version": "1"},
            "capabilities": {
                "session": {
                    "prompt": {"embeddedContext": {}, "image": {}},
                    "additionalDirectories": {},
                }
            },
        }

    def _new(self, params: dict[str, Json]) -> Json:
        session_id = super()._new(params)["sessionId"]
        return {"sessionId": session_id, "configOptions": settings(self._sessions[session_id])}

    def _resume(self, params: dict[str, Json]) -> Json:
        session = self._session(params)
        replay = params.get("replayFrom")
        if replay is not None and replay != {"type": "start"}:
            raise RpcError(INVALID_PARAMS, "replayFrom: only from the start")
        session.cwd, session.additional = folders(params)
        self._name_history(session)
        for update in session.history if replay else ():
            session.notify(update)
        running = session.session_id in self._turns
        session.notify(_state("running" if running else "idle"))
        return {"configOptions": settings(session)}

    def _set_config_option(self, params: dict[str, Json]) -> Json:
        session = self._session(params)
        if params.get("configId") == "mode" and params.get("value") in MODES:
            session.mode = params["value"]
        else:
            super()._set_config_option(params)
        return {"configOptions": settings(session)}

    def _prompt(self, request_id: Json, params: dict[str, Json]) -> None:
        session = self._session(params)
        if session.session_id in self._turns:
            raise RpcError(INVALID_REQUEST, "a turn is running in this session")
        blocks = params.get("prompt")
        if not isinstance(blocks, list) or not blocks:
            raise RpcError(INVALID_PARAMS, "prompt: an array of content blocks is required")
        message_id = _message_id()
        self._name_history(session)
        self._messages[session.session_id] = message_id
        self._peer.answer(request_id, {"messageId": message_id})
        session.notify(
            {"sessionUpdate": "user_message", "messageId": message_id, "content": blocks}
        )
        session.notify(_state("running"))
        turn = asyncio.create_task(script.Turn(session, self._client or {}, blocks).run())
        self._turns[session.session_id] = turn

        def ended(turn: asyncio.Task[str]) -> None:
            del self._turns[session.session_id]
            self._name_history(session)
            self._note(session, at_once=True)
            session.notify(_ending(turn))

        turn.add_done_callback(ended)

    def _name_history(self, session: Session) -> None:
        """Give the prompt its id, without which the script remembers it."""
        for update in session.history:
            if update["sessionUpdate"] == "user_message_chunk":
                name = self._messages.setdefault(session.session_id, _message_id())
                update.setdefault("messageId", name)


def _message_id() -> str:
    return f"user-{uuid.uuid4().hex[:12]}"


def _state(state: str, **fields: Json) -> Json:
    return {"sessionUpdate": "state_update", "state": state, **fields}


def _ending(turn: asyncio.Task[str]) -> Json:
    if turn.cancelled():
        return _state("idle", stopReason="cancelled")
    error = turn.exception()
    if error is None:
        return _state("idle", stopReason=turn.result())
    code, words = INTERNAL_ERROR, repr(error)
    if isinstance(error, RpcError):
        code, words = error.code, error.message
    return _state("idle", stopReason="error", error={"code": code, "message": words})


def settings(session: Session) -> list[Json]:
    """The session's settings, its mode among them."""
    (pace,) = session.settings()["configOptions"]
    pace = {"configId": pace["id"], **{key: pace[key] for key in pace if key != "id"}}
    return [_mode(session.mode), pace]


def _mode(mode: str) -> Json:
    return {
        "configId": "mode",
        "name": "Mode",
        "category": "mode",
        "type": "select",
        "currentValue": mode,
        "options": [{"value": value, "name": name} for value, name in MODES.items()],
    }


# --- version 1's updates in version 2's words -----------------------------------------------------


def told(update: Json) -> Json:
    """An update of the script's, or the tool call of a question, as version 2 says it."""
    kind = update.get("sessionUpdate")
    if kind == "plan":
        plan = {"type": "items", "planId": "plan", "entries": update["entries"]}
        return {"sessionUpdate": "plan_update", "plan": plan}
    if kind == "available_commands_update":
        commands = [_command(command) for command in update["availableCommands"]]
        return {**update, "availableCommands": commands}
    if kind == "tool_call":
        update = {**update, "sessionUpdate": "tool_call_update"}
    if "content" in update and "toolCallId" in update:
        return {**update, "content": [_content(item) for item in update["content"]]}
    return update


def _command(command: Json) -> Json:
    given = command.get("input")
    told_input = {"input": {"type": "text", **given}} if given else {}
    return {"type": "command", **command, **told_input}


def _content(item: Json) -> Json:
    if item["type"] != "diff":
        return item
    path, old = item["path"], item["oldText"]
    change = {"operation": "add" if old is None else "modify", "path": path}
    before, after = _lines(old or ""), _lines(item["newText"])
    head = f"diff --git {path} {path}\n"
    if old is None:
        head += "new file mode 100644\n"
    head += f"--- {'/dev/null' if old is None else path}\n+++ {path}\n"
    body = itertools.islice(difflib.unified_diff(before, after), 2, None)
    ended = "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in body
    )
    patch = {"format": "git_patch", "text": head + ended}
    return {
        "type": "diff",
        "changes": [change],
        **({"patch": patch} if old != item["newText"] else {}),
    }


def _lines(text: str) -> list[str]:
    return [f"{line}\n" for line in text.split("\n")[:-1]] + (
        [] if text.endswith("\n") or not text else [text.rpartition("\n")[2]]
    )
