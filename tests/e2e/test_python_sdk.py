"""An agent written with the official Python SDK, driven through the sidecar.

What the SDK's models take and give is the protocol as other people read it.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.editor import Editor, LspError

pytest.importorskip("acp", reason="needs agent-client-protocol (extra dev)")

PEERS = Path(__file__).with_name("peers")


def peer(name: str, *flags: str) -> dict[str, Any]:
    """The ``agents`` entry of one of the peers."""
    return {"command": sys.executable, "args": [str(PEERS / name), *flags]}


SETTINGS = {
    "agents": {
        "sdk": peer("sdk_agent.py"),
        "stable": peer("sdk_agent.py", "--stable"),
        "login": peer("sdk_agent.py", "--login"),
        "narrow": peer("sdk_agent.py", "--limit", str(64 * 1024)),
        "short": peer("short_reader.py"),
    },
    "defaultAgent": "sdk",
    "follow": {"maxPerSecond": 1000},
}


@pytest.fixture
async def editor(idle_editor: Editor, ws: Path) -> Editor:
    """A plain editor that knows the agents above."""
    await idle_editor.initialize(ws, settings=SETTINGS)
    return idle_editor


@pytest.fixture
async def session(editor: Editor) -> dict[str, Any]:
    """An open session with the SDK's agent."""
    opened: dict[str, Any] = await editor.execute("acp.session.new")
    return opened


async def play(editor: Editor, text: str, **argument: Any) -> str:
    """Play a turn; what the agent said in it."""
    before = len(answers(await editor.state(**argument)))
    await editor.execute("acp.session.prompt", text=text, **argument)
    return "".join(answers(await editor.state(**argument))[before:])


def answers(state: dict[str, Any]) -> list[str]:
    return [
        "".join(block.get("text", "") for block in message["content"])
        for message in state["messages"]
        if message["role"] == "agent"
    ]


async def test_the_handshake_and_a_prompt_are_what_the_sdk_expects(
    editor: Editor, session: dict[str, Any], ws: Path
) -> None:
    assert session == {
        "sessionId": session["sessionId"],
        "agentSessionId": "sdk-1",
        "agent": "sdk",
        "protocolVersion": 1,
        "modes": {
            "currentModeId": "calm",
            "availableModes": [{"id": "calm", "name": "Calm"}, {"id": "bold", "name": "Bold"}],
        },
        "configOptions": session["configOptions"],
        "commands": [],
    }
    (ws / "a.py").write_text("one\ntwo\n")
    uri = (ws / "a.py").as_uri()
    text = await play(
        editor,
        "hello",
        context=[{"uri": uri}],
        content=[{"type": "image", "data": "aGk=", "mimeType": "image/png"}],
    )
    hello, prompt = json.loads(text)
    assert hello["protocolVersion"] == 1
    assert hello["client_info"]["name"] == "acp-sidecar"
    assert hello["client_capabilities"]["fs"] == {"readTextFile": True, "writeTextFile": True}
    assert hello["client_capabilities"]["terminal"] is True
    assert [block["type"] for block in prompt] == ["text", "image", "resource"]
    assert prompt[1] == {"type": "image", "data": "aGk=", "mimeType": "image/png"}
    assert prompt[2]["resource"] == {"uri": uri, "text": "one\ntwo\n"}


