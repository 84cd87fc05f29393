"""Version 1's messages: what agents really send, and the bytes we write."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_sidecar import __version__
from acp_sidecar.acp import model, v1
from acp_sidecar.acp.decoding import DecodeError
from acp_sidecar.acp.model import UNSET

OPTIONS = [{"optionId": "a", "name": "A", "kind": "allow_once"}]


def update(**fields: Any) -> model.Event:
    return v1.session_update({"sessionId": "S", "update": fields})[1]


def question(**fields: Any) -> model.PermissionRequest:
    return v1.permission_request({"sessionId": "S", "options": OPTIONS, **fields})


# --- session/update -------------------------------------------------------------------


def test_the_session_id_comes_with_the_event() -> None:
    params = {"sessionId": "S", "update": {"sessionUpdate": "plan", "entries": []}}
    assert v1.session_update(params) == ("S", model.PlanUpdate(()))


def test_T08_an_unknown_update_is_kept_and_ignored() -> None:
    event = update(sessionUpdate="future_thing", payload=[1, {"a": None}])
    assert event == model.UnknownUpdate(
        "future_thing", {"sessionUpdate": "future_thing", "payload": [1, {"a": None}]}
    )
    assert v1.encode_update(event) == {"sessionUpdate": "future_thing", "payload": [1, {"a": None}]}


@pytest.mark.parametrize("kind", [{}, {"sessionUpdate": None}, {"sessionUpdate": ["plan"]}])
def test_T08_an_update_without_a_kind_is_ignored(kind: dict[str, Any]) -> None:
    event = update(**kind, entries=[])
    assert isinstance(event, model.UnknownUpdate) and event.kind is None


@pytest.mark.parametrize(
    "params",
    [None, [], "x", 5, {}, {"sessionId": "S"}, {"sessionId": "S", "update": None},
     {"sessionId": 5, "update": {"sessionUpdate": "plan", "entries": []}},
     {"sessionId": None, "update": {"sessionUpdate": "plan", "entries": []}},
     {"update": {"sessionUpdate": "plan", "entries": []}}],
)  # fmt: skip
def test_T08_what_is_no_update_at_all_is_a_decode_error(params: Any) -> None:
    with pytest.raises(DecodeError):
        v1.session_update(params)


def test_T08_an_unknown_content_type_costs_the_chunk_alone() -> None:
    with pytest.raises(DecodeError, match=r"update\(agent_message_chunk\)\.content\.type"):
        update(sessionUpdate="agent_message_chunk", content={"type": "hologram"})


def test_T08_extra_fields_are_kept() -> None:
    event = update(
        sessionUpdate="agent_message_chunk",
        content={"type": "text", "text": "x", "colour": "red"},
        tokens=12,
    )
    assert isinstance(event, model.MessageChunk)
    assert event.unknown == {"tokens": 12}
    assert isinstance(event.content, model.TextContent)
    assert event.content.unknown == {"colour": "red"}


@pytest.mark.parametrize(
    ("kind", "role"),
    [
        ("user_message_chunk", "user"),
        ("agent_message_chunk", "agent"),
        ("agent_thought_chunk", "thought"),
    ],
)
def test_chunks_know_who_speaks(kind: str, role: str) -> None:
    event = update(sessionUpdate=kind, content={"type": "text", "text": "x"}, messageId="m")
    assert event == model.MessageChunk(role, model.TextContent("x"), "m")  # type: ignore[arg-type]


def test_null_means_unchanged_in_a_tool_call_update() -> None:
    """Version 1's null, also for the free-form fields: what is stored stays."""
    event = update(
        sessionUpdate="tool_call_update",
        toolCallId="t",
        title=None,
        name=None,
        kind=None,
        status=None,
        content=None,
        locations=None,
        rawInput=None,
        rawOutput=None,
        _meta=None,
    )
    assert event == model.ToolCallUpsert("t")


@pytest.mark.parametrize("raw", [False, 0, "", [], {}, 1.5, "x", [None]])
def test_raw_input_is_any_json_value(raw: Any) -> None:
    event = update(sessionUpdate="tool_call_update", toolCallId="t", rawInput=raw, rawOutput=raw)
    assert isinstance(event, model.ToolCallUpsert)
    assert event.raw_input == raw and type(event.raw_input) is type(raw)
    assert event.raw_output == raw


