"""What runs and waits in a session, kept on a disk that others use and break."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest

from acp_sidecar.acp.model import TextContent
from acp_sidecar.client import unfinished as module
from acp_sidecar.client.cutoff import CutOff, Unsent, in_words, shows
from acp_sidecar.client.unfinished import CutOffs
from acp_sidecar.session.message import Blocks, Message

KEY = ("puppet", "S1")
IMAGE = {"type": "image", "mimeType": "image/png", "data": "x" * 1000}
WORK = CutOff(Unsent("work"), sent=True, alike=1, waiting=(Unsent("wait", (IMAGE,)),))


def spawn(work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
    return asyncio.create_task(work, name=name)


def dead(folder: Path) -> CutOffs:
    """One of another sidecar's, as it sees what dead ones have left."""
    return CutOffs(folder, spawn)


async def left_by_a_dead_one(folder: Path, key: tuple[str, str], cut_off: CutOff) -> Path:
    kept = CutOffs(folder, spawn)
    before = set(folder.glob("*.json"))
    kept.note(key, cut_off)
    await kept.stop()
    (new,) = set(folder.glob("*.json")) - before
    assert kept._held is not None
    os.close(kept._held)
    return new


async def test_it_is_found_as_it_was_by_another_sidecar_and_forgotten(tmp_path: Path) -> None:
    file = await left_by_a_dead_one(tmp_path / "state", KEY, WORK)
    second = dead(tmp_path / "state")
    assert await second.find(KEY) == WORK
    assert await second.find(("other", "S1")) is None
    second.forget(KEY)
    assert await second.find(KEY) is None
    await second.stop()
    assert not file.exists()


async def test_a_hundred_changes_are_written_a_few_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = CutOffs(tmp_path, spawn)
    writes: list[int] = []
    write = kept._write

    def counted(due: Any) -> int:
        writes.append(len(due))
        return write(due)

    monkeypatch.setattr(kept, "_write", counted)
    for number in range(100):
        kept.note(KEY, CutOff(waiting=(Unsent(str(number)),)))
        await asyncio.sleep(0)
    await kept.stop()
    assert len(writes) <= 2
    (file,) = tmp_path.glob("*.json")
    assert json.loads(file.read_bytes())["waiting"][0]["text"] == "99"


async def test_a_turn_of_a_moment_touches_no_disk(tmp_path: Path) -> None:
    kept = CutOffs(tmp_path / "state", spawn)
    kept.note(KEY, CutOff())
    await kept.stop()
    assert not (tmp_path / "state").exists()


async def test_what_is_too_large_is_kept_without_what_was_attached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_LARGEST", 900)
    await left_by_a_dead_one(tmp_path, KEY, WORK)
    found = await dead(tmp_path).find(KEY)
    assert found is not None
    assert (found.waiting, found.complete) == ((Unsent("wait"),), False)
    assert "too large" in (in_words(found, found.unsent)[1] or "")


async def test_a_file_that_is_broken_costs_itself_only(tmp_path: Path) -> None:
    file = await left_by_a_dead_one(tmp_path, KEY, WORK)
    values = json.loads(file.read_bytes())
    odd = [
        b"",
        b"{",
        b"[]",
        b"\xff",
        b"[" * 100_000,
        json.dumps({**values, "key": ["puppet", "S2"]}).encode(),
        json.dumps({**values, "running": None, "waiting": []}).encode(),
        json.dumps({**values, "running": 5, "waiting": [None, {"text": 5}]}).encode(),
    ]
    for data in odd:
        file.write_bytes(data)
        assert await dead(tmp_path).find(KEY) is None
    file.write_bytes(
        json.dumps({**values, "waiting": [5, {"text": "a", "content": [5, IMAGE]}]}).encode()
    )
    found = await dead(tmp_path).find(KEY)
    assert found is not None
    assert found.waiting == (Unsent("a", (IMAGE,)),)
    for owner in ("../../etc/passwd", "", 5, None):
        file.write_bytes(json.dumps({**values, "owner": owner}).encode())
        assert await dead(tmp_path).find(KEY) == WORK


async def test_what_is_old_or_one_too_many_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_MOST_FILES", 3)
    for number in range(5):
        file = await left_by_a_dead_one(tmp_path, ("puppet", f"S{number}"), WORK)
        os.utime(file, (file.stat().st_mtime + number - 100,) * 2)
    old = await left_by_a_dead_one(tmp_path, ("puppet", "old"), WORK)
    os.utime(old, (1, 1))
    await left_by_a_dead_one(tmp_path, ("puppet", "new"), WORK)
    left = [
        name
        for name in ("S0", "S1", "S2", "S3", "S4", "old", "new")
        if await dead(tmp_path).find(("puppet", name))
    ]
    assert left == ["S2", "S3", "S4", "new"]
    # Of dead sidecars no locks are left, but for the last one's.
    assert len(list(tmp_path.glob("*.lock"))) == 1


@pytest.mark.parametrize(
    ("told", "prompt", "same"),
    [
        ("Fix it", "Fix it", True),
        ("  Fix\n it ", "Fix it", True),
        ("News first.\n\nFix it", "Fix it", True),
        ("Fix", "Fix it", False),
        ("", "Fix it", False),
        ("words", "", False),
    ],
)
def test_a_prompt_is_known_again(told: str, prompt: str, same: bool) -> None:
    message = Message("m", "user", 0, "k", blocks=Blocks([TextContent(told)]))
    assert shows(message, Unsent(prompt)) is same
