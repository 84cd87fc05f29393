"""Hunks in the editor: kept and reverted one by one, as code lenses, as code actions, in order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from acp_sidecar.workspace.uris import path_to_uri
from tests.e2e.editor import Editor, LspError, Refusal, capabilities
from tests.e2e.puppet import Puppet

LINES = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n"
EDITED = "one\nTWO\nthree\nfour\nfive\nsix\nSEVEN\nmore\neight\n"
REFRESH = "workspace/codeLens/refresh"
SHOW = "window/showDocument"


def can(*, lenses: bool = True, literals: bool = True, **experimental: bool) -> dict[str, Any]:
    """What an editor with code lenses and code actions can do."""
    given = capabilities(**experimental)
    if lenses:
        given["workspace"]["codeLens"] = {"refreshSupport": True}
        given["textDocument"] = {"codeLens": {}, "codeAction": {}}
        if literals:
            kinds = {"codeActionKind": {"valueSet": ["quickfix", "source"]}}
            given["textDocument"]["codeAction"] = {"codeActionLiteralSupport": kinds}
    return given


class Table:
    """An editor, an agent at work, and a file."""

    def __init__(self, editor: Editor, puppet: Puppet, ws: Path) -> None:
        self.editor = editor
        self.puppet = puppet
        self.ws = ws
        self.path = ws / "a.txt"
        self.uri = path_to_uri(str(self.path))

    async def start(
        self, settings: dict[str, Any], able: dict[str, Any], text: str = LINES
    ) -> None:
        self.path.write_bytes(text.encode())
        await self.editor.initialize(self.ws, settings=settings, can=able)
        await self.editor.execute("acp.session.new")

    async def agent_writes(self, text: str = EDITED, path: Path | None = None) -> None:
        """A whole turn in which the agent writes through the client."""
        path = path or self.path
        _, turn = self.editor.start("acp.session.prompt", text="go")
        prompt = await self.puppet.prompted()
        assert (await self.puppet.write(path, text)).get("result") == {}
        self.puppet.say("done")
        self.puppet.end_turn(prompt)
        await turn

    async def hunks(self) -> list[dict[str, Any]]:
        listed = await self.editor.execute("acp.review.list")
        return [hunk for entry in listed for hunk in entry["hunks"]]

    async def lenses(self, uri: str | None = None) -> list[dict[str, Any]]:
        params = {"textDocument": {"uri": uri or self.uri}}
        lenses: list[dict[str, Any]] = await self.editor.call("textDocument/codeLens", params)
        return lenses

    async def press(self, lens: dict[str, Any]) -> Any:
        """What an editor does when a code lens or an action is chosen."""
        command = lens["command"]
        params = {"command": command["command"], "arguments": command["arguments"]}
        return await self.editor.call("workspace/executeCommand", params)

    async def actions(self, line: int, only: list[str] | None = None) -> list[dict[str, Any]]:
        place = {"line": line, "character": 0}
        context: dict[str, Any] = {"diagnostics": []}
        if only is not None:
            context["only"] = only
        params = {
            "textDocument": {"uri": self.uri},
            "range": {"start": place, "end": place},
            "context": context,
        }
        found: list[dict[str, Any]] = await self.editor.call("textDocument/codeAction", params)
        return found


@pytest.fixture
def table(idle_editor: Editor, puppet: Puppet, ws: Path) -> Table:
    idle_editor.answers[REFRESH] = lambda params: None
    return Table(idle_editor, puppet, ws)


@pytest.fixture
async def desk(table: Table, settings: dict[str, Any]) -> Table:
    """The agent has changed two places of a file that is not open."""
    await table.start(settings, can())
    await table.agent_writes()
    return table


def titles(lenses: list[dict[str, Any]]) -> list[tuple[int, str]]:
    return [(lens["range"]["start"]["line"], lens["command"]["title"]) for lens in lenses]


def lens_at(lenses: list[dict[str, Any]], line: int, word: str) -> dict[str, Any]:
    """The lens of a hunk at a line whose title begins with a word."""
    return next(
        lens
        for lens in lenses
        if lens["range"]["start"]["line"] == line and lens["command"]["title"].startswith(word)
    )


# --- one hunk ---------------------------------------------------------------------------------


async def test_one_hunk_is_kept_another_reverted_and_both_taken_back(desk: Table) -> None:
    first, second = await desk.hunks()
    kept = await desk.editor.execute("acp.review.keep", hunkId=first["id"])
    assert kept == {"kept": [first["id"]], "reverted": [], "conflicts": [], "problems": []}
    assert [hunk["id"] for hunk in await desk.hunks()] == [second["id"]]
    await desk.editor.execute("acp.review.revert", hunkId=second["id"])
    assert desk.path.read_text() == LINES.replace("two", "TWO")
    assert await desk.hunks() == []
    assert (await desk.editor.execute("acp.review.undo"))["reverted"] == [second["id"]]
    assert desk.path.read_text() == EDITED
    await desk.editor.execute("acp.review.undo")
    assert [hunk["id"] for hunk in await desk.hunks()] == [first["id"], second["id"]]


async def test_a_hunk_is_reverted_in_a_dirty_buffer_and_the_user_s_text_stays(
    desk: Table,
) -> None:
    editor = desk.editor
    uri = editor.open(desk.path)
    editor.type(uri, 4, 0, "mine ")
    first, _ = await desk.hunks()
    await editor.execute("acp.review.revert", hunkId=first["id"], uri=uri)
    expected = EDITED.replace("TWO", "two").replace("five", "mine five")
    assert editor.documents[uri].text == expected
    assert desk.path.read_text() == EDITED


async def test_a_revert_that_is_given_up_unsaved_waits_again(desk: Table) -> None:
    """What was kept meanwhile does not come back with it."""
    editor = desk.editor
    first, second = await desk.hunks()
    editor.open(desk.path)
    editor.type(desk.uri, 3, 0, "mine ")
    await editor.execute("acp.review.keep", hunkId=first["id"])
    done = await editor.execute("acp.review.revert", hunkId=second["id"])
    assert done["reverted"] == [second["id"]]
    assert desk.path.read_text() == EDITED
    editor.close_document(desk.uri)
    assert await desk.hunks() == [second]
    await editor.execute("acp.review.revert")
    assert desk.path.read_text() == EDITED.replace("SEVEN\nmore\n", "seven\n")


async def test_what_the_agent_edited_unsaved_goes_with_the_buffer(desk: Table) -> None:
    """Its changes of the same lines that are on disk can be reverted as before."""
    hunks = await desk.hunks()
    desk.editor.open(desk.path)
    desk.editor.type(desk.uri, 3, 0, "mine ")
    _, turn = desk.editor.start("acp.session.prompt", text="go")
    prompt = await desk.puppet.prompted()
    text = (await desk.puppet.read(desk.path))["result"]["content"]
    assert (await desk.puppet.write(desk.path, text.replace("one", "ONE")))["result"] == {}
    desk.puppet.say("done")
    desk.puppet.end_turn(prompt)
    await turn
    assert desk.editor.documents[desk.uri].text == EDITED.replace("one", "ONE").replace(
        "four", "mine four"
    )
    desk.editor.close_document(desk.uri)
    assert await desk.hunks() == hunks
    await desk.editor.execute("acp.review.revert")
    assert desk.path.read_text() == LINES


async def test_a_revert_that_the_user_undoes_in_the_editor_waits_again(desk: Table) -> None:
    editor = desk.editor
    hunks = await desk.hunks()
    editor.open(desk.path)
    editor.type(desk.uri, 3, 0, "mine ")
    before = editor.documents[desk.uri].text
    await editor.execute("acp.review.revert")
    assert await desk.hunks() == []
    editor.set_text(desk.uri, before)
    assert await desk.hunks() == hunks
    done = await editor.execute("acp.review.revert")
    assert done["reverted"] == [hunk["id"] for hunk in hunks]
    assert editor.documents[desk.uri].text == LINES.replace("four", "mine four")


async def test_a_file_that_the_user_makes_anew_after_a_revert_is_the_user_s(desk: Table) -> None:
    path = desk.ws / "new.txt"
    uri = path_to_uri(str(path))
    await desk.agent_writes("made\n", path)
    desk.editor.open(path)
    assert len((await desk.editor.execute("acp.review.revert", uri=uri))["reverted"]) == 1
    assert not path.exists()
    desk.editor.save(uri, path)
    assert uri not in [entry["uri"] for entry in await desk.editor.execute("acp.review.list")]
    await desk.editor.execute("acp.review.revert")
    assert path.read_text() == "made\n"


async def test_P01_a_link_in_the_place_of_a_changed_file_is_not_followed(
    desk: Table, tmp_path: Path
) -> None:
    """What is listed can be named, and whoever tries to take it back hears why not."""
    outside = tmp_path / "outside.txt"
    outside.write_text("secret\n")
    ids = [hunk["id"] for hunk in await desk.hunks()]
    desk.path.unlink()
    desk.path.symlink_to(outside)
    done = await desk.editor.execute("acp.review.revert", uri=desk.uri)
    assert (done["reverted"], done["conflicts"]) == ([], ids)
    assert "The way to this file has changed" in done["problems"][0]
    assert outside.read_text() == "secret\n"
    texts = await desk.editor.execute("acp.review.diff", uri=desk.uri)
    assert texts == {"before": LINES, "after": EDITED}
    done = await desk.editor.execute("acp.review.keep", uri=desk.uri)
    assert done["kept"] == ids


async def test_a_hunk_of_another_file_or_none_is_refused(desk: Table) -> None:
    first, _ = await desk.hunks()
    other = path_to_uri(str(desk.ws / "b.txt"))
    for argument in ({"hunkId": "nope"}, {"hunkId": first["id"], "uri": other}):
        with pytest.raises(LspError, match="waits for review") as caught:
            await desk.editor.execute("acp.review.keep", **argument)
        assert caught.value.code == -32602
    assert len(await desk.hunks()) == 2


async def test_changes_are_told_hunk_by_hunk(table: Table, settings: dict[str, Any]) -> None:
    await table.start(settings, can(changes=True))
    await table.agent_writes()
    first, second = await table.hunks()
    await table.editor.execute("acp.review.keep", hunkId=first["id"])
    last = table.editor.all("acp/changes")[-1]
    assert [hunk["id"] for hunk in last["changes"][0]["hunks"]] == [second["id"]]
    assert second["after"] == {"start": 6, "lines": 2}
    assert second["before"] == {"start": 6, "lines": 1}


# --- code lenses ------------------------------------------------------------------------------


async def test_lenses_offer_keep_revert_and_next_at_each_hunk(desk: Table) -> None:
    assert titles(await desk.lenses()) == [
        (0, "Keep all 2"),
        (0, "Revert all 2"),
        (1, "Keep −1 +1"),
        (1, "Revert −1 +1"),
        (1, "Next (1 of 2)"),
        (6, "Keep −1 +2"),
        (6, "Revert −1 +2"),
        (6, "Next (2 of 2)"),
    ]
    assert await desk.lenses(path_to_uri(str(desk.ws / "b.txt"))) == []
    assert await desk.lenses("untitled:Untitled-1") == []


async def test_a_lens_does_what_it_says(desk: Table) -> None:
    await desk.press(lens_at(await desk.lenses(), 6, "Revert"))
    assert desk.path.read_text() == LINES.replace("two", "TWO")
    assert [title for _, title in titles(await desk.lenses())] == [
        "Keep −1 +1",
        "Revert −1 +1",
        "Next (1 of 1)",
    ], "for the one change there is nothing to say twice"
    await desk.press(lens_at(await desk.lenses(), 1, "Keep"))
    assert await desk.lenses() == []
    assert desk.path.read_text() == LINES.replace("two", "TWO")


async def test_of_very_many_changes_the_rest_is_said_to_have_no_lenses(
    table: Table, settings: dict[str, Any]
) -> None:
    lines = [f"{number}\n" for number in range(2_200)]
    await table.start(settings, can(), "".join(lines))
    changed = (f"x{line}" if n % 2 else line for n, line in enumerate(lines))
    await table.agent_writes("".join(changed))
    lenses = await table.lenses()
    assert any(lens["command"]["title"] == "Revert all 1100" for lens in lenses)
    last = lenses[-1]
    assert last["command"]["title"] == "100 more changes from here on, without lenses"
    assert last["range"]["start"]["line"] == 2_001
    assert max(lens["range"]["start"]["line"] for lens in lenses[:-1]) == 1_999


async def test_the_lens_of_the_first_line_is_for_the_whole_file(desk: Table) -> None:
    other = desk.ws / "b.txt"
    await desk.agent_writes("new\n", other)
    await desk.press(lens_at(await desk.lenses(), 0, "Revert all"))
    assert desk.path.read_text() == LINES
    assert other.read_text() == "new\n"


async def test_lenses_are_where_the_hunks_are_in_the_buffer_as_it_is(desk: Table) -> None:
    editor = desk.editor
    uri = editor.open(desk.path)
    editor.type(uri, 0, 0, "first\nsecond\n")
    assert [line for line, title in titles(await desk.lenses()) if "Keep −" in title] == [3, 8]
    editor.type(uri, 3, 0, "x")
    lenses = [title for line, title in titles(await desk.lenses()) if line == 3]
    assert lenses == ["Keep −1 +1 (conflict: you changed it too)", "Next (1 of 2)"]


async def test_a_revert_that_cannot_be_is_told(desk: Table) -> None:
    editor = desk.editor
    uri = editor.open(desk.path)
    lens = lens_at(await desk.lenses(), 1, "Revert")
    editor.type(uri, 1, 0, "my ")
    answer = await desk.press(lens)
    assert answer["conflicts"] == [lens["command"]["arguments"][0]["hunkId"]]
    assert "same lines" in (await editor.nth("window/showMessage"))["message"]
    assert editor.documents[uri].text == EDITED.replace("TWO", "my TWO")


async def test_what_is_gone_at_the_end_has_its_lens_on_the_last_line(
    table: Table, settings: dict[str, Any]
) -> None:
    await table.start(settings, can(), "one\ntwo\nthree")
    await table.agent_writes("one\n")
    assert (1, "Revert −2 +0") in titles(await table.lenses())


async def test_editors_that_can_are_asked_to_refresh_lenses(desk: Table) -> None:
    await desk.editor.until(lambda: desk.editor.all(REFRESH))
    first, _ = await desk.hunks()
    before = len(desk.editor.all(REFRESH))
    await desk.editor.execute("acp.review.keep", hunkId=first["id"])
    await desk.editor.until(lambda: len(desk.editor.all(REFRESH)) > before)


async def test_an_editor_that_does_not_know_the_refresh_is_asked_once(
    table: Table, settings: dict[str, Any]
) -> None:
    def unknown(params: Any) -> Any:
        raise Refusal(-32601)

    table.editor.answers[REFRESH] = unknown
    await table.start(settings, can())
    await table.agent_writes()
    await table.editor.until(lambda: table.editor.all(REFRESH))
    for hunk in await table.hunks():
        await table.editor.execute("acp.review.keep", hunkId=hunk["id"])
    assert len(table.editor.all(REFRESH)) == 1


async def test_an_editor_without_lenses_is_never_asked(
    table: Table, settings: dict[str, Any]
) -> None:
    await table.start(settings, can(lenses=False))
    await table.agent_writes()
    for hunk in await table.hunks():
        await table.editor.execute("acp.review.keep", hunkId=hunk["id"])
    assert table.editor.all(REFRESH) == []


# --- next ---------------------------------------------------------------------------------------


async def test_next_opens_one_hunk_after_the_other_over_all_files(desk: Table) -> None:
    other = desk.ws / "b.txt"
    await desk.agent_writes("new\n", other)
    seen = []
    place = await desk.press(lens_at(await desk.lenses(), 1, "Next"))
    for _ in range(3):
        shown = desk.editor.all(SHOW)[-1]
        assert (shown["takeFocus"], shown["external"]) == (True, False)
        seen.append((shown["uri"].rpartition("/")[2], shown["selection"]["start"]["line"]))
        place = await desk.editor.execute("acp.review.next", hunkId=place["hunkId"])
    assert seen == [("a.txt", 6), ("b.txt", 0), ("a.txt", 1)]


async def test_next_from_a_line_passes_no_file_over(desk: Table) -> None:
    """And goes through them as a tree shows them, whichever the agent has changed first."""
    for name in ("c.txt", "b.txt"):
        await desk.agent_writes("new\n", desk.ws / name)
    uri, line, seen = desk.uri, 100, []
    for _ in range(4):
        place = await desk.editor.execute("acp.review.next", uri=uri, line=line)
        uri, line = place["uri"], 100
        seen.append(uri.rpartition("/")[2])
    assert seen == ["b.txt", "c.txt", "a.txt", "b.txt"]


async def test_next_goes_on_from_a_line_and_selects_in_the_editor_s_units(
    table: Table, settings: dict[str, Any]
) -> None:
    await table.start(settings, can())
    await table.agent_writes(LINES.replace("seven", "s😀"))
    place = await table.editor.execute("acp.review.next", uri=table.uri, line=2)
    assert place["range"] == {
        "start": {"line": 6, "character": 0},
        "end": {"line": 6, "character": 3},
    }
    assert table.editor.all(SHOW)[-1]["selection"] == place["range"]


async def test_the_way_back_goes_over_all_files_and_says_which_of_how_many(desk: Table) -> None:
    other = desk.ws / "b.txt"
    await desk.agent_writes("new\n", other)
    seen: list[tuple[Any, ...]] = []
    place: Any = None
    for _ in range(4):
        place = await desk.editor.execute(
            "acp.review.next", hunkId=place and place["hunkId"], direction="previous"
        )
        name = place["uri"].rpartition("/")[2]
        seen.append((name, place["range"]["start"]["line"], place["number"], place["of"]))
    assert seen == [("b.txt", 0, 3, 3), ("a.txt", 6, 2, 3), ("a.txt", 1, 1, 3), ("b.txt", 0, 3, 3)]
    assert len(desk.editor.all(SHOW)) == 4


async def test_a_hunk_is_told_without_being_opened(desk: Table) -> None:
    place = await desk.editor.execute(
        "acp.review.next", uri=desk.uri, line=6, direction="previous", open=False
    )
    assert (place["range"]["start"]["line"], place["number"], place["of"]) == (1, 1, 2)
    assert desk.editor.all(SHOW) == []


async def test_the_way_follows_what_the_user_has_just_typed(desk: Table) -> None:
    uri = desk.editor.open(desk.path)
    desk.editor.type(uri, 0, 0, "mine\n" * 10)
    place = await desk.editor.execute("acp.review.next", uri=uri, line=11)
    assert (place["range"]["start"]["line"], place["number"]) == (16, 2)
    back = await desk.editor.execute("acp.review.next", uri=uri, line=16, direction="previous")
    assert (back["range"]["start"]["line"], back["number"]) == (11, 1)


async def test_a_file_that_is_as_it_was_by_now_is_passed_over(desk: Table) -> None:
    other = desk.ws / "b.txt"
    other.write_text("old\n")
    await desk.agent_writes("new\n", other)
    await desk.agent_writes("new\n", desk.ws / "c.txt")
    other.write_text("old\n")
    place = await desk.editor.execute("acp.review.next", uri=desk.uri, line=100)
    assert (place["uri"].rpartition("/")[2], place["number"], place["of"]) == ("c.txt", 3, 3)


async def test_a_file_that_two_sessions_have_changed_is_walked_through_once(desk: Table) -> None:
    await desk.agent_writes("new\n", desk.ws / "b.txt")
    second = await desk.editor.execute("acp.session.new")
    _, turn = desk.editor.start("acp.session.prompt", sessionId=second["sessionId"], text="go")
    prompt = await desk.puppet.prompted()
    assert "error" not in await desk.puppet.write(desk.path, EDITED.replace("four", "FOUR"))
    desk.puppet.say("done")
    desk.puppet.end_turn(prompt)
    await turn
    line, seen = 0, []
    for _ in range(3):
        place = await desk.editor.execute("acp.review.next", uri=desk.uri, line=line)
        line = place["range"]["start"]["line"]
        seen.append((line, place["number"], place["of"]))
    assert seen == [(1, 1, 4), (3, 2, 4), (6, 3, 4)]


async def test_from_a_text_that_is_no_file_the_way_begins_at_the_first_or_the_last(
    desk: Table,
) -> None:
    elsewhere = {"uri": "untitled:Untitled-1", "line": 3}
    first = await desk.editor.execute("acp.review.next", **elsewhere)
    last = await desk.editor.execute("acp.review.next", direction="previous", **elsewhere)
    assert (first["number"], last["number"]) == (1, 2)
    with pytest.raises(LspError, match="'direction' must be"):
        await desk.editor.execute("acp.review.next", direction="back")


async def test_next_without_anything_that_waits_opens_nothing(
    table: Table, settings: dict[str, Any]
) -> None:
    await table.start(settings, can())
    assert await table.editor.execute("acp.review.next") is None
    assert table.editor.all(SHOW) == []


# --- code actions -----------------------------------------------------------------------------


async def test_actions_are_for_the_hunk_at_the_cursor_the_file_and_all(desk: Table) -> None:
    found = await desk.actions(7)
    assert [(action["kind"], action["title"]) for action in found] == [
        ("quickfix", "Keep this change"),
        ("quickfix", "Revert this change"),
        ("source.acp.review.keep.file", "Keep all 2"),
        ("source.acp.review.revert.file", "Revert all 2"),
        ("source.acp.review.keep.all", "Keep all changes in all files"),
        ("source.acp.review.revert.all", "Revert all changes in all files"),
    ]
    assert not any("isPreferred" in action for action in found)
    await desk.press(found[1])
    assert desk.path.read_text() == LINES.replace("two", "TWO")
    await desk.press(found[5])
    assert desk.path.read_text() == LINES


async def test_actions_elsewhere_are_for_the_file_only(desk: Table) -> None:
    assert {action["kind"].partition(".")[0] for action in await desk.actions(4)} == {"source"}


@pytest.mark.parametrize(
    ("only", "count"),
    [
        (["quickfix"], 2),
        (["source"], 4),
        (["source.acp.review.revert"], 2),
        (["source.fixAll"], 0),
        (["source.organizeImports"], 0),
        (["refactor"], 0),
        ([""], 6),
    ],
)
async def test_only_the_kinds_that_are_asked_for(desk: Table, only: list[str], count: int) -> None:
    assert len(await desk.actions(1, only)) == count


async def test_an_editor_without_literals_gets_commands(
    table: Table, settings: dict[str, Any]
) -> None:
    await table.start(settings, can(literals=False))
    await table.agent_writes()
    found = await table.actions(1, ["quickfix"])
    assert [action["command"] for action in found] == ["acp.review.keep", "acp.review.revert"]
    await table.press({"command": found[1]})
    assert table.path.read_text() == EDITED.replace("TWO", "two")


@pytest.mark.parametrize("params", [None, {}, {"textDocument": None}, {"textDocument": {}}, []])
async def test_odd_requests_find_nothing(desk: Table, params: Any) -> None:
    assert await desk.editor.call("textDocument/codeLens", params) == []
    assert isinstance(await desk.editor.call("textDocument/codeAction", params), list)


# --- edits with labels, files that move -----------------------------------------------------------


@pytest.mark.parametrize(
    ("annotations", "documents"), [(True, True), (False, True), (True, False), (False, False)]
)
async def test_D16_edits_say_what_they_are_where_the_editor_can_show_it(
    table: Table, settings: dict[str, Any], annotations: bool, documents: bool
) -> None:
    """Of the agent's writes, and of what a revert, an undo and a restore do."""
    able = can()
    able["workspace"]["workspaceEdit"] = {"documentChanges": documents}
    if annotations:
        able["workspace"]["workspaceEdit"]["changeAnnotationSupport"] = {"groupsOnLabel": True}
    await table.start(settings, able)
    editor = table.editor

    def apply(params: dict[str, Any]) -> Any:
        edit = params["edit"]
        for uri, edits in edit.get("changes", {}).items():
            version = editor.documents[uri].version
            change = {"textDocument": {"uri": uri, "version": version}, "edits": edits}
            edit = {"documentChanges": [change]}
        return editor.apply_edit({"edit": edit})

    editor.answers["workspace/applyEdit"] = apply
    uri = editor.open(table.path)
    editor.type(uri, 4, 0, "mine ")
    mine = LINES.replace("five", "mine five")
    await table.agent_writes(EDITED.replace("five", "mine five"))
    await editor.execute("acp.review.revert")
    assert editor.documents[uri].text == mine
    await editor.execute("acp.review.undo")
    [checkpoint] = await editor.execute("acp.checkpoint.list")
    restored = await editor.execute(
        "acp.checkpoint.restore", checkpointId=checkpoint["checkpointId"]
    )
    assert restored["problems"] == []
    assert editor.documents[uri].text == mine
    told = editor.all("workspace/applyEdit")
    assert [params["label"] for params in told] == [
        "puppet edits a.txt",
        "Revert",
        "Undo",
        "Restore",
    ]
    for params in told:
        edit = params["edit"]
        if not documents:
            assert set(edit) == {"changes"}
            assert all("annotationId" not in one for one in edit["changes"][uri])
            continue
        (change,) = edit["documentChanges"]
        ids = {one.get("annotationId") for one in change["edits"]}
        known = edit.get("changeAnnotations", {})
        if annotations:
            assert [known[id_]["label"] for id_ in ids] == [params["label"]]
            assert not any(each["needsConfirmation"] for each in known.values())
        else:
            assert (ids, known) == ({None}, {})


