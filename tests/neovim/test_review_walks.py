"""Walks at random through a review in a real Neovim: nothing of the user's is ever lost."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.neovim.desk import CommandFailed, Desk, replace_by_rename
from tests.neovim.harness import wait_until

LINES = [f"line {number}" for number in range(1, 31)]


class Walk:
    """One file, a user who adds lines, an agent that changes those which were there."""

    def __init__(self, desk: Desk, path: Path, seed: int) -> None:
        self.desk = desk
        self.path = path
        self.chance = random.Random(seed)
        self.number = 0
        self.users: list[str] = []
        self.kept = False
        self.did: list[str] = []

    def step(self, name: str) -> None:
        self.did.append(name)
        getattr(self, name)()
        self.check()

    def check(self) -> None:
        def whole() -> bool:
            lines = self.desk.lines(self.path)
            return sorted(self.users) == sorted(each for each in lines if each[:4] == "user")

        wait_until(whole, f"{self.users} in {self.desk.lines(self.path)} after {self.did}", 3)
        self.desk.quiet()

    def changed(self, text: str) -> str:
        """A text of the file in which the agent has put a line in the place of another."""
        self.number += 1
        lines = text.splitlines()
        places = [n for n, line in enumerate(lines) if not line.startswith("user")]
        lines[self.chance.choice(places)] = f"agent {self.number}"
        return "".join(f"{line}\n" for line in lines)

    # --- the agent, within a turn -----------------------------------------------------------

    def agent_writes_through_us(self) -> None:
        text = self.desk.agent.read(self.path)
        answer = self.desk.agent.write(self.path, self.changed(text))
        assert answer.get("result") == {}, answer

    def agent_writes_by_itself(self) -> None:
        if not self.desk.modified(self.path):
            self.path.write_text(self.changed(self.path.read_text()))
            self.reported()

    def agent_renames(self) -> None:
        if not self.desk.modified(self.path):
            replace_by_rename(self.path, self.changed(self.path.read_text()).encode())
            self.reported()

    def reported(self) -> None:
        where = [{"path": str(self.path)}]
        self.desk.agent.tool(f"t{self.number}", kind="edit", status="completed", locations=where)
        # Typing into what is not on the screen yet would be another walk.
        disk = self.path.read_text()
        wait_until(lambda: self.desk.buffer(self.path) == disk, "the editor to load it", 3)

    # --- the user ---------------------------------------------------------------------------

    def user_types(self) -> None:
        self.number += 1
        line = f"user {self.number}"
        self.users.append(line)
        place = self.chance.randrange(len(LINES))
        self.desk.nvim.command(f"call append({place}, '{line}')")

    def user_saves(self) -> None:
        self.desk.nvim.command("silent write")

    def user_types_and_saves(self) -> None:
        self.user_types()
        self.user_saves()

    def keep(self) -> None:
        hunks = self.desk.hunks(self.path)
        if hunks:
            self.kept = True
            self.desk.keep(self.path, self.chance.choice(hunks))

    def revert(self) -> None:
        hunks = self.desk.hunks(self.path)
        if hunks:
            self.desk.revert(self.path, self.chance.choice(hunks))

    def revert_all(self) -> None:
        self.desk.revert(self.path)

    def revert_and_undo(self) -> None:
        before = self.desk.buffer(self.path)
        done = self.desk.revert(self.path)
        if done["reverted"]:
            assert self.desk.undo()["problems"] == []
            wait_until(lambda: self.desk.buffer(self.path) == before, f"the undo {self.did}", 3)


AGENTS = ("agent_writes_through_us", "agent_writes_by_itself", "agent_renames")
USERS = ("user_types", "user_saves", "user_types_and_saves")
REVIEWS = ("keep", "revert", "revert_all", "revert_and_undo")


@pytest.mark.parametrize("seed", range(4))
def test_a_walk(desk: Desk, seed: int) -> None:
    path = desk.file(f"walk-{seed}.txt", "".join(f"{line}\n" for line in LINES).encode())
    desk.open(path)
    walk = Walk(desk, path, seed)
    for _ in range(4):
        with desk.turn():
            for name in walk.chance.choices((*AGENTS, *AGENTS, *USERS, *REVIEWS), k=7):
                walk.step(name)
        for name in walk.chance.choices((*USERS, *REVIEWS), k=2):
            walk.step(name)
    hunks = desk.hunks(path)
    try:
        desk.revert(path)
    except CommandFailed as failed:
        raise AssertionError(walk.did) from failed
    walk.check()
    if not walk.kept and all(hunk["state"] == "waiting" for hunk in hunks):
        left = [line for line in desk.lines(path) if not line.startswith("user")]
        assert left == LINES, walk.did
    desk.nvim.command("silent write")
    assert path.read_text() == desk.buffer(path)
