"""What the demo agent can do: speak, read, write, ask, run a command."""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import io
import subprocess
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal

from acp_sidecar.demo.peer import INTERNAL_ERROR, INVALID_PARAMS, RESOURCE_NOT_FOUND, Json, RpcError
from acp_sidecar.demo.session import Session, ToolCall, text

# Ids of our own: a client that chooses by an id's text or by an option's place gets it wrong.
ONCE: Final = (
    {"optionId": "go-once", "name": "Yes", "kind": "allow_once"},
    {"optionId": "skip-once", "name": "No", "kind": "reject_once"},
)
EDITS: Final = (
    ONCE[0],
    {"optionId": "go-on", "name": "Yes to all edits", "kind": "allow_always"},
    ONCE[1],
    {"optionId": "skip-all", "name": "No, change nothing", "kind": "reject_always"},
)
APPROVALS: Final = frozenset({"go-once", "go-on"})
REMEMBERED: Final = {"go-on": "accept-edits", "skip-all": "read-only"}
"""The options that change the session's mode, and to which one."""

MAX_OUTPUT: Final = 65536
"""Characters of a command's output that are kept: the last ones."""


class Acts:
    """Acts in one session, through the client where it offers to, else alone."""

    def __init__(self, session: Session, client: dict[str, Json]) -> None:
        """``client``: the client's capabilities."""
        files = client.get("fs")
        self.session = session
        self._has_terminals = client.get("terminal") is True
        self._files: dict[str, Json] = files if isinstance(files, dict) else {}
        asking = client.get("elicitation")
        self.has_forms = isinstance(asking, dict) and isinstance(asking.get("form"), dict)

    async def pause(self) -> None:
        await asyncio.sleep(self.session.pace)

    def chunk(self, kind: str, words: str, message_id: str) -> None:
        content = {"type": "text", "text": words}
        self.session.update(kind, messageId=message_id, content=content)

    async def say(self, words: str, kind: str = "agent_message_chunk") -> None:
        message_id = uuid.uuid4().hex
        pieces = words.split(" ")
        for start in range(0, len(pieces), 4):
            piece = " ".join(pieces[start : start + 4])
            end = "" if start + 4 >= len(pieces) else " "
            self.chunk(kind, piece + end, message_id)
            await asyncio.sleep(self.session.pace / 6)

    async def think(self, words: str) -> None:
        await self.say(words, "agent_thought_chunk")

    async def read(self, path: Path, **window: int) -> str:
        """The file's text, or ``limit`` lines from 1-based ``line`` on; :class:`RpcError`."""
        session = self.session
        if self._files.get("readTextFile") is True:
            params = {"sessionId": session.session_id, "path": str(path), **window}
            result = await session.peer.call("fs/read_text_file", params)
            content = result.get("content") if isinstance(result, dict) else None
            if not isinstance(content, str):
                raise RpcError(INTERNAL_ERROR, "the client gave no content")
            return content
        self._must_own(path)
        return _read(path, **window)

    async def current(self, path: Path) -> str | None:
        """The file's text; None where there is no file."""
        try:
            return await self.read(path)
        except RpcError as error:
            if error.code == RESOURCE_NOT_FOUND:
                return None
            raise

    async def write(self, path: Path, content: str) -> None:
        session = self.session
        if self._files.get("writeTextFile") is True:
            params = {"sessionId": session.session_id, "path": str(path), "content": content}
            await session.peer.call("fs/write_text_file", params)
            return
        self._must_own(path)
        _write(path, content, "wb")

    def make(self, path: Path, content: str) -> None:
        """Makes a new file on the disk, and its folder, whatever the client offers."""
        self._must_own(path)
        _write(path, content, "xb")

    def _must_own(self, path: Path) -> None:
        if not self.session.owns(path):
            raise RpcError(INVALID_PARAMS, f"{path} is outside the workspace")

    async def may_change(self, call: ToolCall, changes: Sequence[Json]) -> bool:
        """Whether the user lets ``changes``, diffs, be made."""
        match self.session.mode:
            case "accept-edits":
                return True
            case "read-only":
                return False
            case _:
                return await self.approved(call, EDITS, content=list(changes))

    async def approved(
        self, call: ToolCall, options: Sequence[dict[str, str]], **fields: Json
    ) -> bool:
        """Asks the user. True only where an approving option of ``options`` was selected."""
        session = self.session
        tool_call = {
            "toolCallId": call.tool_call_id,
            "title": call.title,
            "kind": call.kind,
            "status": "pending",
            **fields,
        }
        params = {"sessionId": session.session_id, "toolCall": tool_call, "options": options}
        try:
            result = await session.peer.call("session/request_permission", params)
        except RpcError:
            return False
        outcome = result.get("outcome") if isinstance(result, dict) else None
        if not isinstance(outcome, dict) or outcome.get("outcome") != "selected":
            return False
        chosen = outcome.get("optionId")
        if chosen not in [option["optionId"] for option in options]:
            return False
        if chosen in REMEMBERED:
            session.mode = REMEMBERED[chosen]
            session.update("current_mode_update", currentModeId=session.mode)
        return chosen in APPROVALS

    async def elicit(self, message: str, schema: Json) -> tuple[str, dict[str, Json]]:
        """Has a form filled in: what the user did, and what stands in the form then."""
        params = {
            "sessionId": self.session.session_id,
            "mode": "form",
            "message": message,
            "requestedSchema": schema,
        }
        try:
            answer = await self.session.peer.call("elicitation/create", params)
        except RpcError:
            return "cancel", {}
        action = answer.get("action") if isinstance(answer, dict) else None
        content = answer.get("content") if isinstance(answer, dict) else None
        known = action if action in ("accept", "decline") else "cancel"
        return known, content if isinstance(content, dict) else {}

    async def run(self, call: ToolCall, argv: Sequence[str]) -> None:
        """Runs ``argv`` in a terminal of the client's, without one as :meth:`execute` does."""
        if not self._has_terminals:
            await self.execute(call, argv)
            return
        session = self.session
        program, *args = argv
        named: dict[str, Json] = {"sessionId": session.session_id}
        wanted = {**named, "command": program, "args": args, "cwd": str(session.cwd)}
        try:
            created = await session.peer.call("terminal/create", wanted)
        except RpcError as error:
            call.failed(error.message)
            return
        named["terminalId"] = created["terminalId"]
        try:
            call.report("in_progress", {"type": "terminal", "terminalId": named["terminalId"]})
            status = await session.peer.call("terminal/wait_for_exit", named)
        finally:
            # Also after a cancel: it ends what still runs.
            await session.peer.call("terminal/release", named)
        code = status.get("exitCode")
        call.report("failed" if code else "completed", rawOutput={"exitCode": code})

    async def execute(self, call: ToolCall, argv: Sequence[str]) -> None:
        """Runs ``argv``; each update carries all output so far, as v1 wants it."""
        try:
            # In our own process group: whoever ends the group ends the command as well.
            process = await asyncio.create_subprocess_exec(
                *argv,
                cwd=self.session.cwd,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            )
        except OSError as error:
            call.failed(str(error))
            return
        assert process.stdout is not None
        call.report("in_progress")
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        output = ""
        try:
            while chunk := await process.stdout.read(4096):
                output = (output + decoder.decode(chunk))[-MAX_OUTPUT:]
                call.report("in_progress", text(output))
            status = await process.wait()
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
        call.report("failed" if status else "completed", rawOutput={"exitCode": status})


def _read(path: Path, line: int = 1, limit: int | None = None) -> str:
    if not path.exists():
        raise RpcError(RESOURCE_NOT_FOUND, f"No such file: {path}")
    if not path.is_file():
        raise RpcError(INVALID_PARAMS, f"not a file: {path}")
    try:
        content = path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RpcError(INTERNAL_ERROR, str(error)) from error
    if limit is None:
        return content
    # Not str.splitlines: it takes form feeds and other characters for line ends.
    return "".join(list(io.StringIO(content, newline="\n"))[line - 1 : line - 1 + limit])


def _write(path: Path, content: str, mode: Literal["wb", "xb"]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open(mode) as file:
            file.write(content.encode("utf-8"))
    except OSError as error:
        raise RpcError(INTERNAL_ERROR, str(error)) from error
