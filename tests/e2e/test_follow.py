"""Following the agent: what a plain editor is asked to show, and what it is not."""

from __future__ import annotations

import asyncio
import os
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from acp_sidecar.workspace.uris import path_to_uri
from tests.e2e.editor import Editor, Refusal, capabilities
from tests.e2e.puppet import Puppet

SHOW = "window/showDocument"


@pytest.fixture
def settings(puppet: Puppet) -> dict[str, Any]:
    # Fast, so that the tests need not wait; the rate has a test of its own.
    return {
        "agents": {"puppet": puppet.setting},
        "defaultAgent": "puppet",
        "follow": {"maxPerSecond": 200},
    }


@pytest.fixture
def file(ws: Path) -> Path:
    path = ws / "a.py"
    path.write_text("".join(f"line {number}\n" for number in range(1, 11)))
    return path


@pytest.fixture
async def turn(session: dict[str, Any], editor: Editor, puppet: Puppet) -> dict[str, Any]:
    """A turn that runs."""
    editor.start("acp.session.prompt", text="go")
    return await puppet.prompted()


def at(path: Path | str, line: Any = None) -> list[dict[str, Any]]:
    return [{"path": str(path)} | ({} if line is None else {"line": line})]


async def follow(editor: Editor) -> dict[str, Any]:
    state: dict[str, Any] = (await editor.state())["follow"]
    return state


async def not_shown(editor: Editor, path: Path | str) -> str:
    """Wait until the agent is at ``path``; why that was not shown."""

    async def there() -> Any:
        state = await follow(editor)
        location = state["location"]
        settled = state["reason"] not in (None, "waiting")
        return state if location and location["path"] == str(path) and settled else None

    state = await editor.eventually(there)
    assert state["shown"] is False
    return str(state["reason"])


async def test_a_location_is_shown_without_taking_the_focus(
    editor: Editor, puppet: Puppet, turn: Any, file: Path
) -> None:
    puppet.tool("t1", locations=at(file, 3))
    shown = await editor.nth(SHOW)
    place = {"line": 2, "character": 0}
    assert shown == {
        "uri": path_to_uri(str(file)),
        "external": False,
        "takeFocus": False,
        "selection": {"start": place, "end": place},
    }

    async def landed() -> bool:
        return bool((await follow(editor))["shown"])

    await editor.eventually(landed)
    assert (await follow(editor))["location"] == {"path": str(file), "line": 3}


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        (0, 0),
        (1, 0),
        (10, 9),
        (None, None),
        (999999, 9),
        (4294967295, 9),
        (-1, None),
        (2.5, None),
        ("3", None),
        (True, None),
    ],
)
async def test_L02_lines_are_1_based_and_clamped(
    editor: Editor, puppet: Puppet, turn: Any, file: Path, line: Any, shown: int | None
) -> None:
    puppet.tool("t1", locations=[{"path": str(file), "line": line}])
    await editor.nth(SHOW)
    assert editor.revealed() == [("a.py", shown)]


async def test_L02_an_empty_file_has_one_line(
    editor: Editor, puppet: Puppet, turn: Any, ws: Path
) -> None:
    (ws / "empty").write_text("")
    puppet.tool("t1", locations=at(ws / "empty", 7))
    await editor.nth(SHOW)
    assert editor.revealed() == [("empty", 0)]


async def test_L03_an_editor_that_cannot_is_not_asked(
    idle_editor: Editor, puppet: Puppet, ws: Path, file: Path, settings: dict[str, Any]
) -> None:
    await idle_editor.initialize(ws, settings=settings, can={})
    await idle_editor.execute("acp.session.new")
    idle_editor.start("acp.session.prompt", text="go")
    await puppet.prompted()
    puppet.tool("t1", locations=at(file, 1))
    assert "cannot show documents" in await not_shown(idle_editor, file)
    assert idle_editor.all(SHOW) == []


