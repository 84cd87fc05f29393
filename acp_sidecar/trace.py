"""Recording both wires as files, and reading such files again.

A trace is newline-delimited JSON, a record a line: ``{"t": seconds, "dir": …, …}``, where
``t`` counts from the start of the recording and ``dir`` is

* ``c2a`` (client to agent) and ``a2c``, with the JSON-RPC message under ``msg``;
* ``c2s`` (editor to sidecar) and ``s2c``, the same for the editor's wire;
* ``stderr``, with the agent's words under ``text``;
* ``note``, with what happened under ``ev`` and whatever belongs to it.

Traces hold everything that was said, file contents included: they are written only where
somebody asked for them, and only their owner may read them.
"""

from __future__ import annotations

import json
import logging
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, Final, TypeGuard

import orjson

from acp_sidecar.acp import jsonrpc, v1, wire
from acp_sidecar.acp.decoding import DecodeError, displayable, free_form
from acp_sidecar.acp.model import Json, MessageChunk, TextContent
from acp_sidecar.agents.secrets import LEFT_OUT, may_hold_secrets, without_secrets
from acp_sidecar.client.endings import whole_state
from acp_sidecar.client.visible import visible
from acp_sidecar.playback import Player
from acp_sidecar.session.state import Session

logger = logging.getLogger(__name__)


class TraceError(ValueError):
    """A file is no trace, or holds no session."""


# --- recording ----------------------------------------------------------------------------


class Recorder:
    """Writes traces below a folder, a file for the editor and one for each agent process."""

    def __init__(self, folder: Path, *, clock: Callable[[], float] = time.monotonic) -> None:
        """
        :param folder: made where it is missing
        :raises OSError: it cannot be made
        """
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._clock = clock
        self._start = clock()
        self._wires: list[Wire] = []

    def agent(self, name: str) -> Wire:
        """A trace of a conversation with an agent, in ``NAME-NUMBER.ndjson``."""
        opened = self._open(re.sub(r"[^A-Za-z0-9._-]+", "_", name) or "agent")
        opened.note("spawn", agent=name)
        return opened

    def editor(self) -> Wire:
        """A trace of the conversation with the editor."""
        return self._open("editor")

    def _open(self, stem: str) -> Wire:
        number = 1
        while True:
            path = self._folder / f"{stem}-{number}.ndjson"
            try:
                descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            except FileExistsError:
                number += 1
                continue
            opened = Wire(os.fdopen(descriptor, "wb"), lambda: self._clock() - self._start)
            self._wires.append(opened)
            return opened

    def close(self) -> None:
        for opened in self._wires:
            opened.close()


