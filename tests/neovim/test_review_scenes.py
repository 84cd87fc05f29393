"""The user and the agent at one file at the same time, in a real Neovim, byte for byte."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import pytest

from tests.neovim.agent import Agent
from tests.neovim.desk import Desk
from tests.neovim.harness import wait_until

LINES = [f"line {number}" for number in range(1, 21)]
BASE = "".join(f"{line}\n" for line in LINES)


def edited(*changes: tuple[str, str], text: str = BASE) -> str:
    for old, new in changes:
        assert text.count(f"{old}\n") == 1
        text = text.replace(f"{old}\n", new)
    return text


A = ("line 3", "AGENT 3\n")
B = ("line 15", "AGENT 15\nAGENT 15b\n")
MINE = ("line 9", "line 9 mine\n")


def base(desk: Desk, request: pytest.FixtureRequest) -> Path:
    name = re.sub(r"\W+", "-", request.node.name)
    return desk.file(f"{name}.txt", BASE.encode())


@pytest.fixture
def path(desk: Desk, request: pytest.FixtureRequest) -> Path:
    return base(desk, request)


def writes(agent: Agent, path: Path, text: str, pen: str) -> None:
    if pen == "itself":
        path.write_bytes(text.encode())
        diff = {"type": "diff", "path": str(path), "oldText": BASE, "newText": text}
        agent.tool(f"t{time.monotonic_ns()}", kind="edit", status="completed", content=[diff])
    else:
        assert agent.write(path, text).get("result") == {}


def says(desk: Desk, path: Path, buffer: str, disk: str, *, modified: bool) -> None:
    wait_until(
        lambda: desk.buffer(path) == buffer or None, f"the buffer, not {desk.buffer(path)!r}", 4
    )
    wait_until(lambda: path.read_text() == disk or None, f"the disk, not {path.read_text()!r}", 4)
    assert desk.modified(path) == modified
    desk.quiet()


pens = pytest.mark.parametrize("pen", ["itself", "us"])


# --- at the same time -----------------------------------------------------------------------


@pens
def test_the_user_saves_between_two_writes(desk: Desk, path: Path, pen: str) -> None:
    desk.open(path)
    with desk.turn() as agent:
        writes(agent, path, edited(A), pen)
        wait_until(lambda: desk.buffer(path) == edited(A) or None, "the first write")
        desk.nvim.command("call setline(9, 'line 9 mine') | silent write")
        text = agent.read(path) if pen == "us" else path.read_text()
        assert text == edited(A, MINE)
        writes(agent, path, edited(B, text=text), pen)
    says(desk, path, edited(A, B, MINE), edited(A, B, MINE), modified=False)
    assert [hunk["state"] for hunk in desk.hunks(path)] == ["waiting", "waiting"]
    assert len(desk.revert(path)["reverted"]) == 2
    says(desk, path, edited(MINE), edited(MINE), modified=False)
    desk.undo()
    says(desk, path, edited(A, B, MINE), edited(A, B, MINE), modified=False)


@pens
def test_the_user_types_and_saves_at_once_after_the_write(desk: Desk, path: Path, pen: str) -> None:
    """Before anybody had the time to look whose lines these are."""
    desk.open(path)
    with desk.turn() as agent:
        if pen == "itself":
            path.write_bytes(edited(A, B).encode())
            desk.nvim.command("checktime | call setline(9, 'line 9 mine') | silent write")
        else:
            agent.write(path, edited(A, B))
            desk.nvim.command("checktime | call setline(9, 'line 9 mine') | silent write")
        agent.tool("t", kind="edit", status="completed", locations=[{"path": str(path)}])
    says(desk, path, edited(A, B, MINE), edited(A, B, MINE), modified=False)
    assert len(desk.hunks(path)) == 2
    desk.revert(path)
    says(desk, path, edited(MINE), edited(MINE), modified=False)


def test_the_user_saves_and_the_agent_writes_at_once(desk: Desk, path: Path) -> None:
    desk.open(path)
    with desk.turn() as agent:
        desk.nvim.command("call setline(9, 'line 9 mine') | silent write")
        path.write_bytes(edited(A, B, text=path.read_text()).encode())
        agent.tool("t", kind="edit", status="completed", locations=[{"path": str(path)}])
    says(desk, path, edited(A, B, MINE), edited(A, B, MINE), modified=False)
    assert len(desk.hunks(path)) == 2
    desk.revert(path)
    says(desk, path, edited(MINE), edited(MINE), modified=False)


def test_the_user_saves_over_what_the_agent_wrote(desk: Desk, path: Path) -> None:
    """It is gone, by the user's own hand: nothing waits, nothing comes back."""
    desk.open(path)
    with desk.turn() as agent:
        desk.nvim.command("call setline(9, 'line 9 mine')")
        path.write_bytes(edited(A, B).encode())
        desk.nvim.command("silent write!")
        agent.tool("t", kind="edit", status="completed", locations=[{"path": str(path)}])
    says(desk, path, edited(MINE), edited(MINE), modified=False)
    assert desk.hunks(path) == []
    desk.revert(path)
    says(desk, path, edited(MINE), edited(MINE), modified=False)