@pytest.mark.parametrize("answer", ["error", "false"])
async def test_L03_an_editor_that_refuses_is_asked_once(
    editor: Editor, puppet: Puppet, turn: Any, ws: Path, file: Path, answer: str
) -> None:
    def refuse(params: Any) -> Any:
        if answer == "error":
            raise Refusal(-32603, "E36: Not enough room")
        return {"success": False}

    editor.answers[SHOW] = refuse
    puppet.tool("t1", locations=at(file, 1))
    reason = await not_shown(editor, file)
    assert "refused" in reason or "E36" in reason
    (ws / "b.py").write_text("b\n")
    puppet.tool("t2", locations=at(ws / "b.py", 1))
    await not_shown(editor, ws / "b.py")
    assert len(editor.all(SHOW)) == 1
    # The user's switch tries again.
    editor.answers[SHOW] = lambda params: {"success": True}
    await editor.execute("acp.follow.set", enabled=True)
    puppet.tool("t3", locations=at(file, 2))
    await editor.nth(SHOW, 2)


async def test_L03_null_is_no_refusal(
    editor: Editor, puppet: Puppet, turn: Any, ws: Path, file: Path
) -> None:
    editor.answers[SHOW] = lambda params: None
    for number in range(1, 4):
        puppet.tool(f"t{number}", locations=at(file, number))
        await editor.nth(SHOW, number)


async def test_L04_a_file_that_is_gone_is_not_shown(
    editor: Editor, puppet: Puppet, turn: Any, file: Path
) -> None:
    file.unlink()
    puppet.tool("t1", locations=at(file, 1))
    assert await not_shown(editor, file) == "missing"
    assert editor.all(SHOW) == []


async def test_a_file_that_comes_into_being_is_shown_then(
    editor: Editor, puppet: Puppet, turn: Any, ws: Path
) -> None:
    new = ws / "new.py"
    puppet.tool("t1", status="in_progress", locations=at(new))
    assert await not_shown(editor, new) == "missing"
    assert "result" in await puppet.write(new, "x\n")
    puppet.tool("t1", "tool_call_update", status="completed")
    await editor.nth(SHOW)
    assert editor.revealed() == [("new.py", None)]


async def test_L06_a_loaded_session_s_history_shows_nothing(
    editor: Editor, puppet: Puppet, file: Path
) -> None:
    old = {"type": "diff", "path": str(file), "oldText": "x", "newText": "y"}

    def load(params: dict[str, Any]) -> Any:
        puppet.sessions.append(params["sessionId"])
        for number in range(200):
            puppet.tool(f"t{number}", locations=at(file, 1), content=[old], status="completed")
        return None

    puppet.answers["session/load"] = load
    before = file.read_bytes()
    await editor.execute("acp.session.load", agentSessionId="old")
    state = await editor.state()
    assert len(state["toolCalls"]) == 200
    # Some agents send the history after the answer.
    puppet.tool("late", locations=at(file, 2))

    async def late() -> bool:
        return len((await editor.state())["toolCalls"]) == 201

    await editor.eventually(late)
    for method in (SHOW, "workspace/applyEdit", "window/showMessageRequest"):
        assert editor.all(method) == []
    assert file.read_bytes() == before
    # With the first prompt following begins.
    editor.start("acp.session.prompt", text="go")
    await puppet.prompted()
    puppet.tool("now", locations=at(file, 3))
    await editor.nth(SHOW)
    assert editor.revealed() == [("a.py", 2)]


async def test_the_last_location_that_may_be_shown_is(
    editor: Editor, puppet: Puppet, turn: Any, ws: Path, file: Path
) -> None:
    puppet.tool("t1", locations=[*at(file, 1), *at(file, 4), *at("/etc/hostname"), *at(ws)])
    await editor.nth(SHOW)
    assert editor.revealed() == [("a.py", 3)]


async def test_without_locations_diffs_say_where(
    editor: Editor, puppet: Puppet, turn: Any, file: Path
) -> None:
    diff = {"type": "diff", "path": str(file), "oldText": "line 6\n", "newText": "LINE 6\n"}
    puppet.tool("t1", content=[diff])
    await editor.nth(SHOW)
    assert editor.revealed() == [("a.py", 5)]


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("line 6\n", "LINE 6\n", 5),
        ("line 5\nline 6\nline 7", "line 5\nLINE 6\nline 7", 5),
        ("ne 6", "NE 6", 5),
        ("line 6\r\n", "LINE 6\r\n", 5),
        ("line 6\n", "", 5),
        ("line", "LINE", None),
        ("elsewhere\n", "ELSEWHERE\n", None),
        (None, "all new\n", None),
    ],
    ids=["line", "hunk", "words", "other ends", "gone", "many", "none", "new"],
)
@pytest.mark.parametrize("done", [False, True])
async def test_a_location_without_a_line_is_shown_where_its_diff_changes_it(
    editor: Editor,
    puppet: Puppet,
    turn: Any,
    file: Path,
    old: str | None,
    new: str,
    line: int | None,
    done: bool,
) -> None:
    """Some agents never name a line."""
    if done and old and new and line:
        file.write_text(file.read_text().replace(old.replace("\r", ""), new.replace("\r", "")))
    diff = {"type": "diff", "path": str(file), "oldText": old, "newText": new}
    puppet.ask({"kind": "edit", "locations": at(file), "content": [diff]})
    await editor.nth(SHOW)
    assert editor.revealed() == [("a.py", line)]


