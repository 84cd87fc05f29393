"""What an agent asks before it acts."""

from __future__ import annotations

import random

from acp_sidecar.acp import v2
from tests.schema.case import usable_options
from tests.schema.reading import JUNK, Reading, paths, put, without_nulls
from tests.schema.v2.cases import S


def test_a_permission_request_is_read_in_full(reading: Reading) -> None:
    seen = set()
    for sample in reading.samples(reading.of("RequestPermissionRequest")):
        reading.validate("RequestPermissionRequest", sample)
        request = v2.permission_request(sample)
        assert request.title == request.description == "some text"
        assert request.subject is not None
        seen.add(request.subject.type)
        written = v2.encode_permission_request(request)
        reading.validate("RequestPermissionRequest", written)
        assert without_nulls(written) == without_nulls(sample)
    assert seen == {"tool_call", "command", "some text"}


def test_no_broken_permission_request_is_lost(reading: Reading) -> None:
    """Junk anywhere but in the session id: the question and its usable options survive."""
    rng = random.Random(2)
    for sample in reading.samples(reading.of("RequestPermissionRequest")):
        for place in paths(sample):
            if place == ("sessionId",):
                continue
            for junk in rng.sample(JUNK, 1):
                broken = put(sample, place, junk)
                request = v2.permission_request(broken)
                usable = [option.option_id for option in request.options]
                assert usable == usable_options(broken), (place, junk)
                assert all(option.name for option in request.options)
                if place[0] != "title":
                    assert request.title == "some text"
                if place[0] != "subject":
                    assert request.subject is not None


def test_a_command_is_told_in_full() -> None:
    subject = {"type": "command", "command": "rm -rf /ws/x", "cwd": "/ws", "toolCallId": "t"}
    request = v2.permission_request({**S, "title": "Run?", "subject": subject, "options": []})
    assert request.subject is not None
    assert (request.subject.command, request.subject.cwd) == ("rm -rf /ws/x", "/ws")
    assert request.subject.tool_call_id == "t"
    assert request.tool_call is None


def test_a_subject_of_an_unknown_type_is_kept() -> None:
    subject = {"type": "_launch", "command": 5, "rocket": {"fuel": None}, "_meta": None}
    request = v2.permission_request({**S, "title": "Go?", "subject": subject, "options": []})
    assert request.subject is not None and request.subject.type == "_launch"
    assert request.subject.command is None
    assert v2.encode_permission_request(request)["subject"] == subject
