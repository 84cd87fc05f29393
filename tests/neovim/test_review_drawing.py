"""The agent's changes as they are drawn in a real Neovim, over the real sidecar."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.neovim.agent import Agent
from tests.neovim.harness import Editor, wait_until

LINES = [f"line {n}" for n in range(1, 41)]
NAMES = ("one.txt", "two.txt", "three.txt")


def text(lines: list[str]) -> str:
    return "".join(line + "\n" for line in lines)


def edited(lines: list[str]) -> list[str]:
    """One hunk changed (line 5), one added (lines 11, 12), one removed (22 and 23)."""
    lines = list(lines)
    lines[4] = "line 5 by the agent"
    del lines[19:21]
    lines[10:10] = ["new one", "new two"]
    return lines


EDITED = edited(LINES)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = (tmp_path / "ws").resolve()
    folder.mkdir()
    for name in NAMES:
        (folder / name).write_text(text(LINES))
    return folder


@pytest.fixture
def nvim(tmp_path: Path, folder: Path, agent: Agent) -> Iterator[Editor]:
    editor = Editor(tmp_path)
    editor.command(f"cd {folder}")
    editor.command("let mapleader = ' '")
    setup(editor, agent, keymaps=True)
    editor.events("Session", "Changes", "Reviewed", "TurnEnded", "Error", "Proposed")
    editor.command("edit one.txt")
    yield editor
    editor.close()


def setup(editor: Editor, agent: Agent, **more: Any) -> None:
    options = {
        "cmd": [sys.executable, "-m", "acp_sidecar", "serve"],
        "agents": {agent.name: agent.setting},
        "default_agent": agent.name,
        "transcript": {"position": "below", "size": 5},
        **more,
    }
    editor.lua("require('acp').setup(...)", options)


def prompted(nvim: Editor, agent: Agent) -> dict[str, Any]:
    nvim.lua("require('acp').prompt('go')")
    return agent.prompted()


def writes(nvim: Editor, agent: Agent, files: dict[Path, str]) -> None:
    """A turn in which the agent writes these files through the sidecar."""
    prompt = prompted(nvim, agent)
    for path, content in files.items():
        agent.write(path, content)
    agent.end_turn(prompt)
    wait_until(lambda: nvim.seen("TurnEnded"), "the end of the turn")


def by_itself(nvim: Editor, agent: Agent, folder: Path, change: Any, *paths: str) -> None:
    """A turn in which the agent changes the disk by itself and tells of it."""
    prompt = prompted(nvim, agent)
    locations = [{"path": str(folder / name)} for name in paths]
    agent.tool("t1", kind="edit", status="in_progress", locations=locations)
    # The sidecar looks at a file when it hears of it.
    wait_until(lambda: _called(nvim, "t1"), "the call to arrive")
    change()
    agent.tool("t1", "tool_call_update", status="completed")
    agent.end_turn(prompt)
    wait_until(lambda: nvim.seen("TurnEnded"), "the end of the turn")


def _called(nvim: Editor, title: str) -> bool:
    windows = nvim.marked("transcript")
    return bool(windows) and title in "\n".join(nvim.lines(windows[0]))


def mine(nvim: Editor) -> int:
    """The user's window."""
    code = """
        return vim.iter(vim.api.nvim_tabpage_list_wins(0)):find(function(win)
          return vim.bo[vim.api.nvim_win_get_buf(win)].buftype == ''
        end)
    """
    return int(nvim.lua(code))


def signs(nvim: Editor, name: str = "one.txt") -> list[tuple[int, int, str]]:
    """First and last line (from 1) and highlight of each sign in a buffer."""
    code = """
        local buf, found = vim.fn.bufnr(...), {}
        local namespace = vim.api.nvim_get_namespaces()['acp.signs']
        if buf < 0 or not namespace then return {} end
        for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(buf, namespace, 0, -1,
            { details = true })) do
          if not mark[4].invalid then
            table.insert(found, { mark[2] + 1, mark[4].end_row + 1, mark[4].sign_hl_group })
          end
        end
        return found
    """
    return sorted((a, b, c.removeprefix("AcpSign")) for a, b, c in nvim.lua(code, name))


