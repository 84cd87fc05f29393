"""A real Neovim, the real sidecar, and the demo agent as a process."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from acp_sidecar.demo.workspace import FILES
from tests.neovim.harness import Editor, wait_until

GREETING = FILES["greeting.py"]
EVENTS = (
    "Session",
    "Reveal",
    "Follow",
    "Changes",
    "Reviewed",
    "TurnEnded",
    "Exit",
    "Error",
    "Edit",
    "PermissionAsked",
    "PermissionAnswered",
    "PermissionWithdrawn",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = (tmp_path / "ws").resolve()
    folder.mkdir()
    (folder / "greeting.py").write_text(GREETING)
    (folder / "mine.txt").write_text("".join(f"line {n}\n" for n in range(1, 101)))
    return folder


@pytest.fixture
def protocol() -> int:
    """The version that the agent ``demo`` speaks."""
    return 1


@pytest.fixture
def nvim(tmp_path: Path, folder: Path, protocol: int) -> Iterator[Editor]:
    editor = Editor(tmp_path, ACP_DEMO_PACE="0.05")
    editor.command(f"cd {folder}")
    settings: dict[str, Any] = {}
    if protocol == 2:
        args = ["-m", "acp_sidecar", "demo-agent", "--protocol", "2"]
        settings = {
            "protocolVersions": [1, 2],
            "agents": {"demo": {"command": sys.executable, "args": args}},
        }
    code = """local python, settings = ...
              local cmd = { python, '-m', 'acp_sidecar', 'serve' }
              require('acp').setup({ cmd = cmd, settings = settings })"""
    editor.lua(code, sys.executable, settings)
    editor.events(*EVENTS)
    editor.command("edit mine.txt | call cursor(7, 3)")
    yield editor
    editor.close()


both = pytest.mark.parametrize("protocol", [1, 2])
"""The same over each version of the protocol."""


def prompt(nvim: Editor, text: str) -> None:
    nvim.lua("_G.seen = {}; require('acp').prompt(...)", text)


def asked(nvim: Editor, times: int = 1) -> dict[str, Any]:
    wait_until(lambda: len(nvim.seen("PermissionAsked")) >= times, "a question")
    return nvim.seen("PermissionAsked")[times - 1]


def ended(nvim: Editor) -> str | None:
    wait_until(lambda: nvim.seen("TurnEnded") or nvim.seen("Error"), "the end of the turn")
    assert nvim.seen("Error") == []
    event = nvim.seen("TurnEnded")[0]
    assert "error" not in event, event
    return event.get("stopReason")


def conversation(nvim: Editor) -> str:
    (win,) = nvim.marked("transcript")
    return "\n".join(nvim.lines(win))


def statusline(nvim: Editor) -> str:
    return str(nvim.lua("return require('acp').statusline()"))


def text_of(nvim: Editor, path: Path) -> str:
    """The buffer's text, with the newline at its end."""
    code = "return vim.api.nvim_buf_get_lines(vim.fn.bufadd(...), 0, -1, false)"
    return "".join(line + "\n" for line in nvim.lua(code, str(path)))


def modified(nvim: Editor, path: Path) -> bool:
    return bool(nvim.lua("return vim.bo[vim.fn.bufadd(...)].modified", str(path)))


def spoken(nvim: Editor) -> int:
    """The version of the protocol in the session on the screen."""
    (opened,) = nvim.seen("Session")
    return int(opened["protocolVersion"])


@both
def test_a_whole_turn_beside_the_users_own_work(nvim: Editor, folder: Path, protocol: int) -> None:
    mine = nvim.window()
    prompt(nvim, "Show me")
    question = asked(nvim)
    assert spoken(nvim) == protocol
    assert question["options"] == ["No", "No, change nothing", "Yes", "Yes to all edits"]
    assert str(folder / "greeting.py") in "\n".join(question["lines"])
    assert (folder / "greeting.py").read_text() == GREETING
    (reveal,) = nvim.marked("reveal")
    wait_until(lambda: nvim.cursor(reveal)[0] == 5, "the place of the edit")
    assert nvim.name(reveal) == str(folder / "greeting.py")
    assert nvim.window() == mine
    assert nvim.cursor() == [7, 2]

    nvim.command("Acp permission")
    nvim.type("3<CR>")
    assert nvim.window() == mine
    assert ended(nvim) == "end_turn"
    edited = (folder / "greeting.py").read_text()
    assert "Good morning" in edited
    wait_until(lambda: text_of(nvim, folder / "greeting.py") == edited, "the buffer")
    assert not modified(nvim, folder / "greeting.py")
    wait_until(lambda: nvim.name(reveal).endswith("note-1.md"), "the last place")
    assert nvim.cursor() == [7, 2]
    assert nvim.mode() == "n"

    said = conversation(nvim)
    for text in (
        "❯ You\nShow me",
        "  ✓ Count lines",
        "✓ Read greeting.py  greeting.py:5",
        "✓ Look something up in Python's library",
        '  -    return "Hello " + name',
        '  +    return f"Good morning, {name}!"',
        "→ Yes",
        "✓ Write note-1.md  demo-notes/note-1.md:1",
        "  14 lines  greeting.py",
        "That is all.",
    ):
        assert text in said, text
    outside = [event for event in nvim.seen("Follow") if event.get("reason") == "outside"]
    assert outside
    assert str(folder) not in outside[0]["location"]["path"]
    wait_until(lambda: "idle" in statusline(nvim) and "±2" in statusline(nvim))


