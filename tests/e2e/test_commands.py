"""Every command of ``workspace/executeCommand``, through pytest-lsp, against the demo agent.

The sidecar is the installed ``acp-sidecar serve``, the agent a process of its own.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import pytest_lsp
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pytest_lsp import ClientServerConfig

from tests.e2e.lsp_client import BOUND, SERVE, Client, Refused, make_client

pytestmark = pytest.mark.filterwarnings("error::pytest_lsp.LspSpecificationWarning")

MINUTES = timedelta(minutes=5)
GREETING = '''"""Greets people by name."""

PEOPLE = ("Ada", "Grace", "Linus")


def greet(name):
    return "Hello " + name
'''
GREETED = GREETING.replace('"Hello " + name', 'f"Good morning, {name}!"').replace(
    '"Ada", "Grace"', '"Ada", "Barbara", "Grace"'
)

COMMANDS = {
    "acp.session.new",
    "acp.session.prompt",
    "acp.session.queue",
    "acp.session.cancel",
    "acp.prompt.complete",
    "acp.session.list",
    "acp.session.opened",
    "acp.session.load",
    "acp.session.resume",
    "acp.session.fork",
    "acp.session.delete",
    "acp.session.close",
    "acp.session.setMode",
    "acp.session.setConfigOption",
    "acp.session.state",
    "acp.follow.set",
    "acp.review.list",
    "acp.review.keep",
    "acp.review.revert",
    "acp.review.undo",
    "acp.review.diff",
    "acp.review.next",
    "acp.checkpoint.list",
    "acp.checkpoint.restore",
    "acp.checkpoint.preview",
    "acp.permission.pending",
    "acp.permission.answer",
    "acp.elicitation.pending",
    "acp.elicitation.answer",
    "acp.agent.list",
    "acp.agent.login",
    "acp.agent.logout",
    "acp.agent.restart",
    "acp.terminal.output",
    "acp.terminal.kill",
    "acp.toolCall.cancel",
}


@pytest_lsp.fixture(config=ClientServerConfig(server_command=SERVE, client_factory=make_client))
async def bare(lsp_client: Client) -> AsyncIterator[None]:
    """An editor that has started a sidecar and not yet said a word."""
    yield
    await lsp_client.end()


@pytest.fixture
def greeting(ws: Path) -> Path:
    """The file that the demo agent works on."""
    path = ws / "greeting.py"
    path.write_text(GREETING)
    return path


@pytest.fixture
async def client(bare: Client, ws: Path, greeting: Path) -> Client:
    """An editor with the workspace open."""
    await bare.begin(ws)
    return bare


@pytest.fixture
async def session(client: Client) -> dict[str, Any]:
    """An open session with the demo agent."""
    return await client.new()


# --- what is offered -----------------------------------------------------------------------


async def test_every_command_is_offered_and_nothing_else(bare: Client) -> None:
    result = await bare.begin()
    offered = result.capabilities.execute_command_provider
    assert offered is not None
    assert set(offered.commands) == COMMANDS
    with pytest.raises(Refused, match=r"unknown command 'acp\.session\.fly'") as refused:
        await bare.execute("acp.session.fly")
    assert refused.value.code == -32602


# --- sessions ------------------------------------------------------------------------------


async def test_a_new_session_says_what_it_can_do(client: Client, ws: Path) -> None:
    opened = await client.execute("acp.session.new")
    assert list(opened) == [
        "sessionId",
        "agentSessionId",
        "agent",
        "protocolVersion",
        "modes",
        "configOptions",
        "commands",
    ]
    assert opened["agent"] == "demo"
    assert opened["protocolVersion"] == 1
    assert opened["sessionId"] != opened["agentSessionId"]
    assert opened["modes"]["currentModeId"] == "ask"
    assert [mode["id"] for mode in opened["modes"]["availableModes"]] == [
        "ask",
        "accept-edits",
        "read-only",
    ]
    assert [option["id"] for option in opened["configOptions"]] == ["pace"]
    state = await client.state()
    assert (state["cwd"], state["roots"], state["status"]) == (str(ws), [str(ws)], "idle")
    # The demo agent announces its slash commands after it has answered.
    announced = await client.eventually(lambda state: state["commands"], "acp.session.state")
    assert "edit" in [command["name"] for command in announced["commands"]]
    starting = await client.until(lambda: [log.message for log in client.log_messages])
    assert starting[0].startswith(f"Starting demo in {ws}: ")


async def test_a_session_may_have_a_folder_of_its_own_and_more_roots(
    client: Client, ws: Path, tmp_path: Path
) -> None:
    inner, other = ws / "inner", tmp_path / "other"
    inner.mkdir()
    other.mkdir()
    (other / "greeting.py").write_text(GREETING)
    opened = await client.new(
        agent="demo", cwd=str(inner), additionalDirectories=[str(other)], mcpServers=[]
    )
    state = await client.state(sessionId=opened["sessionId"])
    assert state["cwd"] == str(inner)
    assert state["roots"] == [str(inner), str(other)]
    assert await client.prompt(f"/read {other}/greeting.py:3") == "end_turn"
    call = (await client.state())["toolCalls"][0]
    assert (call["status"], call["rawOutput"]["line"]) == ("completed", 3)


async def test_without_a_workspace_a_folder_must_be_named(
    bare: Client, ws: Path, greeting: Path
) -> None:
    await bare.begin()
    with pytest.raises(Refused, match="No folder is open in the editor: name one as 'cwd'"):
        await bare.new()
    await bare.new(cwd=str(ws))
    assert await bare.prompt("/read greeting.py:3") == "end_turn"
    await bare.until(lambda: ("greeting.py", 2) in bare.revealed())


async def test_an_agent_that_cannot_be_used_says_why(
    bare: Client, ws: Path, tmp_path: Path
) -> None:
    dying = "import sys; sys.exit('no licence found')"
    agents = {
        "absent": {"command": "no-such-agent-here"},
        "patched": {"command": "no-such-agent-here", "env": {"PATH": str(tmp_path)}},
        "dying": {"command": sys.executable, "args": ["-c", dying]},
        "silent": {"command": sys.executable, "args": ["-c", "import sys; sys.stdin.read()"]},
    }
    await bare.begin(ws, settings={"agents": agents, "timeouts": {"initialize": 1}})
    with pytest.raises(Refused, match=r"No agent 'nobody' is known\. Known: .*demo.*dying"):
        await bare.new(agent="nobody")
    with pytest.raises(Refused, match="Cannot find the command 'no-such-agent-here'") as absent:
        await bare.new(agent="absent")
    assert os.environ["PATH"] in str(absent.value)
    with pytest.raises(Refused, match=f"Searched PATH: {tmp_path}[.]"):
        await bare.new(agent="patched")
    with pytest.raises(Refused, match="no licence found"):
        await bare.new(agent="dying")
    with pytest.raises(Refused, match=r"silent did not answer initialize within 1 s"):
        await bare.new(agent="silent")
    with pytest.raises(Refused, match="does not exist or is no folder"):
        await bare.new(cwd=str(ws / "nowhere"))
    # None of this has spoilt anything.
    (ws / "greeting.py").write_text(GREETING)
    with pytest.raises(Refused, match=r"acp\.session\.new opens one"):
        await bare.state()


@pytest.mark.parametrize("way", ["request", "progress"])
async def test_S03_an_agent_that_never_answers_can_be_given_up(
    bare: Client, ws: Path, way: str
) -> None:
    silent = "import os, sys; open('pid', 'w').write(str(os.getpid())); sys.stdin.read()"
    agents = {"silent": {"command": sys.executable, "args": ["-c", silent]}}
    await bare.begin(ws, settings={"agents": agents})
    opening = bare.start("acp.session.new", agent="silent")
    (begin,) = await bare.until(lambda: [one for one in bare.progress_reports.values() if one])
    assert (begin[0].title, begin[0].cancellable) == ("Starting silent", True)
    async with asyncio.timeout(BOUND):
        while not (ws / "pid").exists() or not (ws / "pid").read_text():
            await asyncio.sleep(0.02)
    if way == "request":
        opening.cancel()
    else:
        (token,) = bare.progress_reports
        bare.window_work_done_progress_cancel(types.WorkDoneProgressCancelParams(token))
    with pytest.raises(Refused) as refused:
        await opening
    assert refused.value.code == -32800
    async with asyncio.timeout(BOUND):
        while alive(int((ws / "pid").read_text())):
            await asyncio.sleep(0.02)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_several_sessions_must_be_told_apart(client: Client) -> None:
    with pytest.raises(Refused, match=r"No session is open\. acp\.session\.new opens one\."):
        await client.state()
    one, two = await client.new(), await client.new()
    with pytest.raises(Refused, match="Several sessions are open; name one as sessionId") as many:
        await client.execute("acp.session.prompt", text="/refuse")
    assert one["sessionId"] in str(many.value)
    assert two["sessionId"] in str(many.value)
    assert await client.prompt("/refuse", sessionId=two["sessionId"]) == "refusal"
    assert (await client.state(sessionId=one["sessionId"]))["messages"] == []
    assert len((await client.state(sessionId=two["sessionId"]))["messages"]) == 2
    with pytest.raises(Refused, match=r"No session 'gone' is open\. acp\.session\.new opens one"):
        await client.state(sessionId="gone")
    assert await client.execute("acp.session.close", sessionId=one["sessionId"]) == {}
    # One is left: it need not be named.
    assert (await client.state())["sessionId"] == two["sessionId"]


async def test_sessions_are_listed_closed_and_loaded_again(
    client: Client, ws: Path, greeting: Path
) -> None:
    keeper = await client.new()
    first = await client.new()
    turn = client.start("acp.session.prompt", sessionId=first["sessionId"], text="/edit")
    (await client.dialog()).click("Yes")
    assert await turn == {"stopReason": "end_turn"}
    listed = await client.execute("acp.session.list", agent="demo", cursor=None)
    for session in listed["sessions"]:
        assert datetime.now(UTC) - datetime.fromisoformat(session.pop("updatedAt")) < MINUTES
    assert listed == {
        "sessions": [
            {"agentSessionId": first["agentSessionId"], "cwd": str(ws), "title": "/edit"},
            {"agentSessionId": keeper["agentSessionId"], "cwd": str(ws), "title": None},
        ],
        "nextCursor": None,
    }
    with pytest.raises(Refused, match=f"open already, as session '{first['sessionId']}'"):
        await client.execute("acp.session.load", agentSessionId=first["agentSessionId"])
    await client.execute("acp.session.close", sessionId=first["sessionId"])
    shown, asked, text = len(client.shown_documents), len(client.dialogs), greeting.read_text()

    loaded = await client.execute("acp.session.load", agentSessionId=first["agentSessionId"])
    assert set(loaded) == {*first, "interrupted", "unsent"}
    assert loaded["agentSessionId"] == first["agentSessionId"]
    assert loaded["sessionId"] != first["sessionId"]
    state = await client.state(sessionId=loaded["sessionId"])
    assert [message["role"] for message in state["messages"]] == ["user"]
    assert state["messages"][0]["content"] == [{"type": "text", "text": "/edit"}]
    assert [call["status"] for call in state["toolCalls"]] == ["completed"]
    # History is told, not done again.
    assert (len(client.shown_documents), len(client.dialogs)) == (shown, asked)
    assert greeting.read_text() == text

    await client.execute("acp.session.close", sessionId=loaded["sessionId"])
    resumed = await client.execute(
        "acp.session.resume", agent="demo", agentSessionId=first["agentSessionId"]
    )
    assert set(resumed) == set(loaded)
    state = await client.state(sessionId=resumed["sessionId"])
    assert (state["messages"], state["status"]) == ([], "idle")
    for how in ("load", "resume"):
        with pytest.raises(Refused, match=f"demo refused session/{how}: unknown session nope"):
            await client.execute(f"acp.session.{how}", agentSessionId="nope")


async def test_what_the_agent_does_not_offer_is_named(
    client: Client, session: dict[str, Any]
) -> None:
    for command, argument, capability in (
        ("acp.session.fork", {"agentSessionId": "x"}, "sessionCapabilities.fork"),
        ("acp.session.delete", {"agentSessionId": "x"}, "sessionCapabilities.delete"),
        ("acp.agent.logout", {"agent": "demo"}, "auth.logout"),
    ):
        with pytest.raises(Refused) as refused:
            await client.execute(command, **argument)
        assert str(refused.value) == f"demo does not offer this: it lacks {capability}."
        assert refused.value.code == -32803
    with pytest.raises(Refused, match="demo offers: no login methods"):
        await client.execute("acp.agent.login", agent="demo")


async def test_a_closed_session_is_gone_and_so_is_its_agent(
    client: Client, session: dict[str, Any]
) -> None:
    assert await client.execute("acp.session.close") == {}
    with pytest.raises(Refused, match="No session is open"):
        await client.execute("acp.session.close")
    # The process has nothing left to do. Once it is gone a session of it is not known any more;
    # until the agent has confirmed the close the old process may still answer.
    async with asyncio.timeout(20):
        while True:
            try:
                again = await client.execute(
                    "acp.session.load", agentSessionId=session["agentSessionId"]
                )
            except Refused as refused:
                assert "unknown session" in str(refused)
                return
            await client.execute("acp.session.close", sessionId=again["sessionId"])


async def test_modes_and_options_are_set_and_take_effect(
    client: Client, session: dict[str, Any], greeting: Path
) -> None:
    result = await client.execute("acp.session.setMode", modeId="accept-edits")
    assert result["modes"]["currentModeId"] == "accept-edits"
    assert await client.prompt("/edit") == "end_turn"
    assert client.dialogs == []
    assert greeting.read_text() == GREETED
    result = await client.execute("acp.session.setConfigOption", configId="pace", value="0.2")
    assert [option["currentValue"] for option in result["configOptions"]] == ["0.2"]
    state = await client.state()
    assert state["modes"]["currentModeId"] == "accept-edits"
    assert state["configOptions"] == result["configOptions"]
    with pytest.raises(Refused, match="No mode 'fly'; known: ask, accept-edits, read-only"):
        await client.execute("acp.session.setMode", modeId="fly")
    with pytest.raises(Refused, match="No option 'speed'; known: pace"):
        await client.execute("acp.session.setConfigOption", configId="speed", value="1")


# --- prompts -------------------------------------------------------------------------------


async def test_a_prompt_waits_for_the_end_of_its_turn_and_shows_progress(
    client: Client, session: dict[str, Any]
) -> None:
    turn = client.start("acp.session.prompt", text="/ask")
    (await client.dialog()).click("Yes")
    assert await turn == {"stopReason": "end_turn"}
    (said,) = [
        message["content"]
        for message in (await client.state())["messages"]
        if message["role"] == "agent"
    ]
    assert said == [{"type": "text", "text": "The answers: yes."}]

    def reports() -> Any:
        latest = list(client.progress_reports.values())[-1]
        return latest if isinstance(latest[-1], types.WorkDoneProgressEnd) else None

    begin, *between, _ = await client.until(reports)
    assert (begin.title, begin.cancellable) == ("demo is working", True)
    assert [report.message for report in between] == ["Question 1 of 1"]


async def test_a_prompt_that_does_not_wait_gives_the_turn_s_id(
    client: Client, session: dict[str, Any]
) -> None:
    begun = await client.execute("acp.session.prompt", text="/wait 600", wait=False)
    assert set(begun) == {"turnId"}
    await client.eventually(lambda state: state["status"] == "running", "acp.session.state")
    assert await client.execute("acp.session.cancel") == {}
    state = await client.eventually(lambda state: state["stopReason"], "acp.session.state")
    assert (state["status"], state["stopReason"]) == ("idle", "cancelled")


@pytest.mark.parametrize("way", ["request", "command", "progress"])
async def test_a_turn_is_cancelled(client: Client, session: dict[str, Any], way: str) -> None:
    turn = client.start("acp.session.prompt", text="/wait 600")

    def works(state: dict[str, Any]) -> bool:
        return any(call["content"] for call in state["toolCalls"])

    await client.eventually(works, "acp.session.state")
    if way == "request":
        turn.cancel()
    elif way == "command":
        await client.execute("acp.session.cancel")
    else:
        token = list(client.progress_reports)[-1]
        client.window_work_done_progress_cancel(types.WorkDoneProgressCancelParams(token))
    assert await turn == {"stopReason": "cancelled"}
    call = (await client.state())["toolCalls"][0]
    assert (call["status"], call["closedBy"]) == ("cancelled", "sidecar")
    # The session goes on.
    assert await client.prompt("/refuse") == "refusal"


async def test_prompts_queue_and_the_queue_can_be_changed(
    client: Client, session: dict[str, Any]
) -> None:
    assert await client.execute("acp.session.queue") == []
    first = client.start("acp.session.prompt", text="/ask")
    dialog = await client.dialog()
    second = client.start("acp.session.prompt", text="/flood 3")
    third = client.start("acp.session.prompt", text="never sent")
    waiting = await client.eventually(lambda queue: len(queue) == 2, "acp.session.queue")
    assert [entry["text"] for entry in waiting] == ["/flood 3", "never sent"]
    assert (await client.state())["queue"] == waiting
    left = await client.execute(
        "acp.session.queue",
        edit={"turnId": waiting[0]["turnId"], "text": "/flood 4"},
        drop=waiting[1]["turnId"],
    )
    assert left == [{"turnId": waiting[0]["turnId"], "text": "/flood 4"}]
    assert await third == {"stopReason": "cancelled"}
    with pytest.raises(Refused, match=r"No prompt .* is waiting; it may have been sent already"):
        await client.execute("acp.session.queue", drop=waiting[1]["turnId"])
    with pytest.raises(Refused, match="Nothing would be left to send: drop the prompt instead"):
        await client.execute("acp.session.queue", edit={"turnId": waiting[0]["turnId"], "text": ""})
    dialog.click("Yes")
    assert [await first, await second] == [{"stopReason": "end_turn"}] * 2
    said = [
        message["content"][0]["text"]
        for message in (await client.state())["messages"]
        if message["role"] == "agent"
    ]
    assert said == ["The answers: yes.", "0 1 2 3 "]


async def test_a_turn_that_fails_says_so(client: Client, session: dict[str, Any]) -> None:
    with pytest.raises(Refused, match="demo answered the prompt with an error: failed, as"):
        await client.prompt("/fail")
    shown = await client.until(lambda: client.messages)
    assert shown[-1].type == types.MessageType.Error
    assert (await client.state())["status"] == "idle"
    with pytest.raises(Refused, match=r"(?s)exit.*3.*crashed, as the prompt asked"):
        await client.prompt("/crash")
    assert (await client.state())["status"] == "dead"
    # It is started again; the one of the demo has forgotten everything, which is said.
    assert await client.prompt("/refuse") == "refusal"
    assert "knows nothing of the conversation" in client.messages[-1].message
    assert (await client.state())["status"] == "idle"


async def test_a_prompt_carries_context_and_content(
    client: Client, session: dict[str, Any], ws: Path
) -> None:
    other = ws / "other.py"
    other.write_text("one\ntwo\n")
    uri = client.open(other)
    client.type(uri, 1, 0, "unsaved ")
    lines = {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 3}}
    link = {"type": "resource_link", "uri": "https://example.org/", "name": "the web"}
    await client.prompt("/read", content=[link], context=[{"uri": uri, "range": lines}])
    text, linked, embedded = (await client.state())["messages"][0]["content"]
    assert (text, linked) == ({"type": "text", "text": "/read"}, link)
    assert (embedded["type"], embedded["resource"]["uri"]) == ("resource", uri)
    assert embedded["resource"]["text"] == "unsaved two\n"


# --- the state -----------------------------------------------------------------------------

STATE: dict[str, Any] = {
    "sessionId": str,
    "agentSessionId": str,
    "agent": str,
    "protocolVersion": int,
    "cwd": str,
    "roots": [str],
    "title": str,
    "status": str,
    "stopReason": str,
    "order": [{"type": str, "id": str}],
    "messages": [{"messageId": str, "role": str, "content": [{"type": str}]}],
    "toolCalls": [
        {
            "toolCallId": str,
            "title": str,
            "name": None,
            "kind": str,
            "status": str,
            "content": [{"type": str}],
            "locations": ([{"path": str, "line": (int, None)}], []),
            "rawInput": (dict, None),
            "command": (str, None),
            "rawOutput": (dict, None),
            "_meta": None,
            "turn": int,
            "closedBy": None,
            "background": bool,
            "capabilities": None,
        }
    ],
    "plans": [{"planId": str, "entries": [{"content": str, "priority": str, "status": str}]}],
    "modes": {"currentModeId": str, "availableModes": [{"id": str, "name": str}]},
    "configOptions": [{"id": str, "name": str, "type": str, "currentValue": str}],
    "commands": [{"name": str, "description": str}],
    "usage": {"used": int, "size": int, "cost": {"amount": float, "currency": str}},
    "terminals": [],
    "permissions": [
        {
            "requestId": str,
            "toolCallId": str,
            "message": str,
            "options": [{"optionId": str, "name": str, "kind": str}],
            "state": str,
            "optionId": str,
        }
    ],
    "elicitations": [],
    "notices": [],
    "compactions": [],
    "changes": [
        {
            "uri": str,
            "status": str,
            "oldUri": None,
            "binary": bool,
            "hunks": [
                {
                    "id": str,
                    "before": {"start": int, "lines": int},
                    "after": {"start": int, "lines": int},
                    "state": str,
                }
            ],
        }
    ],
    "follow": {
        "enabled": bool,
        "paused": bool,
        "location": {"path": str, "line": int},
        "shown": bool,
        "reason": None,
    },
    "queue": [],
}
"""The shape of the state after a whole turn. A list's shape is that of each item."""


