"""Version 2 item by item: the TypeScript SDK's draft at one end, a pytest-lsp editor at the other.

The SDK holds every request of ours against its own schema and sees every answer; what the agent
says is made by it.
"""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_lsp
from pytest_lsp import ClientServerConfig

from tests.e2e import shape, typescript
from tests.e2e.lsp_client import SERVE, Client, Refused, Running, make_client

pytestmark = pytest.mark.filterwarnings("error::pytest_lsp.LspSpecificationWarning")


@pytest.fixture
def settings() -> dict[str, Any]:
    agent = typescript.setting(agent=typescript.AGENT_V2)
    return {"agents": {"ts": agent}, "defaultAgent": "ts", "protocolVersions": [1, 2]}


@pytest_lsp.fixture(config=ClientServerConfig(server_command=SERVE, client_factory=make_client))
async def bare(lsp_client: Client) -> AsyncIterator[None]:
    yield
    await lsp_client.end()


@pytest.fixture
async def client(bare: Client, ws: Path, settings: dict[str, Any]) -> Client:
    """A plain editor with the workspace and a session open."""
    await bare.begin(ws, settings=settings)
    assert (await bare.new())["protocolVersion"] == 2
    return bare


def update(kind: str, /, **fields: Any) -> str:
    return f"update {json.dumps({'sessionUpdate': kind, **fields})}"


def call(method: str, /, **params: Any) -> str:
    return f"call {method} {json.dumps({'sessionId': 'SESSION', **params})}"


def idle(**fields: Any) -> str:
    return f"idle {json.dumps({'stopReason': 'end_turn', **fields})}"


def play(client: Client, *lines: str) -> Running:
    return client.start("acp.session.prompt", text="\n".join(lines))


async def played(client: Client, *lines: str) -> dict[str, Any]:
    """The state after a turn of these lines."""
    assert await play(client, *lines) == {"stopReason": "end_turn"}
    return await client.state()


def said(state: dict[str, Any], role: str = "agent") -> list[str]:
    return [
        "".join(block.get("text", "") for block in message["content"])
        for message in state["messages"]
        if message["role"] == role
    ]


def answer(state: dict[str, Any]) -> Any:
    """What the SDK gave the agent as the answer to its last request."""
    return json.loads(said(state)[-1])


async def seen(client: Client) -> list[dict[str, Any]]:
    """Everything that the SDK has given to the agent."""
    assert await client.prompt("seen") == "end_turn"
    told: list[dict[str, Any]] = answer(await client.state())
    return told


async def shown(client: Client, met: Any) -> dict[str, Any]:
    """The state, as soon as it is as wanted."""
    found: dict[str, Any] = await client.eventually(met, "acp.session.state")
    return found


async def test_a_whole_turn(client: Client, ws: Path) -> None:
    turn = client.start("acp.session.prompt", text="go")
    dialog = await client.dialog()
    assert "Make it?" in dialog.text
    assert (await client.state())["status"] == "requires_action"
    (ws / "made.txt").write_text("made\n")
    dialog.click("Make it")
    assert await turn == {"stopReason": "end_turn"}
    state = await client.state()
    shape.check(state)
    assert (state["status"], said(state, "user"), said(state, "thought")) == (
        "idle",
        ["go"],
        ["Hm"],
    )
    (made,) = state["toolCalls"]
    assert (made["status"], made["kind"]) == ("completed", "edit")
    assert [item["type"] for item in made["content"]] == ["terminal", "diff"]
    assert state["terminals"][0]["output"] == "café"
    assert state["plans"][0]["entries"][0]["content"] == "Make it"
    assert state["compactions"][0]["summary"][0]["text"] == "short"
    assert [each["title"] for each in state["notices"]] == ["Made it"]
    (change,) = await client.eventually(bool, "acp.review.list")
    assert (change["uri"], change["status"]) == ((ws / "made.txt").as_uri(), "created")