def test_an_agent_that_writes_often(desk: Desk, path: Path) -> None:
    """The editor reloads in the middle of it; all of it is the agent's."""
    desk.open(path)
    text = BASE
    with desk.turn() as agent:
        agent.tool("t", kind="edit", status="in_progress", locations=[{"path": str(path)}])
        end = time.monotonic() + 0.8
        number = 0
        while time.monotonic() < end:
            number += 1
            text = edited(A, ("line 15", f"AGENT 15\nversion {number}\n"))
            path.write_bytes(text.encode())
            time.sleep(0.003)
        agent.tool("t", "tool_call_update", status="completed")
    says(desk, path, text, text, modified=False)
    assert [hunk["state"] for hunk in desk.hunks(path)] == ["waiting", "waiting"]
    assert len(desk.revert(path)["reverted"]) == 2
    says(desk, path, BASE, BASE, modified=False)


@pens
def test_the_user_types_while_the_agent_writes(desk: Desk, path: Path, pen: str) -> None:
    """In insert mode, through several writes; what was typed is there at the end."""
    desk.open(path)
    desk.nvim.command("call cursor(9, 1)")
    desk.nvim.type("A mine")
    text = BASE
    with desk.turn() as agent:
        for number in range(6):
            desk.nvim.nvim.input(f" {number}")
            if pen == "us":
                answer = agent.write(path, edited(("line 3", f"AGENT {number}\n")))
                assert answer.get("result") == {}, answer
        desk.nvim.type("<Esc>")
        mine = ("line 9", "line 9 mine 0 1 2 3 4 5\n")
    text = edited(mine) if pen == "itself" else edited(mine, ("line 3", "AGENT 5\n"))
    says(desk, path, text, BASE, modified=True)
    assert len(desk.revert(path)["reverted"]) == (pen == "us")
    says(desk, path, edited(mine), BASE, modified=True)
    desk.nvim.command("silent write")
    says(desk, path, edited(mine), edited(mine), modified=False)


# --- on disk beneath unsaved changes -----------------------------------------------------------


@pytest.mark.parametrize("late", [False, True])
def test_unsaved_changes_are_given_up_for_what_the_agent_wrote(
    desk: Desk, path: Path, late: bool
) -> None:
    """``:e!`` shows the agent's lines, and they are the agent's."""
    desk.open(path)
    desk.nvim.command("call setline(9, 'line 9 mine')")
    with desk.turn() as agent:
        writes(agent, path, edited(A, B), "itself")
        if not late:
            desk.execute("acp.review.list")
            desk.nvim.command("edit!")
            says(desk, path, edited(A, B), edited(A, B), modified=False)
    if late:
        says(desk, path, edited(MINE), edited(A, B), modified=True)
        desk.nvim.command("edit!")
    says(desk, path, edited(A, B), edited(A, B), modified=False)
    _, second = desk.hunks(path)
    desk.revert(path, second)
    says(desk, path, edited(A), edited(A), modified=False)
    desk.revert(path)
    says(desk, path, BASE, BASE, modified=False)
    desk.undo()
    desk.undo()
    says(desk, path, edited(A, B), edited(A, B), modified=False)


def test_an_undo_by_hand_of_what_the_agent_did(desk: Desk, path: Path) -> None:
    desk.open(path)
    with desk.turn() as agent:
        writes(agent, path, edited(A, B), "us")
    says(desk, path, edited(A, B), edited(A, B), modified=False)
    desk.nvim.command("silent undo")
    says(desk, path, BASE, edited(A, B), modified=True)
    assert desk.hunks(path) == []
    desk.nvim.command("silent redo")
    wait_until(lambda: len(desk.hunks(path)) == 2 or None, "the agent's lines, again")
    desk.nvim.command("silent undo | silent write")
    says(desk, path, BASE, BASE, modified=False)
    assert desk.hunks(path) == []


# --- two windows, files made, deleted, moved ---------------------------------------------------


@pens
def test_a_file_in_two_windows(desk: Desk, path: Path, pen: str) -> None:
    desk.open(path)
    desk.nvim.command("split | call cursor(18, 1)")
    with desk.turn() as agent:
        writes(agent, path, edited(A, B), pen)
    says(desk, path, edited(A, B), edited(A, B), modified=False)
    first, _ = desk.hunks(path)
    desk.revert(path, first)
    says(desk, path, edited(B), edited(B), modified=False)
    desk.revert(path)
    desk.undo()
    says(desk, path, edited(B), edited(B), modified=False)