def misfits(value: Any, shape: Any, where: str = "state") -> list[str]:
    """Where a value does not have a shape."""
    if isinstance(shape, tuple):
        return [] if any(not misfits(value, one) for one in shape) else [f"{where}: {value!r}"]
    if isinstance(shape, dict):
        if not isinstance(value, dict):
            return [f"{where}: {value!r} is no object"]
        return [
            line
            for name, one in shape.items()
            for line in (
                misfits(value[name], one, f"{where}.{name}")
                if name in value
                else [f"{where} lacks {name}"]
            )
        ]
    if isinstance(shape, list):
        if not isinstance(value, list) or bool(value) != bool(shape):
            return [f"{where}: {value!r}"]
        return [
            line for number, item in enumerate(value) for line in misfits(item, shape[0], where)
        ]
    if shape is None:
        return [] if value is None else [f"{where}: {value!r} is not null"]
    return [] if type(value) is shape else [f"{where}: {value!r} is no {shape.__name__}"]


async def test_the_state_is_what_the_contract_says(
    client: Client, session: dict[str, Any], greeting: Path
) -> None:
    empty = await client.state()
    assert set(STATE) <= set(empty)
    assert (empty["messages"], empty["plans"], empty["usage"]) == ([], [], None)
    turn = client.start("acp.session.prompt", text="Show me")
    (await client.dialog()).click("Yes")
    await turn
    await client.eventually(lambda state: state["follow"]["shown"], "acp.session.state")
    state = await client.state()
    assert misfits(state, STATE) == []
    assert state["sessionId"] == session["sessionId"]
    assert [entry["type"] for entry in state["order"][:3]] == ["message", "plan", "message"]
    assert {entry["type"] for entry in state["order"]} == {
        "message",
        "plan",
        "toolCall",
        "permission",
    }
    assert [message["role"] for message in state["messages"][:3]] == ["user", "thought", "agent"]
    assert [call["kind"] for call in state["toolCalls"]] == [
        "read",
        "search",
        "edit",
        "edit",
        "execute",
    ]
    assert {call["status"] for call in state["toolCalls"]} == {"completed"}
    assert {entry["status"] for entry in state["plans"][0]["entries"]} == {"completed"}
    permission = state["permissions"][0]
    assert (permission["state"], permission["optionId"]) == ("answered", "go-once")
    assert permission["toolCallId"] == state["toolCalls"][2]["toolCallId"]


