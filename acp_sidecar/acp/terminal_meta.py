"""The output of commands that an agent runs by itself, told in ``_meta`` of its tool calls.

No part of the protocol's schema, but what agents send to a client that has
``clientCapabilities._meta.terminal_output``: ``terminal_info`` (``terminal_id``, ``cwd``) begins
a terminal, ``terminal_output`` (``terminal_id``, ``data``) adds to its text, ``terminal_exit``
(``terminal_id``, ``exit_code``, ``signal``) ends it. The tool call's content names the terminal.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from acp_sidecar.acp.model import JsonObject, TerminalOutput, TerminalUpdate

CAPABILITY: Final[Mapping[str, Any]] = {"terminal_output": True}
"""To be laid into ``_meta`` of the client's capabilities."""


def terminal_events(meta: JsonObject | None) -> list[TerminalUpdate | TerminalOutput]:
    """What a tool call's ``_meta`` says of terminals, in order. What is odd is left out."""
    if not meta:
        return []
    events: list[TerminalUpdate | TerminalOutput] = []
    info = _about(meta, "terminal_info")
    if info is not None:
        cwd = info.get("cwd")
        events.append(
            TerminalUpdate(info["terminal_id"], cwd=cwd)
            if isinstance(cwd, str)
            else TerminalUpdate(info["terminal_id"])
        )
    output = _about(meta, "terminal_output")
    if output is not None and isinstance(output.get("data"), str):
        events.append(TerminalOutput(output["terminal_id"], output["data"]))
    exit_ = _about(meta, "terminal_exit")
    if exit_ is not None:
        events.append(TerminalUpdate(exit_["terminal_id"], exit_status=_status(exit_)))
    return events


def _about(meta: JsonObject, name: str) -> Mapping[str, Any] | None:
    found = meta.get(name)
    known = isinstance(found, Mapping) and isinstance(found.get("terminal_id"), str)
    return found if known else None


def _status(told: Mapping[str, Any]) -> JsonObject:
    code, signal = told.get("exit_code"), told.get("signal")
    return {
        "exitCode": code if isinstance(code, int) and not isinstance(code, bool) else None,
        "signal": signal if isinstance(signal, str) else None,
    }