class Wire:
    """One file of a recording. Call it with a direction and a message.

    A line is written at once, so that a trace is whole up to the moment of a crash. A disk
    that is full ends the recording, not the session.
    """

    def __init__(self, file: IO[bytes], elapsed: Callable[[], float]) -> None:
        self._file: IO[bytes] | None = file
        self._elapsed = elapsed
        self._typed = _TypedSecrets()

    def __call__(self, direction: str, message: jsonrpc.Message | Json) -> None:
        """Record a message: one of :mod:`acp_sidecar.acp.jsonrpc`, or parsed JSON."""
        if isinstance(message, jsonrpc.Noise):
            self._write({"dir": direction, "noise": message.line.decode(errors="replace")})
            return
        try:
            written = self._redacted(message)
        except RecursionError:
            self._write({"dir": direction, "noise": "a message nested too deeply to record"})
            return
        self._write({"dir": direction, "msg": written})

    def _redacted(self, message: jsonrpc.Message | Json) -> Any:
        """The message as it is written: what looks secret is left out, and with it all that
        the user types to log in."""
        if _is_wire(message):
            line = wire.encode(message).strip()
            if not may_hold_secrets(line):
                return orjson.Fragment(line)
            message = json.loads(line)
        message = without_secrets(message)
        return self._typed.left_out(message) if isinstance(message, dict) else message

    def stderr(self, text: str) -> None:
        """Record what the agent wrote to its standard error."""
        self._write({"dir": "stderr", "text": text})

    def note(self, event: str, **facts: Any) -> None:
        """Record something that happened outside the wire."""
        self._write({"dir": "note", "ev": event, **facts})

    def _write(self, record: dict[str, Any]) -> None:
        if self._file is None:
            return
        stamped = {"t": round(self._elapsed(), 4), **record}
        try:
            self._file.write(_line(stamped))
            self._file.flush()
        except OSError as error:
            logger.warning("The recording has stopped: %s", error)
            self.close()

    def close(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            try:
                file.close()
            except OSError as error:
                logger.warning("The recording may be incomplete: %s", error)


class _TypedSecrets:
    """What a user types to log in, whatever its name: values of ``acp.agent.login``, and
    answers to a form for a login."""

    def __init__(self) -> None:
        self._forms: set[str] = set()

    def left_out(self, message: dict[str, Any]) -> dict[str, Any]:
        method, params = message.get("method"), message.get("params")
        if method is None:
            form = repr(message.get("id"))
            if form in self._forms and "result" in message:
                self._forms.discard(form)
                return {**message, "result": LEFT_OUT}
            return message
        if not isinstance(params, dict):
            return message
        if method == "acp/elicitation" and params.get("kind") == "login":
            self._forms.add(repr(message.get("id")))
        elif method == "acp/openTerminal":
            return {**message, "params": {**params, "env": LEFT_OUT}}
        elif params.get("command") == "acp.agent.login":
            arguments = params.get("arguments")
            kept = [
                {**one, "env": LEFT_OUT} if isinstance(one, dict) and "env" in one else one
                for one in (arguments if isinstance(arguments, list) else ())
            ]
            return {**message, "params": {**params, "arguments": kept}}
        return message


def _is_wire(message: jsonrpc.Message | Json) -> TypeGuard[jsonrpc.Message]:
    return isinstance(message, jsonrpc.Message)


def _line(record: Mapping[str, Any]) -> bytes:
    try:
        return orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE)
    except orjson.JSONEncodeError:
        return json.dumps(free_form(record), default=_fragment).encode() + b"\n"


def _fragment(value: Any) -> Any:
    return json.loads(value.contents) if isinstance(value, orjson.Fragment) else repr(value)


# --- reading ------------------------------------------------------------------------------


def read(path: Path) -> Iterator[Mapping[str, Any]]:
    """The records of a trace, in order. Lines that are no records are passed over: the
    last one may have been cut short.

    :raises OSError: the file cannot be read
    """
    with path.open("rb") as file:
        for line in file:
            record = _record(line)
            if record is not None:
                yield record


def _record(line: bytes) -> Mapping[str, Any] | None:
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError:
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            return None
    return value if isinstance(value, dict) and "dir" in value else None


def play(path: Path) -> Player:
    """A player that has played all of a trace.

    :raises OSError: the file cannot be read
    """
    player = Player()
    for record in read(path):
        player.play(record)
    return player


def replay(path: Path) -> Session:
    """The session a trace is about, as it stands at the end; of several the latest.

    One that the agent refused to open comes up as dead.

    :raises TraceError: no session comes up in it
    :raises OSError: the file cannot be read
    """
    session = play(path).session
    if session is None:
        raise TraceError("no session comes up in this trace")
    return session


def show(path: Path, *, state: bool = False) -> int:
    """Print a trace: a line for each thing that happened, or the final state as JSON.

    Returns the exit code. Raises what :func:`replay` raises.
    """
    if state:
        print(json.dumps(whole_state(replay(path)), indent=2, ensure_ascii=False))
        return 0
    count = 0
    for line in render(read(path)):
        print(line)
        count += 1
    if not count:
        raise TraceError("this is no trace: a record a line is wanted")
    return 0


# --- telling ------------------------------------------------------------------------------