# --- following -----------------------------------------------------------------------------


async def test_following_is_switched_off_and_on(client: Client, session: dict[str, Any]) -> None:
    assert await client.execute("acp.follow.set", enabled=False) == {"enabled": False}
    await client.prompt("/read greeting.py:3")
    follow = (await client.state())["follow"]
    assert client.revealed() == []
    assert (follow["enabled"], follow["shown"], follow["reason"]) == (False, False, "off")
    assert follow["location"]["line"] == 3
    assert await client.execute("acp.follow.set", enabled=True) == {"enabled": True}
    await client.prompt("/read greeting.py:3")
    await client.until(lambda: ("greeting.py", 2) in client.revealed())
    state = await client.eventually(lambda state: state["follow"]["shown"], "acp.session.state")
    assert state["follow"]["reason"] is None


# --- review --------------------------------------------------------------------------------


async def changed(client: Client) -> list[dict[str, Any]]:
    """Let the agent edit one file and make another; the review."""
    await client.execute("acp.session.setMode", modeId="accept-edits")
    await client.prompt("/edit")
    await client.prompt("/create")
    changes: list[dict[str, Any]] = await client.execute("acp.review.list")
    return changes


async def test_a_review_lists_diffs_keeps_and_takes_that_back(
    client: Client, session: dict[str, Any], greeting: Path, ws: Path
) -> None:
    edited, created = await changed(client)
    note = ws / "demo-notes" / "note-1.md"
    assert (edited["uri"], edited["status"]) == (greeting.as_uri(), "modified")
    assert (created["uri"], created["status"]) == (note.as_uri(), "created")
    places = [(hunk["before"], hunk["after"]) for hunk in edited["hunks"]]
    assert places == [({"start": n, "lines": 1}, {"start": n, "lines": 1}) for n in (2, 6)]
    assert {hunk["state"] for hunk in edited["hunks"]} == {"waiting"}
    assert await client.execute("acp.review.diff", uri=greeting.as_uri()) == {
        "before": GREETING,
        "after": GREETED,
    }
    assert await client.execute("acp.review.diff", uri=note.as_uri()) == {
        "before": "",
        "after": note.read_text(),
    }
    hunks = [hunk["id"] for hunk in edited["hunks"]]
    kept = await client.execute("acp.review.keep", uri=greeting.as_uri())
    assert (kept["kept"], kept["reverted"], kept["conflicts"]) == (hunks, [], [])
    assert await client.execute("acp.review.list") == [created]
    undone = await client.execute("acp.review.undo")
    assert undone["kept"] == hunks
    assert await client.execute("acp.review.list") == [edited, created]
    assert greeting.read_text() == GREETED
    everything = await client.execute("acp.review.keep")
    assert everything["kept"] == [*hunks, *(hunk["id"] for hunk in created["hunks"])]
    assert await client.execute("acp.review.list") == []
    assert note.exists()