async def test_a_diff_shows_the_line_that_a_location_before_it_did_not_name(
    editor: Editor, puppet: Puppet, turn: Any, file: Path
) -> None:
    puppet.tool("t1", kind="edit", locations=at(file))
    await editor.nth(SHOW)
    before = file.read_text()
    after = before.replace("line 8\n", "line 8\nand more\n")
    file.write_text(after)
    diff = {"type": "diff", "path": str(file), "oldText": before, "newText": after}
    puppet.tool("t1", "tool_call_update", status="completed", content=[diff])
    await editor.nth(SHOW, 2)
    puppet.tool("t1", "tool_call_update", locations=at(file, 2), content=[diff])
    await editor.nth(SHOW, 3)
    assert editor.revealed() == [("a.py", None), ("a.py", 8), ("a.py", 1)]


async def test_P01_a_link_that_leads_outside_is_not_shown(
    editor: Editor, puppet: Puppet, turn: Any, ws: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("s\n")
    (ws / "out").symlink_to(outside)
    (ws / "link").symlink_to(outside / "secret")
    for path in (ws / "out" / "secret", ws / "link", outside / "secret"):
        puppet.tool(str(path), locations=at(path, 1))
        assert await not_shown(editor, path) == "outside"
    assert editor.all(SHOW) == []


async def test_P02_components_are_resolved_in_order(
    editor: Editor, puppet: Puppet, turn: Any, ws: Path
) -> None:
    (ws / "a" / "b").mkdir(parents=True)
    (ws / "a" / "t.txt").write_text("right\n")
    (ws / "t.txt").write_text("wrong\n")
    (ws / "alias").symlink_to(ws / "a" / "b")
    puppet.tool("t1", locations=at(f"{ws}/alias/../t.txt", 1))
    assert (await editor.nth(SHOW))["uri"] == path_to_uri(str(ws / "a" / "t.txt"))


async def test_P03_a_sibling_folder_is_outside(
    editor: Editor, puppet: Puppet, turn: Any, ws: Path
) -> None:
    evil = ws.with_name("ws-evil")
    evil.mkdir()
    (evil / "secret.txt").write_text("s\n")
    puppet.tool("t1", locations=at(evil / "secret.txt", 1))
    assert await not_shown(editor, evil / "secret.txt") == "outside"


async def test_P05_without_a_folder_nothing_is_guessed(
    idle_editor: Editor, puppet: Puppet, tmp_path: Path, settings: dict[str, Any]
) -> None:
    await idle_editor.initialize(settings=settings)
    (tmp_path / "x.md").write_text("x\n")
    idle_editor.open(tmp_path / "x.md")
    with pytest.raises(Exception, match="cwd"):
        await idle_editor.execute("acp.session.new")
    assert puppet.connections == 0


async def test_P05_reveals_stay_in_the_session_s_folder_where_no_other_is_open(
    idle_editor: Editor, puppet: Puppet, ws: Path, file: Path, settings: dict[str, Any]
) -> None:
    await idle_editor.initialize(settings=settings)
    await idle_editor.execute("acp.session.new", cwd=str(ws))
    idle_editor.start("acp.session.prompt", text="go")
    await puppet.prompted()
    puppet.tool("t1", locations=at(file, 1))
    await idle_editor.nth(SHOW)


async def test_reveals_are_further_limited_to_the_editor_s_folders(
    idle_editor: Editor, puppet: Puppet, ws: Path, file: Path, settings: dict[str, Any]
) -> None:
    (ws / "open").mkdir()
    (ws / "open" / "b.py").write_text("b\n")
    await idle_editor.initialize(ws / "open", settings=settings)
    await idle_editor.execute("acp.session.new", cwd=str(ws))
    idle_editor.start("acp.session.prompt", text="go")
    await puppet.prompted()
    puppet.tool("t1", locations=at(file, 1))
    assert await not_shown(idle_editor, file) == "outside"
    puppet.tool("t2", locations=at(ws / "open" / "b.py", 1))
    await idle_editor.nth(SHOW)
    assert idle_editor.revealed() == [("b.py", 0)]


async def test_P07_relative_paths_belong_to_the_session_s_folder(
    editor: Editor, puppet: Puppet, turn: Any, ws: Path
) -> None:
    (ws / "src").mkdir()
    (ws / "src" / "m.py").write_text("a\nb\nc\n")
    puppet.tool("t1", locations=at("src/m.py", 3))
    assert (await editor.nth(SHOW))["uri"] == path_to_uri(str(ws / "src" / "m.py"))


async def test_P09_a_tilde_is_a_name(editor: Editor, puppet: Puppet, turn: Any) -> None:
    puppet.tool("t1", locations=at("~/x.txt", 1))
    assert await not_shown(editor, "~/x.txt") == "missing"


async def test_P10_a_range_behind_the_path_names_the_line(
    editor: Editor, puppet: Puppet, turn: Any, file: Path
) -> None:
    puppet.tool("t1", locations=at(f"{file}:3-5"))
    await editor.nth(SHOW)
    assert editor.revealed() == [("a.py", 2)]
    puppet.tool("t2", locations=at(f"{file}.md:1-20"))
    assert await not_shown(editor, f"{file}.md:1-20") == "missing"
    assert len(editor.all(SHOW)) == 1


async def test_P11_folders_and_devices_are_not_shown(
    editor: Editor, puppet: Puppet, turn: Any, ws: Path
) -> None:
    os.mkfifo(ws / "pipe")
    (ws / "zero").symlink_to("/dev/zero")
    for path, reason in [
        (str(ws), "directory"),
        (f"{ws}/pipe", "special"),
        (f"{ws}/zero", "outside"),
        ("/", "outside"),
        ("//x", "outside"),
        ("", "invalid"),
        ("/ws\0x", "invalid"),
        ("file:///etc/passwd", "missing"),
    ]:
        puppet.tool("t" + path, locations=at(path, 1))
        assert await not_shown(editor, path) == reason
    assert editor.all(SHOW) == []


async def test_a_binary_file_is_not_shown(
    editor: Editor, puppet: Puppet, turn: Any, ws: Path
) -> None:
    (ws / "b.png").write_bytes(b"\x89PNG\0\xff")
    puppet.tool("t1", locations=at(ws / "b.png"))
    assert await not_shown(editor, ws / "b.png") == "not a text file"


async def test_P13_the_editor_hears_of_a_file_under_its_own_name(
    idle_editor: Editor, puppet: Puppet, ws: Path, file: Path, settings: dict[str, Any]
) -> None:
    link = ws.with_name("link")
    link.symlink_to(ws)
    await idle_editor.initialize(link, settings=settings)
    await idle_editor.execute("acp.session.new")
    idle_editor.start("acp.session.prompt", text="go")
    await puppet.prompted()
    puppet.tool("t1", locations=at(file, 1))
    assert (await idle_editor.nth(SHOW))["uri"] == path_to_uri(str(link / "a.py"))
    (ws / "b.py").write_text("b\n")
    uri = idle_editor.open(ws / "b.py")
    puppet.tool("t2", locations=at(link / "b.py", 1))
    assert (await idle_editor.nth(SHOW, 2))["uri"] == uri


async def test_P17_odd_characters_survive_in_the_uri(
    editor: Editor, puppet: Puppet, turn: Any, ws: Path
) -> None:
    odd = ws / "a b#c%20d+é😀;?.txt"
    odd.write_text("x\n")
    puppet.tool("t1", locations=at(odd, 1))
    uri = (await editor.nth(SHOW))["uri"]
    assert uri.endswith("/a%20b%23c%2520d%2B%C3%A9%F0%9F%98%80%3B%3F.txt")


async def test_P18_a_double_slash_is_a_slash(
    editor: Editor, puppet: Puppet, turn: Any, file: Path
) -> None:
    puppet.tool("t1", locations=at("//x"))
    puppet.tool("t2", locations=at(f"/{file}", 2))
    await editor.nth(SHOW)
    assert editor.revealed() == [("a.py", 1)]


async def test_typing_pauses_until_the_next_prompt(
    editor: Editor, puppet: Puppet, turn: Any, ws: Path, file: Path
) -> None:
    (ws / "mine.py").write_text("mine\n")
    uri = editor.open(ws / "mine.py")
    editor.type(uri, 0, 0, "x")

    async def paused() -> bool:
        puppet.tool("t1", locations=at(file, 1))
        return bool((await follow(editor))["paused"])

    await editor.eventually(paused)
    puppet.tool("t2", locations=at(file, 5))
    assert await not_shown(editor, file) == "paused"
    shown = len(editor.all(SHOW))
    puppet.end_turn(turn)
    editor.start("acp.session.prompt", text="more")
    await puppet.prompted()
    puppet.tool("t3", locations=at(file, 6))
    await editor.nth(SHOW, shown + 1)
    assert editor.revealed()[-1] == ("a.py", 5)


async def test_our_own_edit_is_no_act_of_the_user_s(
    editor: Editor, puppet: Puppet, turn: Any, file: Path
) -> None:
    editor.open(file)
    assert "result" in await puppet.read(file)
    assert "result" in await puppet.write(file, "changed\n")
    assert (await follow(editor))["paused"] is False
    uri = path_to_uri(str(file))
    assert editor.documents[uri].text == "changed\n"
    puppet.tool("t1", locations=at(file, 1))
    await editor.nth(SHOW)


async def test_a_reload_from_disk_is_no_act_of_the_user_s(
    editor: Editor, puppet: Puppet, turn: Any, file: Path
) -> None:
    uri = editor.open(file)
    file.write_text("by the agent\n")
    text = "by the agent\n"
    editor.documents[uri].text = text
    identity = {"uri": uri, "version": 2}
    editor.notify(
        "textDocument/didChange", {"textDocument": identity, "contentChanges": [{"text": text}]}
    )
    puppet.tool("t1", locations=at(file, 1))
    await editor.nth(SHOW)
    assert (await follow(editor))["paused"] is False


async def test_following_can_be_switched_off(
    editor: Editor, puppet: Puppet, turn: Any, file: Path
) -> None:
    assert await editor.execute("acp.follow.set", enabled=False) == {"enabled": False}
    puppet.tool("t1", locations=at(file, 1))
    assert await not_shown(editor, file) == "off"
    assert (await follow(editor))["enabled"] is False
    assert editor.all(SHOW) == []


async def test_switched_on_it_goes_to_where_the_agent_is(
    editor: Editor, puppet: Puppet, turn: Any, file: Path
) -> None:
    """In a pause too: whoever asks for it does not wait for the agent to move on."""
    puppet.tool("t1", locations=at(file, 1))
    await editor.nth(SHOW)
    editor.notify("acp/userActivity", {"uri": file.as_uri(), "kind": "switch"})
    puppet.tool("t2", locations=at(file, 2))
    assert await not_shown(editor, file) == "paused"
    await editor.execute("acp.follow.set", enabled=True)
    await editor.nth(SHOW, 2)
    assert editor.revealed() == [("a.py", 0), ("a.py", 1)]
    now = await follow(editor)
    assert (now["paused"], now["shown"]) == (False, True)


async def test_switched_on_after_the_turn_it_goes_nowhere(
    editor: Editor, puppet: Puppet, turn: Any, file: Path
) -> None:
    puppet.tool("t1", locations=at(file, 1))
    await editor.nth(SHOW)
    await editor.execute("acp.follow.set", enabled=False)
    puppet.end_turn(turn)

    async def over() -> bool:
        return bool((await editor.state())["status"] == "idle")

    await editor.eventually(over)
    await editor.execute("acp.follow.set", enabled=True)
    assert (await follow(editor))["shown"] is True
    assert len(editor.all(SHOW)) == 1


class TestRate:
    """A flood of places: few reveals, and the last one lands."""

    @pytest.fixture
    def settings(self, puppet: Puppet) -> dict[str, Any]:
        return {
            "agents": {"puppet": puppet.setting},
            "defaultAgent": "puppet",
            "follow": {"maxPerSecond": 5},
        }

    async def test_it_is_bounded_and_the_last_one_lands(
        self, editor: Editor, puppet: Puppet, turn: Any, ws: Path, file: Path
    ) -> None:
        times: list[float] = []
        loop = asyncio.get_running_loop()

        def show(params: Any) -> Any:
            times.append(loop.time())
            return {"success": True}

        editor.answers[SHOW] = show
        for line in range(1, 10):
            puppet.tool(f"t{line}", locations=at(file, line))
        puppet.tool("last", locations=at(file, 10))
        await editor.until(lambda: editor.revealed()[-1:] == [("a.py", 9)])
        assert len(editor.all(SHOW)) <= 3
        gaps = [later - earlier for earlier, later in pairwise(times)]
        assert all(gap > 0.15 for gap in gaps)


class TestRicherEditor:
    """An editor with a place of its own for the agent."""

    @pytest.fixture
    async def editor(self, idle_editor: Editor, ws: Path, settings: dict[str, Any]) -> Editor:
        can = capabilities(reveal=True, userActivity=True)
        await idle_editor.initialize(ws, settings=settings, can=can)
        return idle_editor

    async def test_it_gets_acp_reveal_instead(
        self, editor: Editor, puppet: Puppet, turn: Any, session: Any, file: Path
    ) -> None:
        puppet.tool("t1", locations=at(file, 3))
        shown = await editor.nth("acp/reveal")
        assert shown["uri"] == path_to_uri(str(file))
        assert shown["selection"]["start"] == {"line": 2, "character": 0}
        assert (shown["sessionId"], shown["toolCallId"]) == (session["sessionId"], "t1")
        assert editor.all(SHOW) == []

    async def test_its_reason_is_kept(
        self, editor: Editor, puppet: Puppet, turn: Any, file: Path
    ) -> None:
        editor.answers["acp/reveal"] = lambda params: {"shown": False, "reason": "too busy"}
        puppet.tool("t1", locations=at(file, 3))
        assert await not_shown(editor, file) == "too busy"
        puppet.tool("t2", locations=at(file, 4))
        await editor.nth("acp/reveal", 2)

    async def test_it_hears_where_the_agent_is_also_when_not_shown(
        self, editor: Editor, puppet: Puppet, turn: Any
    ) -> None:
        puppet.tool("t1", locations=at("/etc/hostname", 1))

        def told() -> Any:
            return [
                params
                for params in editor.all("acp/follow")
                if params["location"] == {"path": "/etc/hostname", "line": 1}
            ]

        (params,) = await editor.until(told)
        assert (params["shown"], params["reason"]) == (False, "outside")

    async def test_its_user_takes_over(
        self, editor: Editor, puppet: Puppet, turn: Any, file: Path
    ) -> None:
        editor.notify("acp/userActivity", {"uri": path_to_uri(str(file)), "kind": "scroll"})
        puppet.tool("t1", locations=at(file, 1))
        assert await not_shown(editor, file) == "paused"
        assert editor.all("acp/reveal") == []


class TestEditorThatTellsOfEdits:
    """An editor that shows places beside the user's: typing elsewhere is in nobody's way."""

    @pytest.fixture
    async def editor(self, idle_editor: Editor, ws: Path, settings: dict[str, Any]) -> Editor:
        can = capabilities(reveal=True, userActivity=True, userEdits=True)
        await idle_editor.initialize(ws, settings=settings, can=can)
        return idle_editor

    async def test_typing_elsewhere_does_not_pause(
        self, editor: Editor, puppet: Puppet, turn: Any, ws: Path, file: Path
    ) -> None:
        (ws / "mine.py").write_text("mine\n")
        editor.type(editor.open(ws / "mine.py"), 0, 0, "x")
        puppet.tool("t1", locations=at(file, 3))
        shown = await editor.nth("acp/reveal")
        assert shown["uri"] == path_to_uri(str(file))
        assert (await follow(editor))["paused"] is False

    async def test_what_it_tells_of_pauses(
        self, editor: Editor, puppet: Puppet, turn: Any, file: Path
    ) -> None:
        editor.notify("acp/userActivity", {"uri": path_to_uri(str(file)), "kind": "edit"})
        puppet.tool("t1", locations=at(file, 1))
        assert await not_shown(editor, file) == "paused"