async def test_a_form_is_answered_and_a_page_opened_and_done(client: Client) -> None:
    schema = {
        "type": "object",
        "properties": {"sure": {"type": "boolean", "title": "Sure"}},
        "required": ["sure"],
    }
    line = call("elicitation/create", mode="form", message="Which one?", requestedSchema=schema)
    turn = play(client, line)
    dialog = await client.dialog()
    assert "Which one?" in dialog.text
    dialog.click(next(title for title in dialog.titles if title.startswith("Yes")))
    await turn
    state = await client.state()
    assert answer(state) == {"action": "accept", "content": {"sure": True}}
    assert [each["action"] for each in state["elicitations"]] == ["accept"]

    page = {"mode": "url", "url": "https://example.org/login", "elicitationId": "e1"}
    complete = f"notify elicitation/complete {json.dumps({'elicitationId': 'e1'})}"
    turn = play(client, call("elicitation/create", message="Sign in", **page), complete)
    dialog = await client.dialog(2)
    assert "https://example.org/login" in dialog.text
    assert client.shown_documents == []
    dialog.click(next(title for title in dialog.titles if title.startswith("Open")))
    await turn
    assert [(each.uri, each.external) for each in client.shown_documents] == [(page["url"], True)]
    state = await shown(client, lambda state: state["elicitations"][1]["completed"])
    assert answer(state) == {"action": "accept"}


async def test_a_logout(client: Client) -> None:
    assert await client.execute("acp.agent.logout", agent="ts") == {}
    (told,) = [each for each in await seen(client) if each["method"] == "auth/logout"]
    assert told["params"] in ({}, None)


async def test_a_tool_call_is_cancelled_alone(client: Client) -> None:
    t: dict[str, Any] = {"toolCallId": "t"}
    turn = play(
        client,
        update("tool_call_update", **t, title="Old", status="in_progress"),
        update("tool_call_update", **t, title="Watch", capabilities={"cancel": {}}),
        "until tool_call/cancel t",
        update("tool_call_update", **t, status="cancelled", capabilities=None),
        call("session/request_permission", title="On?", options=OPTIONS),
    )
    await shown(client, lambda state: [each["title"] for each in state["toolCalls"]] == ["Watch"])
    assert await client.execute("acp.toolCall.cancel", toolCallId="t") == {}
    dialog = await client.dialog()
    state = await client.state()
    assert (state["status"], state["toolCalls"][0]["status"]) == ("requires_action", "cancelled")
    with pytest.raises(Refused, match="'Watch' is over"):
        await client.execute("acp.toolCall.cancel", toolCallId="t")
    dialog.click("Yes")
    assert await turn == {"stopReason": "end_turn"}
    (told,) = [each for each in await seen(client) if each["method"] == "tool_call/cancel"]
    assert told["params"] == {"sessionId": "v2-1", "toolCallId": "t"}


async def test_a_terminal_is_ended_alone(client: Client) -> None:
    x: dict[str, Any] = {"terminalId": "x"}
    turn = play(
        client,
        update("terminal_update", **x, command="make", capabilities={"cancel": {}}),
        "until terminal/cancel x",
        update("terminal_update", **x, exitStatus={"signal": "SIGTERM"}),
    )
    await shown(client, lambda state: state["terminals"])
    assert await client.execute("acp.terminal.kill", **x) == {}
    assert await turn == {"stopReason": "end_turn"}
    assert (await client.state())["terminals"][0]["exitStatus"]["signal"] == "SIGTERM"
    (told,) = [each for each in await seen(client) if each["method"] == "terminal/cancel"]
    assert told["params"] == {"sessionId": "v2-1", "terminalId": "x"}


async def test_what_the_agent_does_not_let_cancel_is_not_asked_of_it(client: Client) -> None:
    await played(
        client,
        update("tool_call_update", toolCallId="t", title="Build", capabilities={"cancel": {}}),
        update("tool_call_update", toolCallId="t", capabilities={"cancel": None}),
        update("terminal_update", terminalId="x", command="make", capabilities={}),
        idle(background=[{"type": "tool_call", "toolCallId": "t"}]),
    )
    with pytest.raises(Refused, match="does not let 'Build' be cancelled alone"):
        await client.execute("acp.toolCall.cancel", toolCallId="t")
    with pytest.raises(Refused, match="runs 'make' by itself"):
        await client.execute("acp.terminal.kill", terminalId="x")
    assert not [each for each in await seen(client) if each["method"].endswith("l/cancel")]


OPTIONS = [
    {"optionId": "y", "name": "Yes", "kind": "allow_once"},
    {"optionId": "n", "name": "No", "kind": "reject_once"},
    {"optionId": "z", "name": "In a sandbox", "kind": "_sandbox"},
]