def test_null_clears_the_title_of_a_session() -> None:
    """The schema says so of this update, unlike of a tool call's."""
    event = update(sessionUpdate="session_info_update", title=None)
    assert event == model.SessionInfoUpdate(title=None)


def test_an_announcement_needs_a_title_and_an_update_does_not() -> None:
    assert update(sessionUpdate="tool_call_update", toolCallId="t") == model.ToolCallUpsert("t")
    with pytest.raises(DecodeError, match="title"):
        update(sessionUpdate="tool_call", toolCallId="t")
    announced = update(sessionUpdate="tool_call", toolCallId="t", title="", kind="sorcery")
    assert announced == model.ToolCallUpsert("t", title="", announces=True)


@pytest.mark.parametrize(
    ("line", "kept"),
    [(0, 0), (1, 1), (4294967295, 4294967295), (None, None), (-1, None), (2.5, None), ("3", None),
     (True, None), (3.0, 3)],
)  # fmt: skip
def test_L02_a_line_is_a_number_or_nothing(line: Any, kept: int | None) -> None:
    """The location stays in any case; what a line of 0 means is the reader's affair."""
    event = update(
        sessionUpdate="tool_call_update",
        toolCallId="t",
        locations=[{"path": "/ws/a", "line": line}],
    )
    assert isinstance(event, model.ToolCallUpsert)
    assert event.locations == (model.Location("/ws/a", kept),)


def test_F18_a_title_with_a_lone_surrogate_can_be_shown() -> None:
    event = update(sessionUpdate="tool_call", toolCallId="t", title="x\ud800y")
    assert isinstance(event, model.ToolCallUpsert) and event.title == "x\ufffdy"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)
FIELDS = ["content", "title", "toolCallId", "status", "locations", "entries", "rawInput", "_meta"]


@settings(deadline=None)
@given(st.sampled_from(sorted(v1._UPDATES)), st.dictionaries(st.sampled_from(FIELDS), json_values))
def test_no_update_breaks_the_reader(kind: str, fields: dict[str, Any]) -> None:
    try:
        event = update(sessionUpdate=kind, **fields)
    except DecodeError:
        return
    json.dumps(v1.encode_update(event))


# --- session/request_permission ------------------------------------------------------------


def test_R06_options_keep_their_order_names_and_ids() -> None:
    """Four of one kind, ids that say something else: nothing is collapsed or rewritten."""
    offered = [
        {"optionId": "abort", "name": "Alpha", "kind": "allow_once"},
        {"optionId": "approved", "name": "Beta", "kind": "allow_once"},
        {"optionId": "deny_always", "name": "Gamma", "kind": "allow_once"},
        {"optionId": "x", "name": "Delta", "kind": "allow_once"},
    ]
    options = question(options=offered).options
    assert [(o.option_id, o.name) for o in options] == [
        ("abort", "Alpha"),
        ("approved", "Beta"),
        ("deny_always", "Gamma"),
        ("x", "Delta"),
    ]
    assert v1.encode(options) == offered


@pytest.mark.parametrize(
    ("kind", "kept"),
    [("allow_persistent", "allow_persistent"), ("_vendor_kind", "_vendor_kind"),
     (None, None), (5, None), ("", None), (["allow_once"], None)],
)  # fmt: skip
def test_R08_an_option_of_unknown_kind_is_an_option(kind: Any, kept: str | None) -> None:
    option = {"optionId": "p", "name": "Always, saved", "kind": kind, "note": "n", "_meta": {}}
    assert question(options=[option]).options == (
        model.PermissionOption("p", "Always, saved", kept, {}, {"note": "n"}),
    )


def test_R08_a_missing_kind_is_a_generic_option() -> None:
    (option,) = question(options=[{"optionId": "p", "name": "Go"}]).options
    assert option == model.PermissionOption("p", "Go")


@pytest.mark.parametrize("options", [None, {}, "allow", 5, [], [None], [[]], ["allow"]])
def test_R09_no_usable_option_is_no_option(options: Any) -> None:
    assert question(options=options).options == ()
    assert v1.permission_request({"sessionId": "S"}).options == ()


