"""Files that the agent made and the user has edited: nothing deletes them without a word."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from acp_sidecar.workspace.uris import path_to_uri
from tests.e2e.editor import Editor, LspError, capabilities
from tests.e2e.hunks.table import can
from tests.e2e.puppet import Puppet

DIALOG = "window/showMessageRequest"
MESSAGE = "window/showMessage"
MINE = b"\x89PNG\0 of the user's"


class Table:
    """The agent has made three files in a turn, and the user has edited two since."""

    def __init__(self, editor: Editor, puppet: Puppet, ws: Path) -> None:
        self.editor = editor
        self.puppet = puppet
        self.text, self.image, self.untouched = ws / "a.txt", ws / "b.png", ws / "c.txt"

    async def start(self, ws: Path, settings: dict[str, Any], able: dict[str, Any]) -> None:
        await self.editor.initialize(ws, settings=settings, can=able)
        await self.editor.execute("acp.session.new")
        _, turn = self.editor.start("acp.session.prompt", text="go")
        prompt = await self.puppet.prompted()
        assert (await self.puppet.write(self.text, "one\ntwo\n")).get("result") == {}
        for path in (self.image, self.untouched):
            self.puppet.tool(path.name, locations=[{"path": str(path)}])
        await self.puppet.call("fs/read_text_file", path=str(ws))
        self.image.write_bytes(b"\x89PNG\0")
        self.untouched.write_text("the agent's\n")
        self.puppet.say("done")
        self.puppet.end_turn(prompt)
        await turn
        self.text.write_text("one\nmine\ntwo\n")
        self.image.write_bytes(MINE)

    async def step(self, name: str, **argument: Any) -> dict[str, Any]:
        done: dict[str, Any] = await self.editor.execute(f"acp.{name}", **argument)
        return done

    async def listed(self) -> set[str]:
        changes = await self.editor.execute("acp.review.list")
        return {change["uri"].rpartition("/")[2] for change in changes}

    def both_there(self) -> bool:
        return (
            self.text.exists()
            and self.text.read_text() == "one\nmine\ntwo\n"
            and self.image.exists()
            and self.image.read_bytes() == MINE
        )

    def both_gone(self) -> bool:
        return not self.text.exists() and not self.image.exists()

    async def both_gone_soon(self) -> bool:
        return self.both_gone()


@pytest.fixture
async def table(idle_editor: Editor, puppet: Puppet, ws: Path, settings: dict[str, Any]) -> Table:
    table = Table(idle_editor, puppet, ws)
    await table.start(ws, settings, can())
    return table


async def test_one_dialog_names_them_all_and_its_answer_counts(table: Table) -> None:
    done = await table.step("review.revert")
    assert (len(done["reverted"]), len(done["conflicts"])) == (1, 2)
    assert not table.untouched.exists()
    assert table.both_there()
    message = (await table.editor.dialog())["message"]
    assert "a.txt" in message
    assert "b.png" in message
    assert "c.txt" not in message
    assert table.editor.titles() == ["Keep all 2", "Delete all 2 all the same"]
    # The dialog says why they stay; nothing else has to.
    assert not any("deleted" in told["message"] for told in table.editor.all(MESSAGE))
    table.editor.click("Keep all 2")
    await table.step("review.revert")
    await table.editor.dialog(2)
    assert table.both_there()
    table.editor.click("Delete all 2 all the same")
    await table.editor.eventually(table.both_gone_soon)
    assert await table.listed() == set()
    await table.step("review.undo")
    assert table.both_there()
    await table.step("review.undo")
    assert table.untouched.read_text() == "the agent's\n"
    assert await table.listed() == {"a.txt", "b.png", "c.txt"}


@pytest.mark.parametrize("answer", [None, {"title": "Keep it"}, {"title": "Yes"}, {}, True])
async def test_anything_but_the_clear_word_leaves_it(table: Table, answer: Any) -> None:
    table.editor.answers[DIALOG] = lambda params: answer
    await table.step("review.revert", uri=path_to_uri(str(table.text)))
    message = (await table.editor.dialog())["message"]
    assert "a.txt" in message
    assert "b.png" not in message

    async def asked_again() -> bool:
        """Who reverts again is asked again, once the first answer has been taken."""
        await table.step("review.revert", uri=path_to_uri(str(table.text)))
        return len(table.editor.all(DIALOG)) == 2

    await table.editor.eventually(asked_again)
    assert table.both_there()


async def test_what_has_changed_since_the_question_stays(table: Table) -> None:
    await table.step("review.revert")
    await table.editor.dialog()
    table.text.write_text("one\nmine\ntwo\nand more\n")
    table.editor.click("Delete all 2 all the same")
    await table.editor.until(
        lambda: any("since you were asked" in told["message"] for told in table.editor.all(MESSAGE))
    )
    assert table.text.read_text() == "one\nmine\ntwo\nand more\n"
    assert not table.image.exists()


async def test_the_same_is_not_asked_twice_at_once(table: Table) -> None:
    await table.step("review.revert")
    await table.editor.dialog()
    await table.step("review.revert")
    await table.step("review.revert")
    table.editor.click("Delete all 2 all the same")
    await table.editor.eventually(table.both_gone_soon)
    assert len(table.editor.all(DIALOG)) == 1


async def test_unsaved_text_is_not_a_matter_of_a_click(table: Table) -> None:
    uri = table.editor.open(table.text)
    table.editor.type(uri, 0, 0, "unsaved ")
    done = await table.step("review.revert", uri=uri)
    assert len(done["conflicts"]) == 1
    assert "Save it first" in done["problems"][0]
    await table.editor.until(
        lambda: any("Save it first" in told["message"] for told in table.editor.all(MESSAGE))
    )
    assert table.editor.all(DIALOG) == []
    done = await table.step("review.revert", uri=uri, edited="delete")
    assert len(done["conflicts"]) == 1
    assert table.both_there()


async def test_the_command_can_bring_the_answer_along(table: Table) -> None:
    done = await table.step("review.revert", edited="keep")
    assert (len(done["reverted"]), len(done["conflicts"])) == (1, 2)
    assert table.both_there()
    done = await table.step("review.revert", edited="delete")
    assert (len(done["reverted"]), done["conflicts"], done["problems"]) == (2, [], [])
    assert table.both_gone()
    assert table.editor.all(DIALOG) == []
    await table.step("review.undo")
    assert table.both_there()
    with pytest.raises(LspError, match="'keep' or 'delete'"):
        await table.step("review.revert", edited="perhaps")


async def test_a_restore_asks_in_the_same_way(table: Table) -> None:
    [checkpoint] = await table.editor.execute("acp.checkpoint.list")
    await table.step("review.keep")
    done = await table.step("checkpoint.restore", checkpointId=checkpoint["checkpointId"])
    assert len(done["conflicts"]) == 2
    assert not table.untouched.exists()
    await table.editor.dialog()
    assert table.both_there()
    table.editor.click("Delete all 2 all the same")
    await table.editor.eventually(table.both_gone_soon)
    await table.step("review.undo")
    assert table.both_there()


async def test_a_lens_offers_it_and_says_what_comes(table: Table) -> None:
    uri = table.editor.open(table.text)
    lenses = await table.editor.call("textDocument/codeLens", {"textDocument": {"uri": uri}})
    [revert] = [lens["command"] for lens in lenses if "asks before" in lens["command"]["title"]]
    assert revert["command"] == "acp.review.revert"
    await table.editor.call(
        "workspace/executeCommand",
        {"command": revert["command"], "arguments": revert["arguments"]},
    )
    await table.editor.dialog()
    assert table.editor.titles() == ["Keep it", "Delete it all the same"]


async def test_an_editor_with_a_dialog_of_its_own_is_asked_there(
    idle_editor: Editor, puppet: Puppet, ws: Path, settings: dict[str, Any]
) -> None:
    table = Table(idle_editor, puppet, ws)
    await table.start(ws, settings, capabilities(permission=True, changes=True))
    idle_editor.answers["acp/permission"] = lambda params: {"optionId": "delete"}
    await table.step("review.revert")
    await idle_editor.eventually(table.both_gone_soon)
    [asked] = idle_editor.all("acp/permission")
    assert asked["kind"] == "delete"
    assert asked["paths"] == [str(table.text), str(table.image)]
    assert idle_editor.all(DIALOG) == []


async def test_a_closed_session_asks_nothing_any_more(table: Table) -> None:
    await table.step("review.revert")
    await table.editor.dialog()
    await table.step("session.close")
    table.editor.click("Delete all 2 all the same")
    assert await table.editor.execute("acp.permission.pending") == []
    assert table.both_there()
