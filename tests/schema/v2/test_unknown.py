"""What is not known is kept and passed on, what is known is read strictly."""

from __future__ import annotations

from typing import Any

import pytest

from acp_sidecar.acp import model, v2
from acp_sidecar.acp.decoding import DecodeError
from tests.schema.v2.cases import S


@pytest.mark.parametrize("tag", ["_vendor", "hologram", "_"])
@pytest.mark.parametrize(
    ("case", "template"),
    [
        ("agent_message", {"messageId": "m", "content": ["HERE"]}),
        ("agent_message_chunk", {"messageId": "m", "content": "HERE"}),
        ("tool_call_update", {"toolCallId": "t", "content": ["HERE"]}),
        ("tool_call_content_chunk", {"toolCallId": "t", "content": "HERE"}),
        (
            "tool_call_update",
            {"toolCallId": "t", "content": [{"type": "content", "content": "HERE"}]},
        ),
        ("plan_update", {"plan": "HERE"}),
        ("config_option_update", {"configOptions": ["HERE"]}),
        ("available_commands_update", {"availableCommands": ["HERE"]}),
        ("state_update", {"state": "running", "background": ["HERE"]}),
    ],
)
def test_an_unknown_type_is_passed_on_unchanged(case: str, template: Any, tag: str) -> None:
    unknown = {
        "type": tag,
        "configId": "c",
        "planId": "p",
        "name": "n",
        "description": "d",
        "text": 5,
        "deep": [{"a": None}],
        "_meta": {"k": None},
    }

    def filled(value: Any) -> Any:
        if value == "HERE":
            return unknown
        if isinstance(value, list):
            return [filled(item) for item in value]
        if isinstance(value, dict):
            return {key: filled(item) for key, item in value.items()}
        return value

    update = {"sessionUpdate": case, **filled(template)}
    event = v2.session_update({**S, "update": update})[1]
    assert not isinstance(event, model.UnknownUpdate)
    assert v2.encode_update(event) == update


@pytest.mark.parametrize("kind", ["_vendor", "telepathy"])
def test_an_unknown_update_is_passed_on_unchanged(kind: str) -> None:
    update = {"sessionUpdate": kind, "a": [None, {"b": 1}], "_meta": {}}
    session_id, event = v2.session_update({**S, "update": update})
    assert (session_id, v2.encode_update(event)) == ("S", update)


@pytest.mark.parametrize("operation", ["_transmute", "chmod"])
def test_an_unknown_operation_is_passed_on_unchanged(operation: str) -> None:
    change = {"operation": operation, "where": "/ws/a", "mode": 0o644, "fileType": "text"}
    known = {"operation": "add", "path": "/ws/b"}
    content = [{"type": "diff", "changes": [change, known]}]
    update = {"sessionUpdate": "tool_call_update", "toolCallId": "t", "content": content}
    event: Any = v2.session_update({**S, "update": update})[1]
    assert [file.path for file in event.content[0].files] == ["/ws/b"]
    assert v2.encode_update(event) == update


@pytest.mark.parametrize(
    ("update", "field"),
    [
        ({"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "_paused"}, "status"),
        ({"sessionUpdate": "tool_call_update", "toolCallId": "t", "kind": "dream"}, "kind"),
        (
            {"sessionUpdate": "compaction_update", "compactionId": "c", "status": "_odd"},
            "status",
        ),
        ({"sessionUpdate": "notice", "severity": "_odd", "title": "t"}, "severity"),
        ({"sessionUpdate": "state_update", "state": "_dreaming", "since": 5}, "state"),
        ({"sessionUpdate": "state_update", "state": "idle", "stopReason": "_bored"}, "stopReason"),
    ],
)
def test_an_unknown_word_is_kept(update: dict[str, Any], field: str) -> None:
    event = v2.session_update({**S, "update": update})[1]
    assert v2.encode_update(event)[field] == update[field]


@pytest.mark.parametrize(
    "block",
    [
        {"type": "text", "words": "x"},
        {"type": "image", "data": "AAAA"},
        {"type": "resource", "resource": {"uri": "file:///a"}},
        {"text": "no type"},
    ],
)
def test_a_known_type_is_read_strictly(block: Any) -> None:
    """What calls itself text and is not is no unknown block: it is left out."""
    with pytest.raises(DecodeError):
        v2.decode_block(block)
    update = {"sessionUpdate": "agent_message", "messageId": "m", "content": [block]}
    event: Any = v2.session_update({**S, "update": update})[1]
    assert event.content == ()
