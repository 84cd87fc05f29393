"""Decisions before anything is written, by plain LSP, and back to an earlier prompt."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.neovim.desk import Desk
from tests.neovim.harness import wait_until

LINES = [f"line {number}" for number in range(1, 21)]
BASE = "".join(f"{line}\n" for line in LINES)
A = ("line 3\n", "AGENT 3\n")
B = ("line 15\n", "AGENT 15\nAGENT 15b\n")
MINE = ("line 9\n", "line 9 mine\n")
INSIDE = ("line 15\n", "line 15 mine\n")


def edited(*changes: tuple[str, str]) -> str:
    text = BASE
    for old, new in changes:
        text = text.replace(old, new)
    return text


def says(desk: Desk, path: Path, buffer: str, disk: str, *, modified: bool) -> None:
    wait_until(lambda: desk.buffer(path) == buffer or None, f"the buffer: {buffer!r}", 4)
    wait_until(lambda: path.read_text() == disk or None, f"the disk: {disk!r}", 4)
    assert desk.modified(path) == modified
    desk.quiet()


# --- before it is written ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def asking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    folder = tmp_path_factory.mktemp("before")
    desk = Desk(folder, review={"mode": "before"}, follow={"enabled": False})
    yield desk
    desk.close()


@pytest.fixture
def before(asking: Desk) -> Iterator[Desk]:
    asking.nvim.command("messages clear")
    yield asking
    asking.quiet()
    asking.nvim.command("silent! only! | silent! %bwipeout!")


def proposed(desk: Desk, path: Path, count: int = 2) -> list[dict[str, Any]]:
    def look() -> list[dict[str, Any]] | None:
        entry = desk.change(path)
        found = [] if entry is None else list(entry["proposed"])
        return found if len(found) == count else None

    hunks: list[dict[str, Any]] = wait_until(look, f"{count} proposed hunks")
    return hunks


@pytest.mark.parametrize("hold", ["closed", "clean", "typed before", "typed meanwhile", "saved"])
def test_a_proposal_is_taken_in_parts(before: Desk, hold: str) -> None:
    desk = before
    path = desk.file(f"parts {hold}.txt", BASE.encode())
    if hold != "closed":
        desk.open(path)
    if hold == "typed before":
        desk.nvim.command("call setline(9, 'line 9 mine')")
    with desk.turn() as agent:
        write = agent.begin_write(path, edited(A, B))
        first, second = proposed(desk, path)
        if hold in ("typed meanwhile", "saved"):
            desk.nvim.command("call setline(9, 'line 9 mine')")
        if hold == "saved":
            desk.nvim.command("silent write")
        assert not write.done()
        desk.keep(path, first)
        assert not write.done()
        desk.undo()
        assert len(proposed(desk, path)) == 2, "a decision can be taken back"
        desk.keep(path, first)
        desk.revert(path, second)
        answer = write.result(20)
    assert answer["error"]["data"]["reason"] == "refused"
    assert [each["newText"] for each in answer["error"]["data"]["refused"]] == [B[1]]
    mine = () if hold in ("closed", "clean") else (MINE,)
    text = edited(A, *mine)
    dirty = hold.startswith("typed")
    if hold == "closed":
        assert path.read_text() == text
    else:
        says(desk, path, text, BASE if dirty else text, modified=dirty)
    assert desk.hunks(path) == [], "what was agreed to does not wait"
    desk.undo()
    (hunk,) = desk.hunks(path)
    assert hunk["after"]["start"] == 2
    desk.revert(path)
    if hold == "closed":
        assert path.read_text() == BASE
    else:
        base = edited(*mine)
        says(desk, path, base, BASE if dirty else base, modified=dirty)


def test_typing_in_the_proposed_lines(before: Desk) -> None:
    desk = before
    path = desk.file("inside.txt", BASE.encode())
    desk.open(path)
    with desk.turn() as agent:
        write = agent.begin_write(path, edited(A, B))
        _, second = proposed(desk, path)
        desk.nvim.command("call setline(15, 'line 15 mine')")
        wait_until(lambda: proposed(desk, path)[1]["state"] == "conflict", "the conflict")
        assert desk.keep(path, second)["conflicts"] == [second["id"]]
        assert not write.done()
        desk.revert(path, second)
        desk.keep(path)
        assert "error" in write.result(20)
    says(desk, path, edited(A, INSIDE), BASE, modified=True)
    desk.nvim.command("silent write")
    says(desk, path, edited(A, INSIDE), edited(A, INSIDE), modified=False)


@pytest.mark.parametrize("decided", [False, True])
def test_a_cancel_while_a_proposal_waits(before: Desk, decided: bool) -> None:
    desk = before
    path = desk.file(f"cancelled-{decided}.txt", BASE.encode())
    desk.open(path)
    call = desk.start("acp.session.prompt", text="go")
    prompt = desk.agent.prompted()
    write = desk.agent.begin_write(path, edited(A, B))
    first, _ = proposed(desk, path)
    if decided:
        desk.keep(path, first)
    desk.execute("acp.session.cancel")
    answer = write.result(20)
    assert answer["error"]["code"] == -32800
    desk.agent.end_turn(prompt, "cancelled")
    assert desk.finish(call) == {"stopReason": "cancelled"}
    says(desk, path, BASE, BASE, modified=False)
    assert desk.change(path) is None


def test_a_file_is_read_while_a_proposal_of_it_waits(before: Desk) -> None:
    desk = before
    path = desk.file("read.txt", BASE.encode())
    desk.open(path)
    with desk.turn() as agent:
        write = agent.begin_write(path, edited(A))
        reading = agent.begin("fs/read_text_file", path=str(path))
        assert reading.result(20)["result"]["content"] == BASE
        proposed(desk, path, 1)
        assert agent.read(path) == BASE
        again = agent.begin_write(path, edited(A, B))
        desk.keep(path)
        assert write.result(20)["result"] == {}
        proposed(desk, path, 1)
        desk.keep(path)
        assert again.result(20)["result"] == {}
    says(desk, path, edited(A, B), edited(A, B), modified=False)


def test_a_new_file_is_proposed(before: Desk) -> None:
    desk = before
    path = desk.ws / "folder" / "new.txt"
    for word in ("revert", "keep"):
        with desk.turn() as agent:
            write = agent.begin_write(path, BASE)
            proposed(desk, path, 1)
            assert not path.exists()
            desk.execute(f"acp.review.{word}", uri=desk.uri(path))
            assert ("result" in write.result(20)) == (word == "keep")
    assert path.read_bytes() == BASE.encode()


# --- plain LSP ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    desk = Desk(tmp_path_factory.mktemp("plain"), plugin=False)
    yield desk
    desk.close()


LENS = """
    local line, word = ...
    vim.lsp.codelens.refresh({ bufnr = 0 })
    local function lens()
      for _, each in ipairs(vim.lsp.codelens.get(0)) do
        if each.range.start.line == line and vim.startswith(each.command.title, word) then
          return each
        end
      end
    end
    if not vim.wait(5000, function() return lens() ~= nil end, 20) then
      error('no lens: ' .. vim.inspect(vim.lsp.codelens.get(0)))
    end
    vim.api.nvim_win_set_cursor(0, { line + 1, 0 })
    -- Of several lenses on a line the user chooses.
    vim.ui.select = function(items, options, choose)
      for index, item in ipairs(items) do
        if vim.startswith(options.format_item(item), word) then return choose(item, index) end
      end
      error('not among the choices: ' .. word)
    end
    vim.lsp.codelens.run()