async def test_a_review_reverts_files_on_disk_and_in_the_editor(
    client: Client, session: dict[str, Any], greeting: Path, ws: Path
) -> None:
    _, created = await changed(client)
    uri, note = greeting.as_uri(), ws / "demo-notes" / "note-1.md"
    client.open(greeting)
    reverted = await client.execute("acp.review.revert", uri=uri)
    assert len(reverted["reverted"]) == 2
    assert greeting.read_text() == GREETING
    # The editor has the file open and has not read it again by itself.
    await client.until(lambda: client.buffers[uri] == GREETING)
    (hunk,) = created["hunks"]
    assert await client.execute("acp.review.revert", hunkId=hunk["id"]) == {
        "kept": [],
        "reverted": [hunk["id"]],
        "conflicts": [],
        "problems": [],
    }
    assert not note.exists()
    await client.execute("acp.review.undo")
    assert note.exists()
    await client.execute("acp.review.undo")
    assert greeting.read_text() == GREETED
    assert len(await client.execute("acp.review.list")) == 2
    everything = await client.execute("acp.review.revert")
    assert len(everything["reverted"]) == 3
    assert (greeting.read_text(), note.exists()) == (GREETING, False)


async def test_a_review_keeps_what_the_user_typed(
    client: Client, session: dict[str, Any], greeting: Path
) -> None:
    uri = client.open(greeting)
    await client.execute("acp.session.setMode", modeId="accept-edits")
    await client.prompt("/edit")
    await client.until(lambda: client.buffers[uri] == GREETED)
    client.type(uri, 0, 0, "# mine\n")
    await client.execute("acp.review.revert", uri=uri)
    await client.until(lambda: client.buffers[uri] == "# mine\n" + GREETING)


