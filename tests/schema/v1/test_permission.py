"""What an agent asks before it acts."""

from __future__ import annotations

from acp_sidecar.acp import v1
from tests.schema.case import usable_options
from tests.schema.reading import JUNK, Reading, paths, put, without_nulls


def test_a_permission_request_is_read_in_full(reading: Reading) -> None:
    for sample in reading.samples(reading.of("RequestPermissionRequest")):
        reading.validate("RequestPermissionRequest", sample)
        request = v1.permission_request(sample)
        assert without_nulls(v1.encode(request.options)) == without_nulls(sample["options"])
        assert request.tool_call is not None
        written = v1.encode_update(request.tool_call)
        assert without_nulls(written) == without_nulls(
            {"sessionUpdate": "tool_call_update", **sample["toolCall"]}
        )
        assert request.meta == sample["_meta"]
        assert request.unknown["x-unknown"] == {"kept": True}


def test_no_broken_permission_request_is_lost(reading: Reading) -> None:
    """Junk anywhere but in the session id: the question and its usable options survive."""
    (sample, *_) = reading.samples(reading.of("RequestPermissionRequest"))
    for place in paths(sample):
        if place == ("sessionId",):
            continue
        for junk in JUNK:
            broken = put(sample, place, junk)
            request = v1.permission_request(broken)
            usable = [option.option_id for option in request.options]
            assert usable == usable_options(broken), (place, junk)
            assert all(option.name for option in request.options)
            if place[0] != "toolCall":
                assert request.tool_call is not None
                assert request.tool_call.title == "some text"