def test_typing_during_a_question_is_kept_and_answers_nothing(nvim: Editor, folder: Path) -> None:
    nvim.type("ggO")
    prompt(nvim, "/edit")
    asked(nvim)
    nvim.type("1 is what I type<CR>2<CR>yes<CR>")
    nvim.type("<Esc>gg")
    nvim.lua("vim.wait(300, function() return false end)")
    assert nvim.seen("PermissionAnswered") == []
    assert nvim.lines(nvim.window())[:3] == ["1 is what I type", "2", "yes"]
    assert "requires_action" in statusline(nvim)
    assert (folder / "greeting.py").read_text() == GREETING
    nvim.command("Acp permission No")
    assert ended(nvim) == "end_turn"
    assert (folder / "greeting.py").read_text() == GREETING
    assert "without the edit" in conversation(nvim)


def test_unsaved_text_is_read_edited_and_stays_unsaved(nvim: Editor, folder: Path) -> None:
    target = folder / "greeting.py"
    nvim.command("split greeting.py")
    nvim.type("ggO# 😀 é unsaved<Esc>")
    nvim.command("call append('$', '# 😀 at the end')")
    nvim.type("jj")
    mine = nvim.cursor()
    prompt(nvim, "/edit greeting.py")
    asked(nvim)
    nvim.command("Acp permission Yes")
    assert ended(nvim) == "end_turn"
    wait_until(lambda: "Good morning" in text_of(nvim, target), "the edit in the buffer")
    lines = text_of(nvim, target).splitlines()
    assert lines[0] == "# 😀 é unsaved"
    assert lines[-1] == "# 😀 at the end"
    assert '    for name in ("Ada", "Barbara", "Grace", "Linus"):' in lines
    assert target.read_text() == GREETING, "saving is the user's"
    assert modified(nvim, target)
    assert nvim.cursor() == mine
    nvim.type("u")
    assert "Good morning" not in text_of(nvim, target), "one undo takes it back"
    assert "# 😀 at the end" in text_of(nvim, target)


def test_a_file_changed_during_the_question_is_asked_for_again(nvim: Editor, folder: Path) -> None:
    target = folder / "greeting.py"
    nvim.command("split greeting.py")
    prompt(nvim, "/edit")
    asked(nvim)
    nvim.type("ggO# mine<Esc>")
    nvim.command("Acp permission Yes")
    asked(nvim, 2)
    assert "Good morning" not in text_of(nvim, target)
    nvim.command("Acp permission Yes")
    assert ended(nvim) == "end_turn"
    wait_until(lambda: "Good morning" in text_of(nvim, target))
    assert text_of(nvim, target).startswith("# mine\n")
    assert text_of(nvim, target).count("Good morning") == 1


def test_an_open_clean_file_is_written_and_loaded(nvim: Editor, folder: Path) -> None:
    target = folder / "greeting.py"
    nvim.command("split greeting.py | call cursor(9, 5)")
    prompt(nvim, "/edit")
    asked(nvim)
    nvim.command("Acp permission Yes")
    assert ended(nvim) == "end_turn"
    edited = target.read_text()
    assert "Good morning" in edited
    wait_until(lambda: text_of(nvim, target) == edited)
    assert not modified(nvim, target)
    assert nvim.cursor() == [9, 4]
    nvim.command("silent write")
    assert target.read_text() == edited


def test_a_buffer_that_does_not_reload_is_brought_along(nvim: Editor, folder: Path) -> None:
    target = folder / "greeting.py"
    nvim.command("set noautoread | split greeting.py")
    prompt(nvim, "/edit")
    asked(nvim)
    nvim.command("Acp permission Yes")
    assert ended(nvim) == "end_turn"
    edited = target.read_text()
    assert edited.count("Good morning") == 1
    wait_until(lambda: text_of(nvim, target) == edited)


