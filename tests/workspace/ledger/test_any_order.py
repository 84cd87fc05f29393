"""Whatever agent and user do, in whatever order, and whatever is kept, reverted and undone.

Every line that is ever put into a file is the only one of its kind, but for some that are
all alike, so that it can be told what has become of it.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from acp_sidecar.workspace.baselines import Baselines
from acp_sidecar.workspace.ledger import Ledger
from acp_sidecar.workspace.positions import split_lines
from tests.workspace.hand import Buffer, Hand

ORIGINAL = {
    "unix": [f"unix {number}\n" for number in range(8)],
    "windows": [f"windows {number}\r\n" for number in range(8)],
    "no end": ["first\n", "}\n", "}\n", "}\n", "second\n", "last"],
    "empty": [],
}
NEW = "made by the agent"
names = st.sampled_from([*ORIGINAL, NEW])
places = st.floats(0, 1, exclude_max=True)
deeds = st.lists(
    st.tuples(st.sampled_from(["insert", "insert", "brace", "delete", "change"]), places),
    min_size=1,
    max_size=3,
)
Deeds = list[tuple[str, float]]


class AnyOrder(RuleBasedStateMachine):
    """A workspace, an editor with a user before it, and an agent."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.folder = Path(os.path.realpath(tempfile.mkdtemp()))
        self.number = 0
        self.users: set[str] = set()
        """Lines of the user's that nobody has taken out since."""
        self.deleted: set[str] = set()
        """Lines that the user has taken out, and the agent has never touched."""
        self.touched: set[str] = set()
        """Files the user has changed."""
        self.agents: set[str] = set()
        """Lines that the agent has put in or taken out."""
        self.tied: set[tuple[str, str]] = set()
        """Files that the agent has moved from one to the other."""
        self.kept = False
        self.moments: dict[str, tuple[int, dict[str, str | None]]] = {}
        """What all files said at each checkpoint, and when that was."""
        self.last_edit: dict[str, int] = {}
        """When the user last did something to a file."""

    def run(self, work: Callable[[], Awaitable[Any]]) -> Any:
        async def call() -> Any:
            return await work()

        return self.runner.run(call())

    def teardown(self) -> None:
        self.ledger.close()
        self.runner.close()
        shutil.rmtree(self.folder)

    @initialize()
    def start(self) -> None:
        for name, lines in ORIGINAL.items():
            (self.folder / "ws").mkdir(exist_ok=True)
            (self.path(name)).write_bytes("".join(lines).encode())

        async def make() -> None:
            self.hand = Hand()
            self.files = self.hand.files(settle=0.0, answer=1.0)
            self.ledger = self.new_ledger()
            self.begin_turn()

        self.run(make)

    def new_ledger(self) -> Ledger:
        baselines = Baselines(self.folder / "baselines", memory=0)
        baselines.shelf.small = 0
        return Ledger(
            self.files,
            within=lambda path: path.parent == self.folder / "ws",
            baselines=baselines,
            checkpoints=self.folder / "checkpoints",
        )

    def begin_turn(self) -> None:
        self.ledger.begin_turn(time=float(self.number), label=f"prompt {self.number}")
        self.number += 1
        checkpoint = self.ledger.checkpoints()[-1]
        self.moments[checkpoint.id] = (self.number, self.texts())
        for name in (*ORIGINAL, NEW):
            self.ledger.touch(self.path(name))

    def write(self, name: str, text: str) -> None:
        """Write the disk, a moment later than the last time."""
        path = self.path(name)
        path.write_bytes(text.encode())
        self.later(path)

    def later(self, path: Path) -> None:
        # Clocks of file systems tick slower than this test.
        self.number += 1
        os.utime(path, ns=(0, 10**18 + self.number * 10**9))

    # --- looking --------------------------------------------------------------------------

    def path(self, name: str) -> Path:
        return self.folder / "ws" / name

    def buffer(self, name: str) -> Buffer | None:
        return next((b for b in self.hand.buffers.values() if b.path == self.path(name)), None)

    def dirty(self, name: str) -> bool:
        document = self.hand.documents.at(self.path(name))
        return document is not None and document.dirty

    def text(self, name: str) -> str | None:
        buffer = self.buffer(name)
        if buffer is not None and self.dirty(name):
            return buffer.text
        path = self.path(name)
        return path.read_bytes().decode() if path.exists() else None

    def texts(self) -> dict[str, str | None]:
        return {name: self.text(name) for name in (*ORIGINAL, NEW)}

    def all_lines(self) -> list[str]:
        return [
            line.rstrip("\r\n")
            for text in self.texts().values()
            for line in split_lines(text or "")
        ]

    def changed(self, text: str, deeds: Deeds, who: str) -> tuple[str, set[str], set[str]]:
        """A text with some deeds done, what was put in and what was taken out."""
        lines = split_lines(text)
        end = "\r\n" if "\r\n" in text else "\n"
        put: set[str] = set()
        gone: set[str] = set()
        for deed, where in deeds:
            self.number += 1
            new = f"{who} {self.number}"
            at = int(where * (len(lines) + 1))
            if deed == "brace":
                lines[at:at] = ["}" + end]
                continue
            if deed != "insert":
                if at >= len(lines):
                    continue
                gone.add(lines[at].rstrip("\r\n"))
                if deed == "delete":
                    del lines[at]
                    continue
                lines[at : at + 1] = [new + end]
            else:
                lines[at:at] = [new + end]
            put.add(new)
        for number, line in enumerate(lines[:-1]):
            if not line.endswith("\n"):
                lines[number] = line + end
        return "".join(lines), put, gone

    # --- the agent ------------------------------------------------------------------------

    @rule(name=names, deeds=deeds)
    def agent_writes_through_us(self, name: str, deeds: Deeds) -> None:
        path = self.path(name)
        text, put, gone = self.changed(self.text(name) or "", deeds, "agent")

        async def write() -> None:
            self.ledger.touch(path)
            seen = self.text(name)
            outcome = await self.files.write(path, text, seen=seen, author=self.ledger)
            self.ledger.wrote(path, outcome)

        self.run(write)
        self.by_agent(put, gone)

    @rule(name=names, deeds=deeds, late=st.booleans(), reopens=st.booleans())
    def agent_writes_the_disk(self, name: str, deeds: Deeds, late: bool, reopens: bool) -> None:
        if self.dirty(name):
            return
        text, put, gone = self.changed(self.text(name) or "", deeds, "agent")
        self.write(name, text)
        buffer = self.buffer(name)
        if buffer is not None and reopens:
            # As Neovim loads a file anew.
            self.hand.close(buffer)
            self.hand.open(self.path(name))
        elif buffer is not None:
            self.hand.reload(buffer)
        self.by_agent(put, gone)
        if not late:
            self.refresh()

    @rule(name=names)
    def agent_deletes(self, name: str) -> None:
        if self.buffer(name) is not None or not self.path(name).exists():
            return
        gone = {line.rstrip("\r\n") for line in split_lines(self.text(name) or "")}
        self.path(name).unlink()
        self.by_agent(set(), gone)
        self.refresh()

    @rule(name=names, other=names, kept=st.booleans())
    def agent_moves(self, name: str, other: str, kept: bool) -> None:
        source, target = self.path(name), self.path(other)
        if self.buffer(name) or self.buffer(other) or not source.exists() or target.exists():
            return
        text = self.text(name) or ""
        lines = {line.rstrip("\r\n") for line in split_lines(text)}
        kept_lines = self.users & lines
        self.by_agent(set(), lines)
        self.users |= kept_lines
        self.tied |= {(name, other), (other, name)}
        if name in self.touched or other in self.touched:
            edited = max(self.last_edit.get(name, 0), self.last_edit.get(other, 0))
            self.was_touched(name, edited)
            self.was_touched(other, edited)
        if kept:
            source.rename(target)
        else:
            source.unlink()
            self.write(other, text)
        self.refresh()

    def by_agent(self, put: set[str], gone: set[str]) -> None:
        self.agents |= put | gone
        self.users -= gone
        self.deleted -= put | gone

    # --- the user -------------------------------------------------------------------------

    @rule(name=names)
    def user_opens(self, name: str) -> None:
        if self.buffer(name) is None and self.path(name).exists():
            self.hand.open(self.path(name))

    @rule(name=names, deeds=deeds, seen=st.booleans())
    def user_types(self, name: str, deeds: Deeds, seen: bool) -> None:
        buffer = self.buffer(name)
        if buffer is None or (self.text(name) is None):
            return
        text, put, gone = self.changed(buffer.text, deeds, "user")
        self.hand.set(buffer, text)
        self.by_user(name, put, gone)
        if seen:
            self.refresh()

    @rule(name=names, looked=st.booleans())
    def user_saves(self, name: str, looked: bool) -> None:
        buffer = self.buffer(name)
        if buffer is not None:
            if looked:
                self.refresh()
            if not self.path(name).exists():
                self.by_user(name, set(), set())
            self.hand.save(buffer)
            self.later(self.path(name))
            self.refresh()

    @rule(name=names)
    def user_closes(self, name: str) -> None:
        buffer = self.buffer(name)
        if buffer is not None and not self.dirty(name):
            self.hand.close(buffer)

    @rule(name=names, deeds=deeds)
    def another_program_writes_between_turns(self, name: str, deeds: Deeds) -> None:
        if self.dirty(name) or self.text(name) is None:
            return
        text, put, gone = self.changed(self.text(name) or "", deeds, "user")
        self.ledger.end_turn()
        self.write(name, text)
        buffer = self.buffer(name)
        if buffer is not None:
            self.hand.reload(buffer)
        self.by_user(name, put, gone)
        self.begin_turn()

    def by_user(self, name: str, put: set[str], gone: set[str]) -> None:
        self.users = (self.users | put) - gone
        self.deleted |= gone - self.agents - {"}"}
        self.number += 1
        self.was_touched(name, self.number)

    def was_touched(self, name: str, when: int) -> None:
        """The user has changed a file, and thereby all that it has been or will be."""
        if self.last_edit.get(name, -1) < when:
            self.last_edit[name] = when
            self.touched.add(name)
            for other in {other for one, other in self.tied if one == name}:
                self.was_touched(other, when)

    @rule()
    def user_prompts(self) -> None:
        self.ledger.end_turn()
        self.begin_turn()

    # --- the review -----------------------------------------------------------------------

    @rule()
    def refresh(self) -> None:
        self.run(self.ledger.refresh)

    @rule(what=st.sampled_from(["keep", "revert"]), which=places, undone=st.booleans())
    def one_hunk(self, what: str, which: float, undone: bool) -> None:
        self.refresh()
        hunks = [(change.path, hunk) for change in self.ledger.changes() for hunk in change.hunks]
        if not hunks:
            return
        path, hunk = hunks[int(which * len(hunks))]
        others = {each.id for _, each in hunks} - {hunk.id}
        done = self.step(what, path, hunk.id, undone)
        if what == "keep":
            assert done.kept == (hunk.id,)
        elif hunk.state == "conflict":
            assert done.conflicts == (hunk.id,)
            assert done.problems
        else:
            assert done.reverted == (hunk.id,) or "of the old name" in done.problems[0]
        if not undone:
            left = {each.id for change in self.ledger.changes() for each in change.hunks}
            assert others <= left, "no other hunk is concerned"

    @rule(what=st.sampled_from(["keep", "revert"]), name=st.none() | names, undone=st.booleans())
    def a_file_or_all(self, what: str, name: str | None, undone: bool) -> None:
        self.refresh()
        path = None if name is None else self.path(name)
        ids = {
            hunk.id: hunk.state
            for change in self.ledger.changes()
            if path in (None, change.path)
            for hunk in change.hunks
        }
        done = self.step(what, path, None, undone)
        stuck = {id_ for id_, state in ids.items() if state == "conflict" and what == "revert"}
        if not any("of the old name" in problem for problem in done.problems):
            assert set(done.conflicts) == stuck
        assert set(done.kept + done.reverted) == set(ids) - set(done.conflicts)

    def step(self, what: str, path: Path | None, hunk: str | None, undone: bool) -> Any:
        before, waiting = self.texts(), [change.to_json() for change in self.ledger.changes()]
        bare = {change.path.name: self.ledger.diff(change.path) for change in self.ledger.changes()}
        act = self.ledger.keep if what == "keep" else self.ledger.revert
        done = self.run(lambda: act(path, hunk))
        if what == "keep":
            assert self.texts() == before
        self.check_all()
        if what == "revert" and hunk is None:
            conflicts = set(done.conflicts)
            came_from = {
                (each["oldUri"] or "").rsplit("/", 1)[-1].replace("%20", " ") for each in waiting
            }
            for change in waiting:
                name = change["uri"].rsplit("/", 1)[1].replace("%20", " ")
                mine = {each["id"] for each in change["hunks"]}
                concerned = path in (None, self.path(name))
                text = bare[name][0]
                if any(name == old for old in came_from):
                    continue
                if change["oldUri"]:
                    name = change["oldUri"].rsplit("/", 1)[1].replace("%20", " ")
                if concerned and not mine & conflicts:
                    assert (self.text(name) or "") == text
        if undone and (done.kept or done.reverted):
            back = self.run(self.ledger.undo)
            assert (back.kept, back.reverted) == (done.kept, done.reverted), back.problems
            assert self.texts() == before
            assert [change.to_json() for change in self.ledger.changes()] == waiting
        else:
            self.kept = self.kept or what == "keep"
        return done

    @rule(killed=st.booleans())
    def another_process_goes_on(self, killed: bool) -> None:
        if not killed:
            self.ledger.end_turn()
        self.restart(killed=killed)
        self.begin_turn()

    def restart(self, *, killed: bool = False) -> None:
        """What waits for review waits on, by the same ids. Of a process that was killed what
        the user did last is seen as one change."""
        self.refresh()
        left = self.by_uri()
        if not killed:
            self.ledger.close()
        self.ledger = self.new_ledger()
        self.ledger.load()
        self.refresh()
        if not killed:
            assert self.by_uri() == left
        else:
            assert self.by_uri().keys() <= left.keys()

    def by_uri(self) -> dict[str, Any]:
        return {change.uri: change.to_json() for change in self.ledger.changes()}

    @rule(which=places, undone=st.booleans(), restarted=st.booleans())
    def restore(self, which: float, undone: bool, restarted: bool) -> None:
        if restarted:
            self.ledger.end_turn()
            self.restart()
        self.refresh()
        checkpoints = self.ledger.checkpoints()
        assert [each.id for each in checkpoints] == list(self.moments)
        checkpoint = checkpoints[int(which * len(checkpoints))]
        moment, then = self.moments[checkpoint.id]
        before, waiting = self.texts(), [change.to_json() for change in self.ledger.changes()]
        done = self.run(lambda: self.ledger.restore(checkpoint.id))
        assert len(done.problems) >= bool(done.conflicts)
        self.check_all()
        now = self.texts()
        for name in then:
            if self.last_edit.get(name, 0) < moment:
                assert now[name] == then[name]
        if undone and done.reverted:
            self.run(self.ledger.undo)
            assert self.texts() == before
            assert [change.to_json() for change in self.ledger.changes()] == waiting
        else:
            self.kept = True
        if restarted:
            self.begin_turn()

    @rule()
    def undo(self) -> None:
        self.run(self.ledger.undo)
        self.kept = True

    @precondition(lambda self: not self.kept)
    @rule()
    def everything_reverted_is_as_it_was(self) -> None:
        self.refresh()
        self.run(self.ledger.revert)
        for name in {*ORIGINAL, NEW} - self.touched:
            path = self.path(name)
            if name in ORIGINAL:
                assert path.read_bytes() == "".join(ORIGINAL[name]).encode()
            else:
                assert not path.exists()
            assert not any(change.path == path for change in self.ledger.changes())

    @rule()
    def everything_kept_is_nothing_to_review(self) -> None:
        self.run(self.ledger.keep)
        assert self.ledger.changes() == []
        self.kept = True

    # --- always ---------------------------------------------------------------------------

    @invariant()
    def nothing_of_the_users_is_lost(self) -> None:
        if not hasattr(self, "ledger"):
            return
        self.check_all()

    def check_all(self) -> None:
        lines = self.all_lines()
        assert self.users <= set(lines), "a line of the user's is gone"
        assert not self.deleted & set(lines), "a line that the user has taken out is back"
        ids = [hunk.id for change in self.ledger.changes() for hunk in change.hunks]
        assert len(ids) == len(set(ids))
        for change in self.ledger.changes():
            texts = self.ledger.diff(change.path)
            assert texts is not None
            before, after = (split_lines(text) for text in texts)
            if change.status != "modified" or change.binary:
                continue
            rebuilt: list[str] = []
            done = 0
            for each in change.hunks:
                hunk = each.hunk
                rebuilt += after[done : hunk.after_start]
                assert len(rebuilt) == hunk.before_start
                rebuilt += before[len(rebuilt) : len(rebuilt) + hunk.before_lines]
                done = hunk.after_start + hunk.after_lines
            assert [line.rstrip("\r\n") for line in rebuilt + after[done:]] == [
                line.rstrip("\r\n") for line in before
            ]


AnyOrder.TestCase.settings = settings(
    phases=[Phase.generate, Phase.shrink],
    max_examples=int(os.environ.get("LEDGER_EXAMPLES", "40")),
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
TestAnyOrder = AnyOrder.TestCase
