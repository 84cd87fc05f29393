"""The state of a session, held against the editor contract field by field."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

NULL = type(None)
Json = Any

_TOP: Mapping[str, tuple[type, ...]] = {
    "sessionId": (str,),
    "agentSessionId": (str,),
    "agent": (str,),
    "protocolVersion": (int,),
    "cwd": (str,),
    "roots": (list,),
    "title": (str, NULL),
    "status": (str,),
    "stopReason": (str, NULL),
    "stopText": (str, NULL),
    "order": (list,),
    "messages": (list,),
    "toolCalls": (list,),
    "plans": (list,),
    "modes": (dict, NULL),
    "configOptions": (list,),
    "commands": (list,),
    "usage": (dict, NULL),
    "terminals": (list,),
    "permissions": (list,),
    "elicitations": (list,),
    "notices": (list,),
    "compactions": (list,),
    "changes": (list,),
    "follow": (dict,),
    "queue": (list,),
}
_MESSAGE = {"messageId": (str,), "role": (str,), "content": (list,)}
_TOOL_CALL = {
    "toolCallId": (str,),
    "title": (str, NULL),
    "name": (str, NULL),
    "kind": (str,),
    "status": (str,),
    "content": (list,),
    "locations": (list,),
    "_meta": (dict, NULL),
    "turn": (int,),
    "closedBy": (str, NULL),
    "background": (bool,),
    "capabilities": (dict, NULL),
}
_LOCATION = {"path": (str,), "line": (int, NULL)}
_PLAN = {"planId": (str,), "entries": (list,)}
_PLAN_ENTRY = {"content": (str,), "priority": (str,), "status": (str,)}
_PERMISSION = {
    "requestId": (str,),
    "toolCallId": (str, NULL),
    "message": (str,),
    "options": (list,),
    "state": (str,),
    "optionId": (str, NULL),
}
_ELICITATION = {
    "requestId": (str,),
    "toolCallId": (str, NULL),
    "mode": (str,),
    "message": (str,),
    "requestedSchema": (dict, NULL),
    "url": (str, NULL),
    "elicitationId": (str, NULL),
    "state": (str,),
    "action": (str, NULL),
    "completed": (bool,),
    "turn": (int,),
}
_OPTION = {"optionId": (str,), "name": (str,), "kind": (str, NULL)}
_TERMINAL = {
    "terminalId": (str,),
    "command": (str, NULL),
    "cwd": (str, NULL),
    "output": (str,),
    "truncated": (bool,),
    "exitStatus": (dict, NULL),
}
_FOLLOW = {
    "enabled": (bool,),
    "paused": (bool,),
    "location": (dict, NULL),
    "shown": (bool,),
    "reason": (str, NULL),
}
_CHANGE = {
    "uri": (str,),
    "status": (str,),
    "oldUri": (str, NULL),
    "binary": (bool,),
    "hunks": (list,),
}
_HUNK = {"id": (str,), "before": (dict,), "after": (dict,), "state": (str,)}
_QUEUED = {"turnId": (str,), "text": (str,)}

_LISTS = {
    "message": ("messages", "messageId"),
    "toolCall": ("toolCalls", "toolCallId"),
    "plan": ("plans", "planId"),
    "permission": ("permissions", "requestId"),
    "elicitation": ("elicitations", "requestId"),
    "notice": ("notices", "noticeId"),
    "compaction": ("compactions", "compactionId"),
}


def check(state: Json) -> None:
    """Fail where a field is missing, of another type, or at odds with another one."""
    _fields(state, _TOP, "state")
    assert state["status"] in ("idle", "running", "requires_action", "closed", "dead")
    for message in state["messages"]:
        _fields(message, _MESSAGE, "message")
        assert message["role"] in ("user", "agent", "thought")
        _merged(message["content"])
    for call in state["toolCalls"]:
        _tool_call(call)
    for plan in state["plans"]:
        _fields(plan, _PLAN, "plan")
        for entry in plan["entries"]:
            _fields(entry, _PLAN_ENTRY, "plan entry")
            assert entry["priority"] in ("high", "medium", "low")
            assert entry["status"] in ("pending", "in_progress", "completed", "cancelled")
    for permission in state["permissions"]:
        _permission(permission)
    for terminal in state["terminals"]:
        _fields(terminal, _TERMINAL, "terminal")
    _fields(state["follow"], _FOLLOW, "follow")
    if state["follow"]["location"] is not None:
        _fields(state["follow"]["location"], _LOCATION, "follow.location")
    for change in state["changes"]:
        _fields(change, _CHANGE, "change")
        assert change["status"] in ("modified", "created", "deleted", "renamed")
        for hunk in change["hunks"]:
            _fields(hunk, _HUNK, "hunk")
            assert set(hunk["before"]) == set(hunk["after"]) == {"start", "lines"}
    for queued in state["queue"]:
        _fields(queued, _QUEUED, "queue")
    _order(state)
    for elicitation in state["elicitations"]:
        _fields(elicitation, _ELICITATION, "elicitation")
        assert elicitation["state"] in ("waiting", "answered", "cancelled")
    questions = [*state["permissions"], *state["elicitations"]]
    waits = any(question["state"] == "waiting" for question in questions)
    if state["status"] in ("closed", "dead"):
        assert not waits
        assert all(call["status"] in _FINAL for call in state["toolCalls"])
    else:
        assert (state["status"] == "requires_action") is waits


_FINAL = ("completed", "failed", "cancelled")


def _tool_call(call: Json) -> None:
    _fields(call, _TOOL_CALL, "tool call")
    assert "rawInput" in call
    assert "rawOutput" in call
    assert call["status"] in ("pending", "in_progress", *_FINAL)
    assert call["closedBy"] in (None, "sidecar")
    if call["closedBy"]:
        assert call["status"] in ("failed", "cancelled")
    for location in call["locations"]:
        _fields(location, _LOCATION, "location")
    for content in call["content"]:
        assert content["type"] in ("content", "diff", "terminal")
        if content["type"] == "diff" and "changes" in content:
            _fields(content, {"changes": (list,)}, "diff")
        elif content["type"] == "diff":
            _fields(content, {"path": (str,), "newText": (str,), "oldText": (str, NULL)}, "diff")


def _permission(permission: Json) -> None:
    _fields(permission, _PERMISSION, "permission")
    assert permission["state"] in ("waiting", "answered", "cancelled")
    for option in permission["options"]:
        _fields(option, _OPTION, "option")
    offered = [option["optionId"] for option in permission["options"]]
    if permission["state"] == "answered":
        assert permission["optionId"] in offered
    else:
        assert permission["optionId"] is None


def _order(state: Json) -> None:
    for kind, (name, key) in _LISTS.items():
        listed = [each[key] for each in state[name]]
        ordered = [entry["id"] for entry in state["order"] if entry["type"] == kind]
        assert listed == ordered, f"{name} and order differ"
    assert {entry["type"] for entry in state["order"]} <= set(_LISTS)


def _merged(content: Json) -> None:
    for one, other in pairwise(content):
        both_text = one.get("type") == other.get("type") == "text"
        alike = one.get("annotations") == other.get("annotations")
        assert not (both_text and alike), "adjacent text was not merged"


def _fields(value: Json, wanted: Mapping[str, tuple[type, ...]], where: str) -> None:
    assert isinstance(value, dict), f"{where} is no object"
    for name, types in wanted.items():
        assert name in value, f"{where} lacks {name}"
        found = value[name]
        assert type(found) in types, f"{where}.{name} is {found!r}"