@both
def test_cancel_closes_the_question(nvim: Editor, folder: Path) -> None:
    prompt(nvim, "/edit")
    asked(nvim)
    nvim.command("Acp cancel")
    assert ended(nvim) == "cancelled"
    wait_until(lambda: nvim.marked("permission") == [], "the question to close")
    assert (folder / "greeting.py").read_text() == GREETING
    wait_until(lambda: "→ cancelled" in conversation(nvim))
    assert nvim.seen("PermissionAnswered") == []


def test_a_withdrawn_question_closes(nvim: Editor) -> None:
    prompt(nvim, "/withdraw")
    asked(nvim)
    nvim.command("Acp permission")
    assert ended(nvim) == "end_turn"
    wait_until(lambda: nvim.marked("permission") == [])
    assert "I have withdrawn the question." in conversation(nvim)


def test_several_questions(nvim: Editor) -> None:
    mine = nvim.window()
    prompt(nvim, "/ask 3")
    asked(nvim, 3)
    assert "2 more waiting:" in nvim.screen()
    for answer in ("Yes", "No", "Yes"):
        nvim.command("Acp permission")
        nvim.type({"Yes": "2<CR>", "No": "1<CR>"}[answer])
        assert nvim.window() == mine
    assert ended(nvim) == "end_turn"
    assert "The answers: yes, no, yes." in conversation(nvim)


@both
def test_a_cancelled_command_stops(nvim: Editor) -> None:
    prompt(nvim, "/wait")
    wait_until(lambda: nvim.marked("transcript") and "◐ Wait" in conversation(nvim))
    assert "demo is working" in nvim.lua("return vim.lsp.status()"), "Neovim's own progress"
    nvim.command("Acp prompt /refuse")
    wait_until(lambda: "+1" in statusline(nvim), "the second prompt to wait")
    nvim.command("Acp cancel")
    assert ended(nvim) == "cancelled"
    wait_until(lambda: "⊘ Wait" in conversation(nvim))


@both
def test_following_pauses_and_returns(nvim: Editor, folder: Path) -> None:
    prompt(nvim, "/edit")
    asked(nvim)
    (reveal,) = nvim.marked("reveal")
    nvim.type("x")
    wait_until(lambda: "paused" in statusline(nvim), "following to pause")
    nvim.command("Acp permission No")
    assert ended(nvim) == "end_turn"
    prompt(nvim, "/read mine.txt:50")
    assert ended(nvim) == "end_turn"
    wait_until(lambda: nvim.name(reveal) == str(folder / "mine.txt"), "following to return")
    wait_until(lambda: nvim.cursor(reveal)[0] == 50)
    assert nvim.cursor() == [7, 2]

    nvim.command("Acp follow off")
    wait_until(lambda: "not following" in statusline(nvim))
    prompt(nvim, "/read greeting.py:3")
    assert ended(nvim) == "end_turn"
    assert nvim.name(reveal) == str(folder / "mine.txt")


def test_review_revert_undo_keep(nvim: Editor, folder: Path) -> None:
    target = folder / "greeting.py"
    nvim.command("split greeting.py")
    prompt(nvim, "Show me")
    asked(nvim)
    nvim.command("Acp permission Yes")
    assert ended(nvim) == "end_turn"
    edited = target.read_text()
    nvim.command("Acp review")
    wait_until(lambda: nvim.eval("&buftype") == "quickfix")
    items = {item["text"]: item for item in nvim.eval("getqflist()")}
    assert set(items) == {"modified, 2 places", "created, 1 place"}
    nvim.command("cclose")

    nvim.command("Acp diff greeting.py")
    wait_until(lambda: nvim.eval("tabpagenr('$')") == 2)
    left, right = nvim.windows()
    assert nvim.lines(left) == GREETING.splitlines()
    assert nvim.lines(right) == edited.splitlines()
    nvim.command("tabclose")

    nvim.command("Acp revert greeting.py")
    wait_until(lambda: target.read_text() == GREETING, "the file to be as before")
    wait_until(lambda: text_of(nvim, target) == GREETING)
    nvim.command("Acp undo")
    wait_until(lambda: target.read_text() == edited, "the undo")
    wait_until(lambda: len(nvim.eval("getqflist()")) == 2)
    nvim.command("Acp! keep")
    wait_until(lambda: nvim.eval("getqflist()") == [], "the list to be empty")
    assert target.read_text() == edited
    wait_until(lambda: "±" not in statusline(nvim))