async def test_every_kind_of_update_arrives(
    editor: Editor, session: dict[str, Any], ws: Path
) -> None:
    (ws / "a.txt").write_text("one\ntwo\n")
    await editor.execute("acp.session.prompt", text="updates")
    state = await editor.state()
    user, thought, agent = state["messages"]
    assert (user["role"], thought["role"], agent["role"]) == ("user", "thought", "agent")
    assert thought["content"] == [{"type": "text", "text": "thinking"}]
    kinds = ["text", "image", "audio", "resource_link", "resource", "resource"]
    assert [block["type"] for block in agent["content"]] == kinds
    text, image, audio, link, embedded, blob = agent["content"]
    assert text == {"type": "text", "text": "words and more"}
    assert image == {
        "type": "image",
        "data": "aGk=",
        "mimeType": "image/png",
        "uri": "file:///ws/a.png",
    }
    assert (audio["data"], audio["mimeType"]) == ("aGk=", "audio/wav")
    assert (link["name"], link["size"], link["description"]) == ("a link", 3, "a file")
    assert embedded["resource"]["text"] == "text"
    assert blob["resource"]["blob"] == "aGk="

    (plan,) = state["plans"]
    assert plan["entries"] == [
        {"content": "first", "priority": "high", "status": "completed"},
        {"content": "second", "priority": "medium", "status": "pending"},
    ]

    thing, edit, read, terminal = state["toolCalls"]
    assert (thing["title"], thing["kind"], thing["status"]) == (
        "Do a thing",
        "execute",
        "completed",
    )
    assert thing["locations"] == [{"path": f"{ws}/a.txt", "line": 2}]
    assert thing["rawInput"] == {"command": ["ls", "-l"]}
    assert thing["rawOutput"] == [1, "two", None]
    assert thing["content"][0]["content"]["text"] == "words "
    assert (edit["title"], edit["kind"], edit["status"]) == ("Edit a.txt", "edit", "failed")
    (diff,) = edit["content"]
    assert (diff["oldText"], diff["newText"]) == ("one\ntwo\n", "one\nTWO\n")
    assert (read["kind"], read["status"], read["closedBy"]) == ("read", "completed", None)
    assert terminal["content"][0]["terminalId"] == "x"
    # It was left open: the turn's end closed it.
    assert (terminal["status"], terminal["closedBy"]) == ("failed", "sidecar")

    assert state["commands"] == [
        {"name": "web", "description": "search", "input": {"hint": "words"}}
    ]
    assert state["modes"]["currentModeId"] == "bold"
    assert [option["id"] for option in state["configOptions"]] == ["model"]
    assert (state["title"], state["updatedAt"]) == ("A title", "2026-11-29T12:00:00Z")
    usage = state["usage"]
    assert (usage["used"], usage["size"]) == (10, 100)
    assert usage["cost"] == {"amount": 0.5, "currency": "EUR"}
    # A diff is a report: nobody has written anything.
    assert (ws / "a.txt").read_text() == "one\ntwo\n"
    assert state["changes"] == []
    await editor.until(lambda: editor.revealed()[-1:] == [("a.txt", None)])


@pytest.mark.parametrize(
    ("click", "outcome"),
    [
        ("Allow", {"outcome": "selected", "optionId": "y"}),
        ("Always", {"outcome": "selected", "optionId": "Y"}),
        ("Reject", {"outcome": "selected", "optionId": "n"}),
    ],
)
async def test_a_permission_is_asked_and_the_answer_arrives(
    editor: Editor, session: dict[str, Any], click: str, outcome: dict[str, Any]
) -> None:
    _, turn = editor.start("acp.session.prompt", text="ask")
    dialog = await editor.dialog()
    first, *rest = dialog["message"].splitlines()
    assert re.fullmatch(r"sdk wants to delete \(.*request 1\)", first)
    assert rest == [
        "Command: rm -rf build",
        'Arguments: {"why":"space"}',
        "The agent calls it: “Delete everything”",
    ]
    assert editor.titles() == ["Reject", "Allow", "Always"]
    editor.click(click)
    await turn
    state = await editor.state()
    assert json.loads(answers(state)[-1]) == outcome
    # The request was the only sign of its call.
    assert [call["toolCallId"] for call in state["toolCalls"]] == ["ask-1"]


async def test_a_cancel_answers_the_question_and_ends_the_turn(
    editor: Editor, session: dict[str, Any]
) -> None:
    _, turn = editor.start("acp.session.prompt", text="ask")
    await editor.dialog()
    await editor.execute("acp.session.cancel")
    assert await turn == {"stopReason": "cancelled"}
    assert json.loads(answers(await editor.state())[-1]) == {"outcome": "cancelled"}


async def test_a_cancel_reaches_a_running_prompt(editor: Editor, session: dict[str, Any]) -> None:
    request, turn = editor.start("acp.session.prompt", text="wait")

    async def working() -> bool:
        return bool((await editor.state())["toolCalls"])

    await editor.eventually(working)
    editor.cancel(request)
    assert await turn == {"stopReason": "cancelled"}
    call = (await editor.state())["toolCalls"][0]
    # The agent's own last word on its call counts.
    assert (call["status"], call["closedBy"]) == ("completed", None)
    assert "so be it" in await play(editor, "stop max_turn_requests")
    assert (await editor.state())["stopReason"] == "max_turn_requests"