async def test_questions_about_anything(client: Client, ws: Path) -> None:
    """A command in full, nothing, and something nobody knows; an option of an unknown kind."""
    command = f"rm -rf build && {'echo ' * 40}done"
    subjects: list[dict[str, Any]] = [
        {"subject": {"type": "command", "command": command, "cwd": str(ws / "deep")}},
        {"description": "Because"},
        {"subject": {"type": "_launch", "target": "moon", "command": "rm -rf /"}},
    ]
    words = [(command, str(ws / "deep")), ("Because",), ("moon", "_launch")]
    for number, (about, expected, click) in enumerate(
        zip(subjects, words, ("In a sandbox", "Yes", "No"), strict=True), 1
    ):
        turn = play(
            client,
            call("session/request_permission", title="May I?", options=OPTIONS, **about),
        )
        dialog = await client.dialog(number)
        assert set(dialog.titles) == {"Yes", "No", "In a sandbox"}
        for part in ("May I?", *expected):
            assert part in dialog.text
        assert ("Command:" in dialog.text) == (number == 1)
        dialog.click(click)
        assert await turn == {"stopReason": "end_turn"}
        state = await client.state()
        chosen = next(each["optionId"] for each in OPTIONS if each["name"] == click)
        assert answer(state) == {"outcome": {"outcome": "selected", "optionId": chosen}}
        assert state["toolCalls"] == []
    assert [each["kind"] for each in (await client.state())["permissions"][0]["options"]] == [
        each["kind"] for each in OPTIONS
    ]


def report(*changes: dict[str, Any], patch: str | None = None) -> dict[str, Any]:
    told: dict[str, Any] = {"type": "diff", "changes": list(changes)}
    if patch is not None:
        told["patch"] = {"format": "git_patch", "text": patch}
    return told


def do(word: str, *arguments: Path | str) -> str:
    return f"{word} {json.dumps([str(each) for each in arguments])}"


async def test_reports_of_changes_are_shown_and_reviewed_and_never_applied(
    client: Client, ws: Path
) -> None:
    files = {name: ws / name for name in ("del", "mod", "old", "new", "src", "copy", "bin")}
    for name in ("del", "mod", "old", "src"):
        files[name].write_text(f"{name}\n")
    files["bin"].write_bytes(b"\0one")
    before = {path.name: path.read_bytes() for path in ws.iterdir()}
    gone, mod, old, new = (files[name] for name in ("del", "mod", "old", "new"))
    src, copy, picture = (files[name] for name in ("src", "copy", "bin"))
    diffs = [
        report(
            {"operation": "delete", "path": str(gone)},
            patch=f"diff --git {gone} {gone}\ndeleted file mode 100644\n"
            f"--- {gone}\n+++ /dev/null\n@@ -1 +0,0 @@\n-del\n",
        ),
        report(
            {"operation": "modify", "path": str(mod), "fileType": "text"},
            patch=f"diff --git {mod} {mod}\n--- {mod}\n+++ {mod}\n@@ -1 +1 @@\n-mod\n+MOD\n",
        ),
        report(
            {"operation": "move", "oldPath": str(old), "path": str(new)},
            patch=f"diff --git {old} {new}\nsimilarity index 100%\n"
            f"rename from {old}\nrename to {new}\n",
        ),
        report(
            {"operation": "copy", "oldPath": str(src), "path": str(copy)},
            patch=f"diff --git {src} {copy}\nsimilarity index 100%\n"
            f"copy from {src}\ncopy to {copy}\n",
        ),
        report({"operation": "modify", "path": str(picture), "fileType": "binary"}),
    ]
    turn = play(
        client,
        update("tool_call_update", toolCallId="t", title="Tidy", kind="edit", content=diffs),
        call("session/request_permission", title="Tidy?", options=OPTIONS),
        do("remove", gone),
        do("write", mod, "MOD\n"),
        do("rename", old, new),
        do("copy", src, copy),
        do("write", picture, "\0two"),
        update("tool_call_update", toolCallId="t", status="completed"),
    )
    dialog = await client.dialog()
    assert (await client.state())["toolCalls"][0]["content"] == diffs
    assert {path.name: path.read_bytes() for path in ws.iterdir()} == before
    assert await client.execute("acp.review.list") == []
    dialog.click("Yes")
    assert await turn == {"stopReason": "end_turn"}
    assert (await client.state())["toolCalls"][0]["content"] == diffs

    changes = await client.eventually(lambda found: len(found) >= 5, "acp.review.list")
    told = {
        each["uri"].rpartition("/")[2]: (each["status"], each["oldUri"], each["binary"])
        for each in changes
    }
    assert told == {
        "del": ("deleted", None, False),
        "mod": ("modified", None, False),
        "new": ("renamed", old.as_uri(), False),
        "copy": ("created", None, False),
        "bin": ("modified", None, True),
    }
    await client.execute("acp.review.revert")
    assert {path.name: path.read_bytes() for path in ws.iterdir()} == before


