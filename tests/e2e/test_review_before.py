"""``review.mode`` ``before``: a write waits for the user's word, and nothing else writes it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.editor import Editor, LspError, Refusal
from tests.e2e.hunks.table import EDITED, LINES, SHOW, Table, can, lens_at, titles
from tests.e2e.puppet import Puppet

DIALOG = "window/showMessageRequest"
TITLES = ["Reject all", "Let me choose", "Apply all"]


class Waiting(Table):
    """A table at which the agent's writes wait."""

    async def start(
        self, settings: dict[str, Any], able: dict[str, Any], text: str = LINES
    ) -> None:
        await super().start({**settings, "review": {"mode": "before"}}, able, text)

    async def prompt(self) -> dict[str, Any]:
        self.editor.start("acp.session.prompt", text="go")
        self.turn = await self.puppet.prompted()
        return self.turn

    async def offer(self, text: str = EDITED, path: Path | None = None) -> Any:
        """The agent wants to write; the id of its request, once the user may know of it."""
        before = len(await self.proposed())
        params = {
            "sessionId": self.puppet.session,
            "path": str(path or self.path),
            "content": text,
        }
        request = self.puppet.request("fs/write_text_file", params)
        await self.editor.eventually(lambda: self._more(before))
        return request

    async def _more(self, before: int) -> bool:
        return len(await self.proposed()) > before

    async def proposed(self) -> list[dict[str, Any]]:
        listed = await self.editor.execute("acp.review.list")
        return [hunk for entry in listed for hunk in entry["proposed"]]


@pytest.fixture
def waiting(idle_editor: Editor, puppet: Puppet, ws: Path) -> Waiting:
    idle_editor.answers["workspace/codeLens/refresh"] = lambda params: None
    return Waiting(idle_editor, puppet, ws)


@pytest.fixture
async def desk(waiting: Waiting, settings: dict[str, Any]) -> Waiting:
    """An editor that draws changes itself, and a turn that runs."""
    await waiting.start(settings, can(changes=True, proposals=True))
    await waiting.prompt()
    return waiting


@pytest.fixture
async def plain(waiting: Waiting, settings: dict[str, Any]) -> Waiting:
    """An editor with code lenses, and a turn that runs."""
    await waiting.start(settings, can())
    await waiting.prompt()
    return waiting


async def test_nothing_is_written_before_all_is_decided(desk: Waiting) -> None:
    request = await desk.offer()
    (entry,) = await desk.editor.execute("acp.review.list")
    first, second = entry["proposed"]
    assert (entry["status"], entry["hunks"]) == ("modified", [])
    assert first["before"] == {"start": 1, "lines": 1}
    assert (second["text"], second["state"]) == ("SEVEN\nmore\n", "proposed")
    assert desk.editor.all("acp/changes")[-1]["changes"] == [entry]
    assert await desk.editor.execute("acp.review.diff", uri=desk.uri) == {
        "before": LINES,
        "after": EDITED,
    }
    done = await desk.editor.execute("acp.review.keep", hunkId=first["id"])
    assert done["kept"] == [first["id"]]
    assert desk.path.read_text() == LINES
    assert [hunk["id"] for hunk in await desk.proposed()] == [second["id"]]
    await desk.editor.execute("acp.review.keep", hunkId=second["id"])
    assert desk.path.read_text() == EDITED
    assert (await desk.puppet.result(request))["result"] == {}
    assert await desk.editor.execute("acp.review.list") == []
    assert desk.editor.all("acp/changes")[-1]["changes"] == []


async def test_some_hunks_are_taken_and_the_agent_hears_which_were_not(desk: Waiting) -> None:
    request = await desk.offer()
    first, second = await desk.proposed()
    await desk.editor.execute("acp.review.revert", hunkId=first["id"])
    await desk.editor.execute("acp.review.keep", hunkId=second["id"])
    assert desk.path.read_text() == LINES.replace("seven\n", "SEVEN\nmore\n")
    error = (await desk.puppet.result(request))["error"]
    assert error["data"] == {
        "path": str(desk.path),
        "reason": "refused",
        "written": True,
        "refused": [
            {
                "before": {"start": 1, "lines": 1},
                "after": {"start": 1, "lines": 1},
                "oldText": "two\n",
                "newText": "TWO\n",
            }
        ],
    }
    assert "refused 1 of 2" in error["message"]
    assert "-two\n+TWO" in error["message"]


