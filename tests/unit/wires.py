"""An update as it is read from one wire, and as it arrives over the other."""

from __future__ import annotations

import json

from acp_sidecar.acp import v1, v2
from acp_sidecar.acp.model import Event

from .v2_traffic import Json


def read_v1(update: Json) -> Event:
    return v1.session_update({"sessionId": "S", "update": update})[1]


def read_v2(update: Json) -> Event:
    return v2.session_update({"sessionId": "S", "update": update})[1]


def via_v2(event: Event) -> Event:
    """The event as it arrives over a v2 wire."""
    return read_v2(json.loads(json.dumps(v2.encode_update(event))))


def via_v1(event: Event) -> Event:
    return read_v1(json.loads(json.dumps(v1.encode_update(event))))