def virtual(nvim: Editor, name: str = "one.txt") -> list[tuple[int, bool, list[str]]]:
    """Line (from 1), whether above it, and texts of the virtual lines of a buffer."""
    code = """
        local buf, found = vim.fn.bufnr(...), {}
        local namespace = vim.api.nvim_get_namespaces()['acp.lines']
        if buf < 0 or not namespace then return {} end
        for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(buf, namespace, 0, -1,
            { details = true })) do
          if mark[4].virt_lines then
            local texts = {}
            for _, line in ipairs(mark[4].virt_lines) do
              local text = ''
              for _, chunk in ipairs(line) do text = text .. chunk[1] end
              table.insert(texts, (text:gsub('%s+$', '')))
            end
            table.insert(found, { mark[2] + 1, mark[4].virt_lines_above or false, texts })
          end
        end
        return found
    """
    return sorted((row, above, list(texts)) for row, above, texts in nvim.lua(code, name))


def notes(nvim: Editor, name: str) -> str:
    code = """
        local buf, found = vim.fn.bufnr(...), {}
        local namespace = vim.api.nvim_get_namespaces()['acp.lines']
        for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(buf, namespace, 0, -1,
            { details = true })) do
          for _, chunk in ipairs(mark[4].virt_text or {}) do table.insert(found, chunk[1]) end
        end
        return table.concat(found)
    """
    return str(nvim.lua(code, name)).strip()


DRAWN = [(5, 5, "Changed"), (11, 12, "Added"), (21, 21, "Removed")]
OLD = [(5, True, ["line 5"]), (22, True, ["line 20", "line 21"])]


@pytest.fixture
def reviewed(nvim: Editor, agent: Agent, folder: Path) -> Editor:
    """The agent has changed `one.txt` in three places, and the user is in it."""
    writes(nvim, agent, {folder / "one.txt": text(EDITED)})
    nvim.lua("vim.api.nvim_set_current_win(...)", mine(nvim))
    wait_until(lambda: signs(nvim) == DRAWN and virtual(nvim) == OLD, "the drawing")
    return nvim


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
    (change,) = nvim.seen("Changes")[-1]["changes"]
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
    wait_until(lambda: len(nvim.seen("Changes")[-1]["changes"]) == 4, "four files")
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


# --- keep, revert, undo -------------------------------------------------------------------------


def test_keep_and_revert_under_the_cursor_and_undo(reviewed: Editor, folder: Path) -> None:
    reviewed.type("11G ak")
    wait_until(lambda: (11, 12, "Added") not in signs(reviewed), "the kept hunk to go")
    assert signs(reviewed) == [DRAWN[0], DRAWN[2]]
    reviewed.type("22G ar")
    wait_until(lambda: signs(reviewed) == [DRAWN[0]])
    assert virtual(reviewed) == [OLD[0]]
    wanted = [*EDITED[:21], "line 20", "line 21", *EDITED[21:]]
    assert (folder / "one.txt").read_text() == text(wanted)
    wait_until(lambda: reviewed.lines(mine(reviewed)) == wanted)
    reviewed.type(" au")
    wait_until(lambda: signs(reviewed) == [DRAWN[0], DRAWN[2]])
    wait_until(lambda: (folder / "one.txt").read_text() == text(EDITED))
    reviewed.command("Acp undo")
    wait_until(lambda: signs(reviewed) == DRAWN)
    assert reviewed.lua("return vim.b.acp_changes") == {
        "added": 1,
        "changed": 1,
        "removed": 1,
        "conflict": 0,
        "proposed": 0,
    }


def test_keep_is_repeated_by_the_dot(reviewed: Editor) -> None:
    reviewed.type("5G ak")
    wait_until(lambda: len(signs(reviewed)) == 2)
    reviewed.type("12G.")
    wait_until(lambda: signs(reviewed) == [DRAWN[2]])
    assert reviewed.cursor()[0] == 12


def test_a_range_takes_all_within(reviewed: Editor, folder: Path) -> None:
    reviewed.type("3GV9j ak")
    wait_until(lambda: signs(reviewed) == [DRAWN[2]])
    assert reviewed.mode() == "n"
    reviewed.command("Acp undo 2")
    wait_until(lambda: signs(reviewed) == DRAWN)
    reviewed.command("%Acp revert")
    wait_until(lambda: (folder / "one.txt").read_text() == text(LINES))
    wait_until(lambda: signs(reviewed) == [] and virtual(reviewed) == [])
    reviewed.command("Acp undo")
    wait_until(lambda: signs(reviewed) == DRAWN, "one step takes all of it back")