async def test_files_are_read_and_written_through_the_editor(
    editor: Editor, session: dict[str, Any], ws: Path
) -> None:
    file = ws / "notes.txt"
    file.write_text("one\ntwo\nthree\n")
    assert await play(editor, f"read {file}") == "one\ntwo\nthree\n"
    assert await play(editor, f"read {file} 2 1") == "two\n"
    uri = editor.open(file)
    editor.type(uri, 0, 0, "un", delete=0)
    assert await play(editor, f"read {file} 1 1") == "unone\n"
    assert "-32002" in await play(editor, f"read {ws}/missing")
    assert "-32602" in await play(editor, "read /etc/passwd")
    assert await play(editor, f"write {ws}/new/made.txt 'made here'") == "written: {}"
    assert (ws / "new" / "made.txt").read_text() == "made here"
    assert "-32602" in await play(editor, f"write {ws}/../outside.txt no")


async def test_what_the_client_does_not_know_is_refused_and_the_turn_goes_on(
    editor: Editor, session: dict[str, Any]
) -> None:
    assert await play(editor, "extend") == "-32601"


@pytest.mark.parametrize(
    ("mode", "shown", "click", "answer"),
    [
        ("form", "Sure", "Yes", {"action": "accept", "content": {"sure": True}}),
        ("url", "https://example.org/login", "Decline", {"action": "decline"}),
    ],
)
async def test_what_the_agent_wants_to_know_is_asked(
    mode: str,
    shown: str,
    click: str,
    answer: dict[str, Any],
    editor: Editor,
    session: dict[str, Any],
) -> None:
    _, turn = editor.start("acp.session.prompt", text=f"elicit {mode}")
    dialog = await editor.dialog()
    assert shown in dialog["message"]
    editor.click(next(title for title in editor.titles() if title.startswith(click)))
    await turn
    assert json.loads(answers(await editor.state())[-1]) == answer


async def test_a_command_runs_in_a_terminal(editor: Editor, session: dict[str, Any]) -> None:
    assert await play(editor, "run echo some words") == "0 'words\\n' True None SIGTERM"
    assert [terminal["command"] for terminal in (await editor.state())["terminals"]] == [
        "echo some words",
        "sleep 300",
    ]


async def test_an_error_of_the_agent_s_is_shown(editor: Editor, session: dict[str, Any]) -> None:
    with pytest.raises(LspError, match="sdk answered the prompt with an error"):
        await editor.execute("acp.session.prompt", text="fail")
    assert (await editor.state())["status"] == "idle"


async def test_a_load_tells_the_history_and_does_nothing(editor: Editor, ws: Path) -> None:
    file = ws / "history.txt"
    file.write_text("other\n")
    loaded = await editor.execute("acp.session.load", agentSessionId="earlier")
    assert loaded["modes"]["currentModeId"] == "calm"
    state = await editor.state()
    assert [message["role"] for message in state["messages"]] == ["user", "thought", "agent"]
    assert answers(state) == ["the answer"]
    assert [call["status"] for call in state["toolCalls"]] == ["completed"]
    assert (editor.revealed(), state["changes"]) == ([], [])
    assert file.read_text() == "other\n"
    # It goes on where it was.
    assert await play(editor, "stop end_turn") == "so be it"
    assert len((await editor.state())["messages"]) == 5


async def test_a_load_may_be_answered_with_nothing_or_refused(editor: Editor) -> None:
    loaded = await editor.execute("acp.session.load", agentSessionId="bare")
    assert (loaded["modes"], loaded["configOptions"]) == (None, [])
    with pytest.raises(LspError, match="sdk refused session/load: Resource not found"):
        await editor.execute("acp.session.load", agentSessionId="unknown")


