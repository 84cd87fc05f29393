"""What odd agents write, as an editor sees it through the whole sidecar."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.editor import Editor, LspError
from tests.e2e.findings import Findings
from tests.e2e.puppet import Puppet
from tests.e2e.shape import check


async def prompted(editor: Editor, puppet: Puppet) -> tuple[Any, dict[str, Any]]:
    _, turn = editor.start("acp.session.prompt", text="go")
    return turn, await puppet.prompted()


async def test_T02_T04_frames_survive_whatever_is_between_them(
    editor: Editor, puppet: Puppet, session: Any
) -> None:
    def frame(words: str, *, escaped: bool = True) -> bytes:
        content = {"type": "text", "text": words}
        update = {"sessionUpdate": "agent_message_chunk", "content": content}
        message = {"jsonrpc": "2.0", **puppet.update_message(update)}
        return json.dumps(message, ensure_ascii=escaped).encode()

    turn, prompt = await prompted(editor, puppet)
    noise = [b"Welcome", b"", b"\r", b"\x1b[2K", b'[info] {"a":1}', b'"text"', b"42", b"null"]
    noise += [b"[]", b"{}", b"{", b"\xff\xfe", b"\0", b'{"level":"info"}', b"x" * 100_000]
    for line in noise:
        puppet.raw(line + b"\n" + frame(".") + b"\n")
    puppet.raw(frame("A") + b"\r\n")
    puppet.raw(b"\x1b[2K\r" + frame("B") + b"\n")
    puppet.raw(b"\xef\xbb\xbf" + frame("C") + b"\n")
    for byte in frame("D\u2028é😀", escaped=False) + b"\n":
        puppet.raw(bytes([byte]))
        await asyncio.sleep(0)
    puppet.raw(frame("E") + b"\n" + frame("F")[:30])
    await editor.state()
    puppet.raw(frame("F")[30:] + b"\n")
    puppet.raw(b"[" + frame("G") + b"," + frame("H") + b",17]\n")
    puppet.raw(frame("I") + frame("J") + b"\n")
    puppet.raw(frame("K").replace(b'"2.0"', b'"2.0","n":NaN,"i":' + b"9" * 30) + b"\n")
    puppet.raw(frame("L").replace(b'"L"', b'"L\xff\\ud800"') + b"\n")
    for depth in (600, 100_000):
        call = {"toolCallId": f"deep {depth}", "title": "x", "rawInput": "HERE"}
        message = puppet.update_message({"sessionUpdate": "tool_call", **call})
        line = json.dumps({"jsonrpc": "2.0", **message})
        puppet.raw(line.replace('"HERE"', "[" * depth + "]" * depth).encode() + b"\n")
    puppet.say("Z")
    puppet.end_turn(prompt)
    assert await turn == {"stopReason": "end_turn"}
    state = await editor.state()
    check(state)
    assert [call["toolCallId"] for call in state["toolCalls"]] == ["deep 600"]
    texts = [block["text"] for message in state["messages"] for block in message["content"]]
    words = "".join(texts)
    assert words.count(".") == len(noise)
    assert words.replace(".", "") == "goABCD\u2028é😀EFGHIJKL\ufffd\ufffdZ"


async def test_T09_T10_every_request_is_answered_as_it_was_asked(
    editor: Editor, puppet: Puppet, session: Any, ws: Path
) -> None:
    findings = Findings()
    (ws / "f").write_text("x\n")
    read = {"sessionId": "S1", "path": f"{ws}/f"}
    terminals = ("terminal/create", "terminal/output", "terminal/kill")
    turn, prompt = await prompted(editor, puppet)
    for method in ("terminal/fly", "elicitation/fly", "session/prompt", "_ext/x", "", "$/x"):
        answer = await puppet.result(puppet.request(method, {}, 5))
        findings.equal(answer["error"]["code"], -32601, method)
    for params in (None, [], {}, "x", {"sessionId": "S1"}, {**read, "path": 5}, ["S1"]):
        for method in ("fs/read_text_file", "fs/write_text_file", *terminals):
            answer = await puppet.result(puppet.request(method, params, 5))
            findings.equal(answer.get("error", {}).get("code"), -32602, method, params)
    # One of them is the id of the prompt of ours that is under way.
    for one in (prompt["id"], "0", "", -1, 1.5, 2**70, "é", 1e20):
        answer = await puppet.result(puppet.request("fs/read_text_file", read, one))
        findings.equal((answer["id"], type(answer["id"])), (one, type(one)))
        findings.equal(answer.get("result"), {"content": "x\n"}, one)
    for nobody_s in (777, str(prompt["id"]), None, True):
        puppet.send({"id": nobody_s, "result": {"stopReason": "refusal"}})
    check(await editor.state())
    findings.expect(not turn.done(), "ended by another's answer")
    puppet.say("done")
    puppet.end_turn(prompt, "max_tokens")
    puppet.end_turn(prompt, "refusal")
    findings.equal(await turn, {"stopReason": "max_tokens"})
    findings.close()


class TestLineLimit:
    @pytest.fixture
    def settings(self, puppet: Puppet) -> dict[str, Any]:
        return {
            "agents": {"puppet": puppet.setting},
            "defaultAgent": "puppet",
            "limits": {"lineBytes": 100_000},
        }

    async def test_T01_a_line_beyond_the_limit_ends_the_agent_and_says_why(
        self, editor: Editor, puppet: Puppet, session: Any
    ) -> None:
        turn, _ = await prompted(editor, puppet)
        puppet.say("a" * 90_000)
        puppet.raw(b"x" * 200_000)
        with pytest.raises(LspError, match=r"limits\.lineBytes"):
            await turn
        state = await editor.state()
        check(state)
        assert state["status"] == "dead"
        assert len(state["messages"][-1]["content"][0]["text"]) == 90_000


AGENT = """
import json, sys
mode = sys.argv[1]
for line in sys.stdin:
    message = json.loads(line)
    answers = json.loads(mode)
    if message["method"] in answers:
        print(json.dumps({"id": message["id"], "jsonrpc": "2.0", **answers[message["method"]]}))
        sys.stdout.flush()
