"""What real agents change, and what becomes of it at the user's word."""

from __future__ import annotations

import pytest

from tests.e2e.lsp_client import Dialog
from tests.real_agents.desk import APP, FILES, Desk
from tests.real_agents.lab.script import Answer, Edit, Read, Run, Write, doing

pytestmark = pytest.mark.timeout(300)

LINE = '    return "hello " + name\n'
LINE_NEW = '    return "hi " + name\n'
CALL = '    print(greet("world"))\n'
CALL_NEW = '    print(greet("there"))\n    print("bye")\n'


def two_edits(table: Desk) -> tuple[Answer, ...]:
    app = table.path("src/app.py")
    return (
        doing(Read(app)),
        doing(Edit(app, LINE, LINE_NEW)),
        doing(Edit(app, CALL, CALL_NEW)),
        Answer("Changed in two places."),
    )


BOTH = APP.replace(LINE, LINE_NEW).replace(CALL, CALL_NEW)


async def test_one_hunk_of_two_is_reverted_and_the_agent_told(table: Desk) -> None:
    await table.turn("Change it.", *two_edits(table))
    assert table.disk()["src/app.py"] == BOTH
    (entry,) = await table.review()
    first, second = entry["hunks"]
    assert [first["after"], second["after"]] == [
        {"start": 5, "lines": 1},
        {"start": 9, "lines": 2},
    ]
    done = await table.review("revert", hunkId=first["id"])
    assert (done["reverted"], done["conflicts"]) == ([first["id"]], [])
    assert table.disk()["src/app.py"] == APP.replace(CALL, CALL_NEW)
    await table.turn("What next?", Answer("I see."))
    told = table.model.heard[-1].texts("user")[-1]
    assert "What next?" in told
    assert "src/app.py" in told
    assert '"hi "' in told
    assert "bye" not in told


async def test_keep_revert_and_undo(table: Desk) -> None:
    util = table.path("new/util.py")
    await table.turn("Change it.", *two_edits(table)[:-1], doing(Write(util, "one\n")), Answer("."))
    made = table.disk()
    assert made == FILES | {"src/app.py": BOTH, "new/util.py": "one\n"}
    reverted = await table.review("revert")
    assert (len(reverted["reverted"]), reverted["conflicts"]) == (3, [])
    assert table.disk() == FILES
    await table.review("undo")
    assert table.disk() == made
    (entry,) = [each for each in await table.review() if each["uri"].endswith("app.py")]
    await table.review("keep", hunkId=entry["hunks"][0]["id"])
    await table.review("revert")
    assert table.disk() == FILES | {"src/app.py": APP.replace(LINE, LINE_NEW)}
    assert await table.changes() == {}


async def test_an_open_file_follows_every_change(table: Desk) -> None:
    """What an agent has written by itself an editor loads anew; all else is brought to it."""
    uri = table.client.open(table.ws / "src/app.py")
    await table.turn("Change it.", *two_edits(table))
    if table.agent == "opencode":
        # Whether it writes before its request to write is read is a matter of chance.
        table.client.reload(uri, table.ws / "src/app.py")
    await table.client.until(lambda: table.client.buffers[uri] == BOTH)
    assert table.disk()["src/app.py"] == BOTH
    await table.review("revert")
    await table.client.until(lambda: table.client.buffers[uri] == APP)
    assert table.disk() == FILES
    await table.review("undo")
    await table.client.until(lambda: table.client.buffers[uri] == BOTH)


async def test_what_is_typed_and_not_saved_is_kept(table: Desk) -> None:
    uri = table.client.open(table.ws / "src/app.py")
    table.client.type(uri, 0, 10, "  # mine")
    await table.turn("Change it.", *two_edits(table))
    assert table.client.buffers[uri] == BOTH.replace("import sys\n", "import sys  # mine\n")
    await table.review("revert")
    mine = APP.replace("import sys\n", "import sys  # mine\n")
    await table.client.until(lambda: table.client.buffers[uri] == mine)


async def test_what_a_command_deletes_moves_and_changes(table: Desk) -> None:
    """The agent says no word of these files: it only runs a command."""
    tidy = "rm notes.txt && mv data.txt moved.txt && echo two >> README.md && echo 1 > new.txt"
    await table.turn("Tidy up.", doing(Run(tidy)), Answer("Tidy."))
    left = dict(FILES)
    left["moved.txt"] = left.pop("data.txt")
    del left["notes.txt"]
    made = left | {"README.md": FILES["README.md"] + "two\n", "new.txt": "1\n"}
    assert table.disk() == made
    assert await table.changes() == {
        "notes.txt": "deleted",
        "moved.txt": "renamed",
        "README.md": "modified",
        "new.txt": "created",
    }
    await table.review("revert")
    assert table.disk() == FILES
    await table.review("undo")
    assert table.disk() == made


