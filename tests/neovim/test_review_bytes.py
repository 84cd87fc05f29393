"""Whoever held the pen: what the user keeps, reverts and takes back, byte for byte.

A real Neovim, the real sidecar, an agent as a process. Each scene has a file of its own, so
that one editor serves many of them.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from tests.neovim.agent import Agent
from tests.neovim.desk import Desk, replace_by_rename
from tests.neovim.harness import wait_until

# --- texts --------------------------------------------------------------------------------


@frozen
class Form:
    """How a text is laid down in bytes."""

    end: str = "\n"
    last: bool = True
    bom: bool = False
    odd: str = ""
    """Put into each line."""

    def text(self, lines: list[str]) -> str:
        lines = [line + self.odd for line in lines]
        return self.end.join(lines) + (self.end if self.last and lines else "")

    def data(self, lines: list[str]) -> bytes:
        return (b"\xef\xbb\xbf" if self.bom else b"") + self.text(lines).encode()


FORMS = {
    "unix": Form(),
    "dos": Form(end="\r\n"),
    "no final newline": Form(last=False),
    "mark": Form(bom=True),
    "astral": Form(odd=" 😀\u2028é"),
    "dos, mark, no final newline": Form(end="\r\n", bom=True, last=False),
}


@frozen
class Said:
    """What a file says: which of the agent's two changes, and which of the user's."""

    first: bool = False
    second: bool = False
    far: bool = False
    inside: bool = False

    def lines(self) -> list[str]:
        five = ["five mine"] if self.far else ["five"]
        eight = ["EIGHT", "MORE"] if self.second else ["eight"]
        if self.inside:
            eight = [f"{eight[0]} mine", *eight[1:]]
        two = ["TWO"] if self.first else ["two"]
        return ["one", *two, "three", "four", *five, "six", "seven", *eight, "nine"]


BEFORE = Said()
AGENTS = Said(first=True, second=True)


# --- pens ---------------------------------------------------------------------------------


def report(agent: Agent, path: Path, old: str, new: str, status: str, update: bool) -> None:
    kind = "tool_call_update" if update else "tool_call"
    diff = {"type": "diff", "path": str(path), "oldText": old, "newText": new}
    agent.tool("t1", kind, kind="edit", status=status, content=[diff])


def by_itself_then_told(agent: Agent, path: Path, form: Form) -> None:
    path.write_bytes(form.data(AGENTS.lines()))
    report(agent, path, form.text(BEFORE.lines()), form.text(AGENTS.lines()), "completed", False)


def told_then_by_itself(agent: Agent, path: Path, form: Form) -> None:
    report(agent, path, form.text(BEFORE.lines()), form.text(AGENTS.lines()), "pending", False)
    path.write_bytes(form.data(AGENTS.lines()))
    agent.tool("t1", "tool_call_update", status="completed")


def by_renaming(agent: Agent, path: Path, form: Form) -> None:
    agent.tool("t1", kind="edit", rawInput={"file_path": str(path)}, status="pending")
    replace_by_rename(path, form.data(AGENTS.lines()))
    report(agent, path, form.text(BEFORE.lines()), form.text(AGENTS.lines()), "completed", True)


def through_us(agent: Agent, path: Path, form: Form) -> None:
    text = agent.read(path)
    end = "\r\n" if "\r\n" in text else "\n"
    text = text.replace(f"two{form.odd}{end}", f"TWO{form.odd}{end}")
    more = f"EIGHT{form.odd}{end}MORE{form.odd}{end}"
    text = text.replace(f"eight{form.odd}{end}", more)
    assert agent.write(path, text).get("result") == {}


def by_itself_and_through_us(agent: Agent, path: Path, form: Form) -> None:
    path.write_bytes(form.data(AGENTS.lines()))
    assert agent.write(path, form.text(AGENTS.lines())).get("result") == {}
    report(agent, path, form.text(BEFORE.lines()), form.text(AGENTS.lines()), "completed", False)


def through_us_and_by_itself(agent: Agent, path: Path, form: Form) -> None:
    assert agent.write(path, form.text(AGENTS.lines())).get("result") == {}
    path.write_bytes(form.data(AGENTS.lines()))
    report(agent, path, form.text(BEFORE.lines()), form.text(AGENTS.lines()), "completed", False)


PENS: dict[str, Callable[[Agent, Path, Form], None]] = {
    "by itself, then told": by_itself_then_told,
    "told, then by itself": told_then_by_itself,
    "by renaming": by_renaming,
    "through us": through_us,
    "by itself and through us": by_itself_and_through_us,
    "through us and by itself": through_us_and_by_itself,
}
THROUGH_US = ("through us", "by itself and through us", "through us and by itself")


# --- the matrix ---------------------------------------------------------------------------


class Scene:
    """One file, what is expected of its buffer and of the disk."""

    def __init__(self, desk: Desk, path: Path, form: Form) -> None:
        self.desk = desk
        self.path = path
        self.form = form
        self.said = BEFORE
        self.disk = BEFORE
        self.is_open = False
        self.dirty = False
        self.lags = False
        """Whether the buffer shows what was on disk before, as its user wants it to."""

    def becomes(self, said: Said) -> None:
        self.said, self.lags = said, False
        if not self.dirty:
            self.disk = said

    def check(self) -> None:
        """Buffer, disk and modified flag are what they should be, and nothing is asked."""
        expected = self.form.data(self.disk.lines())
        wait_until(lambda: self.path.read_bytes() == expected or None, self._disk(expected), 3)
        if self.is_open and not self.lags:
            lines = self.buffer_lines()
            wait_until(
                lambda: self.desk.lines(self.path) == lines or None, f"the buffer: {lines}", 3
            )
            assert self.desk.modified(self.path) == self.dirty
        self.desk.quiet()

    def buffer_lines(self) -> list[str]:
        return [line + self.form.odd for line in self.said.lines()]

    def _disk(self, expected: bytes) -> str:
        return f"the disk to say {expected!r}, not {self.path.read_bytes()!r}"

    def open(self) -> None:
        self.desk.open(self.path)
        self.is_open = True

    def types(self, **what: bool) -> None:
        line, text = (5, "five") if "far" in what else (0, "")
        if "inside" in what:
            line = 8
            text = "EIGHT" if self.said.second else "eight"
        self.desk.nvim.command(f"call cursor({line}, 1)")
        self.desk.nvim.command(f"call setline({line}, '{text} mine{self.form.odd}')")
        self.dirty = True
        self.said = Said(self.said.first, self.said.second, **what)

    def saves(self, *, force: bool = False) -> None:
        self.desk.nvim.command("silent write!" if force else "silent write")
        self.dirty = False
        self.disk = self.said

    def hunks(self) -> list[dict[str, Any]]:
        return self.desk.hunks(self.path)


SELF, US, BOTH = "by itself, then told", "through us", "by itself and through us"
HOLDS = ("closed", "clean", "typed after", "typed inside after", "saved after")


def named(what: str) -> str:
    return what.replace(",", "").replace(" ", "-")


def act(desk: Desk, pen: str, hold: str, form: Form, name: str) -> Scene:
    """The agent's turn, and what the user does meanwhile or after it."""
    path = desk.file(named(name), form.data(BEFORE.lines()))
    scene = Scene(desk, path, form)
    if hold == "never reloads":
        desk.nvim.command("let g:reloads = 0 | set noautoread")
    if hold != "closed":
        scene.open()
    with desk.turn() as agent:
        PENS[pen](agent, path, form)
    scene.becomes(Said(True, True, far=scene.said.far))
    scene.lags = hold == "never reloads" and pen not in ("through us", "through us and by itself")
    if hold.endswith("after"):
        scene.check()
        assert len(scene.hunks()) == 2
        scene.types(**({"inside": True} if "inside" in hold else {"far": True}))
        if hold == "saved after":
            scene.saves()
    return scene


