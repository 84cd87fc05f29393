"""Following agents that name odd places, in editors that answer oddly or not at all."""

from __future__ import annotations

import asyncio
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from acp_sidecar.workspace.uris import path_to_uri
from tests.e2e.editor import NO_ANSWER, Editor
from tests.e2e.findings import Findings
from tests.e2e.puppet import Puppet
from tests.e2e.shape import check

SHOW = "window/showDocument"


def following(puppet: Puppet, per_second: float) -> dict[str, Any]:
    return {
        "agents": {"puppet": puppet.setting},
        "defaultAgent": "puppet",
        "follow": {"maxPerSecond": per_second},
    }


@pytest.fixture
def settings(puppet: Puppet) -> dict[str, Any]:
    return following(puppet, 500)


def at(path: Path | str, line: Any = None) -> list[dict[str, Any]]:
    return [{"path": str(path)} | ({} if line is None else {"line": line})]


async def settled(editor: Editor, call_id: str, **argument: Any) -> dict[str, Any]:
    """What became of the place of a call."""

    async def done() -> Any:
        state = await editor.state(**argument)
        check(state)
        known = any(call["toolCallId"] == call_id for call in state["toolCalls"])
        return state["follow"] if known and state["follow"]["reason"] != "waiting" else None

    follow: dict[str, Any] = await editor.eventually(done)
    return follow


async def test_L02_lines_and_paths_of_every_kind(
    editor: Editor, puppet: Puppet, turn: Any, ws: Path, file: Path
) -> None:
    composed, decomposed = (unicodedata.normalize(form, "é.txt") for form in ("NFC", "NFD"))
    (ws / "ü").mkdir()
    for name, data in {
        decomposed: b"1\n2\n",
        "ü/x": b"x\n",
        "100%": b"x\n",
        "a%20b": b"x\n",
        "no end": b"1\n2\n3",
        "crlf": b"1\r\n2\r\n",
        "feeds": b"1\x0c2\xe2\x80\xa83\n4\n",
        "x:3": b"1\n2\n",
        " lead\n": b"x\n",
        "latin": b"caf\xe9\n",
    }.items():
        (ws / name).write_bytes(data)
    for link, target in {"here": "there", "there": "here", "ok": "a.py", "un": "nowhere"}.items():
        (ws / link).symlink_to(target)
    shown: list[tuple[Any, str, int | None]] = [
        (at(file, 2**70), "a.py", 9),
        (at(file, 3.0), "a.py", 2),
        (at(file, [3]), "a.py", None),
        (at(ws / decomposed, 2), "e%CC%81.txt", 1),
        (at(ws / "ü" / "x", 1), "%C3%BC/x", 0),
        (at(ws / "100%"), "100%25", None),
        (at(ws / "a%20b"), "a%2520b", None),
        (at(ws / "no end", 9), "no%20end", 2),
        (at(ws / "crlf", 9), "crlf", 1),
        (at(ws / "feeds", 9), "feeds", 1),
        (at(f"{ws}/ü/../a.py", 1), "a.py", 0),
        (at(f"{ws}//./a.py", 2), "a.py", 1),
        (at(ws / "ok", 3), "a.py", 2),
        (at(f"{ws}/x:3"), "x%3A3", None),
        (at(f"{ws}/x:3:2"), "x%3A3", 1),
        (at(f"{file}:4:7"), "a.py", 3),
        (at(f"{file}:4-6", 9), "a.py", 8),
        (at(f"{ws}/ lead\n"), "%20lead%0A", None),
        (at("ü/../a.py", 5), "a.py", 4),
        (at("../ws/a.py", 6), "a.py", 5),
        ([{"path": 5}, {"line": 3}, None, *at(file, 7)], "a.py", 6),
        (at(file, 8) + at("/nope") * 500, "a.py", 7),
    ]
    unshown: list[tuple[Any, str]] = [
        (at(ws / composed), "missing"),
        (at(f"{file}/"), "missing"),
        (at(f"{file}/.."), "missing"),
        (at(f"{ws}/none/../a.py"), "missing"),
        (at(f"{file}:4-6:1"), "missing"),
        (at(f"{file}#L3"), "missing"),
        (at(ws / "un"), "missing"),
        (at(ws / "here"), "invalid"),
        (at("x" * 5000), "invalid"),
        (at(ws / "ü"), "directory"),
        (at("."), "directory"),
        (at(".."), "outside"),
        (at(ws / "latin"), "not a text file"),
        (at(ws / "none", 2) + at("/etc/passwd", 3), "outside"),
    ]
    findings = Findings()
    for number, (locations, name, line) in enumerate(shown):
        puppet.tool(f"shown-{number}", locations=locations)
        follow = await settled(editor, f"shown-{number}")
        findings.expect(follow["shown"], locations[-1], follow)
        last = editor.all(SHOW)[-1]
        selection = last.get("selection")
        place = selection and selection["start"]["line"]
        findings.expect(last["uri"].endswith(f"/{name}"), locations[-1], last["uri"])
        findings.equal(place, line, locations[-1])
    count = len(editor.all(SHOW))
    for number, (locations, reason) in enumerate(unshown):
        puppet.tool(f"unshown-{number}", locations=locations)
        follow = await settled(editor, f"unshown-{number}")
        findings.equal((follow["shown"], follow["reason"]), (False, reason), locations[-1])
    findings.equal(len(editor.all(SHOW)), count, "reveals")
    findings.close()


