"""What an agent says of itself."""

from __future__ import annotations

from acp_sidecar.acp import model, v2
from tests.schema.reading import Reading


def test_initialize_result_is_read_in_full(reading: Reading) -> None:
    for sample in reading.samples(reading.of("InitializeResponse")):
        reading.validate("InitializeResponse", sample)
        info = v2.initialize_result(sample)
        assert info.protocol_version == sample["protocolVersion"]
        assert (info.name, info.version) == ("some text", "some text")
        assert info.load_session and info.list_sessions and info.resume_session
        assert info.close_session and info.delete_session and info.additional_directories
        assert info.prompt_image and info.prompt_audio and info.prompt_embedded_context
        assert info.mcp_stdio and info.mcp_http and info.logout
        assert not info.fork_session and not info.mcp_sse
        assert info.raw == sample
        assert [method.type for method in info.auth_methods] == ["terminal", "agent", "some text"]
        assert [method.id for method in info.auth_methods] == ["some text"] * 3


def test_an_agent_that_tells_nothing_can_nothing() -> None:
    info = v2.initialize_result({"protocolVersion": 2, "info": {"name": "n", "version": "1"}})
    assert not info.list_sessions and not info.load_session and not info.mcp_stdio
    assert not info.logout and info.auth_methods == ()
    bare = v2.initialize_result({"protocolVersion": 2, "capabilities": {"session": {}}})
    assert bare.list_sessions and bare.load_session and bare.resume_session and bare.close_session
    assert not bare.delete_session and not bare.mcp_stdio and not bare.prompt_image


def test_authentication_methods(reading: Reading) -> None:
    """Of a terminal method the variables are an object here; a broken one is no method at all;
    one of an unknown type is kept.
    """
    good = {
        "type": "terminal",
        "methodId": "t",
        "name": "T",
        "args": ["login"],
        "env": [{"name": "A", "value": "1"}],
    }
    nulls = {"type": "terminal", "methodId": "n", "name": "N", "args": None, "env": None}
    other = {"type": "_card", "methodId": "c", "name": "C", "description": 5, "slot": 1}
    bad = [
        {**good, "env": {"A": "1"}},
        {**good, "args": [1]},
        {"methodId": "a", "name": "no type"},
        {"type": "agent", "id": "v1", "name": "x"},
        {"type": "_card", "name": "no id"},
        5,
    ]
    methods = v2.initialize_result(
        {"protocolVersion": 2, "authMethods": [bad[0], good, *bad[1:], nulls, other]}
    ).auth_methods
    assert [method.id for method in methods] == ["t", "n", "c"]
    terminal, plain, card = methods
    assert isinstance(terminal, model.TerminalAuthMethod)
    assert (terminal.args, terminal.env) == (("login",), {"A": "1"})
    assert isinstance(plain, model.TerminalAuthMethod) and (plain.args, plain.env) == ((), {})
    assert v2.encode(terminal) == good
    assert v2.encode(card) == other
    for method in methods:
        reading.validate("AuthMethod", v2.encode(method))