@pytest.mark.parametrize("hold", HOLDS)
@pytest.mark.parametrize("pen", PENS)
def test_keep_revert_undo(desk: Desk, pen: str, hold: str) -> None:
    scene = act(desk, pen, hold, FORMS["unix"], f"{pen} {hold}.txt")
    review(scene)


@pytest.mark.parametrize("pen", [SELF, US, BOTH])
def test_a_buffer_whose_user_has_autoread_off(desk: Desk, pen: str) -> None:
    review(act(desk, pen, "never reloads", FORMS["unix"], f"never {pen}.txt"), times=0)


@pytest.mark.parametrize("hold", ["closed", "clean", "typed after"])
@pytest.mark.parametrize("pen", ["by renaming", US, BOTH])
@pytest.mark.parametrize("form", [form for form in FORMS if form != "unix"])
def test_keep_revert_undo_in_every_form(desk: Desk, form: str, pen: str, hold: str) -> None:
    scene = act(desk, pen, hold, FORMS[form], f"{form} {pen} {hold}.txt")
    review(scene)


@pytest.mark.parametrize("pen", THROUGH_US)
def test_an_agent_that_writes_where_the_user_has_typed(desk: Desk, pen: str) -> None:
    form = FORMS["unix"]
    path = desk.file(named(f"before {pen}.txt"), form.data(BEFORE.lines()))
    scene = Scene(desk, path, form)
    scene.open()
    scene.types(far=True)
    with desk.turn() as agent:
        PENS[pen](agent, path, form)
    scene.said = Said(True, True, far=True)
    if pen != "through us":
        scene.disk = AGENTS
    review(scene, force=True)


def review(scene: Scene, *, times: int = 2, force: bool = False) -> None:
    """Keep one hunk, revert the other, take both back, revert all, undo, save."""
    desk, path, said = scene.desk, scene.path, scene.said
    scene.check()
    first, second = scene.hunks()
    assert first["after"]["start"] == 1
    assert second["after"]["start"] == 7
    assert second["state"] == ("conflict" if said.inside else "waiting")

    assert desk.keep(path, first)["kept"] == [first["id"]]
    scene.check()
    done = desk.revert(path, second)
    if said.inside:
        assert done["conflicts"] == [second["id"]]
    else:
        assert done["reverted"] == [second["id"]]
        scene.becomes(Said(True, False, far=said.far))
        scene.check()
        assert scene.hunks() == []
        desk.undo()
        scene.becomes(said)
        scene.check()
    desk.undo()
    assert scene.hunks() == [first, second]
    scene.check()

    for _ in range(times):
        done = desk.revert(path)
        if said.inside:
            assert (done["reverted"], done["conflicts"]) == ([first["id"]], [second["id"]])
            scene.becomes(Said(False, True, inside=True))
        else:
            assert done["reverted"] == [first["id"], second["id"]]
            scene.becomes(Said(far=said.far))
        scene.check()
        desk.undo()
        scene.becomes(said)
        scene.check()
        assert scene.hunks() == [first, second]
    desk.revert(path)
    scene.becomes(Said(False, said.inside, said.far, said.inside))
    scene.check()
    if scene.is_open:
        desk.nvim.command("silent undo")
        assert desk.lines(path) != scene.buffer_lines()
        desk.nvim.command("silent redo")
        assert desk.lines(path) == scene.buffer_lines()
        scene.saves(force=force)
        scene.check()
    assert [hunk["id"] for hunk in scene.hunks()] == ([second["id"]] if said.inside else [])