async def test_files_that_come_and_go(
    editor: Editor, puppet: Puppet, turn: Any, ws: Path, file: Path
) -> None:
    new = ws / "sub" / "new.txt"
    puppet.tool("t1", locations=at(new))
    assert (await settled(editor, "t1"))["reason"] == "missing"
    # Written through us, without another word of the agent's about the call.
    assert "result" in await puppet.write(new, "x\n")
    await editor.nth(SHOW)
    assert editor.revealed() == [("new.txt", None)]
    file.unlink()
    puppet.tool("t2", locations=at(file, 1))
    assert (await settled(editor, "t2"))["reason"] == "missing"
    file.symlink_to("/etc/hostname")
    puppet.tool("t3", locations=at(file, 1))
    assert (await settled(editor, "t3"))["reason"] == "outside"


async def test_the_same_place_is_shown_again_after_the_user_was_elsewhere(
    editor: Editor, puppet: Puppet, turn: Any, file: Path
) -> None:
    puppet.tool("t1", locations=at(file, 1))
    assert (await settled(editor, "t1"))["shown"]
    for _ in range(3):
        puppet.tool("t1", "tool_call_update", locations=at(file, 1))
    await editor.state()
    assert len(editor.all(SHOW)) == 1
    await editor.execute("acp.follow.set", enabled=False)
    await editor.execute("acp.follow.set", enabled=True)
    puppet.tool("t1", "tool_call_update", locations=at(file, 1))
    await editor.nth(SHOW, 2)


async def test_switched_off_while_a_place_waits(
    idle_editor: Editor, puppet: Puppet, ws: Path, file: Path
) -> None:
    editor = idle_editor
    await editor.initialize(ws, settings=following(puppet, 1))
    await editor.execute("acp.session.new")
    editor.start("acp.session.prompt", text="go")
    await puppet.prompted()
    puppet.tool("t1", locations=at(file, 1))
    await editor.nth(SHOW)
    puppet.tool("t2", locations=at(file, 2))

    async def waiting() -> bool:
        return bool((await editor.state())["follow"]["reason"] == "waiting")

    await editor.eventually(waiting)
    await editor.execute("acp.follow.set", enabled=False)
    follow = await settled(editor, "t2")
    assert (follow["enabled"], follow["shown"], follow["reason"]) == (False, False, "off")
    assert editor.revealed() == [("a.py", 0)]
    await editor.execute("acp.follow.set", enabled=True)
    await editor.nth(SHOW, 2)
    puppet.tool("t3", locations=at(file, 3))
    await editor.nth(SHOW, 3)
    assert editor.revealed() == [("a.py", 0), ("a.py", 1), ("a.py", 2)]


@pytest.mark.parametrize(("rate", "places"), [(0.5, 2), (50, 40)])
async def test_rates_from_slow_to_fast(
    idle_editor: Editor, puppet: Puppet, ws: Path, file: Path, rate: float, places: int
) -> None:
    editor = idle_editor
    await editor.initialize(ws, settings=following(puppet, rate))
    await editor.execute("acp.session.new")
    editor.start("acp.session.prompt", text="go")
    await puppet.prompted()
    clock = asyncio.get_running_loop().time
    begin = clock()
    for number in range(places):
        puppet.tool(f"t{number}", locations=at(file, number % 9 + 1))
        # The first is shown at once; of those that come before it was, only the newest is.
        await (editor.nth(SHOW) if number == 0 else editor.state())
    puppet.tool("last", locations=at(file, 10))
    await editor.until(lambda: editor.revealed()[-1:] == [("a.py", 9)])
    # From one to the next a busy machine may take longer or shorter; for all it takes longer only.
    assert len(editor.revealed()) > 1
    assert clock() - begin >= (len(editor.revealed()) - 1) / rate


async def test_L03_nothing_waits_for_an_editor_that_does_not_answer(
    editor: Editor, puppet: Puppet, turn: Any, file: Path
) -> None:
    editor.answers[SHOW] = lambda params: NO_ANSWER
    for line in range(1, 10):
        puppet.tool(f"t{line}", locations=at(file, line))
        await editor.nth(SHOW, line)
    assert editor.revealed()[-1] == ("a.py", 8)
    assert "result" in await puppet.read(file)