"""

ACTION = """
    local line, word = ...
    vim.api.nvim_win_set_cursor(0, { line + 1, 0 })
    vim.lsp.buf.code_action({
      apply = true,
      context = { only = { 'quickfix' }, diagnostics = {} },
      filter = function(action) return vim.startswith(action.title, word) end,
    })
"""


@pytest.mark.parametrize("way", [LENS, ACTION], ids=["lens", "action"])
@pytest.mark.parametrize("dirty", [False, True])
def test_by_what_neovim_has_of_its_own(plain: Desk, way: str, dirty: bool) -> None:
    desk = plain
    path = desk.file(f"plain-{dirty}-{len(way)}.txt", BASE.encode())
    desk.open(path)
    with desk.turn() as agent:
        path.write_text(edited(A, B))
        diff = {"type": "diff", "path": str(path), "oldText": BASE, "newText": edited(A, B)}
        agent.tool("t", kind="edit", status="completed", content=[diff])
    desk.nvim.command("silent checktime")
    wait_until(lambda: desk.buffer(path) == edited(A, B) or None, "the agent's text")
    mine = (MINE,) if dirty else ()
    if dirty:
        desk.nvim.command("call setline(9, 'line 9 mine')")
    assert len(desk.hunks(path)) == 2
    desk.nvim.lua(way, 14, "Revert")
    text = edited(A, *mine)
    wait_until(lambda: desk.buffer(path) == text or None, "the hunk to go")
    assert path.read_text() == (edited(A, B) if dirty else text)
    desk.nvim.lua(way, 2, "Keep")
    wait_until(lambda: desk.hunks(path) == [] or None, "the other one to be kept")
    desk.undo()
    desk.undo()
    wait_until(lambda: desk.buffer(path) == edited(A, B, *mine) or None, "the hunk to come back")
    desk.nvim.command("silent write!")
    assert path.read_text() == edited(A, B, *mine)
    desk.execute("acp.review.revert", uri=desk.uri(path))
    wait_until(lambda: desk.buffer(path) == edited(*mine) or None, "all to go")
    assert path.read_text() == edited(*mine)
    desk.nvim.command("bwipeout!")


# --- back to an earlier prompt --------------------------------------------------------------------


def tree(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize("restarted", [False, True])
def test_a_checkpoint_after_files_were_made_deleted_and_moved(
    tmp_path: Path, restarted: bool
) -> None:
    desk = Desk(tmp_path)
    try:
        names = ("edited", "deleted", "moved", "mine")
        for name in names:
            desk.file(f"{name}.txt", f"{name}\r\n{BASE}".encode())
        edited_, deleted, moved, mine = (desk.ws / f"{name}.txt" for name in names)
        desk.open(edited_)
        desk.open(mine)
        first = tree(desk.ws)
        with desk.turn() as agent:
            places = [{"path": str(path)} for path in (edited_, deleted, moved, mine)]
            new = desk.ws / "folder" / "new.txt"
            places += [{"path": str(new)}, {"path": str(desk.ws / "there.txt")}]
            agent.tool("t", status="pending", locations=places)
            desk.execute("acp.review.list")
            agent.write(edited_, agent.read(edited_).replace(*A))
            agent.write(new, "new\n")
            deleted.unlink()
            moved.rename(desk.ws / "there.txt")
            mine.write_bytes(mine.read_bytes().replace(b"line 3\n", b"AGENT 3\n"))
            agent.tool("t", "tool_call_update", status="completed")
        desk.nvim.command("checktime")
        desk.execute("acp.review.keep")
        wait_until(lambda: "AGENT 3" in (desk.buffer(mine) or "") or None, "the agent's line")
        desk.nvim.command(f"buffer {mine} | call setline(10, 'line 9 mine') | silent write")
        with desk.turn() as agent:
            agent.write(edited_, agent.read(edited_).replace(*B))
            new.unlink()
            agent.tool("u", status="completed", locations=[{"path": str(new)}])
        last = tree(desk.ws)
        if restarted:
            desk.restart()
        one, two = desk.execute("acp.checkpoint.list")
        done = desk.execute("acp.checkpoint.restore", checkpointId=two["checkpointId"])
        assert (done["conflicts"], done["problems"]) == ([], [])
        between = {**last, "folder/new.txt": b"new\n"}
        between["edited.txt"] = last["edited.txt"].replace(B[1].encode(), B[0].encode())
        wait_until(lambda: tree(desk.ws) == between or None, f"{between} not {tree(desk.ws)}", 3)
        done = desk.execute("acp.checkpoint.restore", checkpointId=one["checkpointId"])
        assert (done["conflicts"], done["problems"]) == ([], [])
        back = {**first, "mine.txt": first["mine.txt"].replace(b"line 9\n", b"line 9 mine\n")}
        wait_until(lambda: tree(desk.ws) == back or None, f"{back} not {tree(desk.ws)}", 3)
        for path in (edited_, mine):
            text = path.read_bytes().decode()
            wait_until(lambda: desk.buffer(path) == text or None, f"{path}")  # noqa: B023
            assert not desk.modified(path)
        desk.undo()
        wait_until(lambda: tree(desk.ws) == between or None, "the restore to be taken back", 3)
        desk.undo()
        wait_until(lambda: tree(desk.ws) == last or None, "both to be taken back", 3)
        desk.quiet()
    finally:
        desk.close()
