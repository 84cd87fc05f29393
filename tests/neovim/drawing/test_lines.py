"""Signs and old lines, and what is told of files as a whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.neovim.agent import Agent
from tests.neovim.drawing.drawn import (
    DRAWN,
    EDITED,
    LINES,
    OLD,
    by_itself,
    changes,
    mine,
    notes,
    setup,
    signs,
    text,
    virtual,
    writes,
)
from tests.neovim.harness import Editor, wait_until

# --- signs and old lines --------------------------------------------------------------------------


def test_signs_and_the_old_lines_on_the_screen(reviewed: Editor) -> None:
    reviewed.command("set signcolumn=yes")
    rows = [row.rstrip() for row in reviewed.screen().split("\n")]
    at = rows.index("┃ line 5 by the agent")
    assert rows[at - 2 : at + 2] == [
        "  line 4",
        "  line 5",
        "┃ line 5 by the agent",
        "  line 6",
    ]
    at = rows.index("┃ new one")
    assert rows[at : at + 2] == ["┃ new one", "┃ new two"]
    at = rows.index("▁ line 19")
    assert rows[at : at + 4] == ["▁ line 19", "  line 20", "  line 21", "  line 22"]


def test_old_lines_are_toggled(reviewed: Editor) -> None:
    reviewed.type(" al")
    assert virtual(reviewed) == []
    assert signs(reviewed) == DRAWN
    reviewed.command("Acp lines on")
    assert virtual(reviewed) == OLD
    reviewed.command("Acp lines off")
    assert virtual(reviewed) == []


def test_a_buffer_loaded_later_is_drawn(nvim: Editor, agent: Agent, folder: Path) -> None:
    writes(nvim, agent, {folder / "two.txt": text(EDITED)})
    wait_until(lambda: nvim.seen("Changes"))
    assert signs(nvim, "two.txt") == []
    nvim.command("edit two.txt")
    assert signs(nvim, "two.txt") == DRAWN
    wait_until(lambda: virtual(nvim, "two.txt") == OLD, "the old lines")


def test_a_buffer_loaded_anew_is_drawn_anew_and_once(reviewed: Editor) -> None:
    reviewed.command("edit!")
    wait_until(lambda: signs(reviewed) == DRAWN)
    wait_until(lambda: virtual(reviewed) == OLD)
    reviewed.command("call setline(2, 'mine') | edit!")
    wait_until(lambda: signs(reviewed) == DRAWN and virtual(reviewed) == OLD)


def first_start(nvim: Editor) -> int:
    (change,) = changes(nvim)
    return int(change["hunks"][0]["after"]["start"])


def test_marks_go_along_with_what_the_user_types(reviewed: Editor) -> None:
    reviewed.type("ggOmine<CR>and mine<Esc>")
    moved = [(first + 2, last + 2, kind) for first, last, kind in DRAWN]
    assert signs(reviewed) == moved
    wait_until(lambda: first_start(reviewed) == 6, "the sidecar to tell so")
    assert signs(reviewed) == moved
    assert virtual(reviewed) == [(row + 2, above, old) for row, above, old in OLD]
    reviewed.type("u")
    wait_until(lambda: signs(reviewed) == DRAWN, "the undo")


def test_a_line_that_both_have_changed_is_a_conflict(reviewed: Editor) -> None:
    reviewed.type("5GAand mine<Esc>")
    wait_until(lambda: (5, 5, "Conflict") in signs(reviewed), "the conflict")
    wait_until(lambda: (5, True, ["line 5"]) in virtual(reviewed))
    reviewed.type(" ar")
    wait_until(lambda: reviewed.seen("Reviewed"))
    assert reviewed.seen("Reviewed")[-1]["conflicts"]
    assert reviewed.lines(mine(reviewed))[4] == "line 5 by the agentand mine"


def test_signs_can_be_chosen(nvim: Editor, agent: Agent, folder: Path) -> None:
    review = {"signs": {"changed": "~", "added": "+"}, "virtual_lines": False}
    setup(nvim, agent, review=review)
    writes(nvim, agent, {folder / "one.txt": text(EDITED)})
    wait_until(lambda: signs(nvim) == DRAWN)
    nvim.command("set signcolumn=yes")
    assert "~ line 5 by the agent" in nvim.screen()
    assert "+ new one" in nvim.screen()
    assert virtual(nvim) == []
    with pytest.raises(Exception, match=r"review\.sings"):
        setup(nvim, agent, review={"sings": {}})
    with pytest.raises(Exception, match="two cells"):
        setup(nvim, agent, review={"signs": {"added": "+++"}})


def test_the_first_and_the_last_lines(nvim: Editor, agent: Agent, folder: Path) -> None:
    writes(nvim, agent, {folder / "one.txt": text(LINES[2:-2])})
    wait_until(lambda: signs(nvim) == [(1, 1, "Removed"), (36, 36, "Removed")])
    old = [(1, True, ["line 1", "line 2"]), (36, False, ["line 39", "line 40"])]
    wait_until(lambda: virtual(nvim) == old)
    nvim.lua("vim.api.nvim_set_current_win(...)", mine(nvim))
    nvim.type("gg]h")
    assert nvim.cursor() == [36, 0]
    assert "line 40" in nvim.screen(), "what was below all is seen"
    nvim.type("]h")
    assert nvim.cursor() == [1, 0]
    assert nvim.screen().split("\n")[0].rstrip().endswith("line 1"), "what was above all is seen"


def test_odd_characters_of_old_lines_are_shown(nvim: Editor, agent: Agent, folder: Path) -> None:
    lines = ["a\tb é 😀", "rm \u202egpj.exe\u200b", "x" * 5000, "end"]
    (folder / "one.txt").write_text(text(lines))
    nvim.command("edit!")
    writes(nvim, agent, {folder / "one.txt": "end\n"})
    wait_until(lambda: virtual(nvim))
    ((_, _, drawn),) = virtual(nvim)
    assert drawn[0] == "a\tb é 😀"
    assert drawn[1] == "rm <202e>gpj.exe<200b>"
    assert len(drawn[2]) < 1100


def test_old_lines_have_the_colours_of_their_language(
    nvim: Editor, agent: Agent, folder: Path
) -> None:
    path = folder / "a.lua"
    path.write_text("local x = 'text'\nreturn x\n")
    nvim.command("edit a.lua")
    writes(nvim, agent, {path: "return nil\n"})
    wait_until(lambda: virtual(nvim, "a.lua"))
    code = """
        local namespace = vim.api.nvim_get_namespaces()['acp.lines']
        local marks = vim.api.nvim_buf_get_extmarks(vim.fn.bufnr('a.lua'), namespace, 0, -1,
          { details = true })
        return marks[1][4].virt_lines[1][1]
    """
    assert nvim.lua(code) == ["local", ["AcpOldLine", "@keyword.lua"]]


def test_what_differs_within_a_line_stands_out(nvim: Editor, agent: Agent, folder: Path) -> None:
    lines = ["an é, a word 😀 here", "nothing is the same"]
    (folder / "one.txt").write_text(text(lines))
    nvim.command("edit!")
    writes(nvim, agent, {folder / "one.txt": text(["an é, another word 😁 here", "x"])})
    wait_until(lambda: virtual(nvim))
    marks = """
        local namespace = vim.api.nvim_get_namespaces()['acp.words']
        local found = {}
        for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, namespace, 0, -1,
            { details = true })) do
          table.insert(found, vim.api.nvim_buf_get_text(0, mark[2], mark[3], mark[4].end_row,
            mark[4].end_col, {})[1])
        end
        return found
    """
    nvim.lua("vim.api.nvim_set_current_win(...)", mine(nvim))
    assert nvim.lua(marks) == ["nother word 😁"]
    chunks = """
        local namespace = vim.api.nvim_get_namespaces()['acp.lines']
        local mark = vim.api.nvim_buf_get_extmarks(0, namespace, 0, -1, { details = true })[1]
        return vim.tbl_map(function(line)
          return vim.tbl_filter(function(chunk) return chunk[1]:find('%S') end, line)
        end, mark[4].virt_lines)
    """
    assert nvim.lua(chunks) == [
        [["an é, a", "AcpOldLine"], [" word 😀", "AcpOldText"], [" here", "AcpOldLine"]],
        [["nothing is the same", "AcpOldLine"]],
    ]
    nvim.command("Acp lines off")
    assert nvim.lua(marks) == []


def test_a_file_under_another_name(nvim: Editor, agent: Agent, folder: Path) -> None:
    (folder / "link.txt").symlink_to(folder / "two.txt")
    nvim.command("edit link.txt")
    writes(nvim, agent, {folder / "two.txt": text(EDITED)})
    wait_until(lambda: signs(nvim, "link.txt") == DRAWN)
    nvim.lua("vim.api.nvim_set_current_win(...)", mine(nvim))
    nvim.command("edit two.txt | bwipeout! link.txt")
    wait_until(lambda: signs(nvim, "two.txt") == DRAWN and virtual(nvim, "two.txt") == OLD)
    nvim.type("gg]h")
    assert (nvim.eval("expand('%:t')"), nvim.cursor()[0]) == ("two.txt", 5)
    nvim.type(" ar")
    wait_until(lambda: signs(nvim, "two.txt") == DRAWN[1:])


def test_lines_that_neovim_does_not_count(nvim: Editor, agent: Agent, folder: Path) -> None:
    (folder / "one.txt").write_bytes(b"a\rb\nc\nd\ne")
    nvim.command("edit!")
    writes(nvim, agent, {folder / "one.txt": "a\rb\nc\nD\ne\n"})
    wait_until(lambda: len(virtual(nvim)) == 1)
    wait_until(lambda: signs(nvim) == [(3, 4, "Changed")])
    ((row, above, old),) = virtual(nvim)
    assert (row, above, old[0]) == (3, True, "d")
    assert old[1] == "e  (no newline at the end)"
    nvim.type("3G ar")
    wait_until(lambda: (folder / "one.txt").read_bytes() == b"a\rb\nc\nd\ne", "the revert")


# --- files as a whole ----------------------------------------------------------------------------


def test_created_deleted_moved_and_binary_files_are_told(
    nvim: Editor, agent: Agent, folder: Path
) -> None:
    (folder / "old.txt").write_text(text(LINES[:10]))
    (folder / "picture.bin").write_bytes(b"\0\1\2")

    def change() -> None:
        (folder / "new.txt").write_text("hello\nworld\n")
        (folder / "three.txt").unlink()
        (folder / "old.txt").rename(folder / "moved.txt")
        (folder / "picture.bin").write_bytes(b"\0\1\2\3")

    names = ("new.txt", "three.txt", "old.txt", "moved.txt", "picture.bin")
    by_itself(nvim, agent, folder, change, *names)
    wait_until(lambda: len(changes(nvim)) == 4, "four files")
    nvim.lua("vim.api.nvim_set_current_win(...)", mine(nvim))
    nvim.command("edit new.txt")
    assert notes(nvim, "new.txt") == "created by puppet"
    assert signs(nvim, "new.txt") == [(1, 2, "Added")]
    nvim.command("edit moved.txt")
    assert notes(nvim, "moved.txt") == "moved here from old.txt by puppet"
    nvim.command("edit three.txt")
    assert notes(nvim, "three.txt") == "deleted by puppet"
    wait_until(lambda: virtual(nvim, "three.txt"), "the text that is gone")
    assert virtual(nvim, "three.txt")[0][2][:2] == ["line 1", "line 2"]
    nvim.command("edit picture.bin")
    assert notes(nvim, "picture.bin") == "changed by puppet (not a text)"

    nvim.command("Acp changes")
    wait_until(lambda: nvim.eval("&buftype") == "quickfix")
    items = {
        nvim.eval(f"fnamemodify(bufname({item['bufnr']}), ':t')"): (item["type"], item["text"])
        for item in nvim.eval("getqflist()")
    }
    assert set(items) == {"new.txt", "three.txt", "moved.txt", "picture.bin"}
    assert [items[name][0] for name in ("new.txt", "three.txt", "moved.txt")] == ["A", "D", "R"]
    assert items["moved.txt"][1].startswith("moved here from old.txt by puppet")
    assert "(not a text)" in items["picture.bin"][1]

    nvim.command("Acp revert all")
    wait_until(lambda: (folder / "three.txt").exists() and not (folder / "new.txt").exists())


# --- with much, and with code lenses --------------------------------------------------------------


def test_a_big_file_with_many_hunks(nvim: Editor, agent: Agent, folder: Path) -> None:
    lines = [f"{n} of many lines" for n in range(50_000)]
    (folder / "big.txt").write_text(text(lines))
    nvim.command("edit big.txt")
    for n in range(50, 50_000, 100):
        lines[n] += " changed"
    writes(nvim, agent, {folder / "big.txt": text(lines)})
    wait_until(lambda: len(signs(nvim, "big.txt")) == 500)
    wait_until(lambda: len(virtual(nvim, "big.txt")) == 500)
    code = """
        local buf = vim.fn.bufnr('big.txt')
        local set, times = vim.api.nvim_buf_set_extmark, 0
        vim.api.nvim_buf_set_extmark = function(...)
          times = times + 1
          return set(...)
        end
        require('acp.drawing').refresh()
        vim.api.nvim_buf_set_extmark = set
        return times
    """
    assert nvim.lua(code) == 0, "what stands where it should is left alone"


def test_code_lenses_are_off_unless_asked_for(reviewed: Editor, agent: Agent) -> None:
    lenses = "return vim.tbl_count(vim.lsp.get_clients({ method = 'textDocument/codeLens' }))"
    assert reviewed.lua(lenses) == 0
    reviewed.command("Acp stop")
    assert signs(reviewed) == [], "nothing waits without a sidecar"
    setup(reviewed, agent, review={"code_lens": True})
    reviewed.lua("require('acp').start()")
    wait_until(lambda: reviewed.lua(lenses) == 1)