@pytest.mark.parametrize("option_id", [None, 5, "", [], {}, True])
def test_R09_an_option_without_a_usable_id_is_dropped(option_id: Any) -> None:
    offered = [{"optionId": option_id, "name": "No id"}, {"name": "None"}, *OPTIONS]
    assert [option.option_id for option in question(options=offered).options] == ["a"]


@pytest.mark.parametrize("name", [None, "", "  ", 5, []])
def test_R09_an_option_without_a_name_is_called_by_its_id(name: Any) -> None:
    (option,) = question(options=[{"optionId": "reject", "name": name}]).options
    assert (option.option_id, option.name) == ("reject", "reject")


def test_R10_doubles_are_told_as_they_came() -> None:
    """Which of them is shown is decided where the buttons are made, with all in view."""
    offered = [
        {"optionId": "x", "name": "Allow", "kind": "allow_once"},
        {"optionId": "x", "name": "Allow", "kind": "allow_always"},
    ]
    kinds = [option.kind for option in question(options=offered).options]
    assert kinds == ["allow_once", "allow_always"]


def test_R07_the_answer_is_the_chosen_id_or_cancelled() -> None:
    assert v1.permission_outcome("o") == {"outcome": {"outcome": "selected", "optionId": "o"}}
    assert v1.permission_outcome(None) == {"outcome": {"outcome": "cancelled"}}


def test_a_broken_tool_call_does_not_cost_the_question() -> None:
    asked = question(
        toolCall={
            "toolCallId": 5,
            "title": "rm -rf build",
            "kind": "sorcery",
            "status": 7,
            "rawInput": {"command": "rm -rf build"},
            "content": [{"type": "diff"}, {"type": "diff", "path": "/ws/a", "newText": "x"}],
        }
    )
    assert asked.tool_call == model.ToolCallUpsert(
        "",
        title="rm -rf build",
        raw_input={"command": "rm -rf build"},
        content=(model.Diff("/ws/a", "x"),),
    )


@pytest.mark.parametrize("tool_call", [None, "t", 5, []])
def test_a_question_without_a_tool_call_is_a_question(tool_call: Any) -> None:
    assert question(toolCall=tool_call).tool_call is None
    assert question(toolCall=tool_call).options


@pytest.mark.parametrize("params", [None, [], {}, {"sessionId": 5, "options": OPTIONS}])
def test_a_question_of_no_session_is_refused(params: Any) -> None:
    with pytest.raises(DecodeError):
        v1.permission_request(params)


# --- fs/* ---------------------------------------------------------------------------------------


def reading(**window: Any) -> model.ReadTextFile:
    return v1.read_text_file({"sessionId": "S", "path": "/ws/a", **window})


def test_F08_a_window_is_passed_on_as_it_was_sent() -> None:
    assert reading(line=1, limit=1) == model.ReadTextFile("S", "/ws/a", 1, 1)
    assert reading(limit=2) == model.ReadTextFile("S", "/ws/a", None, 2)
    assert reading(line=3) == model.ReadTextFile("S", "/ws/a", 3, None)
    assert reading() == model.ReadTextFile("S", "/ws/a", None, None)


def test_F09_null_is_not_given_and_zero_is() -> None:
    assert reading(line=None, limit=None) == reading()
    assert (reading(line=0).line, reading(limit=0).limit) == (0, 0)
    assert reading(line=4294967295).line == 4294967295


@pytest.mark.parametrize("key", ["line", "limit"])
@pytest.mark.parametrize("value", [-3, 1.5, True, False, "2", [], {}, [1]])
def test_F09_what_is_no_count_of_lines_is_refused(key: str, value: Any) -> None:
    with pytest.raises(DecodeError, match=key):
        reading(**{key: value})


@pytest.mark.parametrize("path", [None, 5, [], {}])
def test_a_path_is_a_string(path: Any) -> None:
    with pytest.raises(DecodeError, match="path"):
        v1.read_text_file({"sessionId": "S", "path": path})
    with pytest.raises(DecodeError, match="path"):
        v1.write_text_file({"sessionId": "S", "path": path, "content": ""})


