"""What the agent hears at the next prompt of its changes, and going back to a prompt."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.e2e.editor import Editor, LspError, editing
from tests.e2e.hunks.table import EDITED, LINES, Table, can
from tests.e2e.puppet import Puppet


@pytest.fixture
def table(idle_editor: Editor, puppet: Puppet, ws: Path) -> Table:
    return Table(idle_editor, puppet, ws)


async def told(table: Table, text: str = "and now?") -> list[dict[str, Any]]:
    """The blocks of the next prompt."""
    _, turn = table.editor.start("acp.session.prompt", text=text)
    prompt = await table.puppet.prompted()
    table.puppet.say("yes")
    table.puppet.end_turn(prompt)
    await turn
    blocks: list[dict[str, Any]] = prompt["params"]["prompt"]
    return blocks


async def test_the_agent_is_told_once_what_was_reverted(
    table: Table, settings: dict[str, Any]
) -> None:
    await table.start(settings, can())
    await table.agent_writes()
    first, second = await table.hunks()
    await table.editor.execute("acp.review.revert", hunkId=first["id"])
    await table.editor.execute("acp.review.keep", hunkId=second["id"])
    block, own = await told(table)
    assert own == {"type": "text", "text": "and now?"}
    assert block["type"] == "text"
    said = block["text"]
    assert "not from the user" in said
    assert f"reverted this change of yours in {table.path}:\n-two\n+TWO" in said
    assert "SEVEN" not in said
    assert await told(table) == [own]
    # The user's words are what they were.
    user = [each for each in (await table.editor.state())["messages"] if each["role"] == "user"]
    assert [each["content"][0]["text"] for each in user] == ["go", "and now?", "and now?"]


async def test_the_agent_is_told_what_the_user_changed_in_its_files(
    table: Table, settings: dict[str, Any]
) -> None:
    table.puppet.capabilities["promptCapabilities"] = {"embeddedContext": True}
    await table.start(settings, can())
    other = table.ws / "other.txt"
    other.write_text("mine\n")
    mine = table.editor.open(other)
    await table.agent_writes()
    uri = table.editor.open(table.path)
    table.editor.type(uri, 4, 0, "my ")
    table.editor.type(mine, 0, 0, "only ")
    block, _ = await told(table)
    assert block["type"] == "resource"
    said = block["resource"]["text"]
    assert f"The user changed {table.path}" in said
    assert "@@ line 5 @@\n-five\n+my five" in said
    assert "other.txt" not in said


async def test_a_revert_that_was_taken_back_is_no_news(
    table: Table, settings: dict[str, Any]
) -> None:
    await table.start(settings, can())
    await table.agent_writes()
    await table.editor.execute("acp.review.revert")
    await table.editor.execute("acp.review.undo")
    assert len(await told(table)) == 1


async def test_a_command_of_the_agent_s_is_sent_as_it_is(
    table: Table, settings: dict[str, Any]
) -> None:
    await table.start(settings, can())
    await table.agent_writes()
    await table.editor.execute("acp.review.revert")
    assert await told(table, "/compact") == [{"type": "text", "text": "/compact"}]
    block, _ = await told(table)
    assert "+TWO" in block["text"]


async def test_nothing_is_told_where_the_user_does_not_want_it(
    table: Table, settings: dict[str, Any]
) -> None:
    await table.start({**settings, "reportReverts": False}, can())
    await table.agent_writes()
    await table.editor.execute("acp.review.revert")
    assert len(await told(table)) == 1


async def test_long_news_is_cut(table: Table, settings: dict[str, Any]) -> None:
    await table.start(settings, can())
    await table.agent_writes("".join(f"line {number}\n" for number in range(20_000)))
    await table.editor.execute("acp.review.revert")
    block, _ = await told(table)
    assert len(block["text"]) < 10_000


# --- checkpoints --------------------------------------------------------------------------------


async def test_a_checkpoint_a_prompt_and_back_to_it(table: Table, settings: dict[str, Any]) -> None:
    await table.start(settings, can())
    other = table.ws / "new.txt"
    await table.agent_writes()
    await table.agent_writes("new\n", other)
    first, second = await table.editor.execute("acp.checkpoint.list")
    assert (first["turn"], first["label"], second["turn"]) == (1, "go", 2)
    assert first["time"] <= second["time"]
    done = await table.editor.execute("acp.checkpoint.restore", checkpointId=second["checkpointId"])
    assert (done["conflicts"], done["problems"]) == ([], [])
    assert not other.exists()
    assert table.path.read_text() == EDITED
    await table.editor.execute("acp.checkpoint.restore", checkpointId=first["checkpointId"])
    assert table.path.read_text() == LINES
    await table.editor.execute("acp.review.undo")
    assert table.path.read_text() == EDITED
    await table.editor.execute("acp.review.undo")
    assert other.read_text() == "new\n"


async def test_what_a_restore_would_do_is_foreseen(table: Table, settings: dict[str, Any]) -> None:
    await table.start(settings, can())
    other = table.ws / "new.txt"
    await table.agent_writes()
    await table.agent_writes("new\n", other)
    first, second = await table.editor.execute("acp.checkpoint.list")

    async def foreseen(point: dict[str, Any]) -> Any:
        found = await table.editor.execute(
            "acp.checkpoint.preview", checkpointId=point["checkpointId"]
        )
        assert (found["conflicts"], found["problems"]) == ([], [])
        return {file["uri"]: file["change"] for file in found["files"]}

    assert await foreseen(second) == {other.as_uri(): "deleted"}
    assert await foreseen(first) == {other.as_uri(): "deleted", table.uri: "modified"}
    assert other.exists(), "nothing is done by looking"
    await table.editor.execute("acp.checkpoint.restore", checkpointId=second["checkpointId"])
    assert await foreseen(second) == {}
    assert await foreseen(first) == {table.uri: "modified"}


async def test_a_checkpoint_that_is_not_known(table: Table, settings: dict[str, Any]) -> None:
    await table.start(settings, can())
    with pytest.raises(LspError, match=r"acp\.checkpoint\.list"):
        await table.editor.execute("acp.checkpoint.restore", checkpointId="nope")
    with pytest.raises(LspError, match=r"acp\.checkpoint\.list"):
        await table.editor.execute("acp.checkpoint.preview", checkpointId="nope")
    with pytest.raises(LspError, match="checkpointId"):
        await table.editor.execute("acp.checkpoint.restore")


async def test_checkpoints_survive_a_restart_and_baselines_do_not(
    table: Table, settings: dict[str, Any], tmp_path: Path
) -> None:
    await table.start(settings, can())
    await table.agent_writes()
    name = table.puppet.session
    (point,) = await table.editor.execute("acp.checkpoint.list")
    await table.editor.close()
    baselines = tmp_path / "cache" / "acp-sidecar" / "baselines"
    assert list(baselines.glob("*")) == []
    table.puppet.answers["session/load"] = lambda params: {}
    async with editing() as again:
        await again.initialize(table.ws, settings=settings)
        await again.execute("acp.session.load", agentSessionId=name)
        assert await again.execute("acp.checkpoint.list") == [point]
        await again.execute("acp.checkpoint.restore", checkpointId=point["checkpointId"])
        assert table.path.read_text() == LINES


async def test_a_new_session_under_an_old_id_begins_afresh(
    table: Table, settings: dict[str, Any]
) -> None:
    await table.start(settings, can())
    await table.agent_writes()
    await table.editor.close()
    table.puppet.sessions.clear()
    async with editing() as again:
        await again.initialize(table.ws, settings=settings)
        await again.execute("acp.session.new")
        assert await again.execute("acp.checkpoint.list") == []
