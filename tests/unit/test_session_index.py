"""What is remembered of sessions, on a disk that others use and break."""

from __future__ import annotations

import json
import multiprocessing
import os
import stat
from pathlib import Path

import pytest

from acp_sidecar.client import index as module
from acp_sidecar.client.index import KnownSession, SessionIndex


def session(number: int = 1, **other: object) -> KnownSession:
    values = {
        "session_id": f"ours-{number}",
        "agent": "puppet",
        "agent_session_id": f"S{number}",
        "cwd": "/ws",
        "title": f"Title {number}",
        "last_used": float(number),
        **other,
    }
    return KnownSession(**values)  # type: ignore[arg-type]


def test_what_was_remembered_is_found_by_another_sidecar(tmp_path: Path) -> None:
    folder = tmp_path / "state" / "sessions"
    first = SessionIndex(folder)
    for number in (1, 3, 2):
        first.remember(session(number))
    first.remember(session(4, cwd="/other"))
    first.remember(session(5, agent="another"))
    second = SessionIndex(folder)
    assert second.of("puppet", "/ws") == [session(3), session(2), session(1)]
    assert second.find("puppet", "S4") == session(4, cwd="/other")
    assert second.find("another", "S5") == session(5, agent="another")
    assert second.find("another", "S1") is None
    second.remember(session(1, title="Other", last_used=9.0))
    assert [one.title for one in first.of("puppet", "/ws")] == ["Other", "Title 3", "Title 2"]
    second.forget("puppet", "S3")
    second.forget("puppet", "S3")
    assert [one.agent_session_id for one in first.of("puppet", "/ws")] == ["S1", "S2"]


def test_only_the_user_can_read_it(tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    SessionIndex(folder).remember(session())
    (file,) = folder.iterdir()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_file_that_is_broken_costs_itself_only(tmp_path: Path) -> None:
    index = SessionIndex(tmp_path)
    index.remember(session(1))
    (good,) = tmp_path.iterdir()
    values = json.loads(good.read_text())
    broken = [
        b"",
        b"{",
        b"\xff\xfe",
        b"[]",
        b"null",
        *(json.dumps({**values, name: None}).encode() for name in values if name != "title"),
        *(json.dumps({**values, name: 5}).encode() for name in ("agent", "cwd")),
        json.dumps({**values, "last_used": True}).encode(),
        b" " * 100_000 + json.dumps(values).encode(),
    ]
    for number, data in enumerate(broken):
        (tmp_path / f"broken-{number}.json").write_bytes(data)
    (tmp_path / "folder.json").mkdir()
    (tmp_path / "readme").write_text("no session")
    assert index.of("puppet", "/ws") == [session(1)]
    for path in tmp_path.glob("broken-*"):
        path.unlink()
    good.write_bytes(b"{")
    assert index.find("puppet", "S1") is None


def test_those_used_longest_ago_are_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_MOST", 3)
    index = SessionIndex(tmp_path)
    stale = tmp_path / "left.tmp"
    stale.write_text("")
    os.utime(stale, (1, 1))
    for number in range(1, 6):
        index.remember(session(number))
        for path in tmp_path.glob("*.json"):
            used = json.loads(path.read_text())["last_used"]
            os.utime(path, (used, used))
    assert [one.agent_session_id for one in index.of("puppet", "/ws")] == ["S5", "S4", "S3"]
    assert len(list(tmp_path.iterdir())) == 3


def test_odd_ids_and_long_titles_are_kept_apart(tmp_path: Path) -> None:
    index = SessionIndex(tmp_path)
    ids = ["../../etc/passwd", "a/b", "a\\b", "A", "a", "\ud800", "x" * 5000, "名"]
    for name in ids:
        index.remember(session(agent_session_id=name, title="t" * 10_000))
    assert {one.agent_session_id for one in index.of("puppet", "/ws")} == set(ids)
    assert len(list(tmp_path.glob("*.json"))) == len(ids)
    assert all(len(one.title or "") == 200 for one in index.of("puppet", "/ws"))


def test_a_disk_that_cannot_be_written_is_told_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    index = SessionIndex(tmp_path / "file" / "sessions")
    for _ in range(3):
        index.remember(session())
    assert index.of("puppet", "/ws") == []
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    nowhere = SessionIndex(None)
    nowhere.remember(session())
    assert (nowhere.of("puppet", "/ws"), nowhere.find("puppet", "S1")) == ([], None)


def test_several_sidecars_at_once_lose_nothing(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_work, args=(str(tmp_path), worker)) for worker in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(30)
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    index = SessionIndex(tmp_path)
    wanted = {f"{worker}-{number}" for worker in range(3) for number in range(20)}
    assert {one.agent_session_id for one in index.of("puppet", "/ws")} == wanted | {"shared"}
    assert list(tmp_path.glob("*.tmp")) == []


def _work(folder: str, worker: int) -> None:
    index = SessionIndex(Path(folder))
    for number in range(20):
        index.remember(session(agent_session_id=f"{worker}-{number}"))
        index.remember(session(agent_session_id="shared", last_used=float(number)))
        found = index.find("puppet", "shared")
        assert found is not None and found.cwd == "/ws"