async def test_what_is_refused_as_a_whole_is_not_written(desk: Waiting) -> None:
    request = await desk.offer()
    await desk.editor.execute("acp.review.revert", uri=desk.uri)
    error = (await desk.puppet.result(request))["error"]
    assert (error["data"]["written"], len(error["data"]["refused"])) == (False, 2)
    assert desk.path.read_text() == LINES
    new = desk.ws / "new" / "b.txt"
    request = await desk.offer("new\n", new)
    await desk.editor.execute("acp.review.revert")
    assert "error" in await desk.puppet.result(request)
    assert not new.parent.exists()


async def test_a_new_file_is_one_thing_also_when_it_is_empty(desk: Waiting) -> None:
    for name, content in (("b.txt", "one\ntwo\n"), ("c.txt", "")):
        path = desk.ws / name
        request = await desk.offer(content, path)
        (entry,) = await desk.editor.execute("acp.review.list")
        assert (entry["status"], len(entry["proposed"])) == ("created", 1)
        assert not path.exists()
        await desk.editor.execute("acp.review.keep", hunkId=entry["proposed"][0]["id"])
        assert path.read_text() == content
        assert (await desk.puppet.result(request))["result"] == {}


async def test_a_write_of_what_the_file_says_is_not_asked(desk: Waiting) -> None:
    assert (await desk.puppet.write(desk.path, LINES))["result"] == {}
    assert await desk.editor.execute("acp.review.list") == []


@pytest.mark.parametrize("end", ["cancel", "close", "withdraw", "agent", "restart"])
async def test_what_ends_it_writes_nothing(desk: Waiting, end: str) -> None:
    request = await desk.offer()
    first, second = await desk.proposed()
    await desk.editor.execute("acp.review.keep", hunkId=first["id"])
    match end:
        case "cancel":
            await desk.editor.execute("acp.session.cancel")
        case "close":
            await desk.editor.execute("acp.session.close")
        case "withdraw":
            desk.puppet.send({"method": "$/cancel_request", "params": {"requestId": request}})
        case "agent":
            desk.puppet.hang_up()
            await desk.editor.nth("window/showMessage")
        case "restart":
            await desk.editor.execute("acp.agent.restart", agent="puppet")
    if end in ("cancel", "withdraw"):
        assert (await desk.puppet.result(request))["error"]["code"] == -32800
        assert await desk.proposed() == []
    with pytest.raises(LspError):
        await desk.editor.execute("acp.review.keep", hunkId=second["id"])
    assert desk.path.read_text() == LINES


async def test_a_decision_is_taken_back_while_others_are_open(desk: Waiting) -> None:
    await desk.offer()
    first, second = await desk.proposed()
    await desk.editor.execute("acp.review.keep", hunkId=first["id"])
    assert (await desk.editor.execute("acp.review.undo"))["reverted"] == [first["id"]]
    assert len(await desk.proposed()) == 2
    await desk.editor.execute("acp.review.revert", hunkId=first["id"])
    await desk.editor.execute("acp.review.keep", hunkId=second["id"])
    assert desk.path.read_text() == LINES.replace("seven\n", "SEVEN\nmore\n")


async def test_what_was_taken_can_be_reverted_later(desk: Waiting) -> None:
    await desk.offer()
    await desk.editor.execute("acp.review.keep")
    assert desk.path.read_text() == EDITED
    await desk.editor.execute("acp.review.undo")
    (entry,) = await desk.editor.execute("acp.review.list")
    assert (len(entry["hunks"]), entry["proposed"]) == (2, [])
    await desk.editor.execute("acp.review.revert")
    assert desk.path.read_text() == LINES


