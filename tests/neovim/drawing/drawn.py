"""A file that the agent changes in three places, and how that is drawn."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

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


def changes(nvim: Editor) -> list[dict[str, Any]]:
    """What waits for review, as told last; nothing before anything was told."""
    told = nvim.seen("Changes")
    return told[-1]["changes"] if told else []


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
