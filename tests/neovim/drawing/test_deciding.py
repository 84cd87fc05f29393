"""Keep, revert, undo: also before it is written, of an older session, back to a checkpoint."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.neovim.agent import Agent
from tests.neovim.drawing.drawn import (
    DRAWN,
    EDITED,
    LINES,
    OLD,
    changes,
    mine,
    notes,
    prompted,
    setup,
    signs,
    text,
    virtual,
    writes,
)
from tests.neovim.harness import Editor, wait_until

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
    wait_until(lambda: len(changes(reviewed)) == 3)
    reviewed.lua("vim.api.nvim_set_current_win(...)", mine(reviewed))
    reviewed.type(" aR")
    wait_until(lambda: (folder / "one.txt").read_text() == text(LINES))
    reviewed.command("Acp keep file two.txt")
    wait_until(lambda: len(changes(reviewed)) == 1)
    reviewed.command("Acp revert all")
    wait_until(lambda: (folder / "three.txt").read_text() == text(LINES))
    assert (folder / "two.txt").read_text() == text(EDITED)
    reviewed.command("Acp undo all")
    wait_until(lambda: (folder / "one.txt").read_text() == text(EDITED))
    wait_until(lambda: len(changes(reviewed)) == 3)
    reviewed.command("Acp revert hunk")
    reviewed.command("edit mine.txt")
    reviewed.command("Acp keep hunk")
    wait_until(lambda: "There is nothing to keep here." in reviewed.messages())


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