async def test_a_question_does_not_retitle_its_call(client: Client) -> None:
    """What the question says of the call is taken in; its title stays the question's own."""
    subject = {"type": "tool_call", "toolCall": {"toolCallId": "t", "status": "in_progress"}}
    turn = play(
        client,
        update("tool_call_update", toolCallId="t", title="Edit a.py", kind="edit"),
        call("session/request_permission", title="Really?", subject=subject, options=OPTIONS),
    )
    dialog = await client.dialog()
    assert "Really?" in dialog.text and "Edit a.py" in dialog.text
    (edit,) = (await client.state())["toolCalls"]
    assert (edit["title"], edit["status"]) == ("Edit a.py", "in_progress")
    dialog.dismiss()
    await turn
    assert answer(await client.state()) == {"outcome": {"outcome": "cancelled"}}


async def test_a_patch_that_goes_beyond_its_changes_is_refused_whole(
    client: Client, ws: Path
) -> None:
    """Neither file gets a change from it, and the reason is in the log; the report is shown.

    Nor does a file outside of the workspace. The same patch with both files announced is believed.
    """
    pairs = [[ws / f"{name}-{number}.py" for name in ("named", "other")] for number in (1, 2)]
    for path in (path for pair in pairs for path in pair):
        path.write_text("two\n")
    outside = ws.parent / "outside.py"
    outside.write_text("two\n")
    beyond, within, out = (
        "".join(
            f"diff --git {path} {path}\n--- {path}\n+++ {path}\n@@ -1 +1 @@\n-one\n+two\n"
            for path in pair
        )
        for pair in (*pairs, [outside])
    )
    named, other = pairs[0]
    diff = report({"operation": "modify", "path": str(named)}, patch=beyond)
    both = report(*({"operation": "modify", "path": str(path)} for path in pairs[1]), patch=within)
    away = report({"operation": "modify", "path": str(outside)}, patch=out)
    state = await played(
        client,
        update("tool_call_update", toolCallId="t", title="Edit", content=[diff]),
        update("tool_call_update", toolCallId="o", title="Edit", content=[away]),
        update("tool_call_update", toolCallId="u", title="Edit", content=[both]),
    )
    assert [each["content"] for each in state["toolCalls"]] == [[diff], [away], [both]]
    for path, why in (
        (other, "none of the announced changes"),
        (outside, "outside of the session's folders"),
    ):
        reason = f"The patch speaks of '{path}', which is {why}"
        await client.until(
            lambda words=reason: any(words in each.message for each in client.log_messages)
        )
    changes = await client.eventually(lambda found: len(found) >= 2, "acp.review.list")
    assert {each["uri"] for each in changes} == {path.as_uri() for path in pairs[1]}
    assert [path.read_text() for pair in pairs for path in pair] == ["two\n"] * 4


async def test_a_patch_says_what_a_file_was(client: Client, ws: Path) -> None:
    """Line endings, names in quotes, no newline at the end, modes: told after the agent's write."""
    none = "\\ No newline at end of file\n"
    texts = {
        "crlf.txt": ("one\r\ntwo\r\n", "one\r\nTWO\r\n", " one\r\n-two\r\n+TWO\r\n", "-1,2 +1,2"),
        "é b.txt": ("old\n", "new\n", "-old\n+new\n", "-1 +1"),
        "bare.txt": ("a", "b", f"-a\n{none}+b\n{none}", "-1 +1"),
        "run.sh": ("ls\n", "ls -l\n", "-ls\n+ls -l\n", "-1 +1"),
    }
    diffs = []
    for name, (_, after, body, span) in texts.items():
        (ws / name).write_bytes(after.encode())
        named = str(ws / name)
        if name.startswith("é"):
            named = '"' + named.replace("é", r"\303\251") + '"'
        modes = "old mode 100644\nnew mode 100755\n" if name == "run.sh" else ""
        patch = f"diff --git {named} {named}\n{modes}--- {named}\n+++ {named}\n@@ {span} @@\n{body}"
        diffs.append(report({"operation": "modify", "path": str(ws / name)}, patch=patch))
    others = [
        report({"operation": "add", "path": str(ws / "sub"), "fileType": "directory"}),
        report({"operation": "add", "path": str(ws / "link"), "fileType": "symlink"}),
        report({"operation": "_chmod", "path": str(ws / "run.sh")}),
    ]
    (ws / "sub").mkdir()
    (ws / "link").symlink_to(ws / "run.sh")
    content = [*diffs, *others]
    state = await played(
        client,
        update("tool_call_update", toolCallId="t", title="Edit", status="completed"),
        update("tool_call_update", toolCallId="t", content=content),
    )
    assert state["toolCalls"][0]["content"] == content
    changes = await client.eventually(lambda found: len(found) >= 4, "acp.review.list")
    assert {each["uri"]: (each["status"], len(each["hunks"])) for each in changes} == {
        (ws / name).as_uri(): ("modified", 1) for name in texts
    }
    await client.execute("acp.review.revert")
    for name, (before, *_) in texts.items():
        assert (ws / name).read_bytes().decode() == before


