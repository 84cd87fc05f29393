"""What one protocol version says, in the words of the other, an update at a time.

Both functions take and give events of :mod:`acp_sidecar.acp.model` and remember nothing; where
that is not enough (chunks, messages without an id) they raise :class:`CannotSay`, and
:mod:`acp_sidecar.acp.v1_to_v2` and :mod:`acp_sidecar.acp.v2_to_v1` go on from there.
``docs/versions.md`` lists what cannot be said.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from attrs import evolve

from acp_sidecar.acp import model
from acp_sidecar.acp.model import UNSET, Event
from acp_sidecar.acp.reports import changed_files, diffs


class CannotSay(ValueError):
    """The other version has no words for this; the message says what is missing."""


# --- v1 → v2 -----------------------------------------------------------------------------------


def to_v2(event: Event) -> Event:
    """A v1 event as a v2 one.

    Null in a v1 patch means unchanged, so it is left out. Raises :class:`CannotSay` for a
    message chunk without an id and for a change of mode.
    """
    match event:
        case model.MessageChunk():
            if event.message_id is None:
                raise CannotSay("version 2 has no message without an id")
            return evolve(event, patches_meta=False)
        case model.ModeUpdate():
            raise CannotSay("version 2 has no modes; they are a setting among the others")
        case model.ToolCallUpsert():
            return upsert_to_v2(event)
        case model.ToolCallContentChunk():
            return evolve(event, content=content_to_v2(event.content))
        case model.TurnEnded():
            return evolve(event, idle=True)
        case model.TerminalOutput():
            return model.TerminalBytes(event.terminal_id, event.text.encode())
    return event


def upsert_to_v2(event: model.ToolCallUpsert) -> model.ToolCallUpsert:
    """A v1 ``tool_call`` or ``tool_call_update`` as the one update of v2."""
    return evolve(
        without_nulls(event),
        content=(
            tuple(content_to_v2(item) for item in event.content)
            if isinstance(event.content, tuple)
            else UNSET
        ),
        announces=False,
        lasting=True,
    )


def content_to_v2(item: model.ToolCallContent) -> model.ToolCallContent:
    """One piece of a tool call's content."""
    return changed_files(item) if isinstance(item, model.Diff) else item


def permission_to_v2(request: model.PermissionRequest) -> model.PermissionRequest:
    """A v1 permission request as a v2 one; its title is that of its tool call."""
    call = request.tool_call
    if call is None:
        return evolve(request, title=request.title or "Permission", exact=True)
    subject = model.PermissionSubject(type="tool_call") if call.tool_call_id else None
    title = request.title or model.given(call.title, "") or "Permission"
    return evolve(request, title=title, subject=subject, tool_call=upsert_to_v2(call), exact=True)


def mode_option(modes: model.SessionModes) -> model.SelectOption:
    """The modes of a v1 session as the setting that v2 has instead."""
    choices = tuple(
        model.ConfigChoice(mode.id, mode.name, mode.description, mode.meta)
        for mode in modes.available_modes
    )
    current = model.ConfigChoice(modes.current_mode_id, modes.current_mode_id)
    return model.SelectOption(
        "mode", "Mode", modes.current_mode_id, choices or (current,), category="mode"
    )


def without_nulls(event: model.ToolCallUpsert) -> model.ToolCallUpsert:
    """The same patch without what it clears."""
    cleared: dict[str, Any] = {name: UNSET for name in PATCHED if getattr(event, name) is None}
    return evolve(event, **cleared) if cleared else event


PATCHED: Final = (
    "title",
    "name",
    "kind",
    "status",
    "content",
    "locations",
    "raw_input",
    "raw_output",
    "capabilities",
    "meta",
)

# --- v2 → v1 -----------------------------------------------------------------------------------

STOP_REASONS: Final = frozenset(
    {"end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"}
)


def to_v1(event: Event) -> list[Event]:
    """A v2 event as v1 ones, as well as can be done without knowing what was said before.

    A list that is cleared becomes an empty one; a single value or a raw one that is cleared is
    left out. Raises :class:`CannotSay` for a chunk of a tool call's content and for a whole
    message, which v1 can only say to somebody who knows the rest.
    """
    match event:
        case model.MessageChunk() | model.CompactionSummaryChunk() if not is_known(event.content):
            return []
        case model.MessageChunk():
            return [evolve(event, patches_meta=True)]
        case model.CompactionUpdate() if isinstance(event.summary, tuple):
            return [evolve(event, summary=tuple(filter(is_known, event.summary)))]
        case model.MessageUpsert():
            raise CannotSay("version 1 cannot replace a message")
        case model.ToolCallUpsert():
            return [upsert_to_v1(event)]
        case model.ToolCallContentChunk():
            raise CannotSay("version 1 cannot add to the content of a tool call")
        case model.TerminalUpdate() | model.TerminalBytes() | model.TerminalOutput():
            raise CannotSay("version 1 has no terminals of the agent's own")
        case model.TurnStarted() | model.ActionRequired():
            return []
        case model.TurnEnded():
            return [turn_ended_to_v1(event)]
        case model.PlanUpdate():
            return [model.PlanUpdate(plan_to_v1(event.entries), meta=event.meta)]
        case model.CommandsUpdate():
            return [evolve(event, commands=commands_to_v1(event.commands))]
        case model.UsageUpdate():
            return [evolve(event, cost=UNSET) if event.cost is None else event]
    return [event]


