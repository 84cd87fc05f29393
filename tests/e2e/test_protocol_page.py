"""``docs/protocol.md`` tells the truth: its client works, its examples have the real shapes."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from acp_sidecar.settings import Settings, merge
from tests.e2e.commands.demo_file import GREETED, GREETING
from tests.e2e.commands.test_state import COMMANDS
from tests.e2e.editor import Editor, capabilities, editing
from tests.e2e.lsp_client import demo

PAGE = Path(__file__).parents[2] / "docs" / "protocol.md"
TEXT = PAGE.read_text("utf-8")
BOUND = 30
HERE = Path(sys.executable).parent
NVIM = shutil.which("nvim", path=HERE) or shutil.which("nvim")

RICH = {"transcript": True, "reveal": True, "permission": True, "changes": True}

AGENT_S_OWN = {"content", "modes", "configOptions", "commands", "cost", "options"}
"""Values in which what the agent left out is left out."""


def section(title: str) -> str:
    """The text below a heading, up to the next one of any level."""
    found = re.search(rf"^#+ {re.escape(title)}\n(.*?)(?=^#|\Z)", TEXT, re.MULTILINE | re.DOTALL)
    assert found, title
    return found[1]


def example(title: str) -> Any:
    """The JSON example below a heading."""
    found = re.search(r"```json\n(.*?)```", section(title), re.DOTALL)
    assert found, title
    return json.loads(found[1])


def differences(real: Any, shown: Any, where: str = "") -> list[str]:
    """Where an example has other fields than what was really sent."""
    if isinstance(real, dict) and isinstance(shown, dict):
        lines = []
        if where.rpartition(".")[2] not in AGENT_S_OWN and set(real) != set(shown):
            lines = [f"{where}: {sorted(set(real) ^ set(shown))}"]
        both = [name for name in real if name in shown]
        return lines + [
            line
            for name in both
            for line in differences(real[name], shown[name], f"{where}.{name}")
        ]
    if isinstance(real, list) and isinstance(shown, list):
        # Every kind of item shown is one that there is.
        return [
            f"{where}: no item is like {item!r}"
            for item in shown
            if real and all(differences(one, item, where) for one in real)
        ]
    return []


def test_every_command_is_in_a_table_and_no_other() -> None:
    rows = [line for line in TEXT.splitlines() if line.startswith("| `acp.")]
    named = {name for row in rows for name in re.findall(r"`(acp\.\w+\.\w+)`", row.split("|")[1])}
    assert named == COMMANDS


def test_every_setting_is_shown_with_its_default() -> None:
    shown = example("Settings")
    agents = shown.pop("agents")
    assert merge(Settings(), shown) == (Settings(), ())
    merged, problems = merge(Settings(), {"agents": agents})
    assert (list(merged.agents), problems) == (["mine"], ())
    groups = {
        f"{name}.{inner}" if isinstance(value, dict) else name
        for name, value in shown.items()
        for inner in (value if isinstance(value, dict) else [""])
    }
    assert len(groups) + 1 == len(Settings.__attrs_attrs__)


def test_links_within_the_page_lead_somewhere() -> None:
    headings = re.findall(r"^#+ (.*)$", TEXT, re.MULTILINE)
    anchors = {
        re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-") for heading in headings
    }
    assert set(re.findall(r"\]\(#([^)]*)\)", TEXT)) <= anchors


async def test_examples_are_like_what_is_really_sent(ws: Path) -> None:
    (ws / "greeting.py").write_text(GREETING)
    settings = {"agents": {"demo": demo(0.01)}, "follow": {"maxPerSecond": 1000}}
    declared = example("More than plain LSP")["capabilities"]["experimental"]["acpSidecar"]
    async with editing() as plain, editing() as rich:
        await plain.initialize(ws, settings=settings)
        await plain.execute("acp.session.new")
        plain.start("acp.session.prompt", text="/edit")
        dialog = await plain.dialog()
        assert differences(dialog, example("What a plain LSP client sees")) == []

        await rich.initialize(ws, settings=settings, can=capabilities(**declared))
        rich.answers["acp/permission"] = lambda params: {"optionId": "go-once"}
        opened = await rich.execute("acp.session.new")
        await rich.execute("acp.session.prompt", text="Show me")
        assert (ws / "greeting.py").read_text() == GREETED
        await rich.until(lambda: len(rich.all("acp/changes")) > 0 and idle(rich))
        state = await rich.state()
        review = await rich.execute("acp.review.list")
        snapshot = await rich.call("acp/transcript/snapshot", {"sessionId": opened["sessionId"]})

    assert differences(opened, example("A session")) == []
    for title, real in (
        ("The conversation", snapshot),
        ("A place of your own", rich.all("acp/reveal")[1]),
        ("Where the agent is", rich.all("acp/follow")[-1]),
        ("A question of your own", rich.all("acp/permission")[0]),
        ("Review", review),
        ("The state", state),
    ):
        assert differences(real, example(title)) == [], title
    # The table of blocks names every field.
    table = section("The conversation")
    for block in snapshot["blocks"]:
        row = next(line for line in table.splitlines() if line.startswith(f"| `{block['kind']}`"))
        missing = {name for name in block if f"`{name}`" not in row and f"`{name}:" not in row}
        assert missing <= {"id", "kind", "_meta"}, block["kind"]


def idle(editor: Editor) -> bool:
    last = [
        block["status"]
        for params in editor.all("acp/transcript")
        for block in params["blocks"]
        if block["kind"] == "status"
    ]
    return last[-1:] == ["idle"]


@pytest.mark.skipif(NVIM is None, reason="no Neovim: install the extra nvim")
async def test_the_client_in_twenty_lines_works_in_neovim(ws: Path, tmp_path: Path) -> None:
    (ws / "greeting.py").write_text(GREETING)
    found = re.search(r"```lua\n(.*?)```", section("A client in twenty lines"), re.DOTALL)
    assert found
    lines = [line for line in found[1].splitlines() if line.strip()]
    assert len(lines) <= 20
    script = tmp_path / "init.lua"
    # The user's part: to ask, to say yes, and to leave when there is something to see.
    script.write_text(
        f"""{found[1]}
        vim.ui.select = function(items, options, choose)
          print(options.prompt)
          choose(items[#items - 1])
        end
        vim.api.nvim_create_autocmd("VimEnter", {{ callback = function()
          vim.cmd("edit greeting.py")
          vim.cmd("Ask show me what you can do")
          local note = "demo-notes/note-1.md"
          local seen = vim.wait(20000, function()
            return vim.fn.bufwinid(note) > 0 and vim.fn.filereadable(note) == 1
          end, 50)
          print(seen and "\\nall seen\\n" or "\\nnot seen\\n")
          vim.cmd("qall!")
        end }})
        """
    )
    assert NVIM is not None
    process = await asyncio.create_subprocess_exec(
        NVIM,
        "--headless",
        "--clean",
        "-n",
        "-u",
        str(script),
        cwd=ws,
        env={
            **os.environ,
            "PATH": f"{HERE}{os.pathsep}{os.environ['PATH']}",
            "ACP_DEMO_PACE": "0.05",
            "XDG_DATA_HOME": str(tmp_path / "data"),
        },
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        async with asyncio.timeout(BOUND):
            out, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
    assert b"all seen" in out, out.decode()
    assert b"It changes" in out
    assert (ws / "greeting.py").read_text() == GREETED