@pytest.mark.parametrize("hold", ["closed", "open", "typed", "saved"])
@pens
def test_a_file_that_the_agent_makes(desk: Desk, pen: str, hold: str) -> None:
    path = desk.ws / f"made {pen} {hold}.txt"
    with desk.turn() as agent:
        agent.tool("t", kind="edit", status="pending", rawInput={"file_path": str(path)})
        desk.execute("acp.review.list")
        writes(agent, path, BASE, pen)
    entry = desk.change(path)
    assert entry is not None
    assert entry["status"] == "created"
    if hold != "closed":
        desk.open(path)
    if hold in ("typed", "saved"):
        desk.nvim.command("call setline(9, 'line 9 mine')")
    if hold == "saved":
        desk.nvim.command("silent write")
    if hold in ("typed", "saved"):
        done = desk.execute("acp.review.revert", uri=desk.uri(path), edited="keep")
        assert len(done["conflicts"]) == 1
        disk = edited(MINE) if hold == "saved" else BASE
        says(desk, path, edited(MINE), disk, modified=hold == "typed")
        done = desk.execute("acp.review.revert", uri=desk.uri(path), edited="delete")
        if hold == "typed":
            assert "unsaved changes" in done["problems"][0]
        else:
            assert not path.exists()
            desk.undo()
        says(desk, path, edited(MINE), disk, modified=hold == "typed")
        return
    for _ in range(2):
        assert desk.revert(path)["conflicts"] == []
        assert not path.exists()
        assert desk.change(path) is None
        desk.undo()
        assert path.read_text() == BASE
        entry = desk.change(path)
        assert entry is not None
        assert entry["status"] == "created"
    if hold == "open":
        says(desk, path, BASE, BASE, modified=False)


@pytest.mark.parametrize("hold", ["closed", "open", "typed"])
def test_a_file_that_the_agent_deletes(desk: Desk, path: Path, hold: str) -> None:
    if hold != "closed":
        desk.open(path)
    if hold == "typed":
        desk.nvim.command("call setline(9, 'line 9 mine')")
    with desk.turn() as agent:
        agent.tool("t", kind="delete", status="pending", locations=[{"path": str(path)}])
        desk.execute("acp.review.list")
        path.unlink()
        agent.tool("t", "tool_call_update", status="completed")
    if hold == "typed":
        assert desk.buffer(path) == edited(MINE), "what the user typed is where it was"
        assert desk.modified(path)
        desk.revert(path)
        assert desk.buffer(path) == edited(MINE)
        desk.nvim.command("silent write!")
        says(desk, path, edited(MINE), edited(MINE), modified=False)
        desk.revert(path)
        says(desk, path, edited(MINE), edited(MINE), modified=False)
        return
    entry = desk.change(path)
    assert entry is not None
    assert entry["status"] == "deleted"
    for _ in range(2):
        desk.revert(path)
        assert path.read_bytes() == BASE.encode()
        assert desk.change(path) is None
        desk.undo()
        assert not path.exists()
    desk.revert(path)
    assert path.read_bytes() == BASE.encode()
    if hold == "open":
        says(desk, path, BASE, BASE, modified=False)
        desk.nvim.command("silent write")
        says(desk, path, BASE, BASE, modified=False)


@pytest.mark.parametrize("how", ["edit!", "bwipeout!"])
def test_unsaved_changes_to_a_deleted_file_are_given_up(desk: Desk, path: Path, how: str) -> None:
    desk.open(path)
    desk.nvim.command("call setline(9, 'line 9 mine')")
    with desk.turn() as agent:
        agent.tool("t", kind="delete", status="pending", locations=[{"path": str(path)}])
        desk.execute("acp.review.list")
        path.unlink()
        agent.tool("t", "tool_call_update", status="completed")
    # The rest of it is for `:Acp messages`.
    wait_until(lambda: f"acp: {path}"[:60] in desk.nvim.messages(), "the word")
    assert desk.buffer(path) == edited(MINE)
    desk.nvim.command(how)
    entry = wait_until(lambda: desk.change(path), "the deletion")
    assert entry["status"] == "deleted"
    assert desk.revert(path)["conflicts"] == []
    assert path.read_text() in (BASE, edited(MINE)), "the file is back"
    desk.quiet()


@pytest.mark.parametrize("hold", ["closed", "open", "edited"])
def test_a_file_that_the_agent_moves(desk: Desk, path: Path, hold: str) -> None:
    new = path.with_name(f"moved-{path.name}")
    if hold == "open":
        desk.open(path)
    with desk.turn() as agent:
        places = [{"path": str(path)}, {"path": str(new)}]
        agent.tool("t", kind="move", status="pending", locations=places)
        desk.execute("acp.review.list")
        path.rename(new)
        if hold == "edited":
            agent.tool("t", "tool_call_update", status="completed")
            desk.execute("acp.review.list")
            new.write_text(edited(A))
        agent.tool("t", "tool_call_update", status="completed")
    entry = desk.change(new)
    assert entry is not None
    assert (entry["status"], entry["oldUri"]) == ("renamed", desk.uri(path))
    text = edited(A) if hold == "edited" else BASE
    for _ in range(2):
        desk.revert(new)
        assert path.read_bytes() == BASE.encode()
        assert not new.exists()
        desk.undo()
        assert new.read_bytes() == text.encode()
        assert not path.exists()
    desk.revert(new)
    assert path.read_bytes() == BASE.encode()
    if hold == "open":
        says(desk, path, BASE, BASE, modified=False)
    assert os.listdir(path.parent).count(new.name) == 0