async def test_D12_what_the_user_types_meanwhile_stays(desk: Waiting) -> None:
    editor = desk.editor
    uri = editor.open(desk.path)
    request = await desk.offer()
    editor.type(uri, 0, 0, "mine\n")
    first, second = await desk.proposed()
    assert [hunk["before"]["start"] for hunk in (first, second)] == [2, 7]
    await editor.execute("acp.review.keep")
    assert editor.documents[uri].text == "mine\n" + EDITED
    assert desk.path.read_text() == LINES
    assert (await desk.puppet.result(request))["result"] == {}


async def test_D12_lines_that_the_user_has_changed_meanwhile_are_not_taken(desk: Waiting) -> None:
    editor = desk.editor
    uri = editor.open(desk.path)
    request = await desk.offer()
    editor.type(uri, 1, 0, "my ")
    first, second = await desk.proposed()
    assert [hunk["state"] for hunk in (first, second)] == ["conflict", "proposed"]
    done = await editor.execute("acp.review.keep")
    assert (done["kept"], done["conflicts"]) == ([second["id"]], [first["id"]])
    assert len(done["problems"]) == 1
    assert editor.documents[uri].text == LINES.replace("two", "my two")
    await editor.execute("acp.review.revert", hunkId=first["id"])
    expected = LINES.replace("two", "my two").replace("seven\n", "SEVEN\nmore\n")
    assert editor.documents[uri].text == expected
    assert (await desk.puppet.result(request))["error"]["data"]["written"] is True


async def test_a_read_waits_for_the_write_before_it(desk: Waiting) -> None:
    editor = desk.editor
    other = desk.ws / "other.txt"
    other.write_text("other\n")
    uri = editor.open(desk.path)
    await desk.offer()
    editor.type(uri, 0, 0, "mine\n")
    going_on = asyncio.Event()

    async def apply(params: dict[str, Any]) -> Any:
        await going_on.wait()
        return editor.apply_edit(params)

    editor.answers["workspace/applyEdit"] = apply
    _, kept = editor.start("acp.review.keep")
    await editor.nth("workspace/applyEdit")
    read = asyncio.create_task(desk.puppet.read(desk.path))
    await asyncio.sleep(0)
    assert "result" in await desk.puppet.read(other)  # so the one before it has come too
    assert not read.done()
    going_on.set()
    await kept
    assert (await read)["result"]["content"] == "mine\n" + EDITED


async def test_the_next_write_waits_in_its_turn(desk: Waiting) -> None:
    await desk.offer()
    params = {"sessionId": desk.puppet.session, "path": str(desk.path), "content": EDITED + "9\n"}
    request = desk.puppet.request("fs/write_text_file", params)
    await desk.editor.execute("acp.review.keep")
    await desk.editor.eventually(desk.proposed)
    (hunk,) = await desk.proposed()
    assert hunk["text"] == "9\n"
    await desk.editor.execute("acp.review.keep", hunkId=hunk["id"])
    assert (await desk.puppet.result(request))["result"] == {}


# --- a plain editor ---------------------------------------------------------------------------


async def test_one_dialog_names_the_file_and_the_counts(plain: Waiting) -> None:
    request = await plain.offer()
    dialog = await plain.editor.dialog()
    assert plain.editor.titles() == TITLES
    assert str(plain.path) in dialog["message"]
    assert dialog["message"].splitlines()[1:] == [
        f"It changes {plain.path} (−2 +3 lines) in 2 places",
        "@@ line 2 @@",
        "-two",
        "+TWO",
        "@@ line 7 @@",
        "-seven",
        "+SEVEN",
        "+more",
    ]
    plain.editor.click("Apply all")
    assert (await plain.puppet.result(request))["result"] == {}
    assert plain.path.read_text() == EDITED
    assert len(plain.editor.all(DIALOG)) == 1


async def test_the_dialog_rejects_all(plain: Waiting) -> None:
    request = await plain.offer()
    await plain.editor.dialog()
    plain.editor.click("Reject all")
    assert len((await plain.puppet.result(request))["error"]["data"]["refused"]) == 2
    assert plain.path.read_text() == LINES