def test_file_and_all(reviewed: Editor, agent: Agent, folder: Path) -> None:
    reviewed.lua("_G.seen = {}")
    writes(reviewed, agent, {folder / "two.txt": text(EDITED), folder / "three.txt": "x\n"})
    wait_until(lambda: len(reviewed.seen("Changes")[-1]["changes"]) == 3)
    reviewed.lua("vim.api.nvim_set_current_win(...)", mine(reviewed))
    reviewed.type(" aR")
    wait_until(lambda: (folder / "one.txt").read_text() == text(LINES))
    reviewed.command("Acp keep file two.txt")
    wait_until(lambda: len(reviewed.seen("Changes")[-1]["changes"]) == 1)
    reviewed.command("Acp revert all")
    wait_until(lambda: (folder / "three.txt").read_text() == text(LINES))
    assert (folder / "two.txt").read_text() == text(EDITED)
    reviewed.command("Acp undo all")
    wait_until(lambda: (folder / "one.txt").read_text() == text(EDITED))
    wait_until(lambda: len(reviewed.seen("Changes")[-1]["changes"]) == 3)
    reviewed.command("Acp revert hunk")
    reviewed.command("edit mine.txt")
    reviewed.command("Acp keep hunk")
    assert "no change of the agent here" in reviewed.messages()


# --- motions --------------------------------------------------------------------------------------


def test_motions_count_wrap_and_go_on_to_the_next_file(
    reviewed: Editor, agent: Agent, folder: Path
) -> None:
    reviewed.lua("_G.seen = {}")
    writes(reviewed, agent, {folder / "two.txt": text(EDITED)})
    wait_until(lambda: len(reviewed.seen("Changes")[-1]["changes"]) == 2)
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
    wait_until(lambda: len(reviewed.seen("Changes")[-1]["changes"]) == 2)
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
    wait_until(lambda: len(reviewed.seen("Changes")[-1]["changes"]) == 2)
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


# --- writes that wait ----------------------------------------------------------------------------


@pytest.fixture
def waiting(nvim: Editor, agent: Agent, folder: Path) -> Editor:
    setup(nvim, agent, keymaps=True, settings={"review": {"mode": "before"}})
    prompted(nvim, agent)
    written = agent.begin_write(folder / "one.txt", text(EDITED))
    nvim.written = written  # type: ignore[attr-defined]
    nvim.lua("vim.api.nvim_set_current_win(...)", mine(nvim))
    wait_until(lambda: len(signs(nvim)) == 3, "the proposal")
    return nvim


def test_what_would_be_written_is_drawn_and_decided(
    waiting: Editor, agent: Agent, folder: Path
) -> None:
    assert {kind for _, _, kind in signs(waiting)} == {"Proposed"}
    assert virtual(waiting) == [
        (5, False, ["line 5 by the agent"]),
        (11, True, ["new one", "new two"]),
    ]
    assert waiting.seen("Proposed")[0]["hunks"] == 3
    assert "puppet would like to change one.txt (3 places)" in waiting.messages()
    assert "3 to decide" in waiting.lua("return require('acp').statusline()")
    waiting.type("gg]h")
    assert waiting.cursor()[0] == 5
    waiting.type(" ah")
    assert waiting.lines(waiting.marked("preview")[0]) == ["-line 5", "+line 5 by the agent"]
    waiting.type(" ak")
    wait_until(lambda: len(signs(waiting)) == 2)
    waiting.type("]h ar")
    wait_until(lambda: len(signs(waiting)) == 1)
    assert (folder / "one.txt").read_text() == text(LINES), "written at the last word only"
    waiting.type("]h ak")
    response = waiting.written.result(20)  # type: ignore[attr-defined]
    assert response["error"]["data"]["reason"] == "refused"
    wanted = [line for line in EDITED if not line.startswith("new")]
    assert (folder / "one.txt").read_text() == text(wanted)
    wait_until(lambda: signs(waiting) == [] and virtual(waiting) == [])
    wait_until(lambda: waiting.lines(mine(waiting)) == wanted)


def test_what_would_be_written_side_by_side(waiting: Editor) -> None:
    waiting.command("Acp diff")
    wait_until(lambda: waiting.eval("tabpagenr('$')") == 2)
    assert [waiting.lines(win) for win in waiting.windows()] == [LINES, EDITED]
    waiting.command("Acp revert")
    wait_until(lambda: signs(waiting) == [])


