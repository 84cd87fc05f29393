"""A user and agents at work on one file at the same moments, in editors of every kind."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest

from acp_sidecar.workspace.documents import Documents
from acp_sidecar.workspace.edits import DocumentEdit
from acp_sidecar.workspace.files import FileProblem, Files
from tests.workspace import hand as manners
from tests.workspace.hand import Hand, Manner, Refused

START = "".join(f"line {number}\n" for number in range(40))


async def _skips_stale_edits(hand: Hand, edit: DocumentEdit) -> object:
    """Neovim: late, and silent about what it leaves out."""

    def make() -> None:
        if edit.uri in hand.buffers and hand.buffers[edit.uri].version == edit.version:
            hand.make(edit)

    hand.later(0.004, make)
    return {"applied": True}


async def _takes_its_time(hand: Hand, edit: DocumentEdit) -> object:
    await asyncio.sleep(0.006)
    hand.check_version(edit)
    hand.make(edit)
    return {"applied": True}


def _moody(chance: random.Random) -> Manner:
    async def mood(hand: Hand, edit: DocumentEdit) -> object:
        way = chance.choice(
            [
                manners.takes_it,
                _takes_its_time,
                _skips_stale_edits,
                manners.refuses,
                manners.says_yes_and_does_nothing,
                manners.makes_it_and_answers_rubbish,
            ]
        )
        return await way(hand, edit)

    return mood


@pytest.mark.parametrize("seed", range(24))
async def test_F01_D12_nobody_loses_a_line(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    path = tmp_path / "a"
    path.write_text(START)
    hand = Hand(Documents(), _moody(chance))
    # An edit that comes after it was given up on would be the editor's fault, not ours.
    files = Files(hand.documents, hand.apply, settle=0.03, answer=0.2)
    buffer = hand.open(path)
    typed: set[str] = set()
    written: dict[str, bool] = {}
    busy = True

    async def user() -> None:
        number = 0
        while busy:
            await asyncio.sleep(chance.uniform(0, 0.02))
            if chance.random() < 0.15:
                # Asked whether to overwrite what others have written, the user says no.
                if set(path.read_text().splitlines()) <= set(buffer.text.splitlines()):
                    hand.save(buffer)
            elif chance.random() < 0.3:
                line = f"user {number}\n"
                number += 1
                typed.add(line)
                hand.type(buffer, f"line {chance.randrange(40)}\n", line)

    async def agent(name: str) -> None:
        for number in range(6):
            seen = await files.read(path)
            await asyncio.sleep(chance.uniform(0, 0.01))
            line = f"{name} {number}\n"
            place = f"line {chance.randrange(40)}\n"
            try:
                await files.write(path, seen.replace(place, line + place), seen=seen)
            except FileProblem as problem:
                assert problem.kind in ("changed", "refused_by_editor")
                written[line] = False
            else:
                written[line] = True

    async with asyncio.TaskGroup() as group:
        group.create_task(user())
        try:
            async with asyncio.TaskGroup() as agents:
                agents.create_task(agent("first"))
                agents.create_task(agent("second"))
        finally:
            busy = False
    hand.manner = manners.takes_it
    assert hand.in_step()
    in_buffer = buffer.text.splitlines(keepends=True)
    on_disk = path.read_text().splitlines(keepends=True)
    for line in typed:
        assert in_buffer.count(line) == 1, line
    for line, done in written.items():
        # On disk alone where the editor would not follow and the user typed on.
        times = {in_buffer.count(line), on_disk.count(line)}
        assert times in (({1}, {0, 1}) if done else ({0},)), (line, done, times)


async def test_an_editor_gone_for_good_ends_every_write(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text(START)

    async def is_gone(hand: Hand, edit: DocumentEdit) -> object:
        raise Refused("the pipe is closed")

    hand = Hand(manner=is_gone)
    files = Files(hand.documents, hand.apply, settle=0.01, answer=0.1)
    buffer = hand.open(path)
    hand.type(buffer, "line 0", "typed\n")

    async def write(number: int) -> str:
        try:
            await files.write(path, f"{number}\n", seen=buffer.text)
        except FileProblem as problem:
            return problem.kind
        return "written"

    async with asyncio.timeout(10):
        kinds = await asyncio.gather(*map(write, range(20)))
    assert set(kinds) == {"refused_by_editor"}