"""


async def test_S03_agents_that_cannot_be_used_say_why(
    idle_editor: Editor, puppet: Puppet, ws: Path, tmp_path: Path
) -> None:
    script = tmp_path / "agent.py"
    script.write_text(AGENT)
    greeting = {"result": {"protocolVersion": 1}}
    details = {"code": -32603, "message": "Internal error", "data": {"details": "bad config"}}
    cases: list[tuple[str, dict[str, Any], str]] = [
        ("newer", {"initialize": {"result": {"protocolVersion": 2}}}, "protocol version 2"),
        ("text", {"initialize": {"result": {"protocolVersion": "1"}}}, "protocolVersion"),
        ("null", {"initialize": {"result": None}}, "expected an object"),
        ("broken", {"initialize": {"error": details}}, "bad config"),
        ("no id", {"initialize": greeting, "session/new": {"result": {}}}, "sessionId"),
        ("login", {"initialize": greeting, "session/new": {"error": {"code": -32000}}}, "a login"),
    ]
    agents = {
        name: {"command": sys.executable, "args": [str(script), json.dumps(mode)]}
        for name, mode, _ in cases
    }
    noise = "for n in 1 2 3 4 5 6 7 8 9 10; do echo Loading...; done; exec sleep 600"
    agents["noise"] = {"command": "sh", "args": ["-c", noise]}
    agents["silent"] = puppet.setting
    await idle_editor.initialize(ws, settings={"agents": agents})
    # It has time to start, and none for what comes after that.
    greet = puppet.answers.pop("initialize")
    del puppet.answers["session/new"]
    _, opening = idle_editor.start("acp.session.new", agent="silent")
    asked = await puppet.incoming("initialize")
    idle_editor.configure(timeouts={"initialize": 2})
    await idle_editor.execute("acp.permission.pending")
    puppet.answer(asked, greet({}))
    findings = Findings()
    with pytest.raises(LspError, match="did not answer session/new within 2 s"):
        await opening
    with pytest.raises(LspError, match="10 lines, none of them a message"):
        await idle_editor.execute("acp.session.new", agent="noise")
    idle_editor.configure()
    for name, _, wanted in cases:
        try:
            await idle_editor.execute("acp.session.new", agent=name)
        except LspError as error:
            findings.expect(wanted in str(error), name, wanted, error)
        else:
            findings.expect(False, name, "was opened")
    with pytest.raises(LspError, match=r"acp\.session\.new"):
        await idle_editor.state()
    findings.close()