async def test_sessions_are_listed_page_by_page_resumed_and_forked(
    editor: Editor, session: dict[str, Any], ws: Path
) -> None:
    await editor.execute("acp.session.new")
    first = await editor.execute("acp.session.list")
    assert first == {
        "sessions": [
            {
                "agentSessionId": "sdk-1",
                "cwd": str(ws),
                "title": "Session sdk-1",
                "updatedAt": "2026-11-29T12:00:00Z",
                "deletable": False,
            }
        ],
        "nextCursor": "1",
    }
    second = await editor.execute("acp.session.list", cursor=first["nextCursor"])
    assert [row["agentSessionId"] for row in second["sessions"]] == ["sdk-2"]
    assert second["nextCursor"] is None
    resumed = await editor.execute("acp.session.resume", agentSessionId="sdk-9")
    assert resumed["agentSessionId"] == "sdk-9"
    forked = await editor.execute("acp.session.fork", agentSessionId="sdk-1")
    assert forked["agentSessionId"] == "sdk-4"
    state = await editor.state(sessionId=forked["sessionId"])
    assert answers(state) == ["forked from sdk-1"]
    # The agent claims to delete; the SDK has no such method yet, and says so.
    with pytest.raises(LspError, match=r"session/delete.*Method not found"):
        await editor.execute("acp.session.delete", agentSessionId="sdk-1")
    assert await editor.execute("acp.session.close", sessionId=forked["sessionId"]) == {}


async def test_modes_and_both_sorts_of_options_are_set(
    editor: Editor, session: dict[str, Any]
) -> None:
    changed = await editor.execute("acp.session.setMode", modeId="bold")
    assert changed["modes"]["currentModeId"] == "bold"
    for option, value in (("model", "big"), ("verbose", True)):
        changed = await editor.execute("acp.session.setConfigOption", configId=option, value=value)
    values = {option["id"]: option["currentValue"] for option in changed["configOptions"]}
    assert values == {"model": "big", "verbose": True}
    assert (await editor.state())["configOptions"] == changed["configOptions"]


async def test_an_agent_that_offers_more_than_it_does_is_told_apart(
    editor: Editor, ws: Path
) -> None:
    # Without its unstable part the SDK knows no fork, resume or close.
    opened = await editor.execute("acp.session.new", agent="stable")
    for how in ("resume", "fork"):
        with pytest.raises(LspError, match=f"stable refused session/{how}: Method not found"):
            await editor.execute(f"acp.session.{how}", agent="stable", agentSessionId="x")
    assert (await editor.state())["sessionId"] == opened["sessionId"]
    # A close that fails there closes here all the same.
    assert await editor.execute("acp.session.close") == {}
    assert await editor.execute("acp.session.new", agent="stable")


async def test_S04_a_login_is_asked_for_and_done(editor: Editor) -> None:
    with pytest.raises(LspError, match="Name a methodId; login offers: key, tty"):
        await editor.execute("acp.agent.login", agent="login", methodId="nope")
    _, opening = editor.start("acp.session.new", agent="login")
    asked = await editor.dialog()
    for words in ("needs a login", "A key: Ask for one.", "In a terminal: in a terminal"):
        assert words in asked["message"]
    assert editor.titles() == ["Not now", "A key", "In a terminal"]
    editor.click("A key")
    assert (await opening)["agentSessionId"] == "sdk-1"


async def test_F17_a_long_line_passes_the_sdk_s_limit_of_64_KiB(editor: Editor, ws: Path) -> None:
    file = ws / "long.txt"
    file.write_text("0123456789abcdef\n" * 20_000)
    await editor.execute("acp.session.new", agent="narrow")
    assert await play(editor, f"read {file}") == "340000 characters"
    # And back: a line of the same length in one write.
    assert await play(editor, f"write {ws}/copy.txt {'x' * 300_000}") == "written: {}"
    assert (ws / "copy.txt").stat().st_size == 300_000


async def test_F17_an_agent_that_a_long_line_has_killed_is_told_why(
    editor: Editor, ws: Path
) -> None:
    file = ws / "long.txt"
    file.write_text("0123456789abcdef\n" * 20_000)
    await editor.execute("acp.session.new", agent="short")
    with pytest.raises(LspError) as died:
        await editor.execute("acp.session.prompt", text=str(file))
    told = str(died.value)
    assert "short has ended" in told
    # Its own last words, and what they mean.
    assert "chunk" in told
    assert re.search(r"a message of 360,?054 bytes", told)
