"""A whole conversation of protocol version 2 in the words of version 1.

:class:`ToV1` is fed with everything of one session, in order, and remembers what version 1 needs to
be told: all of what grew by chunks. One of them serves one session.
"""

from __future__ import annotations

from typing import Final

from attrs import define, evolve, field

from acp_sidecar.acp import convert, model
from acp_sidecar.acp.model import UNSET, Event, Role


@define
class _V2Message:
    """A message as it was told, and the id that it is told under now."""

    wire_id: str
    told: list[model.ContentBlock] = field(factory=list)
    again: int = 1


@define
class _V2Terminal:
    command: str | None = None
    output: bytearray = field(factory=bytearray)
    exit_status: model.JsonObject | None = None


class ToV1:
    """A v2 session, told in v1.

    Content that grows by chunks is told as a whole each time. A message that is replaced is told
    again under another id, since v1 cannot take anything back. A terminal of the agent's becomes
    text, told when its command ends.
    """

    def __init__(self) -> None:
        self._content: dict[str, list[model.ToolCallContent]] = {}
        self._introduced: set[str] = set()
        self._messages: dict[tuple[Role, str], _V2Message] = {}
        self._plans: dict[str, tuple[model.PlanEntry, ...]] = {}
        self._terminals: dict[str, _V2Terminal] = {}
        self._running = False

    def prompted(self) -> None:
        """A prompt went to the agent: the next idle answers it."""
        self._running = True

    def asked(self, request: model.PermissionRequest) -> model.PermissionRequest:
        """The agent asks for permission."""
        call = request.tool_call
        if call is not None and call.tool_call_id:
            told = self._upsert(call)
            # A question does not introduce a call, and its content is told with it.
            request = evolve(request, tool_call=evolve(told, announces=False))
            self._introduced.add(call.tool_call_id)
            return convert.permission_to_v1(request)
        return convert.permission_to_v1(request)

    def update(self, event: Event) -> list[Event]:
        """The v1 events that say what a v2 event says; none where v1 has no word for it."""
        match event:
            case model.MessageChunk() if event.message_id is not None:
                message = self._message(event.role, event.message_id)
                message.told.append(event.content)
                return convert.to_v1(evolve(event, message_id=message.wire_id))
            case model.MessageUpsert():
                return self._replace(event)
            case model.ToolCallUpsert():
                return [self._upsert(event)]
            case model.ToolCallContentChunk():
                content = self._content.setdefault(event.tool_call_id, [])
                content.append(event.content)
                return [self._content_of(event.tool_call_id)]
            case model.TerminalUpdate() | model.TerminalBytes() | model.TerminalOutput():
                return self._terminal(event)
            case model.TurnStarted() | model.ActionRequired():
                self._running = True
            case model.TurnEnded():
                ran, self._running = self._running, False
                return convert.to_v1(event) if ran else []
            case model.PlanUpdate():
                self._plans[event.plan_id] = event.entries
                entries = tuple(entry for plan in self._plans.values() for entry in plan)
                return convert.to_v1(evolve(event, entries=entries))
        return convert.to_v1(event)

    # --- messages ------------------------------------------------------------------------------

    def _message(self, role: Role, message_id: str) -> _V2Message:
        return self._messages.setdefault((role, message_id), _V2Message(message_id))

    def _replace(self, event: model.MessageUpsert) -> list[Event]:
        message = self._message(event.role, event.message_id)
        if event.content is UNSET:
            return []
        content = list(event.content or ())
        told = len(message.told)
        if content[:told] != message.told:
            message.again += 1
            message.wire_id, told = f"{event.message_id}#{message.again}", 0
        message.told = content
        return [
            model.MessageChunk(event.role, block, message.wire_id)
            for block in content[told:]
            if convert.is_known(block)
        ]

    # --- tool calls ------------------------------------------------------------------------------

    def _upsert(self, event: model.ToolCallUpsert) -> model.ToolCallUpsert:
        call_id = event.tool_call_id
        if event.content is not UNSET:
            self._content[call_id] = list(event.content or ())
            event = evolve(event, content=self._drawn(call_id))
        # What is cleared falls back to the words that v1 has for nothing.
        if event.kind is None:
            event = evolve(event, kind="other")
        if event.status is None:
            event = evolve(event, status="pending")
        upsert = convert.upsert_to_v1(event)
        if call_id not in self._introduced and isinstance(event.title, str):
            upsert = evolve(upsert, announces=True)
        self._introduced.add(call_id)
        return upsert

    def _content_of(self, call_id: str) -> model.ToolCallUpsert:
        self._introduced.add(call_id)
        content = convert.content_to_v1(self._drawn(call_id))
        return model.ToolCallUpsert(call_id, content=content)

    def _drawn(self, call_id: str) -> tuple[model.ToolCallContent, ...]:
        return tuple(
            self._as_text(item) if isinstance(item, model.TerminalContent) else item
            for item in self._content[call_id]
        )

    # --- terminals -----------------------------------------------------------------------------

    def _terminal(
        self, event: model.TerminalUpdate | model.TerminalBytes | model.TerminalOutput
    ) -> list[Event]:
        terminal = self._terminals.setdefault(event.terminal_id, _V2Terminal())
        match event:
            case model.TerminalBytes():
                terminal.output += event.data
            case model.TerminalOutput():
                terminal.output += event.text.encode()
            case model.TerminalUpdate():
                if event.command is not UNSET:
                    terminal.command = event.command
                if event.output is not UNSET:
                    output = event.output or b""
                    data = output.encode() if isinstance(output, str) else output
                    terminal.output = bytearray(data)
                if event.exit_status is not UNSET:
                    terminal.exit_status = event.exit_status
        if terminal.exit_status is None:
            return []
        return [
            self._content_of(call_id)
            for call_id, content in self._content.items()
            if any(_shows_terminal(item, event.terminal_id) for item in content)
        ]

    def _as_text(self, item: model.TerminalContent) -> model.Content:
        terminal = self._terminals.get(item.terminal_id) or _V2Terminal()
        lines = [f"$ {terminal.command}"] if terminal.command else []
        if terminal.output:
            lines.append(terminal.output.decode("utf-8", "replace"))
        if terminal.exit_status is not None:
            lines.append(_ending(terminal.exit_status))
        return model.Content(model.TextContent("\n".join(lines)), item.meta, item.unknown)


def _ending(status: model.JsonObject) -> str:
    for key, words in _ENDINGS:
        if status.get(key) is not None:
            return f"[{words} {status[key]}]"
    return "[ended]"


_ENDINGS: Final = (("signal", "ended by signal"), ("exitCode", "exit code"))


def _shows_terminal(item: model.ToolCallContent, terminal_id: str) -> bool:
    return isinstance(item, model.TerminalContent) and item.terminal_id == terminal_id