async def test_resuming_replays_only_what_is_asked_for(client: Client) -> None:
    loaded = await client.execute("acp.session.load", agentSessionId="old")
    state = await client.state(sessionId=loaded["sessionId"])
    assert (said(state, "user"), said(state)) == (["the question"], ["the answer"])
    resumed = await client.execute("acp.session.resume", agentSessionId="older")
    state = await client.state(sessionId=resumed["sessionId"])
    assert (state["messages"], state["status"]) == ([], "idle")
    await client.prompt("seen", sessionId=resumed["sessionId"])
    told = answer(await client.state(sessionId=resumed["sessionId"]))
    asked = [each["params"] for each in told if each["method"] == "session/resume"]
    assert [each.get("replayFrom") for each in asked] == [{"type": "start"}, None]


async def test_work_in_the_background_outlives_the_turn(client: Client) -> None:
    t: dict[str, Any] = {"toolCallId": "t"}
    state = await played(
        client,
        update("tool_call_update", **t, title="Watch", status="in_progress"),
        update("tool_call_update", **t, capabilities={"cancel": {}}),
        idle(background=[{"type": "tool_call", **t}]),
        "until tool_call/cancel t",
        update("tool_call_update", **t, status="cancelled"),
        update("session_info_update", title="Later"),
    )
    (watch,) = state["toolCalls"]
    assert (state["status"], watch["status"], watch["background"]) == ("idle", "in_progress", True)
    # Another turn goes by, and leaves it alone.
    state = await played(client, update("plan_update", plan=PLAN))
    assert state["toolCalls"][0]["status"] == "in_progress"
    assert await client.execute("acp.toolCall.cancel", **t) == {}
    state = await shown(client, lambda state: state["title"] == "Later")
    assert (state["status"], state["toolCalls"][0]["status"]) == ("idle", "cancelled")


PLAN = {"type": "items", "planId": "p", "entries": []}


async def test_chunks_create_and_empty_lists_clear(client: Client) -> None:
    """A chunk for an id that nobody has heard of is a call; later contents replace its pieces."""

    def piece(words: str) -> dict[str, Any]:
        return {"type": "content", "content": {"type": "text", "text": words}}

    state = await played(
        client,
        *(
            update("tool_call_content_chunk", toolCallId=call_id, content=piece(words))
            for call_id in ("a", "b", "c", "d")
            for words in ("one", "two")
        ),
        update("tool_call_update", toolCallId="b", content=[]),
        update("tool_call_update", toolCallId="c", content=None),
        update("tool_call_update", toolCallId="d", content=[piece("three")]),
        update("tool_call_content_chunk", toolCallId="d", content=piece("four")),
        idle(background=[{"type": "tool_call", "toolCallId": each} for each in "abcd"]),
    )
    shape.check(state)
    contents = {
        each["toolCallId"]: [item["content"]["text"] for item in each["content"]]
        for each in state["toolCalls"]
    }
    assert contents == {"a": ["one", "two"], "b": [], "c": [], "d": ["three", "four"]}