def test_a_flood_leaves_the_editor_usable(nvim: Editor) -> None:
    prompt(nvim, "/flood 60000")
    wait_until(lambda: nvim.marked("transcript"))
    # What the user does is done before the flood is over.
    done = 0
    while not nvim.seen("TurnEnded"):
        nvim.lua("return 1")
        done += 1
    assert done
    wait_until(lambda: "59999" in conversation(nvim), "the last words")


def test_modes_sessions_and_loading(nvim: Editor, folder: Path) -> None:
    prompt(nvim, "/refuse")
    assert ended(nvim) == "refusal"
    nvim.command("Acp mode accept-edits")
    wait_until(lambda: "mode accept-edits" in nvim.messages())
    prompt(nvim, "/edit")
    assert ended(nvim) == "end_turn"
    assert nvim.seen("PermissionAsked") == []
    assert "Good morning" in (folder / "greeting.py").read_text()

    state = nvim.lua(
        """local state
           require('acp.session').execute('acp.session.state', nil, function(s) state = s end)
           vim.wait(5000, function() return state end)
           return state"""
    )
    assert state["modes"]["currentModeId"] == "accept-edits"
    # The agent remembers as long as it runs: another session keeps it.
    first = state["sessionId"]
    nvim.lua("_G.seen = {}")
    nvim.command("Acp new")
    wait_until(lambda: nvim.seen("Session"))
    nvim.command(f"Acp session {first}")
    nvim.command("Acp close")
    wait_until(lambda: "closed" in statusline(nvim))
    nvim.lua("_G.seen = {}")
    nvim.command(f"Acp load demo {state['agentSessionId']}")
    wait_until(lambda: nvim.seen("Session"), "the loaded session")
    wait_until(lambda: "I would rather not." in conversation(nvim))
    assert nvim.seen("Reveal") == [], "a replay shows no places"


def test_an_agent_that_crashes_is_told_and_another_session_works(nvim: Editor) -> None:
    prompt(nvim, "/crash")
    wait_until(lambda: nvim.seen("TurnEnded"))
    assert "crashed, as the prompt asked" in nvim.seen("TurnEnded")[0]["error"]
    wait_until(lambda: "dead" in statusline(nvim))
    prompt(nvim, "/refuse")
    assert ended(nvim) == "refusal"


def sidecar_pid(nvim: Editor) -> int:
    children = Path(f"/proc/{nvim.pid}/task/{nvim.pid}/children").read_text().split()
    for pid in map(int, children):
        if b"acp_sidecar" in Path(f"/proc/{pid}/cmdline").read_bytes():
            return pid
    raise AssertionError("no sidecar under Neovim")


def processes_of(folder: Path) -> list[int]:
    """The processes started from a Neovim that keeps its state in the folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if f"XDG_STATE_HOME={folder}".encode() in (process / "environ").read_bytes():
                found.append(int(process.name))
        except OSError:
            continue
    return found


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="looks into /proc")
def test_a_killed_sidecar_is_started_again_and_buffers_attached(
    nvim: Editor, folder: Path, tmp_path: Path
) -> None:
    nvim.command("split greeting.py")
    prompt(nvim, "/edit")
    asked(nvim)
    before = processes_of(tmp_path)
    os.kill(sidecar_pid(nvim), signal.SIGKILL)
    wait_until(lambda: nvim.seen("Exit"))
    wait_until(lambda: nvim.marked("permission") == [])
    attached = """
        local client = require('acp.client').get()
        return client and client.initialized and vim.tbl_count(client.attached_buffers) or 0
    """
    wait_until(lambda: nvim.lua(attached) == 2, "both buffers to be attached again")
    wait_until(
        lambda: not (set(before) - {nvim.pid}) & set(processes_of(tmp_path)), "the agent to end"
    )
    prompt(nvim, "/edit")
    asked(nvim)
    nvim.command("Acp permission Yes")
    assert ended(nvim) == "end_turn"
    assert "Good morning" in (folder / "greeting.py").read_text()


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="looks into /proc")
@pytest.mark.parametrize("how", ["quit", "kill"])
def test_nothing_outlives_the_editor(nvim: Editor, tmp_path: Path, how: str) -> None:
    prompt(nvim, "/wait")
    wait_until(lambda: nvim.marked("transcript") and "◐ Wait" in conversation(nvim))
    assert len(processes_of(tmp_path)) >= 4, "editor, sidecar, agent, its command"
    if how == "kill":
        os.kill(nvim.pid, signal.SIGKILL)
    else:
        nvim.close()
    wait_until(lambda: processes_of(tmp_path) == [], "every process to end", bound=10)
