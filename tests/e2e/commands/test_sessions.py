"""Sessions by command: opened, told apart, listed, loaded, closed, set, and their agents."""

from __future__ import annotations

import asyncio
import os
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from tests.e2e.commands.demo_file import GREETED, GREETING
from tests.e2e.lsp_client import BOUND, Client, Refused

pytestmark = pytest.mark.filterwarnings("error::pytest_lsp.LspSpecificationWarning")

MINUTES = timedelta(minutes=5)


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
    await bare.begin(ws, settings={"agents": agents})
    with pytest.raises(Refused, match=r"No agent 'nobody' is known\. Known: .*demo.*dying"):
        await bare.new(agent="nobody")
    with pytest.raises(Refused, match="Cannot find the command 'no-such-agent-here'") as absent:
        await bare.new(agent="absent")
    assert os.environ["PATH"] in str(absent.value)
    with pytest.raises(Refused, match=f"Searched PATH: {tmp_path}[.]"):
        await bare.new(agent="patched")
    with pytest.raises(Refused, match="no licence found"):
        await bare.new(agent="dying")
    # The others have had time to start; of this one nothing comes.
    section = {"acp": {"timeouts": {"initialize": 1}}}
    bare.workspace_did_change_configuration(types.DidChangeConfigurationParams(section))
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
    of_both = {"cwd": str(ws), "deletable": False}
    assert listed == {
        "sessions": [
            {"agentSessionId": first["agentSessionId"], "title": "/edit", **of_both},
            {"agentSessionId": keeper["agentSessionId"], "title": None, **of_both},
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