# --- permissions ---------------------------------------------------------------------------


async def test_a_question_is_listed_and_answered_by_command(
    client: Client, session: dict[str, Any], greeting: Path
) -> None:
    assert await client.execute("acp.permission.pending") == []
    turn = client.start("acp.session.prompt", text="/edit")
    dialog = await client.dialog()
    (question,) = await client.execute("acp.permission.pending")
    call = (await client.state())["toolCalls"][0]
    # The dialog says all of it, and for the diffs, which are apart here, their lines.
    assert set(question["message"].split("\n")) <= set(dialog.text.split("\n"))
    assert '+PEOPLE = ("Ada", "Barbara", "Grace", "Linus")' in dialog.text
    assert question["sessionId"] == session["sessionId"]
    assert question["toolCallId"] == call["toolCallId"]
    assert (question["agent"], question["kind"]) == ("demo", "edit")
    assert question["paths"] == [str(greeting)]
    (diff,) = question["diffs"]
    assert (diff["path"], diff["oldText"], diff["newText"]) == (str(greeting), GREETING, GREETED)
    assert [option["title"] for option in question["options"]] == dialog.titles
    assert (question["state"], question["optionId"]) == ("waiting", None)
    answer = {"requestId": question["requestId"]}
    with pytest.raises(Refused, match="Give 'optionId', or null for cancelled"):
        await client.execute("acp.permission.answer", **answer)
    with pytest.raises(Refused, match="'allow' was not offered; choose one of: skip-once"):
        await client.execute("acp.permission.answer", **answer, optionId="allow")
    with pytest.raises(Refused, match="No permission request 'other' is waiting"):
        await client.execute("acp.permission.answer", requestId="other", optionId="go-once")
    assert await client.execute("acp.permission.answer", **answer, optionId="go-once") == {}
    assert await turn == {"stopReason": "end_turn"}
    assert greeting.read_text() == GREETED
    await client.until(lambda: dialog.withdrawn)
    with pytest.raises(Refused, match="it was answered, cancelled or withdrawn"):
        await client.execute("acp.permission.answer", **answer, optionId="skip-once")


