"""What waits for review outlives the process: killed, closed, and with the user at work since."""

from __future__ import annotations

import json
import stat
import zlib
from pathlib import Path
from typing import Any

import pytest

from acp_sidecar.workspace.files import Files
from acp_sidecar.workspace.ledger import Ledger
from tests.workspace.disk import say
from tests.workspace.hand import Hand
from tests.workspace.ledger.changes import CHANGED, LINES, agent_writes, ids, states


class World:
    """A workspace whose ledgers come one after the other."""

    def __init__(self, files: Files, folder: Path) -> None:
        self.files = files
        self.ws = folder / "ws"
        self.kept = folder / "checkpoints"
        self.ledger = self._new()
        self.ledger.begin_turn()

    def _new(self) -> Ledger:
        return Ledger(
            self.files, within=lambda path: self.ws in path.parents, checkpoints=self.kept
        )

    def again(self, *, killed: bool = False) -> Ledger:
        if not killed:
            self.ledger.close()
        self.ledger = self._new()
        self.ledger.load()
        return self.ledger

    def listed(self) -> list[dict[str, Any]]:
        return [change.to_json() for change in self.ledger.changes()]

    def waiting(self) -> list[Path]:
        return sorted((self.kept / "waiting").glob("*"))


@pytest.fixture
def world(files: Files, tmp_path: Path) -> World:
    return World(files, tmp_path)


@pytest.mark.parametrize("killed", [False, True])
async def test_every_kind_of_change_waits_on_and_can_be_taken_back(
    world: World, killed: bool
) -> None:
    before: dict[str, bytes] = {
        "text": LINES.encode(),
        "bytes": b"\0one",
        "deleted": LINES.encode(),
        "marked": b"\xef\xbb\xbfone\r\ntwo\r\n",
        "moved": b"moved " * 100 + b"\n",
    }
    for name, data in before.items():
        say(world.ws / name, data)
        world.ledger.touch(world.ws / name)
    (world.ws / "text").chmod(0o755)
    (world.ws / "deleted").unlink()
    (world.ws / "moved").rename(world.ws / "there")
    world.ledger.touch(world.ws / "there")
    await agent_writes(world.ledger, world.ws / "text", CHANGED)
    await agent_writes(world.ledger, world.ws / "bytes", b"\0two")
    await agent_writes(world.ledger, world.ws / "marked", b"\xef\xbb\xbfone\r\nTWO\r\n")
    await agent_writes(world.ledger, world.ws / "made" / "new", "hello\n")
    if not killed:
        world.ledger.end_turn()
    listed = world.listed()
    assert {each["status"] for each in listed} == {"modified", "created", "deleted", "renamed"}
    world.again(killed=killed)
    await world.ledger.refresh()
    assert sorted(world.listed(), key=lambda each: each["uri"]) == sorted(
        listed, key=lambda each: each["uri"]
    )
    done = await world.ledger.revert()
    assert (done.conflicts, done.problems) == ((), ())
    assert {
        path.name: path.read_bytes() for path in world.ws.rglob("*") if path.is_file()
    } == before
    assert stat.S_IMODE((world.ws / "text").stat().st_mode) == 0o755
    assert world.again().changes() == []
    assert world.waiting() == []


async def test_what_was_kept_stays_kept_and_what_was_undone_waits_again(world: World) -> None:
    path = say(world.ws / "a", LINES)
    await agent_writes(world.ledger, path, CHANGED)
    one, two, three = ids(world.ledger)
    await world.ledger.keep(hunk_id=one)
    await world.ledger.revert(hunk_id=two)
    world.again(killed=True)
    assert ids(world.ledger) == [three]
    assert world.ledger.diff(path) == (
        LINES.replace("two", "TWO"),
        CHANGED.replace("FIVE", "five"),
    )
    await world.ledger.keep()
    await world.ledger.undo()
    world.again(killed=True)
    assert ids(world.ledger) == [three]
    await world.ledger.revert()
    assert path.read_text() == LINES.replace("two", "TWO")
    assert world.again().changes() == []


