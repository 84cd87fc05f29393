"""How the demo agent speaks the protocol, whatever is said to it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.demo.driver import AGENT, BOUND, Driver

BAD_LINES: list[tuple[bytes, Any, int]] = [
    (b"nonsense", None, -32700),
    (b"[]", None, -32600),
    (b'{"jsonrpc":"2.0","id":5,"method":"no/such","params":{}}', 5, -32601),
    (b'{"jsonrpc":"2.0","id":"a","method":7}', "a", -32600),
    (b'{"jsonrpc":"2.0","id":6,"method":"session/new","params":[1]}', 6, -32600),
    (b'{"jsonrpc":"2.0","id":6,"method":"session/new","params":{"cwd":"here"}}', 6, -32602),
    (b'{"jsonrpc":"2.0","id":6,"method":"session/prompt","params":{"sessionId":"x"}}', 6, -32002),
    (b'{"jsonrpc":"2.0","id":6,"method":"session/prompt","params":{}}', 6, -32602),
]


@pytest.mark.parametrize(("line", "request_id", "code"), BAD_LINES)
async def test_bad_messages_are_answered_and_survived(
    demo: Driver, workspace: Path, line: bytes, request_id: Any, code: int
) -> None:
    await demo.open(workspace)
    demo.raw(line + b"\n")
    response = await demo.response(request_id)
    assert response["error"]["code"] == code
    demo.send({"id": 999, "result": {}})  # an answer to nothing
    assert (await demo.call("session/list", {}))["sessions"]


async def test_initialize_comes_first_and_takes_any_version(demo: Driver) -> None:
    early = await demo.response(demo.request("session/list", {}))
    assert early["error"]["code"] == -32600
    result = await demo.call("initialize", {"protocolVersion": 7})
    assert result["protocolVersion"] == 1


async def test_one_very_long_line(demo: Driver, workspace: Path) -> None:
    session = await demo.open(workspace)
    prompt = demo.prompt(session, "/refuse " + "x" * 5_000_000)
    assert (await demo.response(prompt))["result"] == {"stopReason": "refusal"}


def test_protocol_2_is_not_spoken_with_a_client_of_version_1() -> None:
    asked = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}'
    run = subprocess.run(
        [*AGENT, "--protocol", "2"], input=asked, capture_output=True, timeout=BOUND, check=False
    )
    assert run.returncode == 0
    assert json.loads(run.stdout)["error"]["code"] == -32602


async def test_a_loaded_session_says_everything_again(demo: Driver, workspace: Path) -> None:
    session = await demo.open(workspace)
    prompt = demo.prompt(session, "/edit")
    demo.select(await demo.asked(), "go-once")
    await demo.response(prompt)
    params = {"sessionId": session, "cwd": str(workspace), "mcpServers": []}
    first = demo.updates()
    before = len(demo.seen)
    await demo.call("session/load", params)
    again = [m["params"]["update"] for m in demo.seen[before:] if "method" in m]
    assert again[0]["sessionUpdate"] == "user_message_chunk"
    assert again[1:] == [u for u in first if u["sessionUpdate"] != "available_commands_update"]
    await demo.until(lambda m: "availableCommands" in m["params"]["update"])
    before = len(demo.seen)
    assert "modes" in await demo.call("session/resume", params)
    assert [m for m in demo.seen[before:] if "method" in m] == [], "no replay before the answer"
    (row,) = (await demo.call("session/list", {"cwd": str(workspace)}))["sessions"]
    assert (row["sessionId"], row["title"]) == (session, "/edit")


async def test_settings_take_only_what_they_offer(demo: Driver, workspace: Path) -> None:
    session = await demo.open(workspace)
    choose = {"sessionId": session, "configId": "pace", "value": "0.2"}
    options = (await demo.call("session/set_config_option", choose))["configOptions"]
    assert options[0]["currentValue"] == "0.2"
    for method, params in (
        ("session/set_config_option", {**choose, "value": "soon"}),
        ("session/set_config_option", {**choose, "configId": "colour"}),
        ("session/set_mode", {"sessionId": session, "modeId": "yolo"}),
    ):
        response = await demo.response(demo.request(method, params))
        assert response["error"]["code"] == -32602


def test_it_lives_on_files_too(tmp_path: Path) -> None:
    """stdin may be a plain file, its last line without a newline."""
    messages = tmp_path / "in"
    messages.write_text(
        '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}'
    )
    with messages.open("rb") as stdin:
        run = subprocess.run(AGENT, stdin=stdin, capture_output=True, timeout=BOUND, check=False)
    assert run.returncode == 0
    assert json.loads(run.stdout)["result"]["agentInfo"]["name"] == "acp-sidecar-demo"