def watched(editor: Editor) -> list[dict[str, Any]]:
    return [
        registration
        for params in editor.all("client/registerCapability")
        for registration in params["registrations"]
        if registration["method"] == "workspace/didChangeWatchedFiles"
    ]


async def test_files_are_watched_where_the_editor_can(
    table: Table, settings: dict[str, Any]
) -> None:
    able = can(changes=True)
    able["workspace"]["didChangeWatchedFiles"] = {"dynamicRegistration": True}
    await table.start(settings, able)
    await table.editor.until(lambda: watched(table.editor))
    (registration,) = watched(table.editor)
    assert registration["registerOptions"] == {"watchers": [{"globPattern": "**/*"}]}
    table.editor.start("acp.session.prompt", text="go")
    await table.puppet.prompted()
    await table.puppet.read(table.path)
    # The agent writes by itself, as agents do: a draft first, then in place of the file.
    draft = table.path.with_name("a.txt.tmp.4711.1abc")
    draft.write_text(EDITED)
    draft.replace(table.path)
    events = [
        {"uri": path_to_uri(str(draft)), "type": 1},
        {"uri": path_to_uri(str(table.ws / "node_modules" / "x.js")), "type": 1},
        {"uri": "untitled:x", "type": 1},
        {"uri": table.uri, "type": 2},
    ]
    table.editor.notify("workspace/didChangeWatchedFiles", {"changes": events})
    changes = (await table.editor.nth("acp/changes"))["changes"]
    assert [(entry["uri"], len(entry["hunks"])) for entry in changes] == [(table.uri, 2)]


async def test_a_folder_that_goes_takes_its_files_along(
    table: Table, settings: dict[str, Any]
) -> None:
    able = can(changes=True)
    able["workspace"]["didChangeWatchedFiles"] = {"dynamicRegistration": True}
    await table.start(settings, able)
    inner = table.ws / "sub" / "b.txt"
    inner.parent.mkdir()
    inner.write_text(LINES)
    table.editor.start("acp.session.prompt", text="go")
    await table.puppet.prompted()
    await table.puppet.read(inner)
    inner.unlink()
    inner.parent.rmdir()
    events = [{"uri": path_to_uri(str(inner.parent)), "type": 3}]
    table.editor.notify("workspace/didChangeWatchedFiles", {"changes": events})
    changes = (await table.editor.nth("acp/changes"))["changes"]
    assert [entry["status"] for entry in changes] == ["deleted"]


async def test_an_editor_that_cannot_watch_files_is_not_asked(desk: Table) -> None:
    assert watched(desk.editor) == []