def test_F18_a_lone_surrogate_is_no_file_content() -> None:
    """Unlike in a title it is not replaced: it would change what the file says."""
    params = {"sessionId": "S", "path": "/ws/a", "content": "x\ud800y"}
    with pytest.raises(DecodeError, match="content"):
        v1.write_text_file(params)
    with pytest.raises(DecodeError, match="path"):
        v1.write_text_file({**params, "path": "/ws/\ud800", "content": ""})
    with pytest.raises(DecodeError, match="path"):
        v1.read_text_file({"sessionId": "S", "path": "/ws/\ud800"})
    whole = {**params, "content": "x\U0001f600\u2028y"}
    assert v1.write_text_file(whole).content == "x\U0001f600\u2028y"


@pytest.mark.parametrize("content", [None, 5, [], {}])
def test_content_is_a_string(content: Any) -> None:
    with pytest.raises(DecodeError, match="content"):
        v1.write_text_file({"sessionId": "S", "path": "/ws/a", "content": content})


def test_a_write_is_answered_with_an_object() -> None:
    assert v1.write_text_file_result() == {}


# --- results ------------------------------------------------------------------------------------


def test_T17_a_load_may_be_answered_with_null() -> None:
    assert v1.session_opened(None, "S") == model.SessionOpened("S", settled=True)
    with pytest.raises(DecodeError, match="expected an object"):
        v1.session_opened(None)


def test_a_loaded_session_keeps_the_id_that_was_asked_for() -> None:
    assert v1.session_opened({"sessionId": "other"}, "S").agent_session_id == "S"


def test_fields_beyond_the_schema_are_kept() -> None:
    """Real agents send ``models``, ``usage`` and more with these answers."""
    opened = v1.session_opened({"sessionId": "S", "models": {"current": "big"}})
    assert opened.unknown == {"models": {"current": "big"}}
    ended = v1.stop_reason({"stopReason": "end_turn", "usage": {"total": 1}, "_meta": {"q": 1}})
    assert ended.unknown == {"usage": {"total": 1}}
    assert ended.meta == {"q": 1}


@pytest.mark.parametrize(
    ("result", "reason"),
    [({"stopReason": "refusal"}, "refusal"), ({"stopReason": "exhausted"}, "exhausted"),
     ({"stopReason": 5}, None), ({}, None), (None, None), ([], None)],
)  # fmt: skip
def test_an_answered_prompt_has_ended_whatever_the_answer(result: Any, reason: str | None) -> None:
    ended = v1.stop_reason(result)
    assert ended.stop_reason == reason and ended.idle is False


@pytest.mark.parametrize("result", [None, {}, {"protocolVersion": "1"}, {"protocolVersion": True}])
def test_initialize_without_a_version_is_refused(result: Any) -> None:
    with pytest.raises(DecodeError):
        v1.initialize_result(result)


def test_what_a_real_agent_can_do() -> None:
    info = v1.initialize_result(
        {
            "protocolVersion": 1,
            "agentCapabilities": {
                "loadSession": True,
                "promptCapabilities": {"image": True, "embeddedContext": True},
                "sessionCapabilities": {"list": {}, "fork": {}, "close": None},
                "providers": {},
            },
            "authMethods": [{"id": "login", "name": "Log in", "_meta": {"k": 1}}],
            "agentInfo": {"name": "OpenCode", "version": "1.18.33"},
        }
    )
    assert (info.name, info.version) == ("OpenCode", "1.18.33")
    assert info.load_session and info.list_sessions and info.fork_session
    assert not (info.close_session or info.resume_session or info.prompt_audio or info.mcp_http)
    assert info.auth_methods == (model.AuthMethod("login", "Log in", meta={"k": 1}),)
    assert info.raw["agentCapabilities"]["providers"] == {}


# --- S02: the bytes we write ----------------------------------------------------------------------


