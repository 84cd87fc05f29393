"""What an agent says of itself."""

from __future__ import annotations

from acp_sidecar.acp import model, v1
from tests.schema.reading import Reading


def test_initialize_result_is_read_in_full(reading: Reading) -> None:
    for sample in reading.samples(reading.of("InitializeResponse")):
        reading.validate("InitializeResponse", sample)
        info = v1.initialize_result(sample)
        assert info.protocol_version == sample["protocolVersion"]
        assert (info.name, info.version) == ("some text", "some text")
        assert info.load_session and info.list_sessions and info.resume_session
        assert info.close_session and info.delete_session and info.additional_directories
        assert info.prompt_image and info.prompt_audio and info.prompt_embedded_context
        assert info.mcp_http and info.mcp_sse and info.logout
        assert not info.fork_session
        assert info.raw == sample
        assert [method.type for method in info.auth_methods] == [
            item.get("type", "agent") for item in sample["authMethods"]
        ]


def test_authentication_methods_skip_what_cannot_be_read(reading: Reading) -> None:
    """``args`` and ``env`` may be null; a terminal method that is broken otherwise is no
    method at all, since it must never be passed to ``authenticate`` as an ordinary one.
    """
    good = {"type": "terminal", "id": "t", "name": "T", "args": None, "env": None}
    bad = {"type": "terminal", "id": "u", "name": "U", "args": [1]}
    result = {"protocolVersion": 1, "authMethods": [5, good, bad, {"id": "a"}, None]}
    (method,) = v1.initialize_result(result).auth_methods
    assert isinstance(method, model.TerminalAuthMethod)
    assert (method.id, method.args, method.env) == ("t", (), {})