async def test_updates_patch_what_is_there(client: Client) -> None:
    """Left out leaves, ``null`` clears, a value replaces; what nobody knows is kept as it came."""
    t: dict[str, Any] = {"toolCallId": "t"}
    odd = [{"type": "_chart", "points": [1, 2]}, {"type": "hologram", "of": {"a": 1}}]
    state = await played(
        client,
        update(
            "tool_call_update",
            **t,
            title="Look",
            kind="read",
            rawInput={"a": 1},
            rawOutput={"b": 2},
            locations=[{"path": "/ws/a.py", "line": 1}],
            _meta={"gone": 1, "kept": {"x": 1}, "new": {"x": 1}},
        ),
        update("tool_call_update", **t, rawInput=None, locations=None, status="completed"),
        update("tool_call_update", **t, content=odd, _meta={"gone": None, "new": {"y": 2}}),
        update("_vendor_news", anything=1),
        update("future_news", anything=1),
    )
    (look,) = state["toolCalls"]
    assert (look["title"], look["kind"], look["status"]) == ("Look", "read", "completed")
    assert (look["rawInput"], look["rawOutput"], look["locations"]) == (None, {"b": 2}, [])
    assert look["content"] == odd
    assert look["_meta"] == {"kept": {"x": 1}, "new": {"y": 2}}


async def test_messages_plans_and_terminals_are_replaced_by_their_ids(client: Client) -> None:
    def words(text: str) -> dict[str, str]:
        return {"type": "text", "text": text}

    def plan(plan_id: str, *steps: str) -> str:
        entries = [{"content": step, "priority": "low", "status": "pending"} for step in steps]
        return update("plan_update", plan={"type": "items", "planId": plan_id, "entries": entries})

    def bytes_of(text: str) -> str:
        return base64.b64encode(text.encode()).decode()

    model = {"configId": "m", "name": "M", "type": "boolean", "currentValue": True}
    state = await played(
        client,
        update("agent_message_chunk", messageId="a", content=words("wrong")),
        update("agent_thought_chunk", messageId="h", content=words("hm")),
        update("agent_message", messageId="a", content=[words("right")]),
        update("agent_message_chunk", messageId="a", content=words(" on")),
        update("agent_thought", messageId="h", content=[words("aha")]),
        update("agent_message_chunk", messageId="b", content=words("gone")),
        update("agent_message", messageId="b", content=None),
        plan("p", "one"),
        plan("q", "other"),
        plan("p", "two", "three"),
        update("terminal_update", terminalId="x", command="make"),
        update("terminal_output_chunk", terminalId="x", data=bytes_of("old\n")),
        update("terminal_update", terminalId="x", output={"data": bytes_of("\x1b[31mnew\n")}),
        update("terminal_output_chunk", terminalId="x", data=bytes_of("more\n")),
        update("terminal_update", terminalId="x", exitStatus={"exitCode": 2}),
        update("config_option_update", configOptions=[model]),
    )
    shape.check(state)
    assert said(state) == ["right on", ""]
    assert said(state, "thought") == ["aha"]
    plans = {
        each["planId"]: [step["content"] for step in each["entries"]] for each in state["plans"]
    }
    assert plans == {"p": ["two", "three"], "q": ["other"]}
    (terminal,) = state["terminals"]
    assert terminal["output"].replace("\x1b[31m", "") == "new\nmore\n"
    assert terminal["exitStatus"]["exitCode"] == 2
    assert [each["id"] for each in state["configOptions"]] == ["m"]


async def test_a_turn_ends_as_the_agent_says(client: Client) -> None:
    """A prompt waits for the turn before it; an error that ended a turn is told with its reason."""
    first = play(
        client,
        update("tool_call_update", toolCallId="t", title="Wait", capabilities={"cancel": {}}),
        "until tool_call/cancel t",
        idle(stopReason="error", error={"code": -32000, "message": "The quota is used up"}),
    )
    await shown(client, lambda state: state["toolCalls"])
    second = play(client, idle(stopReason="max_tokens"))
    await shown(client, lambda state: state["queue"])
    assert said(await client.state(), "user")[0].startswith("update")
    assert await client.execute("acp.toolCall.cancel", toolCallId="t") == {}
    with pytest.raises(Refused, match="The quota is used up"):
        await first
    assert await second == {"stopReason": "max_tokens"}
    assert (await client.state())["status"] == "idle"


async def test_the_editors_tools_are_passed_on(
    bare: Client, ws: Path, settings: dict[str, Any]
) -> None:
    await bare.begin(ws, settings={**settings, "mcpEditorTools": True})
    await bare.new()
    (new,) = [each["params"] for each in await seen(bare) if each["method"] == "session/new"]
    (server,) = new["mcpServers"]
    assert server["type"] == "stdio"
    assert Path(server["command"]).is_absolute() and "mcp" in server["args"]