async def test_reveals_keep_to_the_folders_of_the_moment(
    editor: Editor, puppet: Puppet, turn: Any, ws: Path, file: Path, tmp_path: Path
) -> None:
    sub, other = ws / "sub", tmp_path / "other"
    for folder in (sub, other):
        folder.mkdir()
        (folder / "b.py").write_text("b\n")

    def folders(added: str | Path | None, removed: str | Path | None) -> None:
        event = {
            "added": [{"uri": path_to_uri(str(added)), "name": "x"}] if added else [],
            "removed": [{"uri": path_to_uri(str(removed)), "name": "x"}] if removed else [],
        }
        editor.notify("workspace/didChangeWorkspaceFolders", {"event": event})

    async def follows(call_id: str, path: Path, line: int) -> bool:
        puppet.tool(call_id, locations=at(path, line))
        return bool((await settled(editor, call_id))["shown"])

    folders(sub, ws)
    assert not await follows("narrowed", file, 1)
    assert await follows("within", sub / "b.py", 1)
    folders(other, sub)
    assert not await follows("disjoint", sub / "b.py", 1)
    assert not await follows("no root of the session's", other / "b.py", 1)
    folders(None, other)
    assert await follows("no folder at all", file, 2)
    folders(tmp_path, None)
    assert await follows("wider", file, 3)
    assert not await follows("still no root", other / "b.py", 1)
    folders(f"{ws}/", tmp_path)
    assert await follows("with a slash", file, 4)
    folders(other, ws)
    assert not await follows("removed in another spelling", file, 5)
    for odd in (None, {}, {"event": None}, {"event": {"added": [5, {"uri": 7}]}}):
        editor.notify("workspace/didChangeWorkspaceFolders", odd)
    check(await editor.state())


async def test_only_the_user_s_own_changes_pause(
    editor: Editor, puppet: Puppet, turn: Any, ws: Path, file: Path
) -> None:
    findings = Findings()
    mine = ws / "mine.py"
    mine.write_text("mine\n")
    uri = editor.open(mine)

    async def paused(wanted: bool, *about: str) -> None:
        state = await editor.state()
        check(state)
        findings.equal(state["follow"]["paused"], wanted, *about)

    async def prompt_again(turn: dict[str, Any]) -> dict[str, Any]:
        puppet.say("done")
        puppet.end_turn(turn)
        editor.start("acp.session.prompt", text="more")
        return await puppet.prompted()

    editor.save(uri, mine)
    editor.close_document(editor.open(file))
    await paused(False, "open, save, close")
    document = editor.documents[uri]
    document.version += 1
    identity = {"uri": uri, "version": document.version}
    editor.notify("textDocument/didChange", {"textDocument": identity, "contentChanges": []})
    await paused(False, "a change that changes nothing")
    mine.write_text("from disk\n")
    editor.reload(uri, mine)
    await paused(False, "loaded anew")
    text = (await puppet.read(mine))["result"]["content"]
    assert "result" in await puppet.write(mine, text + "agent\n")
    await paused(False, "our edit")
    editor.type(uri, 0, 0, "x")
    await paused(True, "typing")
    turn = await prompt_again(turn)
    await paused(False, "the next prompt")
    text = (await puppet.read(mine))["result"]["content"]
    assert "result" in await puppet.write(mine, text + "more\n")
    await paused(False, "our edit of a dirty buffer")
    editor.type(editor.open("", "scratch", uri="untitled:1"), 0, 0, "y")
    await paused(True, "typing in what is no file")
    await editor.execute("acp.follow.set", enabled=False)
    editor.type(uri, 0, 0, "z")
    await editor.execute("acp.follow.set", enabled=True)
    await paused(False, "typing while it was off")
    findings.close()


async def test_each_session_has_a_place_of_its_own(
    editor: Editor, puppet: Puppet, turn: Any, session: dict[str, Any], ws: Path, file: Path
) -> None:
    (ws / "b.py").write_text("b\n" * 5)
    second = await editor.execute("acp.session.new")
    for agent_session, path in (("S1", file), ("S2", ws / "b.py")):
        call = {"toolCallId": "t", "title": "t", "locations": at(path, 1)}
        puppet.update("tool_call", agent_session, **call)
        await editor.until(lambda name=path.name: (name, 0) in editor.revealed())
    for one, path in ((session, file), (second, ws / "b.py")):
        follow = await settled(editor, "t", sessionId=one["sessionId"])
        assert follow["location"] == {"path": str(path), "line": 1}
    await editor.execute("acp.session.close", sessionId=second["sessionId"])
    late = {"toolCallId": "t2", "title": "t"}
    puppet.update("tool_call", "S2", **late, locations=at(ws / "b.py", 3))
    puppet.update("tool_call", "S1", **late, locations=at(file, 9))
    await editor.nth(SHOW, 3)
    assert editor.revealed()[-1] == ("a.py", 8)