_WIDTH: Final = 160
_ARROWS: Final = {"c2a": "→", "a2c": "←", "c2s": "→", "s2c": "←", "stderr": "!", "note": "·"}
_SPEAKERS: Final = {"user": "user", "agent": "agent", "thought": "thinks"}


def render(records: Iterator[Mapping[str, Any]]) -> Iterator[str]:
    """A trace in words: time, direction, what was said. Chunks of one message are one line,
    long texts are cut, and nothing an agent says can reach the terminal as a command.
    """
    teller = _Teller()
    for record in records:
        yield from teller.tell(record)
    yield from teller.finish()


class _Teller:
    def __init__(self) -> None:
        self._methods: dict[tuple[str, str], str] = {}
        self._speaker: str | None = None
        self._since = 0.0
        self._words: list[str] = []

    def tell(self, record: Mapping[str, Any]) -> Iterator[str]:
        time_of = record.get("t")
        seconds = float(time_of) if isinstance(time_of, int | float) else 0.0
        message = record.get("msg")
        chunk = _chunk(message) if record.get("dir") == "a2c" else None
        if chunk is not None:
            if chunk[0] != self._speaker:
                yield from self.finish()
                self._speaker, self._since = chunk[0], seconds
            self._words.append(chunk[1])
            return
        yield from self.finish()
        yield _told(seconds, str(record.get("dir")), self._what(record, message))

    def finish(self) -> Iterator[str]:
        """The line of the chunks collected so far."""
        if self._speaker is not None:
            words = "".join(self._words)
            yield _told(self._since, "a2c", f"{self._speaker}: {words}")
        self._speaker, self._words = None, []

    def _what(self, record: Mapping[str, Any], message: Any) -> str:
        direction = str(record.get("dir"))
        if direction == "stderr":
            return str(record.get("text"))
        if direction == "note":
            facts = {key: record[key] for key in record if key not in ("t", "dir", "ev")}
            return f"{record.get('ev')} {_json(facts) if facts else ''}"
        if not isinstance(message, dict):
            return f"not a message: {record.get('noise', _json(message))}"
        method = message.get("method")
        if isinstance(method, str):
            if "id" in message:
                self._methods[direction, repr(message["id"])] = method
            return f"{method} {_gist(method, message.get('params'))}"
        asked = self._methods.pop((_BACK.get(direction, ""), repr(message.get("id"))), "an answer")
        if "result" in message:
            return f"{asked}: {_json(message['result'])}"
        return f"{asked} failed: {_json(message.get('error'))}"


_BACK: Final = {"a2c": "c2a", "c2a": "a2c", "c2s": "s2c", "s2c": "c2s"}


def _chunk(message: Any) -> tuple[str, str] | None:
    """Who speaks and the text, where a message is a piece of text."""
    if not isinstance(message, dict) or message.get("method") != "session/update":
        return None
    try:
        _, event = v1.session_update(message.get("params"))
    except DecodeError:
        return None
    if isinstance(event, MessageChunk) and isinstance(event.content, TextContent):
        return _SPEAKERS[event.role], event.content.text
    return None


def _gist(method: str, params: Any) -> str:
    if not isinstance(params, dict):
        return _json(params) if params is not None else ""
    if method == "session/update":
        update = params.get("update")
        if not isinstance(update, dict):
            return _json(update)
        rest = {key: value for key, value in update.items() if key != "sessionUpdate"}
        return f"{update.get('sessionUpdate')} {_json(rest)}"
    if method == "session/prompt":
        texts = [block.get("text") for block in params.get("prompt") or () if _is_text(block)]
        return _json("\n".join(texts))
    return _json({key: value for key, value in params.items() if key != "sessionId"})


def _is_text(block: Any) -> bool:
    return isinstance(block, dict) and isinstance(block.get("text"), str)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _told(seconds: float, direction: str, what: str) -> str:
    shown = visible(displayable(what[: 2 * _WIDTH]).strip())
    if len(shown) > _WIDTH:
        shown = f"{shown[: _WIDTH - 1]}…"
    return f"{seconds:9.3f} {_ARROWS.get(direction, '?')} {shown}"