async def test_what_the_user_does_while_nobody_looks_is_the_user_s(world: World) -> None:
    path = say(world.ws / "a", LINES)
    await agent_writes(world.ledger, path, CHANGED)
    world.ledger.end_turn()
    world.ledger.close()
    say(path, "mine\n" + CHANGED.replace("FIVE", "FIVE of mine"))
    world.again()
    assert states(world.ledger) == ["waiting", "conflict", "waiting"]
    done = await world.ledger.revert()
    assert len(done.conflicts) == 1
    assert path.read_text() == "mine\n" + LINES.replace("five", "FIVE of mine")


async def test_a_conflict_stays_one(world: World, hand: Hand) -> None:
    path = say(world.ws / "a", LINES)
    await agent_writes(world.ledger, path, CHANGED)
    world.ledger.end_turn()
    buffer = hand.open(path)
    hand.type(buffer, "FIVE", "mine ")
    hand.save(buffer)
    await world.ledger.refresh()
    assert states(world.ledger) == ["waiting", "conflict", "waiting"]
    listed = world.listed()
    world.again()
    assert world.listed() == listed
    assert (await world.ledger.revert()).conflicts
    assert path.read_text() == LINES.replace("five", "mine FIVE")


async def test_what_a_killed_agent_was_at_is_its_own(world: World) -> None:
    path = say(world.ws / "a", LINES)
    await agent_writes(world.ledger, path, LINES.replace("two", "TWO"))
    say(path, CHANGED)  # Written just before the end; nobody has looked.
    world.again(killed=True)
    assert states(world.ledger) == ["waiting"] * 3
    await world.ledger.revert()
    assert path.read_text() == LINES


async def test_a_new_hunk_has_an_id_of_its_own(world: World) -> None:
    path = say(world.ws / "a", "x\n" * 3 + LINES + "x\n" * 3)
    await agent_writes(world.ledger, path, "x\n" * 3 + "new\n" + LINES + "x\n" * 3)
    world.ledger.end_turn()
    world.again()
    world.ledger.begin_turn()
    await agent_writes(world.ledger, path, "x\n" * 3 + "new\n" + LINES + "new\n" + "x\n" * 3)
    assert len(set(ids(world.ledger))) == 2


async def test_what_cannot_be_read_costs_one_file(world: World) -> None:
    first, second = say(world.ws / "a", LINES), say(world.ws / "b", LINES)
    for path in (first, second):
        await agent_writes(world.ledger, path, CHANGED)
    world.ledger.end_turn()
    good, other = world.waiting()
    values = json.loads(zlib.decompress(other.read_bytes()))
    odd = [
        b"",
        b"{",
        zlib.compress(b"[]"),
        zlib.compress(json.dumps({**values, "of": "other"}).encode()),
        zlib.compress(json.dumps({**values, "patches": [{}]}).encode()),
        zlib.compress(json.dumps({**values, "patches": None}).encode()),
        zlib.compress(json.dumps({**values, "whole": 5}).encode()),
    ]
    for data in odd:
        other.write_bytes(data)
        world.again(killed=True)
        assert len(world.ledger.changes()) == 1
        assert world.waiting() == [good]
    assert stat.S_IMODE(good.stat().st_mode) == 0o600
    assert await world.ledger.restore(world.ledger.checkpoints()[0].id)
    assert first.read_text() == second.read_text() == LINES


async def test_a_disk_that_takes_nothing_costs_the_memory_alone(world: World) -> None:
    (world.kept / "waiting").write_text("in the way")
    path = say(world.ws / "a", LINES)
    await agent_writes(world.ledger, path, CHANGED)
    await world.ledger.keep(hunk_id=ids(world.ledger)[0])
    await world.ledger.revert()
    assert path.read_text() == LINES.replace("two", "TWO")


async def test_a_session_opened_anew_has_nothing_of_the_old_one(
    world: World, tmp_path: Path
) -> None:
    path = say(world.ws / "a", LINES)
    await agent_writes(world.ledger, path, CHANGED)
    world.ledger.close()
    elsewhere = Ledger(world.files, within=lambda path: False, checkpoints=world.kept)
    elsewhere.load()
    assert elsewhere.changes() == []