async def test_what_a_command_does_to_files_of_the_agent(table: Desk) -> None:
    app, util = table.path("src/app.py"), table.path("util.py")
    await table.turn(
        "Work on them.",
        doing(Read(app)),
        doing(Edit(app, LINE, LINE_NEW)),
        doing(Write(util, "one\n")),
        Answer("."),
    )
    await table.review("keep")
    made = table.disk()
    await table.turn("Tidy up.", doing(Run("rm src/app.py && mv util.py tool.py")), Answer("."))
    assert {"src/app.py", "util.py"}.isdisjoint(table.disk())
    assert await table.changes() == {"src/app.py": "deleted", "tool.py": "renamed"}
    await table.review("revert")
    assert table.disk() == made


async def test_a_checkpoint_is_restored(table: Desk) -> None:
    app = table.path("src/app.py")
    await table.turn("First.", doing(Read(app)), doing(Edit(app, LINE, LINE_NEW)), Answer("."))
    await table.turn(
        "Second.",
        doing(Edit(app, CALL, CALL_NEW)),
        doing(Write(table.path("new/util.py"), "one\n")),
        Answer("."),
    )
    assert table.disk() == FILES | {"src/app.py": BOTH, "new/util.py": "one\n"}
    points = await table.client.execute("acp.checkpoint.list")
    assert [point["label"] for point in points] == ["First.", "Second."]
    before = [point["checkpointId"] for point in points]
    await table.client.execute("acp.checkpoint.restore", checkpointId=before[1])
    assert table.disk() == FILES | {"src/app.py": APP.replace(LINE, LINE_NEW)}
    await table.client.execute("acp.checkpoint.restore", checkpointId=before[0])
    assert table.disk() == FILES
    assert await table.changes() == {}


@pytest.fixture
async def careful(unopened: Desk) -> Desk:
    """A session in which writes wait for the user."""
    await unopened.begin(review={"mode": "before"})
    await unopened.open_session()
    return unopened


def click(dialog: Dialog, *names: str) -> None:
    dialog.click(next(title for title in dialog.titles if title in names))


@pytest.mark.parametrize("agent", ["gemini"], indirect=True)
async def test_a_write_waits_for_the_user_s_word(careful: Desk) -> None:
    """An agent that writes through the client."""
    seen: list[tuple[str, bool]] = []

    def hand(dialog: Dialog) -> None:
        seen.append((dialog.text.splitlines()[0].partition(" (")[0], disk() == APP))
        click(dialog, "Apply all", "Allow")

    def disk() -> str:
        return careful.disk()["src/app.py"]

    app = careful.path("src/app.py")
    edit = doing(Edit(app, LINE, LINE_NEW))
    assert await careful.turn("Change it.", doing(Read(app)), edit, Answer("."), hand=hand)
    asked = ("gemini wants to change files", f"gemini wants to write {app}")
    assert seen == [(text, True) for text in asked]
    assert disk() == APP.replace(LINE, LINE_NEW)
    assert await careful.changes() == {}


async def test_a_write_that_is_refused_is_not_there_in_the_end(careful: Desk) -> None:
    """Also where the agent writes without waiting for the answer."""
    app = careful.path("src/app.py")
    edit = doing(Edit(app, LINE, LINE_NEW))

    def hand(dialog: Dialog) -> None:
        click(dialog, "Reject all", "Allow once", "Allow")

    await careful.turn("Change it.", doing(Read(app)), edit, Answer("."), hand=hand)
    assert [dialog.titles[-1] for dialog in careful.asked][-1] == "Apply all"
    assert careful.disk() == FILES
    assert await careful.changes() == {}


async def test_what_is_not_asked_any_more_is_reviewed_all_the_same(table: Desk) -> None:
    """Without a question a file may be on disk before a word is said of it."""

    def hand(dialog: Dialog) -> None:
        click(dialog, "Always allow", "Allow for this session")

    await table.turn("Change it.", *two_edits(table), hand=hand)
    util = table.path("new/util.py")
    again = doing(Write(util, "one\n")), doing(Write(table.path("notes.txt"), "mine\n"))
    await table.turn("Go on.", *again, Answer("."), hand=hand)
    made = {"src/app.py": BOTH, "new/util.py": "one\n", "notes.txt": "mine\n"}
    assert table.disk() == FILES | made
    assert len(table.asked) == 1
    statuses = {"src/app.py": "modified", "new/util.py": "created", "notes.txt": "modified"}
    assert await table.changes() == statuses
    await table.review("revert")
    assert table.disk() == FILES