async def test_the_user_chooses_in_the_document(plain: Waiting) -> None:
    request = await plain.offer()
    await plain.editor.dialog()
    plain.editor.click("Let me choose")
    shown = await plain.editor.nth(SHOW)
    assert (shown["uri"], shown["takeFocus"]) == (plain.uri, True)
    assert shown["selection"]["start"] == {"line": 1, "character": 0}
    lenses = await plain.lenses()
    assert titles(lenses)[:5] == [
        (0, "Apply all 2"),
        (0, "Reject all 2"),
        (1, "Apply −1 +1"),
        (1, "Reject −1 +1"),
        (1, "Next (1 of 2)"),
    ]
    await plain.press(lens_at(lenses, 1, "Apply"))
    assert plain.path.read_text() == LINES
    await plain.press(lens_at(await plain.lenses(), 6, "Reject"))
    assert plain.path.read_text() == LINES.replace("two", "TWO")
    assert (await plain.puppet.result(request))["error"]["data"]["reason"] == "refused"
    assert await plain.lenses() == []


async def test_code_actions_decide_too(plain: Waiting) -> None:
    request = await plain.offer()
    (apply, _) = await plain.actions(1, ["quickfix"])
    assert apply["title"] == "Apply this change"
    await plain.press(apply)
    (everything,) = [one for one in await plain.actions(0) if "reject" in one["title"].lower()][1:]
    assert everything["title"] == "Reject all changes in all files"
    await plain.press(everything)
    assert plain.path.read_text() == LINES.replace("two", "TWO")
    assert "error" in await plain.puppet.result(request)


async def test_a_dialog_that_is_settled_elsewhere_is_closed_and_its_click_dropped(
    plain: Waiting,
) -> None:
    request = await plain.offer()
    await plain.editor.dialog()
    await plain.editor.execute("acp.review.revert", uri=plain.uri)
    assert "error" in await plain.puppet.result(request)
    shown = plain.editor.requests(DIALOG)[0]["id"]
    await plain.editor.until(lambda: {"id": shown} in plain.editor.all("$/cancelRequest"))
    plain.editor.click("Apply all")
    await plain.editor.state()
    assert plain.path.read_text() == LINES


@pytest.mark.parametrize("answer", [None, {"title": "Yes"}, {}, [], True, Refusal(-32601)])
async def test_no_answer_never_writes(
    waiting: Waiting, settings: dict[str, Any], answer: Any
) -> None:
    def say(params: Any) -> Any:
        if isinstance(answer, Refusal):
            raise answer
        return answer

    waiting.editor.answers[DIALOG] = say
    await waiting.start(settings, can(lenses=False))
    await waiting.prompt()
    params = {"sessionId": waiting.puppet.session, "path": str(waiting.path), "content": EDITED}
    request = waiting.puppet.request("fs/write_text_file", params)
    # There is no other place in this editor to decide it: it is a no.
    assert "error" in await waiting.puppet.result(request)
    assert waiting.path.read_text() == LINES


async def test_a_dialog_put_away_leaves_the_choice_in_the_document(plain: Waiting) -> None:
    plain.editor.answers[DIALOG] = lambda params: None
    request = await plain.offer()
    await plain.editor.dialog()
    await plain.press(lens_at(await plain.lenses(), 0, "Apply all"))
    assert (await plain.puppet.result(request))["result"] == {}


async def test_a_new_file_has_no_document_to_choose_in(plain: Waiting) -> None:
    request = await plain.offer("new\n", plain.ws / "b.txt")
    await plain.editor.dialog()
    assert plain.editor.titles() == ["Reject all", "Apply all"]
    plain.editor.click("Apply all")
    assert (await plain.puppet.result(request))["result"] == {}
    assert (plain.ws / "b.txt").read_text() == "new\n"


async def test_a_workspace_cannot_switch_it_off(waiting: Waiting, settings: dict[str, Any]) -> None:
    able = can(changes=True)
    able["workspace"]["configuration"] = True
    waiting.editor.answers["workspace/configuration"] = lambda params: [{"review": {"mode": "off"}}]
    await waiting.start(settings, able)
    await waiting.editor.nth("window/logMessage")
    await waiting.prompt()
    await waiting.offer()
    assert waiting.path.read_text() == LINES