def is_known(block: model.ContentBlock) -> bool:
    """Whether v1 can carry a block: one of an unknown type costs a v1 client the message."""
    return not isinstance(block, model.UnknownBlock)


def upsert_to_v1(event: model.ToolCallUpsert) -> model.ToolCallUpsert:
    """A v2 ``tool_call_update`` as a v1 one."""
    emptied: dict[str, Any] = {
        name: () for name in ("content", "locations") if getattr(event, name) is None
    }
    if isinstance(event.content, tuple):
        emptied["content"] = content_to_v1(event.content)
    if isinstance(event.kind, str):
        emptied["kind"] = kind_to_v1(event.kind)
    if isinstance(event.status, str):
        emptied["status"] = status_to_v1(event.status)
    return evolve(without_nulls(evolve(event, **emptied)), capabilities=UNSET, lasting=False)


def content_to_v1(
    content: Iterable[model.ToolCallContent],
) -> tuple[model.ToolCallContent, ...]:
    """A tool call's content; a v2 diff may become several pieces, and what is of an unknown
    type is left out.
    """
    told: list[model.ToolCallContent] = []
    for item in content:
        if isinstance(item, model.ChangedFiles):
            told += diffs(item)
        elif not isinstance(item, model.UnknownBlock) and (
            not isinstance(item, model.Content) or is_known(item.content)
        ):
            told.append(item)
    return tuple(told)


def kind_to_v1(kind: str) -> str:
    return kind if kind in model.TOOL_KINDS else "other"


def status_to_v1(status: str) -> str:
    """A status that v1 does not know is one of work that goes on, except ``cancelled``."""
    if status == "cancelled":
        return "failed"
    return status if status in model.TOOL_STATUSES else "in_progress"


def plan_to_v1(entries: Iterable[model.PlanEntry]) -> tuple[model.PlanEntry, ...]:
    """The entries of a plan. A cancelled one is done with, and says so in its text."""
    return tuple(
        evolve(
            entry,
            content=f"Cancelled: {entry.content}" if entry.status == "cancelled" else entry.content,
            priority=entry.priority if entry.priority in model.PLAN_PRIORITIES else "medium",
            status=_plan_status(entry.status),
        )
        for entry in entries
    )


def _plan_status(status: str) -> str:
    if status == "cancelled":
        return "completed"
    return status if status in model.PLAN_STATUSES else "pending"


def commands_to_v1(
    commands: Iterable[model.AvailableCommand],
) -> tuple[model.AvailableCommand, ...]:
    """The commands that v1 can name: those of an unknown type are left out."""
    return tuple(
        evolve(command, input=command.input if command.hint is not None else None)
        for command in commands
        if command.type == "command"
    )


def turn_ended_to_v1(event: model.TurnEnded) -> model.TurnEnded:
    """The end of a turn. Without a reason, or with one that v1 does not know, it just ended."""
    reason = event.stop_reason if event.stop_reason in STOP_REASONS else "end_turn"
    return model.TurnEnded(reason, meta=event.meta)


def permission_to_v1(request: model.PermissionRequest) -> model.PermissionRequest:
    """A v2 permission request as a v1 one, which is always about a tool call.

    Where v2 names none, one is made up for this question from its title or command.
    """
    call, subject = request.tool_call, request.subject
    if call is not None:
        call = upsert_to_v1(call)
        if not isinstance(call.title, str):
            call = evolve(call, title=request.title or UNSET)
    elif subject is not None and subject.command is not None:
        call = model.ToolCallUpsert(
            subject.tool_call_id or "",
            title=request.title or subject.command,
            kind="execute",
            raw_input={"command": subject.command, "cwd": subject.cwd},
        )
    else:
        call = model.ToolCallUpsert("", title=request.title or UNSET)
    return evolve(request, tool_call=call, title=None, description=None, subject=None, exact=False)
