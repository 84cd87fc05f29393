"""Commands that an agent runs by itself and tells of in its tool calls' ``_meta``."""

from __future__ import annotations

from typing import Any

import pytest

from acp_sidecar.acp.terminal_meta import terminal_events
from acp_sidecar.session.transcript import block, changed_keys
from tests.unit.session_world import World


def told(world: World) -> dict[str, Any]:
    (terminal,) = world.json["terminals"]
    return dict(terminal)


def meta(world: World, update: str = "tool_call_update", /, **about: Any) -> list[Any]:
    known = {"title": "make"} if update == "tool_call" else {}
    return world.update(update, toolCallId="c1", _meta=about, **known)


def test_output_comes_in_pieces_and_ends() -> None:
    world = World()
    world.update(
        "tool_call",
        toolCallId="c1",
        title="make",
        content=[{"type": "terminal", "terminalId": "c1"}],
        _meta={"terminal_info": {"terminal_id": "c1", "cwd": "/ws"}},
    )
    meta(world, terminal_output={"terminal_id": "c1", "data": "one\n"})
    changes = meta(world, terminal_output={"terminal_id": "c1", "data": "\x1b[1mtwo\x1b[0m\n"})
    assert "toolCall:c1" in changed_keys(changes)
    assert told(world)["exitStatus"] is None
    meta(world, terminal_exit={"terminal_id": "c1", "exit_code": 2, "signal": None})
    assert told(world) == {
        "terminalId": "c1",
        "command": None,
        "cwd": "/ws",
        "output": "one\ntwo\n",
        "truncated": False,
        "exitStatus": {"exitCode": 2, "signal": None},
    }
    session = world.session
    (entry,) = session.entries
    (item,) = block(session, entry)["content"]
    assert item == {"type": "terminal", "terminalId": "c1", "terminal": told(world)}
    # What the terminal holds is not sent a second time with every update of the call.
    assert set(world.json["toolCalls"][0]["_meta"]) == {"terminal_info", "terminal_exit"}


def test_the_state_holds_the_end_of_a_long_output() -> None:
    world = World()
    world.session.terminal_began("t", "yes", "/ws")
    world.session.terminal_wrote("t", b"first\n" + b"y\n" * 1_000_000 + b"last\n")
    assert told(world)["output"].endswith("\ny\nlast\n")
    assert len(told(world)["output"]) <= 1 << 20
    assert told(world)["truncated"]
    terminal = world.session.terminal("t")
    assert terminal is not None
    assert terminal.to_json()["output"].startswith("first\n")
    assert not terminal.to_json()["truncated"]


def test_all_of_it_in_one_update_and_before_its_call_is_known() -> None:
    world = World()
    meta(
        world,
        "tool_call",
        other=1,
        terminal_info={"terminal_id": "x"},
        terminal_output={"terminal_id": "x", "data": "out"},
        terminal_exit={"terminal_id": "x", "exit_code": None, "signal": "SIGKILL"},
    )
    assert told(world)["output"] == "out"
    assert told(world)["exitStatus"] == {"exitCode": None, "signal": "SIGKILL"}
    changes = world.update(
        "tool_call_update",
        toolCallId="c1",
        content=[{"type": "terminal", "terminalId": "x"}],
    )
    assert changed_keys(changes) == ["toolCall:c1"]
    again = meta(world, terminal_output={"terminal_id": "x", "data": " more"})
    assert changed_keys(again) == ["toolCall:c1"]
    assert world.json["toolCalls"][0]["_meta"]["other"] == 1


@pytest.mark.parametrize(
    "about",
    [
        None,
        {},
        {"terminal_output": "text"},
        {"terminal_output": {"data": "no id"}},
        {"terminal_output": {"terminal_id": 5, "data": "x"}},
        {"terminal_output": {"terminal_id": "x", "data": None}},
        {"terminal_info": [], "terminal_exit": None},
    ],
)
def test_what_is_odd_says_nothing(about: Any) -> None:
    assert terminal_events(about) == []


def test_an_odd_exit_is_an_end_all_the_same() -> None:
    world = World()
    meta(world, terminal_exit={"terminal_id": "x", "exit_code": True, "signal": 9})
    assert told(world)["exitStatus"] == {"exitCode": None, "signal": None}


def test_an_agent_cannot_speak_for_a_command_that_runs_here() -> None:
    world = World()
    world.session.terminal_began("terminal-1", "make", "/ws")
    world.session.terminal_wrote("terminal-1", b"what it wrote\n")
    for about in (
        {"terminal_info": {"terminal_id": "terminal-1", "cwd": "/elsewhere"}},
        {"terminal_output": {"terminal_id": "terminal-1", "data": "all is well"}},
        {"terminal_exit": {"terminal_id": "terminal-1", "exit_code": 0}},
    ):
        meta(world, **about)
    assert told(world)["output"] == "what it wrote\n"
    assert (told(world)["cwd"], told(world)["exitStatus"]) == ("/ws", None)