async def test_an_editor_that_draws_changes_but_not_writes_that_wait_is_asked(
    waiting: Waiting, settings: dict[str, Any]
) -> None:
    waiting.editor.answers["acp/permission"] = lambda params: {"optionId": "apply"}
    await waiting.start(settings, can(changes=True, permission=True))
    await waiting.prompt()
    assert (await waiting.puppet.write(waiting.path, EDITED))["result"] == {}
    (asked,) = waiting.editor.all("acp/permission")
    assert [option["title"] for option in asked["options"]] == TITLES
    assert asked["paths"] == [str(waiting.path)]


async def test_an_editor_that_draws_writes_that_wait_is_not_asked(desk: Waiting) -> None:
    await desk.offer()
    assert desk.editor.all(DIALOG) == []


# --- an agent that does not wait for the answer ------------------------------------------------


async def test_what_is_refused_goes_though_the_agent_has_written_it(desk: Waiting) -> None:
    request = await desk.offer()
    desk.path.write_text(EDITED)
    for hunk in await desk.proposed():
        await desk.editor.execute("acp.review.revert", hunkId=hunk["id"])
    assert "error" in await desk.puppet.result(request)
    assert desk.path.read_text() == LINES
    assert await desk.editor.execute("acp.review.list") == []
    (warning,) = desk.editor.all("window/showMessage")
    assert "without waiting for your word" in warning["message"]
    # It does not look at the answer: the next prompt tells it.
    desk.puppet.end_turn(desk.turn)
    prompt = await desk.prompt()
    assert "two" in str(prompt["params"]["prompt"][0])


async def test_what_is_refused_goes_when_the_agent_writes_it_after_that(desk: Waiting) -> None:
    request = await desk.offer()
    await desk.editor.execute("acp.review.revert")
    assert "error" in await desk.puppet.result(request)
    desk.path.write_text(EDITED)
    desk.puppet.tool("t1", status="completed", kind="edit", locations=[{"path": str(desk.path)}])
    await desk.editor.nth("window/showMessage")
    assert desk.path.read_text() == LINES


async def test_of_what_the_agent_has_written_only_what_was_taken_stays(desk: Waiting) -> None:
    await desk.offer()
    first, second = await desk.proposed()
    desk.path.write_text(EDITED)
    await desk.editor.execute("acp.review.keep", hunkId=first["id"])
    await desk.editor.execute("acp.review.revert", hunkId=second["id"])
    assert desk.path.read_text() == LINES.replace("two", "TWO")
    assert await desk.editor.execute("acp.review.list") == []


async def test_a_new_file_that_is_refused_goes_though_it_is_there(desk: Waiting) -> None:
    new = desk.ws / "b.txt"
    await desk.offer("new\n", new)
    new.write_text("new\n")
    await desk.editor.execute("acp.review.revert")
    assert not new.exists()


async def test_what_was_refused_may_be_taken_the_next_time(desk: Waiting) -> None:
    await desk.offer()
    await desk.editor.execute("acp.review.revert")
    request = await desk.offer()
    desk.path.write_text(EDITED)
    await desk.editor.execute("acp.review.keep")
    assert (await desk.puppet.result(request))["result"] == {}
    desk.puppet.tool("t1", status="completed", kind="edit", locations=[{"path": str(desk.path)}])
    desk.puppet.end_turn(desk.turn)
    assert await desk.editor.execute("acp.review.list") == []
    assert desk.path.read_text() == EDITED


async def test_what_the_user_writes_is_not_taken_back(desk: Waiting) -> None:
    uri = desk.editor.open(desk.path)
    await desk.offer()
    await desk.editor.execute("acp.review.revert")
    desk.editor.set_text(uri, EDITED)
    desk.editor.save(uri, desk.path)
    desk.puppet.tool("t1", status="completed", kind="read", locations=[{"path": str(desk.path)}])
    desk.puppet.end_turn(desk.turn)
    assert await desk.editor.execute("acp.review.list") == []
    assert desk.path.read_text() == desk.editor.documents[uri].text == EDITED
    assert desk.editor.all("window/showMessage") == []