async def test_a_question_is_cancelled_by_command(
    client: Client, session: dict[str, Any], greeting: Path
) -> None:
    turn = client.start("acp.session.prompt", text="/edit")
    await client.dialog()
    (question,) = await client.execute("acp.permission.pending")
    await client.execute("acp.permission.answer", requestId=question["requestId"], optionId=None)
    assert await turn == {"stopReason": "end_turn"}
    assert greeting.read_text() == GREETING
    permission = (await client.state())["permissions"][0]
    assert (permission["state"], permission["optionId"]) == ("cancelled", None)


# --- agents --------------------------------------------------------------------------------


async def test_an_agent_is_restarted(client: Client, session: dict[str, Any]) -> None:
    turn = client.start("acp.session.prompt", text="/wait 600")
    await client.eventually(lambda state: state["toolCalls"], "acp.session.state")
    assert await client.execute("acp.agent.restart", agent="demo") == {"ended": 1}
    # The demo agent answers its prompt when its input ends.
    assert await turn == {"stopReason": "cancelled"}
    assert (await client.state())["status"] == "dead"
    await client.new()
    # The dead session does not stand in the way of the new one.
    assert await client.prompt("/refuse") == "refusal"
    assert await client.execute("acp.agent.restart", agent="codex") == {"ended": 0}
    with pytest.raises(Refused, match="No agent 'nobody' is known"):
        await client.execute("acp.agent.restart", agent="nobody")