def test_S02_initialize_says_exactly_what_we_implement() -> None:
    assert v1.initialize() == {
        "protocolVersion": 1,
        "clientCapabilities": {
            "fs": {"readTextFile": True, "writeTextFile": True},
            "terminal": True,
            "session": {"configOptions": {"boolean": {}}, "notices": {}, "compaction": {}},
            "auth": {"terminal": True},
            "elicitation": {"form": {}, "url": {}},
            "_meta": {"terminal_output": True, "terminal-auth": True},
        },
        "clientInfo": {"name": "acp-sidecar", "version": __version__, "title": "ACP sidecar"},
    }


def test_S02_session_new_and_prompt() -> None:
    assert v1.session_new("/ws") == {"cwd": "/ws", "mcpServers": []}
    assert v1.session_new("/ws", ["/lib"])["additionalDirectories"] == ["/lib"]
    blocks = [
        model.TextContent("fix it"),
        model.ResourceLink("file:///ws/a.py", "a.py", mime_type="text/x-python"),
        model.EmbeddedResource(model.TextResourceContents("file:///ws/b", "text\n")),
    ]
    assert v1.prompt("S", blocks) == {
        "sessionId": "S",
        "prompt": [
            {"type": "text", "text": "fix it"},
            {
                "type": "resource_link",
                "uri": "file:///ws/a.py",
                "name": "a.py",
                "mimeType": "text/x-python",
            },
            {"type": "resource", "resource": {"uri": "file:///ws/b", "text": "text\n"}},
        ],
    }


def test_S02_settings_and_ends() -> None:
    assert v1.set_mode("S", "plan") == {"sessionId": "S", "modeId": "plan"}
    assert v1.set_config_option("S", "c", "v") == {"sessionId": "S", "configId": "c", "value": "v"}
    assert v1.set_config_option("S", "c", False) == {
        "sessionId": "S",
        "configId": "c",
        "value": False,
        "type": "boolean",
    }
    assert v1.session_list() == {}
    assert v1.session_list("/ws", "n") == {"cwd": "/ws", "cursor": "n"}
    assert v1.cancel("S") == v1.session_close("S") == v1.session_delete("S") == {"sessionId": "S"}


def test_mcp_servers_as_people_write_them() -> None:
    assert v1.mcp_server({"command": "srv", "env": {"A": 1}}) == {
        "command": "srv",
        "name": "srv",
        "args": [],
        "env": [{"name": "A", "value": "1"}],
    }
    assert v1.mcp_server({"url": "https://x", "headers": {"A": "b"}})["type"] == "http"
    assert v1.mcp_server({"type": "sse", "name": "s", "url": "https://x"})["headers"] == []
    with pytest.raises(ValueError, match="command or a url"):
        v1.mcp_server({"name": "nothing"})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"command": 5}, "'command' of an MCP server must be a text"),
        ({"command": ""}, "command or a url"),
        ({"command": "srv", "name": 5}, "'name' of an MCP server must be a text"),
        ({"url": ["https://x"]}, "'url' of an MCP server must be a text"),
        ({"command": "srv", "args": "--stdio"}, "'args' of an MCP server must be a list of texts"),
        ({"command": "srv", "args": 5}, "'args' of an MCP server must be a list of texts"),
        ({"command": "srv", "args": [5]}, "'args' of an MCP server must be a list of texts"),
        ({"command": "srv", "env": "A=1"}, "'env' of an MCP server must be an object"),
        ({"command": "srv", "env": ["A=1"]}, "'env' of an MCP server must be an object"),
        ({"url": "https://x", "headers": "A: b"}, "'headers' of an MCP server must be an object"),
    ],
)
def test_mcp_servers_that_are_none(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        v1.mcp_server(given)


def test_a_block_survives_the_way_through_us() -> None:
    raw = {
        "type": "image",
        "data": "AAAA",
        "mimeType": "image/png",
        "annotations": {"audience": ["user"], "priority": 1, "x": 1},
        "_meta": {"m": 1},
        "extra": True,
    }
    assert v1.encode_block(v1.decode_block(raw)) == raw


def test_unset_is_not_a_value() -> None:
    assert not UNSET
    assert repr(model.ToolCallUpsert("t").title) == "UNSET"


def test_events_of_other_versions_have_no_update_here() -> None:
    with pytest.raises(ValueError, match="TurnStarted"):
        v1.encode_update(model.TurnStarted())