def test_a_file_that_would_be_made(nvim: Editor, agent: Agent, folder: Path) -> None:
    setup(nvim, agent, keymaps=True, settings={"review": {"mode": "before"}})
    prompted(nvim, agent)
    written = agent.begin_write(folder / "new.py", "import os\n")
    wait_until(lambda: "would like to make new.py" in nvim.messages(), "to be told")
    nvim.lua("vim.api.nvim_set_current_win(...)", mine(nvim))
    nvim.type("]h")
    assert nvim.eval("expand('%:t')") == "new.py"
    wait_until(lambda: virtual(nvim, "new.py") == [(1, True, ["import os"])])
    assert notes(nvim, "new.py") == "puppet would like to make this file"
    assert "import os" in nvim.screen()
    nvim.command("Acp diff")
    wait_until(lambda: nvim.eval("tabpagenr('$')") == 2)
    assert [nvim.lines(win) for win in nvim.windows()] == [[""], ["import os"]]
    nvim.command("tabclose")
    assert not (folder / "new.py").exists()
    nvim.type(" ak")
    assert "error" not in written.result(20)
    assert (folder / "new.py").read_text() == "import os\n"
    wait_until(lambda: nvim.lines(mine(nvim)) == ["import os"], "the buffer")
    wait_until(lambda: notes(nvim, "new.py") == "")


# --- more than one session -----------------------------------------------------------------------


def test_what_belongs_to_an_older_session_is_decided_there(
    reviewed: Editor, agent: Agent, folder: Path
) -> None:
    reviewed.lua("_G.seen = {}")
    reviewed.command("Acp new")
    wait_until(lambda: reviewed.seen("Session"), "another session")
    reviewed.lua("vim.api.nvim_set_current_win(...)", mine(reviewed))
    assert signs(reviewed) == DRAWN
    reviewed.type("5G ar")
    wait_until(lambda: signs(reviewed) == DRAWN[1:])
    reviewed.type(" au")
    wait_until(lambda: signs(reviewed) == DRAWN)
    reviewed.command("Acp revert all")
    wait_until(lambda: (folder / "one.txt").read_text() == text(LINES))


def test_closing_the_session_clears_what_is_drawn(reviewed: Editor) -> None:
    reviewed.command("Acp close")
    wait_until(lambda: signs(reviewed) == [] and virtual(reviewed) == [])
    assert reviewed.eval("exists('b:acp_changes')") == 0


# --- checkpoints ---------------------------------------------------------------------------------


SELECT = """
    _G.asked = {}
    _G.choose = 1
    vim.ui.select = function(items, options, callback)
      local shown = vim.tbl_map(options.format_item or tostring, items)
      table.insert(_G.asked, { prompt = options.prompt, items = shown })
      local index = #_G.asked % 2 == 1 and 2 or _G.choose
      callback(items[index], index)
    end
"""
"""The user chooses the second of every other list, in the rest what `_G.choose` says."""


def test_back_to_a_checkpoint(reviewed: Editor, agent: Agent, folder: Path) -> None:
    reviewed.lua("_G.seen = {}")
    writes(reviewed, agent, {folder / "new.txt": "new\n"})
    reviewed.lua(SELECT)
    reviewed.command("Acp checkpoints")
    wait_until(lambda: len(reviewed.lua("return _G.asked")) == 2)
    points, question = reviewed.lua("return _G.asked")
    assert [item[:7] for item in points["items"]] == ["2  go  ", "1  go  "]
    assert "change one.txt" in question["prompt"]
    assert "delete new.txt" in question["prompt"]
    assert (folder / "new.txt").exists(), "the first answer is no"
    reviewed.lua("_G.choose = 2")
    reviewed.command("Acp checkpoints")
    wait_until(lambda: not (folder / "new.txt").exists(), "the restore")
    wait_until(lambda: (folder / "one.txt").read_text() == text(LINES))
    wait_until(lambda: signs(reviewed) == [])


def test_a_restore_asks_of_a_file_that_the_user_has_edited(
    nvim: Editor, agent: Agent, folder: Path
) -> None:
    for content in ("new\n", "newer\n"):
        nvim.lua("_G.seen = {}")
        writes(nvim, agent, {folder / "new.txt": content})
    nvim.lua("vim.api.nvim_set_current_win(...)", mine(nvim))
    nvim.command("edit new.txt")
    nvim.type("Omine<Esc>")
    nvim.command("silent write")
    wait_until(lambda: nvim.seen("Changes"))
    nvim.lua(SELECT)
    nvim.lua("_G.choose = 2")
    nvim.command("Acp checkpoints")
    wait_until(lambda: nvim.marked("permission"), "the sidecar to ask")
    assert "nothing is lost unasked" in nvim.lua("return _G.asked")[1]["prompt"]
    assert (folder / "new.txt").read_text() == "mine\nnewer\n"
    nvim.command("Acp permission Delete it all the same")
    wait_until(lambda: not (folder / "new.txt").exists(), "the file to go")


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