# --- settings ------------------------------------------------------------------------------


async def test_a_workspace_may_set_much_but_no_command(
    bare: Client, ws: Path, greeting: Path
) -> None:
    evil = {"command": "touch", "args": ["evil"]}
    settings = {"follow": {"enabled": False}, "agents": {"demo": evil}, "review": {"mode": "off"}}
    bare.set_configuration(settings, section="acp")
    await bare.begin(ws, configuration=True)
    told = await bare.until(lambda: [log.message for log in bare.log_messages])
    assert "agents: is taken from the user's own settings only" in told[0]
    await bare.new()
    await bare.prompt("/read greeting.py:3")
    state = await bare.state()
    assert (state["follow"]["enabled"], state["follow"]["reason"]) == (False, "off")
    assert not (ws / "evil").exists()
    with pytest.raises(Refused, match=r"the setting review\.mode is 'off'"):
        await bare.execute("acp.review.keep")

    bare.set_configuration({"follow": {"enabled": True}}, section="acp")
    bare.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings=None))
    await bare.eventually(lambda state: state["follow"]["enabled"], "acp.session.state")
    await bare.prompt("/read greeting.py:3")
    await bare.until(lambda: ("greeting.py", 2) in bare.revealed())


async def test_settings_come_with_the_notification_where_they_cannot_be_asked_for(
    client: Client, session: dict[str, Any]
) -> None:
    pushed = {"acp": {"follow": {"enabled": False}}}
    client.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings=pushed))
    await client.eventually(lambda state: not state["follow"]["enabled"], "acp.session.state")


async def test_a_folder_that_joins_the_workspace_counts(
    bare: Client, ws: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "greeting.py").write_text(GREETING)
    await bare.begin(ws)
    await bare.new(cwd=str(other))
    await bare.prompt("/read greeting.py:3")
    follow = (await bare.state())["follow"]
    assert (follow["shown"], follow["reason"]) == (False, "outside")
    folder = types.WorkspaceFolder(uri=other.as_uri(), name="other")
    event = types.WorkspaceFoldersChangeEvent(added=[folder], removed=[])
    bare.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(event=event))
    await bare.prompt("/read greeting.py:3")
    await bare.until(lambda: ("greeting.py", 2) in bare.revealed())


# --- position encodings --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("offered", "chosen"),
    [
        (("utf-8", "utf-16"), "utf-8"),
        (("utf-16",), "utf-16"),
        (("utf-32", "utf-16"), "utf-32"),
        (("ebcdic", "utf-32"), "utf-32"),
        ((), "utf-16"),
    ],
)
async def test_edits_count_in_the_encoding_that_was_agreed_on(
    bare: Client, ws: Path, greeting: Path, offered: tuple[str, ...], chosen: str
) -> None:
    def odd(text: str) -> str:
        return text.replace("    return", '    "🦉é" and name; return')

    greeting.write_text(odd(GREETING))
    result = await bare.begin(ws, encodings=offered)
    assert result.capabilities.position_encoding == chosen
    uri = bare.open(greeting)
    await bare.new()
    await bare.execute("acp.session.setMode", modeId="accept-edits")
    end = {"utf-8": 6, "utf-16": 3, "utf-32": 2}[chosen]
    bare.type(uri, 6, 5 + end, "🦉")
    assert await bare.prompt("/edit") == "end_turn"
    wanted = odd(GREETED).replace("🦉é", "🦉é🦉")
    await bare.until(lambda: bare.buffers[uri] == wanted)
    # What the user has not saved is not on disk, and neither is what came into it.
    assert greeting.read_text() == odd(GREETING)


# --- arguments -----------------------------------------------------------------------------


