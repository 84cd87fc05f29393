"""An agent written with the official TypeScript SDK, driven by a pytest-lsp editor.

Every method of the stable protocol goes over the wire once: what we send is taken by the
SDK's own schema, what we answer is given back by it as it came.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_lsp
from lsprotocol import types
from pytest_lsp import ClientServerConfig

from tests.e2e import typescript
from tests.e2e.lsp_client import SERVE, Client, Refused, make_client

pytestmark = pytest.mark.filterwarnings("error::pytest_lsp.LspSpecificationWarning")

AGENT_METHODS = {
    "initialize",
    "authenticate",
    "logout",
    "session/new",
    "session/load",
    "session/resume",
    "session/list",
    "session/delete",
    "session/close",
    "session/set_mode",
    "session/set_config_option",
    "session/prompt",
    "session/cancel",
}
"""What an agent can be asked in the stable version of the protocol."""


@pytest_lsp.fixture(config=ClientServerConfig(server_command=SERVE, client_factory=make_client))
async def bare(lsp_client: Client) -> AsyncIterator[None]:
    yield
    await lsp_client.end()


@pytest.fixture
async def client(bare: Client, ws: Path) -> Client:
    """A plain editor with the workspace open."""
    agents = {"ts": typescript.setting(), "locked": typescript.setting("--login")}
    await bare.begin(ws, settings={"agents": agents, "defaultAgent": "ts"})
    return bare


@pytest.fixture
async def session(client: Client) -> dict[str, Any]:
    return await client.new()


async def play(client: Client, *lines: str, **argument: Any) -> str:
    """Play a turn; what the agent said in it."""
    before = len(said(await client.state()))
    assert await client.prompt("\n".join(lines), **argument) == "end_turn"
    return "".join(said(await client.state())[before:])


def said(state: dict[str, Any]) -> list[str]:
    return [
        "".join(block.get("text", "") for block in message["content"])
        for message in state["messages"]
        if message["role"] == "agent"
    ]


def calls(*requests: tuple[str, dict[str, Any]]) -> list[str]:
    """Lines of a prompt that have these methods of ours called."""
    return [
        f"call {method} {json.dumps({'sessionId': 'SESSION', **params})}"
        for method, params in requests
    ]


async def ask(client: Client, *requests: tuple[str, dict[str, Any]]) -> list[Any]:
    """What the agent got as answers to these requests."""
    return [json.loads(line) for line in (await play(client, *calls(*requests))).splitlines()]


async def test_every_method_of_an_agent_is_called_as_the_sdk_expects(
    client: Client, session: dict[str, Any], ws: Path
) -> None:
    assert session["agentSessionId"] == "ts-1"
    assert session["modes"]["currentModeId"] == "calm"
    assert [option["id"] for option in session["configOptions"]] == ["model", "verbose"]
    changed = await client.execute("acp.session.setMode", modeId="bold")
    assert changed["modes"]["currentModeId"] == "bold"
    await client.execute("acp.session.setConfigOption", configId="verbose", value=True)
    changed = await client.execute("acp.session.setConfigOption", configId="model", value="big")
    assert [option["currentValue"] for option in changed["configOptions"]] == ["big", True]

    (ws / "more").mkdir()
    servers = [
        {"name": "tool", "command": "/bin/tool", "args": ["-x"], "env": {"A": "b"}},
        {"type": "http", "name": "web", "url": "https://example.org/", "headers": {"A": "b"}},
        {"type": "sse", "name": "old", "url": "https://example.org/sse"},
    ]
    second = await client.new(additionalDirectories=[str(ws / "more")], mcpServers=servers)
    first_page = await client.execute("acp.session.list")
    assert [row["agentSessionId"] for row in first_page["sessions"]] == ["ts-1"]
    page = await client.execute("acp.session.list", cursor=first_page["nextCursor"])
    assert [row["agentSessionId"] for row in page["sessions"]] == ["ts-2"]

    loaded = await client.execute("acp.session.load", agentSessionId="earlier")
    state = await client.state(sessionId=loaded["sessionId"])
    assert [message["role"] for message in state["messages"]] == ["user", "agent"]
    with pytest.raises(Refused, match="Resource not found"):
        await client.execute("acp.session.load", agentSessionId="unknown")
    resumed = await client.execute("acp.session.resume", agentSessionId="yesterday")
    for opened in (second, loaded, resumed):
        assert await client.execute("acp.session.close", sessionId=opened["sessionId"]) == {}
    assert await client.execute("acp.session.delete", agentSessionId="yesterday") == {}
    assert await client.execute("acp.agent.login", agent="ts", methodId="key") == {}
    assert await client.execute("acp.agent.logout", agent="ts") == {}

    turn = client.start("acp.session.prompt", text="wait")
    await client.eventually(lambda state: said(state), "acp.session.state")
    await client.execute("acp.session.cancel")
    assert await turn == {"stopReason": "cancelled"}

    (ws / "a.py").write_text("one\n")
    picture = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
    uri = (ws / "a.py").as_uri()
    told = await play(client, "seen", content=[picture], context=[{"uri": uri}])
    seen: list[dict[str, Any]] = json.loads(told)
    assert {one["method"] for one in seen} == AGENT_METHODS
    params = {one["method"]: one["params"] for one in seen}
    assert params["initialize"]["clientInfo"]["name"] == "acp-sidecar"
    able = params["initialize"]["clientCapabilities"]
    assert able["fs"] == {"readTextFile": True, "writeTextFile": True}
    assert able["terminal"] is True
    assert set(able["elicitation"]) == {"form", "url"}
    opened_with = [one["params"] for one in seen if one["method"] == "session/new"][1]
    assert opened_with["additionalDirectories"] == [str(ws / "more")]
    assert [server["name"] for server in opened_with["mcpServers"]] == ["tool", "web", "old"]
    kinds = [block["type"] for block in params["session/prompt"]["prompt"]]
    assert kinds == ["text", "image", "resource"]


async def test_files_are_read_and_written(
    client: Client, session: dict[str, Any], ws: Path
) -> None:
    file = ws / "notes.txt"
    file.write_text("one\ntwo\nthree\n")
    client.type(client.open(file), 0, 0, "un")
    answers = await ask(
        client,
        ("fs/read_text_file", {"path": str(file)}),
        ("fs/read_text_file", {"path": str(file), "line": 2, "limit": 1}),
        ("fs/read_text_file", {"path": str(ws / "none")}),
        ("fs/write_text_file", {"path": str(ws / "new.txt"), "content": "made\n"}),
    )
    assert answers[0] == {"content": "unone\ntwo\nthree\n"}
    assert answers[1] == {"content": "two\n"}
    assert answers[2]["code"] == -32002
    assert answers[3] in ({}, None)
    assert (ws / "new.txt").read_text() == "made\n"


@pytest.mark.parametrize(
    ("click", "outcome"),
    [
        ("Allow", {"outcome": "selected", "optionId": "y"}),
        ("Reject", {"outcome": "selected", "optionId": "n"}),
    ],
)
async def test_a_permission_is_asked(
    client: Client, session: dict[str, Any], click: str, outcome: dict[str, Any]
) -> None:
    request = (
        "session/request_permission",
        {
            "toolCall": {"toolCallId": "t1", "title": "Delete", "kind": "delete"},
            "options": [
                {"optionId": "y", "name": "Allow", "kind": "allow_once"},
                {"optionId": "n", "name": "Reject", "kind": "reject_once"},
            ],
        },
    )
    turn = client.start("acp.session.prompt", text="\n".join(calls(request)))
    dialog = await client.dialog()
    assert "delete" in dialog.text
    dialog.click(click)
    assert await turn == {"stopReason": "end_turn"}
    assert json.loads(said(await client.state())[-1]) == {"outcome": outcome}


async def test_a_request_that_the_agent_withdraws_is_answered_cancelled(
    client: Client, session: dict[str, Any]
) -> None:
    """``$/cancel_request`` from the agent closes the dialog."""
    options = [{"optionId": "y", "name": "Allow", "kind": "allow_once"}]
    params = {"sessionId": "SESSION", "toolCall": {"toolCallId": "t"}, "options": options}
    line = f"withdraw session/request_permission {json.dumps(params)}"
    turn = client.start("acp.session.prompt", text=f"{line}\ndone")
    dialog = await client.dialog()
    assert await turn == {"stopReason": "end_turn"}
    await client.until(lambda: dialog.withdrawn)
    (permission,) = (await client.state())["permissions"]
    assert permission["state"] == "cancelled"


async def test_a_command_runs_in_a_terminal(
    client: Client, session: dict[str, Any], ws: Path
) -> None:
    (made,) = await ask(
        client,
        ("terminal/create", {"command": "sh", "args": ["-c", "echo hi; exit 3"], "cwd": str(ws)}),
    )
    terminal = {"terminalId": made["terminalId"]}
    call = {
        "sessionUpdate": "tool_call",
        "toolCallId": "t1",
        "title": "Run",
        "kind": "execute",
        "content": [{"type": "terminal", **terminal}],
    }
    told = await play(
        client,
        *calls(("terminal/wait_for_exit", terminal), ("terminal/output", terminal)),
        f"update {json.dumps(call)}",
        *calls(("terminal/kill", terminal), ("terminal/release", terminal)),
        *calls(("terminal/output", terminal)),
    )
    exited, output, killed, released, gone = [json.loads(line) for line in told.splitlines()]
    assert exited["exitCode"] == 3
    assert (output["output"].split(), output["truncated"]) == (["hi"], False)
    assert output["exitStatus"]["exitCode"] == 3
    assert [answer in ({}, None) for answer in (killed, released)] == [True, True]
    assert gone["code"] < 0
    (shown,) = (await client.state())["terminals"]
    assert "hi" in shown["output"]


async def test_what_the_agent_wants_to_know_is_asked(
    client: Client, session: dict[str, Any]
) -> None:
    form = {
        "mode": "form",
        "message": "Which one?",
        "requestedSchema": {
            "type": "object",
            "properties": {"sure": {"type": "boolean", "title": "Sure"}},
            "required": ["sure"],
        },
    }
    turn = client.start("acp.session.prompt", text=calls(("elicitation/create", form))[0])
    dialog = await client.dialog()
    assert "Which one?" in dialog.text
    dialog.click(next(title for title in dialog.titles if title.startswith("Yes")))
    assert await turn == {"stopReason": "end_turn"}
    answer = json.loads(said(await client.state())[-1])
    assert answer == {"action": "accept", "content": {"sure": True}}

    page = {
        "mode": "url",
        "message": "Sign in",
        "url": "https://example.org/login",
        "elicitationId": "e1",
    }
    line = calls(("elicitation/create", page))[0]
    complete = f"notify elicitation/complete {json.dumps({'elicitationId': 'e1'})}"
    turn = client.start("acp.session.prompt", text=f"{line}\n{complete}")
    dialog = await client.dialog(2)
    assert "https://example.org/login" in dialog.text
    dialog.click("Decline")
    assert await turn == {"stopReason": "end_turn"}
    assert json.loads(said(await client.state())[-1]) == {"action": "decline"}


UPDATES: list[dict[str, Any]] = [
    {"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": "hm"}},
    {
        "sessionUpdate": "tool_call",
        "toolCallId": "t1",
        "title": "Edit",
        "kind": "edit",
        "status": "in_progress",
        "locations": [{"path": "/ws/a.txt", "line": 2}],
        "rawInput": {"a": 1},
    },
    {
        "sessionUpdate": "tool_call_update",
        "toolCallId": "t1",
        "status": "completed",
        "content": [{"type": "diff", "path": "/ws/a.txt", "oldText": None, "newText": "x\n"}],
    },
    {
        "sessionUpdate": "plan",
        "entries": [{"content": "first", "priority": "high", "status": "pending"}],
    },
    {
        "sessionUpdate": "available_commands_update",
        "availableCommands": [{"name": "web", "description": "search", "input": {"hint": "q"}}],
    },
    {"sessionUpdate": "current_mode_update", "currentModeId": "bold"},
    {"sessionUpdate": "session_info_update", "title": "A title"},
    {"sessionUpdate": "usage_update", "used": 1, "size": 10},
]


async def test_every_update_arrives(client: Client, session: dict[str, Any]) -> None:
    await client.prompt("\n".join(f"update {json.dumps(update)}" for update in UPDATES))
    state = await client.state()
    assert [message["role"] for message in state["messages"]] == ["user", "thought"]
    (call,) = state["toolCalls"]
    assert (call["title"], call["status"], call["rawInput"]) == ("Edit", "completed", {"a": 1})
    assert call["content"][0]["newText"] == "x\n"
    assert state["plans"][0]["entries"][0]["content"] == "first"
    assert state["commands"][0]["name"] == "web"
    assert state["modes"]["currentModeId"] == "bold"
    assert (state["title"], state["usage"]["used"]) == ("A title", 1)


async def test_S04_a_login_is_offered_done_and_what_was_asked_for_tried_again(
    client: Client,
) -> None:
    opening = client.start("acp.session.new", agent="locked")
    dialog = await client.dialog()
    dialog.click(next(title for title in dialog.titles if "A key" in title))
    assert (await opening)["agentSessionId"] == "ts-1"


async def test_what_the_client_does_not_know_is_refused(
    client: Client, session: dict[str, Any]
) -> None:
    (answer,) = await ask(client, ("vendor/ask", {"a": 1}))
    assert answer["code"] == -32601
    assert client.diagnostics == {}
    assert all(shown.type != types.MessageType.Error for shown in client.messages), client.messages
