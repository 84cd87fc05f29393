"""The folder of the editor tools' socket: the user's alone, short, and none is left behind."""

from __future__ import annotations

import os
import socket
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from acp_sidecar.client.socket_folder import SocketFolder


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A runtime folder of the user's, with a path short enough for sockets."""
    with tempfile.TemporaryDirectory(prefix="rt", dir="/tmp") as folder:
        monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
        yield Path(folder)


def listening(folder: SocketFolder) -> socket.socket:
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(folder.socket))
    server.listen()
    return server


def grown_old(folder: SocketFolder) -> SocketFolder:
    an_hour_ago = time.time() - 3600
    os.utime(folder.path, (an_hour_ago, an_hour_ago))
    return folder


def test_only_the_user_may_enter(place: Path) -> None:
    before = os.umask(0)
    try:
        folder = SocketFolder.make()
    finally:
        os.umask(before)
    assert folder.path.parent == place
    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700
    with listening(folder):
        folder.remove()
    assert list(place.iterdir()) == []


def test_what_a_killed_sidecar_has_left_goes_and_a_living_one_s_stays(place: Path) -> None:
    left, alive = SocketFolder.make(), SocketFolder.make()
    young, foreign = SocketFolder.make(), SocketFolder.make()
    listening(left).close()
    listening(young).close()
    (foreign.path / "tools").write_text("no socket")
    with listening(alive):
        for folder in (left, alive, foreign):
            grown_old(folder)
        made = SocketFolder.make()
        assert set(place.iterdir()) == {alive.path, young.path, foreign.path, made.path}


def test_a_path_too_long_for_a_socket_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = tmp_path / ("d" * 100)
    deep.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(deep))
    monkeypatch.setattr(tempfile, "tempdir", str(deep))
    folder = SocketFolder.make()
    with listening(folder):
        folder.remove()
    assert not folder.path.exists()
    assert list(deep.iterdir()) == []