@pytest_lsp.fixture(
    scope="module",
    config=ClientServerConfig(
        server_command=SERVE,
        client_factory=make_client,
        server_env={**os.environ, "XDG_CONFIG_HOME": str(Path(__file__) / "nowhere")},
    ),
)
async def patient(lsp_client: Client) -> AsyncIterator[None]:
    """An editor with an open session, for tests that leave no trace in it."""
    await lsp_client.begin(Path(__file__).parent)
    await lsp_client.new()
    yield
    await lsp_client.end()


LACKS = "The argument lacks {!r}, a text."
TEXT = "{!r} must be a text."
MISFITS: list[tuple[str, dict[str, Any], str]] = [
    ("session.new", {"agent": 5}, TEXT.format("agent")),
    ("session.new", {"cwd": ["/ws"]}, TEXT.format("cwd")),
    (
        "session.new",
        {"additionalDirectories": "/ws"},
        "'additionalDirectories' must be a list of texts.",
    ),
    ("session.new", {"mcpServers": [5]}, "'mcpServers' must be a list of objects."),
    ("session.prompt", {"text": 5}, TEXT.format("text")),
    ("session.prompt", {"text": "x", "wait": 1}, "'wait' must be true or false."),
    ("session.prompt", {"content": {}}, "'content' must be a list of objects."),
    ("session.prompt", {"context": [{}]}, LACKS.format("uri")),
    (
        "session.prompt",
        {"context": [{"uri": "file:///x", "range": {"start": 1}}]},
        "'range' must be an LSP range.",
    ),
    ("session.queue", {"edit": "x"}, "'edit' must be {turnId, text}."),
    ("session.queue", {"edit": {}}, LACKS.format("turnId")),
    ("session.queue", {"drop": 5}, TEXT.format("drop")),
    ("session.cancel", {"sessionId": 5}, TEXT.format("sessionId")),
    ("session.list", {"cursor": 5}, TEXT.format("cursor")),
    ("session.load", {}, LACKS.format("agentSessionId")),
    ("session.resume", {}, LACKS.format("agentSessionId")),
    ("session.fork", {}, LACKS.format("agentSessionId")),
    ("session.delete", {}, LACKS.format("agentSessionId")),
    ("session.close", {"sessionId": {}}, TEXT.format("sessionId")),
    ("session.setMode", {}, LACKS.format("modeId")),
    (
        "session.setConfigOption",
        {"configId": "pace", "value": 5},
        "'value' must be a text, or true or false.",
    ),
    ("session.setConfigOption", {"value": "5"}, LACKS.format("configId")),
    ("session.state", {"sessionId": []}, TEXT.format("sessionId")),
    ("follow.set", {}, "'enabled' must be true or false."),
    ("follow.set", {"enabled": "yes"}, "'enabled' must be true or false."),
    ("review.list", {"sessionId": 5}, TEXT.format("sessionId")),
    ("review.keep", {"uri": 5}, TEXT.format("uri")),
    ("review.keep", {"uri": "untitled:x"}, "untitled:x is not the URI of a file."),
    ("review.revert", {"hunkId": "nope"}, "No hunk 'nope' waits for review."),
    ("review.undo", {"sessionId": 5}, TEXT.format("sessionId")),
    ("review.diff", {}, LACKS.format("uri")),
    ("review.diff", {"uri": "file:///nix"}, "No session has heard of file:///nix."),
    ("permission.answer", {"requestId": 5, "optionId": "x"}, TEXT.format("requestId")),
    ("agent.login", {}, LACKS.format("agent")),
    ("agent.logout", {}, LACKS.format("agent")),
    ("agent.restart", {}, LACKS.format("agent")),
]


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(("command", "argument", "says"), MISFITS)
async def test_arguments_that_do_not_fit_are_refused_with_what_would(
    patient: Client, command: str, argument: dict[str, Any], says: str
) -> None:
    with pytest.raises(Refused) as refused:
        await patient.execute(f"acp.{command}", **argument)
    assert str(refused.value) == says
    assert refused.value.code == -32602


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(
    ("command", "argument", "says"),
    [
        ("session.new", {"cwd": "ws"}, "must be an absolute path"),
        ("session.new", {"additionalDirectories": ["a:/ws"]}, "'a:/ws' must be an absolute path"),
        ("session.prompt", {}, "There is nothing to send: give 'text' or 'content'"),
        ("session.prompt", {"context": [{"uri": "file:///nix"}]}, "No such file"),
    ],
)
async def test_arguments_that_make_no_sense_are_refused_too(
    patient: Client, command: str, argument: dict[str, Any], says: str
) -> None:
    with pytest.raises(Refused, match=says):
        await patient.execute(f"acp.{command}", **argument)


@pytest.mark.asyncio(loop_scope="module")
async def test_a_command_takes_one_object_or_nothing(patient: Client) -> None:
    async def send(arguments: list[Any] | None) -> Any:
        params = types.ExecuteCommandParams("acp.permission.pending", arguments)
        return await patient.workspace_execute_command_async(params)

    assert [await send(None), await send([]), await send([{}])] == [[], [], []]
    with pytest.raises(JsonRpcException, match="takes one object as its argument"):
        await send(["text"])
