"""From change to change: motions, the preview, side by side, the list."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.neovim.agent import Agent
from tests.neovim.drawing.drawn import EDITED, LINES, OLD, changes, mine, text, virtual, writes
from tests.neovim.harness import Editor, wait_until

# --- motions --------------------------------------------------------------------------------------


def test_motions_count_wrap_and_go_on_to_the_next_file(
    reviewed: Editor, agent: Agent, folder: Path
) -> None:
    reviewed.lua("_G.seen = {}")
    writes(reviewed, agent, {folder / "two.txt": text(EDITED)})
    wait_until(lambda: len(changes(reviewed)) == 2)
    reviewed.lua("vim.api.nvim_set_current_win(...)", mine(reviewed))
    reviewed.type("gg")

    def place() -> tuple[str, int]:
        return (reviewed.eval("expand('%:t')"), reviewed.cursor()[0])

    reviewed.type("]h")
    assert place() == ("one.txt", 5)
    reviewed.type("2]h")
    assert place() == ("one.txt", 22)
    assert "change 3 of 6" in reviewed.screen()
    reviewed.type("]h")
    assert place() == ("two.txt", 5)
    reviewed.type("[h")
    assert place() == ("one.txt", 22)
    reviewed.type("gg[h")
    assert place() == ("two.txt", 22)
    assert "change 6 of 6 (round)" in reviewed.screen()
    reviewed.type("4]h")
    assert place() == ("two.txt", 5)
    reviewed.type("<C-o>")
    assert place() == ("two.txt", 22)
    reviewed.command("edit three.txt")
    reviewed.type("]h")
    assert place() == ("one.txt", 5)
    reviewed.command("Acp prev")
    assert place() == ("two.txt", 22)


def test_a_hunk_is_a_text_object(reviewed: Editor) -> None:
    reviewed.type("12Gyih")
    assert reviewed.eval("getreg('\"')") == "new one\nnew two\n"
    reviewed.type("vih")
    assert reviewed.mode() == "V"
    assert reviewed.eval("[line('v'), line('.')]") == [11, 12]


def test_motions_leave_a_modified_buffer_where_it_cannot_be_hidden(
    reviewed: Editor, agent: Agent, folder: Path
) -> None:
    reviewed.lua("_G.seen = {}")
    writes(reviewed, agent, {folder / "two.txt": text(EDITED)})
    wait_until(lambda: len(changes(reviewed)) == 2)
    reviewed.lua("vim.api.nvim_set_current_win(...)", mine(reviewed))
    reviewed.command("only | set nohidden")
    reviewed.type("GAmine<Esc>")
    reviewed.fails("Acp next", "E37")
    assert reviewed.eval("expand('%:t')") == "one.txt"


# --- the preview ---------------------------------------------------------------------------------


def test_the_hunk_in_a_float(reviewed: Editor) -> None:
    user = reviewed.window()
    reviewed.command("Acp lines off")
    reviewed.type("5G ah")
    (preview,) = reviewed.marked("preview")
    assert reviewed.lines(preview) == ["-line 5", "+line 5 by the agent"]
    assert reviewed.window() == user
    assert "−1 +1 changed" in reviewed.screen()
    reviewed.type("j")
    wait_until(lambda: reviewed.marked("preview") == [], "the float to close")
    reviewed.type("22G ah")
    wait_until(lambda: reviewed.marked("preview"))
    assert reviewed.lines(reviewed.marked("preview")[0]) == ["-line 20", "-line 21"]
    reviewed.type(" ah")
    assert reviewed.window() == reviewed.marked("preview")[0], "again enters it"


# --- side by side ---------------------------------------------------------------------------------


def in_diff(nvim: Editor) -> list[bool]:
    code = """
        return vim.tbl_map(function(win) return vim.wo[win].diff end, vim.api.nvim_list_wins())
    """
    return [bool(diff) for diff in nvim.lua(code)]


@pytest.mark.parametrize("how", ["left", "right", "q", "tabclose"])
def test_side_by_side_opens_and_closes_clean(reviewed: Editor, folder: Path, how: str) -> None:
    reviewed.command("Acp diff")
    wait_until(lambda: reviewed.eval("tabpagenr('$')") == 2)
    left, right = reviewed.windows()
    assert reviewed.lines(left) == LINES
    assert reviewed.name(right) == str(folder / "one.txt")
    assert reviewed.lua("return vim.bo[vim.api.nvim_win_get_buf(...)].filetype", left) == "text"
    assert not reviewed.lua("return vim.bo[vim.api.nvim_win_get_buf(...)].modifiable", left)
    assert in_diff(reviewed).count(True) == 2
    assert virtual(reviewed) == [], "they would shift the sides"
    if how == "tabclose":
        reviewed.command("tabclose")
    else:
        reviewed.lua("vim.api.nvim_set_current_win(...)", right if how == "right" else left)
        if how == "q":
            reviewed.type("q")
        else:
            reviewed.command("quit")
    wait_until(lambda: reviewed.eval("tabpagenr('$')") == 1, "the tab page to close")
    assert True not in in_diff(reviewed)
    wait_until(lambda: virtual(reviewed) == OLD)
    assert (folder / "one.txt").read_text() == text(EDITED)
    assert not reviewed.eval("&modified")
    reviewed.command("split")
    assert reviewed.eval("[&foldmethod, &scrollbind, &diff]") == ["manual", 0, 0]
    assert reviewed.eval("bufnr('acp-before')") == -1


def test_side_by_side_in_the_last_tab_page_leaves_the_file(reviewed: Editor) -> None:
    reviewed.command("Acp diff")
    wait_until(lambda: reviewed.eval("tabpagenr('$')") == 2)
    reviewed.command("tabonly")
    reviewed.lua("vim.api.nvim_set_current_win(...)", reviewed.windows()[0])
    reviewed.type("q")
    wait_until(lambda: len(reviewed.windows()) == 1)
    assert reviewed.lines(reviewed.window()) == EDITED
    assert reviewed.eval("[&diff, &winbar]") == [0, ""]


def test_side_by_side_follows_what_is_kept(reviewed: Editor) -> None:
    reviewed.command("Acp diff")
    wait_until(lambda: reviewed.eval("tabpagenr('$')") == 2)
    left, right = reviewed.windows()
    reviewed.lua("vim.api.nvim_set_current_win(...)", right)
    reviewed.type("5G ak")
    kept = ["line 5 by the agent" if line == "line 5" else line for line in LINES]
    wait_until(lambda: reviewed.lines(left) == kept, "the baseline")
    assert in_diff(reviewed).count(True) == 2


# --- the list ------------------------------------------------------------------------------------


def test_the_list_of_all_hunks(reviewed: Editor, agent: Agent, folder: Path) -> None:
    reviewed.lua("_G.seen = {}")
    writes(reviewed, agent, {folder / "two.txt": text(EDITED[:-1])})
    wait_until(lambda: len(changes(reviewed)) == 2)
    reviewed.lua("vim.api.nvim_set_current_win(...)", mine(reviewed))
    reviewed.command("Acp changes")
    wait_until(lambda: reviewed.eval("&buftype") == "quickfix")

    def items() -> list[tuple[str, int, int, str, str]]:
        return [
            (
                reviewed.eval(f"fnamemodify(bufname({item['bufnr']}), ':t')"),
                item["lnum"],
                item["end_lnum"],
                item["type"],
                item["text"],
            )
            for item in reviewed.eval("getqflist()")
        ]

    wanted = [
        ("one.txt", 5, 0, "M", "−1 +1  line 5 by the agent"),
        ("one.txt", 11, 12, "A", "−0 +2  new one"),
        ("one.txt", 22, 0, "D", "−2 +0  line 20"),
        ("two.txt", 5, 0, "M", "−1 +1  line 5 by the agent"),
        ("two.txt", 11, 12, "A", "−0 +2  new one"),
        ("two.txt", 22, 0, "D", "−2 +0  line 20"),
        ("two.txt", 40, 0, "D", "−1 +0  line 40"),
    ]
    wait_until(lambda: items() == wanted, "the lines of a file that is not loaded")
    assert reviewed.eval("getqflist({'title': 1}).title") == "acp: changes"
    reviewed.type("2G")
    reviewed.command("Acp revert hunk")
    wait_until(lambda: len(items()) == 6)
    assert [item[1] for item in items()] == [5, 20, 5, 11, 22, 40]
    reviewed.type("GVk ak")
    wait_until(lambda: len(items()) == 4)
    reviewed.type("3G<CR>")
    assert reviewed.eval("expand('%:t')") == "two.txt"
    assert reviewed.cursor()[0] == 5
    reviewed.command("Acp keep all")
    wait_until(lambda: reviewed.eval("getqflist()") == [])
